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
    from slanted.images import GreyPair
    from slanted.images.census import CensusPair
    from slanted.matching import DisparityRange

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


@dataclass(frozen=True, eq=False)
class _Matched:
    disparity: NDArray[np.float32]
    searched: DisparityRange
    seconds: float


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
    for kept in (_images, _grey, _census, _truth, _match, _segment):
        kept.cache_clear()


def _estimate(frame: Frame, settings: Settings) -> tuple[NDArray[np.float32], float]:
    import time

    from slanted.model.drawing import draw_disparity, drawn_range
    from slanted.model.evidence import Evidence
    from slanted.pipeline import estimate
    from slanted.refinement.refine import infer_and_refine
    from slanted.runtime.threads import thread_limit

    left, right = _images(frame)
    if settings.model.pixel_weights:  # the confidence of matches is not kept
        result = estimate(left, right, settings)
        return result.disparity, sum(result.seconds.values())
    matched = _match(frame, settings.rectification, settings.matching)
    label_image, seconds = _segment(
        frame, settings.rectification, settings.matching, settings.segmentation
    )
    start = time.perf_counter()
    with thread_limit(1):
        evidence = Evidence(
            matched.disparity,
            left=left,
            grey=_grey(frame),
            census=_census(frame) if settings.model.weights.pho else None,
        )
        rounds = settings.refinement.rounds
        regions, inference = infer_and_refine(label_image, evidence, settings, rounds=rounds)
        limits = drawn_range(settings, matched.searched, matched.disparity)
        disparity = draw_disparity(regions, inference.planes, *limits)
    return disparity, matched.seconds + seconds + time.perf_counter() - start


@lru_cache(KEPT)
def _grey(frame: Frame) -> GreyPair:
    from slanted.images.colour import grey_pair

    return grey_pair(*_images(frame))


@lru_cache(KEPT)
def _census(frame: Frame) -> CensusPair:
    from slanted.images.census import census_of_pair

    return census_of_pair(_grey(frame))


@lru_cache(KEPT)
def _images(frame: Frame) -> tuple[Any, Any]:
    return read_frame(frame)


@lru_cache(KEPT)
def _truth(frame: Frame) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    return frame.load_ground_truth()


@lru_cache(KEPT)
def _match(
    frame: Frame, rectification: RectificationSettings, matching: MatchingSettings
) -> _Matched:
    import time

    from slanted.matching.disparity_range import disparity_range
    from slanted.pipeline import match_pair

    left, right = _images(frame)
    start = time.perf_counter()
    searched = disparity_range(left, right, matching)
    told = replace(matching, max_disparity=searched.high)
    settings = Settings(threads=1, rectification=rectification, matching=told)
    disparity, _ = match_pair(left, right, settings)
    return _Matched(disparity, searched, time.perf_counter() - start)


@lru_cache(KEPT)
def _segment(
    frame: Frame,
    rectification: RectificationSettings,
    matching: MatchingSettings,
    segmentation: SegmentationSettings,
) -> tuple[NDArray[np.int32], float]:
    import time

    from slanted.runtime.threads import thread_limit
    from slanted.segmentation import segment

    left, _ = _images(frame)
    start = time.perf_counter()
    with thread_limit(1):
        label_image = segment(left, segmentation, _match(frame, rectification, matching).disparity)
    return label_image, time.perf_counter() - start
