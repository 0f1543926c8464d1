"""Numba kernels of SLIC: pixels to cells, cells to means and planes.

Colours are 8-bit Lab and positions are whole numbers, so their sums are exact integers and do not
depend on the order in which pixels are visited.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.kernel import kernel

# Lab as OpenCV stores it in 8 bit: L is stretched from 0…100 to 0…255, a and b are shifted.
LIGHTNESS_WEIGHT = np.float32((100.0 / 255.0) ** 2)
SMALLEST_DETERMINANT = 1e-6
"""Of normalised second moments; below it the pixels are as good as on a line."""


@kernel
def assign(
    lab: NDArray[np.uint8],
    disparity: NDArray[np.float32],
    centres: NDArray[np.float32],
    planes: NDArray[np.float32],
    grid_columns: NDArray[np.int32],
    grid_rows: NDArray[np.int32],
    spatial_weight: np.float32,
    disparity_weight: np.float32,
    truncation: np.float32,
    first: int,
    last: int,
    label_image: NDArray[np.int32],
) -> None:
    """Give every pixel to the nearest of the nine cells around its own place in the grid.

    The squared distance is that of Lab, plus `spatial_weight` times that of position, plus
    `disparity_weight` times the squared residual to the cell's plane, capped at `truncation`
    pixels; a pixel without disparity has no residual to any plane.

    Parameters
    ----------
    lab
        (3, H, W) planes.
    disparity
        (H, W), NaN where unknown; not read if `disparity_weight` is 0.
    centres
        (rows × columns, 5): mean L, a, b, x, y of each cell.
    planes
        (rows × columns, 3): α, β, γ of each cell about its centre.
    grid_columns, grid_rows
        Borders of the initial grid along x and y, first 0, last the size.
    spatial_weight, disparity_weight, truncation
        See above.
    first, last
        Rows of cells whose pixels to do.
    label_image
        Output, (H, W).
    """
    width = label_image.shape[1]
    across, down = len(grid_columns) - 1, len(grid_rows) - 1
    cap = truncation * truncation
    nearest = np.empty(width, np.float32)
    for cell_row in range(first, last):
        for y in range(grid_rows[cell_row], grid_rows[cell_row + 1]):
            nearest[:] = np.inf
            for cell_column in range(across):
                # Slices, walked from 0: an index that may be negative keeps LLVM from vectorising.
                start, stop = grid_columns[cell_column], grid_columns[cell_column + 1]
                run_l, run_a, run_b = (
                    lab[0, y, start:stop],
                    lab[1, y, start:stop],
                    lab[2, y, start:stop],
                )
                run_nearest, run_labels = nearest[start:stop], label_image[y, start:stop]
                for i in range(max(cell_row - 1, 0), min(cell_row + 2, down)):
                    for j in range(max(cell_column - 1, 0), min(cell_column + 2, across)):
                        k = np.int32(i * across + j)
                        c = centres[k]
                        cl, ca, cb = c[0], c[1], c[2]
                        cx = c[3] - np.float32(start)
                        dy = np.float32(y) - c[4]
                        from_row = spatial_weight * dy * dy
                        if disparity_weight == 0:
                            for x in range(len(run_l)):
                                dl = np.float32(run_l[x]) - cl
                                da = np.float32(run_a[x]) - ca
                                db = np.float32(run_b[x]) - cb
                                dx = np.float32(np.int32(x)) - cx
                                d = LIGHTNESS_WEIGHT * dl * dl + da * da + db * db
                                d += spatial_weight * dx * dx + from_row
                                nearer = d < run_nearest[x]
                                run_nearest[x] = d if nearer else run_nearest[x]
                                run_labels[x] = k if nearer else run_labels[x]
                        else:
                            run_d = disparity[y, start:stop]
                            slope = planes[k, 0]
                            offset = planes[k, 1] * dy + planes[k, 2]
                            for x in range(len(run_l)):
                                dl = np.float32(run_l[x]) - cl
                                da = np.float32(run_a[x]) - ca
                                db = np.float32(run_b[x]) - cb
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
                                run_labels[x] = k if nearer else run_labels[x]


@kernel
def cell_medians(
    disparity: NDArray[np.float32],
    grid_columns: NDArray[np.int32],
    grid_rows: NDArray[np.int32],
    first: int,
    last: int,
) -> NDArray[np.float32]:
    """Return the medians of the known disparities in each cell of some rows of a grid, else 0.

    The upper one of an even number.
    """
    across = len(grid_columns) - 1
    medians = np.zeros((last - first) * across, np.float32)
    known = np.empty(disparity.size, np.float32)
    for i in range(first, last):
        for j in range(across):
            count = 0
            for y in range(grid_rows[i], grid_rows[i + 1]):
                for x in range(grid_columns[j], grid_columns[j + 1]):
                    known[count] = disparity[y, x]
                    count += not np.isnan(disparity[y, x])
            if count > 0:
                medians[(i - first) * across + j] = _select(known, count, count // 2)
    return medians


@kernel
def _select(values: NDArray[np.float32], count: int, k: int) -> float:
    """Return the k-th smallest of the first `count` values, which are put in another order.

    Hoare's selection; that of NumPy takes Numba three seconds to compile.
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
    lab: NDArray[np.uint8],
    disparity: NDArray[np.float32],
    label_image: NDArray[np.int32],
    centres: NDArray[np.float32],
    planes: NDArray[np.float32],
    reach: float,
    first: int,
    last: int,
    features: NDArray[np.int64],
    moments: NDArray[np.float64],
) -> None:
    """Sum, for each cell, what `move_cells` needs of its pixels, run by run of each row.

    Rows are cut into as many bands as there are sums, and each is summed on its own: the result
    does not depend on who does which.

    Parameters
    ----------
    lab, disparity, label_image
        (3, H, W) and (H, W); disparity is NaN where unknown, and not read if `reach` is negative.
    centres, planes
        (cells, 5) and (cells, 3) of the cells.
    reach
        Pixels by which a disparity may be off the plane of its cell to be an inlier.
    first, last
        Bands to do.
    features
        (bands, cells, 6), output: sums of L, a, b, x, y and 1.
    moments
        (bands, cells, 9), output: sums of 1, x, y, xx, xy, yy, d, xd, yd over inliers, x and y
        counted from the cell's centre.
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
    disparity: NDArray[np.float32],
    left: float,
    dy: float,
    plane: NDArray[np.float32],
    reach: float,
    sums: NDArray[np.float64],
) -> None:
    """Add the moments of a run of pixels that begins at `left`, `dy`."""
    slope, offset = float(plane[0]), plane[1] * dy + plane[2]
    count, sx, sxx, sd, sxd = 0.0, 0.0, 0.0, 0.0, 0.0
    for x in range(len(disparity)):
        dx = left + x
        # Without branches, which no processor can foresee; NaN is not within reach.
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
    features: NDArray[np.int64],
    moments: NDArray[np.float64],
    centres: NDArray[np.float32],
    planes: NDArray[np.float32],
) -> None:
    """Move each centre to the mean of its pixels, and fit each plane to its inliers, in place.

    Planes are about the cell's centre, and fitted by least squares. A cell with fewer than three
    inliers, or with all of them on a line, gets their mean disparity, level; one with none keeps
    its plane. A cell without pixels stays as it is.
    """
    bands = len(features)
    s = np.empty(9)
    for k in range(len(centres)):
        count = features[:, k, 5].sum()
        if count == 0:
            continue
        old_x, old_y = float(centres[k, 3]), float(centres[k, 4])
        for f in range(5):
            centres[k, f] = np.float32(features[:, k, f].sum() / count)
        for m in range(9):
            s[m] = 0.0
            for band in range(bands):
                s[m] += moments[band, k, m]
        if s[0] > 0:
            _fit_plane(s, planes[k])
        to_x, to_y = centres[k, 3] - old_x, centres[k, 4] - old_y
        planes[k, 2] += planes[k, 0] * to_x + planes[k, 1] * to_y


@kernel
def _fit_plane(s: NDArray[np.float64], plane: NDArray[np.float32]) -> None:
    """Write the plane of least squares of some moments, or a level one."""
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
