"""Both views of a pair, and what several stages need of them, which is made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slanted.images import GreyPair, Image
    from slanted.images.census import CensusPair
    from slanted.runtime.arrays import Bytes
    from slanted.runtime.threads import Soon


@dataclass(frozen=True, eq=False)
class Views:
    """The images that the stages work on; runs of one pair share them."""

    left: Image
    right: Image
    _smaller: dict[int, Soon[Views]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def grey(self) -> GreyPair:
        """Both in 8-bit grey; a pair of 16 bits takes a quantile to reduce."""
        from slanted.images.colour import grey_pair

        return grey_pair(self.left, self.right)

    @cached_property
    def lab(self) -> Soon[Bytes]:
        """(3, H, W) 8-bit Lab planes of the left one, made by an idle thread."""
        from slanted.images.colour import lab_planes
        from slanted.runtime.threads import Soon

        return Soon(partial(lab_planes, self.left), wait=True)

    @cached_property
    def census(self) -> Soon[CensusPair]:
        """The census words of both, made by an idle thread."""
        from slanted.images.census import census_of_pair
        from slanted.runtime.threads import Soon

        return Soon(partial(census_of_pair, self.grey), wait=True)

    def smaller(self, times: int, *, with_census: bool) -> Soon[Views]:
        """Return both so many times smaller, made by an idle thread."""
        from slanted.runtime.threads import Soon

        if times not in self._smaller:
            make = partial(_smaller_views, self.left, self.right, times, with_census)
            self._smaller[times] = Soon(make, wait=True)
        return self._smaller[times]


def _smaller_views(left: Image, right: Image, times: int, with_census: bool) -> Views:
    """Return smaller views, with what the stages need of them.

    All of it is made now, because only the thread that begins with it can end it.
    """
    from slanted.matching.finer import shrunk

    small = Views(shrunk(left, times), shrunk(right, times))
    _ = small.grey
    small.lab.result()
    if with_census:
        small.census.result()
    return small
