"""``slanted demo``: the pipeline on a real pair that ships with scikit-image."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slanted.cli import options
from slanted.cli.help import new_command
from slanted.cli.progress import Report, compile_kernels, table
from slanted.cli.result_table import file_rows, result_rows

if TYPE_CHECKING:
    from slanted.settings import Settings

ROWS = ("out-1px", "out-2px", "out-3px", "out-5px", "D1", "epe", "rms")


@new_command(name="demo", short_help="Run on a real pair, with errors and pictures.")
@options.output("slanted-demo", "Folder to write to.")
@options.settings
@options.report
def command(settings: Settings, output: Path, report: Report) -> None:
    """Run on Middlebury's Motorcycle, which ships inside scikit-image, and measure the errors.

    Writes the disparity in three formats, pictures of the disparity, its errors, planes,
    boundaries and energies, and a point cloud.
    """
    import numpy as np

    from slanted.evaluation.motorcycle import CALIBRATION, load_motorcycle

    left, right, truth = load_motorcycle()  # first: it says which extras are missing

    from slanted.evaluation.metrics import evaluate
    from slanted.io import write_disparity, write_image
    from slanted.io.names import TRUTH, TRUTH_PICTURE
    from slanted.matching.interpolation import interpolate_background
    from slanted.model.drawing import draw_disparity
    from slanted.output.folder import (
        check_result_folder,
        disparity_picture,
        file_names,
        whole_folder,
        write_result,
    )
    from slanted.output.legends import Legend, with_legend
    from slanted.output.overlays import labels_legend, paint_labels
    from slanted.output.pictures import colour_error, error_legend, mosaic
    from slanted.pipeline import estimate
    from slanted.research.methods import compute_disparity

    check_result_folder(output)
    with report.listing_steps():
        compile_kernels(report)
        result = estimate(left, right, settings, progress=report.progress)
        filled = interpolate_background(result.matched)
        maps = {
            "slanted": result.disparity,
            "local fits": draw_disparity(result.regions, result.local_planes()),
            f"{settings.matching.method} filled": filled,
        }
        if settings.matching.method != "sgbm":
            maps["sgbm filled"] = compute_disparity("sgbm", left, right, settings)
        scores = {name: evaluate(disparity, truth) for name, disparity in maps.items()}
        scale = tuple(np.nanquantile(truth, [0.01, 0.99]))
        labels = paint_labels(left, result.regions, result.labels)
        errors = {
            "matched_error.png": (filled, "errors of the filled matches, px"),
            "error.png": (result.disparity, "errors of slanted, px"),
        }
        trusted = result.trusted_disparity()
        pictures = {
            TRUTH_PICTURE: disparity_picture(truth, scale, "ground truth, px"),
            "disparity_colour.png": disparity_picture(trusted, scale, "slanted, px"),
            **{
                name: with_legend(colour_error(disparity, truth), error_legend(title))
                for name, (disparity, title) in errors.items()
            },
        }
        tiles = [
            with_legend(left, Legend("left image")),
            with_legend(labels, labels_legend()),
            *pictures.values(),
        ]
        pictures["overview.png"] = mosaic(tiles)
        with whole_folder(output, fsync=settings.fsync) as folder:
            write_result(folder, result, left, CALIBRATION, right=right)
            write_disparity(folder / TRUTH, truth)
            for name, picture in pictures.items():
                write_image(folder / name, picture)
            files = file_names(folder)
    rows = [(name, *(f"{score[f'{name}-all']:.2f}" for score in scores.values())) for name in ROWS]
    summary = result.summary()
    lines = [
        "Middlebury 2014 Motorcycle, all pixels; out-kpx and D1 in %, epe and rms in px",
        "",
        *table(("metric", *scores), rows),
        "",
    ]
    told = [*result_rows(summary, result.settings), *file_rows(output, files)]
    report.outcome({**summary, "errors": scores, "files": files}, lines, told)
