"""Methods by name, and their scores on the frames of a dataset."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.evaluation.scores import mean_scores, score

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.evaluation.datasets import Frame
    from slanted.images import Image
    from slanted.settings import Settings

FULL_MODEL = "slanted"
"""The name of the whole pipeline, `slanted.estimate`; other methods are matchers."""


def method_names() -> tuple[str, ...]:
    """Return the names of all methods."""
    from slanted.matching import matcher_names

    return (FULL_MODEL, *matcher_names())


def read_frame(frame: Frame) -> tuple[Image, Image]:
    """Return the images of a frame."""
    from slanted.images.checks import check_pair
    from slanted.io import read_image

    return check_pair(read_image(frame.left), read_image(frame.right))


def compute_disparity(
    method: str, left: Any, right: Any, settings: Settings, *, sparse: bool = False
) -> NDArray[np.float32]:
    """Run a method on a pair: ``slanted``, or a matcher, which replaces ``matching.method``.

    The holes of a matcher are filled as KITTI does, or stay NaN if `sparse` is true.
    """
    from slanted.matching import match
    from slanted.matching.interpolation import interpolate_background
    from slanted.pipeline import estimate
    from slanted.runtime.threads import thread_limit

    if method == FULL_MODEL:
        return estimate(left, right, settings).disparity
    with thread_limit(settings.threads):
        matched = match(left, right, replace(settings.matching, method=method))
        return matched if sparse else interpolate_background(matched)


def evaluate_frames(
    frames: Sequence[Frame],
    method: str,
    settings: Settings,
    *,
    sparse: bool = False,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Run a method on every frame and score it.

    Returns ``method``, ``frames`` (their number), ``mean`` (of every metric, and of ``seconds``,
    the wall time of the method without reading files) and ``per_frame``. If results have a
    confidence, ``confidence`` has its `ConfidenceScores`, the mean over the frames; pixels below
    ``confidence.min`` are left out, as `slanted.evaluation.scores.score` says.

    Examples
    --------
    >>> from pathlib import Path
    >>> from slanted.evaluation.datasets import find_frames
    >>> from slanted.settings import Settings
    >>> from slanted.synthetic import make_scene, write_kitti
    >>> folder = write_kitti(Path("kitti"), {"train": [make_scene(96, 64, segments=40, seed=1)]})
    >>> scores = evaluate_frames(find_frames("kitti2015", folder), "census", Settings())
    >>> scores["frames"], "D1-all" in scores["mean"]
    (1, True)
    """
    if method not in method_names():
        raise InputError(f"method: expected one of {', '.join(method_names())}, got {method!r}")
    per_frame: list[dict[str, Any]] = []
    trust: list[ConfidenceScores] = []
    for number, frame in enumerate(frames, 1):
        try:
            scores, sure = _evaluate_frame(frame, method, settings, sparse)
        except InputError as error:
            raise InputError(f"{frame.name}: {error}") from error
        per_frame.append({"frame": frame.name, **scores})
        trust += [] if sure is None else [sure]
        if progress is not None:
            progress(f"{number}/{len(frames)} {frame.name}: D1-all {scores['D1-all']:.2f} %")
    return {"method": method, **mean_scores(per_frame, trust)}


def _evaluate_frame(
    frame: Frame, method: str, settings: Settings, sparse: bool
) -> tuple[dict[str, float], ConfidenceScores | None]:
    from slanted.matching.rectification import check_rectification
    from slanted.pipeline import estimate

    left, right = read_frame(frame)
    if method != FULL_MODEL:  # the whole pipeline makes this check itself
        rules = replace(settings.rectification, correct="off")  # the matcher gets the pair as it is
        check_rectification(left, right, rules, settings.matching.min_disparity)
    start = time.perf_counter()
    confidence = None
    if method == FULL_MODEL:
        result = estimate(left, right, settings)
        disparity, confidence = result.disparity, result.confidence
    else:
        disparity = compute_disparity(method, left, right, settings, sparse=sparse)
    seconds = time.perf_counter() - start
    ground_truth, visible = frame.load_ground_truth()
    least = 0.0 if confidence is None else settings.confidence.min
    scores, trust = score(disparity, ground_truth, visible, confidence, least)
    return {**scores, "seconds": seconds}, trust
