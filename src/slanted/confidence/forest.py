"""Boosted symmetric trees, which turn features of a pixel into a score.

Every level of a symmetric tree asks the same question of all its nodes (Kohavi, "Bottom-up
induction of oblivious, read-once decision graphs", ECML 1994). They are as accurate here as
ordinary trees and can be evaluated without branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slanted.confidence.forest_kernels import CHUNK, sum_trees
from slanted.errors import InputError
from slanted.runtime.arrays import Float32s, Ints
from slanted.runtime.threads import bind, share

DEEPEST = 8
MOST_TREES = 10_000
LARGEST = 1e6
"""The largest value of a leaf: sums of as many as there can be are finite."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees over named features.

    Examples
    --------
    >>> import numpy as np
    >>> value = np.array([[-1, 1]], np.float32)
    >>> thirty = np.array([[30]], np.float32)
    >>> forest = Forest(("age",), 0.0, np.array([[0]], np.int32), thirty, value)
    >>> forest.probability(np.array([[20, 40]], np.float32)).round(2)
    array([0.27, 0.73], dtype=float32)
    """

    names: tuple[str, ...]
    """The features, in the order in which `scores` expects them."""
    bias: float
    """The sum before the first tree."""
    feature: Ints
    threshold: Float32s
    """(T, d) each level asks whether this feature is above this threshold."""
    value: Float32s
    """(T, 2^d) what each leaf adds; bit k of its number is the answer of level k."""

    def scores(self, features: Float32s) -> Float32s:
        """Return the sum of the trees for each pixel, from (F, …) features."""
        if len(features) != len(self.names):
            raise InputError(
                f"features: expected {len(self.names)}, one for each name, got {len(features)}"
            )
        flat = np.ascontiguousarray(features, np.float32).reshape(len(features), -1)
        scores = np.empty(flat.shape[1], np.float32)
        tables = self.feature, self.threshold, self.value
        share(-(-len(scores) // CHUNK), bind(sum_trees, (flat, *tables, float(self.bias)), scores))
        return scores.reshape(features.shape[1:])

    def probability(self, features: Float32s) -> Float32s:
        """Return the probability of each pixel, by the logistic function of its score."""
        with np.errstate(over="ignore"):  # infinite odds are the probability 0
            odds: Float32s = np.exp(-self.scores(features))
        return np.asarray(1 / (1 + odds), np.float32)

    def as_json(self) -> dict[str, Any]:
        """Return the trees as data that JSON can hold, with questions by name."""
        trees = [
            {
                "above": [[self.names[f], _short(t)] for f, t in zip(*questions, strict=True)],
                "add": [_short(v) for v in values],
            }
            for *questions, values in zip(self.feature, self.threshold, self.value, strict=True)
        ]
        return {"features": list(self.names), "bias": _short(self.bias), "trees": trees}

    @classmethod
    def from_json(cls, content: dict[str, Any], expected: Sequence[str]) -> Forest:
        """Return the trees of `as_json`.

        Raises
        ------
        KeyError, TypeError, ValueError, OverflowError
            If they are damaged, or their features are not the expected ones.
        """
        names = tuple(map(str, content["features"]))
        if names != tuple(expected):
            raise ValueError("their features are not those of this version")
        trees, number = content["trees"], {name: k for k, name in enumerate(names)}
        feature = np.array([[number[name] for name, _ in t["above"]] for t in trees], np.int32)
        with np.errstate(over="ignore"):  # what is infinite then is refused below
            threshold = np.array([[level for _, level in t["above"]] for t in trees], np.float32)
            value = np.array([t["add"] for t in trees], np.float32)
        if not (0 < len(trees) <= MOST_TREES and feature.ndim == 2):
            raise ValueError(f"1 to {MOST_TREES} trees of one depth are possible")
        depth = feature.shape[1]
        if not 1 <= depth <= DEEPEST or value.shape != (len(trees), 2**depth):
            raise ValueError(f"a tree has 1 to {DEEPEST} levels, and 2 leaves for each answer")
        bias = float(content["bias"])
        if not (np.isfinite(threshold).all() and np.abs([bias, *value.flat]).max() <= LARGEST):
            raise ValueError("a number is not finite, or too large")
        return cls(names, bias, feature, threshold, value)


def _short(number: float) -> float:
    """Return the number with as many digits as float32 has."""
    return float(f"{number:.9g}")
