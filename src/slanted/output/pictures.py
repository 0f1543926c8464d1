"""Pictures of disparities, their errors, confidence, segments and boundary labels, and legends.

All colours of slanted are chosen here and in `slanted.output.charts`; a function that paints has
beside it one that tells what its colours mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.output.legends import Legend, Swatch, scale_legend

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.regions import Regions

UNKNOWN_COLOUR = (0, 0, 0)
NO_RIVAL_COLOUR = (235, 235, 235)
"""Of segments that no other plane was ever drawn for."""
MANY_PIXELS = 1_000_000
LEVELS = np.arange(256, dtype=np.uint8)

BOUNDARY_COLOUR = (255, 220, 0)
JUNCTION3_COLOUR = (0, 200, 255)
JUNCTION4_COLOUR = (230, 0, 120)

LABEL_COLOURS = {
    "coplanar": (0, 158, 115),
    "hinge": (240, 228, 66),
    "left (above) in front": (213, 94, 0),
    "right (below) in front": (86, 180, 233),
}
"""Of boundaries; Okabe and Ito's set, safe for colour-blind readers."""
UNKNOWN = Swatch("unknown", UNKNOWN_COLOUR)

ERROR_STEPS = np.array([0.1875, 0.375, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0], np.float32)
"""Pixels at which the error picture changes colour: KITTI 2015's scale, doubling each time."""
ERROR_COLOURS = np.array(
    [
        (49, 54, 149),
        (69, 117, 180),
        (116, 173, 209),
        (171, 217, 233),
        (224, 243, 248),
        (254, 224, 144),
        (253, 174, 97),
        (244, 109, 67),
        (215, 48, 39),
        (165, 0, 38),
    ],
    np.uint8,
)
"""ColorBrewer's RdYlBu: blue below 3 px, warm above, safe for colour-blind readers."""


