"""Numba kernels of census words: how they are made, and how many of their bits are set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from slanted.runtime.kernel import kernel

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Gradients = NDArray[np.int16]

CENSUS_X, CENSUS_Y = 4, 3
"""Radii of the census window: 9×7 pixels are 62 neighbours, which fit a word of 64 bits."""


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def popcount(_: Any, word: Any) -> Any:
    """Count the bits of a word that are set, by the processor's own instruction."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.ctpop", [arguments[0].type])
        return builder.call(function, arguments)

    return types.uint64(types.uint64), generate


def _popcount_in_python(word: Any) -> int:
    return int(word).bit_count()


if config.DISABLE_JIT:  # kernels are plain Python then, and an intrinsic is not
    popcount = _popcount_in_python  # type: ignore[assignment,unused-ignore]


@kernel
def census_rows(padded: Bytes, first: int, last: int, census: Words) -> None:
    """Write which neighbours of each pixel are darker than it (Zabih & Woodfill 1994).

    Parameters
    ----------
    padded
        Grey image with `CENSUS_Y` rows and `CENSUS_X` columns more on each side.
    first, last
        Rows to write.
    census
        (H, W) words; bit i belongs to the i-th neighbour in raster order.
    """
    width = census.shape[1]
    # Eight neighbours at a time, in bytes: four times as many lanes as words have.
    bits = np.empty((8, width), np.uint8)
    for y in range(first, last):
        bits[:] = 0
        centre = padded[y + CENSUS_Y, CENSUS_X : CENSUS_X + width]
        i = 0
        for dy in range(2 * CENSUS_Y + 1):
            for dx in range(2 * CENSUS_X + 1):
                if dy == CENSUS_Y and dx == CENSUS_X:
                    continue
                neighbour = padded[y + dy, dx : dx + width]
                byte, bit = bits[i >> 3], np.uint8(1 << (i & 7))
                for x in range(width):
                    darker = bit if neighbour[x] < centre[x] else np.uint8(0)
                    byte[x] = np.uint8(byte[x] | darker)
                i += 1
        row = census[y]
        for x in range(width):
            word = np.uint64(0)
            for k in range(8):
                word |= np.uint64(bits[k, x]) << np.uint64(8 * k)
            row[x] = word
