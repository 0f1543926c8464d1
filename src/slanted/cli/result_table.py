"""The outcome of a run as a short table: what was found, how sure it is, how long it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.cli.terminal import Row

if TYPE_CHECKING:
    from slanted.settings import ConfidenceSettings, Settings

STYLES = {"coplanar": "green", "hinge": "yellow", "occlusion": "red"}
"""Colours of the labels, as near to those of the pictures as a terminal gets."""
SURE, UNSURE = 0.9, 0.5
"""Median confidences from which the number is green, and below which it is red."""


def result_rows(summary: dict[str, Any], settings: Settings) -> list[Row]:
    """Return the rows on a result of these settings, doubts first."""
    from slanted.output.summary_text import matched_text, range_text

    return [
        *(("doubtful", [(doubt, "bold red")]) for doubt in summary.get("doubts", ())),
        *_rectification(summary.get("rectification"), settings.rectification.check),
        ("size", [(f"{summary['width']}×{summary['height']} px", "")]),
        ("disparity", [(range_text(summary), "")]),
        ("matched", [(matched_text(summary), "")]),
        ("segments", [(f"{summary['segments']:,}", "")]),
        ("boundaries", list(_boundaries(summary))),
        ("confidence", list(_confidence(summary, settings.confidence))),
        ("energy", list(_energy(summary))),
        ("time", [(seconds_text(summary["seconds"]), "")]),
    ]


def file_rows(output: Path, files: Sequence[str]) -> list[Row]:
    """Return the rows on the files of a run, and on maps that KITTI's format cannot hold."""
    left_out = [
        f"{name}.png"
        for name in ("disparity", "disparity_filled")
        if f"{name}.pfm" in files and f"{name}.png" not in files
    ]
    why = "KITTI's format holds disparities from 0 to 256 px; the PFM and the NPY have them all"
    rows: list[Row] = [("left out", [(f"{', '.join(left_out)}: {why}", "yellow")])]
    return [
        *rows[: len(left_out)],
        ("wrote", [(f"{', '.join(files)} to ", ""), (str(output), "bold")]),
    ]


def seconds_text(seconds: dict[str, float]) -> str:
    """Return the time of a run and of each of its stages."""
    stages = {name: value for name, value in seconds.items() if name != "total"}
    each = ", ".join(f"{name} {value:.2f}" for name, value in stages.items())
    return f"{sum(stages.values()):.2f} s: {each}" if each else "not recorded"


def _boundaries(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from slanted.output.summary_text import label_shares

    for number, (name, share) in enumerate(label_shares(summary).items()):
        yield (", " if number else "", "")
        yield (f"{share:.1f} % {name}", STYLES[name])


def _confidence(summary: dict[str, Any], rules: ConfidenceSettings) -> Iterator[tuple[str, str]]:
    median = summary.get("confidence_median")
    if median is None:
        yield ("none: there are no trees, or the disparity is your own", "")
        return
    yield ("median ", "")
    yield (f"{median:.2f}", "green" if median >= SURE else "red" if median < UNSURE else "yellow")
    yield (f", {summary['low_confidence_percent']:.1f} % of the pixels below {rules.low:g}", "")
    if summary["dropped_percent"]:
        yield (f", {summary['dropped_percent']:.1f} % left out, below {rules.min:g}", "")


def _energy(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from slanted.output.summary_text import gap_text

    yield (f"{summary['energy']:,.0f}, ", "")
    yield (gap_text(summary), "dim")


def _rectification(check: dict[str, Any] | None, rule: str) -> Iterator[Row]:
    from slanted.matching.rectification import FEWEST_MATCHES

    if check is None:
        few = f"unknown: fewer than {FEWEST_MATCHES} features match, too few to compare the rows"
        text = "not checked: rectification.check is off" if rule == "off" else few
        yield ("rectification", [(text, "yellow")])
    elif check["corrected"]:
        warp = check["warp"]
        text = (
            f"the rows of the right image were off by {warp['rms']:.2f} px "
            f"(rms, ± {warp['uncertainty']:.2f}): straightened before matching"
        )
        yield ("rectification", [(text, "yellow")])
