"""Measurements of single images, each made once: what makes experiments resumable.

A measurement is known by everything it depends on: the files, the method, the settings and the
code. It is written when it is made, so an experiment that was stopped goes on where it was, and
experiments share what they have in common.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Protocol

from slanted.errors import FileError, SlantedError
from slanted.io.files import digest, write_bytes
from slanted.io.texts import read_json_object
from slanted.research.experiments.provenance import PACKAGE, PACKAGES, version_of
from slanted.runtime.processes import serve_parent

Scores = dict[str, Any]
"""Numbers by name, or a text (an encoded picture)."""
BESIDE = ("cli", "research", "output", "viewer")
"""Folders of the package that no measurement depends on, but for research's methods and jobs."""


class Job(Protocol):
    """Something to measure, once. It is sent to another process."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What it depends on, but for the code."""

    def run(self) -> Scores:
        """Measure it, with one thread."""


def key_of(job: Job) -> str:
    """Return what tells a job from every other one."""
    return digest(code_digest(), package_versions(), type(job).__name__, *job.parts)


@cache
def package_versions() -> str:
    """Return the versions of what computes: another one may round differently."""
    return " ".join(f"{name} {version_of(name)}" for name in PACKAGES)


@cache
def code_digest() -> str:
    """Return a digest of the code that measurements depend on."""
    files = [p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in BESIDE]
    research = PACKAGE / "research"
    files += [*research.glob("*.py"), *(research / "experiments" / "jobs").glob("*.py")]
    return digest(*(f"{p.relative_to(PACKAGE)}\n{p.read_text('utf-8')}" for p in sorted(files)))


@dataclass(frozen=True)
class Measured:
    """What a job came to: scores, or why there are none."""

    scores: Scores
    problem: str = ""


class Store:
    """A folder of measurements, made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> Scores | None:
        """Return the scores under a key if they are there, and whole."""
        try:
            scores = read_json_object(self._folder / f"{key}.json")
        except FileError:
            return None
        whole = all(isinstance(v, float | int | str) for v in scores.values())
        return scores if whole else None

    def write(self, key: str, scores: Scores) -> None:
        """Keep scores under a key."""
        write_bytes(self._folder / f"{key}.json", json.dumps(scores, indent=1).encode())


def measure_all(
    jobs: Iterable[Job],
    store: Store,
    workers: int,
    progress: Callable[[str], None] | None = None,
) -> list[Measured]:
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
        One for each job. What cannot be measured has a problem instead of scores, and is tried
        again the next time.

    Raises
    ------
    SlantedError
        If a process dies; what was measured before is kept.
    """
    keyed = [(key_of(job), job) for job in jobs]
    found: dict[str, Measured] = {}
    missing: dict[str, Job] = {}
    for key, job in keyed:
        if key in found or key in missing:
            continue
        scores = store.read(key)
        if scores is None:
            missing[key] = job
        else:
            found[key] = Measured(scores)
    say = progress or (lambda line: None)
    if missing and found:
        say(f"{len(found)} of {len(found) + len(missing)} were measured before")
    for number, (key, measured) in enumerate(_run(missing, workers), start=1):
        found[key] = measured
        if not measured.problem:
            store.write(key, measured.scores)
        say(f"{number}/{len(missing)} {missing[key].name}{_ending(measured)}")
    return [found[key] for key, _ in keyed]


def _ending(measured: Measured) -> str:
    seconds = measured.scores.get("seconds")
    return f": {measured.problem}" * bool(measured.problem) or (
        "" if seconds is None else f": {seconds:.1f} s"
    )


def _run(jobs: dict[str, Job], workers: int) -> Iterable[tuple[str, Measured]]:
    if workers == 1 or len(jobs) < 2:
        yield from ((key, measure(job)) for key, job in jobs.items())
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(
        min(workers, len(jobs)), get_context("spawn"), initializer=serve_parent
    )
    try:
        running = {pool.submit(measure_as, key, job): key for key, job in jobs.items()}
        for future in as_completed(running):
            yield running[future], future.result()
        pool.shutdown()
    except BaseException as error:
        # Nobody wants to wait for measurements that will be thrown away.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - others:
            child.terminate()
        if isinstance(error, BrokenProcessPool):
            raise SlantedError(
                "a process that measured images died, perhaps for want of memory; repeat the "
                "command to go on, with --workers 1 if it happens again"
            ) from error
        raise


def measure_as(key: str, job: Job) -> Measured:
    """Run a job in another process, if its code is that of the process that asks."""
    if key_of(job) != key:
        raise SlantedError("the code or the data changed while they were measured; start again")
    return measure(job)


def measure(job: Job) -> Measured:
    """Run a job; whatever goes wrong with it is no reason to give up the others."""
    try:
        return Measured(job.run())
    except SlantedError as error:
        return Measured({}, str(error))
    except Exception as error:
        return Measured({}, f"unexpected {type(error).__name__}: {error}; please report it")


def problems_of(jobs: Sequence[Job], measured: Sequence[Measured]) -> list[str]:
    """Return a sentence for each job that could not be measured."""
    pairs = zip(jobs, measured, strict=True)
    return list(dict.fromkeys(f"{job.name}: {m.problem}" for job, m in pairs if m.problem))
