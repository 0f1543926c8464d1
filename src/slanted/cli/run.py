"""``slanted run``: from one pair to a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import MORE, new_command, option
from slanted.cli.progress import Report, compile_kernels
from slanted.cli.result_table import file_rows, result_rows, seconds_text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from slanted.runtime.workers import Backend
    from slanted.settings import Settings

OWN = "Your own matches or segments"


@new_command(name="run", short_help="Estimate the disparity of one pair.")
@click.argument("left", type=options.PATH)
@click.argument("right", type=options.PATH)
@options.output("slanted-out", "Folder to write to.")
@option("--disparity", type=options.PATH, metavar="FILE", group=OWN,
        help="Initial disparity of your own (KITTI PNG, PFM, NPY, TIFF), "
        "instead of the matcher's.")  # fmt: skip
@options.scale("--disparity", OWN)
@option("--valid", type=options.PATH, metavar="FILE", group=OWN,
        help="Image that is non-zero where --disparity is valid.")  # fmt: skip
@option("--segments", type=options.PATH, metavar="FILE", group=OWN,
        help="Label image of your own (NPY, grey PNG, TIFF or PGM), instead of "
        "superpixels.")  # fmt: skip
@option("--stop-after", type=click.Choice(["matching"]), group=MORE,
        help="Write the matcher's own map, with its holes and filled, and stop.")  # fmt: skip
@options.workers("Processes that share the tiles of a large image; by default this one.")
@options.scheduler("Dask scheduler whose workers share the tiles")
@options.calibration
@options.settings
@options.report
def command(
    settings: Settings,
    left: Path,
    right: Path,
    output: Path,
    disparity: Path | None,
    disparity_scale: float | None,
    valid: Path | None,
    segments: Path | None,
    stop_after: str | None,
    workers: int | None,
    scheduler: str | None,
    report: Report,
    **calibration_values: Any,
) -> None:
    """Estimate the dense disparity of the rectified pair LEFT RIGHT and write it to a folder."""
    from slanted.images.given import GivenImage
    from slanted.io import read_disparity, read_image, read_label_image
    from slanted.output.folder import file_names, whole_folder, write_matched, write_result
    from slanted.pipeline import estimate, match_pair

    if stop_after is not None:
        needs = {"disparity": disparity, "segments": segments, **calibration_values}
        needs |= {"workers": workers, "scheduler": scheduler}
        named = {f"--{name.replace('_', '-')}": value for name, value in needs.items()}
        options.refuse_without("the stages after matching", named)
    if disparity is None:
        options.refuse_without(
            "--disparity", {"--valid": valid, "--disparity-scale": disparity_scale}
        )
    elif settings.matching.network.model is not None:
        raise click.UsageError(
            "--disparity: takes the place of the network that --network names; give one of them"
        )
    files_given = {"left": left, "right": right, "disparity": disparity, "valid": valid}
    files_given["segments"] = segments
    inputs = {name: str(file) for name, file in files_given.items() if file is not None}
    with report.listing_steps():
        images, names = options.read_pair(left, right)
        pair = GivenImage(images[0]), GivenImage(images[1])  # not copied, for the memory
        calibration = options.load_calibration(images[0].shape[:2], **calibration_values)
        negative = settings.matching.min_disparity < 0
        given = None
        if disparity is not None:
            given = read_disparity(disparity, scale=disparity_scale, allow_negative=negative)
        believed = None if valid is None else read_image(valid)
        label_image = None if segments is None else read_label_image(segments)
        for file, array in ((disparity, given), (valid, believed), (segments, label_image)):
            options.check_size(file, array, images[0])
        # Taken before the work begins, so that a second run into the same folder fails at once.
        with whole_folder(output, fsync=settings.fsync) as folder:
            compile_kernels(report)
            if stop_after is not None:
                matched, seconds = match_pair(
                    *pair, settings, progress=report.progress, names=names
                )
                write_matched(folder, matched, settings, seconds)
            else:
                with _tile_workers(settings, workers, scheduler) as backend:
                    result = estimate(
                        *pair,
                        settings,
                        disparity=given,
                        valid=believed,
                        segments=label_image,
                        backend=backend,
                        progress=report.progress,
                        names=names,
                    )
                write_result(folder, result, images[0], calibration, inputs, images[1])
            files = file_names(folder)
    rows = file_rows(output, files)
    if stop_after is not None:
        told = [("time", [(seconds_text(seconds), "")]), *rows]
        report.outcome({"seconds": seconds, "output": str(output), "files": files}, rows=told)
        return
    outcome = {**result.summary(), "inputs": inputs, "output": str(output), "files": files}
    report.outcome(outcome, rows=[*result_rows(outcome, result.settings), *rows])


def _tile_workers(
    settings: Settings, workers: int | None, scheduler: str | None
) -> AbstractContextManager[Backend | None]:
    """Return the workers that share the tiles of a large image; None for this process alone."""
    from contextlib import nullcontext

    from slanted.runtime.threads import core_count
    from slanted.runtime.workers import open_backend

    options.refuse_both(workers, scheduler)
    if scheduler is None and (workers or 1) == 1:
        return nullcontext()
    threads = settings.threads or max(1, core_count() // (workers or 1))
    return open_backend(workers or 1, threads, scheduler, 0)
