"""A network of the user's own: what it is given, what becomes of what it gives, and bad ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import slanted
from slanted import Settings, SlantedWarning, estimate
from slanted.cli import main
from slanted.errors import FileError, InputError, MissingExtraError
from slanted.io import read_disparity, write_image
from slanted.matching import DisparityRange, find_matches
from slanted.matching.network.description import NetworkDescription
from slanted.matching.network.matcher import agreeing
from slanted.matching.network.model import open_model
from slanted.matching.network.views import Fit
from slanted.pipeline import reestimate
from slanted.runtime.extras import how_to_install
from slanted.settings import MatchingSettings, NetworkSettings
from slanted.synthetic import make_scene

pytest.importorskip("onnxruntime", reason="onnxruntime, which runs the networks, is missing")

from matching.networks import (
    BYTE,
    FLOAT,
    SIDES,
    block_matcher,
    helper,
    naive_block_matcher,
    save,
    weighted,
)

SCENE = make_scene(140, 90, segments=30, seed=3, max_disparity=22.0)
WHOLE = DisparityRange(0, 140)
RUNTIMES = ("onnxruntime", "opencv")
BYTES = "white = 255.0\n"


def matched(path, text="", left=SCENE.left, right=SCENE.right, runtime="auto", **changes):
    if text:
        path.with_suffix(".toml").write_text(text)
    network = NetworkSettings(model=str(path), runtime=runtime)
    settings = MatchingSettings(method="network", network=network, **changes)
    return find_matches(left, right, settings, WHOLE)


def ran(arguments):
    with pytest.raises(SystemExit) as exited:
        main([str(each) for each in arguments])
    return exited.value.code


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("size", [(64, 96), (50, 71)])
def test_a_block_matcher_is_its_naive_twin(runtime, size, tmp_path):
    rng = np.random.default_rng(size[0])
    left, right = rng.integers(0, 256, (2, *size, 3)).astype(np.uint8)
    path = block_matcher(tmp_path / "model.onnx")
    found = matched(path, BYTES + "multiple = 1", left, right, runtime)
    np.testing.assert_array_equal(found.disparity, naive_block_matcher(left, right))
    assert found.confidence is None


def test_views_are_padded_to_a_multiple(tmp_path):
    path = block_matcher(tmp_path / "model.onnx")
    found = matched(path, BYTES).disparity
    wide = [
        np.pad(view, ((0, 6), (0, 20), (0, 0)), mode="edge") for view in (SCENE.left, SCENE.right)
    ]
    np.testing.assert_array_equal(found, naive_block_matcher(*wide)[:90, :140])
    assert Fit.of((90, 140), None, 32).inside == (96, 160)


RED, GREEN, BLUE = (SCENE.left[..., k].astype(np.float32) for k in range(3))
PICKS = {
    "by convention": ("", (255 / 3, 0, 0), RED / 3),
    "of bytes": (BYTES, (0, 0, 0.25), BLUE / 4),
    "bgr": (BYTES + "colour = 'bgr'", (0.25, 0, 0), BLUE / 4),
    "mean and std": (BYTES + "mean = 10\nstd = [2, 1, 1]", (0.25, 0, 0), (RED - 10) / 8),
}


@pytest.mark.parametrize("name", PICKS)
def test_views_are_given_as_the_description_says(name, tmp_path):
    text, weights, expected = PICKS[name]
    path = weighted(tmp_path / "model.onnx", weights)
    found = matched(path, text).disparity
    np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-4)


def of_bytes(path):
    """A network of bytes whose disparity is a quarter of the left view's red."""
    node = helper.make_node
    nodes = [
        *(node("Cast", [side], [f"{side}_float"], to=FLOAT) for side in ("left", "right")),
        node("Conv", ["left_float", "weights"], ["seen"]),
        node("Conv", ["right_float", "nothing"], ["ignored"]),
        node("Add", ["seen", "ignored"], ["disparity"]),
    ]
    weights = np.zeros((1, 3, 1, 1), np.float32)
    constants = {"nothing": weights.copy(), "weights": weights}
    weights[0, 0] = 0.25
    inputs = dict.fromkeys(("left", "right"), (1, 3, *SIDES))
    return save(path, nodes, inputs, {"disparity": (1, 1, *SIDES)}, constants, kind=BYTE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", RED / 4),
        ("white = 100", np.rint(RED * 100 / 255) / 4),
        ("white = 1\nstd = 0.0039215686", RED / 4),  # 1 / 255
    ],
)
def test_a_network_of_bytes_gets_the_whole_range(text, expected, tmp_path):
    found = matched(of_bytes(tmp_path / "model.onnx"), text).disparity
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("text", "range_"),
    [
        ("mean = 10", "-10 to 245"),
        ("std = [1, 0.5, 1]", "0 to 510"),
        ("white = 300", "0 to 300"),
        ("mean = [0.485, 0.456, 0.406]\nstd = [0.229, 0.224, 0.225]", "-2 to 1136"),
    ],
)
def test_bytes_that_cannot_hold_the_views_are_refused(text, range_, tmp_path):
    with pytest.raises(FileError, match=rf"from 0 to 255, .* std make them {range_}; change them"):
        matched(of_bytes(tmp_path / "model.onnx"), text)


