"""What each part of the preset ``default`` is worth: each switched off, and each alone.

"Alone" starts from the same model with all these parts off. Errors are means over frames of KITTI
2015 (out-3px) and Middlebury (out-2px), non-occluded / all. Measurements are kept in
``benchmarks/results/ablation`` by their settings; delete it when the code changes.

    python benchmarks/ablation.py [--kitti 30] [--middlebury 14]
"""

from __future__ import annotations

import argparse
from typing import Any

from common import ROOT, data_folder, record
from slanted.errors import InputError
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.methods import FULL_MODEL
from slanted.evaluation.metrics import mean_metrics
from slanted.experiments.measurements import Job, Store, measure_all
from slanted.settings import Settings

FOLDER = ROOT / "benchmarks" / "results" / "ablation"
OFF: dict[str, dict[str, str]] = {
    "moving boundaries and splits": {"refinement.rounds": "0", "inference.iterations": "4"},
    "photometric potential": {"model.weights.pho": "0"},
    "visibility potential": {"model.weights.vis": "0", "refinement.visibility": "0"},
    "strays out of view dropped": {"matching.out_of_view": "0"},
    "data weighed by the noise": {"model.noise": "0"},
    "segments that see the disparity": {"segmentation.method": "slic"},
    "joint fit and neighbours as proposals": {"inference.proposals": "paper+incumbent"},
}
"""The settings that switch a part off. Without rounds, particles are drawn about as often."""
MORE: dict[str, dict[str, str]] = {
    "no splits": {"refinement.split_size": "0"},
    "rims not looked at": {"refinement.rim": "0"},
    "no junctions": {"model.weights.jct": "0", "model.weights.crs": "0"},
    "no colour potential": {"model.weights.col": "0"},
    "three rounds": {"refinement.rounds": "3"},
    "four draws before the first round": {"inference.iterations": "4"},
    "matches weighed by confidence": {"model.confidence": "true"},
}
"""Other changes to the preset."""
SPLITS = (
    ("kitti2015", "train", "out-3px"),
    ("kitti2015", "validation", "out-3px"),
    ("middlebury", "train", "out-2px"),
    ("middlebury", "test", "out-2px"),
)


def measure(settings: Settings, limits: dict[str, int]) -> list[str]:
    """Return errors noc / all of each split, from files if they are there."""
    cells = []
    for dataset, split, metric in SPLITS:
        frames = find_frames(dataset, data_folder() / dataset, split, limits[dataset])
        jobs = [Job(dataset, frame, FULL_MODEL, settings) for frame in frames]
        found = measure_all(jobs, Store(FOLDER), 2)
        for measured in found.values():
            if measured.problem:
                raise InputError(measured.problem)
        mean = mean_metrics([measured.scores for measured in found.values()])
        cells.append(f"{mean[f'{metric}-noc']:.2f} / {mean[f'{metric}-all']:.2f}")
    return cells


def plans() -> dict[str, Settings]:
    """Return every row's settings."""
    default = Settings()
    everything = {key: value for changes in OFF.values() for key, value in changes.items()}
    rows = {"`default`": default}
    rows |= {f"without {name}": default.with_text(changes) for name, changes in OFF.items()}
    rows |= {name: default.with_text(changes) for name, changes in MORE.items()}
    rows["all of the first seven off"] = default.with_text(everything)
    for name, changes in OFF.items():
        kept = {key: value for key, value in everything.items() if key not in changes}
        rows[f"only {name}"] = default.with_text(kept)
    return rows


def main() -> None:
    """Measure every row, and print the table as Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kitti", type=int, default=30, help="most frames a split")
    parser.add_argument("--middlebury", type=int, default=14, help="most scenes a split")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    limits = {"kitti2015": arguments.kitti, "middlebury": arguments.middlebury}
    head = [f"{dataset} {split}, {metric}" for dataset, split, metric in SPLITS]
    lines = ["| | " + " | ".join(head) + " |", "|---" * (1 + len(head)) + "|"]
    results: dict[str, Any] = {}
    for name, settings in plans().items():
        results[name] = measure(settings, limits)
        lines.append(f"| {name} | " + " | ".join(results[name]) + " |")
        print(lines[-1], flush=True)  # noqa: T201
    (FOLDER / "table.md").write_text("\n".join(lines) + "\n")
    record("ablation", arguments, results)


if __name__ == "__main__":
    main()
