"""A synthetic scene and the graph of its own segments."""

import pytest

from slanted.regions import build_regions
from slanted.synthetic import make_scene


@pytest.fixture(scope="module")
def scene():
    return make_scene(200, 140, seed=5)


@pytest.fixture(scope="module")
def regions(scene):
    return build_regions(scene.segments, scene.left)
