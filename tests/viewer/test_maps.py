"""What the page's 3D view paints by."""

import warnings
from dataclasses import replace

import numpy as np

from slanted.viewer.maps import colour_normals, plane_normals
from viewer.worlds import CAMERAS, estimated

RESULT = estimated()[0]


def test_a_plane_at_infinity_faces_the_cameras():
    planes = RESULT.planes.copy()
    planes[0] = (0, 0, -CAMERAS.doffs_pixels)
    far = replace(RESULT, inference=replace(RESULT.inference, planes=planes))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        normals = plane_normals(far, CAMERAS)
        painted = colour_normals(far, CAMERAS)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)
    assert normals[0].tolist() == [0, 0, -1]
    np.testing.assert_array_equal(normals[1:], plane_normals(RESULT, CAMERAS)[1:])
    assert painted[RESULT.regions.label_image == 0].tolist()[0] == [128, 128, 255]
