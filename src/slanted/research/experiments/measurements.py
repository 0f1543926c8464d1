"""Measurements of single images, each made once and kept in a file.

A measurement is identified by everything it depends on: the files, the method, the settings and the
code. It is written as soon as it is made, so that a stopped experiment can be resumed, and
experiments share the measurements they have in common.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from slanted.errors import FileError, SlantedError
from slanted.io.files import digest, write_bytes
from slanted.io.texts import read_json_object
from slanted.research.experiments.provenance import PACKAGE, PACKAGES, version_of
from slanted.runtime.workers import open_backend, run_each

Scores = dict[str, Any]
"""Numbers by name, or a text such as an encoded picture."""
BESIDE = ("cli", "research", "output", "viewer")
"""Folders that no measurement depends on, except for research's methods and jobs."""


class Job(Protocol):
    """Something to measure once, perhaps in another process."""

    @property
    def name(self) -> str:
        """Name for people to read."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What it depends on, except for the code."""

    def run(self) -> Scores:
        """Measure it, with one thread."""


def key_of(job: Job) -> str:
    """Return a key that is unique to a job."""
    return digest(code_digest(), package_versions(), type(job).__name__, *job.parts)


@cache
def package_versions() -> str:
    """Return the versions of the numerical packages: another version may round differently."""
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
    """The outcome of a job: scores, or why there are none."""

    scores: Scores
    problem: str = ""


class Store:
    """A folder of measurements, created when the first is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> Scores | None:
        """Return the scores of a key, or None if there are none or the file is damaged."""
        try:
            scores = read_json_object(self._folder / f"{key}.json")
        except FileError:
            return None
        whole = all(isinstance(v, float | int | str) for v in scores.values())
        return scores if whole else None

    def write(self, key: str, scores: Scores) -> None:
        """Keep the scores of a key."""
        write_bytes(self._folder / f"{key}.json", json.dumps(scores, indent=1).encode())


def measure_all(
    jobs: Iterable[Job],
    store: Store,
    workers: int,
    progress: Callable[[str], None] | None = None,
) -> list[Measured]:
    """Make the measurements that do not exist yet, several at a time.

    Parameters
    ----------
    jobs
        What to measure; equal jobs are measured once.
    store
        Where measurements are kept.
    workers
        Number of processes, of one thread each.
    progress
        Called with a line after each measurement.

    Returns
    -------
    measured
        One for each job. A job that cannot be measured has a problem instead of scores, and is
        tried again the next time.

    Raises
    ------
    SlantedError
        If the processes of a job died; all other measurements are made and kept first.
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
    died = []
    with open_backend(min(workers, len(missing))) as backend:
        ending = run_each(backend, _measure_item, deque(missing), lambda key: (key, missing[key]))
        for number, ended in enumerate(ending, start=1):
            if ended.died:
                died.append(f"{missing[ended.key].name} ({ended.died})")
                continue
            measured = found[ended.key] = ended.result()
            if not measured.problem:
                store.write(ended.key, measured.scores)
            say(f"{number}/{len(missing)} {missing[ended.key].name}{_ending(measured)}")
    if died:
        raise SlantedError(
            f"the processes that measured {', '.join(died)} died, perhaps out of memory; "
            "repeat the command to continue, with --workers 1 if it happens again"
        )
    return [found[key] for key, _ in keyed]


def _ending(measured: Measured) -> str:
    seconds = measured.scores.get("seconds")
    return f": {measured.problem}" * bool(measured.problem) or (
        "" if seconds is None else f": {seconds:.1f} s"
    )


def _measure_item(item: tuple[str, Job]) -> Measured:
    return measure_as(*item)


def measure_as(key: str, job: Job) -> Measured:
    """Run a job in a worker, if its key is the same as in the process that sent it."""
    if key_of(job) != key:
        raise SlantedError(
            "the code or the images changed while they were measured; repeat the command"
        )
    return measure(job)


def measure(job: Job) -> Measured:
    """Run a job, and return its error instead of raising it, so that other jobs continue."""
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
