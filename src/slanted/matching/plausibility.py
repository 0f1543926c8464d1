"""Can the pair be two views of one scene? What was matched tells, and features beside it.

Of two different scenes the matcher explains next to nothing: of 70 such pairs (other scenes, noise,
swapped, mirrored, turned, negative, of another camera) at most 14 % of the pixels, and of most 3 %.
Of 100 good pairs (KITTI, Middlebury, Motorcycle) it matches at least 68 %.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import ImplausibleError, SlantedWarning
from slanted.images.colour import as_8_bit
from slanted.matching.rectification import ONE_SCENE

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.matching import DisparityRange, Matches
    from slanted.matching.rectification import RectificationCheck
    from slanted.settings import RectificationSettings

LEAST_SHARE = 0.15
"""Share of matched pixels below which a pair is refused, unless its features agree."""
DOUBTFUL_SHARE = 0.4
"""Share of matched pixels below which there is a warning."""
BRIGHT = 250
"""Grey level, of 255, above which pixels hold nothing to match."""
MANY = 0.3
"""Share of such pixels above which an image is overexposed."""
FAR_OUT = 1.1
"""Features count as out of range if they exceed its end by this factor."""


def doubts_about(
    found: Matches,
    searched: DisparityRange,
    features: RectificationCheck | None,
    light: str = "",
) -> tuple[str, ...]:
    """Return what speaks against a result, a sentence each; nothing for a good pair.

    `light` says what is wrong with the light, if anything is.
    """
    doubts = []
    share = float(np.isfinite(found.disparity).mean())
    if share < DOUBTFUL_SHARE:
        reason = f" (the pair is {light})" if light else ""
        doubts.append(f"only {share:.0%} of the pixels could be matched{reason}")
    if features is not None and features.consistent_share < ONE_SCENE:
        doubts.append(
            f"of {features.matches} features that look alike in both images only "
            f"{features.consistent_share:.0%} lie where one scene would have them"
        )
    elif features is not None and features.largest_disparity > FAR_OUT * searched.high:
        doubts.append(
            f"features have disparities of {features.largest_disparity:.0f} px, but the range ends "
            f"at {searched.high}; raise matching.max_disparity"
        )
    return tuple(doubts)


def judge_plausibility(
    doubts: tuple[str, ...],
    found: Matches,
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
    unmatched = float(np.isfinite(found.disparity).mean()) < LEAST_SHARE
    agree = features is not None and features.consistent_share >= ONE_SCENE
    if unmatched and not agree and settings.check == "refuse":
        raise ImplausibleError(
            f"{', '.join(names)}: expected two views of one scene, but {said}; check the names, or "
            "set rectification.check=warn (--force) to go on"
        )
    warnings.warn(f"the result is doubtful: {said}", SlantedWarning, stacklevel=2)


def light_of(image: Image) -> str:
    """Return "overexposed" for an image that is, otherwise nothing."""
    eight, _ = as_8_bit(image, image[:0])
    return "overexposed" if np.mean(eight[::4, ::4] > BRIGHT) > MANY else ""
