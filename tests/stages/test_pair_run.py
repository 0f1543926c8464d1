"""What the stages share of a pair's views is made by idle threads, and is what it would be alone."""

import numpy as np
import pytest

from slanted.images.census import census_of_pair
from slanted.images.colour import grey_pair, lab_planes
from slanted.runtime.threads import lend_threads
from slanted.settings import Settings
from slanted.stages.pair_run import prepare
from slanted.synthetic import make_scene


@pytest.mark.parametrize("threads", [1, 2])
def test_idle_threads_make_what_later_stages_need(threads):
    scene = make_scene(96, 64, segments=20, seed=1)
    settings = Settings().with_text({"threads": str(threads)})
    with prepare(scene.left, scene.right, settings, None) as run:
        run.prepare_views()
        views = run.views
        assert views.lab._helper is None and views.census._helper is None
        lend_threads()
        assert (views.lab._helper is not None) == (threads > 1)
        assert (views.census._helper is not None) == (threads > 1)
        np.testing.assert_array_equal(run.lab, lab_planes(scene.left))
        alone = census_of_pair(grey_pair(scene.left, scene.right))
        np.testing.assert_array_equal(run.census.left, alone.left)
        np.testing.assert_array_equal(run.census.right, alone.right)
