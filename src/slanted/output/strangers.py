"""Checks of folders from strangers: they claim no more than they hold, and lead nowhere else."""

from __future__ import annotations

from pathlib import Path

from slanted.errors import FileError
from slanted.io.names import ARRAYS, LEFT, RIGHT

SMALL_RESULT, FILE_BYTES_A_PIXEL = 2**21, 4.5
"""Pixels that any result may have, and the bytes per pixel that its files have if it has more.

Larger ones are not compressed, so that their arrays alone have 13 bytes per pixel. When compressed,
the arrays of a blank wall took 2.
"""
FEW_SEGMENTS, FILE_BYTES_A_SEGMENT = 2**16, 128
"""The same for segments, whose histograms and planes alone take hundreds of bytes each."""


def check_claims(folder: Path, pixels: int, segments: int = 0) -> None:
    """Refuse a result whose files are too small for what they claim to hold.

    A stranger's folder of a few kilobytes must not take gigabytes.

    Raises
    ------
    FileError
        If a real result of that size and number of segments would have larger files.
    """
    names = (ARRAYS, LEFT, RIGHT)
    there = sum((folder / name).stat().st_size for name in names if (folder / name).is_file())
    most_pixels = max(SMALL_RESULT, there / FILE_BYTES_A_PIXEL)
    if pixels > most_pixels or segments > max(FEW_SEGMENTS, there / FILE_BYTES_A_SEGMENT):
        raise FileError(
            folder,
            f"expected a result of slanted, but {pixels} pixels and {segments} segments do"
            f" not fit into its files of {there} bytes; run it again",
        )


def only_inside(folder: Path, *names: str) -> None:
    """Refuse files of a result that are links to somewhere else.

    A folder from elsewhere must not lead to other files of this machine.
    """
    for name in names:
        try:
            inside = (folder / name).resolve().is_relative_to(folder.resolve())
        except (OSError, RuntimeError):  # a cycle of links
            inside = False
        if not inside:
            raise FileError(
                folder / name, "leads out of the folder of the result through a link; copy the file"
            )
