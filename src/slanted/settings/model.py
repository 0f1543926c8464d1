"""Settings of the model: the constants of the potentials, and their weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from slanted.settings.fields import Section, setting


def _weight(default: float, name: str, doc: str) -> float:
    weight: float = setting(default, symbol=f"w_{name}", low=0.0, doc=doc)
    return weight


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class WeightSettings(Section):
    """These are the weights w of the energy Σ w φ, of which the paper learns six (§3.3).

    φ_seg and φ_bdy1 are sums over pixels, the others small numbers per boundary or junction, which
    would have no say if all weights were equal.
    """

    seg: float = _weight(1.0, "seg", "The disparity potential φ_seg has this weight.")
    bdy1: float = _weight(1.0, "bdy1", "The boundary potential φ_bdy1 has this weight.")
    bdy2: float = _weight(50.0, "bdy2", "The compatibility potential φ_bdy2 has this weight.")
    jct: float = _weight(30.0, "jct", "The potential φ_jct of three-way junctions has this weight.")
    crs: float = _weight(30.0, "crs", "The potential φ_crs of four-way junctions has this weight.")
    col: float = _weight(25.0, "col", "The colour potential φ_col has this weight.")
    vis: float = _weight(5.0, "vis",
        "The visibility potential φ_vis, which the paper does not have, has this weight.")
    pho: float = _weight(25.0, "pho",
        "The photometric potential φ_pho, which the paper does not have, has this weight.")
    user: float = _weight(1.0, "user",
        "The user's potential φ_user, `potential` of `slanted.estimate`, has this weight.")


@dataclass(frozen=True)
class ModelSettings(Section):
    """These are constants of the potentials of the hybrid MRF (paper §3.1, §4) and of drawing."""

    reference_noise: float = setting(0.3, unit="px", low=0.0, doc=
        "The weights are meant for matches with this standard deviation: more precise matches "
        "count more, noisier ones less. With 0 all count alike, as in the paper.")
    pixel_weights: bool = setting(False, doc=
        "If true, pixels count in φ_seg and φ_bdy1 in proportion to the matcher's confidence; in "
        "the paper all count alike.")
    truncation: float = setting(3.0, symbol="K", unit="px", low=1e-3, doc=
        "Residuals are capped at this value.")
    lambda_occ: float = setting(9.0, symbol="λ_occ", low=0.0, doc=
        "An occlusion boundary costs this much.")
    lambda_hinge: float = setting(1.0, symbol="λ_hinge", low=0.0, doc=
        "A hinge boundary costs this much.")
    lambda_imp: float = setting(30.0, symbol="λ_imp", low=0.0, doc=
        "An impossible choice of planes and labels costs this much.")
    lambda_col: float = setting(30.0, symbol="λ_col", low=0.0, doc=
        "A boundary that is not coplanar costs this much; a coplanar one costs at most this much, "
        "depending on how different the colours of its segments are.")
    kappa: float = setting(60.0, symbol="κ", low=0.0, doc=
        "A χ² distance of 1 between colour histograms costs this much.")
    coarser: int = setting(1, low=1, high=4, doc=
        "Segments, planes and confidence are found on a pair that is this many times smaller, with "
        "matches of the whole size, and are then enlarged. Images of up to 400,000 pixels, images "
        "in tiles, runs with segments or a potential of your own, and learning have 1.")
    sky: bool = setting(True, doc=
        "If true, pixels that look like sky are flagged, are infinitely far in depth maps, and are "
        "left out of point clouds and meshes. Planes and disparities do not depend on it.")
    strip_step: float = setting(0.012, low=0.0, high=1.0, doc=
        "In the strip at the left that the right view does not see, a pixel gets the disparity of "
        "its row's first match if its plane lies behind it by more than a sixth of this share of "
        "the image's width, and less than all of it. With 0 planes are drawn as they are, as in "
        "the paper.")
    relief: float = setting(2.0, unit="px", low=0.0, doc=
        "The disparity follows sure matches that are up to this far from their plane, as far as "
        "they stand out from noise. With 0 planes are drawn as they are, as in the paper.")
    follow: float = setting(0.0, unit="px", low=0.0, doc=
        "The disparity is that of the matches, for dense maps of little noise, such as a "
        "network's. Planes fill its holes, and take its place at depth edges where it is farther "
        "than this from the plane and the right view looks more like the plane. With 0 planes are "
        "drawn as they are, as in the paper; images in tiles always are.")
    weights: WeightSettings = dataclasses.field(default_factory=WeightSettings)
