"""``slanted evaluate``: errors of a result, or of a method on a dataset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report, compile_kernels, table
from slanted.errors import FileError

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.settings import Settings

MAPS, DATASET = "For maps and results", "For datasets"
"""Groups of options in the help."""
DIGITS = {"AUC": 4}
"""Decimals of metrics that need more than two."""


@new_command(name="evaluate", short_help="Measure errors against ground truth.")
@click.argument("what")
@click.argument("path", type=options.PATH)
@option("--noc", type=options.PATH, metavar="GT", group=MAPS,
        help="Ground truth of visible pixels only.")  # fmt: skip
@option("--scale", type=float, metavar="S", group=MAPS,
        help="For 8-bit maps: pixels = value / S.")  # fmt: skip
@option("--confidence", type=options.PATH, metavar="FILE", group=MAPS,
        help="Confidence of a disparity map (NPY from 0 to 1, or 16-bit PNG): adds error "
        "against density and calibration.")  # fmt: skip
@options.output(None, "Folder for evaluation.json and, with a confidence, sparsification.png.")
@options.split(group=DATASET)
@option("--method", metavar="NAME", group=DATASET,
        help="`slanted` for the whole pipeline (the default), or a matcher.")  # fmt: skip
@options.limit(group=DATASET)
@option("--sparse", is_flag=True, group=DATASET,
        help="Do not fill a matcher's holes; they count as errors.")  # fmt: skip
@options.settings
@options.report
def command(
    settings: Settings,
    what: str,
    path: Path,
    noc: Path | None,
    scale: float | None,
    confidence: Path | None,
    output: Path | None,
    split: str | None,
    method: str | None,
    limit: int | None,
    sparse: bool,
    report: Report,
) -> None:
    """Measure errors against ground truth.

    WHAT is a disparity map, or the folder of a result, and PATH its ground truth; or WHAT is a
    dataset (kitti2012, kitti2015, middlebury, middlebury2014) and PATH its folder. Of a result,
    the dense disparity is measured whatever its threshold was.
    """
    from slanted.evaluation.datasets import DATASETS, find_frames
    from slanted.output.folder import check_folder
    from slanted.research.methods import FULL_MODEL, evaluate_frames

    if output is not None:
        check_folder(output)
    with report:
        if what in DATASETS:
            only: dict[str, Any] = {"--noc": noc, "--scale": scale, "--confidence": confidence}
            options.refuse_without("a disparity map", only)
            frames = find_frames(what, path, split, limit)
            if method in (None, FULL_MODEL):
                compile_kernels(report)
            data: dict[str, Any] = {"dataset": what, "split": split}
            data |= evaluate_frames(
                frames, method or FULL_MODEL, settings, sparse=sparse, progress=report.progress
            )
        elif not os.path.exists(what):  # noqa: PTH110 (pathlib raises on names too long)
            known = ", ".join(DATASETS)
            raise FileError(
                what, f"expected a disparity map, a result or a dataset ({known}), found neither"
            )
        else:
            only = {"--split": split, "--limit": limit, "--sparse": sparse, "--method": method}
            options.refuse_without("a dataset", only)
            negative = settings.matching.min_disparity < 0
            data = _evaluate_files(Path(what), path, noc, confidence, scale, negative=negative)
    scores: ConfidenceScores | None = data.pop("confidence", None)
    mean = data["mean"]
    if scores is not None:
        data["confidence"] = scores.as_dict()
        mean = {**mean, **scores.metrics}
    if output is not None:
        _write(output, data, scores)
    lines = [*_lines(mean), *([] if scores is None else _confidence_lines(scores))]
    report.outcome(data, lines, always=True)


def _evaluate_files(
    what: Path,
    truth: Path,
    noc: Path | None,
    confidence: Path | None,
    scale: float | None,
    *,
    negative: bool,
) -> dict[str, Any]:
    """Score a disparity map, or the folder of a result, with its confidence if there is one."""
    from slanted.evaluation.confidence import evaluate_confidence
    from slanted.evaluation.metrics import evaluate
    from slanted.io import read_disparity
    from slanted.io.confidence import read_confidence
    from slanted.result import Result

    sure = None
    if what.is_dir():
        result = Result.load(what)
        disparity, sure = result.disparity, result.confidence
        negative = negative or result.settings.matching.min_disparity < 0
    else:
        disparity = read_disparity(what, scale=scale, allow_negative=negative)
    target = read_disparity(truth, scale=scale, allow_negative=negative)
    seen = None if noc is None else read_disparity(noc, scale=scale, allow_negative=negative)
    data: dict[str, Any] = {"result": str(what)}
    data["mean"] = evaluate(disparity, target, ground_truth_noc=seen)
    if confidence is not None:
        sure = read_confidence(confidence)
    if sure is not None:
        data["confidence"] = evaluate_confidence(disparity, target, sure)
    return data


def _write(folder: Path, data: dict[str, Any], scores: ConfidenceScores | None) -> None:
    from slanted.io import write_bytes, write_image
    from slanted.output.charts import confidence_charts
    from slanted.output.result_data import json_text

    write_bytes(folder / "evaluation.json", (json_text(data) + "\n").encode())
    if scores is not None:
        write_image(folder / "sparsification.png", confidence_charts(scores))


def _lines(mean: dict[str, float]) -> list[str]:
    """Return a table of the metrics over all and, if known, over the non-occluded pixels."""
    names = list(dict.fromkeys(key.rsplit("-", 1)[0] for key in mean if key != "seconds"))
    kinds = {"noc": "non-occluded", "all": "all"}
    shown = [kind for kind in kinds if any(f"{name}-{kind}" in mean for name in names)]

    def cell(name: str, kind: str) -> str:
        value = mean.get(f"{name}-{kind}")
        return "-" if value is None else f"{value:.{DIGITS.get(name, 2)}f}"

    rows = [(name, *(cell(name, kind) for kind in shown)) for name in names]
    lines = table(("metric", *(kinds[kind] for kind in shown)), rows)
    return [*lines, f"seconds a frame: {mean['seconds']:.2f}"] if "seconds" in mean else lines


def _confidence_lines(scores: ConfidenceScores) -> list[str]:
    """Return tables of error against density, and of what was said against what was found."""
    data = scores.as_dict()
    curve = [
        (f"{point['density']} %", f"{point['error']:.2f}", f"{point['oracle']:.2f}")
        for point in data["curve"]
        if point["density"] % 10 == 0
    ]
    bins = [
        (f"{each['from']:.1f} to {each['to']:.1f}", str(each["pixels"]),
         *((f"{100 * each[name]:.1f} %" if each["pixels"] else "-") for name in ("said", "found")))
        for each in data["reliability"]
    ]  # fmt: skip
    return [
        "",
        *table(("most confident", "D1", "D1 of the best order"), curve),
        "",
        *table(("confidence", "pixels", "said", "found right"), bins),
    ]
