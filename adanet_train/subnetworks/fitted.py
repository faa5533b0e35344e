"""A fitted ensemble of subnetworks: predictions, one torch module, a table, a file."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adanet_theory.checks import Array, Progress, check
from adanet_train.core.world import ALONE, World
from adanet_train.data import tables
from adanet_train.data.classes import REMEDY
from adanet_train.data.encoding import Encoder
from adanet_train.subnetworks import file
from adanet_train.subnetworks.data import Inputs, is_stream, labels_in
from adanet_train.subnetworks.ensemble import Candidates, Ensemble, Summary
from adanet_train.subnetworks.fitting import predict
from adanet_train.subnetworks.protocol import Report
from adanet_train.subnetworks.train import GrownEnsemble, Subnetworks, train


@dataclass(frozen=True, eq=False)
class Fitted:
    """The ensemble with the names of its classes and what is needed to write it."""

    grown: GrownEnsemble
    classes: NDArray[Any]
    device: str
    run: file.Run
    encoder: Encoder | None = None
    """Of a table: how its columns become those of X; later tables are encoded so."""
    picked: dict[str, Any] | None = None
    """The record of `certify`, where it was trained by picking."""

    @property
    def rounds(self) -> int:
        """Rounds that were run, the last of which may have added nothing."""
        return self.grown.rounds

    @property
    def reports(self) -> tuple[Report, ...]:
        return self.grown.reports

    def decision_function(self, X: Any) -> Array:
        """f on every point: one number for two classes, else one per class.

        Where a table was trained on, X may be a table too: a data frame, or the path of a .csv or .parquet file.
        """
        inputs, module = self._inputs(X), self.module()
        same = inputs.shape == self.grown.shape
        check(same, f"X must hold inputs of shape {self.grown.shape}, got {inputs.shape}.")
        f = predict(module, inputs, torch.arange(len(inputs)), self.grown.outputs, "ensemble").cpu().numpy()
        return f[:, 0] if self.grown.outputs == 1 else f

    def module(self) -> Ensemble:
        return self.grown.module()

    def summary(self) -> Summary:
        return self.grown.summary()

    @property
    def history(self) -> list[dict[str, Any]]:
        """One dict per round with the records of its candidates."""
        reports = self.reports
        rounds = dict.fromkeys(report.round for report in reports)
        return [{"candidates": [report.plain for report in reports if report.round == t]} for t in rounds]

    def candidates(self) -> Candidates:
        return Candidates(self.reports)

    def _inputs(self, X: Any) -> Inputs:
        if not is_table(X):
            return Inputs.of(X, self.device)
        check(self.encoder is not None, "X must be an array, as in training, got a table.")
        table = table_of(X, known=self.encoder)
        for note in table["notes"]:
            warnings.warn(note, stacklevel=4)
        return Inputs.of(table["X"], self.device)

    def write(self, path: str | Path) -> None:
        file.write(path, self.grown, self.classes.tolist(), self.run, self.encoder, self.picked)


def fit(
    X: Any,
    y: Any,
    subnetworks: Any,
    *,
    rounds: int,
    seed: int,
    device: str,
    callback: Callable[[Fitted], None] | None = None,
    resume: Fitted | None = None,
    progress: Progress | None = None,
    names_of_classes: Sequence[str] | None = None,
    encoder: Encoder | None = None,
    world: World = ALONE,
) -> Fitted:
    """Train on arrays, tensors, a table, a Dataset or a DataLoader; `callback` sees what there is after a round.

    A table is a data frame, or the path of a .csv or .parquet file, of which y is the name of the column of labels.

    `resume` is a run on the same points with the same seed and settings, to which rounds are added. The classes are
    called as the sorted labels are, or by `names_of_classes` in that order. `encoder` made X of a table; that of a data
    frame is made here.
    """
    settings = Subnetworks.of(subnetworks)
    if isinstance(X, str | Path):
        label = "y" if y is None else y
        check(isinstance(label, str), "of a file y must be the name of the column of labels.")
        table = tables.read(Path(X), label, coded=settings.categories)
        X, y, encoder = table["X"], table["y"], table["encoder"]
    elif is_table(X):
        table = table_of(X, coded=settings.categories)
        X, encoder = table["X"], table["encoder"]
    coded = encoder is not None and encoder.coded
    check(coded or not settings.categories, "categories=True needs a table: a data frame, a .csv or a .parquet file.")
    names = np.asarray(labels_in(X) if y is None and is_stream(X) else y)
    check(names.ndim == 1, f"y must be one label per point, got shape {names.shape}.")
    check(names.dtype.kind in "biuUO" or bool((names == names.round()).all()), f"y must hold labels: {REMEDY}")
    classes, index = np.unique(names, return_inverse=True)
    check(len(classes) >= 2, f"y must hold two classes or more, got {len(classes)}.")
    signs = _coded(index, classes)
    if isinstance(settings.validation, tuple):
        settings = replace(settings, validation=_validation(*settings.validation, classes))
    run = _run(X, signs, settings, seed)
    if resume is not None:
        resume.run.check_same(run, "resume")
    called = classes if names_of_classes is None else np.asarray(names_of_classes)
    check(len(called) == len(classes), f"y must hold the {len(called)} classes that have names, got {len(classes)}.")

    def done(grown: GrownEnsemble) -> Fitted:
        return Fitted(grown, called, device, run, encoder)

    def after(grown: GrownEnsemble) -> None:
        if callback is not None:
            callback(done(grown))

    begun = None if resume is None else resume.grown
    made: dict[str, Any] = {"rounds": rounds, "seed": seed, "device": device, "callback": after, "progress": progress}
    made["world"] = world
    made["categories"] = encoder.categories if encoder is not None and coded else ()
    return done(train(X, signs, settings, resume=begun, **made))


def read(path: str | Path, subnetworks: Any, device: str = "cpu") -> Fitted:
    """The fitted ensemble in a file, with the builders that made it."""
    saved = file.read(path, subnetworks)
    for one in saved.grown.chosen:
        one.module.to(device)
    return Fitted(saved.grown, np.asarray(saved.classes), device, saved.run, saved.encoder, saved.picked)


def is_table(X: Any) -> bool:
    """Whether it is a data frame or the path of a table."""
    return isinstance(X, str | Path) or (hasattr(X, "columns") and hasattr(X, "__getitem__"))


def table_of(X: Any, **asked: Any) -> dict[str, Any]:
    """X, encoder and notes of a data frame, or of a file without looking at its labels."""
    return tables.read(Path(X), None, **asked) if isinstance(X, str | Path) else tables.of_frame(X, **asked)


def _run(X: Any, y: torch.Tensor, settings: Subnetworks, seed: int) -> file.Run:
    m, share = len(y), settings.validation
    kept = {name: getattr(settings, name) for name in ("strategy", "weights", "validation", "lam", "beta")}
    if isinstance(share, tuple):
        kept["validation"], share = _digest(Inputs.of(share[0]), share[1]), 0.0
    known = {name: value for name, value in kept.items() if value is not None}
    return file.Run(seed, m, m - round(share * m), _digest(Inputs.of(X), y), known)


def _coded(index: NDArray[Any], classes: NDArray[Any]) -> torch.Tensor:
    """Class numbers as labels: -1/+1 of two classes."""
    return torch.from_numpy(2.0 * index - 1) if len(classes) == 2 else torch.from_numpy(index)


def _validation(X: Any, y: Any, classes: NDArray[Any]) -> tuple[Any, torch.Tensor]:
    """Validation points with their labels coded as those of the training points."""
    names = np.asarray(y)
    known = bool(np.isin(names, classes).all())
    check(known and names.shape == (len(X),), "validation y must hold one label per point, of the classes of y.")
    return X, _coded(np.searchsorted(classes, names), classes)


def _digest(inputs: Inputs, y: torch.Tensor) -> str:
    """SHA-256 of the labels and of the inputs, which must be finite; a Dataset may draw its inputs anew each time."""
    found = hashlib.sha256(f"{inputs.shape}\n".encode())
    found.update(y.numpy().tobytes())
    for x in () if inputs.streamed else inputs.batches(torch.arange(len(inputs))):
        check(bool(x.isfinite().all()), "X must hold finite numbers, got nan or inf.")
        found.update(x.numpy().tobytes())
    return found.hexdigest()


def tell(found: Fitted, say: Callable[[str], None] = print) -> None:
    """A line for each candidate of the last round."""
    for report in found.reports:
        if report.round == found.rounds:
            kept = "kept" if report.chosen else "not kept"
            took = f"{report.seconds or 0:.1f} CPU seconds"
            say(f"round {report.round}: {report.name} {kept}: {report.why}, {took}")
