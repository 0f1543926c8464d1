"""``slanted report``: results as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report
from slanted.errors import FileError, plural


@new_command(name="report", short_help="Write results as one HTML file, for mail or CI.")
@click.argument("results", nargs=-1, required=True, type=options.PATH, metavar="RESULT...")
@options.output("report.html", "File to write.", "FILE")
@option("--title", metavar="TEXT", help="Heading of the report.")
@option("--ground-truth", "truths", type=options.PATH, multiple=True, metavar="FILE",
        help="Ground truth, which adds the errors; once for each RESULT, in their order, or the "
        "folder with that of all pairs of a batch. By default ground_truth.pfm in each RESULT."
        )  # fmt: skip
@options.scale("--ground-truth")
@options.report
def command(
    results: tuple[Path, ...],
    output: Path,
    title: str | None,
    truths: tuple[Path, ...],
    ground_truth_scale: float | None,
    report: Report,
) -> None:
    """Write one HTML file that shows the folders RESULT of `slanted run`.

    It has a summary with charts and a page for each pair, holds all its pictures and needs no
    network, so it can be mailed or kept as an artefact of CI. For the folder of a `slanted batch`
    it is one table with a row for each pair, and with its errors if there is ground truth.
    """
    from slanted.batch.scores import measure_of
    from slanted.batch.summary import is_batch
    from slanted.io import read_bytes, read_disparity, write_bytes
    from slanted.io.info_records import is_page
    from slanted.report.batch import build_index
    from slanted.report.results import TITLE, Entry, build_report
    from slanted.result_folder import open_result

    if truths and len(truths) != len(results):
        raise click.UsageError(
            f"--ground-truth: expected one for each of {len(results)} results, got {len(truths)}"
        )
    if output.is_file() and not is_page(read_bytes(output)):
        raise FileError(
            output, "expected a new file or an earlier report, got something else; name another"
        )
    batch = len(results) == 1 and is_batch(results[0])
    if not truths:
        options.refuse_without("--ground-truth", {"--ground-truth-scale": ground_truth_scale})
    names = [folder.resolve().name for folder in results]
    shown = [
        name if names.count(name) == 1 else str(folder)
        for name, folder in zip(names, results, strict=True)
    ]

    def entry(number: int) -> Entry:
        folder = results[number]
        report.progress(f"reading {folder}")
        opened = open_result(folder)
        truth = opened.truth
        if truths:
            truth = read_disparity(truths[number], scale=ground_truth_scale, allow_negative=True)
            options.check_size(truths[number], truth, opened.result.disparity)
        report.progress(f"drawing {folder}")
        return Entry(shown[number], opened, truth)

    with report:
        if batch:
            measure = measure_of(results[0], next(iter(truths), None), ground_truth_scale)
            text, shown = build_index(
                results[0], output.parent, title or TITLE, report.progress, measure
            )
        else:
            text = build_report(map(entry, range(len(results))), title or TITLE)
        content = text.encode(errors="backslashreplace")  # file names may not be valid text
        write_bytes(output, content)
    size = f"{len(content) / 1e6:.1f} MB" if len(content) >= 1e6 else f"{len(content) / 1e3:.0f} kB"
    report.outcome(
        {"output": str(output), "pairs": shown, "bytes": len(content)},
        [f"wrote {plural(len(shown), 'pair')} to {output}, {size}"],
    )
