"""A fitted ensemble of subnetworks: predictions, one torch module, a table, a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adanet_theory.checks import Array, check
from adanet_train.data.classes import REMEDY
from adanet_train.subnetworks import file
from adanet_train.subnetworks.data import Inputs, is_stream, labels_in
from adanet_train.subnetworks.ensemble import Ensemble, Summary
from adanet_train.subnetworks.fitting import predict
from adanet_train.subnetworks.protocol import Report
from adanet_train.subnetworks.train import Grown, train


@dataclass(frozen=True, eq=False)
class Fitted:
    """The ensemble with the names of its classes and what is needed to write it."""

    grown: Grown
    classes: NDArray[Any]
    device: str
    seed: int
    m: int

    @property
    def reports(self) -> tuple[Report, ...]:
        return self.grown.reports

    def decision_function(self, X: Any) -> Array:
        """f on every point: one number for two classes, else one per class."""
        inputs, module = Inputs.of(X, self.device), self.module()
        same = inputs.shape == self.grown.shape
        check(same, f"X must hold inputs of shape {self.grown.shape}, got {inputs.shape}.")
        f = predict(module, inputs, torch.arange(len(inputs)), self.grown.outputs, "ensemble").cpu().numpy()
        return f[:, 0] if self.grown.outputs == 1 else f

    def module(self) -> Ensemble:
        return self.grown.module()

    def summary(self, X: Any) -> Summary:
        return self.grown.summary(Inputs.of(X, self.device))

    def write(self, path: str | Path) -> None:
        file.write(path, self.grown, self.classes.tolist(), self.seed, self.m)


def fit(
    X: Any,
    y: Any,
    subnetworks: Any,
    *,
    rounds: int,
    seed: int,
    device: str,
    verbose: bool = False,
    checkpoint: str | Path | None = None,
    resume: Fitted | None = None,
) -> Fitted:
    """Train on arrays, tensors, a Dataset or a DataLoader; `checkpoint` is written after every round."""
    names = np.asarray(labels_in(X) if y is None and is_stream(X) else y)
    check(names.ndim == 1, f"y must be one label per point, got shape {names.shape}.")
    check(names.dtype.kind in "biuUO" or bool((names == names.round()).all()), f"y must hold labels. {REMEDY}")
    classes, index = np.unique(names, return_inverse=True)
    check(len(classes) >= 2, f"y must hold two classes or more, got {len(classes)}.")
    signs = torch.from_numpy(2.0 * index - 1) if len(classes) == 2 else torch.from_numpy(index)

    def done(grown: Grown) -> Fitted:
        return Fitted(grown, classes, device, seed, len(index))

    def after(grown: Grown) -> None:
        if verbose:
            _say(grown)
        if checkpoint is not None:
            done(grown).write(checkpoint)

    begun = None if resume is None else resume.grown
    made: dict[str, Any] = {"rounds": rounds, "seed": seed, "device": device, "callback": after, "resume": begun}
    return done(train(X, signs, subnetworks, **made))


def read(path: str | Path, subnetworks: Any, device: str = "cpu") -> Fitted:
    """The fitted ensemble in a file, with the builders that made it."""
    grown, meta = file.read(path, subnetworks)
    for one in grown.chosen:
        one.module.to(device)
    return Fitted(grown, np.asarray(meta["classes"]), device, meta["seed"], meta["m"])


def _say(grown: Grown) -> None:
    last = max(report.round for report in grown.reports)
    for report in grown.reports:
        if report.round == last:
            kept = "kept" if report.chosen else "not kept"
            print(f"round {last}: {report.name} {kept}: {report.why}, {report.seconds:.1f} CPU seconds", flush=True)
