"""Error against density: how the error falls if the least confident pixels are left out.

Pixels are ordered by confidence. The *sparsification curve* is the share of wrong pixels among the
most confident q %, for q = 100, 95, …, 5; a good confidence makes it fall fast. The *oracle* is the
curve of the best possible order, which leaves out the wrong pixels first. *AUSE*, the area between
the two, is the mean of their difference over these q. *AUC* is the probability that a wrong
pixel has a lower confidence than a right one, the area under the ROC curve of finding wrong pixels.

Pixels of equal confidence count alike: a cut through them takes the same share of the wrong and of
the right ones, and in the AUC they count half.

References
----------
.. [1] E. Ilg et al., "Uncertainty estimates and multi-hypotheses networks for optical flow",
   ECCV 2018, for the oracle and AUSE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slanted.runtime.arrays import Flags, Floats

DENSITIES = tuple(range(100, 0, -5))
"""Percent of the pixels that are kept, at the points of a curve."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Numbers of pixels, and of wrong ones among them, for each confidence that occurs."""

    confidence: Floats
    """(K,) in descending order."""
    total: Floats
    """(K,) pixels of that confidence."""
    wrong: Floats
    """(K,) how many of them are wrong."""

    def error(self) -> Floats:
        """Return the percentage of wrong pixels among the most confident, by `DENSITIES`."""
        kept = np.array(DENSITIES) / 100 * self.total.sum()
        counts = np.append(0.0, np.cumsum(self.total)), np.append(0.0, np.cumsum(self.wrong))
        return np.asarray(100 * np.interp(kept, *counts) / kept)

    def oracle(self) -> Floats:
        """Return `error` if wrong pixels were left out first."""
        everything = self.total.sum()
        kept = np.array(DENSITIES) / 100 * everything
        right = everything - self.wrong.sum()
        return np.asarray(100 * np.maximum(kept - right, 0) / kept)

    def area(self) -> float:
        """Return AUSE, in percentage points."""
        return float((self.error() - self.oracle()).mean())

    def auc(self) -> float:
        """Return the AUC of wrong pixels; NaN if all pixels are right, or all are wrong."""
        right = self.total - self.wrong
        pairs = right.sum() * self.wrong.sum()
        if pairs == 0:
            return math.nan
        above = np.cumsum(right) - right
        return float(((above + right / 2) * self.wrong).sum() / pairs)


def rank(confidence: Floats, is_wrong: Flags) -> Ranking:
    """Count pixels by confidence.

    Parameters
    ----------
    confidence
        (N,) any numbers; only their order matters.
    is_wrong
        (N,) whether each pixel is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> ranking = rank(np.array([0.9, 0.8, 0.1, 0.2]), np.array([False, False, True, False]))
    >>> ranking.auc(), ranking.area()
    (1.0, 0.0)
    """
    levels, place = np.unique(confidence, return_inverse=True)
    total = np.bincount(place, minlength=len(levels))
    wrong = np.bincount(place, is_wrong, len(levels))
    return Ranking(*(each[::-1].astype(np.float64) for each in (levels, total, wrong)))
