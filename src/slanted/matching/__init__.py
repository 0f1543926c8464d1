"""The initial disparity D(p) on the pixels F where a match was found (paper §3.1).

A matcher is a function ``match(left, right, searched, settings) -> disparity``. It gets an 8-bit
pair of equal size and a `DisparityRange`, and returns float32 pixels with NaN outside F. It may
return ``(disparity, confidence)`` instead, with a confidence from 0 to 1, or `Matches`. To add a
matcher, write it in a module of its own and `register_matcher` it; it is then a value of
``matching.method``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.settings.matching import MATCHERS

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.runtime.arrays import DisparityMap, Flags
    from slanted.settings import MatchingSettings

    MatchFunction = Callable[
        [Image, Image, "DisparityRange", MatchingSettings],
        "DisparityMap | tuple[DisparityMap, DisparityMap] | Matches",
    ]


@dataclass(frozen=True)
class DisparityRange:
    """The disparities ``low <= d < high``, in pixels.

    Examples
    --------
    >>> len(DisparityRange(-16, 48))
    64
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.high <= self.low:
            raise InputError(
                f"searched: expected a range whose end is above its start, got {self.low} to "
                f"{self.high}"
            )

    def __len__(self) -> int:
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Matches:
    """What a matcher found, and what it had found before its filters."""

    disparity: DisparityMap
    """(H, W) D(p), NaN outside F."""
    confidence: DisparityMap | None = None
    """(H, W) from 0 to 1."""
    winner: DisparityMap | None = None
    """(H, W) its first choice at every pixel, before any filter."""
    agrees: Flags | None = None
    """(H, W) whether the first choice passes the left-right check."""
    margin: DisparityMap | None = None
    """(H, W) the confidence in the first choice, from 0 to 1."""
    reaches_beyond: bool = False
    """Whether it is worth keeping where the right view does not reach, as a network's guess is."""


# Modules are named, not imported: `--help` needs the names, and only a run needs the code.
_MATCHERS: dict[str, MatchFunction | str] = {
    "sgbm": "slanted.matching.sgbm",
    "census": "slanted.matching.census_sgm",
    "network": "slanted.matching.network",
}


def matcher_names() -> tuple[str, ...]:
    """Return the values that ``matching.method`` may take."""
    return tuple(MATCHERS)


def register_matcher(name: str, match: MatchFunction) -> None:
    """Register a matcher of your own.

    Parameters
    ----------
    name
        The value of ``matching.method`` that selects it; it must be new.
    match
        The matcher; see `slanted.matching`.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> def level(left, right, searched, settings):
    ...     return np.full(left.shape[:2], searched.low, np.float32)
    >>> slanted.register_matcher("level", level)
    >>> "level" in matcher_names()
    True
    """
    if name in _MATCHERS:
        raise InputError(f"name: the matcher {name!r} exists already; choose another name")
    _MATCHERS[name] = match
    MATCHERS.append(name)


def match(
    left: Image, right: Image, settings: MatchingSettings, searched: DisparityRange | None = None
) -> DisparityMap:
    """Match a rectified pair with the matcher that the settings name.

    Parameters
    ----------
    left, right
        Images of equal size, grey or RGB, 8 or 16 bit.
    settings
        Section ``matching`` of the settings.
    searched
        The disparities to search; by default those of the settings, or estimated from the pair.

    Returns
    -------
    disparity
        (H, W) disparity of the left image, float32 pixels, NaN where no match was found.

    Examples
    --------
    >>> from slanted.settings import MatchingSettings
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=24, seed=1)
    >>> match(scene.left, scene.right, MatchingSettings(), DisparityRange(0, 32)).shape
    (64, 96)
    """
    from slanted.images.checks import check_pair
    from slanted.images.colour import brightened

    return find_matches(*brightened(*check_pair(left, right)), settings, searched).disparity


def find_matches(
    left: Image, right: Image, settings: MatchingSettings, searched: DisparityRange | None = None
) -> Matches:
    """Match a pair as `match` does; also return what else the matcher tells.

    A dark pair is taken as it is: whoever calls this has brightened it.
    """
    from slanted.images.checks import check_pair
    from slanted.images.colour import as_8_bit
    from slanted.matching.disparity_range import disparity_range
    from slanted.matching.noise import follow_noise
    from slanted.matching.out_of_view import drop_impossible

    left, right = check_pair(left, right)
    left8, right8 = as_8_bit(left, right)
    if searched is None:
        searched = disparity_range(left8, right8, settings)
    found = run_matcher(left8, right8, searched, follow_noise(left8, right8, settings))
    if not found.reaches_beyond:
        drop_impossible(found.disparity, found.confidence, settings)
    return found


def run_matcher(
    left: Image, right: Image, searched: DisparityRange, settings: MatchingSettings
) -> Matches:
    """Return what the matcher itself finds in an 8-bit pair."""
    found = _MATCHERS[settings.method]
    function: Any = import_module(found).match if isinstance(found, str) else found
    answer = function(left, right, searched, settings)
    if isinstance(answer, Matches):
        return answer
    return Matches(*answer) if isinstance(answer, tuple) else Matches(answer)
