"""What a result is compared with: another result, a disparity map, or OpenCV's SGBM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.result import Result
from slanted.viewer.frames import Frame, final_frame

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.matching import DisparityRange

SGBM = "sgbm"
SGBM_TITLE = "OpenCV SGBM"
GIVEN = "given"
MOST_SGBM_BYTES = 1_500_000_000
"""Memory that SGBM's best mode may take; larger pairs are matched in its mode 3way."""


@dataclass(frozen=True, eq=False)
class MapFrame:
    """A disparity map that can be shown beside a result; it has no planes and no confidence."""

    key: str
    title: str
    disparity: NDArray[np.float32]  # NaN where unknown

    @property
    def result(self) -> None:
        """None, as there is none."""
        return None

    @property
    def is_final(self) -> bool:
        """False: there are no margins of segments."""
        return False

    def summary(self) -> dict[str, Any]:
        """Return what the page shows about the map."""
        return {"key": self.key, "title": self.title}


Shown = Frame | MapFrame
"""What has layers."""


class Others:
    """The maps that a result may be compared with, each by a name.

    SGBM is computed when it is first asked for; `given` is a result or a disparity map with its
    title, if the user named one.
    """

    def __init__(
        self,
        prefix: str,
        given: tuple[str, Result | NDArray[np.float32]] | None,
        pair: tuple[Image, Image] | None,
        searched: DisparityRange | None,
    ) -> None:
        self._prefix, self._pair, self._searched = prefix, pair, searched
        self._lock = Lock()
        self._frames: dict[str, Shown] = {}
        if given is not None:
            title, what = given
            self._frames[GIVEN] = (
                final_frame(self._key(GIVEN), what, title)
                if isinstance(what, Result)
                else MapFrame(self._key(GIVEN), title, what)
            )

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def titles(self) -> list[dict[str, str]]:
        """Return name, title and key of all that can be compared with."""
        titles = {name: frame.title for name, frame in list(self._frames.items())}
        if self._pair is not None:
            titles[SGBM] = SGBM_TITLE
        return [
            {"name": name, "title": title, "key": self._key(name)} for name, title in titles.items()
        ]

    def opened(self, name: str) -> Shown | None:
        """Return what has that name, None if nothing has; the first time, SGBM takes a while."""
        if name == SGBM and self._pair is not None:
            with self._lock:
                if SGBM not in self._frames:
                    disparity = sgbm_disparity(*self._pair, self._searched)
                    self._frames[SGBM] = MapFrame(self._key(SGBM), SGBM_TITLE, disparity)
        return self._frames.get(name)

    def keys(self) -> set[str]:
        """Return the keys of all that has been opened."""
        return {frame.key for frame in list(self._frames.values())}

    def frame(self, key: str) -> Shown | None:
        """Return the map with that key, if it has been opened."""
        return next((frame for frame in list(self._frames.values()) if frame.key == key), None)


def sgbm_disparity(
    left: Image, right: Image, searched: DisparityRange | None = None
) -> NDArray[np.float32]:
    """Return the disparity of OpenCV's SGBM, its holes filled as KITTI's development kit does.

    The range searched is by default estimated from the pair.
    `slanted.research.methods.compute_disparity` with the method ``sgbm`` does the same.
    """
    from slanted.matching import match
    from slanted.matching.interpolation import interpolate_background
    from slanted.matching.sgbm import BYTES_A_CELL
    from slanted.settings import Settings

    settings = replace(Settings().matching, method=SGBM)
    disparities = left.shape[1] // 4 if searched is None else len(searched)
    if left.shape[0] * left.shape[1] * disparities * BYTES_A_CELL > MOST_SGBM_BYTES:
        settings = replace(settings, sgbm=replace(settings.sgbm, mode="3way"))
    return interpolate_background(match(left, right, settings, searched))
