"""A rectangle of an image, to measure errors in it alone."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError

LONGEST_NUMBER = 9
Kind = TypeVar("Kind", bound=np.generic)


class Region(NamedTuple):
    """A rectangle of pixels: its upper left pixel and its size.

    Examples
    --------
    >>> import numpy as np
    >>> Region.parse("1,0,2,1").of(np.array([[4, 5, 6], [7, 8, 9]]))
    array([[5, 6]])
    """

    x: int
    y: int
    width: int
    height: int

    @classmethod
    def parse(cls, text: str) -> Region:
        """Read ``X,Y,WIDTH,HEIGHT``; an InputError if it is something else."""
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 4 or not all(map(_is_number, parts)):
            raise InputError(
                f"region: expected whole numbers X,Y,WIDTH,HEIGHT, in pixels, got {text[:60]!r}"
            )
        return cls(*map(int, parts))

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise an InputError if the rectangle is empty or not inside an image of that shape."""
        height, width = shape[:2]
        fits = self.x + self.width <= width and self.y + self.height <= height
        if min(self.width, self.height) < 1 or min(self.x, self.y) < 0 or not fits:
            given = ",".join(map(str, self))
            raise InputError(
                f"region: expected X,Y,WIDTH,HEIGHT inside the {width}×{height} pixels, got {given}"
            )

    def of(self, array: NDArray[Kind]) -> NDArray[Kind]:
        """Return that part of a map; an InputError if the map does not have it."""
        self.check(array.shape)
        return array[self.y : self.y + self.height, self.x : self.x + self.width]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
