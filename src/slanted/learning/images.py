"""Images, each kept by one worker while weights are learned.

The tables of an image take hundreds of megabytes and its messages change with every evaluation, so
neither is sent: each owner (see `slanted.runtime.workers`) keeps some images, and only weights,
sums and, for checkpoints, messages are exchanged.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import SlantedError
from slanted.learning.owner import (
    Loaded,
    evaluate_images,
    forget_images,
    load_image,
    measure_image,
    measure_loss,
    read_messages,
    redraw_images,
    search_images,
    write_messages,
)
from slanted.runtime.arrays import Floats

if TYPE_CHECKING:
    from slanted.learning.sources import Source
    from slanted.runtime.workers import Backend, Ended, Task
    from slanted.settings import Settings


class Images:
    """Pairs, spread over the owners of a backend.

    Parameters
    ----------
    backend
        The workers.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        # Dask's workers may be threads of one process, and must not share working memory: so a run
        # has a different name at each owner.
        token = uuid.uuid4().hex
        self._runs = [f"{token}-{owner}" for owner in range(backend.owners)]
        self._numbers: list[list[int]] = [[] for _ in range(backend.owners)]
        self._keys = count()

    def load(
        self,
        sources: Sequence[Source],
        settings: Settings,
        progress: Callable[[str], None] | None = None,
    ) -> list[Loaded]:
        """Make an example of every pair."""
        for number in range(len(sources)):
            self._numbers[number % self._backend.owners].append(number)
        calls = (
            (owner, load_image, (self._runs[owner], number, sources[number], settings))
            for owner, number in self._placed()
        )
        loaded = []
        for found in self._ask(calls):
            loaded.append(found)
            if progress is not None:
                progress(
                    f"{len(loaded)}/{len(sources)} {found.name}: {found.segments_with_truth} of "
                    f"{found.segments} segments have ground truth"
                )
        return loaded

    @property
    def count(self) -> int:
        """Number of images."""
        return sum(len(numbers) for numbers in self._numbers)

    def add(self, number: int, owner: int = 0) -> str:
        """Record that an owner already has an image, and return the name of the run there."""
        self._numbers[owner].append(number)
        return self._runs[owner]

    def evaluate(
        self, weights: Floats, epsilon: float, sweeps: int, tolerance: float
    ) -> tuple[float, Floats, Floats, int]:
        """Return Σ f_s, its gradient, the expected features, and the sweeps of all images."""
        shares = self._ask_all(evaluate_images, np.asarray(weights), epsilon, sweeps, tolerance)
        # Added in the order of the images, so that sums do not depend on the number of workers.
        return (
            fsum(share.value for share in shares),
            np.sum([share.gradient for share in shares], axis=0),
            np.sum([share.expectation for share in shares], axis=0),
            sum(share.sweeps for share in shares),
        )

    def search(self, weights: Floats, threads: int | None) -> float:
        """Run inference on all images with other weights, and return the sum of its task losses."""
        return fsum(self._ask_all(search_images, np.asarray(weights), threads))

    def redraw(self, scale: float | None, threads: int | None) -> None:
        """Draw all particles again, with the latest solutions and perhaps targets within reach."""
        self._ask_all(redraw_images, scale, threads)

    def messages(self) -> list[dict[str, Floats]]:
        """Return the messages of all images."""
        return self._ask_all(read_messages)

    def restore(self, messages: Sequence[dict[str, Floats]]) -> None:
        """Put messages back."""
        for owner, number in self._placed():
            arguments = (self._runs[owner], number, messages[number])
            list(self._ask([(owner, write_messages, arguments)]))  # one at a time: they are large

    def measure(
        self, sources: Sequence[Source], settings: Settings, weights: Floats
    ) -> list[dict[str, float]]:
        """Return the metrics of each pair with the given weights."""
        calls = (
            (owner, measure_image, (sources[number], settings, weights))
            for owner, number in self._placed()
        )
        return list(self._ask(calls))

    def task_loss(self, sources: Sequence[Source], settings: Settings, weights: Floats) -> float:
        """Return the mean task loss of the whole pipeline over the pairs, per pixel."""
        calls = (
            (owner, measure_loss, (sources[number], settings, weights))
            for owner, number in self._placed()
        )
        return fsum(self._ask(calls)) / len(sources)

    def close(self) -> None:
        """Free the images, if their owners would keep them after the backend is closed."""
        if self._backend.lasting:
            list(self._ask((k, forget_images, (run,)) for k, run in enumerate(self._runs)))

    def _placed(self) -> list[tuple[int, int]]:
        """Return the owner and the number of each image, in the order of the images."""
        placed = [(k, number) for k, numbers in enumerate(self._numbers) for number in numbers]
        return sorted(placed, key=lambda pair: pair[1])

    def _ask_all(self, function: Task, *arguments: Any) -> list[Any]:
        """Ask every owner about all its images, and return the answers in their order."""
        answers = self._ask(
            (owner, function, (self._runs[owner], numbers, *arguments))
            for owner, numbers in enumerate(self._numbers)
        )
        by_number = {
            number: found
            for numbers, answer in zip(self._numbers, answers, strict=True)
            for number, found in zip(numbers, answer, strict=True)
        }
        return [by_number[number] for number in sorted(by_number)]

    def _ask(self, calls: Iterable[tuple[int, Task, tuple[Any, ...]]]) -> Iterator[Any]:
        """Call functions at owners, all at once, and yield the answers in the order of the calls.

        Raises
        ------
        SlantedError
            If an owner died with its images. Whatever a function raises is raised here too.
        """
        keys = []
        for owner, function, arguments in calls:
            keys.append(next(self._keys))
            self._backend.submit(keys[-1], function, *arguments, owner=owner)
        ended: dict[int, Ended] = {}
        for key in keys:
            while key not in ended:
                answer = self._backend.next()
                ended[answer.key] = answer
            answer = ended.pop(key)
            if answer.died:
                raise SlantedError(
                    f"learning: a worker died with the images it held ({answer.died}), perhaps "
                    "because memory ran out; run the same command again to resume from the last "
                    "checkpoint, with fewer learning.workers if it happens again"
                )
            yield answer.result()
