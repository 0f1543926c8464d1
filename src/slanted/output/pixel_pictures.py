"""Pictures of what is known about each pixel: its depth, deviation, flags, occlusion and sky.

As in `slanted.output.pictures`, each function that paints has one beside it that returns the legend
of its colours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.images.colour import as_rgb8
from slanted.output.legends import Colour, Legend, Swatch, scale_legend
from slanted.output.pictures import MANY_PIXELS, UNKNOWN, UNKNOWN_COLOUR, colour_map
from slanted.output.pixel_flag import PixelFlag

if TYPE_CHECKING:
    from slanted.images import Image

SKY_COLOUR: Colour = (200, 214, 229)
OCCLUDED_COLOUR: Colour = (213, 94, 0)
OUTSIDE_COLOUR: Colour = (86, 180, 233)
FLAG_COLOURS: dict[PixelFlag, Colour] = {
    PixelFlag.MATCHED: (0, 158, 115),
    PixelFlag.FILLED: (240, 228, 66),
    PixelFlag.OCCLUDED: OCCLUDED_COLOUR,
    PixelFlag.OUT_OF_VIEW: OUTSIDE_COLOUR,
    PixelFlag.SKY: SKY_COLOUR,
}
"""Colours of flags, from Okabe and Ito's set; of several flags of a pixel the last is seen."""
DOUBT = 0.45
"""Brightness of pixels of low confidence."""


def colour_depth(
    depth: NDArray[np.float32], low: float, high: float, colours: str = "viridis"
) -> NDArray[np.uint8]:
    """Paint a depth map in metres on a logarithmic scale: as for disparities, near is bright.

    Unknown depths are black; the sky, which is infinitely far, has a colour of its own. `colours`
    is one of `slanted.output.pictures.COLOUR_MAPS`.
    """
    known = np.isfinite(depth)
    start, end = np.log([low, high])
    level = (end - np.log(np.where(known, depth, high))) / max(end - start, 1e-6)
    levels = np.rint(np.clip(level, 0, 1) * 255).astype(np.uint8)
    painted: NDArray[np.uint8] = colour_map(colours)[levels]
    painted[~known] = UNKNOWN_COLOUR
    painted[np.isposinf(depth)] = SKY_COLOUR
    return painted


def depth_scale(depth: NDArray[np.float32]) -> tuple[float, float]:
    """Return the ends of a map's own scale: its 1 % and 97 % quantiles, in metres."""
    some = depth.reshape(-1)[:: max(1, depth.size // MANY_PIXELS)]
    known = some[np.isfinite(some) & (some > 0)]
    if not known.size:
        return 1.0, 10.0
    low, high = np.quantile(known, [0.01, 0.97])
    return float(low), max(float(high), 1.01 * float(low))


def depth_legend(
    low: float, high: float, colours: str = "viridis", *, with_sky: bool = True
) -> Legend:
    """Return the legend of `colour_depth` on a scale, from near to far."""
    start, end = np.log([low, high])
    steps = (1, 2, 5) if end - start > np.log(4) else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    ticks = [
        (float((np.log(value) - start) / (end - start)), f"{value:.4g}")
        for power in range(-3, 5)
        for value in (step * 10.0**power for step in steps)
        if low <= value <= high
    ]
    sky = [Swatch("sky", SKY_COLOUR)] if with_sky else []
    return Legend("depth, m", colour_map(colours)[::-1], tuple(ticks), (*sky, UNKNOWN))


def colour_deviation(
    deviation: NDArray[np.float32], high: float, colours: str = "viridis"
) -> NDArray[np.uint8]:
    """Paint deviations in pixels, from 0 to `high`: bright is imprecise."""
    level = np.clip(deviation / max(high, 1e-6), 0, 1) * 255
    painted: NDArray[np.uint8] = colour_map(colours)[np.rint(level).astype(np.uint8)]
    return painted


def deviation_scale(deviation: NDArray[np.float32]) -> float:
    """Return the upper end of a map's own scale: its 98 % quantile, in pixels."""
    some = deviation.reshape(-1)[:: max(1, deviation.size // MANY_PIXELS)]
    return max(float(np.quantile(some, 0.98)), 0.1)


def deviation_legend(high: float, colours: str = "viridis") -> Legend:
    """Return the legend of `colour_deviation` on a scale."""
    return scale_legend("deviation if right, px", colour_map(colours), 0.0, high)


def colour_flags(flags: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Paint the `slanted.PixelFlag` bits of each pixel; those of low confidence are darker."""
    colours = np.zeros((256, 3), np.uint8)
    for value in range(len(colours)):
        for flag, colour in FLAG_COLOURS.items():
            if value & flag:
                colours[value] = colour
        if value & PixelFlag.LOW_CONFIDENCE:
            colours[value] = np.rint(DOUBT * colours[value])
    painted: NDArray[np.uint8] = colours[flags]
    return painted


def flags_legend() -> Legend:
    """Return the legend of `colour_flags`."""
    swatches = [Swatch(flag.words(), colour) for flag, colour in FLAG_COLOURS.items()]
    dark = tuple(round(DOUBT * part) for part in FLAG_COLOURS[PixelFlag.MATCHED])
    doubted = Swatch(f"darker: {PixelFlag.LOW_CONFIDENCE.words()}", (dark[0], dark[1], dark[2]))
    return Legend("validity flags", swatches=(*swatches, doubted))


def paint_occlusion(image: Image, flags: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mark what the right camera does not see, over the darkened left image."""
    picture: NDArray[np.uint8] = as_rgb8(image) // 2
    picture[(flags & PixelFlag.OCCLUDED) > 0] = OCCLUDED_COLOUR
    picture[(flags & PixelFlag.OUT_OF_VIEW) > 0] = OUTSIDE_COLOUR
    return picture


def occlusion_legend() -> Legend:
    """Return the legend of `paint_occlusion`."""
    hidden = Swatch("hidden from the right camera", OCCLUDED_COLOUR)
    outside = Swatch("outside the right image", OUTSIDE_COLOUR)
    return Legend("occlusion", swatches=(hidden, outside))


def paint_sky(image: Image, sky: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Mark the sky over the darkened left image."""
    picture: NDArray[np.uint8] = as_rgb8(image) // 2
    picture[sky] = SKY_COLOUR
    return picture


def sky_legend() -> Legend:
    """Return the legend of `paint_sky`."""
    return Legend("sky", swatches=(Swatch("has no depth", SKY_COLOUR),))
