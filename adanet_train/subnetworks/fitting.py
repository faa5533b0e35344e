"""How a subnetwork is trained unless its builder says otherwise: Adam, stopped by the validation points."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from adanet_theory.checks import Progress, check
from adanet_train.subnetworks.data import Inputs, Split
from adanet_train.subnetworks.protocol import Loss, outputs_of

EPOCHS, BATCH, RATE, PATIENCE = 20, 128, 1e-3, 3


@dataclass(frozen=True, eq=False)
class Data:
    """What `fit(module, data, loss)` of a builder is given: the points, their labels, and which rows are for what."""

    inputs: Inputs
    y: Tensor
    split: Split
    outputs: int
    generator: torch.Generator
    name: str = "subnetwork"
    progress: Progress | None = None
    previous: tuple[nn.Module, ...] = ()
    """Subnetworks of earlier rounds, which must stay as they are: in eval mode, also inside of this one."""

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
    rate : Adam's learning rate, cosine to 0 over the epochs.
    patience : passes without a new least validation loss before training stops.
    """

    epochs: int = EPOCHS
    batch: int = BATCH
    rate: float = RATE
    patience: int = PATIENCE

    def __call__(self, module: nn.Module, data: Data, loss: Loss) -> None:
        """Train in place; the weights of the pass with the least validation loss are kept."""
        optimiser = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], lr=self.rate)
        if not optimiser.param_groups[0]["params"]:
            return
        rows, steps = data.split.train, -(-len(data.split.train) // self.batch)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps * self.epochs)
        least, best, since = float("inf"), copy.deepcopy(module.state_dict()), 0
        for epoch in range(self.epochs):
            self._pass(
                module, data, loss, rows[torch.randperm(len(rows), generator=data.generator)], optimiser, schedule
            )
            now = validation_loss(module, data, loss)
            if data.progress is not None:
                data.progress(epoch + 1, self.epochs)
            least, best, since = (
                (now, copy.deepcopy(module.state_dict()), 0) if now < least else (least, best, since + 1)
            )
            if since >= self.patience:
                break
        module.load_state_dict(best)

    def _pass(
        self,
        module: nn.Module,
        data: Data,
        loss: Loss,
        order: Tensor,
        optimiser: torch.optim.Optimizer,
        schedule: torch.optim.lr_scheduler.LRScheduler,
    ) -> None:
        module.train()
        for frozen in data.previous:
            frozen.eval()
        mixed = data.device.type == "cuda"
        for part in order.split(self.batch):
            with torch.autocast(data.device.type, torch.bfloat16, enabled=mixed):
                f = outputs_of(module, data.inputs[part], data.outputs, data.name)
            value = loss(f.float(), data.y[part.to(data.y.device)])
            optimiser.zero_grad(set_to_none=True)
            value.backward()
            optimiser.step()
            schedule.step()
        last = float(value.detach())
        check(
            math.isfinite(last),
            f"subnetwork {data.name!r}: the loss is {last}, expected a finite number: lower its rate.",
        )


def validation_loss(module: nn.Module, data: Data, loss: Loss) -> float:
    """The loss on the validation rows, or on the training rows where there are none, in eval mode."""
    rows = data.split.validation if len(data.split.validation) else data.split.train
    f = predict(module, data.inputs, rows, data.outputs, data.name)
    return float(loss(f, data.y[rows.to(data.y.device)]))


def predict(module: nn.Module, inputs: Inputs, rows: Tensor, outputs: int, name: str) -> Tensor:
    """The outputs of the module on these rows, in eval mode, float64."""
    module.eval()
    with torch.no_grad():
        parts = [outputs_of(module, x, outputs, name).double() for x in inputs.batches(rows)]
    f = torch.cat(parts) if parts else torch.zeros(0, outputs, dtype=torch.float64, device=inputs.device)
    finite = bool(f.isfinite().all())
    check(finite, f"subnetwork {name!r} must return finite numbers, got nan or inf: check its loss and its rate.")
    return f
