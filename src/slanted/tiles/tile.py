"""Tiles: sets of segments, with everything that their costs depend on, in a window of rows.

The right view shows a pixel in the same row, so windows are as wide as the image, and the costs of
a tile depend on the same rows of the right view only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.images.census_kernels import CENSUS_Y
from slanted.model.evidence import Evidence
from slanted.model.observations import Matches
from slanted.model.photometry import SAMPLED
from slanted.regions.structure import Boundaries, Regions
from slanted.runtime.arrays import Ints, Starts

if TYPE_CHECKING:
    from slanted.images.census import CensusPair
    from slanted.model.observations import Observations


@dataclass(frozen=True, eq=False)
class Tile:
    """Some segments of an image and their boundaries."""

    segments: Ints
    """The tile's own segments, then their neighbours in other tiles, as numbered in the image."""
    own: int
    """Number of the tile's own segments."""
    edges: Ints
    """The edges whose first segment is the tile's own, as numbered in the image."""
    first: int
    """First row of the window."""
    last: int
    """Row after the last of the window."""


@dataclass(frozen=True, eq=False)
class TileData:
    """A tile with its pixels, as it is sent to a worker."""

    regions: Regions
    """The tile's segments, their neighbours (without pixels) and its edges, but no junctions.
    Segments, edges and rows are numbered as in the tile."""
    evidence: Evidence
    """The evidence in the window; the grey views have up to `CENSUS_Y` extra rows at each end."""
    above: int
    """Number of extra rows of the grey views at the top."""
    lowest: float
    """Disparity of the model's 0, in pixels of the images."""

    def observe(self, factor: float, *, with_census: bool) -> Observations:
        """Gather the evidence by the tile's segments, scaled by a factor."""
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
    """Cut segments into tiles of about `pixels` pixels, from the top down by their centres."""
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
        # Sets are in raster order, so their first and last pixels are in their first and last rows.
        if len(members):
            first = min(first, int(pixels[start[members]].min()) // width)
            last = max(last, int(pixels[start[members + 1] - 1].max()) // width + 1)
    segments = np.concatenate([own, others]).astype(np.int32)
    # φ_pho visits one pixel in SAMPLED; a window that starts in such a row has the same ones.
    return Tile(segments, len(own), edges.astype(np.int32), first - first % SAMPLED, last)


def tile_data(tile: Tile, regions: Regions, evidence: Evidence, lowest: float) -> TileData:
    """Return a tile with its pixels."""
    height = len(regions.label_image)
    above = min(CENSUS_Y, tile.first)
    below = min(CENSUS_Y, height - tile.last)
    rows, more = slice(tile.first, tile.last), slice(tile.first - above, tile.last + below)
    grey, pixel_weights = evidence.grey, evidence.pixel_weights
    window = Evidence(
        evidence.disparity[rows],
        None if pixel_weights is None else pixel_weights[rows],
        grey=None if grey is None else (grey[0][more], grey[1][more]),
    )
    return TileData(_tile_regions(tile, regions), window, above, lowest)


def _tile_boundaries(tile: Tile, whole: Boundaries, offset: int) -> Boundaries:
    """Return the boundaries of the tile's own edges, placed as in its window."""
    pixels, start = take_sets(whole.pixels, whole.start, tile.edges)
    hull, hull_start = take_sets(whole.hull_points, whole.hull_start, tile.edges)
    return Boundaries(
        pixels - np.int32(offset),
        start,
        whole.centre[tile.edges] - np.array([0.0, tile.first]),
        whole.covariance[tile.edges],
        hull - np.array([0, tile.first], np.int32),
        hull_start,
    )


def _tile_regions(tile: Tile, regions: Regions) -> Regions:
    """Return the tile's part of the regions, numbered and placed as in its window."""
    width = regions.label_image.shape[1]
    offset, shift = tile.first * width, np.array([0.0, tile.first])
    own, edges = tile.segments[: tile.own], tile.edges
    place = np.full(regions.count, -1, np.int32)
    place[tile.segments] = np.arange(len(tile.segments))
    pixels, pixel_start = take_sets(regions.pixel_order, regions.pixel_start, own)
    # Neighbours are included for their planes; their pixels belong to another tile.
    pixel_start = np.pad(pixel_start, (0, len(tile.segments) - tile.own), mode="edge")
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
        union_centre=regions.union_centre[edges] - shift,
        union_covariance=regions.union_covariance[edges],
        known_boundaries=_tile_boundaries(tile, regions.boundaries, offset),
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
    """Return some of the sets in `values`, one after the other, and where each starts."""
    size = start[members + 1] - start[members]
    taken = np.zeros(len(members) + 1, np.int64)
    np.cumsum(size, out=taken[1:])
    place = np.arange(taken[-1]) + np.repeat(start[members] - taken[:-1], size)
    return values[place], taken


def matches_of(regions: Regions, evidence: Evidence, segments: Ints, lowest: float) -> Matches:
    """Return the matches of some segments, numbered as in the image; others have none.

    They are those of `slanted.model.observations.observe`, without its copies of whole images.
    """
    pixels, _ = take_sets(regions.pixel_order, regions.pixel_start, segments)
    disparity = evidence.disparity.ravel()[pixels].astype(np.float64) - lowest
    known = np.isfinite(disparity)
    pixels = pixels[known]
    segment = regions.label_image.ravel()[pixels]
    count = np.bincount(segment, minlength=regions.count)
    row, column = np.divmod(pixels, regions.label_image.shape[1])
    weights = evidence.pixel_weights
    return Matches(
        start=np.concatenate([[0], np.cumsum(count)]),
        du=column - regions.centre[segment, 0],
        dv=row - regions.centre[segment, 1],
        disparity=disparity[known],
        weight=np.ones(len(pixels)) if weights is None else weights.ravel()[pixels].astype(float),
    )
