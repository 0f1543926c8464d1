"""Description of a pixel: its segment, its plane, and the labels of its boundaries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.output.overlays import shown_labels
from slanted.output.pixel_flag import PixelFlag
from slanted.output.pixel_maps import flags_of_rows
from slanted.output.space import LEAST_DISPARITY
from slanted.regions.edges import edge_numbers

if TYPE_CHECKING:
    from slanted.regions import Regions
    from slanted.result import Result
    from slanted.viewer.frames import Scene
    from slanted.viewer.others import Shown

NAMES = {
    BoundaryLabel.COPLANAR: "coplanar",
    BoundaryLabel.HINGE: "hinge",
    BoundaryLabel.LEFT_OCCLUSION: "hides it",
    BoundaryLabel.RIGHT_OCCLUSION: "hidden by it",
}
"""Names of boundary labels as seen from the first segment."""


def describe_pixel(scene: Scene, frame: Shown, u: int, v: int) -> dict[str, Any]:
    """Return what is known about a pixel, for JSON; an InputError if it is not in the image."""
    height, width = frame.disparity.shape
    if not (0 <= u < width and 0 <= v < height):
        raise InputError(f"pixel: expected one inside {width}×{height}, got ({u}, {v})")
    disparity = float(frame.disparity[v, u])
    plain = {
        "u": u,
        "v": v,
        "disparity": _number(disparity),
        "depth": _depth(scene, disparity),
        "truth": None if scene.truth is None else _number(scene.truth[v, u]),
    }
    result = frame.result
    if result is None:
        return plain
    segment = int(result.regions.label_image[v, u])
    is_sky = result.sky is not None and bool(result.sky[v, u])
    return {
        **plain,
        "matched": _number(result.matched[v, u]),
        "depth": None if is_sky else plain["depth"],
        "occluded": bool(result.occluded[v, u]),
        "confidence": None if result.confidence is None else float(result.confidence[v, u]),
        "deviation": None if result.deviation is None else float(result.deviation[v, u]),
        "flags": PixelFlag(int(flags_of_rows(result, slice(v, v + 1))[0, u])).words(),
        **describe_segment(result, segment, is_final=frame.is_final),
    }


def describe_segment(result: Result, segment: int, *, is_final: bool) -> dict[str, Any]:
    """Return the plane, the neighbours and the outline of a segment."""
    regions = result.regions
    share = slice(*regions.adjacency_start[segment : segment + 2])
    kinds, neighbours = shown_labels(regions, result.labels), []
    for other, edge in zip(
        regions.adjacency_other[share].tolist(), regions.adjacency_edge[share].tolist(), strict=True
    ):
        label = BoundaryLabel(int(result.labels[edge]))
        seen = label if segment < other else label.flipped()
        length = int(regions.boundary_length[edge])
        colour = int(kinds[edge])
        neighbours.append(
            {"segment": other, "label": NAMES[seen], "length": length, "colour": colour}
        )
    return {
        "segment": segment,
        "size": int(regions.size[segment]),
        "plane": [float(value) for value in result.planes[segment]],
        "centre": [float(value) for value in regions.centre[segment]],
        "margin": _number(result.margins[segment]) if is_final else None,
        "neighbours": sorted(neighbours, key=lambda each: -int(each["length"])),
        "outline": outline(regions, kinds, segment).tolist(),
    }


def outline(regions: Regions, kinds: NDArray[np.int64], segment: int) -> NDArray[np.int64]:
    """Return the outline of a segment as straight lines, (K, 5).

    Each row is from x, y to x, y (pixel (u, v) reaches from u to u + 1), and the kind of the
    boundary, −1 at the image's border.
    """
    rows, columns = np.divmod(regions.pixels(segment), regions.label_image.shape[1])
    top, left = int(rows.min()), int(columns.min())
    bottom, right = int(rows.max()) + 1, int(columns.max()) + 1
    around = np.full((bottom - top + 2, right - left + 2), -1, np.int32)
    y0, x0 = max(top - 1, 0), max(left - 1, 0)
    inside = regions.label_image[y0 : bottom + 1, x0 : right + 1]
    y, x = y0 - top + 1, x0 - left + 1
    around[y : y + inside.shape[0], x : x + inside.shape[1]] = inside
    found = [
        _sides(regions, kinds, segment, around, (left, top), upright=True),
        _sides(regions, kinds, segment, around.T, (top, left), upright=False),
    ]
    return np.concatenate(found)


def _sides(
    regions: Regions,
    kinds: NDArray[np.int64],
    segment: int,
    around: NDArray[np.int32],
    origin: tuple[int, int],
    *,
    upright: bool,
) -> NDArray[np.int64]:
    """Return the sides between pixels that are neighbours in a row of `around`."""
    before, after = around[:, :-1], around[:, 1:]
    across, along = np.nonzero(((before == segment) != (after == segment)).T)
    one, other = before[along, across], after[along, across]
    outside = np.where(one == segment, other, one)
    kind = np.full(len(across), -1, np.int64)
    inside = outside >= 0
    if inside.any():
        itself = np.full(int(inside.sum()), segment, np.int32)
        edge = edge_numbers(regions.edges, itself, outside[inside], regions.count)
        kind[inside] = kinds[edge]
    # Sides come line by line; a new stretch starts with a new line, a new label or after a gap.
    new = np.ones(len(across) + 1, bool)
    new[1:-1] = (np.diff(across) != 0) | (np.diff(along) != 1) | (np.diff(kind) != 0)
    first = np.flatnonzero(new[:-1])
    last = np.flatnonzero(new)[1:] - 1
    line = across[first] + origin[0]
    start, end = along[first] - 1 + origin[1], along[last] + origin[1]
    ends = (line, start, line, end) if upright else (start, line, end, line)
    return np.stack([*ends, kind[first]], axis=1)


def _depth(scene: Scene, disparity: float) -> float | None:
    if scene.calibration is None:
        return None
    return _number(scene.calibration.depth(np.array([disparity]), LEAST_DISPARITY)[0])


def _number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
