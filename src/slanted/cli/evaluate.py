"""``slanted evaluate``: a result, or a method on a dataset, against ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli.options import PathArgument, report_options, settings_options
from slanted.cli.report import Report, table
from slanted.errors import FileError

if TYPE_CHECKING:
    from slanted.settings import Settings


@click.command(name="evaluate", short_help="Measure errors against ground truth.")
@click.argument("what")
@click.argument("path", type=PathArgument)
@click.option("--noc", type=PathArgument, metavar="GT", help="Ground truth of visible pixels.")
@click.option("--scale", type=float, metavar="S", help="For 8-bit maps: pixels = value / S.")
@click.option("--split", metavar="NAME", help="Part of the dataset, from its split.json.")
@click.option("--method", default="slanted", show_default=True, metavar="NAME",
              help="`slanted`, the whole pipeline, or a matcher's name.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N frames.")
@click.option("--sparse", is_flag=True, help="Do not fill a matcher's holes; they count as errors.")
@settings_options
@report_options
def command(
    settings: Settings,
    what: str,
    path: Path,
    noc: Path | None,
    scale: float | None,
    split: str | None,
    method: str,
    limit: int | None,
    sparse: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure errors: WHAT is a disparity map and PATH its ground truth, or WHAT is a dataset
    (kitti2012, kitti2015, middlebury, middlebury2014) and PATH its folder.
    """  # noqa: D205
    from slanted.evaluation.datasets import DATASETS, find_frames
    from slanted.evaluation.methods import evaluate_frames

    with Report(quiet=quiet, as_json=as_json) as report:
        if what in DATASETS:
            frames = find_frames(what, path, split, limit)
            data: dict[str, Any] = {"dataset": what, "split": split}
            data |= evaluate_frames(
                frames, method, settings, sparse=sparse, progress=report.progress
            )
        elif not Path(what).exists():
            known = ", ".join(DATASETS)
            raise FileError(what, f"expected a disparity map or a dataset ({known}), found neither")
        else:
            data = {"result": what, "mean": _evaluate_map(Path(what), path, noc, scale)}
    report.outcome(data, _lines(data["mean"]))


def _evaluate_map(
    result: Path, path: Path, noc: Path | None, scale: float | None
) -> dict[str, float]:
    from slanted.evaluation.metrics import evaluate
    from slanted.io import read_disparity

    return evaluate(
        read_disparity(result, scale=scale),
        read_disparity(path, scale=scale),
        ground_truth_noc=None if noc is None else read_disparity(noc, scale=scale),
    )


def _lines(mean: dict[str, float]) -> list[str]:
    """Lay out metrics with the non-occluded and all pixels side by side."""
    names = list(dict.fromkeys(key.rsplit("-", 1)[0] for key in mean if key != "seconds"))

    def cell(key: str) -> str:
        return f"{mean[key]:.2f}" if key in mean else "-"

    rows = [(name, cell(f"{name}-noc"), cell(f"{name}-all")) for name in names]
    lines = table(("metric", "non-occluded", "all"), rows)
    return [*lines, f"seconds a frame: {mean['seconds']:.2f}"] if "seconds" in mean else lines
