"""``slanted warmup``: compile all kernels ahead of the first run."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from slanted.cli import options
from slanted.cli.help import new_command
from slanted.cli.progress import Report, compile_listed


@new_command(name="warmup", short_help="Compile all kernels ahead of the first run.")
@options.report
def command(report: Report) -> None:
    """Compile all kernels and keep them, then try each preset on a small synthetic pair.

    Without this command the first run compiles them. They are kept in NUMBA_CACHE_DIR if that is
    set, otherwise beside the sources, or else in your own cache folder.
    """
    from slanted.runtime.compilation import cache_home

    start = time.perf_counter()
    with report:
        folder = cache_home()
        compiled, seconds = compile_listed(report)
        small_runs(report.progress)
    total = time.perf_counter() - start
    kept = (
        "nothing is kept, because no folder is writable; set NUMBA_CACHE_DIR to one that is"
        if folder is None
        else f"kept in {folder}"
    )
    data = {"kernels": compiled, "compile_seconds": seconds, "seconds": total}
    report.outcome(
        {**data, "folder": None if folder is None else str(folder)},
        [f"compiled {compiled} kernels in {seconds:.1f} s; {total:.1f} s with small runs", kept],
    )


def small_runs(progress: Callable[[str], None] = lambda text: None) -> None:
    """Run each preset on a small synthetic pair, alone and in a stream; write and evaluate it.

    This compiles whatever kernels `slanted.runtime.compilation` does not list.
    """
    from slanted.evaluation.metrics import evaluate
    from slanted.io import Calibration
    from slanted.matching.interpolation import interpolate_background
    from slanted.output.folder import whole_folder, write_result
    from slanted.pipeline import estimate
    from slanted.settings import Settings, preset_names
    from slanted.stream.stream import Stream
    from slanted.synthetic import make_scene

    scene = make_scene(320, 240, seed=1)
    grey = scene.left.mean(axis=2).astype(scene.left.dtype)
    calibration = Calibration(300.0, 300.0, 160.0, 120.0, 0.1)
    for name in preset_names():
        progress(f"a small run with the preset {name}")
        settings = dataclasses.replace(Settings.preset(name), threads=1)
        if settings.matching.method == "network":  # there is none, but perhaps its map
            result = estimate(scene.left, scene.right, settings, disparity=scene.disparity)
        else:
            stream = Stream(settings)
            stream(scene.left, scene.right)
            result = stream(scene.left, scene.right)
            estimate(grey, scene.right.mean(axis=2).astype(grey.dtype), settings)
        evaluate(interpolate_background(result.matched), scene.disparity)
        with tempfile.TemporaryDirectory() as folder, whole_folder(Path(folder) / "run") as run:
            write_result(run, result, scene.left, calibration, {}, scene.right)
