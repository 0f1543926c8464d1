"""A session: what it estimates, tells, records and survives."""

import csv
from functools import cache
from types import SimpleNamespace
from typing import ClassVar

import cv2
import numpy as np
import pytest

import slanted
from live.made import HEIGHT, WIDTH, FakeCamera, frames, write_videos
from slanted.batch import records
from slanted.batch.live_results import live_results
from slanted.batch.summary import find_results, read_summary
from slanted.errors import FileError, ImplausibleError, InputError
from slanted.images.rectify import make_rectifier
from slanted.io import Calibration
from slanted.io.calibration_files import check_calibration
from slanted.io.raw_calibration import RawCalibration, RawCamera
from slanted.live import grabber
from slanted.live import session as module
from slanted.live.pairs import pair_sources
from slanted.live.session import LiveSession
from slanted.live.sources import open_source
from viewer.waiting import PATIENCE, until

SETTINGS = slanted.Settings.preset("fast").with_text({"matching.max_disparity": "32"})
CAMERAS = Calibration(150.0, 150.0, 79.5, 47.5, 0.2)


@cache
def a_result():
    return slanted.estimate(*frames(1)[0], SETTINGS)


class FakeStream:
    """Gives the same result for every pair, and remembers what it was asked for."""

    made: ClassVar = []

    def __init__(self, settings, calibration=None):
        self.state = slanted.Stream(settings).state
        self.calibration = calibration
        self.asked, self.forgotten = [], 0
        FakeStream.made.append(self)

    def __call__(self, left, right, names):
        self.asked.append((left, right, names))
        if left.max() == 0:
            raise ImplausibleError(f"{names[0]}: the lens is covered, at {len(self.asked)}")
        return a_result()

    def forget(self):
        self.forgotten += 1


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(module, "Stream", FakeStream)
    monkeypatch.setattr(FakeStream, "made", [])
    a_result()
    return FakeStream.made


def play(folder, count=3, **options):
    """A session of two videos of so many frames, which has ended."""
    sources = [open_source(str(path)) for path in write_videos(folder, count)]
    return run(sources, **options)


def run(sources, cameras=None, **options):
    session = LiveSession(pair_sources(sources, rate=1000), SETTINGS, cameras, **options)
    session.start()
    assert session.wait(PATIENCE)
    return session


def test_results_are_those_of_a_stream(tmp_path):
    session = play(tmp_path, 3)
    stream = slanted.Stream(SETTINGS)
    sources = [open_source(str(tmp_path / name)) for name in ("left.avi", "right.avi")]
    for _ in range(3):
        expected = stream(*(source.read() for source in sources))
    state = session.state()
    assert (state.frames, state.failed, state.dropped, state.ended) == (3, 0, 0, True)
    assert np.array_equal(session.newest.result.disparity, expected.disparity)
    assert session.newest.number == 3
    assert state.latency > 0
    assert state.troubles == ()
    session.check()


def test_it_ends_after_so_many(tmp_path, fake):
    session = play(tmp_path, 5, most=2)
    assert session.state().frames == 2
    assert len(fake[0].asked) == 2


def test_pairs_that_fail_are_told_once_and_left_out(tmp_path, fake):
    black = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    told = []
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
        for number, pair in enumerate(frames(5)):
            image = black if number in (1, 2) else pair[side == "right"]
            slanted.write_image(tmp_path / side / f"{number}.png", image)
    sources = [open_source(str(tmp_path / side)) for side in ("left", "right")]
    with live_results(tmp_path / "out", SETTINGS) as kept:
        session = run(sources, kept=kept, tell=told.append)
    assert (session.state().frames, session.state().failed) == (3, 2)
    assert told == [f"{tmp_path / 'left'}, image 1: the lens is covered, at 2"]
    assert session.state().troubles == ()  # it is over
    session.check()
    rows = read_summary(tmp_path / "out")
    assert [row["status"] for row in rows] == ["done", "failed", "failed", "done", "done"]
    assert list(find_results(tmp_path / "out")) == ["0", "3", "4"]


def test_if_all_fail_that_is_the_error(tmp_path, fake):
    black = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    cv2.imwrite(str(tmp_path / "0.png"), black)
    (tmp_path / "right").mkdir()
    cv2.imwrite(str(tmp_path / "right" / "0.png"), black)
    session = run([open_source(str(tmp_path)), open_source(str(tmp_path / "right"))])
    assert session.state().troubles
    with pytest.raises(ImplausibleError, match="the lens is covered"):
        session.check()


