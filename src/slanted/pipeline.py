"""The pipeline, from a rectified pair to a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.result import Result
from slanted.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.inference.outcome import Watch
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.model.evidence import Evidence
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
    previous_frame: PreviousFrame | None = None,
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
        Your own initial disparity, (H, W) pixels with NaN for unknown, instead of the matcher's.
    valid
        Mask of the pixels of `disparity` to use; the others count as unknown.
    segments
        Your own label image, (H, W) integers, instead of superpixels; it is not refined.
    potential
        Your own potential: a function that returns the cost of planes of segments, weighted by
        ``model.weights.user``; see `slanted.model.user_potential.Potential`. Not for tiled images.
    previous_frame
        Planes of the last frame of a video, from `Result.previous_frame`, as further proposals.
    backend
        Workers for the tiles of a large image, from `slanted.runtime.workers`; by default this
        process does all the work.
    progress
        Called with each stage's name as it starts.
    watch
        Called with a `slanted.inference.outcome.Snapshot` before and after every outer iteration;
        raising an error ends the run.
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
    with _prepared(left, right, settings, progress, names, backend) as pair:
        if previous_frame is not None and previous_frame.label_image.shape != pair.left.shape[:2]:
            previous_frame = None  # from another camera: its planes mean nothing here
        run = replace(pair, potential=potential, previous_frame=previous_frame, watch=watch)
        found = _match(run) if disparity is None else _take(run, disparity, valid)
        return _explain(run, found, found.pixel_weights(run.settings), segments)


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
        All parameters; those of matching, and ``model.pixel_weights``, change nothing.
    keep_segments
        Whether the segments are the result's, as they should be if they were given to `estimate`;
        otherwise they are found again.
    potential, progress, watch
        As for `estimate`.
    """
    segments = result.regions.label_image if keep_segments else None
    found = _Matches(result.matched, None, result.searched, result.rectification)
    with _prepared(left, right, settings, progress) as pair:
        run = replace(pair, potential=potential, watch=watch)
        return _explain(run, found, result.pixel_weights, segments)


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
    with _prepared(left, right, settings, progress, names) as run:
        return _match(run).disparity, run.stage.seconds


def _explain(
    run: _Run, found: _Matches, pixel_weights: NDArray[np.float32] | None, segments: Any
) -> Result:
    """Explain matches by planes: superpixels, inference and refinement in turns, drawing."""
    from slanted.model.drawing import draw_disparity, drawn_range, hidden_pixels
    from slanted.refinement.refine import infer_and_refine

    settings, stage = run.settings, run.stage
    evidence = _gather(run, found.disparity, pixel_weights)
    regions, inference = infer_and_refine(
        # Nothing here keeps the first segments: a large image has no room for them once refined.
        _label_image(run, found.disparity, segments),
        evidence,
        settings if run.band_pixels is None else _without_rims(settings),
        rounds=settings.refinement.rounds if segments is None else 0,
        terms_of=None if run.tiled is None else run.tiled.terms_of(evidence),
        previous_frame=run.previous_frame,
        watch=run.watch,
        stage=stage,
    )
    with stage("drawing"):
        limits = drawn_range(settings, found.searched, found.disparity)
        disparity = draw_disparity(regions, inference.planes, *limits)
        occluded = hidden_pixels(disparity)
    return Result(
        disparity=disparity,
        matched=found.disparity,
        occluded=occluded,
        regions=regions,
        inference=inference,
        settings=settings,
        seconds=stage.seconds,
        searched=found.searched,
        rectification=found.rectification,
        pixel_weights=pixel_weights,
        census=evidence.census,
    )


def _without_rims(settings: Settings) -> Settings:
    """Leave out the rims, for which the largest images have no memory left."""
    return replace(settings, refinement=replace(settings.refinement, rim_width=0))


def _label_image(run: _Run, matched: NDArray[np.float32], segments: Any) -> NDArray[np.int32]:
    """Return the first segments: the user's, or superpixels."""
    from slanted.partition.label_image import label_image_from_user
    from slanted.segmentation import segment

    with run.stage("segmentation"):
        if segments is not None:
            return label_image_from_user(segments, run.left.shape[:2])
        return segment(run.left, run.settings.segmentation, matched, band_pixels=run.band_pixels)


def _gather(
    run: _Run, matched: NDArray[np.float32], pixel_weights: NDArray[np.float32] | None
) -> Evidence:
    """Return the evidence of the pair, with what the settings have a use for."""
    from slanted.images.census import census_of_pair
    from slanted.images.colour import grey_pair
    from slanted.model.evidence import Evidence

    photometric = run.settings.model.weights.pho > 0
    with run.stage("evidence"):
        wanted = photometric or run.settings.refinement.rim_width > 0
        grey = grey_pair(run.left, run.right) if wanted else None
        # Tiles make their own census words, one tile at a time.
        census = census_of_pair(grey) if grey and photometric and run.tiled is None else None
    return Evidence(
        matched, pixel_weights, left=run.left, grey=grey, census=census, potential=run.potential
    )


