"""The section ``matching`` of the settings tree, and what its settings demand of each other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from slanted.errors import SettingsError
from slanted.settings.fields import Section, setting

CENSUS_BITS = 62
"""Of a 9 × 7 census word."""


MATCHERS = ["sgbm", "census"]
"""The values that ``matching.method`` may take; `slanted.register_matcher` adds to them."""


@dataclass(frozen=True)
class SgbmSettings(Section):
    """OpenCV's semi-global block matcher, ``cv2.StereoSGBM`` (Hirschmüller 2008)."""

    mode: str = setting(
        "hh",
        "Paths along which costs are summed: `sgbm` 5, `hh` 8, `3way` 3, `hh4` 4.",
        choices=("sgbm", "hh", "3way", "hh4"),
    )
    block_size: int = setting(3, "Side of the matched block.", unit="px", low=1, high=15, odd=True)
    p1: int | None = setting(
        None,
        "Penalty for a disparity step of one; auto = 8 × channels × block_size².",
        symbol="P1",
        low=1,
        high=32767,
    )
    p2: int | None = setting(
        None,
        "Penalty for a larger step, above p1; auto = 32 × channels × block_size².",
        symbol="P2",
        low=2,
        high=32767,
    )
    prefilter_cap: int = setting(63, "Cap on the x-gradient before matching.", low=15, high=63)
    uniqueness: int = setting(
        10, "Margin by which the best cost must win.", unit="%", low=0, high=100
    )


@dataclass(frozen=True)
class CensusSettings(Section):
    """Our own semi-global matcher on census and gradient costs (Hirschmüller 2008)."""

    paths: int = setting(
        4, "Directions along which costs are summed: 4, 8 or 16, nothing between.", low=4, high=16
    )
    census_weight: int = setting(2, "Cost of a bit that differs in the census.", low=0, high=3)
    gradient_weight: int = setting(2, "Cost of a step in the capped x-gradient.", low=0, high=4)
    gradient_cap: int = setting(15, "Cap on the x-gradient.", low=1, high=15)
    p1: int = setting(30, "Penalty for a disparity step of one.", symbol="P1", low=0, high=2000)
    p2: int = setting(300, "Penalty for a larger step.", symbol="P2", low=1, high=3800)
    p2_min: int = setting(80, "What is left of p2 at strong grey edges.", low=1, high=3800)
    p2_slope: float = setting(
        2.0, "How much p2 falls with each grey level of the step.", low=0.0, high=100.0
    )
    uniqueness: int = setting(
        10, "Margin by which the best cost must win.", unit="%", low=0, high=100
    )
    contrast: int = setting(
        60,
        "Most that the best cost may be of the others' mean; 0 = any.",
        unit="%",
        low=0,
        high=100,
    )
    median: int = setting(
        5, "Side of the median filter on the disparity: 0 = none, 3 or 5.", unit="px", low=0, high=5
    )
    rival: int = setting(
        10,
        "Least height of another valley, of the hill before it; 0 = any.",
        unit="%",
        low=0,
        high=100,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_census(self)


@dataclass(frozen=True)
class MatchingSettings(Section):
    """The initial disparity D(p) on the pixels F (paper §3.1)."""

    method: str = setting("census", "Which matcher makes D(p).", choices=lambda: tuple(MATCHERS))
    min_disparity: int = setting(
        0, "Smallest disparity searched; may be negative.", unit="px", low=-16384, high=16384
    )
    max_disparity: int | None = setting(
        None,
        "End of the search, exclusive; auto = found from a coarse match of the pair.",
        unit="px",
        low=-16383,
        high=16384,
    )
    left_right_threshold: int = setting(
        1,
        "Largest disagreement of the left and right maps; 0 = no check.",
        unit="px",
        low=0,
        high=16384,
    )
    speckle_size: int = setting(
        100,
        "Matches in patches of up to this many pixels are dropped; 0 = none.",
        unit="px",
        low=0,
        high=1_000_000_000,
    )
    out_of_view: float = setting(
        0.15,
        "Matches in patches below this share of the image are dropped where the nearer surface "
        "on their right would be out of view; 0 = none.",
        unit="%",
        low=0.0,
        high=100.0,
    )
    speckle_range: int = setting(
        2, "Disparity step that separates patches.", unit="px", low=1, high=1024
    )
    sgbm: SgbmSettings = dataclasses.field(default_factory=SgbmSettings)
    census: CensusSettings = dataclasses.field(default_factory=CensusSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_disparity is not None and self.max_disparity <= self.min_disparity:
            raise SettingsError(
                f"matching.max_disparity: expected more than matching.min_disparity "
                f"({self.min_disparity}), got {self.max_disparity}; raise it or use auto"
            )


def _check_census(settings: CensusSettings) -> None:
    """Refuse what the method or the narrow integers of its kernels do not allow."""
    if settings.paths not in (4, 8, 16):
        raise SettingsError(f"matching.census.paths: expected 4, 8 or 16, got {settings.paths}")
    if settings.median not in (0, 3, 5):
        raise SettingsError(f"matching.census.median: expected 0, 3 or 5, got {settings.median}")
    largest = CENSUS_BITS * settings.census_weight
    largest += 2 * settings.gradient_cap * settings.gradient_weight
    if largest > 255:
        raise SettingsError(
            f"matching.census.census_weight: expected costs of at most 255, got up to {largest} "
            f"({CENSUS_BITS} × census_weight + 2 × gradient_cap × gradient_weight); lower a weight "
            f"or gradient_cap"
        )
    if not settings.p1 <= settings.p2_min <= settings.p2:
        raise SettingsError(
            f"matching.census.p2_min: expected a value from p1 ({settings.p1}) to p2 "
            f"({settings.p2}), got {settings.p2_min}; change one of the three"
        )
