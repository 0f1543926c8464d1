"""Frames follow each other: the first as alone, others quicker and as well, and cuts are noticed."""

import inspect
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

import slanted
from slanted import matching
from slanted.confidence import pixels
from slanted.errors import ArgumentError, FileError, ImplausibleError, InputError
from slanted.inference import terms
from slanted.inference.previous_frame import PreviousFrame
from slanted.matching import register_matcher, sgbm
from slanted.model.evidence import Evidence
from slanted.regions import build_regions
from slanted.runtime.opencv import cv2
from slanted.settings import InferenceSettings
from slanted.settings.matching import MATCHERS
from slanted.stream import follow
from slanted.stream import planes as stream_planes
from slanted.stream import state as stream_state
from slanted.stream.last_frame import LastFrame
from slanted.stream.planes import choose_planes
from slanted.synthetic import make_scene, make_video

SIZE = 240, 150


@pytest.fixture(scope="module")
def video():
    return list(make_video(*SIZE, frames=4, max_disparity=30, seed=3))


@pytest.fixture(scope="module")
def followed(video):
    """The results and the states of a stream."""
    stream = slanted.Stream(max_disparity=48)
    return [(stream(frame.left, frame.right), stream.state) for frame in video]


def wrong(result, frame):
    return float((np.abs(result.disparity - frame.disparity) > 3).mean())


def arrays(result):
    names = "disparity", "matched", "confidence", "occluded", "deviation"
    inside = result.planes, result.labels, result.regions.label_image
    return [getattr(result, name).tobytes() for name in names] + [a.tobytes() for a in inside]


def test_the_first_frame_is_that_of_estimate_to_the_byte(video, followed):
    alone = slanted.estimate(video[0].left, video[0].right, max_disparity=48)
    assert arrays(alone) == arrays(followed[0][0])
    assert followed[0][1].fresh == "it is the first"


def test_frames_that_follow_are_as_good_as_alone(video, followed):
    assert [state.fresh for _, state in followed[1:]] == [None] * 3
    alone = [slanted.estimate(f.left, f.right, max_disparity=48) for f in video]
    own = np.mean([wrong(r, f) for (r, _), f in zip(followed[1:], video[1:], strict=True)])
    single = np.mean([wrong(r, f) for r, f in zip(alone[1:], video[1:], strict=True)])
    assert own < single + 0.01
    assert arrays(alone[2]) != arrays(followed[2][0])  # it did follow


@pytest.mark.parametrize("threads", [1, 3])
def test_frames_have_the_same_bytes_for_any_number_of_threads(video, followed, threads):
    stream = slanted.Stream({"threads": threads}, max_disparity=48)
    for frame, (expected, _) in zip(video[:3], followed, strict=False):
        assert arrays(stream(frame.left, frame.right)) == arrays(expected)


def test_frames_that_follow_do_less(video, monkeypatch):
    asked = {}

    def watched(module, name, argument):
        function = getattr(module, name)
        where = inspect.signature(function)

        def called(*arguments, **options):
            bound = where.bind(*arguments, **options)
            bound.apply_defaults()
            asked.setdefault(name, []).append(bound.arguments[argument])
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, called)

    watched(terms, "observe", "every")
    watched(pixels, "judge_pixels", "every")
    watched(follow, "find_expected", "margin")
    stream = slanted.Stream(max_disparity=48)
    for frame in video[:2]:
        stream(frame.left, frame.right)
    first = {"observe": [1, 1], "judge_pixels": [1]}
    after = {"observe": [2], "judge_pixels": [2], "find_expected": [3.0]}
    assert asked == {name: first.get(name, []) + after[name] for name in asked}
    assert set(asked) == set(after)


