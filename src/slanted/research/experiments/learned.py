"""Experiments on learning: training size, ε and task loss (paper §4, Tables on each)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from slanted.research.experiments import findings, paper
from slanted.research.experiments.comparisons import changed
from slanted.research.experiments.jobs.learning import LearningJob
from slanted.research.experiments.measurements import problems_of
from slanted.research.experiments.outcome import Outcome
from slanted.research.experiments.plans import (
    KITTI,
    METRICS,
    TRAINING,
    VALIDATION,
    Context,
    Entry,
    Plan,
    run_plan,
)
from slanted.research.experiments.tables import Row, Table

if TYPE_CHECKING:
    from slanted.research.experiments.measurements import Scores
    from slanted.settings import Settings

HAND_SET = {"seg": 1.0, "bdy1": 1.0, "bdy2": 100.0, "jct": 30.0, "crs": 30.0, "col": 20.0}
"""Where learning starts: what the preset ``paper`` had before its weights were learned."""
FEW = 5
"""Training images for ε and loss: ε = 0 takes many steps."""
QUICK_STEPS = 15
"""Most evaluations of learning in a quick pass on few images, whose weights are not worth more."""
UNIT, HAND = "all weights 1", "weights set by hand"


def training_size(context: Context) -> Outcome:
    """Make the table "Training set size", with weights that were not learned beside it."""
    wanted = {str(n): (n, start()) for n in (1, 5, 10)}
    others = {UNIT: weighed(dict.fromkeys(HAND_SET, 1.0)), HAND: weighed(HAND_SET)}
    printed = {str(n): figures for n, figures in paper.TRAINING_SIZE.items()}
    shows = (
        "Error against the number of training images, beside weights that were not learned; "
        "preset paper otherwise."
    )
    outcome = _learn_and_measure("training-size", shows, wanted, printed, context, others)
    statement = "One training image is enough."
    found = findings.check(statement, outcome.tables, findings.one_image_suffices)
    return replace(outcome, findings=(found,))


def epsilon(context: Context) -> Outcome:
    """Make the table "Family of structure prediction problems": from structural SVM to CRF."""
    values = (0.0, 0.5, 1.0)
    wanted = {f"ε = {e:g}": (FEW, start(learning__epsilon=str(e))) for e in values}
    printed = {f"ε = {e:g}": figures for e, figures in paper.EPSILON.items()}
    shows = (
        f"ε = 0 is a structural SVM, 1 a CRF; learned from at most {FEW} images, where the paper "
        "has 10; preset paper otherwise."
    )
    outcome = _learn_and_measure("epsilon", shows, wanted, printed, context)
    errors = [row[METRICS[KITTI].index(findings.METRIC)] for row in paper.EPSILON.values()]
    rule = findings.little_difference(max(errors) - min(errors))
    statement = "ε matters no more than in the paper."
    found = findings.check(statement, outcome.tables, rule)
    return replace(outcome, findings=(found,))


def loss(context: Context) -> Outcome:
    """Make the table "Loss functions"."""
    wanted = {name: (FEW, start(learning__loss=name)) for name in paper.LOSS}
    shows = (
        f"Which task loss is learned with, from at most {FEW} images, where the paper has 10; "
        "preset paper otherwise."
    )
    outcome = _learn_and_measure("loss", shows, wanted, paper.LOSS, context)
    statement = "The loss matters little."
    rule = findings.little_difference(findings.LITTLE)
    found = findings.check(statement, outcome.tables, rule)
    return replace(outcome, findings=(found,))


def start(**changes: str) -> Settings:
    """Return the settings to learn with."""
    return weighed(HAND_SET).with_text({k.replace("__", "."): v for k, v in changes.items()})


def weighed(weights: Mapping[str, float]) -> Settings:
    """Return the preset ``paper`` with other weights."""
    texts = {f"model__weights__{name}": repr(weight) for name, weight in weights.items()}
    return changed("paper", **texts)


def _learn_and_measure(
    name: str,
    shows: str,
    wanted: Mapping[str, tuple[int, Settings]],
    printed: Mapping[str, tuple[float, ...]],
    context: Context,
    others: Mapping[str, Settings] | None = None,
) -> Outcome:
    """Learn every row's weights, then measure them on the validation frames.

    Rows that would be learned from the same frames, because there are no more, are left out.
    """
    frames, missing = context.frames(TRAINING)
    jobs: dict[str, LearningJob] = {}
    for row, (count, settings) in wanted.items():
        steps = settings.learning.max_steps
        if context.limit is not None:
            steps = min(steps, QUICK_STEPS)
        limited = settings.with_text({"learning.max_steps": str(steps)})
        job = LearningJob(tuple(frames[:count]), limited, context.folder / "checkpoints")
        if frames and all(job != other for other in jobs.values()):
            jobs[row] = job
    measured = context.measure(list(jobs.values()))
    missing += problems_of(list(jobs.values()), measured)
    learned = {
        str(len(job.frames)) if row.isdigit() else row: found.scores
        for (row, job), found in zip(jobs.items(), measured, strict=True)
        if not found.problem
    }
    entries = [Entry(row, settings) for row, settings in (others or {}).items()]
    for row, scores in learned.items():
        figures = {KITTI: printed[row]} if row in printed else {}
        weights = {key: scores[key] for key in HAND_SET}
        entries.append(Entry(row, weighed(weights), paper=figures))
    absent = {row: figures for row, figures in printed.items() if row not in learned}
    plan = Plan(name, shows, {VALIDATION: entries if learned else []}, quoted={KITTI: absent})
    outcome = run_plan(plan, context)
    tables = (
        {**outcome.tables, "weights": _weights_table(learned, context)}
        if learned
        else outcome.tables
    )
    return replace(outcome, tables=tables, missing=(*dict.fromkeys(missing), *outcome.missing))


def _weights_table(learned: Mapping[str, Scores], context: Context) -> Table:
    columns = (*HAND_SET, "evaluations", "seconds")
    rows = tuple(Row(name, tuple(found[c] for c in columns)) for name, found in learned.items())
    notes = ["Evaluations of the objective, and seconds with one thread."]
    if context.limit is not None:
        notes.append(f"In a quick pass at most {QUICK_STEPS} evaluations, twice for ε = 0.")
    return Table("Weights that were learned", columns, rows, tuple(notes))
