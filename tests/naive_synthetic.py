"""Slow, obvious versions of what the fields of synthetic scenes mean."""

import numpy as np
from scipy import ndimage

from slanted.boundary_label import BoundaryLabel
from slanted.synthetic.sampling import FAINTEST_CREASE, SEPARATION


def boundaries(segments):
    """All pairs of pixels that share a side, by pair of segments."""
    height, width = segments.shape
    found = {}
    for v in range(height):
        for u in range(width):
            for q in ((u + 1, v), (u, v + 1)):
                if q[0] < width and q[1] < height and segments[v, u] != segments[q[1], q[0]]:
                    i, j = sorted((int(segments[v, u]), int(segments[q[1], q[0]])))
                    found.setdefault((i, j), []).append(((u, v), q))
    return found


def label(scene, i, j, touching):
    """A label from plane values alone, at the pixels that touch."""

    def plane(k, u, v):
        (alpha, beta, gamma), (cx, cy) = scene.planes[k], scene.centres[k]
        return alpha * (u - cx) + beta * (v - cy) + gamma

    gaps = [plane(i, *p) - plane(j, *p) for pair in touching for p in pair]
    here = [plane(i, *p) - plane(j, *p) for p in scene.centres[[i, j]]]
    slopes = scene.planes[i, :2] - scene.planes[j, :2]
    if np.allclose(gaps + here, 0, atol=1e-9) and np.allclose(slopes, 0, atol=1e-12):
        return BoundaryLabel.COPLANAR
    # A crease passes between touching pixels: each is at most one pixel away from it.
    if np.abs(gaps).max() <= np.hypot(*slopes) + 1e-9:
        assert np.hypot(*slopes) >= FAINTEST_CREASE
        return BoundaryLabel.HINGE
    assert min(gaps) >= SEPARATION - 1e-9 or max(gaps) <= -SEPARATION + 1e-9
    return BoundaryLabel.LEFT_OCCLUSION if gaps[0] > 0 else BoundaryLabel.RIGHT_OCCLUSION


def boundary(segments, i, j):
    """B_ij: pixels of either segment within chessboard distance 2 of the other."""
    square = np.ones((5, 5), bool)
    first, second = segments == i, segments == j
    near_first = ndimage.binary_dilation(first, square)
    near_second = ndimage.binary_dilation(second, square)
    return (first & near_second) | (second & near_first)


def hidden_by_pixels(scene):
    """Left pixels behind two neighbours of one nearer surface that fall on both sides of them.

    Knows only what the left view sees, so it may miss pixels but never accuses a visible one.
    """
    height, width = scene.disparity.shape
    hidden = np.zeros((height, width), bool)
    for v in range(height):
        d = scene.disparity[v].astype(float)
        x = np.arange(width) - d
        for u in range(width):
            hidden[v, u] = not 0 <= x[u] <= width - 1
            for k in range(u + 1, width - 1):
                if scene.surface[v, k] == scene.surface[v, k + 1]:
                    nearer = min(d[k], d[k + 1]) > d[u] + 1e-3
                    hidden[v, u] |= nearer and x[k] <= x[u] <= x[k + 1]
    return hidden


def hidden_by_surfaces(scene, surfaces, step=0.02):
    """Push fine samples of every surface forward, row by row, and look who lands in front.

    Knows surfaces that the left view does not see; wrong by up to `step` at their borders.
    """
    height, width = scene.disparity.shape
    u = np.arange(-60.0, width + 60.0, step)
    hidden = np.zeros((height, width), bool)
    for v in range(height):
        d = scene.disparity[v].astype(float)
        x = np.arange(width) - d
        hidden[v] = (x < 0) | (x > width - 1)
        for surface in surfaces:
            row = np.full_like(u, v)
            covered = surface.covers(u, row)
            landed = (u - surface.disparity(u, row))[covered]
            reached = surface.disparity(u, row)[covered]
            if len(landed):
                k = np.minimum(np.searchsorted(landed, x), len(landed) - 1)
                lands = (landed[0] <= x) & (x <= landed[-1])
                hidden[v] |= lands & (reached[k] > d + step)
    return hidden
