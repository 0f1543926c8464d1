"""Speed of each kernel compared with the machine's limits.

python benchmarks/roofline.py [--repeats 3] [--preset default] [--least 0.005]

The machine: bytes a second when copying an array too large for the caches, and 32-bit lanes a
second in a loop of fused multiply-adds in registers, with one thread, as Numba compiles them.

The kernels: one KITTI frame is estimated with one thread, and every kernel that Python calls is
timed; those that take less than the share ``--least`` of the run are not listed. A kernel's bytes
are those of its arguments, each array read or written once (or the share of its rows that the
kernel works on). Second reads and temporary arrays are not counted, so any implementation moves at
least as much, though a cache is faster than copying. Operations are counted by the formulas in
`OPERATIONS`, in lanes of 32 bits: an operation on 16 bits is half a lane. The roof is the larger of
bytes / bandwidth and operations / rate. "percent of roof" is the time at the roof over the time
measured.
"""

from __future__ import annotations

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

from common import SMOKE, frames_of, options, pair_of, record
from slanted.pipeline import estimate
from slanted.settings import Settings

Arguments = Mapping[str, Any]


def _stretch(a: Arguments) -> int:
    return int(a["last"] - a["first"])


def _share_of_rows(a: Arguments, name: str) -> float:
    return _stretch(a) / len(a[name])


OPERATIONS: dict[str, Callable[[Arguments], float]] = {
    # 62 neighbours: a comparison, a selection, an or, in bytes.
    "census_kernels.census_rows": lambda a: 3 / 4 * 62 * _stretch(a) * a["census"].shape[1],
    # A cell: xor and popcount of 64 bits; 2 products, difference, absolute value and sum of 16 bits
    # or fewer; 4 of the sliding sums, of 16 bits; a division as product and shift, of 32 bits.
    "cost_kernels.square_costs": lambda a: 10.5 * _share_of_rows(a, "low") * a["cost"].size,
    # A cell and path, in 16 bits: 2 sums with P1, 3 minima, 2 sums, a minimum for the next, a sum
    # over paths.
    "sgm_kernels.sweep_squares": lambda a: (
        9 / 2 * len(a["steps"]) * _share_of_rows(a, "grey") * a["cost"].size
    ),
    # A cell, in 16 bits: minimum and maximum, the mean, the runner up, the right view's minimum.
    "winner_kernels.square_winners": lambda a: 6 / 2 * _share_of_rows(a, "left") * a["sums"].size,
    # A pixel and each of nine cells: 5 differences and squares, the plane, its residual, a minimum.
    "slic_kernels.assign": lambda a: 9 * 22 * _stretch(a) * a["label_image"].shape[1],
    # A cell of the four tables, on average: φ_bdy2 in closed form (15) for 2 of 4 labels, 64 bits.
    "compatibility_kernels.edge_tables": lambda a: 2 * 7.5 * a["tables"].size,
}
"""Operations of a call, in lanes of 32 bits."""

WHOLE = {
    "label_kernels.edges_to_labels": "costs",
    "label_kernels.label_beliefs": "label_costs",
    "node_kernels.node_beliefs": "node_costs",
    "node_kernels.reduce_labels": "costs",
    "block_kernels.update_block": "node_costs",
    "move_kernels.off_plane_rows": "label_image",
    "rim_kernels.redecide_rows": "label_image",
    "census_kernels.census_rows": "census",
    "cost_kernels.square_costs": "low",
    "sgm_kernels.sweep_squares": "grey",
    "winner_kernels.agreement_rows": "left",
    "winner_kernels.square_winners": "left",
    "slic_kernels.assign": "label_image",
    "slic_kernels.cell_sums": "features",
}
"""For kernels that work on some rows: the argument whose length is the number of all rows."""
MEMBERS = "members", "nodes"
"""Arguments that list these rows; without them, they are a stretch. The edges and labels of a block
are about the same share of all as its nodes."""
UNKNOWN = ("star_kernels.star_moves", "move_kernels.move_pixels")
"""Kernels whose use of their arrays depends on the data: they have no roof."""


