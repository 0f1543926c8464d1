"""Slow, obvious twins of the kernels: plain loops and sets, the oracles of the tests."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

# --- regions ----------------------------------------------------------------------------------
# Points are (u, v) = (column, row). Nothing here is sorted, cached or clever unless it must be.


def pixels_of(labels):
    """The points of each segment, in raster order."""
    found = {int(label): [] for label in np.unique(labels)}
    for v, row in enumerate(labels.tolist()):
        for u, label in enumerate(row):
            found[label].append((u, v))
    return found


def pieces(labels):
    """The 4-connected pieces of equal labels, as sets of points, by their first point."""
    height, width = labels.shape
    left = [(u, v) for v in range(height) for u in range(width)]
    found = []
    while left:
        piece, border = {left[0]}, [left[0]]
        while border:
            u, v = border.pop()
            for q in ((u - 1, v), (u + 1, v), (u, v - 1), (u, v + 1)):
                inside = 0 <= q[0] < width and 0 <= q[1] < height
                if inside and q not in piece and labels[q[1], q[0]] == labels[v, u]:
                    piece.add(q)
                    border.append(q)
        found.append(piece)
        left = [p for p in left if p not in piece]
    return found


def relabelled(labels):
    """Each 4-connected piece a segment of its own, in raster order."""
    result = np.empty(labels.shape, np.int32)
    for number, piece in enumerate(pieces(labels)):
        for u, v in piece:
            result[v, u] = number
    return result


def moments(points):
    """The exact mean point and population covariance (uu, uv, vv)."""
    n = len(points)
    mean_u = Fraction(sum(u for u, _ in points), n)
    mean_v = Fraction(sum(v for _, v in points), n)
    uu = sum((u - mean_u) ** 2 for u, _ in points) / n
    uv = sum((u - mean_u) * (v - mean_v) for u, v in points) / n
    vv = sum((v - mean_v) ** 2 for _, v in points) / n
    return [float(mean_u), float(mean_v)], [float(uu), float(uv), float(vv)]


def cracks(labels):
    """The sides of pixels between two segments, by pair i < j, each as its two end points.

    A point (x, y) is here the upper left corner of pixel (x, y).
    """
    height, width = labels.shape
    found = {}
    for v in range(height):
        for u in range(width):
            beside = ((u + 1, v), ((u + 1, v), (u + 1, v + 1)))
            below = ((u, v + 1), ((u, v + 1), (u + 1, v + 1)))
            for q, ends in (beside, below):
                if q[0] < width and q[1] < height and labels[v, u] != labels[q[1], q[0]]:
                    pair = sorted((int(labels[v, u]), int(labels[q[1], q[0]])))
                    found.setdefault(tuple(pair), []).append(ends)
    return found


def boundary_set(first, second, reach=2):
    """The points of either segment within chessboard distance `reach` of the other."""

    def near(p, others):
        return any(max(abs(p[0] - q[0]), abs(p[1] - q[1])) <= reach for q in others)

    chosen = [p for p in first if near(p, second)] + [q for q in second if near(q, first)]
    return sorted(chosen, key=lambda p: (p[1], p[0]))


def hull(points):
    """The corners of the convex hull, clockwise on the screen, by wrapping a string round it."""

    def turn(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def distance(a, b):
        return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2

    corners = [min(points, key=lambda p: (p[1], p[0]))]
    while True:
        here = corners[-1]
        following = here
        for p in points:
            if p == here:
                continue
            side = turn(here, following, p)
            farther = distance(here, p) > distance(here, following)
            if following == here or side < 0 or (side == 0 and farther):
                following = p
        if following in (here, corners[0]):
            return corners
        corners.append(following)


def windows(labels):
    """Each 2 × 2 window: the point between its pixels and its labels, clockwise from top left."""
    height, width = labels.shape
    for v in range(height - 1):
        for u in range(width - 1):
            corner = labels[v : v + 2, u : u + 2].tolist()
            yield (u + 0.5, v + 0.5), [*corner[0], *corner[1][::-1]]


def junctions3(labels):
    """Three segments, ascending, and the first point where they meet."""
    found = {}
    for point, around in windows(labels):
        diagonal = around[0] == around[2] or around[1] == around[3]
        if len(set(around)) == 3 and not diagonal:
            found.setdefault(tuple(sorted(set(around))), point)
    return found


def junctions4(labels):
    """Four segments in canonical cyclic order, and the first point where they meet so."""
    found = {}
    for point, around in windows(labels):
        if len(set(around)) == 4:
            turned = [around[k:] + around[:k] for k in range(4)]
            both = turned + [cycle[::-1] for cycle in turned]
            # Of all ways to go round, that from the smallest towards its smaller neighbour.
            found.setdefault(tuple(min(both)), point)
    return found


def histogram(points, image):
    """The shares of points in 4 × 4 × 4 bins of an 8-bit RGB image."""
    counts = [0] * 64
    for u, v in points:
        red, green, blue = (int(value) // 64 for value in image[v, u])
        counts[16 * red + 4 * green + blue] += 1
    return [count / len(points) for count in counts]


def chi_squared(first, second):
    """Half the sum of (h − g)² / (h + g) over bins that are not empty in both."""
    terms = [(h - g) ** 2 / (h + g) for h, g in zip(first, second, strict=True) if h + g > 0]
    return sum(terms) / 2


def is_simple_map(labels):
    """Whether Euler's formula J3 + J4 = E − n + 1 must hold.

    The segments are then the faces of a plane graph in a disc, any two with one arc in common:
    1. no label lies twice across a diagonal (two segments would touch in a point without arc);
    2. no segment has a hole: what is not the segment, with the outside, is 8-connected;
    3. the cracks between two segments form one connected line.
    """
    for _, (a, b, c, d) in windows(labels):
        if (a == c and a not in (b, d)) or (b == d and b not in (a, c)):
            return False
    for label in np.unique(labels):
        rest = np.argwhere(np.pad(labels != label, 1, constant_values=True))
        if _parts({tuple(p) for p in rest.tolist()}, _eight_neighbours) > 1:
            return False
    return all(_parts(set(lines), _with_common_end) == 1 for lines in cracks(labels).values())


def _eight_neighbours(p, points):
    return {(p[0] + a, p[1] + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & points


def _with_common_end(line, lines):
    return {other for other in lines if set(line) & set(other)}


def _parts(items, touching):
    """How many connected parts the items form."""
    count = 0
    left = set(items)
    while left:
        count += 1
        border = [left.pop()]
        while border:
            touched = touching(border.pop(), left)
            left -= touched
            border += touched
    return count


def turns_right(corners):
    """Whether a polygon of three corners or more turns clockwise on the screen at each."""
    around = [*corners, *corners[:2]]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(around)]
    return all(s[0] * t[1] - s[1] * t[0] > 0 for s, t in pairwise(steps))


# --- segmentation -------------------------------------------------------------------------------


def slic_costs(
    lab, disparity, centres, planes, columns, rows, spatial, disparity_weight, truncation, x, y
):
    """Cost of each of the nine cells around pixel (x, y)'s place in the grid, by cell number."""
    across, down = len(columns) - 1, len(rows) - 1
    cell_x = max(i for i in range(across) if columns[i] <= x)
    cell_y = max(i for i in range(down) if rows[i] <= y)
    costs = {}
    for i in (cell_y - 1, cell_y, cell_y + 1):
        for j in (cell_x - 1, cell_x, cell_x + 1):
            if not (0 <= i < down and 0 <= j < across):
                continue
            k = i * across + j
            light, a, b, cx, cy = (float(value) for value in centres[k])
            cost = ((float(lab[0, y, x]) - light) * 100 / 255) ** 2
            cost += (float(lab[1, y, x]) - a) ** 2 + (float(lab[2, y, x]) - b) ** 2
            cost += spatial * ((x - cx) ** 2 + (y - cy) ** 2)
            if not np.isnan(disparity[y, x]):
                plane = planes[k, 0] * (x - cx) + planes[k, 1] * (y - cy) + planes[k, 2]
                residual = min(abs(plane - disparity[y, x]), truncation)
                cost += disparity_weight * residual**2
            costs[k] = float(cost)
    return costs


