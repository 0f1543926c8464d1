"""Which matches to believe: trees judge the matcher's first choices in place of its filters.

They do so when the first planes are known, which tell more of a match than the matcher does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.pixels import bands_of_features, interpolated
from slanted.confidence.scene import Choices, Seen
from slanted.matching.census_sgm import take_medians
from slanted.matching.out_of_view import drop_impossible
from slanted.model.evidence import Judgement
from slanted.model.planes import lowest_disparity
from slanted.runtime.threads import share

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
    matches = np.empty_like(kept)

    def choose(first: int, last: int) -> None:
        rows = slice(first, last)
        passes = np.isfinite(kept[rows])
        limit = np.where(passes, np.float32(rules.most_doubt), np.float32(rules.add_doubt))
        chosen = np.where(passes, kept[rows], judgement.disparity[rows])
        matches[rows] = np.where(judgement.doubt[rows] <= limit, chosen, unknown)

    share(len(kept), choose)
    drop_impossible(matches, None, settings.matching)
    # Trees that doubt every match know nothing of such a pair.
    return matches if np.isfinite(matches).any() else kept


def judge_matches(
    choices: Choices, regions: Regions, inference: Inference, settings: Settings, forest: Forest
) -> Judgement:
    """Judge the first choices of a matcher.

    Parameters
    ----------
    choices
        From `first_choices`.
    regions, inference
        Segments, and planes that were found from the filtered matches.
    settings
        All parameters.
    forest
        The trees of matches.
    """
    seen = Seen.first_choices(choices, regions, inference)
    doubt = np.empty_like(seen.disparity)
    low = lowest_disparity(settings)
    for core, inside, features in bands_of_features(seen, regions, inference, low):
        shape = core.stop - core.start, doubt.shape[1]
        doubt[core] = interpolated(forest.probability(features), inside, shape)
    return Judgement(choices.disparity, choices.kept, doubt, choices.agrees, choices.margin)


def first_choices(found: Matches, grey: GreyPair) -> Choices | None:
    """Return what is known of a matcher's first choices before any planes; None if it tells none.

    Parameters
    ----------
    found
        What the matcher found.
    grey
        Both views in 8-bit grey.
    """
    if found.winner is None or found.agrees is None or found.margin is None:
        return None
    winner = found.winner.copy()
    take_medians(winner, MEDIAN)
    return Choices.of(winner, found.disparity, found.agrees, found.margin, grey)
