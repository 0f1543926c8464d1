"""The part of the graph of segments about which something is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.regions.structure import Regions
from slanted.runtime.arrays import Ints


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Segments, and the edges and junctions that touch no others.

    Parameters
    ----------
    segments, edge_numbers
        Their numbers in the whole graph, ascending.
    edges
        (E, 2) segments of each edge, numbered inside the subgraph.
    junctions3, junctions4
        (J3, 3) and (J4, 4) edges of each junction, numbered inside the subgraph.
    junctions4_segments
        (J4, 4) segments of each four-way junction; their order, which is all that counts, is that
        of the whole graph.
    """

    segments: Ints
    edge_numbers: Ints
    edges: Ints
    junctions3: Ints
    junctions4: Ints
    junctions4_segments: Ints


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
