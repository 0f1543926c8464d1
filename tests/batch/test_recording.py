"""Recordings in, recordings out: number by number, and whatever is wrong with them."""

import json
import re
import shutil
import sqlite3
import sys

import cv2
import numpy as np
import pytest

import slanted
from ros import bags
from ros.bags import MILLISECOND, frame_messages, read_bag, stamped, write_bag
from slanted.batch import recording as module
from slanted.batch.recording import is_recording_to_run, run_recording
from slanted.cli import main
from slanted.errors import FileError, InputError, MissingExtraError
from slanted.io.images import encode
from slanted.ros.bags import is_recording
from slanted.runtime.extras import how_to_install
from slanted.synthetic import make_video

START = 1_700_000_000 * 10**9
CAMERAS = slanted.Calibration(100.0, 100.0, 47.5, 31.5, 0.1, 0.0, (96, 64))
TOPICS = ("/disparity", "/depth/image_rect", "/depth/camera_info", "/points")
OPTIONS = ("--preset", "fast", "--max-disparity", "48")


@pytest.fixture(scope="module")
def frames():
    return list(make_video(96, 64, frames=3, seed=1))


@pytest.fixture(scope="module")
def quick():
    return slanted.Settings.preset("fast").updated({"matching.max_disparity": 48})


@pytest.fixture(scope="module")
def results(frames, quick):
    stream = slanted.Stream(quick, CAMERAS)
    return [stream(frame.left, frame.right) for frame in frames]


def at(number):
    return START + number * 100 * MILLISECOND


def usual(frames):
    return [m for k, frame in enumerate(frames) for m in frame_messages(frame, at(k))]


