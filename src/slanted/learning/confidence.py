"""Learning which matches and disparities to believe, from frames with ground truth.

The trees of matches are learned first. The trees of pixels learn from results that use the trees of
matches, and for that each frame gets trees that were learned without it: on the frames that trees
were learned from, their judgement is too good. They also learn from a spoilt copy of each frame
(`slanted.learning.spoiling`). The trees of matches do not: with these copies they drop less of what
is wrong in good pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.confidence.belief import first_choices
from slanted.confidence.boosting import Growth, boost_chance, boost_variance
from slanted.confidence.features import (
    MATCH_FEATURES,
    PIXEL_FEATURES,
    PLAIN_FEATURES,
    names_of,
)
from slanted.confidence.forest import DEEPEST
from slanted.confidence.pixels import bands_of_features, thin_rows
from slanted.confidence.scene import THIN, Seen
from slanted.confidence.weights import Weights
from slanted.errors import FileError, InputError
from slanted.images.checks import check_pair, size_text
from slanted.inference.pcbp import infer
from slanted.inference.terms import WholeImage
from slanted.io import read_image
from slanted.learning.spoiling import SPOILS, Spoil
from slanted.matching.disparity_range import disparity_range
from slanted.matching.finer import find_finer
from slanted.model.planes import lowest_disparity
from slanted.pipeline import draw_maps, find_planes
from slanted.regions import build_regions
from slanted.stages import InitialMatches
from slanted.stages.after_matching import cut_segments, gather_evidence
from slanted.stages.matching import guided_search
from slanted.stages.pair_run import PairRun, prepare

if TYPE_CHECKING:
    from slanted.confidence.forest import Forest
    from slanted.evaluation.datasets import Frame
    from slanted.runtime.arrays import DisparityMap, Flags, Float32s, Floats
    from slanted.settings import Settings

FOLDS = 5
"""Each frame's result uses trees that were learned from the other folds."""
MOST_PER_FRAME = 160_000
SPOILT_SHARE = 0.2
"""Pixels of a spoilt copy, as a share of those of its frame."""
DEVIATION = Growth(trees=20, depth=4)
"""The deviation varies less than the chance of an error, so that fewer trees do."""


@dataclass(frozen=True)
class Rule:
    """A disparity is wrong if its error exceeds both limits; the default is KITTI's."""

    pixels: float = 3.0
    share: float = 0.05

    def errors(self, disparity: DisparityMap, truth: DisparityMap) -> tuple[Floats, Flags]:
        """Return errors in pixels, and whether they count as wrong."""
        error = np.asarray(disparity - truth, np.float64)
        size = np.abs(error)
        return error, (size > self.pixels) & (size > self.share * np.abs(truth))


KITTI_RULE, MATCH_RULE = Rule(), Rule(1.5, 0.0)
"""When a match counts as wrong, by KITTI's ground truth and by more exact ones: a match that is off
by two pixels pulls a plane away, but KITTI's truth is itself no better than that."""


@dataclass(frozen=True)
class TrainingSet:
    """Frames of one dataset."""

    frames: Sequence[Frame]
    match_rule: Rule = MATCH_RULE
    """When a match counts as wrong."""


@dataclass(frozen=True)
class Plan:
    """What to learn, and from how much."""

    rule: Rule = field(default_factory=Rule)
    """When a disparity of the result counts as wrong."""
    growth: Growth = field(default_factory=Growth)
    """The trees of matches."""
    samples: int = 800_000
    """Pixels of each dataset, spread evenly over its frames."""
    seed: int = 0

    @property
    def pixel_growth(self) -> Growth:
        """The trees of pixels: more, since they are evaluated at a quarter of the pixels."""
        growth = self.growth
        return replace(growth, trees=2 * growth.trees, depth=min(growth.depth + 1, DEEPEST))


@dataclass(frozen=True, eq=False)
class Samples:
    """Some pixels of a frame."""

    features: Float32s
    """(n, F)."""
    errors: Floats
    """(n,) in pixels."""
    wrong: Flags
    """(n,)."""


