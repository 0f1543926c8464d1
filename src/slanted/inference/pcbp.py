"""Particle convex belief propagation: the outer loop (paper §3.2, Algorithm 1).

Planes are continuous. Each iteration draws particles around the current ones, solves the discrete
problem over them by convex belief propagation, and moves to its solution. Differs from the paper's
Algorithm 1 in that, unless told otherwise, the current solution is always among the candidates, so
the energy never rises, and in where the particles come from; see `slanted.inference.particles`.

References
----------
.. [1] J. Peng, T. Hazan, D. McAllester, R. Urtasun, "Convex max-product algorithms for continuous
   MRFs with applications to protein folding", ICML 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.inference.terms import Terms, WholeImage
from slanted.model.energy import Energies, cheapest_labels
from slanted.model.observations import observe
from slanted.model.planes import lowest_disparity
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.solver.topology import build_topology

if TYPE_CHECKING:
    from slanted.images.census import Words
    from slanted.inference.previous_frame import Remembered
    from slanted.model.user_potential import Potential
    from slanted.settings import ModelSettings, Settings
    from slanted.solver.solution import Solution


DATA_SCALES = 0.5, 8.0
"""Least and largest factor of the data potentials."""
UNKNOWN = Energies(*[nan] * len(fields(Energies)))
"""Features that were not asked for."""
DIFFERENT = 1.0
"""Pixels, rms over a segment, by which planes must differ to count as alternatives."""


ROUNDING = 1e-6
"""Of energies, which are thousands for a real image."""


@dataclass(frozen=True)
class Iteration:
    """What one iteration came to.

    Parameters
    ----------
    energy
        Of the solution, with the weights applied.
    bound
        No choice among this iteration's particles, with any labels, costs less. It says nothing of
        planes that were not drawn.
    sweeps
        Message-passing sweeps that the discrete problem took.
    rule
        What ended them: ``gap``, ``progress`` or ``sweeps``.
    segments
        How many segments it was about. When segments are refined between iterations the energy
        is that of another graph, and may be higher.
    """

    energy: float
    bound: float
    sweeps: int
    rule: str
    segments: int

    @property
    def gap(self) -> float:
        """How far the energy can be above the optimum over the particles, as a share of it."""
        # The bound leaves room for rounding, and so is below an energy of zero.
        if self.energy <= self.bound + ROUNDING:
            return 0.0
        return (self.energy - self.bound) / self.bound if self.bound > 0 else inf


@dataclass(frozen=True, eq=False)
class Inference:
    """Planes and boundary labels, and how they were come by.

    Parameters
    ----------
    planes
        (n, 3) α, β, γ about the segments' centres.
    labels
        (E,) values of `slanted.boundary_label.BoundaryLabel`.
    initial_planes
        (n, 3) from which inference on these segments started: their local fits or, if they were
        refined, the planes that they were refined with.
    energies
        Features of the solution, one for each potential; not numbers if they were not asked for.
    initial_energy
        Of the planes that inference started from, with labels that suit them; not a number if the
        particles of the first iteration did not include these planes.
    bound
        On these segments no choice among the last particles, with any labels, costs less.
    iterations
        The outer iterations, in order.
    confidence
        (n,) how much more it would cost, judged by the messages, to give each segment a plane that
        differs by more than a pixel (rms over the segment); 0 where such a plane does as well.
        Where no such plane was drawn in the last iteration, an earlier one counts; where none ever
        was, infinite. Comparable inside one run only.
    noise
        Of the matches, estimated from the local fits, in pixels.
    """

    planes: Floats
    labels: Ints
    initial_planes: Floats
    energies: Energies
    initial_energy: float
    bound: float
    iterations: tuple[Iteration, ...]
    confidence: Floats
    noise: float


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of inference at one moment.

    Parameters
    ----------
    regions, planes, labels
        As in the result; segments may differ from moment to moment.
    iteration
        What the last iteration came to; None before the first on these segments.
    """

    regions: Regions
    planes: Floats
    labels: Ints
    iteration: Iteration | None


Watch = Callable[[Snapshot], None]


