"""What is gathered of a sample of the pixels is what all pixels have there."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from slanted.model.evidence import Evidence
from slanted.model.observations import observe, observe_sample
from slanted.partition.label_image import label_image_from_user
from slanted.regions import build_regions


def scene(seed):
    """Segments, and evidence with holes and weights."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.repeat(rng.integers(0, 9, (4, 5)), 5, 0), 4, 1)
    regions = build_regions(label_image_from_user(labels, labels.shape))
    disparity = rng.uniform(1, 30, labels.shape).astype(np.float32)
    disparity[rng.random(labels.shape) < 0.3] = np.nan
    return regions, Evidence(disparity, rng.random(labels.shape).astype(np.float32))


def naive_matches(sets, start, evidence, lowest, every):
    """Matches of each set: row, column, disparity and weight of every so many-th of all pixels."""
    rows, width = [[] for _ in start[1:]], evidence.disparity.shape[1]
    for number, pixel in enumerate(sets):
        owner = int(np.searchsorted(start, number, side="right")) - 1
        row, column = divmod(int(pixel), width)
        known = float(evidence.disparity[row, column])
        if number % every == 0 and np.isfinite(known):
            weight = float(evidence.pixel_weights[row, column])
            rows[owner].append((row, column, known - lowest, weight))
    return rows


def compare(matches, expected, centre, factor):
    assert np.diff(matches.start).tolist() == [len(rows) for rows in expected]
    for k, rows in enumerate(expected):
        some = slice(matches.start[k], matches.start[k + 1])
        u, v = centre[k]
        found = matches.dv[some] + v, matches.du[some] + u, matches.disparity[some]
        columns = np.array(rows).reshape(-1, 4).T
        np.testing.assert_allclose(found, columns[:3])
        np.testing.assert_allclose(matches.weight[some], factor * columns[3])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.0, -3.0]))
def test_one_pixel_in_so_many_counts_as_many_times(seed, every, lowest):
    regions, evidence = scene(seed)
    found = observe(regions, evidence, lowest, every=every)
    order, start = regions.pixel_order, regions.pixel_start
    own = naive_matches(order, start, evidence, lowest, every)
    compare(found.segments, own, regions.centre, every)
    between = regions.boundary_pixels, regions.boundary_start
    expected = naive_matches(*between, evidence, lowest, every)
    compare(found.boundaries, expected, regions.boundary_centre, every)
    unknown = [p for p in order[::every] if np.isnan(evidence.disparity.flat[p])]
    assert found.unmatched.pixels.tolist() == unknown
    assert found.unmatched.weight == every


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.0, -3.0]))
def test_a_sample_has_the_matches_of_segments_alone(seed, every, lowest):
    regions, evidence = scene(seed)
    found = observe_sample(regions, evidence, lowest, every)
    sets = regions.pixel_order, regions.pixel_start
    compare(found.segments, naive_matches(*sets, evidence, lowest, every), regions.centre, 1)
    assert found.boundaries.du.size == found.unmatched.pixels.size == 0


def test_a_sample_without_weights_counts_alike():
    regions, evidence = scene(1)
    alike = Evidence(evidence.disparity)
    assert set(observe_sample(regions, alike, 0.0, 2).segments.weight) == {1.0}