def test_a_new_size_is_a_new_stream_but_does_not_fit_a_calibration(tmp_path, fake):
    large = frames(1)[0]
    small = [view[: HEIGHT // 2] for view in large]
    for k, side in enumerate(("left", "right")):
        (tmp_path / side).mkdir()
        for number, pair in enumerate((large, small, large)):
            slanted.write_image(tmp_path / side / f"{number}.png", pair[k].copy())

    def sources():
        return [open_source(str(tmp_path / side)) for side in ("left", "right")]

    session = run(sources())
    assert (session.state().frames, len(fake)) == (3, 3)
    told = []
    fake.clear()
    session = run(
        sources(), lambda size: check_calibration("calib", CAMERAS, size), tell=told.append
    )
    assert (session.state().frames, session.state().failed, len(fake)) == (2, 1, 1)
    assert told == [
        f"{tmp_path / 'left'}, image 1: expected images of 160×96 pixels, which the calibration "
        "was given for, got 160×48"
    ]
    assert fake[0].calibration == CAMERAS


def test_a_calibration_that_does_not_fit_ends_it(tmp_path, fake):
    def cameras(size):
        raise FileError("calib.txt", "expected the calibration of other images")

    session = play(tmp_path, 3, cameras=cameras)
    assert session.state().frames == 0
    with pytest.raises(FileError, match="other images"):
        session.check()


def test_pairs_are_rectified(tmp_path, fake):
    """The cameras see everything two rows too high, and the calibration knows it."""
    K = np.array([[150.0, 0, 79.5], [0, 150, 47.5], [0, 0, 1]])
    high = K.copy()
    high[1, 2] -= 2
    straight = np.eye(3), np.hstack([K, np.zeros((3, 1))])
    moved = straight[1].copy()
    moved[0, 3] = -30
    raw = RawCalibration(
        tmp_path / "c.yml",
        RawCamera(high, np.zeros(5), straight),
        RawCamera(K, np.zeros(5), (np.eye(3), moved)),
    )
    session = play(tmp_path, 1, cameras=lambda size: make_rectifier(raw, size))
    assert session.state().frames == 1
    left, right, _ = fake[0].asked[0]
    given = [open_source(str(tmp_path / f"{side}.avi")).read() for side in ("left", "right")]
    assert np.array_equal(left[2:], given[0][:-2])
    assert np.array_equal(right, given[1])
    assert fake[0].calibration.baseline_meters == pytest.approx(0.2)
    assert fake[0].calibration.image_size == (WIDTH, HEIGHT)


def test_an_empty_source_is_an_error(tmp_path, fake):
    class Empty(FakeCamera):
        is_live = False

        def read(self):
            return None

    session = run([Empty("left.avi"), Empty("right.avi")])
    with pytest.raises(InputError, match=r"left\.avi and right\.avi: expected at least one pair"):
        session.check()


def test_what_a_stream_did_not_foresee_is_raised(tmp_path, fake, monkeypatch):
    monkeypatch.setattr(FakeStream, "__call__", lambda *_, **__: 1 / 0)
    session = play(tmp_path, 1)
    with pytest.raises(ZeroDivisionError):
        session.check()


def test_a_recording_is_a_batch(tmp_path):
    with live_results(tmp_path / "out", SETTINGS) as kept:
        play(tmp_path, 2, kept=kept, cameras=lambda size: CAMERAS)
    places = find_results(tmp_path / "out")
    assert list(places) == ["000000", "000001"]
    result = slanted.Result.load(places["000001"])
    assert result.calibration == CAMERAS
    assert result.left.shape == (HEIGHT, WIDTH, 3)
    rows = read_summary(tmp_path / "out")
    assert rows[1]["left"] == f"{tmp_path / 'left.avi'}, frame 1"
    assert rows[1]["seconds"] > 0
    assert not list((tmp_path / "out").glob(".*"))
    with (
        pytest.raises(InputError, match=r"--record: .* holds a batch already; name another folder"),
        live_results(tmp_path / "out", SETTINGS),
    ):
        pass


def test_pairs_that_cannot_be_read_are_recorded_as_failed(tmp_path, fake):
    for k, side in enumerate(("left", "right")):
        (tmp_path / side).mkdir()
        for number, pair in enumerate(frames(3)):
            slanted.write_image(tmp_path / side / f"{number}.png", pair[k])
    (tmp_path / "right" / "1.png").write_bytes(b"no image")
    sources = [open_source(str(tmp_path / side)) for side in ("left", "right")]
    with live_results(tmp_path / "out", SETTINGS) as kept:
        assert run(sources, kept=kept).state().failed == 1
    rows = read_summary(tmp_path / "out")
    assert [(row["name"], row["status"]) for row in rows] == [
        ("0", "done"),
        ("1", "failed"),
        ("2", "done"),
    ]
    assert "right/1.png" in rows[1]["error"]
    assert rows[1]["left"] == f"{tmp_path / 'left'}, image 1"


def test_the_summary_grows_with_the_recording(tmp_path):
    """A recording that is killed has the summary of what it wrote, in the form of a batch's."""
    names = ("name", "left", "right")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "summary.csv").write_text("of something else")
    with pytest.raises(FileError, match="that no run wrote"):
        live_results(tmp_path / "mine", SETTINGS).__enter__()
    with live_results(tmp_path / "out", SETTINGS) as kept:
        for number in range(3):
            kept.keep(f"{number:06}", a_result(), ("left", "right"), 1.0)
            rows = read_summary(tmp_path / "out")
            assert [row["name"] for row in rows] == [f"{k:06}" for k in range(number + 1)]
            with (tmp_path / "out" / "summary.csv").open(newline="") as file:
                table = list(csv.DictReader(file))
            assert [[row[name] for name in names] for row in table] == [
                [row[name] for name in names] for row in rows
            ]
    records.write_summary(tmp_path, rows)
    for name in ("summary.csv", "summary.jsonl"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_recording_that_cannot_be_written_ends_it(tmp_path, fake, monkeypatch):
    with live_results(tmp_path / "out", SETTINGS) as kept:

        def fail(*_):
            raise FileError(tmp_path / "out", "the disk is full")

        whole = kept.keep
        monkeypatch.setattr(
            kept, "keep", lambda *given: (fail if given[0] == "000002" else whole)(*given)
        )
        session = play(tmp_path, 5, kept=kept)
    with pytest.raises(FileError, match="the disk is full"):
        session.check()
    assert list(find_results(tmp_path / "out")) == ["000000", "000001"]


def two_cameras(pause):
    lefts, rights = zip(*frames(3), strict=True)
    return FakeCamera("camera 0", lefts, pause), FakeCamera("camera 1", rights, pause)


def test_a_killed_camera_is_told_of_and_resumed(fake, monkeypatch):
    monkeypatch.setattr(grabber, "RETRY_SECONDS", 0.01)
    left, right = two_cameras(0.01)
    told = []
    session = LiveSession(pair_sources([left, right]), SETTINGS, tell=told.append)
    session.start()
    until(lambda: session.state().frames >= 2)
    assert session.state().rate > 0
    right.plugged.clear()
    until(lambda: session.state().troubles)
    assert session.state().troubles == ("camera 1: lost; waiting for it",)
    assert told == ["camera 1: lost; waiting for it"]
    stood = session.state().frames
    assert not session.state().ended
    right.plugged.set()
    until(lambda: session.state().frames > stood + 1)
    until(lambda: len(told) == 2)
    assert told[1] == "camera 1: back"
    assert fake[0].forgotten == 1  # the scene may be another one
    session.stop()
    assert session.state().ended
    assert left.closed
    assert right.closed
    session.check()


def test_the_newest_pair_is_estimated(fake, monkeypatch):
    """However many come during an estimate. Time goes on only as the cameras send images."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(module, "time", clock)
    cameras = FakeCamera("camera 0"), FakeCamera("camera 1")

    def send(number):
        """Have both cameras send images with a number in their first pixel, until these are taken."""
        clock.now = 0.25 * number
        for camera, image in zip(cameras, frames(1)[0], strict=True):
            camera.send(np.concatenate((np.full((1, WIDTH, 3), number, np.uint8), image[1:])))
        until(lambda: all(camera.taken == number for camera in cameras))

    estimated = []
    answer = FakeStream.__call__

    def slow(self, left, right, names):
        estimated.append((int(left[0, 0, 0]), int(right[0, 0, 0])))
        for _ in range(8):
            send(cameras[0].sent + 1)
        return answer(self, left, right, names=names)

    monkeypatch.setattr(FakeStream, "__call__", slow)
    pairs = pair_sources(cameras, clock=clock.monotonic)
    session = LiveSession(pairs, SETTINGS, most=4)
    send(1)
    session.start()
    assert session.wait(PATIENCE)
    session.check()
    assert estimated == [(1, 1), (9, 9), (17, 17), (25, 25)]
    assert session.state().dropped == 3 * 7
    # From when a pair came until its result is the time of eight images, as from result to result.
    assert session.state().latency == 2
    assert session.state().latency_frames == 1


def test_the_scale_of_disparities_is_calm(tmp_path, monkeypatch, fake):
    scales = iter([(0.0, 10.0), (0.0, 20.0)])
    monkeypatch.setattr(module, "disparity_scale", lambda disparity: next(scales))
    assert play(tmp_path, 2).newest.scale == pytest.approx((0, 13))
