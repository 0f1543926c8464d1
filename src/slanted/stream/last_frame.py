"""What a stream keeps of the last frame, all of which is in its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import FileError
from slanted.inference.previous_frame import PreviousFrame
from slanted.io.arrays import StoredArrays
from slanted.io.names import ARRAYS, RECORD
from slanted.matching import DisparityRange
from slanted.matching.rectification import RectificationCheck
from slanted.matching.search_grid import THIN
from slanted.output.result_data import EXPECTED, read_record, read_segments

if TYPE_CHECKING:
    from pathlib import Path

    from slanted.io import Calibration
    from slanted.output.result_fields import ResultData
    from slanted.runtime.arrays import DisparityMap


@dataclass(frozen=True, eq=False)
class LastFrame:
    """The planes of a frame, and how its pair was matched."""

    surfaces: PreviousFrame
    """Its segments and their planes."""
    searched: DisparityRange
    """Its range of disparities."""
    rectification: RectificationCheck | None
    """What the check of its pair found, and whether the right view was straightened."""
    matched: float
    """Share of the pixels that have a match."""
    calibration: Calibration | None = None
    """The cameras, if they are known."""

    @classmethod
    def of(cls, result: ResultData) -> LastFrame | None:
        """Return what is kept of a result; None if it was not matched by us."""
        if result.searched is None:
            return None
        regions = result.regions
        found = result.inference.planes, result.inference.margins
        surfaces = PreviousFrame(regions.label_image, regions.centre, *found)
        # In percent, as on disk: a batch that is resumed must do the same.
        matched = 100 * float(np.isfinite(result.matched).mean()) / 100
        return cls(surfaces, result.searched, result.rectification, matched, result.calibration)

    @classmethod
    def load(cls, folder: Path) -> LastFrame | None:
        """Return what is kept of a result on disk, as `of` does, but read nothing else of it.

        Raises
        ------
        slanted.errors.FileError
            If the folder holds no result.
        """
        record = read_record(folder / RECORD)
        with StoredArrays(folder / ARRAYS, EXPECTED) as stored:
            labels = read_segments(stored)
            count = int(labels.max()) + 1
            centres, planes = (
                stored.read(name, "f", (count, columns), columns * count)
                for name, columns in (("centres", 2), ("planes", 3))
            )
            # Early versions stored other numbers, by another name.
            has_margins = "margins" in stored
            margins = stored.read("margins", "f", (count,), count) if has_margins else None
        try:
            searched, check = record["searched"], record["rectification"]
            return (
                None
                if searched is None
                else cls(
                    PreviousFrame(labels, centres, planes, margins),
                    DisparityRange(int(searched["low"]), int(searched["high"])),
                    None if check is None else RectificationCheck.from_record(check),
                    float(record["matched_percent"]) / 100,
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(
                folder, f"expected a result of slanted, but its parts do not fit ({error})"
            ) from error

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns of the images."""
        return self.surfaces.label_image.shape

    def thinned(self, times: int) -> DisparityMap:
        """Return its disparity at every `THIN`-th pixel of an image that is enlarged `times`."""
        height, width = self.shape
        rows, columns = (np.arange(0, side * times, THIN) / times for side in (height, width))
        label = self.surfaces.label_image[np.ix_(rows.astype(np.intp), columns.astype(np.intp))]
        a, b, c = np.moveaxis(self.surfaces.planes.astype(np.float32)[label], -1, 0)
        u, v = np.moveaxis(self.surfaces.centre.astype(np.float32)[label], -1, 0)
        across, down = columns.astype(np.float32)[None], rows.astype(np.float32)[:, None]
        disparity: DisparityMap = (a * (across - u) + b * (down - v) + c) * np.float32(times)
        low, high = (np.float32(end * times) for end in (self.searched.low, self.searched.high))
        return np.clip(disparity, low, high)