def _match(run: _Run) -> _Matches:
    """Find the initial disparity D(p)."""
    import numpy as np

    from slanted.matching import find_matches

    rectification, searched = _first_look(run, with_range=True)
    with run.stage("matching"):
        if run.tiled is None:
            found = find_matches(run.left, run.right, run.settings.matching, searched)
        else:
            found = run.tiled.match(run.left, run.right, searched)
        if not np.isfinite(found[0]).any():
            raise InputError(
                f"{', '.join(run.names)}: no pixel could be matched; check that both images show "
                "one scene and that the disparity range covers it"
            )
    return _Matches(*found, searched, rectification)


def _take(run: _Run, disparity: Any, valid: Any) -> _Matches:
    """Check the user's initial disparity."""
    from slanted.matching.user_disparity import disparity_from_user

    rectification, _ = _first_look(run, with_range=False)
    with run.stage("matching"):
        below_zero = run.settings.matching.min_disparity < 0
        size = run.left.shape[:2]
        given = disparity_from_user(disparity, size, valid=valid, allow_negative=below_zero)
    return _Matches(given, None, None, rectification)


def _first_look(run: _Run, *, with_range: bool) -> tuple[RectificationCheck | None, Any]:
    """Check that the pair is rectified, and find its range of disparities."""
    from slanted.matching.disparity_range import disparity_range
    from slanted.matching.rectification import judge_rectification, measure_rectification
    from slanted.runtime.threads import together

    left, right, matching = run.left, run.right, run.settings.matching
    rules, lowest = run.settings.rectification, run.settings.matching.min_disparity
    with run.stage("first look"):
        rectification, searched = together(
            lambda: None if rules.check == "off" else measure_rectification(left, right, lowest),
            lambda: disparity_range(left, right, matching) if with_range else None,
        )
        judge_rectification(rectification, left, right, rules, run.names)
    return rectification, searched


@dataclass(frozen=True, eq=False)
class _Matches:
    """The initial disparity D(p), the range that was searched, and the check of the pair."""

    disparity: NDArray[np.float32]
    confidence: NDArray[np.float32] | None
    searched: DisparityRange | None
    rectification: RectificationCheck | None

    def pixel_weights(self, settings: Settings) -> NDArray[np.float32] | None:
        """Return how much each match counts: its confidence, scaled to 1 on average over F."""
        import numpy as np

        if not settings.model.pixel_weights:
            return None
        if self.confidence is None:
            raise InputError(
                "model.pixel_weights: expected a matcher that tells its confidence, such as "
                "census, got one that does not, or a disparity of your own; switch it off"
            )
        known = np.isfinite(self.disparity)
        mean = float(self.confidence[known].mean())
        return self.confidence / np.float32(mean) if mean > 0 else None


@dataclass(frozen=True, eq=False)
class _Run:
    """A checked pair, and everything that the stages of a run share."""

    left: Image
    right: Image
    names: tuple[str, str]
    settings: Settings
    stage: _Stages
    tiled: TiledStages | None
    potential: Potential | None = None
    previous_frame: PreviousFrame | None = None
    watch: Watch | None = None

    def __post_init__(self) -> None:
        if self.tiled is not None and self.potential is not None:
            raise InputError(
                "potential: images in tiles cannot have one; raise tiles.above to "
                "work on the image as a whole"
            )

    @property
    def band_pixels(self) -> int | None:
        """Pixels of the bands in which the image is segmented; None if it is done at once."""
        return None if self.tiled is None else self.tiled.band_pixels(self.left)


@contextmanager
def _prepared(
    left: Any,
    right: Any,
    settings: Settings | None,
    progress: Progress | None,
    names: tuple[str, str] = ("left", "right"),
    backend: Backend | None = None,
) -> Iterator[_Run]:
    """Check a pair and limit the threads while its stages run."""
    from slanted.images.checks import check_pair
    from slanted.runtime.threads import thread_limit
    from slanted.tiles.stages import tiles_of

    settings = settings or Settings()
    left, right = check_pair(left, right, names)
    with thread_limit(settings.threads) as threads:
        tiled = tiles_of(left, settings, threads, backend)
        yield _Run(left, right, names, settings, _Stages(progress), tiled)


class _Stages:
    """Names and times the stages of a run; a stage that runs again adds to its time."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


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
