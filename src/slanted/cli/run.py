"""``slanted run``: one pair in, a folder out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slanted.cli.options import (
    PathArgument,
    calibration_options,
    load_calibration,
    report_options,
    settings_options,
)
from slanted.cli.report import Report, seconds_table

if TYPE_CHECKING:
    from slanted.settings import Settings


@click.command(name="run", short_help="Estimate the disparity of one pair.")
@click.argument("left", type=PathArgument)
@click.argument("right", type=PathArgument)
@click.option("-o", "--output", type=PathArgument, default="slanted-out", show_default=True,
              metavar="DIR", help="Folder to write to.")  # fmt: skip
@click.option("--disparity", type=PathArgument, metavar="FILE",
              help="Initial disparity of your own (KITTI PNG, PFM, NPY, TIFF), "
              "instead of the matcher's.")  # fmt: skip
@click.option("--disparity-scale", type=float, metavar="S",
              help="For an 8-bit --disparity: pixels = value / S.")  # fmt: skip
@click.option("--valid", type=PathArgument, metavar="FILE",
              help="Image that is non-zero where --disparity is to be believed.")  # fmt: skip
@calibration_options
@settings_options
@report_options
def command(
    settings: Settings,
    left: Path,
    right: Path,
    output: Path,
    disparity: Path | None,
    disparity_scale: float | None,
    valid: Path | None,
    calib: Path | None,
    fx: float | None,
    baseline: float | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Estimate the dense disparity of the rectified pair LEFT RIGHT and write it to a folder."""
    from slanted.io import read_disparity, read_image
    from slanted.matching.images import check_pair
    from slanted.output.folder import check_folder, summary, write_result
    from slanted.pipeline import estimate

    with Report(quiet=quiet, as_json=as_json) as report:
        images = check_pair(read_image(left), read_image(right), names=(str(left), str(right)))
        calibration = load_calibration(calib, fx, baseline, images[0].shape[:2])
        negative = settings.matching.min_disparity < 0
        given = None
        if disparity is not None:
            given = read_disparity(disparity, scale=disparity_scale, allow_negative=negative)
        believed = None if valid is None else read_image(valid)
        check_folder(output)
        result = estimate(
            *images, settings, disparity=given, valid=believed, progress=report.progress
        )
        files = write_result(output, result, images[0], calibration)
    outcome = {**summary(result), "output": str(output), "files": files}
    lines = [*seconds_table(result.seconds), "", f"wrote {', '.join(files)} to {output}"]
    report.outcome(outcome, lines)
