"""Sentences and shares from the summary of a result, for terminals and reports."""

from __future__ import annotations

from math import ceil, isfinite
from typing import Any

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.runtime.arrays import Ints


def rounded_up(percent: float, digits: int) -> str:
    """Return a percentage, rounded up: it is said to be the most.

    Examples
    --------
    >>> rounded_up(0.1201, 2), rounded_up(3.0, 1)
    ('0.13', '3.0')
    """
    if not isfinite(percent):
        return str(percent)
    return f"{ceil(percent * 10**digits - 1e-6) / 10**digits:.{digits}f}"


def most_above(gap_percent: float) -> str:
    """Say how far the energy can be above the optimum.

    Examples
    --------
    >>> most_above(0.04155)
    'at most 0.042 % above the optimum over the last particles'
    """
    return f"at most {rounded_up(gap_percent, 3)} % above the optimum over the last particles"


def range_text(summary: dict[str, Any]) -> str:
    """Return the disparities of a result, and those that were searched, if that is known."""
    text = f"{summary['disparity_min']:.1f} to {summary['disparity_max']:.1f} px"
    searched = summary.get("searched")
    return text if searched is None else f"{text}, searched {searched['low']} to {searched['high']}"


def matched_text(summary: dict[str, Any]) -> str:
    """Say how many pixels have a match, and how many cannot have one."""
    return (
        f"{summary['matched_percent']:.1f} % of the pixels; {summary['occluded_percent']:.1f} % "
        "are hidden from the right view"
    )


def gap_text(summary: dict[str, Any]) -> str:
    """Say how far the energy can be above the optimum, also as a share of what the search decides.

    That share is left out if it is not known, as of results of old versions.
    """
    text = f"{most_above(summary['gap_percent'])} (bound {summary['bound']:,.0f})"
    share = summary.get("gap_above_floor_percent")
    if share is None or not isfinite(share):
        return text
    return (
        f"{text}; that is at most {rounded_up(share, 1)} % of the energy above the floor of "
        f"{summary['floor']:,.0f}, where each term is minimised alone, and bounds the search, not "
        "the error of the disparity"
    )


def label_counts(labels: Ints) -> dict[str, int]:
    """Return how many boundaries have each label, by its name, as in a summary."""
    counts = np.bincount(labels, minlength=len(BoundaryLabel))
    return {label.name.lower(): int(counts[label]) for label in BoundaryLabel}


def label_shares(summary: dict[str, Any]) -> dict[str, float]:
    """Return the percentages of coplanar, hinge and occlusion boundaries, by these names."""
    counts = summary["boundaries"]
    total = max(sum(counts.values()), 1)
    kinds = {name: counts[name] for name in ("coplanar", "hinge")}
    kinds["occlusion"] = counts["left_occlusion"] + counts["right_occlusion"]
    return {name: 100 * count / total for name, count in kinds.items()}
