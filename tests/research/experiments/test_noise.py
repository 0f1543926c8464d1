"""The experiment on noise, on made-up errors: which weights it tries, takes, and reports."""

import numpy as np
import pytest

from slanted.research.experiments import noise
from slanted.research.experiments.measurements import Measured
from slanted.settings import Settings

BEST = 3
OTHERS = ("local fit", "oracle", "wrong", "flattened")


class MadeUp:
    """Answers with errors that are least for one weight on average, though not for every σ."""

    limit = None

    def __init__(self):
        self.asked = []

    def measure(self, jobs):
        self.asked.append(jobs)
        return [Measured(self.scores(job)) for job in jobs]

    def scores(self, job):
        weight = job.settings.model.weights.bdy2
        ours = abs(weight - BEST) + job.sigma + 0.1 * (job.number % 2)
        if job.sigma == 0:
            ours = 4 - 0.4 * weight  # without noise the largest weight is best
        # What the choice must not look at is least for the smallest weight.
        rest = {name: weight + k + job.sigma for k, name in enumerate(OTHERS)}
        return {"ours": ours, **rest}


@pytest.fixture
def made_up():
    context = MadeUp()
    return context, noise.noise(context)


def mean_errors(context):
    """Mean RMS of each weight over the training scenes of all σ, scene by scene."""
    found = {}
    for job in context.asked[0]:
        errors = found.setdefault(job.settings.model.weights.bdy2, [])
        errors.append(context.scores(job)["ours"])
    return {weight: np.mean(errors) for weight, errors in found.items()}


def test_the_weight_with_the_least_error_on_the_training_scenes_is_taken(made_up):
    context, outcome = made_up
    errors = mean_errors(context)
    assert set(errors) == set(noise.WEIGHTS)
    assert all(errors[BEST] < error for weight, error in errors.items() if weight != BEST)
    assert {job.settings for job in context.asked[1]} == {noise.settings_for(BEST)}
    (note,) = outcome.tables["synthetic"].notes
    assert f"bdy2, jct, crs and col: {BEST}, chosen on 10 other scenes" in note


def test_scenes_are_the_papers_numbers_and_those_of_the_test_are_others(made_up):
    context, _ = made_up
    train, test = ({(job.seed, job.number) for job in jobs} for jobs in context.asked)
    assert (len(train), len(test)) == (10, 90)
    assert not train & test
    for jobs, scenes in zip(context.asked, (train, test), strict=True):
        weights = {job.settings.model.weights.bdy2 for job in jobs}
        assert len(jobs) == len(scenes) * len(weights) * len(noise.SIGMAS)
        assert {job.sigma for job in jobs} == {0, 1, 2, 3, 5}


def test_the_table_has_the_means_of_the_test_scenes(made_up):
    context, outcome = made_up
    table = outcome.tables["synthetic"]
    for sigma in noise.SIGMAS:
        jobs = [job for job in context.asked[1] if job.sigma == sigma]
        expected = np.mean([context.scores(job)["ours"] for job in jobs])
        assert table.cell(f"{sigma:g}", "RMS") == pytest.approx(expected)


@pytest.mark.parametrize("weight", noise.WEIGHTS)
def test_only_potentials_that_are_not_sums_over_pixels_get_the_weight(weight):
    weights, published = (
        settings.model.weights
        for settings in (noise.settings_for(weight), Settings.preset("paper"))
    )
    assert (weights.bdy2, weights.jct, weights.crs, weights.col) == (weight,) * 4
    assert (weights.seg, weights.bdy1) == (published.seg, published.bdy1)
    assert (weights.vis, weights.pho) == (0, 0)  # the paper has neither
