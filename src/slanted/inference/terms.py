"""The interface between inference and an image: initial planes, particles, costs and a solver.

The image is one whole, or in tiles (`slanted.tiles`); the outer loop is the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

from slanted.inference.local_fit import match_noise
from slanted.inference.particles import propose
from slanted.inference.pooled_fit import fit_initial_planes
from slanted.model.build import build_factor_graph
from slanted.model.energy import Features, energy
from slanted.model.observations import observe
from slanted.model.planes import lowest_disparity
from slanted.solver.convex_bp import solve
from slanted.solver.options import SolverOptions

if TYPE_CHECKING:
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.model.evidence import Evidence
    from slanted.model.observations import Observations
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import Floats, Ints
    from slanted.settings import Settings
    from slanted.solver.factor_graph import FactorGraph
    from slanted.solver.run import Incumbent
    from slanted.solver.solution import Solution
    from slanted.solver.topology import Topology


MOST_SWEEPS = 1000
"""Sweeps of a run that goes on until the gap is small."""


class Terms(Protocol):
    """The energy of an image's segments; disparities are relative to `lowest_disparity`."""

    @property
    def regions(self) -> Regions:
        """The segments."""

    @property
    def settings(self) -> Settings:
        """Sections ``model`` and ``inference``, the seed and the range of disparities."""

    def local_planes(self) -> Floats:
        """Return the (n, 3) planes fitted to each segment's matches."""

    def noise(self, planes: Floats) -> float:
        """Return the noise of the matches about these planes, in pixels."""

    def scaled(self, factor: float) -> Self:
        """Return terms in which every pixel counts `factor` times as much."""

    def particles(
        self, planes: Floats, labels: Ints, iteration: int, previous_frame: PreviousFrame | None
    ) -> Floats:
        """Return (n, N, 3) candidate planes; see `slanted.inference.particles.propose`."""

    def graph(self, particles: Floats) -> FactorGraph:
        """Tabulate the energy over particles."""

    def solve(
        self, graph: FactorGraph, topology: Topology, incumbent: Incumbent | None, *, last: bool
    ) -> Solution:
        """Minimise the tabulated energy; the `last` run of the solver may take longer."""

    def features(self, planes: Floats, labels: Ints) -> Features:
        """Return the unweighted energies of a solution."""


@dataclass(frozen=True, eq=False)
class WholeImage:
    """The energy of all segments at once."""

    regions: Regions
    observations: Observations
    settings: Settings

    @classmethod
    def of(
        cls, regions: Regions, evidence: Evidence, settings: Settings, every: int = 1
    ) -> WholeImage:
        """Gather the evidence by segment, of one pixel in so many."""
        observations = observe(regions, evidence, lowest_disparity(settings), every=every)
        return cls(regions, observations, settings)

    def local_planes(self) -> Floats:
        """Fit a plane to each segment's matches."""
        K, share = self.settings.model.truncation, self.settings.inference.pooled_fit
        return fit_initial_planes(self.regions, self.observations, K, share)

    def noise(self, planes: Floats) -> float:
        """Estimate the noise from the residuals."""
        return match_noise(self.observations, planes)

    def scaled(self, factor: float) -> Self:
        """Scale the observations."""
        return replace(self, observations=self.observations.scaled(factor))

    def particles(
        self, planes: Floats, labels: Ints, iteration: int, previous_frame: PreviousFrame | None
    ) -> Floats:
        """Draw particles from the observations."""
        regions, seen, settings = self.regions, self.observations, self.settings
        return propose(regions, seen, planes, labels, iteration, settings, previous_frame)

    def graph(self, particles: Floats) -> FactorGraph:
        """Tabulate all potentials."""
        return build_factor_graph(self.regions, self.observations, particles, self.settings.model)

    def solve(
        self, graph: FactorGraph, topology: Topology, incumbent: Incumbent | None, *, last: bool
    ) -> Solution:
        """Pass messages over the whole graph."""
        rules = self.settings.inference
        gap = rules.gap if last else 0.0
        sweeps = max(rules.sweeps, rules.last_sweeps or 0) if last else rules.sweeps
        checks = gap > 0 or rules.check_every < rules.sweeps
        every = rules.check_every if checks else max(1, sweeps)
        options = solver_options(self.settings, sweeps, every, gap)
        return solve(graph, options, incumbent=incumbent, topology=topology)

    def features(self, planes: Floats, labels: Ints) -> Features:
        """Evaluate every potential."""
        return energy(self.regions, self.observations, planes, labels, self.settings.model)


def solver_options(
    settings: Settings, max_sweeps: int, check_every: int, gap: float
) -> SolverOptions:
    """Return the solver's options, with ε and tolerances from the settings.

    With a `gap` there are more sweeps, until it is reached or would take a thousand checks more.
    """
    inference = settings.inference
    options = SolverOptions(
        epsilon=inference.epsilon,
        gap_tolerance=inference.gap_tolerance,
        progress_tolerance=inference.progress_tolerance,
        max_sweeps=max_sweeps,
        check_every=check_every,
    )
    if gap == 0:
        return options
    return replace(
        options,
        relative_gap=gap,
        max_sweeps=max(max_sweeps, MOST_SWEEPS),
        progress_tolerance=min(inference.progress_tolerance, gap / 1000),
    )
