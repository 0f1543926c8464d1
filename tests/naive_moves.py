"""Slow, obvious twins of the kernels that move and split segments.

Features are exact: fractions, as long as weights, disparities and planes have few binary digits.
"""

import itertools
from fractions import Fraction

import numpy as np

import naive
import naive_matching

SIDES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def move_energy(labels, lab, matched, right, planes, weights):
    """E, pixel by pixel and pair by pair; `planes` about (0, 0)."""
    total = Fraction(0)
    for k in np.unique(labels):
        rows, columns = np.nonzero(labels == k)
        for values, weight in ((lab, 1), (np.indices(labels.shape), weights.position)):
            total += Fraction(weight) * sum(scatter(v[rows, columns]) for v in values)
    for y, x in np.ndindex(labels.shape):
        total += Fraction(plane_cost(x, y, planes[labels[y, x]], matched, right, weights))
        for v, u in ((y, x + 1), (y + 1, x - 1), (y + 1, x), (y + 1, x + 1)):
            if v < labels.shape[0] and 0 <= u < labels.shape[1] and labels[v, u] != labels[y, x]:
                total += Fraction(weights.length)
    return total


def partition_energy(labels, lab, matched, right, planes, weights):
    """E in NumPy, for maps on which `move_energy` would take too long."""
    size = np.maximum(np.bincount(labels.ravel(), minlength=len(planes)), 1)
    rows, columns = np.indices(labels.shape)
    total = 0.0
    for values, weight in ((lab, 1), ((columns, rows), weights.position)):
        for value in values:
            mean = np.bincount(labels.ravel(), value.ravel(), len(planes)) / size
            total += weight * np.square(value - mean[labels]).sum()
    a, b, c = planes[labels].transpose(2, 0, 1)
    drawn = a * columns + b * rows + c
    known = ~np.isnan(matched)
    total += weights.disparity * np.minimum(np.square(drawn - matched)[known], weights.cap).sum()
    place = np.rint(columns - drawn)
    inside = (place >= 0) & (place < labels.shape[1]) & ~known
    shown = right[np.nonzero(inside)[0], place[inside].astype(np.int64)]
    total += weights.visibility * (shown < drawn[inside] - 1.5).sum()
    for one, other in (
        (labels[:, 1:], labels[:, :-1]),
        (labels[1:], labels[:-1]),
        (labels[1:, 1:], labels[:-1, :-1]),
        (labels[1:, :-1], labels[:-1, 1:]),
    ):
        total += weights.length * (one != other).sum()
    return total


def scatter(values):
    """Sum of squared differences from the mean."""
    whole = [int(v) for v in values]
    return sum(v * v for v in whole) - Fraction(sum(whole) ** 2, len(whole))


def plane_cost(x, y, plane, matched, right, weights):
    d = float(plane[0] * x + plane[1] * y + plane[2])
    if not np.isnan(matched[y, x]):
        return weights.disparity * min((d - float(matched[y, x])) ** 2, weights.cap)
    place = round(x - d)  # to even, as rint
    seen = 0 <= place < right.shape[1] and right[y, place] < d - 1.5
    return weights.visibility if seen else 0.0


def one_part(labels, y, x, label):
    """Whether the pixels of a label round (y, x) are one 4-connected part that shares a side."""
    window = np.full((3, 3), -1)
    for v, u in np.ndindex(3, 3):
        inside = 0 <= y + v - 1 < labels.shape[0] and 0 <= x + u - 1 < labels.shape[1]
        if inside and (v, u) != (1, 1) and labels[y + v - 1, x + u - 1] == label:
            window[v, u] = 0
    parts = naive.connected_parts(window)
    found = {int(parts[place]) for place in np.ndindex(3, 3) if window[place] == 0}
    return len(found) == 1 and any(window[1 + v, 1 + u] == 0 for v, u in SIDES)


def sides_of(labels, y, x):
    """The pixels that share a side with one."""
    places = [(y + v, x + u) for v, u in SIDES]
    return [(v, u) for v, u in places if 0 <= v < labels.shape[0] and 0 <= u < labels.shape[1]]


def bands_round(labels, y, x, bands):
    """The bands of the segments within a pixel of another."""
    window = labels[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2]
    return {bands[k] for k in np.unique(window)}


