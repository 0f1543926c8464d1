"""``slanted warmup``: compile all kernels ahead of the first run."""

from __future__ import annotations

import time

import click

from slanted.cli.options import report_options
from slanted.cli.progress import Report


@click.command(name="warmup", short_help="Compile all kernels ahead of the first run.")
@report_options
def command(as_json: bool, quiet: bool) -> None:
    """Compile all kernels and keep them, then try each preset on a small made-up pair.

    The first run does this too, if it was not done before. Kernels are kept in NUMBA_CACHE_DIR if
    it is set, else beside the sources, else in your own cache folder.
    """
    from slanted.cli.compiling import compile_listed
    from slanted.cli.small_runs import small_runs
    from slanted.runtime.compilation import cache_home

    start = time.perf_counter()
    with Report(quiet=quiet, as_json=as_json) as report:
        folder = cache_home()
        compiled, seconds = compile_listed(report)
        small_runs(report.progress)
    total = time.perf_counter() - start
    lines = [f"compiled {compiled} kernels in {seconds:.1f} s; {total:.1f} s with the small runs"]
    if folder is None:
        lines.append(
            "nothing is kept: no folder may be written; set NUMBA_CACHE_DIR to one that may"
        )
    else:
        lines.append(f"kept in {folder}")
    data = {"kernels": compiled, "compile_seconds": seconds, "seconds": total}
    report.outcome({**data, "folder": None if folder is None else str(folder)}, lines)
