"""What a user may name as a source, and what is refused."""

import re

import cv2
import numpy as np
import pytest

import slanted
from live.made import frames, streaming, write_video, write_videos
from slanted.errors import FileError, InputError
from slanted.live.sources import open_source, without_password


def read_all(source):
    found = []
    while (image := source.read()) is not None:
        found.append(image)
    source.close()
    return found


def test_a_video_is_read_to_its_end(tmp_path):
    left, _ = write_videos(tmp_path, 5, rate=12)
    source = open_source(str(left))
    assert (source.is_live, source.rate, source.name) == (False, 12, str(left))
    images = read_all(source)
    assert len(images) == 5
    for image, (expected, _) in zip(images, frames(5), strict=True):
        # JPEG blurs colours, but red is not taken for blue.
        assert abs(image.astype(int) - expected).mean() < 12
        assert abs(image[..., ::-1].astype(int) - expected).mean() > 20
    assert source.problem == ""
    assert not source.is_live


def test_a_video_that_is_cut_off_says_so(tmp_path):
    left, _ = write_videos(tmp_path, 20)
    data = left.read_bytes()
    left.write_bytes(data[: len(data) // 2])
    source = open_source(str(left))
    count = len(read_all(source))
    assert 5 < count < 15
    assert re.search(
        rf"left\.avi: ended after {count} of \d+ frames; the file may be damaged", source.problem
    )


@pytest.mark.parametrize("pattern", ["%d", "%02d", "%03d", ""])
def test_an_image_sequence_is_read_in_the_order_of_its_numbers(tmp_path, pattern):
    width = int(pattern[1:-1] or 1) if pattern else 1
    for number in (9, 10, 100, 7):
        image = np.full((20, 30), number, np.uint8)
        slanted.write_image(tmp_path / f"left_{number:0{width}}.png", image)
    (tmp_path / "left_x.txt").write_text("no image")
    source = open_source(str(tmp_path / f"left_{pattern}.png") if pattern else str(tmp_path))
    assert not source.is_live
    assert [int(image[0, 0]) for image in read_all(source)] == [7, 9, 10, 100]
    assert source.names[-1] == "left_100"


def test_images_of_one_stem_have_no_names(tmp_path):
    for name in ("a.png", "a.bmp"):
        cv2.imwrite(str(tmp_path / name), np.zeros((20, 30), np.uint8))
    assert open_source(str(tmp_path)).names is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing.avi", "found nothing of that name"),
        ("99", "camera 99: expected images, but it cannot be opened; is it plugged in"),
        ("text.avi", "text.avi: expected a video that OpenCV can read"),
        ("empty", "expected a folder of images"),
        ("left_%03d.png", "expected images whose names have a number there, found none"),
        ("%d_%d.png", "expected one place for a number"),
        ("one.png", "is one image; give their folder"),
        ("ftp://127.0.0.1/x", "found nothing of that name"),
        ("x" * 5000, "found nothing of that name"),
    ],
)
def test_what_is_no_source_is_refused(tmp_path, monkeypatch, text, message, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.avi").write_text("no video")
    (tmp_path / "empty").mkdir()
    cv2.imwrite("one.png", np.zeros((20, 30), np.uint8))
    with pytest.raises((FileError, InputError), match=message):
        open_source(text)
    assert capfd.readouterr().err == ""  # OpenCV would say it in its own words


def test_passwords_are_not_shown():
    for secret in ("secret", "se@cret", "se/cret", "se?cr#et", "se\ncret"):
        assert without_password(f"rtsp://me:{secret}@host:554/x") == "rtsp://…@host:554/x"
    assert without_password("rtsp://host:554/x") == "rtsp://host:554/x"
    for secret in ("secret", "se=cret", "se?cret", "se/cret", "se#cret", "se\ncret"):
        shown = without_password(f"http://host/x?user=me&pwd={secret}&channel=1")
        assert shown == "http://host/x?user=…&pwd=…&channel=…"
        assert without_password(f"http://me:{secret}@host/x?{secret}").count("cret") == 0
    assert without_password("what?a=b.png") == "what?a=b.png"  # the name of a file
    with pytest.raises(FileError) as unknown:
        open_source("ftp://me:secret@127.0.0.1/x")
    assert "secret" not in str(unknown.value)
    with pytest.raises(InputError) as refused:
        open_source("http://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(refused.value)
    assert "does it answer" in str(refused.value)


def test_a_network_camera_is_lost_and_comes_back():
    with streaming([left for left, _ in frames(3)]) as camera:
        source = open_source(camera.address)
        assert source.is_live
        assert source.read().shape == (96, 160, 3)
        camera.plugged.clear()
        while source.read() is not None:
            pass
        assert not source.reopen() or source.read() is None
        camera.plugged.set()
        assert source.reopen()
        assert source.read().shape == (96, 160, 3)
        source.close()


def test_grey_images_stay_grey(tmp_path):
    slanted.write_image(tmp_path / "a.png", np.zeros((20, 30), np.uint8))
    assert open_source(str(tmp_path)).read().shape == (20, 30)


def test_videos_of_both_views(tmp_path):
    path = write_video(tmp_path / "both.avi", [np.hstack(pair) for pair in frames(2)])
    assert open_source(str(path)).read().shape == (96, 320, 3)
