"""``slanted batch`` of a recording: from the images of two cameras to a new recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli.batch_table import BatchTable
from slanted.cli.progress import Report, compile_kernels
from slanted.cli.terminal import note
from slanted.errors import plural

if TYPE_CHECKING:
    from slanted.ros.cameras import CalibrationSource
    from slanted.settings import Settings


def refuse_for_recording(options: dict[str, Any]) -> None:
    """Refuse options that mean nothing for a recording, rather than ignore them."""
    for name, value in options.items():
        if value not in (None, False):
            raise click.UsageError(
                f"{name}: means nothing for a recording, whose frames are estimated one after the "
                "other with the cameras' calibration; leave it out"
            )


def run(
    files: tuple[Path, Path],
    settings: Settings,
    topics: tuple[str | None, str | None],
    calibration: CalibrationSource | None,
    report: Report,
) -> None:
    """Estimate the pairs of a recording; `files` are the recording and the output folder."""
    from slanted.batch.recording import recording_folder, run_recording

    source, output = files
    with report:
        compile_kernels(report)
    table = BatchTable(quiet=report.quiet)
    try:
        with table:
            outcome = run_recording(
                source,
                output,
                settings,
                topics=topics,
                calibration=calibration,
                progress=table.update,
            )
    except KeyboardInterrupt:
        if table.tally is not None and not report.quiet:
            kept = f"{table.tally.done} of {plural(table.tally.total, 'pair')} are kept"
            note(f"{kept}; see {recording_folder(source, output)}")
        raise
    tally = outcome.tally
    for text in outcome.remarks:
        note(f"slanted: warning: {text}")
    counts = {"total": tally.total, "done": tally.done, "failed": tally.failed}
    data = {
        **counts,
        "seconds": tally.seconds,
        "output": str(outcome.bag),
        "topics": list(outcome.topics),
        "remarks": list(outcome.remarks),
        "complete": outcome.complete,
    }
    line = f"{tally.done} done, {tally.failed} failed in {tally.seconds:.1f} s; see {outcome.bag}"
    report.outcome(data, [line])
    if tally.failed or not outcome.complete:
        sys.exit(1)
