"""``slanted evaluate``: errors of a result, or of a method on a dataset."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report, compile_kernels, table
from slanted.errors import FileError, did_you_mean, plural

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.evaluation.region import Region
    from slanted.evaluation.scores import Scores
    from slanted.settings import Settings

MAPS, DATASET = "For maps and results", "For datasets"
"""Groups of options in the help."""
DIGITS = {"AUC": 4}
"""Decimals of metrics that need more than two."""
COLUMNS = {"noc": "non-occluded", "all": "all", "kept": "kept"}
"""Titles of the columns, by how the names of their metrics end."""


@new_command(name="evaluate", short_help="Measure errors against ground truth.")
@click.argument("what")
@click.argument("path", type=options.PATH, required=False)
@option("--noc", type=options.PATH, metavar="GT", group=MAPS,
        help="Ground truth of visible pixels only; for a batch a folder.")  # fmt: skip
@option("--scale", type=float, metavar="S", group=MAPS,
        help="For 8-bit maps: pixels = value / S.")  # fmt: skip
@option("--confidence", type=options.PATH, metavar="FILE", group=MAPS,
        help="Confidence of a disparity map (NPY from 0 to 1, or 16-bit PNG): adds error "
        "against density and calibration.")  # fmt: skip
@option("--region", metavar="X,Y,W,H", group=MAPS,
        help="Measure a rectangle only: its upper left pixel, width and height.")  # fmt: skip
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
    path: Path | None,
    noc: Path | None,
    scale: float | None,
    confidence: Path | None,
    region: str | None,
    output: Path | None,
    split: str | None,
    method: str | None,
    limit: int | None,
    sparse: bool,
    report: Report,
) -> None:
    """Measure errors against ground truth.

    WHAT is a disparity map, or the folder of a result, and PATH its ground truth; or WHAT is the
    folder of a batch and PATH a folder with the ground truth of its pairs, NAME.png or the like; or
    WHAT is a dataset (kitti2012, kitti2015, middlebury, middlebury2014) and PATH its folder. By
    default PATH is ground_truth.pfm in each result. Pixels below --min-confidence, which is by
    default that of the run, count as errors over all pixels, and the column `kept` is without them.
    """
    from slanted.evaluation.datasets import DATASETS, find_frames
    from slanted.evaluation.region import Region
    from slanted.output.folder import check_folder
    from slanted.research.methods import FULL_MODEL, evaluate_frames

    if output is not None:
        check_folder(output)
    part = None if region is None else Region.parse(region)
    with report:
        if what in DATASETS:
            only: dict[str, Any] = {"--noc": noc, "--scale": scale, "--confidence": confidence}
            options.refuse_without("a disparity map", {**only, "--region": region})
            if path is None:
                raise click.UsageError(f"{what}: expected the folder of the dataset after it")
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
                what,
                f"expected a disparity map, a result, a batch or a dataset ({known}), found none"
                f"{did_you_mean(what, DATASETS)}",
            )
        else:
            only = {"--split": split, "--limit": limit, "--sparse": sparse, "--method": method}
            options.refuse_without("a dataset", only)
            given = Given(Path(what), path, noc, confidence, scale, settings, part)
            data = _evaluate_files(given, report)
    scores: ConfidenceScores | None = data.pop("confidence", None)
    mean = data["mean"]
    if scores is not None:
        data["confidence"] = scores.as_dict()
        mean = {**mean, **scores.metrics}
    if output is not None:
        _write(output, data, scores)
    lines = [
        *_lines(mean),
        *_fewer(data, mean),
        *([] if scores is None else _confidence_lines(scores)),
    ]
    report.outcome(data, [*_count(data), *lines], always=True)


@dataclass(frozen=True)
class Given:
    """The files to compare, as the options name them."""

    what: Path
    truth: Path | None
    noc: Path | None
    confidence: Path | None
    scale: float | None
    settings: Settings
    region: Region | None = None

    def read(self, file: Path, *, negative: bool = False) -> Any:
        """Read a map."""
        from slanted.io import read_disparity

        negative = negative or self.settings.matching.min_disparity < 0
        return read_disparity(file, scale=self.scale, allow_negative=negative)


def _evaluate_files(given: Given, report: Report) -> dict[str, Any]:
    """Score a disparity map, the folder of a result or that of a batch."""
    from slanted.batch.scores import measure_of, score_results
    from slanted.batch.summary import find_results, is_batch

    least = options.given_threshold(given.settings)
    if is_batch(given.what):
        only: dict[str, Any] = {"--confidence": given.confidence, "--region": given.region}
        options.refuse_without("one map", only)
        measure = measure_of(given.what, given.truth, given.scale, noc=given.noc, least=least)
        scores = score_results(find_results(given.what), measure, report.progress)
        return {"batch": str(given.what), **scores}
    score_one = _score_result if given.what.is_dir() else _score_map
    metrics, trust = score_one(given, least)
    return {
        "result": str(given.what),
        **({} if given.region is None else {"region": list(given.region)}),
        "mean": metrics,
        **({} if trust is None else {"confidence": trust}),
    }


def _score_result(given: Given, least: float | None) -> Scores:
    """Score a result with its own confidence, or with another one."""
    from dataclasses import replace

    from slanted.io.confidence import read_confidence
    from slanted.io.names import TRUTH
    from slanted.result import Result
    from slanted.result_folder import own_truth, score_result

    result = Result.load(given.what)
    negative = result.settings.matching.min_disparity < 0
    if given.confidence is not None:
        result = replace(result, confidence=read_confidence(given.confidence))
    if given.truth is None:
        truth = own_truth(given.what, result.disparity.shape)
        if truth is None:
            raise FileError(
                given.what, f"expected {TRUTH} inside, found none; give the ground truth after it"
            )
    else:
        truth = given.read(given.truth, negative=negative)
    seen = None if given.noc is None else given.read(given.noc, negative=negative)
    return score_result(result, truth, seen, least, given.region)


def _score_map(given: Given, least: float | None) -> Scores:
    from slanted.evaluation.scores import score
    from slanted.io.confidence import read_confidence

    if given.truth is None:
        raise click.UsageError(f"{given.what}: expected its ground truth after it")
    if given.confidence is None and least:
        options.refuse_without("a result, or --confidence", {"--min-confidence": least})
    seen = None if given.noc is None else given.read(given.noc)
    sure = None if given.confidence is None else read_confidence(given.confidence)
    maps = given.read(given.what), given.read(given.truth), seen, sure
    return score(*maps, least or 0.0, given.region)


def _write(folder: Path, data: dict[str, Any], scores: ConfidenceScores | None) -> None:
    from slanted.io import write_bytes, write_image
    from slanted.output.chart_drawing import confidence_charts
    from slanted.output.result_data import json_text

    write_bytes(folder / "evaluation.json", (json_text(data) + "\n").encode())
    if scores is not None:
        write_image(folder / "sparsification.png", confidence_charts(scores))


def _lines(mean: dict[str, float]) -> list[str]:
    """Return a table of the metrics over all and, if known, over the non-occluded pixels."""
    names = list(dict.fromkeys(key.rsplit("-", 1)[0] for key in mean if key != "seconds"))
    shown = [kind for kind in COLUMNS if any(f"{name}-{kind}" in mean for name in names)]

    def cell(name: str, kind: str) -> str:
        value = mean.get(f"{name}-{kind}")
        return "-" if value is None else f"{value:.{DIGITS.get(name, 2)}f}"

    rows = [(name, *(cell(name, kind) for kind in shown)) for name in names]
    lines = table(("metric", *(COLUMNS[kind] for kind in shown)), rows)
    if "kept" in shown:
        lines += [f"kept: the {mean['density-all']:.1f} % that are sure enough; others count as "
                  "errors elsewhere (--min-confidence 0 measures the dense map)"]  # fmt: skip
    return [*lines, f"seconds a frame: {mean['seconds']:.2f}"] if "seconds" in mean else lines


def _count(data: dict[str, Any]) -> list[str]:
    """Say of how many pairs of a batch the metrics are."""
    if "batch" not in data:
        return []
    return [f"mean of {data['frames']} of {plural(data['pairs'], 'pair')}, with ground truth", ""]


def _fewer(data: dict[str, Any], mean: dict[str, float]) -> list[str]:
    """Say which figures are means of fewer pairs than the others, and of how many."""
    fewer: dict[str, int] = data.get("fewer_frames", {})
    lines = []
    for kind, title in COLUMNS.items():
        column = [name for name in mean if name.endswith(f"-{kind}")]
        for count in sorted({fewer[name] for name in column if name in fewer}):
            those = [name for name in column if fewer.get(name) == count]
            names = ", ".join(name.removesuffix(f"-{kind}") for name in those)
            what = title if those == column else f"{names} ({title})"
            every = plural(data["frames"], "pair" if "batch" in data else "frame")
            lines.append(f"{what}: mean of {count} of {every}, since the others have none")
    return lines


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
