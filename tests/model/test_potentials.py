"""Every potential against the paper's sum over pixels, and by hand on a few pixels."""

import numpy as np
import pytest
from hypothesis import given, settings

import naive
import naive_model
from model.scenes import scene, scenes
from partition.label_maps import SPECIAL_MAPS
from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.model import observe, potentials
from slanted.model.planes import edge_planes, shifted_planes
from slanted.regions import build_regions
from slanted.settings import ModelSettings, Settings

CO, HI, LO, RO = BoundaryLabel
K = 5.0
MODEL = Settings.preset("paper").model


def assert_equals_pixel_loops(scene, weights=None):
    points = naive.pixels_of(scene.labels)
    regions, particles = scene.regions, scene.particles
    observations = observe(regions, scene.disparity, weights)
    weights = np.ones(scene.labels.shape) if weights is None else weights
    seg = potentials.disparity_cost(regions, observations, particles, K)
    bdy1 = potentials.boundary_cost(regions, observations, particles, K)
    bdy2 = potentials.compatibility_cost(regions, particles, MODEL)
    col = potentials.colour_cost(regions, MODEL)
    count = particles.shape[1]
    n, E = regions.count, regions.number_of_edges
    assert (seg.shape, bdy1.shape) == ((n, count), (E, 2, count))
    assert (bdy2.shape, col.shape) == ((E, 4, count, count), (E, 4))

    def truncated_sum(members, i, plane):
        c = naive_model.centre(points[i])
        return naive_model.truncated_sum(members, scene.disparity, weights, plane, c, K)

    close = {"rel": 1e-9, "abs": 1e-9}
    for i in range(n):
        for a in range(count):
            assert seg[i, a] == pytest.approx(truncated_sum(points[i], i, particles[i, a]), **close)
    for e, (i, j) in enumerate(regions.edges.tolist()):
        boundary = naive.boundary_set(points[i], points[j])
        for a in range(count):
            for side, k in enumerate((i, j)):
                expected = truncated_sum(boundary, k, particles[k, a])
                assert bdy1[e, side, a] == pytest.approx(expected, **close)
            for label in BoundaryLabel:
                b = (a + e) % count  # every pair of particles at some edge
                expected = naive_model.compatibility_cost(
                    label, points[i], points[j], particles[i, a], particles[j, b], MODEL
                )
                assert bdy2[e, label, a, b] == pytest.approx(expected, **close)
        for label in BoundaryLabel:
            expected = naive_model.colour_cost(label, points[i], points[j], scene.image, MODEL)
            assert col[e, label] == pytest.approx(expected, **close)


@settings(max_examples=60, deadline=None)
@given(scenes)
def test_closed_forms_equal_pixel_loops(scene):
    assert_equals_pixel_loops(scene)


@pytest.mark.parametrize("name", SPECIAL_MAPS)
def test_closed_forms_on_special_maps(name):
    assert_equals_pixel_loops(scene(SPECIAL_MAPS[name], seed=1))


def test_confidence_weights_equal_pixel_loops():
    random = scene(SPECIAL_MAPS["fork"], seed=2)
    weights = np.random.default_rng(3).uniform(0, 2, random.labels.shape)
    weights[0] = 0
    assert_equals_pixel_loops(random, weights)


def test_confidence_scales_the_data_terms():
    random = scene(SPECIAL_MAPS["ring"], seed=4)
    plain = random.observations
    double = observe(random.regions, random.disparity, np.full(random.labels.shape, 2.0))
    for cost in (potentials.disparity_cost, potentials.boundary_cost):
        np.testing.assert_allclose(
            cost(random.regions, double, random.particles, K),
            2 * cost(random.regions, plain, random.particles, K),
            rtol=1e-14,
        )


# --- by hand ------------------------------------------------------------------------------------


def row_of(*labels, image=None):
    return build_regions([labels], image)


