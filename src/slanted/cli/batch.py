"""``slanted batch``: from many pairs to a folder of results for each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report, compile_kernels

if TYPE_CHECKING:
    from slanted.settings import Settings

RECORDING = "Topics of a recording"


@new_command(name="batch", short_help="Estimate the disparity of many pairs.")
@click.argument("source", metavar="FOLDER|MANIFEST|RECORDING", type=options.PATH)
@options.output("slanted-batch", "Folder for the summary and a folder for each pair.")
@options.workers("Processes; by default one for each core, or fewer if memory is short. 1 works in "
                "this process.")  # fmt: skip
@options.scheduler("Dask scheduler whose workers are used instead")
@option("--resume", is_flag=True,
        help="Skip pairs that are done with the same settings and inputs.")  # fmt: skip
@option("--sequence", is_flag=True,
        help="The pairs are frames of a video, in the order of their numbers: each is estimated "
        "with what the one before told, as by slanted.Stream.")  # fmt: skip
@option("--left", "left_topic", metavar="TOPIC", group=RECORDING,
        help="Topic of the left images; by default the only ones of a pair.")  # fmt: skip
@option("--right", "right_topic", metavar="TOPIC", group=RECORDING,
        help="Topic of the right images.")  # fmt: skip
@options.calibration
@option("--no-calib", is_flag=True, group=options.CALIBRATION,
        help="Do not look for calibrations beside the pairs.")  # fmt: skip
@options.settings
@options.report
def command(
    settings: Settings,
    source: Path,
    output: Path,
    workers: int | None,
    scheduler: str | None,
    resume: bool,
    sequence: bool,
    left_topic: str | None,
    right_topic: str | None,
    no_calib: bool,
    report: Report,
    **calibration_values: Any,
) -> None:
    """Estimate the disparity of many pairs.

    FOLDER holds pairs in one of the usual layouts; MANIFEST is a CSV file with the columns left,
    right and, optionally, name and calib. Pairs with a calibration, from the options or beside
    their images as in KITTI and Middlebury 2014, get depth and a point cloud. A pair that fails is
    recorded and the others go on; the exit code is then 1. Ctrl-C ends the batch and keeps what is
    done.

    RECORDING is a rosbag2 folder of ROS 2, or its .mcap or .db3 file: the images of two cameras are
    paired by their stamps, and a new recording gets their disparity, depth and point clouds.
    """
    from slanted.batch.calibrations import with_calibrations
    from slanted.batch.pairs import find_pairs
    from slanted.batch.recording import is_recording_to_run
    from slanted.batch.records import count_kept
    from slanted.batch.run import run_batch
    from slanted.cli.batch_recording import refuse_for_recording, run
    from slanted.cli.batch_table import BatchTable
    from slanted.io.names import SUMMARY_TABLE
    from slanted.matching.network.matcher import check_network

    options.refuse_both(workers, scheduler)
    if scheduler is None:  # workers of a cluster may have other files
        check_network(settings.matching)
    topics = {"--left": left_topic, "--right": right_topic}
    if is_recording_to_run(source):
        unused = {"--workers": workers, "--scheduler": scheduler, "--resume": resume}
        refuse_for_recording({**unused, "--sequence": sequence, "--no-calib": no_calib})
        given = options.calibration_source(**calibration_values)
        run((source, output), settings, (left_topic, right_topic), given, report)
        return
    options.refuse_without("a recording", topics)
    pairs = find_pairs(source, output)
    given = options.calibration_source(**calibration_values)
    if no_calib and given is not None:
        raise click.UsageError("--no-calib: means the opposite of a calibration; give one of them")
    if not no_calib:
        pairs = with_calibrations(pairs, given)
    if scheduler is None:
        with report:
            compile_kernels(report)  # otherwise each worker would compile them all
    table = BatchTable(quiet=report.quiet)
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
        # Workers of a cluster finish the pairs that they have begun.
        kept = count_kept(output, [pair.name for pair in pairs], settings)
        table.interrupted(f"at least {kept}" if scheduler else str(kept))
        raise
    counts = {"total": tally.total, "done": tally.done, "skipped": tally.skipped}
    counts["failed"] = tally.failed
    counts["calibrated"] = sum(pair.calibration is not None for pair in pairs)
    data = {**counts, "seconds": tally.seconds, "workers": tally.workers, "output": str(output)}
    line = f"{tally.done} done, {tally.skipped} done before, {tally.failed} failed"
    line += f" in {tally.seconds:.1f} s"
    line += f"; {counts['calibrated']} have a calibration" if counts["calibrated"] else ""
    line += f"; see {output / SUMMARY_TABLE}"
    report.outcome(data, [line])
    if tally.failed:
        sys.exit(1)
