"""What the page's 3D view paints by."""

import warnings
from dataclasses import replace

import numpy as np

from slanted.output.pictures import COLOUR_MAPS, colour_map
from slanted.viewer.maps import colour_normals, colour_scales, plane_normals
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


def test_3d_has_the_colour_maps_of_the_picture():
    scales = colour_scales()
    assert tuple(scales) == COLOUR_MAPS
    for name, colours in scales.items():
        painted = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours]
        assert painted == colour_map(name).tolist()
