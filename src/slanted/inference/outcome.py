"""What inference returns: planes, boundary labels, energies, bounds and the course of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from math import inf, nan
from typing import TYPE_CHECKING

from slanted.model.energy import Features
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints

if TYPE_CHECKING:
    from slanted.settings import Settings

UNKNOWN = Features(*[nan] * len(fields(Features)))
"""Features that were not evaluated."""
ROUNDING = 1e-6
"""An energy this close to its bound counts as optimal; energies of images are thousands."""


@dataclass(frozen=True)
class Iteration:
    """The outcome of one outer iteration.

    Examples
    --------
    >>> round(Iteration(energy=105, bound=100, sweeps=8, rule="gap", segments=9).gap, 3)
    0.05
    """

    energy: float
    """Energy of the solution, with the weights applied."""
    bound: float
    """No choice among this iteration's particles, with any labels, has a lower energy; planes that
    were not drawn may have."""
    sweeps: int
    """Number of message-passing sweeps."""
    rule: str
    """What ended the sweeps: ``gap``, ``progress`` or ``sweeps``."""
    segments: int
    """Number of segments. If segments are refined between iterations, the energy is that of another
    graph and may be higher."""

    @property
    def gap(self) -> float:
        """Largest possible excess of the energy over the optimum among the particles, relative."""
        # The bound allows for rounding, so it is below an energy of zero.
        if self.energy <= self.bound + ROUNDING:
            return 0.0
        return (self.energy - self.bound) / self.bound if self.bound > 0 else inf


def graph_changes(steps: Sequence[Iteration], settings: Settings) -> frozenset[int]:
    """Return the indices of iterations that had another graph than the one before.

    That is where the number of segments changed and, in a run that has all iterations of its
    settings, where a round of refinement began: segments, or the matches that they explain, may
    change without their number.
    """
    changed = {k for k, (a, b) in enumerate(pairwise(steps), 1) if a.segments != b.segments}
    first, each = settings.inference.iterations, settings.refinement.iterations
    if each and len(steps) == first + each * settings.refinement.rounds:
        changed.update(range(first, len(steps), each))
    return frozenset(changed - {0})


@dataclass(frozen=True, eq=False)
class Inference:
    """Planes and boundary labels, and how they were found."""

    planes: Floats
    """(n, 3) α, β, γ about the segments' centres."""
    labels: Ints
    """(E,) values of `slanted.BoundaryLabel`."""
    initial_planes: Floats
    """(n, 3) planes that inference started from: the local fits or, on refined segments, the planes
    with which the segments were refined."""
    features: Features
    """The unweighted energy of each potential; NaN if not evaluated."""
    initial_energy: float
    """Energy of the initial planes with suitable labels; NaN if the particles of the first
    iteration did not include these planes."""
    bound: float
    """No choice among the last particles on these segments, with any labels, has a lower energy."""
    iterations: tuple[Iteration, ...]
    """The outer iterations, in order."""
    margins: Floats
    """(n,) extra cost, judged by the messages, of giving each segment a plane that differs by more
    than a pixel (rms over the segment); 0 where such a plane is as good. If no such plane was drawn
    in the last iteration, an earlier iteration counts; if none ever was, it is infinite. Comparable
    within one run only."""
    noise: float
    """Standard deviation of the matches in pixels, estimated from the local fits."""
    floor: float = nan
    """The sum of the least cost of every potential alone, over the last particles: what no search
    can change. NaN if not evaluated."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of inference at one moment; refinement changes the segments."""

    regions: Regions
    planes: Floats
    labels: Ints
    iteration: Iteration | None
    """The last iteration; None before the first on these segments."""


Watch = Callable[[Snapshot], None]
"""Called with the state before the first iteration and after each; an exception ends the run."""
