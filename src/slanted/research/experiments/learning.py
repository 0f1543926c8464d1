"""Experiments on learning: training size, ε and task loss (paper §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slanted.research.experiments import findings, paper
from slanted.research.experiments.comparisons import changed
from slanted.research.experiments.data import (
    KITTI,
    METRIC,
    METRICS,
    TRAINING,
    TRAINING_MORE,
    VALIDATION,
    Context,
)
from slanted.research.experiments.findings import Claim
from slanted.research.experiments.jobs.learning import LearningJob
from slanted.research.experiments.measurements import problems_of
from slanted.research.experiments.outcome import Outcome
from slanted.research.experiments.plans import Entry, Plan, run_plan
from slanted.research.experiments.tables import Row, Table

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.research.experiments.measurements import Scores
    from slanted.settings import Settings

HAND_SET = {"seg": 1.0, "bdy1": 0.1, "bdy2": 40.0, "jct": 10.0, "crs": 10.0, "col": 30.0}
"""The weights of preset ``paper``, which were set by hand. Learning starts at 1 instead: started
here, it returned them unchanged in a trial with five images, since no round had a smaller loss."""
ONES = dict.fromkeys(HAND_SET, 1.0)
IMAGES = 10
"""Training images for ε and loss, as in the paper."""
SIZES = (1, 5, 10, 20)
"""Numbers of training images; those after the tenth are of the split train_more."""
SHORT = {"learning__rounds": 2, "learning__max_steps": 15, "learning__particles": 15}
"""How thoroughly rows are learned: with the defaults each of the ten takes an hour."""
QUICK_STEPS, QUICK_PARTICLES = 8, 10
"""Most evaluations of a round, and most particles, in a quick pass; it has one round with each kind
of target."""
UNIT, HAND = "all weights 1", "weights set by hand"


def training_size(context: Context) -> Outcome:
    """Make the table "Training set size", with weights that were not learned beside it."""
    return _learn_and_measure(
        Study(
            "training-size",
            "Error against the number of training images, beside weights that were not learned; "
            "preset paper otherwise.",
            {str(n): (n, start()) for n in SIZES},
            {str(n): figures for n, figures in paper.TRAINING_SIZE.items()},
            Claim("One training image is enough.", findings.one_image_suffices),
            {UNIT: weighed(ONES), HAND: weighed(HAND_SET)},
        ),
        context,
    )


def epsilon(context: Context) -> Outcome:
    """Make the table "Family of structure prediction problems": from structural SVM to CRF."""
    errors = [row[METRICS[KITTI].index(METRIC)] for row in paper.EPSILON.values()]
    rule = findings.little_difference(max(errors) - min(errors))
    return _learn_and_measure(
        Study(
            "epsilon",
            f"ε = 0 is a structural SVM, 1 a CRF; learned from {IMAGES} images; preset paper "
            "otherwise.",
            {f"ε = {e:g}": (IMAGES, start(learning__epsilon=e)) for e in (0.0, 0.5, 1.0)},
            {f"ε = {e:g}": figures for e, figures in paper.EPSILON.items()},
            Claim("ε matters no more than in the paper.", rule),
        ),
        context,
    )


def loss(context: Context) -> Outcome:
    """Make the table "Loss functions"."""
    return _learn_and_measure(
        Study(
            "loss",
            f"Which task loss is learned with, from {IMAGES} images; preset paper otherwise.",
            {name: (IMAGES, start(learning__loss=name)) for name in paper.LOSS},
            paper.LOSS,
            Claim("The loss matters little.", findings.little_difference(findings.LITTLE)),
        ),
        context,
    )


@dataclass(frozen=True)
class Study:
    """Weights to learn and measure."""

    name: str
    shows: str
    # the number of images to learn from and the settings to learn with, by row
    wanted: Mapping[str, tuple[int, Settings]]
    printed: Mapping[str, tuple[float, ...]]  # the paper's numbers by row
    claim: Claim  # the statement to check
    # settings that are measured without learning, by row
    others: Mapping[str, Settings] = field(default_factory=dict)


def start(**changes: object) -> Settings:
    """Return the settings to learn with."""
    return changed("paper", **_named(ONES), **SHORT, **changes)


def weighed(weights: Mapping[str, float]) -> Settings:
    """Return the preset ``paper`` with other weights."""
    return changed("paper", **_named(weights))


def _named(weights: Mapping[str, float]) -> dict[str, float]:
    return {f"model__weights__{name}": weight for name, weight in weights.items()}


def _learn_and_measure(study: Study, context: Context) -> Outcome:
    """Learn the weights of every row, then measure them on the validation frames.

    A row that would learn from the same frames as another, because there are no more, is left out.
    """
    frames, missing = _training_frames(context, max(n for n, _ in study.wanted.values()))
    jobs: dict[str, LearningJob] = {}
    for row, (count, settings) in study.wanted.items():
        checkpoints = context.folder / "checkpoints"
        job = LearningJob(tuple(frames[:count]), limited(settings, context), checkpoints)
        if frames and job not in jobs.values():
            jobs[row] = job
    measured = context.measure(list(jobs.values()))
    missing += problems_of(list(jobs.values()), measured)
    learned = {
        str(len(job.frames)) if row.isdigit() else row: found.scores
        for (row, job), found in zip(jobs.items(), measured, strict=True)
        if not found.problem
    }
    entries = [Entry(row, settings) for row, settings in study.others.items()]
    for row, scores in learned.items():
        figures = {KITTI: study.printed[row]} if row in study.printed else {}
        weights = {key: scores[key] for key in HAND_SET}
        entries.append(Entry(row, weighed(weights), paper=figures))
    absent = {row: figures for row, figures in study.printed.items() if row not in learned}
    plan = Plan(
        study.name,
        study.shows,
        {VALIDATION: entries if learned else []},
        quoted={KITTI: absent},
        claims=(study.claim,),
    )
    outcome = run_plan(plan, context)
    tables = dict(outcome.tables)
    if learned:
        tables["weights"] = _weights_table(learned, context)
    return replace(outcome, tables=tables, missing=(*dict.fromkeys(missing), *outcome.missing))


def _training_frames(context: Context, most: int) -> tuple[list[Frame], list[str]]:
    """Return frames of train, and of train_more if that has too few, and what is missing."""
    frames, missing = context.frames(TRAINING)
    if len(frames) < min(most, context.limit or most):
        more, gone = context.frames(TRAINING_MORE)
        frames, missing = [*frames, *more], [*missing, *gone]
    return frames[: context.limit], missing


def limited(settings: Settings, context: Context) -> Settings:
    """Return settings that learn less thoroughly in a quick pass."""
    if context.limit is None:
        return settings
    learning = settings.learning
    few = replace(
        learning,
        max_steps=min(learning.max_steps, QUICK_STEPS),
        particles=min(learning.particles, QUICK_PARTICLES),
        rounds=1,
    )
    return replace(settings, learning=few)


def _weights_table(learned: Mapping[str, Scores], context: Context) -> Table:
    columns = (*HAND_SET, "evaluations", "seconds")
    rows = tuple(Row(name, tuple(found[c] for c in columns)) for name, found in learned.items())
    notes = [
        "Evaluations of the objective, and seconds with one thread; at most "
        f"{SHORT['learning__rounds']} rounds of {SHORT['learning__max_steps']} evaluations, with "
        f"{SHORT['learning__particles']} particles."
    ]
    if context.limit is not None:
        notes.append(
            f"In a quick pass at most {QUICK_STEPS} evaluations a round, twice for ε = 0, and "
            f"{QUICK_PARTICLES} particles."
        )
    return Table("Weights that were learned", columns, rows, tuple(notes))
