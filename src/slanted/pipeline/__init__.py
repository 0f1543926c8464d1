"""The pipeline, from a rectified pair to a result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.result import Result
from slanted.settings import Settings, SettingsLike, settings_from_user
from slanted.settings.given import names_arguments
from slanted.stages import InitialMatches, Progress
from slanted.stages.after_matching import (
    SkySearch,
    cut_segments,
    follow_near_matches,
    gather_evidence,
    judge_disparity,
    judge_of,
    take_segments,
)
from slanted.stages.matching import first_look, match, take_disparity
from slanted.stages.pair_run import PairRun, prepare

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images.given import Channels, ImageLike
    from slanted.inference.outcome import Inference, Watch
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.io.calibration_files import CalibrationLike
    from slanted.model.evidence import Evidence
    from slanted.model.user_potential import Potential
    from slanted.regions.structure import Regions
    from slanted.runtime.workers import Backend


@names_arguments
def estimate(
    left: ImageLike,
    right: ImageLike,
    settings: SettingsLike | None = None,
    *,
    preset: str | None = None,
    min_disparity: int | None = None,
    max_disparity: int | None = None,
    calibration: CalibrationLike | None = None,
    channels: Channels = "rgb",
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
        Images of equal size: paths, Pillow images, or arrays and what NumPy can make one of, such
        as tensors. Arrays are (H, W), (H, W, C) or (C, H, W) with C of 1, 3 or 4, and alpha is
        dropped. They are uint8, uint16 or float; floats must lie on the scale 0 … 1 or 0 … 255,
        the same for both, and become uint8.
    settings
        Settings that differ from the preset, by name, as ``{"segmentation.count": 500}``; or a
        TOML file of them; or a `Settings`, which has them all.
    preset
        The preset to start from: ``fast``, ``default``, ``best``, ``paper`` or ``paper+``; or
        ``network``, which suits a dense `disparity`, and the network of the setting
        ``matching.network.model``.
    min_disparity, max_disparity
        The range to search in pixels, as the settings ``matching.min_disparity`` and
        ``matching.max_disparity``; by default it starts at 0 and its end is found.
    calibration
        The cameras, or the path of their file (see `read_calibration`), for depth and lengths.
    channels
        The order of colours in arrays: ``"rgb"``, or ``"bgr"`` as ``cv2.imread`` returns them.
    disparity
        Your own initial disparity, (H, W) pixels with NaN for unknown, instead of the matcher's.
        One that does not seem to be of this pair gets a warning.
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
        What errors and warnings call images that are not files.

    Returns
    -------
    Result
        Dense disparity, planes, boundary labels, energy and bound; see `slanted.Result`.

    Raises
    ------
    slanted.errors.InputError
        If an image, the disparity, the range or another argument cannot be used.
    slanted.errors.FileError
        If a file cannot be read.

    References
    ----------
    .. [1] Yamaguchi, Hazan, McAllester, Urtasun, "Continuous Markov Random Fields for Robust Stereo
       Estimation", ECCV 2012.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> slanted.write_image("left.png", scene.left)
    >>> slanted.write_image("right.png", scene.right)
    >>> result = slanted.estimate("left.png", "right.png", preset="fast", max_disparity=48)
    >>> result.disparity.shape
    (64, 96)
    >>> result.energy >= result.bound
    True
    >>> floats = scene.left / 255, scene.right / 255
    >>> again = slanted.estimate(*floats, {"matching.max_disparity": 48}, preset="fast")
    >>> bool((again.disparity == result.disparity).all())
    True
    """
    ends = {"matching.min_disparity": min_disparity, "matching.max_disparity": max_disparity}
    chosen = settings_from_user(settings, preset, ends)
    with prepare(left, right, chosen, progress, names, backend, calibration, channels) as pair:
        run = replace(pair, potential=potential, previous_frame=previous_frame, watch=watch)
        run, look = first_look(run, with_range=disparity is None)
        run.prepare_views(whole=segments is not None)
        given = disparity is not None
        matches = take_disparity(run, look, disparity, valid) if given else match(run, look)
        return explain(run, matches, segments)


