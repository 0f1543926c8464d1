"""Numba kernels for expected edge features under the beliefs of given messages."""

from __future__ import annotations

import numpy as np

from slanted.learning.soft_kernels import (
    FAINT,
    LEFT_OCCLUSION,
    RIGHT_OCCLUSION,
    Features,
    phi_bdy1,
    powers,
)
from slanted.runtime.arrays import Floats
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import LABELS


@kernel
def edge_expectations(
    table: Floats, features: Features, from_edges: Floats,
    to_label: Floats, to_first: Floats, to_second: Floats, tau: float,
) -> Floats:  # fmt: skip
    """Return the expectations of φ_bdy1 and φ_bdy2 under b_α ∝ exp(−θ̂_α / τ), (E, 2).

    Parameters
    ----------
    table, features
        The output of `soft_kernels.boltzmann_tables`, and its input.
    from_edges
        (E, 4) μ_{α→o} of these messages, which with λ_o make the beliefs of labels.
    to_label, to_first, to_second
        λ to the edge factors.
    tau
        ε.
    """
    bdy1, bdy2, _, _ = features
    edges, _, states = bdy1.shape
    expected = np.zeros((edges, 2))
    first, second, chance = np.empty(states), np.empty(states), np.empty(LABELS)
    for e in range(edges):
        powers(to_label[e] - from_edges[e], tau, chance)
        chance /= chance.sum()
        powers(to_first[e], tau, first)
        powers(to_second[e], tau, second)
        for o in range(LABELS):
            if chance[o] == 0.0:
                continue
            total, one, two = _sums(table[e, o], bdy1[e], bdy2[e, o], o, first, second)
            if total > FAINT:
                expected[e, 0] += chance[o] * (one / total)
                expected[e, 1] += chance[o] * (two / total)
            else:
                one, two = _exact_sums(features, e, o, to_first[e], to_second[e], tau)
                expected[e, 0] += chance[o] * one
                expected[e, 1] += chance[o] * two
    return expected


# Reassociation lets sums be vectorised; all terms are finite and not negative.
@kernel(fastmath={"reassoc"})
def _sums(
    table: Floats, bdy1: Floats, bdy2: Floats, o: int, first: Floats, second: Floats
) -> tuple[float, float, float]:
    """Return Σ p, Σ p φ_bdy1 and Σ p φ_bdy2 over pairs, p not normalised."""
    states = len(first)
    total, own, other, two = 0.0, 0.0, 0.0, 0.0
    theirs = bdy1[1]
    for a in range(states):
        row = slice(a * states, (a + 1) * states)
        here, features = table[row], bdy2[row]
        mass, across, second_moment = 0.0, 0.0, 0.0
        for b in range(states):
            p = here[b] * second[b]
            mass += p
            across += p * theirs[b]
            second_moment += p * features[b]
        total += first[a] * mass
        own += first[a] * mass * bdy1[0, a]
        other += first[a] * across
        two += first[a] * second_moment
    if o == LEFT_OCCLUSION:
        return total, own, two
    if o == RIGHT_OCCLUSION:
        return total, other, two
    return total, 0.5 * (own + other), two


@kernel
def _exact_sums(
    features: Features, e: int, o: int, to_first: Floats, to_second: Floats, tau: float
) -> tuple[float, float]:
    """Return both expectations given a label, in logarithms; at τ = 0, the features at a minimum.

    The first of several minima is taken: any gives a subgradient.
    """
    bdy1, bdy2, weight1, weight2 = features
    states = len(to_first)
    least, best_a, best_b = np.inf, 0, 0
    for a in range(states):
        for b in range(states):
            shared = phi_bdy1(o, bdy1[e, 0, a], bdy1[e, 1, b])
            cost = weight1 * shared + weight2 * bdy2[e, o, a * states + b]
            value = cost - to_first[a] - to_second[b]
            if value < least:
                least, best_a, best_b = value, a, b
    if tau == 0:
        one = phi_bdy1(o, bdy1[e, 0, best_a], bdy1[e, 1, best_b])
        return one, float(bdy2[e, o, best_a * states + best_b])
    total, one, two = 0.0, 0.0, 0.0
    for a in range(states):
        for b in range(states):
            shared = phi_bdy1(o, bdy1[e, 0, a], bdy1[e, 1, b])
            feature = bdy2[e, o, a * states + b]
            value = weight1 * shared + weight2 * feature - to_first[a] - to_second[b]
            p = np.exp((least - value) / tau)
            total += p
            one += p * shared
            two += p * feature
    return one / total, two / total


@kernel
def edge_minima(
    features: Features, from_edges: Floats, to_label: Floats, to_first: Floats, to_second: Floats
) -> Floats:
    """Return φ_bdy1 and φ_bdy2 where θ̂_α is least, (E, 2): `edge_expectations` at τ = 0."""
    edges = len(from_edges)
    found = np.empty((edges, 2))
    for e in range(edges):
        o = np.argmin(from_edges[e] - to_label[e])
        found[e] = _exact_sums(features, e, o, to_first[e], to_second[e], 0.0)
    return found
