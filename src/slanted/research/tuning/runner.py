"""Measurements of many candidates on many pairs, made by workers of one thread each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slanted.errors import InputError
from slanted.research.tuning.measure import Measurement, forget, measure
from slanted.runtime.workers import open_backend, run_each

if TYPE_CHECKING:
    from slanted.research.tuning.candidates import Candidate
    from slanted.research.tuning.objective import Pair
    from slanted.runtime.workers import Backend


@dataclass(frozen=True)
class Task:
    """A candidate to be measured on a pair."""

    candidate: Candidate
    pair: Pair


class Runner:
    """Measures tasks; made by `runner`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def measured(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Measurement]]:
        """Yield every task with its measurement, as they finish.

        Raises
        ------
        InputError
            If the current settings cannot be run on a pair, or, after all other tasks, if the
            workers of a task died.
        """
        died = []
        for ended in run_each(self._backend, _measure, deque(range(len(tasks))), tasks.__getitem__):
            task = tasks[ended.key]
            if ended.died:
                died.append(f"candidate {task.candidate.number} on {task.pair.name} ({ended.died})")
                continue
            measurement = ended.result()
            if measurement.problem and task.candidate.number == 0:
                raise InputError(f"{task.pair.name}: {measurement.problem}")
            yield task, measurement
        if died:
            raise InputError(
                f"workers: the processes that measured {', '.join(died)} died, perhaps out of "
                "memory; repeat the command with fewer to continue where it stopped"
            )


@contextmanager
def runner(workers: int) -> Iterator[Runner]:
    """Yield a runner with a number of processes; with 1, it runs in this process."""
    if workers < 1:
        raise InputError(f"workers: expected at least 1, got {workers}; raise it")
    try:
        with open_backend(workers) as backend:
            yield Runner(backend)
    finally:
        forget()  # what was kept in this process


def _measure(task: Task) -> Measurement:
    return measure(task.pair.frame, task.candidate.settings)
