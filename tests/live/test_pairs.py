"""Pairs: by number in files, the newest of cameras, and what is told of cameras that fail."""

import numpy as np
import pytest

import slanted
from live.made import HEIGHT, WIDTH, FakeCamera, frames, write_video, write_videos
from slanted.errors import FileError, InputError
from slanted.live import grabber
from slanted.live.pairs import pair_sources, split_views
from slanted.live.sources import open_source
from viewer.waiting import until


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def opened(*paths):
    return [open_source(str(path)) for path in paths]


def image(value):
    return np.full((HEIGHT, WIDTH, 3), value, np.uint8)


@pytest.fixture
def cameras():
    """Two fake cameras and their pairs on a clock that stands still unless the test moves it."""
    clock = Clock()
    both = FakeCamera("camera 0"), FakeCamera("camera 1")
    made = []

    def make(**options):
        pairs = pair_sources(both, clock=clock, **options)
        made.append(pairs)
        return pairs

    yield both, clock, make
    for camera in both:
        camera.plugged.clear()
    for pairs in made:
        pairs.close()


def wait_for(pairs, camera, value):
    """Wait until the grabber of a camera has an image of a value."""
    number = list(pairs.names).index(camera.name)
    kept = pairs._grabbers[number]
    until(lambda: kept.newest is not None and kept.newest.image[0, 0, 0] == value)


def test_files_are_played_in_order_and_whole(tmp_path):
    pairs = pair_sources(opened(*write_videos(tmp_path, 5)), rate=1000)
    found = []
    while not pairs.ended:
        pair = pairs.next(1)
        if pair is not None:
            found.append(pair)
    assert [pair.title for pair in found] == [f"{k:06}" for k in range(5)]
    assert (pairs.dropped, pairs.troubles()) == (0, {})
    assert found[2].names == tuple(f"{tmp_path / side}.avi, frame 2" for side in ("left", "right"))
    expected = frames(5)[3]
    for view, exact in zip((found[3].left, found[3].right), expected, strict=True):
        assert abs(view.astype(int) - exact).mean() < 12
    pairs.close()


def test_files_have_their_own_rate(tmp_path):
    clock = Clock()
    left, right = write_videos(tmp_path, 5, rate=10)
    pairs = pair_sources(opened(left, right), clock=clock)
    assert pairs.next(0) is not None
    assert pairs.next(0) is None  # it is not its time
    clock.now += 0.11
    assert pairs.next(0) is not None
    clock.now += 60  # an estimate that took a minute makes nobody hurry
    assert pairs.next(0) is not None
    assert pairs.next(0) is None
    pairs.close()


def test_the_shorter_file_ends_it_and_is_named(tmp_path):
    left, right = write_videos(tmp_path, 5)
    write_video(right, [pair[1] for pair in frames(3)])
    pairs = pair_sources(opened(left, right), rate=1000)
    until(lambda: pairs.next(1) is None and pairs.ended, lambda: None)
    assert list(pairs.troubles().values()) == [
        f"{right}: ended after 3 frames, but {left} has more"
    ]
    pairs.close()


def test_an_image_that_cannot_be_read_leaves_the_others_in_step(tmp_path):
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
        for number in range(3):
            shade = np.full((20, 30), 10 * number, np.uint8)
            slanted.write_image(tmp_path / side / f"{number}.png", shade)
    (tmp_path / "left" / "1.png").write_bytes(b"no image")
    pairs = pair_sources(opened(tmp_path / "left", tmp_path / "right"), rate=1000)
    titles = []
    while not pairs.ended:
        try:
            pair = pairs.next(1)
        except FileError as error:
            assert "1.png" in str(error)
            continue
        if pair is not None:
            assert pair.left[0, 0] == pair.right[0, 0]
            titles.append(pair.title)
    assert titles == ["0", "2"]


def test_cameras_give_the_newest_pair(cameras):
    (left, right), clock, make = cameras
    pairs = make()
    for value in (10, 20, 30):
        for camera in (left, right):
            camera.send(image(value))
            wait_for(pairs, camera, value)
        clock.now += 0.03
    pair = pairs.next(5)
    assert (pair.left[0, 0, 0], pair.right[0, 0, 0]) == (30, 30)
    assert pairs.dropped >= 2
    assert pair.stamp == pytest.approx(clock.now - 0.03)
    before = pairs.dropped
    left.send(image(40))
    wait_for(pairs, left, 40)
    assert pairs.next(0.01) is None  # the right image is not new
    right.send(image(40))
    assert until(lambda: pairs.next(0.1)).right[0, 0, 0] == 40
    assert pairs.dropped == before


