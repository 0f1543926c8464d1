"""The calibration of each pair of a batch, read and checked before the first one is run."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from slanted.batch.memory import header_size
from slanted.errors import FileError, SlantedError, SlantedWarning
from slanted.io.calibration_files import check_calibration, read_calibration

if TYPE_CHECKING:
    from slanted.batch.pairs import Pair
    from slanted.io import Calibration

COLOUR_FOLDERS = ("image_2", "image_02", "colored_0")
"""KITTI's left colour cameras. Its files hold the grey ones as well, but the colour ones are
read."""
Source = Callable[[tuple[int, int]], "Calibration"]
"""From the height and width of an image to its calibration."""


def with_calibrations(pairs: Iterable[Pair], source: Source | None = None) -> list[Pair]:
    """Return the pairs with their calibrations, of those that have one.

    Parameters
    ----------
    pairs
        From `slanted.batch.pairs.find_pairs`.
    source
        Gives the calibration of all pairs. By default each pair has the file that its manifest
        names, or that lies where KITTI and Middlebury 2014 have theirs.

    Raises
    ------
    FileError
        If a calibration that the source gives or the manifest names cannot be read, or is that of
        images of another size. One that merely lies beside the images is left out with a warning.
    """
    read = cache(read_calibration)  # all frames of a drive may share one file
    every, unusable = [], defaultdict[str, list[str]](list)
    for pair in pairs:
        try:
            found = _calibration_of(pair, source or _own_source(pair, read))
        except FileError as error:
            if source is not None or pair.calibration_file is not None:
                raise
            unusable[str(error)].append(pair.name)
            found = None
        every.append(replace(pair, calibration=found))
    for problem, names in unusable.items():
        which = f"{names[0]} is" if len(names) == 1 else f"{len(names)} pairs are"
        warnings.warn(f"{problem}; {which} run without a calibration", SlantedWarning, stacklevel=2)
    return every


def _calibration_of(pair: Pair, source: Source | None) -> Calibration | None:
    if source is None:
        return None
    try:
        size = header_size(pair.left)
    except SlantedError:  # the pair fails when its turn comes
        return None
    return source(size)


def _own_source(pair: Pair, read: Callable[[Path], Calibration]) -> Source | None:
    """Return what gives a pair's own calibration; None if it has none."""
    if pair.calibration_file is None:
        beside = calibration_beside(pair.left)
        return (
            None if beside is None else lambda size: check_calibration(beside, read(beside), size)
        )
    named = pair.calibration_file

    def source(size: tuple[int, int]) -> Calibration:
        try:
            return check_calibration(named, read(named), size)
        except FileError as error:
            raise FileError(error.path, f"{error.problem}; or go on with --no-calib") from error

    return source


def calibration_beside(left: Path) -> Path | None:
    """Return the calibration file of a left image in KITTI's or Middlebury 2014's layout, if any.

    Examples
    --------
    >>> from pathlib import Path
    >>> scene = Path("scene")
    >>> scene.mkdir()
    >>> calibration_beside(scene / "im0.png") is None
    True
    >>> (scene / "calib.txt").touch()
    >>> calibration_beside(scene / "im0.png").name
    'calib.txt'
    """
    return next((file for file in _places(left) if file.is_file()), None)


def _places(left: Path) -> Iterator[Path]:
    """Yield where the calibration may be."""
    if left.stem == "im0":
        yield left.parent / "calib.txt"
    camera = left.parent.parent if left.parent.name == "data" else left.parent
    if camera.name in COLOUR_FOLDERS:
        frame = left.stem.partition("_")[0]  # 000007 of 000007_10
        yield camera.parent / "calib_cam_to_cam" / f"{frame}.txt"
        yield camera.parent / "calib" / f"{frame}.txt"
        yield camera.parent / "calib.txt"
