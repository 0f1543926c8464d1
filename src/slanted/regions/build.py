"""Building `Regions` from a label image."""

from __future__ import annotations

from typing import Any

import numpy as np

from slanted.partition.label_image import check_label_image
from slanted.partition.run_kernels import Runs, row_runs
from slanted.regions.edges import (
    adjacency_lists,
    adjacent_pairs,
    boundary_intervals,
    gather_sets,
    segment_sets,
)
from slanted.regions.hull_kernels import convex_hulls
from slanted.regions.junctions import find_junctions, junction_edges
from slanted.regions.statistics import (
    check_colours,
    chi_squared,
    colour_histograms,
    set_moments,
    union_moments,
)
from slanted.regions.structure import Boundaries, Regions
from slanted.runtime.arrays import Bytes, Ints, Starts
from slanted.runtime.threads import together

Fields = dict[str, Any]
"""Some fields of `Regions`, by name."""


def build_regions(
    label_image: Any, image: Any = None, *, trusted: bool = False, boundaries: bool = True
) -> Regions:
    """Find the segments, boundaries and junctions of a label image.

    Parameters
    ----------
    label_image
        (H, W) integers 0 … n−1; each must occur and be 4-connected. `label_image_from_user` makes
        such an image of any other.
    image
        (H, W, 3) RGB or (H, W) grey, 8 or 16 bit, for colour histograms; None leaves them out.
    trusted
        Whether the label image comes from this package, as int32; it is then used unchecked.
    boundaries
        Whether to find the pixels of boundaries at once, and not when they are first asked for.
        Finding them is half of the work.

    Raises
    ------
    InputError
        If the label image or the image cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> regions = build_regions(np.array([[0, 0, 1], [0, 2, 1]]))
    >>> regions.edges.tolist(), regions.junctions3.tolist()
    ([[0, 1], [0, 2], [1, 2]], [[0, 1, 2]])
    """
    checked = label_image if trusted else check_label_image(label_image)
    colours = None if image is None else check_colours(image, checked.shape)
    count = int(checked.max()) + 1
    runs = row_runs(checked)
    graph, (pixels, start) = together(
        lambda: _graph(checked, runs, count), lambda: segment_sets(checked, runs, count)
    )
    edges = graph["edges"]
    adjacency = graph["adjacency_start"], graph["adjacency_other"], graph["adjacency_edge"]
    intervals = boundary_intervals(checked, runs, adjacency) if boundaries else None
    # The longest task runs in this thread; the shorter ones share the other threads.
    known, segments, junctions = together(
        lambda: None if intervals is None else _boundaries(intervals, len(edges), checked.shape),
        lambda: _segments(checked, pixels, start, colours),
        lambda: _junctions(checked, edges, count),
    )
    unions = union_moments(segments["size"], segments["centre"], segments["covariance"], edges)
    histograms = segments["histograms"]
    return Regions(
        label_image=checked,
        union_centre=unions[0],
        union_covariance=unions[1],
        chi_squared=None if histograms is None else chi_squared(histograms, edges),
        **segments,
        **graph,
        **junctions,
        known_boundaries=known,
    )


def find_boundaries(
    label_image: Ints, adjacency: tuple[Starts, Ints, Ints], count: int
) -> Boundaries:
    """Find the pixels B_ij of the `count` edges of an adjacency; see `Regions`."""
    intervals = boundary_intervals(label_image, row_runs(label_image), adjacency)
    return _boundaries(intervals, count, label_image.shape)


def _graph(label_image: Ints, runs: Runs, count: int) -> Fields:
    edges, length = adjacent_pairs(label_image, runs, count)
    start, other, edge = adjacency_lists(edges, count)
    lists = {"adjacency_start": start, "adjacency_other": other, "adjacency_edge": edge}
    return {"edges": edges, "boundary_length": length, **lists}


def _segments(label_image: Ints, pixels: Ints, start: Starts, colours: Bytes | None) -> Fields:
    size = np.diff(start)
    histograms = None if colours is None else colour_histograms(label_image, colours, size)
    centre, covariance = set_moments(pixels, start, label_image.shape[1])
    moments = {"size": size, "centre": centre, "covariance": covariance}
    return {"pixel_order": pixels, "pixel_start": start, "histograms": histograms, **moments}


def _boundaries(intervals: Ints, count: int, shape: tuple[int, ...]) -> Boundaries:
    pixels, start = gather_sets(intervals, count)
    points, hull_start = convex_hulls(pixels, start, *shape)
    centre, covariance = set_moments(pixels, start, shape[1])
    return Boundaries(pixels, start, centre, covariance, points, hull_start)


def _junctions(label_image: Ints, edges: Ints, count: int) -> Fields:
    fields: Fields = {}
    names = "junctions3", "junctions4"
    for name, (segments, position) in zip(names, find_junctions(label_image), strict=True):
        around = junction_edges(edges, segments, count)
        fields |= {name: segments, f"{name}_edges": around, f"{name}_position": position}
    return fields
