"""The objective over all images: evaluated by their owners, recorded step by step.

    F(v) = Σ_s f_s(v / scale) + C/2 |v|²,

f_s as in `slanted.learning.objective`. The sum over images is not divided by their number, so
C = number of images, as in the paper, weighs the mean loss against ½ |v|². Scaled weights
v = w · scale bring features that are sums over pixels to the size of the others; the regulariser
acts on them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError
from slanted.learning.checkpoint import Checkpoint, Evaluation
from slanted.learning.owner import (
    Loaded,
    evaluate_images,
    forget_images,
    load_frame,
    measure_frame,
    read_messages,
    write_messages,
)
from slanted.runtime.arrays import Floats

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.learning.backends import Backend
    from slanted.settings import Settings

SCALES = np.array([50.0, 50.0, 1.0, 1.0, 1.0, 1.0, 50.0, 1.0])
"""Of seg, bdy1, bdy2, jct, crs, col, vis and pho."""


@dataclass(frozen=True)
class Step:
    """What is told of an evaluation.

    Parameters
    ----------
    number, most
        Counted from 1, and how many there can be.
    evaluation
        Itself.
    lowest
        Value so far.
    gradient_norm
        Of the projected gradient: what could still be gained.
    seconds_left
        At most, if all steps are taken.
    """

    number: int
    most: int
    evaluation: Evaluation
    lowest: float
    gradient_norm: float
    seconds_left: float


class Images:
    """Frames spread over the owners of a backend.

    Parameters
    ----------
    backend
        Who computes.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        # A run has a name at each owner: several may live in one process, as Dask's threads do, and
        # must not share working memory.
        token = uuid.uuid4().hex
        self._runs = [f"{token}-{owner}" for owner in range(backend.owners)]
        self._numbers: list[list[int]] = [[] for _ in range(backend.owners)]

    def load(
        self,
        frames: Sequence[Frame],
        settings: Settings,
        progress: Callable[[str], None] | None = None,
    ) -> list[Loaded]:
        """Make an example of every frame."""
        waiting = []
        for number, frame in enumerate(frames):
            owner = number % self._backend.owners
            self._numbers[owner].append(number)
            arguments = (self._runs[owner], number, frame, settings)
            waiting.append(self._backend.submit(owner, load_frame, *arguments))
        loaded = []
        for number, pending in enumerate(waiting, 1):
            loaded.append(pending.result())
            if progress is not None:
                found = loaded[-1]
                progress(
                    f"{number}/{len(frames)} {found.name}: {found.segments_with_truth} of "
                    f"{found.segments} segments have ground truth"
                )
        return loaded

    @property
    def count(self) -> int:
        """How many images there are."""
        return sum(len(numbers) for numbers in self._numbers)

    def add(self, number: int, owner: int = 0) -> str:
        """Tell that an owner has an image already, and return the name of the run there."""
        self._numbers[owner].append(number)
        return self._runs[owner]

    def evaluate(
        self, weights: Floats, epsilon: float, sweeps: int, tolerance: float
    ) -> tuple[float, Floats, Floats, int]:
        """Return Σ f_s, its gradient, the expected features, and the sweeps of all images."""
        arguments = (np.asarray(weights), epsilon, sweeps, tolerance)
        shares = self._ordered(
            self._at_owners(evaluate_images, lambda numbers: (numbers, *arguments))
        )
        # In the order of the images, whoever owns them: sums do not depend on the workers.
        return (
            fsum(share.value for share in shares),
            np.sum([share.gradient for share in shares], axis=0),
            np.sum([share.expectation for share in shares], axis=0),
            sum(share.sweeps for share in shares),
        )

    def messages(self) -> list[dict[str, Floats]]:
        """Return the messages of all images."""
        return self._ordered(self._at_owners(read_messages, lambda numbers: (numbers,)))

    def restore(self, messages: Sequence[dict[str, Floats]]) -> None:
        """Put messages back."""
        for owner, numbers in enumerate(self._numbers):
            for number in numbers:
                arguments = (self._runs[owner], number, messages[number])
                self._backend.submit(owner, write_messages, *arguments).result()

    def measure(
        self, frames: Sequence[Frame], settings: Settings, weights: Floats
    ) -> list[dict[str, float]]:
        """Return the metrics of each frame with some weights."""
        waiting = [
            self._backend.submit(
                number % self._backend.owners, measure_frame, frame, settings, weights
            )
            for number, frame in enumerate(frames)
        ]
        return [pending.result() for pending in waiting]

    def close(self) -> None:
        """Free the images."""
        for owner in range(self._backend.owners):
            self._backend.submit(owner, forget_images, self._runs[owner]).result()

    def _at_owners(
        self, function: Callable[..., Any], arguments: Callable[[list[int]], tuple[Any, ...]]
    ) -> list[list[Any]]:
        waiting = [
            self._backend.submit(owner, function, self._runs[owner], *arguments(numbers))
            for owner, numbers in enumerate(self._numbers)
        ]
        return [pending.result() for pending in waiting]

    def _ordered(self, by_owner: list[list[Any]]) -> list[Any]:
        """Bring what owners returned into the order of the images."""
        pairs = [
            pair
            for numbers, found in zip(self._numbers, by_owner, strict=True)
            for pair in zip(numbers, found, strict=True)
        ]
        return [found for _, found in sorted(pairs, key=lambda pair: pair[0])]


class Training:
    """F and its gradient; every evaluation is recorded, and recorded ones are not made again.

    Parameters
    ----------
    images
        Which add up to F.
    checkpoint
        Where to record; None records nowhere.
    C
        Of the regulariser.
    tolerance
        At which sweeps stop.
    most
        Evaluations that there can be, for the estimate of the time left.
    progress
        Called after each.
    """

    def __init__(
        self,
        images: Images,
        checkpoint: Checkpoint | None,
        *,
        C: float,
        tolerance: float,
        most: int,
        progress: Callable[[Step], None] | None = None,
    ) -> None:
        self._images = images
        self._checkpoint = checkpoint
        self._C = C
        self._tolerance = tolerance
        self._most = most
        self._progress = progress
        self._recorded = checkpoint.load() if checkpoint is not None else []
        self._stale = bool(self._recorded)
        self.evaluations: list[Evaluation] = []

    @property
    def resumed(self) -> int:
        """How many evaluations were found on disk."""
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
                    f"checkpoint: expected the same step {number + 1} as this run's, got another: "
                    "it was written by other versions of the packages; start anew with --restart"
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
            weights / SCALES, epsilon, sweeps, self._tolerance
        )
        value += 0.5 * self._C * float(weights @ weights)
        gradient = gradient / SCALES + self._C * weights
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
        """Put recorded messages back, once: needed before anything is computed from them."""
        if self._stale and self._checkpoint is not None:
            self._images.restore(self._checkpoint.load_messages(self._images.count))
        self._stale = False

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
                lowest=min(row.value for row in self.evaluations),
                gradient_norm=float(np.linalg.norm(possible)),
                seconds_left=float(seconds) * max(self._most - len(self.evaluations), 0),
            )
        )
