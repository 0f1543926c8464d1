"""Label images of users, good and bad."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from slanted.errors import InputError
from slanted.partition.label_image import check_label_image, label_image_from_user
from slanted.regions import build_regions

SIZE = (3, 4)
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@settings(max_examples=120, deadline=None)
@given(st.data(), st.sampled_from(INTEGERS))
def test_any_integers_become_segments(data, dtype):
    bounds = np.iinfo(dtype)
    # The extremes are where a conversion would wrap two labels into one.
    values = st.sampled_from([bounds.min, bounds.max, 0, 1, bounds.max // 2 + 1])
    shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=7)
    array = data.draw(hnp.arrays(dtype, shapes, elements=values))
    labels = label_image_from_user(array, array.shape)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, naive.relabelled(array))
    np.testing.assert_array_equal(check_label_image(labels, array.shape), labels)


@settings(max_examples=120, deadline=None)
@given(
    hnp.arrays(
        np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.integers(0, 5)
    )
)
def test_labels_pass_exactly_if_each_is_one_piece(array):
    pieces = [array[v, u] for piece in naive.pieces(array) for u, v in [min(piece)]]
    if sorted(pieces) == list(range(len(pieces))):
        np.testing.assert_array_equal(check_label_image(array), array)
    else:
        with pytest.raises(InputError, match=r"^label image: "):
            check_label_image(array)


def test_layout_and_type_do_not_matter():
    labels = np.array([[0, 0, 1], [2, 2, 1]])
    expected = build_regions(labels)
    for same in (
        labels.tolist(),
        np.asfortranarray(labels, np.uint8),
        np.repeat(labels, 2, axis=1)[:, ::2],
    ):
        np.testing.assert_array_equal(build_regions(same).label_image, labels)
        np.testing.assert_array_equal(build_regions(same).boundary_pixels, expected.boundary_pixels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(SIZE), "expected integers, got float64"),
        (np.zeros(SIZE, bool), "expected integers, got bool"),
        (np.zeros((4, 3), int), "expected the size of the left image, 4×3, got 3×4"),
        (np.zeros((3, 4, 3), int), r"expected one number per pixel.*got shape \(3, 4, 3\)"),
        (np.zeros((0, 4), int), r"got shape \(0, 4\)"),
        (np.full(SIZE, -1), "expected segments numbered from 0, got -1"),
        (np.full(SIZE, 1), "every number from 0 to 1, got none of 0"),
        (np.array([[0, 0, 0, 0]] * 2 + [[2, 2, 2, 2]]), "every number from 0 to 2, got none of 1"),
        (np.array([[0, 0, 0, 0]] * 2 + [[1, 1, 1, 9]]), "every number from 0 to 9, got none of 2"),
        (np.array([[0, 0, 0, 0]] * 2 + [[1, 1, 1, 2**40]]), "got none of 2"),
        (np.array([[0, 1, 0, 1]] * 3), "got segment 0 in 2 pieces"),
        (np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]]), "got segment 0 in 2 pieces"),
        (np.array([[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]]), "got segment 1 in 3 pieces"),
    ],
)  # fmt: skip
def test_unusable_labels_are_named(labels, message):
    with pytest.raises(InputError, match=f"^label image: .*{message}.*; "):
        check_label_image(labels, SIZE)


@pytest.mark.parametrize(
    "array", [np.zeros(SIZE), np.zeros((4, 3), int), np.zeros((*SIZE, 3), int)]
)
def test_unusable_arrays_of_users_are_named(array):
    with pytest.raises(InputError, match=r"^label image: expected .*, got .*; "):
        label_image_from_user(array, SIZE)


def test_pieces_may_join_late():
    # Three prongs that meet only in the last row, and a spiral: one piece each.
    comb = np.array([[0, 1, 0, 2, 0], [0, 1, 0, 2, 0], [0, 0, 0, 0, 0]])
    spiral = np.array(
        [[0, 0, 0, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]]
    )
    for labels in (comb, spiral):
        np.testing.assert_array_equal(check_label_image(labels), labels)
