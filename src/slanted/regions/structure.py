"""The segments of an image: their pixels, their graph and their junctions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from slanted.runtime.arrays import Floats, Ints, Starts


@dataclass(frozen=True, eq=False)
class Boundaries:
    """The pixels B_ij of each edge, in sets as those of `Regions`."""

    pixels: Ints
    """Flat indices of the pixels of either segment near the other, in raster order."""
    start: Starts
    """(E + 1,) where each edge starts in `pixels`."""
    centre: Floats
    """(E, 2) mean pixel coordinate."""
    covariance: Floats
    """(E, 3) covariance of the pixels."""
    hull_points: Ints
    """(V, 2) corners of the convex hull of each B_ij, no three on a line, clockwise on the screen
    (v points down) from the first in raster order; a set on a line has its two ends."""
    hull_start: Starts
    """(E + 1,) where each edge starts in `hull_points`."""

    def __post_init__(self) -> None:
        _protect(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _protect(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Regions:
    """Segments of an image, the boundaries between them and the junctions where those meet.

    Points are (u, v) = (column, row) of pixel centres. Covariances are (uu, uv, vv) of all pixels
    of a set, divided by their number. Sets are stored one after the other: those of segment or edge
    k are at ``x_start[k] : x_start[k + 1]``. Pixels are flat indices, row × width + column.
    `build_regions` makes the regions; all arrays are read-only.
    """

    label_image: Ints
    """(H, W) segment of each pixel, 0 … n−1; each segment is 4-connected."""
    pixel_order: Ints
    """(H·W,) pixels by segment, in raster order inside a segment."""
    pixel_start: Starts
    """(n + 1,) where each segment starts in `pixel_order`."""
    size: Starts
    """(n,) number of pixels, \\|S_i\\|."""
    centre: Floats
    """(n, 2) mean pixel coordinate, the c_i about which the paper writes plane i."""
    covariance: Floats
    """(n, 3) covariance of the pixels of S_i."""

    edges: Ints
    """(E, 2) neighbours i < j, in lexicographic order: segments that share a side of a pixel."""
    boundary_length: Starts
    """(E,) number of pixel sides that the two share."""
    adjacency_start: Starts
    """(n + 1,) where each segment starts in `adjacency_other` and `adjacency_edge`."""
    adjacency_other: Ints
    """(2E,) neighbours of each segment, ascending."""
    adjacency_edge: Ints
    """(2E,) the edges to them."""

    union_centre: Floats
    """(E, 2) mean pixel coordinate of S_i ∪ S_j."""
    union_covariance: Floats
    """(E, 3) covariance of the pixels of S_i ∪ S_j."""

    junctions3: Ints
    """(J3, 3) segments i < j < k that meet in a point; unique, in lexicographic order."""
    junctions3_edges: Ints
    """(J3, 3) edges ij, jk, ik: the order of the paper's o_ij, o_jk, o_ik."""
    junctions3_position: Floats
    """(J3, 2) the first such point in raster order, a corner between pixels (half integers)."""
    junctions4: Ints
    """(J4, 4) segments p, q, r, s in cyclic order around a point, p the smallest and q < s; unique,
    in lexicographic order."""
    junctions4_edges: Ints
    """(J4, 4) edges pq, qr, rs, ps: the order of the paper's 4-way potential."""
    junctions4_position: Floats
    """(J4, 2) the first such point in raster order."""

    histograms: Floats | None
    """(n, 64) share of each segment's pixels in 4 × 4 × 4 RGB bins; None without an image."""
    chi_squared: Floats | None
    """(E,) ½ Σ (h − g)² / (h + g) of the two segments' histograms, 0 … 1; None without an image."""

    known_boundaries: Boundaries | None = None
    """What `boundaries` returns; if None, it is found when it is first asked for."""

    def __post_init__(self) -> None:
        _protect(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays would be writeable.
        self.__dict__.update(state)
        _protect(self)

    @cached_property
    def boundaries(self) -> Boundaries:
        """The pixels B_ij of each edge."""
        from slanted.regions.build import find_boundaries

        if self.known_boundaries is not None:
            return self.known_boundaries
        adjacency = self.adjacency_start, self.adjacency_other, self.adjacency_edge
        return find_boundaries(self.label_image, adjacency, self.number_of_edges)

    @property
    def boundary_pixels(self) -> Ints:
        """Pixels of B_ij of each edge, in raster order: those of either segment near the other."""
        return self.boundaries.pixels

    @property
    def boundary_start(self) -> Starts:
        """(E + 1,) where each edge starts in `boundary_pixels`."""
        return self.boundaries.start

    @property
    def boundary_centre(self) -> Floats:
        """(E, 2) mean pixel coordinate of B_ij."""
        return self.boundaries.centre

    @property
    def boundary_covariance(self) -> Floats:
        """(E, 3) covariance of the pixels of B_ij."""
        return self.boundaries.covariance

    @property
    def hull_points(self) -> Ints:
        """(V, 2) corners of the convex hull of each B_ij; see `Boundaries`."""
        return self.boundaries.hull_points

    @property
    def hull_start(self) -> Starts:
        """(E + 1,) where each edge starts in `hull_points`."""
        return self.boundaries.hull_start

    @property
    def count(self) -> int:
        """Number of segments, n."""
        return len(self.size)

    @property
    def number_of_edges(self) -> int:
        """Number of boundary variables, E."""
        return len(self.edges)

    def pixels(self, segment: int) -> Ints:
        """Return the flat indices of S_i."""
        return self.pixel_order[self.pixel_start[segment] : self.pixel_start[segment + 1]]

    def boundary(self, edge: int) -> Ints:
        """Return the flat indices of B_ij."""
        return self.boundary_pixels[self.boundary_start[edge] : self.boundary_start[edge + 1]]

    def hull(self, edge: int) -> Ints:
        """Return the corners (u, v) of the convex hull of B_ij."""
        return self.hull_points[self.hull_start[edge] : self.hull_start[edge + 1]]

    def neighbours(self, segment: int) -> Ints:
        """Return the segments that share an edge with this one, ascending."""
        return self.adjacency_other[
            self.adjacency_start[segment] : self.adjacency_start[segment + 1]
        ]


def _protect(arrays: object) -> None:
    for value in vars(arrays).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
