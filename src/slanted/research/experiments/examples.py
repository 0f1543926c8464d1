"""Pictures of the best, the median and the worst frame of each dataset (paper, Figure 4)."""

from __future__ import annotations

import base64
from functools import partial

from slanted.research.experiments.comparisons import DATASETS, changed
from slanted.research.experiments.data import METRIC, Context
from slanted.research.experiments.jobs.examples import ExampleJob
from slanted.research.experiments.jobs.frames import FrameJob
from slanted.research.experiments.measurements import problems_of
from slanted.research.experiments.outcome import Outcome, Picture


def examples(context: Context) -> Outcome:
    """Return pictures of three frames of each dataset, chosen by their error, not by hand."""
    pictures: dict[str, Picture] = {}
    missing: list[str] = []
    settings = changed("default")
    for part in DATASETS:
        dataset = part.dataset
        found, gone = context.measure_frames(part, partial(FrameJob, dataset, settings=settings))
        found.sort(key=lambda pair: (pair[1][METRIC], pair[0].name))
        # A frame that has several ranks is shown once, under the last of them.
        ranks = {"median": len(found) // 2, "worst": len(found) - 1, "best": 0} if found else {}
        chosen = {place: rank for rank, place in ranks.items()}
        order = sorted(chosen)
        jobs = [ExampleJob(dataset, found[place][0], settings) for place in order]
        measured = context.measure(jobs)
        missing += [*gone, *problems_of(jobs, measured)]
        for rank, job, made in zip(map(chosen.get, order), jobs, measured, strict=True):
            if not made.problem:
                error = f"{METRIC} {made.scores[METRIC]:.2f} %"
                caption = f"{dataset} {job.frame.name}, the {rank}: {error}"
                content = base64.b64decode(made.scores["picture"])
                pictures[f"{dataset}-{rank}"] = Picture(content, caption)
    return Outcome(
        "examples",
        "The best, the median and the worst frame by out-3px over all pixels, preset default. Left "
        "image, disparity (dark is far), boundary labels (green coplanar, yellow hinge, red and "
        "blue occlusions), errors (blue below 3 px, warm above, black without ground truth).",
        pictures=pictures,
        missing=tuple(missing),
    )
