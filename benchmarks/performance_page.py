"""Write docs/performance.md from the JSON files of the other benchmarks.

python benchmarks/performance_page.py [-o docs/performance.md]

Run the benchmarks that have a section first: speed, core_distance, memory, scaling, startup,
accuracy_per_second, roofline. A section without results says so. The text is here; the figures come
from the files.
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

Times are in seconds and as ratios to `cv2.StereoSGBM` MODE_HH, in colour, on the same pair in the
same run, with as many disparities. Compare the ratios: machines differ and are noisy. Each section
names the commit that it measured.

`python benchmarks/performance_page.py` writes this page from the results of the other benchmarks,
so do not edit it. `benchmarks/README.md` says how each figure is measured.
"""
HALF_SIZE = """
slanted does not resize your images. "Half size" means these three lines of your own code:

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
    """Return whole runs, then stages."""
    apart = results["cores apart, ns"]
    results = {name: row for name, row in results.items() if "seconds" in row}
    rows = [
        (name, r["frames"], r["seconds"], r["ratio"], r["least"], r["most"], r.get("cold seconds"))
        for name, r in results.items()
    ]
    ours = {name: r["stages"] for name, r in results.items() if r["stages"]}
    names = dict.fromkeys(stage for stages in ours.values() for stage in stages)
    by_stage = [(s, *(stages.get(s) for stages in ours.values())) for s in names]
    head = ("warm", "frames", "seconds", "ratio", "least", "most", "first run of a process, s")
    least, middle, most = (text_of(apart[name]) for name in ("least", "median", "most"))
    machine = (
        f"One core saw what the other had written after {middle} ns ({least} to {most}); below "
        "stands what this costs.\n"
    )
    return [
        machine,
        table(head, rows),
        "Seconds of each stage:\n",
        table(("stage", *ours), by_stage),
    ]


def core_distance(results: Json) -> list[str]:
    """Return the times of a run by the distance of cores."""
    text = (
        "Two threads share memory, which takes longer if their cores do not share a cache. A "
        "virtual machine may have its cores either way, and its host may move them while it runs. "
        "A frame of KITTI with `default` on two threads:\n"
    )
    rows = [(name, r["runs"], r["ns"], r["seconds"]) for name, r in results.items()]
    return [text, table(("cores", "runs", "ns until one sees what the other wrote", "s"), rows)]


def memory(results: Json) -> list[str]:
    """Return the peaks of runs and stages."""
    runs = {name: row for name, row in results.items() if isinstance(row, dict)}
    stages = list(next(iter(runs.values()))["stages MiB"])
    rows = [(n, r["peak MiB"], *(r["stages MiB"].get(s) for s in stages)) for n, r in runs.items()]
    imports = f"The imports alone take {text_of(results['imports MiB'])} MiB.\n"
    return [table(("peak, MiB", "whole", *stages), rows), imports]


def scaling(results: Json) -> list[str]:
    """Return the exponents of each axis, then its points."""
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
        "Exponents of growth: 1 is linear, 0 is constant.\n",
        table(("growing with", *names), rows),
        table(head, points),
    ]


def startup(results: Json) -> list[str]:
    """Return wall and CPU seconds."""
    return [
        table(("", "wall, s", "CPU, s"), [(n, r["wall"], r["cpu"]) for n, r in results.items()])
    ]


def accuracy(results: Json) -> list[str]:
    """Return our points on the curve, fastest first, then the peers."""
    metrics = ("out-3px-noc", "out-3px-all", "D1-all")
    ours = sorted(results["points"].items(), key=lambda item: item[1]["ratio"])
    rows = [(n, r["ratio"], r["seconds"], *(r[m] for m in metrics)) for n, r in ours]
    rows += [(n, r["ratio"], None, *(r[m] for m in metrics)) for n, r in results["peers"].items()]
    head = ("KITTI 2015", "time / SGBM HH", "seconds", *(f"{m}, %" for m in metrics))
    return [table(head, rows), "The peers ran on one thread.\n", HALF_SIZE]


def roofline(results: Json) -> list[str]:
    """Describe the machine, then each kernel."""
    columns = ("calls", "seconds", "MB", "GB/s", "Mlane", "Glane/s", "percent of roof")
    rows = [(f"`{n}`", *(r[c] for c in columns)) for n, r in results["kernels"].items()]
    machine = (
        f"One thread copies {text_of(results['bandwidth GB/s'])} GB/s and does "
        f"{text_of(results['Glane/s'])} billion multiply-adds per second, in 32-bit lanes. A run "
        f"takes {text_of(results['run seconds'])} s, {text_of(results['seconds in kernels'])} s of "
        "it in kernels. MB is the least data that a kernel must move. Operations, in 32-bit lanes, "
        "come from a formula where there is one.\n"
    )
    return [machine, table(("kernel", *columns), rows)]


SECTIONS: dict[str, tuple[str, Callable[[Json], list[str]]]] = {
    "speed": ("Speed", speed),
    "core_distance": ("Two cores, near and far", core_distance),
    "memory": ("Memory", memory),
    "accuracy_per_second": ("Accuracy against time", accuracy),
    "startup": ("Start-up", startup),
    "scaling": ("Growth", scaling),
    "roofline": ("How close kernels come to the machine's limits", roofline),
}


if __name__ == "__main__":
    main()