def test_a_network_of_one_channel_gets_grey(tmp_path):
    path = weighted(tmp_path / "model.onnx", [0.25], (1, 1, *SIDES))
    found = matched(path, BYTES).disparity
    grey = np.rint(0.299 * RED + 0.587 * GREEN + 0.114 * BLUE) / 4
    np.testing.assert_allclose(found, grey, atol=0.3)


@pytest.mark.parametrize("channels", [2, 6])
def test_one_input_gets_both_views(channels, tmp_path):
    weights = np.zeros(channels)
    weights[-1] = 0.25  # of the right view
    shape = (1, channels, *SIDES)
    path = weighted(tmp_path / "model.onnx", weights, shape, name="pair", other=None)
    views = [view if channels == 6 else view[..., 2] for view in (SCENE.left, SCENE.right)]
    found = matched(path, BYTES, *views).disparity
    np.testing.assert_allclose(found, SCENE.right[..., 2] / 4, atol=1e-4)


def test_the_last_axis_may_hold_the_channels(tmp_path):
    node = helper.make_node
    nodes = [
        node("ReduceMean", ["left"], ["seen"], axes=[3], keepdims=1),
        node("ReduceMean", ["right"], ["beside"], axes=[3], keepdims=1),
        node("Sub", ["beside", "beside"], ["nothing"]),
        node("Add", ["seen", "nothing"], ["disparity"]),
    ]
    shape = (1, *SIDES, 3)
    inputs = {"left": shape, "right": shape}
    path = save(tmp_path / "model.onnx", nodes, inputs, {"disparity": (1, *SIDES, 1)})
    found = matched(path, "white = 60\nlayout = 'nhwc'").disparity
    np.testing.assert_allclose(found, SCENE.left.mean(axis=2) * 60 / 255, atol=1e-3)


def test_inputs_are_told_apart_by_name_and_by_the_description(tmp_path):
    weights = (0, 0.25, 0)
    by_order = weighted(tmp_path / "a.onnx", weights, name="first", other="second")
    by_name = weighted(tmp_path / "b.onnx", weights, name="right_view", other="left_view")
    told = weighted(tmp_path / "c.onnx", weights, name="first", other="second")
    for path, text, view in [
        (by_order, "", SCENE.left),
        (by_name, "", SCENE.right),
        (told, "left = 'second'\nright = 'first'\n", SCENE.right),
    ]:
        found = matched(path, BYTES + text).disparity
        np.testing.assert_allclose(found, view[..., 1] / 4, atol=1e-4)


@pytest.mark.parametrize("described", [False, True])
def test_a_network_of_one_size_gets_resized_views_and_its_disparity_is_scaled(described, tmp_path):
    shape = (1, 3, *SIDES) if described else (1, 3, 45, 70)
    path = weighted(tmp_path / "model.onnx", (0.1, 0, 0), shape)
    text = BYTES + ("width = 70\nheight = 45\n" if described else "")
    level = np.full((90, 140, 3), 100, np.uint8)
    found = matched(path, text, level, level).disparity
    np.testing.assert_allclose(found, 20.0, atol=1e-4)  # 0.1 × 100, in pixels twice as small
    assert found.shape == (90, 140)


