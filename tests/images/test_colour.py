"""Colours: the planes of Lab are OpenCV's, however many threads convert them."""

import cv2
import numpy as np
import pytest

from slanted.images.colour import lab_planes
from slanted.runtime.threads import thread_limit


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("height", [1, 2, 37])
def test_lab_planes_are_those_of_the_whole_image(height, threads):
    image = np.random.default_rng(height).integers(0, 256, (height, 23, 3), np.uint8)
    with thread_limit(threads):
        planes = lab_planes(image)
        of_grey = lab_planes(image[..., 0])
    whole = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)
    np.testing.assert_array_equal(planes, whole.transpose(2, 0, 1))
    assert (of_grey[1:] == 128).all()
