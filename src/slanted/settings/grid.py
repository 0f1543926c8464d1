"""Settings on a finer grid: what they mean does not depend on the size of an image.

Many settings are lengths in pixels, or weigh sums over pixels against numbers per boundary. They
are meant for images of about a thousand pixels' width. Small images are matched on a finer grid,
and are modelled as if they had `MEANT` pixels: `on_finer_grid` gives the settings with which the
model on the image's own pixels is the model on a grid that is `times` finer. Lengths and
disparities become shorter by `times`. A sum over pixels has fewer terms by its square, and squared
disparities are smaller by its square.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slanted.settings.inference import InferenceSettings
    from slanted.settings.model import ModelSettings
    from slanted.settings.refinement import RefinementSettings
    from slanted.settings.segmentation import SegmentationSettings
    from slanted.settings.tree import Settings

SMALL = 400_000
"""Images of up to this many pixels are matched on a finer grid by themselves."""
TIMES = 2
"""How many times finer it is."""
MEANT = 800_000
"""Settings are meant for images of about so many pixels."""
LEAST_A_SEGMENT = 100
"""Pixels that a segment has on a coarser grid, at least and on average."""


def times_finer(pixels: int, settings: Settings) -> int:
    """Return how many times finer than an image of so many pixels the grid of its matching is.

    Matchers other than ``census`` and images in tiles have no finer grid.
    """
    if settings.matching.method != "census" or pixels > settings.tiles.above:
        return 1
    return settings.matching.census.finer or (TIMES if pixels <= SMALL else 1)


def times_coarser(pixels: int, settings: Settings) -> int:
    """Return how many times smaller the pair is on which planes are found (see `pipeline.coarser`).

    Small images have no pixels to spare, nor have many segments, nor a map that is followed.
    """
    times, count = settings.model.coarser, settings.segmentation.count or 1
    is_small = pixels <= SMALL or pixels < LEAST_A_SEGMENT * count * times**2
    return 1 if is_small or settings.model.follow > 0 else times


def model_grid(pixels: int, times: int) -> float:
    """Return how many times finer the grid of the model is, if that of matching is `times` finer.

    Small images that are matched more precisely are modelled on as many cells as larger ones have.

    Examples
    --------
    >>> model_grid(400_000, 1), round(model_grid(400_000, 2), 3), model_grid(1_500_000, 2)
    (1.0, 1.414, 1.0)
    """
    return min(max(math.sqrt(MEANT / pixels), 1.0), float(times))


@lru_cache(maxsize=8)
def on_finer_grid(settings: Settings, times: float) -> Settings:
    """Return the settings of segmentation, model and refinement for a grid `times` finer.

    Settings of matching and confidence stay, and so does an automatic number of segments.
    """
    if times == 1:
        return settings
    return replace(
        settings,
        segmentation=_segmentation(settings.segmentation, times),
        model=_model(settings.model, times),
        inference=_inference(settings.inference, times),
        refinement=_refinement(settings.refinement, times),
    )


def _segmentation(rules: SegmentationSettings, times: float) -> SegmentationSettings:
    slic = rules.slic
    weight, cap = slic.disparity_weight * times**2, max(slic.truncation / times, 0.01)
    return replace(rules, slic=replace(slic, disparity_weight=weight, truncation=cap))


def _model(rules: ModelSettings, times: float) -> ModelSettings:
    weights, area = rules.weights, times**2
    return replace(
        rules,
        reference_noise=rules.reference_noise / times,
        truncation=max(rules.truncation / times, 1e-3),
        lambda_occ=rules.lambda_occ / area,
        lambda_hinge=rules.lambda_hinge / area,
        lambda_imp=rules.lambda_imp / area,
        relief=rules.relief / times,
        follow=rules.follow / times,
        weights=replace(
            weights,
            seg=weights.seg * area**2,
            bdy1=weights.bdy1 * area**2,
            bdy2=weights.bdy2 * area,
            jct=weights.jct * area,
            crs=weights.crs * area,
            vis=weights.vis * area,
            pho=weights.pho * area,
        ),
    )


def _inference(rules: InferenceSettings, times: float) -> InferenceSettings:
    return replace(
        rules,
        sigma_disparity=rules.sigma_disparity / times,
        mixture_sigma=rules.mixture_sigma / times,
    )


def _refinement(rules: RefinementSettings, times: float) -> RefinementSettings:
    return replace(
        rules,
        disparity_weight=rules.disparity_weight * times**2,
        truncation=rules.truncation / times,
        length_weight=rules.length_weight / times,
        split_size=math.ceil(rules.split_size / times**2),
        split_distance=rules.split_distance / times,
        rim_width=math.ceil(rules.rim_width / times),
    )
