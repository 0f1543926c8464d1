"""Moving boundaries: pixels change to the neighbouring segment whose plane and colour fit better.

Superpixels are cut before any plane is known, and miss edges that colour does not show. With planes
d̂_i held fixed, moves lower the energy (not in the paper)

    E(S) = Σ_i Σ_{p ∈ S_i} [ ‖I_p − μ_i‖² + w_pos n / |Ω| ‖p − c_i‖² + φ_i(p) ] + w_len |B|

    φ_i(p) = w_disp min((D(p) − d̂_i(p))², K²)  if p has a match, else
             w_vis if d̂_i(p) puts p, rounded to a pixel, where the right view shows something
             more than `slanted.model.visibility.SLACK` farther, else 0

where I_p is 8-bit Lab, μ_i and c_i are the means of colour and position over the *current* S_i, the
n segments share |Ω| pixels, and B holds the pairs of pixels of different segments that share a side
or a corner. The change of E by a move is known exactly, so E never rises and moves come to an end.

References
----------
.. [1] K. Yamaguchi, D. McAllester, R. Urtasun, "Efficient Joint Segmentation, Occlusion Labeling,
   Stereo and Flow Estimation", ECCV 2014: moves of boundary pixels under a similar energy.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.model.planes import check_planes, shifted_planes
from slanted.refinement.move_kernels import BLOCK, MIXED, MoveWeights, move_pixels, sum_rows
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Bytes, DisparityMap, Floats, Ints, Starts
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, share, together

if TYPE_CHECKING:
    from slanted.settings.refinement import RefinementSettings

BANDS = 4
"""Number of bands of the image in which boundaries move in parallel; results depend on it."""


def move_boundaries(
    label_image: Ints,
    lab: Bytes,
    matched: DisparityMap,
    right_disparity: DisparityMap,
    planes: Floats,
    settings: RefinementSettings,
) -> Ints:
    """Move pixels to neighbouring segments where that lowers E.

    Parameters
    ----------
    label_image
        (H, W) segments.
    lab
        (3, H, W) 8-bit Lab planes of the left image, from `lab_planes`.
    matched, right_disparity
        (H, W) D(p), and D(p) seen from the right view.
    planes
        (n, 3) planes about the pixel (0, 0), from `about_origin`, in the pixels of `matched`.
    settings
        Section ``refinement``, for the weights and the number of passes.

    Returns
    -------
    label_image
        (H, W) segments, which keep their numbers, stay 4-connected and do not vanish.
    """
    framed = np.pad(label_image, 1, constant_values=-1)
    weights = move_weights(label_image.size / len(planes), settings)
    move_framed(framed, lab, matched, right_disparity, planes, weights, settings.passes)
    return np.ascontiguousarray(framed[1:-1, 1:-1])


def move_framed(
    framed: Ints,
    lab: Bytes,
    matched: DisparityMap,
    right_disparity: DisparityMap,
    planes: Floats,
    weights: MoveWeights,
    passes: int,
) -> tuple[int, float]:
    """Move pixels of a label image framed by −1, in place; return their number and the change of E.

    Passes go over the image in raster order and back alternately; later passes try only pixels next
    to which something has moved. Segments belong to bands of the image by their centres, for any
    number of threads: bands are done in parallel, then the pixels where they meet.
    """
    label_image = framed[1:-1, 1:-1]
    sums = segment_sums(label_image, lab, len(planes))
    bands = (1 + sums[:, 5] * BANDS // np.maximum(sums[:, 0] * len(label_image), 1)).astype(
        np.uint8
    )
    maps = (np.ascontiguousarray(each, np.float32) for each in (matched, right_disparity))
    turns, due = turns_of_pixels(framed, bands)
    inputs = framed, sums, np.ascontiguousarray(lab), *maps, planes, weights, bands, turns, due
    moves, change = 0, 0.0
    for t in range(passes):
        backwards = t % 2 == 1
        alone = [partial(move_pixels, *inputs, 1 + band, backwards) for band in range(BANDS)]
        found = [*together(*alone), move_pixels(*inputs, MIXED, backwards)]
        moves, change = moves + sum(n for n, _ in found), change + sum(by for _, by in found)
        if not any(n for n, _ in found):
            break
    return moves, change


def turns_of_pixels(framed: Ints, bands: Bytes) -> tuple[Bytes, Bytes]:
    """Return the `turns` and `due` of `move_pixels`: bands of pixels, and of those that may move.

    Both are 0 in the frame; `due` is also 0 for pixels that share no side with another segment.
    """
    height, width = framed.shape
    turns, due = np.zeros((2, height, -(-width // BLOCK) * BLOCK), np.uint8)

    def find_turns() -> None:
        band, window = bands[framed[1:-1, 1:-1]], np.ones((3, 3), np.uint8)
        alike = cv2.dilate(band, window) == cv2.erode(band, window)
        turns[1:-1, 1 : width - 1] = np.where(alike, band, np.uint8(MIXED))

    def find_borders() -> None:
        across = framed[1:-1, 2:-1] != framed[1:-1, 1:-2]
        down = framed[2:-1, 1:-1] != framed[1:-2, 1:-1]
        inside = due[1:-1, 1 : width - 1]
        inside[:, :-1] = across
        inside[:, 1:] |= across
        inside[:-1] |= down
        inside[1:] |= down

    together(find_turns, find_borders)
    due *= turns
    return turns, due


def segment_sums(label_image: Ints, lab: Bytes, count: int) -> Starts:
    """Return (count, 6) number of pixels and sums of L, a, b, x, y of each segment."""
    label_image = np.ascontiguousarray(label_image)
    rows = share(len(label_image), bind(sum_rows, (label_image, lab, count)))
    return np.asarray(sum(rows))


def move_weights(size: float, settings: RefinementSettings) -> MoveWeights:
    """Return the weights of E for segments of `size` pixels on average."""
    return MoveWeights(
        position=settings.position_weight / size,
        disparity=settings.disparity_weight,
        cap=settings.truncation**2,
        visibility=settings.visibility_weight,
        length=settings.length_weight,
    )


def about_origin(regions: Regions, planes: Floats) -> Floats:
    """Return the planes about the pixel (0, 0), so that they do not depend on the segments."""
    return shifted_planes(check_planes(regions, planes), -regions.centre)
