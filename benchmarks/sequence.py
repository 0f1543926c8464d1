"""What the frame before is worth: energy, errors and time of videos with and without it."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from common import record, said
from slanted import Settings, estimate
from slanted.synthetic import make_video


def main() -> None:
    """Run videos both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=6)
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--steps", type=float, nargs="+", default=[0.05, 0.1, 0.3])
    arguments = parser.parse_args()
    rows = [said(measure(s, arguments.videos, arguments.frames)) for s in arguments.steps]
    record("sequence", arguments, rows)


def measure(step: float, videos: int, frames: int) -> dict[str, Any]:
    """Return means over all frames but the first of each video."""
    settings = Settings().with_text({"matching.max_disparity": "80", "threads": "1"})
    sums: dict[str, list[list[float]]] = {"alone": [], "following": []}
    for seed in range(1, videos + 1):
        before = None
        for number, frame in enumerate(
            make_video(480, 320, frames=frames, step=step, objects=6, seed=seed)
        ):
            results = {}
            for name, known in (("alone", None), ("following", before)):
                start = time.process_time()
                results[name] = estimate(frame.left, frame.right, settings, previous_frame=known)
                seconds = time.process_time() - start
                wrong = np.abs(results[name].disparity - frame.disparity)
                if number:
                    shares = [100 * float((wrong > limit).mean()) for limit in (1, 3)]
                    sums[name].append([results[name].energy, *shares, seconds])
            before = results["following"].previous_frame()
    energy = np.array([[row[0] for row in rows] for rows in sums.values()])
    means = {name: np.mean(rows, axis=0) for name, rows in sums.items()}
    return {
        "step": step,
        "energy_lower_percent": float(100 * np.mean(1 - energy[1] / energy[0])),
        "frames_lower_percent": float(100 * np.mean(energy[1] < energy[0])),
        **{
            f"{name}_{what}": float(value)
            for name, values in means.items()
            for what, value in zip(("energy", "out_1px", "out_3px", "seconds"), values, strict=True)
        },
    }


if __name__ == "__main__":
    main()
