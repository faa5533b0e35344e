"""p-norms, their dual vectors (Hölder) and sign vectors, shared by estimates, duality and checks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import Array, check


def conjugate(p: float) -> float:
    """q with 1/p + 1/q = 1.

    >>> conjugate(1), conjugate(2), conjugate(float("inf"))
    (inf, 2.0, 1.0)
    """
    check(p >= 1, f"p must be in [1, inf], got p={p}.")
    if p == 1:
        return math.inf
    return 1.0 if p == math.inf else p / (p - 1)


def norms(X: Array, p: float) -> Array:
    """||x||_p along the last axis, scaled by the largest entry where a power would overflow or underflow.

    >>> norms(np.array([[2e200] * 4, [0.0] * 4]), 2.0).tolist()
    [4e+200, 0.0]
    """
    if p == 2:
        squares = np.einsum("...j,...j->...", X, X)  # gives inf without a warning
        if np.all((squares > 1e-280) & (squares < 1e300)):
            return np.asarray(np.sqrt(squares))
    size = np.abs(X)
    if p == 1:
        return np.asarray(size.sum(axis=-1))
    largest = size.max(axis=-1, initial=0.0, keepdims=True)
    if p == math.inf:
        return np.asarray(largest[..., 0])
    np.divide(size, largest, out=size, where=largest > 0)
    return np.asarray(largest[..., 0] * (size**p).sum(axis=-1) ** (1 / p))


def p_norm(x: ArrayLike, p: float) -> float:
    """||x||_p of a vector.

    >>> p_norm([2e200, -2e200, 2e200, 2e200], 2)
    4e+200
    """
    return float(norms(np.asarray(x, dtype=np.float64), p))


def dual_direction(G: Array, p: float) -> Array:
    """The dual vectors along the last axis, up to their length: sgn(g_i) (|g_i| / max |g|)^(q-1), for 1 < p < inf.

    By Hölder u . g <= ||u||_p ||g||_q, with equality only for these; g = 0 gives 0.

    >>> dual_direction(np.array([[3.0, -4.0], [0.0, 0.0]]), 2.0).tolist()
    [[0.75, -1.0], [0.0, 0.0]]
    """
    size = np.abs(G)
    largest = size.max(axis=-1, initial=0.0, keepdims=True)
    np.divide(size, largest, out=size, where=largest > 0)
    return np.copysign(size ** (1 / (p - 1)), G)  # q - 1 = 1/(p - 1)


def all_signs(m: int) -> Array:
    """The 2^m sign vectors as rows. Each row of the first half is the negative of one in the second half.

    >>> all_signs(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    return np.asarray(1.0 - 2.0 * (np.arange(2**m)[:, None] >> np.arange(m) & 1))
