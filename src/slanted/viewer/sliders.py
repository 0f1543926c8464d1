"""Settings that the page can change, by the names that people know them by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slanted.settings import leaves

if TYPE_CHECKING:
    from slanted.result import Result
    from slanted.settings import Leaf, Settings


@dataclass(frozen=True)
class Slider:
    """A setting that the page can change."""

    path: str
    name: str
    low: float
    high: float
    power: int
    """Small values get more of the slider's length by this power."""


def _weight(setting: str, name: str) -> Slider:
    return Slider(f"model.weights.{setting}", name, 0, 200, 3)


SLIDERS = (
    Slider("segmentation.count", "segments", 10, 4000, 2),
    Slider("inference.iterations", "first iterations", 0, 10, 1),
    Slider("refinement.rounds", "refinement rounds", 0, 6, 1),
    Slider("refinement.iterations", "iterations a round", 0, 6, 1),
    _weight("seg", "fit to matches"),
    _weight("bdy1", "boundary ownership"),
    _weight("bdy2", "smoothness"),
    _weight("jct", "three-way junctions"),
    _weight("crs", "four-way junctions"),
    _weight("col", "colour contrast"),
    _weight("vis", "visibility"),
    _weight("pho", "photo-consistency"),
)
OF_SEGMENTS = ("segmentation.count", "refinement.rounds", "refinement.iterations")
"""Settings that have no effect on a run with given segments, which it keeps."""

Ranges = dict[str, tuple[float, float]]
"""The ends of each slider, by the path of its setting."""


def slider_ranges(result: Result, without: Collection[str]) -> Ranges:
    """Return the ends of each slider, wide enough for the settings of the result."""
    values = {leaf.path: leaf for leaf in leaves(result.settings)}
    return {
        slider.path: (min(slider.low, value), max(slider.high, 2 * value))
        for slider in SLIDERS
        if slider.path not in without
        for value in (_value(values[slider.path], result),)
    }


def slider_data(settings: Settings, result: Result, ranges: Ranges) -> list[dict[str, Any]]:
    """Return what the page shows of each slider."""
    values = {leaf.path: leaf for leaf in leaves(settings)}
    return [
        {
            "path": slider.path,
            "name": slider.name,
            "symbol": values[slider.path].setting.symbol,
            "low": ranges[slider.path][0],
            "high": ranges[slider.path][1],
            "power": slider.power,
            "whole": values[slider.path].setting.kind is int,
            "value": _value(values[slider.path], result),
            "doc": values[slider.path].setting.doc,
        }
        for slider in SLIDERS
        if slider.path in ranges
    ]


def _value(leaf: Leaf, result: Result) -> Any:
    from slanted.segmentation import automatic_count

    if leaf.value is None:  # only the number of segments can be None
        return automatic_count(round(result.disparity.size * result.finer**2))
    return leaf.value
