"""The experiment on noise, on made-up errors: what it learns from, measures, and reports."""

import numpy as np
import pytest

from slanted.learning.sources import as_source
from slanted.research.experiments import noise
from slanted.research.experiments.jobs.learning import LearningJob
from slanted.research.experiments.jobs.noise import NoisySource
from slanted.research.experiments.measurements import Measured
from slanted.settings import Settings
from slanted.synthetic import noisy_scene

LEARNED = {"seg": 1.0, "bdy1": 0.5, "bdy2": 4.0, "jct": 2.0, "crs": 3.0, "col": 6.0}


class MadeUp:
    """Answers with learned weights, and with errors that depend on σ and the scene."""

    limit = None

    def __init__(self, folder, problem=""):
        self.folder, self.problem, self.asked = folder, problem, []

    def measure(self, jobs):
        self.asked.append(jobs)
        return [Measured(self.scores(job), self.problem) for job in jobs]

    def scores(self, job):
        if isinstance(job, LearningJob):
            return LEARNED | {"bdy2": 4.0 + job.frames[0].sigma}
        error = 0.1 * job.sigma + 0.01 * (job.number % 2)
        return {name: error + 1 + k for k, name in enumerate(noise.COLUMNS)} | {"ours": error}


@pytest.fixture
def made_up(tmp_path):
    context = MadeUp(tmp_path)
    return context, noise.noise(context)


def test_weights_are_learned_on_ten_scenes_and_measured_on_ninety_others(made_up):
    context, outcome = made_up
    learning, jobs = context.asked
    assert len(learning) == len(noise.SIGMAS)
    test = {(job.seed, job.number) for job in jobs}
    for job, sigma in zip(learning, noise.SIGMAS, strict=True):
        train = {(scene.seed, scene.number) for scene in job.frames}
        assert (len(train), len(job.frames), len(test)) == (10, 10, 90)
        assert not train & test
        assert {scene.sigma for scene in job.frames} == {sigma}
    assert len(jobs) == 90 * 5
    for job in jobs:
        weights = {name: getattr(job.settings.model.weights, name) for name in LEARNED}
        assert weights == LEARNED | {"bdy2": 4.0 + job.sigma}, "those of its σ"
    (note,) = outcome.tables["synthetic"].notes
    assert "learned for each σ from 10 other scenes" in note
    assert "5: seg 1, bdy1 0.5, bdy2 9, jct 2, crs 3, col 6" in note


def test_learning_starts_at_weights_that_nobody_chose(made_up):
    """Not at those of preset paper, which were chosen on KITTI."""
    learning = made_up[0].asked[0][0]
    weights = learning.settings.model.weights
    assert {getattr(weights, name) for name in LEARNED} == {1.0}
    assert (weights.vis, weights.pho) == (0, 0)  # the paper has neither
    model, published = learning.settings.model, Settings.preset("paper").model
    assert (model.truncation, model.lambda_occ) == (published.truncation, published.lambda_occ)
    assert learning.settings.learning == Settings.preset("paper").learning


def test_the_table_has_the_means_of_the_test_scenes(made_up):
    context, outcome = made_up
    table = outcome.tables["synthetic"]
    for sigma in noise.SIGMAS:
        jobs = [job for job in context.asked[1] if job.sigma == sigma]
        for column, name in (("RMS", "ours"), ("wrong with the true planes", "limit")):
            expected = np.mean([context.scores(job)[name] for job in jobs])
            assert table.cell(f"{sigma:g}", column) == pytest.approx(expected)
    assert [finding.holds for finding in outcome.findings] == [True, True]


def test_without_learned_weights_nothing_is_measured_and_it_is_said(tmp_path):
    context = MadeUp(tmp_path, "no memory left")
    outcome = noise.noise(context)
    assert len(context.asked) == 1
    assert not outcome.tables
    assert "no memory left" in outcome.missing[0]


def test_a_scene_to_learn_from_is_that_of_the_noise_set():
    source = NoisySource(3, 1, 2.0)
    assert as_source(source) is source
    pair, noisy = source.load(), noisy_scene(2.0, 3, 1)
    np.testing.assert_array_equal(pair.disparity, noisy.disparity)
    np.testing.assert_array_equal(pair.truth, noisy.scene.disparity)
    np.testing.assert_array_equal(pair.labels, noisy.scene.labels)
    assert len({NoisySource(*x).digest() for x in ((3, 1, 2.0), (3, 1, 1.0), (3, 2, 2.0))}) == 3
