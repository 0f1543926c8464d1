"""The stages of a run up to inference, and what they share: the checked pair and its options."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.settings import MatchingSettings, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.confidence.forest import Forest
    from slanted.confidence.weights import Weights
    from slanted.images import GreyPair, Image
    from slanted.images.given import Channels
    from slanted.inference.outcome import Inference, Watch
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.io import Calibration
    from slanted.io.calibration_files import CalibrationLike
    from slanted.matching import DisparityRange, Matches
    from slanted.matching.finer import Find
    from slanted.matching.rectification import RectificationCheck
    from slanted.model.evidence import Evidence, Judgement
    from slanted.model.user_potential import Potential
    from slanted.refinement.refine import Judge
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import Bytes
    from slanted.runtime.workers import Backend
    from slanted.tiles.stages import TiledStages

RANGE_HOLDS = 1.0
"""The range is found again if the right view was moved by more than this many pixels."""

Progress = Callable[[str], None]
"""Called with a stage's name when it starts."""


class Stages:
    """Names and times the stages of a run; a stage that runs again adds to its time."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time what the block does."""
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, eq=False)
class InitialMatches:
    """The initial disparity and how it was found."""

    disparity: NDArray[np.float32]
    """(H, W) D(p), NaN outside F."""
    pixel_weights: NDArray[np.float32] | None
    """(H, W) how much each match counts; None if all count alike."""
    searched: DisparityRange | None
    """The disparities that were searched; None for a disparity of the user's own."""
    rectification: RectificationCheck | None
    """What the check of the pair found."""
    found: Matches | None = None
    """What the matcher found before its filters; None for a disparity of the user's own."""
    doubts: tuple[str, ...] = ()
    """What speaks against the pair, a sentence each."""
    finer: float = 1
    """How many times finer than the image the grid of its model is."""

    def as_found(self) -> Matches:
        """Return these matches as a matcher would."""
        from slanted.matching import Matches

        return Matches(self.disparity, self.pixel_weights)


@dataclass(frozen=True)
class FirstLook:
    """What is known of a pair before it is matched."""

    rectification: RectificationCheck | None
    """What its features show; None if there are too few, or nothing was checked."""
    searched: DisparityRange | None
    """The disparities to search; None if none are."""


