"""The initial disparity D(p) on the pixels F where one was found (paper §3.1).

A matcher is a function ``match(left, right, searched, settings) -> disparity``; it gets an 8-bit
pair of equal size and a `DisparityRange`, and returns float32 pixels with NaN outside F. It may
return ``(disparity, confidence)`` instead, the latter from 0 to 1. To add one, write it in a file
of its own and `register_matcher` it; it is then a value of ``matching.method``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.settings.matching import MATCHERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.settings import MatchingSettings

    Disparity = NDArray[np.float32]
    Confidence = NDArray[np.float32]
    MatchFunction = Callable[
        [Image, Image, "DisparityRange", MatchingSettings],
        Disparity | tuple[Disparity, Confidence],
    ]


@dataclass(frozen=True)
class DisparityRange:
    """Disparities ``low <= d < high``, in pixels."""

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


# Modules are named, not imported: the names are needed by `--help`, the code only by a run.
_MATCHERS: dict[str, MatchFunction | str] = {
    "sgbm": "slanted.matching.sgbm",
    "census": "slanted.matching.census_sgm",
}


def matcher_names() -> tuple[str, ...]:
    """Return the values that ``matching.method`` may take."""
    return tuple(MATCHERS)


def register_matcher(name: str, match: MatchFunction) -> None:
    """Make a matcher of your own known by a name.

    Parameters
    ----------
    name
        The value of ``matching.method`` that selects it; may not be taken.
    match
        The function; see the module's description.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> def flat(left, right, searched, settings):
    ...     return np.full(left.shape[:2], 5.0, np.float32)
    >>> slanted.register_matcher("flat", flat)
    >>> slanted.Settings().with_text({"matching.method": "flat"}).matching.method
    'flat'
    """
    if name in _MATCHERS:
        raise InputError(f"name: the matcher {name!r} exists already; choose another name")
    _MATCHERS[name] = match
    MATCHERS.append(name)


def match(
    left: Image, right: Image, settings: MatchingSettings, searched: DisparityRange | None = None
) -> Disparity:
    """Match a rectified pair with the matcher that the settings name.

    Parameters
    ----------
    left, right
        Images of equal size, grey or RGB, 8 or 16 bit.
    settings
        Section ``matching`` of the settings.
    searched
        The disparities to search; by default those of the settings, or found from the pair.

    Returns
    -------
    disparity
        Of the left image, float32 pixels, NaN where no match was found.
    """
    return find_matches(left, right, settings, searched)[0]


def find_matches(
    left: Image, right: Image, settings: MatchingSettings, searched: DisparityRange | None = None
) -> tuple[Disparity, Confidence | None]:
    """Match a pair as `match` does, and return the matcher's confidence too if it has one."""
    from slanted.images.checks import as_8_bit, check_pair
    from slanted.matching.disparity_range import disparity_range

    left, right = check_pair(left, right)
    left8, right8 = as_8_bit(left, right)
    if searched is None:
        searched = disparity_range(left8, right8, settings)
    return drop_impossible(*run_matcher(left8, right8, searched, settings), settings)


def run_matcher(
    left: Image, right: Image, searched: DisparityRange, settings: MatchingSettings
) -> tuple[Disparity, Confidence | None]:
    """Return what the matcher itself finds in an 8-bit pair."""
    found = _MATCHERS[settings.method]
    function: Any = import_module(found).match if isinstance(found, str) else found
    answer = function(left, right, searched, settings)
    return answer if isinstance(answer, tuple) else (answer, None)


def drop_impossible(
    disparity: Disparity, confidence: Confidence | None, settings: MatchingSettings
) -> tuple[Disparity, Confidence | None]:
    """Make unknown, in place, what lies outside the right image or is most likely a stray."""
    import numpy as np

    from slanted.matching.out_of_view import drop_out_of_view

    # Matchers pad the right image; what matches outside it is made up.
    width = disparity.shape[1]
    match_column = np.arange(width, dtype=np.float32) - disparity
    outside = (match_column < 0) | (match_column > width - 1)
    disparity[outside] = np.nan
    if settings.out_of_view:
        drop_out_of_view(disparity, settings.out_of_view / 100)
    if confidence is not None:
        confidence[np.isnan(disparity)] = 0.0
    return disparity, confidence
