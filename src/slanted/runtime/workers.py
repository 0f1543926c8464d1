"""Where pairs are run: in this process, in others, or on Dask's workers; one small interface.

A backend has some slots. Each takes one task, a plain function and an argument that travel, and
`next` gives what came of the first to end. A worker that dies, however it dies, takes no other task
with it: the task comes back as `died`, and the slot gets a new worker.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    "NUMBA_NUM_THREADS",
)
Task = Callable[[Any], Any]


@dataclass(frozen=True)
class Ended:
    """What came of a task: its value, or how its worker died, and whether to try again."""

    key: Hashable
    value: Any = None
    died: str = ""
    again: bool = True


class Backend(Protocol):
    """Workers."""

    @property
    def slots(self) -> int:
        """How many tasks may run at a time."""

    threads: int
    """Of each task."""

    def submit(self, key: Hashable, function: Task, argument: Any) -> None:
        """Start a task; there must be a free slot."""

    def next(self) -> Ended:
        """Wait for the first task to end; raises what it raised."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None:
        """Stop all workers, and tasks that still run."""


class Sequential:
    """One task after the other, in this process."""

    slots = 1

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._waiting: list[tuple[Hashable, Task, Any]] = []

    def submit(self, key: Hashable, function: Task, argument: Any) -> None:
        """Note it."""
        self._waiting.append((key, function, argument))

    def next(self) -> Ended:
        """Run it."""
        key, function, argument = self._waiting.pop(0)
        return Ended(key, function(argument))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class Processes:
    """Processes of this machine, each with a pipe of its own.

    Parameters
    ----------
    slots
        How many.
    threads
        Of each.
    """

    def __init__(self, slots: int, threads: int) -> None:
        self.slots, self.threads = slots, threads
        self._idle: list[_Worker] = []
        self._busy: dict[Any, tuple[_Worker, Hashable]] = {}

    def submit(self, key: Hashable, function: Task, argument: Any) -> None:
        """Give it to an idle process, or to a new one."""
        worker = self._idle.pop() if self._idle else _Worker(self.threads)
        # A process that died while idle is noticed when its answer is waited for.
        with suppress(OSError):
            worker.connection.send((function, argument))
        self._busy[worker.connection] = worker, key

    def next(self) -> Ended:
        """Wait for an answer, or for the end of a process."""
        from multiprocessing.connection import wait

        ready = wait(list(self._busy))[0]
        worker, key = self._busy.pop(ready)
        try:
            value, error = worker.connection.recv()
        except (EOFError, OSError):
            return Ended(key, died=worker.end())
        self._idle.append(worker)
        if error is not None:
            raise error
        return Ended(key, value)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        busy = [worker for worker, _key in self._busy.values()]
        for worker in busy:
            worker.kill()  # nobody wants its answer
        for worker in [*self._idle, *busy]:
            worker.end()


class _Worker:
    """A process that runs tasks until its pipe is closed."""

    def __init__(self, threads: int) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")  # forking a process that has threads may hang
        self.connection, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_serve, args=(theirs, threads), daemon=True
        )
        with _environment(threads), _interrupts_held_back():
            self._process.start()
        theirs.close()

    def kill(self) -> None:
        """Stop it, whatever it does."""
        self._process.kill()

    def end(self) -> str:
        """End it now, and return how it ended if it had done so already."""
        self.connection.close()
        self._process.join(0.5)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"


@contextmanager
def _environment(threads: int) -> Iterator[None]:
    """Tell libraries that read it when they are loaded how many threads they have."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let Ctrl-C wait until a process has started, which then knows of none.

    It reaches all processes of a terminal, and one that still loads its libraries would complain.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on this platform
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, threads: int) -> None:
    from slanted.runtime.processes import serve_parent

    serve_parent()
    own_cores(threads)
    while True:
        try:
            function, argument = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[Any, Exception | None] = (function(argument), None)
        except Exception as error:
            answer = None, error
        try:
            connection.send(answer)
        except OSError:  # nobody waits for it any more
            return


def own_cores(threads: int) -> None:
    """Tell OpenCV and Numba, in this process, how many threads they have."""
    import cv2
    import numba

    cv2.setNumThreads(threads)
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def open_backend(workers: int, threads: int, scheduler: str | None, needed: int) -> Backend:
    """Return Dask's workers if there is a scheduler, else so many processes, one being this one."""
    if scheduler is not None:
        from slanted.runtime.dask_workers import Dask

        return Dask(scheduler, needed)
    return Processes(workers, threads) if workers > 1 else Sequential(threads)