@pytest.mark.parametrize(
    ("given", "used"), [((7, 6, 6), (5, 4, 4)), ((5, 5, 5), (4, 4, 4)), ((3, 2, 2), (3, 2, 2))]
)
def test_planes_of_later_frames_need_fewer_particles_and_sweeps(monkeypatch, given, used):
    rules = InferenceSettings(
        particles=given[0], sweeps=given[1], check_every=given[2], last_sweeps=14
    )
    settings = replace(slanted.Settings(), inference=rules)
    asked = []
    monkeypatch.setattr(stream_planes, "infer", lambda terms, **_: asked.append(terms))
    stream_planes.infer_less(Terms(settings), start=None)
    found = asked[0].settings.inference
    assert (found.particles, found.sweeps, found.check_every) == used
    assert found.last_sweeps is None


@dataclass(frozen=True)
class Terms:
    settings: slanted.Settings


def test_frames_of_early_versions_have_no_margins(video, followed, tmp_path):
    followed[1][0].save(tmp_path / "one")
    with np.load(tmp_path / "one" / "result.npz") as stored:
        arrays = {name: stored[name] for name in stored.files if name != "margins"}
    np.savez(tmp_path / "one" / "result.npz", **arrays)
    assert LastFrame.load(tmp_path / "one").surfaces.margins is None


def test_what_is_kept_of_a_frame_is_in_its_folder(video, followed, tmp_path):
    followed[1][0].save(tmp_path / "one")
    stream = slanted.Stream(max_disparity=48)
    stream.resume(LastFrame.load(tmp_path / "one"))
    again = stream(video[2].left, video[2].right)
    assert arrays(again) == arrays(followed[2][0])
    assert stream.state.fresh is None


def test_first_planes_are_the_last_frames_unless_a_fit_is_clearly_better():
    last_labels = np.repeat(np.arange(4, dtype=np.int32)[None], 12, axis=0).repeat(6, axis=1)
    labels = last_labels // 2
    regions, before = build_regions(labels), build_regions(last_labels)
    # Segment 0 is nearly as the last frame had it, and segment 1 far from it.
    noise = np.random.default_rng(1).normal(0, 0.3, labels.shape)
    disparity = (np.where(labels == 0, 5, 20) + noise).astype(np.float32)
    planes = np.array([[0, 0, 5.1], [0, 0, 9.0], [0, 0, 8.0], [0, 0, 8.0]])
    last = PreviousFrame(last_labels, before.centre, planes, np.array([7.0, 6.0, 3.0, 2.0]))
    found = choose_planes(regions, Evidence(disparity), slanted.Settings(), last=last)
    np.testing.assert_allclose(found.planes[0], [0, 0, 5.1])
    assert abs(found.planes[1, 2] - 20) < 0.2
    assert found.margins.tolist() == [7.0, 0.0]  # nobody was sure of the new plane
    unknown = replace(last, margins=None)
    found = choose_planes(regions, Evidence(disparity), slanted.Settings(), last=unknown)
    assert found.margins.tolist() == [np.inf, 0.0]


def test_the_only_plane_under_a_segment_gives_way_to_a_better_fit():
    labels = np.repeat(np.arange(2, dtype=np.int32)[None], 12, axis=0).repeat(12, axis=1)
    regions, disparity = build_regions(labels), np.full(labels.shape, 5, np.float32)
    planes, margins = np.array([[0, 0, 5.0], [0, 0, 8.0]]), np.array([7.0, 3.0])
    last = PreviousFrame(labels, regions.centre, planes, margins)
    found = choose_planes(regions, Evidence(disparity), slanted.Settings(), last=last)
    np.testing.assert_allclose(found.planes[:, 2], 5, atol=1e-6)
    assert found.margins.tolist() == [7.0, 0.0]


def test_after_a_cut_a_frame_is_estimated_by_itself(video):
    other = make_scene(*SIZE, segments=40, seed=8, max_disparity=45, min_disparity=25)
    stream = slanted.Stream(max_disparity=64)
    stream(video[0].left, video[0].right)
    found = stream(other.left, other.right)
    assert "new" in stream.state.fresh
    alone = slanted.estimate(other.left, other.right, max_disparity=64)
    assert arrays(found) == arrays(alone)


