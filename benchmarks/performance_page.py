"""Write docs/performance.md from the JSON files of the other benchmarks.

python benchmarks/performance_page.py [-o docs/performance.md]

Run the scripts that it has sections for first: speed, memory, scaling, startup, accuracy_per_second
and roofline. A section whose file is missing says so. The text stands here, the figures in the
files.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, parse

Json = dict[str, Any]
HEAD = """# Performance

Written by `python benchmarks/performance_page.py` from the runs that it names; do not edit.
`benchmarks/README.md` tells how figures are measured.

Time is given in seconds and as a ratio to `cv2.StereoSGBM` MODE_HH with 128 disparities on the same
pair in the same run, for machines differ and are noisy.
"""
HALF_SIZE = """
"half size" is not a setting but three lines of your own, as slanted leaves your images as they are:

```python
small = [cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for image in pair]
found = slanted.estimate(*small, slanted.Settings.preset("fast")).disparity
disparity = 2 * cv2.resize(found, pair[0].shape[1::-1], interpolation=cv2.INTER_NEAREST)
```
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "performance.md")
    arguments = parse(parser, {"output": Path(os.devnull)})
    arguments.output.write_text(page(RESULTS))


def page(folder: Path) -> str:
    """Return the page's text."""
    parts = [HEAD]
    for name, (title, section) in SECTIONS.items():
        parts.append(f"## {title}\n")
        file = folder / f"{name}.json"
        if file.exists():
            run = json.loads(file.read_text())
            parts += [origin(run), *section(run["results"])]
        else:
            parts.append(f"Not measured yet: `python benchmarks/{name}.py`.\n")
    return "\n".join(parts)


def origin(run: Json) -> str:
    """Return where a run's figures come from."""
    versions = ", ".join(f"{n} {run[n]}" for n in ("Python", "numpy", "numba") if n in run)
    return (
        f"`benchmarks/{run['benchmark']}.py`, {run['date']}, commit {run['commit']}, {versions}; "
        f"{run['machine']}.\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; numbers get three digits."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "".join("| " + " | ".join(map(text_of, line)) + " |\n" for line in lines)


def text_of(value: object) -> str:
    """Return a cell's text."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def speed(results: Json) -> list[str]:
    """Whole runs, then stages."""
    rows = [
        (name, r["seconds"], r["sgbm_hh seconds"], r["ratio"], r["cold seconds"])
        for name, r in results.items()
    ]
    stages = list(next(iter(results.values()))["stage ratios"])
    by_stage = [(s, *(r["stage ratios"].get(s) for r in results.values())) for s in stages]
    head = ("whole run", "seconds", "SGBM HH, seconds", "ratio", "first run of a process, seconds")
    return [
        table(head, rows),
        "Stages, as ratios to SGBM HH (stages that run at once overlap):\n",
        table(("stage", *results), by_stage),
    ]


def memory(results: Json) -> list[str]:
    """Peaks of runs and stages."""
    runs = {name: row for name, row in results.items() if isinstance(row, dict)}
    stages = list(next(iter(runs.values()))["stages MiB"])
    rows = [(n, r["peak MiB"], *(r["stages MiB"].get(s) for s in stages)) for n, r in runs.items()]
    imports = f"A process that only imports has {text_of(results['imports MiB'])} MiB.\n"
    return [table(("peak, MiB", "whole", *stages), rows), imports]


def scaling(results: Json) -> list[str]:
    """Exponents of each axis, then its points."""
    names = ["seconds", "seconds of inference", "seconds of matching", "peak"]
    rows = [(axis, *(r["exponents"].get(n) for n in names)) for axis, r in results.items()]
    points = [
        (
            f"{row['value']:g} {axis}",
            row["segments"],
            row["seconds"],
            row["stages"].get("inference"),
            row.get("peak MiB above imports"),
        )
        for axis, r in results.items()
        for row in r["rows"]
    ]
    head = ("point", "segments", "seconds", "of inference", "peak above imports, MiB")
    return [
        "Exponents: 1 is linear, 0 is constant.\n",
        table(("growing with", *names), rows),
        table(head, points),
    ]


def startup(results: Json) -> list[str]:
    """Wall and CPU seconds."""
    return [
        table(("", "wall, s", "CPU, s"), [(n, r["wall"], r["cpu"]) for n, r in results.items()])
    ]


def accuracy(results: Json) -> list[str]:
    """Points of the curve, fastest first, then peers."""
    metrics = ("out-3px-noc", "out-3px-all", "D1-all")
    ours = sorted(results["points"].items(), key=lambda item: item[1]["ratio"])
    rows = [(n, r["ratio"], r["seconds"], *(r[m] for m in metrics)) for n, r in ours]
    rows += [(n, r["ratio"], None, *(r[m] for m in metrics)) for n, r in results["peers"].items()]
    head = ("KITTI 2015", "time by SGBM HH", "seconds", *(f"{m}, %" for m in metrics))
    return [table(head, rows), "Peers' times are of one thread.\n", HALF_SIZE]


def roofline(results: Json) -> list[str]:
    """Tell of the machine, then of its kernels."""
    columns = ("calls", "seconds", "MB", "GB/s", "Mlane", "Glane/s", "percent of roof")
    rows = [(f"`{n}`", *(r[c] for c in columns)) for n, r in results["kernels"].items()]
    machine = (
        f"One thread copies {text_of(results['bandwidth GB/s'])} GB/s and does "
        f"{text_of(results['Glane/s'])} billion multiply-adds a second, in lanes of 32 bits. Of a "
        f"run of {text_of(results['run seconds'])} s, {text_of(results['seconds in kernels'])} s "
        "are in kernels. Bytes are the least that must be moved; operations, in lanes of 32 bits, "
        "are counted by formula where there is one.\n"
    )
    return [machine, table(("kernel", *columns), rows)]


SECTIONS: dict[str, tuple[str, Callable[[Json], list[str]]]] = {
    "speed": ("Speed", speed),
    "memory": ("Memory", memory),
    "accuracy_per_second": ("Accuracy for time", accuracy),
    "startup": ("Start", startup),
    "scaling": ("Growth", scaling),
    "roofline": ("Distance from the machine's limit", roofline),
}


if __name__ == "__main__":
    main()
