"""Rounds of learning: minimise the objective, run inference, add its planes to the particles.

See `slanted.learning.training_image` for why, and `slanted.learning.targets` for the second kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.learning.images import Images
from slanted.learning.optimise import (
    VANISHING,
    Optimum,
    minimise_interleaved,
    minimise_lbfgs,
    minimise_subgradient,
    refuse_zero,
)
from slanted.learning.training import Training, Units
from slanted.learning.weights_file import normalised, weights_in
from slanted.runtime.arrays import Floats

if TYPE_CHECKING:
    from slanted.settings import LearningSettings, Settings

ANNEALING = (1.0,)
"""Values of ε that are used before ε = 0."""
SETTLED = 0.01
"""Rounds end when the task loss differs from that of the last one by less than this share."""


@dataclass(frozen=True, eq=False)
class Round:
    """Weights, and the task loss of inference with them on the training images."""

    weights: Floats
    """(8,), normalised."""
    scale: float
    """The objective is least at these weights times this factor."""
    loss: float
    objective: float
    """The task loss, and the least value of the objective; NaN for the initial weights."""
    reason: str
    """Why the optimiser stopped."""


def best_round(rounds: Sequence[Round]) -> int:
    """Return the number of the first round with the least task loss."""
    return min(range(len(rounds)), key=lambda number: rounds[number].loss)


def learn_in_rounds(
    images: Images,
    training: Training,
    units: Units,
    settings: Settings,
    judge: Callable[[Floats], float],
    say: Callable[[str], None],
) -> list[Round]:
    """Learn with the ground truth as the target and, if that is no gain, with one within reach.

    `judge` returns the task loss of weights, after it has added their solution to the particles.
    """
    initial = weights_in(settings)
    loss = judge(normalised(initial))
    rounds = [Round(normalised(initial), 1.0, loss, nan, "no round lowered the task loss")]
    for in_reach in (False, True):
        if in_reach:
            say("no round lowered the task loss: again, with targets within reach")
            images.search(rounds[0].weights, settings.threads)
        found = rounds[:1]
        for number in range(1, settings.learning.rounds + 1):
            if in_reach or number > 1:
                training.redraw(found[-1].scale if in_reach else None, settings.threads)
            found.append(_learn_once(training, units, settings, initial, found[-1], say))
            found[-1] = replace(found[-1], loss=judge(found[-1].weights))
            say(f"round {number}: task loss {found[-1].loss:.6g}, at first {loss:.6g}")
            if number > 1 and abs(found[-1].loss - found[-2].loss) <= SETTLED * found[-1].loss:
                break
        rounds += found[1:]
        if best_round(rounds) > 0:
            break
    return rounds


def _learn_once(
    training: Training,
    units: Units,
    settings: Settings,
    initial: Floats,
    last: Round,
    say: Callable[[str], None],
) -> Round:
    """Minimise the objective, starting at the last weights; the task loss is not yet known."""
    learned = (initial > 0) & units.varies
    start = np.where(learned, last.scale * last.weights / units.weights, 0.0)
    if np.isnan(last.objective):  # the scale of the initial weights means nothing
        start = start / max(float(start.max()), VANISHING)
    optimum = _optimise(training, settings.learning, start, learned, say)
    refuse_zero(optimum.weights)
    weights = optimum.weights * units.weights
    # What does not vary here cannot be learned here: it stays beside the first that is.
    fixed = (initial > 0) & ~learned
    first = int(np.argmax(learned & (weights > 0)))
    weights[fixed] = initial[fixed] * weights[first] / initial[first]
    relative = normalised(weights)
    scale = float(np.max(weights) / np.max(relative))
    return Round(relative, scale, nan, optimum.value, optimum.reason)


def describe_method(learning: LearningSettings) -> str:
    """Describe in words how the objective is minimised."""
    if learning.epsilon == 0:
        through = " and ".join(f"{epsilon:g}" for epsilon in ANNEALING)
        return (
            f"epsilon 0: L-BFGS-B at epsilon {through}, then projected sub-gradient steps at 0, "
            "the best of which is kept"
        )
    if learning.optimiser == "interleaved":
        return (
            f"epsilon {learning.epsilon:g}: projected gradient steps, one after every "
            f"{learning.interleaved_sweeps} sweeps"
        )
    return f"epsilon {learning.epsilon:g}: L-BFGS-B with warm messages"


def most_steps(learning: LearningSettings) -> int:
    """Return the largest possible number of evaluations."""
    stages = len(ANNEALING) + 1 if learning.epsilon == 0 else 1
    return learning.max_steps * stages * 2 * learning.rounds  # with each kind of target


def _optimise(
    training: Training,
    learning: LearningSettings,
    start: Floats,
    learned: NDArray[np.bool_],
    say: Callable[[str], None],
) -> Optimum:
    sweeps, limit, tolerance = learning.max_sweeps, learning.max_steps, learning.tolerance

    def lbfgs(epsilon: float, start: Floats) -> Optimum:
        return minimise_lbfgs(
            lambda weights: training.evaluate(weights, epsilon, sweeps),
            start,
            learned,
            limit=limit,
            tolerance=tolerance,
        )

    if learning.epsilon == 0:
        for epsilon in ANNEALING:
            say(f"annealing: epsilon {epsilon:g}")
            start = lbfgs(epsilon, start).weights
        say("sub-gradient steps: epsilon 0")
        return minimise_subgradient(
            lambda weights: training.evaluate(weights, 0.0, sweeps), start, learned, limit=limit
        )
    if learning.optimiser == "interleaved":
        return minimise_interleaved(
            lambda weights, count: training.evaluate(weights, learning.epsilon, count),
            start,
            learned,
            sweeps=learning.interleaved_sweeps,
            limit=limit,
            tolerance=tolerance,
        )
    return lbfgs(learning.epsilon, start)
