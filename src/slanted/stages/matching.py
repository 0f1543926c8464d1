"""The first look at a pair, and its matching: how initial matches come about."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.stages import FirstLook, InitialMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.matching import DisparityRange, Matches
    from slanted.matching.finer import Find
    from slanted.settings import Settings
    from slanted.stages.pair_run import PairRun

RANGE_HOLDS = 1.0
"""The range is found again if the right view was moved by more than this many pixels."""


def first_look(run: PairRun, *, with_range: bool = True) -> tuple[PairRun, FirstLook]:
    """Check that the pair is rectified, and find its range of disparities.

    The run that is returned has its right view straightened, if that is called for.
    """
    from slanted.matching.disparity_range import disparity_range
    from slanted.matching.rectification import (
        decide_correction,
        judge_rectification,
        measure_rectification,
    )
    from slanted.runtime.threads import together

    left, right, matching = run.left, run.right, run.settings.matching
    rules, low = run.settings.rectification, matching.min_disparity
    compared = run.compared
    with run.stage("first look"):
        tasks: list[Callable[[], Any]] = [
            lambda: measure_rectification(*compared, low) if rules.check != "off" else None,
            lambda: disparity_range(left, right, matching) if with_range else None,
        ]
        if with_range and matching.max_disparity is None:
            found, searched = together(*tasks)
        else:  # a given range takes no time, and features may use all threads
            found, searched = (task() for task in tasks)
        found = decide_correction(found, left, rules)
        judge_rectification(found, left, right, rules, run.names)
        straight = run.straightened(found)
        moved = 0.0 if found is None or found.warp is None else found.warp.rms
        if straight is not run and with_range and moved > RANGE_HOLDS:
            searched = disparity_range(left, straight.right, matching)
    return straight, FirstLook(found, searched)


def match(run: PairRun, look: FirstLook, find: Find | None = None) -> InitialMatches:
    """Find the initial disparity D(p) (paper §3.1), perhaps with a search of your own."""
    import numpy as np

    from slanted.matching.disparity_range import range_of
    from slanted.matching.plausibility import doubts_about, doubts_of_map, judge_plausibility

    features, searched, rules = look.rectification, look.searched, run.settings.rectification
    assert searched is not None
    with run.stage("matching"):
        found = _found(run, searched, find)
        if not np.isfinite(found.disparity).any():
            raise InputError(
                f"{', '.join(run.names)}: no pixel could be matched{_why_unmatched(run)}"
            )
        pair = run.left, run.right
        doubts = doubts_about(found, searched, features, pair, is_dark=run.is_dark)
        if run.matching.method == "network":  # it searches nothing, and always finds something
            searched = range_of(found.disparity)
            doubts = doubts or tuple(doubts_of_map(found.disparity, run.grey))
        judge_plausibility(doubts, found.disparity, features, rules, run.names)
        weights = pixel_weights(found.disparity, found.confidence, run.settings)
    found_all = found.disparity, weights, searched, features, found, doubts
    return InitialMatches(*found_all, finer=run.grid)


def take_disparity(run: PairRun, look: FirstLook, disparity: Any, valid: Any) -> InitialMatches:
    """Check the user's initial disparity."""
    from slanted.matching.plausibility import (
        doubts_of_features,
        doubts_of_map,
        judge_plausibility,
    )
    from slanted.matching.user_disparity import disparity_from_user

    if (least := run.settings.confidence.min) > 0:
        raise InputError(
            "confidence.min: expected 0, since a disparity of your own has no confidence, got "
            f"{least}; leave out the threshold"
        )
    with run.stage("matching"):
        below_zero, size = run.settings.matching.min_disparity < 0, run.left.shape[:2]
        given = disparity_from_user(disparity, size, valid=valid, allow_negative=below_zero)
        features = look.rectification
        doubts = tuple(doubts_of_features(features) or doubts_of_map(given, run.grey))
        judge_plausibility(doubts, given, features, run.settings.rectification, run.names)
    weights = pixel_weights(given, None, run.settings)
    return InitialMatches(given, weights, None, features, doubts=doubts)


def pixel_weights(
    disparity: NDArray[np.float32], confidence: NDArray[np.float32] | None, settings: Settings
) -> NDArray[np.float32] | None:
    """Return how much each match counts: its confidence, scaled to 1 on average over F."""
    import numpy as np

    if not settings.model.pixel_weights:
        return None
    if confidence is None:
        raise InputError(
            "model.pixel_weights: expected a matcher that returns a confidence, such as "
            "census, got one that does not, or a disparity of your own; switch it off"
        )
    known = np.isfinite(disparity)
    mean = float(confidence[known].mean())
    return np.where(known, confidence / np.float32(mean), np.float32(0)) if mean > 0 else None


def guided_search(run: PairRun, searched: DisparityRange) -> Find | None:
    """Return a search that smaller pairs guide; None to search the whole range."""
    from slanted.matching.guided_sgm import expect, find_expected, is_guided

    if not is_guided(run.matching, searched) or run.finer > 1:
        return None
    return partial(find_expected, expected=expect(*run.grey, searched, run.matching))


def _found(run: PairRun, searched: DisparityRange, find: Find | None) -> Matches:
    """Return what the matcher finds, in bands if the image is large."""
    from slanted.matching import Matches
    from slanted.matching.finer import find_finer

    if run.tiled is None:
        known = run.matching, searched, run.finer
        # The greys of enlarged colours are not those of enlarged greys.
        in_grey = run.matching.method == "census" and run.finer == 1
        left, right = run.compared if in_grey else (run.left, run.right)
        return find_finer(left, right, *known, find or guided_search(run, searched))
    if run.matching.method == "network":
        raise InputError(
            "matching.method: a network sees an image as a whole, not in tiles; raise "
            "tiles.above, make the images smaller or choose another matcher"
        )
    return Matches(*run.tiled.match(run.left, run.right, run.matching, searched))


def _why_unmatched(run: PairRun) -> str:
    """Return the rest of a sentence: why no pixel could be matched, and what to do."""
    from slanted.images.checks import size_text

    patch, pixels = run.matching.speckle_size, run.left.shape[0] * run.left.shape[1]
    if pixels * run.finer**2 <= patch:
        return (
            f", since matching.speckle_size drops all matches in patches of up to {patch} px, and "
            f"images of {size_text(run.left)} pixels have no larger ones; give larger images or "
            "lower it (0 keeps all)"
        )
    return (
        "; check that no image is all black or white, that both show one scene, and that the "
        "range covers it"
    )
