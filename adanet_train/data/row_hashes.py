"""64 bits for each point (Psi, y): equal points have equal hashes, two others only with probability about 2^-64.

They are functions of the numbers alone, so that a file may name the points that it was made from. -0.0 counts as 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import Array
from adanet_train.data.disk import slices

CHUNK = 2**20  # numbers hashed at a time


Change = Callable[[Array], Array]


def row_hashes(Psi: Array, y: Array, change: Change = np.asarray) -> NDArray[np.uint64]:
    """64 bits of each point, its row changed first: its mixed bits times fixed odd numbers, summed with wrapping."""
    factors = np.random.default_rng(0).integers(0, 2**64, Psi.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    result = _mixed(np.asarray(y, dtype=np.float64)) * factors[-1]
    step = max(1, CHUNK // max(1, Psi.shape[1]))
    for begin in range(0, len(Psi), step):
        bits = _mixed(change(np.asarray(Psi[begin : begin + step], dtype=np.float64)))
        result[begin : begin + step] += (bits * factors[:-1]).sum(axis=1, dtype=np.uint64)
    return result


def alike(A: Array, B: Array) -> tuple[Array, Array]:
    """Both, each column in the shortest number type that holds either exactly, so that stored points compare equal.

    >>> A, B = alike(np.array([[0.1]]), np.array([[0.1]], dtype=np.float32).astype(float))
    >>> bool(A == B)
    True
    """
    change = shortest(A, B)
    return change(A), change(B)


def met(A: Array, B: Array) -> NDArray[np.bool_]:
    """Which rows of A are rows of B, where either set, or a single row of it, may have been stored in float32.

    >>> A = np.array([[0.1], [0.2], [0.3]])
    >>> met(np.array([[0.1], [np.float32(0.2)], [0.4]]), A).tolist()
    [True, True, False]
    """
    short = [_single(part) for part in (A, B)]
    stored = [(rounded == part).all(axis=1) for rounded, part in zip(short, (A, B), strict=True)]
    first, second = alike(A, B)
    found = _among(first, second) | _among(short[0], short[1][stored[1]])
    found[stored[0]] |= _among(short[0][stored[0]], short[1])
    return found


def _among(A: Array, B: Array) -> NDArray[np.bool_]:
    known = {row.tobytes() for row in B + 0.0}
    return np.array([row.tobytes() in known for row in A + 0.0], dtype=bool)


def shortest(A: Array, B: Array) -> Change:
    """What `alike` does to the rows of either, some of them at a time; nothing to those of other widths."""
    if A.shape[1:] != B.shape[1:]:
        return np.asarray
    kinds = (_single, _half, _brain)  # the shortest last
    held = _held(A, kinds) | _held(B, kinds)

    def change(x: Array) -> Array:
        written = x.copy()
        for rounded, columns in zip(kinds, held, strict=True):
            if columns.any():
                written[:, columns] = rounded(x[:, columns])
        return written

    return change


def _held(A: Array, kinds: Sequence[Change]) -> NDArray[np.bool_]:
    """Which columns each type of numbers holds."""
    held = np.ones((len(kinds), A.shape[1]), dtype=bool)
    for rows in slices(len(A), A.shape[1], CHUNK):
        part = A[rows]
        for columns, rounded in zip(held, kinds, strict=True):
            if columns.any():
                columns &= (rounded(part) == part).all(axis=0)
    return held


@np.errstate(over="ignore")
def _half(x: Array) -> Array:
    return np.asarray(x).astype(np.float16).astype(np.float64)


@np.errstate(over="ignore")
def _single(x: Array) -> Array:
    return np.asarray(x).astype(np.float32).astype(np.float64)


def _brain(x: Array) -> Array:
    """bfloat16: the upper half of a float32, rounded to even."""
    bits = _single(x).astype(np.float32).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def _mixed(x: Array) -> NDArray[np.uint64]:
    """The bits of the numbers; most of what differs stands in the high half, which the products would lose."""
    bits = (x + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))
