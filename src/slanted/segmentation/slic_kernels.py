"""Numba kernels of SLIC: assigning pixels to cells, and updating means and planes of cells.

Colours are 8-bit Lab and positions are integers, so their sums are exact and do not depend on the
order of pixels.
"""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Bytes, DisparityMap, Float32s, Floats, Ints, Starts
from slanted.runtime.kernel import kernel

LIGHTNESS_WEIGHT = np.float32((100.0 / 255.0) ** 2)
"""Undoes OpenCV's 8-bit Lab, which stretches L from 0 … 100 to 0 … 255."""
LANES = 16
"""Pixels of a cell are compared in multiples of this: the rest would be done one by one."""
SMALLEST_DETERMINANT = 1e-6
"""Determinant of normalised second moments below which pixels count as lying on a line."""


@kernel
def assign(
    lab: Bytes,
    disparity: DisparityMap,
    centres: Float32s,
    planes: Float32s,
    grid_columns: Ints,
    grid_rows: Ints,
    spatial_weight: np.float32,
    disparity_weight: np.float32,
    truncation: np.float32,
    first: int,
    last: int,
    label_image: Ints,
) -> None:
    """Assign every pixel to the nearest of the nine cells around its place in the grid.

    The squared distance is that of Lab, plus `spatial_weight` times that of position, plus
    `disparity_weight` times the squared residual to the cell's plane, capped at `truncation`
    pixels; pixels without disparity have no residual.

    Parameters
    ----------
    lab
        (3, H, W) planes.
    disparity
        (H, W), NaN where unknown; not read if `disparity_weight` is 0.
    centres
        (rows × columns, 5) mean L, a, b, x, y of each cell.
    planes
        (rows × columns, 3) α, β, γ of each cell about its centre.
    grid_columns, grid_rows
        Borders of the initial grid along x and y, from 0 to the image size.
    spatial_weight, disparity_weight, truncation
        See above.
    first, last
        Rows of cells whose pixels to assign.
    label_image
        (H, W) cell of each pixel, output.
    """
    width = label_image.shape[1]
    across, down = len(grid_columns) - 1, len(grid_rows) - 1
    cap, size = truncation * truncation, width + LANES
    # Separate arrays, which LLVM can tell apart; views of one would not be vectorised.
    row_l, row_a = np.zeros(size, np.float32), np.zeros(size, np.float32)
    row_b, row_d = np.zeros(size, np.float32), np.zeros(size, np.float32)
    nearest, cells = np.empty(size, np.float32), np.empty(size, np.int32)
    for cell_row in range(first, last):
        for y in range(grid_rows[cell_row], grid_rows[cell_row + 1]):
            for x in range(width):
                row_l[x], row_a[x], row_b[x] = lab[0, y, x], lab[1, y, x], lab[2, y, x]
            for x in range(width):
                row_d[x] = disparity[y, x] if disparity_weight > 0 else np.float32(np.nan)
            for cell_column in range(across):
                # Whole lanes reach into the next cell, whose own turn comes later.
                start, stop = grid_columns[cell_column], grid_columns[cell_column + 1]
                stop = start + -(-(stop - start) // LANES) * LANES
                run_l, run_a, run_b = row_l[start:stop], row_a[start:stop], row_b[start:stop]
                run_d, run_nearest = row_d[start:stop], nearest[start:stop]
                run_cells = cells[start:stop]
                run_nearest[:] = np.inf
                for i in range(max(cell_row - 1, 0), min(cell_row + 2, down)):
                    for j in range(max(cell_column - 1, 0), min(cell_column + 2, across)):
                        k = np.int32(i * across + j)
                        c = centres[k]
                        cl, ca, cb = c[0], c[1], c[2]
                        cx = c[3] - np.float32(start)
                        dy = np.float32(y) - c[4]
                        from_row = spatial_weight * dy * dy
                        slope = planes[k, 0]
                        offset = planes[k, 1] * dy + planes[k, 2]
                        for x in range(len(run_l)):
                            dl = run_l[x] - cl
                            da = run_a[x] - ca
                            db = run_b[x] - cb
                            dx = np.float32(np.int32(x)) - cx
                            d = LIGHTNESS_WEIGHT * dl * dl + da * da + db * db
                            d += spatial_weight * dx * dx + from_row
                            residual = slope * dx + offset - run_d[x]
                            squared = residual * residual
                            squared = squared if squared < cap else cap
                            known = run_d[x] == run_d[x]
                            d += disparity_weight * squared if known else np.float32(0)
                            nearer = d < run_nearest[x]
                            run_nearest[x] = d if nearer else run_nearest[x]
                            run_cells[x] = k if nearer else run_cells[x]
            for x in range(width):
                label_image[y, x] = cells[x]


@kernel
def cell_medians(
    disparity: DisparityMap,
    grid_columns: Ints,
    grid_rows: Ints,
    first: int,
    last: int,
) -> Float32s:
    """Return the upper median of the known disparities in each cell of some rows; 0 if none."""
    across = len(grid_columns) - 1
    medians = np.zeros((last - first) * across, np.float32)
    known = np.empty(disparity.size, np.float32)
    for i in range(first, last):
        for j in range(across):
            count = np.int64(0)
            for y in range(grid_rows[i], grid_rows[i + 1]):
                for x in range(grid_columns[j], grid_columns[j + 1]):
                    known[count] = disparity[y, x]
                    count += not np.isnan(disparity[y, x])
            if count > 0:
                medians[(i - first) * across + j] = _select(known, count, count // 2)
    return medians


@kernel
def _select(values: Float32s, count: int, k: int) -> float:
    """Return the k-th smallest of the first `count` values, which are reordered.

    This is Hoare's selection; NumPy's takes Numba three seconds to compile.
    """
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    selected: float = values[k]
    return selected


@kernel
def cell_sums(
    lab: Bytes,
    disparity: DisparityMap,
    label_image: Ints,
    centres: Float32s,
    planes: Float32s,
    reach: float,
    first: int,
    last: int,
    features: Starts,
    moments: Floats,
) -> None:
    """Sum what `move_cells` needs over the pixels of each cell, one run of each row at a time.

    Bands of rows are summed separately, so that the result does not depend on the threads.

    Parameters
    ----------
    lab, disparity, label_image
        (3, H, W) and (H, W); disparity is NaN where unknown, and not read if `reach` is negative.
    centres, planes
        (cells, 5) and (cells, 3); see `assign`.
    reach
        Largest residual of an inlier to the plane of its cell, in pixels.
    first, last
        Bands to do.
    features
        (bands, cells, 6) sums of L, a, b, x, y and 1, output.
    moments
        (bands, cells, 9) sums of 1, x, y, xx, xy, yy, d, xd, yd over inliers, output; x and y are
        relative to the cell's centre.
    """
    height, width = label_image.shape
    bands = len(features)
    for band in range(first, last):
        features[band] = 0
        moments[band] = 0.0
        for y in range(height * band // bands, height * (band + 1) // bands):
            row, start = label_image[y], 0
            while start < width:
                k = row[start]
                stop = start + 1
                while stop < width and row[stop] == k:
                    stop += 1
                size, f = stop - start, features[band, k]
                for channel in range(3):
                    run, total = lab[channel, y, start:stop], np.uint32(0)
                    for x in range(len(run)):
                        total += np.uint32(run[x])
                    f[channel] += total
                f[3] += (start + stop - 1) * size // 2
                f[4] += y * size
                f[5] += size
                if reach >= 0:
                    _add_inliers(
                        disparity[y, start:stop], start - float(centres[k, 3]),
                        y - float(centres[k, 4]), planes[k], reach, moments[band, k],
                    )  # fmt: skip
                start = stop


@kernel
def _add_inliers(
    disparity: DisparityMap,
    left: float,
    dy: float,
    plane: Float32s,
    reach: float,
    sums: Floats,
) -> None:
    """Add the moments of a run of pixels that starts at (`left`, `dy`) from the cell's centre."""
    slope, offset = float(plane[0]), plane[1] * dy + plane[2]
    count, sx, sxx, sd, sxd = 0.0, 0.0, 0.0, 0.0, 0.0
    for x in range(len(disparity)):
        dx = left + x
        # No branches, which processors cannot predict here; NaN is not within reach.
        near = abs(slope * dx + offset - disparity[x]) <= reach
        dx = dx if near else 0.0
        d = float(disparity[x]) if near else 0.0
        count += 1.0 if near else 0.0
        sx += dx
        sxx += dx * dx
        sd += d
        sxd += dx * d
    sums[0] += count
    sums[1] += sx
    sums[2] += count * dy
    sums[3] += sxx
    sums[4] += sx * dy
    sums[5] += count * dy * dy
    sums[6] += sd
    sums[7] += sxd
    sums[8] += sd * dy


@kernel
def move_cells(
    features: Starts,
    moments: Floats,
    centres: Float32s,
    planes: Float32s,
) -> None:
    """Move each centre to the mean of its pixels, and fit each plane to its inliers, in place.

    Planes are fitted by least squares about the cell's centre. A cell with fewer than three
    inliers, or with all of them on a line, gets a level plane at their mean disparity; one without
    inliers keeps its plane. A cell without pixels does not change.
    """
    bands = len(features)
    s = np.empty(9)
    for k in range(len(centres)):
        count = 0
        for band in range(bands):
            count += features[band, k, 5]
        if count == 0:
            continue
        old_x, old_y = float(centres[k, 3]), float(centres[k, 4])
        for f in range(5):
            total = 0
            for band in range(bands):
                total += features[band, k, f]
            centres[k, f] = np.float32(total / count)
        for m in range(9):
            s[m] = 0.0
            for band in range(bands):
                s[m] += moments[band, k, m]
        if s[0] > 0:
            _fit_plane(s, planes[k])
        to_x, to_y = centres[k, 3] - old_x, centres[k, 4] - old_y
        planes[k, 2] += planes[k, 0] * to_x + planes[k, 1] * to_y


@kernel
def _fit_plane(s: Floats, plane: Float32s) -> None:
    """Write the least-squares plane of some moments, or a level plane."""
    mx, my, md = s[1] / s[0], s[2] / s[0], s[6] / s[0]
    xx, xy, yy = s[3] / s[0] - mx * mx, s[4] / s[0] - mx * my, s[5] / s[0] - my * my
    xd, yd = s[7] / s[0] - mx * md, s[8] / s[0] - my * md
    determinant = xx * yy - xy * xy
    slope_x, slope_y = 0.0, 0.0
    if s[0] >= 3 and determinant > SMALLEST_DETERMINANT * (xx + yy) ** 2:
        slope_x = (yy * xd - xy * yd) / determinant
        slope_y = (xx * yd - xy * xd) / determinant
    plane[0] = slope_x
    plane[1] = slope_y
    plane[2] = md - slope_x * mx - slope_y * my
