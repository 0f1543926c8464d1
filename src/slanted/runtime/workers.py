"""Workers: this process, other processes, or those of a Dask scheduler, behind one interface.

A task is a plain function with arguments that can be pickled. `Backend.submit` starts one, and
`Backend.next` waits for the first to end. If a worker dies, only its task is lost: that task ends
as `died`, and a new worker takes the place of the dead one. `run_each` is the loop that most
callers need.

A task may name its owner, a worker that keeps what earlier tasks left in its memory. Learning does
so: the tables of an image stay where they were made.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

Task = Callable[..., Any]


@dataclass(frozen=True)
class Ended:
    """The outcome of a task."""

    key: Any
    """The key it was submitted with."""
    value: Any = None
    error: Exception | None = None
    """What it returned or raised."""
    died: str = ""
    """How its worker died; empty if it survived."""
    again: bool = True
    """Whether it is worth trying again after a death."""

    def result(self) -> Any:
        """Return what the task returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Backend(Protocol):
    """Workers that run tasks."""

    @property
    def slots(self) -> int:
        """How many tasks may run at a time."""

    owners: int
    """Number of workers that can be named as owners, 0 … owners − 1."""
    threads: int
    """Threads of each task."""
    lasting: bool
    """Whether its workers, and what tasks left in their memory, survive when it is closed."""

    def submit(
        self, key: Hashable, function: Task, *arguments: Any, owner: int | None = None
    ) -> None:
        """Start a task.

        Without an owner the task goes to any worker, and a slot must be free. With an owner it
        waits for its turn there.
        """

    def next(self) -> Ended:
        """Wait for the first task to end."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None:
        """Stop all workers, and tasks that still run."""


class Sequential:
    """A backend that runs one task after another in this process."""

    slots = 1
    owners = 1
    lasting = True

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._waiting: deque[tuple[Hashable, Task, tuple[Any, ...]]] = deque()

    def submit(
        self, key: Hashable, function: Task, *arguments: Any, owner: int | None = None
    ) -> None:
        """Put the task in the queue."""
        self._waiting.append((key, function, arguments))

    def next(self) -> Ended:
        """Run the first task of the queue."""
        key, function, arguments = self._waiting.popleft()
        return Ended(key, *attempt(function, arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()


def attempt(function: Task, arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    """Call a function; return what it returned and what it raised."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


def limit_library_threads(threads: int) -> None:
    """Tell OpenCV and Numba, in this process, how many threads they may use."""
    import numba

    from slanted.runtime.opencv import cv2

    cv2.setNumThreads(threads)
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def open_backend(
    workers: int, threads: int = 1, scheduler: str | None = None, needed: int = 0
) -> Backend:
    """Return the backend for a number of workers.

    Parameters
    ----------
    workers
        Number of processes; with 1, tasks run in this process.
    threads
        Threads of each worker.
    scheduler
        Address of a Dask scheduler, whose workers are used instead.
    needed
        Bytes of memory that a task takes, which limits the tasks of a Dask worker.

    Raises
    ------
    slanted.errors.InputError
        If the scheduler cannot be used.
    """
    if scheduler is not None:
        from slanted.runtime.dask_workers import Dask

        return Dask(scheduler, needed)
    if workers > 1:
        from slanted.runtime.process_workers import Processes

        return Processes(workers, threads)
    return Sequential(threads)


def run_each(
    backend: Backend,
    function: Task,
    waiting: deque[Any],
    argument: Callable[[Any], Any],
    attempts: int = 2,
) -> Iterator[Ended]:
    """Run a function once for each waiting key, and yield the outcomes as they arrive.

    Parameters
    ----------
    backend
        The workers. If the caller stops early, closing the backend stops what still runs.
    function
        A function of one argument.
    waiting
        The keys, taken from the left. The caller may add and remove keys between two results.
    argument
        Makes the argument of a key; called when a worker is free for it.
    attempts
        How often a task whose worker dies is tried before it is yielded as `died`.
    """
    tried: Counter[Any] = Counter()
    running = 0
    while waiting or running:
        while waiting and running < max(1, backend.slots):
            key = waiting.popleft()
            tried[key] += 1
            backend.submit(key, function, argument(key))
            running += 1
        ended = backend.next()
        running -= 1
        if ended.died and ended.again and tried[ended.key] < attempts:
            waiting.appendleft(ended.key)
        else:
            yield ended
