"""Tiles: sets of segments, with all that their costs depend on, in a window of rows.

A row is the unit of stereo: what the right view shows of a pixel lies in its row. So tiles are
whole rows wide, and what a window shows of the right view is all there is to know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.images.census_kernels import CENSUS_Y
from slanted.model.evidence import Evidence
from slanted.model.photometry import SAMPLED
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Ints, Starts

if TYPE_CHECKING:
    from slanted.images.census import CensusPair
    from slanted.model.observations import Observations


@dataclass(frozen=True, eq=False)
class Tile:
    """Some segments of an image and the boundaries that are theirs.

    Parameters
    ----------
    segments
        Numbers in the image of its own segments, then of their neighbours in other tiles.
    own
        How many are its own.
    edges
        Numbers in the image of the edges whose first segment is its own.
    first, last
        Rows of the window.
    """

    segments: Ints
    own: int
    edges: Ints
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class TileData:
    """A tile with its pixels: what travels to a worker.

    Parameters
    ----------
    regions
        Its segments and neighbours, the latter without pixels, its edges, and no junctions.
        Numbers and rows are those of the tile.
    evidence
        The rows of its window; grey ones with `CENSUS_Y` more at each end, if the image has them.
    above
        How many rows more the grey ones have at the top.
    lowest
        The disparity from which the model counts.
    """

    regions: Regions
    evidence: Evidence
    above: int
    lowest: float

    def observe(self, factor: float, *, with_census: bool) -> Observations:
        """Gather the evidence by the tile's segments."""
        from slanted.model.observations import observe

        census = self._census() if with_census else None
        evidence = replace(self.evidence, census=census)
        return observe(self.regions, evidence, self.lowest).scaled(factor)

    def _census(self) -> CensusPair | None:
        from slanted.images.census import CensusPair, census_of_pair

        if self.evidence.grey is None:
            return None
        rows = slice(self.above, self.above + len(self.evidence.disparity))
        census = census_of_pair(self.evidence.grey)
        return CensusPair(census.left[rows], census.right[rows])


def make_tiles(regions: Regions, pixels: int) -> list[Tile]:
    """Cut segments into tiles of about so many pixels, from the top down by their centres."""
    order = np.argsort(regions.centre[:, 1], kind="stable").astype(np.int32)
    before = np.cumsum(regions.size[order]) - regions.size[order]
    count = max(1, round(int(regions.size.sum()) / pixels))
    tile_of = np.empty(regions.count, np.int64)
    tile_of[order] = before * count // int(regions.size.sum())
    edge_tile = tile_of[regions.edges[:, 0]]
    return [
        _tile(regions, np.flatnonzero(tile_of == k), np.flatnonzero(edge_tile == k))
        for k in range(count)
        if (tile_of == k).any()
    ]


def _tile(regions: Regions, own: Starts, edges: Starts) -> Tile:
    others = np.setdiff1d(regions.edges[edges, 1], own)
    width = regions.label_image.shape[1]
    first, last = len(regions.label_image), 0
    for pixels, start, members in (
        (regions.pixel_order, regions.pixel_start, own),
        (regions.boundary_pixels, regions.boundary_start, edges),
    ):
        # In raster order: the first pixel of a set is in its first row, the last in its last.
        if len(members):
            first = min(first, int(pixels[start[members]].min()) // width)
            last = max(last, int(pixels[start[members + 1] - 1].max()) // width + 1)
    segments = np.concatenate([own, others]).astype(np.int32)
    # φ_pho looks at one pixel in SAMPLED; in such a row the window starts with the same ones.
    return Tile(segments, len(own), edges.astype(np.int32), first - first % SAMPLED, last)


def tile_data(tile: Tile, regions: Regions, evidence: Evidence, lowest: float) -> TileData:
    """Return a tile with its pixels."""
    height = len(regions.label_image)
    above = min(CENSUS_Y, tile.first)
    below = min(CENSUS_Y, height - tile.last)
    rows, more = slice(tile.first, tile.last), slice(tile.first - above, tile.last + below)
    grey, weights = evidence.grey, evidence.pixel_weights
    window = Evidence(
        evidence.disparity[rows],
        None if weights is None else weights[rows],
        grey=None if grey is None else (grey[0][more], grey[1][more]),
    )
    return TileData(_tile_regions(tile, regions), window, above, lowest)


def _tile_regions(tile: Tile, regions: Regions) -> Regions:
    """Return the tile's share of the regions, numbered and placed as in its window."""
    width = regions.label_image.shape[1]
    offset, shift = tile.first * width, np.array([0.0, tile.first])
    own, edges = tile.segments[: tile.own], tile.edges
    place = np.full(regions.count, -1, np.int32)
    place[tile.segments] = np.arange(len(tile.segments))
    pixels, pixel_start = take_sets(regions.pixel_order, regions.pixel_start, own)
    # Neighbours are there for their planes: their pixels are another tile's.
    pixel_start = np.pad(pixel_start, (0, len(tile.segments) - tile.own), mode="edge")
    boundary, boundary_start = take_sets(regions.boundary_pixels, regions.boundary_start, edges)
    hull, hull_start = take_sets(regions.hull_points, regions.hull_start, edges)
    none = np.empty((0, 3), np.int32), np.empty((0, 2))
    return replace(
        regions,
        label_image=regions.label_image[tile.first : tile.last],
        pixel_order=pixels - np.int32(offset),
        pixel_start=pixel_start,
        size=regions.size[tile.segments],
        centre=regions.centre[tile.segments] - shift,
        covariance=regions.covariance[tile.segments],
        edges=place[regions.edges[edges]],
        boundary_length=regions.boundary_length[edges],
        boundary_pixels=boundary - np.int32(offset),
        boundary_start=boundary_start,
        boundary_centre=regions.boundary_centre[edges] - shift,
        boundary_covariance=regions.boundary_covariance[edges],
        union_centre=regions.union_centre[edges] - shift,
        union_covariance=regions.union_covariance[edges],
        hull_points=hull - np.array([0, tile.first], np.int32),
        hull_start=hull_start,
        adjacency_start=np.zeros(len(tile.segments) + 1, np.int64),
        adjacency_other=np.empty(0, np.int32),
        adjacency_edge=np.empty(0, np.int32),
        junctions3=none[0],
        junctions3_edges=none[0],
        junctions3_position=none[1],
        junctions4=np.empty((0, 4), np.int32),
        junctions4_edges=np.empty((0, 4), np.int32),
        junctions4_position=none[1],
        histograms=None if regions.histograms is None else regions.histograms[tile.segments],
        chi_squared=None if regions.chi_squared is None else regions.chi_squared[edges],
    )


def take_sets(
    values: NDArray[Any], start: Starts, members: NDArray[np.integer]
) -> tuple[NDArray[Any], Starts]:
    """Return some of many sets that are stored one after the other, and their starts."""
    size = start[members + 1] - start[members]
    taken = np.zeros(len(members) + 1, np.int64)
    np.cumsum(size, out=taken[1:])
    place = np.arange(taken[-1]) + np.repeat(start[members] - taken[:-1], size)
    return values[place], taken
