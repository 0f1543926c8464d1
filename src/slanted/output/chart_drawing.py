"""Drawing charts, laid out once: as SVG for pages, as pixels for folders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from slanted.output.charts import Break, Chart, density_chart, reliability_chart
from slanted.output.legends import nice_ticks
from slanted.output.palette import BREAK, COLOURS, FAINT, INK, PAPER
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores

LETTERS, HEADING = 12, 14
"""Sizes of text, in pixels."""
LETTER_WIDTH = 0.62
"""Mean width of a letter relative to its size; an estimate, since fonts differ."""
ROW, GAP = 18, 10
"""Height of a line of text or a bar, and the space around things, in pixels."""
LONGEST_NAME = 44
DOT, MOST_DOTS = 7, 30
"""Width of the dot at each point of a curve, in pixels, and the most points that get one."""


@dataclass(frozen=True)
class Size:
    """The size of a chart in pixels; bars take the height that they need."""

    width: int
    height: int


FILE, PAGE = Size(680, 400), Size(430, 300)
"""Sizes of charts in files, and in pages, where letters stay legible side by side and on phones."""
Point = tuple[float, float]
Scale = Callable[[float], float]


@dataclass(frozen=True)
class Shape:
    """A line through points, or an area if it is filled."""

    points: tuple[Point, ...]
    stroke: str = ""
    fill: str = ""
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Text:
    """A line of text; `x` is its start, middle or end."""

    x: float
    baseline: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    size: int = LETTERS


Mark = Shape | Text


def draw_svg(chart: Chart, size: Size = FILE) -> str:
    """Draw a chart as SVG; the same chart gives the same text."""
    marks, height = _layout(chart, size)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size.width}" height="{height}" '
        f'viewBox="0 0 {size.width} {height}" font-family="system-ui, sans-serif" '
        'stroke-linecap="round">',
        f'<rect width="{size.width}" height="{height}" fill="{PAPER}"/>',
        *map(_svg, marks),
    ]
    return "\n".join([*lines, "</svg>\n"])


def draw_picture(chart: Chart) -> NDArray[np.uint8]:
    """Draw a chart as RGB pixels; text must be ASCII, which is all that OpenCV's font has."""
    marks, height = _layout(chart, FILE)
    picture = np.full((height, FILE.width, 3), 255, np.uint8)
    for mark in marks:
        _paint(picture, mark)
    return picture


def _layout(chart: Chart, size: Size) -> tuple[list[Mark], int]:
    """Return what to draw, and the height of the chart."""
    marks: list[Mark] = [Text(GAP, GAP + HEADING, chart.title, size=HEADING)]
    marks += _legend(chart, GAP + HEADING + ROW, size.width)
    top = max(mark.baseline for mark in marks if isinstance(mark, Text)) + ROW
    if chart.y_label:
        marks.append(Text(GAP, top, chart.y_label))
        top += ROW
    if chart.kind == "bars":
        more, bottom = _bars(chart, top, size.width)
    else:
        more, bottom = _curves(chart, top, size)
    label = Text(size.width / 2, bottom + 2 * ROW, chart.x_label, "middle")
    return [*marks, *more, label], round(bottom + 2 * ROW + GAP)


def _legend(chart: Chart, baseline: float, across: float) -> list[Mark]:
    """Return a swatch and a name for each series, in as many rows as it takes."""
    if len(chart.series) < 2:
        return []
    marks: list[Mark] = []
    x = float(GAP)
    for colour, series in zip(series_colours(chart), chart.series, strict=True):
        width = ROW + GAP + _width(series.name)
        if x + width > across - GAP and x > GAP:
            x, baseline = float(GAP), baseline + ROW
        if chart.kind == "bars":
            marks.append(_box(x, baseline - 9, x + ROW, baseline, colour, series.quoted))
        else:
            ends = ((x, baseline - 4), (x + ROW, baseline - 4))
            marks.append(Shape(ends, colour, width=2, dashed=series.quoted))
        marks.append(Text(x + ROW + 5, baseline, series.name))
        x += width + GAP
    return marks


def series_colours(chart: Chart) -> list[str]:
    """Return a colour for each series; a quoted one has that of the series before it."""
    numbers = accumulate((not series.quoted for series in chart.series[1:]), initial=0)
    return [COLOURS[number % len(COLOURS)] for number in numbers]


