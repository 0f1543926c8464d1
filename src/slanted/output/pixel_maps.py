"""Maps of every pixel beside the disparity: confidence, deviation and flags, and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.io import write_bytes, write_disparity, write_image
from slanted.io.arrays import encode_npy
from slanted.io.confidence import CONFIDENCE_STEPS, unpack_confidence
from slanted.output.pixel_flag import PixelFlag
from slanted.runtime.threads import share

if TYPE_CHECKING:
    from slanted.output.result_fields import ResultData

MOST_DEVIATION = 65504.0
"""The largest float16, the type in which deviations are kept."""
PIECES = 4
"""Parts for each thread in which a map is rounded, as a part being rounded takes memory."""
PIXELS_AT_A_TIME = 2**20
"""Pixels worked on at a time, because temporary maps would take several times a map's memory."""


def pack_confidence(confidence: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return confidences from 0 to 1 as 65535ths."""
    packed = np.empty(confidence.shape, np.uint16)
    for rows in _blocks(confidence.shape):
        packed[rows] = np.rint(confidence[rows] * np.float32(CONFIDENCE_STEPS))
    return packed


def pack_deviation(deviation: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return deviations in pixels as float16."""
    return deviation.astype(np.float16)


def checked_confidence(values: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a confidence as a file holds it, in 65535ths, or raise an InputError."""
    checked = _checked("confidence", values, shape, 1.0)
    return _rounded(checked, lambda part: unpack_confidence(pack_confidence(part)))


def checked_deviation(values: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a deviation as a file holds it, in float16, or raise an InputError."""
    return _rounded(_checked("deviation", values, shape, np.inf), pack_deviation)


def _rounded(
    values: NDArray[np.float32], as_kept: Callable[[NDArray[np.float32]], NDArray[Any]]
) -> NDArray[np.float32]:
    """Round a map in place, part by part, as a file keeps it."""

    def some(first: int, last: int) -> None:
        values[first:last] = as_kept(values[first:last])

    share(len(values), some, pieces=PIECES)
    return values


def _checked(name: str, values: Any, shape: tuple[int, ...], most: float) -> NDArray[np.float32]:
    array = np.asarray(values)
    if array.shape != shape:
        raise InputError(
            f"{name}: expected a map of the disparity's size, {shape}, got {array.shape}"
        )
    if not (array.min() >= 0 and array.max() <= most):  # NaN is neither
        wanted = "0 to 1" if most == 1 else "0 up"
        raise InputError(
            f"{name}: expected numbers from {wanted}, got {array.min()} to {array.max()}"
        )
    return np.asarray(np.minimum(array, MOST_DEVIATION), np.float32)


def pixel_flags(result: ResultData) -> NDArray[np.uint8]:
    """Return the (H, W) `slanted.PixelFlag` bits of a result."""
    flags = np.empty(result.disparity.shape, np.uint8)
    for rows in _blocks(flags.shape):
        flags[rows] = flags_of_rows(result, rows)
    return flags


def flags_of_rows(result: ResultData, rows: slice) -> NDArray[np.uint8]:
    """Return the `slanted.PixelFlag` bits of some rows."""
    width = result.disparity.shape[1]
    # The same rounding as in `find_hidden`, which makes `occluded`.
    place = np.rint(np.arange(width) - result.disparity[rows])
    outside = (place < 0) | (place >= width)
    known = np.isfinite(result.matched[rows])
    flags = np.where(known, np.uint8(PixelFlag.MATCHED), np.uint8(PixelFlag.FILLED))
    flags[outside] |= np.uint8(PixelFlag.OUT_OF_VIEW)
    flags[result.occluded[rows] & ~outside] |= np.uint8(PixelFlag.OCCLUDED)
    if result.sky is not None:
        flags[result.sky[rows]] |= np.uint8(PixelFlag.SKY)
    if result.confidence is not None:
        is_low = result.confidence[rows] < result.settings.confidence.low
        flags[is_low] |= np.uint8(PixelFlag.LOW_CONFIDENCE)
    return flags


def write_pixel_maps(folder: Path, result: ResultData) -> None:
    """Write the maps of a result other than its disparity; ``docs/result.md`` lists them."""
    write_disparity(folder / "matched.pfm", result.matched)
    write_image(folder / "valid.png", pixel_flags(result))
    write_image(folder / "occluded.png", result.occluded.view(np.uint8) * np.uint8(255))
    if result.confidence is not None:
        write_bytes(folder / "confidence.npy", encode_npy(result.confidence))
        write_image(folder / "confidence.png", pack_confidence(result.confidence))
    if result.deviation is not None:
        write_bytes(folder / "deviation.npy", encode_npy(result.deviation))


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield the rows of an image in blocks."""
    step = max(1, PIXELS_AT_A_TIME // max(1, shape[1]))
    for first in range(0, shape[0], step):
        yield slice(first, first + step)
