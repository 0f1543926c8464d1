"""Small runs through all that ``slanted run`` and ``slanted demo`` may do."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path


def small_runs(progress: Callable[[str], None] | None = None) -> None:
    """Estimate a small made-up pair with each preset, and write and evaluate what comes of it.

    Whatever kernels `slanted.runtime.compilation` does not list are compiled here.
    """
    from slanted.evaluation.metrics import evaluate
    from slanted.io import Calibration
    from slanted.matching.interpolation import interpolate_background
    from slanted.output.folder import whole_folder, write_result
    from slanted.pipeline import estimate
    from slanted.settings import Settings, preset_names
    from slanted.synthetic import make_scene

    scene = make_scene(320, 240, seed=1)
    grey = scene.left.mean(axis=2).astype(scene.left.dtype)
    calibration = Calibration(300.0, 300.0, 160.0, 120.0, 0.1)
    for name in preset_names():
        if progress is not None:
            progress(f"a small run with the preset {name}")
        settings = dataclasses.replace(Settings.preset(name), threads=1)
        result = estimate(scene.left, scene.right, settings)
        estimate(grey, scene.right.mean(axis=2).astype(grey.dtype), settings)
        evaluate(interpolate_background(result.matched), scene.disparity)
        with tempfile.TemporaryDirectory() as folder, whole_folder(Path(folder) / "run") as run:
            write_result(run, result, scene.left, calibration, {}, scene.right)
