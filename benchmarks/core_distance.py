"""How far two cores are apart, and what that costs a run on two threads.

python benchmarks/core_distance.py [--repeats 400]

Two threads write to one place in turns: how long until one core sees what the other has written?
This differs by whether the cores share a cache. A virtual machine may have its cores either way,
and its host may move them at any time, so a frame of KITTI is run between two such measurements,
again and again, and its times are told apart by what both found. If the host never moves the cores,
there is one row.
"""

from __future__ import annotations

import threading
import time
from statistics import median
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from common import frames_of, options, pair_of, record, timed
from slanted.pipeline import estimate
from slanted.settings import Settings

TURNS = 20_000
WARM_UP = 2
RANGES = {"near": (0.0, 120.0), "far": (120.0, 1000.0)}
"""Nanoseconds; more than that is a thread that waited for its turn on a busy core."""


@intrinsic
def add_one(_: Any, counter: Any) -> Any:
    """Add 1 to a counter, and return what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate


@intrinsic
def seen(_: Any, counter: Any) -> Any:
    """Return a counter as it is now."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(counter), generate


@njit(nogil=True)
def take_turns(counter: np.ndarray, own: int, turns: int) -> None:
    """Add 1 whenever the counter is even or, for the other thread, odd."""
    for k in range(turns):
        while seen(counter) != 2 * k + own:
            pass
        add_one(counter)


def core_distance() -> float:
    """Return the nanoseconds from a write on one core to the write that answers on another."""
    counter = np.zeros(8, np.int64)
    take_turns(counter, 0, 0)
    other = threading.Thread(target=take_turns, args=(counter, 1, TURNS))
    start = time.perf_counter()
    other.start()
    take_turns(counter, 0, TURNS)
    other.join()
    return (time.perf_counter() - start) / (2 * TURNS) * 1e9


def main() -> None:
    """Run a frame between measurements of the distance."""
    arguments = options(__doc__, {"repeats": 1}, repeats=400)
    left, right = pair_of(frames_of("kitti2015", "validation", 1)[0])
    settings = Settings().updated({"threads": 2, "matching.max_disparity": 128})
    runs: dict[str, list[tuple[float, float]]] = {"near": [], "far": []}
    before = core_distance()
    for k in range(WARM_UP + arguments.repeats):
        seconds, _ = timed(lambda: estimate(left, right, settings))
        after = core_distance()
        for name, (low, high) in RANGES.items():
            if k >= WARM_UP and low <= before < high and low <= after < high:
                runs[name].append((after, seconds))
        before = after
    record("core_distance", arguments, {name: summary(r) for name, r in runs.items() if r})


def summary(runs: list[tuple[float, float]]) -> dict[str, float]:
    """Return medians of distances and times."""
    distance, seconds = (median(column) for column in zip(*runs, strict=True))
    return {"runs": len(runs), "ns": distance, "seconds": seconds}


if __name__ == "__main__":
    main()
