"""The pipeline, from a rectified pair to a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.result import Result
from slanted.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.inference.pcbp import Watch
    from slanted.inference.previous_frame import Remembered
    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.model.user_potential import Potential
    from slanted.runtime.workers import Backend
    from slanted.tiles.stages import TiledStages

Progress = Callable[[str], None]
"""Called with a stage's name when it starts."""


def estimate(
    left: Any,
    right: Any,
    settings: Settings | None = None,
    *,
    disparity: Any = None,
    valid: Any = None,
    segments: Any = None,
    potential: Potential | None = None,
    remembered: Remembered | None = None,
    backend: Backend | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    names: tuple[str, str] = ("left", "right"),
) -> Result:
    """Estimate dense disparity, planes and boundary labels of a rectified pair.

    Parameters
    ----------
    left, right
        Images of equal size: (H, W) grey or (H, W, 3) RGB, uint8 or uint16.
    settings
        All parameters; by default the preset ``default``.
    disparity
        An initial disparity of your own, (H, W) pixels with NaN for unknown; the matcher is then
        not run.
    valid
        Mask of the pixels of `disparity` that are to be believed.
    segments
        A label image of your own, (H, W) integers; the image is then not segmented, nor are the
        segments refined.
    potential
        A potential of your own: a function that gives the cost of planes of segments, weighed by
        ``model.weights.own``; see
        `slanted.model.user_potential.Potential`. Not for images in tiles.
    remembered
        Planes of the last frame of a video, from `Result.remembered`, as proposals for this one.
    backend
        Workers for the tiles of a large image, from `slanted.runtime.workers`; by default this
        process.
    progress
        Called with each stage's name as it starts.
    watch
        Called with a `slanted.inference.pcbp.Snapshot` before and after every outer iteration;
        what it raises ends the run.
    names
        What errors and warnings call the images, such as their files.

    Returns
    -------
    Result
        Dense disparity, planes, boundary labels, energy and bound; see `slanted.Result`.

    Raises
    ------
    slanted.errors.InputError
        If an image, the disparity or the range cannot be used.

    References
    ----------
    .. [1] Yamaguchi, Hazan, McAllester, Urtasun, "Continuous Markov Random Fields for Robust Stereo
       Estimation", ECCV 2012.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> result = slanted.estimate(scene.left, scene.right)
    >>> result.disparity.shape
    (64, 96)
    >>> result.energy >= result.bound
    True
    """
    from slanted.images.checks import check_pair
    from slanted.runtime.threads import thread_limit
    from slanted.tiles.stages import tiles_of

    settings = settings or Settings()
    left, right = check_pair(left, right, names)
    stage = _Stages(progress)
    if remembered is not None and remembered.labels.shape != left.shape[:2]:
        remembered = None  # another camera: its planes mean nothing here
    with thread_limit(settings.threads) as threads:
        tiled = tiles_of(left, settings, threads, backend)
        explain = _Explanation(settings, stage, tiled, potential, remembered, watch)
        found = _match(left, right, settings, disparity, valid, stage, tiled, names)
        return explain(left, right, found, found.weights(settings), segments)


