"""The paper's tables on learning: training size, ε and task loss, beside unit and hand-set weights.

Weights are learned on KITTI 2015 training frames and measured on the validation frames, the preset
``paper`` otherwise. Every weights file is kept in ``benchmarks/results/learning`` and every
measurement beside it, so a run that was stopped goes on where it was.

ε and loss are compared on fewer training frames, because ε = 0 takes many steps.

    python benchmarks/learning.py [--frames 10] [--few 5] [--limit 20] [--only size …]
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from common import ROOT, data_folder, record
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.methods import FULL_MODEL, evaluate_frames
from slanted.evaluation.metrics import mean_metrics
from slanted.learning import learn_weights, write_weights
from slanted.learning.examples import NAMES
from slanted.settings import Settings

FOLDER = ROOT / "benchmarks" / "results" / "learning"
WORKERS = 2
SIZES = (1, 5, 10)
EPSILONS = (0.0, 0.5, 1.0)
LOSSES = ("l2", "out-2px", "out-3px", "out-4px", "out-5px")
COLUMNS = [f"out-{k}px-{pixels}" for k in (2, 3, 4, 5) for pixels in ("noc", "all")]
HAND_SET = {"seg": 1.0, "bdy1": 1.0, "bdy2": 100.0, "jct": 30.0, "crs": 30.0, "col": 20.0}
"""What the preset ``paper`` had before weights were learned."""


class Bench:
    """Learns and measures, each thing once.

    Parameters
    ----------
    preset
        Whose settings to use.
    frames, limit
        Most training and validation frames.
    """

    def __init__(self, preset: str, frames: int, limit: int) -> None:
        start = {f"model.weights.{name}": str(weight) for name, weight in HAND_SET.items()}
        self.settings = Settings.preset(preset).with_text(start)
        self.preset = preset
        data = data_folder() / "kitti2015"
        self.train = find_frames("kitti2015", data, "train", frames)
        self.validation = find_frames("kitti2015", data, "validation", limit)

    def learned(self, frames: int, **changes: str) -> dict[str, Any]:
        """Return weights and their learning's time and objective, from a file if it is there."""
        texts = {f"learning.{name}": text for name, text in changes.items()}
        settings = self.settings.with_text(texts)
        path = FOLDER / f"{self.preset}-{frames}.{_digest(settings)}.toml"
        if not path.exists():
            start = time.perf_counter()
            found = learn_weights(
                self.train[:frames], settings, checkpoint=path.with_suffix(".checkpoint")
            )
            origin = {
                "frames": [image.name for image in found.images],
                "seconds": round(time.perf_counter() - start, 1),
                "evaluations": len(found.evaluations),
                "objective": found.objective,
                "method": found.method,
                "stopped": found.reason,
            }
            write_weights(path, found.weights, origin)
        from slanted.learning.weights_file import read_origin

        weights = dataclasses.asdict(Settings.load(path).model.weights)
        return {"weights": weights, **read_origin(path)}

    def measured(self, weights: dict[str, float]) -> dict[str, float]:
        """Return the mean errors of the validation frames, from a file if it is there."""
        texts = {f"model.weights.{name}": repr(float(w)) for name, w in weights.items()}
        settings = self.settings.with_text(texts)
        frames = " ".join(frame.name for frame in self.validation)
        path = FOLDER / f"errors-{_digest(settings, frames)}.json"
        if not path.exists():
            alone = dataclasses.replace(settings, threads=1)
            with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
                runs = [
                    pool.submit(evaluate_frames, [f], FULL_MODEL, alone) for f in self.validation
                ]
                mean = mean_metrics([run.result()["mean"] for run in runs])
            path.write_text(json.dumps(mean, indent=1))
        errors: dict[str, float] = json.loads(path.read_text())
        return errors


def _digest(settings: Settings, more: str = "") -> str:
    same = dataclasses.replace(settings, threads=None)
    return hashlib.sha256((same.to_toml() + more).encode()).hexdigest()[:12]


def table(title: str, rows: dict[str, dict[str, float]]) -> str:
    """Lay out errors as the paper does: > 2 to > 5 pixels, non-occluded and all."""
    head = [f"> {k} px {pixels}" for k in (2, 3, 4, 5) for pixels in ("noc", "all")]
    lines = [f"| {title} | " + " | ".join(head) + " |", "|---" * (1 + len(head)) + "|"]
    for name, errors in rows.items():
        cells = [f"{errors[column]:.2f}" for column in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Learn, measure, and write the tables as JSON and Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=10, help="most training frames")
    parser.add_argument("--few", type=int, default=5, help="training frames for ε and loss")
    parser.add_argument("--limit", type=int, default=20, help="most validation frames")
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--only", nargs="*", default=["weights", "size", "epsilon", "loss"])
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.preset, arguments.frames, arguments.limit)
    most, few = len(bench.train), min(arguments.few, len(bench.train))
    plans: dict[str, dict[str, dict[str, Any]]] = {
        "weights": {
            "unit": {"weights": dict.fromkeys(HAND_SET, 1.0)},
            "hand-set": {"weights": HAND_SET},
            "learned": {"learn": (most, {})},
        },
        "size": {f"{n} training images": {"learn": (n, {})} for n in SIZES if n <= most},
        "epsilon": {f"ε = {e}": {"learn": (few, {"epsilon": str(e)})} for e in EPSILONS},
        "loss": {loss: {"learn": (few, {"loss": loss})} for loss in LOSSES},
    }
    results: dict[str, Any] = {}
    pages = []
    for kind in arguments.only:
        errors = {}
        for name, plan in plans[kind].items():
            found = plan
            if "learn" in plan:
                count, changes = plan["learn"]
                found = bench.learned(count, **changes)
            errors[name] = bench.measured(found["weights"])
            results.setdefault(kind, {})[name] = {**found, "errors": errors[name]}
            _tell(kind, name, found, errors[name])
        pages.append(table(kind, errors))
    Path(FOLDER / "tables.md").write_text("\n\n".join(pages) + "\n")
    record("learning", arguments, results)


def _tell(kind: str, name: str, found: dict[str, Any], errors: dict[str, float]) -> None:
    weights = np.round([found["weights"].get(k, 0.0) for k in NAMES], 3).tolist()
    noc, everything = errors["out-3px-noc"], errors["out-3px-all"]
    print(f"{kind}, {name}: {noc:.2f} / {everything:.2f}, weights {weights}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
