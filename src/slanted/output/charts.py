"""Charts of numbers, laid out once and drawn as SVG for pages or as pixels for folders.

No plotting library is needed: slanted draws only three kinds of chart, one of them in every run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from slanted.evaluation.sparsification import DENSITIES
from slanted.output.legends import nice_ticks
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.inference.outcome import Inference

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which colour-blind readers can distinguish."""
INK, FAINT, PAPER = "#1d2733", "#dfe4ea", "#ffffff"
WIDTH, HEIGHT = 680, 400
LETTERS, HEADING = 12, 14
"""Sizes of text, in pixels."""
LETTER_WIDTH = 0.62
"""Mean width of a letter relative to its size; an estimate, since fonts differ."""
ROW, GAP = 18, 10
"""Height of a line of text or a bar, and the space around things, in pixels."""
LONGEST_NAME = 44
DOT, MOST_DOTS = 7, 30
"""Width of the dot at each point of a curve, in pixels, and the most points that get one."""

Point = tuple[float, float]
Scale = Callable[[float], float]


@dataclass(frozen=True)
class Series:
    """A data series: `y` at the positions `x`, or for the bars with those names.

    A `y` that is not finite is left out. `quoted` numbers come from a publication; they get the
    colour of the series before them, dashed or hollow.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    quoted: bool = False


@dataclass(frozen=True)
class Chart:
    """What to draw.

    ``lines`` are curves over numbers, ``bars`` lie side by side for each name, and ``steps`` are
    outlines of histograms whose bins start at `x`.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "bars", "steps"] = "lines"


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


def energy_chart(inference: Inference) -> Chart:
    """Return energy and bound by outer iteration; 0 is the start, if its energy is known."""
    course = (inference.initial_energy, *(step.energy for step in inference.iterations))
    bounds = (math.nan, *(step.bound for step in inference.iterations))
    places = tuple(map(float, range(len(course))))
    series = (Series("energy", places, course), Series("lower bound", places, bounds))
    return Chart("Energy by outer iteration", "iteration", "", series)


def objective_chart(values: Sequence[float]) -> Chart:
    """Return the objective of learning by evaluation, and the lowest so far."""
    lowest = tuple(accumulate(values, min))
    # A line search may try far too long a step, which would hide everything else.
    most = max(float(np.quantile(values, 0.95)), lowest[0])
    places = tuple(k + 1.0 for k in range(len(values)))
    shown = tuple(min(value, most) for value in values)
    series = (Series("objective", places, shown), Series("lowest so far", places, lowest))
    return Chart("Objective of learning", "evaluation", "", series)


def density_chart(scores: ConfidenceScores) -> Chart:
    """Return the error of the most confident pixels by their share, and that of the best order."""
    places = tuple(map(float, DENSITIES))
    series = (
        Series("most confident", places, tuple(scores.error.tolist())),
        Series("best possible order", places, tuple(scores.oracle.tolist())),
    )
    title = "Error against density"
    return Chart(title, "pixels kept, %", "wrong pixels (D1) among them, %", series)


def reliability_chart(scores: ConfidenceScores) -> Chart:
    """Return the share of right pixels by confidence; a calibrated one follows the diagonal."""
    bins = scores.reliability
    filled = bins.total > 0
    said, found = bins.mean_said()[filled].tolist(), bins.found()[filled].tolist()
    diagonal = (0.0, 1.0)
    series = (
        Series("found", tuple(said), tuple(found)),
        Series("perfectly calibrated", diagonal, diagonal),
    )
    return Chart("Reliability", "confidence", "share of right pixels", series)


def confidence_charts(scores: ConfidenceScores) -> NDArray[np.uint8]:
    """Draw both charts of a confidence, one above the other."""
    charts = density_chart(scores), reliability_chart(scores)
    return np.vstack([draw_picture(chart) for chart in charts])


def draw_svg(chart: Chart) -> str:
    """Draw a chart as SVG; the same chart gives the same text."""
    marks, height = _layout(chart)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" '
        'stroke-linecap="round">',
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
        *map(_svg, marks),
    ]
    return "\n".join([*lines, "</svg>\n"])


def draw_picture(chart: Chart) -> NDArray[np.uint8]:
    """Draw a chart as RGB pixels; text must be ASCII, which is all that OpenCV's font has."""
    marks, height = _layout(chart)
    picture = np.full((height, WIDTH, 3), 255, np.uint8)
    for mark in marks:
        _paint(picture, mark)
    return picture


