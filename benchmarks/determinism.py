"""Determinism: the same disparities and labels with any Python, NumPy, threads and process.

python benchmarks/determinism.py [PYTHON ...] [--pairs default sgbm ucm]

Each interpreter (by default this one) runs the same pairs with 1 and 2 threads, and with 2 threads
in a second process. Everything is compared with the first run: disparities must agree within 1e-6
pixels, labels and segments exactly. Each interpreter needs the packages slanted depends on, but not
slanted itself; the sources beside this script are used. Differences are printed, and the exit code
is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from common import ROOT, SMOKE, parse, record, told

TOLERANCE_PIXELS = 1e-6
RUNS = ((1, "one"), (2, "two"), (2, "two, again"))
PAIRS: dict[str, dict[str, str]] = {
    "default": {"segmentation.count": "80"},
    "sgbm": {"segmentation.count": "60", "matching.method": "sgbm"},
    "ucm": {"segmentation.count": "60", "segmentation.method": "slic+ucm"},
}
"""Settings of each pair; its position here is the seed of its scene."""
PACKAGES = ("numpy", "scipy", "numba", "higra")


def estimate_all(inputs: Path, threads: int, output: Path) -> None:
    """Run all pairs in this process and write their results to a file."""
    import platform
    from importlib.metadata import version

    import slanted
    from slanted.runtime.versions import opencv_package

    found: dict[str, Any] = {}
    with np.load(inputs) as pairs:
        for name in sorted({key.partition("_")[0] for key in pairs.files}):
            texts = PAIRS[name]
            settings = slanted.Settings().with_text({**texts, "threads": str(threads)})
            result = slanted.estimate(pairs[f"{name}_left"], pairs[f"{name}_right"], settings)
            found |= {
                f"{name}/disparity": result.disparity,
                f"{name}/matched": result.matched,
                f"{name}/segments": result.regions.label_image,
                f"{name}/labels": result.labels,
            }
    names = {name: version(name) for name in (*PACKAGES, opencv_package())}
    text = json.dumps({"python": platform.python_version(), **names})
    np.savez(output, versions=np.array(text), **found)


def difference(found: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """Return what differs between two runs, and by how much."""
    apart: dict[str, Any] = {}
    for key, b in first.items():
        if key == "versions":
            continue
        a = found[key]
        if a.shape != b.shape:
            apart[key] = "another shape"
        elif a.dtype.kind == "f":
            if not np.array_equal(np.isnan(a), np.isnan(b)):
                apart[key] = "other pixels are known"
            elif np.nanmax(np.abs(a - b)) > TOLERANCE_PIXELS:
                share = 100 * float(np.mean(np.abs(np.nan_to_num(a - b)) > TOLERANCE_PIXELS))
                apart[key] = f"{np.nanmax(np.abs(a - b)):.3g} px at most, {share:.2g} % of pixels"
        elif not np.array_equal(a, b):
            apart[key] = f"{np.count_nonzero(a != b)} of {a.size} differ"
    return apart


def main() -> int:
    """Run the matrix and print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--pairs", nargs="+", default=list(PAIRS), choices=list(PAIRS))
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    arguments = parse(parser, {"pairs": ["default"]})
    if arguments.worker:
        inputs, threads, output = arguments.worker
        estimate_all(Path(inputs), int(threads), Path(output))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows = _matrix(arguments.pythons, arguments.pairs, Path(folder))
    record("determinism", arguments, rows)
    return int(any(row["apart"] for row in rows))


def _matrix(pythons: list[str], pairs: list[str], folder: Path) -> list[dict[str, Any]]:
    inputs = folder / "pairs.npz"
    _write_pairs(inputs, pairs)
    first, rows = None, []
    for place, python in enumerate(pythons):
        for threads, name in RUNS[:2] if SMOKE else RUNS:
            output = folder / f"{place}-{name}.npz"
            _run(python, inputs, threads, output, folder / f"cache-{place}")
            with np.load(output) as file:
                found = dict(file)
            first = first or found
            row = {
                **json.loads(str(found["versions"])),
                "threads": name,
                "apart": difference(found, first),
            }
            rows.append(told(row))
    return rows


def _write_pairs(path: Path, names: list[str]) -> None:
    sys.path.insert(0, str(ROOT / "src"))
    from slanted.synthetic import make_scene

    arrays = {}
    for name in names:
        scene = make_scene(200, 150, seed=list(PAIRS).index(name), noise=2.0)
        arrays |= {f"{name}_left": scene.left, f"{name}_right": scene.right}
    np.savez(path, **arrays)


def _run(python: str, inputs: Path, threads: int, output: Path, cache: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if not SMOKE:  # a smoke run has no time to compile
        environment["NUMBA_CACHE_DIR"] = str(cache)  # no kernels of another Numba
    command = [python, __file__, "--worker", str(inputs), str(threads), str(output)]
    subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
