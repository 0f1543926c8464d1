"""Many measurements: one after the other, or in processes of one thread each."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.research.tuning.measure import Measurement, forget, measure

if TYPE_CHECKING:
    from slanted.research.tuning.candidates import Candidate
    from slanted.research.tuning.objective import Pair

AHEAD = 2
"""Tasks handed out in advance for each process, so that none waits."""


@dataclass(frozen=True)
class Task:
    """A candidate to be measured on a pair."""

    candidate: Candidate
    pair: Pair


class Runner:
    """Measures tasks; made by `runner`."""

    def __init__(self, pool: Any = None, workers: int = 1) -> None:
        self._pool = pool
        self._workers = workers

    def measured(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Measurement]]:
        """Give every task with its measurement, as they finish.

        Raises
        ------
        InputError
            If the current settings cannot be run on a pair.
        """
        results = self._in_turn(tasks) if self._pool is None else self._at_once(tasks)
        for task, measurement in results:
            if measurement.problem and task.candidate.number == 0:
                raise InputError(f"{task.pair.name}: {measurement.problem}")
            yield task, measurement

    @staticmethod
    def _in_turn(tasks: Iterable[Task]) -> Iterator[tuple[Task, Measurement]]:
        for task in tasks:
            yield task, measure(task.pair.frame, task.candidate.settings)

    def _at_once(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Measurement]]:
        from concurrent.futures import FIRST_COMPLETED, wait

        waiting = iter(tasks)
        running: dict[Any, Task] = {}
        while True:
            while len(running) < AHEAD * self._workers and (task := next(waiting, None)):
                future = self._pool.submit(measure, task.pair.frame, task.candidate.settings)
                running[future] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


@contextmanager
def runner(workers: int) -> Iterator[Runner]:
    """Give a runner of so many processes; one runs in this process.

    Processes are started anew, not forked: a fork would copy the threads' locks of OpenCV and
    Numba. They end with this process, even if it is killed.
    """
    if workers < 1:
        raise InputError(f"workers: expected at least 1, got {workers}; raise it")
    if workers == 1:
        try:
            yield Runner()
        finally:
            forget()
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_prepare)
    try:
        yield Runner(pool, workers)
    except BrokenProcessPool as error:
        raise InputError(
            "workers: a process ended unexpectedly, perhaps for want of memory; repeat the command "
            "with fewer, it goes on where it stopped"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare() -> None:
    """Leave when the parent is gone, which a worker that waits for tasks would not notice."""
    import signal
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
