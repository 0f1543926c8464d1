"""Tasks on the workers of a Dask scheduler, on this machine or on many."""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
from collections.abc import Hashable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, Queue
from typing import Any, Self

from slanted.errors import InputError, SlantedError
from slanted.runtime.dask_calls import (
    UNPICKLING_ERRORS,
    OtherVersionsError,
    packed,
    refuse_other_versions,
)
from slanted.runtime.extras import how_to_install
from slanted.runtime.memory import workers_that_fit
from slanted.runtime.workers import Ended, Task

ANSWER_SECONDS = 10
"""Seconds that a scheduler may take to answer."""
LOOK_SECONDS = 1.0
"""Seconds between checks that the workers are still there."""
WORKERLESS_SECONDS = 60.0
"""Seconds without any worker before giving up: workers may be restarting."""
LOST = (OSError, RuntimeError, ValueError, CancelledError, asyncio.CancelledError)
"""What Dask raises if the scheduler is gone."""
LOGGERS = ("distributed", "tornado")
"""How the names of the loggers begin that Dask gives handlers to."""


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
    SlantedError
        If a worker has other versions than this process, now or later.
    """

    threads = 1
    lasting = True

    def __init__(self, address: str, needed: int = 0) -> None:
        self._address, self._needed = address, needed
        self._ended: Queue[Any] = Queue()
        self._running: dict[Any, tuple[Hashable, str | None]] = {}
        self._checked: set[str] = set()
        _import_dask()
        with ExitStack() as opened:
            opened.enter_context(_without_log())
            self._client = _connect(address)
            opened.callback(self._leave)
            self._owners = sorted(self._workers())
            self.owners = len(self._owners)
            if not self.owners:
                raise InputError(
                    f"scheduler: expected workers at {address}, got none; start "
                    f"`dask worker {address}`"
                )
            self._opened = opened.pop_all()

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
        call: Any = packed(function, arguments)
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": False}
        with self._connected():
            if any(getattr(each, "large", False) for each in arguments):
                # It goes straight to a worker, rather than through the scheduler.
                call = self._client.scatter(call, hash=False)
            future = self._client.submit(pickle.loads, call, pure=False, **where)
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
        if isinstance(problem, OtherVersionsError):
            raise problem
        if isinstance(problem, UNPICKLING_ERRORS):
            self._checked.clear()
            self._workers()  # names the worker
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
        """Return what the scheduler knows about each worker, and check those that are new."""
        with self._connected():
            workers: dict[str, dict[str, Any]] = self._client.scheduler_info(n_workers=-1)[
                "workers"
            ]
            new = workers.keys() - self._checked
            if new:
                refuse_other_versions(self._client, new)
                self._checked |= new
        return workers

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Raise an error if the connection to the scheduler is lost before or in the block."""
        problem: BaseException | None = None
        if self._client.status == "running":
            try:
                yield
                return
            except LOST as error:
                problem = error
        raise SlantedError(
            f"scheduler: the connection to {self._address} is lost; start the scheduler again "
            "and repeat the command with --resume"
        ) from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _leave(self) -> None:
        with suppress(*LOST):  # the scheduler may be gone
            if self._client.status == "running":
                self._client.cancel(list(self._running))
            self._client.close()


@contextmanager
def _without_log() -> Iterator[None]:
    """Keep Dask's own log off the terminal: our errors say in a sentence what it says in pages.

    Dask gives handlers to several of its loggers, each with a level of its own.
    """
    names = [name for name in logging.root.manager.loggerDict if name.startswith(LOGGERS)]
    handlers = {handler for name in names for handler in logging.getLogger(name).handlers}

    def refuse(_: logging.LogRecord) -> bool:
        return False

    for handler in handlers:
        handler.addFilter(refuse)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(refuse)


def _import_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError(
            "scheduler: expected the package `distributed`, which is not installed; "
            f"{how_to_install('dask')}, or leave the scheduler out"
        ) from None


def _connect(address: str) -> Any:
    """Return a client of a scheduler."""
    from distributed import Client

    try:
        return Client(address, timeout=ANSWER_SECONDS)
    except LOST as error:
        raise InputError(
            f"scheduler: expected a Dask scheduler at {address}, got no answer ({error}); "
            "start it with `dask scheduler` and check the address"
        ) from error