def said(capsys, *arguments):
    """Run the command; return its exit code, its JSON and what it printed beside it."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    out, err = capsys.readouterr()
    return ended.value.code or 0, json.loads(out) if out else None, err


def same_numbers(found, results):
    """Assert that a recording holds these results, to the bit."""
    assert set(found) == set(TOPICS)
    for topic in TOPICS:
        assert len(found[topic]) == len(results)
    for number, result in enumerate(results):
        disparity, depth, _, cloud = (found[topic][number][1] for topic in TOPICS)
        values = bags.floats(disparity.image)
        known = np.isfinite(result.solid_disparity())
        np.testing.assert_array_equal(values[known], result.disparity[known])
        assert (values[~known] < disparity.min_disparity).all()
        np.testing.assert_array_equal(bags.floats(depth), result.depth())
        positions, colours = bags.points(cloud)
        inside = np.isfinite(positions).all(axis=2)
        np.testing.assert_array_equal(positions[inside], result.points().positions)
        np.testing.assert_array_equal(colours[inside], result.points().colours)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_recording_comes_back_number_by_number(tmp_path, frames, quick, results, storage):
    source = write_bag(tmp_path / "drive", usual(frames), storage)
    outcome = run_recording(source, tmp_path / "out", quick)
    assert outcome.bag == tmp_path / "out" / "drive_disparity"
    assert (outcome.tally.done, outcome.tally.failed, outcome.complete) == (3, 0, True)
    assert outcome.remarks == ()
    found = read_bag(outcome.bag)
    same_numbers(found, results)
    for messages in found.values():
        assert [stamped(message).stamp for _, message in messages] == [at(k) for k in range(3)]
        assert {stamped(message).frame for _, message in messages} == {"left_optical"}
        assert [logged for logged, _ in messages] == [at(k) + MILLISECOND for k in range(3)]
    suffix = {"mcap": ".mcap", "sqlite3": ".db3"}[storage]
    assert {file.name for file in outcome.bag.iterdir()} == {
        *("metadata.yaml", f"drive_disparity{suffix}"),
    }
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["drive_disparity"]
    first = slanted.estimate(frames[0].left, frames[0].right, quick)
    np.testing.assert_array_equal(
        bags.floats(found["/disparity"][0][1].image), first.solid_disparity()
    )


def test_mcap_is_read_by_the_package_of_its_authors(tmp_path, frames, quick):
    mcap = pytest.importorskip("mcap.reader", reason="the package mcap is not installed")
    source = write_bag(tmp_path / "drive", usual(frames))
    bag = run_recording(source / "drive.mcap", tmp_path / "out", quick).bag
    with (bag / "drive_disparity.mcap").open("rb") as file:
        reader = mcap.make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        names = {channel.topic: channel for channel in summary.channels.values()}
        assert set(names) == set(TOPICS)
        assert {summary.schemas[each.schema_id].name for each in names.values()} == {
            *("stereo_msgs/msg/DisparityImage", "sensor_msgs/msg/Image"),
            *("sensor_msgs/msg/CameraInfo", "sensor_msgs/msg/PointCloud2"),
        }
        assert {each.encoding for each in summary.schemas.values()} == {"ros2msg"}
        assert {each.message_encoding for each in names.values()} == {"cdr"}
        assert summary.statistics.message_count == 12
        ours = read_bag(bag)["/disparity"]
        theirs = [message for *_, message in reader.iter_messages(topics=["/disparity"])]
        assert [message.log_time for message in theirs] == [logged for logged, _ in ours]
        raw = bags.STORE.deserialize_cdr(theirs[0].data, "stereo_msgs/msg/DisparityImage")
        np.testing.assert_array_equal(raw.image.data, ours[0][1].image.data)


def test_sqlite_is_read_without_any_ros(tmp_path, frames, quick):
    source = write_bag(tmp_path / "drive", usual(frames[:1]), "sqlite3")
    bag = run_recording(source / "drive.db3", tmp_path / "out", quick).bag
    with sqlite3.connect(bag / "drive_disparity.db3") as database:
        rows = database.execute("SELECT name, type FROM topics ORDER BY name").fetchall()
    assert [name for name, _ in rows] == sorted(TOPICS)


def test_the_command_says_what_it_did(tmp_path, frames, capsys):
    source = write_bag(tmp_path / "drive", usual(frames[:2]))
    named = ("--left", "/left/image_rect", "--right", "/right/image_rect")
    code, data, err = said(
        capsys, "batch", source, *named, "-o", tmp_path / "out", *OPTIONS, "--json"
    )
    assert (code, data["done"], data["failed"], data["complete"]) == (0, 2, 0, True)
    assert data["topics"] == list(TOPICS)
    assert f"1/2 {START // 10**9}.000000000: " in err


def test_compressed_images_and_given_cameras(tmp_path, frames, quick, results, capsys):
    def messages():
        for side in ("left", "right"):
            data = encode(".png", getattr(frames[0], side)[..., ::-1])
            yield f"/{side}/image_rect/compressed", at(0), bags.compressed(data, at(0))

    source = write_bag(tmp_path / "drive", messages())
    with pytest.raises(FileError, match=r"no camera_info was found beside /left/image_rect/comp.* and "
                       r"/right/image_rect/compressed; give the calibration with --calib"):  # fmt: skip
        run_recording(source, tmp_path / "out", quick)
    numbers = ("--fx", 100, "--baseline", 0.1, "-o", tmp_path / "out")
    code, data, _ = said(capsys, "batch", source, *numbers, *OPTIONS, "--json")
    assert (code, data["done"]) == (0, 1)
    same_numbers(read_bag(data["output"]), results[:1])


def bent(side):
    """K, D, R and P of a raw camera, whose images look like those of `CAMERAS` once rectified."""
    sign = 1 if side == "left" else -1
    k = np.array([[98.0, 0, 48 + sign], [0, 99, 31 - sign], [0, 0, 1]])
    turn = cv2.Rodrigues(np.radians([0.9 * sign, 0.7, -1.1 * sign]))[0]
    p = np.array([[100.0, 0, 47.5, 0], [0, 100, 31.5, 0], [0, 0, 1, 0]])
    p[0, 3] = 0 if side == "left" else -10
    return {"k": k, "d": np.array([-0.1, 0.02, 0.001, -0.001, 0]), "r": turn, "p": p}


def raw_messages(frames, name="image_raw"):
    """Recordings of raw cameras that see what the frames show, and the images rectified again."""
    messages, rectified = [], []
    grid = np.stack(np.meshgrid(np.arange(96.0), np.arange(64.0)), axis=-1).reshape(-1, 1, 2)
    for number, frame in enumerate(frames):
        pair = []
        for side in ("left", "right"):
            each = bent(side)
            lens = each["k"], each["d"]
            there = cv2.undistortPoints(grid, *lens, R=each["r"], P=each["p"][:, :3])
            places = np.float32(there.reshape(64, 96, 2))
            raw = cv2.remap(getattr(frame, side), places, None, cv2.INTER_LINEAR, borderMode=1)
            image, camera = bags.image(raw, at(number)), bags.camera(at(number), side=side, **each)
            messages += [(f"/{side}/{name}", at(number), image)]
            messages += [(f"/{side}/camera_info", at(number), camera)]
            maps = cv2.initUndistortRectifyMap(*lens, each["r"], each["p"], (96, 64), cv2.CV_16SC2)
            pair.append(cv2.remap(raw, *maps, cv2.INTER_LINEAR))
        rectified.append(pair)
    return messages, rectified


def test_raw_images_are_rectified_by_their_cameras(tmp_path, frames, quick, results):
    messages, rectified = raw_messages(frames)
    outcome = run_recording(write_bag(tmp_path / "drive", messages), tmp_path / "out", quick)
    assert outcome.remarks[0].startswith(
        "/left/image_raw, /right/image_raw: the names do not say that the images are rectified, so "
    )
    stream = slanted.Stream(quick, CAMERAS)
    found = read_bag(outcome.bag)
    same_numbers(found, [stream(*pair) for pair in rectified])
    values = bags.floats(found["/disparity"][0][1].image)
    inside = values[16:-16, 32:-16] - results[0].disparity[16:-16, 32:-16]
    assert np.median(np.abs(inside)) < 0.3  # of images that were sampled twice


def test_images_whose_names_say_that_they_are_rectified_stay_as_they_are(tmp_path, frames, quick):
    """As those of image_proc, whose cameras keep the distortion of the lens."""
    messages = [
        (topic, logged, bags.camera(at(0), side=topic.split("/")[1], **bent(topic.split("/")[1])))
        if topic.endswith("info") else (topic, logged, message)
        for topic, logged, message in frame_messages(frames[0], at(0))
    ]  # fmt: skip
    outcome = run_recording(write_bag(tmp_path / "drive", messages), tmp_path / "out", quick)
    assert outcome.remarks == ()
    expected = slanted.estimate(frames[0].left, frames[0].right, quick, calibration=CAMERAS)
    same_numbers(read_bag(outcome.bag), [expected])


def test_raw_images_with_given_cameras_and_of_unknown_lenses(tmp_path, frames, quick):
    messages, _ = raw_messages(frames[:1])
    source = write_bag(tmp_path / "drive", messages)
    given = run_recording(source, tmp_path / "out", quick, calibration=lambda size: CAMERAS)
    assert not [text for text in given.remarks if "rectified, so" in text]
    for change, problem in [
        ({"model": "pinhole"}, r"/left/camera_info: expected a distortion_model of plumb_bob, "
         r"rational_polynomial, equidistant, got 'pinhole'; rectify the images before"),
        ({"d": np.zeros(3)}, "/left/camera_info: expected K, D and R of a calibrated camera"),
        ({"k": np.zeros(9)}, "/left/camera_info: expected K, D and R of a calibrated camera"),
    ]:  # fmt: skip
        cameras = [
            (topic, logged, bags.camera(at(0), side=topic.split("/")[1],
                                        **{**bent(topic.split("/")[1]), **change}))
            if topic.endswith("info") else (topic, logged, message)
            for topic, logged, message in messages
        ]  # fmt: skip
        name = f"{next(iter(change))}{len(problem)}"
        with pytest.raises(InputError, match=problem):
            run_recording(write_bag(tmp_path / name, cameras), tmp_path / "other", quick)


def test_one_camera_late_is_told_and_nothing_is_mixed_up(tmp_path, frames, quick, results):
    late = 60_000 * MILLISECOND  # recorded a minute after the other, as over a slow network
    messages = [
        (topic, logged + late * topic.startswith("/right"), message)
        for topic, logged, message in usual(frames)
    ]
    del messages[0]  # and the left camera missed a frame
    source = write_bag(tmp_path / "drive", sorted(messages, key=lambda each: each[1]))
    outcome = run_recording(source, tmp_path / "out", quick)
    assert outcome.remarks == ("/right/image_rect: 1 of 3 frames had no partner within 50 ms",)
    stream = slanted.Stream(quick, CAMERAS)
    same_numbers(read_bag(outcome.bag), [stream(each.left, each.right) for each in frames[1:]])


def test_cameras_that_are_not_synchronised_are_told(tmp_path, frames, quick):
    messages = [m for k, f in enumerate(frames) for m in frame_messages(f, at(k), at(k) + 10**7)]
    outcome = run_recording(write_bag(tmp_path / "a", messages), tmp_path / "out", quick)
    assert outcome.tally.done == 3
    assert outcome.remarks[0].startswith("/right/image_rect: frames were taken up to 10 ms off")
    found = read_bag(outcome.bag)
    assert [stamped(each).stamp for _, each in found["/disparity"]] == [at(k) for k in range(3)]
    messages = [m for k, f in enumerate(frames) for m in frame_messages(f, at(k), at(k + 50))]
    with pytest.raises(InputError, match=r"were taken within 50 ms, half a period, of each other, "
                       r"the nearest 4\.8 s; are their clocks the same"):  # fmt: skip
        run_recording(write_bag(tmp_path / "b", messages), tmp_path / "out", quick)


def test_a_clock_that_runs_backwards_is_told_and_the_stream_begins_afresh(
    tmp_path, frames, quick, results
):
    messages = [
        each
        for number, frame in enumerate([*frames[:2], *frames[:2]])
        for each in frame_messages(frame, at(number % 2), logged=at(number))
    ]
    outcome = run_recording(write_bag(tmp_path / "drive", messages), tmp_path / "out", quick)
    assert outcome.tally.done == 4
    assert [text.partition(",")[0] for text in outcome.remarks] == [
        "/left/image_rect: the clock runs backwards 1 time",
        "/right/image_rect: the clock runs backwards 1 time",
    ]
    same_numbers(read_bag(outcome.bag), [*results[:2], *results[:2]])


def test_sizes_that_change_midway_lose_only_the_pairs_that_cannot_be(tmp_path, frames, capsys):
    half = type(
        "Half", (), {side: getattr(frames[1], side)[::2, ::2] for side in ("left", "right")}
    )
    mixed = type("Mixed", (), {"left": frames[2].left, "right": half.right})
    messages = [
        *frame_messages(frames[0], at(0)),
        *frame_messages(half, at(1), size=(32, 48)),
        *frame_messages(mixed, at(2)),
        *frame_messages(frames[2], at(3)),
    ]
    source = write_bag(tmp_path / "drive", messages)
    code, data, err = said(
        capsys,
        "batch",
        source,
        "-o",
        tmp_path / "out",
        *OPTIONS,
        "--max-disparity",
        40,
        "--set",
        "segmentation.count=auto",
        "--json",
    )
    assert (code, data["done"], data["failed"]) == (1, 3, 1)
    problem = (
        f"/right/image_rect at {START // 10**9}.200000000: expected the size of the left image"
    )
    assert problem in err
    found = read_bag(data["output"])["/disparity"]
    assert [(m.image.height, m.image.width) for _, m in found] == [(64, 96), (32, 48), (64, 96)]


def test_a_size_that_is_not_the_cameras_is_told(tmp_path, frames, quick):
    messages = frame_messages(frames[0], at(0), size=(128, 192))
    source = write_bag(tmp_path / "drive", messages)
    with pytest.raises(
        InputError, match="no pair could be estimated; the first: calibration: expe"
    ):
        run_recording(source, tmp_path / "out", quick)
    assert not (tmp_path / "out").exists()


def test_a_truncated_recording_is_named(tmp_path, frames, capsys):
    source = write_bag(tmp_path / "drive", usual(frames)) / "drive.mcap"
    whole = source.read_bytes()
    for length in (0, 5, 200, len(whole) // 2, len(whole) - 1):
        cut = tmp_path / f"cut{length}.mcap"
        cut.write_bytes(whole[:length])
        code, data, err = said(capsys, "batch", cut, "-o", tmp_path / "out", *OPTIONS, "--json")
        assert (code, data) == (2, None)
        assert f"cut{length}.mcap: the recording " in err
        assert err.count("\n") <= 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_what_comes_before_damage_is_kept(tmp_path, quick, storage, capsys):
    """Frames of a megabyte, so that each has a part of the file to itself."""
    big = list(make_video(640, 480, frames=3, seed=1))
    small = [type("Small", (), {s: getattr(f, s) for s in ("left", "right")}) for f in big]
    messages = [m for k, f in enumerate(small) for m in frame_messages(f, at(k), size=(480, 640))]
    source = write_bag(tmp_path / "drive", messages, storage)
    file = next(file for file in source.iterdir() if file.suffix in (".mcap", ".db3"))
    data = bytearray(file.read_bytes())
    begin, end = len(data) * 3 // 5, len(data) * 4 // 5
    data[begin:end] = b"\xff" * (end - begin)
    file.write_bytes(data)
    code, outcome, err = said(
        capsys, "batch", source, "-o", tmp_path / "out", *OPTIONS, "--json",
        "--set", "segmentation.count=50",
    )  # fmt: skip
    assert code == 1
    assert not outcome["complete"]
    assert 1 <= outcome["done"] < 3
    assert f"{source}: the recording " in err
    assert len(read_bag(outcome["output"])["/points"]) == outcome["done"]


def test_an_interrupt_keeps_what_is_done(tmp_path, frames, capsys, monkeypatch, results):
    source = write_bag(tmp_path / "drive", usual(frames))
    seen = []

    class Impatient(slanted.Stream):
        def __call__(self, *pair, **named):
            seen.append(pair)
            if len(seen) == 3:
                raise KeyboardInterrupt
            return super().__call__(*pair, **named)

    monkeypatch.setattr(module, "Stream", Impatient)
    with pytest.raises(BaseException):  # noqa: B017 - click turns it into one of its own
        main(["batch", str(source), "-o", str(tmp_path / "out"), *OPTIONS])
    err = capsys.readouterr().err
    assert f"2 of 3 pairs are kept; see {tmp_path / 'out' / 'drive_disparity'}" in err
    same_numbers(read_bag(tmp_path / "out" / "drive_disparity"), results[:2])
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_an_interrupt_before_the_first_pair_leaves_nothing(tmp_path, frames, quick, monkeypatch):
    source = write_bag(tmp_path / "drive", usual(frames))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "Stream", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_recording(source, tmp_path / "out", quick)
    assert not (tmp_path / "out").exists()


def test_names_keep_what_is_no_suffix_of_a_recording(tmp_path):
    names = {"run.v1": "run.v1", "run.v2": "run.v2", "a.b.mcap": "a.b", "drive.DB3": "drive"}
    for name, expected in names.items():
        found = module.recording_folder(tmp_path / name, tmp_path)
        assert found == tmp_path / f"{expected}_disparity"


def test_a_recording_is_not_written_over(tmp_path, frames, quick):
    source = write_bag(tmp_path / "drive", usual(frames[:1]))
    bag = run_recording(source, tmp_path / "out", quick).bag
    before = {file: file.read_bytes() for file in bag.iterdir()}
    with pytest.raises(FileError, match="drive_disparity: is there already; name another --output"):
        run_recording(source, tmp_path / "out", quick)
    assert {file: file.read_bytes() for file in bag.iterdir()} == before


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--left", "/nowhere"), "--left: the topic /nowhere is not there; the topics with images "
         "are /left/image_rect, /right/image_rect"),
        (("--workers", "2"), "--workers: means nothing for a recording"),
        (("--resume",), "--resume: means nothing for a recording"),
        (("--sequence",), "--sequence: means nothing for a recording"),
        (("--no-calib",), "--no-calib: means nothing for a recording"),
        (("--left", "/left/image_rect", "--right", "/left/camera_info"),
         "--right: the topic /left/camera_info holds sensor_msgs/msg/CameraInfo, no images"),
    ],
)  # fmt: skip
def test_what_a_recording_cannot_have_is_refused(tmp_path, frames, capsys, options, problem):
    source = write_bag(tmp_path / "drive", usual(frames[:1]))
    code, data, err = said(capsys, "batch", source, "-o", tmp_path / "out", *options, "--json")
    assert (code, data) == (2, None)
    assert problem in err
    assert not (tmp_path / "out").exists()


def test_topics_mean_nothing_without_a_recording(tmp_path, capsys):
    code, _, err = said(capsys, "batch", tmp_path, "--left", "/left/image_rect")
    assert code == 2
    assert "--left: means nothing without a recording" in err


def test_pairs_beside_a_recording_are_pairs(tmp_path, frames):
    source = write_bag(tmp_path / "drive", usual(frames[:1]))
    assert is_recording_to_run(source)
    for name in ("a_left.png", "a_right.png"):
        (source / name).touch()
    assert is_recording_to_run(source)  # it has the metadata of one
    (source / "metadata.yaml").unlink()
    assert is_recording(source)
    assert not is_recording_to_run(source)
    assert is_recording_to_run(source / "drive.mcap")
    (source / "a_right.png").unlink()
    assert is_recording_to_run(source)  # a single image is no pair


def test_folders_and_files_are_known_as_recordings(tmp_path, frames, quick):
    source = write_bag(tmp_path / "drive", usual(frames[:1]))
    assert is_recording(source)
    assert is_recording(source / "drive.mcap")
    assert not is_recording(tmp_path)
    assert is_recording(tmp_path / "old.bag")
    with pytest.raises(FileError, match=r"old\.bag: is a recording of ROS 1; convert it with"):
        run_recording(tmp_path / "old.bag", tmp_path / "out", quick)
    with pytest.raises(FileError, match="expected a recording, but nothing is there"):
        run_recording(tmp_path / "new.mcap", tmp_path / "out", quick)
    (source / "metadata.yaml").unlink()  # as of a recorder that was killed
    assert run_recording(source, tmp_path / "out", quick).tally.done == 1
    shutil.copy(source / "drive.mcap", source / "more.mcap")
    with pytest.raises(
        FileError, match=r"expected a metadata.yaml beside drive.mcap, more.mcap, f"
    ):
        run_recording(source, tmp_path / "other", quick)


def test_damaged_messages_are_left_out_and_counted(tmp_path, frames, quick, results):
    messages = usual(frames)
    store, kind = bags.STORE, bags.IMAGE
    with bags.Writer(tmp_path / "drive", version=8, storage_plugin=bags.StoragePlugin.MCAP) as bag:
        connections = {}
        for topic, logged, message in messages:
            if topic not in connections:
                connections[topic] = bag.add_connection(topic, message.__msgtype__, typestore=store)
            raw = bytes(store.serialize_cdr(message, message.__msgtype__))
            broken = message.__msgtype__ == kind and topic.startswith("/right") and logged > at(2)
            bag.write(connections[topic], logged, raw[:100] if broken else raw)
    outcome = run_recording(tmp_path / "drive", tmp_path / "out", quick)
    assert outcome.tally.done == 2
    assert (
        "/right/image_rect: 1 message could not be read and had to be left out" in outcome.remarks
    )
    same_numbers(read_bag(outcome.bag), results[:2])


def test_a_missing_package_is_named_with_its_cure(tmp_path, frames, quick, monkeypatch):
    source = write_bag(tmp_path / "drive", usual(frames[:1]))
    monkeypatch.setitem(sys.modules, "rosbags.rosbag2", None)
    with pytest.raises(MissingExtraError, match="recordings need rosbags, which is not installed; "
                       + re.escape(how_to_install("ros")) + "$"):  # fmt: skip
        run_recording(source, tmp_path / "out", quick)


def test_a_full_disk_is_named_and_what_was_written_before_is_kept(
    tmp_path, frames, quick, monkeypatch
):
    source = write_bag(tmp_path / "drive", usual(frames))
    write = bags.Writer.write
    calls = []

    def full(self, *message):
        calls.append(message)
        if len(calls) > 6:
            raise OSError(28, "No space left on device")
        return write(self, *message)

    monkeypatch.setattr(bags.Writer, "write", full)
    with pytest.raises(FileError, match=r"drive_disparity: cannot be written \(no space left"):
        run_recording(source, tmp_path / "out", quick)
    assert len(read_bag(tmp_path / "out" / "drive_disparity")["/points"]) == 1