def test_another_size_and_other_cameras_are_noticed(video):
    first, second = video[:2]
    stream = slanted.Stream(preset="fast", max_disparity=48)
    stream(first.left, first.right)
    stream(second.left[:120], second.right[:120])
    assert stream.state.fresh == "its size is another"
    cameras = slanted.Calibration(100.0, 100.0, 119.5, 59.5, baseline_meters=0.1)
    stream.calibration = cameras
    assert stream(second.left[:120], second.right[:120]).calibration == cameras
    assert stream.state.fresh == "its cameras are others"
    stream(second.left[:120], second.right[:120])
    assert stream.state.fresh is None
    stream.forget()
    stream(second.left[:120], second.right[:120])
    assert stream.state.fresh == "it is the first"


def texture(seed, height, width):
    """Blobs of a few pixels, as of things that a camera sees sharply."""
    noise = np.random.default_rng(seed).integers(0, 255, (height, width, 3)).astype(np.float32)
    return np.clip((cv2.GaussianBlur(noise, (0, 0), 1.5) - 127) * 4 + 127, 0, 255).astype(np.uint8)


def wall(width, height, thing=None, side=60):
    """A wall at 20 px, a thing before it, if any, and where that is."""
    view = texture(1, height, width + 20)
    left, right = view[:, :width].copy(), view[:, 20:].copy()
    top, first = (height - side) // 2, width - side - 20
    rows = slice(top, top + side)
    if thing is not None:
        left[rows, first : first + side] = texture(2, side, side)
        right[rows, first - thing : first - thing + side] = texture(2, side, side)
    return left, right, (slice(top + 8, top + side - 8), slice(first + 8, first + side - 8))


@pytest.mark.parametrize("limit", [None, 160])
@pytest.mark.parametrize("side", [40, 90])
@pytest.mark.parametrize("thing", [30, 45, 70, 101, 150])
def test_what_comes_near_suddenly_is_seen(thing, side, limit):
    stream = slanted.Stream(preset="fast", max_disparity=limit)
    left, right, _ = wall(400, 160)
    assert stream(left, right).searched.high == (limit or 32)
    left, right, place = wall(400, 160, thing, side)
    found = stream(left, right)
    assert stream.state.fresh is None
    assert found.searched.high > thing
    assert abs(np.median(found.disparity[place]) - thing) < 1


def test_a_frame_that_fails_leaves_the_stream_as_it_was(video):
    stream = slanted.Stream(preset="fast", max_disparity=48)
    stream(video[0].left, video[0].right)
    before = stream.state
    with pytest.raises(InputError, match="size"):
        stream(video[1].left, video[1].right[:, :100])
    assert stream.state == before
    stream(video[1].left, video[1].right)
    assert stream.state.fresh is None


@pytest.mark.parametrize(
    "settings",
    [
        {"matching.method": "sgbm"},
        {"matching.min_disparity": -7, "matching.max_disparity": 40},
        {"refinement.rounds": 0},
        {"segmentation.method": "slic"},
        {"segmentation.method": "ucm"},
        {"matching.census.paths": 8, "matching.census.finer": 1},
    ],
)
def test_frames_follow_with_other_settings(video, settings):
    stream = slanted.Stream({"matching.max_disparity": 48, **settings}, preset="fast")
    for frame in video[:2]:
        found = stream(frame.left, frame.right)
    assert stream.state.fresh is None
    assert wrong(found, video[1]) < 0.12


@pytest.fixture
def registered():
    """The name of a matcher of the user's own."""
    register_matcher("test-stream", sgbm.match)
    yield "test-stream"
    MATCHERS.remove("test-stream")
    del matching._MATCHERS["test-stream"]


