"""Newton steps of a loss with a penalty on groups of the weights: by one matrix, or group by group.

    (Q + H) step = -gradient,     H of one block for each group

Of C classes Q has (C n)² numbers: beyond `WHOLE` it is not written down. Its product with a vector takes two passes
over the columns, and conjugate gradients need few of them when preconditioned by the C blocks of Q + H on the diagonal:
these hold all of H, however steep its kinks, and what is left of Q are the products p_c p_d of different classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.quadratic import RIDGE, factor, solve
from adanet_train.convex.sample_loss import SampleLoss

WHOLE = 1_000
"""So many weights have their curvature as one matrix."""
INEXACT = 0.01
"""Of a step by conjugate gradients: the share of the residual that may be left, in the preconditioner's norm."""
MAX_PRODUCTS = 300
EVERY, LEAST = 4, 4_000
"""The blocks, which only precondition, have every fourth point, of so many at least, in single precision."""


class Curvature(ABC):
    """Q, the second derivative of a loss at some weights."""

    @abstractmethod
    def step(self, gradient: Tensor, H: Sequence[Tensor]) -> Tensor:
        """-(Q + H)^-1 gradient, H given by its blocks."""


def curvature(loss: SampleLoss | ClassLoss, x: Tensor) -> Curvature:
    """Q where the argument of the loss is x."""
    weight = loss.weight(x)
    if isinstance(loss, ClassLoss) and loss.size > WHOLE:
        every = EVERY if loss.columns.shape[1] >= LEAST else 0
        return ByClass(loss, weight, loss.class_curvatures(weight, every=every))
    return Whole(loss.curvature(weight))


@final
@dataclass(frozen=True, eq=False)
class Whole(Curvature):
    Q: Tensor

    def step(self, gradient: Tensor, H: Sequence[Tensor]) -> Tensor:
        M, scale = _scaled(self.Q + torch.block_diag(*H))
        return solve(M, -gradient / scale) / scale


@final
@dataclass(frozen=True, eq=False)
class ByClass(Curvature):
    """By the softmax p, of which Q is made, and its blocks of each class, [C, n, n]."""

    loss: ClassLoss
    p: Tensor
    own: Tensor

    def step(self, gradient: Tensor, H: Sequence[Tensor]) -> Tensor:
        penalty = torch.stack([*H])
        M, scale = _scaled(self.own + penalty)
        ridge, root = RIDGE * scale.square(), factor(M)

        def nearly_solved(r: Tensor) -> Tensor:
            r = (r.view_as(scale) / scale).unsqueeze(2)
            return (torch.cholesky_solve(r, root).squeeze(2) / scale).flatten()

        def product(v: Tensor) -> Tensor:
            rows = v.view_as(scale)
            return self.loss.curved(self.p, v) + ((penalty @ rows.unsqueeze(2)).squeeze(2) + ridge * rows).flatten()

        return conjugate_gradients(product, nearly_solved, -gradient)


def conjugate_gradients(
    product: Callable[[Tensor], Tensor], nearly_solved: Callable[[Tensor], Tensor], b: Tensor
) -> Tensor:
    """M^-1 b for a positive definite M, of which there are products, and something near its inverse."""
    found, r, z = torch.zeros_like(b), b, nearly_solved(b)
    direction, size = z, r @ z
    enough = INEXACT**2 * size
    for _ in range(MAX_PRODUCTS):
        if not bool(size > enough):
            break
        image = product(direction)
        t = size / (direction @ image)
        found, r = found + t * direction, r - t * image
        z = nearly_solved(r)
        size, before = r @ z, size
        direction = z + (size / before) * direction
    return found


def _scaled(M: Tensor) -> tuple[Tensor, Tensor]:
    """M, or each of several, with a unit diagonal and some ridge, and the roots of the diagonal it had."""
    diagonal = M.diagonal(dim1=-2, dim2=-1)
    scale = torch.where(diagonal > 0, diagonal, torch.ones_like(diagonal)).sqrt()
    M = M / scale.unsqueeze(-2) / scale.unsqueeze(-1)
    M.diagonal(dim1=-2, dim2=-1).add_(RIDGE)
    return M, scale
