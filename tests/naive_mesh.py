"""The mesh of a result, slow and obvious: one point after the other, in dictionaries."""

from itertools import combinations, groupby, pairwise

import numpy as np

AROUND = ((-1, -1), (-1, 0), (0, -1), (0, 0))
BESIDE = {frozenset(pair) for pair in ((0, 1), (0, 2), (1, 3), (2, 3))}


def pixels_round(labels, x, y):
    """The segments round corner (x, y), None outside the image."""
    height, width = labels.shape
    inside = [(y + dv, x + du) for dv, du in AROUND]
    return [int(labels[v, u]) if 0 <= v < height and 0 <= u < width else None for v, u in inside]


def groups_at(regions, planes, kinds, corner, place, rule):
    """Sets of segments that share a vertex at a corner that is now at a place, with its disparity.

    A segment n is hidden and has no neighbours.
    """
    n = regions.count
    around = pixels_round(regions.label_image, *corner)
    kind_of = {frozenset(e): int(k) for e, k in zip(regions.edges.tolist(), kinds, strict=True)}

    def height(i):
        (u, v), (a, b, c) = regions.centre[i], planes[i]
        return a * (place[0] - u) + b * (place[1] - v) + c

    def room(i):
        allowed = min(rule.tolerance, rule.share * (height(i) - rule.infinity))
        return allowed * (1 if rule.trust is None else rule.trust[i])

    groups = [{i} for i in dict.fromkeys(around) if i is not None and i < n]
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
        agrees = max(heights) - min(heights) <= min(room(k) for k in union)
        if one is not other and not hides and agrees:
            groups = [group for group in groups if group not in (one, other)] + [union]
    return {frozenset(group): np.mean([height(k) for k in group]) for group in groups}


def vertices(regions, planes, kinds, flat, rule):
    """All vertices: (x, y, segments) to disparity, at the points of a flat triangulation."""
    return {
        (*corner, group): disparity
        for corner, point in zip(flat.corners.tolist(), flat.points - 0.5, strict=True)
        for group, disparity in groups_at(regions, planes, kinds, corner, point, rule).items()
    }


def turn(a, b, c):
    return (c[0] - a[0]) * (b[1] - a[1]) - (c[1] - a[1]) * (b[0] - a[0])


def numbered(labels):
    """The corners (x, y) that an outline reaches from above or below, in raster order."""
    height, width = labels.shape
    found = {}
    for y in range(height + 1):
        for x in range(width + 1):
            upper_left, upper_right, lower_left, lower_right = pixels_round(labels, x, y)
            if upper_left != upper_right or lower_left != lower_right:
                found[x, y] = len(found)
    return found


def filled(labels, numbers):
    """Triangles between the upper and the lower side of every run of pixels, with their owners."""
    found = []
    for y, row in enumerate(labels.tolist()):
        x = 0
        for owner, run in groupby(row):
            ends = range(x, x + len(list(run)) + 1)
            upper, lower = ([c for c in ends if (c, side) in numbers] for side in (y, y + 1))
            while len(upper) > 1 or len(lower) > 1:
                start = (upper[0], y), (lower[0], y + 1)
                if len(lower) == 1 or (len(upper) > 1 and upper[1] <= lower[1]):
                    upper = upper[1:]
                    end = upper[0], y
                else:
                    lower = lower[1:]
                    end = lower[0], y + 1
                found.append((owner, tuple(numbers[corner] for corner in (*start, end))))
            x = ends[-1]
    return found


def rounded(labels, numbers, faces):
    """Positions in quarters of a pixel, after those at which a chain turns have moved."""
    places = [(4 * x, 4 * y) for x, y in numbers]
    for (x, y), v in numbers.items():
        around = pixels_round(labels, x, y)
        arms = {
            (dx, dy): around[k] != around[m]
            for (dx, dy), k, m in (((-1, 0), 0, 2), ((1, 0), 1, 3), ((0, -1), 0, 1), ((0, 1), 2, 3))
        }
        level, upright = ([d for d in arms if arms[d] and bool(d[0]) == is_level]
                          for is_level in (True, False))  # fmt: skip
        if None in around or len(level) != 1 or len(upright) != 1:
            continue
        before = places[v]
        places[v] = before[0] + level[0][0], before[1] + upright[0][1]
        if any(turn(*(places[k] for k in face)) <= 0 for face in faces if v in face):
            places[v] = before
    return places


def triangulated(labels):
    """Positions, vertices, twins, owners and leaving sides, before anything is removed."""
    numbers = numbered(labels)
    triangles = filled(labels, numbers)
    faces = [face for _, face in triangles]
    sides = [(face[k], face[(k + 1) % 3]) for face in faces for k in range(3)]
    assert len(set(sides)) == len(sides)
    twin = [sides.index(side[::-1]) if side[::-1] in sides else -1 for side in sides]
    leaving = []
    for v in range(len(numbers)):
        from_here = [h for h, (start, _) in enumerate(sides) if start == v]
        leaving.append(next((h for h in from_here if twin[h] < 0), from_here[0]))
    vertices = [start for start, _ in sides]
    owners = [owner for owner, _ in triangles]
    arrays = rounded(labels, numbers, faces), vertices, twin, owners, leaving
    return tuple(np.array(each) for each in arrays)


def outlines(mesh):
    """Lines between vertices on which segments end, with the owners on their two sides."""
    _, vertices, twin, owner, _ = mesh
    found = {}
    for h in range(len(vertices)):
        if owner[h // 3] >= 0:
            beyond = None if twin[h] < 0 else int(owner[twin[h] // 3])
            if beyond != owner[h // 3]:
                ends = vertices[h], vertices[h - 2 if h % 3 == 2 else h + 1]
                found[frozenset(map(int, ends))] = {int(owner[h // 3]), beyond}
    return found


def simplified(places, lines, size, is_loose, reach, off):
    """Remove vertices from `places` and `lines` in one pass; `off` changes as in the kernel."""
    centres = [(4 * x + 2, 4 * y + 2) for x in range(size[1]) for y in range(size[0])]

    def holds(triangle, point):
        turns = [turn(a, b, point) for a, b in pairwise([*triangle, triangle[0]])]
        return all(t >= 0 for t in turns) or all(t <= 0 for t in turns)

    for v in sorted(places):
        at = [line for line in lines if v in line]
        if len(at) != 2 or lines[at[0]] != lines[at[1]]:
            continue
        a, b = (next(iter(line - {v})) for line in at)
        p, q, r = places[a], places[v], places[b]
        area = turn(p, r, q)
        if (p[0] - q[0]) * (r[0] - q[0]) + (p[1] - q[1]) * (r[1] - q[1]) >= 0:
            continue
        if area and (None in lines[at[0]] or frozenset((a, b)) in lines):
            continue
        if area and any(holds((p, q, r), places[o]) for o in places if o not in (a, b, v)):
            continue
        exact = not is_loose(lines[at[0]])
        if area and exact and any(holds((p, q, r), centre) for centre in centres):
            continue
        way = off[v] + abs(area) / (4 * np.hypot(p[0] - r[0], p[1] - r[1]))
        if way > reach:
            continue
        lines[frozenset((a, b))] = lines[at[0]]
        del lines[at[0]], lines[at[1]], places[v]
        off[a], off[b] = max(off[a], way), max(off[b], way)
