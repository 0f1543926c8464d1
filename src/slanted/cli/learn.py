"""``slanted learn``: weights from frames with ground truth."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli.options import PathArgument, dataset_folder, report_options, settings_options
from slanted.cli.progress import Report, table

if TYPE_CHECKING:
    from slanted.learning.learn import Learned
    from slanted.learning.training import Step
    from slanted.settings import Settings

ARGUMENTS = "slanted.learn.arguments"
OF_LEARNING = {
    "epsilon": ("--epsilon", "learning.epsilon"),
    "regulariser": ("--C", "learning.C"),
    "loss": ("--loss", "learning.loss"),
}
"""Options that are short for settings."""


class _Remembering(click.Command):
    """Keeps its arguments as typed, for the record."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = shlex.join(["slanted", "learn", *args])
        return super().parse_args(ctx, args)


@click.command(name="learn", cls=_Remembering, short_help="Learn the weights from ground truth.")
@click.argument("dataset", metavar="DATASET:PATH")
@click.option("-o", "--output", type=PathArgument, default="weights.toml", show_default=True,
              metavar="FILE", help="Weights learned, for --settings.")  # fmt: skip
@click.option("--split", default="train", show_default=True, metavar="NAME",
              help="Part of the dataset, from its split.json; `all` for all frames."
              )  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N frames.")
@click.option("--epsilon", metavar="E", help="1 = conditional random field, 0 = structural SVM.")
@click.option("--C", "regulariser", metavar="C", help="Weight of the regulariser.")
@click.option("--loss", metavar="NAME", help="l2, out-2px, out-3px, out-4px or out-5px.")
@click.option("--restart", is_flag=True, help="Forget the checkpoint of a run that was stopped.")
@click.option("--scheduler", metavar="ADDRESS",
              help="Dask scheduler whose workers share the frames, as tcp://host:8786."
              )  # fmt: skip
@settings_options
@report_options
def command(
    settings: Settings,
    dataset: str,
    output: Path,
    split: str,
    limit: int | None,
    restart: bool,
    scheduler: str | None,
    as_json: bool,
    quiet: bool,
    **short: str | None,
) -> None:
    """Learn the weights of the energy from the ground truth of a dataset.

    DATASET:PATH is a dataset (kitti2012, kitti2015, middlebury, middlebury2014) and its folder. A
    run that was stopped goes on if the command is repeated; its checkpoint is the folder beside
    the output whose name ends in .checkpoint.
    """
    from slanted.evaluation.datasets import find_frames
    from slanted.io import write_image
    from slanted.learning.learn import learn_weights
    from slanted.learning.weights_file import write_weights
    from slanted.output.charts import objective_chart

    if output.suffix != ".toml":
        raise click.UsageError(f"--output: expected a name that ends in .toml, got {output}")
    if output.is_dir():
        raise click.UsageError(f"--output: expected a file, but {output} is a folder; add a name")
    name, folder = dataset_folder(dataset)
    given = {OF_LEARNING[key][1]: text for key, text in short.items() if text is not None}
    settings = settings.with_text(given)
    with Report(quiet=quiet, as_json=as_json) as report:
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
        command_line = click.get_current_context().meta[ARGUMENTS]
        origin = _origin(learned, settings, command_line, name, split)
        write_weights(output, learned.weights, origin)
        chart = output.with_suffix(".png")
        write_image(chart, objective_chart([e.value for e in learned.evaluations]))
    data = {**_summary(learned), **origin, "output": str(output), "chart": str(chart)}
    report.outcome(data, [*_lines(learned), "", f"wrote {output} and {chart}"], always=True)


def _step_line(step: Step) -> str:
    return (
        f"step {step.number}/{step.most}: objective {step.evaluation.value:.8g}, lowest "
        f"{step.lowest:.8g}, gradient {step.gradient_norm:.3g}, {step.evaluation.sweeps} sweeps, "
        f"{step.evaluation.seconds:.1f} s, at most {step.seconds_left / 60:.1f} min left"
    )


def _origin(
    learned: Learned, settings: Settings, command_line: str, dataset: str, split: str
) -> dict[str, Any]:
    """Return what the weights file tells of its making; no date, so that a rerun is the same."""
    from slanted import __version__
    from slanted.learning.examples import NAMES

    learning = settings.learning
    C = float(len(learned.images)) if learning.C is None else learning.C
    return {
        "command": command_line,
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
        "evaluations": len(learned.evaluations),
        "objective": learned.objective,
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
    """Lay out weights and features, the error before and after, and the time."""
    summary = _summary(learned)
    rows = [
        (
            name,
            f"{summary['weights'][name]:.4g}",
            f"{summary['features_of_truth'][name]:.6g}",
            f"{summary['features_expected'][name]:.6g}",
        )
        for name in summary["weights"]
    ]
    lines = table(("potential", "weight", "ground truth", "expected"), rows)
    errors = [
        (key, f"{learned.before[key]:.2f}", f"{learned.after[key]:.2f}")
        for key in learned.before
        if key.startswith("out-3px") or key.startswith("D1")
    ]
    lines += ["", *table(("training error, %", "before", "after"), errors)]
    if learned.after["out-3px-all"] > learned.before["out-3px-all"]:
        lines.append("These weights are worse than those it started from; see docs/learning.md.")
    spent = ", ".join(f"{name} {value:.0f} s" for name, value in learned.seconds.items())
    return [*lines, "", f"{learned.method}; stopped by {learned.reason}", spent]