def grey_image(shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return what stands in for the left image of (H, W) pixels where it is not there."""
    return np.full((*shape[:2], 3), 128, np.uint8)


def colour_disparity(
    disparity: NDArray[np.float32], low: float | None = None, high: float | None = None
) -> NDArray[np.uint8]:
    """Paint a disparity map: dark violet is far, yellow near, black unknown.

    Parameters
    ----------
    disparity
        Pixels, NaN for unknown.
    low, high
        Ends of the scale; by default the map's own 1 % and 99 % quantiles, so that a few outliers
        do not wash out the rest.
    """
    known = np.isfinite(disparity)
    own_low, own_high = disparity_scale(disparity)
    low = own_low if low is None else low
    high = own_high if high is None else high
    span = max(high - low, 1e-6)
    level = np.clip((np.where(known, disparity, low) - low) / span, 0, 1) * 255
    painted = viridis()[np.rint(level).astype(np.uint8)]
    painted[~known] = UNKNOWN_COLOUR
    return painted


def disparity_scale(disparity: NDArray[np.float32]) -> tuple[float, float]:
    """Return the ends of a map's own scale, in pixels: its 1 % and 99 % quantiles."""
    # A million pixels tell as much as all of them, and are sorted sooner.
    some = disparity.reshape(-1)[:: max(1, disparity.size // MANY_PIXELS)]
    known = some[np.isfinite(some)]
    if not known.size:
        return 0.0, 1.0
    low, high = np.quantile(known, [0.01, 0.99])
    return float(low), float(high)


def disparity_legend(low: float, high: float, title: str = "disparity, px") -> Legend:
    """Return the legend of `colour_disparity` on a scale."""
    return scale_legend(title, viridis(), low, high, [UNKNOWN])


def viridis() -> NDArray[np.uint8]:
    """Return the 256 colours of disparities, RGB: perceptually even, safe for the colour-blind."""
    import cv2

    return _colour_map(cv2.COLORMAP_VIRIDIS)


def cividis() -> NDArray[np.uint8]:
    """Return the 256 colours of confidence, RGB, which nobody takes for disparities."""
    import cv2

    return _colour_map(cv2.COLORMAP_CIVIDIS)


def _colour_map(number: int) -> NDArray[np.uint8]:
    import cv2

    colours: NDArray[np.uint8] = cv2.applyColorMap(LEVELS[:, None], number)[:, 0, ::-1]
    return np.ascontiguousarray(colours)


def colour_confidence(regions: Regions, confidence: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Paint each segment by its confidence on a logarithmic scale: dark deserves doubt.

    Segments whose confidence is infinite, because no other plane was ever drawn, are light grey.
    """
    low, high = np.log1p(confidence_scale(confidence))
    finite = np.isfinite(confidence)
    level = (np.log1p(np.where(finite, confidence, 0)) - low) / (high - low)
    colours = cividis()[np.rint(np.clip(level, 0, 1) * 255).astype(np.uint8)]
    colours[~finite] = NO_RIVAL_COLOUR
    painted: NDArray[np.uint8] = colours[regions.label_image]
    return painted


def confidence_scale(confidence: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the scale of confidence: the 2 % and 98 % quantiles, at least 1 apart."""
    known = confidence[np.isfinite(confidence)]
    low, high = np.quantile(known, [0.02, 0.98]) if known.size else (0.0, 1.0)
    return float(low), max(float(high), float(low) + 1)


def confidence_legend(confidence: NDArray[np.float64]) -> Legend:
    """Return the legend of `colour_confidence`."""
    low, high = confidence_scale(confidence)
    values = [factor * 10.0**k for k in range(-1, 9) for factor in (1, 3)]
    start, end = np.log1p([low, high])
    ticks = [
        (float((np.log1p(value) - start) / (end - start)), f"{value:.15g}")
        for value in (0.0, *values)
        if low <= value <= high
    ]
    rival = Swatch("no rival", NO_RIVAL_COLOUR)
    return Legend("confidence, energy", cividis(), tuple(ticks), (rival,))


def colour_error(
    disparity: NDArray[np.float32], ground_truth: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Paint the absolute error on KITTI 2015's logarithmic scale, black without ground truth.

    A pixel with ground truth but no estimate has the colour of the largest error.
    """
    if disparity.shape != ground_truth.shape:
        raise InputError(
            f"ground_truth: expected the shape of the disparity, {disparity.shape}, got "
            f"{ground_truth.shape}"
        )
    error = np.abs(disparity - ground_truth)
    known = np.isfinite(ground_truth)
    error[known & ~np.isfinite(disparity)] = np.inf
    steps = np.searchsorted(ERROR_STEPS, np.where(known, error, 0), side="left")
    painted = ERROR_COLOURS[steps]
    painted[~known] = UNKNOWN_COLOUR
    return painted


def error_legend(title: str = "error, px") -> Legend:
    """Return the legend of `colour_error`."""
    count = len(ERROR_COLOURS)
    ticks = [((k + 1) / count, f"{step:.2g}") for k, step in enumerate(ERROR_STEPS.tolist())]
    return Legend(title, ERROR_COLOURS, tuple(ticks), (Swatch("no truth", UNKNOWN_COLOUR),))


def mosaic(pictures: Sequence[NDArray[np.uint8]], columns: int = 2) -> NDArray[np.uint8]:
    """Lay pictures of equal size out in rows, filled up with black."""
    blank = np.zeros_like(pictures[0])
    filled = [*pictures, *[blank] * (-len(pictures) % columns)]
    rows = [np.hstack(filled[k : k + columns]) for k in range(0, len(filled), columns)]
    return np.vstack(rows)


def paint_boundaries(
    image: Image, labels: NDArray[np.int32], colour: tuple[int, int, int] = BOUNDARY_COLOUR
) -> NDArray[np.uint8]:
    """Draw the lines between segments over the image, one pixel wide."""
    from slanted.images.colour import as_rgb8

    picture = as_rgb8(image).copy()
    picture[boundary_lines(labels)] = colour
    return picture


def boundary_lines(labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return (H, W) the pixels whose right or lower neighbour is in another segment."""
    line = np.zeros(labels.shape, np.bool_)
    line[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    line[:-1] |= labels[:-1] != labels[1:]
    return line


def paint_regions(image: Image, regions: Regions) -> NDArray[np.uint8]:
    """Draw segments over the image and mark junctions: discs for 3-way, squares for 4-way."""
    import cv2

    picture = paint_boundaries(image, regions.label_image)
    for u, v in np.floor(regions.junctions3_position).astype(int).tolist():
        cv2.circle(picture, (u, v), 2, JUNCTION3_COLOUR, cv2.FILLED)
    for u, v in np.floor(regions.junctions4_position).astype(int).tolist():
        cv2.rectangle(picture, (u - 3, v - 3), (u + 3, v + 3), JUNCTION4_COLOUR, cv2.FILLED)
    return picture


def regions_legend() -> Legend:
    """Return the legend of `paint_regions`."""
    names = ("boundary", "3-way junction", "4-way junction")
    colours = (BOUNDARY_COLOUR, JUNCTION3_COLOUR, JUNCTION4_COLOUR)
    return Legend("segments", swatches=tuple(map(Swatch, names, colours)))


def colour_segments(regions: Regions, image: Image) -> NDArray[np.uint8]:
    """Fill every segment with its mean colour: what the image is to the model."""
    from slanted.images.colour import as_rgb8

    rgb = as_rgb8(image).reshape(-1, 3)
    flat = regions.label_image.reshape(-1)
    means = [np.bincount(flat, weights=rgb[:, c]) / regions.size for c in range(3)]
    colours: NDArray[np.uint8] = np.rint(np.stack(means, axis=1)).astype(np.uint8)
    painted: NDArray[np.uint8] = colours[regions.label_image]
    return painted


def grey_strength(strength: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Paint contour strengths, the strongest thousandth white."""
    white = max(float(np.quantile(strength, 0.999)), 1e-6)
    level: NDArray[np.float32] = np.clip(strength / white, 0, 1) * 255
    return np.rint(level).astype(np.uint8)


def strength_legend(strength: NDArray[np.float32]) -> Legend:
    """Return the legend of `grey_strength`."""
    white = max(float(np.quantile(strength, 0.999)), 1e-6)
    return scale_legend("contour strength", np.repeat(LEVELS[:, None], 3, axis=1), 0, white)


def labels_legend() -> Legend:
    """Return the legend of `paint_labels`."""
    swatches = tuple(Swatch(name, colour) for name, colour in LABEL_COLOURS.items())
    return Legend("boundaries", swatches=swatches)


def shown_labels(regions: Regions, labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return (E,) which of `LABEL_COLOURS` each boundary has.

    The paper's "left" and "right" are the first and second segment of a pair. A reader sees sides
    of the image, so occlusions are told apart by whether the front segment lies to the left (or,
    where one is above the other, above).
    """
    from slanted.boundary_label import BoundaryLabel

    right, down = _across(regions)
    first_is_left = np.where(np.abs(right) >= np.abs(down), right >= 0, down >= 0)
    first_in_front = labels == BoundaryLabel.LEFT_OCCLUSION
    kinds = np.where(labels >= BoundaryLabel.LEFT_OCCLUSION, 2, labels).astype(np.int64)
    return np.where((kinds == 2) & (first_in_front != first_is_left), 3, kinds)


def _across(regions: Regions) -> NDArray[np.float64]:
    """Return (2, E) how far right and down of the first segment the second lies, at the boundary.

    Segments may bend round each other, so that their centres tell another story.
    """
    edge = np.repeat(np.arange(regions.number_of_edges), np.diff(regions.boundary_start))
    pixels = regions.boundary_pixels
    first = regions.label_image.reshape(-1)[pixels] == regions.edges[edge, 0]
    rows, columns = np.divmod(pixels, regions.label_image.shape[1])

    def centres(of: NDArray[np.bool_]) -> NDArray[np.float64]:
        count = np.bincount(edge[of], minlength=regions.number_of_edges)
        sums = [np.bincount(edge[of], at[of], regions.number_of_edges) for at in (columns, rows)]
        return np.asarray(sums) / np.maximum(count, 1)

    return centres(~first) - centres(first)


def paint_labels(image: Image, regions: Regions, labels: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Draw boundaries over the darkened image in the colours of their labels.

    Occlusions are painted last and on the front segment's pixels of the boundary.
    """
    from slanted.images.colour import as_rgb8

    lines = label_lines(regions, labels)
    picture: NDArray[np.uint8] = as_rgb8(image) // 2
    picture[lines > 0] = label_palette()[lines[lines > 0] - 1]
    return picture


def label_palette() -> NDArray[np.uint8]:
    """Return (4, 3) the colours of `LABEL_COLOURS`."""
    return np.array(list(LABEL_COLOURS.values()), np.uint8)


def label_lines(regions: Regions, labels: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return (H, W) the lines of `paint_labels`: 0 for none, 1 to 4 for the colours in order."""
    from slanted.boundary_label import BoundaryLabel
    from slanted.regions.edges import edge_numbers

    kinds = (shown_labels(regions, labels) + 1).astype(np.uint8)
    front = np.where(labels == BoundaryLabel.RIGHT_OCCLUSION, regions.edges[:, 1], -1)
    front = np.where(labels == BoundaryLabel.LEFT_OCCLUSION, regions.edges[:, 0], front)

    lines = np.zeros(regions.label_image.size, np.uint8)
    place = np.arange(regions.label_image.size).reshape(regions.label_image.shape)
    for here, there, a, b in (
        (regions.label_image[:, :-1], regions.label_image[:, 1:], place[:, :-1], place[:, 1:]),
        (regions.label_image[:-1], regions.label_image[1:], place[:-1], place[1:]),
    ):
        differ = here != there
        edge = edge_numbers(regions.edges, here[differ], there[differ], regions.count)
        shown = front[edge] == -1
        for pixels in (a[differ], b[differ]):
            lines[pixels[shown]] = kinds[edge[shown]]
    edge = np.repeat(np.arange(len(labels), dtype=np.int32), np.diff(regions.boundary_start))
    pixels = regions.boundary_pixels
    in_front = regions.label_image.reshape(-1)[pixels] == front[edge]
    lines[pixels[in_front]] = kinds[edge[in_front]]
    return lines.reshape(regions.label_image.shape)