def main() -> None:
    """Measure the machine, then the kernels, and compare."""
    arguments = options(__doc__, {"repeats": 1}, repeats=3, preset="default", least=0.005)
    bandwidth, rate = copy_bandwidth(), simd_rate()
    settings = Settings.preset(arguments.preset).with_text({"threads": "1"})
    left, right = pair_of(frames_of("kitti2015", "validation", 1)[0])
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
        "Glane/s": rate / 1e9,
        "run seconds": median(whole),
        "seconds in kernels": kernels,
        "kernels": dict(sorted(rows.items(), key=lambda row: -row[1]["seconds"])),
    }
    record("roofline", arguments, results)


def against_roof(
    row: Mapping[str, float], seconds: float, bandwidth: float, rate: float
) -> dict[str, float | None]:
    """Return a kernel's bytes, operations and time, and its time relative to the roof."""
    by_bytes = row["bytes"] / bandwidth
    by_operations = row["operations"] / rate if row["operations"] else 0.0
    return {
        "calls": row["calls"],
        "seconds": seconds,
        "MB": row["bytes"] / 1e6 or None,
        "Mlane": row["operations"] / 1e6 or None,
        "GB/s": row["bytes"] / seconds / 1e9 or None,
        "Glane/s": row["operations"] / seconds / 1e9 or None,
        "percent of roof": 100 * max(by_bytes, by_operations) / seconds or None,
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
        if label not in UNKNOWN:
            row["bytes"] += _bytes(arguments, result, WHOLE.get(label))
        row["operations"] += float(operations(arguments))
        return result

    return run


def _bytes(arguments: Arguments, result: Any, whole: str | None) -> float:
    arrays = list(_arrays([*arguments.values(), result]))
    if whole is None:
        return sum(array.nbytes for array in arrays)
    listed = [len(arguments[name]) for name in MEMBERS if name in arguments]
    rows = listed[0] if listed else _stretch(arguments)
    share = min(1.0, rows / max(len(arguments[whole]), 1))
    # An array of just these rows is used as a whole.
    return sum(array.nbytes * (1.0 if len(array) == rows else share) for array in arrays)


def _arrays(values: Any) -> Iterator[np.ndarray]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield np.atleast_1d(value)
        elif isinstance(value, tuple):
            yield from _arrays(value)


def copy_bandwidth(megabytes: int = 8 if SMOKE else 256, repeats: int = 7) -> float:
    """Return the bytes per second read and written by copying a large array."""
    source = np.ones(megabytes << 20, np.uint8)
    target = np.zeros_like(source)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        np.copyto(target, source)
        seconds.append(time.perf_counter() - start)
    return 2 * source.nbytes / median(seconds)


# No more than "contract", or many rounds of a constant map would become one.
@njit(fastmath={"contract"})
def _four(x: np.float32) -> np.float32:  # pragma: no cover
    factor, term = np.float32(0.999), np.float32(0.001)
    once = x * factor + term
    twice = once * factor + term
    thrice = twice * factor + term
    return thrice * factor + term


@njit(fastmath={"contract"})
def _multiply_add(values: np.ndarray, rounds: int) -> None:  # pragma: no cover
    for _ in range(rounds):
        for k in range(values.shape[1]):
            # Four independent chains of sixteen hide the latency of each step.
            values[0, k] = _four(_four(_four(_four(values[0, k]))))
            values[1, k] = _four(_four(_four(_four(values[1, k]))))
            values[2, k] = _four(_four(_four(_four(values[2, k]))))
            values[3, k] = _four(_four(_four(_four(values[3, k]))))


def simd_rate(repeats: int = 7) -> float:
    """Return the 32-bit lanes per second of multiply-adds in registers; each counts once."""
    values, rounds = np.ones((4, 256), np.float32), 2000
    _multiply_add(values, 1)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        _multiply_add(values, rounds)
        seconds.append(time.perf_counter() - start)
    return 16 * values.size * rounds / median(seconds)


if __name__ == "__main__":
    main()
