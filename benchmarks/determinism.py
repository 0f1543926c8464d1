"""Determinism: the same disparities and labels whatever Python, NumPy, threads and process.

``python benchmarks/determinism.py [PYTHON ...] [-o matrix.json]`` runs each interpreter (by default
this one) with 1 and 2 threads, and with 2 threads in a second process, on the same pairs, and
compares everything with the first run: disparities within 1e-6 pixels, labels and segments the
same. Each interpreter needs the packages slanted depends on, but not slanted itself; the sources
beside this script are used. What differs is printed, and the exit code is 1.
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

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE_PIXELS = 1e-6
RUNS = ((1, "one"), (2, "two"), (2, "two, again"))
PAIRS: dict[str, dict[str, str]] = {
    "default": {"segmentation.count": "80"},
    "sgbm": {"segmentation.count": "60", "matching.method": "sgbm"},
    "ucm": {"segmentation.count": "60", "segmentation.method": "slic+ucm"},
}
"""Settings of each pair, which is drawn with its place here as seed."""
PACKAGES = ("numpy", "scipy", "numba", "opencv-python-headless", "scikit-image", "higra")


def estimate_all(inputs: Path, threads: int, output: Path) -> None:
    """Run all pairs in this process and keep what they give."""
    import platform
    from importlib.metadata import version

    import slanted

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
    names = {name: version(name) for name in PACKAGES}
    text = json.dumps({"python": platform.python_version(), **names})
    np.savez(output, versions=np.array(text), **found)


def difference(found: Any, first: Any) -> dict[str, Any]:
    """Return how far two runs are apart."""
    apart: dict[str, Any] = {}
    for key in first.files:
        if key == "versions":
            continue
        a, b = found[key], first[key]
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
    parser.add_argument("-o", "--output", type=Path, help="JSON of all rows")
    parser.add_argument("--pairs", nargs="+", default=list(PAIRS), choices=list(PAIRS))
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        inputs, threads, output = options.worker
        estimate_all(Path(inputs), int(threads), Path(output))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows = _matrix(options.pythons, options.pairs, Path(folder))
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1))
    return int(any(row["apart"] for row in rows))


def _matrix(pythons: list[str], pairs: list[str], folder: Path) -> list[dict[str, Any]]:
    inputs = folder / "pairs.npz"
    _write_pairs(inputs, pairs)
    first, rows = None, []
    for place, python in enumerate(pythons):
        for threads, name in RUNS:
            output = folder / f"{place}-{name}.npz"
            _run(python, inputs, threads, output, folder / f"cache-{place}")
            found = np.load(output)
            first = first or found
            row = {
                **json.loads(str(found["versions"])),
                "threads": name,
                "apart": difference(found, first),
            }
            rows.append(row)
            print(json.dumps(row), flush=True)  # noqa: T201
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
        "NUMBA_CACHE_DIR": str(cache),  # of another Numba's kernels nothing may be left
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [python, __file__, "--worker", str(inputs), str(threads), str(output)]
    subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
