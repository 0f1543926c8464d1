"""Rims of near things: the kernel against its naive twin, and matches that are put right."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_model
import naive_moves
from partition.label_maps import voronoi
from slanted.images.colour import grey_pair, lab_planes
from slanted.refinement.rim import COLOUR_FADE, redecide_rims, rim_rule, views_of_pair
from slanted.refinement.rim_kernels import RimRule, redecide_rows
from slanted.runtime.threads import thread_limit
from slanted.settings.refinement import RefinementSettings

SEEDS = st.integers(0, 2**32 - 1)
maps = st.builds(voronoi, st.integers(4, 9), st.integers(4, 16), st.integers(2, 6), SEEDS)


def random_case(labels, seed):
    """Few binary digits everywhere: sums come out exact, in whatever order."""
    rng = np.random.default_rng(seed)
    shape = labels.shape
    lab = rng.integers(0, rng.choice([3, 40, 256]), (3, *shape), dtype=np.uint8)
    left, right = rng.integers(0, rng.choice([4, 30, 256]), (2, 2, *shape)).astype(np.int16)
    shown = rng.integers(0, 40, shape).astype(np.float32) / 4
    shown[rng.random(shape) < 0.5] = np.nan
    planes = rng.integers(-2, 3, (labels.max() + 1, 3)) / 8
    planes[:, 2] = rng.integers(-4, 40, len(planes)) / 4
    rule = RimRule(
        reach=int(rng.integers(1, 10)),
        step=1.5,
        slack=1.5,
        radius=int(rng.integers(0, 4)),
        stride=int(rng.integers(1, 3)),
        grey_cap=12.0,
        slope_cap=5.0,
        grey_share=0.25,
        hidden=4.0,
        most=float(rng.choice([2, 4, 100])),
        margin=float(rng.choice([0, 0.25])),
    )
    alike = 0.5 ** (np.arange(766) // 50)
    return planes, lab, left, right, shown, alike, rule


@settings(max_examples=150, deadline=None)
@given(maps, SEEDS)
def test_redecided_rims_are_those_of_the_naive_twin(labels, seed):
    case = random_case(labels, seed)
    before = np.full(labels.shape, np.nan, np.float32)
    found = before.copy()
    middle = len(labels) // 2
    for first, last in ((middle, len(labels)), (0, middle)):
        redecide_rows(labels, *case, first, last, found)
    np.testing.assert_array_equal(found, naive_moves.redecide(labels, *case, before))


@settings(max_examples=60, deadline=None)
@given(maps, SEEDS)
def test_a_pair_is_redecided_with_what_its_planes_show_in_the_right_view(labels, seed):
    planes, lab, left, right, _, _, _ = random_case(labels, seed)
    matched, drawn, shown = np.full((3, *labels.shape), np.nan, np.float32)
    for (y, x), i in np.ndenumerate(labels):
        drawn[y, x] = naive_moves.plane_at(planes[i], x, y)
    for (y, x), d in naive_model.right_view(drawn).items():
        if 0 <= x < labels.shape[1]:
            shown[y, x] = d
    rule = RefinementSettings(rim_width=4, rim_difference=4.0)
    alike = np.exp(-np.arange(766) / COLOUR_FADE)
    expected = naive_moves.redecide(
        labels, planes, lab, left, right, shown, alike, rim_rule(rule), matched
    )
    found = redecide_rims(labels, planes, matched, lab, (left, right), rule)
    np.testing.assert_array_equal(found, expected)


def edge_scene(seed=3):
    """A grey-textured square at 12 px before a ground at 4 px, and matches 4 px too far out."""
    rng = np.random.default_rng(seed)
    ground, square = rng.integers(0, 100, (60, 120, 3)), rng.integers(150, 250, (24, 30, 3))
    left, right = (np.roll(ground, shift, 1).astype(np.uint8) for shift in (0, -4))
    left[20:44, 50:80], right[20:44, 38:68] = square, square
    true, matched = np.full((2, 60, 120), 4, np.float32)
    true[20:44, 50:80], matched[20:44, 46:84] = 12, 12
    return left, right, true, matched


def redecided(left, right, matched, **changes):
    """What becomes of the matches if they are the segments, too."""
    labels = (matched > 8).astype(np.int32)
    planes = np.array([[0, 0, 4.0], [0, 0, 12.0]])
    views, rule = views_of_pair(grey_pair(left, right)), RefinementSettings(**changes)
    return redecide_rims(labels, planes, matched, lab_planes(left), views, rule)


def test_what_is_near_ends_where_it_does():
    left, right, true, matched = edge_scene()
    before = matched.copy()
    found = redecided(left, right, matched)
    np.testing.assert_array_equal(matched, before)
    np.testing.assert_array_equal(found[:, 50:], true[:, 50:])
    # Left of it, the ground is hidden in the right view, and nothing can be said.
    np.testing.assert_array_equal(found[:, :50], matched[:, :50])


def test_pixels_stay_where_neither_plane_looks_right():
    left, right, _, matched = edge_scene()
    other = np.random.default_rng(5).integers(0, 256, right.shape).astype(np.uint8)
    np.testing.assert_array_equal(redecided(left, other, matched), matched)
    np.testing.assert_array_equal(redecided(left, right, matched, rim_width=0), matched)
    np.testing.assert_array_equal(redecided(left, right, matched, rim_difference=0.0), matched)


def test_depth_and_colour_of_images_and_threads_do_not_matter():
    left, right, true, matched = edge_scene()
    found = redecided(left, right, matched)
    with thread_limit(3):
        np.testing.assert_array_equal(redecided(left, right, matched), found)
    grey = left[..., 0], right[..., 0]
    np.testing.assert_array_equal(redecided(*grey, matched)[:, 50:], true[:, 50:])
    views = views_of_pair(grey_pair(*grey))
    wide = views_of_pair(grey_pair(*(image.astype(np.uint16) * 16 for image in grey)))
    assert np.abs(views[0][0] - wide[0][0] * (views[0][0].max() / 255)).max() < 2


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_slopes_are_differences_over_two_columns(seed):
    image = np.random.default_rng(seed).integers(0, 256, (8, 9), dtype=np.uint8)
    view = views_of_pair((image, image))[0]
    padded = np.pad(image.astype(int), ((0, 0), (1, 1)), mode="edge")
    np.testing.assert_array_equal(view[0], image)
    np.testing.assert_array_equal(view[1], padded[:, 2:] - padded[:, :-2])