def test_sign_scale_and_channel_of_the_output(tmp_path):
    node = helper.make_node
    constants = {"weights": np.zeros((2, 3, 1, 1), np.float32)}
    constants["weights"][1, 0] = -0.5
    nodes = [
        node("Conv", ["left", "weights"], ["seen"]),
        node("Conv", ["right", "weights"], ["beside"]),
        node("Sub", ["beside", "beside"], ["nothing"]),
        node("Add", ["seen", "nothing"], ["flow"]),
    ]
    shape = (1, 3, *SIDES)
    inputs = {"left": shape, "right": shape}
    path = save(tmp_path / "model.onnx", nodes, inputs, {"flow": (1, 2, *SIDES)}, constants)
    found = matched(path, BYTES + "channel = 1\nsign = -1\nscale = 0.5").disparity
    np.testing.assert_allclose(found, RED / 4, atol=1e-4)
    with pytest.raises(FileError, match=r"expected one channel in the output flow, got 2; name"):
        matched(path, BYTES + "sign = -1")


@pytest.mark.parametrize("logits", [False, True])
def test_a_confidence_goes_where_a_matchers_goes(logits, tmp_path):
    node = helper.make_node
    constants = {
        "share": np.array(0.004, np.float32),
        "weights": np.zeros((1, 3, 1, 1), np.float32),
    }
    constants["weights"][0, 0] = 0.25
    nodes = [
        node("Conv", ["left", "weights"], ["seen"]),
        node("Conv", ["right", "weights"], ["beside"]),
        node("Sub", ["beside", "beside"], ["nothing"]),
        node("Add", ["seen", "nothing"], ["disparity"]),
        node("Mul", ["seen", "share"], ["confidence"]),
    ]
    shape = (1, 3, *SIDES)
    outputs = dict.fromkeys(("disparity", "confidence"), (1, 1, *SIDES))
    path = save(tmp_path / "model.onnx", nodes, {"left": shape, "right": shape}, outputs, constants)
    found = matched(path, BYTES + f"logits = {str(logits).lower()}").confidence
    raw = RED / 4 * 0.004
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-raw)) if logits else raw, atol=1e-5)
    changes = {"matching.network.model": str(path), "model.pixel_weights": True}
    with pytest.warns(SlantedWarning, match="of another pair"):  # a made-up disparity
        result = estimate(SCENE.left, SCENE.right, changes, preset="network")
    np.testing.assert_allclose(result.pixel_weights, found / found.mean(), rtol=1e-4)
    assert result.confidence is None  # the trees would believe a map that agrees with itself


def test_a_second_pass_finds_what_is_occluded(tmp_path):
    path = block_matcher(tmp_path / "model.onnx")
    dense = matched(path, BYTES).disparity
    seen = matched(path, BYTES + "left_right = true").disparity
    assert np.isfinite(dense).all()
    gone = np.isnan(seen)
    np.testing.assert_array_equal(seen[~gone], dense[~gone])
    assert gone[SCENE.occluded].mean() > 3 * gone[~SCENE.occluded].mean()
    unchecked = matched(path, left_right_threshold=0).disparity
    np.testing.assert_array_equal(unchecked, dense)


def test_agreeing_maps_are_those_of_the_scene():
    right = np.full((1, 8), 2, np.float32)
    left = np.array([[2, 2, 2, 4, 2, np.nan, 3, 3.1]], np.float32)
    expected = [False, False, True, False, True, False, True, False]
    np.testing.assert_array_equal(agreeing(left, right, 1.0)[0], expected)


def test_what_is_no_number_is_unknown(tmp_path):
    node = helper.make_node
    nodes = [
        node("Conv", ["left", "weights"], ["seen"]),
        node("Conv", ["right", "weights"], ["beside"]),
        node("Sub", ["beside", "beside"], ["nothing"]),
        node("Add", ["seen", "nothing"], ["sum"]),
        node("Div", ["sum", "sum"], ["ratio"]),  # 1, and NaN where it is 0
        node("Mul", ["ratio", "factor"], ["disparity"]),
    ]
    shape, weights = (1, 3, *SIDES), np.zeros((1, 3, 1, 1), np.float32)
    weights[0, 0] = 1
    tensors = {"weights": weights, "factor": np.array(7.0, np.float32)}
    inputs, outputs = {"left": shape, "right": shape}, {"disparity": (1, 1, *SIDES)}
    path = save(tmp_path / "model.onnx", nodes, inputs, outputs, tensors)
    left = SCENE.left.copy()
    left[..., 0] = 9
    left[:10, :, 0] = 0
    found = matched(path, BYTES, left=left).disparity
    assert np.isnan(found[:10]).all()
    assert (found[10:] == 7).all()
    left[..., 0] = 0
    with pytest.raises(FileError, match=r"model\.onnx: .* gave NaN or infinity at every pixel"):
        matched(path, BYTES, left=left)


