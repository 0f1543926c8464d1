"""Errors of the results of a batch against ground truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.batch.ground_truth import TruthFolder
from slanted.batch.summary import find_results, some_names
from slanted.errors import FileError, InputError
from slanted.evaluation.scores import Scores, mean_scores
from slanted.io.names import TRUTH
from slanted.result import Result
from slanted.result_folder import own_truth, score_result

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores


@dataclass(frozen=True)
class Measure:
    """What the results of a batch are measured by."""

    truths: TruthFolder | None = None
    """Ground truth of all pixels; None for the ``ground_truth.pfm`` in each result."""
    visible: TruthFolder | None = None
    """The same of visible pixels only."""
    least: float | None = None
    """The lowest confidence to keep; None for that of each run."""

    def has_truth(self, name: str, place: Path) -> bool:
        """Return whether there is ground truth of a pair, with its result in some folder."""
        if self.truths is None:
            return (place / TRUTH).is_file()
        return self.truths.find(name) is not None

    def check_visible(self, places: Mapping[str, Path]) -> None:
        """Refuse visible pixels of some pairs only: two columns would not be of the same pairs."""
        if self.visible is None:
            return
        known = (name for name, place in places.items() if self.has_truth(name, place))
        without = [name for name in known if self.visible.find(name) is None]
        if without:
            raise FileError(
                self.visible.folder,
                f"expected the ground truth of visible pixels of every pair that has one of all, "
                f"found none of {some_names(without)}; add it, or leave out --noc",
            )

    def scores(self, name: str, place: Path) -> Scores | None:
        """Return the errors of a pair's result in its folder; None without ground truth."""
        if not self.has_truth(name, place):
            return None  # before a large file is read
        result = Result.load(place)
        size = result.disparity.shape
        truth = own_truth(place, size) if self.truths is None else self.truths.read(name, size)
        if truth is None:
            return None
        seen = None if self.visible is None else self.visible.read(name, size)
        try:
            return score_result(result, truth, seen, self.least)
        except InputError as error:
            raise FileError(place, str(error)) from error


def measure_of(
    batch: Path,
    truth: Path | None,
    scale: float | None = None,
    *,
    noc: Path | None = None,
    least: float | None = None,
) -> Measure:
    """Return what the results of a batch are measured by; `truth` and `noc` are folders."""
    names = list(find_results(batch)) if truth is not None or noc is not None else []
    all_pixels = None if truth is None else TruthFolder(truth, names, scale)
    return Measure(all_pixels, None if noc is None else TruthFolder(noc, names, scale), least)


def score_results(
    places: Mapping[str, Path], measure: Measure, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Return the errors of many results, as `slanted.evaluation.scores.mean_scores` has them.

    Parameters
    ----------
    places
        The folder of each result, by the name of its pair.
    measure
        What they are measured by. Pairs without ground truth are left out.
    progress
        Called with the error of each pair.

    Raises
    ------
    FileError
        If no pair has ground truth, or one has it of all pixels but not of the visible ones.
    """
    measure.check_visible(places)
    rows: list[dict[str, Any]] = []
    trust: list[ConfidenceScores] = []
    for number, (name, place) in enumerate(places.items(), 1):
        found = measure.scores(name, place)
        if found is None:
            progress(f"{number}/{len(places)} {name}: no ground truth")
            continue
        metrics, sure = found
        rows.append({"frame": name, **metrics})
        trust += [] if sure is None else [sure]
        progress(f"{number}/{len(places)} {name}: D1-all {metrics['D1-all']:.2f} %")
    if not rows:
        raise FileError(
            next(iter(places.values())),
            f"expected ground truth of a pair, but none of {len(places)} has any; give its folder, "
            f"with files such as {next(iter(places))}.png, or put {TRUTH} into a result",
        )
    return {**mean_scores(rows, trust), "pairs": len(places)}
