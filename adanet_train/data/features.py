"""X -> Ψ: scale every feature to [0, 1], clip it there, and append a feature that is constantly 1 for the biases.

Clipped, ||Ψ||_inf <= 1 holds on the whole support and not only on the sample. The bounds take Ψ as fixed before the
sample was drawn; a map whose range was read off the sample was not, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check
from adanet_train.data.disk import is_on_disk, slices

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Ψ_j(x) = (x_j - low_j)/(high_j - low_j), clipped to [floor, 1] if `clip`; then 1 if `bias`.

    Where high_j = low_j the feature is only shifted, so that a constant column becomes 0. `r_sup` bounds ||Ψ||_inf on
    the whole support: 1 if clipped, and inf where nothing is known.

    >>> FeatureMap.known(["a", "b"], low=0, high=255)([[0, 255], [51, 300]])
    array([[0. , 1. , 1. ],
           [0.2, 1. , 1. ]])
    """

    names: tuple[str, ...]
    low: Array
    high: Array
    clip: bool
    bias: bool
    fitted_on_sample: bool
    r_sup: float
    floor: float = 0.0
    """0, or -1 where low_j is the middle of the range."""

    def __post_init__(self) -> None:
        check(len(self.names) >= 1, "features must have at least one name, got none.")
        for symbol, limit in (("low", self.low), ("high", self.high)):
            check(
                limit.shape == (len(self.names),),
                f"{symbol} must hold one number for each of the {len(self.names)} features, got shape {limit.shape}.",
            )
            check(bool(np.isfinite(limit).all()), f"{symbol} must be finite, got nan or inf.")
        with np.errstate(over="ignore"):
            width = self.high - self.low
        for name, w in zip(self.names, width, strict=True):
            check(0 <= w < math.inf, f"high - low must be finite and >= 0, got {w} for feature {name!r}.")
        check(self.floor in (0, -1), f"floor must be 0 or -1, got floor={self.floor}.")
        check(self.r_sup > 0, f"r_sup must be > 0, got r_sup={self.r_sup}.")
        check(not self.clip or self.r_sup >= 1, f"r_sup must be >= 1 for clipped features, got r_sup={self.r_sup}.")

    @classmethod
    def known(
        cls,
        names: Sequence[str],
        low: Any,
        high: Any,
        *,
        clip: bool = True,
        bias: bool = True,
        r_sup: float = 1.0,
        center: bool = False,
    ) -> FeatureMap:
        """For a range known in advance (pixels, histograms): Ψ was fixed before the sample was drawn.

        `center` takes it to [-1, 1] and not to [0, 1]: there an l1 unit tells dark from light without paying for an
        offset.
        """
        low, floor = ((low + high) / 2, -1.0) if center else (low, 0.0)
        lows, highs = (np.broadcast_to(np.asarray(v, dtype=np.float64), (len(names),)).copy() for v in (low, high))
        return cls(tuple(names), lows, highs, clip, bias, fitted_on_sample=False, r_sup=r_sup, floor=floor)

    @classmethod
    def fitted(cls, X: Any, names: Sequence[str] | None = None, *, bias: bool = True) -> FeatureMap:
        """The range of each column of the sample X.

        >>> features = FeatureMap.fitted([[2.0, 7.0], [4.0, 7.0]], bias=False)
        >>> features([[3.0, 7.0], [9.0, 7.5]])
        array([[0.5, 0. ],
               [1. , 0.5]])
        """
        X = np.asarray(X) if not is_on_disk(X) else X
        check_matrix(X)
        check(len(X) >= 1, "X must have at least one row, got m=0.")
        named = tuple(names) if names is not None else default_names(X.shape[1])
        low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
        for rows in slices(*X.shape):
            low, high = np.minimum(low, X[rows].min(axis=0)), np.maximum(high, X[rows].max(axis=0))
        return cls(named, low, high, clip=True, bias=bias, fitted_on_sample=True, r_sup=1.0)

    @classmethod
    def learned(cls, X: Any, names: Sequence[str], *, bias: bool = True) -> FeatureMap:
        """Centred on the means of X, scaled by twice the standard deviations, clipped to [-1, 1].

        For rows X that are not of the sample: then Ψ was fixed before the sample was drawn.

        >>> FeatureMap.learned([[0.0], [2.0]], ["a"], bias=False)([[1.0], [2.0], [9.0], [-9.0]]).tolist()
        [[0.0], [0.5], [1.0], [-1.0]]
        """
        X = as_matrix(X)
        check(len(X) >= 2, f"a map must be learned on at least two rows, got {len(X)}.")
        mean = X.mean(axis=0)
        limits = {"low": mean, "high": mean + 2 * X.std(axis=0)}
        return cls(tuple(names), **limits, clip=True, bias=bias, fitted_on_sample=False, r_sup=1.0, floor=-1.0)

    @classmethod
    def identity(cls, names: Sequence[str], *, bias: bool) -> FeatureMap:
        """Ψ(x) = x, with a constant feature behind it if `bias`; nothing is known of its range."""
        return cls.known(names, 0.0, 1.0, clip=False, bias=bias, r_sup=math.inf)

    @property
    def n_0(self) -> int:
        return len(self.names) + self.bias

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the features, where they are those of a table's columns."""
        return None if self.names == default_names(len(self.names)) else self.names

    def __call__(self, X: Any) -> Array:
        """Ψ on the rows of X, of shape (m, n_0)."""
        X = as_matrix(X)
        check(
            X.shape[1] == len(self.names), f"X must have {len(self.names)} columns, as in training, got {X.shape[1]}."
        )
        width = self.high - self.low
        with np.errstate(over="ignore"):
            Psi = (X - self.low) / np.where(width > 0, width, 1.0)
        if self.clip:
            Psi = Psi.clip(self.floor, 1)
        check(bool(np.isfinite(Psi).all()), "X must be of a size that scaling does not overflow.")
        return np.hstack([Psi, np.ones((len(X), 1))]) if self.bias else Psi


def default_names(count: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(count))


def as_matrix(X: Any, symbol: str = "X") -> Array:
    """X as a finite float64 matrix with at least one column."""
    values = np.asarray(X)
    check_matrix(values, symbol)
    return values.astype(np.float64, copy=False)


def check_matrix(values: Any, symbol: str = "X") -> None:
    """Finite real numbers in at least one column; looked at some rows at a time."""
    check(values.dtype.kind in "buif", f"{symbol} must hold real numbers, got dtype {values.dtype}.")
    flat = ": reshape it to (m, -1), or give subnetworks, which read images" * (len(values.shape) > 2)
    check(len(values.shape) == 2, f"{symbol} must be a matrix with one row per point, got shape {values.shape}{flat}.")
    check(values.shape[1] >= 1, f"{symbol} must have at least one column, got shape {values.shape}.")
    for rows in slices(*values.shape):
        wrong = ~np.isfinite(values[rows])
        if wrong.any():
            i, j = (int(index) for index in np.argwhere(wrong)[0])
            raise ValueError(f"{symbol} must be finite, got {values[rows][i, j]} in row {rows.start + i}, column {j}.")
