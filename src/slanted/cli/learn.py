"""``slanted learn``: weights from frames with ground truth."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import RecordedCommand, new_command, option
from slanted.cli.progress import Report, table

if TYPE_CHECKING:
    from slanted.learning.learn import Learned
    from slanted.learning.training import Step
    from slanted.settings import Settings

SHORT = {f"--{name}": f"learning.{name}" for name in ("epsilon", "C", "loss")}
"""Further settings that have a short option."""


@new_command(name="learn", cls=RecordedCommand, short_help="Learn the weights from ground truth.")
@click.argument("dataset", metavar="DATASET:PATH")
@options.output("weights.toml", "File for the learned weights, for --settings.", "FILE")
@options.split("train")
@options.limit()
@option("--restart", is_flag=True, help="Ignore the checkpoint of a run that was stopped.")
@options.scheduler("Dask scheduler whose workers share the frames")
@functools.partial(options.settings, more=SHORT)
@options.report
def command(
    settings: Settings,
    dataset: str,
    output: Path,
    split: str,
    limit: int | None,
    restart: bool,
    scheduler: str | None,
    report: Report,
) -> None:
    """Learn the weights of the energy from the ground truth of a dataset.

    DATASET:PATH is a dataset (kitti2012, kitti2015, middlebury, middlebury2014) and its folder.
    Repeat the command to continue a run that was stopped, from the checkpoint in the folder beside
    the output whose name ends in .checkpoint.

    `slanted learn confidence` is a command of its own: it learns which matches and disparities to
    believe.
    """
    from slanted.evaluation.datasets import find_frames
    from slanted.io import write_image
    from slanted.learning.learn import learn_weights
    from slanted.learning.weights_file import write_weights
    from slanted.output.chart_drawing import draw_picture
    from slanted.output.charts import objective_chart

    options.check_file(output, ".toml")
    name, folder = options.dataset_folder(dataset)
    with report:
        frames = find_frames(name, folder, split, limit)
        learned = learn_weights(
            frames,
            settings,
            checkpoint=output.with_name(output.name + ".checkpoint"),
            restart=restart,
            scheduler=scheduler,
            progress=report.progress,
            on_step=lambda step: report.progress(_step_line(step)),
        )
        origin = _origin(learned, settings, name, split)
        write_weights(output, learned.weights, origin)
        chart = output.with_suffix(".png")
        write_image(chart, draw_picture(objective_chart([e.value for e in learned.evaluations])))
    data = {**_summary(learned), **origin, "output": str(output), "chart": str(chart)}
    report.outcome(data, [*_lines(learned), "", f"wrote {output} and {chart}"], always=True)


def _step_line(step: Step) -> str:
    return (
        f"step {step.number}/{step.most}: objective {step.evaluation.value:.8g}, lowest "
        f"{step.lowest:.8g}, gradient {step.gradient_norm:.3g}, {step.evaluation.sweeps} sweeps, "
        f"{step.evaluation.seconds:.1f} s, at most {step.seconds_left / 60:.1f} min left"
    )


def _origin(learned: Learned, settings: Settings, dataset: str, split: str) -> dict[str, Any]:
    """Return how the weights were made; without a date, so that a repeated run writes the same."""
    from slanted import __version__
    from slanted.learning.examples import NAMES

    learning = settings.learning
    C = float(len(learned.images)) if learning.C is None else learning.C
    return {
        "command": options.command_line(),
        "version": __version__,
        "dataset": dataset,
        "split": split,
        "frames": [image.name for image in learned.images],
        "seed": settings.seed,
        "epsilon": learning.epsilon,
        "C": C,
        "loss": learning.loss,
        "particles": learning.particles,
        "names": list(NAMES),
        "weights_before": [getattr(settings.model.weights, name) for name in NAMES],
        "method": learned.method,
        "stopped": learned.reason,
        "task_losses": [found.loss for found in learned.rounds],
        "kept_round": learned.kept,
        "evaluations": len(learned.evaluations),
        **({"objective": learned.objective} if learned.kept else {}),
        "scale": learned.scale,
    }


def _summary(learned: Learned) -> dict[str, Any]:
    from slanted.learning.examples import NAMES

    def named(values: Any) -> dict[str, float]:
        return dict(zip(NAMES, map(float, values), strict=True))

    return {
        "weights": named(learned.weights),
        "features_of_truth": named(learned.truth),
        "features_expected": named(learned.expectation),
        "before": learned.before,
        "after": learned.after,
        "resumed": learned.resumed,
        "seconds": learned.seconds,
    }


def _lines(learned: Learned) -> list[str]:
    """Return tables of weights, features and errors before and after, and the time."""
    summary = _summary(learned)
    truth, expected = summary["features_of_truth"], summary["features_expected"]
    rows = [
        (name, f"{weight:.4g}", f"{truth[name]:.6g}", f"{expected[name]:.6g}")
        for name, weight in summary["weights"].items()
    ]
    lines = table(("potential", "weight", "ground truth", "expected"), rows)
    errors = [
        (key, f"{learned.before[key]:.2f}", f"{learned.after[key]:.2f}")
        for key in learned.before
        if key.startswith(("out-3px", "D1"))
    ]
    lines += ["", *table(("training error, %", "before", "after"), errors)]
    if learned.kept == 0:
        lines.append("No round lowered the task loss: these are the initial weights.")
    elif learned.after["out-3px-all"] > learned.before["out-3px-all"]:
        lines.append("These weights are worse than the initial ones; see docs/learning.md.")
    spent = ", ".join(f"{name} {value:.0f} s" for name, value in learned.seconds.items())
    return [*lines, "", f"{learned.method}; stopped by {learned.reason}", spent]