def move_pixels(labels, lab, matched, right, planes, weights, passes, number_of_bands):
    """Try every pixel in every neighbouring segment; return labels, moves and what E changed by."""
    labels = labels.copy()
    start = now = move_energy(labels, lab, matched, right, planes, weights)
    rows = [np.nonzero(labels == k)[0] for k in range(len(planes))]
    bands = [int(number_of_bands * r.sum() // (len(r) * len(labels))) for r in rows]
    moves = 0
    due = np.ones(labels.shape, bool)
    for t in range(passes):
        before = moves
        pixels = list(np.ndindex(labels.shape))[:: 1 if t % 2 == 0 else -1]
        # Each band for itself, then where several meet.
        for band, (y, x) in itertools.product((*range(number_of_bands), None), pixels):
            around = bands_round(labels, y, x, bands)
            if (around != {band}) if band is not None else (len(around) == 1):
                continue
            old = labels[y, x]
            if not due[y, x] or (labels == old).sum() <= 8:
                continue
            due[y, x] = False
            if not one_part(labels, y, x, old):
                continue
            best, least = old, now - Fraction(1, 10**9)
            for v, u in sides_of(labels, y, x):
                new = labels[v, u]
                if new == old or not one_part(labels, y, x, new):
                    continue
                tried = labels.copy()
                tried[y, x] = new
                energy = move_energy(tried, lab, matched, right, planes, weights)
                if energy < least:
                    best, least = new, energy
            if best != old:
                labels[y, x], now = best, least
                due[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] = True
                moves += 1
        if moves == before:
            break
    return labels, moves, now - start


def join_small(pieces, loose, smallest):
    """Pieces after small loose ones have joined the neighbour with the longest common border."""
    pieces = pieces.copy()
    waiting = {k for k in np.flatnonzero(loose) if (pieces == k).sum() < smallest}
    while waiting and set(np.unique(pieces)) - waiting:
        chosen = {}
        for k in waiting:
            shared = {}
            for y, x in zip(*np.nonzero(pieces == k), strict=True):
                for v, u in SIDES:
                    if 0 <= y + v < pieces.shape[0] and 0 <= x + u < pieces.shape[1]:
                        other = int(pieces[y + v, x + u])
                        if other not in waiting:
                            shared[other] = shared.get(other, 0) + 1
            if shared:
                chosen[k] = min((-sides, other) for other, sides in shared.items())[1]
        for k, other in chosen.items():
            pieces[pieces == k] = other
        waiting -= set(chosen)
    return pieces


def split_segments(labels, off, matched, split_size, smallest):
    """Labels and parents after patches of the pixels `off` their planes have been cut out."""
    count = int(labels.max()) + 1
    patches = naive_matching.find_patches(off, matched, 1.0, split_size)
    marked = np.where(patches < 0, labels, patches + count)
    pieces = naive.connected_parts(marked)
    origin = {int(k): int(marked[pieces == k][0]) for k in np.unique(pieces)}
    cut = set(labels[patches >= 0].tolist())
    joined = join_small(pieces, np.array([origin[k] in cut for k in sorted(origin)]), smallest)
    kept = sorted(np.unique(joined).tolist(), key=lambda k: (origin[k], k))
    parents = [origin[k] if origin[k] < count else -1 for k in kept]
    return np.vectorize(kept.index)(joined), parents


def redecide(labels, planes, lab, left, right, shown, alike, rule, disparity):
    """The disparity, with that of the first farther segment to the right where it looks like it."""
    found = disparity.copy()
    for y, x in np.ndindex(labels.shape):
        near = plane_at(planes[labels[y, x]], x, y)
        for k in range(x + 1, min(labels.shape[1], x + rule.reach + 1)):
            far = plane_at(planes[labels[y, k]], x, y)
            if far < near - rule.step:
                pair = labels[y, x], labels[y, k]
                to_own, to_far = (
                    mean_difference(x, y, planes[i], lab, left, right, shown, alike, rule)
                    for i in pair
                )
                seen = is_seen(x, y, far, shown, rule)
                if seen and to_far < rule.most and to_far + rule.margin < to_own:
                    found[y, x] = far
                break
    return found


def plane_at(plane, x, y):
    return float(plane[0] * x + plane[1] * y + plane[2])


def is_seen(x, y, d, shown, rule):
    inside = 0 <= x - d <= shown.shape[1] - 1
    return inside and not shown[y, int(np.floor(x - d + 0.5))] > d + rule.slack


def mean_difference(x, y, plane, lab, left, right, shown, alike, rule):
    """Weighted mean over the window round (x, y) of how unlike the views are on a plane."""
    total = weight = 0.0
    steps = range(-rule.radius, rule.radius + 1, rule.stride)
    for v, u in ((y + dv, x + du) for dv in steps for du in steps):
        if not (0 <= v < shown.shape[0] and 0 <= u < shown.shape[1]):
            continue
        w = alike[sum(abs(int(c[v, u]) - int(c[y, x])) for c in lab)]
        d = plane_at(plane, u, v)
        off = rule.hidden
        if is_seen(u, v, d, shown, rule):
            columns = np.arange(shown.shape[1])
            grey, slope = (
                abs(np.interp(u - d, columns, r[v]) - one[v, u])
                for r, one in zip(right, left, strict=True)
            )
            off = rule.grey_share * min(grey, rule.grey_cap)
            off += (1 - rule.grey_share) * min(slope, rule.slope_cap)
        total, weight = total + w * off, weight + w
    return total / weight


def piece_origins(pieces, labels):
    """Pixels of each piece, and the label that it is a piece of."""
    masks = [pieces == k for k in range(int(pieces.max()) + 1)]
    return [int(m.sum()) for m in masks], [int(labels[m][0]) for m in masks]
