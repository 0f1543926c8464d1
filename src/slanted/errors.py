"""What can go wrong, as types.

Every message is one sentence: the file or argument by name, what was expected, what came, and what
to do. The command line prints it and exits with code 2; the library never prints.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

LONGEST_MESSAGE = 1000


class SlantedError(Exception):
    """Base of every error that slanted raises on purpose.

    Messages may quote files of strangers: whatever these hold, a message stays one printable line
    of a sensible length.

    Examples
    --------
    >>> import slanted
    >>> try:
    ...     slanted.read_image("missing.png")
    ... except slanted.SlantedError as error:
    ...     print(error)
    missing.png: ...
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(str(message)))


def one_line(text: str) -> str:
    """Escape what a terminal would act upon, and leave out the middle of what is too long."""
    # Twice, because what is escaped is up to ten times as long.
    return _shortened(printable(_shortened(text)))


def first_line(error: Exception) -> str:
    """Return the first line of what a library's error says, for a sentence of our own.

    OpenCV has it in ``err``, without the place in its source; as that is an attribute of the class,
    it may also be that of an earlier error.
    """
    text, short = str(error), getattr(error, "err", None)
    text = short if short and short in text else text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return one_line(lines[0]) if lines else type(error).__name__


def printable(text: str) -> str:
    """Escape what a terminal would act upon: names of files may hold line ends and ESC."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_MESSAGE:
        return text
    return f"{text[: LONGEST_MESSAGE - 200]}…{text[-200:]}"


def plural(count: int, noun: str) -> str:
    """Return "1 frame", "2 frames"."""
    return f"{count} {noun}" + "s" * (count != 1)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return the known name that a misspelt one most likely stands for, None if there is none.

    Names less alike than the `cutoff`, from 0 to 1, are not near.
    """
    import difflib

    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=cutoff)), None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.5) -> str:
    """Return the end of a sentence about an unknown name: the `nearest` one, if any."""
    return meant(nearest(name, known, cutoff), otherwise)


def meant(near: str | None, otherwise: str = "") -> str:
    """Return the end of a sentence about an unknown name, if what it may stand for is known."""
    hint = f"did you mean {near}?" if near else otherwise
    return hint and f"; {hint}"


def warn(message: str) -> None:
    """Give a `SlantedWarning` that names the line outside of slanted from which it all started.

    So the caller sees a line of their own, and each of these lines is told once.
    """
    level, frame = 2, sys._getframe(1)
    while _is_inside(frame) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, SlantedWarning, stacklevel=level)


def _is_inside(frame: FrameType) -> bool:
    """Return whether a frame is slanted's, or one between two of slanted's."""
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] == "slanted" or module == "contextlib"


class InputError(SlantedError, ValueError):
    """An argument or array cannot be used.

    Examples
    --------
    >>> import slanted
    >>> slanted.Calibration(700.0, 700.0, 48.0, 32.0, baseline_meters=-0.5)
    Traceback (most recent call last):
    slanted.errors.InputError: baseline_meters: expected a finite number above 0, got -0.5
    """


class ArgumentError(InputError, TypeError):
    """A function has no argument of that name."""


class SettingsError(InputError):
    """A setting is unknown, of the wrong type or out of its range."""


class MissingExtraError(InputError, ImportError):
    """A package that slanted needs, or that only some things need, is not installed.

    Without any OpenCV, ``import slanted`` works and the first use of what needs it raises this.
    """


class RectificationError(InputError):
    """The pair is not rectified, or its images are swapped."""


class ImplausibleError(InputError):
    """The images cannot be two views of one scene."""


class FileError(SlantedError):
    """A file cannot be read, understood or written.

    Parameters
    ----------
    path
        The file; every message starts with it.
    problem
        The rest of the sentence.
    """

    def __init__(self, path: Path | str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = Path(path)
        self.problem = problem

    def __reduce__(self) -> tuple[type[FileError], tuple[Path, str]]:
        # Exceptions travel between processes; the default would pass on the message alone.
        return type(self), (self.path, self.problem)


class SlantedWarning(UserWarning):
    """The result may be poor, and the message says why.

    Examples
    --------
    >>> import warnings
    >>> import slanted
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", slanted.SlantedWarning)  # a doubtful pair ends the run
    """
