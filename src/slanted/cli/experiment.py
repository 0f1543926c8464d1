"""``slanted experiment``: the paper's tables and figures, and more, from real runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report, compile_kernels
from slanted.errors import InputError
from slanted.research.experiments.catalogue import MODULES, run_experiment


@new_command(name="experiment", short_help="Make the paper's tables and figures, and more.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...",
                type=click.Choice([*MODULES, "all"]))  # fmt: skip
@option("--data", "datasets", multiple=True, metavar="DATASET:PATH",
        help="A dataset (kitti2015, middlebury) and its folder. Repeatable. By default "
        "those in the folder that the environment variable SLANTED_DATA names."
        )  # fmt: skip
@option("--results", multiple=True, metavar="NAME:PATH",
        help="A folder of your own disparities, FRAME.pfm, .npy, .tif or .png (KITTI), as "
        "the row NAME of the comparison. Repeatable.")  # fmt: skip
@options.output("slanted-experiments", "Folder for pages, charts and measurements.")
@option("--page", type=options.PATH, metavar="FILE.md",
        help="Also write one Markdown page, with its pictures in a folder beside it."
        )  # fmt: skip
@options.limit("Use only the first N frames of each dataset.")
@options.workers("Processes, of one thread each; by default as many as there are cores.")
@options.report
def command(
    names: tuple[str, ...],
    datasets: tuple[str, ...],
    results: tuple[str, ...],
    output: Path,
    page: Path | None,
    limit: int | None,
    workers: int | None,
    report: Report,
) -> None:
    """Run experiments, and write DIR/report.html.

    \b
    From the paper:  comparison segmentation superpixels resampling training-size
                     oracle noise epsilon loss colour-statistics examples
    Beyond it:       particles ablation convergence
    All of them:     all

    Each experiment also writes Markdown, CSV, JSON and charts. Every image is measured once and
    kept in DIR/measurements: repeat the command to continue after a stop.
    """  # noqa: D301 - \\b is how click is told not to wrap
    from slanted.research.experiments.data import Context
    from slanted.research.experiments.provenance import provenance
    from slanted.research.experiments.report import write_page, write_report
    from slanted.runtime.threads import core_count

    chosen = tuple(MODULES) if "all" in names else tuple(dict.fromkeys(names))
    with report:
        compile_kernels(report)
        processes = workers or core_count()
        frames = f"at most {limit}" if limit else "all"
        origin = {**provenance(), "processes": str(processes), "frames of each split": frames}
        outcomes, written = [], []
        for name in chosen:
            context = Context(
                _folders(datasets),
                output,
                limit,
                processes,
                _results(results),
                lambda line, name=name: report.progress(f"{name} {line}"),  # type: ignore[misc]
            )
            outcomes.append(run_experiment(name, context))
            written += outcomes[-1].write(output, origin)
        write_report(outcomes, origin, output / "report.html")
        if page is not None:
            write_page(outcomes, origin, page)
    if not any(outcome.tables or outcome.pictures for outcome in outcomes):
        reasons = dict.fromkeys(sentence for outcome in outcomes for sentence in outcome.missing)
        raise InputError("nothing could be measured: " + "; ".join(reasons))
    lines = [line for outcome in outcomes for line in outcome.markdown().splitlines()]
    files = [str(path) for path in (*written, output / "report.html", *([page] if page else []))]
    report.outcome(
        {"written": files},
        [*lines, "", f"wrote {len(files)} files; open {output / 'report.html'}"],
    )


def _folders(datasets: Sequence[str]) -> dict[str, Path]:
    """Return the folder of each dataset, from the options or the environment."""
    from slanted.research.experiments.data import KITTI, MIDDLEBURY

    known = (KITTI, MIDDLEBURY)
    if not datasets:
        folder = os.environ.get("SLANTED_DATA")
        if not folder:
            raise InputError(
                "--data: expected DATASET:PATH, got nothing; name the folders of kitti2015 and "
                "middlebury, or set SLANTED_DATA to the folder that holds them"
            )
        return {name: Path(folder) / name for name in known if (Path(folder) / name).is_dir()}
    expected = f"--data: expected DATASET:PATH with one of {', '.join(known)}"
    found = {}
    for text in datasets:
        name, path = options.dataset_folder(text, expected)
        if name not in known:
            raise InputError(f"{expected}, got {text!r}")
        found[name] = Path(path)
    return found


def _results(results: Sequence[str]) -> dict[str, Path]:
    """Return the folders of the user's own results, by the names of their rows."""
    found: dict[str, Path] = {}
    for text in results:
        name, path = options.dataset_folder(
            text, "--results: expected a name and a folder as NAME:PATH"
        )
        if name in found or "|" in name or not name.isprintable():
            raise InputError(
                f"--results: expected a name of its own for each folder, without |, got {name!r}"
            )
        if not Path(path).is_dir():
            raise InputError(f"--results: expected a folder after {name}:, got {path}; check it")
        found[name] = Path(path)
    return found
