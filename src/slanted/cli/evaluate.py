"""``slanted evaluate``: errors of a result, or of a method on a dataset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.progress import Report, compile_kernels, table
from slanted.errors import FileError

if TYPE_CHECKING:
    from slanted.settings import Settings


@click.command(name="evaluate", short_help="Measure errors against ground truth.")
@click.argument("what")
@click.argument("path", type=options.PATH)
@click.option("--noc", type=options.PATH, metavar="GT", help="Ground truth of visible pixels only.")
@click.option("--scale", type=float, metavar="S", help="For 8-bit maps: pixels = value / S.")
@options.split()
@click.option("--method", metavar="NAME",
              help="`slanted` for the whole pipeline (the default), or a matcher.")  # fmt: skip
@options.limit()
@click.option("--sparse", is_flag=True, help="Do not fill a matcher's holes; they count as errors.")
@options.settings
@options.report
def command(
    settings: Settings,
    what: str,
    path: Path,
    noc: Path | None,
    scale: float | None,
    split: str | None,
    method: str | None,
    limit: int | None,
    sparse: bool,
    report: Report,
) -> None:
    """Measure errors against ground truth.

    WHAT is a disparity map and PATH its ground truth, or WHAT is a dataset (kitti2012, kitti2015,
    middlebury, middlebury2014) and PATH its folder.
    """
    from slanted.evaluation.datasets import DATASETS, find_frames
    from slanted.evaluation.metrics import evaluate
    from slanted.io import read_disparity
    from slanted.research.methods import FULL_MODEL, evaluate_frames

    with report:
        if what in DATASETS:
            options.refuse_without("a disparity map", {"--noc": noc, "--scale": scale})
            frames = find_frames(what, path, split, limit)
            if method in (None, FULL_MODEL):
                compile_kernels(report)
            data: dict[str, Any] = {"dataset": what, "split": split}
            data |= evaluate_frames(
                frames, method or FULL_MODEL, settings, sparse=sparse, progress=report.progress
            )
        elif not os.path.exists(what):  # noqa: PTH110 (pathlib raises on names too long)
            known = ", ".join(DATASETS)
            raise FileError(what, f"expected a disparity map or a dataset ({known}), found neither")
        else:
            only = {"--split": split, "--limit": limit, "--sparse": sparse, "--method": method}
            options.refuse_without("a dataset", only)
            negative = settings.matching.min_disparity < 0
            files = [Path(what), path, *([] if noc is None else [noc])]
            maps = [read_disparity(file, scale=scale, allow_negative=negative) for file in files]
            visible = None if noc is None else maps[2]
            data = {"result": what, "mean": evaluate(*maps[:2], ground_truth_noc=visible)}
    report.outcome(data, _lines(data["mean"]), always=True)


def _lines(mean: dict[str, float]) -> list[str]:
    """Return a table of the metrics over all and, if known, over the non-occluded pixels."""
    names = list(dict.fromkeys(key.rsplit("-", 1)[0] for key in mean if key != "seconds"))
    kinds = {"noc": "non-occluded", "all": "all"}
    shown = [kind for kind in kinds if any(f"{name}-{kind}" in mean for name in names)]

    def cell(key: str) -> str:
        return f"{mean[key]:.2f}" if key in mean else "-"

    rows = [(name, *(cell(f"{name}-{kind}") for kind in shown)) for name in names]
    lines = table(("metric", *(kinds[kind] for kind in shown)), rows)
    return [*lines, f"seconds a frame: {mean['seconds']:.2f}"] if "seconds" in mean else lines
