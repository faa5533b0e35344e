"""Rows that occur more than once: in a sample, where they speak against iid, or in a sample and its held-out points.

Rows are compared by a hash of their bits and then exactly, so every repetition reported is one; a collision
of hashes (2^-64 a pair) could hide one. -0.0 counts as 0.0, and float32 as what it stands for (`shortest`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import Array
from adanet_train.data.row_hashes import CHUNK, Change, row_hashes, shortest


def repeated(Psi: Array, y: Array) -> int:
    """How many points (Psi, y) equal an earlier one.

    >>> repeated(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]]), np.array([1.0, 1.0, 1.0, -1.0]))
    1
    """
    order, first = _groups(row_hashes(Psi, y))
    later = np.flatnonzero(first != np.arange(len(order)))
    return int(_equal(Psi, y, order[later], Psi, y, order[first[later]]).sum())


def shared(Psi: Array, y: Array, other_Psi: Array, other_y: Array) -> int:
    """How many points of the first set are points of the second.

    >>> shared(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]), np.array([[2.0], [1.0]]), np.array([1.0, -1.0]))
    1
    """
    change = shortest(Psi, other_Psi)
    ours, others = row_hashes(Psi, y, change), row_hashes(other_Psi, other_y, change)
    order = np.argsort(others, kind="stable")
    place = np.minimum(np.searchsorted(others[order], ours), max(len(others) - 1, 0))
    met = np.flatnonzero(others[order][place] == ours) if len(others) else np.zeros(0, dtype=np.intp)
    return int(_equal(Psi, y, met, other_Psi, other_y, order[place[met]], change).sum())


def among(Psi: Array, y: Array, hashes: NDArray[np.int64]) -> int:
    """How many points have one of the hashes, which a file keeps as signed numbers.

    >>> Psi, y = np.array([[1.0], [2.0]]), np.array([1.0, 1.0])
    >>> among(Psi, y, row_hashes(Psi[1:], y[1:]).view(np.int64))
    1
    """
    return int(np.isin(row_hashes(Psi, y).view(np.int64), hashes).sum())


def _groups(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The points by hash, and for each place in that order the first place with the same hash."""
    order = np.argsort(hashes, kind="stable")
    sorted_hashes = hashes[order]
    starts = np.r_[True, sorted_hashes[1:] != sorted_hashes[:-1]]
    return order, np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))


def _equal(
    Psi: Array,
    y: Array,
    rows: NDArray[np.intp],
    other_Psi: Array,
    other_y: Array,
    others: NDArray[np.intp],
    change: Change = np.asarray,
) -> NDArray[np.bool_]:
    equal = y[rows] == other_y[others]
    step = max(1, CHUNK // max(1, Psi.shape[1]))
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        equal[part] &= np.all(change(Psi[rows[part]]) == change(other_Psi[others[part]]), axis=1)
    return np.asarray(equal)
