"""The work on one pair, in a worker. Jobs and outcomes are sent between processes."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.batch import records
from slanted.batch.memory import refuse_what_does_not_fit
from slanted.batch.pairs import output_folder
from slanted.errors import SlantedError, SlantedWarning
from slanted.io.names import PAIR_RECORD
from slanted.runtime.versions import versions

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.result import Result
    from slanted.settings import Settings

FULL = (errno.ENOSPC, errno.EDQUOT)
_collecting = threading.Lock()


@dataclass(frozen=True)
class Job:
    """A pair to run."""

    name: str
    left: Path
    right: Path
    """The pair."""
    output: Path
    """The folder of the whole batch."""
    settings: Settings
    """The settings of the user."""
    threads: int
    """Threads that this worker may use."""
    before: str | None = None
    """In a sequence, the name of the previous frame if that succeeded."""
    calibration: Calibration | None = None
    """Adds depth and a point cloud."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job."""

    status: str
    """``done``, ``skipped`` because it was done before, or ``failed``."""
    record: dict[str, Any] = field(default_factory=dict)
    """Its record."""
    disk_full: bool = False
    """Whether it failed because the disk is full, so that all others will fail too."""


def run_job(job: Job) -> Outcome:
    """Run a pair and write its result, or record why it failed; raises nothing but interrupts."""
    start = time.perf_counter()
    record: dict[str, Any] = {"name": job.name, "left": str(job.left), "right": str(job.right)}
    record |= {"worker": f"{socket.gethostname()}:{os.getpid()}", "versions": versions()}
    try:
        folder = output_folder(job.output, job.name)
        before = None if job.before is None else output_folder(job.output, job.before)
        record["settings"] = records.settings_digest(job.settings)
        record["inputs"] = records.inputs_digest(
            job.left, job.right, _identity(before), job.calibration
        )
        known = records.read_record(folder)
        asked = record["settings"], record["inputs"]
        if known is not None and records.is_same(known, folder, *asked):
            records.forget_failure(job.output, job.name)
            return Outcome("skipped", known)
        found = _compute(job, folder, before, record, start)
        records.forget_failure(job.output, job.name)
        return Outcome("done", found)
    except Exception as error:
        return _failed(job, record, error)


def died(job: Job, how: str) -> Outcome:
    """Record and return the outcome of a pair whose worker died."""
    record = {"name": job.name, "left": str(job.left), "right": str(job.right)}
    error = SlantedError(
        f"{job.left}: the worker that ran this pair died each time ({how}), perhaps because "
        "memory ran out; try it alone, with fewer --workers, or smaller"
    )
    return _failed(job, {**record, "versions": versions()}, error)


def _compute(
    job: Job, folder: Path, before: Path | None, record: dict[str, Any], start: float
) -> dict[str, Any]:
    from slanted.images.checks import check_pair
    from slanted.images.given import GivenImage
    from slanted.io import read_image
    from slanted.output.folder import write_result
    from slanted.output.result_data import json_text
    from slanted.stream.last_frame import LastFrame
    from slanted.stream.stream import Stream

    refuse_what_does_not_fit(job.left, job.settings)
    files = str(job.left), str(job.right)
    settings = replace(job.settings, threads=job.threads)
    with collected_warnings() as messages:
        left, right = check_pair(read_image(job.left), read_image(job.right), files)
        pair = GivenImage(left), GivenImage(right)  # not copied, for the memory
        # The last frame comes from its result, so that a batch which was stopped goes on alike.
        stream = Stream(settings)
        stream.resume(None if before is None else LastFrame.load(before))
        result = stream(*pair, names=files)
    # Times and threads differ between runs, results must not, so they go into the record only.
    kept = replace(result, seconds={}, settings=job.settings)
    inputs = {"left": str(job.left), "right": str(job.right)}
    with records.published(job.output, folder, fsync=job.settings.fsync) as staging:
        write_result(staging, kept, left, job.calibration, inputs, right)
        seconds = {**result.seconds, "total": time.perf_counter() - start}
        record |= numbers_of(result) | {
            "status": "done",
            "seconds": seconds,
            "threads": job.threads,
        }
        record["warnings"] = messages
        record["files"] = records.file_digests(staging)
        (staging / PAIR_RECORD).write_text(json_text(record) + "\n", "utf-8")
    return record


def numbers_of(result: Result) -> dict[str, Any]:
    """Return what the record of a result tells of it."""
    summary = result.summary()
    names = ["width", "height", "segments", "energy", "bound", "gap_percent", "matched_percent"]
    names += [name for name in ("confidence_median",) if name in summary]
    return {name: summary[name] for name in (*names, "noise")} | _drift(result)


def _drift(result: Result) -> dict[str, Any]:
    """Return what is left of the pair's rectification error; nothing if it is not known."""
    from slanted.matching.rectification import ONE_SCENE

    check = result.rectification
    if check is None or check.warp is None or check.consistent_share < ONE_SCENE:
        return {}
    shift, turn = check.warp.coefficients[:2]
    return {
        "vertical_shift": shift,
        "vertical_turn": turn,
        "vertical_rms": check.warp.rms,
        "straightened": check.corrected,
    }


def _failed(job: Job, record: dict[str, Any], error: Exception) -> Outcome:
    expected = isinstance(error, SlantedError)
    text = str(error) if expected else f"{job.left}: {_unexpected(error)}"
    record |= {"status": "failed", "error": text}
    if not expected:
        record["traceback"] = "".join(traceback.format_exception(error))
    full = _is_full(error)
    try:
        records.write_failure(job.output, job.name, record)
    except SlantedError as second:
        full = full or _is_full(second)
    return Outcome("failed", record, full)


def _unexpected(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this pair; use fewer --workers or smaller images"
    return f"failed in a way that slanted did not foresee ({type(error).__name__}: {error})"


def _is_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def _identity(before: Path | None) -> str:
    """Return the settings and inputs of the previous frame, as one text."""
    found = None if before is None else records.read_record(before)
    return "" if found is None else f"{found.get('settings')} {found.get('inputs')}"


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect slanted's warnings in this thread.

    Python has one set of filters for a whole process, and Dask may run several pairs in threads of
    one process: then only one of them collects, and the others' warnings are shown as usual.
    """
    messages: list[str] = []
    if not _collecting.acquire(blocking=False):
        yield messages
        return
    mine, otherwise = threading.get_ident(), warnings.showwarning

    def collect(message: Warning | str, category: type[Warning], *where: Any, **named: Any) -> None:
        if threading.get_ident() == mine and issubclass(category, SlantedWarning):
            messages.append(str(message))
        else:
            otherwise(message, category, *where, **named)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", SlantedWarning)
            warnings.showwarning = collect
            yield messages
    finally:
        _collecting.release()
