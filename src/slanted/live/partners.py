"""Which images of two sequences are of one moment: those whose names, or numbers, agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from slanted.batch.pairs import DIGITS, partner_of
from slanted.batch.summary import some_names
from slanted.errors import InputError
from slanted.live.sources import SequenceSource

if TYPE_CHECKING:
    from slanted.live.sources import Source


def match_sequences(sources: Sequence[Source]) -> tuple[Sequence[Source], dict[str, str]]:
    """Return the sources without the images that have no partner, and a sentence about these.

    Sources that are not two image sequences with names are returned as they are.

    Returns
    -------
    sources, left_out
        The sources, and what to tell, by the name of the source that lacks images; empty if all
        have a partner.

    Raises
    ------
    InputError
        If no image has a partner.
    """
    if len(sources) != 2:
        return sources, {}
    left, right = sources
    if not (isinstance(left, SequenceSource) and isinstance(right, SequenceSource)):
        return sources, {}
    if left.names is None or right.names is None:
        return sources, {}
    pairs = find_partners(left.names, right.names)
    if not pairs:
        raise InputError(
            f"{right.name}: expected images with the names or numbers of those in {left.name}, got "
            f"{right.names[0]} and {left.names[0]}; rename them, or name the pairs in a manifest "
            "for slanted batch"
        )
    chosen = left.select([one for one, _ in pairs]), right.select([other for _, other in pairs])
    return chosen, _left_out((left, right), chosen)


def find_partners(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of the images that belong together, in the order of the left ones.

    Names agree as in ``slanted batch``: they are equal, or one says left and the other right. If
    none do, the last of their numbers that tells the images of each side apart decides.

    Examples
    --------
    >>> find_partners(["left_1", "left_2", "left_3"], ["right_1", "right_3"])
    [(0, 0), (2, 1)]
    >>> find_partners(["cam0_7_raw", "cam0_8_raw"], ["cam1_8_raw", "cam1_9_raw"])
    [(1, 0)]
    """
    places = {name: place for place, name in enumerate(right)}
    partners = [partner_of(name, places)[0] for name in left]
    found = [(k, places[name]) for k, name in enumerate(partners) if name in places]
    return found or _by_number(left, right)


def _by_number(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    ours, theirs = ([re.findall(DIGITS, name) for name in names] for names in (left, right))
    for last in range(1, 1 + min(map(len, ours + theirs))):
        one, other = ([int(numbers[-last]) for numbers in side] for side in (ours, theirs))
        if len(set(one)) == len(one) and len(set(other)) == len(other):
            places = {number: place for place, number in enumerate(other)}
            return [(k, places[number]) for k, number in enumerate(one) if number in places]
    return []


def _left_out(given: Sequence[SequenceSource], chosen: Sequence[SequenceSource]) -> dict[str, str]:
    """Return the sentence about images without a partner."""
    parts = []
    lacking = ""
    for source, kept, partner in zip(given, chosen, given[::-1], strict=True):
        known = set(kept.names or ())
        alone = [name for name in source.names or () if name not in known]
        if alone:
            parts.append(f"{some_names(alone)} of {source.name}")
            lacking = lacking or partner.name
    if not parts:
        return {}
    said = f"{lacking}: left out what has no image of that name or number on the other side: "
    return {lacking: said + "; ".join(parts)}