def reestimate(
    result: Result,
    left: ImageLike | None = None,
    right: ImageLike | None = None,
    settings: SettingsLike | None = None,
    *,
    keep_segments: bool = False,
    potential: Potential | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Result:
    """Run all stages after matching again, with other settings, on the matches of a result.

    These are the matches that its last planes explain. They are not judged again, so that planes
    may differ a little from the result's even with its own settings, but not from then on. Nor does
    the confidence know the matcher's first choices any more, so that it is a little less exact.

    Parameters
    ----------
    result
        The result whose matches, pixel weights and disparity range are kept.
    left, right
        The pair of that result, as for `estimate`; by default the one that it keeps.
    settings
        All settings; or those that differ from the result's, by name or in a TOML file. Those of
        matching and its doubts (``confidence.most_doubt``, ``confidence.add_doubt``) and
        ``model.pixel_weights`` have no effect.
    keep_segments
        Whether to keep the segments of the result, as you should if you gave them to `estimate`;
        otherwise the image is segmented again.
    potential, progress, watch
        As for `estimate`.

    Raises
    ------
    slanted.errors.InputError
        If an argument cannot be used, or there is no pair.

    Examples
    --------
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> result = estimate(scene.left, scene.right)
    >>> again = reestimate(result, settings={"model.weights.col": 0})
    >>> again.matched is result.matched
    True
    """
    segments = result.regions.label_image if keep_segments else None
    found = result.searched, result.rectification
    matches = InitialMatches(
        result.matched, result.pixel_weights, *found, doubts=result.doubts, finer=result.finer
    )
    chosen = settings_from_user(settings, base=result.settings)
    with prepare(*_pair_of(result, left, right), chosen, progress) as pair:
        run = replace(pair, potential=potential, watch=watch, calibration=result.calibration)
        run = run.straightened(result.rectification)
        return explain(run, matches, segments)


def _pair_of(
    result: Result, left: ImageLike | None, right: ImageLike | None
) -> tuple[ImageLike, ImageLike]:
    """Return the pair that was given or, without a copy, the one that the result keeps."""
    from slanted.images.given import GivenImage

    if (left is None) != (right is None):
        missing = "left" if left is None else "right"
        raise InputError(f"{missing}: expected both images of the pair or none, got one alone")
    kept = result.left, result.right
    left, right = kept if left is None else (left, right)
    if left is None or right is None:
        raise InputError(
            "left: expected the pair of the result, which was saved without; give left and right"
        )
    one, other = (
        GivenImage(own) if own is not None and given is own else given
        for given, own in zip((left, right), kept, strict=True)
    )
    return one, other


def match_pair(
    left: ImageLike,
    right: ImageLike,
    settings: SettingsLike | None = None,
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

    Examples
    --------
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> matched, seconds = match_pair(scene.left, scene.right)
    >>> matched.shape, list(seconds)
    ((64, 96), ['first look', 'matching'])
    """
    with prepare(left, right, settings_from_user(settings), progress, names) as pair:
        run, look = first_look(pair)
        return match(run, look).disparity, run.stage.seconds


def explain(
    run: PairRun,
    matches: InitialMatches,
    segments: Any = None,
    superpixels: NDArray[np.int32] | None = None,
) -> Result:
    """Explain matches by planes: superpixels, then inference and refinement in turns.

    The user's `segments` replace the superpixels and are not refined. `superpixels` are those of
    these matches, if they are known already.
    """
    from slanted.model.planes import lowest_disparity
    from slanted.pipeline.coarser import coarsened, enlarged

    if run.coarser > 1 and segments is None and superpixels is None:
        with run.stage("drawing"):
            smaller = coarsened(run, matches)
        found = explain(*smaller)
        with run.stage("drawing"):
            return enlarged(found, run, matches)
    settings = run.settings_for(matches)
    sky = SkySearch(run, lowest_disparity(settings))
    regions, inference, evidence = find_planes(run, matches, segments, superpixels, sky)
    with run.stage("drawing"):
        sky.begin(evidence.disparity)
        maps = draw_maps(run, matches, regions, inference, evidence)
        disparity, matched, occluded = maps
    confidence, deviation = None, None
    # Of a user's own disparity the trees know nothing. A network's map agrees with itself, too, so
    # that they may be asked only if it fits the pair.
    doubtful = settings.matching.method == "network" and matches.doubts
    if matches.searched is not None and not doubtful:
        seen = maps, regions, inference, evidence.judgement
        disparity, confidence, deviation = judge_disparity(run, matches, *seen)
    disparity = follow_near_matches(run, matches, disparity, matched, regions, evidence)
    return Result(
        disparity=disparity,
        matched=matched,
        occluded=occluded,
        regions=regions,
        inference=inference,
        settings=run.settings,
        seconds=run.stage.seconds,
        searched=matches.searched,
        rectification=matches.rectification,
        pixel_weights=evidence.pixel_weights,
        census=evidence.census,
        confidence=confidence,
        deviation=deviation,
        sky=sky.result(),
        doubts=matches.doubts,
        finer=matches.finer,
        left=run.given[0],
        right=run.given[1],
        calibration=run.calibration,
    )


def find_planes(
    run: PairRun,
    matches: InitialMatches,
    segments: Any = None,
    superpixels: NDArray[np.int32] | None = None,
    sky: SkySearch | None = None,
) -> tuple[Regions, Inference, Evidence]:
    """Return the segments, planes and evidence of `explain`, which looks for the `sky`, too."""
    from slanted.inference.pcbp import infer
    from slanted.refinement.refine import PlaneSearch, infer_and_refine

    settings = run.settings_for(matches)
    # First, since a part of it is done while one thread segments.
    judge = judge_of(run, matches, sky)
    return infer_and_refine(
        # Nothing here keeps the first segments: a large image has no room for them once refined.
        cut_segments(run, matches, superpixels)
        if segments is None
        else take_segments(run, segments),
        gather_evidence(run, matches),
        settings if run.band_pixels is None else _without_rims(settings),
        refine=segments is None,
        judge=judge,
        search=PlaneSearch(
            partial(run.solve or infer, previous_frame=run.previous_frame, watch=run.watch),
            run.begin and partial(run.begin, last=run.previous_frame),
            run.observed_every,
        ),
        terms_of=None if run.tiled is None else run.tiled.terms_of,
        stage=run.stage,
    )


def draw_maps(
    run: PairRun,
    matches: InitialMatches,
    regions: Regions,
    inference: Inference,
    evidence: Evidence,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
    """Return the disparity, the matches and the occluded pixels of a result, (H, W) each."""
    from slanted.model.drawing import draw_result, hidden_pixels

    settings, matched = run.settings_for(matches), evidence.disparity
    disparity = draw_result(regions, inference.planes, settings, matches.searched, matched)
    return disparity, matched, hidden_pixels(disparity)


def _without_rims(settings: Settings) -> Settings:
    """Leave out the rims, for which the largest images have no memory left."""
    return replace(settings, refinement=replace(settings.refinement, rim_width=0))
