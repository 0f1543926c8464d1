"""How far meshes are from the planes that they are made of."""

from itertools import product

import numpy as np

from slanted.model.drawing import drawn_range


def distances_to_planes(result, positions, faces, cameras):
    """How far, in px of disparity, each corner of each triangle is from its own segment's plane."""
    x, y, z = np.asarray(positions, np.float64)[np.asarray(faces)].transpose(2, 0, 1)
    u = cameras.fx_pixels * x / z + cameras.cx_pixels
    v = cameras.fy_pixels * y / z + cameras.cy_pixels
    d = cameras.fx_pixels * cameras.baseline_meters / z - cameras.doffs_pixels
    limits = drawn_range(result.settings, result.searched, result.matched)
    height, width = result.disparity.shape
    # Outlines are smoothed by less than a pixel, so the middle of a triangle is that near to its
    # segment, or two pixels along a diagonal of slivers: one of the segments there is its own.
    best = np.full(u.shape, np.inf)
    for right, down in product(range(-2, 3), repeat=2):
        column = np.rint(u.mean(axis=1) + right).astype(int).clip(0, width - 1)
        row = np.rint(v.mean(axis=1) + down).astype(int).clip(0, height - 1)
        i = result.regions.label_image[row, column]
        a, b, c = result.planes[i].T[:, :, None]
        centre_u, centre_v = result.regions.centre[i].T[:, :, None]
        off = np.abs((a * (u - centre_u) + b * (v - centre_v) + c).clip(*limits) - d)
        best = np.where((off.max(axis=1) < best.max(axis=1))[:, None], off, best)
    return best
