"""Where images come from: cameras, videos, image sequences and network addresses.

Everything but image sequences goes through OpenCV's capture. The network is used only by sources
that are addresses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from slanted.batch.pairs import SUFFIXES, natural
from slanted.errors import FileError, InputError
from slanted.io import read_image
from slanted.runtime.opencv import cv2, silenced

if TYPE_CHECKING:
    from slanted.images import Image

SCHEMES = ("rtsp", "rtsps", "rtp", "rtmp", "udp", "tcp", "http", "https")
"""Kinds of network addresses."""
WAIT_MILLISECONDS = 5000
"""Time after which a network address that does not answer is lost."""
EXPECTED = (
    "expected the number of a camera, a video, a folder of images, a pattern such as "
    "left_%04d.png, or an address such as rtsp://…"
)
FASTEST = 1000.0
"""A video that says to have more frames a second than this does not know its rate."""
WHOLE = 0.98
"""Share of its announced frames that a video must have; the announcement is an estimate."""

_PATTERN = re.compile(r"%(0?)(\d{0,2})d")


class Source(Protocol):
    """A camera, a video or the like."""

    name: str
    """What messages call it: "camera 1", or its file."""
    is_live: bool
    """Whether its images are of now, so that old ones are worth nothing and it may come back."""
    rate: float | None
    """Frames a second of a file, if it knows."""
    names: Sequence[str] | None
    """The names of its images, if they have any."""
    problem: str
    """Why there are no more images, if that is not just the end."""

    def read(self) -> Image | None:
        """Return the next image, grey or RGB; None if there is none, or none any more."""
        ...

    def reopen(self) -> bool:
        """Try to bring a live source back; return whether it is there."""
        ...

    def close(self) -> None:
        """Give it up."""
        ...


def open_source(text: str, size: tuple[int, int] | None = None) -> Source:
    """Open what a user named on the command line.

    Parameters
    ----------
    text
        The number of a camera, or its device; a network address; a video; a folder of images, or
        their names with a number as in ``left_%04d.png``.
    size
        Width and height that a camera is asked for.

    Raises
    ------
    InputError, FileError
        If there is no such thing, or it gives no images.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> for number in range(2):
    ...     slanted.write_image(f"left_{number:03}.png", np.zeros((64, 96), np.uint8))
    >>> source = open_source("left_%03d.png")
    >>> source.names
    ['left_000', 'left_001']
    """
    scheme, found, _ = text.partition("://")
    if text.isascii() and text.isdigit() and len(text) < 6:
        return CaptureSource(int(text), f"camera {text}", is_live=True, size=size)
    if found and scheme.lower() in SCHEMES:
        return CaptureSource(text, without_password(text), is_live=True)
    path = Path(text)
    try:
        if path.is_char_device():
            return CaptureSource(text, f"camera {text}", is_live=True, size=size)
        if path.is_dir():
            return SequenceSource(text, _images_in(path))
        if path.is_file():
            return _open_file(path)
    except OSError:  # a name that is too long
        pass
    if _PATTERN.search(path.name):
        return SequenceSource(text, _images_like(path))
    raise FileError(without_password(text), f"{EXPECTED}; found nothing of that name")


def without_password(address: str) -> str:
    """Return an address as it may be shown: without the name and the password in it.

    A password may itself have the signs that end it, so all up to the last @ is left out. Cameras
    take passwords in the query as well, under many names, so none of its values is shown.

    Examples
    --------
    >>> without_password("rtsp://me:p@ss/word@10.0.0.5/left")
    'rtsp://…@10.0.0.5/left'
    >>> without_password("http://10.0.0.5/video?user=me&pwd=secret")
    'http://10.0.0.5/video?user=…&pwd=…'
    """
    shown = re.sub(r"://.*@", "://…@", address, flags=re.DOTALL)
    before, mark, query = shown.partition("?")
    if "://" not in before or not mark:
        return shown
    # Without a name before it, all of a part may be the secret.
    parts = (f"{part.partition('=')[0]}=…" if "=" in part else "…" for part in query.split("&"))
    return before + mark + "&".join(parts)


def _open_file(path: Path) -> Source:
    if path.suffix.lower() in SUFFIXES:
        raise FileError(
            path, "is one image; give their folder, or a pattern such as left_%04d.png, or use "
            "slanted run for one pair"
        )  # fmt: skip
    return CaptureSource(str(path), str(path), is_live=False)


def _images_in(folder: Path) -> list[Path]:
    files = [file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES]
    if not files:
        raise FileError(folder, f"expected a folder of images ({', '.join(SUFFIXES)}), found none")
    return sorted(files, key=lambda file: natural(file.name))


def _images_like(pattern: Path) -> list[Path]:
    """Return the files of a pattern such as ``left_%04d.png``, in the order of their numbers."""
    head, zeros, width, tail = _split_pattern(pattern)
    digits = f"[0-9]{{{width or 1},}}" if zeros or not width else "[0-9]+"
    form = re.compile(re.escape(head) + f"({digits})" + re.escape(tail))
    folder = pattern.parent
    matches = [] if not folder.is_dir() else [(form.fullmatch(f.name), f) for f in folder.iterdir()]
    found = sorted((int(match.group(1)), file) for match, file in matches if match)
    if not found:
        raise FileError(pattern, "expected images whose names have a number there, found none")
    return [file for _, file in found]


def _split_pattern(pattern: Path) -> tuple[str, str, int, str]:
    places = list(_PATTERN.finditer(pattern.name))
    if len(places) != 1:
        raise FileError(pattern, "expected one place for a number, as in left_%04d.png, got more")
    place = places[0]
    zeros, width = place.groups()
    return pattern.name[: place.start()], zeros, int(width or 0), pattern.name[place.end() :]


class SequenceSource:
    """Images of a folder, in order."""

    is_live = False
    rate: float | None = None

    def __init__(self, name: str, files: Sequence[Path]) -> None:
        self.name, self.problem = name, ""
        self._files = files
        self._next = 0
        stems = [file.stem for file in files]
        self.names: Sequence[str] | None = stems if len(set(stems)) == len(stems) else None

    def read(self) -> Image | None:
        """Return the next image; a FileError if it is none."""
        if self._next == len(self._files):
            return None
        self._next += 1
        image = read_image(self._files[self._next - 1])
        return cast("Image", image)

    def select(self, places: Sequence[int]) -> SequenceSource:
        """Return the sequence of the images at these places."""
        return SequenceSource(self.name, [self._files[place] for place in places])

    def reopen(self) -> bool:
        """Files do not come back."""
        return False

    def close(self) -> None:
        """Nothing is open."""


class CaptureSource:
    """What OpenCV's capture opens: a camera, a video, a network address."""

    names: Sequence[str] | None = None

    def __init__(
        self, target: int | str, name: str, *, is_live: bool, size: tuple[int, int] | None = None
    ) -> None:
        self.name, self.is_live, self.problem = name, is_live, ""
        self._target, self._size = target, size
        self._taken = 0
        self._capture = self._open()
        if not self._capture.isOpened():
            raise self._missing()
        fps = float(self._capture.get(cv2.CAP_PROP_FPS))
        self.rate = fps if not is_live and 0 < fps <= FASTEST else None
        self._announced = 0.0 if is_live else float(self._capture.get(cv2.CAP_PROP_FRAME_COUNT))

    def read(self) -> Image | None:
        """Return the next image; None at the end of a video, or if a camera is lost."""
        with silenced():
            there, image = self._capture.read()
        if not there or image is None:
            if self._taken < WHOLE * self._announced:
                self.problem = (
                    f"{self.name}: ended after {self._taken} of {self._announced:.0f} frames; "
                    "the file may be damaged"
                )
            return None
        self._taken += 1
        rgb: Image = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        return rgb

    def reopen(self) -> bool:
        """Try to open it again; return whether it is there."""
        self.close()
        self._capture = self._open()
        return bool(self._capture.isOpened())

    def close(self) -> None:
        """Release the device, file or connection."""
        with silenced():
            self._capture.release()

    def _open(self) -> Any:
        with silenced():
            return self._open_capture()

    def _open_capture(self) -> Any:
        if isinstance(self._target, str) and self.is_live and "://" in self._target:
            patience = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, WAIT_MILLISECONDS]
            patience += [cv2.CAP_PROP_READ_TIMEOUT_MSEC, WAIT_MILLISECONDS]
            return cv2.VideoCapture(self._target, cv2.CAP_FFMPEG, patience)
        capture = cv2.VideoCapture(self._target)
        if self.is_live:
            capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # old images are worth nothing
            if self._size is not None:
                capture.set(cv2.CAP_PROP_FRAME_WIDTH, self._size[0])
                capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self._size[1])
        return capture

    def _missing(self) -> InputError | FileError:
        if not self.is_live:
            return FileError(self.name, "expected a video that OpenCV can read, got something else")
        cure = "is it plugged in, and does no other program use it?"
        if "://" in self.name:
            cure = "does it answer, and is it a video?"
        return InputError(f"{self.name}: expected images, but it cannot be opened; {cure}")