def _layout(chart: Chart) -> tuple[list[Mark], int]:
    """Return what to draw, and the height of the chart."""
    marks: list[Mark] = [Text(GAP, GAP + HEADING, chart.title, size=HEADING)]
    marks += _legend(chart, GAP + HEADING + ROW)
    top = max(mark.baseline for mark in marks if isinstance(mark, Text)) + ROW
    if chart.y_label:
        marks.append(Text(GAP, top, chart.y_label))
        top += ROW
    if chart.kind == "bars":
        more, bottom = _bars(chart, top)
    else:
        more, bottom = _curves(chart, top), HEIGHT - 2 * ROW - GAP
    label = Text(WIDTH / 2, bottom + 2 * ROW, chart.x_label, "middle")
    return [*marks, *more, label], round(bottom + 2 * ROW + GAP)


def _legend(chart: Chart, baseline: float) -> list[Mark]:
    """Return a swatch and a name for each series, in as many rows as it takes."""
    if len(chart.series) < 2:
        return []
    marks: list[Mark] = []
    x = float(GAP)
    for colour, series in zip(series_colours(chart), chart.series, strict=True):
        width = ROW + GAP + _width(series.name)
        if x + width > WIDTH - GAP and x > GAP:
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


def _curves(chart: Chart, top: float) -> list[Mark]:
    """Return the axes and series of lines or steps."""
    steps = chart.kind == "steps"
    drawn = [
        [(float(x), y) for x, y in zip(series.x, series.y, strict=True) if math.isfinite(y)]
        for series in chart.series
    ]
    xs, ys = ([point[k] for points in drawn for point in points] for k in (0, 1))
    low, high = _span(ys, 0.08)
    if steps:
        low = 0.0
    whole = all(x.is_integer() for x in xs)
    across = [x for x in nice_ticks(*_span(xs, 0), 9) if not whole or x.is_integer()]
    up = nice_ticks(low, high)
    left, right = 2 * GAP + max(map(_width, map(_number, up)), default=0), WIDTH - 2 * GAP
    bottom = HEIGHT - 2 * ROW - GAP
    place_x, place_y = _scale(_span(xs, 0), left + GAP, right), _scale((low, high), bottom, top)
    marks: list[Mark] = []
    for y in up:
        marks.append(Shape(((left, place_y(y)), (right, place_y(y))), FAINT))
        marks.append(Text(left - 6, place_y(y) + 4, _number(y), "end"))
    marks += [Text(place_x(x), bottom + ROW, _number(x), "middle") for x in across]
    marks.append(Shape(((left, top), (left, bottom), (right, bottom)), INK))
    for colour, series, points in zip(series_colours(chart), chart.series, drawn, strict=True):
        placed = [(place_x(x), place_y(y)) for x, y in points]
        if steps and placed:
            corners = ((a, (b[0], a[1])) for a, b in pairwise(placed))
            placed = [*(corner for pair in corners for corner in pair), placed[-1]]
        marks.append(Shape(tuple(placed), colour, width=1.8, dashed=series.quoted))
        if not steps and len(placed) <= MOST_DOTS:
            marks += [Shape((place, place), colour, width=DOT) for place in placed]
    return marks


def _bars(chart: Chart, top: float) -> tuple[list[Mark], float]:
    """Return the bars of each name, one below the other, and where they end."""
    names = list(dict.fromkeys(str(name) for series in chart.series for name in series.x))
    values = [y for series in chart.series for y in series.y if math.isfinite(y)]
    low, high = _span([0.0, *values], 0)
    step = ROW * (len(chart.series) + 0.7)
    bottom = top + step * len(names)
    left = 2 * GAP + max((_width(_shortened(name)) for name in names), default=0)
    place = _scale((low, high), left, WIDTH - 6 * GAP)
    marks: list[Mark] = []
    for x in nice_ticks(low, high):
        marks.append(Shape(((place(x), top), (place(x), bottom)), FAINT))
        marks.append(Text(place(x), bottom + ROW, _number(x), "middle"))
    middle = ROW * len(chart.series) / 2 + 4
    for k, name in enumerate(names):
        marks.append(Text(left - 6, top + k * step + middle, _shortened(name), "end"))
    colours = series_colours(chart)
    for number, series in enumerate(chart.series):
        known = {str(x): y for x, y in zip(series.x, series.y, strict=True) if math.isfinite(y)}
        for name, y in known.items():
            row, end = top + names.index(name) * step + number * ROW, place(y)
            box = _box(place(0), row + 2, end, row + ROW - 2, colours[number], series.quoted)
            marks += [box, Text(max(place(0), end) + 5, row + ROW - 5, f"{y:.2f}", size=11)]
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
