"""Scenes against slow, obvious versions of what their fields mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

import naive_synthetic
from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.synthetic import Scene, make_scene
from slanted.synthetic.geometry import clip
from slanted.synthetic.partition import SMALLEST_PIECE
from slanted.synthetic.sampling import (
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


@few
@given(scenes)
def test_labels_match_the_planes_along_every_boundary(scene):
    boundaries = naive_synthetic.boundaries(scene.segments)
    assert scene.edges.tolist() == [list(pair) for pair in sorted(boundaries)]
    for (i, j), label in zip(scene.edges.tolist(), scene.labels, strict=True):
        assert label == naive_synthetic.label(scene, i, j, boundaries[i, j])


@settings(few, max_examples=40)  # the gap is rarely near its bound
@given(scenes)
def test_front_plane_is_in_front_on_the_whole_boundary(scene):
    for (i, j), label in zip(scene.edges, scene.labels, strict=True):
        if label in (BoundaryLabel.LEFT_OCCLUSION, BoundaryLabel.RIGHT_OCCLUSION):
            v, u = np.nonzero(naive_synthetic.boundary(scene.segments, i, j))
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
    assert scene.occluded[naive_synthetic.hidden_by_pixels(scene)].all()
    stage = Stage(80, 56, 1.0, 30.0)
    surfaces = sample_surfaces(np.random.default_rng(seed), stage, objects=3, background=None)
    assert (scene.surface_planes == [surface.plane for surface in surfaces]).all()
    differs = scene.occluded != naive_synthetic.hidden_by_surfaces(scene, surfaces)
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
