"""The rules behind the metric names, by hand and by property."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from slanted.errors import InputError
from slanted.evaluation import METRIC_NAMES, evaluate, mean_metrics

NAN = np.nan


def score(estimate, truth, **kwargs):
    return evaluate(np.float32([estimate]), np.float32([truth]), **kwargs)


def test_names_and_their_order():
    everything = score([1, 2], [1, 2], ground_truth_noc=np.float32([[1, NAN]]))
    assert tuple(everything) == METRIC_NAMES
    assert METRIC_NAMES[:2] == ("out-1px-noc", "out-1px-all")
    assert METRIC_NAMES[8:] == (
        *("out-5px-noc", "out-5px-all", "D1-noc", "D1-all", "epe-noc", "epe-all"),
        *("rms-noc", "rms-all", "density-noc", "density-all"),
    )
    only_all = score([1, 2], [1, 2])
    assert tuple(only_all) == tuple(name for name in METRIC_NAMES if name.endswith("-all"))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("sign", [-1, 1])
def test_an_error_equal_to_the_threshold_is_no_outlier(k, sign):
    truth = 40.0
    step = 2.0**-16  # the spacing of float32 here is 2^-18
    metrics = score([truth + sign * k, truth + sign * (k + step)], [truth, truth])
    assert metrics[f"out-{k}px-all"] == 50


@pytest.mark.parametrize(
    ("estimate", "truth", "outlier"),
    [
        (14.0, 10.0, True),  # 4 px, 40 %
        (13.0, 10.0, False),  # 3 px exactly, 30 %
        (104.0, 100.0, False),  # 4 px, 4 %: the AND
        (2.0, 1.0, False),  # 1 px, 100 %: the AND
        (105.0, 100.0, False),  # 5 px, 5 % exactly
        (84.0, 80.0, False),  # 5 % exactly, where the float32 quotient is above 0.05
        (76.0, 80.0, False),
        (105.0 + 2.0**-16, 100.0, True),
        (94.0, 100.0, True),  # 6 % below
        (3.5, 0.0, True),  # every error is more than 5 % of nothing
        (3.0, 0.0, False),
    ],
)
def test_d1(estimate, truth, outlier):
    assert score([estimate], [truth])["D1-all"] == (100 if outlier else 0)


def test_a_frame_by_hand():
    truth = [10, 20, 30, 40, NAN]
    estimate = [10, 22, NAN, 34, 99]  # errors 0, 2, unknown, 6; the last is not scored
    metrics = score(estimate, truth, ground_truth_noc=np.array([[True, True, True, False, True]]))
    assert metrics == {
        "out-1px-noc": pytest.approx(200 / 3),
        "out-1px-all": 75,
        **{f"out-{k}px-noc": pytest.approx(100 / 3) for k in (2, 3, 4, 5)},
        **{f"out-{k}px-all": 50 for k in (2, 3, 4, 5)},
        "D1-noc": pytest.approx(100 / 3),
        "D1-all": 50,
        "epe-noc": 1,
        "epe-all": pytest.approx(8 / 3),
        "rms-noc": pytest.approx(math.sqrt(2)),
        "rms-all": pytest.approx(math.sqrt(40 / 3)),
        "density-noc": pytest.approx(200 / 3),
        "density-all": 75,
    }


def test_unknown_is_an_outlier_but_has_no_error():
    for unknown in (NAN, np.inf):
        metrics = score([unknown, unknown], [5, 6])
        assert metrics["out-5px-all"] == metrics["D1-all"] == 100
        assert metrics["density-all"] == 0
        assert math.isnan(metrics["epe-all"])
        assert math.isnan(metrics["rms-all"])


def test_a_noc_map_is_scored_on_its_own_values():
    metrics = score([10, 10], [10, 10], ground_truth_noc=np.float32([[14, NAN]]))
    assert metrics["epe-all"] == 0
    assert metrics["epe-noc"] == 4


def test_map_and_mask_agree_and_noc_lies_within_all():
    rng = np.random.default_rng(7)
    truth = rng.uniform(1, 60, (20, 30)).astype(np.float32)
    truth[rng.random(truth.shape) < 0.3] = NAN
    estimate = truth + rng.normal(0, 3, truth.shape).astype(np.float32)
    mask = rng.random(truth.shape) < 0.8
    by_mask = evaluate(estimate, truth, ground_truth_noc=mask)
    assert by_mask == evaluate(estimate, truth, ground_truth_noc=np.where(mask, truth, NAN))
    share = np.count_nonzero(mask & ~np.isnan(truth)) / np.count_nonzero(~np.isnan(truth))
    assert by_mask["out-1px-noc"] * share < by_mask["out-1px-all"]  # counts, not percentages


values = st.one_of(st.just(NAN), st.integers(0, 512).map(lambda v: v / 8))


@st.composite
def pairs(draw):
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=6))
    truth = draw(hnp.arrays(np.float32, shape, elements=values))
    truth.flat[0] = 7.5  # at least one pixel counts
    return draw(hnp.arrays(np.float32, shape, elements=values)), truth


@settings(max_examples=100, deadline=None)
@given(pairs())
def test_outliers_never_grow_with_the_threshold(pair):
    metrics = evaluate(*pair)
    outliers = [metrics[f"out-{k}px-all"] for k in (1, 2, 3, 4, 5)]
    assert outliers == sorted(outliers, reverse=True)
    assert metrics["D1-all"] <= metrics["out-3px-all"]
    assert all(0 <= value <= 100 for value in outliers)
    assert outliers[-1] >= 100 - metrics["density-all"] - 1e-9
    if metrics["density-all"] > 0:
        assert metrics["epe-all"] <= metrics["rms-all"] + 1e-9


@settings(max_examples=50, deadline=None)
@given(pairs())
def test_a_perfect_estimate_has_no_error(pair):
    _, truth = pair
    metrics = evaluate(truth, truth, ground_truth_noc=~np.isnan(truth))
    assert all(value == (100 if "density" in name else 0) for name, value in metrics.items())


@settings(max_examples=50, deadline=None)
@given(pairs(), st.integers(0, 99))
def test_the_order_of_pixels_does_not_matter(pair, seed):
    estimate, truth = pair
    order = np.random.default_rng(seed).permutation(truth.size)
    mixed = [array.ravel()[order].reshape(truth.shape) for array in pair]
    assert evaluate(*mixed) == pytest.approx(evaluate(estimate, truth), nan_ok=True)


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"ground_truth": np.ones((4, 3))}, "ground_truth: .*3 rows x 4 columns.*4 rows x 3 col"),
        ({"ground_truth_noc": np.ones((3, 5))}, "ground_truth_noc: .*3 rows x 5 columns"),
        ({"ground_truth_noc": np.ones((3, 5), bool)}, "ground_truth_noc: .*3 rows x 5 columns"),
        ({"ground_truth": np.full((3, 4), NAN)}, "ground_truth: .*unknown everywhere"),
        ({"ground_truth_noc": np.zeros((3, 4), bool)}, "ground_truth_noc: .*unknown everywhere"),
        ({"disparity": np.ones((3, 4, 3))}, r"disparity: .*\(3, 4, 3\)"),
        ({"ground_truth": np.ones((3, 4), bool)}, "ground_truth: .*bool"),
    ],
)
def test_bad_arrays_are_refused_by_name(kwargs, words):
    good = {"disparity": np.ones((3, 4)), "ground_truth": np.ones((3, 4))}
    with pytest.raises(InputError, match=f"^{words}"):
        evaluate(**(good | kwargs))


def test_mean_over_frames():
    frames = [
        {"out-3px-all": 10.0, "epe-all": 1.0, "rms-all": NAN},
        {"out-3px-all": 30.0, "epe-all": NAN, "rms-all": NAN, "epe-noc": 4.0},
    ]
    means = mean_metrics(frames)
    assert math.isnan(means.pop("rms-all"))
    assert means == {"out-3px-all": 20, "epe-all": 1, "epe-noc": 4}
    with pytest.raises(InputError, match=r"^frames: "):
        mean_metrics([])
