"""The other pairs of a batch that ``slanted view`` shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.cli import options
from slanted.errors import FileError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.batch.scores import Measure
    from slanted.result import Result
    from slanted.result_folder import ResultFolder
    from slanted.viewer.session import Session
    from slanted.viewer.strip import Strip


def open_with(place: Path, calibration_values: Mapping[str, Any]) -> ResultFolder:
    """Open a result; a calibration of the options replaces its own."""
    from slanted.result_folder import open_result

    opened = open_result(place)
    given = options.load_calibration(opened.result.disparity.shape[:2], **calibration_values)
    return dataclasses.replace(opened, calibration=given or opened.calibration)


def read_compared(
    path: Path, name: str | None, shown: tuple[Path, ...]
) -> tuple[str, Result | NDArray[np.float32]]:
    """Return what to compare with, after its title.

    Of a batch, that is the pair of a name, by default that of the folder that is `shown`.
    """
    from slanted.batch.summary import find_result, is_batch
    from slanted.io import read_disparity
    from slanted.result_folder import open_result

    if not path.is_dir():
        return path.name, read_disparity(path, allow_negative=True)
    if not is_batch(path):
        return path.resolve().name, open_result(path).result
    name = _partner_of(shown, path) if name is None else name
    return f"{path.resolve().name}/{name}", open_result(find_result(path, name)).result


def _partner_of(shown: tuple[Path, ...], batch: Path) -> str:
    """Return the name of the pair of a batch that a result's folder is named after."""
    from slanted.batch.summary import find_results, some_names

    places = find_results(batch)
    parts = shown[0].resolve().parts if len(shown) == 1 else ()
    for start in range(len(parts)):  # the longest name first
        name = "/".join(parts[start:])
        if name in places:
            return name
    raise FileError(
        batch,
        f"expected a pair with the name of {shown[0]} to compare with ({some_names(places)}), "
        "found none; choose one with --pair NAME",
    )


def make_strip(
    batch: Path,
    shown: Path,
    session: Session,
    measure: Measure,
    calibration_values: Mapping[str, Any],
    compare: Path | None = None,
) -> Strip | None:
    """Return the pairs of a batch, one of which a session shows already; None if they are too many.

    `measure` finds the ground truth of pairs; their errors are measured while the page is open.
    Pairs are compared with those of the same name in the batch `compare`, where it has them.
    """
    from slanted.batch.summary import find_results, is_batch, read_short_summary
    from slanted.report.pairs import ERRORS
    from slanted.viewer.session import Session
    from slanted.viewer.strip import Pair, Strip

    rows = read_short_summary(batch)
    if rows is None:
        return None
    places = find_results(batch)
    pairs = [Pair(row, places.get(row["name"])) for row in rows]
    partners: Collection[str] = ()  # another result, or a map, is of one pair only
    if compare is not None and is_batch(compare):
        partners = find_results(compare).keys()
    first = next(number for number, pair in enumerate(pairs) if pair.place == shown)

    def place_of(number: int) -> tuple[str, Path]:
        name = pairs[number].row["name"]
        return name, places[name]

    def open_pair(number: int) -> Session:
        name, place = place_of(number)
        opened = open_with(place, calibration_values)
        truth, size = opened.truth, opened.result.disparity.shape
        truth = truth if measure.truths is None else measure.truths.read(name, size)
        compared = None
        if compare is not None and name in partners:
            compared = read_compared(compare, name, (place,))
            disparity = getattr(compared[1], "disparity", compared[1])
            options.check_size(compare / name, disparity, opened.result.disparity)
        return Session(opened, truth, compared=compared)

    def score(number: int) -> dict[str, float]:
        found = measure.scores(*place_of(number))
        if found is None:
            return {}
        metrics, trust = found
        known = metrics if trust is None else {**metrics, **trust.metrics}
        return {rule: known[rule] for rule in ERRORS if rule in known}

    has_truth = any(measure.has_truth(name, place) for name, place in places.items())
    return Strip(pairs, first, session, open_pair, score if has_truth else None)
