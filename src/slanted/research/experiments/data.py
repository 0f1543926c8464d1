"""Input of experiments: datasets, their splits, and the measurements made on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slanted.errors import SlantedError
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.datasets.splits import has_splits
from slanted.research.experiments.measurements import (
    Job,
    Measured,
    Scores,
    Store,
    measure_all,
    problems_of,
)

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame

KITTI, MIDDLEBURY = "kitti2015", "middlebury"
BOTH = ("noc", "all")
METRICS = {
    KITTI: tuple(f"out-{k}px-{pixels}" for k in (2, 3, 4, 5) for pixels in BOTH),
    MIDDLEBURY: tuple(f"out-{k}px-{pixels}" for k in (1, 2, 3, 4, 5) for pixels in BOTH),
}
"""Columns of the paper's tables."""
MAIN = "out-3px"
"""The metric of charts and findings."""
METRIC = f"{MAIN}-all"


@dataclass(frozen=True)
class Part:
    """A split of a dataset."""

    dataset: str
    split: str

    @property
    def key(self) -> str:
        """Return a name for files."""
        return f"{self.dataset}-{self.split}"


VALIDATION, TEST = Part(KITTI, "validation"), Part(MIDDLEBURY, "test")
TRAINING_MORE = Part(KITTI, "train_more")
TRAINING, MIDDLEBURY_TRAINING = Part(KITTI, "train"), Part(MIDDLEBURY, "train")


@dataclass(frozen=True)
class Context:
    """Input and options of experiments."""

    data: Mapping[str, Path]  # the folder of each dataset
    folder: Path  # has the measurements in ``measurements``
    limit: int | None = None  # the most frames of each split, for a quick pass
    workers: int = 1  # processes
    # folders with the user's own disparities, by the names of their rows
    results: Mapping[str, Path] = field(default_factory=dict)
    progress: Callable[[str], None] | None = None  # called with a line after each measurement

    def measure(self, jobs: Sequence[Job]) -> list[Measured]:
        """Make the measurements, or read those made before."""
        store = Store(self.folder / "measurements")
        return measure_all(jobs, store, self.workers, self.progress)

    def frames(self, part: Part) -> tuple[list[Frame], list[str]]:
        """Return the frames of a part, and a list of what is missing."""
        if part.dataset not in self.data:
            return [], [f"{part.dataset}: no folder was given; add --data {part.dataset}:PATH"]
        problems: dict[str, str] = {}
        folder = self.data[part.dataset]
        split: str | None = part.split
        if part in (VALIDATION, TEST) and folder.is_dir() and not has_splits(folder):
            split = None
            problems[part.split] = "no split.json names these frames, so all were taken"
        try:
            found = find_frames(part.dataset, folder, split, self.limit, problems=problems)
        except SlantedError as error:
            return [], [f"{part.dataset}: {error}"]
        return found, [f"{part.dataset}, {name}: {problem}" for name, problem in problems.items()]

    def measure_frames(
        self, part: Part, make: Callable[[Frame], Job]
    ) -> tuple[list[tuple[Frame, Scores]], list[str]]:
        """Measure one job per frame; return frames with their scores, and what is missing."""
        frames, missing = self.frames(part)
        jobs = [make(frame) for frame in frames]
        measured = self.measure(jobs)
        pairs = zip(frames, measured, strict=True)
        missing += problems_of(jobs, measured)
        return [(frame, found.scores) for frame, found in pairs if not found.problem], missing
