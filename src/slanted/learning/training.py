"""The objective over all images, evaluated where the images are and recorded step by step.

    F(v) = Σ_s f_s(v · units) + regulariser/2 |v|²,

with f_s as in `slanted.learning.objective`. The sum over images is not divided by their number.
The optimiser sees scaled weights v, w = v · units; `Units` are found from the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.learning.checkpoint import Checkpoint, Evaluation
from slanted.learning.images import Images
from slanted.learning.owner import Loaded
from slanted.runtime.arrays import Floats


@dataclass(frozen=True, eq=False)
class Units:
    """Scales of weights and of the regulariser, so that neither depends on the units of features.

    At v_k = 1, potential k varies among the particles of a segment as much as their task loss.
    """

    weights: Floats
    """(8,) the weights at v = 1."""
    loss: float
    """Mean task loss of a particle, at least 1, the scale of the entropy at ε = 1."""
    varies: NDArray[np.bool_]
    """(8,) which features differ among particles or labels at all."""

    @classmethod
    def of(cls, loaded: Sequence[Loaded]) -> Units:
        """Return the units of some images: means over them."""
        spreads = np.mean([image.spreads for image in loaded], axis=0)
        loss = max(1.0, float(np.mean([image.loss_spread for image in loaded])))
        varies = spreads > 0
        return cls(loss / np.where(varies, spreads, 1.0), loss, varies)


@dataclass(frozen=True)
class Step:
    """An evaluation and the progress of the run, for reports."""

    number: int
    most: int
    """Number of the evaluation, from 1, and the largest possible number."""
    evaluation: Evaluation
    """The evaluation."""
    lowest: float
    """Lowest value of the round so far."""
    gradient_norm: float
    """Norm of the projected gradient; 0 at the minimum."""
    seconds_left: float
    """Time left if all steps are taken."""


class Training:
    """F and its gradient. Evaluations are recorded, and recorded ones are not computed again.

    Parameters
    ----------
    images
        The images whose f_s add up to F.
    checkpoint
        Where to record; None records nothing.
    units
        (8,) the weights at v = 1.
    regulariser
        Factor of ½ |v|².
    tolerance
        Relative rise of the dual at which sweeps stop.
    most
        The largest possible number of evaluations, to estimate the time left.
    progress
        Called after each evaluation.
    """

    def __init__(
        self,
        images: Images,
        checkpoint: Checkpoint | None,
        *,
        units: Floats,
        regulariser: float,
        tolerance: float,
        most: int,
        progress: Callable[[Step], None] | None = None,
    ) -> None:
        self._images = images
        self._checkpoint = checkpoint
        self._units = units
        self._regulariser = regulariser
        self._tolerance = tolerance
        self._most = most
        self._progress = progress
        self._recorded = checkpoint.load() if checkpoint is not None else []
        self._stale = bool(self._recorded)
        self._round_start = 0
        self.evaluations: list[Evaluation] = []

    @property
    def resumed(self) -> int:
        """How many evaluations the checkpoint held."""
        return len(self._recorded)

    def evaluate(self, weights: Floats, epsilon: float, sweeps: int) -> tuple[float, Floats]:
        """Return F and its gradient at scaled weights.

        Raises
        ------
        InputError
            If F is not a number, or if the recorded run asked for other weights.
        """
        number = len(self.evaluations)
        if number < len(self._recorded):
            found = self._recorded[number]
            asked = (tuple(weights.tolist()), epsilon, sweeps)
            if (found.weights, found.epsilon, found.max_sweeps) != asked:
                raise InputError(
                    f"checkpoint: expected step {number + 1} of this run, got another: it was "
                    "written with other versions of the packages; start anew with --restart"
                )
            self.evaluations.append(found)
        else:
            self.restore()
            self.evaluations.append(self._evaluate(weights, epsilon, sweeps))
            if self._checkpoint is not None:
                self._checkpoint.save(self.evaluations, self._images.messages())
            self._tell()
        evaluation = self.evaluations[-1]
        return evaluation.value, np.array(evaluation.gradient)

    def _evaluate(self, weights: Floats, epsilon: float, sweeps: int) -> Evaluation:
        start = time.perf_counter()
        value, gradient, _, done = self._images.evaluate(
            weights * self._units, epsilon, sweeps, self._tolerance
        )
        value += 0.5 * self._regulariser * float(weights @ weights)
        gradient = gradient * self._units + self._regulariser * weights
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise InputError(
                f"objective: expected a number at step {len(self.evaluations) + 1}, got {value} "
                f"with the gradient {gradient.tolist()}; look for features that are not finite, "
                "or lower learning.loss_scale; the last good step is in the checkpoint"
            )
        seconds = time.perf_counter() - start
        return Evaluation(
            tuple(weights.tolist()), epsilon, sweeps, value, tuple(gradient.tolist()), done, seconds
        )

    def restore(self) -> None:
        """Put recorded messages back, once, before anything is computed from them."""
        if self._stale and self._checkpoint is not None:
            self._images.restore(self._checkpoint.load_messages(self._images.count))
        self._stale = False

    def redraw(self, scale: float | None, threads: int | None) -> None:
        """Start a round: draw the particles again, with messages of 0."""
        self._images.redraw(scale, threads)
        self._round_start = len(self.evaluations)
        if self._round_start == len(self._recorded):
            self._stale = False  # the recorded messages are those of the round before

    def _tell(self) -> None:
        if self._progress is None:
            return
        now = self.evaluations[-1]
        gradient, weights = np.array(now.gradient), np.array(now.weights)
        possible = np.where((weights > 0) | (gradient < 0), gradient, 0.0)
        seconds = np.mean([row.seconds for row in self.evaluations])
        self._progress(
            Step(
                number=len(self.evaluations),
                most=self._most,
                evaluation=now,
                lowest=min(row.value for row in self.evaluations[self._round_start :]),
                gradient_norm=float(np.linalg.norm(possible)),
                seconds_left=float(seconds) * max(self._most - len(self.evaluations), 0),
            )
        )
