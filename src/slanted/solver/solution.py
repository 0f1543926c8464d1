"""What the solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from slanted.runtime.arrays import Floats, Ints
from slanted.solver.messages import Messages

Rule = Literal["gap", "progress", "sweeps"]  # a closed gap, lack of progress, no sweeps left


@dataclass(frozen=True, eq=False)
class Solution:
    """The best labelling found, and a proof of how good it is."""

    states: Ints
    labels: Ints
    """(n,) state of each node, (E,) label of each edge."""
    energy: float
    """Their cost."""
    bound: float
    """No labelling of this graph costs less: the best certified D_0 of all checks."""
    beliefs: Floats
    """(n, N) B_i of the last messages. With ε = 0 no labelling that gives node i state k costs less
    than D_0 of these messages plus B_i(k) − min B_i; with ε > 0 the belief in k is proportional to
    exp(−B_i(k) / (ε ĉ_i))."""
    messages: Messages
    """The last messages, for a warm start."""
    sweeps: int
    """Sweeps done."""
    rule: Rule
    """Why the run stopped."""
    trace: Trace
    """Dual, bound and energy in the course of the run."""

    @property
    def gap(self) -> float:
        """The most by which the energy can exceed the optimum."""
        return self.energy - self.bound


@dataclass(frozen=True, eq=False)
class Trace:
    """Dual, bound and energy at each check of a run.

    Parameters
    ----------
    sweep, energy
        Sweeps done, and the energy of the best labelling so far, infinite before there is one.
    dual, bound
        D_ε of the messages at the ε of the last sweep, and their certified D_0; NaN and −∞ where
        they were not evaluated.
    """

    sweep: Ints
    dual: Floats
    bound: Floats
    energy: Floats
