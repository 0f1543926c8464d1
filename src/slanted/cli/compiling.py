"""What commands say while kernels are compiled: once, before the first run."""

from __future__ import annotations

import sys
import time

from slanted.cli.progress import Report


def compile_kernels(report: Report) -> None:
    """Compile the kernels if this machine has not done so before, and say so."""
    from slanted.runtime.compilation import cache_folder, is_warm

    if is_warm():
        return
    if cache_folder() is None:
        report.progress(
            "compiling kernels as they are needed; no folder to keep them in may be written, so "
            "every run does: set NUMBA_CACHE_DIR to one that may"
        )
    else:
        compile_listed(report)


def compile_listed(report: Report) -> tuple[int, float]:
    """Compile the listed kernels; return how many were, and in what time."""
    from slanted.runtime.compilation import compile_ahead

    start = time.perf_counter()
    live = sys.stderr.isatty()

    def count(done: int, total: int) -> None:
        if live or done in (0, total):  # a line each would be too many
            report.progress(f"compiling kernels, once: {done} of {total}")

    compiled = compile_ahead(count)
    return compiled, time.perf_counter() - start
