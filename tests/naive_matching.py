"""Slow, obvious twins of the kernels of matching: plain loops over Python integers."""

import numpy as np

WINDOW = [(dy, dx) for dy in range(-3, 4) for dx in range(-4, 5) if (dy, dx) != (0, 0)]
DIRECTIONS = {4: [(0, 1), (0, -1), (1, 0), (-1, 0)]}
DIRECTIONS[8] = [*DIRECTIONS[4], (1, 1), (1, -1), (-1, 1), (-1, -1)]
DIRECTIONS[16] = [*DIRECTIONS[8], (1, 2), (1, -2), (-1, 2), (-1, -2)]
DIRECTIONS[16] += [(2, 1), (2, -1), (-2, 1), (-2, -1)]


def at(image, y, x):
    """A pixel of an image that goes on beyond its borders."""
    height, width = image.shape
    return int(image[min(max(y, 0), height - 1), min(max(x, 0), width - 1)])


def census(grey):
    out = np.zeros(grey.shape, np.uint64)
    for y, x in np.ndindex(grey.shape):
        darker = [at(grey, y + dy, x + dx) < grey[y, x] for dy, dx in WINDOW]
        out[y, x] = sum(1 << i for i, bit in enumerate(darker) if bit)
    return out


def sobel(grey):
    """Horizontal gradient, 3 × 3, of an image that goes on beyond its borders."""
    rows = [(-1, 1), (0, 2), (1, 1)]
    return np.array(
        [
            [
                sum(w * (at(grey, y + dy, x + 1) - at(grey, y + dy, x - 1)) for dy, w in rows)
                for x in range(grey.shape[1])
            ]
            for y in range(grey.shape[0])
        ]
    )


