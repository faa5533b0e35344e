"""How a subnetwork is trained unless its builder says otherwise: Adam, stopped by the validation points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from adanet_theory.checks import Progress, check
from adanet_train.core.bar import stage
from adanet_train.core.descend import Adam, descend
from adanet_train.core.device import keep_freed_memory
from adanet_train.subnetworks.data import Inputs, Split
from adanet_train.subnetworks.protocol import Loss, outputs_of

EPOCHS, BATCH, RATE, PATIENCE = 10, 64, 6e-3, 3
RISE = 0.25
"""The share of the steps in which the learning rate rises, along a line, before it falls to 0 along a cosine."""
SCALES = tuple(2.0 ** (-k / 2) for k in range(9))
"""The scales at which an f is looked at: down to 1/16."""


@dataclass(frozen=True, eq=False)
class Data:
    """The data that a builder's `fit(module, data, loss)` gets: points, labels, and rows for training and validation.

    Attributes
    ----------
    inputs : `inputs[rows]` are some of them, in float32 on the device; rows are a slice or a tensor of numbers.
    y : the labels: -1 and +1 in float64 for two classes, else class numbers. `loss(module(x), y[rows])` reads both.
    split : `split.train` and `split.validation`, the numbers of the rows for each.
    outputs : 1 for two classes, else the number of classes.
    generator : random numbers of this candidate; torch's global generator is seeded from it while `fit` runs.
    name, progress : the builder's name, and a function that shows passes.
    previous : subnetworks of earlier rounds, which must stay unchanged and in eval mode, also inside of this one.
    """

    inputs: Inputs
    y: Tensor
    split: Split
    outputs: int
    generator: torch.Generator
    name: str = "subnetwork"
    progress: Progress | None = None
    previous: tuple[nn.Module, ...] = ()

    @property
    def device(self) -> torch.device:
        return self.inputs.device


@dataclass(frozen=True)
class Fit:
    """Settings of the default training; a builder may set its own as attribute `training`.

    Parameters
    ----------
    epochs : passes over the training rows at most.
    batch : rows per step.
    rate : Adam's largest learning rate; it rises for the first quarter of the steps and then falls to 0.
    patience : passes without a new least validation loss, at the best scale of f, before training stops.
    """

    epochs: int = EPOCHS
    batch: int = BATCH
    rate: float = RATE
    patience: int = PATIENCE

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "patience"):
            value = getattr(self, name)
            check(isinstance(value, int) and value >= 1, f"{name} must be an integer >= 1, got {name}={value!r}.")
        positive = isinstance(self.rate, float | int) and 0 < self.rate < math.inf
        check(positive, f"rate must be a finite number > 0, got rate={self.rate!r}.")

    def __call__(self, module: nn.Module, data: Data, loss: Loss) -> None:
        """Train in place; the weights of the pass with the least validation loss are kept."""
        free = [p for p in module.parameters() if p.requires_grad]
        if free:
            stage(f"subnetwork {data.name!r}")
            ModuleSearch(module, free, data, loss, self).run()


class ModuleSearch:
    """The weights of a module on their way down: they lie in one vector, as views of it, and so do their slopes."""

    def __init__(self, module: nn.Module, free: list[nn.Parameter], data: Data, loss: Loss, settings: Fit) -> None:
        self.module, self.free, self.data, self.loss, self.settings = module, free, data, loss, settings
        self.theta, self.slopes = _one_vector(free, data.name)
        self.adam = Adam(self.theta)
        self.a_pass = -(-len(data.split.train) // settings.batch)
        if self.a_pass > 1 and len(data.split.train) % settings.batch == 1:
            self.a_pass -= 1  # a batch of one row has no variance: it goes with the one before
        self.steps = self.a_pass * settings.epochs
        self.batches: list[Tensor] = []
        self.passes, self.last, self.least = 0, torch.zeros(()), math.inf

    def run(self) -> None:
        keep_freed_memory()
        best, _ = descend(self, steps=self.steps, every=self.a_pass, patience=self.settings.patience)
        self.theta.copy_(best)
        for p in self.free:
            p.data, p.grad = p.data.clone(), None  # a file then holds each by itself
        for buffer, kept in zip(self.module.buffers(), self.buffers, strict=True):
            buffer.copy_(kept)

    def rate(self, number: int) -> float:
        """The learning rate at step 1, 2, ..: up along a line, then down to 0 along a cosine."""
        done = (number - 1) / self.steps
        share = done / RISE if done < RISE else (1 + math.cos(math.pi * (done - RISE) / (1 - RISE))) / 2
        return self.settings.rate * share

    def step(self, number: int) -> None:
        if not self.batches:
            self._begin_a_pass()
        part, data = self.batches.pop(), self.data
        with torch.autocast(data.device.type, torch.bfloat16, enabled=data.device.type == "cuda"):
            f = outputs_of(self.module, data.inputs[part], data.outputs, data.name)
        value = self.loss(f.float(), data.y[part.to(data.y.device)])
        self.slopes.zero_()
        value.backward()
        self.adam.step(self.slopes, self.rate(number))
        self.last = value.detach()

    def _begin_a_pass(self) -> None:
        rows = self.data.split.train
        order = rows[torch.randperm(len(rows), generator=self.data.generator)]
        batches = list(order.split(self.settings.batch))
        last = self.a_pass - 1
        self.batches = [*batches[:last], torch.cat(batches[last:])][::-1]
        self.passes += 1
        self.module.train()
        for frozen in self.data.previous:
            frozen.eval()

    def look(self) -> float:
        """The validation loss after a pass; what the module keeps beside its weights is kept with the least."""
        data, last = self.data, float(self.last)
        wrong = f"subnetwork {data.name!r}: the loss is {last}, expected a finite number: lower its rate."
        check(math.isfinite(last), wrong)
        seen = validation_loss(self.module, data, self.loss)
        if data.progress is not None and self.passes:
            data.progress(self.passes, self.settings.epochs)
        if seen < self.least:
            self.least, self.buffers = seen, [buffer.clone() for buffer in self.module.buffers()]
        return seen


def _one_vector(parameters: list[nn.Parameter], name: str) -> tuple[Tensor, Tensor]:
    """The parameters as one vector, and a vector for their slopes; from then on they are views of these."""
    kinds = {str(p.dtype) for p in parameters}
    check(len(kinds) == 1, f"subnetwork {name!r}: weights must have one dtype, got {', '.join(sorted(kinds))}.")
    theta = parameters[0].data.new_empty(sum(p.numel() for p in parameters))
    slopes, first = torch.zeros_like(theta), 0
    for p in parameters:
        place = p.shape, torch.empty_like(p).stride(), first
        view = theta.as_strided(*place)
        view.copy_(p.data)
        p.data, p.grad = view, slopes.as_strided(*place)
        first += p.numel()
    return theta, slopes


def validation_loss(module: nn.Module, data: Data, loss: Loss) -> float:
    """The loss at the best scale of f on the validation rows, or on the training rows where there are none.

    The ensemble gives every subnetwork a weight: one that has become too sure of itself is scaled down, not worse.
    """
    rows = data.split.validation if len(data.split.validation) else data.split.train
    f, y = predict(module, data.inputs, rows, data.outputs, data.name), data.y[rows.to(data.y.device)]
    return min(float(loss(scale * f, y)) for scale in SCALES)


def predict(module: nn.Module, inputs: Inputs, rows: Tensor, outputs: int, name: str) -> Tensor:
    """The outputs of the module on these rows, in eval mode, float64."""
    module.eval()
    with torch.no_grad():
        parts = [outputs_of(module, x, outputs, name).double() for x in inputs.batches(rows)]
    f = torch.cat(parts) if parts else torch.zeros(0, outputs, dtype=torch.float64, device=inputs.device)
    if not bool(f.isfinite().all()):
        inputs.check_finite(rows)
        raise ValueError(
            f"subnetwork {name!r} must return finite numbers, got nan or inf: check its loss and its rate."
        )
    return f
