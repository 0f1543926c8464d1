"""Which boundary labels can meet in a point (paper, Figures 1 and 2).

The captions of the figures leave some cases open, which are decided here:

- (b), (c), "opposite directions": segments joined by a hinge or coplanar have the same depth at
  the point, so the third cannot be in front of one and behind the other. In front of both, or
  behind both, is the ordinary T-junction.
- (d), (e) can occur where an occlusion contour begins, but the captions forbid them, and so do we.
- (g): of the two segments at the occlusion, one is coplanar with the third segment and the other
  has a hinge with it. Only the first has the coplanar boundary, so it must not be in front. The
  other may be, like the side of a box that stands on the ground.
- Four-way (b) to (d) and (e) to (g): the order of hinge and occlusions among these is ours, but the
  set is the same.

Of the 64 three-way labellings 35 are impossible, and of the 256 four-way labellings 7 are valid.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.runtime.arrays import Flags, Ints

Labelling = tuple[BoundaryLabel, ...]

_NAMES = {
    "co": BoundaryLabel.COPLANAR,
    "hi": BoundaryLabel.HINGE,
    "lo": BoundaryLabel.LEFT_OCCLUSION,
    "ro": BoundaryLabel.RIGHT_OCCLUSION,
}
_FLIPPED = [label.flipped() for label in BoundaryLabel]


def _labellings(text: str) -> frozenset[Labelling]:
    return frozenset(
        tuple(_NAMES[name] for name in labelling.split()) for labelling in text.split(",")
    )


IMPOSSIBLE_THREE_WAY: dict[str, frozenset[Labelling]] = {
    # 3 cyclic occlusions
    "a": _labellings("lo lo ro, ro ro lo"),
    # hinge and 2 occlusions with opposite directions
    "b": _labellings("hi lo ro, hi ro lo, lo hi ro, ro hi lo, lo lo hi, ro ro hi"),
    # coplanar and 2 occlusions with opposite directions
    "c": _labellings("co lo ro, co ro lo, lo co ro, ro co lo, lo lo co, ro ro co"),
    # 2 hinges and occlusion
    "d": _labellings("hi hi lo, hi hi ro, hi lo hi, hi ro hi, lo hi hi, ro hi hi"),
    # 2 coplanar and occlusion
    "e": _labellings("co co lo, co co ro, co lo co, co ro co, lo co co, ro co co"),
    # 2 coplanar and hinge
    "f": _labellings("co co hi, co hi co, hi co co"),
    # hinge, coplanar and occlusion, the superpixel with the coplanar boundary in front
    "g": _labellings("co hi lo, co lo hi, hi co ro, hi ro co, lo hi co, ro co hi"),
}
"""Figure 1: the impossible (o_ij, o_jk, o_ik), by case."""

VALID_FOUR_WAY: dict[str, frozenset[Labelling]] = {
    # 4 coplanar boundaries
    "a": _labellings("co co co co"),
    # p and q are coplanar, r and s are, and the two pairs meet in a hinge or an occlusion
    "b": _labellings("co hi co hi"),
    "c": _labellings("co lo co lo"),
    "d": _labellings("co ro co ro"),
    # the same with p and s, q and r
    "e": _labellings("hi co hi co"),
    "f": _labellings("lo co ro co"),
    "g": _labellings("ro co lo co"),
}
"""Figure 2: the valid (o_pq, o_qr, o_rs, o_ps) of p, q, r, s in cyclic order, by case."""


@cache
def junction3_impossible() -> Flags:
    """Return the (4, 4, 4) table that is true where (o_ij, o_jk, o_ik) is impossible.

    It holds for any order of the segments, with the labels of that order.
    """
    table = np.zeros((4, 4, 4), np.bool_)
    for labelling in frozenset().union(*IMPOSSIBLE_THREE_WAY.values()):
        table[labelling] = True
    table.setflags(write=False)
    return table


@cache
def junction4_impossible() -> Flags:
    """Return the (4, 4, 4, 4) table that is true where (o_pq, o_qr, o_rs, o_ps) is impossible.

    It holds from any segment on and in both directions around the point, with labels in that order.
    """
    table = np.ones((4, 4, 4, 4), np.bool_)
    for labelling in frozenset().union(*VALID_FOUR_WAY.values()):
        table[labelling] = False
    table.setflags(write=False)
    return table


@cache
def junction4_variants() -> Flags:
    """Return the (4, 4, 4, 4, 4) table `junction4_impossible` for labels as edges are stored.

    The first index is the kind, see `junction4_kinds`. A stored edge leads from the smaller to the
    larger segment; where the junction passes it the other way, lo and ro are exchanged.
    """
    table = junction4_impossible()
    reversed_qr = table[:, _FLIPPED]
    variants = np.stack([table, reversed_qr, table[:, :, _FLIPPED], reversed_qr[:, :, _FLIPPED]])
    variants.setflags(write=False)
    return variants


def junction4_kinds(junctions4: Ints) -> Ints:
    """Return which edges of each four-way junction are stored reversed: 1 for qr plus 2 for rs.

    Parameters
    ----------
    junctions4
        (J4, 4) segments p, q, r, s as in `Regions`; p is the smallest, so pq and ps are never
        reversed.
    """
    _, q, r, s = junctions4.T
    kinds: Ints = ((q > r) + 2 * (r > s)).astype(np.int32)
    return kinds
