"""Settings of the first stage: the check of the pair, and the initial disparity."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from slanted.errors import SettingsError
from slanted.settings.fields import Section, setting

CENSUS_BITS = 62
"""Bits of a 9 × 7 census word."""
MATCHERS = ["sgbm", "census", "network"]
"""The values of ``matching.method``; `slanted.register_matcher` adds to them."""


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class RectificationSettings(Section):
    """Before matching, features are matched to check that both images have the same rows."""

    check: str = setting("refuse", choices=("refuse", "warn", "off"), doc=
        "A pair that is not rectified, or whose images are swapped, raises an error with `refuse` "
        "and a warning with `warn`, and so does one of two scenes; `off` skips the checks, and "
        "with them `correct`.")
    warn_offset: float = setting(1.0, unit="px", low=0.0, doc=
        "A larger median vertical offset gives a warning.")
    refuse_offset: float = setting(10.0, unit="px", low=0.0, doc=
        "A larger median vertical offset counts as not rectified.")
    correct: str = setting("auto", choices=("auto", "off", "always"), doc=
        "With `auto` the right view is straightened if the vertical warp between the views is sure "
        "and above `correct_above`, with `always` whenever it can be measured.")
    correct_above: float = setting(0.3, unit="px", low=0.0, doc=
        "A smaller vertical warp, as a root mean square over the image, is left as it is.")


@dataclass(frozen=True)
class SgbmSettings(Section):
    """The matcher `sgbm` is OpenCV's ``cv2.StereoSGBM`` (Hirschmüller 2008)."""

    mode: str = setting("hh", choices=("sgbm", "hh", "3way", "hh4"), doc=
        "Costs are summed along 5 paths with `sgbm`, 8 with `hh`, 3 with `3way` and 4 with `hh4`.")
    grey: bool = setting(False, doc=
        "If true, images in colour are matched in grey, which is more accurate on most pairs.")
    block_size: int = setting(3, unit="px", low=1, high=15, odd=True, doc=
        "Square blocks of this side are compared.")
    p1: int | None = setting(None, symbol="P1", low=1, high=32767, doc=
        "A disparity step of one pixel costs this much; auto is 8 × channels × block_size².")
    p2: int | None = setting(None, symbol="P2", low=2, high=32767, doc=
        "A larger step costs this much, which must exceed p1; auto is 32 × channels × block_size².")
    prefilter_cap: int = setting(63, low=15, high=63, doc=
        "The x-gradient is clipped at this value.")
    uniqueness: int = setting(10, unit="%", low=0, high=100, doc=
        "The second-best cost must be higher by this margin.")