def infer(
    regions: Regions,
    matched: NDArray[np.float32],
    settings: Settings,
    *,
    weights: NDArray[np.float32] | None = None,
    words: Words | None = None,
    own: Potential | None = None,
    right: NDArray[np.float32] | None = None,
    remembered: Remembered | None = None,
    start: Start | None = None,
    draws: int | None = None,
    measure: bool = True,
    watch: Watch | None = None,
    terms: Terms | None = None,
) -> Inference:
    """Minimise the energy over planes and labels.

    Parameters
    ----------
    regions
        The segments, built with the left image.
    matched
        (H, W) the initial disparity D(p), NaN outside F.
    settings
        Sections ``model`` and ``inference``, the seed, and where the range of disparities starts.
    weights
        (H, W) ≥ 0 by which pixels count; 1 if None, as in the paper.
    words
        Census words of both views, for φ_pho; without them it is 0.
    own
        A potential of the user's own, φ_own; tiles know none.
    right
        D(p) as the right view sees it, if it is at hand.
    remembered
        Planes of the frame before, to be among the particles.
    start
        What to go on from; by default the local fits.
    draws
        How often to draw particles if there is no start; by default as the settings say.
    measure
        Whether to evaluate the features of the solution, which nothing but a report needs, and, if
        nothing is drawn, to find the best labels.
    watch
        Called with the state before the first iteration and after every one; what it raises ends
        the run.
    terms
        The observations in another form, such as tiles; by default those of the whole image.
    """
    lowest = lowest_disparity(settings)
    floor = np.array([0, 0, lowest])
    if terms is None:
        observations = observe(regions, matched, weights, lowest, words, own, right)
        terms = WholeImage(regions, observations, settings)
    if start is None:
        local = terms.local_planes()
        count = settings.inference.iterations if draws is None else draws
        start = Start(local, terms.noise(local), 0, count)
    else:
        start = replace(start, planes=start.planes - floor)
    terms = terms.scaled(data_scale(start.noise, settings.model))
    if remembered is not None:
        remembered = replace(remembered, planes=remembered.planes - floor)

    def tell(planes: Floats, labels: Ints, iteration: Iteration | None) -> None:
        if watch is not None:
            watch(Snapshot(regions, planes + floor, labels, iteration))

    found = _infer(regions, terms, start, settings, remembered, tell, final=measure)
    if measure:
        found = replace(found, energies=terms.energies(found.planes, found.labels))
    return replace(found, planes=found.planes + floor, initial_planes=start.planes + floor)


@dataclass(frozen=True, eq=False)
class Start:
    """What a run of inference goes on from.

    Parameters
    ----------
    planes
        (n, 3) about the segments' centres.
    noise
        Of the matches, in pixels.
    iteration
        The number of the first iteration: deviations of particles shrink with it.
    count
        Iterations to make.
    """

    planes: Floats
    noise: float
    iteration: int
    count: int


def data_scale(noise: float, model: ModelSettings) -> float:
    """Return the factor of the data potentials: 1 at the noise for which the weights were found.

    Squared residuals tell more where matches are more precise, in inverse proportion to their
    variance; the paper has one camera, and no such factor (``model.noise`` = 0).
    """
    if model.noise == 0:
        return 1.0
    smallest, largest = DATA_SCALES
    return float(np.clip((model.noise / max(noise, 1e-6)) ** 2, smallest, largest))


def _infer(
    regions: Regions,
    terms: Terms,
    start: Start,
    settings: Settings,
    remembered: Remembered | None,
    tell: Callable[[Floats, Ints, Iteration | None], None],
    *,
    final: bool,
) -> Inference:
    planes, inference = start.planes, settings.inference
    # Worth no solver of their own: the iterations that follow find better ones.
    labels = cheapest_labels(regions, planes, settings.model)
    keeps = inference.proposals != "paper"
    topology, initial_energy, bound = None, nan, -inf
    if start.count == 0 and final:
        graph = terms.graph(planes[:, None])
        alone = terms.solve(graph, build_topology(graph), None, inference.sweeps)
        labels, initial_energy, bound = alone.labels, alone.energy, alone.bound
    tell(planes, labels, None)
    iterations: list[Iteration] = []
    confidence = np.full(regions.count, np.inf)
    for t in range(start.iteration, start.iteration + start.count):
        particles = terms.particles(planes, labels, t, remembered)
        graph = terms.graph(particles)
        topology = topology or build_topology(graph)
        incumbent = (np.zeros(regions.count, np.int32), labels) if keeps else None
        solution = terms.solve(graph, topology, incumbent, inference.sweeps)
        if keeps and t == start.iteration:
            initial_energy = float(solution.trace.energy[0])
        planes = particles[np.arange(regions.count), solution.states]
        labels, bound = solution.labels, solution.bound
        margins = _margins(regions, particles, solution)
        confidence = np.where(np.isfinite(margins), margins, confidence)
        iterations.append(
            Iteration(
                solution.energy, solution.bound, solution.sweeps, solution.rule, regions.count
            )
        )
        tell(planes, labels, iterations[-1])
    return Inference(
        planes=planes,
        labels=labels,
        initial_planes=planes,
        energies=UNKNOWN,
        initial_energy=initial_energy,
        bound=bound,
        iterations=tuple(iterations),
        confidence=confidence,
        noise=start.noise,
    )


def _margins(regions: Regions, particles: Floats, solution: Solution) -> Floats:
    """Return what a different plane would cost more; infinite where none was drawn."""
    segment = np.arange(regions.count)
    da, db, dc = np.moveaxis(particles - particles[segment, solution.states][:, None], -1, 0)
    uu, uv, vv = regions.covariance.T[:, :, None]
    squared = dc * dc + uu * da * da + 2 * uv * da * db + vv * db * db
    beliefs = np.where(squared > DIFFERENT**2, solution.beliefs, np.inf)
    margin = beliefs.min(axis=1) - solution.beliefs[segment, solution.states]
    return np.asarray(np.maximum(margin, 0))
