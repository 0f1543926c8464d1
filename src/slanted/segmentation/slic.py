"""SLIC superpixels on Lab colour and, optionally, on the initial disparity.

Differs from Achanta et al. in one point: a pixel chooses among the nine cells around its place in
the initial grid, not among all cells within two grid steps. This reaches a step and a half, and
rows become loops that vectorise. Tests compare boundary recall and compactness with scikit-image's
SLIC; this one is several times faster and can use the disparity.

References
----------
.. [1] R. Achanta, A. Shaji, K. Smith, A. Lucchi, P. Fua, S. Süsstrunk, "SLIC superpixels compared
   to state-of-the-art superpixel methods", TPAMI 34 (11), 2012.
.. [2] K. Yamaguchi, D. McAllester, R. Urtasun, "Efficient joint segmentation, occlusion labeling,
   stereo and flow estimation", ECCV 2014: superpixels with disparity planes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from slanted.partition.connectivity import connected_segments
from slanted.runtime.arrays import Bytes, DisparityMap, Ints
from slanted.runtime.threads import bind, share, share_rows
from slanted.segmentation.slic_kernels import (
    assign,
    cell_medians,
    cell_sums,
    move_cells,
)

if TYPE_CHECKING:
    from slanted.settings import SlicSettings

BANDS = 4
"""Number of bands of rows that are summed separately, each by any thread."""
BAND_OVERLAP = 4
"""Rows of cells that a band sees beyond each of its ends."""
SMALLEST_SHARE = 0.25
"""Share of the mean segment size below which pieces join a neighbour, as in Achanta's code."""


def slic(
    lab: Bytes,
    count: int,
    settings: SlicSettings,
    disparity: DisparityMap | None = None,
    band_pixels: int | None = None,
) -> Ints:
    """Cut an image into superpixels of similar colour, position and, if given, disparity plane.

    Parameters
    ----------
    lab
        (3, H, W) 8-bit Lab planes.
    count
        Number of superpixels to ask for.
    settings
        Section ``segmentation.slic``.
    disparity
        (H, W) initial disparity, NaN where unknown: pixels then also prefer the superpixel whose
        plane fits them, because colour alone cannot tell a grey car from a grey road.
    band_pixels
        Size, in pixels, of bands that are assigned separately, with `BAND_OVERLAP` extra rows of
        cells at both ends: a cell's shape hardly depends on cells farther away.

    Returns
    -------
    label_image
        (H, W), 0 … n−1; each segment is 4-connected.
    """
    height, width = lab.shape[1:]
    columns, rows = _grid(height, width, count)
    cells = (len(columns) - 1) * (len(rows) - 1)
    step = float(np.sqrt(height * width / cells))
    label_image = np.empty((height, width), np.int32)
    for core, seen in _cell_bands(rows, height if band_pixels is None else band_pixels // width):
        window = slice(rows[seen.start], rows[seen.stop])
        found = _assign_cells(
            np.ascontiguousarray(lab[:, window]),
            columns,
            rows[seen.start : seen.stop + 1] - rows[seen.start],
            step,
            settings,
            None if disparity is None else np.ascontiguousarray(disparity[window]),
        )
        inside = slice(rows[core.start] - window.start, rows[core.stop] - window.start)
        number = np.int32(seen.start * (len(columns) - 1))
        label_image[rows[core.start] : rows[core.stop]] = found[inside] + number
    smallest = max(1, int(SMALLEST_SHARE * step * step))
    counts = -(-count * 95 // 100), max(1, count * 105 // 100)
    return connected_segments(label_image, lab, smallest, counts)


def _cell_bands(rows: Ints, height: int) -> Iterator[tuple[slice, slice]]:
    """Yield the rows of cells that each band of about `height` pixels gives, and those it sees."""
    cells = len(rows) - 1
    count = min(max(1, round(int(rows[-1]) / max(1, height))), cells)
    for k in range(count):
        first, last = cells * k // count, cells * (k + 1) // count
        yield (
            slice(first, last),
            slice(max(0, first - BAND_OVERLAP), min(cells, last + BAND_OVERLAP)),
        )


def _assign_cells(
    lab: Bytes,
    columns: Ints,
    rows: Ints,
    step: float,
    settings: SlicSettings,
    disparity: DisparityMap | None,
) -> Ints:
    """Alternate between assigning pixels to cells and moving cells to their pixels."""
    label_image = _grid_cells(columns, rows)
    cells = (len(columns) - 1) * (len(rows) - 1)
    centres = np.zeros((cells, 5), np.float32)
    seen = np.empty((0, 0), np.float32) if disparity is None else disparity
    planes = np.zeros((cells, 3), np.float32)
    sums = np.empty((BANDS, cells, 6), np.int64), np.empty((BANDS, cells, 9))
    distance = (
        np.float32((settings.compactness / step) ** 2),
        np.float32(0 if disparity is None else settings.disparity_weight),
        np.float32(settings.truncation),
    )
    inputs = lab, seen, centres, planes, columns, rows, *distance

    def move(reach: float) -> None:
        share(BANDS, bind(cell_sums, (lab, seen, label_image, centres, planes, reach), *sums))
        move_cells(*sums, centres, planes)

    reach = -1.0 if disparity is None else settings.truncation
    move(-1.0)
    if disparity is not None:
        # Every cell starts with a level plane at its median disparity, which is then fitted.
        grid = seen, columns, rows
        planes[:, 2] = share_rows(len(rows) - 1, bind(cell_medians, grid))
        move(2 * reach)
    for _ in range(settings.iterations):
        move(reach)
        share(len(rows) - 1, bind(assign, inputs, label_image))
    return label_image


def _grid(height: int, width: int, count: int) -> tuple[Ints, Ints]:
    """Return the column and row borders of about `count` cells, as square as possible."""
    step = np.sqrt(height * width / count)
    choices = []
    for rounded in (np.floor, np.ceil):
        columns = min(width, max(1, int(rounded(width / step))))
        choices.append((columns, min(height, max(1, round(count / columns)))))
        rows = min(height, max(1, int(rounded(height / step))))
        choices.append((min(width, max(1, round(count / rows))), rows))
    columns, rows = min(choices, key=lambda grid: abs(grid[0] * grid[1] - count))
    return _borders(width, columns), _borders(height, rows)


def _borders(size: int, parts: int) -> Ints:
    """Cut 0 … size into equal parts."""
    return (np.arange(parts + 1) * size // parts).astype(np.int32)


def _grid_cells(columns: Ints, rows: Ints) -> Ints:
    across = np.repeat(np.arange(len(columns) - 1, dtype=np.int32), np.diff(columns))
    down = np.repeat(np.arange(len(rows) - 1, dtype=np.int32), np.diff(rows))
    return down[:, None] * np.int32(len(columns) - 1) + across[None, :]
