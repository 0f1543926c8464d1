"""Settings of segmentation: how the left image is cut into segments."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from slanted.settings.fields import Section, setting

METHODS = ("slic", "slic+disparity", "ucm", "slic+ucm")


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class SlicSettings(Section):
    """SLIC superpixels (Achanta et al. 2012) may also follow the initial disparity."""

    compactness: float = setting(10.0, low=0.01, high=1e4, doc=
        "Position counts this much beside colour; larger values give rounder segments.")
    coarse_iterations: int = setting(8, low=0, high=1000, doc=
        "Pixels are first assigned and centres updated this many times at half the size, which "
        "takes a quarter of the time. Segments less than 8 pixels wide start at the whole size.")
    iterations: int = setting(2, low=1, high=1000, doc=
        "Pixels are then assigned and centres updated this many times.")
    disparity_weight: float = setting(100.0, unit="1/px²", low=0.0, doc=
        "A squared disparity residual of 1 px² counts as much as this squared Lab distance.")
    truncation: float = setting(2.0, unit="px", low=0.01, high=1e4, doc=
        "Disparity residuals are capped at this value.")


@dataclass(frozen=True)
class UcmSettings(Section):
    """Regions are cut from an ultrametric contour map (Arbeláez et al. 2011)."""

    regions: int | None = setting(None, low=1, high=10_000_000, doc=
        "At most this many regions are cut; auto is `segmentation.count` for `ucm` and a quarter "
        "of it for `slic+ucm`.")
    threshold: float | None = setting(None, kind=float, low=0.0, high=1.0, doc=
        "The map is cut at this contour strength; auto cuts by the number of regions.")
    contours: str | None = setting(None, kind=str, doc=
        "Contours come from this image, or from this ONNX model; auto uses our own detector.")


@dataclass(frozen=True)
class SegmentationSettings(Section):
    """The left image is cut into segments S_i, each of which gets one plane (paper §4)."""

    method: str = setting("slic+disparity", choices=METHODS, doc=
        "`slic` sees colour, `slic+disparity` also the initial disparity, `ucm` cuts at contours, "
        "and `slic+ucm` intersects `slic` with `ucm`, as the paper does.")
    count: int | None = setting(None, low=1, high=10_000_000, doc=
        "About this many segments are made. Auto makes one per 600 pixels, but 800 to 2000 in all; "
        "small images get one per 150 pixels, or 38 if they are matched on a finer grid, and those "
        "above 6 million pixels one per 3000. There is never more than one per 4 pixels.")
    slic: SlicSettings = dataclasses.field(default_factory=SlicSettings)
    ucm: UcmSettings = dataclasses.field(default_factory=UcmSettings)
