"""Tasks in other processes of this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from slanted.runtime.workers import Ended, Task, attempt, limit_library_threads

THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    "NUMBA_NUM_THREADS",
)
"""Environment variables from which libraries take their number of threads when they are loaded."""
END_SECONDS = 0.5
"""Seconds that an idle process may take to end by itself."""


class Processes:
    """Processes of this machine, started when they are first needed, each with its own pipe.

    Parameters
    ----------
    slots
        Largest number of processes.
    threads
        Threads of each process.
    """

    lasting = False

    def __init__(self, slots: int, threads: int) -> None:
        self.slots = self.owners = slots
        self.threads = threads
        self._idle: dict[int, _Worker] = {}
        self._busy: dict[Any, tuple[int, _Worker, Hashable]] = {}
        self._waiting: dict[int, deque[tuple[Hashable, Task, tuple[Any, ...]]]] = defaultdict(deque)

    def submit(
        self, key: Hashable, function: Task, *arguments: Any, owner: int | None = None
    ) -> None:
        """Send the task to an idle process or a new one, or to its owner when that is idle."""
        busy = {number for number, _, _ in self._busy.values()}
        if owner is None:
            owner = next(k for k in (*self._idle, *range(self.slots)) if k not in busy)
        self._waiting[owner].append((key, function, arguments))
        if owner not in busy:
            self._send(owner)

    def next(self) -> Ended:
        """Wait for an answer, or for the end of a process."""
        ready = wait(list(self._busy))[0]
        number, worker, key = self._busy.pop(ready)
        try:
            ended = Ended(key, *worker.connection.recv())
            self._idle[number] = worker
        except (EOFError, OSError):
            ended = Ended(key, died=worker.end())
        if self._waiting[number]:
            self._send(number)
        return ended

    def _send(self, number: int) -> None:
        key, function, arguments = self._waiting[number].popleft()
        worker = self._idle.pop(number, None) or _Worker(self.threads)
        self._busy[worker.connection] = number, worker, key
        # If the process died while it was idle, `next` notices.
        with suppress(OSError):
            worker.connection.send((function, arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        busy = [worker for _, worker, _ in self._busy.values()]
        for worker in busy:
            worker.kill()  # its answer is no longer needed
        for worker in [*self._idle.values(), *busy]:
            worker.end()


class _Worker:
    """A process that runs tasks until its pipe is closed."""

    def __init__(self, threads: int) -> None:
        context = get_context("spawn")  # forking a process that has threads may hang
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, threads), daemon=True)
        with _thread_variables(threads), _interrupts_blocked():
            self._process.start()
        theirs.close()

    def kill(self) -> None:
        """Kill the process, whatever it is doing."""
        self._process.kill()

    def end(self) -> str:
        """End the process, and describe how it ended."""
        self.connection.close()
        self._process.join(END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"


@contextmanager
def _thread_variables(threads: int) -> Iterator[None]:
    """Set `THREAD_VARIABLES` for processes started in the block."""
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
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while a process starts; the process inherits the blocked signal.

    Ctrl-C reaches every process of a terminal, and one that is still loading its libraries would
    print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on this platform
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, threads: int) -> None:
    """Run the tasks that come through a pipe until it is closed; the body of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    _end_with_parent()
    limit_library_threads(threads)
    with suppress(EOFError, OSError):  # the parent has closed the pipe
        while True:
            connection.send(attempt(*connection.recv()))


def _end_with_parent() -> None:
    """End this process when its parent ends, even if that is killed while a task runs here."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
