"""Minimising the objective over non-negative weights.

Optimisers see scaled weights v ≥ 0 and a function that returns value and gradient. They are
deterministic: given the same values, they ask for the same points. Checkpoints rely on that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Floats

Function = Callable[[Floats], tuple[float, Floats]]
Interleaved = Callable[[Floats, int], tuple[float, Floats]]
"""A `Function` that also takes the number of sweeps to do first."""

RESTARTS = 3
"""How often L-BFGS-B is restarted after a failed line search."""
ARMIJO = 1e-4
HALVINGS = 30
PATIENCE = 5
"""The run ends after this many steps in a row that gain less than the tolerance."""
VANISHING = 1e-6
"""Scaled weights below this change no label."""
FIRST_STRIDE, SUBGRADIENT_STRIDE = 0.3, 0.05
"""Lengths, relative to the norm of the weights, of the first interleaved step and of sub-gradient
steps, which start near the optimum."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where an optimiser stopped."""

    weights: Floats
    value: float
    """The scaled weights of the least value seen, and that value."""
    reason: str
    """Why it stopped, in words."""


class OutOfStepsError(Exception):
    """No evaluations of the function are left."""


class Best:
    """Evaluates a function a limited number of times and remembers the best point.

    Parameters
    ----------
    function, limit
        The function, and the evaluations allowed; one more raises `OutOfStepsError`.
    """

    def __init__(self, function: Callable[..., tuple[float, Floats]], limit: int) -> None:
        self._function = function
        self.left = limit
        self.weights: Floats = np.empty(0)
        self.value = np.inf

    def __call__(self, weights: Floats, *sweeps: int) -> tuple[float, Floats]:
        """Evaluate the function, and remember the point if its value is the least so far."""
        if self.left == 0:
            raise OutOfStepsError
        self.left -= 1
        value, gradient = self._function(weights, *sweeps)
        if value < self.value:
            self.weights, self.value = weights.copy(), value
        return value, gradient

    def optimum(self, reason: str) -> Optimum:
        """Return the best point."""
        return Optimum(self.weights, self.value, reason)


def minimise_lbfgs(
    function: Function, start: Floats, learned: NDArray[np.bool_], *, limit: int, tolerance: float
) -> Optimum:
    """Minimise by L-BFGS-B [1]_, solving for the messages at every point.

    Parameters
    ----------
    function
        Value and gradient. Values may be slightly too high, because messages are not solved for
        exactly; a line search that fails because of that is started again.
    start
        Weights to start from.
    learned
        Boolean; other weights stay at zero.
    limit
        Largest number of evaluations.
    tolerance
        Stop when the value falls by less than this fraction of itself.

    References
    ----------
    .. [1] R. Byrd, P. Lu, J. Nocedal, C. Zhu, "A limited memory algorithm for bound constrained
       optimization", SIAM J. Scientific Computing 16 (5), 1995.
    """
    from scipy.optimize import minimize

    best = Best(function, limit)
    bounds = [(0.0, None if free else 0.0) for free in learned]
    options = {"ftol": tolerance, "gtol": 0.0, "maxiter": limit, "maxfun": 2 * limit}
    point = np.where(learned, start, 0.0)
    reason = ""
    try:
        for _ in range(1 + RESTARTS):
            found = minimize(
                best, point, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            reason = str(found.message).strip().rstrip(".")
            if found.success:
                return best.optimum(f"L-BFGS-B: {reason.lower()}")
            point = best.weights
    except OutOfStepsError:
        reason = f"{limit} evaluations, the most allowed"
    return best.optimum(f"L-BFGS-B: {reason}")


def minimise_interleaved(
    function: Interleaved,
    start: Floats,
    learned: NDArray[np.bool_],
    *,
    sweeps: int,
    limit: int,
    tolerance: float,
) -> Optimum:
    """Alternate sweeps of messages with projected gradient steps, as in the paper's reference [1]_.

    A step is halved until the value falls enough (Armijo) at fixed messages; the next one starts
    from twice its length. Neither part can raise the value, so it falls from step to step.

    Parameters
    ----------
    function
        Value and gradient after a number of sweeps.
    sweeps
        Sweeps between two steps.
    start, learned, limit, tolerance
        As in `minimise_lbfgs`; trial steps count as evaluations.

    References
    ----------
    .. [1] T. Hazan, R. Urtasun, "A primal-dual message-passing algorithm for approximated large
       scale structured prediction", NIPS 2010.
    """
    best = Best(function, limit)
    point = np.where(learned, start, 0.0)
    slow, length, before = 0, 0.0, np.inf
    try:
        while slow < PATIENCE:
            value, gradient = best(point, sweeps)
            slow = slow + 1 if before - value <= tolerance * abs(value) else 0
            before = value
            gradient = np.where(learned, gradient, 0.0)
            length = length or FIRST_STRIDE * float(np.linalg.norm(point)) / _norm(gradient)
            point, length = _armijo(best, point, value, gradient, length)
    except OutOfStepsError:
        return best.optimum(f"interleaved: {limit} evaluations, the most allowed")
    return best.optimum(f"interleaved: {PATIENCE} steps in a row fell by less than {tolerance:g}")


def _armijo(
    best: Best, point: Floats, value: float, gradient: Floats, length: float
) -> tuple[Floats, float]:
    """Return the next point and the length to try there; the same point if no trial is lower."""
    for _ in range(HALVINGS):
        trial = np.maximum(point - length * gradient, 0.0)
        if np.array_equal(trial, point):
            break
        there, _ = best(trial, 0)
        if there <= value - ARMIJO * float(gradient @ (point - trial)):
            return trial, 2 * length
        length /= 2
    return point, length


def minimise_subgradient(
    function: Function, start: Floats, learned: NDArray[np.bool_], *, limit: int
) -> Optimum:
    """Minimise by projected sub-gradient steps of falling length, and return the best point.

    It is for ε = 0, where the objective has kinks. Step k is `SUBGRADIENT_STRIDE` |v₀| / √k long.
    """
    best = Best(function, limit)
    point = np.where(learned, start, 0.0)
    stride = SUBGRADIENT_STRIDE * float(np.linalg.norm(point))
    for k in range(1, limit + 1):
        _, gradient = best(point)
        gradient = np.where(learned, gradient, 0.0)
        point = np.maximum(point - stride / np.sqrt(k) * gradient / _norm(gradient), 0.0)
    return best.optimum(f"{limit} projected sub-gradient steps, the best of them")


def _norm(gradient: Floats) -> float:
    return max(float(np.linalg.norm(gradient)), 1e-300)


def refuse_zero(weights: Floats) -> None:
    """Raise an error if all weights have vanished."""
    if not np.any(weights > VANISHING):
        raise InputError(
            "weights: expected one above zero, but learning drove all to zero: no feature "
            "separates ground truth from other planes; check the ground truth's scale and sign, or "
            "lower learning.C"
        )
