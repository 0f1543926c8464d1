"""Building `Regions` from a label image."""

from __future__ import annotations

from typing import Any

from slanted.partition.label_image import check_label_image
from slanted.partition.run_kernels import row_runs
from slanted.regions.colour import check_colours, chi_squared, colour_histograms
from slanted.regions.edges import (
    adjacency_lists,
    adjacent_pairs,
    boundary_intervals,
    gather_sets,
    segment_sets,
)
from slanted.regions.hull_kernels import convex_hulls
from slanted.regions.junctions import find_junctions, junction_edges
from slanted.regions.moments import set_moments, union_moments
from slanted.regions.structure import Regions
from slanted.runtime.threads import together


def build_regions(label_image: Any, image: Any = None, *, trusted: bool = False) -> Regions:
    """Find the segments, boundaries and junctions of a label image.

    Parameters
    ----------
    label_image
        (H, W) integers 0 … n−1; each must occur, in one 4-connected piece. `label_image_from_user`
        makes such labels of any others.
    image
        (H, W, 3) RGB or (H, W) grey, 8 or 16 bit, for colour histograms; None leaves them out.
    trusted
        Whether labels come from this package, (H, W) int32: they are then kept, unchecked.

    Raises
    ------
    InputError
        If labels or image cannot be used; the message says why.
    """
    checked = label_image if trusted else check_label_image(label_image)
    height, width = checked.shape
    colours = None if image is None else check_colours(image, checked.shape)
    count = int(checked.max()) + 1

    runs = row_runs(checked)

    def neighbours() -> tuple[Any, ...]:
        edges, length = adjacent_pairs(checked, runs, count)
        return edges, length, adjacency_lists(edges, count)

    (edges, boundary_length, adjacency), (pixel_order, pixel_start) = together(
        neighbours, lambda: segment_sets(checked, runs, count)
    )
    intervals = boundary_intervals(checked, runs, adjacency)
    size = pixel_start[1:] - pixel_start[:-1]

    def boundaries() -> tuple[Any, ...]:
        pixels, start = gather_sets(intervals, len(edges))
        hulls = convex_hulls(pixels, start, height, width)
        return pixels, start, set_moments(pixels, start, width), hulls

    def segments() -> tuple[Any, ...]:
        histograms = None if colours is None else colour_histograms(checked, colours, size)
        return set_moments(pixel_order, pixel_start, width), histograms

    # The longest first, in this thread; the others are shorter and share what threads there are.
    boundary, segment, junctions = together(boundaries, segments, lambda: find_junctions(checked))
    (centre, covariance), histograms = segment
    boundary_pixels, boundary_start, boundary_moments, (hull_points, hull_start) = boundary
    boundary_centre, boundary_covariance = boundary_moments
    union_centre, union_covariance = union_moments(size, centre, covariance, edges)
    (junctions3, position3), (junctions4, position4) = junctions
    return Regions(
        label_image=checked,
        pixel_order=pixel_order,
        pixel_start=pixel_start,
        size=size,
        centre=centre,
        covariance=covariance,
        edges=edges,
        boundary_length=boundary_length,
        adjacency_start=adjacency[0],
        adjacency_other=adjacency[1],
        adjacency_edge=adjacency[2],
        boundary_pixels=boundary_pixels,
        boundary_start=boundary_start,
        boundary_centre=boundary_centre,
        boundary_covariance=boundary_covariance,
        union_centre=union_centre,
        union_covariance=union_covariance,
        hull_points=hull_points,
        hull_start=hull_start,
        junctions3=junctions3,
        junctions3_edges=junction_edges(edges, junctions3, count),
        junctions3_position=position3,
        junctions4=junctions4,
        junctions4_edges=junction_edges(edges, junctions4, count),
        junctions4_position=position4,
        histograms=histograms,
        chi_squared=None if histograms is None else chi_squared(histograms, edges),
    )
