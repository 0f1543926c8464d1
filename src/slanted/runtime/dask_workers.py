"""Tasks on the workers of a Dask scheduler, on this machine or on many."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from typing import Any, Self

from slanted.errors import InputError, SlantedError
from slanted.runtime.memory import workers_that_fit
from slanted.runtime.workers import Ended, Task, limit_library_threads

ANSWER_SECONDS = 10
"""Seconds that a scheduler may take to answer."""
LOOK_SECONDS = 1.0
"""Seconds between checks that the workers are still there."""
WORKERLESS_SECONDS = 60.0
"""Seconds without any worker before giving up: workers may be restarting."""


class Dask:
    """The workers of a Dask scheduler, with a slot for each of their threads.

    Parameters
    ----------
    address
        Address of the scheduler, as in ``tcp://host:8786``. Its workers must reach all files by
        the same paths as this process.
    needed
        Bytes of memory that a task takes; limits the slots of a worker that has a memory limit.

    Raises
    ------
    InputError
        If Dask is not installed, the scheduler does not answer, or it has no workers.
    """

    threads = 1
    lasting = True

    def __init__(self, address: str, needed: int = 0) -> None:
        self._address, self._needed = address, needed
        self._client = _connect(address)
        self._owners = sorted(_workers_of(self._client))
        self.owners = len(self._owners)
        # Our errors report a lost connection; Dask's log would add pages.
        self._logger = logging.getLogger("distributed")
        self._level = self._logger.level
        self._logger.setLevel(logging.CRITICAL)
        self._ended: Queue[Any] = Queue()
        self._running: dict[Any, tuple[Hashable, str | None]] = {}

    @property
    def slots(self) -> int:
        """Number of tasks that the workers currently have threads and memory for."""
        return sum(
            workers_that_fit(w["nthreads"], self._needed, w.get("memory_limit") or 2**62)
            for w in self._workers().values()
        )

    def submit(
        self, key: Hashable, function: Task, *arguments: Any, owner: int | None = None
    ) -> None:
        """Let the scheduler choose a worker, and another if it dies; or send it to the owner."""
        worker = None if owner is None else self._owners[owner]
        with self._connected():
            # Large arguments go straight to a worker, rather than through the scheduler.
            sent = [
                self._client.scatter(each, hash=False) if getattr(each, "large", False) else each
                for each in arguments
            ]
            where = {} if worker is None else {"workers": [worker], "allow_other_workers": False}
            future = self._client.submit(_with_one_thread, function, *sent, pure=False, **where)
        self._running[future] = key, worker
        future.add_done_callback(self._ended.put)

    def next(self) -> Ended:
        """Wait for the first task to end, or for the end of its owner."""
        future = self._first()
        key, worker = self._running.pop(future)
        with self._connected():
            if future.status == "finished":
                return Ended(key, future.result())
            if future.status != "error":
                how = future.status if worker is None else f"Dask worker {worker} is gone"
                return Ended(key, died=how, again=worker is None)
            problem = future.exception()
        if type(problem).__name__ == "KilledWorker":
            # The scheduler has already tried one worker after another.
            return Ended(key, died="one Dask worker after the other", again=False)
        if isinstance(problem, ImportError | AttributeError):
            raise SlantedError(
                f"scheduler: expected workers that have this version of slanted, got one that "
                f"cannot run it ({problem}); install the same version for all of {self._address}"
            ) from problem
        return Ended(key, error=problem)

    def _first(self) -> Any:
        """Return the first future to end, or raise if no worker is left to finish one."""
        seen = time.monotonic()
        while True:
            with suppress(Empty):
                future = self._ended.get(timeout=LOOK_SECONDS)
                if future in self._running:
                    return future
                continue  # cancelled below
            workers = self._workers()
            for future, (_, worker) in self._running.items():
                if worker is not None and worker not in workers:
                    with self._connected():
                        future.cancel()  # it would wait for its owner forever
                    return future
            if workers:
                seen = time.monotonic()
            elif time.monotonic() > seen + WORKERLESS_SECONDS:
                raise SlantedError(
                    f"scheduler: {self._address} has had no workers for "
                    f"{WORKERLESS_SECONDS:.0f} s; start some with `dask worker {self._address}` "
                    "and repeat the command with --resume"
                )

    def _workers(self) -> dict[str, dict[str, Any]]:
        with self._connected():
            return _workers_of(self._client)

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Raise an error if the connection to the scheduler is lost before or in the block."""
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
                self._client.cancel(list(self._running))
            self._client.close()
        self._logger.setLevel(self._level)


def _connect(address: str) -> Any:
    """Return a client of a scheduler that has workers."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "scheduler: expected the package `distributed`, which is not installed; run "
            "`pip install slanted[dask]`, or leave the scheduler out"
        ) from None
    try:
        client = Client(address, timeout=ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(
            f"scheduler: expected a Dask scheduler at {address}, got no answer ({error}); "
            "start it with `dask scheduler` and check the address"
        ) from error
    if not _workers_of(client):
        client.close()
        raise InputError(
            f"scheduler: expected workers at {address}, got none; start `dask worker {address}`"
        )
    return client


def _workers_of(client: Any) -> dict[str, dict[str, Any]]:
    """Return what the scheduler knows about each worker, by address."""
    workers: dict[str, dict[str, Any]] = client.scheduler_info(n_workers=-1)["workers"]
    return workers


def _with_one_thread(function: Task, *arguments: Any) -> Any:
    limit_library_threads(1)
    return function(*arguments)
