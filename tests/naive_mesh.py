"""The mesh of a result, slow and obvious: one point after the other, in dictionaries."""

from itertools import combinations

import numpy as np

AROUND = ((-1, -1), (-1, 0), (0, -1), (0, 0))
BESIDE = {frozenset(pair) for pair in ((0, 1), (0, 2), (1, 3), (2, 3))}


def pixels_round(labels, x, y):
    """The segments round corner (x, y), None outside the image."""
    height, width = labels.shape
    inside = [(y + dv, x + du) for dv, du in AROUND]
    return [int(labels[v, u]) if 0 <= v < height and 0 <= u < width else None for v, u in inside]


def groups_at(regions, planes, kinds, x, y, tolerance):
    """Sets of segments that share a vertex at corner (x, y), with its disparity."""
    around = pixels_round(regions.label_image, x, y)
    kind_of = {frozenset(e): int(k) for e, k in zip(regions.edges.tolist(), kinds, strict=True)}

    def height(i):
        u, v = regions.centre[i]
        a, b, c = planes[i]
        return a * (x - 0.5 - u) + b * (y - 0.5 - v) + c

    groups = [{i} for i in dict.fromkeys(around) if i is not None]
    sides = []
    for pair in BESIDE:
        i, j = (around[k] for k in sorted(pair))
        if None not in (i, j) and i != j and kind_of[frozenset((i, j))] < 2:
            sides.append((abs(height(i) - height(j)), i, j))
    for _, i, j in sorted(sides):
        one = next(group for group in groups if i in group)
        other = next(group for group in groups if j in group)
        union = one | other
        heights = [height(k) for k in union]
        hides = any(kind_of.get(frozenset(pair), 0) >= 2 for pair in combinations(union, 2))
        if one is not other and not hides and max(heights) - min(heights) <= tolerance:
            groups = [group for group in groups if group not in (one, other)] + [union]
    return {frozenset(group): np.mean([height(k) for k in group]) for group in groups}


def is_inside(labels, x, y):
    around = set(pixels_round(labels, x, y))
    return len(around) == 1 and None not in around


def is_last_inside(labels, x, y):
    beside = [is_inside(labels, x + step, y) for step in (-1, 1)]
    return is_inside(labels, x, y) and not all(beside)


def is_vertex(labels, x, y):
    if is_inside(labels, x, y):
        return any(is_last_inside(labels, x, y + step) for step in (-1, 0, 1))
    above_left, above_right, below_left, below_right = pixels_round(labels, x, y)
    return above_left != above_right or below_left != below_right


def vertices(regions, planes, kinds, tolerance):
    """All vertices: (x, y, segments) to disparity."""
    height, width = regions.label_image.shape
    return {
        (x, y, group): disparity
        for y in range(height + 1)
        for x in range(width + 1)
        if is_vertex(regions.label_image, x, y)
        for group, disparity in groups_at(regions, planes, kinds, x, y, tolerance).items()
    }
