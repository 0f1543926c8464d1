"""Which matches to believe: trees judge the matcher's first choices in place of its filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.match_features import MATCH_FEATURES, MatchInputs, match_features
from slanted.matching.census_sgm import take_medians
from slanted.matching.out_of_view import drop_impossible
from slanted.matching.sgm_paths import volume

if TYPE_CHECKING:
    from slanted.confidence.forest import Forest
    from slanted.images import GreyPair
    from slanted.matching import DisparityRange, Matches
    from slanted.runtime.arrays import DisparityMap
    from slanted.settings import Settings

MEDIAN = 5
"""Side of the median filter that smooths the first choices."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """The matcher's first choices, and how likely each is wrong."""

    disparity: DisparityMap
    """(H, W) pixels, known everywhere."""
    kept: DisparityMap
    """(H, W) those that pass the matcher's filters, NaN elsewhere."""
    doubt: DisparityMap
    """(H, W) the probability that the first choice is wrong."""

    def believed(self, settings: Settings) -> DisparityMap:
        """Return the matches to use, NaN elsewhere.

        A match that the filters keep is used unless it is doubtful, and one that they drop only if
        there is hardly any doubt.
        """
        rules, unknown = settings.confidence, np.float32(np.nan)
        passes = np.isfinite(self.kept)
        limit = np.where(passes, np.float32(rules.most_doubt), np.float32(rules.add_doubt))
        chosen = np.where(passes, self.kept, self.disparity)
        believed = np.where(self.doubt <= limit, chosen, unknown)
        drop_impossible(believed, None, settings.matching)
        # Trees that doubt every match know nothing of such a pair.
        return believed if np.isfinite(believed).any() else self.kept


def judge(
    found: Matches, grey: GreyPair, searched: DisparityRange, forest: Forest
) -> Judgement | None:
    """Judge the first choices of a matcher; None if it does not tell them."""
    inputs = inputs_of(found, grey, searched)
    if inputs is None:
        return None
    # The volume of matching is free by now, and new memory would take longer than the features.
    with volume((len(MATCH_FEATURES), *inputs.winner.shape), np.float32) as features:
        match_features(inputs, features)
        return Judgement(inputs.winner, inputs.kept, forest.probability(features))


def inputs_of(found: Matches, grey: GreyPair, searched: DisparityRange) -> MatchInputs | None:
    """Return what the features need, or None if the matcher does not tell it."""
    if found.winner is None or found.agrees is None or found.margin is None:
        return None
    if not np.isfinite(found.disparity).any():
        return None
    winner = found.winner.copy()
    take_medians(winner, MEDIAN)
    maps = winner, found.agrees, found.margin, found.disparity
    return MatchInputs(*maps, grey, searched.low)
