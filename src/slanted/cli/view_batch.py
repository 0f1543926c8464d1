"""The other pairs of a batch that ``slanted view`` shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.cli import options

if TYPE_CHECKING:
    from slanted.batch.scores import Measure
    from slanted.result_folder import ResultFolder
    from slanted.viewer.session import Session
    from slanted.viewer.strip import Strip


def open_with(place: Path, calibration_values: Mapping[str, Any]) -> ResultFolder:
    """Open a result; a calibration of the options replaces its own."""
    from slanted.result_folder import open_result

    opened = open_result(place)
    given = options.load_calibration(opened.result.disparity.shape[:2], **calibration_values)
    return dataclasses.replace(opened, calibration=given or opened.calibration)


def make_strip(
    batch: Path,
    shown: Path,
    session: Session,
    measure: Measure,
    calibration_values: Mapping[str, Any],
) -> Strip | None:
    """Return the pairs of a batch, one of which a session shows already; None if they are too many.

    `measure` finds the ground truth of pairs; their errors are measured while the page is open.
    """
    from slanted.batch.summary import find_results, read_short_summary
    from slanted.report.pairs import ERRORS
    from slanted.viewer.session import Session
    from slanted.viewer.strip import Pair, Strip

    rows = read_short_summary(batch)
    if rows is None:
        return None
    places = find_results(batch)
    pairs = [Pair(row, places.get(row["name"])) for row in rows]
    first = next(number for number, pair in enumerate(pairs) if pair.place == shown)

    def place_of(number: int) -> tuple[str, Path]:
        name = pairs[number].row["name"]
        return name, places[name]

    def open_pair(number: int) -> Session:
        name, place = place_of(number)
        opened = open_with(place, calibration_values)
        truth, size = opened.truth, opened.result.disparity.shape
        return Session(opened, truth if measure.truths is None else measure.truths.read(name, size))

    def score(number: int) -> dict[str, float]:
        found = measure.scores(*place_of(number))
        if found is None:
            return {}
        metrics, trust = found
        known = metrics if trust is None else {**metrics, **trust.metrics}
        return {rule: known[rule] for rule in ERRORS if rule in known}

    has_truth = any(measure.has_truth(name, place) for name, place in places.items())
    return Strip(pairs, first, session, open_pair, score if has_truth else None)
