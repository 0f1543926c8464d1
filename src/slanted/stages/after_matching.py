"""The stages after matching: segments and evidence for planes, and what to believe of a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from slanted.stages.matching import pixel_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.confidence.scene import Choices
    from slanted.inference.outcome import Inference
    from slanted.model.evidence import Evidence, Judgement
    from slanted.refinement.refine import Judge
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import DisparityMap, Flags
    from slanted.runtime.threads import Soon
    from slanted.stages import InitialMatches
    from slanted.stages.pair_run import PairRun


def cut_segments(
    run: PairRun,
    matches: InitialMatches,
    known: NDArray[np.int32] | None = None,
    *,
    coarsely: bool = False,
) -> NDArray[np.int32]:
    """Cut the left image into superpixels, (H, W), unless they are known.

    Coarse ones are cut at half the size, in a quarter of the time; refinement moves their
    boundaries to where they belong.
    """
    from slanted.segmentation import automatic_count, segment, segment_coarsely

    if known is not None:
        return known
    rules = run.settings_for(matches).segmentation
    if rules.count is None and matches.searched is not None:
        pixels = run.left.shape[0] * run.left.shape[1]
        rules = replace(rules, count=automatic_count(round(pixels * matches.finer**2)))
    with run.stage("segmentation"):
        if coarsely:
            return segment_coarsely(run.left, rules, matches.disparity)
        bands = run.band_pixels
        return segment(run.left, rules, matches.disparity, band_pixels=bands, lab=run.lab)


def take_segments(run: PairRun, segments: Any) -> NDArray[np.int32]:
    """Check the user's segments."""
    from slanted.partition.label_image import label_image_from_user

    with run.stage("segmentation"):
        return label_image_from_user(segments, run.left.shape[:2])


def gather_evidence(run: PairRun, matches: InitialMatches) -> Evidence:
    """Return the evidence of the pair that the settings make use of."""
    from slanted.model.evidence import Evidence

    with run.stage("evidence"):
        wanted = run.settings.model.weights.pho > 0 or run.settings.refinement.rim_width > 0
        grey, census = run.grey if wanted else None, run.census
    return Evidence(
        matches.disparity,
        matches.pixel_weights,
        left=run.left,
        grey=grey,
        census=census,
        lab_planes=run.lab if run.settings.refinement.rounds else None,
        potential=run.potential,
    )


class SkySearch:
    """The sky of a run's left view, looked for by a thread that is idle before it is drawn."""

    def __init__(self, run: PairRun, lowest: float) -> None:
        self._image, self._lowest = run.left, lowest
        self._wanted = run.settings.model.sky
        self._matched: DisparityMap | None = None
        self._found: Soon[Flags] | None = None

    def begin(self, matched: DisparityMap) -> None:
        """Begin to look for it, unless that was done with the same matches."""
        from slanted.model.sky import find_sky
        from slanted.runtime.threads import Soon

        if self._wanted and matched is not self._matched:
            self._matched = matched
            self._found = Soon(partial(find_sky, self._image, matched, self._lowest))

    def result(self) -> Flags | None:
        """Return the (H, W) sky of the last matches; None if it is not wanted."""
        return None if self._found is None else self._found.result()


def judge_of(run: PairRun, matches: InitialMatches, sky: SkySearch | None = None) -> Judge | None:
    """Return what chooses the matches anew, with planes known; None if nothing does.

    The `sky` is looked for as soon as they are chosen.
    """
    from slanted.confidence.belief import believed, first_choices, judge_matches
    from slanted.runtime.threads import Soon

    trees, found = run.match_trees, matches.found
    if trees is None or found is None or found.winner is None:
        return None
    choices: Callable[[], Choices | None] = partial(first_choices, found, run.grey)
    if run.tiled is None:  # a large image has no room to keep them while planes are found
        choices = Soon(choices, wait=True).result

    def judge(regions: Regions, inference: Inference, evidence: Evidence) -> Evidence:
        if (known := choices()) is None:
            return evidence
        judged = judge_matches(known, regions, inference, run.settings, trees)
        disparity = believed(judged, run.settings)
        # The confidence is 0 where the filters drop a match, but trees may have added it.
        weights = pixel_weights(disparity, found.margin, run.settings)
        if sky is not None and run.tiled is None:  # a large image has no idle thread
            sky.begin(disparity)
        chosen = replace(evidence, disparity=disparity, pixel_weights=weights, judgement=judged)
        return replace(chosen, right_disparity=None)

    return judge


def judge_disparity(
    run: PairRun,
    matches: InitialMatches,
    maps: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]],
    regions: Regions,
    inference: Inference,
    judgement: Judgement | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None, NDArray[np.float32] | None]:
    """Return the disparity of a result's maps, its confidence and its deviation.

    A `judgement` of the first choices that the result was made with tells more. The disparity
    has relief where it is sure. Without trees it is as it was, and the others are None.
    """
    from slanted.confidence.pixels import judge_pixels
    from slanted.confidence.relief import add_relief
    from slanted.matching.sgm_paths import forget_volume
    from slanted.model.drawing import drawn_range

    disparity, matched, _ = maps
    if (trees := run.pixel_trees) is None:
        return disparity, None, None
    with run.stage("confidence"):
        seen, settings = (maps, regions, inference, run.grey), run.settings_for(matches)
        asked = run.settings, trees, judgement, run.judged_every
        confidence, deviation = judge_pixels(*seen, *asked)
        if run.tiled is not None:
            forget_volume()
        limits = drawn_range(settings, matches.searched, matched)
        sure = disparity, matched, confidence
        return add_relief(sure, settings.model.relief, *limits), confidence, deviation


def follow_near_matches(
    run: PairRun,
    matches: InitialMatches,
    disparity: NDArray[np.float32],
    matched: NDArray[np.float32],
    regions: Regions,
    evidence: Evidence,
) -> NDArray[np.float32]:
    """Return the disparity of a result, with that of its matches where they are to be followed.

    Large images have their census words in tiles only, and follow none.
    """
    from slanted.images.census import census_of_pair
    from slanted.model.following import follow_matches

    near = run.settings_for(matches).model.follow
    if near == 0 or run.tiled is not None:
        return disparity
    with run.stage("drawing"):
        census = evidence.census or census_of_pair(run.grey)
        return follow_matches(disparity, matched, regions, census, near)
