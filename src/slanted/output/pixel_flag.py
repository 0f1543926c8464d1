"""What is known about each pixel of a result, as bits."""

from __future__ import annotations

from enum import IntFlag


class PixelFlag(IntFlag):
    """The bits of ``Result.valid`` and ``valid.png``.

    Every pixel is either matched or filled; the other bits may be set with both.

    Examples
    --------
    >>> from slanted import PixelFlag
    >>> PixelFlag(6)
    <PixelFlag.FILLED|OCCLUDED: 6>
    >>> PixelFlag(6).words()
    'filled, occluded'
    """

    MATCHED = 1
    """The pixel has a match, which the planes explain."""
    FILLED = 2
    """It did not: the disparity comes from the segment's plane and from matches around."""
    OCCLUDED = 4
    """By the disparity, something nearer hides the pixel from the right camera."""
    OUT_OF_VIEW = 8
    """By the disparity, the pixel lies outside the right image."""
    SKY = 16
    """The pixel looks like sky, which has no depth; see `slanted.model.sky`."""
    LOW_CONFIDENCE = 32
    """The confidence is below ``confidence.low``."""

    def words(self) -> str:
        """Return the names of the bits that are set, for people."""
        return ", ".join(str(flag.name).lower().replace("_", " ") for flag in self)