@dataclass(frozen=True)
class CensusSettings(Section):
    """The matcher `census` is our own, semi-global on census and gradients (Hirschmüller 2008)."""

    smoothing: float | None = setting(None, kind=float, unit="px", low=0.0, high=10.0, doc=
        "Both views are smoothed by a Gaussian of this standard deviation before they are matched. "
        "Auto smooths pairs that are noisy or strongly compressed, and doubles p1 for them; all "
        "stages see a noisy pair smoothed.")
    finer: int | None = setting(None, low=1, high=4, doc=
        "A run matches the pair enlarged this many times, and settings in pixels follow for images "
        "of up to 800,000 pixels; auto is 2 for images of up to 400,000 pixels and 1 for others.")
    guided: bool = setting(True, doc=
        "If true, a run searches at each pixel only what it finds there at a quarter and at half "
        "of the size (a range above 1024 starts at a smaller one), otherwise the whole range. A "
        "pair that is enlarged (see `finer`) is searched in the whole range at its own size.")
    paths: int = setting(4, low=4, high=16, doc=
        "Costs are summed along this many paths: 4, 8 or 16.")
    census_weight: int = setting(2, low=0, high=3, doc=
        "A differing bit of the census costs this much.")
    gradient_weight: int = setting(2, low=0, high=4, doc=
        "A difference of one grey level in the x-gradient costs this much.")
    gradient_cap: int = setting(15, low=1, high=15, doc="The x-gradient is clipped at this value.")
    p1: int = setting(30, symbol="P1", low=0, high=2000, doc=
        "A disparity step of one pixel costs this much.")
    p2: int = setting(300, symbol="P2", low=1, high=3800, doc="A larger step costs this much.")
    p2_min: int = setting(80, low=1, high=3800, doc="At strong grey edges p2 falls to this value.")
    p2_slope: float = setting(2.0, low=0.0, high=100.0, doc=
        "A grey edge lowers p2 by this much for each grey level.")
    uniqueness: int = setting(10, unit="%", low=0, high=100, doc=
        "The second-best cost must be higher by this margin.")
    contrast: int = setting(60, unit="%", low=0, high=100, doc=
        "The best cost must be below this share of the mean of the others; 0 skips the check.")
    median: int = setting(5, unit="px", low=0, high=5, doc=
        "A median filter of side 3 or 5 smooths the map; 0 is none.")
    rival: int = setting(10, unit="%", low=0, high=100, doc=
        "A match is dropped if, beyond a ridge, the cost falls back to within this share of the "
        "ridge's height above the best cost; 0 skips the check.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.paths not in (4, 8, 16):
            raise SettingsError(f"paths: expected 4, 8 or 16, got {self.paths}")
        if self.median not in (0, 3, 5):
            raise SettingsError(f"median: expected 0, 3 or 5, got {self.median}")
        # The kernels keep a cost in one byte.
        largest = CENSUS_BITS * self.census_weight + 2 * self.gradient_cap * self.gradient_weight
        if largest > 255:
            raise SettingsError(
                f"census_weight: expected costs of at most 255, got up to {largest} ({CENSUS_BITS} "
                f"× census_weight + 2 × gradient_cap × gradient_weight); lower one of the three"
            )
        if not self.p1 <= self.p2_min <= self.p2:
            raise SettingsError(
                f"p2_min: expected a value from p1 ({self.p1}) to p2 ({self.p2}), got "
                f"{self.p2_min}; change one of the three"
            )


@dataclass(frozen=True)
class NetworkSettings(Section):
    """The matcher `network` is a stereo network of your own, an ONNX file; see docs/networks.md."""

    model: str | None = setting(None, kind=str, doc=
        "This ONNX file is the network, and a TOML file of the same name beside it may describe "
        "it; auto is none, and then the matcher cannot be chosen.")
    runtime: str = setting("auto", choices=("auto", "onnxruntime", "opencv"), doc=
        "This package runs it; `auto` is ONNX Runtime if it is installed and else OpenCV, which "
        "runs fewer networks.")


@dataclass(frozen=True)
class MatchingSettings(Section):
    """A matcher computes the initial disparity D(p) on the pixels F (paper §3.1)."""

    method: str = setting("census", choices=lambda: tuple(MATCHERS), doc=
        "This matcher computes D(p).")
    min_disparity: int = setting(0, unit="px", low=-16384, high=16384, doc=
        "The search starts at this disparity, which may be negative.")
    max_disparity: int | None = setting(None, unit="px", low=-16383, high=16384, doc=
        "The search ends before this disparity; auto finds it by a coarse match of the pair.")
    left_right_threshold: int = setting(1, unit="px", low=0, high=16384, doc=
        "Matches are dropped where the maps of both views differ by more; 0 skips the check.")
    speckle_size: int = setting(100, unit="px", low=0, high=1_000_000_000, doc=
        "Patches of up to this many matched pixels are dropped; 0 keeps all.")
    out_of_view: float = setting(0.15, unit="%", low=0.0, high=100.0, doc=
        "Patches below this share of the image are dropped at the left border, where the right "
        "camera cannot see the nearer surface beside them; 0 keeps all.")
    speckle_range: int = setting(2, unit="px", low=1, high=1024, doc=
        "A larger step in disparity separates two patches.")
    sgbm: SgbmSettings = dataclasses.field(default_factory=SgbmSettings)
    census: CensusSettings = dataclasses.field(default_factory=CensusSettings)
    network: NetworkSettings = dataclasses.field(default_factory=NetworkSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_disparity is not None and self.max_disparity <= self.min_disparity:
            raise SettingsError(
                f"max_disparity: expected more than min_disparity ({self.min_disparity}), got "
                f"{self.max_disparity}; raise it or use auto"
            )