def refit_plane(disparity, chosen, centre, plane, reach):
    """Least squares over the chosen pixels within reach of the plane."""
    ys, xs = np.nonzero(chosen & ~np.isnan(disparity))
    dx, dy = xs - float(centre[3]), ys - float(centre[4])
    d = disparity[ys, xs].astype(float)
    near = np.abs(plane[0] * dx + plane[1] * dy + plane[2] - d) <= reach
    dx, dy, d = dx[near], dy[near], d[near]
    if len(d) == 0:
        return plane.copy()
    spread = np.cov(np.stack([dx, dy]), bias=True) if len(d) >= 3 else np.zeros((2, 2))
    if np.linalg.det(spread) <= 1e-6 * np.trace(spread) ** 2:
        return np.array([0, 0, d.mean()])
    return np.linalg.lstsq(np.stack([dx, dy, np.ones_like(dx)], axis=1), d, rcond=None)[0]


def connected_parts(labels):
    """Number 4-connected parts of equal labels in raster order, by flood fill."""
    parts = np.full(labels.shape, -1, np.int32)
    count = 0
    for start in np.ndindex(labels.shape):
        if parts[start] >= 0:
            continue
        stack = [start]
        parts[start] = count
        while stack:
            y, x = stack.pop()
            for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                inside = 0 <= near[0] < labels.shape[0] and 0 <= near[1] < labels.shape[1]
                if inside and parts[near] < 0 and labels[near] == labels[start]:
                    parts[near] = count
                    stack.append(near)
        count += 1
    return parts


