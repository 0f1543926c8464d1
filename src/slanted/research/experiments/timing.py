"""Experiments on accuracy and time, against the number of superpixels (paper §4) or particles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.research.experiments import findings, paper
from slanted.research.experiments.comparisons import changed
from slanted.research.experiments.data import KITTI, METRICS, VALIDATION, Context
from slanted.research.experiments.findings import Claim
from slanted.research.experiments.jobs.frames import (
    INFERENCE,
    PER_SWEEP,
    SECONDS,
    SEGMENTS,
    SWEEPS,
)
from slanted.research.experiments.plans import Entry, Plan, run_plan

if TYPE_CHECKING:
    from slanted.research.experiments.outcome import Outcome


def superpixels(context: Context) -> Outcome:
    """Make the figure "Importance of the number of superpixels": accuracy and time."""
    counts = (200, 400, 800, 1200, 1600, 2000)
    minutes = ", ".join(f"{m} minutes for {n}" for n, m in paper.MINUTES.items())
    plan = Plan(
        "superpixels",
        "Accuracy and time of the whole run against the number of superpixels; preset paper "
        f"otherwise. The paper prints the time of inference: {minutes}. That time also grows with "
        "the sweeps to convergence, so the processor time per sweep and segment stands beside it.",
        {VALIDATION: [Entry(f"{n}", changed("paper", segmentation__count=n)) for n in counts]},
        rows_are="superpixels asked for",
        metrics={KITTI: (*METRICS[KITTI], SEGMENTS, SWEEPS, PER_SWEEP)},
        times=(SECONDS, INFERENCE),
        claims=(
            Claim("Errors fall with more superpixels.", findings.errors_fall("1200")),
            Claim("Time is linear in the number of superpixels.", findings.time_is_linear),
            Claim(
                "The time of a sweep is linear in the number of superpixels.",
                findings.sweep_time_is_linear,
            ),
        ),
    )
    return run_plan(plan, context)


def particles(context: Context) -> Outcome:
    """Measure error and time against the number of particles; not in the paper."""
    counts = (2, 5, 10, 15, 20)
    plan = Plan(
        "particles",
        "Error and time against the number of particles, preset default.",
        {VALIDATION: [Entry(f"{n}", changed("default", inference__particles=n)) for n in counts]},
        rows_are="particles of each segment",
        times=(SECONDS, INFERENCE),
    )
    return run_plan(plan, context)
