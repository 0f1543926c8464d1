"""Charts of numbers: what they show. `slanted.output.chart_drawing` draws them.

No plotting library is needed: slanted draws only three kinds of chart, one of them in every run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

import numpy as np

from slanted.evaluation.metrics import OUTLIER_THRESHOLDS
from slanted.evaluation.sparsification import DENSITIES
from slanted.inference.outcome import graph_changes

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.inference.outcome import Inference, Iteration
    from slanted.settings import Settings


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
class Break:
    """A place between points of curves where something changed, and a few words on what."""

    x: float
    words: str


@dataclass(frozen=True)
class Chart:
    """What to draw.

    ``lines`` are curves over numbers, ``bars`` lie side by side for each name, and ``steps`` are
    outlines of histograms whose bins start at `x`. Curves with a `floor` start there, such as at 0,
    instead of near their lowest value.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "bars", "steps"] = "lines"
    breaks: tuple[Break, ...] = ()
    floor: float | None = None


def energy_chart(inference: Inference, settings: Settings) -> Chart:
    """Return energy and bound by outer iteration; 0 is the start, if its energy is known.

    Where a round of refinement began, the graph is another one and its energy may be higher, so
    that place is marked.
    """
    course = (inference.initial_energy, *(step.energy for step in inference.iterations))
    bounds = (math.nan, *(step.bound for step in inference.iterations))
    places = tuple(map(float, range(len(course))))
    series = (Series("energy", places, course), Series("lower bound", places, bounds))
    breaks = _new_graphs(inference.iterations, settings)
    return Chart("Energy by outer iteration", "iteration", "", series, breaks=breaks)


def _new_graphs(steps: Sequence[Iteration], settings: Settings) -> tuple[Break, ...]:
    """Return where segments changed, or the matches that they explain."""
    breaks = []
    for number in sorted(graph_changes(steps, settings)):
        before, after = steps[number - 1].segments, steps[number].segments
        words = "next round" if before == after else f"{before} to {after} segments"
        breaks.append(Break(number + 0.5, words))
    return tuple(breaks)


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
    return Chart(title, "pixels kept, %", "wrong pixels (D1) among them, %", series, floor=0.0)


def threshold_chart(curves: Mapping[str, Mapping[str, float]]) -> Chart:
    """Return the share of wrong pixels by what counts as wrong, from metrics by name of a curve."""
    places = tuple(map(float, OUTLIER_THRESHOLDS))
    series = tuple(
        Series(name, places, tuple(errors[f"out-{k}px-all"] for k in OUTLIER_THRESHOLDS))
        for name, errors in curves.items()
    )
    title = "Error against threshold"
    return Chart(title, "an error above this is wrong, px", "wrong pixels, %", series, floor=0.0)


def sorted_chart(values: Sequence[float], title: str, x_label: str, y_label: str) -> Chart:
    """Return values from the lowest to the highest, which shows how many are high."""
    ordered = sorted(value for value in values if math.isfinite(value))
    places = tuple(k + 1.0 for k in range(len(ordered)))
    return Chart(title, x_label, y_label, (Series(y_label, places, tuple(ordered)),), floor=0.0)


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
