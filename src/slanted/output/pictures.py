"""Pictures of whole maps: disparities, errors, planes, confidence, margins, contour strength.

Each function that paints has one beside it that returns the legend of its colours. Pictures over
the left image are in `slanted.output.overlays`, charts in `slanted.output.charts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.images.colour import as_rgb8
from slanted.output.legends import Legend, Swatch, scale_legend
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.regions import Regions

UNKNOWN_COLOUR = (0, 0, 0)
NO_RIVAL_COLOUR = (235, 235, 235)
"""The colour of segments for which no other plane was ever drawn."""
STEEP = 0.3
"""Slope in full colour, in pixels of disparity per pixel."""
MANY_PIXELS = 1_000_000
LEVELS = np.arange(256, dtype=np.uint8)
UNKNOWN = Swatch("unknown", UNKNOWN_COLOUR)
COLOUR_MAPS = ("viridis", "turbo", "inferno", "plasma", "magma", "cividis", "grey")
"""Names of the colour maps of disparities, depths and deviations."""

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
"""ColorBrewer's RdYlBu: blue below 3 px, warm above, which colour-blind readers can distinguish."""


def grey_image(shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return an (H, W, 3) grey image, in place of a missing left image."""
    return np.full((*shape[:2], 3), 128, np.uint8)


def rgb_or_grey(image: Image | None, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return an image as 8-bit RGB, or grey of that shape if there is none."""
    return grey_image(shape) if image is None else as_rgb8(image)


def colour_disparity(
    disparity: NDArray[np.float32],
    low: float | None = None,
    high: float | None = None,
    colours: str = "viridis",
) -> NDArray[np.uint8]:
    """Paint a disparity map: dark violet is far, yellow near, black unknown.

    The ends of the scale are by default the map's own 1 % and 99 % quantiles, so that a few
    outliers do not wash out the rest. `colours` is one of `COLOUR_MAPS`.
    """
    known = np.isfinite(disparity)
    own_low, own_high = disparity_scale(disparity)
    low = own_low if low is None else low
    high = own_high if high is None else high
    span = max(high - low, 1e-6)
    level = np.clip((np.where(known, disparity, low) - low) / span, 0, 1) * 255
    painted = colour_map(colours)[np.rint(level).astype(np.uint8)]
    painted[~known] = UNKNOWN_COLOUR
    return painted


def disparity_scale(disparity: NDArray[np.float32]) -> tuple[float, float]:
    """Return the ends of a map's own scale: its 1 % and 99 % quantiles, in pixels."""
    # The quantiles of a million pixels are as good, and faster to compute.
    some = disparity.reshape(-1)[:: max(1, disparity.size // MANY_PIXELS)]
    known = some[np.isfinite(some)]
    if not known.size:
        return 0.0, 1.0
    low, high = np.quantile(known, [0.01, 0.99])
    return float(low), float(high)


def disparity_legend(
    low: float, high: float, title: str = "disparity, px", colours: str = "viridis"
) -> Legend:
    """Return the legend of `colour_disparity` on a scale."""
    return scale_legend(title, colour_map(colours), low, high, [UNKNOWN])


def viridis() -> NDArray[np.uint8]:
    """Return the 256 RGB colours of disparities: perceptually even, colour-blind safe."""
    return colour_map("viridis")


def cividis() -> NDArray[np.uint8]:
    """Return the 256 RGB colours of confidence, which cannot be mistaken for disparities."""
    return colour_map("cividis")


def colour_map(name: str) -> NDArray[np.uint8]:
    """Return the 256 RGB colours of a map of `COLOUR_MAPS`."""
    if name not in COLOUR_MAPS:
        raise InputError(f"colours: expected one of {', '.join(COLOUR_MAPS)}, got {name[:30]!r}")
    if name == "grey":
        return np.repeat(LEVELS[:, None], 3, axis=1)
    number = getattr(cv2, f"COLORMAP_{name.upper()}")
    colours: NDArray[np.uint8] = cv2.applyColorMap(LEVELS[:, None], number)[:, 0, ::-1]
    return np.ascontiguousarray(colours)


def colour_margins(regions: Regions, margins: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Paint each segment by its margin, on a logarithmic scale: dark is doubtful.

    Segments of infinite margin, for which no other plane was ever drawn, are light grey.
    """
    low, high = np.log1p(margins_scale(margins))
    finite = np.isfinite(margins)
    level = (np.log1p(np.where(finite, margins, 0)) - low) / (high - low)
    colours = cividis()[np.rint(np.clip(level, 0, 1) * 255).astype(np.uint8)]
    colours[~finite] = NO_RIVAL_COLOUR
    painted: NDArray[np.uint8] = colours[regions.label_image]
    return painted


def margins_scale(margins: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the scale of margins: the 2 % and 98 % quantiles, at least 1 apart."""
    known = margins[np.isfinite(margins)]
    low, high = np.quantile(known, [0.02, 0.98]) if known.size else (0.0, 1.0)
    return float(low), max(float(high), float(low) + 1)


def margins_legend(margins: NDArray[np.float64]) -> Legend:
    """Return the legend of `colour_margins`."""
    low, high = margins_scale(margins)
    values = [factor * 10.0**k for k in range(-1, 9) for factor in (1, 3)]
    start, end = np.log1p([low, high])
    ticks = [
        (float((np.log1p(value) - start) / (end - start)), f"{value:.15g}")
        for value in (0.0, *values)
        if low <= value <= high
    ]
    rival = Swatch("no rival", NO_RIVAL_COLOUR)
    return Legend("margin of a segment, energy", cividis(), tuple(ticks), (rival,))


def colour_confidence(confidence: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Paint the confidence of each pixel, from 0 to 1: dark is doubtful."""
    return cividis()[np.rint(np.clip(confidence, 0, 1) * 255).astype(np.uint8)]


def confidence_legend() -> Legend:
    """Return the legend of `colour_confidence`."""
    return scale_legend("confidence", cividis(), 0.0, 1.0)


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


def colour_planes(regions: Regions, planes: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Paint each segment by its plane: the hue is the direction it tilts to, grey is level.

    Brightness is the disparity at the centre, dark for far.
    """
    slope = np.hypot(planes[:, 0], planes[:, 1])
    hue = np.mod(np.arctan2(planes[:, 1], planes[:, 0]), 2 * np.pi) * 90 / np.pi
    low, high = np.quantile(planes[:, 2], [0.01, 0.99])
    near = np.clip((planes[:, 2] - low) / max(high - low, 1e-6), 0, 1)
    hsv = np.stack([hue, 255 * np.minimum(slope / STEEP, 1), 90 + 165 * near], axis=1)
    rgb = cv2.cvtColor(np.rint(hsv)[None].astype(np.uint8), cv2.COLOR_HSV2RGB)[0]
    painted: NDArray[np.uint8] = rgb[regions.label_image]
    return painted


def planes_legend() -> Legend:
    """Return the legend of `colour_planes`."""
    tilts = (("nearer to the right", 0), ("below", 45), ("left", 90), ("above", 135))
    hues = np.array([[[hue, 255, 230] for _, hue in tilts]], np.uint8)
    colours = cv2.cvtColor(hues, cv2.COLOR_HSV2RGB)[0].tolist()
    named = [Swatch(name, tuple(rgb)) for (name, _), rgb in zip(tilts, colours, strict=True)]
    return Legend("planes", swatches=(*named, Swatch("level", (150, 150, 150))))


def mosaic(pictures: Sequence[NDArray[np.uint8]], columns: int = 2) -> NDArray[np.uint8]:
    """Lay out pictures of equal size in rows; black fills the last row."""
    blank = np.zeros_like(pictures[0])
    filled = [*pictures, *[blank] * (-len(pictures) % columns)]
    rows = [np.hstack(filled[k : k + columns]) for k in range(0, len(filled), columns)]
    return np.vstack(rows)


def shrunk(picture: NDArray[np.uint8], most_width: int) -> NDArray[np.uint8]:
    """Return a picture made smaller if it is wider than `most_width` pixels."""
    height, width = picture.shape[:2]
    if width <= most_width:
        return picture
    size = (most_width, max(1, round(height * most_width / width)))
    small: NDArray[np.uint8] = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return small


def jpeg(picture: NDArray[np.uint8], most_width: int, quality: int = 88) -> bytes:
    """Return an RGB picture as JPEG, made smaller if it is wider than `most_width` pixels."""
    bgr = shrunk(picture, most_width)[:, :, ::-1]
    return bytes(cv2.imencode(".jpg", bgr, (cv2.IMWRITE_JPEG_QUALITY, quality))[1])


def grey_strength(strength: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Paint contour strengths, the strongest thousandth white."""
    white = max(float(np.quantile(strength, 0.999)), 1e-6)
    level: NDArray[np.float32] = np.clip(strength / white, 0, 1) * 255
    return np.rint(level).astype(np.uint8)


def strength_legend(strength: NDArray[np.float32]) -> Legend:
    """Return the legend of `grey_strength`."""
    white = max(float(np.quantile(strength, 0.999)), 1e-6)
    return scale_legend("contour strength", colour_map("grey"), 0, white)
