"""What inference returns: planes, boundary labels, energies, bounds and the course of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf, nan

from slanted.model.energy import Energies
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints

UNKNOWN = Energies(*[nan] * len(fields(Energies)))
"""Energies that were not asked for."""
ROUNDING = 1e-6
"""An energy this close to its bound is optimal; energies of real images are in the thousands."""


@dataclass(frozen=True)
class Iteration:
    """The outcome of one outer iteration.

    Parameters
    ----------
    energy
        Energy of the solution, with the weights applied.
    bound
        No choice among this iteration's particles, with any labels, has a lower energy. Planes that
        were not drawn may have.
    sweeps
        Message-passing sweeps that the discrete problem took.
    rule
        What ended the sweeps: ``gap``, ``progress`` or ``sweeps``.
    segments
        Number of segments. When segments are refined between iterations the energy is that of
        another graph, and may be higher.
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
    """Planes and boundary labels, and how they were found.

    Parameters
    ----------
    planes
        (n, 3) α, β, γ about the segments' centres.
    labels
        (E,) values of `slanted.BoundaryLabel`.
    initial_planes
        (n, 3) planes that inference started from: the local fits or, on refined segments, the
        planes that the segments were refined with.
    energies
        The unweighted energy of each potential; NaN if they were not asked for.
    initial_energy
        Energy of the initial planes with labels that suit them; NaN if the particles of the first
        iteration did not include these planes.
    bound
        No choice among the last particles on these segments, with any labels, has a lower energy.
    iterations
        The outer iterations, in order.
    confidence
        (n,) how much more it would cost, judged by the messages, to give each segment a plane that
        differs by more than a pixel (rms over the segment); 0 where such a plane does as well.
        Where no such plane was drawn in the last iteration, an earlier one counts; where none ever
        was, infinite. Comparable within one run only.
    noise
        Noise of the matches in pixels, estimated from the local fits.
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
        As in the result; the segments may differ from moment to moment.
    iteration
        The last iteration; None before the first on these segments.
    """

    regions: Regions
    planes: Floats
    labels: Ints
    iteration: Iteration | None


Watch = Callable[[Snapshot], None]
"""Called with the state before the first iteration and after every one; raising ends the run."""
