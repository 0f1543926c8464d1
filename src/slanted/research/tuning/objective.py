"""The objective of a search: a metric over the pairs of one or several datasets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import InputError
from slanted.evaluation.metrics import METRIC_NAMES

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame

DEFAULT_METRIC = "out-3px"
REGIONS = ("noc", "all")
ORDER_STREAM = 3
"""Number of the random stream for the order of pairs."""

_RULES = dict.fromkeys(name.rsplit("-", 1)[0] for name in METRIC_NAMES)
METRICS = tuple(
    name for name in (*_RULES, *METRIC_NAMES) if not name.startswith("density")
)  # density is not an error, and results are dense anyway
"""Metrics to choose from: a rule with a region, or a rule alone for the mean of its regions."""


@dataclass(frozen=True)
class Pair:
    """A frame of a dataset."""

    dataset: str
    frame: Frame

    @property
    def name(self) -> str:
        """A name that is unique in a search."""
        return f"{self.dataset}/{self.frame.name}"


@dataclass(frozen=True)
class Target:
    """A dataset with its frames, a metric of `METRICS`, and the weight of its mean."""

    dataset: str
    frames: tuple[Frame, ...]
    metric: str = DEFAULT_METRIC
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(
                f"metric: expected one of {', '.join(METRICS)}, got {self.metric!r}; choose one"
            )
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise InputError(f"weight: expected a number above 0, got {self.weight:g}; raise it")
        if not self.frames:
            raise InputError(f"{self.dataset}: expected at least one frame, got none")

    @property
    def pairs(self) -> list[Pair]:
        """The frames as pairs."""
        return [Pair(self.dataset, frame) for frame in self.frames]


def metric_value(metric: str, scores: Mapping[str, float]) -> float:
    """Return a metric of one pair; a rule without a region is the mean over its known regions.

    `scores` are from `slanted.evaluation.metrics.evaluate`, or empty if the candidate failed; the
    metric is then infinite. An InputError says that the dataset lacks what the metric needs.
    """
    if not scores:
        return math.inf
    wanted = [metric] if metric in METRIC_NAMES else [f"{metric}-{region}" for region in REGIONS]
    found = [scores[name] for name in wanted if name in scores]
    if not found:
        raise InputError(
            f"metric: expected one that the dataset has, got {metric}; it does not say which "
            "pixels are visible in both views, so choose one ending in -all"
        )
    value = math.fsum(found) / len(found)
    return value if math.isfinite(value) else math.inf


def rung_pairs(targets: Sequence[Target], rungs: int, seed: int) -> list[list[Pair]]:
    """Return the pairs of each rung: 1/2^(rungs − 1), …, 1/4, 1/2, all of each dataset.

    Each rung contains the one before, in a random order given by the seed, with at least one pair
    of each dataset. Rungs that would not add a pair are left out.
    """
    shuffled = []
    for index, target in enumerate(targets):
        order = np.random.default_rng([seed, ORDER_STREAM, index]).permutation(len(target.frames))
        shuffled.append([target.pairs[k] for k in order])
    plan: list[list[Pair]] = []
    for rung in range(rungs):
        part = 2 ** (rungs - 1 - rung)
        pairs = [pair for own in shuffled for pair in own[: math.ceil(len(own) / part)]]
        if not plan or len(pairs) > len(plan[-1]):
            plan.append(pairs)
    return plan


def score(
    targets: Sequence[Target],
    pairs: Sequence[Pair],
    scores_of: Callable[[Pair], Mapping[str, float]],
) -> tuple[float, dict[str, float]]:
    """Return the weighted mean of the datasets' means over pairs, and these means."""
    means = {}
    for target in targets:
        own = [pair for pair in pairs if pair.dataset == target.dataset]
        values = [metric_value(target.metric, scores_of(pair)) for pair in own]
        means[target.dataset] = math.fsum(values) / len(values)
    total = math.fsum(target.weight for target in targets)
    return math.fsum(t.weight * means[t.dataset] for t in targets) / total, means
