"""The mesh is exact in the image, joined where surfaces go on and cut where they end."""

import dataclasses
import tracemalloc
from collections import defaultdict
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_mesh
from partition.label_maps import label_maps
from slanted.boundary_label import BoundaryLabel
from slanted.model.drawing import draw_disparity
from slanted.output import mesh as mesh_module
from slanted.output import space as space_module
from slanted.output.mesh import JoinRule, build_mesh
from slanted.output.mesh_corner_kernels import number_corners
from slanted.output.mesh_outline_kernels import simplify
from slanted.output.mesh_outlines import REACHES, first_triangles, step_for, triangulate
from slanted.output.mesh_triangle_kernels import improve
from slanted.output.space import LEAST_DISPARITY, SLOPE, Space, assumed_calibration
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


RULES = (
    *(JoinRule(tolerance) for tolerance in (0.0, 1.0, 4.0, 100.0)),
    *(JoinRule(100.0, share, 1.0) for share in (0.02, 0.3)),
)


def users(mesh):
    """The segments whose triangles use each vertex."""
    found = defaultdict(set)
    for face, segment in zip(mesh.faces.tolist(), mesh.segment.tolist(), strict=True):
        for vertex in face:
            found[vertex].add(segment)
    return found


@settings(max_examples=150, deadline=None)
@given(worlds(), st.sampled_from(RULES), st.integers(0, 2**32 - 1))
def test_vertices_are_those_of_the_slow_and_obvious_version(world, rule, seed):
    regions, planes, kinds = world
    trust = np.random.default_rng(seed).random(regions.count)
    rule = dataclasses.replace(rule, trust=trust if seed % 2 else None)
    mesh = build_mesh(regions, planes, kinds, rule=rule)
    flat = triangulate(regions.label_image, *loose_of(regions, planes, kinds, rule))
    place = {tuple(p): tuple(c) for p, c in zip(flat.points.tolist(), flat.corners, strict=True)}
    found = {
        (*place[tuple((mesh.corners[vertex] + 0.5).tolist())], frozenset(segments)): vertex
        for vertex, segments in users(mesh).items()
    }
    expected = naive_mesh.vertices(regions, planes, kinds, flat, rule)
    assert len(mesh.corners) == len(expected)
    assert found.keys() == expected.keys()
    for key, disparity in expected.items():
        assert mesh.disparity[found[key]] == pytest.approx(disparity, abs=1e-9)


def loose_of(regions, planes, kinds, rule):
    """What `triangulate` is given for a mesh."""
    starts = np.append(regions.adjacency_start, regions.adjacency_start[-1])
    starts.setflags(write=False)
    away = regions.boundary_centre[:, None] - regions.centre[regions.edges]
    disparity = (planes[regions.edges][..., :2] * away).sum(axis=-1) + planes[regions.edges][..., 2]
    room = np.minimum(rule.tolerance, rule.share * (disparity.min(axis=1) - rule.infinity))
    if rule.trust is not None:
        room *= rule.trust[regions.edges].min(axis=1)
    loose = (kinds < 2) & (np.ptp(disparity, axis=1) <= room)
    return (starts, regions.adjacency_other, regions.adjacency_edge), loose.astype(np.int32)


def areas(mesh):
    a, b, c = mesh.corners[mesh.faces].transpose(1, 0, 2)
    return 0.5 * ((c - a)[:, 0] * (b - a)[:, 1] - (c - a)[:, 1] * (b - a)[:, 0])


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_triangles_fill_the_image_and_every_centre_is_in_its_own_segment(world):
    regions, planes, kinds = world
    kinds = np.full_like(kinds, BoundaryLabel.LEFT_OCCLUSION)
    mesh = build_mesh(regions, planes, kinds)
    size = areas(mesh)
    assert (size > 0).all()  # none is degenerate, and all face the camera
    assert size.sum() == pytest.approx(regions.label_image.size)
    number = dataclasses.replace(mesh, disparity=np.arange(len(mesh.corners), dtype=float))
    own = np.repeat(mesh.segment[:, None], 3, axis=1).ravel().astype(float)
    apart = dataclasses.replace(
        number,
        corners=mesh.corners[mesh.faces].reshape(-1, 2),
        disparity=own,
        faces=np.arange(mesh.faces.size).reshape(-1, 3),
    )
    np.testing.assert_array_equal(
        np.rint(rasterised(apart, regions.label_image.shape)), regions.label_image
    )


