"""The smooth part of every convex step: a surrogate's mean over the sample as a function of weights on given columns.

L(w) = (1/m) Σ_i s_i Φ(x_i),     x_i = 1 - y_i f(x_i) - y_i w · h(x_i),     s_i = 1 without sample weights

Each of several processes has its own rows; the sums over i are added up, so that all see the same L and the same gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.core.surrogates import Surrogate
from adanet_train.core.world import ALONE, World

BLOCK, STRIP = (32, 96), 1 << 12
"""Columns of a product at a time, at least and at most, and points."""
PIECE = 1 << 17
"""Points that a sum over the sample takes at a time, so that intermediate results stay small and in the cache."""
ROUGH = 1e-4  # what single precision may take from the least eigenvalue of a unit diagonal


class Sums:
    """What the losses share: sums over the sample, sample weights, and the margins of weights."""

    offset: Tensor
    """The arguments of the loss at w = 0; the last axis is that of the points."""

    def __init__(self, H: Tensor, y: Tensor, f: Tensor, weights: Tensor | None, world: World) -> None:
        check(H.ndim == 2 and len(H) >= 1, f"H must be a matrix with m >= 1 rows, got shape {tuple(H.shape)}.")
        check(y.shape == H.shape[:1], f"y must have shape ({len(H)},), got {tuple(y.shape)}.")
        for symbol, tensor in (("H", H), ("f", f)):
            check(tensor.dtype == torch.float64, f"{symbol} must be float64, got {tensor.dtype}.")
        check(bool(f.isfinite().all()), "f must be finite.")
        self.columns, self.weights, self.world = H.T.contiguous(), weights, world
        self.m = int(world.sum(torch.tensor(len(y), device=y.device)))

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.columns)

    def change(self, direction: Tensor) -> Tensor:
        """By how much the arguments of the loss fall along a direction."""
        raise NotImplementedError

    def margins(self, direction: Tensor) -> Tensor:
        """The margins that the weights alone give."""
        return self.change(direction)

    def argument(self, w: Tensor) -> Tensor:
        """x, the arguments of the loss at w."""
        return self.offset - self.change(w)

    def extremes(self, direction: Tensor) -> tuple[float, float]:
        """The least and the greatest of the margins."""
        margins = self.margins(direction)
        return float(self.world.min(margins.amin())), float(self.world.max(margins.amax()))

    def mean(self, values: Callable[[slice], Tensor]) -> Tensor:
        """(1/m) Σ_i s_i values_i, over the rows of all processes; `values` computes those of some points."""
        return self.world.sum(summed(values, self.offset.shape[-1], self.weights)) / self.m

    def weighted(self, values: Tensor) -> Tensor:
        return values if self.weights is None else self.weights * values


class SampleLoss(Sums):
    """L for columns H[i, j] = h_j(x_i), offset f and labels y in {-1, +1}; the columns stored one after the other."""

    def __init__(
        self, H: Tensor, y: Tensor, f: Tensor, Phi: Surrogate, weights: Tensor | None = None, world: World = ALONE
    ) -> None:
        super().__init__(H, y, f, weights, world)
        check(f.shape == y.shape, f"f must have shape ({len(H)},), got {tuple(f.shape)}.")
        check(y.dtype == torch.float64, f"y must be float64, got {y.dtype}.")
        check(bool((y.abs() == 1).all()), "y must be -1 or +1.")
        self.y, self.offset, self.Phi = y, 1 - y * f, Phi

    def change(self, direction: Tensor) -> Tensor:
        """y_i direction · h(x_i): by how much x falls, and the margins."""
        return self.y * (direction @ self.columns)

    def value(self, x: Tensor) -> Tensor:
        return self.mean(lambda at: self.Phi.value(x[at]))

    def dual(self, x: Tensor) -> Tensor:
        """Φ'(x), the dual point of x."""
        return self.Phi.derivative(x)

    def slope(self, s: Tensor) -> Tensor:
        """-(1/m) Σ_i s_i y_i h(x_i): ∇L at s = Φ'(x)."""
        s = self.weighted(s)
        parts = [self.columns[:, at] @ (self.y[at] * s[at]) for at in pieces(len(s))]
        return self.world.sum(sum(parts[1:], parts[0])) / -self.m

    def weight(self, x: Tensor, *, cautious: bool = False) -> Tensor:
        """Φ''(x); if cautious at least Φ' / (2 + 2|x|), since a Newton step is too long where Φ is nearly linear."""
        second = self.Phi.second(x)
        return torch.maximum(second, self.Phi.derivative(x) / (2 + 2 * x.abs())) if cautious else second

    def curvature(self, weight: Tensor, J: Tensor | None = None, *, every: int = 0) -> Tensor:
        """(1/m) Σ_i weight_i h(x_i) h(x_i)ᵀ, on all columns or those of the index J: ∇²L at weight = Φ''(x).

        With `every` = n >= 1 an approximation: from every n-th point alone, in single precision.
        """
        weight, J = self.weighted(weight), None if J is None or len(J) == len(self.columns) else J
        if every:
            columns, scale = self.single if every == 1 else in_single(self.columns[:, ::every])
            some = weight[::every].float()
            return from_single(symmetric(columns, some / len(some), J), scale if J is None else scale[J])
        return self.world.sum(symmetric(self.columns, weight / self.m, J))

    @cached_property
    def single(self) -> tuple[Tensor, Tensor]:
        """All columns in single precision, for the steps that are rough."""
        return in_single(self.columns)

    def predicted(self, x: Tensor, weight: Tensor, change: Tensor) -> Tensor:
        """Φ'(x - change) as the quadratic model predicts it, kept in the range of Φ': the dual point of its step."""
        largest = self.Phi.derivative(x.new_full((), torch.inf))
        s = self.Phi.derivative(x)
        return s.sub_(weight * change).clamp_min_(0).clamp_max_(largest)

    def young(self, x: Tensor, s: Tensor) -> Tensor:
        """mean(Φ(x) + Φ*(s) - s x) >= 0: what the loss adds to the gap between x and the dual point s."""
        return self.mean(lambda at: self.Phi.value(x[at]) + self.Phi.conjugate(s[at]) - s[at] * x[at])


