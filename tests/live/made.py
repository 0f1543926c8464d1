"""Videos and sources that tests make."""

import http.server
import threading
import time
from contextlib import contextmanager

import cv2
import numpy as np
import pytest

from slanted.synthetic import make_video

WIDTH, HEIGHT = 160, 96


def frames(count, seed=3, width=WIDTH, height=HEIGHT):
    """Pairs of a drive past planes, as arrays."""
    video = make_video(width, height, frames=count, step=0.05, max_disparity=20, seed=seed)
    return [(frame.left, frame.right) for frame in video]


def write_video(path, images, rate=20):
    height, width = images[0].shape[:2]
    kind = cv2.VideoWriter_fourcc(*"MJPG")
    writer = cv2.VideoWriter(str(path), kind, rate, (width, height))
    assert writer.isOpened()
    for image in images:
        writer.write(np.ascontiguousarray(image[..., ::-1]))
    writer.release()
    return path


def write_videos(folder, count=4, rate=20):
    pairs = frames(count)
    for k, name in enumerate(("left.avi", "right.avi")):
        write_video(folder / name, [pair[k] for pair in pairs], rate)
    both = [np.hstack(pair) for pair in pairs]
    write_video(folder / "both.avi", both, rate)
    return folder / "left.avi", folder / "right.avi"


class FakeCamera:
    """A camera that sends what a test gives it, and can be unplugged.

    With `pause`, it sends its images over and over, each with a pixel of its own, so many seconds
    apart; otherwise it sends what `send` gets, over and over until there is more.
    """

    is_live = True
    rate = None
    names = None

    def __init__(self, name="camera 0", images=(), pause=None):
        self.name, self.problem = name, ""
        self.images, self.pause = list(images), pause
        self.plugged, self.closed = threading.Event(), False
        self.plugged.set()
        self.sent = self.taken = 0  # `taken` are those whose successor was asked for
        self._waiting = []
        self._ready = threading.Condition()

    def send(self, image):
        with self._ready:
            self._waiting.append(image)
            self._ready.notify()

    def read(self):
        self.taken = self.sent
        if self.pause is not None:
            time.sleep(self.pause)
            if not self.plugged.is_set():
                return None
            image = self.images[self.sent % len(self.images)].copy()
            image[0, 0] = self.sent // 65536, self.sent // 256 % 256, self.sent % 256
            self.sent += 1
            return image
        while self.plugged.is_set():
            with self._ready:
                if self._ready.wait_for(lambda: self._waiting, 0.02):
                    self.sent += 1
                    self.images = [self._waiting.pop(0)]
            if self.images:
                return self.images[0]  # again and again, until there is another one
        return None

    def reopen(self):
        return self.plugged.is_set()

    def close(self):
        self.closed = True


class _Streaming(http.server.BaseHTTPRequestHandler):
    """Sends JPEGs, one after another, as network cameras do, while the server is plugged in."""

    def do_GET(self):
        if not self.server.plugged.is_set():
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("content-type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        number = 0
        while self.server.plugged.is_set():
            image = self.server.images[number % len(self.server.images)].copy()
            image[:8, :8] = number % 256  # no two pictures are the same
            jpeg = cv2.imencode(".jpg", image[..., ::-1])[1].tobytes()
            head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            try:
                self.wfile.write(head.encode() + jpeg + b"\r\n")
            except OSError:
                return
            number += 1
            self.server.sent += 1
            time.sleep(0.05)

    def log_message(self, *_):
        pass


@contextmanager
def streaming(images):
    """Give a network camera with an `address`, which is lost while it is not `plugged`."""
    if "FFMPEG" not in cv2.getBuildInformation():
        pytest.skip("this OpenCV has no FFmpeg, which network addresses need")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Streaming)
    server.images, server.sent, server.plugged = images, 0, threading.Event()
    server.plugged.set()
    server.address = f"http://127.0.0.1:{server.server_address[1]}/stream.mjpg"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.plugged.clear()
        server.shutdown()
        server.server_close()
