"""Parameters of OpenCV's SGBM that slanted has no use for, kept so that programs need no change."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.errors import warn


@dataclass
class SgbmParameters:
    """Values of ``cv2.StereoSGBM`` that are kept, returned, and have no effect."""

    blockSize: int = 3  # noqa: N815  OpenCV's names
    P1: int = 0
    P2: int = 0
    disp12MaxDiff: int = 0  # noqa: N815
    preFilterCap: int = 0  # noqa: N815
    uniquenessRatio: int = 0  # noqa: N815
    speckleWindowSize: int = 0  # noqa: N815
    speckleRange: int = 0  # noqa: N815

    def warn_of_changes(self) -> None:
        """Warn of values that are not OpenCV's defaults."""
        given = [name for name, value in vars(self).items() if value != getattr(type(self), name)]
        if given:
            _tell(", ".join(given))

    def set(self, name: str, value: int) -> None:
        """Keep a value, with a warning that it has no effect."""
        setattr(self, name, value)
        _tell(name)


def _tell(names: str) -> None:
    warn(
        f"{names}: without effect in StereoSlanted, since only SGBM has such parameters; leave out "
        "what is named",
    )


class HasSgbmParameters:
    """The setters and getters of `SgbmParameters`."""

    _sgbm: SgbmParameters

    def setBlockSize(self, blockSize: int) -> None:
        """Have no effect."""
        self._sgbm.set("blockSize", blockSize)

    def getBlockSize(self) -> int:
        """Return what was set."""
        return self._sgbm.blockSize

    def setP1(self, P1: int) -> None:
        """Have no effect."""
        self._sgbm.set("P1", P1)

    def getP1(self) -> int:
        """Return what was set."""
        return self._sgbm.P1

    def setP2(self, P2: int) -> None:
        """Have no effect."""
        self._sgbm.set("P2", P2)

    def getP2(self) -> int:
        """Return what was set."""
        return self._sgbm.P2

    def setDisp12MaxDiff(self, disp12MaxDiff: int) -> None:
        """Have no effect."""
        self._sgbm.set("disp12MaxDiff", disp12MaxDiff)

    def getDisp12MaxDiff(self) -> int:
        """Return what was set."""
        return self._sgbm.disp12MaxDiff

    def setPreFilterCap(self, preFilterCap: int) -> None:
        """Have no effect."""
        self._sgbm.set("preFilterCap", preFilterCap)

    def getPreFilterCap(self) -> int:
        """Return what was set."""
        return self._sgbm.preFilterCap

    def setUniquenessRatio(self, uniquenessRatio: int) -> None:
        """Have no effect."""
        self._sgbm.set("uniquenessRatio", uniquenessRatio)

    def getUniquenessRatio(self) -> int:
        """Return what was set."""
        return self._sgbm.uniquenessRatio

    def setSpeckleWindowSize(self, speckleWindowSize: int) -> None:
        """Have no effect."""
        self._sgbm.set("speckleWindowSize", speckleWindowSize)

    def getSpeckleWindowSize(self) -> int:
        """Return what was set."""
        return self._sgbm.speckleWindowSize

    def setSpeckleRange(self, speckleRange: int) -> None:
        """Have no effect."""
        self._sgbm.set("speckleRange", speckleRange)

    def getSpeckleRange(self) -> int:
        """Return what was set."""
        return self._sgbm.speckleRange
