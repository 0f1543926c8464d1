"""Candidates: the current settings, then points spread over the search space.

The points are a Sobol' sequence shifted by a random vector. The first n of them do not depend on
how many are drawn, so a search can be made longer and its log stays valid.

References
----------
.. [1] I. M. Sobol', "On the distribution of points in a cube and the approximate evaluation of
   integrals", USSR Computational Mathematics and Mathematical Physics 7, 1967.
.. [2] R. Cranley, T. N. L. Patterson, "Randomization of number theoretic methods for multiple
   integration", SIAM Journal on Numerical Analysis 13, 1976.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from slanted.errors import InputError, SettingsError
from slanted.settings import leaves

if TYPE_CHECKING:
    from slanted.research.tuning.search_space import Dimension
    from slanted.settings import Settings

ATTEMPTS = 8
"""Points tried per candidate, since some repeat others or are refused by the settings."""
SHIFT_STREAM, CHANGE_STREAM = 1, 2
"""Numbers of this module's random streams, all different."""


@dataclass(frozen=True)
class Candidate:
    """Settings to measure."""

    number: int  # 0 for the current settings
    values: tuple[Any, ...]  # of the settings that vary, in the order of the space
    settings: Settings


def draw_candidates(
    space: Sequence[Dimension], start: Settings, count: int, change: int | None = None
) -> list[Candidate]:
    """Draw candidates with the seed of the settings.

    Candidate 0 is `start`, which also has the values of all settings that do not vary; `count`
    includes it. There are fewer candidates if the space has no more points. Each changes `change`
    settings, chosen at random; None for all. An InputError is raised if an argument is out of
    range, or if no point of the space is allowed.
    """
    paths = [dimension.path for dimension in space]
    if not paths or len(set(paths)) < len(paths):
        raise InputError("vary: expected at least one setting, each named once; correct the space")
    if count < 2:
        raise InputError(f"candidates: expected at least 2, got {count}; raise it")
    if change is not None and not 1 <= change <= len(space):
        raise InputError(
            f"change: expected 1 to {len(space)}, the number of settings that vary, got {change}"
        )
    current = {leaf.path: leaf.value for leaf in leaves(start)}
    own = tuple(current[path] for path in paths)
    found = {own: Candidate(0, own, start)}
    refused: SettingsError | None = None
    for index, point in enumerate(_points(len(space), count * ATTEMPTS, start.seed)):
        changed = _changed(len(space), change, start.seed, index)
        values = tuple(
            dimension.at(share) if moves else value
            for dimension, share, moves, value in zip(space, point, changed, own, strict=True)
        )
        if values in found:
            continue
        try:
            settings = start.updated(_tree(paths, values))
        except SettingsError as error:  # some settings limit one another
            refused = error
            continue
        found[values] = Candidate(len(found), values, settings)
        if len(found) == count:
            break
    if len(found) == 1:
        reason = refused or "every point is the current settings"
        raise InputError(f"vary: no point of the space can be used ({reason}); widen it")
    return list(found.values())


def _points(dimensions: int, count: int, seed: int) -> npt.NDArray[np.float64]:
    """Return (count, dimensions) points of the unit cube."""
    from scipy.stats import qmc

    shift = np.random.default_rng([seed, SHIFT_STREAM]).random(dimensions)
    # Shifted instead of scrambled: SciPy's scrambling depends on its version.
    sobol = qmc.Sobol(dimensions, scramble=False).random_base2(int(np.ceil(np.log2(count))))
    return np.asarray((sobol[:count] + shift) % 1.0)


def _changed(dimensions: int, change: int | None, seed: int, index: int) -> npt.NDArray[np.bool_]:
    """Return which settings a point changes."""
    moves = np.ones(dimensions, np.bool_)
    if change is not None:
        rng = np.random.default_rng([seed, CHANGE_STREAM, index])
        moves[:] = False
        moves[rng.permutation(dimensions)[:change]] = True
    return moves


def _tree(paths: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return values by dotted name as a nested mapping."""
    tree: dict[str, Any] = {}
    for path, value in zip(paths, values, strict=True):
        *sections, name = path.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        node[name] = value
    return tree
