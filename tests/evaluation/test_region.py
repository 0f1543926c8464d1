"""Errors in a rectangle."""

import json

import numpy as np
import pytest

from slanted.cli import main
from slanted.errors import InputError
from slanted.evaluation import Region, evaluate
from slanted.evaluation.scores import score


def maps(height=12, width=17, seed=0):
    draws = np.random.default_rng(seed)
    truth = draws.uniform(20, 60, (height, width)).astype(np.float32)
    estimate = truth + draws.normal(0, 3, truth.shape).astype(np.float32)
    truth[draws.random(truth.shape) < 0.2] = np.nan
    confidence = draws.random(truth.shape).astype(np.float32)
    return estimate, truth, confidence


def test_a_region_is_scored_as_if_nothing_else_were_there():
    estimate, truth, confidence = maps()
    region = Region(3, 2, 9, 7)
    window = np.s_[2:9, 3:12]
    visible = truth > 20
    assert evaluate(estimate, truth, ground_truth_noc=visible, region=region) == evaluate(
        estimate[window], truth[window], ground_truth_noc=visible[window]
    )
    whole, _ = score(estimate, truth, None, confidence, 0.5, region)
    part, _ = score(estimate[window], truth[window], None, confidence[window], 0.5)
    assert whole == part
    assert evaluate(estimate, truth, region=Region(0, 0, 17, 12)) == evaluate(estimate, truth)


@pytest.mark.parametrize(
    "text", ["", "1,2,3", "1,2,3,4,5", "a,2,3,4", "-1,2,3,4", "1.5,2,3,4", "9" * 99 + ",1,1,1"]
)
def test_what_is_no_region_is_refused(text):
    with pytest.raises(InputError, match="expected whole numbers X,Y,WIDTH,HEIGHT"):
        Region.parse(text)


@pytest.mark.parametrize("region", [(0, 0, 0, 5), (16, 0, 2, 5), (0, 8, 5, 5), (-1, 0, 5, 5)])
def test_a_region_must_lie_inside(region):
    estimate, truth, confidence = maps()
    for measure in (
        lambda: evaluate(estimate, truth, region=Region(*region)),
        lambda: score(estimate, truth, None, confidence, 0.0, Region(*region)),
    ):
        with pytest.raises(InputError, match="inside the 17×12 pixels"):
            measure()


def test_maps_of_different_size_are_refused_whatever_the_region():
    estimate, truth, _ = maps()
    with pytest.raises(InputError, match="ground_truth"):
        score(estimate, truth[:, :-1], region=Region(0, 0, 2, 2))


def test_the_command_measures_a_region(tmp_path, capsys):
    estimate, truth, _ = maps()
    np.save(tmp_path / "map.npy", estimate)
    np.save(tmp_path / "truth.npy", truth)
    files = [str(tmp_path / "map.npy"), str(tmp_path / "truth.npy")]
    with pytest.raises(SystemExit) as done:
        main(["evaluate", *files, "--region", "3,2,9,7", "--json"])
    assert not done.value.code
    said = json.loads(capsys.readouterr().out)
    assert said["region"] == [3, 2, 9, 7]
    assert said["mean"] == pytest.approx(evaluate(estimate, truth, region=Region(3, 2, 9, 7)))
    for text, message in (("3,2,90,7", "inside the 17×12 pixels"), ("much", "X,Y,WIDTH,HEIGHT")):
        with pytest.raises(SystemExit) as exited:
            main(["evaluate", *files, "--region", text])
        assert exited.value.code == 2
        assert message in capsys.readouterr().err


def test_a_region_without_ground_truth_is_named():
    truth = np.full((4, 6), 3.0, np.float32)
    truth[:2] = np.nan
    with pytest.raises(InputError, match=r"^region: .* got 0,0,6,2, in which none is"):
        evaluate(np.ones_like(truth), truth, region=Region(0, 0, 6, 2))
