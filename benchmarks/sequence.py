"""The benefit of the previous frame in a video: energy, errors and time with and without it.

python benchmarks/sequence.py [--videos 6] [--frames 6] [--steps 0.05 0.1 0.3]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from common import MADE_UP_SIZE, SMOKE, options, record, told
from slanted import Settings, estimate
from slanted.synthetic import make_video

SIZE = MADE_UP_SIZE if SMOKE else (480, 320)


def main() -> None:
    """Run videos both ways."""
    smoke = {"videos": 1, "frames": 2, "steps": [0.1]}
    arguments = options(__doc__, smoke, videos=6, frames=6, steps=[0.05, 0.1, 0.3])
    rows = [told(measure(s, arguments.videos, arguments.frames)) for s in arguments.steps]
    record("sequence", arguments, rows)


def measure(step: float, videos: int, frames: int) -> dict[str, Any]:
    """Return means over all frames but the first of each video."""
    settings = Settings().with_text({"matching.max_disparity": "80", "threads": "1"})
    sums: dict[str, list[list[float]]] = {"alone": [], "following": []}
    for seed in range(1, videos + 1):
        before = None
        for number, frame in enumerate(
            make_video(*SIZE, frames=frames, step=step, objects=6, seed=seed)
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
