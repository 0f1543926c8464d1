"""Calibration: whether of the pixels with a confidence of 0.8 four in five are right.

Pixels are put into ten bins by confidence, 0 to 0.1, … , 0.9 to 1. The reliability diagram shows
for each bin what was said, the mean confidence, against what was found, the share of right pixels.
The *expected calibration error* (ECE) is the mean of the difference over all pixels.

References
----------
.. [1] C. Guo et al., "On calibration of modern neural networks", ICML 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slanted.runtime.arrays import Flags, Floats

BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """Sums over the pixels of each bin of confidence; those of several images can be added."""

    total: Floats
    """(10,) pixels."""
    said: Floats
    """(10,) sum of their confidence."""
    right: Floats
    """(10,) how many of them are right."""

    def mean_said(self) -> Floats:
        """Return the mean confidence of each bin; NaN for an empty one."""
        return self._mean(self.said)

    def found(self) -> Floats:
        """Return the share of right pixels of each bin; NaN for an empty one."""
        return self._mean(self.right)

    def error(self) -> float:
        """Return the expected calibration error, in percentage points."""
        return float(100 * np.abs(self.said - self.right).sum() / self.total.sum())

    def as_list(self) -> list[dict[str, float]]:
        """Return all numbers bin by bin, ready for JSON; said and found are NaN in an empty one."""
        bins = zip(self.total, self.mean_said(), self.found(), strict=True)
        return [
            {
                "from": k / BINS,
                "to": (k + 1) / BINS,
                "pixels": int(pixels),
                "said": float(said),
                "found": float(found),
            }
            for k, (pixels, said, found) in enumerate(bins)
        ]

    def _mean(self, sums: Floats) -> Floats:
        means: Floats = np.full(BINS, np.nan)
        np.divide(sums, self.total, out=means, where=self.total > 0)
        return means


def reliability(confidence: Floats, is_wrong: Flags) -> Reliability:
    """Sort pixels into bins.

    Parameters
    ----------
    confidence
        (N,) from 0 to 1; 1 belongs to the last bin.
    is_wrong
        (N,) whether each pixel is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> found = reliability(np.array([0.75, 0.75, 0.75, 0.75]), np.array([0, 0, 0, 1], bool))
    >>> found.error()
    0.0
    """
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    sums = (np.bincount(place, weight, BINS) for weight in (None, confidence, ~is_wrong))
    return Reliability(*(np.asarray(each, np.float64) for each in sums))


def pooled(parts: Sequence[Reliability]) -> Reliability:
    """Return the reliability over the pixels of several images together."""
    names = ("total", "said", "right")
    return Reliability(*(np.sum([getattr(part, name) for part in parts], axis=0) for name in names))