def costs(left_census, right_census, left_gradient, right_gradient, low, count, weights):
    height, width = left_census.shape

    def pixel(y, x, d):
        bits = (at(left_census, y, x) ^ at(right_census, y, x - d)).bit_count()
        step = abs(at(left_gradient, y, x) - at(right_gradient, y, x - d))
        return weights[0] * bits + weights[1] * step

    raw = np.array(
        [
            [[pixel(y, x, low + k) for k in range(count)] for x in range(width)]
            for y in range(height)
        ]
    )
    # The box repeats the border pixel's cost; it does not look beyond it.
    wide = np.pad(raw, ((2, 2), (2, 2), (0, 0)), mode="edge")
    boxes = sum(wide[i : i + height, j : j + width] for i in range(5) for j in range(5))
    return (boxes // 25).astype(np.uint8)


def path_sums(cost, grey, p1, p2, paths):
    """S(p, d), path by path, from the formula of Hirschmüller (2008, §2.3)."""
    height, width, count = cost.shape
    total = np.zeros(cost.shape, np.int64)
    for dy, dx in DIRECTIONS[paths]:
        path = {}
        for y in range(height)[:: -1 if dy < 0 else 1]:
            for x in range(width)[:: -1 if dx < 0 else 1]:
                q = path.get((y - dy, x - dx))
                here = [int(c) for c in cost[y, x]]
                if q is not None:
                    step = abs(int(grey[y, x]) - int(grey[y - dy, x - dx]))
                    for d in range(count):
                        ways = [q[d], min(q) + int(p2[step])]
                        ways += [q[e] + p1 for e in (d - 1, d + 1) if 0 <= e < count]
                        here[d] += min(ways) - min(q)
                path[y, x] = here
                total[y, x] += here
    return total


def is_clear(cell, d, in_view, margins):
    """Whether a winner beats the runner up, the mean of the others in view, and every rival."""
    uniqueness, contrast, rival = margins
    best, others = cell[d], [k for k in cell if abs(k - d) > 1]
    if not others:
        return True
    second = min(cell[k] for k in others)
    if second <= best or second * 100 < best * (100 + uniqueness):
        return False
    seen = [cell[k] for k in others if k in in_view]
    if contrast and seen and best * 100 * len(seen) > contrast * sum(seen):
        return False
    hills = {k: max(cell[e] for e in range(min(k, d), max(k, d) + 1)) - best for k in others}
    return not rival or all((cell[k] - best) * 100 >= rival * hills[k] for k in others)


def winners(sums, low, margins, searched=True):
    """Left and right winners, disparity, confidence, and whether the left ones are unique.

    `sums` is (H, W, D), of the disparities from `low` on, and `searched` tells which of them exist.
    """
    height, width, count = sums.shape
    exists, cells = np.broadcast_to(searched, sums.shape), {}
    for y, x in np.ndindex(height, width):
        cells[y, x] = {low + k: int(sums[y, x, k]) for k in range(count) if exists[y, x, k]}
    left, right = (np.full((height, width), low - 1, np.int32) for _ in range(2))
    disparity, confidence = np.full((2, height, width), np.nan, np.float32)
    unique = np.zeros((height, width), bool)
    for (y, x), cell in cells.items():
        best, d = min((s, k) for k, s in cell.items())
        left[y, x] = d
        second = min((s for k, s in cell.items() if abs(k - d) > 1), default=None)
        confidence[y, x] = 1 if second is None else 0 if second == 0 else 1 - best / second
        unique[y, x] = is_clear(cell, d, [k for k in cell if 0 <= x - k < width], margins)
        disparity[y, x] = d
        if d - 1 in cell and d + 1 in cell:
            before, after = cell[d - 1], cell[d + 1]
            if before + after > 2 * best:
                disparity[y, x] = d + (before - after) / (2.0 * (before + after - 2 * best))
        pixels = {k: cells.get((y, x + k), {}) for k in range(low, low + count)}
        seen = [(pixel[k], k) for k, pixel in pixels.items() if k in pixel]
        if seen:
            right[y, x] = min(seen)[1]
    return left, right, disparity, confidence, unique


def agreement(left, right, low, high, threshold):
    """0 where the right view confirms, 1 where occluded, 2 where mismatched."""
    height, width = left.shape

    def passes(y, x, d):
        inside = 0 <= x - d < width and right[y, x - d] >= low
        return inside and abs(right[y, x - d] - d) <= threshold

    state = np.zeros(left.shape, np.uint8)
    for y, x in np.ndindex(height, width):
        if not passes(y, x, left[y, x]):
            state[y, x] = 2 if any(passes(y, x, d) for d in range(low, high)) else 1
    return state


def find_patches(candidate, disparity, step, smallest):
    """Numbers of the patches, by growing each until nothing more is linked to it."""
    patches = np.full(candidate.shape, -1)
    left = {(int(y), int(x)) for y, x in zip(*np.nonzero(candidate), strict=True)}
    count = 0
    while left:
        patch = {min(left)}
        while True:
            near = {
                (y + v, x + u)
                for y, x in patch
                for v, u in ((-1, 0), (0, 1), (1, 0), (0, -1))
                if (y + v, x + u) in left - patch
                and abs(disparity[y + v, x + u] - disparity[y, x]) <= step
            }
            if not near:
                break
            patch |= near
        left -= patch
        if len(patch) >= smallest:
            for place in patch:
                patches[place] = count
            count += 1
    return patches


def without_strays(disparity, share, step=2.0):
    """The disparity without small patches where the surface on their right would be out of view."""
    known = np.isfinite(disparity)
    band = min(int(np.ceil(np.nanmax(disparity))), disparity.shape[1])
    out = disparity.copy()
    if band <= 0:
        return out
    patches = find_patches(known[:, :band], disparity[:, :band], step, 1)
    places = {
        k: list(zip(*np.nonzero(patches == k), strict=True)) for k in range(patches.max() + 1)
    }
    trusted = {
        k: len(p) >= share * disparity.size or any(x == band - 1 for _, x in p)
        for k, p in places.items()
    }

    def implausible(y, x):
        for right in range(x + 1, disparity.shape[1]):
            if known[y, right] and (right >= band or trusted[patches[y, right]]):
                d = disparity[y, right]
                return d - disparity[y, x] > step and x < d
        return False

    for k, pixels in places.items():
        if not trusted[k] and 2 * sum(implausible(*p) for p in pixels) > len(pixels):
            for place in pixels:
                out[place] = np.nan
    return out


def grid_sums(cost, grey, p1, p2, paths, low, count, side, high):
    """S(p, d) where a square searches disparities of its own: path by path, by disparity.

    `cost` is (H, W, D) of all disparities from 0 on. Nothing from `high` on is searched; sums of
    what is not searched are missing.
    """
    height, width, _ = cost.shape

    def searched(y, x):
        first = int(low[y // side, x // side])
        return range(first, min(first + int(count[y // side, x // side]), high))

    total = {(y, x): dict.fromkeys(searched(y, x), 0) for y, x in np.ndindex(height, width)}
    for dy, dx in DIRECTIONS[paths]:
        path = {}
        for y in range(height)[:: -1 if dy < 0 else 1]:
            for x in range(width)[:: -1 if dx < 0 else 1]:
                q = path.get((y - dy, x - dx))
                here = {d: int(cost[y, x, d]) for d in searched(y, x)}
                if q is not None:
                    least = min(q.values())
                    step = abs(int(grey[y, x]) - int(grey[y - dy, x - dx]))
                    for d in here:
                        ways = [least + int(p2[step])]
                        ways += [q[d]] if d in q else []
                        ways += [q[e] + p1 for e in (d - 1, d + 1) if e in q]
                        here[d] += min(ways) - least
                path[y, x] = here
                for d, value in here.items():
                    total[y, x][d] += value
    return total


def block_medians(values: np.ndarray, side: int) -> np.ndarray:
    height, width = values.shape[0] // side, values.shape[1] // side
    medians = np.full((height, width), np.nan, np.float32)
    for y, x in np.ndindex(height, width):
        block = values[side * y : side * (y + 1), side * x : side * (x + 1)]
        known = block[np.isfinite(block)]
        if 2 * known.size >= block.size:
            medians[y, x] = np.median(known)
    return medians