def _curves(chart: Chart, top: float, size: Size) -> tuple[list[Mark], float]:
    """Return the axes and series of lines or steps, and where the plot ends."""
    drawn = [
        [(float(x), y) for x, y in zip(series.x, series.y, strict=True) if math.isfinite(y)]
        for series in chart.series
    ]
    xs, ys = ([point[k] for points in drawn for point in points] for k in (0, 1))
    low, high = _span(ys, 0.08)
    floor = 0.0 if chart.kind == "steps" else chart.floor
    low = low if floor is None else floor
    high = max(high, low + 1e-9)
    whole = all(x.is_integer() for x in xs)
    across = [x for x in nice_ticks(*_span(xs, 0), 9) if not whole or x.is_integer()]
    up = nice_ticks(low, high)
    left = 2 * GAP + max(map(_width, map(_number, up)), default=0)
    right, bottom = size.width - 2 * GAP, size.height - 2 * ROW - GAP
    place_x = _scale(_span(xs, 0), left + GAP, right)
    words, top = _break_words(chart.breaks, place_x, top, size.width)
    place_y = _scale((low, high), bottom, top)
    marks: list[Mark] = []
    for y in up:
        marks.append(Shape(((left, place_y(y)), (right, place_y(y))), FAINT))
        marks.append(Text(left - 6, place_y(y) + 4, _number(y), "end"))
    marks += [Text(place_x(x), bottom + ROW, _number(x), "middle") for x in across]
    for word in words:
        marks += [Shape(((word.x, word.baseline + 4), (word.x, bottom)), BREAK), word.text]
    marks.append(Shape(((left, top), (left, bottom), (right, bottom)), INK))
    ends = [*(each.x for each in chart.breaks), math.inf]
    for colour, series, points in zip(series_colours(chart), chart.series, drawn, strict=True):
        for begin, end in pairwise([-math.inf, *ends]):
            placed = [(place_x(x), place_y(y)) for x, y in points if begin < x <= end]
            marks += _curve(chart, placed, colour, dashed=series.quoted)
    return marks, bottom


def _curve(chart: Chart, placed: list[Point], colour: str, *, dashed: bool) -> list[Mark]:
    """Return a curve through points, with a dot at each if there are few; none through none."""
    if not placed:
        return []
    if chart.kind == "steps":
        corners = ((a, (b[0], a[1])) for a, b in pairwise(placed))
        placed = [*(corner for pair in corners for corner in pair), placed[-1]]
    marks: list[Mark] = [Shape(tuple(placed), colour, width=1.8, dashed=dashed)]
    if chart.kind != "steps" and len(placed) <= MOST_DOTS:
        marks += [Shape((place, place), colour, width=DOT) for place in placed]
    return marks


@dataclass(frozen=True)
class _Word:
    """The words of a break, and the line below them."""

    x: float
    baseline: float
    text: Text


def _break_words(
    breaks: Sequence[Break], place: Scale, top: float, width: float
) -> tuple[list[_Word], float]:
    """Return the words above the plot, in as many rows as it takes, and where the plot begins."""
    ends: list[float] = []  # of the words in each row
    found = []
    for each in breaks:
        x, half = place(each.x), _width(each.words) / 2
        middle = min(max(x, half + GAP), width - half - GAP)
        row = next((k for k, end in enumerate(ends) if end < middle - half), len(ends))
        ends[row : row + 1] = [middle + half + GAP]
        baseline = top + row * ROW
        found.append(_Word(x, baseline, Text(middle, baseline, each.words, "middle")))
    return found, top + ROW * len(ends)


