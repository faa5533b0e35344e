"""What verify-bounds is given: the model, the sample and the test data, and what was converted on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adanet_theory.checks import check
from adanet_train.data import datasets
from adanet_train.data.datasets import Dataset
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile
from verify.question import Points


@dataclass(frozen=True, eq=False)
class Inputs:
    """`sample` is None where the model file's own is meant; `notes` are for the reader."""

    model: ModelFile
    sample: Points | None
    test: Points | None
    notes: tuple[str, ...]


def read(
    path: str,
    *,
    data_path: str | None = None,
    test_path: str | None = None,
    activation: str | None = None,
    label: str | None = None,
) -> Inputs:
    """Everything read and checked; a ValueError names the file and what was expected."""
    (found,) = read_many([path], data_path=data_path, test_path=test_path, activation=activation, label=label)
    return found


def read_many(
    paths: Sequence[str],
    *,
    data_path: str | None = None,
    test_path: str | None = None,
    activation: str | None = None,
    label: str | None = None,
) -> Iterator[Inputs]:
    """Models of one run, one after the other; the data are read once, with the classes of the first."""
    sample: Dataset | None = None
    test: Dataset | None = None
    for i, path in enumerate(paths):
        model, told = read_model(path, activation)
        classes, outputs = named_classes(model), model.network.outputs
        if i == 0:
            first = outputs
        given = data_path is not None or test_path is not None
        check(not given or outputs == first, f"{path}: has {outputs or 1} outputs, the first model {first or 1}.")
        if i == 0 and data_path is not None:
            sample = datasets.load(data_path, label=label, classes=classes, outputs=outputs)
        classes = (sample.classes if sample is not None else None) or classes
        if i == 0 and test_path is not None:
            test = datasets.load(test_path, label=label, test=True, classes=classes, outputs=outputs)
        yield _inputs(path, model, told, _named(sample, data_path), _named(test, test_path))


Named = tuple[Dataset, str] | None


def _named(dataset: Dataset | None, path: str | None) -> Named:
    return None if dataset is None or path is None else (dataset, path)


def _inputs(path: str, model: ModelFile, told: tuple[str, ...], sample: Named, test: Named) -> Inputs:
    notes, points = [*told], None
    if sample is not None:
        notes += sample[0].notes
        points = _points(*_for(sample, model))
        notes += _other_sample(model, points)
    missing = points is None and (model.sample is None or model.sample.Psi is None)
    check(not missing, f"{path}: holds no sample, expected --data FILE with the points it was trained on.")
    if test is None:
        held_out, note = _holdout(model)
        return Inputs(model, points, held_out, (*notes, *note))
    notes += [note for note in test[0].notes if note not in notes]
    return Inputs(model, points, _points(*_for(test, model)), tuple(notes))


def _holdout(model: ModelFile) -> tuple[Points | None, tuple[str, ...]]:
    """The points that training kept aside, if the file holds them."""
    kept = model.holdout
    if kept is None:
        return None, ()
    if kept.Psi is None or kept.y is None:
        return None, (f"training kept {kept.m} points aside, of which the file holds the digest only.",)
    points = Points(kept.Psi.numpy(), kept.y.numpy(), names=named_classes(model))
    return points, (f"tested on the {kept.m} points that training kept aside.",)


def _for(named: tuple[Dataset, str], model: ModelFile) -> tuple[Dataset, ModelFile, str]:
    return named[0], model, named[1]


def read_model(path: str, activation: str | None) -> tuple[ModelFile, tuple[str, ...]]:
    """The model, and what was converted on the way."""
    model = _model(path, activation)
    if model.is_converted:
        return model, (conversion(model),)
    check(activation is None, f"{path}: --activation is for a state_dict; a model file names its own.")
    return model, ()


def _model(path: str, activation: str | None) -> ModelFile:
    """Whatever a broken or hostile file provokes in zipfile, pickle or torch is said of the file, in one line."""
    try:
        return model_file.read_any(path, activation)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"{path}: cannot be read: {type(error).__name__} {error}".rstrip() + ".") from None


def _points(dataset: Dataset, model: ModelFile, path: str) -> Points:
    n_0, outputs = model.network.n[0], model.network.outputs
    try:
        same = dataset.outputs == outputs
        check(same, f"has {dataset.outputs or 2} classes, expected {outputs or 2} as the network has.")
        Psi = dataset.Psi(model.features)
        check(Psi.shape[1] == n_0, f"Psi must have n_0={n_0} columns, as the network reads, got {Psi.shape[1]}.")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    names = dataset.classes or named_classes(model)
    return Points(np.ascontiguousarray(Psi, dtype=np.float64), dataset.y, mapped=not dataset.is_psi, names=names)


def _other_sample(model: ModelFile, sample: Points) -> list[str]:
    if model.sample is None or model.sample.matches(sample.Psi, sample.y, model.network.outputs):
        return []
    return ["--data is not the sample that the file was trained on; the bounds are stated on --data."]


def named_classes(model: ModelFile) -> tuple[str, ...] | None:
    """The names of the classes -1 and +1, or of the outputs, if training left them in the file."""
    names: Any = model.meta.get("classes")
    if isinstance(names, list):
        names = [str(int(name)) if type(name) in (int, float) and name == name // 1 else name for name in names]
    count = model.network.outputs or 2
    sound = isinstance(names, list) and len(names) == count and all(isinstance(name, str) for name in names)
    return tuple(names) if sound and len(set(names)) == count else None


# A state_dict


def conversion(model: ModelFile) -> str:
    biased = model.features is not None and model.features.bias
    phi = model.network.activations
    between = f" with {phi[0]} between them, as --activation says, and nothing beside them" if phi else ""
    parts = [f"read as the state_dict of {model.network.depth} Linear layers{between}"]
    if biased:
        parts.append("biases carried exactly by a constant feature and constant units")
    if model.network.outputs is not None:
        parts.append(f"the {model.network.outputs} logits are the outputs of the classes")
    elif model.network.n[-1] == 2:
        parts.append("f is the second logit minus the first")
    return "; ".join(parts) + "."
