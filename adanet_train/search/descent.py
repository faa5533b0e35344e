"""Stochastic gradient descent on F_t(w, u) over a subnetwork, with the gradient written out.

    h_k = E_k x_k + A_k a_{k-1},   a_k = φ(h_k),   f = f_{t-1} + Σ_k w_k · h_k

x_k are the existing inputs of layer k, a_{k-1} the subnetwork's own; w_k has a row for each output, of which two
classes have one. The top layer is linear in u and in w, so it needs no product with h_d:
f = f_{t-1} + (x_d, a_{d-1}) · (w_d U_d), and the gradient of U_d has the rank of w_d. All parameters lie in one vector;
nothing in the loop waits for the device (for p other than 1, 2, inf the projection does).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_train.convex.labels import labels_of
from adanet_train.convex.projection import nearest_
from adanet_train.core.activations import activation_slope
from adanet_train.core.config import Config
from adanet_train.core.descend import OPTIMISERS, descend, views
from adanet_train.core.network import read, subnetwork

# The objective is looked at on at most this many points: a look must stay cheaper than the steps between two.
_LOOK = 10_000
STEPS, BATCH, RATE = 2_000, 100, 0.1  # where the config names none


@dataclass(frozen=True)
class SubnetworkProblem:
    """What to minimise: the loss of f + w·h(u) plus  Σ l1_j |w_j| + l2 ||u||² + l1_hidden ||u||_1."""

    inputs: Sequence[Tensor]
    y: Tensor
    """Signs, or class indices."""
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


class GradientSearch:
    """The parameters (u, w) of one subnetwork on their way down: `step` takes a step, `look` is at the objective."""

    def __init__(
        self,
        problem: SubnetworkProblem,
        U: Sequence[Tensor],
        w: Sequence[Tensor],
        config: Config,
        draw: torch.Generator,
    ) -> None:
        """w has one entry a unit, or a row of them for each class."""
        self.problem, self.config, self.draw = problem, config, draw
        self.labels = labels_of(problem.y, config.goal.surrogate)
        dtype, device = getattr(torch, config.run.dtype), problem.y.device
        self.x = [x.to(dtype).contiguous() for x in problem.inputs]
        self.y = problem.y.to(dtype) if problem.y.is_floating_point() else problem.y
        self.f = problem.f.to(dtype)
        self.s = None if problem.weights is None else problem.weights.to(dtype)
        self.size = min(config.search.batch or BATCH, len(self.y))
        self.order, self.position = torch.zeros(0, dtype=torch.long, device=device), 0

        parts = [*U, *(w_k.reshape(self.labels.tops, -1) for w_k in w)]
        self.theta = torch.cat([part.reshape(-1) for part in parts]).to(dtype)
        trained = self.theta.numel() if problem.train_w else sum(part.numel() for part in U)
        self.slopes = torch.zeros_like(self.theta)
        self.shapes, self.layers = [part.shape for part in parts], len(U)
        self.U, self.w = self._views(self.theta)
        self.U_slopes, self.w_slopes = self._views(self.slopes)
        self.l1 = [l1.to(dtype) for l1 in problem.l1]
        self.optimiser = OPTIMISERS[config.search.optimiser](self.theta[:trained])
        self.trained_slopes = self.slopes[:trained]
        self.batch = [x.new_zeros(self.size, x.shape[1]) for x in self.x]

    def _views(self, flat: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        parts = views(flat, self.shapes)
        return parts[: self.layers], parts[self.layers :]

    def lowest(self) -> list[Tensor]:
        """U_1, .., U_d in float64 at the best look, by the steps that the config allows."""
        config = self.config
        steps = STEPS if config.search.steps is None else config.search.steps
        best, _ = descend(self, steps=steps, every=config.search.check_every, patience=config.search.patience)
        return [U.double() for U in self._views(best)[0]]

    def step(self, number: int) -> None:
        """One of the batches; the order of the sample is drawn anew whenever it is used up."""
        self._differentiate(self._load())
        self.optimiser.step(self.trained_slopes, self.config.search.learning_rate or RATE)
        if self.problem.radii is not None:
            for U, radius in zip(self.U, self.problem.radii, strict=True):
                nearest_(U, radius, self.config.family.p)

    def look(self) -> float:
        """The objective on the sample, or on every second, third, .. point of a large one."""
        every = slice(None, None, math.ceil(len(self.y) / _LOOK))
        f = self._forward([x[every] for x in self.x])[-1]
        losses = self.labels.values(self.y[every], self.f[every] + self.labels.of(f))
        loss = losses.mean() if self.s is None else (losses * self.s[every]).mean()
        return float(loss + self._penalty())

    def _penalty(self) -> Tensor:
        total = self.theta.new_zeros((), dtype=torch.float64)
        for w, l1 in zip(self.w, self.l1, strict=False):
            total += (w.abs() @ l1).sum()
        for U in self.U:
            total += self.problem.l2 * (U * U).sum() + self.problem.l1_hidden * U.abs().sum()
        return total

    def _load(self) -> Tensor:
        """The inputs of the next batch into `batch`; the numbers of its points."""
        if self.position + self.size > len(self.order):
            order = torch.randperm(len(self.y), generator=self.draw)
            self.order, self.position = order.to(self.y.device), 0
        index = self.order[self.position : self.position + self.size]
        self.position += self.size
        for k, x in enumerate(self.x):
            if x.shape[1]:
                torch.index_select(x, 0, index, out=self.batch[k])
            if self.problem.dropout and k > 0 and x.shape[1]:
                rate = self.problem.dropout
                kept = torch.rand(self.batch[k].shape, generator=self.draw) >= rate
                self.batch[k].mul_(kept.to(self.batch[k]) / (1 - rate))
        return index

    def _forward(self, x: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
        """(h_1.., a_1.., of the layers below the top; w_d U_d; w·h, a column for each output)."""
        h, a = subnetwork(self.config.family.activation, x[:-1], self.U[:-1])
        n = x[-1].shape[1]
        v = self.w[-1] @ self.U[-1]
        f = read(x[-1], v[:, :n]) if n else read(a[-1], v)
        if a and n:
            f.addmm_(a[-1], v[:, n:].T)
        for j, k in enumerate(self.problem.output_layers[:-1]):
            f.addmm_(h[k - 1], self.w[j].T)
        return h, a, v, f

    def _differentiate(self, index: Tensor) -> None:
        """The gradient of the mini-batch's objective, into `slopes`."""
        x, problem = self.batch, self.problem
        h, a, v, f = self._forward(x)
        g = self.labels.slopes(self.y[index], self.f[index] + self.labels.of(f), 1 / self.size).view(f.shape)
        if self.s is not None:
            g.mul_(self.s[index].unsqueeze(1))
        n = x[-1].shape[1]
        along = torch.cat([g.T @ part for part in (x[-1], *a[-1:]) if part.shape[1]], 1)
        if problem.train_w:
            torch.mm(along, self.U[-1].T, out=self.w_slopes[-1])
        torch.mm(self.w[-1].T, along, out=self.U_slopes[-1])
        back = g @ v[:, n:] if a else g
        for k in range(len(h) - 1, -1, -1):
            back.mul_(activation_slope(self.config.family.activation, h[k]))
            if k + 1 in problem.output_layers:
                j = problem.output_layers.index(k + 1)
                torch.mm(g.T, h[k], out=self.w_slopes[j])
                back.addmm_(g, self.w[j])
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