@settings(max_examples=60, deadline=None)
@given(label_maps, st.integers(0, 2**32 - 1))
def test_outlines_move_less_than_a_pixel_where_segments_are_joined(labels, seed):
    regions = build_regions(labels)
    planes = np.tile([0.0, 0.0, 9.0], (regions.count, 1))
    mesh = build_mesh(regions, planes, np.zeros(regions.number_of_edges, np.int32))
    assert (areas(mesh) > 0).all()
    assert areas(mesh).sum() == pytest.approx(labels.size)
    inner = np.random.default_rng(seed).dirichlet(np.ones(3), (len(mesh.faces), 4))
    points = np.einsum("fpk,fkc->fpc", inner, mesh.corners[mesh.faces])
    height, width = labels.shape
    v, u = np.mgrid[:height, :width]
    for place, segment in zip(points.reshape(-1, 2), np.repeat(mesh.segment, 4), strict=True):
        beside = labels == segment
        away = np.maximum(abs(u - place[0]), abs(v - place[1])) - 0.5
        assert away[beside].min() <= REACHES[-1] + 0.36


def pieces(labels):
    """A triangulation before anything is removed."""
    return first_triangles(labels)[1]


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_triangles_are_those_of_the_slow_and_obvious_version(world):
    labels = world[0].label_image
    for found, expected in zip(pieces(labels), naive_mesh.triangulated(labels), strict=True):
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=150, deadline=None)
@given(worlds(), st.integers(0, 2**32 - 1))
def test_outlines_are_those_of_the_slow_and_obvious_version(world, seed):
    regions, _, kinds = world
    labels = regions.label_image
    loose = np.random.default_rng(seed).integers(0, 2, len(kinds)).astype(np.int32)
    is_loose = {frozenset(e): k for e, k in zip(regions.edges.tolist(), loose, strict=True)}
    adjacency = loose_of(regions, np.zeros((regions.count, 3)), kinds, JoinRule())[0]
    mesh, off = pieces(labels), np.zeros(labels.size * 4)
    first = naive_mesh.triangulated(labels)
    places, lines = dict(enumerate(map(tuple, first[0].tolist()))), naive_mesh.outlines(first)
    copied = off.copy()
    limits = (4 * labels.shape[1], 4 * labels.shape[0])
    for reach in (0.25, 0.5, 1.0):
        naive_mesh.simplified(
            places, lines, labels.shape, lambda p: is_loose.get(frozenset(p)) == 1, reach, copied
        )
        simplify(mesh, limits, adjacency, loose, reach, off)
        assert naive_mesh.outlines(mesh) == lines
        np.testing.assert_allclose(off, copied)


@settings(max_examples=60, deadline=None)
@given(label_maps)
def test_outlines_never_cross(labels):
    mesh = pieces(labels)
    starts = np.zeros(labels.max() + 3, np.int64)
    starts.setflags(write=False)
    none = np.zeros(0, np.int32)
    none.setflags(write=False)
    off, limits = np.zeros(len(mesh[4])), (4 * labels.shape[1], 4 * labels.shape[0])
    for reach in REACHES:
        simplify(mesh, limits, (starts, none, none), np.zeros(0, np.int32), reach, off)
    lines = [[tuple(mesh[0][v]) for v in line] for line in naive_mesh.outlines(mesh)]
    for (a, b), (c, d) in combinations(lines, 2):
        apart = naive_mesh.turn(a, b, c), naive_mesh.turn(a, b, d)
        across = naive_mesh.turn(c, d, a), naive_mesh.turn(c, d, b)
        assert np.sign(apart).prod() >= 0 or np.sign(across).prod() >= 0


