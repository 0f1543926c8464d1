"""Optimisers find the minimum, keep weights non-negative and never lose the best point."""

import numpy as np
import pytest

from learning.problems import small_example
from slanted.errors import InputError
from slanted.learning.examples import NAMES
from slanted.learning.images import Images
from slanted.learning.objective import ImageObjective
from slanted.learning.optimise import (
    PATIENCE,
    minimise_interleaved,
    minimise_lbfgs,
    minimise_subgradient,
    refuse_zero,
)
from slanted.learning.owner import add_example
from slanted.learning.training import Training
from slanted.runtime.workers import Sequential

COUNT = len(NAMES)
ALL = np.ones(COUNT, bool)


def training(examples=3, **options):
    images = Images(Sequential())
    for number in range(examples):
        run = images.add(number)
        add_example(run, number, small_example(number, losses=3.0))
    options = {"units": np.ones(COUNT), "regulariser": 0.1, **options}
    return Training(images, None, tolerance=1e-12, most=100, **options)


def bowl(target):
    def function(weights, *_):
        return float(np.sum((weights - target) ** 2)), 2 * (weights - target)

    return function


TARGET = np.array([3.0, -1, 0.5, 2, -4, 0.1, 1, 0.7])


def test_each_finds_the_least_point_with_non_negative_weights():
    expected = np.maximum(TARGET, 0)
    found = minimise_lbfgs(bowl(TARGET), np.ones(COUNT), ALL, limit=50, tolerance=1e-12)
    np.testing.assert_allclose(found.weights, expected, atol=1e-6)
    found = minimise_interleaved(
        bowl(TARGET), np.ones(COUNT), ALL, sweeps=1, limit=500, tolerance=1e-12
    )
    np.testing.assert_allclose(found.weights, expected, atol=1e-4)
    found = minimise_subgradient(bowl(TARGET), expected + 0.3, ALL, limit=400)
    np.testing.assert_allclose(found.weights, expected, atol=0.1)


def test_weights_that_are_not_learned_stay_zero():
    learned = np.arange(COUNT) != 3
    for found in (
        minimise_lbfgs(bowl(TARGET), np.ones(COUNT), learned, limit=50, tolerance=1e-12),
        minimise_interleaved(
            bowl(TARGET), np.ones(COUNT), learned, sweeps=1, limit=50, tolerance=0
        ),
        minimise_subgradient(bowl(TARGET), np.ones(COUNT), learned, limit=50),
    ):
        assert found.weights[3] == 0


def test_the_number_of_evaluations_is_kept_to_and_told():
    asked = []

    def function(weights, *_):
        asked.append(weights)
        return bowl(TARGET)(weights)

    found = minimise_lbfgs(function, np.ones(COUNT), ALL, limit=3, tolerance=0.0)
    assert len(asked) == 3
    assert "3 evaluations" in found.reason
    assert found.value == min(bowl(TARGET)(w)[0] for w in asked)


def test_interleaved_steps_end_when_several_in_a_row_gain_nothing():
    values = [9.0, 8.0, 8.0, 8.0, 7.0, *[7.0] * 20]  # the third step of two slow ones gains again
    taken = []

    def function(weights, sweeps):
        taken.append(values[len(taken)])
        return taken[-1], np.zeros(COUNT)  # no way down, so no trial steps

    found = minimise_interleaved(function, np.ones(COUNT), ALL, sweeps=1, limit=50, tolerance=1e-3)
    assert taken == [9, 8, 8, 8, 7, *[7] * PATIENCE]
    assert found.value == 7
    assert f"{PATIENCE} steps in a row" in found.reason


def test_interleaved_steps_lower_the_objective_to_that_of_lbfgs():
    ours = training()
    exact = minimise_lbfgs(
        lambda w: ours.evaluate(w, 1.0, 100), np.ones(COUNT), ALL, limit=60, tolerance=1e-10
    )
    seen = []
    other = training()

    def function(weights, sweeps):
        value, gradient = other.evaluate(weights, 1.0, sweeps)
        if sweeps:
            seen.append(value)
        return value, gradient

    found = minimise_interleaved(function, np.ones(COUNT), ALL, sweeps=2, limit=400, tolerance=1e-7)
    assert (np.diff(seen) <= 1e-9).all(), "each step starts lower than the one before"
    assert found.value == pytest.approx(exact.value, rel=2e-3)


UNITS = np.array([0.02, 0.1, 1, 2, 0.5, 3, 0.02, 1])


def test_the_objective_is_the_losses_of_all_images_and_the_regulariser_of_scaled_weights():
    weights = np.linspace(0.5, 2, COUNT)
    shares = [
        ImageObjective(small_example(k, losses=3.0)).evaluate(weights, 1.0, sweeps=9)
        for k in range(3)
    ]
    value, gradient = training(units=UNITS).evaluate(weights / UNITS, 1.0, 9)
    square = np.sum((weights / UNITS) ** 2)
    assert value == pytest.approx(sum(share.value for share in shares) + 0.1 / 2 * square)
    slope = sum(share.gradient for share in shares) * UNITS + 0.1 * weights / UNITS
    np.testing.assert_allclose(gradient, slope)


@pytest.mark.parametrize("units", [np.ones(COUNT), UNITS])
def test_the_gradient_of_the_whole_objective_is_that_of_finite_differences(units):
    ours = training(units=units)
    point = np.linspace(0.5, 2, COUNT)
    ours.evaluate(point, 1.0, 300)
    _, gradient = ours.evaluate(point, 1.0, 0)
    for k in range(COUNT):
        shift = 1e-4 * np.eye(COUNT)[k]
        ahead, behind = (ours.evaluate(point + s * shift, 1.0, 0)[0] for s in (1, -1))
        assert (ahead - behind) / 2e-4 == pytest.approx(gradient[k], rel=1e-6, abs=1e-5)


def test_at_convergence_the_envelope_has_the_same_gradient():
    """With messages solved for at both ends, not held fixed."""
    ours = training()
    point = np.linspace(0.5, 2, COUNT)
    _, gradient = ours.evaluate(point, 1.0, 1000)
    for k in (0, 2, 5):
        shift = 1e-3 * np.eye(COUNT)[k]
        ahead, behind = (ours.evaluate(point + s * shift, 1.0, 1000)[0] for s in (1, -1))
        assert (ahead - behind) / 2e-3 == pytest.approx(gradient[k], rel=1e-4, abs=1e-4)


def test_subgradient_steps_lower_the_hinge_loss():
    ours = training()
    first, _ = ours.evaluate(np.ones(COUNT), 0.0, 30)
    found = minimise_subgradient(lambda w: ours.evaluate(w, 0.0, 30), np.ones(COUNT), ALL, limit=60)
    assert found.value < first


def test_all_weights_at_zero_are_refused():
    with pytest.raises(InputError, match="learning drove all to zero"):
        refuse_zero(np.zeros(COUNT))
    refuse_zero(np.eye(COUNT)[2])


def test_an_objective_that_is_no_number_is_refused():
    ours = training()
    ours.evaluate(np.ones(COUNT), 1.0, 2)
    with pytest.raises(InputError, match="objective: expected a number at step 2, got nan"):
        ours.evaluate(np.full(COUNT, np.nan), 1.0, 2)
    assert len(ours.evaluations) == 1
