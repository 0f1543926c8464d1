"""Pixels at the right rim of something near, whose matches are not to be believed.

A matcher's window reaches over depth edges. Beside a near surface, it sees that surface's texture
or the edge itself, and finds the near disparity for pixels that are already behind it: what is
near grows by some pixels. On its left this falls where the right view shows nothing anyway; on
its right the surface behind is seen by both views, and the two planes can be compared there: the
pixels round one that have its colour either look like the right view where the near plane puts
them, or where the far one does. Grey values and their slopes pixel by pixel have no window, so
they have no such bias; colour keeps the sum from reaching over the edge. Not in the paper.

A pixel leaves the near plane only if it looks *like* the far one, not just less unlike it: glass,
reflections and exposures that differ make both planes look wrong, and the matches, which rest on
census and on paths over the whole image, are then right more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.model.drawing import draw_planes
from slanted.model.visibility import SLACK, right_view
from slanted.refinement.rim_kernels import Map, RimRule, View, redecide_rows
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from slanted.images import GreyPair
    from slanted.settings.refinement import RefinementSettings

COLOUR_FADE = 20.0
"""Sum of differences of 8-bit Lab values at which a pixel of the window weighs 1/e."""


@dataclass(frozen=True, eq=False)
class Views:
    """Both views, (2, H, W) each: grey values, and how these change over two columns."""

    left: View
    right: View


def views_of_pair(grey: GreyPair) -> Views:
    """Return the views of an 8-bit grey pair."""
    return Views(*(_view(image) for image in grey))


def _view(grey: NDArray[np.uint8]) -> View:
    """Return an 8-bit image beside its slope; beyond its borders it goes on."""
    view = np.empty((2, *grey.shape), np.int16)
    view[0] = grey
    view[1, :, 1:-1] = view[0, :, 2:] - view[0, :, :-2]
    view[1, :, 0] = view[0, :, 1] - view[0, :, 0]
    view[1, :, -1] = view[0, :, -1] - view[0, :, -2]
    return view


def redecide_rims(
    label_image: Ints,
    planes: Floats,
    matched: Map,
    lab: NDArray[np.uint8],
    views: Views,
    settings: RefinementSettings,
) -> Map:
    """Return D(p), but the farther plane's disparity where the rim of something near looks like it.

    Parameters
    ----------
    label_image
        (H, W) segments.
    planes
        (n, 3) about the pixel (0, 0), in the pixels of `matched`.
    matched
        (H, W) D(p), NaN where unknown; not changed.
    lab
        (3, H, W) 8-bit Lab planes of the left image.
    views
        From `views_of_pair`.
    settings
        How wide a rim is, and what looks alike.
    """
    found = np.array(matched, np.float32)
    drawn = draw_planes(label_image, np.zeros((len(planes), 2)), planes)
    inputs = (
        label_image,
        planes,
        np.ascontiguousarray(lab),
        views.left,
        views.right,
        right_view(drawn),
        np.exp(-np.arange(3 * 255 + 1) / COLOUR_FADE),
        rim_rule(settings),
    )
    share(len(label_image), bind(redecide_rows, inputs, found))
    return found


def rim_rule(settings: RefinementSettings) -> RimRule:
    """Return what the rim is; constants were chosen on the ``train`` frames, most matter little."""
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
