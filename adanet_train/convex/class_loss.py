"""The smooth part of the convex step for C classes: the multinomial logistic loss with a margin of 1.

    L(W) = (1/m) Σ_i log Σ_c exp( z_{c,i} - z_{y_i,i} ),     z_{c,i} = f_c(x_i) + W_c · h(x_i) + 1{c != y_i}

It is log(1 + e^(1-u)), u the margin, where one wrong class is far above the others, and never below it: so it bounds
the ramp at ρ = 1, as the two-class surrogate does. The same interface as `SampleLoss`, on the C x N weights laid out
class by class; x, the argument of the loss, is z, of shape (C, m).
"""

from __future__ import annotations

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.convex.sample_loss import SampleLoss, Sums, from_single, in_single, symmetric
from adanet_train.core.world import ALONE, World


class ClassLoss(Sums):
    """L for columns H[i, j] = h_j(x_i), offset f of shape (m, C) and class indices y in 0..C-1."""

    def __init__(self, H: Tensor, y: Tensor, f: Tensor, weights: Tensor | None = None, world: World = ALONE) -> None:
        super().__init__(H, y, f, weights, world)
        shaped = f.ndim == 2 and len(f) == len(H) and f.shape[1] >= 2
        check(shaped, f"f must have shape ({len(H)}, C) with C >= 2, got {tuple(f.shape)}.")
        check(y.dtype == torch.int64, f"y must be int64, got {y.dtype}.")
        check(bool(((y >= 0) & (y < f.shape[1])).all()), f"y must be class indices in 0..{f.shape[1] - 1}.")
        self.classes = f.shape[1]
        self.own = torch.nn.functional.one_hot(y, self.classes).T.to(torch.float64)
        self.offset = f.T + 1 - self.own

    @property
    def size(self) -> int:
        return self.classes * len(self.columns)

    def change(self, direction: Tensor) -> Tensor:
        return -(direction.view(self.classes, -1) @ self.columns)

    def margins(self, direction: Tensor) -> Tensor:
        scores = -self.change(direction)
        return (scores * self.own).sum(0) - torch.where(self.own > 0, -torch.inf, scores).amax(0)

    def value(self, x: Tensor) -> Tensor:
        return self.mean(lambda at: x[:, at].logsumexp(0) - (x[:, at] * self.own[:, at]).sum(0))

    def dual(self, x: Tensor) -> Tensor:
        """s = p - e_y, p the softmax of z: the slopes of the loss in z."""
        return x.softmax(0).sub_(self.own)

    def slope(self, s: Tensor) -> Tensor:
        """∇L in the weights at the slopes s."""
        return self.world.sum((self.weighted(s) @ self.columns.T).flatten()) / self.m

    def weight(self, x: Tensor, *, cautious: bool = False) -> Tensor:
        """The softmax p, which gives the curvature diag(p) - p pᵀ; if cautious, mixed with 1/C."""
        p = x.softmax(0)
        return (p + 1 / self.classes) / 2 if cautious else p

    def blocks(self, J: Tensor) -> list[Tensor]:
        """The places in J of the weights of each class."""
        kinds = J // len(self.columns)
        return [(kinds == c).nonzero().squeeze(1) for c in range(self.classes)]

    def curvature(self, weight: Tensor, J: Tensor | None = None, *, every: int = 0) -> Tensor:
        """(1/m) Σ_i (diag(p_i) - p_i p_iᵀ) ⊗ h(x_i) h(x_i)ᵀ, on all weights or those of the index J.

        With `every` = n >= 1 an approximation: from every n-th point alone, in single precision.
        """
        J = torch.arange(self.size, device=weight.device) if J is None else J
        point = self.weighted(torch.ones_like(weight[0]))
        if not every:
            return self._curvature(self.columns, weight, point / weight.shape[1], J)
        columns, scale = in_single(self.columns[:, ::every])
        weight, point = weight[:, ::every].float(), point[::every].float()
        Q = self._curvature(columns, weight, point / weight.shape[1], J)
        return from_single(Q, scale[J % len(scale)])

    def _curvature(self, columns: Tensor, weight: Tensor, point: Tensor, J: Tensor) -> Tensor:
        """`point` is s_i/m."""
        places, units = self.blocks(J), J % len(columns)
        Q = weight.new_empty(len(J), len(J))
        for c, rows in enumerate(places):
            if len(rows) == 0:
                continue
            left = columns[units[rows]] * (weight[c] * point)
            for d in range(c, self.classes):
                if len(places[d]) == 0:
                    continue
                factor = (1 - weight[c]) if d == c else -weight[d]
                block = (left * factor) @ columns[units[places[d]]].T
                Q[rows[:, None], places[d]], Q[places[d][:, None], rows] = block, block.T
        return Q

    def single_curvature(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """(Q, scale): `curvature` in single precision is Q times scale scaleᵀ, number by number."""
        columns, scale = in_single(self.columns)
        point = self.weighted(torch.ones_like(weight[0])) / weight.shape[1]
        everything = torch.arange(self.size, device=weight.device)
        return self._curvature(columns, weight.float(), point.float(), everything), scale.repeat(self.classes)

    def class_curvatures(self, weight: Tensor, *, every: int = 0) -> Tensor:
        """[C, N, N]: the blocks of `curvature` in the weights of each class alone."""
        point = self.weighted(torch.ones_like(weight[0]))
        if not every:
            return torch.stack([symmetric(self.columns, p * (1 - p) * point / len(point)) for p in weight])
        columns, scale = in_single(self.columns[:, ::every])
        weight, point = weight[:, ::every].float(), point[::every].float()
        blocks = [symmetric(columns, p * (1 - p) * point / len(point)) for p in weight]
        return torch.stack([from_single(Q, scale) for Q in blocks])

    def curved(self, weight: Tensor, direction: Tensor) -> Tensor:
        """`curvature` times a direction, without the matrix."""
        return self.slope(self.moved(weight, -self.change(direction)))

    @staticmethod
    def moved(weight: Tensor, change: Tensor) -> Tensor:
        """(diag(p) - p pᵀ) times a change of z."""
        return weight * (change - (weight * change).sum(0))

    def predicted(self, x: Tensor, weight: Tensor, change: Tensor) -> Tensor:
        """The slopes after a step as the quadratic model with that weight predicts them, kept in their range."""
        p = x.softmax(0).sub_(self.moved(weight, change)).clamp_min_(0)
        return p.div_(p.sum(0)).sub_(self.own)

    def young(self, x: Tensor, s: Tensor) -> Tensor:
        """mean(L(x) + L*(s) - s·x) >= 0, L*(p - e_y) = Σ_c p_c log p_c: what the loss adds to the gap."""

        def values(at: slice) -> Tensor:
            z, p = x[:, at], (s[:, at] + self.own[:, at]).clamp_min(0)
            return z.logsumexp(0) + torch.special.xlogy(p, p).sum(0) - (p * z).sum(0)

        return self.mean(values)


class LineLoss(ClassLoss):
    """L(t) along one direction z of f, of the shape of f, or several: f_c(x_i) + Σ_j t_j z_{j,c}(x_i) + 1{c != y_i}."""

    def __init__(self, z: Tensor, y: Tensor, f: Tensor, weights: Tensor | None = None, world: World = ALONE) -> None:
        super().__init__(f[:, :0], y, f, weights, world)
        right = z.shape[-2:] == f.shape and z.ndim in (2, 3) and z.dtype == torch.float64
        check(right, f"z must be float64 of shape {tuple(f.shape)}, got {z.dtype} of {tuple(z.shape)}.")
        self.directions = z.mT.reshape(-1, *f.T.shape).contiguous()

    @property
    def size(self) -> int:
        return len(self.directions)

    def change(self, direction: Tensor) -> Tensor:
        change = -direction[0] * self.directions[0]
        for t, z in zip(direction[1:], self.directions[1:], strict=True):
            change = change - t * z
        return change

    def slope(self, s: Tensor) -> Tensor:
        sums = [self.weighted((s * z).sum(0)).sum() for z in self.directions]
        return self.world.sum(torch.stack(sums)) / self.m

    def curvature(self, weight: Tensor, J: Tensor | None = None, *, every: int = 0) -> Tensor:
        Z = self.directions if J is None else [self.directions[j] for j in J.tolist()]
        means = [(weight * z).sum(0) for z in Z]
        Q = weight.new_empty(len(Z), len(Z))
        for j in range(len(Z)):
            for k in range(j + 1):

                def values(at: slice, j: int = j, k: int = k) -> Tensor:
                    products = (weight[:, at] * (Z[j][:, at] * Z[k][:, at])).sum(0)
                    return products - means[j][at] * means[k][at]

                Q[j, k] = Q[k, j] = self.mean(values)
        return Q


Loss = SampleLoss | ClassLoss
