"""Rows that occur more than once: in a sample, where they speak against iid, or in a sample and its held-out points.

Rows are compared by a hash of their bits and then exactly, so nothing is called a repetition that is none; a collision
of hashes (2^-64 a pair) could hide one. -0.0 counts as 0.0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import Array

CHUNK = 2**20  # numbers hashed at a time


def repeated(Psi: Array, y: Array) -> int:
    """How many points (Psi, y) equal an earlier one.

    >>> repeated(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]]), np.array([1.0, 1.0, 1.0, -1.0]))
    1
    """
    order, first = _groups(_hashes(Psi, y))
    later = np.flatnonzero(first != np.arange(len(order)))
    return int(_equal(Psi, y, order[later], Psi, y, order[first[later]]).sum())


def shared(Psi: Array, y: Array, other_Psi: Array, other_y: Array) -> int:
    """How many points of the first set are points of the second.

    >>> shared(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]), np.array([[2.0], [1.0]]), np.array([1.0, -1.0]))
    1
    """
    ours, others = _hashes(Psi, y), _hashes(other_Psi, other_y)
    order = np.argsort(others, kind="stable")
    place = np.minimum(np.searchsorted(others[order], ours), max(len(others) - 1, 0))
    met = np.flatnonzero(others[order][place] == ours) if len(others) else np.zeros(0, dtype=np.intp)
    return int(_equal(Psi, y, met, other_Psi, other_y, order[place[met]]).sum())


def _groups(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The points by hash, and for each place in that order the first place with the same hash."""
    order = np.argsort(hashes, kind="stable")
    sorted_hashes = hashes[order]
    starts = np.r_[True, sorted_hashes[1:] != sorted_hashes[:-1]]
    return order, np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))


def _equal(
    Psi: Array, y: Array, rows: NDArray[np.intp], other_Psi: Array, other_y: Array, others: NDArray[np.intp]
) -> NDArray[np.bool_]:
    found = y[rows] == other_y[others]
    step = max(1, CHUNK // max(1, Psi.shape[1]))
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        found[part] &= np.all(Psi[rows[part]] == other_Psi[others[part]], axis=1)
    return np.asarray(found)


def _hashes(Psi: Array, y: Array) -> NDArray[np.uint64]:
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
