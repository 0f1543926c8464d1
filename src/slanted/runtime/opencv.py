"""OpenCV, from whichever of its four packages is installed.

They all install the same module, and each writes over the files of the others, so slanted depends
on none of them by itself. Modules that need OpenCV import it from here; whoever has none, or one
that does not work, is told what to type.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from slanted.errors import MissingExtraError
from slanted.runtime.versions import OPENCV, opencv_package

__all__ = ["cv2", "silenced"]

OLDEST = (4, 9)
"""The oldest version that the tests have seen; the extra `opencv` asks for no older one."""


def told(problem: ImportError) -> str:
    """Return the sentence for somebody whose OpenCV cannot be imported."""
    if isinstance(problem, ModuleNotFoundError) and problem.name == "cv2":
        return (
            "slanted needs OpenCV (the Python module cv2), which is not installed; run "
            f"pip install 'slanted[opencv]', or install any one of {', '.join(OPENCV)}"
        )
    return (
        f"slanted needs OpenCV, and the installed one cannot be loaded ({problem}); if a library "
        "of the screen is missing, as on a server or in a container, run pip uninstall "
        "opencv-python opencv-contrib-python and then pip install opencv-python-headless"
    )


def check_version(version: str) -> None:
    """Refuse an OpenCV that is older than those that are tested."""
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST:
        expected = ".".join(map(str, OLDEST))
        raise MissingExtraError(
            f"slanted needs OpenCV {expected} or later, but version {version} is installed; "
            f"run pip install --upgrade {opencv_package()}"
        )


try:
    import cv2
except ImportError as problem:
    raise MissingExtraError(told(problem)) from problem
check_version(cv2.__version__)

FFMPEG_LEVEL = "OPENCV_FFMPEG_LOGLEVEL"
"""FFmpeg prints by itself, and asks this variable whether it may, once in a process."""


class _Silence:
    """How many threads want OpenCV, whose level is that of the process, to be silent."""

    lock = threading.Lock()
    wanted = 0
    before = 0
    unset_ffmpeg = False


@contextmanager
def silenced() -> Iterator[None]:
    """Keep OpenCV from printing within a block; what is wrong is told by sentences of our own.

    Blocks of several threads may overlap: the last one to end restores what was before the first.
    An FFmpeg that is first used within a block stays silent.

    Examples
    --------
    >>> before = cv2.utils.logging.getLogLevel()
    >>> with silenced():
    ...     cv2.utils.logging.getLogLevel() == cv2.utils.logging.LOG_LEVEL_SILENT
    True
    >>> cv2.utils.logging.getLogLevel() == before
    True
    """
    levels = cv2.utils.logging
    with _Silence.lock:
        if _Silence.wanted == 0:
            _Silence.before = levels.setLogLevel(levels.LOG_LEVEL_SILENT)
            _Silence.unset_ffmpeg = FFMPEG_LEVEL not in os.environ
            os.environ.setdefault(FFMPEG_LEVEL, "-8")
        _Silence.wanted += 1
    try:
        yield
    finally:
        with _Silence.lock:
            _Silence.wanted -= 1
            if _Silence.wanted == 0:
                levels.setLogLevel(_Silence.before)
                if _Silence.unset_ffmpeg:
                    os.environ.pop(FFMPEG_LEVEL, None)