def compatibility(regions, first, second):
    """φ_bdy2 by label of one edge; planes as (slope, disparity at u = 0)."""
    particles = [
        [[slope, 0, offset + slope * regions.centre[i, 0]]]
        for i, (slope, offset) in enumerate((first, second))
    ]
    return potentials.compatibility_cost(regions, np.array(particles), MODEL)[0, :, 0, 0].tolist()


def test_data_terms_by_hand():
    regions = row_of(0, 0, 1, 1)  # narrow: all four pixels are in B
    observations = observe(regions, np.array([[5, 5, np.nan, 9]], np.float32))
    particles = np.array([[[0, 0, 5.0]], [[0, 0, 3.0]]])
    # 9 − 3 is truncated at 5.
    assert potentials.disparity_cost(regions, observations, particles, K).tolist() == [[0], [25]]
    assert potentials.boundary_cost(regions, observations, particles, K).tolist() == [
        [[16], [4 + 4 + 25]]
    ]


def test_a_step_by_hand():
    # i is 2 px in front of j everywhere: fine as lo, impossible as ro.
    assert compatibility(row_of(0, 0, 1, 1), (0, 5), (0, 3)) == [4, 3 + 4, 15, 15 + 30]
    assert compatibility(row_of(0, 0, 1, 1), (0, 3), (0, 5)) == [4, 3 + 4, 15 + 30, 15]


def test_crossing_planes_by_hand():
    # Differences −1, 0, 1, 2: neither is in front.
    assert compatibility(row_of(0, 0, 1, 1), (1, 5), (0, 6)) == [1.5, 4.5, 45, 45]


def test_coplanar_sees_the_segments_and_hinge_the_boundary():
    # Differences −6 … 1 on the eight pixels, −2 … 1 on the four of B.
    regions = row_of(0, 0, 0, 0, 0, 0, 1, 1)
    assert compatibility(regions, (1, 10), (0, 16)) == pytest.approx([11.5, 3 + 1.5, 45, 45])


def test_touching_planes_do_not_hide_each_other():
    regions = row_of(0, 0, 1, 1)
    # Differences 0, 1, 2, 3: the paper's < is strict.
    assert compatibility(regions, (1, 6), (0, 6))[LO] == 15
    assert compatibility(regions, (1, 6), (0, 6 + 1e-10))[LO] == 15  # rounding
    assert compatibility(regions, (1, 6), (0, 6 + 1e-8))[LO] == 45
    # One plane for both: either could be in front.
    assert compatibility(regions, (0.1, 6), (0.1, 6)) == pytest.approx([0, 3, 15, 15])


def test_negative_disparities_by_hand():
    regions = row_of(0, 0, 1, 1)
    zero = compatibility(regions, (0, 0), (0, 0))
    assert zero == [0, 3, 15, 15]  # zero is not negative
    assert compatibility(regions, (0, -1e-10), (0, 0)) == pytest.approx(zero)
    below = compatibility(regions, (0, -1e-8), (0, 0))
    assert below == pytest.approx([30, 33, 45 + 30, 45])  # and behind the other
    # u − 1 is negative at u = 0 only, inside B, though not at the centre of i or j.
    assert compatibility(regions, (1, -1), (1, -1)) == pytest.approx([60, 63, 75, 75])


def test_negative_disparities_off_the_boundary_are_free():
    regions = row_of(0, 0, 0, 0, 0, 0, 1, 1)  # B is u = 4 … 7
    assert compatibility(regions, (1, -4), (1, -4)) == pytest.approx([0, 3, 15, 15], abs=1e-12)