def summed(values: Callable[[slice], Tensor], m: int, weights: Tensor | None) -> Tensor:
    """Σ_i s_i values_i over m points, PIECE of them at a time.

    >>> float(summed(lambda at: torch.ones(3)[at], 3, torch.arange(3.0)))
    3.0
    """
    parts = [values(at).sum() if weights is None else weights[at] @ values(at) for at in pieces(m)]
    return sum(parts[1:], parts[0])


def pieces(m: int) -> Iterator[slice]:
    """All m points, PIECE at a time."""
    return (slice(first, first + PIECE) for first in range(0, m, PIECE))


def symmetric(columns: Tensor, weight: Tensor, J: Tensor | None = None) -> Tensor:
    """Σ_i weight_i h(x_i) h(x_i)ᵀ on all columns or those of the index J.

    By strips of points, which stay in the cache, and blocks of columns, since half of a symmetric product suffices.
    """
    n = len(columns) if J is None else len(J)
    block = min(max(BLOCK[0], n // 32 * 8), BLOCK[1])
    Q = columns.new_zeros(n, n)
    for first in range(0, len(weight), STRIP):
        strip = columns[:, first : first + STRIP]
        strip = strip if J is None else strip.index_select(0, J)
        for i in range(0, n, block):
            Q[i : i + block, i:].addmm_(strip[i : i + block] * weight[first : first + STRIP], strip[i:].T)
    for i in range(0, n, block):
        Q[i + block :, i : i + block] = Q[i : i + block, i + block :].T
    return Q


def in_single(columns: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of largest entry 1 in single precision, and what they were divided by."""
    columns = columns.contiguous()
    largest = torch.maximum(columns.amax(1), -columns.amin(1))
    scale = torch.where(largest > 0, largest, 1.0)
    return (columns / scale[:, None]).float(), scale


def from_single(Q: Tensor, scale: Tensor) -> Tensor:
    """A curvature of such rows as one of the rows themselves; its diagonal a little larger, so that it stays one."""
    Q = Q.double()
    Q.diagonal().mul_(1 + ROUGH)
    return Q * scale * scale[:, None]
