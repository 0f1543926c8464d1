"""The states of a boundary variable o_ij (paper, Section 3)."""

from __future__ import annotations

from enum import IntEnum


class BoundaryLabel(IntEnum):
    """How two neighbouring segments i < j meet along their shared boundary.

    The paper's names are `co`, `hi`, `lo` and `ro`; its "left" and "right" are the first and the
    second segment of the pair, not sides of the image.

    Examples
    --------
    >>> from slanted import BoundaryLabel
    >>> BoundaryLabel(2)
    <BoundaryLabel.LEFT_OCCLUSION: 2>
    >>> BoundaryLabel.LEFT_OCCLUSION.flipped()
    <BoundaryLabel.RIGHT_OCCLUSION: 3>
    """

    COPLANAR = 0
    """`co`: both segments lie on one plane."""
    HINGE = 1
    """`hi`: two planes that meet along the boundary."""
    LEFT_OCCLUSION = 2
    """`lo`: the first segment, i, is in front and owns the boundary."""
    RIGHT_OCCLUSION = 3
    """`ro`: the second segment, j, is in front and owns the boundary."""

    def flipped(self) -> BoundaryLabel:
        """Return the label of the same boundary with the order of its two segments reversed."""
        if self is BoundaryLabel.LEFT_OCCLUSION:
            return BoundaryLabel.RIGHT_OCCLUSION
        if self is BoundaryLabel.RIGHT_OCCLUSION:
            return BoundaryLabel.LEFT_OCCLUSION
        return self
