"""Plots of an experiment, drawn with matplotlib if it is there."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from slanted.errors import InputError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, safe for colour-blind readers."""
INK, FAINT = "#1d2733", "#dfe4ea"
INCHES = (7.2, 3.6)
BAR = 0.27
"""Inches of a bar's height."""


@dataclass(frozen=True)
class Series:
    """Figures that belong together.

    Parameters
    ----------
    name
        In the legend.
    x
        Places, or for bars their names.
    y
        Figures; those that are not numbers are left out.
    quoted
        Whether they are somebody else's.
    """

    name: str
    x: tuple[float, ...] | tuple[str, ...]
    y: tuple[float, ...]
    quoted: bool = False


@dataclass(frozen=True)
class Chart:
    """What to draw.

    Parameters
    ----------
    title
        What it shows.
    x_label, y_label
        What the axes are.
    series
        To be drawn.
    kind
        ``lines`` against numbers, ``bars`` side by side for names (drawn lying, so that names can
        be read), or ``steps``, the outlines of histograms whose bins start at `x`.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "bars", "steps"] = "lines"


@cache
def draw_svg(chart: Chart) -> str:
    """Draw a chart, once.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "plots: matplotlib is not installed; pip install 'slanted[plots]'"
        ) from error
    # The same chart is the same file: no date, no random names.
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": chart.title,
        "font.size": 9.5,
        "text.parse_math": False,  # a $ in a name is a $
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=_inches(chart), layout="constrained")
        axes = figure.add_subplot()
        _DRAWERS[chart.kind](axes, chart)
        _dress(axes, chart)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _inches(chart: Chart) -> tuple[float, float]:
    """Return a size at which every bar's name can be read."""
    if chart.kind != "bars":
        return INCHES
    names = {name for series in chart.series for name in series.x}
    return INCHES[0], 1.5 + BAR * len(names) * (len(chart.series) + 0.7)


def _lines(axes: Any, chart: Chart) -> None:
    for colour, series in zip(_cycle(chart), chart.series, strict=True):
        marker = "o" if len(series.x) <= 30 else None
        axes.plot(
            series.x, series.y, "--" if series.quoted else "-", marker=marker, markersize=4,
            color=colour, label=series.name,
        )  # fmt: skip
    if all(float(x).is_integer() for series in chart.series for x in series.x):
        axes.locator_params(axis="x", integer=True)


def _bars(axes: Any, chart: Chart) -> None:
    names = list(dict.fromkeys(name for series in chart.series for name in series.x))
    height = 1 / (len(chart.series) + 0.7)
    for k, (colour, series) in enumerate(zip(_cycle(chart), chart.series, strict=True)):
        places = [names.index(name) + (k + 0.5) * height for name in series.x]
        look = {"color": "white", "edgecolor": colour} if series.quoted else {"color": colour}
        bars = axes.barh(places, series.y, 0.86 * height, label=series.name, **look)
        axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=8)
    axes.set_yticks([k + 0.5 * len(chart.series) * height for k in range(len(names))], names)
    axes.invert_yaxis()
    axes.margins(x=0.12)


def _steps(axes: Any, chart: Chart) -> None:
    for colour, series in zip(_cycle(chart), chart.series, strict=True):
        axes.step(series.x, series.y, where="post", color=colour, label=series.name)
        axes.fill_between(series.x, series.y, step="post", color=colour, alpha=0.12)


_DRAWERS: dict[str, Callable[[Any, Chart], None]] = {
    "lines": _lines,
    "bars": _bars,
    "steps": _steps,
}


def _cycle(chart: Chart) -> list[str]:
    """Return a colour for each series; what is quoted has that of what it stands beside."""
    numbers, number = [], -1
    for series in chart.series:
        number += not series.quoted or number < 0
        numbers.append(number % len(COLOURS))
    return [COLOURS[k] for k in numbers]


def _dress(axes: Any, chart: Chart) -> None:
    """Take away what is not needed to read it."""
    axes.set_title(chart.title, loc="left", fontsize=10.5, color=INK)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.grid(axis="x" if chart.kind == "bars" else "y", color=FAINT)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if chart.kind == "bars":  # which leave no room among them
        axes.figure.legend(frameon=False, fontsize=8.5, loc="outside lower center", ncols=2)
    elif len(chart.series) > 1:
        axes.legend(frameon=False, fontsize=8.5)