@dataclass(frozen=True, eq=False)
class PairRun:
    """A checked pair, the options of its run, and the stages up to inference."""

    left: Image
    right: Image
    names: tuple[str, str]
    """What errors and warnings call the images."""
    settings: Settings
    matching: MatchingSettings
    """The settings of matching, which follow the noise of the pair."""
    stage: Stages
    tiled: TiledStages | None
    """How a large image is processed in parts; None for others."""
    match_trees: Forest | None = None
    """What judges matches; None if the matcher's filters do."""
    pixel_trees: Weights | None = None
    """What judges disparities; None if nothing does."""
    potential: Potential | None = None
    is_dark: bool = False
    """Whether the pair was so dark that it was brightened."""
    previous_frame: PreviousFrame | None = None
    watch: Watch | None = None
    begin: Callable[..., Inference] | None = None
    """What finds the first planes; see `slanted.refinement.refine.PlaneSearch`."""
    solve: Callable[..., Inference] | None = None
    """What infers planes in place of `slanted.inference.pcbp.infer`."""
    observed_every: int = 1
    """Energies are estimated from one pixel in so many."""
    judged_every: int = 1
    """The confidence is that of one in so many of the rows and columns that trees could judge."""
    given: tuple[Image | None, Image | None] = (None, None)
    """The pair before it was brightened, calmed and straightened, for the result."""
    calibration: Calibration | None = None
    is_coarse: bool = False
    """Whether this is the run of a smaller pair; see `slanted.pipeline.coarser`."""

    def __post_init__(self) -> None:
        if self.tiled is not None and self.potential is not None:
            raise InputError(
                "potential: images in tiles cannot have one; raise tiles.above to "
                "work on the image as a whole"
            )
        last = self.previous_frame
        if last is not None and last.label_image.shape != self.left.shape[:2]:  # another camera
            object.__setattr__(self, "previous_frame", None)

    @property
    def band_pixels(self) -> int | None:
        """Pixels of the bands in which the image is segmented; None if it is done at once."""
        return None if self.tiled is None else self.tiled.band_pixels(self.left)

    @cached_property
    def grey(self) -> GreyPair:
        """Both views in 8-bit grey, made once: a pair of 16 bits takes a quantile to reduce."""
        from slanted.images.colour import grey_pair

        return grey_pair(self.left, self.right)

    @cached_property
    def lab(self) -> Bytes | None:
        """(3, H, W) 8-bit Lab planes of the left view; None if it is too large to keep them."""
        from slanted.images.colour import lab_planes

        return lab_planes(self.left) if self.tiled is None else None

    @cached_property
    def finer(self) -> int:
        """How many times finer than the image the grid is on which it is matched."""
        from slanted.settings.grid import times_finer

        return times_finer(self.left.shape[0] * self.left.shape[1], self.settings)

    @cached_property
    def coarser(self) -> int:
        """How many times smaller the pair is on which segments and planes are found."""
        from slanted.settings.grid import times_coarser

        if self.is_coarse or self.tiled is not None or self.potential is not None:
            return 1
        return times_coarser(self.left.shape[0] * self.left.shape[1], self.settings)

    @property
    def grid(self) -> float:
        """How many times finer than the image the grid of its model is."""
        from slanted.settings.grid import model_grid

        return model_grid(self.left.shape[0] * self.left.shape[1], self.finer)

    def settings_for(self, matches: InitialMatches) -> Settings:
        """Return the settings of the stages after matching, which follow the grid of matching."""
        from slanted.settings.grid import on_finer_grid

        return on_finer_grid(self.settings, matches.finer)

    def first_look(self, *, with_range: bool = True) -> tuple[PairRun, FirstLook]:
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

        left, right, matching = self.left, self.right, self.settings.matching
        rules, low = self.settings.rectification, matching.min_disparity
        with self.stage("first look"):
            tasks: list[Callable[[], Any]] = [
                lambda: measure_rectification(left, right, low) if rules.check != "off" else None,
                lambda: disparity_range(left, right, matching) if with_range else None,
            ]
            if with_range and matching.max_disparity is None:
                found, searched = together(*tasks)
            else:  # a given range takes no time, and features may use all threads
                found, searched = (task() for task in tasks)
            found = decide_correction(found, left, rules)
            judge_rectification(found, left, right, rules, self.names)
            run = self.straightened(found)
            moved = 0.0 if found is None or found.warp is None else found.warp.rms
            if run is not self and with_range and moved > RANGE_HOLDS:
                searched = disparity_range(left, run.right, matching)
        return run, FirstLook(found, searched)

    def straightened(self, check: RectificationCheck | None) -> PairRun:
        """Return the run of the pair with the vertical warp undone, if the check decided so."""
        from slanted.matching.vertical_warp import straighten

        if check is None or check.warp is None or not check.corrected:
            return self
        return replace(self, right=straighten(self.right, check.warp))

    def match(self, look: FirstLook, find: Find | None = None) -> InitialMatches:
        """Find the initial disparity D(p) (paper §3.1), perhaps with a search of your own."""
        import numpy as np

        from slanted.matching.disparity_range import range_of
        from slanted.matching.plausibility import doubts_about, doubts_of_map, judge_plausibility

        features, searched, rules = look.rectification, look.searched, self.settings.rectification
        assert searched is not None
        with self.stage("matching"):
            found = self._found(searched, find)
            if not np.isfinite(found.disparity).any():
                raise InputError(
                    f"{', '.join(self.names)}: no pixel could be matched; check that no image is "
                    "all black or white, that both show one scene, and that the range covers it"
                )
            pair = self.left, self.right
            doubts = doubts_about(found, searched, features, pair, is_dark=self.is_dark)
            if self.matching.method == "network":  # it searches nothing, and always finds something
                searched = range_of(found.disparity)
                doubts = doubts or tuple(doubts_of_map(found.disparity, self.grey))
            judge_plausibility(doubts, found.disparity, features, rules, self.names)
            weights = self.pixel_weights(found.disparity, found.confidence)
        found_all = found.disparity, weights, searched, features, found, doubts
        return InitialMatches(*found_all, finer=self.grid)

    def _found(self, searched: DisparityRange, find: Find | None) -> Matches:
        """Return what the matcher finds, in bands if the image is large."""
        from slanted.matching import Matches
        from slanted.matching.finer import find_finer

        if self.tiled is None:
            known = self.matching, searched, self.finer
            return find_finer(self.left, self.right, *known, find or self.guided_search(searched))
        if self.matching.method == "network":
            raise InputError(
                "matching.method: a network sees an image as a whole, not in tiles; raise "
                "tiles.above, make the images smaller or choose another matcher"
            )
        return Matches(*self.tiled.match(self.left, self.right, self.matching, searched))

    def guided_search(self, searched: DisparityRange) -> Find | None:
        """Return a search that smaller pairs guide; None to search the whole range."""
        from functools import partial

        from slanted.matching.guided_sgm import expect, find_expected, is_guided

        if not is_guided(self.matching, searched) or self.finer > 1:
            return None
        return partial(find_expected, expected=expect(*self.grey, searched, self.matching))

    def judge_of(self, matches: InitialMatches) -> Judge | None:
        """Return what chooses the matches anew, with planes known; None if nothing does."""
        from slanted.confidence.belief import believed, judge_matches

        trees, found = self.match_trees, matches.found
        if trees is None or found is None or found.winner is None:
            return None

        def judge(regions: Regions, inference: Inference, evidence: Evidence) -> Evidence:
            seen = found, regions, inference, self.grey
            judged = judge_matches(*seen, self.settings, trees)
            if judged is None:
                return evidence
            disparity = believed(judged, self.settings)
            # The confidence is 0 where the filters drop a match, but trees may have added it.
            weights = self.pixel_weights(disparity, found.margin)
            chosen = replace(evidence, disparity=disparity, pixel_weights=weights, judgement=judged)
            return replace(chosen, right_disparity=None)

        return judge

    def take(self, look: FirstLook, disparity: Any, valid: Any) -> InitialMatches:
        """Check the user's initial disparity."""
        from slanted.matching.plausibility import (
            doubts_of_features,
            doubts_of_map,
            judge_plausibility,
        )
        from slanted.matching.user_disparity import disparity_from_user

        if (least := self.settings.confidence.min) > 0:
            raise InputError(
                "confidence.min: expected 0, since a disparity of your own has no confidence, got "
                f"{least}; leave out the threshold"
            )
        with self.stage("matching"):
            below_zero, size = self.settings.matching.min_disparity < 0, self.left.shape[:2]
            given = disparity_from_user(disparity, size, valid=valid, allow_negative=below_zero)
            features = look.rectification
            doubts = tuple(doubts_of_features(features) or doubts_of_map(given, self.grey))
            judge_plausibility(doubts, given, features, self.settings.rectification, self.names)
        weights = self.pixel_weights(given, None)
        return InitialMatches(given, weights, None, features, doubts=doubts)

    def pixel_weights(
        self, disparity: NDArray[np.float32], confidence: NDArray[np.float32] | None
    ) -> NDArray[np.float32] | None:
        """Return how much each match counts: its confidence, scaled to 1 on average over F."""
        import numpy as np

        if not self.settings.model.pixel_weights:
            return None
        if confidence is None:
            raise InputError(
                "model.pixel_weights: expected a matcher that returns a confidence, such as "
                "census, got one that does not, or a disparity of your own; switch it off"
            )
        known = np.isfinite(disparity)
        mean = float(confidence[known].mean())
        return np.where(known, confidence / np.float32(mean), np.float32(0)) if mean > 0 else None

    def gather(self, matches: InitialMatches) -> Evidence:
        """Return the evidence of the pair that the settings make use of."""
        from slanted.images.census import census_of_pair
        from slanted.model.evidence import Evidence

        photometric = self.settings.model.weights.pho > 0
        with self.stage("evidence"):
            wanted = photometric or self.settings.refinement.rim_width > 0
            grey = self.grey if wanted else None
            # Tiles make their own census words, one tile at a time.
            census = census_of_pair(grey) if grey and photometric and self.tiled is None else None
        return Evidence(
            matches.disparity,
            matches.pixel_weights,
            left=self.left,
            grey=grey,
            census=census,
            lab_planes=self.lab if self.settings.refinement.rounds else None,
            potential=self.potential,
        )

    def judge(
        self,
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
        from slanted.model.drawing import drawn_range

        disparity, matched, _ = maps
        if (trees := self.pixel_trees) is None:
            return disparity, None, None
        with self.stage("confidence"):
            seen, settings = (maps, regions, inference, self.grey), self.settings_for(matches)
            asked = self.settings, trees, judgement, self.judged_every
            confidence, deviation = judge_pixels(*seen, *asked)
            limits = drawn_range(settings, matches.searched, matched)
            sure = disparity, matched, confidence
            return add_relief(sure, settings.model.relief, *limits), confidence, deviation

    def follow(
        self,
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

        near = self.settings_for(matches).model.follow
        if near == 0 or self.tiled is not None:
            return disparity
        with self.stage("drawing"):
            census = evidence.census or census_of_pair(self.grey)
            return follow_matches(disparity, matched, regions, census, near)

    def segment(
        self,
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
        rules = self.settings_for(matches).segmentation
        if rules.count is None and matches.searched is not None:
            pixels = self.left.shape[0] * self.left.shape[1]
            rules = replace(rules, count=automatic_count(round(pixels * matches.finer**2)))
        with self.stage("segmentation"):
            if coarsely:
                return segment_coarsely(self.left, rules, matches.disparity)
            bands = self.band_pixels
            return segment(self.left, rules, matches.disparity, band_pixels=bands, lab=self.lab)

    def take_segments(self, segments: Any) -> NDArray[np.int32]:
        """Check the user's segments."""
        from slanted.partition.label_image import label_image_from_user

        with self.stage("segmentation"):
            return label_image_from_user(segments, self.left.shape[:2])


@contextmanager
def prepare(
    left: Any,
    right: Any,
    settings: Settings | None,
    progress: Progress | None,
    names: tuple[str, str] = ("left", "right"),
    backend: Backend | None = None,
    calibration: CalibrationLike | None = None,
    channels: Channels = "rgb",
) -> Iterator[PairRun]:
    """Check a pair, read the trees that judge it, and limit the threads while its stages run."""
    from slanted.confidence.weights import weights_of
    from slanted.images.checks import check_pair
    from slanted.images.colour import brightened
    from slanted.images.given import message_names
    from slanted.io.calibration_files import calibration_from_user
    from slanted.matching.noise import calmed
    from slanted.runtime.threads import thread_limit
    from slanted.tiles.stages import tiles_of

    settings = settings or Settings()
    names = message_names(left, right, names)
    # The result keeps the pair, which must not change when the caller reuses the arrays.
    checked = check_pair(left, right, names, channels, own=True)
    if calibration is not None:
        calibration = calibration_from_user(calibration, checked[0].shape[:2])
    trees = weights_of(settings.confidence)
    with thread_limit(settings.threads) as threads:
        left, right = brightened(*checked)
        is_dark = left is not checked[0]
        left, right, matching = calmed(left, right, settings.matching)
        tiled = tiles_of(left, settings, threads, backend)
        yield PairRun(
            *(left, right, names, settings, matching, Stages(progress), tiled),
            match_trees=None if trees is None else trees.matches,
            pixel_trees=trees,
            is_dark=is_dark,
            given=checked,
            calibration=calibration,
        )