def merge_small_parts(labels, lab, min_size, counts):
    """Merge parts in the order of their sizes, each into the most similar neighbour."""
    parts = connected_parts(labels)
    pixels = {k: set(zip(*np.nonzero(parts == k), strict=True)) for k in range(parts.max() + 1)}
    fewest, most = (1, len(pixels)) if counts is None else counts

    def colour(k):
        return np.mean([lab[:, y, x].astype(float) for y, x in pixels[k]], axis=0)

    def beside(k, other):
        steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
        return any((y + dy, x + dx) in pixels[other] for y, x in pixels[k] for dy, dx in steps)

    for target, smallest in ((fewest, min_size), (most, np.inf)):
        for part in sorted(pixels, key=lambda k: (len(pixels[k]), k)):
            if len(pixels) <= target:
                break
            if part not in pixels or len(pixels[part]) >= smallest:
                continue
            others = [k for k in pixels if k != part and beside(part, k)]
            # Rounded, so that equal colours stay equal whatever the order of summation.
            best = min(others, key=lambda k: (round(((colour(part) - colour(k)) ** 2).sum(), 6), k))
            pixels[best] |= pixels.pop(part)
    merged = np.empty_like(parts)
    for k, members in pixels.items():
        for y, x in members:
            merged[y, x] = k
    order = list(dict.fromkeys(merged.ravel().tolist()))
    return np.vectorize(order.index)(merged).astype(np.int32)


def histogram_gradient(bins, fractions, radius, number_of_bins):
    """χ² of the histograms of the two half discs at each pixel and each of eight angles."""
    height, width = bins.shape[0] - 2 * radius, bins.shape[1] - 2 * radius
    gradient = np.zeros((8, height, width))
    reach = range(-radius, radius + 1)
    disc = [(i, j) for i in reach for j in reach if 0 < i * i + j * j <= radius * (radius + 0.5)]
    for k, y, x in np.ndindex(8, height, width):
        halves = np.zeros((2, number_of_bins))
        for i, j in disc:
            side = np.cos(k * np.pi / 8) * j + np.sin(k * np.pi / 8) * i
            b, f = bins[y + radius + i, x + radius + j], fractions[y + radius + i, x + radius + j]
            shares = (0.5, 0.5) if abs(side) < 1e-9 else (1, 0) if side > 0 else (0, 1)
            for half, share in zip(halves, shares, strict=True):
                half[b] += share * (1 - f)
                half[b + 1] += share * f
        both = halves.sum(axis=0)
        differ = halves[0] - halves[1]
        gradient[k, y, x] = (differ**2 / (both + 1e-6)).sum() / both.sum()
    return gradient


# --- inference ----------------------------------------------------------------------------------


def rings(regions, segment, matched, wanted):
    """A segment and the rings of neighbours around it that it takes to have `wanted` matches."""
    members = {int(segment)}
    while sum(matched[k] for k in members) < wanted:
        around = members | {int(k) for member in members for k in regions.neighbours(member)}
        if around == members:
            break
        members = around
    return members


def inlier_moments(start, du, dv, disparity, weight, planes, reach):
    """Weighted sums over each segment's matches within reach of its plane."""
    rows = []
    for i, (a, b, c) in enumerate(planes):
        total = np.zeros(9)
        for k in range(start[i], start[i + 1]):
            u, v, d, w = du[k], dv[k], disparity[k], weight[k]
            if abs(a * u + b * v + c - d) <= reach:
                total += w * np.array([u * u, u * v, v * v, u, v, 1, u * d, v * d, d])
        rows.append(total)
    return np.array(rows)


def fit_robustly(points, level, spread, reaches):
    """Two planes: from a level one and from all points, refitted to the points near them."""

    def fit(plane, reach):
        near = [p for p in points if abs(plane @ [p[0], p[1], 1] - p[2]) <= reach]
        weight = np.array([p[3] for p in near])
        if weight.sum() < 3:
            return plane, False
        u, v, d = np.array(near)[:, :3].T
        if np.linalg.det(np.cov([u, v], aweights=weight, ddof=0)) <= spread:
            return plane, False
        root = np.sqrt(weight)
        design = np.stack([u, v, np.ones(len(u))], axis=1)
        return np.linalg.lstsq(root[:, None] * design, root * d, rcond=None)[0], True

    start = np.array([0, 0, level])
    everywhere, told = fit(start, np.inf)
    planes = [start, everywhere]
    for reach in reaches:
        planes = [fit(plane, reach)[0] for plane in planes]
    return planes, told


def hidden_pixels(disparity):
    """Pixels that fall outside the right view, or onto the place of a nearer one."""
    height, width = disparity.shape
    hidden = np.zeros((height, width), bool)
    for y, x in np.ndindex(height, width):
        place = round(float(np.float32(x) - disparity[y, x]))
        hidden[y, x] = not 0 <= place < width or any(
            round(float(np.float32(other) - disparity[y, other])) == place
            and disparity[y, other] > disparity[y, x] + np.float32(1)
            for other in range(width)
        )
    return hidden
