"""Slanted surfaces with continuous borders, and what each view sees of them.

A *surface* is one plane d = a u + b v + c over a convex region of the left image's coordinates. A
*body* is one surface, or several that meet in creases. Regions are intersections of half-planes,
not sets of pixels, so that the right view is defined at points between left pixels too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

REACH = 3.0
"""Pixels by which regions are grown before the gap between bodies is tested.

Boundary pixels lie within chessboard distance 2 of the other segment, and 2·√2 < 3 pixels. So a
plane in front is in front at every pixel of the boundary, not only where the segments touch.
"""


@dataclass(frozen=True)
class Surface:
    """One plane over a convex region."""

    plane: Floats
    """(a, b, c) of d = a u + b v + c, in left-image coordinates."""
    support: Floats
    """(K, 3) half-planes (p, q, r): the region is where p u + q v + r ≥ 0 for every row, with (p,
    q) of unit length. No rows: the whole plane."""
    body: int
    """Which body the surface belongs to; bodies are numbered from back to front."""

    def disparity(self, u: Floats, v: Floats) -> Floats:
        """Return the disparity of the unbounded plane at the points (u, v)."""
        a, b, c = self.plane
        return np.asarray(a * u + b * v + c)

    def covers(self, u: Floats, v: Floats) -> npt.NDArray[np.bool_]:
        """Return whether the points (u, v) lie in the region or on its border."""
        inside = np.ones(np.broadcast_shapes(u.shape, v.shape), dtype=np.bool_)
        for p, q, r in self.support:
            # Without the tolerance, rounding could open a crack along the crease of two surfaces.
            inside &= p * u + q * v + r >= -1e-9
        return inside

    def grown(self) -> Floats:
        """Return the half-planes of the region, each moved outwards by `REACH`."""
        return np.asarray(self.support + np.array([0.0, 0.0, REACH]))


@dataclass(frozen=True)
class Hits:
    """What a view sees at each of its points: surface index, left-image column and disparity."""

    surface: Ints
    column: Floats
    disparity: Floats


def cast(
    surfaces: Sequence[Surface], x: Floats, v: Floats, *, right: bool, moved: float = 0.0
) -> Hits:
    """Find the nearest surface at the points (x, v) of the left or of the right view.

    A left point (u, v) appears at x = u − d(u, v) in the right view. On one plane that is affine,
    and u = (x + b v + c) / (1 − a) inverts it exactly. Cameras that have `moved` k baselines to the
    right see each point shifted by a further k times its disparity.
    """
    baselines = moved + right
    shape = np.broadcast_shapes(x.shape, v.shape)
    hits = Hits(np.full(shape, -1, np.int32), np.zeros(shape), np.full(shape, -np.inf))
    for index, surface in enumerate(surfaces):
        a, b, c = surface.plane
        u = np.broadcast_to((x + baselines * (b * v + c)) / (1.0 - baselines * a), shape)
        d = surface.disparity(u, v)
        nearer = surface.covers(u, v) & (d > hits.disparity)
        hits.surface[nearer] = index
        hits.column[nearer] = u[nearer]
        hits.disparity[nearer] = d[nearer]
    return hits


def clip(polygon: Floats, half_planes: Floats) -> Floats:
    """Clip a convex polygon, (n, 2), by half-planes, (k, 3); the result may be empty."""
    for p, q, r in half_planes:
        side = p * polygon[:, 0] + q * polygon[:, 1] + r
        after = np.roll(side, -1)
        kept = side >= 0
        crossed = kept != (after >= 0)
        step = np.divide(side, side - after, out=np.zeros_like(side), where=crossed)
        crossing = polygon + step[:, None] * (np.roll(polygon, -1, axis=0) - polygon)
        # Each vertex is followed by the crossing on the edge that starts there.
        both = np.stack([polygon, crossing], axis=1).reshape(-1, 2)
        polygon = both[np.stack([kept, crossed], axis=1).ravel()]
    return polygon


def pixel_grid(width: int, height: int) -> tuple[Floats, Floats]:
    """Return the columns, (1, W), and rows, (H, 1), of the pixels of an image."""
    u = np.arange(width, dtype=np.float64)
    v = np.arange(height, dtype=np.float64)
    return u[None, :], v[:, None]