def test_impossible_disparities_are_unknown_and_a_map_of_them_is_refused(tmp_path):
    path = weighted(tmp_path / "model.onnx", (1, 0, 0))
    left = np.full((90, 140, 3), 50, np.uint8)
    left[:9] = 0
    left[9:12] = 200
    found = matched(path, BYTES + "mean = 0.5", left, left).disparity
    assert (found[:9] == 0).all()  # half a pixel behind infinity
    assert np.isnan(found[9:12]).all()  # wider than the image
    assert (found[12:] == 49.5).all()
    with pytest.raises(FileError, match=r"from 0 px on, got lower ones at 90% .* sign = -1"):
        matched(path, BYTES + "sign = -1", left, left)
    with pytest.raises(FileError, match=r"below 140 px, got higher ones at 90% .* scale"):
        matched(path, BYTES + "scale = 4", left, left)


def no_model(path):
    path.write_bytes(b"not a network")
    return path


def three_inputs(path):
    shape = (1, 3, *SIDES)
    nodes = [helper.make_node("Sum", ["left", "right", "extra"], ["disparity"])]
    return save(path, nodes, dict.fromkeys(("left", "right", "extra"), shape), {"disparity": shape})


def two_outputs(path):
    shape = (1, 3, *SIDES)
    nodes = [
        helper.make_node("Add", ["left", "right"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
    ]
    return save(path, nodes, {"left": shape, "right": shape}, {"a": shape, "b": shape})


def a_vector(path):
    shape = (1, 3, *SIDES)
    nodes = [
        helper.make_node("Add", ["left", "right"], ["sum"]),
        helper.make_node("ReduceMean", ["sum"], ["disparity"], axes=[1, 2, 3], keepdims=0),
    ]
    return save(path, nodes, {"left": shape, "right": shape}, {"disparity": (1,)})


def flat_inputs(path):
    nodes = [helper.make_node("Add", ["left", "right"], ["disparity"])]
    return save(path, nodes, {"left": (1, "n"), "right": (1, "n")}, {"disparity": (1, "n")})


def of_integers(path):
    nodes = [
        helper.make_node("Add", ["left", "right"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["disparity"], to=1),
    ]
    shape = (1, 3, *SIDES)
    inputs = {"left": shape, "right": shape}
    return save(path, nodes, inputs, {"disparity": shape}, kind=helper.TensorProto.INT64)


BAD = {
    "no model": (no_model, "", "expected an ONNX model, but ONNX Runtime cannot open it"),
    "an empty file": (lambda path: path.write_bytes(b"") and path, "", "but it has 0 bytes"),
    "three inputs": (three_inputs, "", "with one for both, got left, right, extra; export it"),
    "two outputs": (two_outputs, "", "expected one output of disparity, got a, b; name it as"),
    "no map": (a_vector, "", r"a map of disparities in the output disparity, got shape \(1,\)"),
    "no images": (flat_inputs, "", r"4 dimensions \(nchw\), got left of 2"),
    "integers": (of_integers, "", r"floats or bytes, got tensor\(int64\), tensor\(int64\)"),
    "five channels": (
        lambda path: weighted(path, [0.1] * 5, (1, 5, *SIDES)), "",
        "expected 3 channels in the input left, for 1 view in rgb, got 5; describe it",
    ),
    "four channels of both": (
        lambda path: weighted(path, [0.1] * 4, (1, 4, *SIDES), "both", None), "",
        "expected 6 channels in the input both, for 2 views in rgb, got 4",
    ),
    "grey for rgb": (block_matcher, "colour = 'grey'", "expected 1 channels in the input left"),
    "no such input": (block_matcher, "left = 'image'", "an input named image, .* got left, right"),
    "no such output": (block_matcher, "confidence = 'c'", "an output named c, .* got disparity"),
    "another layout": (block_matcher, "layout = 'nhwc'\n", r"channels|the network fails on left \["),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_models_are_refused_in_a_sentence(name, tmp_path):
    make, text, message = BAD[name]
    path = tmp_path / "model.onnx"
    make(path)
    with pytest.raises(FileError, match=message) as caught:
        matched(path, text)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "coulour = 'rgb'",
            r"coulour: unknown key of a network's description; did you mean colour",
        ),
        ("qqq = 1", r"qqq: unknown key of a network's description; expected one of left, right"),
        ("colour = 'yuv'", "colour: expected one of rgb, bgr, grey, got 'yuv'"),
        ("mean = [1, 2]", r"mean: expected one finite number or three, got \[1, 2\]"),
        ("mean = ['a']", "mean: expected one finite number or three"),
        ("mean = nan", "mean: expected one finite number or three"),
        ("std = [1, 0, 1]", "std: expected numbers above 0"),
        ("sign = 0", "sign: expected 1 or -1, got 0"),
        ("multiple = 0", "multiple: expected a whole number from 1 to 1024"),
        ("width = 640", "width, height: expected both or none"),
        ("left_right = 1", "left_right: expected true or false"),
        ("[input]\nname = 'a'", "input: unknown key"),
        ("colour = ", "expected the description of a network in TOML, but it fails to parse"),
    ],
)
def test_bad_descriptions_are_refused_in_a_sentence(text, message, tmp_path):
    path = block_matcher(tmp_path / "model.onnx", 2)
    with pytest.raises(FileError, match=message) as caught:
        matched(path, text)
    assert str(caught.value).startswith(str(path.with_suffix(".toml")))


def test_a_network_must_be_named_and_be_there(tmp_path):
    with pytest.raises(InputError, match=r"matching\.network\.model: .*--network FILE.* got none"):
        estimate(SCENE.left, SCENE.right, preset="network")
    with pytest.raises(FileError, match=r"none\.onnx: expected a file, but nothing is there"):
        matched(tmp_path / "none.onnx")
    with pytest.raises(FileError, match="expected a file, but it is a directory"):
        matched(Path())


def test_without_onnx_runtime_opencv_runs_it_or_the_extra_is_named(tmp_path, monkeypatch):
    path = block_matcher(tmp_path / "model.onnx")
    expected = matched(path, BYTES).disparity
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr("slanted.matching.network.model.find_spec", lambda name: None)
    np.testing.assert_array_equal(matched(path).disparity, expected)
    other = block_matcher(tmp_path / "other.onnx")
    with pytest.raises(
        MissingExtraError, match=rf"; {re.escape(how_to_install('onnx'))}, or set match"
    ):
        matched(other, runtime="onnxruntime")
    with pytest.raises(
        FileError, match=r"OpenCV can run, .* pip install 'slanted\[onnx\]'.* for ONNX"
    ):
        matched(no_model(tmp_path / "none.onnx"))


def test_models_are_kept_open_until_their_file_changes(tmp_path):
    path = block_matcher(tmp_path / "model.onnx", 3)
    first = open_model(path, "onnxruntime", 1)
    assert open_model(path, "onnxruntime", 1).compute is first.compute
    block_matcher(path, 4)
    assert open_model(path, "onnxruntime", 1).compute is not first.compute


FORK = """
import os, sys
from pathlib import Path
import numpy as np
from slanted.matching.network.model import open_model
path, views = Path(sys.argv[1]), {name: np.ones((1, 3, 9, 30), np.float32) for name in ("left", "right")}
run = lambda: open_model(path, "auto", 2).run(views, ["disparity"])[0].tobytes()
before = run()
if (child := os.fork()) == 0:
    os._exit(0 if run() == before else 1)  # as multiprocessing does; ONNX Runtime hangs in exit()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no forks")
def test_a_forked_process_runs_a_network_and_ends(tmp_path):
    path = block_matcher(tmp_path / "model.onnx")
    # It used to wait for ever for threads of its parent.
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK, str(path)], check=True, timeout=60)


def test_results_do_not_depend_on_threads(tmp_path):
    path = block_matcher(tmp_path / "model.onnx")
    results = [
        estimate(
            SCENE.left,
            SCENE.right,
            {"matching.network.model": str(path), "threads": threads},
            preset="network",
        ).disparity
        for threads in (1, 2, 3)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_a_network_is_as_good_as_its_map_given_by_hand(tmp_path):
    path = block_matcher(tmp_path / "model.onnx")
    network = estimate(
        SCENE.left, SCENE.right, {"matching.network.model": str(path)}, preset="network"
    )
    given = matched(path).disparity
    by_hand = estimate(SCENE.left, SCENE.right, preset="network", disparity=given)
    np.testing.assert_array_equal(network.disparity, by_hand.disparity)
    np.testing.assert_array_equal(network.matched, given)
    assert network.searched == DisparityRange(0, 24)
    assert network.confidence is not None
    assert by_hand.confidence is None
    error = [np.abs(each - SCENE.disparity) > 3 for each in (given, network.disparity)]
    assert error[1].mean() < error[0].mean()
    assert {0, 2, 3} <= set(np.unique(network.labels))
    assert network.occluded.any()


def test_large_images_in_tiles_cannot_have_one(tmp_path):
    changes = {"matching.network.model": str(block_matcher(tmp_path / "model.onnx", 2))}
    with pytest.raises(InputError, match=r"matching\.method: a network sees an image as a whole"):
        estimate(SCENE.left, SCENE.right, changes | {"tiles.above": 100}, preset="network")


def test_commands_take_a_network(tmp_path, capsys):
    path = block_matcher(tmp_path / "model.onnx")
    pair = [tmp_path / "pairs" / f"{side}.png" for side in ("left", "right")]
    write_image(pair[0], SCENE.left)
    write_image(pair[1], SCENE.right)
    network = ["--network", str(path), "--quiet"]
    assert not ran(["run", *pair, *network, "-o", tmp_path / "out"])
    settings = Settings.load(tmp_path / "out" / "settings.toml")
    expected = Settings.preset("network").updated({"matching.network.model": str(path)})
    assert settings == expected
    result = estimate(*pair, expected)
    written = read_disparity(tmp_path / "out" / "disparity.npy")
    np.testing.assert_array_equal(written, result.disparity)
    assert not ran(["settings", *network[:2], "--preset", "fast"])
    told = capsys.readouterr().out
    assert 'method = "network"' in told
    assert "count = 400" in told


def test_a_batch_is_resumed_with_the_same_network_only(tmp_path, capsys):
    path = block_matcher(tmp_path / "model.onnx", 8)
    for side in ("left", "right"):
        write_image(tmp_path / "pairs" / f"a_{side}.png", getattr(SCENE, side))
    command = ["batch", tmp_path / "pairs", "--network", path, "-o", tmp_path / "out"]
    command += ["--workers", "1", "--resume", "--json", "--quiet"]

    def done():
        assert not ran(command)
        return json.loads(capsys.readouterr().out)["done"]

    assert [done(), done()] == [1, 0]
    block_matcher(path, 24)
    assert [done(), done()] == [1, 0]
    path.with_suffix(".toml").write_text(BYTES)
    assert [done(), done()] == [1, 0]


def test_every_key_is_documented():
    import dataclasses
    from pathlib import Path

    page = Path(slanted.__file__).parents[2] / "docs" / "networks.md"
    if not page.exists():
        pytest.skip("there is no documentation beside the installed package")
    text = page.read_text("utf-8")
    for field in dataclasses.fields(NetworkDescription):
        assert f"| `{field.name}` |" in text, field.name


def test_a_result_is_kept_and_estimated_again(tmp_path):
    path = block_matcher(tmp_path / "model.onnx")
    changes = {"matching.network.model": str(path)}
    result = estimate(SCENE.left, SCENE.right, changes, preset="network")
    path.unlink()  # neither needs the network
    result.save(tmp_path / "kept")
    kept = slanted.Result.load(tmp_path / "kept")
    np.testing.assert_array_equal(kept.disparity, result.disparity)
    np.testing.assert_array_equal(kept.occluded, result.occluded)
    again = reestimate(kept)
    np.testing.assert_array_equal(again.disparity, result.disparity)
