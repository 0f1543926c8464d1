"""Two views of one moment: of two sources, or of one whose images have both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from slanted.errors import InputError, SlantedError
from slanted.images.checks import size_text

if TYPE_CHECKING:
    from slanted.images import Image

Split = Literal["side-by-side", "top-bottom"]
"""How the two views lie in the images of a single source."""


@dataclass(frozen=True, eq=False)
class LivePair:
    """Two images of one moment."""

    left: Image
    right: Image
    names: tuple[str, str]
    """What messages call them."""
    title: str
    """The name of its result."""
    stamp: float
    """When the older of them came, seconds of the clock."""
    skew: float = 0.0
    """Seconds between the two."""


@dataclass(frozen=True)
class FailedPair:
    """A pair that came, but is none; the one after it may be."""

    names: tuple[str, str]
    """What messages call its images."""
    title: str
    """The name that its result would have."""
    error: SlantedError
    """Why it is none."""


def make_pair(
    images: Sequence[Image],
    names: Sequence[str],
    split: Split,
    title: str,
    stamp: float,
    skew: float = 0.0,
) -> LivePair | FailedPair:
    """Return the pair of two images, or of one that has both views."""
    both = view_names(names)
    if len(images) == 2:
        return LivePair(images[0], images[1], both, title, stamp, skew)
    try:
        left, right = split_views(images[0], split, names[0])
    except InputError as error:
        return FailedPair(both, title, error)
    return LivePair(left, right, both, title, stamp)


def view_names(names: Sequence[str]) -> tuple[str, str]:
    """Return the names of the two views, from those of one or two images."""
    if len(names) == 2:
        return names[0], names[1]
    return f"{names[0]}, left", f"{names[0]}, right"


def split_views(image: Image, split: Split, name: str = "image") -> tuple[Image, Image]:
    """Return the left and the right view of an image that has both.

    Raises
    ------
    InputError
        If they cannot be of one size.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = split_views(np.zeros((48, 128, 3), np.uint8), "side-by-side")
    >>> left.shape
    (48, 64, 3)
    """
    axis = 1 if split == "side-by-side" else 0
    length = image.shape[axis]
    if length % 2:
        what = ("height", "width")[axis]
        raise InputError(
            f"{name}: expected two views {split}, so an even {what}, got {size_text(image)}; give "
            "two sources, or another --split"
        )
    half = length // 2
    return (image[:, :half], image[:, half:]) if axis else (image[:half], image[half:])
