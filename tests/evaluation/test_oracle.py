"""The oracle: planes fitted to ground truth."""

import numpy as np

from slanted.evaluation.metrics import evaluate
from slanted.evaluation.oracle import oracle_disparity
from slanted.synthetic import make_scene


def test_exact_segments_have_a_perfect_oracle():
    scene = make_scene(160, 120, seed=3)
    drawn = oracle_disparity(scene.segments, scene.disparity)
    np.testing.assert_allclose(drawn, scene.disparity, atol=0.02)


def test_the_larger_part_of_a_straddling_segment_wins():
    truth = np.full((10, 20), 5, np.float32)
    truth[:, 14:] = 30
    drawn = oracle_disparity(np.zeros((10, 20), np.int32), truth)
    assert evaluate(drawn, truth)["out-3px-all"] == 30  # 6 of 20 columns


def test_segments_without_ground_truth_stay_unknown():
    labels = np.repeat([[0, 1]], 4, axis=0).repeat(3, axis=1).astype(np.int32)
    truth = np.full(labels.shape, np.nan, np.float32)
    truth[0, 0] = 7  # one pixel: a level plane
    drawn = oracle_disparity(labels, truth)
    np.testing.assert_allclose(drawn[labels == 0], 7, atol=1e-5)
    assert np.isnan(drawn[labels == 1]).all()
