"""The ground truth of the pairs of a batch, from their folders or from one that is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.names import TRUTH
from slanted.result_folder import read_truth

SUFFIXES = (".pfm", ".npy", ".png", ".tif", ".tiff", ".pgm")
IN_SCENE = (TRUTH, "disp0GT.pfm", "disp0.pfm", "disp1.png", "disp2.png", "disp2.pgm")
"""Names of the ground truth in a folder for each scene, as Middlebury has."""


class TruthFolder:
    """Finds the ground truth of pairs by their names.

    Of the pair day/0001 it is ``day/0001.png`` or the like, or the same without day/ if no other
    pair is called 0001, or a usual name in a folder of that name.

    Parameters
    ----------
    folder
        Where it lies.
    names
        The names of all pairs.
    scale
        For 8-bit maps: pixels = value / scale.
    """

    def __init__(self, folder: Path, names: Iterable[str], scale: float | None = None) -> None:
        if not folder.is_dir():
            found = "a file" if folder.exists() else "nothing"
            raise FileError(
                folder,
                f"expected a folder with the ground truth of each pair, NAME.png or the like, "
                f"found {found}",
            )
        self.folder, self._scale = folder, scale
        self._count = Counter(tail for name in names for tail in _tails(name))

    def find(self, name: str) -> Path | None:
        """Return the ground truth of a pair; None if there is none.

        Raises
        ------
        FileError
            If several files might be meant.
        """
        for tail in _tails(name):
            if self._count[tail] > 1:
                return None
            places = [*(f"{tail}{suffix}" for suffix in SUFFIXES)]
            places += [f"{tail}/{file}" for file in IN_SCENE]
            found = [self.folder / place for place in places if (self.folder / place).is_file()]
            if len(found) > 1:
                several = ", ".join(file.relative_to(self.folder).as_posix() for file in found)
                raise FileError(
                    self.folder,
                    f"expected one ground truth of {name}, got {several}; keep one of them there",
                )
            if found:
                return found[0]
        return None

    def read(self, name: str, size: tuple[int, ...]) -> NDArray[np.float32] | None:
        """Return the ground truth of a pair of some (height, width), or None if there is none."""
        file = self.find(name)
        return None if file is None else read_truth(file, size, self._scale)


def _tails(name: str) -> Iterator[str]:
    """Yield a name, and the same without its first folders."""
    parts = PurePosixPath(name).parts
    for first in range(len(parts)):
        yield "/".join(parts[first:])
