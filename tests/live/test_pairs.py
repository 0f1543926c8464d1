"""Pairs: by number in files, the newest of cameras, and what is told of cameras that fail."""

from itertools import pairwise

import cv2
import numpy as np
import pytest

import slanted
from live.made import HEIGHT, WIDTH, FakeCamera, frames, write_video, write_videos
from slanted.errors import InputError
from slanted.live import grabber
from slanted.live.pairs import pair_sources
from slanted.live.sources import open_source
from slanted.live.views import FailedPair, split_views
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


def play(pairs):
    """All pairs of files."""
    found = []
    while not pairs.ended:
        pair = pairs.next(1)
        if pair is not None:
            found.append(pair)
    return found


def test_files_are_played_in_order_and_whole(tmp_path):
    pairs = pair_sources(opened(*write_videos(tmp_path, 5)), rate=1000)
    found = play(pairs)
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
    first, failed, last = play(pairs)
    assert isinstance(failed, FailedPair)
    assert "1.png" in str(failed.error)
    assert failed.title == "1"
    assert failed.names == tuple(f"{tmp_path / side}, image 1" for side in ("left", "right"))
    for pair, title in ((first, "0"), (last, "2")):
        assert pair.left[0, 0] == pair.right[0, 0]
        assert pair.title == title


def write_sequences(folder, left, right):
    """Two sequences of images of these names, each the shade of the number at its name's end."""
    for side, names in (("L", left), ("R", right)):
        (folder / side).mkdir()
        for name in names:
            shade = int("".join(c for c in name if c.isdigit())[-2:])
            slanted.write_image(folder / side / f"{name}.png", np.full((20, 30), shade, np.uint8))
    return pair_sources(opened(folder / "L", folder / "R"), rate=1000)


@pytest.mark.parametrize(
    ("left", "right"), [("{}", "{}"), ("left_{}", "right_{}"), ("cam0_{}", "cam1_{}")]
)
def test_images_are_paired_by_name_or_number(tmp_path, left, right):
    """However many are missing on either side, and the sentence names them."""
    numbers = [f"{k:06}" for k in range(5)]
    lefts = [left.format(k) for k in numbers[:4]]
    rights = [right.format(k) for k in (numbers[0], numbers[2], numbers[3], numbers[4])]
    pairs = write_sequences(tmp_path, lefts, rights)
    sides = tmp_path / "L", tmp_path / "R"
    assert pairs.troubles() == {
        str(sides[1]): f"{sides[1]}: left out what has no image of that name or number on the "
        f"other side: {left.format('000001')} of {sides[0]}; {right.format('000004')} of {sides[1]}"
    }
    found = play(pairs)
    assert [pair.title for pair in found] == [left.format(numbers[k]) for k in (0, 2, 3)]
    for pair, k in zip(found, (0, 2, 3), strict=True):
        assert (pair.left[0, 0], pair.right[0, 0]) == (k, k)
        assert pair.names[1] == f"{sides[1]}, image {right.format(numbers[k])}"


def test_all_images_with_partners_are_no_trouble(tmp_path):
    pairs = write_sequences(tmp_path, ["1", "2"], ["1", "2"])
    assert len(play(pairs)) == 2
    assert pairs.troubles() == {}


def test_images_of_other_names_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"R: expected images with the names or numbers of those"):
        write_sequences(tmp_path, ["a1", "a2"], ["b3", "b4"])


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


def keep(pairs, side, number):
    """Let an image come whose shade is its number."""
    pairs._grabbers[side]._keep(image(number))


@pytest.mark.parametrize("most_skew", [None, 0.1])
def test_synchronised_cameras_are_never_paired_one_frame_apart(cameras, most_skew):
    """30 images a second, the right ones 4 ms later, and estimates that end at any time."""
    _, clock, make = cameras
    pairs = make(most_skew=most_skew)
    random = np.random.default_rng(1)
    begin, period = clock.now, 1 / 30
    coming = sorted(
        (begin + k * period + 0.004 * side, side, k) for k in range(250) for side in (0, 1)
    )
    free, found = begin, []
    for (stamp, side, number), (following, _, _) in pairwise(coming):
        clock.now = stamp
        keep(pairs, side, number)
        if free < following:
            clock.now = max(stamp, free)
            pair = pairs.next(0)
            if pair is not None:
                found.append((int(pair.left[0, 0, 0]), int(pair.right[0, 0, 0])))
                assert clock.now - pair.stamp <= period + 0.005  # nor one that is old
                free = clock.now + random.uniform(0.06, 0.12)
    assert len(found) > 50
    assert [pair for pair in found if pair[0] != pair[1]] == []


@pytest.mark.parametrize(("rates", "most"), [((30, 10), 1 / 60), ((10, 10), 0.05), ((2, 2), 0.1)])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_the_largest_skew_is_half_the_period_of_the_faster_camera(cameras, rates, most, share):
    """But never more than 0.1 s; the last right image is late by a share of it."""
    _, clock, make = cameras
    pairs = make()
    begin, late, last = clock.now, share * most, 2 * rates[1]
    for stamp, side, number in sorted(
        (k / rate + (late if side and k == last else 0), side, k)
        for side, rate in enumerate(rates)
        for k in range(1, 2 * rate + 1)
    ):
        clock.now = begin + stamp
        keep(pairs, side, number)
    pair = pairs.next(0)
    is_last = pair is not None and pair.right[0, 0, 0] == last
    assert is_last == (share < 1)
    if is_last:
        assert pair.skew == pytest.approx(late)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (cv2.error("(-215:Assertion failed) !empty()\nin function 'cvtColor'"), "-215:Assertion"),
        (MemoryError(), "MemoryError"),
        (RuntimeError("cannot open rtsp://me:secret@host/x"), "cannot open rtsp://…@host/x"),
    ],
)
def test_a_camera_that_raises_is_told_of_and_waited_for(cameras, monkeypatch, error, why):
    monkeypatch.setattr(grabber, "RETRY_SECONDS", 0.01)
    (left, right), _, make = cameras
    whole = right.read

    def fail():
        raise error

    right.read = right.reopen = fail
    pairs = make()
    until(pairs.troubles)
    (said,) = pairs.troubles().values()
    assert said.startswith("camera 1: lost (")
    assert said.endswith("); waiting for it")
    assert why in said
    assert "\n" not in said
    right.read, right.reopen = whole, lambda: True
    for camera in (left, right):
        camera.send(image(10))
    assert until(lambda: pairs.next(0.1)) is not None
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
