"""How far meshes are from the planes that they are made of."""

import numpy as np

from slanted.model.drawing import drawn_range


def distances_to_planes(result, positions, faces, cameras):
    """How far, in px of disparity, each corner of each triangle is from its own segment's plane."""
    x, y, z = np.asarray(positions, np.float64)[np.asarray(faces)].transpose(2, 0, 1)
    u = cameras.fx_pixels * x / z + cameras.cx_pixels
    v = cameras.fy_pixels * y / z + cameras.cy_pixels
    d = cameras.fx_pixels * cameras.baseline_meters / z - cameras.doffs_pixels
    # No triangle leaves its segment: the pixel that its middle lies in tells which it is.
    i = result.regions.label_image[
        np.rint(v.mean(axis=1)).astype(int), np.rint(u.mean(axis=1)).astype(int)
    ]
    a, b, c = result.planes[i].T[:, :, None]
    centre_u, centre_v = result.regions.centre[i].T[:, :, None]
    limits = drawn_range(result.settings, result.searched, result.matched)
    return np.abs((a * (u - centre_u) + b * (v - centre_v) + c).clip(*limits) - d)
