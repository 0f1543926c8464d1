"""The whole of learning: checkpoints, resumption after a kill, backends, and bad input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from functools import cache

import cv2
import numpy as np
import pytest

from killing import kill_midway
from learning.problems import write_dataset
from slanted import Settings
from slanted.cli import main
from slanted.errors import InputError, SlantedError
from slanted.evaluation.datasets import find_frames
from slanted.io import read_image
from slanted.learning import learn_weights
from slanted.learning.checkpoint import Checkpoint
from slanted.learning.examples import NAMES
from slanted.learning.weights_file import normalised
from slanted.pipeline import estimate

FAST = {
    "learning.particles": "6",
    "learning.max_steps": "8",
    "learning.rounds": "2",
    "learning.max_sweeps": "5",
    "segmentation.method": "slic",
    "segmentation.count": "24",
    "refinement.rounds": "0",
    "inference.iterations": "1",
    "matching.max_disparity": "64",
    "learning.workers": "1",
    "threads": "1",
}
OPTIONS = [option for key, value in FAST.items() for option in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("kitti"))


@pytest.fixture
def frames(dataset):
    return find_frames("kitti2015", dataset, "train")


@pytest.fixture(scope="module")
def uninterrupted(dataset):
    """A function from settings to what learning gives that nothing stops, once for each."""
    return cache(
        lambda settings: learn_weights(find_frames("kitti2015", dataset, "train"), settings)
    )


SETTINGS = Settings().with_text(FAST)


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    return exited.value.code


def test_the_command_writes_weights_that_are_settings(dataset, tmp_path, capsys):
    output = tmp_path / "weights.toml"
    arguments = ("learn", f"kitti2015:{dataset}", "--loss", "out-3px", "--C", "4", *OPTIONS)
    assert run(*arguments, "--json", "-o", str(output)) in (0, None)
    said = capsys.readouterr()
    outcome = json.loads(said.out)
    settings = Settings.load(output)
    for name in NAMES:
        assert getattr(settings.model.weights, name) == outcome["weights"][name]
    assert settings.model.weights.seg == 1
    origin = tomllib.loads(output.read_text())["learned"]
    assert origin["frames"] == ["000000_10", "000001_10"]
    assert (origin["loss"], origin["C"], origin["seed"]) == ("out-3px", 4.0, 0)
    assert origin["command"].startswith("slanted learn kitti2015:")
    before = [getattr(SETTINGS.model.weights, name) for name in origin["names"]]
    assert origin["weights_before"] == before
    assert set(outcome["before"]) == set(outcome["after"])
    assert outcome["features_of_truth"].keys() == outcome["features_expected"].keys()
    chart = cv2.imread(str(output.with_suffix(".png")))
    assert chart is not None
    steps = [line for line in said.err.splitlines() if line.startswith("step ")]
    assert len(steps) == outcome["evaluations"]
    assert all("objective" in line and "gradient" in line and "left" in line for line in steps)


def test_objective_falls_and_weights_are_not_negative(uninterrupted):
    learned = uninterrupted(SETTINGS)
    values = [evaluation.value for evaluation in learned.evaluations]
    first = learned.rounds[1]
    assert first.objective == min(values[: SETTINGS.learning.max_steps]) < values[0]
    assert (learned.weights >= 0).all()
    assert learned.weights[NAMES.index("seg")] == 1
    np.testing.assert_allclose(learned.truth, np.sum([i.features for i in learned.images], axis=0))


def test_the_regulariser_weighs_as_much_as_there_are_frames(frames):
    """The paper's C: F = Σ f_s + C/2 |v|² with C the number of examples, so C = 0 leaves Σ f_s.

    Here it counts in units of a particle's mean loss, and of the mean over the weights.
    """
    first = {"learning.max_steps": "1", "learning.rounds": "1"}  # runs start at the same weights
    for some in (frames, frames[:1]):
        found = learn_weights(some, SETTINGS.with_text(first))
        ours = found.evaluations[0]
        bare = learn_weights(some, SETTINGS.with_text(first | {"learning.C": "0"})).evaluations[0]
        assert ours.weights == bare.weights
        weights = np.array(ours.weights)
        unit = np.mean([image.loss_spread for image in found.images]) / len(NAMES)
        square = weights @ weights
        assert ours.value - bare.value == pytest.approx(len(some) * unit / 2 * square, rel=1e-6)
        slope = np.array(ours.gradient) - np.array(bare.gradient)
        np.testing.assert_allclose(slope, len(some) * unit * weights, rtol=1e-6, atol=1e-9)


def test_units_do_not_depend_on_the_units_of_features_and_losses():
    from slanted.learning.owner import Loaded
    from slanted.learning.training import Units

    def loaded(spreads, loss):
        return Loaded("", 9, 9, 9, (0.0,) * 8, tuple(spreads), loss, 0.0, {})

    spreads = np.array([30.0, 40, 20, 5, 0, 9, 2, 1])
    factor = np.array([9.0, 9, 1, 1, 1, 1, 1, 2])
    once = Units.of([loaded(spreads, 10.0), loaded(3 * spreads, 30.0)])
    thrice = Units.of([loaded(factor * spreads, 90.0), loaded(3 * factor * spreads, 270.0)])
    np.testing.assert_allclose(once.weights[0] * 2 * spreads[0], once.loss)
    assert list(once.varies) == [True] * 4 + [False] + [True] * 3
    varies = once.varies
    np.testing.assert_allclose(
        (thrice.weights * factor / thrice.loss)[varies], (once.weights / once.loss)[varies]
    )


def test_weights_of_the_round_with_the_least_task_loss_are_kept(frames, monkeypatch):
    import slanted.learning.images as module

    losses = iter([0.8, 0.6, 0.7, 0.5])  # any but the first is below that of the initial weights
    monkeypatch.setattr(module.Images, "search", lambda *_: next(losses))
    said = []
    three = SETTINGS.with_text({"learning.rounds": "3", "learning.max_steps": "2"})
    learned = learn_weights(frames[:1], three, progress=said.append)
    assert [found.loss for found in learned.rounds[1:]] == [0.8, 0.6, 0.7]
    assert learned.rounds[0].loss > 1
    assert learned.kept == 2
    np.testing.assert_array_equal(learned.weights, learned.rounds[learned.kept].weights)
    assert sum(text.startswith("round") for text in said) == 3


def test_the_whole_pipeline_judges_weights_where_it_refines_segments(frames, monkeypatch):
    """A search keeps the segments, so its loss is not that of a run with these weights."""
    import slanted.learning.images as module

    real, asked = module.Images.task_loss, []

    def told(self, sources, settings, weights):
        asked.append((weights, real(self, sources, settings, weights)))
        return 10.0 - len(asked)

    monkeypatch.setattr(module.Images, "task_loss", told)
    settings = SETTINGS.with_text({"refinement.rounds": "1", "learning.max_steps": "2"})
    learned = learn_weights(frames, settings)
    assert [found.loss for found in learned.rounds] == [9, 8, 7]
    for found, (weights, _) in zip(learned.rounds, asked, strict=True):
        np.testing.assert_array_equal(found.weights, weights)
    losses = []
    for frame in frames:
        truth, _ = frame.load_ground_truth()
        result = estimate(read_image(frame.left), read_image(frame.right), settings)
        error = np.abs(result.disparity - truth)[np.isfinite(truth)]
        losses.append(np.mean(np.minimum(error, settings.model.truncation) ** 2))
    # Weights are normalised, and the shipped ones are so already.
    assert asked[0][1] == pytest.approx(np.mean(losses), rel=1e-6)


def test_initial_weights_are_kept_if_no_round_is_better(frames, monkeypatch):
    import slanted.learning.images as module

    monkeypatch.setattr(module.Images, "search", lambda *_: 1e9)
    four = SETTINGS.with_text({"learning.rounds": "4", "learning.max_steps": "2"})
    said = []
    learned = learn_weights(frames[:1], four, progress=said.append)
    assert learned.kept == 0
    assert "no round lowered the task loss: again, with targets within reach" in said
    assert learned.reason == "no round lowered the task loss"
    assert len(learned.rounds) == 1 + 2 * 2, "rounds end when the task loss does not change"
    before = np.array([getattr(SETTINGS.model.weights, name) for name in NAMES])
    np.testing.assert_allclose(learned.weights, before / before[0])
    assert learned.after == learned.before


def test_the_command_says_that_it_kept_the_initial_weights(dataset, tmp_path, monkeypatch, capsys):
    import slanted.learning.images as module

    monkeypatch.setattr(module.Images, "search", lambda *_: 1e9)
    output = tmp_path / "weights.toml"
    quick = ("--set", "learning.max_steps=2", "--limit", "1")
    assert run("learn", f"kitti2015:{dataset}", *OPTIONS, *quick, "-o", str(output)) in (0, None)
    assert (
        "No round lowered the task loss: these are the initial weights." in capsys.readouterr().out
    )
    origin = tomllib.loads(output.read_text())["learned"]
    assert origin["kept_round"] == 0
    assert origin["task_losses"][1:] == 4 * [1e9]


def test_rounds_with_targets_within_reach_are_resumed_too(frames, tmp_path, monkeypatch):
    import slanted.learning.images as module

    monkeypatch.setattr(module.Images, "search", _worse_than_before(module.Images.search))
    settings = SETTINGS.with_text({"learning.max_steps": "3"})
    whole = learn_weights(frames[:1], settings)
    assert len(whole.rounds) == 1 + 2 * 2
    for stop_after in (7, 9, 11):

        def stop(step, number=stop_after):
            if step.number == number:
                raise KeyboardInterrupt

        folder = tmp_path / str(stop_after)
        with pytest.raises(KeyboardInterrupt):
            learn_weights(frames[:1], settings, checkpoint=folder, on_step=stop)
        rest = learn_weights(frames[:1], settings, checkpoint=folder)
        assert [e.value for e in rest.evaluations] == [e.value for e in whole.evaluations]


def _worse_than_before(search):
    """A search that pretends to a large loss, another each time."""

    def pretended(self, *arguments):
        return 1e9 * (1 + search(self, *arguments))

    return pretended


def test_what_does_not_vary_keeps_its_weight_beside_that_of_the_segments(frames, monkeypatch):
    from slanted.learning.training import Units

    real = Units.of

    def without_colour(loaded):
        units = real(loaded)
        units.varies[NAMES.index("col")] = False
        return units

    monkeypatch.setattr(Units, "of", without_colour)
    learned = learn_weights(frames[:1], SETTINGS.with_text({"learning.max_steps": "3"}))
    before = SETTINGS.model.weights
    for found in learned.rounds:
        assert found.weights[NAMES.index("col")] == pytest.approx(before.col / before.seg)


def test_processes_give_the_same_weights(frames, uninterrupted):
    alone = uninterrupted(SETTINGS.with_text({"learning.max_steps": "3"}))
    shared = learn_weights(
        frames, SETTINGS.with_text({"learning.max_steps": "3", "learning.workers": "2"})
    )
    np.testing.assert_array_equal(alone.weights, shared.weights)


def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_named(frames, monkeypatch):
    monkeypatch.setattr("slanted.learning.images.evaluate_images", die)
    with pytest.raises(
        SlantedError, match=r"a worker died with the images it held \(killed by SIGKILL\)"
    ):
        learn_weights(frames, SETTINGS.with_text({"learning.workers": "2"}))


def test_dask_gives_the_same_weights(frames, uninterrupted):
    distributed = pytest.importorskip("distributed")
    settings = SETTINGS.with_text({"learning.max_steps": "3"})
    alone = uninterrupted(settings)
    with distributed.LocalCluster(  # at any free port: without an address it takes 8787
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        shared = learn_weights(frames, settings, scheduler=cluster.scheduler_address)
    np.testing.assert_array_equal(alone.weights, shared.weights)


def test_a_run_that_is_killed_goes_on_to_the_same_weights(dataset, tmp_path):
    whole, killed = tmp_path / "whole.toml", tmp_path / "killed.toml"
    base = [sys.executable, "-m", "slanted", "learn", f"kitti2015:{dataset}", *OPTIONS]
    subprocess.run([*base, "-o", str(whole)], check=True, capture_output=True)
    steps = tmp_path / "killed.toml.checkpoint" / "steps.json"

    def is_midway():
        return steps.exists() and len(json.loads(steps.read_text())["evaluations"]) >= 3

    def clean():
        killed.unlink()
        shutil.rmtree(steps.parent, ignore_errors=True)

    kill_midway([*base[3:], "-o", str(killed)], is_midway, clean)
    assert not killed.exists()
    done = subprocess.run([*base, "-o", str(killed)], check=True, capture_output=True, text=True)
    assert "resumed after step" in done.stderr
    ours, theirs = (Settings.load(path).model.weights for path in (whole, killed))
    for name in NAMES:
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"learning.optimiser": "interleaved"},
        {"learning.epsilon": "0", "learning.max_steps": "3"},
    ],
)
@pytest.mark.parametrize("stop_after", [3, 8, 10])
def test_resuming_after_any_step_gives_the_same_run(
    frames, tmp_path, uninterrupted, changes, stop_after
):
    settings = SETTINGS.with_text(changes)
    whole = uninterrupted(settings)

    class StoppedError(Exception):
        pass

    def stop(step):
        if step.number == stop_after:
            raise StoppedError

    with pytest.raises(StoppedError):
        learn_weights(frames, settings, checkpoint=tmp_path / "c", on_step=stop)
    said = []
    rest = learn_weights(frames, settings, checkpoint=tmp_path / "c", progress=said.append)
    assert rest.resumed == stop_after
    assert f"resumed after step {stop_after}" in said
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert [e.value for e in rest.evaluations] == [e.value for e in whole.evaluations]
    assert len(list((tmp_path / "c").glob("messages-*.npz"))) == 1
    # A finished run, too, may be repeated.
    again = learn_weights(frames, settings, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(again.weights, whole.weights)
    np.testing.assert_allclose(again.expectation, rest.expectation)


def test_epsilon_zero_names_its_method(frames):
    said = []
    # From weights that any step improves, since the reason of a round that is dropped is another.
    poor = {"model.weights.seg": "0.01", "model.weights.bdy1": "0.01"}
    settings = SETTINGS.with_text({"learning.epsilon": "0", "learning.max_steps": "2"} | poor)
    learned = learn_weights(frames[:1], settings, progress=said.append)
    assert any("projected sub-gradient steps at 0" in text for text in said)
    assert "sub-gradient" in learned.reason
    assert {e.epsilon for e in learned.evaluations} == {1.0, 0.0}


def test_a_weight_that_is_switched_off_stays_off(frames):
    settings = SETTINGS.with_text({"model.weights.vis": "0", "model.weights.jct": "0"})
    learned = learn_weights(frames[:1], settings)
    assert learned.weights[NAMES.index("vis")] == learned.weights[NAMES.index("jct")] == 0


def test_a_checkpoint_of_another_run_is_refused_unless_told_otherwise(frames, tmp_path):
    settings = SETTINGS.with_text({"learning.max_steps": "2"})
    learn_weights(frames[:1], settings, checkpoint=tmp_path / "c")
    other = settings.with_text({"learning.loss": "out-3px"})
    with pytest.raises(
        InputError, match="expected the checkpoint of this run, got one of other settings"
    ):
        learn_weights(frames[:1], other, checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="got one of other frames, files"):
        learn_weights(frames, settings, checkpoint=tmp_path / "c")
    learn_weights(frames[:1], other, checkpoint=tmp_path / "c", restart=True)
    # Workers and threads change nothing, and may change.
    learn_weights(frames[:1], other.with_text({"threads": "2"}), checkpoint=tmp_path / "c")


def test_an_objective_that_is_no_number_leaves_the_last_good_checkpoint(
    frames, tmp_path, monkeypatch
):
    import slanted.learning.images as module

    real, calls = module.Images.evaluate, []

    def broken(self, *arguments):
        calls.append(arguments)
        value, *rest = real(self, *arguments)
        return (np.nan if len(calls) == 3 else value, *rest)

    monkeypatch.setattr(module.Images, "evaluate", broken)
    with pytest.raises(InputError, match="objective: expected a number at step 3, got nan"):
        learn_weights(frames[:1], SETTINGS, checkpoint=tmp_path / "c")
    monkeypatch.undo()
    learned = learn_weights(frames[:1], SETTINGS, checkpoint=tmp_path / "c")
    assert learned.resumed == 2


def test_weights_driven_to_zero_are_an_error(frames, tmp_path):
    """Here by the regulariser; ground truth of a wrong scale does the same."""
    settings = SETTINGS.with_text({"learning.C": "1e12"})
    with pytest.raises(InputError, match="learning drove all to zero"):
        learn_weights(frames[:1], settings, checkpoint=tmp_path / "c")
    assert (tmp_path / "c" / "steps.json").exists()


def broken_dataset(folder, change):
    write_dataset(folder, scenes=1)
    path = folder / "training" / "disp_occ_0" / "000000_10.png"
    cv2.imwrite(str(path), change(cv2.imread(str(path), cv2.IMREAD_UNCHANGED)))
    return folder


BAD = {
    "no ground truth": (lambda truth: 0 * truth, "000000_10.png: has no known pixel"),
    "too little": (
        lambda truth: np.where(np.indices(truth.shape).max(axis=0) < 3, truth, 0).astype(truth.dtype),
        "000000_10: ground truth: expected 10 known pixels, not on a line, in one segment",
    ),
    "another size": (
        lambda truth: truth[:-7],
        "000000_10: ground truth: expected the size of the left image, 160×96, got 160×89",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_ground_truth_is_one_sentence_with_exit_code_2(case, tmp_path, capsys):
    change, message = BAD[case]
    folder = broken_dataset(tmp_path / "data", change)
    (folder / "training" / "disp_noc_0" / "000000_10.png").unlink()
    output = tmp_path / "weights.toml"
    assert run("learn", f"kitti2015:{folder}", "-o", str(output), "--quiet", *OPTIONS) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert message in said[0]
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kitti2015"], "expected a dataset and its folder"),
        (["kitti2015:none"], "none: expected the folder of kitti2015"),
        (["kitti2015:.", "-o", "weights.json"], "--output: expected a name that ends in .toml"),
        (["kitti2015:.", "--epsilon", "2"], "learning.epsilon: expected a number from 0.0 to 1.0"),
        (["kitti2015:.", "--loss", "l1"], "learning.loss: expected one of l2"),
        (["kitti2015:.", "--C", "-1"], "learning.C: expected a number of at least 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("learn", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_scheduler_that_does_not_answer_is_named(frames, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("slanted.runtime.dask_workers.ANSWER_SECONDS", 0.3)
    with pytest.raises(InputError, match="scheduler: expected a Dask scheduler at"):
        learn_weights(frames[:1], SETTINGS, scheduler="tcp://127.0.0.1:9")


def test_a_broken_checkpoint_is_named(tmp_path):
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "steps.json").write_text("{")
    (folder / "run.json").write_text("{}")
    with pytest.raises(Exception, match=r"steps\.json: the checkpoint cannot be read"):
        Checkpoint(folder, {}).load()


def test_normalised_weights_have_one_first():
    np.testing.assert_allclose(
        normalised(np.array([2.0, 4, 0, 0, 0, 0, 1])), [1, 2, 0, 0, 0, 0, 0.5]
    )
    np.testing.assert_allclose(
        normalised(np.array([0, 4.0, 2, 0, 0, 0, 1])), [0, 1, 0.5, 0, 0, 0, 0.25]
    )
    with pytest.raises(InputError, match="expected one above zero"):
        normalised(np.zeros(len(NAMES)))


def test_the_file_of_weights_is_toml(tmp_path):
    from slanted.learning import write_weights

    path = tmp_path / "w.toml"
    write_weights(
        path, np.arange(len(NAMES), dtype=float), {"frames": ["a", 'b"'], "seed": 3, "C": 2.5}
    )
    tree = tomllib.loads(path.read_text())
    assert tree["learned"] == {"frames": ["a", 'b"'], "seed": 3, "C": 2.5}
    assert Settings.load(path).model.weights.col == 5
