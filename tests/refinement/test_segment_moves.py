"""Boundaries that move and segments that split: kernels against naive twins, and what they keep."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

import naive_moves
from partition.label_maps import SPECIAL_MAPS, label_maps, voronoi
from slanted.partition.connectivity import pieces_and_runs
from slanted.refinement.move_kernels import (
    MIXED,
    SINGLE_RUNS,
    SMALLEST_SEGMENT,
    MoveWeights,
    move_pixels,
)
from slanted.refinement.segment_moves import (
    BANDS,
    about_origin,
    move_boundaries,
    move_framed,
    move_weights,
    segment_sums,
    turns_of_pixels,
)
from slanted.refinement.segment_splits import (
    SMALLEST_PIECE,
    fit_patches,
    piece_origins,
    split_segments,
)
from slanted.regions import build_regions
from slanted.runtime.threads import thread_limit
from slanted.settings.refinement import RefinementSettings

RING = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
"""The eight pixels round one, row and column. Neighbours in this cycle share a side."""
SEEDS = st.integers(0, 2**32 - 1)
small_maps = st.builds(voronoi, st.integers(4, 8), st.integers(4, 9), st.integers(2, 5), SEEDS)


def random_case(labels, seed):
    """Arrays and weights of few binary digits: disparities come out exact."""
    rng = np.random.default_rng(seed)
    lab = rng.integers(0, rng.choice([3, 40, 256]), (3, *labels.shape), dtype=np.uint8)
    matched, right = rng.integers(0, 40, (2, *labels.shape)).astype(np.float32) / 4
    matched[rng.random(labels.shape) < 0.4] = np.nan
    right[rng.random(labels.shape) < 0.2] = np.nan
    planes = rng.integers(-2, 3, (labels.max() + 1, 3)) / 8
    planes[:, 2] = rng.integers(-4, 40, len(planes)) / 4
    scale = rng.choice([0, 1, 100, 2000], 4) * rng.integers(1, 64, 4) / 16
    position, disparity, visibility, length = scale.tolist()
    weights = MoveWeights(position, disparity, rng.integers(1, 40) / 4, visibility, length)
    return lab, matched, right, planes, weights


def moved(labels, lab, matched, right, planes, weights, passes):
    framed = np.pad(np.asarray(labels, np.int32), 1, constant_values=-1)
    moves, change = move_framed(framed, lab, matched, right, planes, weights, passes)
    return framed[1:-1, 1:-1].copy(), moves, change


def holes(labels, count):
    """How many parts everything but each segment has, with corners, the outside as one of them."""
    framed = np.pad(labels, 1, constant_values=-1)
    return [ndimage.label(framed != k, np.ones((3, 3)))[1] for k in range(count)]


def test_where_a_pixel_may_leave_or_join_is_where_the_rest_is_one_part():
    for places in range(256):
        labels = np.zeros((3, 3), np.int32)
        for k, (v, u) in enumerate(RING):
            labels[1 + v, 1 + u] = places >> k & 1
        allowed = places < 255 and naive_moves.one_part(labels, 1, 1, 1)
        assert SINGLE_RUNS[places] == (labels.sum() if allowed else 0)


@settings(max_examples=25, deadline=None)
@given(small_maps, SEEDS, st.integers(0, 3))
def test_moves_equal_their_naive_twin(labels, seed, passes):
    case = random_case(labels, seed)
    ours, moves, change = moved(labels, *case, passes)
    twin, twin_moves, twin_change = naive_moves.move_pixels(labels, *case, passes, BANDS)
    np.testing.assert_array_equal(ours, twin)
    assert moves == twin_moves
    assert change == pytest.approx(float(twin_change), rel=1e-9, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(label_maps, SEEDS)
def test_moves_of_a_band_keep_sums_up_to_date_and_to_themselves(labels, seed):
    lab, matched, right, planes, weights = random_case(labels, seed)
    framed = np.pad(np.asarray(labels, np.int32), 1, constant_values=-1)
    inner = framed[1:-1, 1:-1]
    sums = segment_sums(inner, lab, len(planes))
    bands = np.random.default_rng(seed).integers(1, 4, len(planes)).astype(np.uint8)
    turns, due = turns_of_pixels(framed, bands)
    inputs = framed, sums, lab, matched, right, planes, weights, bands, turns, due
    for band in (1, 2, 3, MIXED):
        owners = bands[inner]
        others = np.where(owners == band, -1, inner)
        move_pixels(*inputs, band, False)
        np.testing.assert_array_equal(sums, segment_sums(inner, lab, len(planes)))
        np.testing.assert_array_equal(turns, turns_of_pixels(framed, bands)[0])
        if band != MIXED:
            np.testing.assert_array_equal(bands[inner], owners)
            np.testing.assert_array_equal(np.where(owners == band, -1, inner), others)


@settings(max_examples=40, deadline=None)
@given(label_maps, SEEDS)
def test_the_energy_equals_its_naive_twin(labels, seed):
    case = random_case(labels, seed)
    expected = float(naive_moves.move_energy(labels, *case))
    assert naive_moves.partition_energy(labels, *case) == pytest.approx(
        expected, rel=1e-12, abs=1e-6
    )


def check_moves(labels, case):
    before = np.bincount(labels.ravel())
    energies = [naive_moves.partition_energy(labels, *case)]
    for passes in (1, 2, 1000):
        found, moves, change = moved(labels, *case, passes)
        energies.append(naive_moves.partition_energy(found, *case))
        assert energies[-1] - energies[0] == pytest.approx(change, rel=1e-9, abs=1e-3)
        assert energies[-1] <= energies[-2] + 1e-3
        assert (moves == 0) == (change == 0)
        regions = build_regions(found)  # raises unless all are there, in one piece
        assert (regions.size >= np.minimum(before, SMALLEST_SEGMENT)).all()
        assert holes(found, len(before)) == holes(labels, len(before))
    # Pixels that nothing moved beside were not tried again, so that a new start may find more to
    # gain; but it comes to an end.
    for _ in range(100):
        again, moves, change = moved(found, *case, 1000)
        assert (moves == 0) == (change == 0)
        assert change <= 0
        if moves == 0:
            np.testing.assert_array_equal(again, found)
            break
        found = again
    else:
        pytest.fail("pixels still move after 100 starts")


@settings(max_examples=60, deadline=None)
@given(label_maps, SEEDS)
def test_moves_lower_the_energy_and_keep_segments_whole(labels, seed):
    check_moves(labels, random_case(labels, seed))


@pytest.mark.parametrize("name", SPECIAL_MAPS)
def test_moves_on_special_maps(name):
    labels = np.kron(SPECIAL_MAPS[name], np.ones((3, 4), np.int32))
    for seed in range(5):
        check_moves(labels, random_case(labels, seed))


def test_a_pair_of_large_segments_is_exact_too():
    labels = (np.indices((600, 900))[1] >= 450).astype(np.int32)
    case = *random_case(labels, 3)[:4], MoveWeights(0.01, 50.0, 9.0, 50.0, 20.0)
    start = naive_moves.partition_energy(labels, *case)
    found, moves, change = moved(labels, *case, 2)
    assert moves > 100
    assert naive_moves.partition_energy(found, *case) - start == pytest.approx(change, rel=1e-6)
    assert change < 0


def test_where_nothing_gains_nothing_moves():
    labels = voronoi(40, 60, 9, 1)
    nothing = np.full(labels.shape, np.nan, np.float32)
    regions = build_regions(labels)
    plain = replace(RefinementSettings(), position_weight=0, length_weight=0)
    lab = np.full((3, *labels.shape), 90, np.uint8)
    planes = np.zeros((regions.count, 3))
    ours = move_boundaries(labels, lab, nothing, nothing, planes, plain)
    np.testing.assert_array_equal(ours, labels)
    random_lab = np.random.default_rng(0).integers(0, 256, lab.shape, dtype=np.uint8)
    no_passes = replace(RefinementSettings(), passes=0)
    ours = move_boundaries(labels, random_lab, nothing, nothing, planes, no_passes)
    np.testing.assert_array_equal(ours, labels)


def two_planes(edge):
    """A grey image cut in the middle, with a plane in front on the left and a level one behind."""
    regions = build_regions((np.indices((30, 60))[1] >= 30).astype(np.int32))
    columns, rows = np.indices((30, 60))[::-1]
    front, back = 20 + 0.1 * columns, 5 + 0.05 * rows
    matched = np.where(columns < edge, front, back).astype(np.float32)
    u, v = regions.centre.T
    planes = np.array([[0.1, 0, 20 + 0.1 * u[0]], [0, 0.05, 5 + 0.05 * v[1]]])
    lab = np.full((3, 30, 60), 90, np.uint8)
    return regions.label_image, lab, matched, about_origin(regions, planes)


@pytest.mark.parametrize("edge", [24, 30, 36])
def test_a_boundary_moves_to_the_step_of_the_disparity(edge):
    labels, lab, matched, planes = two_planes(edge)
    unknown = np.full_like(matched, np.nan)
    passes = replace(RefinementSettings(), passes=20)
    found = move_boundaries(labels, lab, matched, unknown, planes, passes)
    np.testing.assert_array_equal(found, np.indices(found.shape)[1] >= edge)


def test_pixels_without_a_match_leave_a_plane_that_would_be_seen():
    labels, lab, matched, planes = two_planes(22)
    matched[:, 22:34] = np.nan  # hidden from the right view by what is in front
    right = np.full_like(matched, 6)
    passes = replace(RefinementSettings(), passes=20)
    found = move_boundaries(labels, lab, matched, right, planes, passes)
    np.testing.assert_array_equal(found, np.indices(found.shape)[1] >= 22)
    blind = replace(passes, visibility_weight=0)
    stayed = move_boundaries(labels, lab, matched, right, planes, blind)
    np.testing.assert_array_equal(stayed, labels)


def test_moves_in_many_threads_at_once_are_the_same():
    labels = voronoi(80, 90, 30, 2)
    regions = build_regions(labels)
    lab, matched, right, planes, _ = random_case(labels, 7)
    origin = about_origin(regions, planes)
    inputs = labels, lab, matched, right, origin, RefinementSettings()
    with thread_limit(1):
        expected = move_boundaries(*inputs)
    for threads in (2, 3, 4):
        with thread_limit(threads):
            np.testing.assert_array_equal(move_boundaries(*inputs), expected)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: move_boundaries(*inputs), range(8)):
            np.testing.assert_array_equal(found, expected)
    weights = move_weights(labels.size / regions.count, RefinementSettings())
    before, after = (
        naive_moves.partition_energy(image, lab, matched, right, origin, weights)
        for image in (labels, expected)
    )
    assert after < before


@settings(max_examples=40, deadline=None)
@given(label_maps, SEEDS, st.integers(1, 30))
def test_splits_equal_their_naive_twin(labels, seed, split_size):
    rng = np.random.default_rng(seed)
    regions = build_regions(labels)
    matched = rng.integers(0, 4, labels.shape).astype(np.float32)
    matched[rng.random(labels.shape) < 0.1] = np.nan
    off = matched >= 1  # farther than 0.5 from level planes at 0
    option = replace(RefinementSettings(), split_size=split_size, split_distance=0.5)
    ours, parent, _ = split_segments(regions, matched, np.zeros((regions.count, 3)), option)
    twin, parents = naive_moves.split_segments(labels, off, matched, split_size, SMALLEST_PIECE)
    np.testing.assert_array_equal(ours, twin)
    assert parent.tolist() == parents
    build_regions(ours)
    kept = parent[ours] >= 0
    changed = kept & (parent[ours] != regions.label_image)
    assert ours.dtype == np.int32
    cut = np.isin(regions.label_image, regions.label_image[~kept])
    assert not (changed & ~cut).any()  # only crumbs of segments that were cut change hands


def box_scene():
    """Two segments on one plane; in the left one a box of 10 × 12 pixels stands in front."""
    labels = (np.indices((30, 60))[1] >= 40).astype(np.int32)
    matched = np.full(labels.shape, 5, np.float32)
    matched[8:18, 10:22] = 15 + 0.5 * np.arange(12)
    return build_regions(labels), matched, np.array([[0, 0, 5.0], [0, 0, 5.0]])


def test_a_box_inside_a_segment_becomes_a_segment():
    regions, matched, planes = box_scene()
    labels, parent, _ = split_segments(regions, matched, planes, RefinementSettings())
    assert parent.tolist() == [0, 1, -1]
    expected = regions.label_image.copy()
    expected[8:18, 10:22] = 2
    np.testing.assert_array_equal(labels, expected)


def test_what_joins_a_patch_does_not_tilt_its_plane():
    regions, matched, planes = box_scene()
    matched[11:14, 13:16] = 5  # a hole of nine pixels, which joins the patch
    labels, parent, core = split_segments(regions, matched, planes, RefinementSettings())
    assert parent.tolist() == [0, 1, -1]
    assert (labels[11:14, 13:16] == 2).all()
    assert not core[11:14, 13:16].any()
    a, b, c = fit_patches(labels, 2, matched, core)[0]
    np.testing.assert_allclose([a, b, c + 10 * a], [0.5, 0, 15], atol=0.02)


def test_a_box_that_cuts_a_segment_leaves_two_of_its_plane():
    regions, matched, planes = box_scene()
    matched[:, 18:24] = 15
    matched[8:18, 10:18] = 5
    matched[:, 24:26] = np.nan
    labels, parent, _ = split_segments(regions, matched, planes, RefinementSettings())
    assert parent.tolist() == [0, 0, 1, -1]
    assert [int(labels[0, x]) for x in (0, 18, 24, 40)] == [0, 3, 1, 2]


def test_crumbs_join_the_longest_neighbour():
    regions, matched, planes = box_scene()
    matched[20:, 20:] = 15  # over both segments
    matched[25:27, 37:40] = np.nan
    labels, parent, _ = split_segments(regions, matched, planes, RefinementSettings())
    assert parent.tolist() == [0, 1, -1, -1]
    assert (labels[20:, 20:] == 3).all()


@pytest.mark.parametrize(
    "option", [{"split_size": 0}, {"split_size": 121}, {"split_distance": 30.0}]
)
def test_without_patches_segments_stay_as_they_are(option):
    regions, matched, planes = box_scene()
    swapped = build_regions(1 - regions.label_image)  # numbers that are not in raster order
    chosen = replace(RefinementSettings(), **option)
    labels, parent, _ = split_segments(swapped, matched, planes, chosen)
    np.testing.assert_array_equal(labels, swapped.label_image)
    assert parent.tolist() == [0, 1]


def test_planes_are_cut_off_as_when_drawn():
    regions, matched, planes = box_scene()
    matched[:] = 0
    low = planes - [0, 0, 15]
    assert len(split_segments(regions, matched, low, RefinementSettings())[1]) == 1
    labels, _, _ = split_segments(regions, matched, low, RefinementSettings(), lowest=0.0)
    np.testing.assert_array_equal(labels, regions.label_image)


@settings(max_examples=40, deadline=None)
@given(label_maps, SEEDS)
def test_planes_of_patches_are_least_squares(labels, seed):
    rng = np.random.default_rng(seed)
    first = int(labels.max() // 2)
    matched = rng.normal(20, 3, labels.shape).astype(np.float32)
    matched[rng.random(labels.shape) < 0.2] = np.nan
    found = fit_patches(labels, first, matched, ~np.isnan(matched))
    assert len(found) == labels.max() + 1 - first
    for k, plane in enumerate(found, start=first):
        rows, columns = np.nonzero((labels == k) & ~np.isnan(matched))
        if len(rows) == 0:
            continue
        # A slope of one pixel a pixel costs as much as a match that is a pixel off.
        u, v, d = columns.mean(), rows.mean(), matched[rows, columns].astype(float)
        equations = np.vstack(
            [np.column_stack([columns - u, rows - v, np.ones(len(d))]), np.eye(3)[:2]]
        )
        a, b, c = np.linalg.lstsq(equations, np.concatenate([d, [0, 0]]), rcond=None)[0]
        np.testing.assert_allclose(plane, [a, b, c - a * u - b * v], atol=1e-6)


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_pieces_know_their_size_and_origin(seed):
    labels = np.random.default_rng(seed).integers(0, 4, (6, 7)).astype(np.int32)
    pieces, (begin, _) = pieces_and_runs(labels)
    sizes, origins = naive_moves.piece_origins(pieces, labels)
    found = piece_origins(pieces, labels, begin)
    assert found[0].tolist() == sizes
    assert found[1].tolist() == origins
