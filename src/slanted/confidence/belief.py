"""Which matches to believe: trees judge the matcher's first choices in place of its filters.

They do so when the first planes are known, which tell more of a match than the matcher does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.pixels import bands_of_features, interpolated
from slanted.confidence.scene import Seen
from slanted.matching.census_sgm import take_medians
from slanted.matching.out_of_view import drop_impossible
from slanted.model.evidence import Judgement
from slanted.model.planes import lowest_disparity

if TYPE_CHECKING:
    from slanted.confidence.forest import Forest
    from slanted.images import GreyPair
    from slanted.inference.outcome import Inference
    from slanted.matching import Matches
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import DisparityMap
    from slanted.settings import Settings

MEDIAN = 5
"""Side of the median filter that smooths the first choices."""


def believed(judgement: Judgement, settings: Settings) -> DisparityMap:
    """Return the matches to use, (H, W), NaN elsewhere.

    A match that the filters keep is used unless it is doubtful, and one that they drop only if
    there is hardly any doubt.
    """
    rules, unknown, kept = settings.confidence, np.float32(np.nan), judgement.kept
    passes = np.isfinite(kept)
    limit = np.where(passes, np.float32(rules.most_doubt), np.float32(rules.add_doubt))
    chosen = np.where(passes, kept, judgement.disparity)
    matches = np.where(judgement.doubt <= limit, chosen, unknown)
    drop_impossible(matches, None, settings.matching)
    # Trees that doubt every match know nothing of such a pair.
    return matches if np.isfinite(matches).any() else kept


def judge_matches(
    found: Matches,
    regions: Regions,
    inference: Inference,
    grey: GreyPair,
    settings: Settings,
    forest: Forest,
) -> Judgement | None:
    """Judge the first choices of a matcher; None if it does not tell them.

    Parameters
    ----------
    found
        What the matcher found.
    regions, inference
        Segments, and planes that were found from the filtered matches.
    grey
        Both views in 8-bit grey.
    settings
        All parameters.
    forest
        The trees of matches.
    """
    seen = first_choices(found, regions, inference, grey)
    if seen is None or seen.agrees is None or seen.margin is None:
        return None
    doubt = np.empty_like(seen.disparity)
    low = lowest_disparity(settings)
    for core, inside, features in bands_of_features(seen, regions, inference, low):
        shape = core.stop - core.start, doubt.shape[1]
        doubt[core] = interpolated(forest.probability(features), inside, shape)
    return Judgement(seen.disparity, found.disparity, doubt, seen.agrees, seen.margin)


def first_choices(
    found: Matches, regions: Regions, inference: Inference, grey: GreyPair
) -> Seen | None:
    """Return what the features need, or None if the matcher does not tell it."""
    if found.winner is None or found.agrees is None or found.margin is None:
        return None
    winner = found.winner.copy()
    take_medians(winner, MEDIAN)
    choices = winner, found.agrees, found.margin
    return Seen.first_choices(choices, found.disparity, regions, inference, grey)