def test_colours_by_hand():
    image = np.array([[[0] * 3, [0] * 3, [0] * 3, [255] * 3, [255] * 3, [255] * 3]], np.uint8)
    cost = potentials.colour_cost(row_of(0, 0, 1, 1, 2, 2, image=image), MODEL)
    # ½ (¼ / (3/2) + ¼ / (1/2)) = ⅓ of κ = 60.
    np.testing.assert_allclose(cost, [[20, 30, 30, 30], [20, 30, 30, 30]])
    cost = potentials.colour_cost(row_of(0, 0, 0, 1, 1, 1, image=image), MODEL)
    assert cost.tolist() == [[30, 30, 30, 30]]  # χ² = 1 costs 60, more than λ_col
    cost = potentials.colour_cost(row_of(0, 0, 0, 1, 1, 1, image=np.zeros_like(image)), MODEL)
    assert cost.tolist() == [[0, 30, 30, 30]]


def test_junctions_cost_lambda_imp():
    model = ModelSettings(lambda_imp=7)
    assert potentials.junction3_cost(model).sum() == 35 * 7
    assert set(np.unique(potentials.junction4_cost(model))) == {0, 7}
    assert potentials.junction4_cost(model).sum() == 4 * 249 * 7


# --- edges of the domain --------------------------------------------------------------------------


def test_no_matches_no_cost():
    regions = row_of(0, 0, 0, 0, 1, 1, 1, 1)
    particles = np.ones((2, 3, 3))
    disparity = np.array([[50.0, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, np.inf]])
    observations = observe(regions, disparity)
    assert potentials.disparity_cost(regions, observations, particles, K).tolist() == [
        [25] * 3,
        [0] * 3,
    ]
    assert potentials.boundary_cost(regions, observations, particles, K).tolist() == [[[0] * 3] * 2]


def test_one_segment_has_no_edges():
    regions = build_regions(np.zeros((3, 4), int), np.zeros((3, 4, 3), np.uint8))
    observations = observe(regions, np.full((3, 4), 2.0))
    particles = np.array([[[0, 0, 2.0], [0, 0, 3.0]]])
    assert potentials.disparity_cost(regions, observations, particles, K).tolist() == [[0, 12]]
    assert potentials.boundary_cost(regions, observations, particles, K).shape == (0, 2, 2)
    assert potentials.compatibility_cost(regions, particles, MODEL).shape == (0, 4, 2, 2)
    assert potentials.colour_cost(regions, MODEL).shape == (0, 4)


def test_shifted_planes_have_the_same_disparities():
    plane, shift = np.array([0.5, -2, 7.0]), np.array([3.0, 1])
    assert shifted_planes(plane, shift).tolist() == [0.5, -2, 7 + 1.5 - 2]
    assert plane.tolist() == [0.5, -2, 7]
    regions = row_of(0, 0, 1, 1)
    planes = edge_planes(regions, np.array([[[1, 0, 5.0]], [[1, 0, 5.0]]]))
    assert planes.tolist() == [[[[1, 0, 6]], [[1, 0, 4]]]]


def test_wrong_arguments_are_named():
    regions = row_of(0, 0, 1, 1)
    observations = observe(regions, np.ones((1, 4)))
    particles = np.ones((2, 5, 3))
    for wrong in (particles[:1], particles[0], particles[..., :2], particles[:, :0]):
        with pytest.raises(InputError, match="particles: expected"):
            potentials.compatibility_cost(regions, wrong, MODEL)
    with pytest.raises(InputError, match="particles: expected finite"):
        potentials.disparity_cost(regions, observations, particles * np.nan, K)
    with pytest.raises(InputError, match="regions: expected colour"):
        potentials.colour_cost(regions, MODEL)
    with pytest.raises(InputError, match="disparity: expected the size"):
        observe(regions, np.ones((4, 1)))
    with pytest.raises(InputError, match="weights: expected the size"):
        observe(regions, np.ones((1, 4)), np.ones(4))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="weights: expected finite"):
            observe(regions, np.ones((1, 4)), np.full((1, 4), bad))
    with pytest.raises(InputError, match="observations: expected"):
        potentials.disparity_cost(row_of(0, 1, 2, 3), observations, np.ones((4, 5, 3)), K)
