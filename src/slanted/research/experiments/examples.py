"""Pictures of the best, the median and the worst frame of each dataset (paper, Figure 4)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from slanted.research.experiments.comparisons import changed
from slanted.research.experiments.findings import METRIC
from slanted.research.experiments.jobs.examples import ExampleJob
from slanted.research.experiments.jobs.frames import FrameJob
from slanted.research.experiments.measurements import problems_of
from slanted.research.experiments.outcome import Outcome, Picture
from slanted.research.experiments.plans import TEST, VALIDATION, Context, Part

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame


def examples(context: Context) -> Outcome:
    """Return pictures of three frames of each dataset, chosen by their error, not by hand."""
    pictures: dict[str, Picture] = {}
    missing: list[str] = []
    for part in (VALIDATION, TEST):
        chosen, gone = _choose(part, context)
        missing += gone
        jobs = [ExampleJob(part.dataset, f, changed("default")) for f in chosen.values()]
        measured = context.measure(jobs)
        missing += problems_of(jobs, measured)
        for rank, job, found in zip(chosen, jobs, measured, strict=True):
            if not found.problem:
                content = base64.b64decode(found.scores["picture"])
                caption = (
                    f"{part.dataset} {job.frame.name}, the {rank}: {METRIC} "
                    f"{found.scores[METRIC]:.2f} %"
                )
                pictures[f"{part.dataset}-{rank}"] = Picture(content, caption)
    return Outcome(
        "examples",
        "The best, the median and the worst frame by out-3px over all pixels, preset default. Left "
        "image, disparity (dark is far), boundary labels (green coplanar, yellow hinge, red and "
        "blue occlusions), errors (blue below 3 px, warm above, black without ground truth).",
        pictures=pictures,
        missing=tuple(missing),
    )


def _choose(part: Part, context: Context) -> tuple[dict[str, Frame], list[str]]:
    """Return frames by rank; a frame that has two ranks is there once."""
    frames, missing = context.frames(part)
    jobs = [FrameJob(part.dataset, frame, changed("default")) for frame in frames]
    measured = context.measure(jobs)
    missing += problems_of(jobs, measured)
    scored = zip(measured, frames, strict=True)
    errors = sorted(
        ((m.scores[METRIC], frame.name, frame) for m, frame in scored if not m.problem),
        key=lambda found: found[:2],
    )
    if not errors:
        return {}, missing
    ranks = {"best": 0, "worst": len(errors) - 1, "median": len(errors) // 2}
    places = {place: rank for rank, place in reversed(ranks.items())}
    order = sorted(places)
    return {places[place]: errors[place][2] for place in order}, missing
