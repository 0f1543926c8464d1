"""Options of the solver."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from slanted.errors import InputError

ANNEALING_START, ANNEALING_END = 0.3, 1e-3
"""First and smallest ε of annealing, in units of cost."""
ANNEALING_RATE = 0.97**300
"""Factor on ε over all annealing sweeps; the smallest ε is reached after three fifths of them."""


@dataclass(frozen=True)
class CountingNumbers:
    """Counting numbers c of the dual (`slanted.solver.dual`); they matter only if ε > 0.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    node: float = 0.0
    label: float = 0.0
    """c_i ≥ 0 of the variables."""
    factor: float = 1.0
    """c_α > 0 of all factors."""

    def __post_init__(self) -> None:
        if not (0 <= self.node < inf and 0 <= self.label < inf and 0 < self.factor < inf):
            raise InputError(
                "counting numbers: expected node, label >= 0 and factor > 0, got "
                f"{self.node}, {self.label} and {self.factor}; the dual is not concave otherwise"
            )


@dataclass(frozen=True)
class SolverOptions:
    """What dual to ascend, and when to stop.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    epsilon: float = 0.0
    """ε: 0 seeks the labelling of least energy; larger values smooth the dual and slow the sweeps.
    """
    counting: CountingNumbers = CountingNumbers()
    """Counting numbers of variables and factors."""
    max_sweeps: int = 200
    """Stop after this many sweeps; annealing sweeps are not counted."""
    check_every: int = 10
    """Sweeps between evaluations of dual and bound."""
    gap_tolerance: float = 1e-6
    """Stop when energy − bound is at most this, in units of cost. A relative gap would look too
    good, because most of the energy is unavoidable. The bound is rounded down by about 1e-13 of the
    energy, so a tolerance of 0 is never met."""
    relative_gap: float = 0.0
    """Stop, too, when energy − bound is at most this share of the bound."""
    progress_tolerance: float = 1e-6
    """Stop when the dual rises by at most this fraction of itself between two checks."""
    annealing_sweeps: int = 0
    """Sweeps with ε falling from 0.3 to 0.001 units of cost that precede the others. 300 give a
    tighter bound at several times the cost; hard problems need more."""
    decode: bool = True
    """Whether to look for labellings. If not, the solution is the incumbent or, without one, the
    argmin of each variable's last belief."""

    def __post_init__(self) -> None:
        fewest = min(self.max_sweeps, self.annealing_sweeps)
        if not 0 <= self.epsilon < inf or fewest < 0 or self.check_every < 1:
            raise InputError(
                "solver options: expected epsilon, max_sweeps, annealing_sweeps >= 0 and "
                f"check_every >= 1, got {self.epsilon}, {self.max_sweeps}, {self.annealing_sweeps} "
                f"and {self.check_every}; correct what is out of range"
            )

    def schedule(self) -> list[float]:
        """Return the ε of every sweep, annealing first."""
        steps = np.arange(self.annealing_sweeps) / max(self.annealing_sweeps, 1)
        annealing = np.maximum(ANNEALING_END, ANNEALING_START * ANNEALING_RATE**steps)
        # Kernels would compile again for an integer ε.
        return [*map(float, annealing), *[float(self.epsilon)] * self.max_sweeps]
