"""``slanted batch``: many pairs in, a folder for each out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slanted.cli.compiling import compile_kernels
from slanted.cli.options import PathArgument, report_options, settings_options
from slanted.cli.progress import Report

if TYPE_CHECKING:
    from slanted.settings import Settings


@click.command(name="batch", short_help="Estimate the disparity of many pairs.")
@click.argument("source", metavar="FOLDER|MANIFEST", type=PathArgument)
@click.option("-o", "--output", type=PathArgument, default="slanted-batch", show_default=True,
              metavar="DIR", help="Where a folder for each pair and the summary go.")  # fmt: skip
@click.option("--workers", type=click.IntRange(min=1), metavar="N",
              help="Processes; by default one for each core, or fewer if memory would not do. "
              "1 works in this process.")  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS",
              help="Dask scheduler whose workers are used instead, as tcp://host:8786."
              )  # fmt: skip
@click.option("--resume", is_flag=True,
              help="Skip pairs that are done with the same settings and inputs.")  # fmt: skip
@click.option("--sequence", is_flag=True,
              help="Frames are a video, in the order of their numbers: the planes of each are "
              "proposed to the next.")  # fmt: skip
@settings_options
@report_options
def command(
    settings: Settings,
    source: Path,
    output: Path,
    workers: int | None,
    scheduler: str | None,
    resume: bool,
    sequence: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Estimate the disparity of all pairs of a folder, in the usual layouts, or of a CSV manifest
    with the columns left, right and, if wanted, name.

    A pair that fails is recorded, and the others go on; the exit code is then 1. Ctrl-C ends the
    batch and keeps what is done.
    """  # noqa: D205
    from slanted.batch.pairs import find_pairs
    from slanted.batch.records import count_kept
    from slanted.batch.run import run_batch
    from slanted.cli.batch_table import BatchTable
    from slanted.io.names import SUMMARY_TABLE

    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers, --scheduler: give one; Dask knows its own workers")
    pairs = find_pairs(source, output)
    if scheduler is None:
        with Report(quiet=quiet, as_json=as_json) as report:
            compile_kernels(report)  # before the workers, which would each compile all
    table = BatchTable(quiet=quiet)
    try:
        with table:
            tally = run_batch(
                pairs,
                output,
                settings,
                workers=workers,
                scheduler=scheduler,
                resume=resume,
                sequence=sequence,
                progress=table.update,
            )
    except KeyboardInterrupt:
        # Workers of a cluster go on with what they have begun.
        kept = count_kept(output, [pair.name for pair in pairs], settings)
        table.interrupted(f"at least {kept}" if scheduler else str(kept))
        raise
    counts = {"total": tally.total, "done": tally.done, "skipped": tally.skipped}
    counts["failed"] = tally.failed
    data = {**counts, "seconds": tally.seconds, "workers": tally.workers, "output": str(output)}
    line = f"{tally.done} done, {tally.skipped} done before, {tally.failed} failed"
    line += f" in {tally.seconds:.1f} s; see {output / SUMMARY_TABLE}"
    Report(quiet=quiet, as_json=as_json).outcome(data, [line])
    if tally.failed:
        sys.exit(1)
