"""Pooled fits: segments with few matches are fitted to those of their neighbours as well.

The paper only says "local fitting". Where few pixels of a segment are matched, many of these
matches are wrong, and a plane through them alone is worse than one through those around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.inference.local_fit import fill_unknown, fit_own_matches, fit_sets
from slanted.model.observations import Matches, Observations
from slanted.regions.structure import Regions

if TYPE_CHECKING:
    from slanted.runtime.arrays import Floats, Starts

WANTED = 4.0
"""Matches that a segment pools, in multiples of the mean number of matches per segment."""


def fit_initial_planes(
    regions: Regions, observations: Observations, K: float, share: float
) -> Floats:
    """Fit a plane to every segment as `fit_local_planes` does, pooled where matches are few.

    Parameters
    ----------
    regions, observations, K
        As for `slanted.inference.local_fit.fit_local_planes`.
    share
        ``inference.pooled_fit``: segments with a lower density of matches than this share of the
        mean are fitted to their neighbours' matches as well.
    """
    planes, known, matched = fit_own_matches(regions, observations, K)
    chosen = few_matches(regions, matched, share)
    if chosen.size:
        pools = neighbourhoods(regions, chosen, matched)
        pooled = pool(regions, observations.segments, chosen, pools)
        planes[chosen], known[chosen] = fit_sets(pooled, regions.covariance[chosen], K)
    return fill_unknown(regions, planes, known, matched)


def few_matches(regions: Regions, matched: Starts, share: float) -> Starts:
    """Return the segments whose density of matches is below this share of the mean.

    The mean density, rather than a fixed one, also suits disparities that are sparse everywhere.
    """
    density = matched.sum() / regions.size.sum()
    return np.flatnonzero(matched < share * density * regions.size)


def neighbourhoods(regions: Regions, chosen: Starts, matched: Starts) -> Any:
    """Return the segments whose matches each of `chosen` pools, as a (len(chosen), n) csr_array.

    Neighbours join a segment ring by ring, until they have enough matches or none are left.
    """
    from scipy.sparse import csr_array, vstack

    count, wanted = regions.count, WANTED * matched.mean()

    def ones(columns: Any, start: Any) -> Any:
        values = np.ones(len(columns), np.int32), columns, start
        return csr_array(values, shape=(len(start) - 1, count))

    links = ones(regions.adjacency_other, regions.adjacency_start)
    members, rows = ones(chosen, np.arange(len(chosen) + 1)), np.arange(len(chosen))
    found, order = [], []
    while rows.size:
        grown = csr_array(members + members @ links)
        grown.data[:] = 1
        ends = (members @ matched >= wanted) | (grown.sum(axis=1) == members.sum(axis=1))
        found.append(members[ends])
        order.append(rows[ends])
        rows, members = rows[~ends], grown[~ends]
    pools = vstack(found, format="csr")[np.argsort(np.concatenate(order))]
    pools.sort_indices()
    return pools


def pool(regions: Regions, matches: Matches, chosen: Starts, pools: Any) -> Matches:
    """Return the matches of the members of each pool, about the centre of the chosen segment.

    `matches` are those of all segments of the image; those of no pool may be missing.
    """
    owner, member = np.repeat(chosen, np.diff(pools.indptr)), pools.indices
    size = np.diff(matches.start)[member]
    end = np.cumsum(size)
    place = np.arange(size.sum()) + np.repeat(matches.start[member] - (end - size), size)
    du, dv = np.repeat(regions.centre[member] - regions.centre[owner], size, axis=0).T
    return Matches(
        start=np.concatenate([[0], end])[pools.indptr],
        du=matches.du[place] + du,
        dv=matches.dv[place] + dv,
        disparity=matches.disparity[place],
        weight=matches.weight[place],
    )
