"""Particle convex belief propagation: the outer loop (paper §3.2, Algorithm 1).

Planes are continuous. Each iteration draws particles around the current planes, solves the discrete
problem over them by convex belief propagation, and moves to its solution. Unlike the paper's
Algorithm 1, the current solution is by default among the candidates, so that the energy never
rises, and particles come from more sources; see `slanted.inference.particles`.

References
----------
.. [1] J. Peng, T. Hazan, D. McAllester, R. Urtasun, "Convex max-product algorithms for continuous
   MRFs with applications to protein folding", ICML 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from slanted.inference.outcome import UNKNOWN, Inference, Iteration, Snapshot, Watch
from slanted.inference.terms import Terms
from slanted.model.energy import cheapest_labels
from slanted.model.planes import lowest_disparity
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import Soon
from slanted.solver.dual import trivial_bound
from slanted.solver.topology import topology_of

if TYPE_CHECKING:
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.settings import ModelSettings
    from slanted.solver.solution import Solution

DATA_SCALES = 0.5, 8.0
"""Smallest and largest value of `data_scale`."""
DIFFERENT = 1.0
"""Difference, in pixels rms over a segment, above which a plane counts as an alternative."""


@dataclass(frozen=True, eq=False)
class Start:
    """Where inference starts, and for how long it runs."""

    planes: Floats
    """(n, 3) planes about the segments' centres."""
    noise: float
    """Standard deviation of the matches, in pixels."""
    iteration: int
    """Number of the first iteration; the deviations of the particles shrink with it."""
    count: int
    """Number of iterations."""


def infer(
    terms: Terms,
    *,
    start: Start | None = None,
    with_features: bool = True,
    previous_frame: PreviousFrame | None = None,
    watch: Watch | None = None,
) -> Inference:
    """Minimise the energy over planes and labels.

    Parameters
    ----------
    terms
        The energy of the segments, such as a `slanted.inference.terms.WholeImage`.
    start
        Where to start; by default at the local fits.
    with_features
        Whether to evaluate the energy of each potential, for reports, and to find the best labels
        if there are no iterations.
    previous_frame
        Planes of the last frame of a video, as further particles.
    watch
        Called with the state before the first iteration and after each.

    Examples
    --------
    >>> from slanted import Settings
    >>> from slanted.inference.terms import WholeImage
    >>> from slanted.model.evidence import Evidence
    >>> from slanted.regions import build_regions
    >>> label_image = np.repeat([[0, 0, 0, 0, 1, 1, 1, 1]], 8, axis=0)
    >>> regions = build_regions(label_image, np.zeros((8, 8), np.uint8))
    >>> evidence = Evidence(np.full((8, 8), 3, np.float32))
    >>> infer(WholeImage.of(regions, evidence, Settings())).planes[:, 2].round(3)
    array([3., 3.])
    """
    settings = terms.settings
    floor = np.array([0, 0, lowest_disparity(settings)])
    if start is None:
        local = terms.local_planes()
        start = Start(local, terms.noise(local), 0, settings.inference.iterations)
    else:
        start = replace(start, planes=start.planes - floor)
    terms = terms.scaled(data_scale(start.noise, settings.model))
    if previous_frame is not None:
        previous_frame = replace(previous_frame, planes=previous_frame.planes - floor)

    def tell(planes: Floats, labels: Ints, iteration: Iteration | None) -> None:
        if watch is not None:
            watch(Snapshot(terms.regions, planes + floor, labels, iteration))

    found = _iterate(terms, start, previous_frame, tell, label_anyway=with_features)
    if with_features:
        found = replace(found, features=terms.features(found.planes, found.labels))
    return replace(found, planes=found.planes + floor, initial_planes=start.planes + floor)


def data_scale(noise: float, model: ModelSettings) -> float:
    """Return the factor of the data potentials: 1 at the noise for which the weights were learned.

    Squared residuals count in inverse proportion to the variance of the matches. The paper has no
    such factor (``model.reference_noise`` = 0).
    """
    if model.reference_noise == 0:
        return 1.0
    smallest, largest = DATA_SCALES
    return float(np.clip((model.reference_noise / max(noise, 1e-6)) ** 2, smallest, largest))


def _iterate(
    terms: Terms,
    start: Start,
    previous_frame: PreviousFrame | None,
    tell: Callable[[Floats, Ints, Iteration | None], None],
    *,
    label_anyway: bool,
) -> Inference:
    """Draw particles and solve ``start.count`` times; if that is 0, find labels only.

    `label_anyway` says that the solution is the last of a run.
    """
    regions, inference, planes = terms.regions, terms.settings.inference, start.planes
    scopes = regions.edges, regions.junctions3_edges, regions.junctions4_edges
    solves = start.count > 0 or label_anyway
    topology = Soon(partial(topology_of, regions.count, *scopes), wait=not solves)
    # These labels need no solver, and the iterations find better ones.
    labels = cheapest_labels(regions, planes, terms.settings.model)
    keeps = inference.proposals != "paper"
    initial_energy, bound, floor = nan, -inf, nan
    if start.count == 0 and label_anyway:
        graph = terms.graph(planes[:, None])
        alone = terms.solve(graph, topology.result(), None, last=True)
        labels, initial_energy, bound = alone.labels, alone.energy, alone.bound
        floor = trivial_bound(graph)
    tell(planes, labels, None)
    iterations: list[Iteration] = []
    margins = np.full(regions.count, np.inf)
    end = start.iteration + start.count
    for t in range(start.iteration, end):
        last = label_anyway and t == end - 1
        particles = terms.particles(planes, labels, t, previous_frame)
        graph = terms.graph(particles)
        incumbent = (np.zeros(regions.count, np.int32), labels) if keeps else None
        lowest = Soon(partial(trivial_bound, graph)) if last else None
        solution = terms.solve(graph, topology.result(), incumbent, last=last)
        floor = floor if lowest is None else lowest.result()
        if keeps and t == start.iteration:
            initial_energy = float(solution.trace.energy[0])
        planes = particles[np.arange(regions.count), solution.states]
        labels, bound = solution.labels, solution.bound
        latest = _margins(regions, particles, solution)
        margins = np.where(np.isfinite(latest), latest, margins)
        outcome = solution.energy, solution.bound, solution.sweeps, solution.rule
        iterations.append(Iteration(*outcome, regions.count))
        tell(planes, labels, iterations[-1])
    return Inference(
        planes=planes,
        labels=labels,
        initial_planes=planes,
        features=UNKNOWN,
        initial_energy=initial_energy,
        bound=bound,
        iterations=tuple(iterations),
        margins=margins,
        noise=start.noise,
        floor=floor,
    )


def _margins(regions: Regions, particles: Floats, solution: Solution) -> Floats:
    """Return the extra cost of a different plane; infinite where none was drawn."""
    segment = np.arange(regions.count)
    da, db, dc = np.moveaxis(particles - particles[segment, solution.states][:, None], -1, 0)
    uu, uv, vv = regions.covariance.T[:, :, None]
    squared = dc * dc + uu * da * da + 2 * uv * da * db + vv * db * db
    beliefs = np.where(squared > DIFFERENT**2, solution.beliefs, np.inf)
    margin = beliefs.min(axis=1) - solution.beliefs[segment, solution.states]
    return np.asarray(np.maximum(margin, 0))
