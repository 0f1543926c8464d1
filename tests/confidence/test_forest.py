"""Trees: their sums, their file and their growth."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_confidence
from slanted.confidence.boosting import Growth, boost
from slanted.confidence.forest import Forest
from slanted.confidence.forest_kernels import CHUNK, add_histograms, sum_trees
from slanted.errors import FileError, InputError
from slanted.runtime.threads import thread_limit


def random_forest(rng, features, trees, depth):
    shape = trees, depth
    return Forest(
        tuple(f"f{k}" for k in range(features)),
        float(rng.normal()),
        rng.integers(0, features, shape),
        rng.integers(-2, 3, shape).astype(np.float32),
        rng.normal(size=(trees, 2**depth)).astype(np.float32),
        {"data": "made up"},
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
    forest = boost(values, positive, "abc", Growth(trees=30, depth=3))
    found = forest.probability(others.T)
    assert ((found > 0.5) == wanted).mean() > 0.97
    assert found[wanted].mean() > 0.9 > 0.1 > found[~wanted].mean()


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(2)
    values = rng.random((40_000, 1)).astype(np.float32)
    chance = 0.1 + 0.6 * values[:, 0]
    forest = boost(values, rng.random(40_000) < chance, "a", Growth(trees=60, depth=2))
    np.testing.assert_allclose(forest.probability(values.T), chance, atol=0.06)


def test_every_tree_lowers_the_loss():
    values, positive = samples(500)
    losses = []
    for trees in (1, 3, 10):
        found = boost(values, positive, "abc", Growth(trees=trees, depth=2)).probability(values.T)
        score = np.log(found / (1 - found))
        losses.append(naive_confidence.logistic_loss(score.astype(float), positive))
    assert losses == sorted(losses, reverse=True)


def test_the_first_split_is_the_best_of_all():
    values, positive = samples(300)
    forest = boost(values, positive, "abc", Growth(trees=1, depth=1, bins=16, ridge=0.0, rate=1.0))
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
            forest = boost(values, positive, "abc", Growth(trees=5))
            found.append((*vars(forest).values(), forest.probability(values.T)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_kind_of_samples_is_refused():
    with pytest.raises(InputError, match="both kinds"):
        boost(np.zeros((5, 1), np.float32), np.zeros(5, bool), "a")


def test_a_file_keeps_every_bit(tmp_path):
    forest = random_forest(np.random.default_rng(3), 4, 6, 3)
    forest.save(tmp_path / "trees.json")
    again = Forest.load(tmp_path / "trees.json")
    values = np.random.default_rng(4).normal(size=(4, 100)).astype(np.float32)
    assert again.origin == {"data": "made up"}
    np.testing.assert_array_equal(forest.threshold, again.threshold)
    np.testing.assert_array_equal(forest.value, again.value)
    np.testing.assert_allclose(forest.probability(values), again.probability(values), rtol=1e-6)
    assert len((tmp_path / "trees.json").read_text().splitlines()) < 30


DAMAGES = {
    "no trees": lambda content: content | {"trees": []},
    "an unknown feature": lambda c: c | {"trees": [{"above": [["x", 1]], "add": [0, 0]}]},
    "too few leaves": lambda c: c | {"trees": [{"above": [["f0", 1]], "add": [0]}]},
    "trees of two depths": lambda c: (
        c | {"trees": [*c["trees"], {"above": [["f0", 1]], "add": [0, 0]}]}
    ),
    "a text": lambda c: c | {"bias": "x"},
    "no origin": lambda c: {k: v for k, v in c.items() if k != "origin"},
    "not finite": lambda c: c | {"trees": [{"above": [["f0", 1e999]], "add": [0, 0]}]},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(tmp_path, damage):
    path = tmp_path / "trees.json"
    random_forest(np.random.default_rng(5), 2, 2, 2).save(path)
    path.write_text(json.dumps(DAMAGES[damage](json.loads(path.read_text()))))
    with pytest.raises(FileError, match="damaged"):
        Forest.load(path)


def test_features_of_another_number_are_refused():
    forest = random_forest(np.random.default_rng(6), 2, 1, 1)
    with pytest.raises(InputError, match="expected 2"):
        forest.probability(np.zeros((3, 4), np.float32))
