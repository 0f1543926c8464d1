"""Inside the model: colours across boundaries (paper, Figure 3), and how inference converges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.output.plots import Chart, Series
from slanted.output.text import plural
from slanted.research.experiments.comparisons import changed
from slanted.research.experiments.jobs.model import BINS, KINDS, LOOKS, ColourJob, ConvergenceJob
from slanted.research.experiments.measurements import problems_of
from slanted.research.experiments.outcome import Finding, Outcome
from slanted.research.experiments.plans import KITTI, TEST, VALIDATION, Context
from slanted.research.experiments.tables import Row, Table

Floats = NDArray[np.float64]
EDGES = np.arange(BINS) / BINS


def colour_statistics(context: Context) -> Outcome:
    """Return histograms of the χ² distance of colours, by the true kind of boundary."""
    tables: dict[str, Table] = {}
    charts: dict[str, Chart] = {}
    found: list[Finding] = []
    missing: list[str] = []
    for part in (VALIDATION, TEST):
        frames, gone = context.frames(part)
        jobs = [ColourJob(part.dataset, frame, changed("paper")) for frame in frames]
        measured = context.measure(jobs)
        missing += [*gone, *problems_of(jobs, measured)]
        scores = [m.scores for m in measured if not m.problem]
        if not scores:
            continue
        counts = {
            kind: np.array([sum(s[f"{kind}-{k}"] for s in scores) for k in range(BINS)], float)
            for kind in KINDS
        }
        tables[part.key] = _colour_table(f"{part.dataset}, {part.split}", len(scores), counts)
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
    """Return the mean of what was counted, from the middles of the bins."""
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
    frames, missing = context.frames(VALIDATION)
    jobs = [ConvergenceJob(VALIDATION.dataset, frame, changed("default")) for frame in frames]
    measured = context.measure(jobs)
    missing += problems_of(jobs, measured)
    scores = [m.scores for m in measured if not m.problem]
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
