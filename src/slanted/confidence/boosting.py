"""Gradient boosting of symmetric trees (Friedman, Ann. Statist. 2001)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slanted.confidence.forest import Forest
from slanted.confidence.forest_kernels import add_histograms
from slanted.errors import InputError
from slanted.runtime.arrays import Bytes, Flags, Float32s, Floats
from slanted.runtime.threads import bind, share

Derivatives = Callable[[Floats], tuple[Floats, Floats]]
"""From the scores of all samples to the negative gradient and the curvature of their losses."""


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    trees: int = 60
    depth: int = 5
    rate: float = 0.25
    """The share of each tree's optimal step that is taken."""
    bins: int = 64
    """Thresholds are the quantiles of the samples, one fewer than this."""
    ridge: float = 20.0
    """Added to the curvature of each leaf, so that leaves of few samples stay small."""


def boost_chance(
    samples: Float32s, positive: Flags, names: Sequence[str], growth: Growth = Growth()
) -> Forest:
    """Return trees whose `Forest.probability` is the chance of a positive sample.

    Parameters
    ----------
    samples
        (n, F) features.
    positive
        (n,) what to predict; both kinds must occur.
    names
        Names of the features.
    growth
        Number, depth and rate of the trees.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.random((1000, 2), np.float32)
    >>> growth = Growth(trees=20, depth=2)
    >>> forest = boost_chance(samples, samples[:, 0] > 0.5, ("x", "y"), growth)
    >>> forest.probability(np.array([[0.2, 0.8], [0, 0]], np.float32)).round(1)
    array([0., 1.], dtype=float32)
    """
    mean = float(np.mean(positive))
    if not 0 < mean < 1:
        raise InputError("positive: expected both kinds of samples, got one; add frames")
    wanted = positive.astype(np.float64)

    def logistic(score: Floats) -> tuple[Floats, Floats]:
        chance = 1 / (1 + np.exp(-score))
        return wanted - chance, chance * (1 - chance)

    return _boost(samples, logistic, float(np.log(mean / (1 - mean))), names, growth)


def boost_variance(
    samples: Float32s, errors: Floats, names: Sequence[str], growth: Growth = Growth()
) -> Forest:
    """Return trees whose score is the logarithm of the variance of the errors, (n,).

    The loss is the likelihood of a normal distribution of mean 0.
    """
    squares = np.square(errors.astype(np.float64))

    def normal(score: Floats) -> tuple[Floats, Floats]:
        return squares * np.exp(-score) - 1, np.ones_like(score)

    return _boost(samples, normal, float(np.log(max(squares.mean(), 1e-12))), names, growth)


def _boost(
    samples: Float32s, derivatives: Derivatives, bias: float, names: Sequence[str], growth: Growth
) -> Forest:
    edges = [_edges(column, growth.bins) for column in samples.T]
    codes = np.stack(
        [np.searchsorted(e, c).astype(np.uint8) for e, c in zip(edges, samples.T, strict=True)]
    )
    score = np.full(len(samples), bias)
    chosen, levels, values = [], [], []
    for _ in range(growth.trees):
        gradient, curvature = derivatives(score)
        splits, leaf = _grow(codes, gradient, curvature, growth)
        steps, bends = (np.bincount(leaf, x, 2**growth.depth) for x in (gradient, curvature))
        value = growth.rate * steps / (bends + growth.ridge)
        score += value[leaf]
        chosen.append([feature for feature, _ in splits])
        levels.append([edges[f][min(b, len(edges[f]) - 1)] for f, b in splits])
        values.append(value)
    tables = np.array(levels, np.float32), np.array(values, np.float32)
    return Forest(tuple(names), bias, np.array(chosen, np.int32), *tables)


def _edges(column: Float32s, bins: int) -> Float32s:
    """Return the thresholds of a feature: its quantiles, each once."""
    shares = np.linspace(0, 1, bins + 1)[1:-1]
    return np.unique(np.quantile(column, shares, method="nearest").astype(np.float32))


def _grow(
    codes: Bytes, gradient: Floats, curvature: Floats, growth: Growth
) -> tuple[list[tuple[int, int]], Bytes]:
    """Return the feature and bin that each level of a tree compares, and the samples' leaves."""
    leaf, splits = np.zeros(codes.shape[1], np.uint8), []
    for level in range(growth.depth):
        histograms = np.zeros((len(codes), 2**level, growth.bins, 2))
        share(len(codes), bind(add_histograms, (codes, leaf, gradient, curvature), histograms))
        feature, edge = _best_split(histograms, growth.ridge)
        splits.append((feature, edge))
        leaf |= (codes[feature] > edge).astype(np.uint8) << np.uint8(level)
    return splits, leaf


def _best_split(histograms: Floats, ridge: float) -> tuple[int, int]:
    """Return the feature and bin whose question lowers the loss most over all leaves."""
    below = np.cumsum(histograms, axis=2)[:, :, :-1]
    above = histograms.sum(axis=2, keepdims=True) - below
    one, other = (part[..., 0] ** 2 / (part[..., 1] + ridge) for part in (below, above))
    gains = one + other
    feature, edge = np.unravel_index(int(np.argmax(gains.sum(axis=1))), gains[:, 0].shape)
    return int(feature), int(edge)
