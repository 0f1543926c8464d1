"""Error against density, AUC and calibration, against their definitions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from evaluation import naive_confidence as naive
from slanted.errors import FileError, InputError
from slanted.evaluation.calibration import pooled, reliability
from slanted.evaluation.confidence import evaluate_confidence, mean_confidence
from slanted.evaluation.metrics import evaluate
from slanted.evaluation.sparsification import DENSITIES, rank
from slanted.io import write_image
from slanted.io.confidence import read_confidence
from slanted.output.chart_drawing import confidence_charts
from slanted.output.charts import density_chart, reliability_chart
from slanted.output.result_data import json_text

levels = st.sampled_from([0.0, 0.05, 0.3, 0.55, 0.75, 0.9, 1.0])
pixels = st.lists(st.tuples(levels, st.booleans()), min_size=1, max_size=25)


@given(pixels)
def test_everything_equals_its_definition(drawn):
    confidence, is_wrong = (list(each) for each in zip(*drawn, strict=True))
    ranking = rank(np.array(confidence), np.array(is_wrong))
    curve = [naive.error_at(confidence, is_wrong, density) for density in DENSITIES]
    oracle = [naive.oracle_at(is_wrong, density) for density in DENSITIES]
    np.testing.assert_allclose(ranking.error(), curve, atol=1e-9)
    np.testing.assert_allclose(ranking.oracle(), oracle, atol=1e-9)
    assert ranking.area() == pytest.approx(np.mean(curve) - np.mean(oracle), abs=1e-9)
    assert ranking.auc() == pytest.approx(naive.auc(confidence, is_wrong), nan_ok=True)
    found = reliability(np.array(confidence), np.array(is_wrong))
    assert found.error() == pytest.approx(naive.calibration_error(confidence, is_wrong), abs=1e-9)


@given(pixels)
def test_no_order_beats_the_oracle_and_only_the_order_counts(drawn):
    confidence, is_wrong = (np.array(each) for each in zip(*drawn, strict=True))
    ranking = rank(confidence, is_wrong)
    assert (ranking.oracle() <= ranking.error() + 1e-9).all()
    stretched = rank(np.exp(3 * confidence), is_wrong)
    np.testing.assert_allclose(stretched.error(), ranking.error())
    assert ranking.error()[0] == pytest.approx(100 * is_wrong.mean())


def test_auc_equals_the_formula_of_ranks():
    rng = np.random.default_rng(0)
    confidence = rng.integers(0, 40, 3000) / 40  # many ties
    is_wrong = rng.random(3000) > confidence
    ranks = rankdata(confidence)  # ties share their mean
    wrong, right = is_wrong.sum(), (~is_wrong).sum()
    mann_whitney = ranks[~is_wrong].sum() - right * (right + 1) / 2
    assert rank(confidence, is_wrong).auc() == pytest.approx(mann_whitney / (wrong * right))


def test_perfect_inverted_and_constant_confidences():
    is_wrong = np.arange(1000) < 200
    perfect = rank(np.where(is_wrong, 0.1, 0.9), is_wrong)
    assert perfect.auc() == 1
    assert perfect.area() == pytest.approx(0)
    assert perfect.error()[DENSITIES.index(80)] == pytest.approx(0)
    inverted = rank(np.where(is_wrong, 0.9, 0.1), is_wrong)
    assert inverted.auc() == 0
    assert inverted.error()[DENSITIES.index(20)] == pytest.approx(100)
    assert inverted.area() > perfect.area()
    constant = rank(np.full(1000, 0.8), is_wrong)
    assert constant.auc() == 0.5
    np.testing.assert_allclose(constant.error(), 20)
    assert reliability(np.full(1000, 0.8), is_wrong).error() == pytest.approx(0, abs=1e-9)
    assert np.isnan(rank(np.ones(4), np.zeros(4, bool)).auc())


def test_a_calibrated_confidence_has_no_calibration_error():
    rng = np.random.default_rng(1)
    confidence = rng.random(200_000)
    is_wrong = rng.random(200_000) > confidence
    assert reliability(confidence, is_wrong).error() < 0.5
    overconfident = reliability(np.sqrt(confidence), is_wrong)
    assert overconfident.error() > 10
    assert (overconfident.found() < overconfident.mean_said())[3:].all()


def test_bins_of_images_can_be_put_together():
    rng = np.random.default_rng(2)
    confidence, is_wrong = rng.random(900), rng.random(900) < 0.3
    parts = [reliability(confidence[k::3], is_wrong[k::3]) for k in range(3)]
    whole = reliability(confidence, is_wrong)
    assert pooled(parts).error() == pytest.approx(whole.error())
    np.testing.assert_allclose(pooled(parts).found(), whole.found())


@pytest.fixture
def maps():
    rng = np.random.default_rng(3)
    truth = rng.uniform(5, 90, (30, 40))
    truth[rng.random(truth.shape) < 0.3] = np.nan
    disparity = truth + rng.normal(0, 3, truth.shape)
    disparity[np.isnan(truth)] = 7
    disparity[4, :20] = np.nan
    confidence = np.clip(1 - np.abs(disparity - truth) / 9 + rng.normal(0, 0.2, truth.shape), 0, 1)
    confidence[np.isnan(confidence)] = 0.95
    return disparity, truth, confidence


def test_wrong_is_what_d1_counts(maps):
    disparity, truth, confidence = maps
    scores = evaluate_confidence(disparity, truth, confidence)
    assert scores.error[0] == pytest.approx(evaluate(disparity, truth)["D1-all"])
    assert scores.metrics["D1@80-all"] == scores.error[DENSITIES.index(80)] < scores.error[0]
    assert 0.5 < scores.metrics["AUC-all"] < 1
    # Pixels without an estimate are wrong, and known to be: what is said of them does not matter.
    sure = confidence.copy()
    sure[4, :20] = 1.0
    again = evaluate_confidence(disparity, truth, sure)
    assert again.metrics == scores.metrics
    assert scores.reliability.total.sum() == np.isfinite(truth).sum()


def test_scores_are_plain_json_and_means_are_means(maps):
    disparity, truth, confidence = maps
    first = evaluate_confidence(disparity, truth, confidence)
    second = evaluate_confidence(disparity, truth, 1 - confidence)
    mean = mean_confidence([first, second])
    np.testing.assert_allclose(mean.error, (first.error + second.error) / 2)
    for name in ("D1@80-all", "AUC-all", "AUSE-all"):
        assert mean.metrics[name] == pytest.approx((first.metrics[name] + second.metrics[name]) / 2)
    assert mean.metrics["ECE-all"] == mean.reliability.error()
    data = json.loads(json_text(mean.as_dict()))
    assert [point["density"] for point in data["curve"]] == list(DENSITIES)
    assert len(data["reliability"]) == 10
    assert data["curve"][4]["error"] == data["D1@80-all"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, t, c: (d, t, c[1:]), "confidence: expected the size of the disparity map"),
        (lambda d, t, c: (d, t, c + 1), "confidence: expected numbers from 0 to 1, got"),
        (lambda d, t, c: (d, t, c * np.nan), "confidence: expected numbers from 0 to 1, got"),
        (lambda d, t, c: (d, t * np.nan, c), "ground_truth: expected at least one known pixel"),
        (lambda d, t, c: (d, t[1:], c), "ground_truth: expected the size of disparity"),
    ],
)
def test_maps_that_do_not_fit_are_refused(maps, change, message):
    with pytest.raises(InputError, match=message):
        evaluate_confidence(*change(*maps))


def test_charts_show_curve_oracle_and_diagonal(maps):
    scores = evaluate_confidence(*maps)
    curve, oracle = density_chart(scores).series
    assert curve.y == tuple(scores.error.tolist())
    assert oracle.y == tuple(scores.oracle.tolist())
    found, diagonal = reliability_chart(scores).series
    assert len(found.x) == (scores.reliability.total > 0).sum()
    assert diagonal.x == diagonal.y
    picture = confidence_charts(scores)
    assert picture.dtype == np.uint8
    assert picture.shape[2] == 3


def test_confidence_files_are_read(tmp_path):
    values = np.array([[0.0, 0.25], [0.5, 1.0]])
    np.save(tmp_path / "a.npy", values)
    np.testing.assert_array_equal(read_confidence(tmp_path / "a.npy"), values)
    write_image(tmp_path / "b.png", np.rint(values * 65535).astype(np.uint16))
    np.testing.assert_allclose(read_confidence(tmp_path / "b.png"), values, atol=1e-5)
    write_image(tmp_path / "c.png", np.zeros((2, 2), np.uint8))
    np.save(tmp_path / "d.npy", values + 0.1)
    np.save(tmp_path / "e.npy", values * np.nan)
    np.save(tmp_path / "f.npy", values[0])
    np.save(tmp_path / "g.npy", np.ones((2, 2), int))
    np.save(tmp_path / "h.npy", values - 0.1)
    for name in ("c.png", "d.npy", "e.npy", "f.npy", "g.npy", "h.npy"):
        with pytest.raises(FileError, match=f"{name}: expected a confidence"):
            read_confidence(tmp_path / name)
