"""Connected segments and the merging of small ones."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from slanted.partition.connectivity import connected_segments, rename, split_connected


def random_image(seed, height, width, values):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-2, values - 2, (height, width))
    lab = rng.integers(0, 256, (3, height, width), dtype=np.uint8)
    return labels, lab


SHAPES = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)
)


@settings(max_examples=50, deadline=None)
@given(SHAPES)
def test_parts_equal_their_naive_twin(shape):
    labels, _ = random_image(*shape)
    np.testing.assert_array_equal(split_connected(labels), naive.connected_parts(labels))


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(1, 12), st.none() | st.integers(1, 10))
def test_merging_equals_its_naive_twin(shape, min_size, most):
    labels, lab = random_image(*shape)
    counts = None if most is None else (max(1, most - 2), most)
    ours = connected_segments(labels, lab, min_size, counts)
    np.testing.assert_array_equal(ours, naive.merge_small_parts(labels, lab, min_size, counts))
    if counts is not None:
        parts = int(split_connected(labels).max()) + 1
        assert min(parts, counts[0]) <= ours.max() + 1 <= counts[1]


@settings(max_examples=40, deadline=None)
@given(SHAPES, st.integers(1, 12))
def test_segments_are_whole_connected_and_large_enough(shape, min_size):
    labels, lab = random_image(*shape)
    found = connected_segments(labels, lab, min_size)
    sizes = np.bincount(found.ravel())
    assert (sizes > 0).all()
    assert len(sizes) == 1 or sizes.min() >= min_size
    np.testing.assert_array_equal(split_connected(found), found)  # connected, and in raster order


def test_a_crumb_joins_the_neighbour_of_its_colour():
    labels = np.array([[0, 0, 2, 1, 1]] * 3)
    labels[0, 2] = 0
    labels[2, 2] = 1
    lab = np.zeros((3, 3, 5), np.uint8)
    lab[0] = np.where(labels == 1, 200, 10)
    lab[0, 1, 2] = 190
    found = connected_segments(labels, lab, 2)
    assert found[1, 2] == found[1, 3] != found[1, 1]


@settings(deadline=None)
@given(SHAPES)
def test_names_are_looked_up(shape):
    labels = random_image(*shape)[0] + 2
    names = np.random.default_rng(shape[0]).integers(0, 99, labels.max() + 1)
    found = labels.astype(np.int32)
    rename(found, names)
    np.testing.assert_array_equal(found, names[labels])
