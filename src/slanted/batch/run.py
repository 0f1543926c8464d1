"""The loop of a batch, which hands pairs to workers and counts their outcomes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.batch import records
from slanted.batch.memory import largest_pair
from slanted.batch.pairs import RESERVED, Pair, check_names, output_folder
from slanted.batch.work import Job, Outcome, died, run_job
from slanted.errors import FileError, InputError
from slanted.io.locks import try_lock, unlock
from slanted.io.names import BATCH_MARKER
from slanted.io.replacement import remove_partial
from slanted.runtime.memory import available_bytes, workers_that_fit
from slanted.runtime.threads import core_count
from slanted.runtime.workers import open_backend, run_each

if TYPE_CHECKING:
    from slanted.runtime.workers import Backend
    from slanted.settings import Settings


@dataclass(frozen=True)
class Tally:
    """Progress of a batch."""

    total: int
    done: int = 0
    skipped: int = 0
    failed: int = 0
    """Number of all pairs, and of those done now, done before, and failed."""
    running: tuple[str, ...] = ()
    """Names of the pairs that are running."""
    seconds: float = 0.0
    """Time since the start."""
    workers: int = 1
    threads: int = 1
    """Number of workers, and of threads of each."""

    @property
    def ended(self) -> int:
        """Pairs that need no more work."""
        return self.done + self.skipped + self.failed

    @property
    def rate(self) -> float:
        """Pairs done or failed per second; skipped ones take no time."""
        return (self.done + self.failed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Time left at the rate so far; None before the first pair has ended."""
        return (self.total - self.ended) / self.rate if self.rate else None


Progress = Callable[[Tally, dict[str, Any] | None], None]
"""Called at every change with the tally and, if a pair has ended, its record."""


def run_batch(
    pairs: Sequence[Pair],
    output: Path,
    settings: Settings,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    sequence: bool = False,
    progress: Progress | None = None,
) -> Tally:
    """Run all pairs and keep their results under `output`.

    Parameters
    ----------
    pairs
        From `slanted.batch.pairs.find_pairs`.
    output
        Folder that gets a folder for each pair, ``failures/`` and the summary.
    settings
        Settings of all pairs. Unless they set threads, workers share the cores equally.
    workers
        Largest number of processes; by default one per core. Fewer run if memory is short.
    scheduler
        Address of a Dask scheduler, whose workers are used instead.
    resume
        Whether to skip pairs that already have a result with the same settings and inputs. If
        false, the folder must not hold a batch.
    sequence
        Whether each frame of a numbered sequence starts from the planes of the previous frame.
    progress
        Called at every change.

    Raises
    ------
    FileError
        If two pairs have the same name, the folder cannot be used or the disk becomes full;
        finished results are kept.

    Examples
    --------
    >>> from pathlib import Path
    >>> import slanted
    >>> from slanted.batch.pairs import find_pairs
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> slanted.write_image("desk_left.png", scene.left)
    >>> slanted.write_image("desk_right.png", scene.right)
    >>> tally = run_batch(find_pairs(Path(".")), Path("out"), slanted.Settings(), workers=1)
    >>> tally.done, slanted.Result.load("out/desk").disparity.shape
    (1, (64, 96))
    """
    check_names("pairs", pairs)
    for pair in pairs:
        folder = output_folder(output, pair.name)
        if folder.exists() and folder.resolve() in pair.left.resolve().parents:
            raise InputError(
                f"--output: the images of {pair.name} lie where its result would, in {output}; "
                "name another folder"
            )
    resuming = "add --resume to go on with it, or name another folder"
    with locked_folder(output, None if resume else resuming):
        loop = _Loop(pairs, output, settings, sequence, progress)
        backend = _backend(pairs, settings, workers, scheduler, loop.most_at_a_time)
        try:
            with backend:
                loop.run(backend)
        finally:
            remove_partial(output)
            # A full disk may have no room for the summary either; the error below names it.
            with suppress(FileError) if loop.disk_full else nullcontext():
                records.write_summary(output, loop.rows())
    if loop.disk_full:
        raise FileError(
            output,
            f"the disk is full; {loop.tally.done + loop.tally.skipped} of {len(pairs)} pairs are "
            "kept; free space and repeat the command with --resume",
        )
    return loop.tally


