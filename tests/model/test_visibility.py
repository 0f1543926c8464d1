"""What the right view sees of matches, and which planes it contradicts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_model
from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.model.view_kernels import contradictions, gather_unmatched
from slanted.model.visibility import right_view, visibility_cost
from slanted.regions import build_regions

SEEDS = st.integers(0, 2**32 - 1)


def random_map(seed, height=5, width=9):
    rng = np.random.default_rng(seed)
    disparity = rng.uniform(-3, 12, (height, width)).astype(np.float32)
    disparity[rng.random(disparity.shape) < 0.4] = np.nan
    return disparity, rng


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_the_nearest_match_is_seen(seed):
    disparity, _ = random_map(seed)
    expected = np.full(disparity.shape, np.nan, np.float32)
    for (y, x), d in naive_model.right_view(disparity).items():
        if 0 <= x < disparity.shape[1]:
            expected[y, x] = d
    np.testing.assert_array_equal(right_view(disparity), expected)


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_contradictions_equal_pixel_loops(seed, count):
    disparity, rng = random_map(seed)
    labels = np.zeros(disparity.shape, np.int32)
    labels[:, 4:] = 1
    regions = build_regions(labels)
    planes = rng.normal([0, 0, 4], [0.3, 0.3, 5], (2, count, 3))
    start, pixels = gather_unmatched(
        regions.pixel_order, regions.pixel_start, disparity.astype(float).ravel()
    )
    found = contradictions(start, pixels, right_view(disparity), 1.5, regions.centre, planes)
    members = [[(x, y) for y, x in np.argwhere(labels == i)] for i in range(2)]
    expected = [
        [naive_model.contradictions(members[i], disparity, plane) for plane in planes[i]]
        for i in range(2)
    ]
    np.testing.assert_array_equal(found, expected)


def test_a_foreground_plane_in_a_hidden_strip_is_contradicted():
    """Columns 20 to 27 of the ground are hidden behind a box that starts at column 28."""
    disparity = np.full((10, 60), 4.0, np.float32)
    disparity[:, 28:45] = 12.0
    disparity[:, 20:28] = np.nan
    labels = np.zeros(disparity.shape, np.int32)
    labels[:, 20:28] = 1
    labels[:, 28:] = 2
    regions = build_regions(labels, np.zeros((10, 60, 3), np.uint8))
    planes = np.zeros((3, 2, 3))
    planes[:, 0, 2], planes[:, 1, 2] = 4, 12
    cost = visibility_cost(regions, observe(regions, Evidence(disparity)), planes)
    np.testing.assert_array_equal(cost, [[0, 0], [0, 80], [0, 0]])
    # Disparities counted from elsewhere make no difference, and weights do.
    counted = observe(regions, Evidence(disparity), -5.0)
    np.testing.assert_array_equal(
        visibility_cost(regions, counted, planes + np.array([0, 0, 5])), cost
    )
    doubled = observe(regions, Evidence(disparity)).scaled(2.0)
    np.testing.assert_array_equal(visibility_cost(regions, doubled, planes), 2 * cost)
