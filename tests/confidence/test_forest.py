"""Trees: their sums, their file and their growth."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_confidence
from slanted.confidence.boosting import Growth, boost_chance, boost_variance
from slanted.confidence.forest import Forest
from slanted.confidence.forest_kernels import CHUNK, add_histograms, sum_trees
from slanted.errors import InputError
from slanted.runtime.threads import thread_limit


def random_forest(rng, features, trees, depth):
    shape = trees, depth
    return Forest(
        tuple(f"f{k}" for k in range(features)),
        float(rng.normal()),
        rng.integers(0, features, shape).astype(np.int32),
        rng.integers(-2, 3, shape).astype(np.float32),
        rng.normal(size=(trees, 2**depth)).astype(np.float32),
    )


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    features=st.integers(1, 4),
    trees=st.integers(1, 5),
    depth=st.integers(1, 5),
    count=st.sampled_from([1, 7, CHUNK, CHUNK + 3]),
)
def test_sums_are_those_of_the_naive_twin(seed, features, trees, depth, count):
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, features, trees, depth)
    # Whole numbers, so that many features equal a threshold; and NaN, which is above nothing.
    values = rng.choice([-2, -1, 0, 1, 2, np.nan], (features, count)).astype(np.float32)
    tables = forest.feature, forest.threshold, forest.value, forest.bias
    found = np.empty(count, np.float32)
    sum_trees(values, *tables, 0, -(-count // CHUNK), found)
    np.testing.assert_allclose(found, naive_confidence.sum_trees(values, *tables), atol=1e-4)
    expected = 1 / (1 + np.exp(-found))
    np.testing.assert_array_equal(forest.probability(values), expected.astype(np.float32))


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bins=st.integers(2, 8), leaves=st.sampled_from([1, 2, 4]))
def test_histograms_are_those_of_the_naive_twin(seed, bins, leaves):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, bins, (3, 40)).astype(np.uint8)
    leaf = rng.integers(0, leaves, 40).astype(np.uint8)
    gradient, curvature = rng.normal(size=40), rng.random(40)
    found = np.zeros((3, leaves, bins, 2))
    add_histograms(codes, leaf, gradient, curvature, 0, 3, found)
    wanted = naive_confidence.histograms(codes, leaf, gradient, curvature, leaves, bins)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def samples(count=4000, seed=0):
    """The first two features decide together; the third is noise."""
    rng = np.random.default_rng(seed)
    values = rng.random((count, 3)).astype(np.float32)
    return values, (values[:, 0] > 0.3) ^ (values[:, 1] > 0.6)


def test_trees_learn_what_no_single_feature_tells():
    values, positive = samples()
    others, wanted = samples(seed=1)
    forest = boost_chance(values, positive, "abc", Growth(trees=30, depth=3))
    found = forest.probability(others.T)
    assert ((found > 0.5) == wanted).mean() > 0.97
    assert found[wanted].mean() > 0.9
    assert found[~wanted].mean() < 0.1


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(2)
    values = rng.random((40_000, 1)).astype(np.float32)
    chance = 0.1 + 0.6 * values[:, 0]
    forest = boost_chance(values, rng.random(40_000) < chance, "a", Growth(trees=60, depth=2))
    np.testing.assert_allclose(forest.probability(values.T), chance, atol=0.06)


def test_variances_are_those_of_the_errors():
    rng = np.random.default_rng(7)
    values = rng.random((20_000, 2)).astype(np.float32)
    deviation = np.where(values[:, 0] > 0.4, 2.0, 0.25)
    errors = rng.normal(0, deviation)
    forest = boost_variance(values, errors, "ab", Growth(trees=60, depth=2))
    found = np.exp(forest.scores(values.T) / 2)
    clear = np.abs(values[:, 0] - 0.4) > 0.05  # thresholds are quantiles
    np.testing.assert_allclose(found[clear], deviation[clear], rtol=0.15)


def test_errors_of_zero_have_a_small_variance():
    values = np.zeros((50, 1), np.float32)
    forest = boost_variance(values, np.zeros(50), "a", Growth(trees=2, depth=1))
    assert np.isfinite(forest.scores(values.T)).all()
    assert (np.exp(forest.scores(values.T) / 2) < 1e-3).all()


def test_every_tree_lowers_the_loss():
    values, positive = samples(500)
    losses = []
    for trees in (1, 3, 10):
        found = boost_chance(values, positive, "abc", Growth(trees=trees, depth=2)).probability(
            values.T
        )
        score = np.log(found / (1 - found))
        losses.append(naive_confidence.logistic_loss(score.astype(float), positive))
    assert losses == sorted(losses, reverse=True)


def test_the_first_split_is_the_best_of_all():
    values, positive = samples(300)
    forest = boost_chance(
        values, positive, "abc", Growth(trees=1, depth=1, bins=16, ridge=0.0, rate=1.0)
    )
    chance = positive.mean()

    def gain(feature, threshold):
        above = values[:, feature] > threshold
        parts = [positive[above] - chance, positive[~above] - chance]
        return sum(p.sum() ** 2 / (len(p) * chance * (1 - chance)) for p in parts if len(p))

    chosen = gain(forest.feature[0, 0], forest.threshold[0, 0])
    shares = np.linspace(0, 1, 17)[1:-1]
    for feature in range(3):
        for threshold in np.quantile(values[:, feature], shares, method="nearest"):
            assert gain(feature, threshold) <= chosen + 1e-9


def test_the_same_trees_for_any_number_of_threads():
    values, positive = samples()
    found = []
    for threads in (1, 2):
        with thread_limit(threads):
            forest = boost_chance(values, positive, "abc", Growth(trees=5))
            found.append((*vars(forest).values(), forest.probability(values.T)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_kind_of_samples_is_refused():
    with pytest.raises(InputError, match="both kinds"):
        boost_chance(np.zeros((5, 1), np.float32), np.zeros(5, bool), "a")


def test_json_keeps_every_bit():
    forest = random_forest(np.random.default_rng(3), 4, 6, 3)
    again = Forest.from_json(json.loads(json.dumps(forest.as_json())), forest.names)
    for name in ("names", "feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(again, name), getattr(forest, name), err_msg=name)
    # The kernel adds float32, of which nine digits keep every bit.
    assert np.float32(again.bias) == np.float32(forest.bias)
    values = np.random.default_rng(4).normal(size=(4, 100)).astype(np.float32)
    np.testing.assert_array_equal(again.scores(values), forest.scores(values))
    assert again.feature.dtype == forest.feature.dtype == np.int32


def tree(*above, add):
    return {"above": list(above), "add": add}


DAMAGES = {
    "no trees": lambda c: c | {"trees": []},
    "too many trees": lambda c: c | {"trees": c["trees"][:1] * 10_001},
    "an unknown feature": lambda c: c | {"trees": [tree(["x", 1], add=[0, 0])]},
    "other features": lambda c: c | {"features": ["f1", "f0"]},
    "too few leaves": lambda c: c | {"trees": [tree(["f0", 1], add=[0])]},
    "no level": lambda c: c | {"trees": [tree(add=[0])]},
    "too deep": lambda c: c | {"trees": [tree(*[["f0", 1]] * 9, add=[0] * 512)]},
    "two depths": lambda c: c | {"trees": [*c["trees"], tree(["f0", 1], add=[0, 0])]},
    "a text": lambda c: c | {"bias": "x"},
    "a bias that is not finite": lambda c: c | {"bias": float("inf")},
    "a threshold that is not finite": lambda c: c | {"trees": [tree(["f0", 1e999], add=[0, 0])]},
    "a leaf that is not finite": lambda c: c | {"trees": [tree(["f0", 1], add=[0, float("nan")])]},
    "a leaf beyond float32": lambda c: c | {"trees": [tree(["f0", 1], add=[0, 1e300])]},
    "a leaf that is too large": lambda c: c | {"trees": [tree(["f0", 1], add=[0, -1e7])]},
    "a bias that is too large": lambda c: c | {"bias": 1e7},
    "trees that are a number": lambda c: c | {"trees": 3},
    "no bias": lambda c: {k: v for k, v in c.items() if k != "bias"},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_trees_are_refused(damage):
    content = random_forest(np.random.default_rng(5), 2, 2, 2).as_json()
    assert Forest.from_json(content, ["f0", "f1"])
    with pytest.raises((KeyError, TypeError, ValueError, OverflowError)):
        Forest.from_json(DAMAGES[damage](content), ["f0", "f1"])


def test_scores_beyond_exponents_are_certain():
    forest = random_forest(np.random.default_rng(8), 1, 1, 1)
    zero, value = np.zeros((1, 1), np.float32), np.array([[-1e6, 1e6]], np.float32)
    forest = replace(forest, bias=0.0, threshold=zero, value=value)
    assert forest.probability(np.array([[-1, 1]], np.float32)).tolist() == [0, 1]


def test_features_of_another_number_are_refused():
    forest = random_forest(np.random.default_rng(6), 2, 1, 1)
    with pytest.raises(InputError, match="expected 2"):
        forest.probability(np.zeros((3, 4), np.float32))
