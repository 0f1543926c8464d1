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
from typing import Any

from slanted.errors import MissingExtraError
from slanted.runtime.extras import how_to_install
from slanted.runtime.forks import free_in_forks
from slanted.runtime.versions import OPENCV, opencv_package

__all__ = ["cv2", "silenced"]

OLDEST = (4, 9)
"""The oldest version that the tests have seen; the extra `opencv` asks for no older one."""


def told(problem: ImportError) -> str:
    """Return the sentence for somebody whose OpenCV cannot be imported."""
    if isinstance(problem, ModuleNotFoundError) and problem.name == "cv2":
        return (
            "slanted needs OpenCV (the Python module cv2), which is not installed; "
            f"{how_to_install('opencv')}, or install any one of {', '.join(OPENCV)}"
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
SILENT, FFMPEG_SILENT = 0, "-8"
_LOCK = free_in_forks(threading.Lock())
_levels: list[int] = []
"""The level of the log to return to, once for each block that is silenced now."""
_asked: list[str] = []
"""The variable, if the first of these blocks has set it, and not the user."""


@contextmanager
def silenced() -> Iterator[None]:
    """Keep OpenCV from printing in a block; what is wrong is told as an exception.

    The level of its log belongs to the whole process. Blocks of several threads may overlap: the
    first one silences it, and the last one that ends restores it. An FFmpeg that is first used in a
    block stays silent.

    Examples
    --------
    >>> with silenced():
    ...     cv2.imread("missing.png") is None
    True
    """
    with _LOCK:
        _levels.append(_levels[0] if _levels else _log().getLogLevel())
        _log().setLogLevel(SILENT)
        if FFMPEG_LEVEL not in os.environ:
            os.environ[FFMPEG_LEVEL] = FFMPEG_SILENT
            _asked.append(FFMPEG_LEVEL)
    try:
        yield
    finally:
        with _LOCK:
            _restore(_levels[:-1])


def _log() -> Any:
    return getattr(cv2.utils, "logging", cv2)  # its place in OpenCV 4, and in OpenCV 5


def _restore(still: list[int]) -> None:
    """Go back to the level before, if no block is silenced any more."""
    if _levels and not still:
        _log().setLogLevel(_levels[0])
        while _asked:
            os.environ.pop(_asked.pop(), None)
    _levels[:] = still


if hasattr(os, "register_at_fork"):
    # The blocks of other threads never end in a forked process.
    os.register_at_fork(after_in_child=lambda: _restore([]))