class _Loop:
    """The state of a batch."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        output: Path,
        settings: Settings,
        sequence: bool,
        progress: Progress | None,
    ) -> None:
        self.pairs = {pair.name: pair for pair in pairs}
        self.output, self.settings = output, settings
        self.tally = Tally(len(self.pairs))
        self.disk_full = False
        self._progress = progress
        # Not the whole records, which take 6 kB each.
        self._rows: dict[str, dict[str, Any]] = {}
        self._before, self._after = _chains(pairs) if sequence else ({}, {})
        self._ready = deque(name for name in self.pairs if name not in self._before)
        self.most_at_a_time = len(self._ready)
        self._jobs: dict[str, Job] = {}
        self._start = time.perf_counter()

    def run(self, backend: Backend) -> None:
        """Run until no pair is left, or the disk is full."""
        self.tally = replace(self.tally, workers=backend.slots, threads=backend.threads)
        self._tell(None)
        jobs = run_each(backend, run_job, self._ready, lambda name: self._begin(name, backend))
        for ended in jobs:
            job = self._jobs.pop(ended.key)
            self._end(job.name, died(job, ended.died) if ended.died else ended.result())
            if self.disk_full:
                self._ready.clear()  # the others would fail, too

    def rows(self) -> list[dict[str, Any]]:
        """Return the summary: pairs that have ended, and pairs that still wait."""
        waiting = (
            {"name": p.name, "left": str(p.left.absolute()), "right": str(p.right.absolute()),
             "status": "waiting"}
            for p in self.pairs.values()
        )  # fmt: skip
        return [self._rows.get(row["name"]) or records.row_of(row) for row in waiting]

    def _begin(self, name: str, backend: Backend) -> Job:
        pair, before = self.pairs[name], self._before.get(name)
        if before is not None and self._rows[before]["status"] != "done":
            before = None
        self._jobs[name] = Job(
            name,
            pair.left.absolute(),
            pair.right.absolute(),
            self.output.absolute(),
            self.settings,
            backend.threads,
            before,
            pair.calibration,
        )
        self._tell(None)
        return self._jobs[name]

    def _end(self, name: str, outcome: Outcome) -> None:
        self._rows[name] = records.row_of(outcome.record)
        self.disk_full = self.disk_full or outcome.disk_full
        self.tally = replace(
            self.tally, **{outcome.status: getattr(self.tally, outcome.status) + 1}
        )
        if name in self._after:
            self._ready.appendleft(self._after[name])
        self._tell({**outcome.record, "outcome": outcome.status})

    def _tell(self, record: dict[str, Any] | None) -> None:
        seconds = time.perf_counter() - self._start
        self.tally = replace(self.tally, running=tuple(self._jobs), seconds=seconds)
        if self._progress is not None:
            self._progress(self.tally, record)


def _chains(pairs: Sequence[Pair]) -> tuple[dict[str, str], dict[str, str]]:
    """Return, by name, the previous and the next frame of each frame of a sequence."""
    sequences: dict[str, list[tuple[int, str]]] = {}
    for pair in pairs:
        frame = pair.frame()
        if frame is not None:
            sequences.setdefault(frame[0], []).append((frame[1], pair.name))
    before: dict[str, str] = {}
    for frames in sequences.values():
        names = [name for _, name in sorted(frames)]
        before |= dict(zip(names[1:], names[:-1], strict=True))
    return before, {one: other for other, one in before.items()}


def _backend(
    pairs: Sequence[Pair],
    settings: Settings,
    workers: int | None,
    scheduler: str | None,
    most_at_a_time: int,
) -> Backend:
    cores = core_count()
    wanted = max(1, min(workers or cores, most_at_a_time))
    needed = 0
    if wanted > 1 or scheduler is not None:
        needed = largest_pair((pair.left for pair in pairs), settings)
        wanted = workers_that_fit(wanted, needed, available_bytes())
    return open_backend(wanted, settings.threads or max(1, cores // wanted), scheduler, needed)


@contextmanager
def locked_folder(output: Path, cure: str | None, option: str = "--output") -> Iterator[None]:
    """Lock the output folder for this process, and remove a killed batch's half-written results.

    A folder that holds a batch is refused with the `cure`, unless that is None, and so is one that
    holds none but files with the names of a batch's own.
    """
    from slanted.output.folder import check_folder, refuse_files_of_others

    check_folder(output)
    if not (output / BATCH_MARKER).exists():
        refuse_files_of_others(output, [name for name in RESERVED if (output / name).exists()])
    elif cure is not None:
        raise InputError(f"{option}: {output} holds a batch already; {cure}")
    elif not (output / BATCH_MARKER).is_file():
        raise FileError(
            output / BATCH_MARKER, "expected the marker of a batch; name another folder"
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
        # Opened, not replaced as files are elsewhere, because the lock belongs to this file.
        marker = (output / BATCH_MARKER).open("ab")
    except OSError as error:
        raise FileError(output, f"cannot be written to ({error.strerror})") from error
    with marker:
        if not try_lock(marker.fileno()):
            raise InputError(f"{option}: another batch is writing to {output} now; wait for it")
        for folder in (output, output / records.FAILURES):
            remove_partial(folder)
        try:
            yield
        finally:
            _leave_no_empty_batch(output)
            unlock(marker.fileno())


def _leave_no_empty_batch(output: Path) -> None:
    """Remove the marker of a batch that did not begin, as when its scheduler does not answer."""
    with suppress(OSError):
        if [path.name for path in output.iterdir()] == [BATCH_MARKER]:
            (output / BATCH_MARKER).unlink()
            output.rmdir()