def learn_confidence(
    datasets: Sequence[TrainingSet],
    settings: Settings,
    plan: Plan = Plan(),
    *,
    origin: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Weights:
    """Learn the trees of matches and pixels.

    Parameters
    ----------
    datasets
        Frames with ground truth.
    settings
        All parameters; ``confidence.model`` has no effect.
    plan
        The rule, the trees and the number of samples.
    origin
        Kept with the trees.
    progress
        Called with a line for each step.
    """
    tasks = _tasks(datasets, plan)
    settings = replace(settings, confidence=replace(settings.confidence, model="none", min=0.0))
    clean = [task for task in tasks if task.spoil is None]
    matches = []
    for task in clean:
        progress(f"matches of {task.frame.name} ({task.group + 1} of {len(clean)})")
        matches.append(_match_samples(task, settings))
    pixels: list[Samples] = []
    folds = min(FOLDS, len(clean))
    for fold in range(folds):
        progress(f"trees without fold {fold + 1} of {folds}, and results of that fold")
        others = [m for number, m in enumerate(matches) if number % folds != fold]
        trees = _match_trees(others, plan.growth)
        inside = [task for task in tasks if task.group % folds == fold]
        pixels += [_pixel_samples(task, settings, trees, plan.rule) for task in inside]
    progress("trees of all frames")
    found = _joined(pixels, "disparities")
    plain, right = found.features[:, : len(PLAIN_FEATURES)], ~found.wrong
    return Weights(
        matches=_match_trees(matches, plan.growth),
        pixels=boost_chance(found.features, found.wrong, PIXEL_FEATURES, plan.pixel_growth),
        plain=boost_chance(plain, found.wrong, PLAIN_FEATURES, plan.pixel_growth),
        deviation=boost_variance(plain[right], found.errors[right], PLAIN_FEATURES, DEVIATION),
        origin=dict(origin or {}),
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """A frame, and which of its pixels to take."""

    frame: Frame
    rule: Rule
    count: int
    group: int
    """The number of the frame: a spoilt copy is in the fold of its frame."""
    rng: np.random.Generator
    spoil: Spoil | None = None


def _tasks(datasets: Sequence[TrainingSet], plan: Plan) -> list[_Task]:
    number = sum(len(dataset.frames) for dataset in datasets)
    if number < 2:
        raise InputError(f"frames: expected at least 2, got {number}; add frames")
    rng, spoils = np.random.default_rng(plan.seed), list(SPOILS.values())
    tasks: list[_Task] = []
    for dataset in datasets:
        count = min(max(plan.samples // len(dataset.frames), 1), MOST_PER_FRAME)
        for frame in dataset.frames:
            group, spoil = len(tasks) // 2, spoils[len(tasks) // 2 % len(spoils)]
            one, other = rng.spawn(2)
            few = max(round(SPOILT_SHARE * count), 1)
            tasks.append(_Task(frame, dataset.match_rule, count, group, one))
            tasks.append(_Task(frame, dataset.match_rule, few, group, other, spoil))
    return tasks


def _match_trees(samples: Sequence[Samples], growth: Growth) -> Forest:
    joined = _joined(samples, "matches")
    return boost_chance(joined.features, joined.wrong, MATCH_FEATURES, growth)


def _joined(samples: Sequence[Samples], what: str) -> Samples:
    """Return all samples; wrong and right ones are needed."""
    parts = ([getattr(s, name) for s in samples] for name in ("features", "errors", "wrong"))
    joined = Samples(*(np.concatenate(part) for part in parts))
    if joined.wrong.all() or not joined.wrong.any():
        kind = "right" if len(joined.wrong) and not joined.wrong[0] else "wrong"
        raise InputError(
            f"frames: expected right and wrong {what}, got only {kind} ones; add frames or samples"
        )
    return joined


@contextmanager
def _run(task: _Task, settings: Settings) -> Iterator[tuple[PairRun, InitialMatches, DisparityMap]]:
    """Prepare the run of a frame; it comes with its matches and the ground truth."""
    frame = task.frame
    names = str(frame.left), str(frame.right)
    left, right = check_pair(read_image(frame.left), read_image(frame.right), names)
    truth = frame.load_ground_truth()[0]
    if truth.shape != left.shape[:2]:
        raise FileError(
            frame.ground_truth,
            f"expected the size of the left image, {size_text(left)}, got {size_text(truth)}; use "
            "files of one resolution",
        )
    if task.spoil is not None:
        left, right = task.spoil(left, right, task.rng)
    with prepare(left, right, settings, None, names) as run:
        searched = disparity_range(run.left, run.right, settings.matching)
        rules = run.matching, searched, run.finer, guided_search(run, searched)
        found = find_finer(run.left, run.right, *rules)
        found_all = found.disparity, None, searched, None, found
        yield run, InitialMatches(*found_all, finer=run.grid), truth


def _match_samples(task: _Task, settings: Settings) -> Samples:
    """Return features and errors of some first choices of the matcher."""
    with _run(task, settings) as (run, matches, truth):
        seen: Seen | None = None
        if matches.found is not None and np.isfinite(matches.disparity).any():
            regions = build_regions(cut_segments(run, matches), run.left, trusted=True)
            terms = WholeImage.of(regions, gather_evidence(run, matches), run.settings_for(matches))
            inference = infer(terms, with_features=False)
            choices = first_choices(matches.found, run.grey)
            if choices is not None:
                seen = Seen.first_choices(choices, regions, inference)
        if seen is None:
            raise InputError(
                f"{task.frame.name}: expected matches, with the matcher's first choices, got none; "
                "use the matcher census, and leave out pairs that cannot be matched"
            )
        bands = bands_of_features(seen, regions, inference, lowest_disparity(settings))
        return _sampled(seen, bands, truth, task.rule, task)


def _pixel_samples(task: _Task, settings: Settings, trees: Forest, rule: Rule) -> Samples:
    """Return features and errors of some pixels of a result."""
    with _run(task, settings) as (run, matches, truth):
        if not np.isfinite(matches.disparity).any():
            nothing = np.empty(0)
            return Samples(np.empty((0, len(PIXEL_FEATURES)), np.float32), nothing, nothing > 0)
        regions, inference, evidence = find_planes(replace(run, match_trees=trees), matches)
        if evidence.judgement is None:
            raise InputError(
                "refinement.rounds: expected at least 1 to learn a confidence, since trees choose "
                f"the matches before each, got {settings.refinement.rounds}"
            )
        maps = draw_maps(run, matches, regions, inference, evidence)
        seen = Seen.result(maps, regions, run.grey, evidence.judgement)
        bands = bands_of_features(seen, regions, inference, lowest_disparity(settings))
        return _sampled(seen, bands, truth, rule, task)


def _sampled(
    seen: Seen,
    bands: Iterable[tuple[slice, int, Float32s]],
    truth: DisparityMap,
    rule: Rule,
    task: _Task,
) -> Samples:
    """Return features, which come in bands, and errors of some pixels of a thinned image."""
    thin = slice(None, None, THIN), slice(None, None, THIN)
    disparity, truth = seen.disparity[thin], truth[thin]
    features = np.empty((len(names_of(seen)), *truth.shape), np.float32)
    for rows, first, some in bands:
        place, inside = thin_rows(rows, first)
        features[:, place] = some[:, inside]
    known = np.flatnonzero(np.isfinite(truth))
    chosen = np.sort(task.rng.choice(known, min(task.count, len(known)), replace=False))
    flat = features.reshape(len(features), -1)[:, chosen].T
    errors, wrong = rule.errors(disparity.reshape(-1)[chosen], truth.reshape(-1)[chosen])
    return Samples(np.ascontiguousarray(flat), errors, wrong)
