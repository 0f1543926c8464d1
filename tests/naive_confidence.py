"""Slow, obvious twins of the kernels of `slanted.confidence`."""

import math


def sum_trees(features, feature, threshold, value, bias):
    """The sum of each pixel, from (F, n) features."""
    sums = []
    for pixel in range(features.shape[1]):
        total = bias
        for tree in range(len(feature)):
            leaf = 0
            for level in range(feature.shape[1]):
                if features[feature[tree, level], pixel] > threshold[tree, level]:
                    leaf += 2**level
            total += value[tree, leaf]
        sums.append(total)
    return sums


def histograms(codes, leaf, gradient, curvature, leaves, bins):
    """Sums of gradients and curvatures, [feature][leaf][bin]."""
    found = [[[[0.0, 0.0] for _ in range(bins)] for _ in range(leaves)] for _ in codes]
    for f, row in enumerate(codes):
        for k, code in enumerate(row):
            found[f][leaf[k]][code][0] += gradient[k]
            found[f][leaf[k]][code][1] += curvature[k]
    return found


def logistic_loss(score, positive):
    """Mean loss of scores."""
    return sum(
        math.log1p(math.exp(-s if p else s)) for s, p in zip(score, positive, strict=True)
    ) / len(score)
