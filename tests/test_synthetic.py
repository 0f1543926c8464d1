"""Scenes against slow, obvious versions of what their fields mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.synthetic import Scene, make_scene, noise_set
from slanted.synthetic.geometry import clip
from slanted.synthetic.partition import SMALLEST_PIECE
from slanted.synthetic.sampling import (
    FAINTEST_CREASE,
    SEPARATION,
    STEEPEST,
    Stage,
    sample_surfaces,
)


def small_scene(seed: int, width: int = 96, height: int = 72, **options) -> Scene:
    chosen = {"segments": 30, "objects": 3, "min_disparity": 1.0, "max_disparity": 30.0} | options
    return make_scene(width, height, seed=seed, **chosen)


scenes = st.builds(
    small_scene,
    seed=st.integers(0, 2**32 - 1),
    width=st.integers(48, 110),
    height=st.integers(48, 90),
    segments=st.integers(8, 36),
    objects=st.integers(0, 3),
    background=st.integers(1, 3),
)
few = settings(max_examples=12, deadline=None)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return make_scene(320, 240, seed=4)


@pytest.fixture(scope="module")
def noisy():
    return list(noise_set(20, 1.0, seed=0))


# --- naive versions ---------------------------------------------------------------------------


def naive_boundaries(segments):
    """All pairs of pixels that share a side, by pair of segments."""
    height, width = segments.shape
    found = {}
    for v in range(height):
        for u in range(width):
            for q in ((u + 1, v), (u, v + 1)):
                if q[0] < width and q[1] < height and segments[v, u] != segments[q[1], q[0]]:
                    i, j = sorted((int(segments[v, u]), int(segments[q[1], q[0]])))
                    found.setdefault((i, j), []).append(((u, v), q))
    return found


def naive_label(scene, i, j, touching):
    """A label from plane values alone, at the pixels that touch."""

    def plane(k, u, v):
        (alpha, beta, gamma), (cx, cy) = scene.planes[k], scene.centres[k]
        return alpha * (u - cx) + beta * (v - cy) + gamma

    gaps = [plane(i, *p) - plane(j, *p) for pair in touching for p in pair]
    here = [plane(i, *p) - plane(j, *p) for p in scene.centres[[i, j]]]
    slopes = scene.planes[i, :2] - scene.planes[j, :2]
    if np.allclose(gaps + here, 0, atol=1e-9) and np.allclose(slopes, 0, atol=1e-12):
        return BoundaryLabel.COPLANAR
    # A crease passes between touching pixels: each is at most one pixel away from it.
    if np.abs(gaps).max() <= np.hypot(*slopes) + 1e-9:
        assert np.hypot(*slopes) >= FAINTEST_CREASE
        return BoundaryLabel.HINGE
    assert min(gaps) >= SEPARATION - 1e-9 or max(gaps) <= -SEPARATION + 1e-9
    return BoundaryLabel.LEFT_OCCLUSION if gaps[0] > 0 else BoundaryLabel.RIGHT_OCCLUSION


def naive_boundary(segments, i, j):
    """B_ij: pixels of either segment within chessboard distance 2 of the other."""
    square = np.ones((5, 5), bool)
    first, second = segments == i, segments == j
    near_first = ndimage.binary_dilation(first, square)
    near_second = ndimage.binary_dilation(second, square)
    return (first & near_second) | (second & near_first)


def naive_hidden_by_pixels(scene):
    """Left pixels behind two neighbours of one nearer surface that fall on both sides of them.

    Knows only what the left view sees, so it may miss pixels but never accuses a visible one.
    """
    height, width = scene.disparity.shape
    hidden = np.zeros((height, width), bool)
    for v in range(height):
        d = scene.disparity[v].astype(float)
        x = np.arange(width) - d
        for u in range(width):
            hidden[v, u] = not 0 <= x[u] <= width - 1
            for k in range(u + 1, width - 1):
                if scene.surface[v, k] == scene.surface[v, k + 1]:
                    nearer = min(d[k], d[k + 1]) > d[u] + 1e-3
                    hidden[v, u] |= nearer and x[k] <= x[u] <= x[k + 1]
    return hidden


def naive_hidden_by_surfaces(scene, surfaces, step=0.02):
    """Push fine samples of every surface forward, row by row, and look who lands in front.

    Knows surfaces that the left view does not see; wrong by up to `step` at their borders.
    """
    height, width = scene.disparity.shape
    u = np.arange(-60.0, width + 60.0, step)
    hidden = np.zeros((height, width), bool)
    for v in range(height):
        d = scene.disparity[v].astype(float)
        x = np.arange(width) - d
        hidden[v] = (x < 0) | (x > width - 1)
        for surface in surfaces:
            row = np.full_like(u, v)
            covered = surface.covers(u, row)
            landed = (u - surface.disparity(u, row))[covered]
            reached = surface.disparity(u, row)[covered]
            if len(landed):
                k = np.minimum(np.searchsorted(landed, x), len(landed) - 1)
                lands = (landed[0] <= x) & (x <= landed[-1])
                hidden[v] |= lands & (reached[k] > d + step)
    return hidden


# --- one scene, every field -------------------------------------------------------------------


@few
@given(scenes)
def test_labels_match_the_planes_along_every_boundary(scene):
    boundaries = naive_boundaries(scene.segments)
    assert scene.edges.tolist() == [list(pair) for pair in sorted(boundaries)]
    for (i, j), label in zip(scene.edges.tolist(), scene.labels, strict=True):
        assert label == naive_label(scene, i, j, boundaries[i, j])


@settings(few, max_examples=40)  # the gap is rarely near its bound
@given(scenes)
def test_front_plane_is_in_front_on_the_whole_boundary(scene):
    for (i, j), label in zip(scene.edges, scene.labels, strict=True):
        if label in (BoundaryLabel.LEFT_OCCLUSION, BoundaryLabel.RIGHT_OCCLUSION):
            v, u = np.nonzero(naive_boundary(scene.segments, i, j))
            first, second = (
                scene.planes[k, 0] * (u - scene.centres[k, 0])
                + scene.planes[k, 1] * (v - scene.centres[k, 1])
                + scene.planes[k, 2]
                for k in (i, j)
            )
            gap = first - second if label == BoundaryLabel.LEFT_OCCLUSION else second - first
            assert gap.min() >= SEPARATION - 1e-9


@few
@given(scenes)
def test_segments_are_connected_within_one_surface_and_not_tiny(scene):
    count = len(scene.planes)
    sizes = np.bincount(scene.segments.ravel())
    assert len(sizes) == count
    assert sizes.min() >= SMALLEST_PIECE
    for segment in range(count):
        mask = scene.segments == segment
        assert ndimage.label(mask)[1] == 1
        assert len(np.unique(scene.surface[mask])) == 1
        v, u = np.nonzero(mask)
        assert scene.centres[segment] == pytest.approx([u.mean(), v.mean()])


@few
@given(scenes)
def test_planes_reproduce_disparity(scene):
    v, u = np.indices(scene.disparity.shape)
    alpha, beta, gamma = scene.planes[scene.segments].transpose(2, 0, 1)
    cx, cy = scene.centres[scene.segments].transpose(2, 0, 1)
    assert np.allclose(alpha * (u - cx) + beta * (v - cy) + gamma, scene.disparity, atol=1e-4)
    a, b, c = scene.surface_planes[scene.surface].transpose(2, 0, 1)
    assert np.allclose(a * u + b * v + c, scene.disparity, atol=1e-4)
    assert (np.abs(scene.surface_planes[:, :2]) < STEEPEST).all()
    assert set(np.unique(scene.surface)) == set(range(len(scene.surface_planes)))


@few
@given(scenes)
def test_disparity_stays_in_its_range(scene):
    assert scene.disparity.min() >= 1.0 - 1e-4
    assert scene.disparity.max() <= 30.0 + 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_occlusion_matches_forward_projection(seed):
    scene = small_scene(seed, 80, 56)
    assert scene.occluded[naive_hidden_by_pixels(scene)].all()
    stage = Stage(80, 56, 1.0, 30.0)
    surfaces = sample_surfaces(np.random.default_rng(seed), stage, objects=3, background=None)
    assert (scene.surface_planes == [surface.plane for surface in surfaces]).all()
    differs = scene.occluded != naive_hidden_by_surfaces(scene, surfaces)
    assert differs.mean() < 0.001  # the sampling step, at borders


@pytest.mark.parametrize("seed", range(3))
def test_right_image_warped_by_disparity_is_the_left_image(seed):
    scene = make_scene(200, 150, segments=60, seed=seed)
    v, u = np.indices(scene.disparity.shape).astype(float)
    warped = np.stack(
        [
            ndimage.map_coordinates(channel.astype(float), [v, u - scene.disparity], order=1)
            for channel in scene.right.transpose(2, 0, 1)
        ],
        axis=-1,
    )
    error = np.abs(warped - scene.left).max(axis=-1)
    visible = ~scene.occluded
    texture = np.abs(np.diff(scene.left.astype(float), axis=1)).mean()
    assert np.median(error[visible]) < min(4.0, 0.5 * texture)
    assert np.quantile(error[visible], 0.9) < 15
    assert np.median(error[scene.occluded]) > 5 * np.median(error[visible])


def test_a_default_scene_has_every_label_and_contrast(scene):
    assert set(scene.labels.tolist()) == {int(label) for label in BoundaryLabel}
    assert scene.left.std() > 20
    assert 0.02 < scene.occluded.mean() < 0.4
    assert scene.surface_bodies.tolist() == sorted(scene.surface_bodies.tolist())
    assert scene.surface_bodies[-1] == 5


def test_dtypes_and_shapes(scene):
    shape = (240, 320)
    assert scene.left.shape == scene.right.shape == (*shape, 3)
    assert scene.left.dtype == scene.right.dtype == np.uint8
    assert (scene.disparity.dtype, scene.disparity.shape) == (np.float32, shape)
    assert (scene.occluded.dtype, scene.occluded.shape) == (bool, shape)
    assert scene.surface.dtype == scene.segments.dtype == scene.edges.dtype == np.int32
    assert scene.edges.shape == (len(scene.labels), 2)


def test_one_plane_in_one_segment():
    scene = small_scene(0, objects=0, background=1, segments=1)
    assert scene.planes.shape == (1, 3)
    assert scene.edges.shape == (0, 2)
    assert scene.labels.shape == (0,)


def test_appearance_options():
    plain = small_scene(1, texture=0.0, colour_contrast=0.0)
    assert (plain.left == 128).all()
    assert (plain.right == 128).all()
    grainy = small_scene(1, texture=0.0, colour_contrast=0.0, noise=5.0)
    difference = grainy.left.astype(float) - grainy.right
    assert difference.std() == pytest.approx(5.0 * np.sqrt(2), rel=0.05)
    assert (grainy.disparity == plain.disparity).all()


def test_same_seed_same_bytes():
    first, again, other = (small_scene(seed) for seed in (7, 7, 8))
    for name in Scene.__dataclass_fields__:
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes(), name
    for name in ("left", "right", "disparity", "segments"):
        assert getattr(first, name).tobytes() != getattr(other, name).tobytes(), name


# --- the paper's noise table ------------------------------------------------------------------


def test_noise_set_has_the_papers_size_and_number_of_superpixels(noisy):
    assert all(item.scene.disparity.shape == (240, 320) for item in noisy)
    assert np.mean([len(item.scene.planes) for item in noisy]) == pytest.approx(108, abs=3)


def test_noise_set_measures_three_to_five_pixels_of_each_boundary(noisy):
    for item in noisy:
        per_boundary = np.bincount(item.point_edges, minlength=len(item.scene.edges))
        assert set(per_boundary.tolist()) == {3, 4, 5}
        placed = np.column_stack([item.point_edges, item.points])
        assert len(np.unique(placed, axis=0)) == len(placed)
        measured = np.zeros(item.disparity.shape, bool)
        measured[item.points[:, 1], item.points[:, 0]] = True
        assert (np.isfinite(item.disparity) == measured).all()
    item = noisy[0]
    for edge, (i, j) in enumerate(item.scene.edges):
        u, v = item.points[item.point_edges == edge].T
        assert naive_boundary(item.scene.segments, i, j)[v, u].all()


def test_noise_set_recovers_sigma(noisy):
    errors = np.concatenate(
        [(item.disparity - item.scene.disparity)[np.isfinite(item.disparity)] for item in noisy]
    )
    assert len(errors) > 10_000
    assert errors.std() == pytest.approx(1.0, abs=0.03)
    assert errors.mean() == pytest.approx(0.0, abs=0.03)


def test_noise_scales_with_sigma_on_the_same_scenes(noisy):
    (exact,) = noise_set(1, 0.0, seed=0)
    (heavy,) = noise_set(1, 5.0, seed=0)
    known = np.isfinite(exact.disparity)
    assert (exact.disparity[known] == exact.scene.disparity[known]).all()
    assert (heavy.points == exact.points).all()
    assert heavy.disparity[known].min() >= 0
    true = exact.scene.disparity[known]
    expected = np.maximum(true + 5.0 * (noisy[0].disparity[known] - true), 0.0)
    assert np.allclose(heavy.disparity[known], expected, atol=1e-4)


# --- small parts and bad arguments ------------------------------------------------------------


def test_clip_cuts_a_corner_and_may_leave_nothing():
    square = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    cut = clip(square, np.array([(-1.0, -1.0, 3.0)]))
    assert sorted(map(tuple, cut)) == [(0, 0), (0, 2), (1, 2), (2, 0), (2, 1)]
    assert clip(square, np.array([(1.0, 0.0, -5.0), (0.0, 1.0, 0.0)])).shape == (0, 2)


def test_flipped_swaps_the_two_occlusions_only():
    co, hi, lo, ro = BoundaryLabel
    assert [label.flipped() for label in (co, hi, lo, ro)] == [co, hi, ro, lo]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 31),
        ("height", 0),
        ("width", 64.0),
        ("segments", 0),
        ("segments", 10_000),
        ("objects", -1),
        ("objects", True),
        ("background", 4),
        ("min_disparity", -1.0),
        ("max_disparity", 10.0),
        ("max_disparity", float("nan")),
        ("max_disparity", "60"),
        ("texture", 300.0),
        ("colour_contrast", 1.5),
        ("noise", -0.1),
        ("seed", -1),
        ("seed", None),
    ],
)
def test_bad_arguments_are_named(name, value):
    arguments = {"width": 64, "height": 64, "segments": 20, "seed": 0} | {name: value}
    with pytest.raises(InputError, match=f"^{name}: expected"):
        make_scene(**arguments)


def test_too_many_objects_are_refused():
    with pytest.raises(InputError, match="objects"):
        make_scene(48, 48, segments=4, objects=60, max_disparity=18.0, seed=0)


@pytest.mark.parametrize(("count", "sigma", "seed"), [(-1, 1.0, 0), (1, -1.0, 0), (1, 1.0, -1)])
def test_noise_set_refuses_bad_arguments_at_once(count, sigma, seed):
    with pytest.raises(InputError):
        noise_set(count, sigma, seed=seed)
