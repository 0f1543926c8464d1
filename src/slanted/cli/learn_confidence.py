"""``slanted learn confidence``: which matches and disparities to believe, from ground truth."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import MORE, new_command, option
from slanted.cli.progress import Report, compile_kernels
from slanted.settings import Settings, leaves

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.learning.confidence import Plan, TrainingSet

EXPECTED = (
    "expected a dataset, its folder and perhaps its splits as in kitti2015:PATH:train+train_more"
)
WITHOUT_EFFECT = (
    *("threads", "fsync", "space.max_depth"),
    *("confidence.model", "confidence.min", "confidence.low"),
)
"""Settings that do not change what is learned, nor do those of ``learning``."""


@dataclass(frozen=True)
class Chosen:
    """The frames of some splits of a dataset."""

    dataset: str
    splits: tuple[str, ...]
    frames: list[Frame]

    @property
    def words(self) -> str:
        """The dataset and its splits, without its folder, which means nothing elsewhere."""
        return f"{self.dataset}:{'+'.join(self.splits)}"


@new_command(name="learn confidence", short_help="Learn which disparities to believe.")
@click.argument("datasets", metavar="DATASET:PATH[:SPLIT+SPLIT]...", nargs=-1, required=True)
@options.output("confidence.json", "File for the learned trees, for confidence.model.", "FILE")
@options.split("train")
@options.limit("Use only the first N frames of each dataset.")
@option("--trees", type=click.IntRange(1, 10_000), default=60, show_default=True, group=MORE,
        metavar="N", help="Trees of matches; disparities get twice as many.")  # fmt: skip
@option("--depth", type=click.IntRange(1, 8), default=5, show_default=True, metavar="N",
        group=MORE, help="Questions on the way from the root of a tree to a leaf.")  # fmt: skip
@option("--samples", type=click.IntRange(1), default=800_000, show_default=True, metavar="N",
        group=MORE, help="Pixels of each dataset, spread evenly over its frames.")  # fmt: skip
@option("--rule-pixels", type=click.FloatRange(0, 1000), default=3.0, show_default=True,
        metavar="PX", group=MORE,
        help="A disparity is wrong if its error exceeds this,")  # fmt: skip
@option("--rule-percent", type=click.FloatRange(0, 100), default=5.0, show_default=True,
        group=MORE, metavar="P", help="and also this share of the true disparity.")  # fmt: skip
@options.settings
@options.report
def command(
    settings: Settings,
    datasets: tuple[str, ...],
    output: Path,
    split: str,
    limit: int | None,
    trees: int,
    depth: int,
    samples: int,
    rule_pixels: float,
    rule_percent: float,
    report: Report,
) -> None:
    """Learn which matches and disparities to believe, from the ground truth of datasets.

    DATASET:PATH is a dataset (kitti2012, kitti2015, middlebury, middlebury2014) and its folder. Its
    splits may follow, as in kitti2015:PATH:train+train_more; otherwise they are those of --split.
    Use the learned trees with --set confidence.model=confidence.json.
    """
    from slanted.confidence.boosting import Growth
    from slanted.learning.confidence import Plan, Rule, learn_confidence
    from slanted.runtime.threads import thread_limit

    options.check_file(output, ".json")
    for name, number in (("--rule-pixels", rule_pixels), ("--rule-percent", rule_percent)):
        if math.isnan(number):  # which a range of click does not refuse
            raise click.UsageError(f"{name}: expected a number, got nan")
    rule, growth = Rule(rule_pixels, rule_percent / 100), Growth(trees=trees, depth=depth)
    plan = Plan(rule, growth, samples, settings.seed)
    start = time.perf_counter()
    with report:
        chosen = [_choose(text, split, limit) for text in datasets]
        _refuse_repeated(chosen)
        compile_kernels(report)
        origin = _origin(chosen, settings, plan, limit)
        with thread_limit(settings.threads):
            learned = learn_confidence(
                [_training_set(each) for each in chosen],
                settings,
                plan,
                origin=origin,
                progress=report.progress,
            )
        learned.save(output)
    seconds = time.perf_counter() - start
    number = sum(len(each.frames) for each in chosen)
    lines = [
        f"learned {len(learned.matches.value)} trees of matches, {len(learned.pixels.value)} of "
        f"disparities and {len(learned.deviation.value)} of deviations from {number} frames in "
        f"{seconds:.0f} s",
        f"wrote {output}; use it with --set confidence.model={output}",
    ]
    report.outcome({**origin, "seconds": seconds, "output": str(output)}, lines)


def _choose(text: str, split: str, limit: int | None) -> Chosen:
    """Return the frames of DATASET:PATH[:SPLIT+SPLIT]."""
    from slanted.evaluation.datasets import find_frames

    dataset, folder = options.dataset_folder(text, EXPECTED)
    if ":" in folder and not Path(folder).is_dir():  # a folder's name may have a colon
        folder, _, split = folder.rpartition(":")
    splits = tuple(dict.fromkeys(split.split("+")))
    if not folder or not all(splits):
        raise click.UsageError(f"{EXPECTED}, got {text!r}")
    found = {f.name: f for each in splits for f in find_frames(dataset, folder, each)}
    return Chosen(dataset, splits, list(found.values())[:limit])


def _refuse_repeated(chosen: list[Chosen]) -> None:
    """Refuse a frame that was given twice: results of frames use trees learned without them."""
    seen = set()
    for each in chosen:
        for frame in each.frames:
            image = frame.left.resolve()
            if image in seen:
                raise click.UsageError(
                    f"{each.words}: expected each frame once, got {frame.name} twice; give each "
                    "dataset once, with all its splits"
                )
            seen.add(image)


def _training_set(chosen: Chosen) -> TrainingSet:
    from slanted.learning.confidence import KITTI_RULE, MATCH_RULE, TrainingSet

    rule = KITTI_RULE if chosen.dataset.startswith("kitti") else MATCH_RULE
    return TrainingSet(chosen.frames, rule)


def _origin(
    chosen: list[Chosen], settings: Settings, plan: Plan, limit: int | None
) -> dict[str, Any]:
    """Return how the trees are made; without dates and folders, so that it is always the same."""
    from slanted import __version__
    from slanted.evaluation.datasets.licences import LICENCES

    return {
        "command": " ".join(["slanted learn confidence", *(each.words for each in chosen)]),
        "version": __version__,
        "datasets": [
            {
                "name": each.dataset,
                "splits": list(each.splits),
                "licence": LICENCES[each.dataset],
                "frames": [frame.name for frame in each.frames],
            }
            for each in chosen
        ],
        "limit": limit,
        "samples_per_dataset": plan.samples,
        "rule": {"pixels": plan.rule.pixels, "percent": round(100 * plan.rule.share, 9)},
        "trees": plan.growth.trees,
        "depth": plan.growth.depth,
        "seed": plan.seed,
        "settings": _changed(settings),
    }


def _changed(settings: Settings) -> dict[str, Any]:
    """Return the settings that are not the default ones; of files only their names."""
    default = {leaf.path: leaf.value for leaf in leaves(Settings())}
    return {
        leaf.path: Path(leaf.value).name if isinstance(leaf.value, str) else leaf.value
        for leaf in leaves(settings)
        if leaf.value != default[leaf.path]
        and leaf.path not in (*WITHOUT_EFFECT, "seed")
        and not leaf.path.startswith("learning.")
    }
