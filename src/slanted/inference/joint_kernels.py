"""Numba kernels that solve the joint fit: conjugate gradients over 3 × 3 blocks.

A sparse factorisation takes several times as long, because the current planes are a good start and
the solution, one particle among others, need not be exact.
"""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel


@kernel
def solve_blocks(
    diagonal: Floats,
    first: Ints,
    second: Ints,
    across: Floats,
    b: Floats,
    start: Floats,
    tolerance: float,
    rounds: int,
) -> Floats:
    """Solve A x = b for a symmetric positive definite A of 3 × 3 blocks.

    By conjugate gradients, preconditioned with the blocks on the diagonal (block Jacobi).

    Parameters
    ----------
    diagonal
        (n, 3, 3) blocks A_ii.
    first, second, across
        (m,), (m,) and (m, 3, 3): A_ij = −across for i of `first` and j of `second`, A_ji = A_ijᵀ;
        the blocks of repeated pairs are added.
    b, start
        (n, 3) b, and the x to start from.
    tolerance
        Norm of the residual, (rᵀ diag(A)⁻¹ r)^½, at which to stop.
    rounds
        Largest number of rounds.

    Returns
    -------
    x
        (n, 3) solution.
    """
    inverse = np.empty_like(diagonal)
    for i in range(len(diagonal)):
        _invert(diagonal[i], inverse[i])
    x, ahead = start.copy(), np.empty_like(start)
    residual, step = np.empty_like(start), np.empty_like(start)
    _multiply(diagonal, first, second, across, x, ahead)
    for i in range(len(x)):
        for a in range(3):
            residual[i, a] = b[i, a] - ahead[i, a]
    size = _precondition(inverse, residual, 0.0, step)
    for _ in range(rounds):
        if not size > tolerance * tolerance:
            break
        _multiply(diagonal, first, second, across, step, ahead)
        curvature = 0.0
        for i in range(len(x)):
            for a in range(3):
                curvature += step[i, a] * ahead[i, a]
        if not curvature > 0:
            break
        length = size / curvature
        for i in range(len(x)):
            for a in range(3):
                x[i, a] += length * step[i, a]
                residual[i, a] -= length * ahead[i, a]
        size = _precondition(inverse, residual, size, step)
    return x


@kernel
def _multiply(
    diagonal: Floats, first: Ints, second: Ints, across: Floats, x: Floats, out: Floats
) -> None:
    """Write A x."""
    for i in range(len(x)):
        for a in range(3):
            row = diagonal[i, a]
            out[i, a] = row[0] * x[i, 0] + row[1] * x[i, 1] + row[2] * x[i, 2]
    for e in range(len(first)):
        i, j, block = first[e], second[e], across[e]
        for a in range(3):
            out[i, a] -= block[a, 0] * x[j, 0] + block[a, 1] * x[j, 1] + block[a, 2] * x[j, 2]
            out[j, a] -= block[0, a] * x[i, 0] + block[1, a] * x[i, 1] + block[2, a] * x[i, 2]


@kernel
def _precondition(inverse: Floats, residual: Floats, before: float, step: Floats) -> float:
    """Update the direction `step` with the scaled residual z = diag(A)⁻¹ r, and return rᵀ z.

    `before` is the previous rᵀ z; 0 starts afresh.
    """
    size = 0.0
    for i in range(len(residual)):
        r = residual[i]
        for a in range(3):
            row = inverse[i, a]
            size += r[a] * (row[0] * r[0] + row[1] * r[1] + row[2] * r[2])
    share = size / before if before > 0 else 0.0
    for i in range(len(residual)):
        r = residual[i]
        for a in range(3):
            row = inverse[i, a]
            scaled = row[0] * r[0] + row[1] * r[1] + row[2] * r[2]
            step[i, a] = scaled + share * step[i, a] if before > 0 else scaled
    return size


@kernel
def _invert(block: Floats, out: Floats) -> None:
    """Write the inverse of a symmetric 3 × 3 block, by cofactors."""
    a, b, c = block[0, 0], block[0, 1], block[0, 2]
    d, e, f = block[1, 1], block[1, 2], block[2, 2]
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1 / (a * first + b * second + c * third)
    out[0, 0] = scale * first
    out[0, 1] = out[1, 0] = scale * second
    out[0, 2] = out[2, 0] = scale * third
    out[1, 1] = scale * (a * f - c * c)
    out[1, 2] = out[2, 1] = scale * (b * c - a * e)
    out[2, 2] = scale * (a * d - b * b)


@kernel
def add_blocks(blocks: Floats, places: Ints, out: Floats) -> None:
    """Add each of (m, 3, 3) blocks to ``out[place]`` of its place."""
    for e in range(len(places)):
        for a in range(3):
            for b in range(3):
                out[places[e], a, b] += blocks[e, a, b]