def _bars(chart: Chart, top: float, width: float) -> tuple[list[Mark], float]:
    """Return the bars of each name, one below the other, and where they end.

    Names stand before their bars or, where these would leave no room, above them.
    """
    drawn: dict[str, list[tuple[float, str, bool]]] = {}  # values, colours, whether hollow
    for colour, series in zip(series_colours(chart), chart.series, strict=True):
        for x, y in zip(series.x, series.y, strict=True):
            bars = drawn.setdefault(str(x), [])
            bars += [(y, colour, series.quoted)] if math.isfinite(y) else []
    low, high = _span([0.0, *(y for bars in drawn.values() for y, *_ in bars)], 0)
    left = 2 * GAP + max((_width(_shortened(name)) for name in drawn), default=0)
    above = left > 0.4 * width
    left, head = (GAP, ROW) if above else (left, 0)
    heights = [head + ROW * (max(len(bars), 1) + 0.7) for bars in drawn.values()]
    *rows, bottom = accumulate(heights, initial=top)
    place = _scale((low, high), left, width - 6 * GAP)
    marks: list[Mark] = []
    for x in nice_ticks(low, high):
        marks.append(Shape(((place(x), top), (place(x), bottom)), FAINT))
        marks.append(Text(place(x), bottom + ROW, _number(x), "middle"))
    for start, (name, bars) in zip(rows, drawn.items(), strict=True):
        if above:
            marks.append(Text(left, start + ROW - 5, _shortened(name)))
        else:
            baseline = start + ROW * max(len(bars), 1) / 2 + 4
            marks.append(Text(left - 6, baseline, _shortened(name), "end"))
        for k, (y, colour, hollow) in enumerate(bars):
            row, end = start + head + k * ROW, place(y)
            marks.append(_box(place(0), row + 2, end, row + ROW - 2, colour, hollow))
            marks.append(Text(max(place(0), end) + 5, row + ROW - 5, f"{y:.2f}", size=11))
    marks.append(Shape(((place(0), top), (place(0), bottom)), INK))
    return marks, bottom


def _box(left: float, top: float, right: float, bottom: float, colour: str, hollow: bool) -> Shape:
    corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
    return Shape(corners, colour, PAPER if hollow else colour)


def _span(values: Iterable[float], pad: float) -> tuple[float, float]:
    """Return the ends of a scale that holds all values, with some space beyond them."""
    known = list(values) or [0.0, 1.0]
    low, high = min(known), max(known)
    if low == high:
        return low - 0.5 * max(abs(low), 1) * bool(pad), high + 0.5 * max(abs(high), 1)
    return low - pad * (high - low), high + pad * (high - low)


def _scale(span: tuple[float, float], start: float, end: float) -> Scale:
    """Return the function that maps values of a span to positions between two pixels."""
    low, high = span
    return lambda value: start + (end - start) * (value - low) / (high - low)


def _width(text: str) -> float:
    return LETTER_WIDTH * LETTERS * len(text)


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _shortened(name: str) -> str:
    """Leave out the start of a long name: paths differ at their ends."""
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def _svg(mark: Mark) -> str:
    if isinstance(mark, Text):
        anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
        place = f'x="{mark.x:.1f}" y="{mark.baseline:.1f}" font-size="{mark.size}" fill="{INK}"'
        return f"<text {place}{anchor}>{escape(mark.text)}</text>"
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
    look = f'fill="{mark.fill or "none"}"'
    if mark.stroke:
        look += f' stroke="{mark.stroke}" stroke-width="{mark.width:g}"'
    if mark.dashed:
        look += ' stroke-dasharray="5 4"'
    return f'<polyline points="{points}" {look}/>'


def _paint(picture: NDArray[np.uint8], mark: Mark) -> None:
    """Draw a mark; dashes are left out, since no picture in a folder has any."""
    if isinstance(mark, Text):
        font, scale = cv2.FONT_HERSHEY_SIMPLEX, mark.size / 27
        width = cv2.getTextSize(mark.text, font, scale, 1)[0][0]
        x = mark.x - width * {"start": 0, "middle": 0.5, "end": 1}[mark.anchor]
        place = (round(x), round(mark.baseline))
        cv2.putText(picture, mark.text, place, font, scale, _rgb(INK), 1, cv2.LINE_AA)
        return
    points = np.rint(np.array(mark.points, float).reshape(-1, 1, 2)).astype(np.int32)
    if mark.fill:
        cv2.fillPoly(picture, [points], _rgb(mark.fill), cv2.LINE_AA)
    if mark.stroke and len(points):
        width, colour = round(mark.width), _rgb(mark.stroke)
        cv2.polylines(picture, [points], False, colour, width, cv2.LINE_AA)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16)


def confidence_charts(scores: ConfidenceScores) -> NDArray[np.uint8]:
    """Draw both charts of a confidence, one above the other."""
    charts = density_chart(scores), reliability_chart(scores)
    return np.vstack([draw_picture(chart) for chart in charts])