@settings(max_examples=60, deadline=None)
@given(label_maps)
def test_triangles_are_as_compact_as_their_outlines_allow(labels):
    mesh = pieces(labels)
    while improve(mesh):
        pass
    places, vertices, twin, owner, _ = mesh
    for h in np.flatnonzero(twin >= 0):
        g = twin[h]
        if owner[h // 3] == owner[g // 3]:
            triangle = places[vertices[3 * (h // 3) : 3 * (h // 3) + 3]].astype(float)
            beyond = places[vertices[3 * (g // 3) + (g + 2) % 3]].astype(float)
            moved = triangle - beyond
            squares = (moved**2).sum(axis=1, keepdims=True)
            inside = np.linalg.det(np.concatenate([moved, squares], axis=1))
            assert inside * np.linalg.det(np.c_[triangle, np.ones(3)]) <= 1e-6  # not in its circle


@settings(max_examples=100, deadline=None)
@given(worlds(), st.sampled_from([0.5, 3.0]))
def test_vertices_lie_on_planes_and_what_hides_is_cut_off(world, tolerance):
    regions, planes, kinds = world
    mesh = build_mesh(regions, planes, kinds, rule=JoinRule(tolerance))
    kind_of = {tuple(e): k for e, k in zip(regions.edges.tolist(), kinds.tolist(), strict=True)}
    for vertex, segments in users(mesh).items():
        for i in segments:
            on_plane = planes[i, :2] @ (mesh.corners[vertex] - regions.centre[i]) + planes[i, 2]
            slack = 1e-9 if len(segments) == 1 else tolerance
            assert abs(mesh.disparity[vertex] - on_plane) <= slack
            for j in segments:
                assert kind_of.get((i, j), 0) < BoundaryLabel.LEFT_OCCLUSION


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
    kept = mesh.within(Space(cameras, is_known=False))
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
    whole = build_mesh(regions, planes, kinds, rule=JoinRule(-1.0))
    kept = whole.within(Space(cameras, is_known=False))
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
    mesh = build_mesh(regions, planes, kinds, rule=JoinRule(0.5), step=step)
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
    labels = build_regions(make_scene(160, 120, seed=3).segments).label_image
    full = number_corners(labels, np.empty((121, 161), np.int32))[1]
    assert step_for(labels, full) == 1
    assert step_for(labels, full - 1) == 2
    assert step_for(labels, 0) > 100  # nothing will do; it ends all the same


CAMERAS = dataclasses.replace(assumed_calibration(60, 80), baseline_meters=0.5)


@settings(max_examples=100, deadline=None)
@given(worlds(), st.floats(0.1, 30), st.integers(0, 2**32 - 1))
def test_no_edge_is_longer_than_the_bound_nor_beyond_the_depth(world, depth, seed):
    regions, planes, kinds = world
    planes = planes * (3, 3, 1)
    space = Space(CAMERAS, max_depth=depth)
    mesh = build_mesh(regions, planes, kinds, rule=JoinRule(2.0, 0.2, 0.0)).within(space)
    places = mesh.positions(CAMERAS).astype(float)
    assert (places[:, 2] <= depth * (1 + 1e-5)).all()
    for a, b in ((0, 1), (1, 2), (2, 0)):
        start, end = mesh.faces[:, a], mesh.faces[:, b]
        pixels = np.linalg.norm(mesh.corners[start] - mesh.corners[end], axis=1)
        away = np.linalg.norm(places, axis=1)
        length = np.linalg.norm(places[start] - places[end], axis=1)
        bound = space.longest(pixels, np.minimum(away[start], away[end]))
        assert (length <= bound * (1 + 1e-3) + 1e-5).all()


def test_how_oblique_a_plane_is_seen():
    # The ground, 1.5 m below the camera: at depth Z straight ahead it is seen at the sine 1.5 / Z.
    space = Space(CAMERAS)
    v = np.array([40.0, 50.0])
    gradient = np.array([0.0, CAMERAS.baseline_meters / 1.5])
    disparity = gradient[1] * (v - CAMERAS.cy_pixels)
    found = space.slopes(gradient, disparity, np.full(2, CAMERAS.cx_pixels), v)
    away = 1.5 * np.hypot(1, CAMERAS.fx_pixels / (v - CAMERAS.cy_pixels))
    np.testing.assert_allclose(found, away / 1.5)
    assert space.slopes(np.zeros(2), np.zeros(1), np.zeros(1), np.zeros(1)) == np.inf


def slanted_segments(height, width, seed):
    """What `Space.oblique` uses of a result, with planes seen at all angles."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 9, (height, width))
    planes = np.column_stack([rng.normal(0, 3, (9, 2)), rng.uniform(1, 40, 9)])
    regions = SimpleNamespace(label_image=labels, centre=rng.uniform(0, 20, (9, 2)))
    return SimpleNamespace(regions=regions, planes=planes)


def test_oblique_pixels_are_the_same_in_blocks_of_rows(monkeypatch):
    made = slanted_segments(23, 31, 0)
    space = Space(CAMERAS)
    found = space.oblique(made)
    for (v, u), i in np.ndenumerate(made.regions.label_image):
        a, b, c = made.planes[i]
        d = a * (u - made.regions.centre[i, 0]) + b * (v - made.regions.centre[i, 1]) + c
        place = [np.array([w]) for w in (d, float(u), float(v))]
        assert found[v, u] == (space.slopes(np.array([[a, b]]), *place)[0] > SLOPE)
    assert 0 < found.sum() < found.size
    for pixels in (1, 31, 100, 31 * 22):
        monkeypatch.setattr(space_module, "PIXELS_AT_A_TIME", pixels)
        np.testing.assert_array_equal(space.oblique(made), found)
    assert Space(CAMERAS, is_known=False).oblique(made) is None


def test_oblique_pixels_of_a_large_image_take_little_memory():
    made = slanted_segments(1000, 2000, 1)
    tracemalloc.start()
    found = Space(CAMERAS).oblique(made)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.dtype == np.bool_
    assert most < 80e6  # 300 MB if it were done at once


def test_a_gap_that_is_joined_nearby_is_cut_far_away():
    regions = build_regions(np.repeat([[0, 0, 1, 1]], 3, axis=0).astype(np.int32))
    for disparity, shared in ((40.0, True), (10.0, False)):
        planes = np.array([[0, 0, disparity], [0, 0, disparity + 0.8]])
        mesh = build_mesh(regions, planes, np.zeros(1, np.int32), rule=JoinRule(infinity=0.0))
        assert any(len(segments) == 2 for segments in users(mesh).values()) == shared
        doubtful = JoinRule(infinity=0.0, trust=np.array([1.0, 0.3]))
        mesh = build_mesh(regions, planes, np.zeros(1, np.int32), rule=doubtful)
        assert all(len(segments) == 1 for segments in users(mesh).values())


def test_a_plane_of_400_pixels_has_a_dozen_triangles():
    v, u = np.mgrid[:60, :80]
    labels = ((u - 40) ** 2 + (v - 30) ** 2 < 11.3**2).astype(np.int32)
    regions = build_regions(labels)
    assert 380 < regions.size[1] < 420
    planes = np.tile([0.0, 0.0, 9.0], (2, 1))
    mesh = build_mesh(regions, planes, np.zeros(1, np.int32))
    assert 6 <= (mesh.segment == regions.label_image[30, 40]).sum() <= 14


def outline_length(mesh):
    """The length, in pixels, of the edges that only one triangle has."""
    edges = np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, count = np.unique(edges, axis=0, return_counts=True)
    start, end = mesh.corners[edges[count == 1]].transpose(1, 0, 2)
    return np.linalg.norm(start - end, axis=1).sum()


@settings(max_examples=60, deadline=None)
@given(worlds(), st.floats(-4, 4), st.integers(0, 2**32 - 1))
def test_the_texture_is_off_by_less_than_a_pixel_in_space(world, doffs, seed):
    regions, planes, kinds = world
    cameras = dataclasses.replace(
        assumed_calibration(*regions.label_image.shape), doffs_pixels=doffs
    )
    whole = build_mesh(regions, planes * (10, 10, 1), kinds)
    # Larger pixels, so that edges are long.
    whole = dataclasses.replace(whole, corners=10 * whole.corners)
    space = Space(cameras, is_known=False)
    mesh = whole.within(space)
    shares = np.random.default_rng(seed).dirichlet(np.full(3, 0.7), (len(mesh.faces), 9))
    places = mesh.positions(cameras).astype(float)[mesh.faces]
    x, y, z = np.einsum("fpk,fkc->cfp", shares, places)
    seen = np.stack([x, y], axis=-1) / z[..., None] * (cameras.fx_pixels, cameras.fy_pixels)
    seen += cameras.cx_pixels, cameras.cy_pixels
    drawn = np.einsum("fpk,fkc->fpc", shares, mesh.corners[mesh.faces])
    assert np.linalg.norm(seen - drawn, axis=-1).max(initial=0) < 1.001  # rounded positions
    unsplit = without_split(whole, space)
    assert outline_length(mesh) == pytest.approx(outline_length(unsplit))  # no gap
    assert areas(mesh).sum() == pytest.approx(areas(unsplit).sum())
    assert (areas(mesh) > 0).all()


def without_split(mesh, space):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mesh_module, "split_where_depth_varies", lambda parts, _: parts)
        return mesh.within(space)


def test_a_road_is_split_where_its_depth_varies_and_a_wall_is_not():
    regions = build_regions(np.zeros((60, 80), np.int32))
    space = Space(CAMERAS, max_depth=100.0)
    for rise, least, most in ((0.0, 2, 2), (0.5, 20, 250)):
        mesh = build_mesh(regions, np.array([[0.0, rise, 20.0]]), np.zeros(0, np.int32))
        kept = mesh.within(space)
        assert len(mesh.faces) == 2
        assert least <= len(kept.faces) <= most
        v, disparity = kept.corners[:, 1], kept.disparity
        np.testing.assert_allclose(disparity, 20 + rise * (v - 29.5))
