"""Tasks on the workers of a Dask scheduler, on this machine or on many."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from typing import Any, Self

from slanted.errors import SlantedError
from slanted.runtime.workers import Ended, Task, own_cores

LOOK_SECONDS = 1.0
"""How often it is looked whether there are workers at all."""
WORKERLESS_SECONDS = 60.0
"""How long there may be none: they may be starting again."""


class Dask:
    """The workers of a Dask scheduler, with a slot for each of their threads.

    Parameters
    ----------
    address
        Of the scheduler. Its workers must see inputs and output by the same paths.
    needed
        Bytes of a task, which limit the slots of a worker that has a memory limit.
    """

    threads = 1

    def __init__(self, address: str, needed: int = 0) -> None:
        from slanted.runtime.dask_client import connect

        self._address, self._needed = address, needed
        self._client = connect(address)
        # What becomes of the connection is told by our errors, not by pages of its log.
        self._logger = logging.getLogger("distributed")
        self._level = self._logger.level
        self._logger.setLevel(logging.CRITICAL)
        self._ended: Queue[Any] = Queue()
        self._keys: dict[Any, Hashable] = {}

    @property
    def slots(self) -> int:
        """As many as the workers of this moment have threads, and memory for."""
        from slanted.runtime.memory import workers_that_fit

        return sum(
            workers_that_fit(w["nthreads"], self._needed, w.get("memory_limit") or 2**62)
            for w in self._workers().values()
        )

    def submit(self, key: Hashable, function: Task, argument: Any) -> None:
        """Let the scheduler choose a worker; if that dies it chooses another, a few times."""
        with self._connected():
            if getattr(argument, "large", False):
                # Straight to a worker, rather than through the scheduler with the task.
                argument = self._client.scatter(argument, hash=False)
            future = self._client.submit(_with_one_thread, function, argument, pure=False)
        self._keys[future] = key
        future.add_done_callback(self._ended.put)

    def next(self) -> Ended:
        """Wait for the first to end."""
        future = self._first()
        key = self._keys.pop(future)
        with self._connected():
            if future.status == "finished":
                return Ended(key, future.result())
            if future.status != "error":
                return Ended(key, died=future.status)
            problem = future.exception()
        if type(problem).__name__ == "KilledWorker":
            # The scheduler gave it to another worker, and another: it tried often enough.
            return Ended(key, died="one Dask worker after the other", again=False)
        if isinstance(problem, ImportError | AttributeError):
            raise SlantedError(
                f"scheduler: expected workers that have this version of slanted, got one that "
                f"cannot run it ({problem}); install the same version for all of {self._address}"
            ) from problem
        raise problem

    def _first(self) -> Any:
        """Return the first future to end, unless there is nobody who could end it."""
        seen = time.monotonic()
        while True:
            try:
                return self._ended.get(timeout=LOOK_SECONDS)
            except Empty:
                if self._workers():
                    seen = time.monotonic()
                elif time.monotonic() > seen + WORKERLESS_SECONDS:
                    raise SlantedError(
                        f"scheduler: {self._address} has had no workers for "
                        f"{WORKERLESS_SECONDS:.0f} s; start some with `dask worker "
                        f"{self._address}` and repeat the command with --resume"
                    ) from None

    def _workers(self) -> dict[str, dict[str, Any]]:
        from slanted.runtime.dask_client import workers_of

        with self._connected():
            return workers_of(self._client)

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Do something with the scheduler; if that is gone, say so."""
        problem: Exception | None = None
        if self._client.status == "running":
            try:
                yield
                return
            except (OSError, RuntimeError, ValueError, CancelledError) as error:
                problem = error
        raise SlantedError(
            f"scheduler: the connection to {self._address} is lost; start the scheduler again "
            "and repeat the command with --resume"
        ) from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, RuntimeError, CancelledError):  # the scheduler may be gone
            if self._client.status == "running":
                self._client.cancel(list(self._keys))
            self._client.close()
        self._logger.setLevel(self._level)


def _with_one_thread(function: Task, argument: Any) -> Any:
    own_cores(1)
    return function(argument)
