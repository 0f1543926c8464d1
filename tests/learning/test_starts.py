"""On the scenes of the noise experiment, learning ends well from bad weights of either kind."""

from dataclasses import replace

import numpy as np
import pytest

from slanted.learning import learn_weights
from slanted.learning.weights_file import weighed
from slanted.research.experiments.jobs.noise import NoisySource
from slanted.research.experiments.learning import HAND_SET
from slanted.research.experiments.noise import settings_for

BY_HAND = np.array([1, 0.5, 6, 8, 8, 12, 0, 0])
"""The weights of a grid with the least RMS error on ten scenes (docs/learning.md)."""
STARTS = {
    "all alike": np.array([1.0, 1, 1, 1, 1, 1, 0, 0]),
    "far too smooth": np.array([1.0, 1, 100, 30, 30, 20, 0, 0]),
}
SCENES = [NoisySource(1, 3, 3.0), NoisySource(1, 6, 1.0)]


def quick(weights, **changes):
    """Settings with few particles and sweeps, but the default loss."""
    settings = weighed(settings_for(dict.fromkeys(HAND_SET, 1.0)), weights)
    learning = {"particles": 16, "max_sweeps": 10, "tolerance": 1e-4, "workers": 1, **changes}
    return replace(settings, threads=1, learning=replace(settings.learning, **learning))


@pytest.fixture(scope="module")
def best():
    """RMS errors with weights set by hand."""
    return learn_weights(SCENES, quick(BY_HAND, rounds=1, max_steps=1)).before["rms-all"]


@pytest.mark.parametrize("start", STARTS)
def test_learning_ends_near_the_best_weights_from_any_start(best, start):
    learned = learn_weights(SCENES, quick(STARTS[start], rounds=3))
    assert learned.after["rms-all"] < 1.2 * best
    assert learned.after["rms-all"] < learned.before["rms-all"]
    assert learned.kept > 0
