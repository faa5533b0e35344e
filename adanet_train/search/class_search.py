"""The search for units that C classes share: stochastic gradients of the multinomial loss, by torch's autograd.

    h_k = U_k (x_k, a_{k-1}),   a_k = φ(h_k),   f = f_{t-1} + V a_d

x_k are the inputs that exist, a_{k-1} the subnetwork's own. The labels are class indices; `margin` is what every wrong
class is given in advance, as in `convex.class_loss`: 1 for AdaNet, 0 for the baselines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_train.config import Config
from adanet_train.search.descent import BATCH, RATE, STEPS

LOOK = 10_000  # points at most on which the objective is looked at


@dataclass(frozen=True, eq=False)
class Descent:
    """What is minimised: the mean loss of f + forward(weights, inputs), and the penalty on the weights."""

    inputs: Sequence[Tensor]
    y: Tensor
    f: Tensor
    forward: Callable[[Sequence[Tensor], Sequence[Tensor]], Tensor]
    margin: float
    penalty: Callable[[Sequence[Tensor]], Tensor] | None = None
    project: Callable[[Sequence[Tensor]], None] | None = None
    weights: Tensor | None = None
    """Sample weights of mean 1, or none."""

    def objective(self, weights: Sequence[Tensor], rows: Tensor | slice) -> Tensor:
        f = self.f[rows] + self.forward(weights, [x[rows] for x in self.inputs])
        own = torch.nn.functional.one_hot(self.y[rows], f.shape[1]).to(f)
        losses = torch.nn.functional.cross_entropy(f + self.margin * (1 - own), self.y[rows], reduction="none")
        loss = losses.mean() if self.weights is None else (losses * self.weights[rows].to(losses)).mean()
        return loss if self.penalty is None else loss + self.penalty(weights)


def descend(of: Descent, start: Sequence[Tensor], config: Config, generator: torch.Generator) -> list[Tensor]:
    """The best weights seen, in float64; ends early when `patience` looks in a row saw no new best value."""
    dtype = getattr(torch, config.dtype)
    of = replace(of, inputs=[x.to(dtype) for x in of.inputs], f=of.f.to(dtype))
    weights = [part.to(dtype).clone().requires_grad_() for part in start]
    rate, steps = config.learning_rate or RATE, STEPS if config.steps is None else config.steps
    kind: Callable[..., torch.optim.Optimizer] = torch.optim.SGD if config.optimiser == "sgd" else torch.optim.Adam
    optimiser = kind(weights, lr=rate)
    m = len(of.y)
    look = slice(0, m, math.ceil(m / LOOK))
    size = min(config.batch or BATCH, m)
    best, least, bad = _copies(weights), _value(of, weights, look), 0
    order = torch.zeros(0, dtype=torch.long)
    for step in range(1, steps + 1):
        if len(order) < size:
            order = torch.randperm(m, generator=generator)
        rows, order = order[:size].to(of.y.device), order[size:]
        optimiser.zero_grad()
        of.objective(weights, rows).backward()
        optimiser.step()
        if of.project is not None:
            with torch.no_grad():
                of.project(weights)
        if step % config.check_every and step < steps:
            continue
        seen = _value(of, weights, look)
        best, least, bad = (_copies(weights), seen, 0) if seen < least else (best, least, bad + 1)
        if bad == config.patience or not math.isfinite(seen):
            break
    return best


@torch.no_grad()
def _value(of: Descent, weights: Sequence[Tensor], rows: slice) -> float:
    return float(of.objective(weights, rows))


def _copies(weights: Sequence[Tensor]) -> list[Tensor]:
    return [part.detach().to(torch.float64, copy=True) for part in weights]
