"""Descriptions of videos, for `slanted info`."""

from __future__ import annotations

import math
from pathlib import Path

from slanted.errors import FileError
from slanted.io.files import open_input
from slanted.runtime.opencv import cv2, silenced

SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".wmv")
"""How names of videos end."""


def describe_video(path: Path) -> dict[str, object]:
    """Describe a video by what its header says; no frame but the first is decoded.

    Raises
    ------
    FileError
        If OpenCV cannot read its first frame.
    """
    with open_input(path):  # says why, if it cannot be read
        pass
    with silenced():
        capture = cv2.VideoCapture(str(path.resolve()))
        there, image = capture.read()
        rate = float(capture.get(cv2.CAP_PROP_FPS))
        frames = float(capture.get(cv2.CAP_PROP_FRAME_COUNT))
        code = int(capture.get(cv2.CAP_PROP_FOURCC))
        capture.release()
    if not there or image is None:
        raise FileError(path, "expected a video, as its name says, but OpenCV cannot read it")
    letters = "".join(chr(code >> shift & 255) for shift in (0, 8, 16, 24))
    is_timed = math.isfinite(rate) and rate > 0
    known = is_timed and math.isfinite(frames) and frames > 0
    return {
        "format": path.suffix[1:].upper(),
        "meaning": "video; `slanted live` estimates it, with both views side by side or with a "
        "second video",
        "codec": letters if letters.isprintable() and letters.strip() else None,
        "width_pixels": image.shape[1],
        "height_pixels": image.shape[0],
        "frames": round(frames) if known else None,
        "frames_a_second": rate if is_timed else None,
        "seconds": frames / rate if known else None,
    }
