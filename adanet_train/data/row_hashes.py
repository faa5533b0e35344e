"""64 bits for each point (Psi, y): equal points have equal hashes, others all but surely (2^-64 a pair) not.

They are functions of the numbers alone, so that a file may name the points that it was made from. -0.0 counts as 0.0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import Array

CHUNK = 2**20  # numbers hashed at a time


def row_hashes(Psi: Array, y: Array) -> NDArray[np.uint64]:
    """64 bits of each point: its mixed bits times fixed odd numbers, summed with wrapping."""
    factors = np.random.default_rng(0).integers(0, 2**64, Psi.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    result = _mixed(np.asarray(y, dtype=np.float64)) * factors[-1]
    step = max(1, CHUNK // max(1, Psi.shape[1]))
    for begin in range(0, len(Psi), step):
        bits = _mixed(np.asarray(Psi[begin : begin + step], dtype=np.float64))
        result[begin : begin + step] += (bits * factors[:-1]).sum(axis=1, dtype=np.uint64)
    return result


def _mixed(x: Array) -> NDArray[np.uint64]:
    """The bits of the numbers; most of what differs stands in the high half, which the products would lose."""
    bits = (x + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))
