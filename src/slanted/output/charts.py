"""Pictures of planes and of energies, drawn with OpenCV alone: no plotting library is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted.output.legends import Legend, Swatch

if TYPE_CHECKING:
    from slanted.inference.outcome import Inference
    from slanted.regions import Regions

STEEP = 0.3
"""Slope, in px of disparity a pixel, that is painted in full colour."""
INK, PAPER, GRID = (40, 40, 40), 255, (225, 225, 225)
ENERGY_COLOUR, BOUND_COLOUR = (213, 94, 0), (0, 114, 178)
SIZE = (420, 640)
MARGINS = (40, 40, 60, 110)
"""Top, right, bottom, left, in pixels."""
MOST_TICKS = 16


def colour_planes(regions: Regions, planes: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Paint each segment by its plane: the colour is the direction it tilts to, grey is level.

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


def energy_chart(inference: Inference) -> NDArray[np.uint8]:
    """Draw energy and bound against outer iterations; iteration 0 is where it started, if known."""
    course = [inference.initial_energy, *(step.energy for step in inference.iterations)]
    energies = {k: value for k, value in enumerate(course) if math.isfinite(value)}
    bounds = [step.bound for step in inference.iterations]
    lowest, highest = min([*energies.values(), *bounds]), max(energies.values())
    chart, place = _axes(len(course), 0, lowest, highest)
    _curve(chart, [place(k, value) for k, value in energies.items()], ENERGY_COLOUR)
    _curve(chart, [place(k + 1, value) for k, value in enumerate(bounds)], BOUND_COLOUR)
    left = MARGINS[3]
    _write(chart, "iteration", (SIZE[1] // 2, SIZE[0] - 14))
    _write(chart, "energy", (left, 24), ENERGY_COLOUR)
    _write(chart, "lower bound over the particles", (left + 90, 24), BOUND_COLOUR)
    return chart


def objective_chart(values: Sequence[float]) -> NDArray[np.uint8]:
    """Draw the objective of learning at each of its evaluations, and the least so far."""
    lowest = np.minimum.accumulate(values).tolist()
    # Line searches may try far too long a step, which would hide all else.
    high = float(np.quantile(values, 0.95))
    chart, place = _axes(len(values), 1, min(values), max(high, lowest[0]))
    shown = [min(value, max(high, lowest[0])) for value in values]
    _curve(chart, [place(k, value) for k, value in enumerate(shown)], ENERGY_COLOUR)
    _curve(chart, [place(k, value) for k, value in enumerate(lowest)], BOUND_COLOUR)
    left = MARGINS[3]
    _write(chart, "evaluation", (SIZE[1] // 2, SIZE[0] - 14))
    _write(chart, "objective", (left, 24), ENERGY_COLOUR)
    _write(chart, "least so far", (left + 110, 24), BOUND_COLOUR)
    return chart


def _axes(
    count: int, first: int, low: float, high: float
) -> tuple[NDArray[np.uint8], Callable[[int, float], tuple[int, int]]]:
    """Return an empty chart of `count` places, numbered from `first`, and where values go in it."""
    pad = 0.08 * max(high - low, 1e-9 * abs(high), 1e-12)
    low, high = low - pad, high + pad
    top, right, bottom, left = MARGINS
    chart = np.full((*SIZE, 3), PAPER, np.uint8)

    def place(number: int, value: float) -> tuple[int, int]:
        x = left + (SIZE[1] - left - right) * number / max(count - 1, 1)
        y = top + (SIZE[0] - top - bottom) * (high - value) / (high - low)
        return round(x), round(y)

    for value in round_ticks(low, high):
        _, y = place(0, value)
        cv2.line(chart, (left, y), (SIZE[1] - right, y), GRID, 1)
        _write(chart, f"{value:,.10g}", (8, y + 5))
    for number in range(0, count, -(-count // MOST_TICKS)):
        _write(chart, str(first + number), (place(number, low)[0] - 4, SIZE[0] - bottom + 22))
    return chart, place


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers, about so many."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def _curve(
    chart: NDArray[np.uint8], points: Sequence[tuple[int, int]], colour: tuple[int, int, int]
) -> None:
    for start, end in pairwise(points):
        cv2.line(chart, start, end, colour, 2, cv2.LINE_AA)
    for point in points:
        cv2.circle(chart, point, 4, colour, cv2.FILLED, cv2.LINE_AA)


def _write(
    chart: NDArray[np.uint8],
    text: str,
    corner: tuple[int, int],
    colour: tuple[int, int, int] = INK,
) -> None:
    cv2.putText(chart, text, corner, cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA)
