"""Numba kernels that make census words and count their set bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from slanted.runtime.arrays import Bytes
from slanted.runtime.kernel import kernel

Words = NDArray[np.uint64]
Gradients = NDArray[np.int16]

CENSUS_X, CENSUS_Y = 4, 3
"""Radii of the census window: its 9×7 pixels have 62 neighbours, which fit a 64-bit word."""


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def popcount(_: Any, word: Any) -> Any:
    """Count the set bits of a word with the processor's instruction."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.ctpop", [arguments[0].type])
        return builder.call(function, arguments)

    return types.uint64(types.uint64), generate


def _popcount_in_python(word: Any) -> int:
    return int(word).bit_count()


if config.DISABLE_JIT:  # kernels are then plain Python, but an intrinsic is not
    popcount = _popcount_in_python  # type: ignore[assignment,unused-ignore]


@kernel
def census_rows(padded: Bytes, first: int, last: int, census: Words) -> None:
    """Write the census words of some rows (Zabih & Woodfill 1994).

    Parameters
    ----------
    padded
        Grey image with `CENSUS_Y` extra rows and `CENSUS_X` extra columns on each side.
    first, last
        Rows to write.
    census
        (H, W) words, output: bit i is set if the i-th neighbour in raster order is darker.
    """
    width = census.shape[1]
    # Eight neighbours at a time, in bytes: a vector register holds more bytes than words.
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
