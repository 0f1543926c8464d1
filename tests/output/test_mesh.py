"""The mesh is exact in the image, joined where surfaces go on and cut where they end."""

import dataclasses
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_mesh
from partition.label_maps import label_maps
from slanted.boundary_label import BoundaryLabel
from slanted.model.drawing import draw_disparity
from slanted.output.mesh import LEAST_DISPARITY, assumed_calibration, build_mesh, step_for
from slanted.partition.label_image import label_image_from_user
from slanted.regions import build_regions
from slanted.synthetic import make_scene


@st.composite
def worlds(draw):
    """Segments with planes and labels that need not make sense."""
    height, width = draw(st.integers(1, 7)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.integers(0, draw(st.integers(1, 5)), (height, width))
    regions = build_regions(label_image_from_user(values, (height, width)))
    planes = np.stack(
        [*rng.normal(0, 0.2, (2, regions.count)), rng.uniform(5, 12, regions.count)], axis=1
    )
    return regions, planes, rng.integers(0, 4, regions.number_of_edges).astype(np.int32)


def users(mesh):
    """The segments whose triangles use each vertex."""
    found = defaultdict(set)
    for face, segment in zip(mesh.faces.tolist(), mesh.segment.tolist(), strict=True):
        for vertex in face:
            found[vertex].add(segment)
    return found


@settings(max_examples=150, deadline=None)
@given(worlds(), st.sampled_from([0.0, 1.0, 4.0, 100.0]))
def test_vertices_are_those_of_the_slow_and_obvious_version(world, tolerance):
    regions, planes, kinds = world
    mesh = build_mesh(regions, planes, kinds, tolerance=tolerance)
    found = {
        (*(mesh.corners[vertex] + 0.5).astype(int).tolist(), frozenset(segments)): mesh.disparity[
            vertex
        ]
        for vertex, segments in users(mesh).items()
    }
    expected = naive_mesh.vertices(regions, planes, kinds, tolerance)
    assert len(mesh.corners) == len(expected)
    assert found.keys() == expected.keys()
    for key, disparity in expected.items():
        assert found[key] == pytest.approx(disparity, abs=1e-9)


def areas(mesh):
    a, b, c = mesh.corners[mesh.faces].transpose(1, 0, 2)
    return 0.5 * ((c - a)[:, 0] * (b - a)[:, 1] - (c - a)[:, 1] * (b - a)[:, 0])


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_triangles_fill_each_segment_exactly_and_stay_inside(world):
    regions, planes, kinds = world
    mesh = build_mesh(regions, planes, kinds)
    size = areas(mesh)
    assert (size > 0).all()  # none is degenerate, and all face the camera
    covered = np.bincount(mesh.segment, weights=size, minlength=regions.count)
    np.testing.assert_allclose(covered, regions.size)
    rng = np.random.default_rng(0)
    inner = rng.dirichlet(np.ones(3), (len(mesh.faces), 5))
    points = np.einsum("fpk,fkc->fpc", inner, mesh.corners[mesh.faces])
    u, v = np.rint(points).astype(int).transpose(2, 0, 1)
    np.testing.assert_array_equal(
        regions.label_image[v, u], np.broadcast_to(mesh.segment[:, None], u.shape)
    )


@settings(max_examples=100, deadline=None)
@given(worlds(), st.sampled_from([0.5, 3.0]))
def test_vertices_lie_on_planes_and_what_hides_is_cut_off(world, tolerance):
    regions, planes, kinds = world
    mesh = build_mesh(regions, planes, kinds, tolerance=tolerance)
    kind_of = {tuple(e): k for e, k in zip(regions.edges.tolist(), kinds.tolist(), strict=True)}
    for vertex, segments in users(mesh).items():
        for i in segments:
            on_plane = planes[i, :2] @ (mesh.corners[vertex] - regions.centre[i]) + planes[i, 2]
            slack = 1e-9 if len(segments) == 1 else tolerance
            assert abs(mesh.disparity[vertex] - on_plane) <= slack
            for j in segments:
                assert kind_of.get((i, j), 0) < BoundaryLabel.LEFT_OCCLUSION


@settings(max_examples=60, deadline=None)
@given(label_maps, st.integers(0, 2**32 - 1))
def test_inside_a_segment_the_mesh_is_its_plane(labels, seed):
    rng = np.random.default_rng(seed)
    regions = build_regions(labels)
    planes = np.column_stack(
        [rng.normal(0, 0.2, (regions.count, 2)), rng.uniform(5, 12, regions.count)]
    )
    mesh = build_mesh(regions, planes, np.zeros(regions.number_of_edges, np.int32), tolerance=100)
    inner = rng.dirichlet(np.ones(3), (len(mesh.faces), 20))
    points = np.einsum("fpk,fkc->fpc", inner, mesh.corners[mesh.faces])
    found = np.einsum("fpk,fk->fp", inner, mesh.disparity[mesh.faces])
    i = np.broadcast_to(mesh.segment[:, None], found.shape)
    on_plane = (planes[i, :2] * (points - regions.centre[i])).sum(axis=-1) + planes[i, 2]
    padded = np.pad(regions.label_image, 1, constant_values=-1)
    blocks = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    is_core = (blocks == regions.label_image[:, :, None, None]).all(axis=(2, 3))
    u, v = np.rint(points).astype(int).transpose(2, 0, 1)
    core = is_core[v, u]
    np.testing.assert_allclose(found[core], on_plane[core], atol=1e-9)


def test_a_true_scene_is_joined_along_surfaces_and_cut_between_bodies():
    scene = make_scene(120, 90, segments=60, objects=3, seed=5)
    regions = build_regions(scene.segments)
    mesh = build_mesh(regions, scene.planes, scene.labels.astype(np.int32))
    corner_vertices = defaultdict(set)
    for vertex, segments in users(mesh).items():
        for i in segments:
            corner_vertices[(*mesh.corners[vertex].tolist(), i)].add(vertex)
    joined = dict.fromkeys(BoundaryLabel, 0)
    for (i, j), kind in zip(regions.edges.tolist(), scene.labels.tolist(), strict=True):
        both = {key[:2] for key in corner_vertices if key[2] == i}
        both &= {key[:2] for key in corner_vertices if key[2] == j}
        shared = [corner_vertices[(*c, i)] == corner_vertices[(*c, j)] for c in both]
        if kind == BoundaryLabel.COPLANAR:
            assert sum(shared) >= 1
            assert sum(shared) >= len(shared) - 2  # only the ends may meet something in front
        if kind >= BoundaryLabel.LEFT_OCCLUSION:
            assert not any(shared)
        joined[BoundaryLabel(kind)] += sum(shared)
    assert joined[BoundaryLabel.COPLANAR] > 100


def test_positions_invert_the_projection_and_the_sky_is_left_out():
    regions = build_regions(np.repeat([[0, 0, 1, 1]], 3, axis=0).astype(np.int32))
    planes = np.array([[0.5, 0, 10.0], [0, 0, LEAST_DISPARITY / 2]])
    mesh = build_mesh(regions, planes, np.array([2], np.int32))
    cameras = assumed_calibration(3, 4)
    kept = mesh.in_front(cameras)
    assert set(kept.segment.tolist()) == {0}
    assert np.isnan(mesh.positions(cameras)).any()
    x, y, z = kept.positions(cameras).T
    np.testing.assert_allclose(cameras.fx_pixels / z, kept.disparity, rtol=1e-5)
    np.testing.assert_allclose(
        cameras.fx_pixels * x / z + cameras.cx_pixels, kept.corners[:, 0], atol=1e-5
    )
    np.testing.assert_allclose(
        cameras.fy_pixels * y / z + cameras.cy_pixels, kept.corners[:, 1], atol=1e-5
    )
    across = kept.texture_coordinates(4, 3)
    assert (across.min(), across.max()) == (0, 1)


def test_planes_are_cut_off_at_the_ends_of_the_range():
    regions = build_regions(np.zeros((4, 4), np.int32))
    mesh = build_mesh(
        regions, np.array([[9.0, 0, 10]]), np.zeros(0, np.int32), lowest=0, highest=20
    )
    assert (mesh.disparity.min(), mesh.disparity.max()) == (0, 20)


def rasterised(mesh, shape):
    """The mesh drawn at the centres of pixels, triangle by triangle; NaN where there is none."""
    drawn = np.full(shape, np.nan)
    for face in mesh.faces:
        a, b, c = mesh.corners[face]
        low, high = np.ceil(np.min([a, b, c], axis=0)), np.floor(np.max([a, b, c], axis=0))
        u, v = np.meshgrid(*(np.arange(s, e + 1) for s, e in zip(low, high, strict=True)))
        points = np.stack([u.ravel(), v.ravel()], axis=1)
        second, third = np.linalg.solve(np.stack([b - a, c - a], axis=1), (points - a).T)
        inside = (second >= -1e-9) & (third >= -1e-9) & (second + third <= 1 + 1e-9)
        shares = np.stack([1 - second - third, second, third], axis=1)[inside]
        u, v = points[inside].astype(int).T
        drawn[v, u] = shares @ mesh.disparity[face]
    return drawn


@settings(max_examples=100, deadline=None)
@given(worlds(), st.floats(0, 8), st.floats(0, 8))
def test_the_mesh_is_the_disparity_map_where_planes_leave_the_range(world, lowest, more):
    regions, planes, _ = world
    planes = planes * (10, 10, 1)
    apart = np.full(regions.number_of_edges, BoundaryLabel.LEFT_OCCLUSION, np.int32)
    limits = lowest, lowest + more
    mesh = build_mesh(regions, planes, apart, lowest=limits[0], highest=limits[1])
    assert (areas(mesh) > 0).all()
    drawn = draw_disparity(regions, planes, *limits)
    np.testing.assert_allclose(rasterised(mesh, drawn.shape), drawn, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(worlds(), st.floats(-12, -5))
def test_the_mesh_ends_where_infinity_is_too_close(world, doffs):
    regions, planes, kinds = world
    planes = planes * (10, 10, 1)
    cameras = dataclasses.replace(
        assumed_calibration(*regions.label_image.shape), doffs_pixels=doffs
    )
    whole = build_mesh(regions, planes, kinds, tolerance=0)
    kept = whole.in_front(cameras)
    assert (kept.disparity + doffs >= LEAST_DISPARITY - 1e-5).all()
    assert np.isfinite(kept.positions(cameras)).all()
    drawn = draw_disparity(regions, planes, -np.inf)
    found = rasterised(kept, drawn.shape)
    far = drawn + doffs < LEAST_DISPARITY - 1e-4
    assert np.isnan(found[far]).all()
    near = drawn + doffs > LEAST_DISPARITY + 1e-4
    np.testing.assert_allclose(found[near], drawn[near], atol=1e-4)


def test_a_long_run_of_pixels_bends_where_its_plane_is_cut_off():
    regions = build_regions(np.zeros((1, 100), np.int32))
    plane = np.array([[1.0, 0, 0]])
    mesh = build_mesh(regions, plane, np.zeros(0, np.int32), lowest=0)
    assert rasterised(mesh, (1, 100))[0, 49] == pytest.approx(0)
    both = users(mesh)
    assert len(both) == len(mesh.corners)  # neighbours share what was cut


@settings(max_examples=60, deadline=None)
@given(label_maps, st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_coarse_meshes_cover_the_image_and_lie_on_planes(labels, step, seed):
    rng = np.random.default_rng(seed)
    regions = build_regions(labels)
    planes = np.column_stack(
        [rng.normal(0, 0.2, (regions.count, 2)), rng.uniform(5, 12, regions.count)]
    )
    kinds = rng.integers(0, 4, regions.number_of_edges).astype(np.int32)
    mesh = build_mesh(regions, planes, kinds, tolerance=0.5, step=step)
    assert areas(mesh).sum() == pytest.approx(labels.size)
    assert (areas(mesh) > 0).all()
    i = np.repeat(mesh.segment, 3)
    vertex = mesh.faces.ravel()
    on_plane = (planes[i, :2] * (mesh.corners[vertex] - regions.centre[i])).sum(axis=1) + planes[
        i, 2
    ]
    assert np.abs(mesh.disparity[vertex] - on_plane).max() <= 0.5
    for segments in users(mesh).values():
        for pair, kind in zip(regions.edges.tolist(), kinds.tolist(), strict=True):
            assert kind < BoundaryLabel.LEFT_OCCLUSION or not set(pair) <= segments


def test_the_step_is_the_least_that_will_do():
    regions = build_regions(make_scene(160, 120, seed=3).segments)
    labels = regions.label_image
    full = len(
        build_mesh(regions, np.zeros((regions.count, 3)), np.zeros(regions.number_of_edges)).faces
    )
    assert step_for(labels, full) == 1
    assert step_for(labels, full - 1) == 2
    assert step_for(labels, 0) > 100  # nothing will do; it ends all the same