def reestimate(
    result: Result,
    left: Any,
    right: Any,
    settings: Settings,
    *,
    keep_segments: bool = False,
    potential: Potential | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Result:
    """Run all stages after matching again, with other settings, on the matches of a result.

    Parameters
    ----------
    result
        Whose matches, weights of pixels and range of disparities are kept.
    left, right
        The pair that it is of.
    settings
        All parameters; those of matching, and ``model.confidence``, change nothing.
    keep_segments
        Whether the segments are the result's, as they should be if they were given to `estimate`;
        otherwise they are found again.
    potential, progress, watch
        As for `estimate`.
    """
    from slanted.images.checks import check_pair
    from slanted.runtime.threads import thread_limit
    from slanted.tiles.stages import tiles_of

    left, right = check_pair(left, right)
    stage = _Stages(progress)
    found = _Matched(result.matched, None, result.searched, result.rectification)
    segments = result.regions.labels if keep_segments else None
    with thread_limit(settings.threads) as threads:
        tiled = tiles_of(left, settings, threads, None)
        explain = _Explanation(settings, stage, tiled, potential, None, watch)
        return explain(left, right, found, result.weights, segments)


@dataclass(frozen=True)
class _Explanation:
    """Explains matches by planes: segments, their graph, inference and refinement."""

    settings: Settings
    stage: _Stages
    tiled: TiledStages | None
    potential: Potential | None
    remembered: Remembered | None
    watch: Watch | None

    def __post_init__(self) -> None:
        if self.tiled is not None and self.potential is not None:
            raise InputError(
                "potential: images in tiles cannot have one; raise tiles.above to "
                "work on the image as a whole"
            )

    def __call__(
        self,
        left: Image,
        right: Image,
        found: _Matched,
        weights: NDArray[np.float32] | None,
        segments: Any,
    ) -> Result:
        from slanted.images.census import words_of_pair
        from slanted.model.drawing import draw_disparity, drawn_range, hidden_pixels
        from slanted.refinement.refine import infer_and_refine
        from slanted.refinement.rim import views_of_pair
        from slanted.regions import build_regions, labels_from_user
        from slanted.segmentation import segment

        settings, tiled, matched = self.settings, self.tiled, found.disparity
        bands = None if tiled is None else tiled.band_pixels(left)
        with self.stage("segmentation"):
            if segments is None:
                labels = segment(left, settings.segmentation, matched, band_pixels=bands)
            else:
                labels = labels_from_user(segments, left.shape[:2])
        with self.stage("regions"):
            first = [build_regions(labels, left, trusted=True)]
            del labels
        with self.stage("inference"):
            wanted = settings.model.weights.pho > 0 and tiled is None
            words = words_of_pair(left, right) if wanted else None
            # The largest images have no memory left for rims.
            rims = settings.refinement.rim > 0 and bands is None
            views = views_of_pair(left, right) if rims else None
            terms = None if tiled is None else tiled.terms(left, right, matched, weights)
            del right
            regions, inference = infer_and_refine(
                left,
                first.pop(),  # and keep none: they are let go when they are refined
                matched,
                settings,
                rounds=settings.refinement.rounds if segments is None else 0,
                weights=weights,
                words=words,
                own=self.potential,
                views=views,
                remembered=self.remembered,
                watch=self.watch,
                terms=terms,
            )
            limits = drawn_range(settings, found.searched, matched)
            dense = draw_disparity(regions, inference.planes, *limits)
            occluded = hidden_pixels(dense)
        return Result(
            disparity=dense,
            matched=matched,
            occluded=occluded,
            regions=regions,
            inference=inference,
            settings=settings,
            seconds=self.stage.seconds,
            searched=found.searched,
            rectification=found.rectification,
            weights=weights,
            words=words,
        )


def match_pair(
    left: Any,
    right: Any,
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
    names: tuple[str, str] = ("left", "right"),
) -> tuple[NDArray[np.float32], dict[str, float]]:
    """Run the first stages alone: check a pair, find its range and match it.

    Arguments are as for `estimate`.

    Returns
    -------
    matched
        (H, W) float32 pixels, NaN where no match was found.
    seconds
        Wall time of each stage.
    """
    from slanted.images.checks import check_pair
    from slanted.runtime.threads import thread_limit
    from slanted.tiles.stages import tiles_of

    settings = settings or Settings()
    stage = _Stages(progress)
    left, right = check_pair(left, right, names)
    with thread_limit(settings.threads) as threads:
        tiled = tiles_of(left, settings, threads, None)
        found = _match(left, right, settings, None, None, stage, tiled, names)
    return found.disparity, stage.seconds


@dataclass(frozen=True, eq=False)
class _Matched:
    """The initial disparity D(p), what was searched, and what the check of the pair found."""

    disparity: NDArray[np.float32]
    confidence: NDArray[np.float32] | None
    searched: DisparityRange | None
    rectification: RectificationCheck | None

    def weights(self, settings: Settings) -> NDArray[np.float32] | None:
        """Return how much each pixel counts: its confidence, 1 on average over F."""
        import numpy as np

        if not settings.model.confidence:
            return None
        if self.confidence is None:
            raise InputError(
                "model.confidence: expected a matcher that tells its confidence, such as census, "
                "got one that does not, or a disparity of your own; switch it off"
            )
        known = np.isfinite(self.disparity)
        mean = float(self.confidence[known].mean())
        return self.confidence / np.float32(mean) if mean > 0 else None


def _match(
    left: Image,
    right: Image,
    settings: Settings,
    disparity: Any,
    valid: Any,
    stage: _Stages,
    tiled: TiledStages | None,
    names: tuple[str, str],
) -> _Matched:
    import numpy as np

    from slanted.matching import find_matches
    from slanted.matching.disparity_range import disparity_range
    from slanted.matching.rectification import judge_rectification, measure_rectification
    from slanted.matching.user_disparity import given_disparity
    from slanted.runtime.threads import together

    low, rules = settings.matching.min_disparity, settings.rectification
    with stage("first look"):
        rectification, searched = together(
            lambda: None if rules.check == "off" else measure_rectification(left, right, low),
            lambda: disparity_range(left, right, settings.matching) if disparity is None else None,
        )
        judge_rectification(rectification, left, right, rules, names)
    if disparity is not None:
        with stage("matching"):
            size = left.shape[:2]
            given = given_disparity(disparity, size, valid=valid, allow_negative=low < 0)
        return _Matched(given, None, None, rectification)
    with stage("matching"):
        if tiled is None:
            matched, confidence = find_matches(left, right, settings.matching, searched)
        else:
            matched, confidence = tiled.match(left, right, searched)
        if not np.isfinite(matched).any():
            raise InputError(
                f"{', '.join(names)}: no pixel could be matched; check that both images show one "
                "scene and that the disparity range covers it"
            )
    return _Matched(matched, confidence, searched, rectification)


class Matcher:
    """The pipeline as an object, for those used to OpenCV's matchers.

    Parameters
    ----------
    settings
        All parameters; by default the preset ``default``.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> matcher = slanted.Matcher(slanted.Settings.preset("fast"))
    >>> matcher.compute(scene.left, scene.right).disparity.shape
    (64, 96)
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    def compute(self, left: Any, right: Any) -> Result:
        """Estimate one pair; see `estimate`.

        Unlike OpenCV's, the disparity is in pixels, not sixteenths, and has no holes.
        """
        return estimate(left, right, self.settings)


class _Stages:
    """Names and times the stages of a run."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