def test_images_of_two_moments_are_no_pair(cameras):
    (left, right), clock, make = cameras
    pairs = make(most_skew=0.1)
    left.send(image(10))
    wait_for(pairs, left, 10)
    clock.now += 0.3
    right.send(image(10))
    wait_for(pairs, right, 10)
    assert pairs.next(0.01) is None
    assert pairs.troubles() == {}
    clock.now += 1.2
    left.send(image(11))
    wait_for(pairs, left, 11)
    clock.now += 0.6  # neither is silent for two seconds, but no pair came for as long
    assert pairs.next(0.01) is None
    assert list(pairs.troubles().values()) == [
        "camera 1: its images come 1.20 s apart from those of camera 0; waiting for two within "
        "0.1 s"
    ]
    right.send(image(12))
    wait_for(pairs, right, 12)
    left.send(image(12))
    pair = until(lambda: pairs.next(0.1))
    assert pair.skew <= 0.1
    assert pairs.troubles() == {}


def test_a_lost_camera_is_named_and_waited_for(cameras, monkeypatch):
    monkeypatch.setattr(grabber, "RETRY_SECONDS", 0.01)
    (left, right), clock, make = cameras
    pairs = make()
    for camera in (left, right):
        camera.send(image(10))
    until(lambda: pairs.next(0.1))
    right.plugged.clear()
    until(pairs.troubles)
    assert list(pairs.troubles().values()) == ["camera 1: lost; waiting for it"]
    clock.now += 60
    right.plugged.set()
    for value in (20, 21):
        left.send(image(value))
        right.send(image(value))
    assert until(lambda: pairs.next(0.1)).left[0, 0, 0] >= 20
    assert pairs.troubles() == {}


def test_a_frozen_camera_is_told_of(cameras):
    (left, right), clock, make = cameras
    pairs = make()
    for camera in (left, right):
        camera.send(image(10))
    until(lambda: pairs.next(0.1))
    assert pairs.next(0.01) is None  # nothing is new
    until(lambda: all(kept._repeats for kept in pairs._grabbers))
    clock.now += 1.0
    assert pairs.troubles() == {}
    clock.now += 4.0
    assert pairs.troubles()["camera 1"] == (
        "camera 1: has shown the same picture for 5 s; waiting for a new one"
    )
    right.send(image(11))
    until(lambda: len(pairs.troubles()) == 1)
    left.send(image(11))
    assert until(lambda: pairs.next(0.1)).left[0, 0, 0] == 11


def test_cameras_hold_a_rate(cameras):
    (left, right), clock, make = cameras
    pairs = make(rate=2)
    for value in (10, 20):
        for camera in (left, right):
            camera.send(image(value))
            wait_for(pairs, camera, value)
        if value == 10:
            until(lambda: pairs.next(0.1))
    assert pairs.next(0.01) is None
    clock.now += 0.6
    assert pairs.next(0.1) is not None


def test_cameras_are_given_up(cameras):
    (left, right), _, make = cameras
    pairs = make()
    for camera in (left, right):
        camera.send(image(10))
        wait_for(pairs, camera, 10)
    pairs.close()
    assert left.closed
    assert right.closed


def test_a_file_and_a_camera_are_no_pair(tmp_path):
    left, _ = write_videos(tmp_path, 2)
    with pytest.raises(InputError, match=r"left\.avi: expected two files or two cameras"):
        pair_sources([*opened(left), FakeCamera("camera 0")])


@pytest.mark.parametrize("split", ["side-by-side", "top-bottom"])
def test_one_source_has_both_views(split):
    left, right = frames(1)[0]
    join = np.hstack if split == "side-by-side" else np.vstack
    found = split_views(join([left, right]), split)
    assert np.array_equal(found[0], left)
    assert np.array_equal(found[1], right)
    what = "width" if split == "side-by-side" else "height"
    with pytest.raises(
        InputError, match=f"camera 0: expected two views {split}, so an even {what}"
    ):
        split_views(left[1:, 1:], split, "camera 0")


def test_a_video_of_both_views_is_split(tmp_path):
    write_videos(tmp_path, 2)
    pairs = pair_sources(opened(tmp_path / "both.avi"), rate=1000)
    pair = pairs.next(1)
    assert pair.left.shape == pair.right.shape == (HEIGHT, WIDTH, 3)
    assert pair.names[0] == f"{tmp_path / 'both.avi'}, frame 0, left"
    pairs.close()
