"""Experiments that compare settings or methods on datasets: what to run, and the paper's figures.

Figures of the paper are for KITTI 2012, where ours are for whatever frames are given, and for the
Middlebury scenes at its sizes and with its masks. They are there to compare orders and shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slanted.evaluation.methods import FULL_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slanted.settings import Settings

KITTI, MIDDLEBURY = "kitti2015", "middlebury"
SPLITS = {KITTI: "validation", MIDDLEBURY: "test"}
"""On which frames the tables are."""
METRICS = {
    KITTI: tuple(f"out-{k}px-{pixels}" for k in (2, 3, 4, 5) for pixels in ("noc", "all")),
    MIDDLEBURY: tuple(f"out-{k}px-{pixels}" for k in (1, 2, 3, 4, 5) for pixels in ("noc", "all")),
}
"""Columns of the paper's tables."""
DIFFERS = {
    KITTI: "The paper's figures are for KITTI 2012, ours for KITTI 2015.",
    MIDDLEBURY: "The paper's figures are for its own sizes and masks of the scenes.",
}


@dataclass(frozen=True)
class Entry:
    """A row: a method with settings, and what the paper has for it.

    Parameters
    ----------
    name
        Of the row.
    settings
        All of them.
    method
        The whole pipeline, or a matcher's name.
    paper
        By dataset, in the order of `METRICS`.
    """

    name: str
    settings: Settings
    method: str = FULL_MODEL
    paper: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """An experiment.

    Parameters
    ----------
    name
        By which it is called.
    shows
        What it shows, a sentence.
    datasets
        On which it runs.
    entries
        Its rows.
    """

    name: str
    shows: str
    datasets: tuple[str, ...]
    entries: tuple[Entry, ...]


def _changed(preset: str, **changes: str) -> Settings:
    from slanted.settings import Settings

    return Settings.preset(preset).with_text({k.replace("__", "."): v for k, v in changes.items()})


def comparison() -> Plan:
    """Return the paper's Tables 1 and 2: ours beside OpenCV's matchers."""
    ours, paper = _changed("default"), _changed("paper")
    sgbm = {MIDDLEBURY: (7.0, 24.4, 5.9, 22.9, 5.5, 22.4, 5.3, 22.1, 5.2, 21.8)}
    published = {
        KITTI: (9.03, 11.58, 4.47, 6.66, 3.13, 5.05, 2.51, 4.23),
        MIDDLEBURY: (5.1, 17.5, 3.3, 14.3, 2.8, 13.0, 2.5, 12.2, 2.3, 11.6),
    }
    return Plan(
        "comparison",
        "Both presets beside matchers alone, whose holes are filled as KITTI does.",
        (KITTI, MIDDLEBURY),
        (
            Entry("slanted, preset default", ours),
            Entry("slanted, preset paper", paper, paper=published),
            Entry("census, filled", ours, "census"),
            Entry("OpenCV SGBM, filled", ours, "sgbm", sgbm),
        ),
    )


def segmentation() -> Plan:
    """Return the paper's Tables 3 and 4: where segments come from."""
    rows: tuple[tuple[str, str, str, tuple[float, ...]], ...] = (
        (
            "UCM", "ucm", "92",
            (58.06, 58.85, 52.13, 52.86, 48.67, 49.35, 46.26, 46.88),
        ),
        (
            "SLIC, fewer", "slic", "979",
            (9.21, 11.73, 4.60, 6.75, 3.26, 5.15, 2.63, 4.32),
        ),
        (
            "SLIC", "slic", "1199",
            (9.16, 11.76, 4.62, 6.86, 3.26, 5.23, 2.62, 4.39),
        ),
        (
            "UCM + SLIC", "slic+ucm", "1192",
            (9.03, 11.58, 4.47, 6.66, 3.13, 5.05, 2.51, 4.23),
        ),
        ("ours: SLIC + disparity", "slic+disparity", "1192", ()),
    )  # fmt: skip
    entries = [
        Entry(
            name,
            _changed("paper", segmentation__method=method, segmentation__count=count),
            paper={KITTI: figures} if figures else {},
        )
        for name, method, count, figures in rows
    ]
    return Plan(
        "segmentation",
        "Segments of every kind, with the paper's numbers of them; preset paper otherwise.",
        (KITTI,),
        tuple(entries),
    )


def superpixels() -> Plan:
    """Return the paper's Figure on the number of superpixels: accuracy and time."""
    counts = (200, 400, 800, 1200, 1600, 2000)
    entries = [Entry(f"{n}", _changed("paper", segmentation__count=str(n))) for n in counts]
    shows = "Accuracy and time against the number of superpixels; preset paper otherwise."
    return Plan("superpixels", shows, (KITTI,), tuple(entries))


def resampling() -> Plan:
    """Return the paper's Figure on resampling: error against iterations."""
    entries = [Entry(f"{n}", _changed("paper", inference__iterations=str(n))) for n in range(7)]
    shows = "Error against the times that particles are drawn; preset paper otherwise."
    return Plan("resampling", shows, (KITTI,), tuple(entries))


def particles() -> Plan:
    """Return error and time against the number of particles; not in the paper."""
    counts = (2, 5, 10, 15, 20)
    entries = [Entry(f"{n}", _changed("default", inference__particles=str(n))) for n in counts]
    shows = "Error and time against the number of particles, preset default."
    return Plan("particles", shows, (KITTI,), tuple(entries))


PLANS: dict[str, Callable[[], Plan]] = {
    plan.__name__: plan for plan in (comparison, segmentation, superpixels, resampling, particles)
}
"""By name."""
