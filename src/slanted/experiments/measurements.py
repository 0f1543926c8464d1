"""Measurements of single images, each made once: what makes experiments resumable.

A measurement is known by everything it depends on: the frame, the method, the settings and the
version. It is written when it is made, so an experiment that was stopped goes on where it was, and
experiments share what they have in common.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from slanted import __version__
from slanted.errors import SlantedError
from slanted.io.files import write_bytes

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.settings import Settings

Scores = dict[str, float]
"""Of `slanted.evaluation.metrics.evaluate`, and ``seconds``."""


@dataclass(frozen=True)
class Job:
    """A method with settings, on one frame of a dataset."""

    dataset: str
    frame: Frame
    method: str
    settings: Settings

    @property
    def key(self) -> str:
        """Return what tells it from every other job; threads do not change results."""
        same = replace(self.settings, threads=None)
        parts = (__version__, self.dataset, self.frame.name, self.method, same.to_toml())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Measured:
    """What a job came to: scores, or why there are none."""

    scores: Scores
    problem: str = ""


class Store:
    """A folder of measurements.

    Parameters
    ----------
    folder
        Made when the first is written. One folder is for one state of the code and the data.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, job: Job) -> Scores | None:
        """Return a job's scores if they are there, and whole."""
        try:
            scores = json.loads(self._path(job).read_text())
        except (OSError, ValueError):
            return None
        whole = isinstance(scores, dict) and all(
            isinstance(v, float | int) for v in scores.values()
        )
        return scores if whole else None

    def write(self, job: Job, scores: Scores) -> None:
        """Keep a job's scores."""
        write_bytes(self._path(job), json.dumps(scores, indent=1).encode())

    def _path(self, job: Job) -> Path:
        return self._folder / f"{job.key}.json"


def measure_all(
    jobs: Iterable[Job],
    store: Store,
    workers: int,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Measured]:
    """Make the measurements that are not there yet, several at a time.

    Parameters
    ----------
    jobs
        What to measure; equal ones are measured once.
    store
        Where measurements are kept.
    workers
        Processes, of one thread each.
    progress
        Called with a line after each.

    Returns
    -------
    measured
        By the jobs' keys. A frame that cannot be measured has a problem instead of scores, and is
        tried again the next time.
    """
    wanted = {job.key: job for job in jobs}
    kept = {key: store.read(job) for key, job in wanted.items()}
    found = {key: Measured(scores) for key, scores in kept.items() if scores is not None}
    missing = [job for key, job in wanted.items() if key not in found]
    for number, (job, measured) in enumerate(_run(missing, workers), start=1):
        found[job.key] = measured
        if not measured.problem:
            store.write(job, measured.scores)
        if progress is not None:
            outcome = measured.problem or f"{measured.scores['seconds']:.1f} s"
            progress(f"{number}/{len(missing)} {job.method}, {job.frame.name}: {outcome}")
    return found


def _run(jobs: Sequence[Job], workers: int) -> Iterable[tuple[Job, Measured]]:
    if workers == 1 or len(jobs) < 2:
        yield from ((job, measure(job)) for job in jobs)
        return
    with ProcessPoolExecutor(min(workers, len(jobs)), get_context("spawn")) as pool:
        yield from zip(jobs, pool.map(measure, jobs), strict=True)


def measure(job: Job) -> Measured:
    """Run a job, with one thread."""
    from slanted.evaluation.methods import evaluate_frames

    try:
        settings = replace(job.settings, threads=1)
        return Measured(evaluate_frames([job.frame], job.method, settings)["mean"])
    except SlantedError as error:
        return Measured({}, str(error))
