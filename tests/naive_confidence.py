"""Slow, obvious twins of the kernels of `slanted.confidence`."""

import math

import numpy as np


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


def window_means(values, side):
    """Means over square windows; beyond its border an image is mirrored, as `abc|cba`."""
    height, width = len(values), len(values[0])
    # The window of an even side begins half a side before the pixel.
    offsets = range(-(side // 2), side - side // 2)
    return [
        [
            sum(
                float(values[_mirrored(y + dy, height)][_mirrored(x + dx, width)])
                for dy in offsets
                for dx in offsets
            )
            / side**2
            for x in range(width)
        ]
        for y in range(height)
    ]


def _mirrored(place, size):
    while not 0 <= place < size:
        place = -place - 1 if place < 0 else 2 * size - 1 - place
    return place


def spans(values, side):
    """Largest minus smallest value of each window, cut off at the border of the image."""
    return [
        [np.ptp(_window(values, y, x, side // 2)) for x in range(values.shape[1])]
        for y in range(values.shape[0])
    ]


def _window(values, y, x, reach):
    return values[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]


def extremes(values, count):
    """The largest of `count` values to each side of a pixel, itself among them."""
    height, width = values.shape
    found = {name: np.empty_like(values) for name in ("left", "right", "above", "below")}
    for y, x in np.ndindex(height, width):
        found["left"][y, x] = values[y, max(x - count + 1, 0) : x + 1].max()
        found["right"][y, x] = values[y, x : x + count].max()
        found["above"][y, x] = values[max(y - count + 1, 0) : y + 1, x].max()
        found["below"][y, x] = values[y : y + count, x].max()
    return found


def fit_windows(values, weight, side):
    """Planes by least squares, with a ridge of one squared pixel on both slopes."""
    value, deviation = np.zeros((2, *values.shape))
    for y, x in np.ndindex(*values.shape):
        w = _window(weight, y, x, side // 2).astype(float).ravel()
        if w.sum() / side**2 <= 2e-3:
            continue
        rows, columns = np.mgrid[: values.shape[0], : values.shape[1]]
        z = _window(values, y, x, side // 2).astype(float).ravel()[w > 0] / w[w > 0]
        u = _window(columns, y, x, side // 2).astype(float).ravel()[w > 0]
        v = _window(rows, y, x, side // 2).astype(float).ravel()[w > 0]
        w = w[w > 0] / w.sum()
        mu, mv, mz = (w * u).sum(), (w * v).sum(), (w * z).sum()
        design = np.stack([u - mu, v - mv])
        product = design @ (w * (z - mz))
        slopes = np.linalg.solve((design * w) @ design.T + np.eye(2), product)
        value[y, x] = mz + slopes @ [x - mu, y - mv]
        rest = (w * (z - mz) ** 2).sum() - slopes @ product
        deviation[y, x] = math.sqrt(max(rest, 0.0))
    return value, deviation


def patches(disparity, step):
    """The number of pixels that can be reached from each in steps of at most `step`."""
    height, width = disparity.shape
    size = np.zeros((height, width), int)
    for start in np.ndindex(height, width):
        reached, todo = {start}, [start]
        while todo:
            y, x = todo.pop()
            for there in ((y, x - 1), (y, x + 1), (y - 1, x), (y + 1, x)):
                inside = 0 <= there[0] < height and 0 <= there[1] < width
                if (
                    inside
                    and there not in reached
                    and abs(disparity[y, x] - disparity[there]) <= step
                ):
                    reached.add(there)
                    todo.append(there)
        size[start] = len(reached)
    return size


def row_quantiles(values, shares):
    """The value of each row that this share of them lies below, averaged over three rows."""
    height, width = values.shape
    found = []
    for share in shares:
        each = [sorted(row)[round(share * (width - 1))] for row in values]
        found.append(
            [
                sum(float(each[_mirrored(y + k, height)]) for k in (-1, 0, 1)) / 3
                for y in range(height)
            ]
        )
    return found


def relief(disparity, matched, confidence, most):
    """Add the relief of every second pixel to the pixels of its surface right of and below it."""
    raised = disparity.astype(float).copy()
    thin = [values[::2, ::2].astype(float) for values in (disparity, matched, confidence)]
    for y in range(disparity.shape[0]):
        for x in range(disparity.shape[1]):
            if abs(thin[0][y // 2, x // 2] - float(disparity[y, x])) <= most:
                raised[y, x] += _relief_at(y // 2, x // 2, *thin, most)
    return raised


def _relief_at(y, x, disparity, matched, confidence, most):
    """The mean distance of sure matches in a window of 5×5 pixels, mirrored at the borders."""
    weights, away, planes = [], [], []
    for v in range(y - 2, y + 3):
        for u in range(x - 2, x + 3):
            place = _mirrored(v, disparity.shape[0]), _mirrored(u, disparity.shape[1])
            off = matched[place] - disparity[place]
            counts = abs(off) <= most
            weights.append(min(max((confidence[place] - 0.95) / 0.05, 0), 1) if counts else 0)
            away.append(off if counts else 0)
            planes.append(disparity[place])
    if sum(weights) == 0:
        return 0
    mean = np.average(away, weights=weights)
    variance = np.average((np.array(away) - mean) ** 2, weights=weights)
    share = np.mean(weights)
    stands_out = mean**2 / (mean**2 + 0.3 * variance + 1e-6)
    beside = abs(np.average(planes, weights=weights) - disparity[y, x])
    stands_out *= min(max(2 - beside / most, 0), 1)
    return mean * stands_out * share / (share + 0.4)