@pytest.mark.parametrize("limit", [None, 48])
@pytest.mark.parametrize("method", ["census", "sgbm", "registered"])
def test_frames_follow_with_every_matcher(video, registered, method, limit):
    method = registered if method == "registered" else method
    stream = slanted.Stream({"matching.method": method}, preset="fast", max_disparity=limit)
    for frame in video[:3]:
        found = stream(frame.left, frame.right)
    assert [each.fresh for each in stream.state.history] == ["it is the first", None, None]
    assert wrong(found, video[2]) < 0.12


@pytest.mark.parametrize("limit", [None, 48])
def test_frames_follow_with_a_network(limit, tmp_path):
    pytest.importorskip("onnx", reason="onnx, which makes the network, is missing")
    pytest.importorskip("onnxruntime", reason="onnxruntime, which runs it, is missing")
    from matching.networks import block_matcher

    path = block_matcher(tmp_path / "model.onnx", disparities=40)
    path.with_suffix(".toml").write_text("white = 255.0\nleft_right = true")
    network = {"matching.method": "network", "matching.network.model": str(path)}
    stream = slanted.Stream({**network, "matching.max_disparity": limit}, preset="fast")
    left, right, _ = wall(*SIZE)
    stream(left, right)
    # What is near is new in the second frame, whose range is not that of the first one's map.
    left, right, place = wall(*SIZE, 32)
    found = stream(left, right)
    assert stream.state.fresh is None
    assert abs(np.median(found.disparity[place]) - 32) < 1
    alone = slanted.estimate(left, right, stream.settings)
    np.testing.assert_array_equal(found.matched, alone.matched)
    assert found.searched == alone.searched


def test_a_frame_that_cannot_follow_is_estimated_by_itself(video, monkeypatch):
    def fails(*given, **named):
        raise ImplausibleError("left, right: nothing is where it was")

    stream = slanted.Stream(preset="fast", max_disparity=48)
    stream(video[0].left, video[0].right)
    monkeypatch.setattr("slanted.stream.follow.find_expected", fails)
    found = stream(video[1].left, video[1].right)
    assert stream.state.fresh == "left, right: nothing is where it was"
    alone = slanted.estimate(video[1].left, video[1].right, preset="fast", max_disparity=48)
    assert arrays(found) == arrays(alone)


def test_a_calibration_is_read_once(video, tmp_path, monkeypatch):
    file = tmp_path / "calib.txt"
    file.write_text("cam0=[700 0 120; 0 700 75; 0 0 1]\ndoffs=0\nbaseline=500\n")
    stream = slanted.Stream(preset="fast", max_disparity=48, calibration=str(file))
    file.unlink()
    for frame in video[:2]:
        assert stream(frame.left, frame.right).calibration.baseline_meters == 0.5
    assert stream.calibration.fx_pixels == 700
    with pytest.raises(FileError, match=r"calib\.txt"):
        stream.calibration = file
    assert stream.calibration.fx_pixels == 700
    stream.calibration = None
    assert stream(video[0].left, video[0].right).calibration is None
    with pytest.raises(InputError, match=r"^calibration: expected .* got int"):
        slanted.Stream(calibration=3)


def test_the_state_tells_confidence_over_time(followed, monkeypatch):
    last = followed[-1][1]
    assert (last.frames, last.dropped, len(last.history)) == (4, 0, 4)
    assert last.confidence == pytest.approx(float(followed[-1][0].confidence.mean()))
    assert 0.5 < last.confidence <= 1
    assert last.seconds == last.history[-1].seconds > 0
    monkeypatch.setattr(stream_state, "KEPT", 2)
    assert last.after(last.history[0]).history == (last.history[-1], last.history[0])


