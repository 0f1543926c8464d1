"""A frame that follows another: what the last one told is not found out again.

The rectification is the last frame's, unless that was decided by a hair, and so is a range of
disparities that was found, unless a coarse match finds something nearer. Every part of the image
searches what the coarse match finds there and what the last frame's planes expect, so that what is
new is found as well. Planes of the last frame are among the particles of the solver.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.matching import DisparityRange
from slanted.matching.disparity_range import MARGIN, STEP, SUPPORT, disparity_range, widest_range
from slanted.matching.guided_sgm import find_expected, match_coarsely
from slanted.matching.rectification import decide_correction, measure_rectification
from slanted.matching.search_grid import THIN
from slanted.pipeline import explain
from slanted.stages import FirstLook
from slanted.stages.after_matching import cut_segments
from slanted.stages.matching import match
from slanted.stream.planes import choose_planes, infer_less

if TYPE_CHECKING:
    from slanted.matching import Matches
    from slanted.matching.finer import Find
    from slanted.matching.rectification import RectificationCheck
    from slanted.result import Result
    from slanted.runtime.arrays import DisparityMap
    from slanted.stages.pair_run import PairRun
    from slanted.stream.last_frame import LastFrame

SAME, SAME_SHARE = 4.0, 0.15
"""A coarse match this close to the last frame's disparity, in pixels or as a share of it, tells
nothing new."""
NEARLY = 0.8
"""Rows that are off by this share of what is put right are measured again in the next frame."""
CUT = 0.5
"""Share of coarse matches that tell something new from which on a frame follows nothing."""
FALLEN = 0.75
"""A frame with fewer matches than this share of the last frame's is not trusted."""
BEYOND = 3.0
"""Disparities, in pixels, that are searched beyond what coarse match and last planes expect. Of the
coarse match only what passes its filters is searched: the last planes tell the rest."""
OBSERVED_EVERY = 2
"""Energies are estimated from one pixel in so many: the last frame's planes are nearly right. With
one in three, D1 of pans over KITTI's frames is 3.9 % instead of 3.6 %."""
JUDGED_EVERY = 2
"""The confidence is judged at one in so many of the rows and columns where a single pair's is. Its
AUC on pans over KITTI's frames is 0.950 instead of 0.954."""


class UnlikeError(Exception):
    """Says why a frame does not follow the last one."""


def follow(run: PairRun, last: LastFrame) -> Result:
    """Estimate a frame with what the last one told.

    Raises
    ------
    UnlikeError
        If the frame is so different that it must be estimated by itself.
    """
    if run.left.shape[:2] != last.shape:
        raise UnlikeError("its size is another")
    if run.calibration != last.calibration:
        raise UnlikeError("its cameras are others")
    with run.stage("first look"):
        check = _rectification(run, last)
    if check is not last.rectification and check is not None and check.corrected:
        raise UnlikeError("its rows are put right from now on")
    run = run.straightened(check)
    run = replace(run, previous_frame=last.surfaces)
    if run.tiled is None:
        run = replace(run, begin=choose_planes, solve=infer_less)
        run = replace(run, observed_every=OBSERVED_EVERY, judged_every=JUDGED_EVERY)
    with run.stage("first look"):
        coarse, before = _look(run, last), last.thinned(run.finer)
        _refuse_cut(coarse, before)
        searched = _searched(run, coarse, last)
    look = FirstLook(check, searched)
    run.prepare_views()
    matches = match(run, look, _search(run, coarse, before))
    share = float(np.isfinite(matches.disparity).mean())
    if share < FALLEN * last.matched:
        raise UnlikeError(f"only {share:.0%} of it was matched, after {last.matched:.0%}")
    # Planes on a coarser grid have small superpixels already.
    known = None if run.coarser > 1 else cut_segments(run, matches, coarsely=_may_be_coarse(run))
    return explain(run, matches, superpixels=known)


def _rectification(run: PairRun, last: LastFrame) -> RectificationCheck | None:
    """Return the last frame's check, or a new one where that was close.

    What decided against straightening by a hair would decide for all frames to come: on a KITTI
    frame with rows that are off by 0.299 px, D1 was 7.7 % for the next one instead of 4.7 %.
    """
    check, rules = last.rectification, run.settings.rectification
    if check is None or check.warp is None or check.corrected or rules.correct != "auto":
        return check
    if check.warp.rms < NEARLY * rules.correct_above:
        return check
    found = measure_rectification(*run.compared, run.settings.matching.min_disparity)
    return decide_correction(found, run.left, rules) or check


def _search(run: PairRun, coarse: Matches, before: DisparityMap) -> Find | None:
    """Return a search of what is expected; None for matchers that know whole ranges only."""
    if run.matching.method != "census" or run.tiled is not None:
        return None
    return partial(find_expected, expected=[coarse.disparity, before], margin=BEYOND)


def _may_be_coarse(run: PairRun) -> bool:
    """Return whether refinement will move the boundaries of superpixels of half the size."""
    is_slic = run.settings.segmentation.method in ("slic", "slic+disparity")
    return is_slic and run.tiled is None and run.settings.refinement.rounds > 0


def _look(run: PairRun, last: LastFrame) -> Matches:
    """Match a frame coarsely, over all that may be there: what comes near comes suddenly."""
    if _is_given(run):
        searched = disparity_range(run.left, run.right, run.settings.matching)
        return match_coarsely(*run.grey, searched, run.matching, run.finer)
    low, width = run.settings.matching.min_disparity, run.left.shape[1]
    searched = DisparityRange(low, max(last.searched.high, widest_range(width, low).high))
    found = match_coarsely(*run.grey, searched, run.matching, run.finer)
    # The matcher repeats the border of the right image, whose matches are meaningless.
    columns = np.arange(found.disparity.shape[1], dtype=np.float32) * THIN
    disparity = np.where(found.disparity > columns, np.float32(np.nan), found.disparity)
    return replace(found, disparity=disparity)


def _is_given(run: PairRun) -> bool:
    """Return whether the settings alone tell the range."""
    return run.settings.matching.max_disparity is not None


def _refuse_cut(coarse: Matches, before: DisparityMap) -> None:
    """Raise an error if most coarse matches are far from what the last frame expects."""
    known = np.isfinite(coarse.disparity)
    away = np.abs(coarse.disparity - before)[known]
    new = float(np.mean(away > np.maximum(SAME, SAME_SHARE * before[known]))) if away.size else 1.0
    if new > CUT:
        raise UnlikeError(f"{new:.0%} of it is new")


def _searched(run: PairRun, coarse: Matches, last: LastFrame) -> DisparityRange:
    """Return the range of a frame; one that was found grows if enough is nearer than its end."""
    if _is_given(run) or run.matching.method == "network":  # of which the last map tells nothing
        return disparity_range(run.left, run.right, run.settings.matching)
    searched = last.searched
    known = np.sort(coarse.disparity[np.isfinite(coarse.disparity)])
    needed = max(1, int(SUPPORT * coarse.disparity.size))
    if known.size < needed:
        return searched
    reach = float(known[-needed]) / run.finer + 1 - searched.low
    if reach <= len(searched):
        return searched
    count = int(np.ceil(reach * MARGIN / STEP)) * STEP
    return DisparityRange(searched.low, min(searched.low + count, run.left.shape[1]))
