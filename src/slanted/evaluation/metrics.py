"""Error metrics of a disparity map, each named after its rule.

Benchmarks count "bad pixels" in different ways, and papers call all of them "error"; here the name
of a metric says which rule was used and over which pixels:

============== ==================================================================================
``out-kpx``    percent of ground-truth pixels with an error greater than k pixels, k = 1 … 5
               (KITTI 2012, Middlebury "bad k")
``D1``         percent of ground-truth pixels with an error greater than 3 pixels and greater than
               5 % of the true disparity (KITTI 2015)
``epe``        mean absolute error in pixels, over the pixels that have an estimate
``rms``        root of the mean squared error in pixels, over the pixels that have an estimate
``density``    percent of ground-truth pixels that have an estimate
============== ==================================================================================

``-noc`` counts the pixels visible in both views, ``-all`` every pixel with ground truth. A
ground-truth pixel *without* an estimate counts as an outlier in ``out-kpx`` and ``D1``; otherwise a
matcher could score well by leaving out what is difficult. KITTI fills such holes first; to score as
it does, pass the result of :func:`slanted.matching.interpolation.interpolate_background`.

References
----------
.. [1] A. Geiger, P. Lenz, R. Urtasun, "Are we ready for autonomous driving? The KITTI vision
   benchmark suite", CVPR 2012.
.. [2] M. Menze, A. Geiger, "Object scene flow for autonomous vehicles", CVPR 2015.
.. [3] D. Scharstein, R. Szeliski, "A taxonomy and evaluation of dense two-frame stereo
   correspondence algorithms", IJCV 47, 2002.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from slanted.errors import InputError
from slanted.evaluation.region import Region
from slanted.images.checks import as_disparity_map, check_disparity_map

OUTLIER_THRESHOLDS = (1, 2, 3, 4, 5)
D1_PIXELS = 3.0
D1_ONE_IN = 20.0  # 5 % is one in 20; a whole number makes the comparison below exact

PIXELS_AT_A_TIME = 2**20
"""Pixels scored at a time, because errors in float64 take ten times the memory of the maps."""

_RULES = (*(f"out-{k}px" for k in OUTLIER_THRESHOLDS), "D1", "epe", "rms", "density")
_REGIONS = ("noc", "all")

METRIC_NAMES: tuple[str, ...] = tuple(f"{rule}-{region}" for rule in _RULES for region in _REGIONS)
"""Every key that :func:`evaluate` can return, in its order."""

Floats = npt.NDArray[np.float64]


def evaluate(
    disparity: npt.ArrayLike,
    ground_truth: npt.ArrayLike,
    *,
    ground_truth_noc: npt.ArrayLike | None = None,
    region: Region | None = None,
) -> dict[str, float]:
    """Score a disparity map against ground truth.

    Parameters
    ----------
    disparity
        (H, W) estimate in pixels, NaN where unknown.
    ground_truth
        (H, W) true disparity in pixels, NaN where unknown.
    ground_truth_noc
        What is visible in both views: either a second ground-truth map, whose own values are used
        as in the KITTI development kit, or a Boolean mask of `ground_truth`. Without it the result
        has no ``-noc`` keys.
    region
        The rectangle to score; by default the whole image.

    Returns
    -------
    The keys of `METRIC_NAMES` that apply, in that order; see the module for each rule. ``epe`` and
    ``rms`` are NaN where no ground-truth pixel has an estimate.

    Raises
    ------
    InputError
        If sizes differ, a ground truth holds no known pixel, or the region is not inside.

    Notes
    -----
    Errors equal to a threshold are not outliers. The arithmetic is float64; the development kit
    divides in float32, where an error of exactly 5 % may round to either side.

    Examples
    --------
    >>> import numpy as np
    >>> from slanted.evaluation.metrics import evaluate
    >>> truth = np.array([[10.0, 20.0, 30.0, np.nan]])
    >>> evaluate(truth + [[0, 1, 5, 0]], truth)["epe-all"]
    2.0
    """
    estimate = check_disparity_map(disparity, "disparity")
    truth = check_disparity_map(ground_truth, "ground_truth", estimate.shape)
    if region is not None:
        estimate, truth = region.of(estimate), region.of(truth)
        if np.isnan(truth).all():
            raise InputError(
                "region: expected a rectangle in which some ground truth is known, got "
                f"{','.join(map(str, region))}, in which none is; choose another"
            )
    scores = {"all": _scores(estimate, truth, None, "ground_truth")}
    if ground_truth_noc is not None:
        noc = np.asarray(ground_truth_noc)
        is_mask = noc.dtype == np.bool_
        noc = noc.view(np.uint8) if is_mask else noc
        noc = check_disparity_map(noc, "ground_truth_noc", np.shape(ground_truth))
        noc = noc if region is None else region.of(noc)
        seen, mask = (truth, noc) if is_mask else (noc, None)
        scores["noc"] = _scores(estimate, seen, mask, "ground_truth_noc")
    return {
        f"{rule}-{region}": scores[region][rule]
        for rule in _RULES
        for region in _REGIONS
        if region in scores
    }


def mean_metrics(frames: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over frames, every frame with the same weight.

    A frame that lacks a metric, or has NaN for it (``epe`` of an empty estimate), is left out of
    the mean of that metric alone; a metric that no frame has as a number is NaN.

    Parameters
    ----------
    frames
        One result of :func:`evaluate` per frame.

    Raises
    ------
    InputError
        If there are no frames.
    """
    if not frames:
        raise InputError(
            "frames: expected the metrics of at least one frame, got none; evaluate one first."
        )
    means: dict[str, float] = {}
    for name in dict.fromkeys(name for frame in frames for name in frame):
        values = np.array([frame[name] for frame in frames if name in frame], dtype=np.float64)
        values = values[~np.isnan(values)]
        means[name] = float(values.mean()) if values.size else float("nan")
    return means


