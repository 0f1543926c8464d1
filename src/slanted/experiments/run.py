"""Running an experiment: frames, measurements, tables, files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slanted.errors import SlantedError
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.metrics import mean_metrics
from slanted.experiments.measurements import Job, Measured, Store, measure_all
from slanted.experiments.plans import DIFFERS, METRICS, SPLITS, Entry, Plan
from slanted.experiments.tables import Cell, Row, Table
from slanted.io.files import write_bytes

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame

SECONDS = "seconds"


@dataclass(frozen=True)
class Outcome:
    """What an experiment came to.

    Parameters
    ----------
    plan
        The experiment.
    datasets, tables
        The datasets that there were, and one table for each.
    missing
        What could not be measured, and why, a sentence each.
    """

    plan: Plan
    datasets: tuple[str, ...]
    tables: tuple[Table, ...]
    missing: tuple[str, ...]

    def markdown(self) -> str:
        """Return all as a page."""
        parts = [f"## {self.plan.name}", self.plan.shows, *(t.markdown() for t in self.tables)]
        if self.missing:
            parts += ["Missing:", "\n".join(f"- {sentence}" for sentence in self.missing)]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"

    def write(self, folder: Path) -> list[Path]:
        """Write the page, a CSV file for each table, and JSON; return their paths."""
        name = self.plan.name
        content = {
            "experiment": name,
            "shows": self.plan.shows,
            "tables": [table.as_dict() for table in self.tables],
            "missing": list(self.missing),
        }
        files = {f"{name}.md": self.markdown(), f"{name}.json": json.dumps(content, indent=1)}
        for dataset, table in zip(self.datasets, self.tables, strict=True):
            files[f"{name}-{dataset}.csv"] = table.csv()
        for file, text in files.items():
            write_bytes(folder / file, text.encode())
        return [folder / file for file in files]


def run_experiment(
    plan: Plan,
    data: Mapping[str, Path],
    folder: Path,
    *,
    limit: int | None = None,
    workers: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Outcome:
    """Measure what a plan asks for, as far as the data are there.

    Parameters
    ----------
    plan
        What to run.
    data
        Folders of datasets.
    folder
        Where measurements are kept, in ``measurements``.
    limit
        At most this many frames of each dataset.
    workers
        Processes.
    progress
        Called with a line after each image.
    """
    frames, missing = _frames(plan, data, limit)
    jobs = {
        (dataset, entry.name, frame.name): Job(dataset, frame, entry.method, entry.settings)
        for dataset, some in frames.items()
        for entry in plan.entries
        for frame in some
    }
    measured = measure_all(jobs.values(), Store(folder / "measurements"), workers, progress)
    found = {place: measured[job.key] for place, job in jobs.items()}
    missing += [f"{d}, {e}, {f}: {m.problem}" for (d, e, f), m in found.items() if m.problem]
    tables = [_table(plan, dataset, some, found) for dataset, some in frames.items()]
    return Outcome(plan, tuple(frames), tuple(tables), tuple(missing))


def _frames(
    plan: Plan, data: Mapping[str, Path], limit: int | None
) -> tuple[dict[str, list[Frame]], list[str]]:
    """Return the frames of each dataset, and what is missing."""
    frames, missing = {}, []
    for dataset in plan.datasets:
        if dataset not in data:
            missing.append(f"{dataset}: no folder was given; add {dataset}:PATH")
            continue
        try:
            frames[dataset] = find_frames(dataset, data[dataset], SPLITS[dataset], limit)
        except SlantedError as error:
            missing.append(f"{dataset}: {error}")
    return frames, missing


def _table(
    plan: Plan,
    dataset: str,
    frames: list[Frame],
    found: Mapping[tuple[str, str, str], Measured],
) -> Table:
    """Return the means over the frames that every entry could be measured on."""
    names = [
        frame.name
        for frame in frames
        if not any(found[dataset, entry.name, frame.name].problem for entry in plan.entries)
    ]
    rows = []
    for entry in plan.entries:
        scores = [found[dataset, entry.name, name].scores for name in names]
        rows += _rows(entry, dataset, mean_metrics(scores) if scores else {})
    notes = [DIFFERS[dataset]] if any(dataset in entry.paper for entry in plan.entries) else []
    title = f"{dataset}, {SPLITS[dataset]}: means over {len(names)} frames, percent of pixels"
    return Table(title, (*METRICS[dataset], SECONDS), tuple(rows), tuple(notes))


def _rows(entry: Entry, dataset: str, mean: Mapping[str, float]) -> list[Row]:
    """Return an entry's row, and below it the paper's."""
    cells: list[Cell] = [mean.get(metric) for metric in (*METRICS[dataset], SECONDS)]
    rows = [Row(entry.name, tuple(cells))]
    if dataset in entry.paper:
        rows.append(Row(f"{entry.name}, in the paper", (*entry.paper[dataset], None)))
    return rows
