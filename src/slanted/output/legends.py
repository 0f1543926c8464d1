"""Legends: the meaning of the colours of a picture, drawn below it or sent to a web page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.opencv import cv2

Colour = tuple[int, int, int]
Picture = NDArray[np.uint8]

INK: Colour = (40, 40, 40)
FRAME: Colour = (150, 150, 150)
PAPER = 255
FONT = cv2.FONT_HERSHEY_SIMPLEX
DESIGN_WIDTH = 760
"""Picture width at which letters have their base size; they grow with wider pictures."""
MOST_TICKS = 6


@dataclass(frozen=True)
class Swatch:
    """A colour and its meaning."""

    name: str
    colour: Colour


@dataclass(frozen=True, eq=False)
class Legend:
    """What the colours of a picture mean."""

    title: str  # what is shown, and its unit
    # (K, 3) uint8 colours from low to high; none for a picture without a scale
    bar: NDArray[np.uint8] | None = None
    # places along the bar, 0 … 1, and what to write there
    ticks: tuple[tuple[float, str], ...] = ()
    swatches: tuple[Swatch, ...] = ()  # colours with a meaning of their own

    def as_data(self) -> dict[str, Any]:
        """Return the legend as plain data, for JSON."""
        bar = [] if self.bar is None else [_hex(colour) for colour in self.bar.tolist()]
        swatches = [[swatch.name, _hex(swatch.colour)] for swatch in self.swatches]
        return {"title": self.title, "bar": bar, "ticks": self.ticks, "swatches": swatches}


def nice_ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return at most `most` round numbers between two ends, 1, 2 or 5 × a power of ten apart."""
    span = high - low
    if not span > 0:
        return [low]
    raw = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def scale_legend(
    title: str,
    colours: NDArray[np.uint8],
    low: float,
    high: float,
    swatches: Sequence[Swatch] = (),
) -> Legend:
    """Return the legend of a linear scale."""
    span = max(high - low, 1e-6)
    ticks = [((value - low) / span, f"{value:g}") for value in nice_ticks(low, high)]
    return Legend(title, colours, tuple(ticks), tuple(swatches))


def with_legend(picture: Picture, legend: Legend) -> Picture:
    """Return a picture, RGB or grey, with its legend in a strip below."""
    if picture.ndim == 2:
        picture = np.repeat(picture[:, :, None], 3, axis=2)
    return np.vstack([picture, draw_legend(legend, picture.shape[1])])


def draw_legend(legend: Legend, width: int) -> Picture:
    """Draw a legend as a strip of a given width, in as many rows as it takes."""
    strip = _Strip(width)
    strip.text(legend.title, bold=True)
    if legend.bar is not None:
        strip.bar(legend.bar, legend.ticks)
    for swatch in legend.swatches:
        strip.swatch(swatch)
    return strip.picture()


class _Strip:
    """Rows of items from left to right, wrapped at the width."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.scale = max(0.7, width / DESIGN_WIDTH)
        self.row_height = round(32 * self.scale)
        self.gap = round(14 * self.scale)
        self.rows = [self._empty_row()]
        self.x = self.gap

    def _empty_row(self) -> Picture:
        return np.full((self.row_height, self.width, 3), PAPER, np.uint8)

    def _place(self, width: int) -> tuple[Picture, int]:
        """Return a row and a column that have room for something of a given width."""
        if self.x + width > self.width - self.gap // 2 and self.x > self.gap:
            self.rows.append(self._empty_row())
            self.x = self.gap
        x = self.x
        self.x += width + self.gap
        return self.rows[-1], x

    def _size(self, text: str, size: float) -> tuple[int, int]:
        (width, height), _ = cv2.getTextSize(text, FONT, size * self.scale, self._stroke())
        return int(width), int(height)

    def _stroke(self) -> int:
        return max(1, round(self.scale))

    def _write(self, row: Picture, text: str, x: int, baseline: int, size: float) -> None:
        cv2.putText(
            row, text, (x, baseline), FONT, size * self.scale, INK, self._stroke(), cv2.LINE_AA
        )

    def text(self, text: str, *, bold: bool = False) -> None:
        size = 0.46 if bold else 0.42
        width, height = self._size(text, size)
        row, x = self._place(width)
        self._write(row, text, x, (self.row_height + height) // 2, size)

    def swatch(self, swatch: Swatch) -> None:
        side = round(13 * self.scale)
        pad = round(6 * self.scale)
        text_width, height = self._size(swatch.name, 0.42)
        row, x = self._place(side + pad + text_width)
        top = (self.row_height - side) // 2
        cv2.rectangle(row, (x, top), (x + side, top + side), swatch.colour, cv2.FILLED)
        cv2.rectangle(row, (x, top), (x + side, top + side), FRAME, 1)
        baseline = (self.row_height + height) // 2
        self._write(row, swatch.name, x + side + pad, baseline, 0.42)

    def bar(self, colours: NDArray[np.uint8], ticks: Sequence[tuple[float, str]]) -> None:
        width = min(max(self.width - self.x - self.gap, self.width // 2), round(330 * self.scale))
        row, x = self._place(max(width, 8))
        width = min(width, self.width - x - self.gap // 2)
        if width < 8:
            return
        top, thick = round(4 * self.scale), round(11 * self.scale)
        which = np.arange(width) * len(colours) // width
        row[top : top + thick, x : x + width] = colours[which]
        cv2.rectangle(row, (x - 1, top - 1), (x + width, top + thick), FRAME, 1)
        free_from = 0
        for place, text in ticks:
            across = x + round(place * (width - 1))
            text_width, height = self._size(text, 0.36)
            left = int(np.clip(across - text_width // 2, 1, self.width - text_width - 1))
            cv2.line(row, (across, top + thick), (across, top + thick + 2), INK, 1)
            if left >= free_from:
                self._write(row, text, left, top + thick + height + round(4 * self.scale), 0.36)
                free_from = left + text_width + round(5 * self.scale)

    def picture(self) -> Picture:
        return np.vstack(self.rows)


def _hex(colour: Sequence[int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