def is_d1_outlier(error: Floats, target: Floats) -> npt.NDArray[np.bool_]:
    """Return which absolute errors are outliers by the rule of ``D1``, given true disparities."""
    # A product instead of a ratio is exact at 5 % and defined where the true disparity is 0.
    return np.asarray((error > D1_PIXELS) & (D1_ONE_IN * error > np.abs(target)))


@dataclass
class _Tally:
    """Counts and sums over the ground-truth pixels seen so far."""

    counted: int = 0
    known: int = 0
    outliers: dict[str, int] = field(default_factory=dict)
    errors: list[float] = field(default_factory=list)
    squares: list[float] = field(default_factory=list)
    """Sums of absolute and squared errors, of each part of the image."""

    def add(self, estimate: Floats, truth: Floats) -> None:
        """Apply every rule to the known pixels of `truth`."""
        is_counted = ~np.isnan(truth)
        target = truth[is_counted]
        error = np.abs(estimate[is_counted] - target)
        is_known = ~np.isnan(error)
        known_error = error[is_known]
        self.counted += len(target)
        self.known += len(known_error)
        self.errors.append(float(known_error.sum()))
        self.squares.append(float(np.square(known_error).sum()))
        error[~is_known] = np.inf  # counts as an outlier at every threshold
        is_outlier = {f"out-{k}px": error > k for k in OUTLIER_THRESHOLDS}
        is_outlier["D1"] = is_d1_outlier(error, target)
        for rule, selected in is_outlier.items():
            self.outliers[rule] = self.outliers.get(rule, 0) + int(np.count_nonzero(selected))

    def scores(self) -> dict[str, float]:
        """Return every metric of `_RULES`."""
        scores = {rule: 100.0 * count / self.counted for rule, count in self.outliers.items()}
        known = self.known or math.nan
        scores["epe"] = math.fsum(self.errors) / known
        scores["rms"] = math.sqrt(math.fsum(self.squares) / known)
        scores["density"] = 100.0 * self.known / self.counted
        return scores


def _scores(
    estimate: npt.NDArray[Any], truth: npt.NDArray[Any], mask: npt.NDArray[Any] | None, name: str
) -> dict[str, float]:
    """Apply every rule over the known pixels of `truth`, or of those in a mask."""
    tally = _Tally()
    step = max(1, PIXELS_AT_A_TIME // estimate.shape[1])
    for first in range(0, len(estimate), step):
        rows = slice(first, first + step)
        target = as_disparity_map(truth[rows], name)
        if mask is not None:
            target[mask[rows] == 0] = np.nan
        tally.add(as_disparity_map(estimate[rows], "disparity"), target)
    if not tally.counted:
        raise InputError(
            f"{name}: expected at least one known pixel, got a map that is unknown "
            "everywhere; check the file and its format."
        )
    return tally.scores()
