"""Ways to spoil a pair, so that trees learn how matches look that no benchmark has.

Benchmarks are well lit, well rectified and of one scene. Trees that know nothing else are sure of
anything. Of each frame a spoilt copy is learned from too, in a few pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from slanted.images import Image

NOISE = 20.0
"""Standard deviation of the noise, in grey levels of 255."""
DARK = 0.1
"""What is left of the brightness."""
ROWS = 2
"""Rows by which the right view is too low."""

Spoil = Callable[["Image", "Image", np.random.Generator], tuple["Image", "Image"]]


def _white(image: Image) -> int:
    return int(np.iinfo(image.dtype).max)


def _like(image: Image, values: NDArray[np.float64]) -> Image:
    spoilt = image.copy()
    spoilt[:] = values
    return spoilt


def _noisy(left: Image, right: Image, rng: np.random.Generator) -> tuple[Image, Image]:
    def spoilt(image: Image) -> Image:
        noise = rng.normal(0, NOISE / 255 * _white(image), image.shape)
        return _like(image, np.clip(np.rint(image + noise), 0, _white(image)))

    return spoilt(left), spoilt(right)


def _dark(left: Image, right: Image, rng: np.random.Generator) -> tuple[Image, Image]:
    def spoilt(image: Image) -> Image:
        return _like(image, np.rint(image * DARK))

    return spoilt(left), spoilt(right)


def _misaligned(left: Image, right: Image, rng: np.random.Generator) -> tuple[Image, Image]:
    lower = right.copy()
    lower[ROWS:] = right[:-ROWS]
    return left, lower


def _of_two_scenes(left: Image, right: Image, rng: np.random.Generator) -> tuple[Image, Image]:
    return left, right[::-1].copy()


SPOILS: dict[str, Spoil] = {
    "noise": _noisy,
    "dark": _dark,
    "misaligned": _misaligned,
    "two scenes": _of_two_scenes,
}
