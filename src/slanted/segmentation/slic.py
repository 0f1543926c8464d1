"""SLIC superpixels on Lab colour and, optionally, on the initial disparity.

Differs from Achanta et al. in two points. A pixel chooses among the nine cells around its place in
the initial grid, not among all cells within two grid steps: this reaches a step and a half, and
rows become loops that vectorise. And most iterations are at half the size: together they do the
work of four at the whole in place of ten and, on KITTI, change errors by no more than chance. Tests
compare boundary recall and compactness with scikit-image's SLIC; this one is several times faster
and can use the disparity.

References
----------
.. [1] R. Achanta, A. Shaji, K. Smith, A. Lucchi, P. Fua, S. Süsstrunk, "SLIC superpixels compared
   to state-of-the-art superpixel methods", TPAMI 34 (11), 2012.
.. [2] K. Yamaguchi, D. McAllester, R. Urtasun, "Efficient joint segmentation, occlusion labeling,
   stereo and flow estimation", ECCV 2014: superpixels with disparity planes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from slanted.images.blocks import block_means
from slanted.partition.connectivity import connected_segments
from slanted.runtime.arrays import Bytes, DisparityMap, Float32s, Ints
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
NARROWEST = 4
"""Narrowest cells, in pixels of the smaller image, that are first assigned at half the size."""
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
    narrowest = min(np.diff(columns).min(), np.diff(rows).min())
    if settings.coarse_iterations and narrowest >= 2 * NARROWEST:
        # Bands, too, then have whole pixels at half the size.
        columns, rows = _even(columns), _even(rows)
    else:
        every = settings.coarse_iterations + settings.iterations
        settings = replace(settings, coarse_iterations=0, iterations=every)
    cells = (len(columns) - 1) * (len(rows) - 1)
    step = float(np.sqrt(height * width / cells))
    label_image = np.empty((height, width), np.int32)
    for core, seen in _cell_bands(rows, height if band_pixels is None else band_pixels // width):
        window = slice(rows[seen.start], rows[seen.stop])
        part = Picture(
            np.ascontiguousarray(lab[:, window]),
            None if disparity is None else np.ascontiguousarray(disparity[window]),
            columns,
            rows[seen.start : seen.stop + 1] - rows[seen.start],
            step,
        )
        found = _assign_cells(part, settings)
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
        above, below = max(0, first - BAND_OVERLAP), min(cells, last + BAND_OVERLAP)
        yield slice(first, last), slice(above, below)


@dataclass(frozen=True, eq=False)
class Picture:
    """What is cut, and the grid of cells it starts from."""

    lab: Bytes
    """(3, H, W) 8-bit Lab planes."""
    disparity: DisparityMap | None
    """(H, W), NaN where unknown; None to go by colour alone."""
    columns: Ints
    rows: Ints
    """Borders of the grid along x and y."""
    step: float
    """Mean width of a cell, in pixels."""

    def halved(self) -> Picture:
        """Return the same at half the size."""
        return Picture(
            np.stack([block_means(plane, 2) for plane in self.lab]),
            None if self.disparity is None else np.ascontiguousarray(self.disparity[::2, ::2]),
            -(-self.columns // 2),
            -(-self.rows // 2),
            self.step / 2,
        )


def _assign_cells(whole: Picture, settings: SlicSettings) -> Ints:
    """Assign pixels to cells, at half the size first, which moves most cells to their places."""
    if settings.coarse_iterations == 0:
        start = Cells.of_grid(whole.columns, whole.rows)
    else:
        half = whole.halved()
        rules = replace(settings, iterations=settings.coarse_iterations)
        coarse = _iterate(half, rules, Cells.of_grid(half.columns, half.rows))
        start = coarse.enlarged(*whole.lab.shape[1:])
    return _iterate(whole, settings, start).label_image


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of an image between two iterations."""

    label_image: Ints
    """(H, W) the cell of each pixel."""
    centres: Float32s
    """(cells, 5) mean L, a, b, x, y; zeros if they are not known yet."""
    planes: Float32s
    """(cells, 3) α, β, γ about the centre."""
    is_new: bool
    """Whether only the pixels are known."""

    @classmethod
    def of_grid(cls, columns: Ints, rows: Ints) -> Cells:
        """Return the cells of a grid."""
        count = (len(columns) - 1) * (len(rows) - 1)
        centres, planes = np.zeros((count, 5), np.float32), np.zeros((count, 3), np.float32)
        return cls(_grid_cells(columns, rows), centres, planes, is_new=True)

    def enlarged(self, height: int, width: int) -> Cells:
        """Return the cells in an image of twice the size."""
        whole = np.empty((height, width), np.int32)
        for i in (0, 1):
            for j in (0, 1):
                part = whole[i::2, j::2]
                part[:] = self.label_image[: part.shape[0], : part.shape[1]]
        centres, planes = self.centres.copy(), self.planes.copy()
        centres[:, 3:] = 2 * centres[:, 3:] + np.float32(0.5)
        planes[:, :2] /= 2
        return Cells(whole, centres, planes, is_new=False)


def _iterate(picture: Picture, settings: SlicSettings, cells: Cells) -> Cells:
    """Alternate between moving cells to their pixels and assigning pixels to cells, in place."""
    lab, disparity, columns, rows = picture.lab, picture.disparity, picture.columns, picture.rows
    label_image, centres, planes = cells.label_image, cells.centres, cells.planes
    seen = np.empty((0, 0), np.float32) if disparity is None else disparity
    sums = np.empty((BANDS, len(planes), 6), np.int64), np.empty((BANDS, len(planes), 9))
    distance = (
        np.float32((settings.compactness / picture.step) ** 2),
        np.float32(0 if disparity is None else settings.disparity_weight),
        np.float32(settings.truncation),
    )
    inputs = lab, seen, centres, planes, columns, rows, *distance

    def move(reach: float) -> None:
        share(BANDS, bind(cell_sums, (lab, seen, label_image, centres, planes, reach), *sums))
        move_cells(*sums, centres, planes)

    reach = -1.0 if disparity is None else settings.truncation
    if cells.is_new:
        move(-1.0)
    if cells.is_new and disparity is not None:
        # Every cell starts with a level plane at its median disparity, which is then fitted.
        grid = seen, columns, rows
        planes[:, 2] = share_rows(len(rows) - 1, bind(cell_medians, grid))
        move(2 * reach)
    for _ in range(settings.iterations):
        move(reach)
        share(len(rows) - 1, bind(assign, inputs, label_image))
    return replace(cells, is_new=False)


def _even(borders: Ints) -> Ints:
    """Return borders at even pixels, but for the last."""
    even = borders // 2 * 2
    even[-1] = borders[-1]
    return even


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
