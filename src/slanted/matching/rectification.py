"""Is the pair rectified, and are its images not swapped? Matched features tell.

Every method that searches along rows fails without notice on a pair whose rows do not agree, so the
vertical warp between both views is measured first, reported, and undone if it is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from slanted.errors import RectificationError, warn
from slanted.images.checks import NAMES
from slanted.matching.features import match_features
from slanted.matching.vertical_warp import LARGEST_SIDE, VerticalWarp, fit_vertical_warp

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.settings import RectificationSettings

FEWEST_MATCHES = 30
"""Fewest matches for a verdict; the median of fewer would be noise."""
TOED_IN_SHARE = 0.25
"""Share of matches of negative disparity above which there is a warning."""
SWAPPED_SHARE = 0.6
"""Share of matches of negative disparity above which a pair counts as swapped. Of 100 good pairs
none has more than 0.11; of swapped ones, far things are shifted too little to be counted."""
CONSISTENT = 2.0
"""Features this close to the warp, in pixels, are consistent, for images up to 1600 px wide."""
ONE_SCENE = 0.3
"""Share of consistent features below which offsets mean nothing. Most pairs of two scenes have less
than 0.15; of 100 good pairs none has less than 0.78."""
SURE = 4.0
"""A warp is sure if it is this many times as large as its uncertainty."""


@dataclass(frozen=True)
class RectificationCheck:
    """What the matched features of a pair show."""

    matches: int
    """Number of matched features."""
    vertical_offset: float
    """Median of the absolute row differences, in pixels. This is the number judged, because a pair
    rotated about its axis has signed differences of median zero."""
    vertical_median: float
    """Median of the signed row differences left − right, in pixels."""
    vertical_spread: float
    """Median distance from `vertical_median`, scaled to a standard deviation, in pixels."""
    backward_share: float
    """Share of matches with a disparity below zero, or below the start of a negative range."""
    consistent_share: float = 1.0
    """Share of matches that agree with the warp; those of two different scenes do not."""
    largest_disparity: float = 0.0
    """The disparity that the nearest twentieth of the consistent matches exceeds, in pixels."""
    warp: VerticalWarp | None = None
    """The vertical warp between the views; None in results of older versions."""
    corrected: bool = False
    """Whether the right view was straightened by it before matching."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the check that `dataclasses.asdict` made a record of."""
        warp = record.get("warp")
        if warp is not None:
            warp = VerticalWarp(**{**warp, "coefficients": tuple(warp["coefficients"])})
        return cls(**{**record, "warp": warp})


def measure_rectification(
    left: Image, right: Image, min_disparity: int = 0
) -> RectificationCheck | None:
    """Match features of both images; return None if too few match for a verdict."""
    features = match_features(left, right)
    if len(features) < FEWEST_MATCHES:
        return None
    height, width = left.shape[:2]
    warp = fit_vertical_warp(features, width, height)
    vertical, disparity = features.vertical, features.disparity
    expected = warp.at(features.right[:, 0], features.left[:, 1], width, height)
    consistent = np.abs(vertical - expected) < CONSISTENT * max(1.0, width / 1600)
    middle = float(np.median(vertical))
    return RectificationCheck(
        matches=len(features),
        vertical_offset=float(np.median(np.abs(vertical))),
        vertical_median=-middle,
        vertical_spread=1.4826 * float(np.median(np.abs(vertical - middle))),
        backward_share=float(np.mean(disparity < min(0, min_disparity) - 1)),
        consistent_share=float(np.mean(consistent)),
        largest_disparity=float(np.quantile(disparity[consistent], 0.95)) if any(consistent) else 0,
        warp=warp,
    )


def decide_correction(
    found: RectificationCheck | None, image: Image, settings: RectificationSettings
) -> RectificationCheck | None:
    """Decide whether to straighten the right view: if the warp is sure, and large enough."""
    if found is None or found.warp is None or settings.correct == "off":
        return found
    if max(image.shape[:2]) > LARGEST_SIDE or found.consistent_share < ONE_SCENE:
        return found
    large = found.warp.rms > max(settings.correct_above, SURE * found.warp.uncertainty)
    far_off = found.vertical_offset > settings.refuse_offset and settings.check == "refuse"
    return replace(found, corrected=not far_off and (large or settings.correct == "always"))


def check_rectification(
    left: Image, right: Image, settings: RectificationSettings, min_disparity: int = 0
) -> RectificationCheck | None:
    """Warn about, or refuse, a pair that is not rectified or whose images are swapped.

    Raises
    ------
    RectificationError
        If ``settings.check`` is ``refuse`` and the vertical offset is above
        ``settings.refuse_offset``, or the images are swapped.
    """
    if settings.check == "off":
        return None
    found = decide_correction(measure_rectification(left, right, min_disparity), left, settings)
    judge_rectification(found, left, right, settings)
    return found


def judge_rectification(
    found: RectificationCheck | None,
    left: Image,
    right: Image,
    settings: RectificationSettings,
    names: tuple[str, str] = NAMES,
) -> None:
    """Warn about, or refuse, a pair by the outcome of `measure_rectification`.

    `names` are what messages call the images, such as their files.
    """
    if found is None:
        return
    pair = ", ".join(names)
    if np.array_equal(left, right):
        warn(
            f"{pair}: both images are the same, so every disparity is 0; check the names",
        )
        return
    if found.consistent_share < ONE_SCENE:
        return  # offsets mean nothing here; `slanted.matching.plausibility` judges such pairs
    offset = found.vertical_offset
    measured = f"{offset:.1f} px (median of {found.matches} matches)"
    if offset > settings.refuse_offset and settings.check == "refuse":
        raise RectificationError(
            f"{pair}: expected a rectified pair, whose rows agree, got a vertical offset of "
            f"{measured}; rectify the images first, or set rectification.check=warn (--force) to "
            "go on"
        )
    if found.corrected and found.warp is not None and found.warp.rms > settings.warn_offset:
        warn(
            f"the rows of the right image were off by {found.warp.rms:.1f} px (rms) and were "
            "straightened; calibrate the cameras again, since depth may be off too",
        )
    elif offset > settings.warn_offset and not found.corrected:
        warn(
            f"the pair is not well rectified: vertical offset {measured}; expect errors",
        )
    if TOED_IN_SHARE < found.backward_share <= SWAPPED_SHARE:
        warn(
            f"{found.backward_share:.0%} of {found.matches} matches lie to the right in the right "
            "image, as with cameras that are turned towards each other; set matching.min_disparity "
            "below zero",
        )
    if found.backward_share > SWAPPED_SHARE:
        message = (
            f"{pair}: {found.backward_share:.0%} of {found.matches} matches lie to the right "
            "in the right image, so the images seem to be swapped, or both mirrored; swap them, or "
            "set matching.min_disparity below zero if that is meant"
        )
        if settings.check == "refuse":
            raise RectificationError(message)
        warn(message)
