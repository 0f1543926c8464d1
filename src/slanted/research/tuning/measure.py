"""Measure one candidate on one pair, scored as by ``slanted evaluate``.

What candidates share is computed once and kept: the matched disparity depends on the sections
``rectification`` and ``matching`` only, the segments on these and ``segmentation``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError, SlantedWarning
from slanted.evaluation.datasets import Frame
from slanted.evaluation.metrics import evaluate
from slanted.research.methods import read_frame
from slanted.settings import (
    MatchingSettings,
    RectificationSettings,
    SegmentationSettings,
    Settings,
)

if TYPE_CHECKING:
    from slanted.stages import InitialMatches

KEPT = 12
"""Number of pairs whose intermediate results a process keeps, about 20 MB each on KITTI."""


@dataclass(frozen=True)
class Measurement:
    """The measurement of a candidate on a pair."""

    # scores of `slanted.evaluation.metrics.evaluate`; empty if the candidate could not be run
    scores: dict[str, float]
    # the time of a run with one thread, without reading files; stages kept from an earlier
    # candidate count with the time that they took then
    seconds: float
    problem: str = ""  # why the candidate could not be run


def measure(frame: Frame, settings: Settings) -> Measurement:
    """Run the whole pipeline on a frame with one thread, and score it.

    Settings that do not fit the pair, such as too many segments, give a `Measurement` with a
    problem; files that cannot be read raise an error.
    """
    settings = replace(settings, threads=1)
    with warnings.catch_warnings():
        # Every candidate would repeat the same warning.
        warnings.simplefilter("ignore", SlantedWarning)
        try:
            disparity, seconds = _estimate(frame, settings)
        except InputError as error:
            return Measurement({}, 0.0, " ".join(str(error).split()))
    truth, visible = _truth(frame)
    try:
        return Measurement(evaluate(disparity, truth, ground_truth_noc=visible), seconds)
    except InputError as error:
        raise InputError(f"{frame.name}: {error}") from error


def forget() -> None:
    """Drop everything that is kept."""
    for kept in (_images, _truth, _match, _segment):
        kept.cache_clear()


def _estimate(frame: Frame, settings: Settings) -> tuple[NDArray[np.float32], float]:
    import time

    from slanted.pipeline import estimate, explain
    from slanted.stages.pair_run import prepare

    left, right = _images(frame)
    if settings.model.pixel_weights:  # kept matches have none
        result = estimate(left, right, settings)
        return result.disparity, sum(result.seconds.values())
    shared = settings.rectification, settings.matching
    matches, first = _match(frame, *shared)
    label_image, second = _segment(frame, *shared, settings.segmentation)
    start = time.perf_counter()
    with prepare(left, right, settings, None) as pair:
        run = pair.straightened(matches.rectification)
        result = explain(run, matches, superpixels=label_image)
    return result.disparity, first + second + time.perf_counter() - start


@lru_cache(KEPT)
def _images(frame: Frame) -> tuple[Any, Any]:
    return read_frame(frame)


@lru_cache(KEPT)
def _truth(frame: Frame) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    return frame.load_ground_truth()


@lru_cache(KEPT)
def _match(
    frame: Frame, rectification: RectificationSettings, matching: MatchingSettings
) -> tuple[InitialMatches, float]:
    import time

    from slanted.stages.matching import first_look, match
    from slanted.stages.pair_run import prepare

    settings = Settings(threads=1, rectification=rectification, matching=matching)
    start = time.perf_counter()
    with prepare(*_images(frame), settings, None) as pair:
        run, look = first_look(pair)
        matches = match(run, look)
    return matches, time.perf_counter() - start


@lru_cache(KEPT)
def _segment(
    frame: Frame,
    rectification: RectificationSettings,
    matching: MatchingSettings,
    segmentation: SegmentationSettings,
) -> tuple[NDArray[np.int32], float]:
    import time

    from slanted.stages.after_matching import cut_segments
    from slanted.stages.pair_run import prepare

    settings = Settings(
        threads=1, rectification=rectification, matching=matching, segmentation=segmentation
    )
    matches, _ = _match(frame, rectification, matching)
    start = time.perf_counter()
    with prepare(*_images(frame), settings, None) as run:
        label_image = cut_segments(run, matches)
    return label_image, time.perf_counter() - start
