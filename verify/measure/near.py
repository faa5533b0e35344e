"""Rows, held out or without labels, that nearly equal a row of the sample, like copies with a little noise.

Rows are compared along one random direction, where near rows are neighbours, and then in every column: a matrix
product and a sort. Every row counted is near; of many rows at one place some may be missed.
"""

from __future__ import annotations

import numpy as np

from adanet_theory.checks import Array, check
from adanet_train.data.disk import slices

NEAR = 1e-6
"""Of the largest |x| of a column."""
NEIGHBOURS = 4  # on either side
REMEDY = "remove them, or if identical rows can be different people or events: --discrete, in Python discrete=True"
"""What a message asks for where points are copies."""


@np.errstate(all="ignore")  # of columns beyond the floats nothing is near
def near(rows: Array, others: Array) -> int:
    """How many rows lie within 1e-6 of one of the others in every column, as a share of the column's largest |x|.

    >>> A = np.array([[1.0, 2.0], [3.0, -5.0]])
    >>> near(A + 1e-7, A), near(A + 1e-3, A)
    (2, 0)
    """
    if rows.shape[1:] != others.shape[1:] or not rows.size or not others.size:
        return 0
    scale = np.maximum(_largest(others), _largest(rows))
    scale[scale == 0] = 1.0
    direction = np.random.default_rng(0).standard_normal(rows.shape[1])
    along, theirs = (_along(points, direction / scale) for points in (rows, others))
    order = np.argsort(theirs, kind="stable")
    place = np.searchsorted(theirs[order], along)
    is_near = np.zeros(len(rows), dtype=bool)
    reach = NEAR * float(np.abs(direction).sum()) * (1 + 1e-6)
    for step in range(-NEIGHBOURS, NEIGHBOURS):
        at = order[np.clip(place + step, 0, len(order) - 1)]
        close = np.flatnonzero(~is_near & (np.abs(theirs[at] - along) <= reach))
        is_near[close] = (np.abs(rows[close] - others[at[close]]) <= NEAR * scale).all(axis=1)
    return int(is_near.sum())


def apart(rows: Array, others: Array, what: str, *, same: int = 0, discrete: bool = False) -> int:
    """How many rows are near without being the `same`; refused if most are, unless the others are as near.

    `what` names them in the message.
    """
    close, n = near(rows, others) - same, len(rows)
    if 2 * close > n and not discrete:
        dense = 2 * near(others[::2], others[1::2]) > len(others[::2])
        counted = f"{close:,} of the {n:,} {what} lie within 1e-6 of points of the sample"
        check(dense, f"{counted}: they must not have been used in training ({REMEDY}).")
    return max(close, 0)


def _largest(points: Array) -> Array:
    """The largest |x| of each column."""
    return np.max([np.abs(points[rows]).max(axis=0) for rows in slices(*points.shape)], axis=0)


def _along(points: Array, direction: Array) -> Array:
    return np.concatenate([points[rows] @ direction for rows in slices(*points.shape)])
