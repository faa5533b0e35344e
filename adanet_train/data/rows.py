"""The rows of a sample as an estimator trains on them: copies by their counts, in an order that copies cannot change.

A weight that is an integer is a count, as in scikit-learn's glossary: k stands for k copies of the row, 0 for none. To
merge copies into one row of weight k would be another thing: they are k points of the sample, and which of them are
held out is drawn for each. A table of three flags and a label has 16 different rows, whatever m is; merged they leave
nothing to hold out. A weight that is a float multiplies the loss of its one row.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from adanet_theory.checks import check
from adanet_train.core.points import check_weights
from adanet_train.data.disk import Some, is_on_disk
from adanet_train.data.features import Array

COPIES = 1_000_000
"""Counts may add up to this many points, or to ten for each row: larger ones are probably weights."""
MANY = 4
"""More copies per row on average raise a warning: of weights that are not counts, copies of a row would be both in
training and held out, and the fit would learn them by heart."""
CHUNK = 1 << 17  # numbers that are hashed at a time


@dataclass(frozen=True, eq=False)
class Rows:
    """X, the labels of its rows, and weights that are no counts."""

    X: Array
    y: NDArray[Any]
    weights: Array | None = None

    @classmethod
    def weighted(cls, X: Array, y: NDArray[Any], sample_weight: Any) -> Rows:
        """Each row as often as its integer weight says; with float weights, the rows whose weight is not 0."""
        if sample_weight is None:
            return cls(X, y)
        s = np.asarray(sample_weight)
        check(s.dtype.kind in "biufO", f"sample_weight must hold numbers, got {s.dtype}.")
        counts = s.dtype.kind in "biu"
        s = s.astype(np.int64 if counts else np.float64)
        check_weights(torch.from_numpy(s), torch.from_numpy(np.unique(y, return_inverse=True)[1]))
        if not counts:
            return cls(X, y, s) if s.all() else cls(X, y, s)._taken(s.nonzero()[0])
        m = float(s.sum(dtype=np.float64))
        few = m <= max(COPIES, 10 * len(s))
        doubt = f"sample_weight of integers are counts, got {m:.4g} copies of {len(s)} rows: give floats to weight."
        check(few, doubt)
        if m > MANY * len(s):
            warnings.warn(doubt, stacklevel=4)
        return cls(X, y) if bool((s == 1).all()) else cls(X, y)._taken(np.repeat(np.arange(len(s)), s))

    def ordered(self, labels: NDArray[Any]) -> Rows:
        """In the order of their hash if some row is there twice, so that a count is its copies wherever they stand.

        Without a repeated row the order stays as it is, and on the disk, where rows are read as they stand.
        """
        if is_on_disk(self.X):
            return self
        hashed = hashes(self.X, labels)
        order = hashed.argsort(kind="stable")
        repeated = bool((np.diff(hashed[order]) == 0).any())
        return self._taken(order) if repeated else self

    def _taken(self, rows: NDArray[np.int64]) -> Self:
        X: Any = Some(self.X, rows) if is_on_disk(self.X) else self.X[rows]
        return type(self)(X, self.y[rows], None if self.weights is None else self.weights[rows])


def repeats(hashed: NDArray[Any]) -> int:
    """How many rows equal an earlier one, by their hashes.

    >>> repeats(hashes(np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([0, 0, 0, 1])))
    1
    """
    return len(hashed) - len(np.unique(hashed))


def copies(repeated: int, m: int) -> str:
    """How every message counts repeated rows.

    >>> copies(2, 600)
    '2 of 600 rows repeat an earlier one'
    """
    return f"{repeated:,} of {m:,} rows repeat an earlier one"


def doubt(repeated: int, m: int, remedy: str = "discrete=True") -> str:
    """Why there is no certificate, and which option gives one.

    >>> doubt(2, 600, "--discrete")
    '2 of 600 rows repeat an earlier one: no certificate applies to copies. Identical rows may be different people or \
events: if they are, say so (--discrete).'
    """
    atoms = f"Identical rows may be different people or events: if they are, say so ({remedy})."
    return f"{copies(repeated, m)}: no certificate applies to copies. {atoms}"


def qualified(statement: str, repeated: int, m: int, *, discrete: bool, remedy: str = "discrete=True") -> str:
    """The statement with its condition where rows repeat; without `discrete` it is not called a certificate.

    >>> qualified("risk <= 0.1", 0, 600, discrete=False), qualified("risk <= 0.1", 2, 600, discrete=True)
    ('risk <= 0.1', 'risk <= 0.1 if identical rows are draws of their own (2 of 600 rows repeat an earlier one)')
    >>> qualified("risk <= 0.1", 2, 600, discrete=False)
    'no certificate, as 2 of 600 rows repeat an earlier one; only with discrete=True: risk <= 0.1'
    """
    if not repeated:
        return statement
    if discrete:
        return f"{statement} if identical rows are draws of their own ({copies(repeated, m)})"
    return f"no certificate, as {copies(repeated, m)}; only with {remedy}: {statement}"


def require_finite(X: NDArray[Any], name: str = "X") -> None:
    """Refuse nan and inf, and say where the first one is.

    >>> require_finite(np.array([[1.0, 2.0], [3.0, np.nan]]))
    Traceback (most recent call last):
    ValueError: X must be finite, got nan in row 1, column 1, counted from 0: drop such rows, or fill the gaps.
    """
    if X.dtype.kind != "f" or bool(np.isfinite(X).all()):
        return
    row, *place = np.argwhere(~np.isfinite(X))[0].tolist()
    where = {0: "", 1: f", column {place[0] if place else 0}"}.get(len(place), f", place {tuple(place)}")
    value = X[(row, *place)]
    raise ValueError(
        f"{name} must be finite, got {value:g} in row {row}{where}, counted from 0: drop such rows, or fill the gaps."
    )


def hashes(X: Array, labels: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits for each row and its label, of their values as float64: -0 is 0, and float32 is what it stands for."""
    hashed = np.empty(len(X), dtype=np.uint64)
    size = max(1, CHUNK // (X.shape[1] + 1))
    step = np.uint64(0x9E3779B97F4A7C15)
    columns = np.arange(1, X.shape[1] + 2, dtype=np.uint64) * step
    for first in range(0, len(X), size):
        part = slice(first, first + size)
        values = np.column_stack([X[part], labels[part]]).astype(np.float64) + 0.0
        hashed[part] = _mixed(_mixed(values.view(np.uint64) + columns).sum(1, dtype=np.uint64))
    return hashed


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64 bits in which each bit of x changes about half of the others."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))
