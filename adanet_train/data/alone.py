"""Check that a predictor is a function of one point; if it draws, keeps a state or reads others it has no risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check

FEWEST = 16
"""How many rows are predicted again."""
SINGLE = 2.0**-23
"""eps of float32, in which most networks are computed."""


def require_of_x_alone(
    name: str,
    answers_at: Callable[[NDArray[np.int64]], NDArray[Any]],
    answers: NDArray[Any],
    *,
    eps: float = 0.0,
    room: float = 0.0,
) -> None:
    """Refuse a predictor that draws at random, keeps a state, or reads the other points of a batch or its place in it.

    Parameters
    ----------
    name : of the predictor, for the message.
    answers_at : its answers for the rows with these numbers, in this order, in one batch.
    answers : its answers for all rows, or for the first of them.
    eps : rounding unit of its number type, since sums in other batches may be rounded differently.
    room : by how much answers may always differ.
    """
    if not len(answers):
        return
    few = np.unique(np.linspace(0, len(answers) - 1, FEWEST).astype(np.int64))  # of sorted rows some of every class

    def alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
        return _alike(a, b, eps, room)

    once, again = answers_at(few), answers_at(few)
    twice = f"{name} gives different values when called again, expected a function of x alone."
    check(_alike(once, again, 0.0, room), twice)
    # in twos a sum or mean over the batch is another one for almost every row
    twos = np.concatenate([answers_at(rows) for rows in np.array_split(few, max(1, len(few) // 2))])
    alone = alike(answers[few], once) and alike(once, twos) and alike(once[::-1], answers_at(few[::-1].copy()))
    remedy = "give a function that predicts each point by itself"
    check(alone, f"{name} gives a point different values in another batch, expected a function of x alone: {remedy}.")


def _alike(a: NDArray[Any], b: NDArray[Any], eps: float, room: float) -> bool:
    """Equal, or scores that agree in half of their digits."""
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    both = np.concatenate([a, b])
    largest = float(np.abs(both[np.isfinite(both)]).max(initial=0.0))
    return bool(np.allclose(a, b, rtol=0.0, atol=max(room, math.sqrt(eps) * largest), equal_nan=True))
