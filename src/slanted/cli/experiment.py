"""``slanted experiment``: the paper's tables, and ours, from real runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from slanted.cli.options import PathArgument, dataset_folder, report_options
from slanted.cli.report import Report
from slanted.errors import InputError

NAMES = ("comparison", "segmentation", "superpixels", "resampling", "particles")
"""Those of `slanted.experiments.plans`, which is not imported for --help."""


@click.command(name="experiment", short_help="Make the paper's tables, and ours.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...",
                type=click.Choice([*NAMES, "all"]))  # fmt: skip
@click.option("--data", "datasets", multiple=True, metavar="DATASET:PATH",
              help="A dataset (kitti2015, middlebury) and its folder; repeatable. By default "
              "those in the folder that the environment variable SLANTED_DATA names."
              )  # fmt: skip
@click.option("-o", "--output", type=PathArgument, default="slanted-experiments", metavar="DIR",
              show_default=True, help="Where tables and measurements go.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="Only the first N frames of each dataset.")  # fmt: skip
@click.option("--workers", type=click.IntRange(min=1), metavar="N",
              help="Processes, of one thread each; by default as many as there are cores."
              )  # fmt: skip
@report_options
def command(
    names: tuple[str, ...],
    datasets: tuple[str, ...],
    output: Path,
    limit: int | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run experiments: comparison, segmentation, superpixels, resampling, particles, or all.

    Every image is measured once and kept in DIR/measurements: repeat the command to go on after a
    stop. Remove that folder when data or code have changed.
    """
    from slanted.experiments.plans import PLANS
    from slanted.experiments.run import run_experiment

    chosen = NAMES if "all" in names else tuple(dict.fromkeys(names))
    with Report(quiet=quiet, as_json=as_json) as report:
        data = _folders(datasets)
        written: list[str] = []
        pages: list[str] = []
        for name in chosen:
            outcome = run_experiment(
                PLANS[name](),
                data,
                output,
                limit=limit,
                workers=workers or os.cpu_count() or 1,
                progress=report.progress,
            )
            written += [str(path) for path in outcome.write(output)]
            pages += outcome.markdown().splitlines()
    report.outcome({"written": written}, [*pages, "", f"wrote {', '.join(written)}"], always=True)


def _folders(datasets: Sequence[str]) -> dict[str, Path]:
    """Return the folder of each dataset, from the options or from the environment."""
    from slanted.evaluation.datasets import DATASETS

    if not datasets:
        folder = os.environ.get("SLANTED_DATA")
        if folder is None:
            raise InputError(
                "--data: expected DATASET:PATH, got nothing; name the folders of kitti2015 and "
                "middlebury, or set SLANTED_DATA to the folder that holds them"
            )
        return {name: Path(folder) / name for name in DATASETS if (Path(folder) / name).is_dir()}
    expected = f"--data: expected DATASET:PATH with one of {', '.join(DATASETS)}"
    found = {}
    for text in datasets:
        name, path = dataset_folder(text, expected)
        if name not in DATASETS:
            raise InputError(f"{expected}, got {text!r}")
        found[name] = Path(path)
    return found
