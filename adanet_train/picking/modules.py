"""Any nn.Module as a learner for picking: trained on the start, then a few steps of Adam after every round of picks."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from adanet_theory.checks import Array, check
from adanet_train.core.bar import inside
from adanet_train.core.descend import Adam
from adanet_train.core.device import evaluated, threads_for
from adanet_train.core.network import margins
from adanet_train.picking.core import Labelled

CHUNK = 256
"""Rows that are evaluated at a time: always this many, so that a margin does not depend on the number of rows."""


@dataclass(frozen=True)
class Module:
    """A module with one logit (two classes) or one for each class.

    Parameters
    ----------
    factory : a function that returns an untrained module; it may draw from torch's global generator, which is seeded.
    seed : seed of the initial weights, the batches and dropout.
    epochs : passes over the start.
    first_rate : learning rate on the start, falling to 0 along a cosine.
    steps : steps of Adam after a round of picks.
    rate : learning rate of these steps.
    batch : points per step.
    weight : how much more often a pick is drawn than a point of the start.
    average : share of the new weights in the mean with those before the round.
    augment : (x, generator) -> x, a fixed random change of a batch in training, such as `shifted`.
    device : "cpu", "cuda", .. In float32 on a GPU the certificate is about that machine's arithmetic.
    """

    factory: Callable[[], nn.Module]
    seed: int = 0
    epochs: int = 30
    first_rate: float = 2e-3
    steps: int = 60
    rate: float = 5e-4
    batch: int = 64
    weight: float = 4.0
    average: float = 0.7
    augment: Callable[[Tensor, torch.Generator], Tensor] | None = None
    device: str = "cpu"

    grid = 2.0**-12

    def fit(self, P: Labelled, T: Labelled, previous: nn.Module | None) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(np.random.SeedSequence([self.seed, len(T)]).generate_state(1)[0])
            module = self.factory() if previous is None else copy.deepcopy(previous)
            check(isinstance(module, nn.Module), f"learner must return an nn.Module, got a {type(module).__name__}.")
            module = module.to(self.device)
            points = P + T
            weights = torch.ones(len(points))
            weights[len(P) :] = self.weight
            with threads_for(self.batch * self.operations(module, points)):
                if previous is None:
                    steps = self.epochs * -(-len(P) // self.batch)
                    self.steps_down(module, points, weights, steps, self.first_rate, falling=True)
                else:
                    self.steps_down(module, points, weights, self.steps, self.rate, falling=False)
                    self.mix(module, previous)
        return module.eval()

    def operations(self, module: nn.Module, points: Labelled) -> float:
        """Operations for one point; refuses a module that cannot read the rows or lacks outputs for the classes."""
        few = points[np.arange(min(2, len(points)))]
        with torch.random.fork_rng():
            f, operations = evaluated(copy.deepcopy(module).eval(), self.inputs(module, few))
        C, shape = len(points.classes), tuple(getattr(f, "shape", ()))
        known = shape == (len(few), C) or (C == 2 and shape in ((len(few),), (len(few), 1)))
        wanted = "one logit, or two outputs" if C == 2 else f"{C} outputs, one for each class of y"
        check(known, f"the module must have {wanted}, got the shape {shape} for {len(few)} points.")
        return operations

    def steps_down(
        self, module: nn.Module, points: Labelled, weights: Tensor, steps: int, rate: float, *, falling: bool
    ) -> None:
        x, y = self.inputs(module, points), torch.from_numpy(points.y).to(self.device)
        draw = torch.Generator().manual_seed(torch.initial_seed())
        parameters = [p for p in module.parameters() if p.requires_grad]
        optimisers = [Adam(p.detach()) for p in parameters]
        module.train()
        for step in range(steps):
            inside(step, steps)
            now = rate * 0.5 * (1 + math.cos(math.pi * step / steps)) if falling else rate
            rows = torch.multinomial(weights, self.batch, replacement=True, generator=draw).to(self.device)
            batch = x[rows] if self.augment is None else self.augment(x[rows], draw)
            loss = _loss(module(batch), y[rows])
            slopes = torch.autograd.grad(loss, parameters, allow_unused=True)
            for optimiser, slope in zip(optimisers, slopes, strict=True):
                if slope is not None:
                    optimiser.step(slope, now)

    def inputs(self, module: nn.Module, points: Labelled) -> Tensor:
        """X in the dtype of the module."""
        dtype = next((p.dtype for p in module.parameters()), torch.float32)
        return torch.from_numpy(np.ascontiguousarray(points.X)).to(self.device, dtype)

    @torch.no_grad()
    def mix(self, module: nn.Module, previous: nn.Module) -> None:
        """The mean of the weights after and before the round; what is not floating is taken from after it."""
        for new, old in zip(module.state_dict().values(), previous.state_dict().values(), strict=True):
            if new.is_floating_point():
                new.lerp_(old, 1 - self.average)

    def margins(self, predictor: nn.Module, points: Labelled) -> Array:
        if not len(points):
            return np.zeros(0)
        with threads_for(CHUNK * self.operations(predictor, points)):
            return padded_margins(predictor, self.inputs(predictor, points), torch.from_numpy(points.y).to(self.device))

    def predict(self, predictor: nn.Module, points: Labelled) -> NDArray[np.int64]:
        """The number of the class of each row, by the outputs that the margins are made of."""
        with threads_for(CHUNK * self.operations(predictor, points)):
            f = padded_outputs(predictor, self.inputs(predictor, points))
        one = f.ndim == 1 or f.shape[1] == 1
        return np.asarray((f.reshape(len(f)) > 0).long() if one else f.argmax(1))


def padded_margins(predictor: nn.Module, x: Tensor, y: Tensor) -> Array:
    """The margins of a module in eval mode, in batches of one size."""
    return np.asarray(_margins(padded_outputs(predictor, x), y)) if len(x) else np.zeros(0)


@torch.no_grad()
def padded_outputs(predictor: nn.Module, x: Tensor) -> Tensor:
    """The outputs of a module in eval mode, in float64, from batches of one size."""
    outputs = []
    predictor.eval()
    for first in range(0, len(x), CHUNK):
        part = x[first : first + CHUNK]
        full = torch.cat([part, part.new_zeros(CHUNK - len(part), *part.shape[1:])])
        outputs.append(predictor(full)[: len(part)].double().cpu())
    return torch.cat(outputs)


def shifted(x: Tensor, draw: torch.Generator) -> Tensor:
    """Images, each shifted by -1, 0 or 1 pixels in both directions; what comes in is 0."""
    down, right = torch.randint(-1, 2, (2, len(x)), generator=draw).tolist()
    padded = nn.functional.pad(x, (1, 1, 1, 1))
    h, w = x.shape[-2:]
    places = zip(padded, down, right, strict=True)
    return torch.stack([image[..., 1 + i : 1 + i + h, 1 + j : 1 + j + w] for image, i, j in places])


def _logits(f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """(f, y) as `margins` wants them: one logit with signs, or a row of logits with class indices."""
    return (f.reshape(len(f)), 2.0 * y - 1) if f.ndim == 1 or f.shape[-1] == 1 else (f, y)


def _loss(f: Tensor, y: Tensor) -> Tensor:
    f, y = _logits(f, y)
    return nn.functional.softplus(-y * f).mean() if f.ndim == 1 else nn.functional.cross_entropy(f, y)


def _margins(f: Tensor, y: Tensor) -> Tensor:
    f, y = _logits(f, y.cpu())
    return margins(f, y)
