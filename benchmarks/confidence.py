"""What the trees of confidence gain: errors with and without them, and scores of the confidence.

python benchmarks/confidence.py [--parts folds sets perturbed] [--folds 5] [--only 0]
    [--splits train train_more] [--limit 0] [--trees 60] [--samples 800000] [--model shipped]

folds: cross-validation on KITTI; each fold is evaluated with trees that were learned from the other
folds and from Middlebury's training scenes. --only runs some of the folds. sets: the trees of
--model on data that they were not learned from. perturbed: validation pairs that were made worse,
for which the confidence should fall, in the ways that the trees have learned, on other frames;
"other scene" has the right image of a frame of train, which they have not. Every
row has the same figures without trees beside it. --limit takes the first frames of each split.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from boundary_labels import precision_and_recall, steps
from common import data_folder, frames_of, options, pair_of, record, told
from slanted.confidence.boosting import Growth
from slanted.errors import InputError
from slanted.evaluation.confidence import ConfidenceScores, evaluate_confidence, mean_confidence
from slanted.evaluation.datasets import Frame
from slanted.evaluation.metrics import evaluate, mean_metrics
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.learning.confidence import KITTI_RULE, Plan, TrainingSet, learn_confidence
from slanted.learning.spoiling import DARK, NOISE, ROWS, SPOILS, Spoil
from slanted.pipeline import estimate
from slanted.result import Result
from slanted.settings import Settings

METRICS = [
    *(f"{rule}-{region}" for rule in ("D1", "out-1px", "out-2px", "out-3px")
      for region in ("noc", "all")),
    *("AUC-all", "D1@80-all", "ECE-all", "mean confidence"),
]  # fmt: skip
NONE = "none"
"""The model without trees."""

Pair = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]
"""Left image, right image, ground truth of all pixels and of the non-occluded ones."""


@dataclass(frozen=True)
class Score:
    """The figures of one frame."""

    metrics: dict[str, float]
    trust: ConfidenceScores | None
    steps: np.ndarray | None = None
    """Occlusion labels, as in boundary_labels.py."""


def main() -> None:
    """Measure and record."""
    smoke = {"folds": 2, "splits": ["train", "validation"], "trees": 3, "samples": 1000}
    arguments = options(
        __doc__, smoke, parts=["folds", "sets", "perturbed"], folds=5, only=[-1],
        splits=["train", "train_more"], limit=0, trees=60, samples=800_000, model="shipped",
    )  # fmt: skip
    results: dict[str, Any] = {}
    if "folds" in arguments.parts:
        results["folds"] = cross_validation(arguments)
    if "sets" in arguments.parts:
        results["sets"] = other_data(arguments.model, arguments.limit)
    if "perturbed" in arguments.parts:
        results["perturbed"] = perturbed(arguments.model, arguments.limit)
    record("confidence", arguments, results)


def cross_validation(arguments: Namespace) -> dict[str, Any]:
    """Return a row for each split, of frames that the trees have not seen."""
    chosen = [
        (split, frame)
        for split in arguments.splits
        for frame in frames_of("kitti2015", split, arguments.limit)
    ]
    indoor = frames_of("middlebury", "train", arguments.limit)
    plan = Plan(growth=Growth(trees=arguments.trees), samples=arguments.samples)
    found: dict[str, list[tuple[Score, Score]]] = {split: [] for split in arguments.splits}
    for fold in range(arguments.folds):
        if fold not in arguments.only and arguments.only != [-1]:
            continue
        others = [f for number, (_, f) in enumerate(chosen) if number % arguments.folds != fold]
        sets = [TrainingSet(others, KITTI_RULE), TrainingSet(indoor)]
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "confidence.json"
            learn_confidence(sets, Settings(), plan).save(model)
            for split, frame in chosen[fold :: arguments.folds]:
                found[split].append(both(frame, str(model)))
                told({"fold": fold, frame.name: rows([found[split][-1]])})
    found["all"] = [pair for pairs in found.values() for pair in pairs]
    return {split: rows(pairs) for split, pairs in found.items() if pairs}


def other_data(model: str, limit: int) -> dict[str, Any]:
    """Return a row for each dataset that the shipped trees were not learned from."""
    wanted = {"kitti2015": "validation", "middlebury": "test", "middlebury2001": "test"}
    results = {}
    for dataset, split in wanted.items():
        if (data_folder() / dataset).is_dir():
            frames = frames_of(dataset, split, limit)
            found = rows([both(frame, model) for frame in frames])
            results[f"{dataset} {split}"] = told(found)
    left, right, truth = load_motorcycle()
    pair = left, right, truth, None
    results["Motorcycle"] = told(rows([(score(pair, model)[0], score(pair, NONE)[0])]))
    return results


def perturbed(model: str, limit: int) -> dict[str, Any]:
    """Return a row for each way to spoil the pairs of validation."""
    frames = frames_of("kitti2015", "validation", limit)
    results = {}
    for name, spoil in SPOILT.items():
        found, refused = [], 0
        for pair in spoil(frames):
            try:
                found.append((score(pair, model)[0], score(pair, NONE)[0]))
            except InputError:  # nothing could be matched
                refused += 1
        results[name] = told({"refused": refused, **(rows(found) if found else {})})
    return results


def both(frame: Frame, model: str) -> tuple[Score, Score]:
    """Return the figures of a frame with trees and without."""
    with_trees, without = (frame_score(frame, each) for each in (model, NONE))
    return with_trees, without


def frame_score(frame: Frame, model: str) -> Score:
    """Return the figures of a frame, for KITTI with its occlusion labels."""
    found, result = score(load(frame), model)
    if frame.ground_truth_noc is None:
        return found
    return Score(found.metrics, found.trust, steps(result, frame, result.settings))


def score(pair: Pair, model: str) -> tuple[Score, Result]:
    """Return the figures of a pair, and its result."""
    left, right, truth, visible = pair
    # Perturbed pairs would be refused; the check changes nothing for others.
    changes = {"confidence.model": model, "rectification.check": "off"}
    result = estimate(left, right, Settings().with_text(changes))
    metrics, trust = evaluate(result.disparity, truth, ground_truth_noc=visible), None
    if result.confidence is not None:
        trust = evaluate_confidence(result.disparity, truth, result.confidence)
        metrics["mean confidence"] = float(result.confidence[np.isfinite(truth)].mean())
    return Score(metrics, trust), result


def rows(pairs: Sequence[tuple[Score, Score]]) -> dict[str, Any]:
    """Return the means over frames, with trees and without."""
    with_trees, without = zip(*pairs, strict=True)
    return {"frames": len(pairs), "trees": means(with_trees), "none": means(without)}


def means(scores: Sequence[Score]) -> dict[str, float]:
    """Return the mean of each metric, and precision and recall of occlusion labels."""
    found = mean_metrics([each.metrics for each in scores])
    trust = [each.trust for each in scores if each.trust is not None]
    if trust:
        found |= mean_confidence(trust).metrics
    counts = [each.steps for each in scores if each.steps is not None]
    occlusion = precision_and_recall(counts) if counts else {}
    shown = {name: found[name] for name in METRICS if name in found}
    return {name: round(value, 4) for name, value in (shown | occlusion).items()}


def load(frame: Frame) -> Pair:
    """Return the images and the ground truth of a frame."""
    return *pair_of(frame), *frame.load_ground_truth()


def spoilt(spoil: Spoil, frames: Sequence[Frame]) -> Iterator[Pair]:
    """Spoil both images as for learning."""
    rng = np.random.default_rng(0)
    for left, right, *truths in map(load, frames):
        yield *spoil(left, right, rng), *truths


def other_scene(frames: Sequence[Frame]) -> Iterator[Pair]:
    """Take the right image of another frame, both cropped to a common size."""
    for frame, other in zip(frames, cycle(frames_of("kitti2015", "train")), strict=False):
        (left, _, truth, visible), (_, right, *_) = load(frame), load(other)
        height, width = np.minimum(left.shape[:2], right.shape[:2])
        part = np.s_[:height, :width]
        yield left[part], right[part], truth[part], None if visible is None else visible[part]


SPOILT: dict[str, Callable[[Sequence[Frame]], Iterator[Pair]]] = {
    "as it is": lambda frames: map(load, frames),
    f"noise {NOISE:g}": partial(spoilt, SPOILS["noise"]),
    f"light × {DARK:g}": partial(spoilt, SPOILS["dark"]),
    f"{ROWS} rows off": partial(spoilt, SPOILS["misaligned"]),
    "other scene": other_scene,
}
"""The pairs of frames, spoilt in each way."""


if __name__ == "__main__":
    main()
