"""How far each kernel is from what the machine can do.

python benchmarks/roofline.py [--repeats 3] [--preset default]

The machine: bytes a second of copying an array too large for the caches, and float32 operations a
second of a loop of fused multiply-adds in registers, one thread, as Numba compiles them.

The kernels: one KITTI frame is estimated with one thread, and every kernel that Python calls is
timed. Its bytes are those of its arguments, each array read or written once (if it does a stretch
``first … last`` of the longest, that share of them); what it reads twice or keeps for itself is
not counted, so this is the least that any implementation moves. Its operations are counted by
formula for the kernels in `OPERATIONS`. The roof is the larger of bytes / bandwidth and operations
/ rate; a kernel's share of the roof is the time that it would take there over the time it takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from statistics import median
from typing import Any

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from common import kitti_frames, pair_of, record
from slanted.pipeline import estimate
from slanted.settings import Settings

Arguments = Mapping[str, Any]


def _stretch(a: Arguments) -> int:
    return int(a["last"] - a["first"])


OPERATIONS: dict[str, Callable[[Arguments], float]] = {
    # 62 neighbours: a comparison, a selection, an or.
    "census_kernels.census_rows": lambda a: 3 * 62 * _stretch(a) * a["census"].shape[1],
    # A cell: xor, popcount, 2 products, difference, absolute value, sum; 4 of the sliding sums; a
    # division as product and shift.
    "census_kernels.cost_rows": lambda a: 13 * _stretch(a) * np.prod(a["cost"].shape[1:]),
    # A cell and path: 2 sums with P1, 3 minima, 2 sums, a minimum for the next, a sum over paths.
    "sgm_kernels.sweep_rows": lambda a: (
        9 * len(a["steps"]) * _stretch(a) * np.prod(a["cost"].shape[1:])
    ),
    # A cell: minimum and maximum, the mean, the runner up, the right view's minimum.
    "winner_kernels.winner_rows": lambda a: 6 * _stretch(a) * np.prod(a["sums"].shape[1:]),
    # A pixel and each of nine cells: 5 differences and squares, the plane, its residual, a minimum.
    "slic_kernels.assign": lambda a: 9 * 22 * _stretch(a) * a["labels"].shape[1],
    # A cell of the four tables, on average: φ_bdy2 in closed form (15) for 2 of 4 labels.
    "compatibility_kernels.edge_tables": lambda a: 7.5 * a["tables"].size,
}
"""Operations of a call; of vectors, each lane counts."""


def main() -> None:
    """Measure the machine, then the kernels, and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--least", type=float, default=0.005, help="Share of the run to be listed.")
    arguments = parser.parse_args()
    bandwidth, rate = copy_bandwidth(), simd_rate()
    settings = Settings.preset(arguments.preset).with_text({"threads": "1"})
    left, right = pair_of(kitti_frames(1)[0])
    estimate(left, right, settings)
    tallies, whole = [], []
    for _ in range(arguments.repeats):
        with timed_kernels() as tally:
            start = time.perf_counter()
            estimate(left, right, settings)
            whole.append(time.perf_counter() - start)
        tallies.append(tally)
    rows = {}
    for name in tallies[0]:
        seconds = median(tally[name]["seconds"] for tally in tallies)
        if seconds > arguments.least * median(whole):
            rows[name] = against_roof(tallies[0][name], seconds, bandwidth, rate)
    kernels = median(sum(row["seconds"] for row in tally.values()) for tally in tallies)
    results = {
        "bandwidth GB/s": bandwidth / 1e9,
        "float32 Gop/s": rate / 1e9,
        "run seconds": median(whole),
        "seconds in kernels": kernels,
        "kernels": dict(sorted(rows.items(), key=lambda row: -row[1]["seconds"])),
    }
    record("roofline", arguments, results)


def against_roof(
    row: Mapping[str, float], seconds: float, bandwidth: float, rate: float
) -> dict[str, float | None]:
    """Return what a kernel does, and its time against that of the roof."""
    by_bytes = row["bytes"] / bandwidth
    by_operations = row["operations"] / rate if row["operations"] else 0.0
    return {
        "calls": row["calls"],
        "seconds": seconds,
        "MB": row["bytes"] / 1e6,
        "Mop": row["operations"] / 1e6 or None,
        "GB/s": row["bytes"] / seconds / 1e9,
        "Gop/s": row["operations"] / seconds / 1e9 or None,
        "percent of roof": 100 * max(by_bytes, by_operations) / seconds,
    }


@contextmanager
def timed_kernels() -> Iterator[dict[str, dict[str, float]]]:
    """Time all kernels that Python calls inside the block, and count their bytes and operations."""
    tally: dict[str, dict[str, float]] = defaultdict(
        lambda: {"calls": 0, "seconds": 0.0, "bytes": 0.0, "operations": 0.0}
    )
    patched = []
    for module in [m for name, m in sys.modules.items() if name.startswith("slanted.")]:
        for name, value in list(vars(module).items()):
            if isinstance(value, Dispatcher):
                patched.append((module, name, value))
                setattr(module, name, _timed(value, tally))
    try:
        yield tally
    finally:
        for module, name, value in patched:
            setattr(module, name, value)


def _timed(kernel: Dispatcher, tally: dict[str, dict[str, float]]) -> Callable[..., Any]:
    home, parameters = kernel.py_func.__module__.rpartition(".")[2], signature(kernel.py_func)
    label = f"{home}.{kernel.py_func.__name__}"
    operations = OPERATIONS.get(label, lambda _: 0)

    def run(*positional: Any, **named: Any) -> Any:
        start = time.perf_counter()
        result = kernel(*positional, **named)
        seconds = time.perf_counter() - start
        arguments = parameters.bind(*positional, **named).arguments
        row = tally[label]
        row["calls"] += 1
        row["seconds"] += seconds
        row["bytes"] += _bytes(arguments, result)
        row["operations"] += float(operations(arguments))
        return result

    return run


def _bytes(arguments: Arguments, result: Any) -> float:
    arrays = list(_arrays([*arguments.values(), result]))
    longest = max((len(array) for array in arrays if array.ndim), default=0)
    share = 1.0
    if "first" in arguments and "last" in arguments and longest:
        share = min(1.0, _stretch(arguments) / longest)
    return share * sum(array.nbytes for array in arrays)


def _arrays(values: Any) -> Iterator[np.ndarray]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays(value)


def copy_bandwidth(megabytes: int = 256, repeats: int = 7) -> float:
    """Return bytes read and written a second by copying a large array."""
    source = np.ones(megabytes << 20, np.uint8)
    target = np.zeros_like(source)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        np.copyto(target, source)
        seconds.append(time.perf_counter() - start)
    return 2 * source.nbytes / median(seconds)


@njit(fastmath=True)
def _multiply_add(values: np.ndarray, rounds: int) -> None:  # pragma: no cover
    for _ in range(rounds):
        for k in range(len(values)):
            x = values[k]
            for _ in range(64):
                x = x * np.float32(0.999) + np.float32(0.001)
            values[k] = x


def simd_rate(repeats: int = 7) -> float:
    """Return float32 operations a second of multiply-adds on values in registers."""
    values, rounds = np.ones(1024, np.float32), 2000
    _multiply_add(values, 1)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        _multiply_add(values, rounds)
        seconds.append(time.perf_counter() - start)
    return 2 * 64 * len(values) * rounds / median(seconds)


if __name__ == "__main__":
    main()
