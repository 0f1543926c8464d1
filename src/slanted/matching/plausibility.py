"""Can the pair be two views of one scene? What was matched tells, and features beside it.

Of two different scenes the matcher explains next to nothing: at most 18 % of the pixels in 60 such
pairs, and of most 3 %. Of 100 good pairs (KITTI, Middlebury, Motorcycle) it matches at least 68 %
(``benchmarks/plausibility.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import ImplausibleError, warn
from slanted.images.colour import as_8_bit
from slanted.matching.agreement import LEAST_AGREEMENT, agreement_of
from slanted.matching.rectification import ONE_SCENE
from slanted.runtime.arrays import DisparityMap

if TYPE_CHECKING:
    from slanted.images import GreyPair, Image
    from slanted.matching import DisparityRange, Matches
    from slanted.matching.rectification import RectificationCheck
    from slanted.settings import RectificationSettings

LEAST_SHARE = 0.15
"""Share of matched pixels below which a pair is refused, unless its features agree."""
DOUBTFUL_SHARE = 0.5
"""Share of matched pixels below which there is a warning."""
BRIGHT = 250
"""Grey level, of 255, above which pixels hold nothing to match."""
MANY = 0.5
"""Share of such pixels above which an image is overexposed; with a white sky it may be 0.46."""
FAR_OUT = 1.1
"""Features count as out of range if they exceed its end by this factor."""

LAST_PIXELS = 1.0
"""Matches this near to the end of the range are at its end, where what is nearer piles up."""
PILED_UP = 0.02
"""Share of such matches from which a range is doubtful; of fewer than 50 disparities, the share
that evenly spread matches would have. With the automatic range, the largest share of 99 good pairs
is 0.1 %. With 20 to 70 % of the disparities of 14 of them, 52 of 56 runs have more than this."""


def doubts_about(
    found: Matches,
    searched: DisparityRange,
    features: RectificationCheck | None,
    pair: tuple[Image, Image],
    *,
    is_dark: bool = False,
) -> tuple[str, ...]:
    """Return what speaks against a result, a sentence each; nothing for a good pair.

    `is_dark` tells of a pair that was brightened.
    """
    doubts = []
    share = float(np.isfinite(found.disparity).mean())
    is_white = any(map(_is_white, pair))
    if share < DOUBTFUL_SHARE:
        light = "dark" if is_dark else "overexposed" if is_white else ""
        reason = f" (the pair is {light})" if light else ""
        doubts.append(f"only {share:.0%} of the pixels pass the checks of matching{reason}")
    elif is_white:
        doubts.append("most of an image is overexposed")
    of_features = doubts_of_features(features)
    doubts += of_features
    # Matches of two scenes lie anywhere in the range, and say nothing about it.
    if not doubts or (features is not None and not of_features):
        doubts += _doubts_of_range(found.disparity, searched, features)
    return tuple(doubts)


def _doubts_of_range(
    matched: DisparityMap, searched: DisparityRange, features: RectificationCheck | None
) -> list[str]:
    """Return whether the range seems to end before the nearest things."""
    cure = "raise matching.max_disparity"
    if features is not None and features.largest_disparity > FAR_OUT * searched.high:
        return [
            f"features have disparities of {features.largest_disparity:.0f} px, but the range ends "
            f"at {searched.high}; {cure}"
        ]
    known = np.isfinite(matched)
    last = known & (matched >= searched.high - LAST_PIXELS)
    share = int(np.count_nonzero(last)) / max(int(np.count_nonzero(known)), 1)
    if share < max(PILED_UP, LAST_PIXELS / len(searched)):
        return []
    return [f"{share:.0%} of the matches lie where the range ends, at {searched.high} px; {cure}"]


def doubts_of_features(features: RectificationCheck | None) -> list[str]:
    """Return what the features alone speak against."""
    if features is None or features.consistent_share >= ONE_SCENE:
        return []
    return [
        f"of {features.matches} features that look alike in both images only "
        f"{features.consistent_share:.0%} lie where one scene would have them, with a median "
        f"vertical offset of {features.vertical_offset:.0f} px"
    ]


def doubts_of_map(disparity: DisparityMap, grey: GreyPair) -> list[str]:
    """Return whether a disparity that no search found seems to be of another pair."""
    agreement = agreement_of(grey, disparity)
    if agreement is None or agreement >= LEAST_AGREEMENT:
        return []
    return [
        "the disparity seems to be of another pair: the right view looks more alike there than "
        f"some pixels beside it at {agreement:.0%} of the pixels, of which half would be chance"
    ]


def judge_plausibility(
    doubts: tuple[str, ...],
    matched: DisparityMap,
    features: RectificationCheck | None,
    settings: RectificationSettings,
    names: tuple[str, str],
) -> None:
    """Refuse a pair that cannot be one scene, and warn about one that is doubtful.

    Raises
    ------
    ImplausibleError
        If ``settings.check`` is ``refuse``, next to nothing was matched, and the features do not
        agree either. A dark tunnel, whose few features agree, only gets a warning.
    """
    if not doubts or settings.check == "off":
        return
    said = "; ".join(doubts)
    unmatched = float(np.isfinite(matched).mean()) < LEAST_SHARE
    agree = features is not None and features.consistent_share >= ONE_SCENE
    if unmatched and not agree and settings.check == "refuse":
        raise ImplausibleError(
            f"{', '.join(names)}: expected two views of one scene, but {said}; check the names, "
            "rectify the pair if it is not, or set rectification.check=warn (--force) to go on"
        )
    warn(f"the result is doubtful: {said}")


def _is_white(image: Image) -> bool:
    """Return whether an image is overexposed."""
    eight, _ = as_8_bit(image[::4, ::4], image[:0])
    return bool(np.mean(eight > BRIGHT) > MANY)
