"""Experiments on the model: colours across boundaries (paper, Figure 3), and convergence."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from slanted.errors import plural
from slanted.output.charts import Chart, Series
from slanted.research.experiments.comparisons import DATASETS, changed
from slanted.research.experiments.data import KITTI, VALIDATION, Context
from slanted.research.experiments.jobs.model import BINS, KINDS, LOOKS, ColourJob, ConvergenceJob
from slanted.research.experiments.outcome import Finding, Outcome
from slanted.research.experiments.tables import Row, Table

Floats = NDArray[np.float64]
EDGES = np.arange(BINS) / BINS


def colour_statistics(context: Context) -> Outcome:
    """Return histograms of the χ² distance of colours, by the true kind of the boundary."""
    tables: dict[str, Table] = {}
    charts: dict[str, Chart] = {}
    found: list[Finding] = []
    missing: list[str] = []
    for part in DATASETS:
        job = partial(ColourJob, part.dataset, settings=changed("paper"))
        measured, gone = context.measure_frames(part, job)
        missing += gone
        if not measured:
            continue
        counts = {
            kind: np.array([sum(s[f"{kind}-{k}"] for _, s in measured) for k in range(BINS)], float)
            for kind in KINDS
        }
        tables[part.key] = _colour_table(f"{part.dataset}, {part.split}", len(measured), counts)
        charts[part.key] = _colour_chart(f"colour-statistics: {part.dataset}", counts)
        if part.dataset == KITTI:
            found.append(_coplanar_is_alike(counts))
    return Outcome(
        "colour-statistics",
        "How far apart the colours of two segments are (χ² of histograms of 64 bins, 0 to 1), by "
        "what the ground truth says of their boundary; segments of preset paper.",
        tables,
        charts,
        findings=tuple(found),
        missing=tuple(missing),
    )


def _colour_table(title: str, frames: int, counts: dict[str, Floats]) -> Table:
    rows = [
        Row(kind, (int(histogram.sum()), mean_distance(histogram), entropy(histogram)))
        for kind, histogram in counts.items()
    ]
    columns = ("boundaries", "mean χ²", f"entropy of {BINS} bins, bits")
    return Table(f"{title}: {plural(frames, 'frame')}", columns, tuple(rows))


def _colour_chart(title: str, counts: dict[str, Floats]) -> Chart:
    # A point after the last bin closes the outline.
    places = (*EDGES.tolist(), 1.0)
    series = [
        Series(kind, places, (*(h / max(h.sum(), 1)).tolist(), 0.0)) for kind, h in counts.items()
    ]
    return Chart(title, "χ² distance", "share of boundaries", tuple(series), "steps")


def mean_distance(histogram: Floats) -> float:
    """Return the mean distance, taking the middle of each bin."""
    middles = EDGES + 0.5 / BINS
    return float(histogram @ middles / histogram.sum()) if histogram.sum() else float("nan")


def entropy(histogram: Floats) -> float:
    """Return the entropy in bits."""
    share = histogram[histogram > 0] / max(histogram.sum(), 1)
    return float(-(share * np.log2(share)).sum()) + 0.0  # no −0


def _coplanar_is_alike(counts: dict[str, Floats]) -> Finding:
    means = [mean_distance(counts[kind]) for kind in KINDS]
    spread = [entropy(counts[kind]) for kind in KINDS]
    known = all(counts[kind].sum() for kind in KINDS)
    holds = means[0] < min(means[1:]) and spread[0] < min(spread[1:]) if known else None
    text = ", ".join(
        f"{kind} {mean:.2f} ({bits:.1f} bits)"
        for kind, mean, bits in zip(KINDS, means, spread, strict=True)
    )
    statement = (
        "On KITTI, coplanar neighbours have similar colours, and the distribution's entropy is "
        "higher at hinges and occlusions."
    )
    return Finding(statement, holds, f"mean χ²: {text}")


def convergence(context: Context) -> Outcome:
    """Return energy and bound against sweeps, and the gaps of whole runs; not in the paper."""
    job = partial(ConvergenceJob, VALIDATION.dataset, settings=changed("default"))
    measured, missing = context.measure_frames(VALIDATION, job)
    scores = [found for _, found in measured]
    shows = (
        "The first discrete problem of preset default, followed for longer than the preset does: "
        "energy and lower bound after some sweeps, in percent above the best bound, and how far "
        "the energy of whole runs can at most be above the optimum over their last particles."
    )
    if not scores:
        return Outcome("convergence", shows, missing=tuple(missing))
    curves = {
        name: tuple(float(np.mean([s[f"{name}-{k}"] for s in scores])) for k in LOOKS)
        for name in ("energy", "bound")
    }
    places = tuple(map(float, LOOKS))
    series = tuple(Series(name, places, curve) for name, curve in curves.items())
    gaps = [s["gap"] for s in scores]
    rows = [
        Row(f"{k}", (energy, bound))
        for k, energy, bound in zip(LOOKS, curves["energy"], curves["bound"], strict=True)
    ]
    quantiles = Row("", tuple(float(np.quantile(gaps, q)) for q in (0, 0.5, 1)))
    return Outcome(
        "convergence",
        shows,
        {
            "sweeps": Table(
                f"Means over {plural(len(scores), 'frame')} after so many sweeps, percent above "
                "the best bound",
                ("energy", "bound"),
                tuple(rows),
            ),
            "gaps": Table(
                "Gaps of whole runs, percent", ("least", "median", "largest"), (quantiles,)
            ),
        },
        {
            "sweeps": Chart("convergence", "sweeps", "percent above the best bound", series),
            "gaps": _histogram(gaps),
        },
        missing=tuple(missing),
    )


def _histogram(gaps: list[float]) -> Chart:
    counts, edges = np.histogram(gaps, bins=10, range=(0, max(*gaps, 1e-6)))
    outline = (*counts.astype(float).tolist(), 0.0)
    series = (Series("frames", tuple(edges.tolist()), outline),)
    return Chart("convergence: gaps of whole runs", "gap, percent", "frames", series, "steps")
