"""Newton steps of a loss with a penalty on groups of the weights: by one matrix, or by products with it.

    (Q + H) step = -gradient,     H of one block for each group

For C classes Q has (C n)² numbers: beyond `WHOLE` weights steps do not factor it. A product with it takes two passes
over the columns, and conjugate gradients need few of them when preconditioned. Far from the minimiser the C blocks of
Q + H on the diagonal do: they hold all of H, however steep its kinks. Near it the products p_c p_d of different classes
count as well: once the blocks need many products, the factor of all of Q + H at one point on the way, in single
precision, preconditions the steps from there on, until it needs many products too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from torch import Tensor

from adanet_train.convex.class_loss import ClassLoss, Loss
from adanet_train.convex.quadratic import RIDGE, factor, solve

WHOLE = 1_000
"""Up to this many weights have their curvature as one matrix."""
FACTORED = 12_000
"""Up to this many have one in single precision, to precondition: it and its factor take 1.2 GB."""
SINGLE = 1e-5
"""The ridge of such a matrix, of a unit diagonal."""
INEXACT, EXACT = 0.1, 1e-3
"""Of a step by conjugate gradients: the share of the residual that may be left, in the preconditioner's norm, at most
and at least; between them it is that norm itself, so that the last steps square the distance."""
MANY, MAX_PRODUCTS = 50, 300
"""Products of one step after which the next has a new preconditioner, and at which a step ends."""
EVERY, LEAST = 4, 4_000
"""The blocks, which only precondition, have every fourth point, of so many at least, in single precision."""

FAST, SLOW = 2e10, 2e9
"""Multiply-adds that a core does in a second, in products of matrices and in passes over memory."""
STEPS, FACTORS, PRODUCTS = 30, 5, 1_000
"""Of a minimisation, as seen on pixels of ten digits down to Γ = 5e-6."""

Nearly = Callable[[Tensor], Tensor]
"""The product of an approximate inverse of Q + H with a vector."""


def expected_seconds(m: int, n: int, C: int) -> float:
    """About how long one core needs for a joint step of C classes on n columns and m points.

    It errs on the long side: on the pixels of 10,000 digits it took 105 seconds (benchmark cvx_exact).

    >>> [round(expected_seconds(10_000, n, 10)) for n in (100, 785, 2_000)]
    [8, 206, 1980]
    """
    N = C * n
    whole = (m * N**2 / 2 + N**3 / 6) / FAST
    if C == 1 or N <= WHOLE:
        return STEPS * whole
    if N <= FACTORED:
        return FACTORS * whole + PRODUCTS * (2 * m * N + N**2) / SLOW
    return STEPS * MAX_PRODUCTS * (2 * m * N + n * N) / SLOW


class Curvature(ABC):
    """Q, the second derivative of a loss at some weights."""

    @abstractmethod
    def step(self, gradient: Tensor, H: Sequence[Tensor]) -> Tensor:
        """-(Q + H)^-1 gradient, H given by its blocks."""

    @abstractmethod
    def at(self, x: Tensor) -> Curvature:
        """Q where the argument of the loss is x."""


def curvature(loss: Loss, x: Tensor) -> Curvature:
    """Q where the argument of the loss is x."""
    if isinstance(loss, ClassLoss) and loss.size > WHOLE:
        return ByProducts(loss, loss.weight(x))
    return Whole(loss, loss.curvature(loss.weight(x)))


@final
@dataclass(frozen=True, eq=False)
class Whole(Curvature):
    loss: Loss
    Q: Tensor

    def step(self, gradient: Tensor, H: Sequence[Tensor]) -> Tensor:
        M, scale = _scaled(self.Q + torch.block_diag(*H), RIDGE)
        return solve(M, -gradient / scale) / scale

    def at(self, x: Tensor) -> Whole:
        return Whole(self.loss, self.loss.curvature(self.loss.weight(x)))


@final
class ByProducts(Curvature):
    """Q by its products, from the softmax p, with a preconditioner: the blocks, or a factor of all of Q + H."""

    def __init__(self, loss: ClassLoss, p: Tensor, nearly: Nearly | None = None, products: int = 0) -> None:
        self.loss, self.p, self.nearly, self.products = loss, p, nearly, products

    def at(self, x: Tensor) -> ByProducts:
        return ByProducts(self.loss, self.loss.weight(x), self.nearly, self.products)

    def step(self, gradient: Tensor, H: Sequence[Tensor]) -> Tensor:
        penalty = torch.stack([*H])
        if self.products > MANY and self.loss.size <= FACTORED:
            self.nearly = None  # two of them need not fit
            self.nearly = factored(self.loss, self.p, H)
        step, self.products = conjugate_gradients(
            lambda v: self.product(penalty, v), self.nearly or by_class(self.own, penalty), -gradient
        )
        return step

    def product(self, penalty: Tensor, v: Tensor) -> Tensor:
        """(Q + H) v."""
        return self.loss.curved(self.p, v) + (penalty @ v.view(*penalty.shape[:2], 1)).flatten()

    @cached_property
    def own(self) -> Tensor:
        """[C, n, n]: the blocks of Q of each class."""
        every = EVERY if self.loss.columns.shape[1] >= LEAST else 0
        return self.loss.class_curvatures(self.p, every=every)


def by_class(own: Tensor, penalty: Tensor) -> Nearly:
    """The preconditioner that uses the factors of the blocks."""
    M, scale = _scaled(own + penalty, RIDGE)
    root = factor(M)

    def nearly(r: Tensor) -> Tensor:
        r = (r.view_as(scale) / scale).unsqueeze(2)
        return (torch.cholesky_solve(r, root).squeeze(2) / scale).flatten()

    return nearly


def factored(loss: ClassLoss, p: Tensor, H: Sequence[Tensor]) -> Nearly:
    """The preconditioner that uses the factor of all of Q + H in single precision."""
    M, unit = loss.single_curvature(p)
    for c, block in enumerate(H):
        rows = slice(c * len(block), (c + 1) * len(block))
        M[rows, rows] += block / unit[rows] / unit[rows, None]
    M, scale = _scaled(M, SINGLE)
    root, scale = factor(M), scale * unit

    def nearly(r: Tensor) -> Tensor:
        return torch.cholesky_solve((r / scale).to(root).unsqueeze(1), root).squeeze(1) / scale

    return nearly


def conjugate_gradients(product: Callable[[Tensor], Tensor], nearly: Nearly, b: Tensor) -> tuple[Tensor, int]:
    """(M^-1 b, number of products) for a positive definite M, from products with M and with an approximate inverse."""
    x, r, z = torch.zeros_like(b), b, nearly(b)
    direction, size = z, r @ z
    enough = size * size.clamp(EXACT**2, INEXACT**2)
    for products in range(MAX_PRODUCTS):
        if not bool(size > enough):
            return x, products
        image = product(direction)
        t = size / (direction @ image)
        x, r = x + t * direction, r - t * image
        z = nearly(r)
        size, before = r @ z, size
        direction = z + (size / before) * direction
    return x, MAX_PRODUCTS


def _scaled(M: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """M, or each of several, with a unit diagonal and some ridge, and the roots of the diagonal it had."""
    diagonal = M.diagonal(dim1=-2, dim2=-1)
    scale = torch.where(diagonal > 0, diagonal, torch.ones_like(diagonal)).sqrt()
    M = M.div_(scale.unsqueeze(-2)).div_(scale.unsqueeze(-1))
    M.diagonal(dim1=-2, dim2=-1).add_(ridge)
    return M, scale
