"""SLIC: kernels against naive twins, and against scikit-image as the reference."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.images.colour import lab_planes
from slanted.segmentation.slic import Cells, _even, _grid, _grid_cells, slic
from slanted.segmentation.slic_kernels import (
    assign,
    cell_medians,
    cell_sums,
    move_cells,
)
from slanted.settings import SlicSettings
from slanted.synthetic import make_scene

IMAGE = load_motorcycle()[0]


def move(lab, disparity, labels, centres, planes, reach, bands=3):
    cells = len(planes)
    sums = np.full((bands, cells, 6), -1), np.full((bands, cells, 9), np.nan)
    for band in range(bands):
        cell_sums(lab, disparity, labels, centres, planes, reach, band, band + 1, *sums)
    move_cells(*sums, centres, planes)


def random_case(seed, height, width, across, down, missing=0.3):
    rng = np.random.default_rng(seed)
    lab = rng.integers(0, 256, (3, height, width), dtype=np.uint8)
    disparity = rng.uniform(0, 30, (height, width)).astype(np.float32)
    disparity[rng.random((height, width)) < missing] = np.nan
    columns = (np.arange(across + 1) * width // across).astype(np.int32)
    rows = (np.arange(down + 1) * height // down).astype(np.int32)
    centres = rng.uniform(0, 255, (across * down, 5)).astype(np.float32)
    centres[:, 3] *= width / 255
    centres[:, 4] *= height / 255
    planes = rng.uniform(-1, 1, (across * down, 3)).astype(np.float32) * [0.2, 0.2, 15]
    return lab, disparity, columns, rows, centres, planes.astype(np.float32)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(5, 12), st.integers(5, 14), st.integers(1, 5),
    st.integers(1, 4), st.sampled_from([0.0, 3.0]),
)  # fmt: skip
def test_assignment_equals_its_naive_twin(seed, height, width, across, down, weight):
    lab, disparity, columns, rows, centres, planes = random_case(seed, height, width, across, down)
    labels = np.empty((height, width), np.int32)
    weights = np.float32(0.5), np.float32(weight), np.float32(2.0)
    middle = down // 2
    for part in ((0, middle), (middle, down)):
        assign(lab, disparity, centres, planes, columns, rows, *weights, *part, labels)
    for y in range(height):
        for x in range(width):
            costs = naive.slic_costs(lab, disparity, centres, planes, columns, rows, *weights, x, y)
            # Costs are compared, not labels: rounding decides between equals.
            assert costs[int(labels[y, x])] <= min(costs.values()) * (1 + 1e-5) + 1e-3


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 12), st.integers(5, 14), st.integers(1, 5))
def test_medians_are_those_of_the_cells(seed, height, width, across):
    _, disparity, columns, rows, _, _ = random_case(seed, height, width, across, 3)
    middle = (len(rows) - 1) // 2
    parts = ((0, middle), (middle, len(rows) - 1))
    found = np.concatenate([cell_medians(disparity, columns, rows, *part) for part in parts])
    cells = [(y, x) for y in range(len(rows) - 1) for x in range(len(columns) - 1)]
    for (i, j), median in zip(cells, found, strict=True):
        cell = disparity[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
        known = sorted(cell[np.isfinite(cell)])
        assert median == (known[len(known) // 2] if known else 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.integers(1, 9))
def test_means_equal_numpys(seed, height, width, cells):
    rng = np.random.default_rng(seed)
    lab = rng.integers(0, 256, (3, height, width), dtype=np.uint8)
    labels = rng.integers(0, cells, (height, width), dtype=np.int32)
    centres = np.full((cells, 5), -1, np.float32)
    planes = np.ones((cells, 3), np.float32)
    move(lab, np.empty((0, 0), np.float32), labels, centres, planes, -1.0)
    ys, xs = np.mgrid[:height, :width]
    for k in range(cells):
        chosen = labels == k
        if chosen.any():
            expected = [plane[chosen].mean() for plane in (*lab, xs, ys)]
            np.testing.assert_allclose(centres[k], expected, rtol=1e-6)
        else:
            assert (centres[k] == -1).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.5, 20))
def test_planes_equal_numpys_least_squares(seed, reach):
    lab, disparity, columns, rows, centres, planes = random_case(seed, 14, 16, 3, 2)
    labels = _grid_cells(columns, rows)
    before = centres.copy()
    expected = np.array(
        [
            naive.refit_plane(disparity, labels == k, centres[k], planes[k], reach)
            for k in range(len(planes))
        ]
    )
    move(lab, disparity, labels, centres, planes, reach)
    expected[:, 2] += (expected[:, :2] * (centres - before)[:, 3:]).sum(
        axis=1
    )  # about the new ones
    np.testing.assert_allclose(planes, expected, rtol=2e-3, atol=2e-3)


def test_planes_of_few_or_collinear_pixels_are_level():
    disparity = np.full((4, 9), np.nan, np.float32)
    labels = np.repeat(np.arange(3, dtype=np.int32), 3)[None].repeat(4, axis=0)
    disparity[1, 0:2] = 4, 6  # two pixels
    disparity[:, 4] = 1, 2, 3, 4  # a column
    centres = np.array([[0, 0, 0, 1, 1.5], [0, 0, 0, 4, 1.5], [0, 0, 0, 7, 1.5]], np.float32)
    planes = np.zeros((3, 3), np.float32)
    planes[2] = 7
    move(np.zeros((3, 4, 9), np.uint8), disparity, labels, centres, planes, 100.0)
    np.testing.assert_allclose(planes, [[0, 0, 5], [0, 0, 2.5], [7, 7, 7]])


def boundary_map(labels):
    edges = np.zeros(labels.shape, bool)
    edges[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    edges[:-1] |= labels[:-1] != labels[1:]
    return edges


def recall(labels, truth, reach=2):
    """Share of true boundary pixels with one of ours within `reach`."""
    kernel = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    near = cv2.dilate(boundary_map(labels).astype(np.uint8), kernel) > 0
    return near[truth].mean()


def compactness(labels):
    """Mean isoperimetric quotient 4 π area / perimeter², weighted by area."""
    count = labels.max() + 1
    area = np.bincount(labels.ravel(), minlength=count)
    padded = np.pad(labels, 1, constant_values=-1)
    perimeter = np.zeros(count)
    for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
        differs = padded != np.roll(padded, step, axis)
        perimeter += np.bincount(padded[differs & (padded >= 0)], minlength=count)
    return float((area * 4 * np.pi * area / perimeter**2).sum() / area.sum())


def test_as_good_as_scikit_images_on_boundary_recall_and_compactness():
    from skimage.segmentation import slic as reference

    truth = load_motorcycle()[2]
    steps = cv2.morphologyEx(np.nan_to_num(truth), cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    depth_edges = (steps > 3) & np.isfinite(truth)
    assert depth_edges.sum() > 1000
    theirs = reference(IMAGE, 800, compactness=10, start_label=0, enforce_connectivity=True)
    count = int(theirs.max()) + 1  # fewer than asked for: compare at the number it gives
    ours = slic(lab_planes(IMAGE), count, SlicSettings())
    assert abs((ours.max() + 1) / count - 1) < 0.1
    assert recall(ours, depth_edges) > recall(theirs, depth_edges) - 0.03
    assert compactness(ours) > compactness(theirs) - 0.05


def test_disparity_separates_what_colour_does_not():
    """A grey box before a grey wall: only the disparity knows its outline."""
    disparity = np.full((120, 160), 5, np.float32)
    disparity[37:83, 53:111] = 20
    disparity[::3, ::2] = np.nan
    lab = lab_planes(np.full((120, 160), 128, np.uint8))
    box = np.zeros((120, 160), bool)
    box[37:83, 53:111] = True

    def impurity(labels):
        inside = np.bincount(labels[box], minlength=labels.max() + 1)
        total = np.bincount(labels.ravel())
        return np.minimum(inside, total - inside).sum() / box.size

    assert impurity(slic(lab, 80, SlicSettings(), disparity)) < 0.01
    assert impurity(slic(lab, 80, SlicSettings())) > 0.03


def test_iterations_at_half_the_size_come_first_where_cells_are_wide_enough():
    scene = make_scene(123, 85, segments=12, seed=2)
    lab = lab_planes(scene.left)

    def cut(count, coarse, iterations):
        rules = SlicSettings(coarse_iterations=coarse, iterations=iterations)
        return slic(lab, count, rules, scene.disparity.astype(np.float32))

    coarse, one, many = cut(40, 5, 1), cut(40, 0, 1), cut(40, 0, 12)
    # What took twelve iterations at the whole size is nearer after five smaller ones and one.
    assert variation(coarse, many) < variation(one, many)
    assert np.array_equal(cut(300, 5, 1), cut(300, 0, 6))  # cells of six pixels


def test_enlarged_cells_keep_their_places_and_planes():
    labels = np.array([[0, 1], [0, 0]], np.int32)
    centres = np.array([[1, 2, 3, 0.3, 0.6], [4, 5, 6, 1, 0]], np.float32)
    planes = np.array([[2, -4, 7], [0, 1, 9]], np.float32)
    whole = Cells(labels, centres, planes, is_new=False).enlarged(3, 4)
    assert whole.label_image.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]
    # Pixel x of the smaller image covers 2 x and 2 x + 1, whose middle is 2 x + 0.5.
    np.testing.assert_allclose(whole.centres[:, 3:], [[1.1, 1.7], [2.5, 0.5]])
    np.testing.assert_array_equal(whole.centres[:, :3], centres[:, :3])
    np.testing.assert_array_equal(whole.planes, [[1, -2, 7], [0, 0.5, 9]])
    assert centres[0, 3] == np.float32(0.3)  # the smaller cells stay as they were


def test_borders_are_even_but_for_the_last():
    assert _even(np.array([0, 9, 18, 27], np.int32)).tolist() == [0, 8, 18, 27]


def test_bands_may_start_at_half_the_size():
    scene = make_scene(123, 185, segments=12, seed=2)
    lab, rules = lab_planes(scene.left), SlicSettings(coarse_iterations=3, iterations=2)
    whole = slic(lab, 100, rules)
    banded = slic(lab, 100, rules, band_pixels=123 * 60)
    assert whole.shape == banded.shape
    assert variation(whole, banded) < 0.1


def variation(one, other):
    """Return the variation of information between two label images, in bits."""
    joint = np.histogram2d(one.ravel(), other.ravel(), (one.max() + 1, other.max() + 1))[0]
    joint /= joint.sum()

    def entropy(shares):
        return -(shares[shares > 0] * np.log2(shares[shares > 0])).sum()

    return 2 * entropy(joint) - entropy(joint.sum(axis=0)) - entropy(joint.sum(axis=1))


def test_a_map_without_any_disparity_is_like_none():
    lab = lab_planes(IMAGE[:100, :140])
    nothing = np.full((100, 140), np.nan, np.float32)
    np.testing.assert_array_equal(
        slic(lab, 60, SlicSettings(), nothing), slic(lab, 60, SlicSettings())
    )


@pytest.mark.parametrize(
    ("height", "width", "count"),
    [(375, 1242, 1000), (375, 1242, 20), (30, 437, 30), (400, 10, 2), (9, 9, 20), (40, 40, 5)],
)
def test_the_grid_has_as_many_cells_as_asked_for(height, width, count):
    columns, rows = _grid(height, width, count)
    for borders, size in ((columns, width), (rows, height)):
        assert (borders[0], borders[-1]) == (0, size)
        assert (np.diff(borders) >= 1).all()
    assert abs((len(columns) - 1) * (len(rows) - 1) - count) <= max(1, 0.05 * count)