def pace(monkeypatch, seconds, rate=None):
    """A stream whose frames take so long, and the stamps of those that it takes."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def estimate(*given, **named):
        clock[0] += seconds
        return None, None

    stream = slanted.Stream(preset="fast", rate=rate)
    monkeypatch.setattr(stream, "_next", estimate)
    monkeypatch.setattr("slanted.stream.stream.LastFrame.of", lambda result: None)
    monkeypatch.setattr(
        "slanted.stream.stream.frame_record",
        lambda result, seconds, fresh: stream_state.FrameRecord(seconds, None, 1.0, fresh),
    )

    def taken(stamps):
        before, kept = stream.state.frames, []
        for stamp in stamps:
            stream.offer(None, None, stamp)
            if stream.state.frames > before:
                kept.append(stamp)
            before = stream.state.frames
        return kept

    return stream, taken


def test_frames_that_come_while_it_works_are_dropped(monkeypatch):
    stream, taken = pace(monkeypatch, 0.25)
    assert taken([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == [0, 0.3, 0.6]
    assert (stream.state.frames, stream.state.dropped) == (3, 4)


def test_a_rate_is_held_on_average(monkeypatch):
    _, taken = pace(monkeypatch, 0.001, rate=10)
    kept = taken([k / 30 for k in range(300)])
    assert len(kept) == 100
    assert min(np.diff(kept)) > 0.06
    _, taken = pace(monkeypatch, 0.001, rate=10)
    assert taken([0, 5, 5.05, 5.1001, 5.15]) == [0, 5, 5.1001]


@pytest.mark.parametrize("stamp", [np.nan, np.inf, None, "soon"])
def test_a_stamp_that_is_no_time_is_named(monkeypatch, stamp):
    stream, _ = pace(monkeypatch, 0.1)
    with pytest.raises(InputError, match=r"^stamp: expected the time .* in seconds"):
        stream.offer(None, None, stamp)


def test_a_clock_that_runs_backwards_is_named(monkeypatch):
    stream, taken = pace(monkeypatch, 0.1)
    taken([10.0, 11.0])
    with pytest.raises(InputError, match=r"^stamp: .* 11.000000 s on, got 10.5"):
        stream.offer(None, None, 10.5)
    stream.forget()
    assert taken([3.0]) == [3.0]


@pytest.mark.parametrize("rate", [0, -1, np.nan, np.inf, "5", b"5", [5], 1j, 10**400])
def test_a_rate_must_be_a_rate(rate):
    with pytest.raises(InputError, match=r"^rate: expected frames a second"):
        slanted.Stream(rate=rate)


def test_channels_are_checked_before_the_first_frame():
    with pytest.raises(InputError, match=r"^channels: expected 'rgb' or 'bgr', got 'xyz'$"):
        slanted.Stream(channels="xyz")


def test_a_misspelt_argument_names_the_stream():
    with pytest.raises(ArgumentError, match="unknown argument of Stream; did you mean preset"):
        slanted.Stream(presett="fast")


def test_noise_and_darkness_follow_as_well():
    frames = make_video(*SIZE, frames=2, max_disparity=30, noise=12.0, seed=3)
    stream = slanted.Stream(preset="fast", max_disparity=48)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for frame in frames:
            stream((frame.left * 0.3).astype(np.uint8), (frame.right * 0.3).astype(np.uint8))
    assert stream.state.fresh is None


@pytest.mark.parametrize(
    ("rms", "fresh"), [(0.29, "its rows are put right from now on"), (0.1, None)]
)
def test_rows_that_were_nearly_put_right_are_measured_again(rms, fresh):
    scene = make_scene(480, 300, segments=40, max_disparity=30.0, seed=2)
    stream = slanted.Stream(preset="fast", max_disparity=48)
    check = stream(scene.left, scene.right).rectification
    assert not check.corrected
    almost = replace(check, warp=replace(check.warp, rms=rms))
    stream.resume(replace(stream._last, rectification=almost))
    size, lower = scene.right.shape[1::-1], np.float32([[1, 0, 0], [0, 1, 0.7]])
    moved = cv2.warpAffine(scene.right, lower, size, borderMode=cv2.BORDER_REPLICATE)
    result = stream(scene.left, moved)
    assert stream.state.fresh == fresh
    assert result.rectification.corrected == (fresh is not None)
