"""What a user may name as a source, and what is refused."""

import http.server
import threading
import time

import cv2
import numpy as np
import pytest

import slanted
from live.made import frames, write_video, write_videos
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
    try:
        source = open_source(str(left))
    except FileError:
        return  # this OpenCV refuses it at once
    count = len(read_all(source))
    if count < 15 and source.problem:
        assert f"ended after {count} of 20 frames; the file may be damaged" in source.problem


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
    assert without_password("rtsp://me:secret@host:554/x?y=@") == "rtsp://…@host:554/x?y=@"
    assert without_password("rtsp://host/a@b") == "rtsp://host/a@b"
    with pytest.raises(InputError) as refused:
        open_source("http://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(refused.value)
    assert "does it answer" in str(refused.value)


class Streaming(http.server.BaseHTTPRequestHandler):
    """Sends JPEGs, one after another, as network cameras do, until the server is told to die."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        number = 0
        while not self.server.dying:
            image = np.full((64, 96, 3), 20 + number % 200, np.uint8)
            jpeg = cv2.imencode(".jpg", image)[1].tobytes()
            head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            try:
                self.wfile.write(head.encode() + jpeg + b"\r\n")
            except OSError:
                return
            number += 1
            time.sleep(0.02)

    def log_message(self, *_):
        pass


def test_a_network_camera_is_lost_and_comes_back():
    if "FFMPEG" not in cv2.getBuildInformation():
        pytest.skip("this OpenCV has no FFmpeg, which network addresses need")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Streaming)
    server.dying = False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        source = open_source(f"http://127.0.0.1:{server.server_address[1]}/stream.mjpg")
        assert source.is_live
        assert source.read().shape == (64, 96, 3)
        server.dying = True
        while source.read() is not None:
            pass
        server.dying = False
        assert source.reopen()
        assert source.read().shape == (64, 96, 3)
        source.close()
    finally:
        server.dying = True
        server.shutdown()
        server.server_close()


def test_grey_images_stay_grey(tmp_path):
    slanted.write_image(tmp_path / "a.png", np.zeros((20, 30), np.uint8))
    assert open_source(str(tmp_path)).read().shape == (20, 30)


def test_videos_of_both_views(tmp_path):
    path = write_video(tmp_path / "both.avi", [np.hstack(pair) for pair in frames(2)])
    assert open_source(str(path)).read().shape == (96, 320, 3)
