"""A fitted ensemble of subnetworks: predictions, one torch module, a table, a file."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adanet_theory.checks import Array, Progress, check
from adanet_train.core.world import ALONE, World
from adanet_train.data import files, tables
from adanet_train.data.classes import REMEDY
from adanet_train.data.encoding import Encoder, numbered, warn_of_ids
from adanet_train.subnetworks import file
from adanet_train.subnetworks.data import Inputs, dataset_of, is_rows_file, is_stream, labels_in
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
    run: file.RunSettings
    encoder: Encoder | None = None
    """For a table: how its columns become those of X; later tables are encoded in the same way."""
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
        return Inputs.of(self.read(X)[0], self.device)

    def read(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """X and y; a table is encoded as in training, and y may be the name of its column of labels."""
        if is_table(X):
            check(self.encoder is not None, "X must be an array, as in training, got a table.")
            X, y, _, notes = read_points(X, y, known=self.encoder)
            for note in notes:
                warnings.warn(note, stacklevel=5)
        return X, y

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

    A table is a data frame, or the path of a .csv or .parquet file, and y may name its column of labels. X may also
    name .npy files; then y is an array, the number of the column of labels, or names .npy files too.

    `resume` is a run on the same points with the same seed and settings, to which rounds are added. The classes are
    called as the sorted labels are, or by `names_of_classes` in that order. `encoder` made X of a table; that of a data
    frame is made here.
    """
    settings = Subnetworks.of(subnetworks)
    if is_table(X) or is_rows_file(X):
        X, y, encoder, _ = read_labelled(X, y, coded=settings.categories)
        if encoder is not None:
            warn_of_ids([*dict.fromkeys([*encoder.ids, *numbered(np.asarray(X), encoder.names)])], stacklevel=5)
    coded = encoder is not None and encoder.coded
    check(coded or not settings.categories, "categories=True needs a table: a data frame, a .csv or a .parquet file.")
    names = _labels(X, y)
    classes, index = np.unique(names, return_inverse=True)
    check(len(classes) >= 2, f"y must hold two classes or more, got {len(classes)}.")
    signs = _coded(index, classes)
    if is_stream(settings.validation):
        settings = replace(settings, validation=(settings.validation, labels_in(settings.validation)))
    if isinstance(settings.validation, tuple):
        own_X, own_y = settings.validation
        settings = replace(settings, validation=_validation(own_X, own_y, classes))
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
    if is_rows_file(X):
        return False
    return isinstance(X, str | Path) or (hasattr(X, "columns") and hasattr(X, "__getitem__"))


def read_points(X: Any, y: Any = None, **asked: Any) -> tuple[Any, Any, Encoder | None, Sequence[str]]:
    """(X, y, encoder, notes) of a data frame, of the path of a table, or of .npy files.

    y may name the labels: a table column, a column number of a .npy file, or .npy files. `asked` goes to `tables.read`.
    """
    label = str(y) if isinstance(y, str | Path | int) else None
    if is_rows_file(X):
        read = {"X": files.rows(Path(X))} if label is None else files.read_npy(Path(X), label)
    else:
        read = tables.read(Path(X), label, **asked) if isinstance(X, str | Path) else tables.of_frame(X, label, **asked)
    return read["X"], y if label is None else read["y"], read.get("encoder"), read.get("notes", ())


def read_labelled(X: Any, y: Any, **asked: Any) -> tuple[Any, Any, Encoder | None, Sequence[str]]:
    """As `read_points`, for training: the labels of a table are its column `y` unless another one is named."""
    if is_table(X) and isinstance(X, str | Path):
        y = "y" if y is None else y
        check(isinstance(y, str), "for a file y must be the name of the column of labels.")
    return read_points(X, y, **asked)


def require_numbers(encoder: Encoder | None, where: Any) -> None:
    """Refuse a table for a certificate whose columns were encoded by what stood in its rows."""
    told = "holds words or empty cells, and a certificate needs an encoding fixed before the rows were seen: drop them"
    check(encoder is None or not encoder.lists_words, f"{where}: {told}.")


def _labels(X: Any, y: Any) -> NDArray[Any]:
    """The label of each point, as it is called."""
    y = labels_in(X) if y is None and is_stream(X) else y
    check(y is not None, "y is required: one label per point.")
    names = np.asarray(y)
    if names.ndim != 1:
        remedy = "y.argmax(1) of one-hot rows, y.ravel() of one column"
        raise ValueError(f"y must be one label per point, got shape {names.shape}: {remedy}.")
    if names.dtype.kind == "f":
        missing = int(np.isnan(names).sum())
        check(missing == 0, f"y must hold labels, got nan in {missing} of {len(names)} rows: drop them.")
        check(bool((names == names.round()).all()), f"y must hold labels: {REMEDY}")
    if names.dtype.kind == "O":
        kinds = sorted({type(name).__name__ for name in names})
        check(len(kinds) == 1 and isinstance(names[0], str | Real), f"y must hold labels of one type, got {kinds}.")
    check(names.dtype.kind in "biufUO", f"y must hold labels, numbers or words, got dtype {names.dtype}.")
    return names


def _run(X: Any, y: torch.Tensor, settings: Subnetworks, seed: int) -> file.RunSettings:
    m, share = len(y), settings.validation
    kept = {name: getattr(settings, name) for name in ("strategy", "weights", "validation", "lam", "beta")}
    if isinstance(share, tuple):
        kept["validation"], share = _digest(Inputs.of(share[0]), share[1]), 0.0
    known = {name: value for name, value in kept.items() if value is not None}
    return file.RunSettings(seed, m, m - round(share * m), _digest(Inputs.of(X), y), known)


def _coded(index: NDArray[Any], classes: NDArray[Any]) -> torch.Tensor:
    """Class numbers as labels: -1/+1 of two classes."""
    return torch.from_numpy(2.0 * index - 1) if len(classes) == 2 else torch.from_numpy(index)


def _validation(X: Any, y: Any, classes: NDArray[Any]) -> tuple[Any, torch.Tensor]:
    """Validation points with their labels coded as those of the training points."""
    names, X = np.asarray(y), dataset_of(X) if is_stream(X) else X
    known = bool(np.isin(names, classes).all())
    check(known and names.shape == (len(X),), "validation y must hold one label per point, of the classes of y.")
    return X, _coded(np.searchsorted(classes, names), classes)


def _digest(inputs: Inputs, y: torch.Tensor) -> str:
    """SHA-256 of the labels and of the inputs, which must be finite; a Dataset may draw its inputs anew each time."""
    found = hashlib.sha256(f"{inputs.shape}\n".encode())
    found.update(y.numpy().tobytes())
    if not inputs.streamed:
        rows = torch.arange(len(inputs))
        inputs.check_finite(rows)
        for x in inputs.batches(rows):
            found.update(x.numpy().tobytes())
    return found.hexdigest()


def tell(found: Fitted, say: Callable[[str], None] = print) -> None:
    """A line for each candidate of the last round."""
    for report in found.reports:
        if report.round == found.rounds:
            kept = "kept" if report.chosen else "not kept"
            took = f"{report.seconds or 0:.1f} CPU seconds"
            say(f"round {report.round}: {report.name} {kept}: {report.why}, {took}")
