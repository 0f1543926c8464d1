"""Correction of wrong matches at the right rim of near surfaces (not in the paper).

A matcher's window crosses depth edges. Next to a near surface it finds that surface's disparity for
pixels that are already behind it, so near surfaces grow by some pixels. On their left side this
happens where the right view shows nothing anyway. On their right side both views see the surface
behind, and the two planes can be compared: the pixels of similar colour around a pixel resemble the
right view either where the near plane puts them or where the far plane does. Grey values and their
slopes are compared pixel by pixel, without a window and its bias, and the weights by colour keep
the sum from crossing the edge.

A pixel leaves the near plane only if it resembles the far one well, not just better: with glass,
reflections or different exposures neither plane fits, and the matches are then more often right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.model.drawing import draw_planes
from slanted.model.visibility import SLACK, right_view
from slanted.refinement.rim_kernels import RimRule, View, redecide_rows
from slanted.runtime.arrays import Bytes, DisparityMap, Floats, Ints
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from slanted.images import GreyPair
    from slanted.settings.refinement import RefinementSettings

COLOUR_FADE = 20.0
"""Sum of absolute differences of 8-bit Lab values at which a pixel of the window weighs 1/e."""


def views_of_pair(grey: GreyPair) -> tuple[View, View]:
    """Return both views of an 8-bit grey pair, (2, H, W) each: grey values and their slopes."""
    return _view(grey[0]), _view(grey[1])


def _view(grey: Bytes) -> View:
    """Return an 8-bit image and its slope, with border pixels repeated outwards."""
    view = np.empty((2, *grey.shape), np.int16)
    view[0] = grey
    view[1, :, 1:-1] = view[0, :, 2:] - view[0, :, :-2]
    view[1, :, 0] = view[0, :, 1] - view[0, :, 0]
    view[1, :, -1] = view[0, :, -1] - view[0, :, -2]
    return view


def redecide_rims(
    label_image: Ints,
    planes: Floats,
    matched: DisparityMap,
    lab: Bytes,
    views: tuple[View, View],
    settings: RefinementSettings,
) -> DisparityMap:
    """Return D(p) with the farther plane's disparity at rims that resemble that plane.

    Parameters
    ----------
    label_image
        (H, W) segments.
    planes
        (n, 3) planes about the pixel (0, 0), in the pixels of `matched`.
    matched
        (H, W) D(p), NaN where unknown; not changed.
    lab
        (3, H, W) 8-bit Lab planes of the left image.
    views
        Both views, from `views_of_pair`.
    settings
        Section ``refinement``, for `rim` and `rim_difference`.
    """
    found = np.array(matched, np.float32)
    drawn = draw_planes(label_image, np.zeros((len(planes), 2)), planes)
    inputs = (
        label_image,
        planes,
        np.ascontiguousarray(lab),
        *views,
        right_view(drawn),
        np.exp(-np.arange(3 * 255 + 1) / COLOUR_FADE),
        rim_rule(settings),
    )
    share(len(label_image), bind(redecide_rows, inputs, found), pieces=4)
    return found


def rim_rule(settings: RefinementSettings) -> RimRule:
    """Return the rule of rims; its constants were chosen on the ``train`` frames of KITTI."""
    return RimRule(
        reach=settings.rim_width,
        step=1.5,
        slack=SLACK,
        radius=5,
        stride=2,
        grey_cap=12.0,
        slope_cap=5.0,
        grey_share=0.3,
        hidden=4.0,
        most=settings.rim_difference,
        margin=0.3,
    )
