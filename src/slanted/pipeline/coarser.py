"""Planes on a coarser grid than the image: found on a smaller pair, then enlarged.

Matches are of the image's own size, since their precision is in the details. Segments, planes and
their confidence need fewer pixels. The smaller pair is modelled as the whole one would be
(`slanted.settings.grid`), and the energies of a result are those of that model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.inference.outcome import Inference, Snapshot, Watch
from slanted.matching import DisparityRange
from slanted.matching.finer import on_coarser_grid
from slanted.model.drawing import draw_result, drawn_range, hidden_pixels
from slanted.model.planes import shifted_planes
from slanted.regions import build_regions
from slanted.result import Result
from slanted.stages.matching import pixel_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.inference.previous_frame import PreviousFrame
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import DisparityMap, Floats
    from slanted.settings import Settings
    from slanted.stages import InitialMatches
    from slanted.stages.pair_run import PairRun


def coarsened(run: PairRun, matches: InitialMatches) -> tuple[PairRun, InitialMatches]:
    """Return the run of the smaller pair, and its matches."""
    times, last, watch = run.coarser, run.previous_frame, run.watch
    small = replace(
        run,
        views=run.smaller_views.result(),
        settings=_smaller_settings(run.settings, times),
        previous_frame=None if last is None else _smaller_frame(last, times),
        watch=None if watch is None else _enlarging(watch, run),
        is_coarse=True,
    )
    found = on_coarser_grid(matches.found or matches.as_found(), times)
    # Without what the matcher found, `as_found` has weights, if any, in place of a confidence.
    weights = (
        found.confidence
        if matches.found is None
        else pixel_weights(found.disparity, found.confidence, small.settings)
    )
    return small, replace(
        matches,
        disparity=found.disparity,
        pixel_weights=weights,
        searched=None if matches.searched is None else _smaller_range(matches.searched, times),
        found=None if matches.found is None else found,
        finer=matches.finer * times,
    )


def enlarged(result: Result, run: PairRun, matches: InitialMatches) -> Result:
    """Return the result of a smaller pair at the size of the run's own."""
    times, small = run.coarser, result.regions
    regions = _enlarged_regions(small, run)
    inference = _enlarged_inference(result.inference, small, regions, times)
    matched = _repeated(result.matched, run, times)
    settings, searched = run.settings_for(matches), matches.searched
    disparity = draw_result(regions, inference.planes, settings, searched, matched)
    occluded = hidden_pixels(disparity)
    _add_relief(disparity, result, run)
    limits = (np.float32(end) for end in drawn_range(settings, searched, matched))
    return replace(
        result,
        disparity=np.clip(disparity, *limits, out=disparity),
        matched=matched,
        occluded=occluded,
        regions=regions,
        inference=inference,
        settings=run.settings,
        searched=searched,
        pixel_weights=_repeated(result.pixel_weights, run),
        census=None,  # of the smaller pair
        confidence=_repeated(result.confidence, run),
        deviation=_repeated(result.deviation, run, times),
        sky=_repeated(result.sky, run),
        finer=matches.finer,
        coarser=times,
    )


def _smaller_settings(settings: Settings, times: int) -> Settings:
    """Return the settings with the range of disparities of the smaller pair."""
    matching = settings.matching
    low, high = matching.min_disparity // times, matching.max_disparity
    high = None if high is None else max(-(-high // times), low + 1)
    return replace(settings, matching=replace(matching, min_disparity=low, max_disparity=high))


def _smaller_range(searched: DisparityRange, times: int) -> DisparityRange:
    return DisparityRange(searched.low // times, -(-searched.high // times))


def _smaller_frame(last: PreviousFrame, times: int) -> PreviousFrame:
    """Return the planes of the last frame for the smaller image; see `_enlarged_planes`."""
    planes = last.planes.copy()
    planes[:, 2] /= times
    centre = (last.centre - (times - 1) / 2) / times
    labels = np.ascontiguousarray(last.label_image[::times, ::times])
    return replace(last, label_image=labels, centre=centre, planes=planes)


def _enlarging(watch: Watch, run: PairRun) -> Watch:
    """Return a watch that tells another one of the segments and planes of the whole image."""

    def tell(seen: Snapshot) -> None:
        regions = _enlarged_regions(seen.regions, run)
        planes = _enlarged_planes(seen.planes, seen.regions, regions, run.coarser)
        watch(replace(seen, regions=regions, planes=planes))

    return tell


def _enlarged_regions(small: Regions, run: PairRun) -> Regions:
    """Return the segments of the whole image, with the same neighbours in the same order.

    Colours are those of the smaller image, with which they were compared. Nothing here needs the
    pixels of the boundaries.
    """
    whole = _repeated(small.label_image, run)
    regions = build_regions(whole, trusted=True, boundaries=False)
    return replace(regions, histograms=small.histograms, chi_squared=small.chi_squared)


def _enlarged_planes(planes: Floats, small: Regions, regions: Regions, times: int) -> Floats:
    """Return planes of the whole image: disparities are larger, and so is the way to them.

    Pixel x of the smaller image is in the middle of the pixels times·x … times·x + times − 1.
    """
    larger = planes.copy()
    larger[:, 2] *= times
    return shifted_planes(larger, regions.centre - (times * small.centre + (times - 1) / 2))


def _enlarged_inference(
    inference: Inference, small: Regions, regions: Regions, times: int
) -> Inference:
    planes, before = (
        _enlarged_planes(each, small, regions, times)
        for each in (inference.planes, inference.initial_planes)
    )
    noise = times * inference.noise
    return replace(inference, planes=planes, initial_planes=before, noise=noise)


def _add_relief(disparity: DisparityMap, result: Result, run: PairRun) -> None:
    """Add what the smaller result has besides its planes, in place."""
    searched, settings = result.searched, result.settings
    plain = draw_result(result.regions, result.planes, settings, searched, result.matched)
    disparity += _repeated(np.float32(run.coarser) * (result.disparity - plain), run)


def _repeated(small: Any, run: PairRun, factor: int = 1) -> Any:
    """Return a map with every pixel repeated, up to the size of the image; None stays None."""
    if small is None:
        return None
    height, width = run.left.shape[:2]
    rows: NDArray[Any] = small.repeat(run.coarser, axis=1)[:, :width]
    whole = rows.repeat(run.coarser, axis=0)[:height]
    return whole if factor == 1 else whole * np.float32(factor)
