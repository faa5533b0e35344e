"""Stochastic gradient descent on F_t(w, u) over a subnetwork, with the gradient written out.

    h_k = E_k x_k + A_k a_{k-1},   a_k = φ(h_k),   f = f_{t-1} + Σ_k w_k · h_k

x_k are the existing inputs of layer k, a_{k-1} the subnetwork's own. The top layer is linear in u and in w, so it
needs no matrix product: f = f_{t-1} + (x_d, a_{d-1}) · (U_d^T w_d), and the gradient of U_d has rank one. All
parameters lie in one vector; nothing in the loop waits for the device (for p other than 1, 2, inf the projection does).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_train.config import Config
from adanet_train.convex.projection import nearest_
from adanet_train.core.activations import activation_slope
from adanet_train.core.network import subnetwork
from adanet_train.core.surrogates import Surrogate, surrogate

# The objective is looked at on at most this many points: a look must stay cheaper than the steps between two.
_LOOK = 10_000
STEPS, BATCH, RATE = 2_000, 100, 0.1  # where the config names none


@dataclass(frozen=True)
class Problem:
    """What to minimise: the loss of f + w·h(u) plus  Σ l1_j |w_j| + l2 ||u||² + l1_hidden ||u||_1."""

    inputs: Sequence[Tensor]
    y: Tensor
    f: Tensor
    output_layers: tuple[int, ...]
    radii: Sequence[float] | None = None
    """Λ_{k,k-1} to project on after every step; None: no constraint."""
    l1: Sequence[Tensor] = ()
    """Γ of the units of each output layer, or nothing: no penalty on w."""
    l2: float = 0.0
    l1_hidden: float = 0.0
    train_w: bool = True
    weights: Tensor | None = None
    """Sample weights of mean 1."""
    dropout: float = 0.0
    """On the existing inputs of layers k > 1."""


class Search:
    """The parameters (u, w) of one subnetwork on their way down; `run` takes steps, `objective` looks."""

    def __init__(self, problem: Problem, U: Sequence[Tensor], w: Sequence[Tensor], config: Config) -> None:
        self.problem, self.config = problem, config
        self.Phi: Surrogate = surrogate(config.surrogate)
        dtype, device = getattr(torch, config.dtype), problem.y.device
        self.x = [x.to(dtype).contiguous() for x in problem.inputs]
        # y and 1 - y f_{t-1} side by side, and the sample weights if any, so that one gather fetches all.
        labels = [problem.y, 1 - problem.y * problem.f]
        weights = [] if problem.weights is None else [problem.weights]
        self.labels = torch.stack([*labels, *weights], 1).to(dtype)
        m = len(problem.y)
        self.size = min(config.batch or BATCH, m)
        self.order, self.position = torch.zeros(0, dtype=torch.long, device=device), 0

        parts = [*U, *w]
        self.theta = torch.cat([part.reshape(-1) for part in parts]).to(dtype)
        self.trained = self.theta.numel() if problem.train_w else sum(part.numel() for part in U)
        self.slopes = torch.zeros_like(self.theta)
        self.U, self.w = self._views(self.theta, parts, len(U))
        self.U_slopes, self.w_slopes = self._views(self.slopes, parts, len(U))
        self.l1 = [l1.to(dtype) for l1 in problem.l1]
        self.mean, self.square = torch.zeros_like(self.theta), torch.zeros_like(self.theta)
        self.step = 0
        self.batch = [x.new_zeros(self.size, x.shape[1]) for x in self.x]
        self.batch_labels = self.labels.new_zeros(self.size, self.labels.shape[1])

    @staticmethod
    def _views(flat: Tensor, parts: Sequence[Tensor], layers: int) -> tuple[list[Tensor], list[Tensor]]:
        pieces = flat.split([part.numel() for part in parts])
        views = [piece.view(part.shape) for piece, part in zip(pieces, parts, strict=True)]
        return views[:layers], views[layers:]

    def weights(self) -> list[Tensor]:
        """U_1, .., U_d as they are now, in float64: copies, as the steps to come change them in place."""
        return [U.to(torch.float64, copy=True) for U in self.U]

    def run(self, steps: int, generator: torch.Generator) -> None:
        """So many steps; the order of the sample is drawn anew whenever it is used up."""
        for _ in range(steps):
            self._load(generator)
            self._differentiate()
            self._update()

    def objective(self) -> float:
        """The objective on the sample, or on every second, third, .. point of a large one."""
        every = math.ceil(len(self.labels) / _LOOK)
        x, labels = [x[::every] for x in self.x], self.labels[::every]
        f = self._forward(x)[-1]
        losses = self.Phi.value((labels[:, 1] - labels[:, 0] * f).double())
        loss = losses.mean() if self.problem.weights is None else (losses * labels[:, 2]).mean()
        return float(loss + self._penalty())

    def _penalty(self) -> Tensor:
        total = self.theta.new_zeros((), dtype=torch.float64)
        for w, l1 in zip(self.w, self.l1, strict=False):
            total += l1 @ w.abs()
        for U in self.U:
            total += self.problem.l2 * (U * U).sum() + self.problem.l1_hidden * U.abs().sum()
        return total

    def _load(self, generator: torch.Generator) -> None:
        if self.position + self.size > len(self.order):
            order = torch.randperm(len(self.labels), generator=generator)
            self.order, self.position = order.to(self.labels.device), 0
        index = self.order[self.position : self.position + self.size]
        self.position += self.size
        torch.index_select(self.labels, 0, index, out=self.batch_labels)
        for k, x in enumerate(self.x):
            if x.shape[1]:
                torch.index_select(x, 0, index, out=self.batch[k])
            if self.problem.dropout and k > 0 and x.shape[1]:
                rate = self.problem.dropout
                kept = torch.rand(self.batch[k].shape, generator=generator) >= rate
                self.batch[k].mul_(kept.to(self.batch[k]) / (1 - rate))

    def _forward(self, x: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
        """(h_1.., a_1.., of the layers below the top; U_d^T w_d; w·h)."""
        h, a = subnetwork(self.config.activation, x[:-1], self.U[:-1])
        n = x[-1].shape[1]
        v = torch.mv(self.U[-1].T, self.w[-1])
        f = torch.mv(x[-1], v[:n]) if n else torch.mv(a[-1], v)
        if a and n:
            f.addmv_(a[-1], v[n:])
        for k in self.problem.output_layers[:-1]:
            f.addmv_(h[k - 1], self.w[self.problem.output_layers.index(k)])
        return h, a, v, f

    def _differentiate(self) -> None:
        """The gradient of the mini-batch's objective, into `slopes`."""
        x, y = self.batch, self.batch_labels[:, 0]
        h, a, v, f = self._forward(x)
        g = self.Phi.derivative(torch.addcmul(self.batch_labels[:, 1], y, f, value=-1)).mul_(y).mul_(-1 / self.size)
        if self.problem.weights is not None:
            g.mul_(self.batch_labels[:, 2])
        n = x[-1].shape[1]
        along = torch.cat([torch.mv(part.T, g) for part in (x[-1], *a[-1:]) if part.shape[1]])
        torch.mv(self.U[-1], along, out=self.w_slopes[-1])
        torch.outer(self.w[-1], along, out=self.U_slopes[-1])
        back = torch.outer(g, v[n:]) if a else g
        for k in range(len(h) - 1, -1, -1):
            back.mul_(activation_slope(self.config.activation, h[k]))
            if k + 1 in self.problem.output_layers:
                j = self.problem.output_layers.index(k + 1)
                torch.mv(h[k].T, g, out=self.w_slopes[j])
                back.addr_(g, self.w[j])
            n = x[k].shape[1]
            if n:
                torch.mm(back.T, x[k], out=self.U_slopes[k][:, :n])
            if k > 0:
                torch.mm(back.T, a[k - 1], out=self.U_slopes[k][:, n:])
                back = torch.mm(back, self.U[k][:, n:])
        self._add_penalty_slopes()

    def _add_penalty_slopes(self) -> None:
        for slope, w, l1 in zip(self.w_slopes, self.w, self.l1, strict=False):
            slope.addcmul_(l1, w.sign())
        for slope, U in zip(self.U_slopes, self.U, strict=True):
            if self.problem.l2:
                slope.add_(U, alpha=2 * self.problem.l2)
            if self.problem.l1_hidden:
                slope.add_(U.sign(), alpha=self.problem.l1_hidden)

    def _update(self) -> None:
        theta, slopes = self.theta[: self.trained], self.slopes[: self.trained]
        rate = self.config.learning_rate or RATE
        if self.config.optimiser == "sgd":
            theta.add_(slopes, alpha=-rate)
        else:
            self.step += 1
            mean, square = self.mean[: self.trained], self.square[: self.trained]
            mean.lerp_(slopes, 0.1)
            square.mul_(0.999).addcmul_(slopes, slopes, value=0.001)
            bias = math.sqrt(1 - 0.999**self.step)
            theta.addcdiv_(mean, square.sqrt().add_(1e-8 * bias), value=-rate * bias / (1 - 0.9**self.step))
        if self.problem.radii is not None:
            for U, radius in zip(self.U, self.problem.radii, strict=True):
                nearest_(U, radius, self.config.p)
