"""The sections of the settings tree: every parameter, its unit, its default and its range."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from slanted.settings.fields import Section, setting


@dataclass(frozen=True)
class SlicSettings(Section):
    """SLIC superpixels (Achanta et al. 2012), which may also see the initial disparity."""

    compactness: float = setting(
        10.0, "Weight of position beside colour; larger is rounder.", low=0.01, high=1e4
    )
    iterations: int = setting(10, "Rounds of assignment and update.", low=1, high=1000)
    disparity_weight: float = setting(
        100.0,
        "Squared Lab distance that one squared pixel of disparity residual is worth.",
        low=0.0,
    )
    truncation: float = setting(
        2.0, "Cap on the disparity residual.", unit="px", low=0.01, high=1e4
    )


@dataclass(frozen=True)
class UcmSettings(Section):
    """Regions cut from an ultrametric contour map (Arbeláez et al. 2011)."""

    regions: int | None = setting(
        None,
        "Regions to cut; auto = segmentation.count for `ucm`, a quarter of it for `slic+ucm`; a "
        "hierarchy of fewer gives what it has.",
        low=1,
        high=10_000_000,
    )
    threshold: float | None = setting(
        None, "Cut at this contour strength instead.", kind=float, low=0.0, high=1.0
    )
    contours: str | None = setting(
        None, "Image with contours, or ONNX model that finds them; auto = our own.", kind=str
    )


@dataclass(frozen=True)
class SegmentationSettings(Section):
    """Superpixels: the segments S_i, each with a plane of its own (paper §4)."""

    method: str = setting(
        "slic+disparity",
        "`slic` sees colour, `slic+disparity` the initial disparity too, `ucm` is cut from "
        "contours, `slic+ucm` is the intersection.",
        choices=("slic", "slic+disparity", "ucm", "slic+ucm"),
    )
    count: int | None = setting(
        None,
        "Segments asked for; auto = one for 600 pixels, at most 2000, but at least 800 or, in "
        "small images, one for 150 pixels; from 6 million pixels on one for 3000.",
        low=1,
        high=10_000_000,
    )
    slic: SlicSettings = dataclasses.field(default_factory=SlicSettings)
    ucm: UcmSettings = dataclasses.field(default_factory=UcmSettings)


@dataclass(frozen=True)
class WeightSettings(Section):
    """The weights w of the energy Σ w φ, six of which the paper learns (§3.3); from tuning.

    φ_seg and φ_bdy1 are sums over pixels, the others small numbers a boundary or junction: with
    equal weights the latter would have no say.
    """

    seg: float = setting(1.0, "Of the disparity potential φ_seg.", symbol="w_seg", low=0.0)
    bdy1: float = setting(1.0, "Of the boundary potential φ_bdy1.", symbol="w_bdy1", low=0.0)
    bdy2: float = setting(50.0, "Of the compatibility potential φ_bdy2.", symbol="w_bdy2", low=0.0)
    jct: float = setting(30.0, "Of three-way junctions φ_jct.", symbol="w_jct", low=0.0)
    crs: float = setting(30.0, "Of four-way junctions φ_crs.", symbol="w_crs", low=0.0)
    col: float = setting(25.0, "Of the colour potential φ_col.", symbol="w_col", low=0.0)
    vis: float = setting(
        5.0, "Of the visibility potential φ_vis; not in the paper.", symbol="w_vis", low=0.0
    )
    pho: float = setting(
        25.0, "Of the photometric potential φ_pho; not in the paper.", symbol="w_pho", low=0.0
    )
    user: float = setting(
        1.0,
        "Of the user's potential φ_user, given to `slanted.estimate`; nothing without one.",
        symbol="w_user",
        low=0.0,
    )


@dataclass(frozen=True)
class ModelSettings(Section):
    """The potentials of the hybrid MRF (paper §3.1); their constants are those of §4."""

    noise: float = setting(
        0.3,
        "Noise of the matches at which the weights hold; where the matches are more precise, the "
        "data potentials count more. 0 = they always count alike, as in the paper.",
        unit="px",
        low=0.0,
    )
    confidence: bool = setting(
        False, "Weigh pixels in φ_seg and φ_bdy1 by the matcher's confidence; the paper does not."
    )
    truncation: float = setting(
        3.0, "Residual beyond which a match counts as wrong.", symbol="K", unit="px", low=1e-3
    )
    lambda_occ: float = setting(9.0, "Cost of an occlusion boundary.", symbol="λ_occ", low=0.0)
    lambda_hinge: float = setting(1.0, "Cost of a hinge.", symbol="λ_hinge", low=0.0)
    lambda_imp: float = setting(30.0, "Cost of the impossible.", symbol="λ_imp", low=0.0)
    lambda_col: float = setting(
        30.0,
        "Largest cost of unlike colours, and the cost of any label but coplanar.",
        symbol="λ_col",
        low=0.0,
    )
    kappa: float = setting(60.0, "Cost of a χ² colour distance of 1.", symbol="κ", low=0.0)
    weights: WeightSettings = dataclasses.field(default_factory=WeightSettings)


@dataclass(frozen=True)
class InferenceSettings(Section):
    """Particle convex belief propagation (paper §3.2)."""

    particles: int = setting(7, "Planes a segment chooses from.", symbol="N", low=1, high=1000)
    iterations: int = setting(
        1,
        "Times that particles are drawn anew, before segments are refined; on segments of your own "
        "the draws of refinement come on top.",
        low=0,
        high=1000,
    )
    proposals: str = setting(
        "mixture",
        "Where particles come from: `paper` draws Gaussians, `paper+incumbent` keeps the current "
        "plane, `mixture` adds a refit and neighbours' planes.",
        choices=("paper", "paper+incumbent", "mixture"),
    )
    sigma_slope: float = setting(
        0.5, "Deviation of the paper's slopes, at first.", symbol="σ_α, σ_β", unit="px/px", low=0.0
    )
    sigma_disparity: float = setting(
        5.0, "Deviation of the paper's disparities, at first.", symbol="σ_γ", unit="px", low=0.0
    )
    sigma_decay: float = setting(
        10.0, "Iterations in which the paper's deviations fall to 1/e.", low=1e-3
    )
    mixture_sigma: float = setting(
        1.0, "Deviation of the mixture's disparities, at first.", unit="px", low=0.0
    )
    mixture_decay: float = setting(
        0.6, "Its factor from one iteration to the next.", low=0.0, high=1.0
    )
    mixture_neighbours: float = setting(
        1.0, "Share of the mixture's particles that are neighbours' planes.", low=0.0, high=1.0
    )
    sweeps: int = setting(6, "Most message-passing sweeps an iteration.", low=0, high=1_000_000)
    check_every: int = setting(6, "Sweeps between two looks at the bound.", low=1, high=1_000_000)
    gap_tolerance: float = setting(1e-6, "Stop when energy and bound are this close.", low=0.0)
    progress_tolerance: float = setting(
        1e-5, "Stop when the bound rises by less than this share between two looks.", low=0.0
    )
    epsilon: float = setting(
        0.0, "Temperature of the messages; 0 = max-product.", symbol="ε", low=0.0
    )


@dataclass(frozen=True)
class RectificationSettings(Section):
    """The check that both images share their rows, made on matched features."""

    check: str = setting(
        "refuse",
        "On a pair that is not rectified or is swapped, `refuse` stops and `warn` goes on.",
        choices=("refuse", "warn", "off"),
    )
    warn_offset: float = setting(
        1.0, "Vertical offset above which a warning is given.", unit="px", low=0.0
    )
    refuse_offset: float = setting(
        10.0, "Vertical offset above which the pair is refused.", unit="px", low=0.0
    )


@dataclass(frozen=True)
class TilesSettings(Section):
    """Large images, whose dear stages are done in parts; see docs/scale.md."""

    above: int = setting(
        12_000_000,
        "Images of more pixels are worked on in tiles.",
        unit="px",
        low=1,
        high=2**31,
    )
    pixels: int = setting(
        6_000_000, "Pixels that a tile or band has, about.", unit="px", low=10_000, high=2**31
    )
