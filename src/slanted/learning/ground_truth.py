"""Ground-truth planes and boundary labels of segments, from a disparity map (paper §3.3).

The paper learns from "depth labels" and does not say how they become planes and boundary labels.
Here a segment's plane is a robust fit to its ground truth. Segments with too little ground truth
are left out of learning, as is every factor that touches them: labels are never invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.inference.local_fit import SMALLEST_SPREAD, fit_local_planes, moments_near
from slanted.model.evidence import Evidence
from slanted.model.junctions import junction4_kinds
from slanted.model.observations import Matches, observe
from slanted.model.potentials import compatibility_cost, junction3_cost, junction4_cost
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.settings import ModelSettings
from slanted.solver.convex_bp import solve
from slanted.solver.factor_graph import FactorGraph

REACH = 3.0  # pixels; ground truth farther from a plane does not support it, as in out-3px
FEWEST = 10  # ground-truth pixels that a plane needs


@dataclass(frozen=True, eq=False)
class Truth:
    """Ground truth of an image's segments."""

    pixels: Matches
    """Ground-truth pixels of each segment, about its centre."""
    planes: Floats
    """(n, 3) planes; meaningless where unknown."""
    kept: Subgraph
    """The segments with a known plane, and the edges and junctions among them."""
    labels: Ints
    """Boundary labels of the kept edges."""


def find_truth(
    regions: Regions,
    disparity: Any,
    settings: ModelSettings,
    rule: str = "joint",
    lowest: float = 0.0,
) -> Truth:
    """Fit planes to ground truth and label the boundaries between them.

    Parameters
    ----------
    regions
        The segments.
    disparity
        (H, W) ground truth, NaN where unknown.
    settings
        The model, for its λ; weights are not used.
    rule
        ``planes`` gives each boundary the label of least φ_bdy2 at its two planes; ``joint`` gives
        all boundaries the labels of least φ_bdy2 + φ_jct + φ_crs together, so that few junctions
        are impossible.
    lowest
        The disparity that the model takes as zero.

    Raises
    ------
    InputError
        If the map is not the size of the images, or no segment has enough ground truth.
    """
    if np.shape(disparity) != regions.label_image.shape:
        height, width = regions.label_image.shape
        rows, columns = (*np.shape(disparity), 0, 0)[:2]
        raise InputError(
            f"ground truth: expected the size of the left image, {width}×{height}, got "
            f"{columns}×{rows}; use files of one resolution"
        )
    pixels = observe(regions, Evidence(disparity), lowest)
    planes = fit_local_planes(regions, pixels, REACH)
    known = _supported(regions, pixels.segments, planes)
    if not known.any():
        raise InputError(
            f"ground truth: expected {FEWEST} known pixels, not on a line, in one segment at "
            f"least, got none in {regions.count} segments; leave this frame out"
        )
    kept = induced_subgraph(regions, known)
    costs = compatibility_cost(regions, planes[:, None], settings)[kept.edge_numbers, :, 0, 0]
    labels = costs.argmin(axis=1).astype(np.int32)
    if rule == "joint" and len(labels):
        labels = _joint_labels(kept, costs, labels, settings)
    return Truth(pixels.segments, planes, kept, labels)


def _supported(regions: Regions, pixels: Matches, planes: Floats) -> NDArray[np.bool_]:
    """Return which segments have enough ground truth on their plane, spread widely enough."""
    uu, uv, vv, u, v, count = moments_near(pixels, planes, REACH).T[:6]
    size = np.maximum(count, 1)
    spread = (uu / size - (u / size) ** 2) * (vv / size - (v / size) ** 2)
    spread -= (uv / size - u * v / size**2) ** 2
    whole = regions.covariance[:, 0] * regions.covariance[:, 2] - regions.covariance[:, 1] ** 2
    return np.asarray((count >= FEWEST) & (spread > SMALLEST_SPREAD * whole + 1e-9))


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Some segments, and the edges and junctions that touch no others."""

    segments: Ints
    edge_numbers: Ints
    """Numbers of the segments and edges in the whole graph, ascending."""
    edges: Ints
    """(E, 2) segments of each edge, numbered inside the subgraph."""
    junctions3: Ints
    junctions4: Ints
    """(J3, 3) and (J4, 4) edges of each junction, numbered inside the subgraph."""
    junctions4_segments: Ints
    """(J4, 4) segments of each four-way junction, numbered as in the whole graph: only their order
    matters."""


def induced_subgraph(regions: Regions, known: NDArray[np.bool_]) -> Subgraph:
    """Drop segments that are not `known`, (n,), with every factor that touches one."""
    inside = np.asarray(known[regions.edges].all(axis=1))
    three = inside[regions.junctions3_edges].all(axis=1)
    four = inside[regions.junctions4_edges].all(axis=1)
    segment_number = (np.cumsum(known) - 1).astype(np.int32)
    edge_number = (np.cumsum(inside) - 1).astype(np.int32)
    return Subgraph(
        segments=np.flatnonzero(known).astype(np.int32),
        edge_numbers=np.flatnonzero(inside).astype(np.int32),
        edges=segment_number[regions.edges[inside]],
        junctions3=edge_number[regions.junctions3_edges[three]],
        junctions4=edge_number[regions.junctions4_edges[four]],
        junctions4_segments=regions.junctions4[four],
    )


def _joint_labels(kept: Subgraph, costs: Floats, labels: Ints, settings: ModelSettings) -> Ints:
    """Return the labels of least φ_bdy2 + φ_jct + φ_crs at fixed planes."""
    count = len(kept.segments)
    graph = FactorGraph(
        edges=kept.edges,
        node_costs=np.zeros((count, 1)),
        label_costs=np.zeros((len(kept.edges), costs.shape[1])),
        edge_costs=np.ascontiguousarray(costs)[:, :, None, None],
        junctions3=kept.junctions3,
        junction3_costs=junction3_cost(settings),
        junctions4=kept.junctions4,
        junction4_kinds=junction4_kinds(kept.junctions4_segments),
        junction4_costs=junction4_cost(settings),
    )
    return solve(graph, incumbent=(np.zeros(count, np.int32), labels)).labels.astype(np.int32)
