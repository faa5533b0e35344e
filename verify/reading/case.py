"""read(...) -> Case: what verify-bounds is asked about, from objects in Python and from files alike.

Both take one path: the predictor is a Subject, X and y are Pairs, and `_points` turns the two into the features, the
labels and the program's own predictions.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array, check, shown
from adanet_theory.spec import NetworkSpec
from adanet_train.app import factory as user_code
from adanet_train.core.by_class import ZERO_ONE
from adanet_train.data.disk import as_array, mean_size
from verify.reading import points, program, subject
from verify.reading.formula import BlackBox, Formula, ReadNetwork
from verify.reading.points import Classes, GivenPoints, Pairs
from verify.reading.program import ChainProgram, ModuleProgram, NamedProgram
from verify.reading.subject import Subject

if TYPE_CHECKING:
    from adanet_train.compression.file import CodedFile
    from adanet_train.data.datasets import Dataset


@dataclass(frozen=True, eq=False)
class Case:
    """The model and its points; `sample` is None where the model file's own is meant; `notes` are for the reader."""

    model: Formula | BlackBox
    sample: GivenPoints | None
    test: GivenPoints | None
    notes: tuple[str, ...]
    given: Subject
    X: Any = None
    """The sample as the program reads it, None where it is the model file's own."""


def read(
    network: Any,
    X: Any = None,
    y: Any = None,
    *,
    test: Any = None,
    activation: str | None = None,
    classes: Any = None,
    declared: NetworkSpec | Mapping[str, Any] | None = None,
) -> Case:
    """The case of a predictor and arrays; a ValueError of one line says what was expected."""
    X, y = subject.sample_of(network, X, y)
    sample, held_out = points.pairs(X, y), None if test is None else _test_pairs(test)
    sample, held_out = _encoded(network, sample), None if held_out is None else _encoded(network, held_out)
    given = _subject(network, sample, held_out, activation)
    if classes is not None:
        check(given.classes is None, "classes is for a predictor that does not know its own; this one does.")
        given = replace(given, classes=points.in_order(classes, given.outputs))
    return _case(subject.declare(given, declared), sample if sample.X is not None else None, held_out)


def _subject(network: Any, sample: Pairs, test: Pairs | None, activation: str | None) -> Subject:
    """The predictor; without a sample, given or in its file, only the held-out points say something about it."""
    if sample.X is not None or test is None:
        return subject.subject(network, sample.X, sample.y, activation)
    given = subject.subject(network, test.X, test.y, activation)
    return given if given.holds_points else subject.predictions(given, network)


def _encoded(network: Any, pairs: Pairs) -> Pairs:
    """The points of a table or of .npy files for subnetworks; a table is encoded as in their training."""
    from adanet_train.subnetworks import data, fitted

    ensemble = getattr(network, "ensemble_", None)
    is_table = fitted.is_table(pairs.X) and getattr(ensemble, "encoder", None) is not None
    if ensemble is None or not (is_table or data.is_rows_file(pairs.X)):
        return pairs
    X, y, _, notes = fitted.read_points(pairs.X, pairs.y, known=ensemble.encoder)
    return pairs._replace(X=X, y=y, notes=(*pairs.notes, *(f"{pairs.name}{note}" for note in notes)))


def _test_pairs(test: Any) -> Pairs:
    if isinstance(test, tuple | list):
        check(len(test) == 2, f"test must be a pair (X, y), a DataLoader or a Dataset, got {len(test)} parts.")
        return points.pairs(test[0], test[1], "test ")
    pairs = points.pairs(test, None, "test ") if points.is_of_data(test) else None
    check(pairs is not None, "test must be a pair (X, y), a DataLoader or a Dataset.")
    assert pairs is not None
    return pairs


def _case(given: Subject, sample: Pairs | None, test: Pairs | None) -> Case:
    notes, own, X = list(given.notes), None, None if sample is None else sample.X
    if sample is not None:
        own, classes, remarks = _points(given, sample)
        given = replace(given, classes=classes)
        notes += [*remarks, *_other_sample(given.model, own)]
    if test is None:
        kept, note = _kept_aside(given.model)
        return Case(given.model, own, kept, (*notes, *note), given, X)
    held_out, named, remarks = _points(given, test, _columns(given, X, test))
    if own is not None and test.file is None:
        _require_labels(given.outputs, given.classes, named)
    if own is None and given.classes is None and getattr(given.model, "sample", None) is not None:
        _require_labels(given.outputs, None, named)  # those of the file's own sample
    notes += [note for note in [*remarks, *_other_scale(own, held_out)] if note not in notes]
    return Case(given.model, own, held_out, tuple(notes), given, X)


def _require_labels(outputs: int | None, classes: Any, named: Any, where: str = "") -> None:
    """Held-out labels must be those of the sample, because others would get an order of their own."""
    numbers = "0/1 or -1/+1" if outputs is None else f"the numbers 0 to {outputs - 1}"
    held, got = (numbers if names is None else shown(list(map(str, names))) for names in (classes, named))
    check(classes == named, f"{where}test y must hold the labels of y: y holds {held}, test y {got}.")


SCALES = 20.0
"""How many times larger the mean of |x| may be on one set of points than on the other before a note asks."""


def _other_scale(sample: GivenPoints | None, test: GivenPoints) -> list[str]:
    """A note if the held-out points seem to have another scale than the sample, like 0..255 and 0..1."""
    if sample is None or sample.Psi.dtype.kind != "f":
        return []
    own, other = (mean_size(part.Psi) for part in (sample, test))
    if not min(own, other) * SCALES < max(own, other):
        return []
    return [f"the held-out points have mean |x| = {other:.3g}, the sample {own:.3g}: were both scaled alike?"]


# Points


def _columns(given: Subject, X: Any, test: Pairs) -> list[Any] | None:
    """The columns of the sample if both are frames; another order is refused: columns are read by position."""
    own, other = points.columns_of(X), points.columns_of(test.X)
    if own is None or other is None:
        return None
    alike = own == other or isinstance(given.model, BlackBox)
    shown = next((pair for pair in zip(own, other, strict=False) if pair[0] != pair[1]), (len(own), len(other)))
    check(alike, f"test X must have the columns of X in their order, got {shown[1]!r} where X has {shown[0]!r}.")
    return own


def _points(given: Subject, pairs: Pairs, columns: list[Any] | None = None) -> tuple[GivenPoints, Classes, list[str]]:
    """Features, labels and predictions, the names of the classes, and what was mapped."""
    name, file = pairs.name, pairs.file
    if file is not None:
        signs, classes, remarks = file.y, file.classes or given.classes, list(file.notes)
    else:
        m = points.count(pairs.X, f"{name}X")
        signs, classes, remarks = points.labels(pairs.y, given.classes, m, f"{name}y", given.outputs)
    notes = [*pairs.notes, *remarks]
    if isinstance(given.model, BlackBox):
        X = points.rows(pairs.X, f"{name}X") if isinstance(given.program, ModuleProgram) else pairs.X
        assert given.program is not None
        rows = points.comparable(X, f"{name}X", columns if hasattr(X, "columns") else None)
        return GivenPoints(rows, signs, False, given.program.predict(X), _called(classes, notes)), classes, notes
    Psi, mapped = _features(given, pairs)
    predicted = _decisions(given, pairs, Psi)
    raw = None if given.before is None else points.comparable(pairs.X, f"{name}X")
    Psi = points.doubles(Psi)
    own = GivenPoints(Psi, signs, mapped, predicted, _called(classes, notes), given.arithmetic, raw)
    return own, classes, [*notes, *_unseen(given, pairs)]


def _called(classes: Classes, notes: Sequence[str]) -> Classes:
    """What the user calls the classes: 0 and 1 where y held these."""
    return (0, 1) if classes is None and ZERO_ONE in notes else classes


def _decisions(given: Subject, pairs: Pairs, Psi: Array) -> Array | None:
    """What the program predicts; None where it is the network of the model file."""
    if given.program is None:
        return None
    if isinstance(given.program, ChainProgram):
        return given.program.predict(Psi)
    by_name = isinstance(given.program, NamedProgram) and points.columns_of(pairs.X) is not None
    read = points.rows if isinstance(given.program, ModuleProgram) else points.array
    return given.program.predict(pairs.X if by_name else read(pairs.X, f"{pairs.name}X"))


def _unseen(given: Subject, pairs: Pairs) -> list[str]:
    """Words and empty cells in a table that training did not have."""
    unseen = () if pairs.file is None else pairs.file.unseen(getattr(given.model, "features", None))
    return [f"{pairs.name}{note}" for note in unseen]


def _features(given: Subject, pairs: Pairs) -> tuple[Array, bool]:
    """Ψ, and whether the model's own map made it."""
    model, name, file = given.model, pairs.name, pairs.file
    assert not isinstance(model, BlackBox)
    if isinstance(model, ReadNetwork) or file is None:
        X = points.rows(pairs.X, f"{name}X") if given.before is None else points.array(pairs.X, f"{name}X")
        X = X if given.before is None else given.before(X)
        flat = X.reshape(len(X), math.prod(X.shape[1:]))
    if isinstance(model, ReadNetwork):
        shape = (len(X), *model.graph.shape)
        check(X.shape == shape, f"{name}X must have the shape {shape}, as the module reads, got {X.shape}.")
        return flat, False
    if file is not None:
        Psi, mapped = _of_columns(file, model, name), not file.is_psi
    else:
        Psi, mapped = flat if model.features is None else model.features(flat), model.features is not None
    n_0 = model.graph.n_0
    expected = "Psi must have" if file is not None else "X must give Psi with"
    check(Psi.shape[1] == n_0, f"{name}{expected} n_0={n_0} columns, as the network reads, got {Psi.shape[1]}.")
    return Psi, mapped


def _of_columns(file: Dataset, model: Formula, name: str) -> Array:
    try:
        return file.Psi(model.features)
    except ValueError as error:
        raise ValueError(f"{name}{error}") from None


def decisions(given: Subject, U: Any) -> Array:
    """What the program predicts at points without labels."""
    pairs = Pairs(U, None, name="unlabelled ")
    if isinstance(given.model, BlackBox):
        assert given.program is not None
        return given.program.predict(points.array(U, "unlabelled"))
    Psi, _ = _features(given, pairs)
    predicted = _decisions(given, pairs, Psi)
    if predicted is not None:
        return predicted
    return program.of_formula(given.model, GivenPoints(points.doubles(Psi), np.zeros(len(Psi))))


def unlabelled(network: Any, U: Any) -> Any:
    """Points without labels as the network reads them, where they are a table or .npy files for subnetworks."""
    return _encoded(network, Pairs(U, None)).X


def features(given: Subject, X: Any) -> Array:
    """Ψ of points as they are, by the map of the model."""
    return np.ascontiguousarray(_features(given, Pairs(X, None))[0], dtype=np.float64)


def _other_sample(model: Any, sample: GivenPoints) -> list[str]:
    stored = getattr(model, "sample", None)
    if stored is None or stored.matches(sample.Psi, sample.y, model.graph.classes):
        return []
    return ["--data is not the sample that the file was trained on; the bounds are stated on --data."]


def _kept_aside(model: Any) -> tuple[GivenPoints | None, tuple[str, ...]]:
    """The points that training kept aside, if the file holds them."""
    kept = getattr(model, "holdout", None)
    if kept is None:
        return None, ()
    if kept.Psi is None or kept.y is None:
        return None, (f"training kept {kept.m} points aside and the file holds only their digest.",)
    own = GivenPoints(kept.Psi.numpy(), kept.y.numpy(), names=model.shown_classes)
    return own, (f"tested on the {kept.m} points that training kept aside.",)


# Files


@dataclass(frozen=True)
class Named:
    """What a command names: the module's factory and files of its weights, or models, and the data."""

    models: Sequence[str] = ()
    data: str | None = None
    test: str | None = None
    activation: str | None = None
    label: str | None = None
    module: str | None = None
    weights: Sequence[str] = ()
    shape: tuple[int, ...] | None = None
    subnetworks: str | None = None
    declared: Mapping[str, Any] | None = None
    data_dir: str | None = None
    drop: Sequence[str] = ()
    recorded: str | None = None
    """The column of labels that the model file names."""

    def knowing(self, model: Any) -> Named:
        """With the column of labels that a model file names, unless another was given."""
        return replace(self, recorded=getattr(model, "label", None) or self.recorded)


def read_file(path: str, **names: Any) -> Case:
    """The case of one model file; the other fields of Named by name."""
    (only,) = read_files(Named(models=(path,), **names))
    return only


UNLIKE = (
    "the networks compared differ in activation, feature map or declared family: each statement pays for each of them."
)


def alike(named: Named) -> bool:
    """Whether the networks compared share activation, feature map and declared family, as a statement on all needs.

    Programs in other formats are not read: they count as different.
    """
    if len(named.models) < 2 or named.module is not None or named.subnetworks is not None:
        return True
    return (
        not any(map(_is_program, named.models)) and len({_kind(path, named.activation) for path in named.models}) == 1
    )


def _kind(path: str, activation: str | None) -> tuple[Any, ...]:
    import joblib

    model: Any = subject.of_model_file(path, activation).model
    phi = frozenset(one.name for one in model.graph.phi if one.name != "identity")
    return phi, joblib.hash(getattr(model, "features", None)), repr(model.declared)


def read_files(named: Named) -> Iterator[Case]:
    """Cases of one run, one after the other; the data are read once, with the classes of the first."""
    first: RunData | None = None
    sources = list(named.models) if named.module is None else [*named.weights] or [named.module]
    for path in sources:
        given, shape = subject_of(path, named)
        first = first or RunData(named, given, shape)
        first.require_alike(path, given)
        sample, test = first.pairs()
        missing = sample is None and not given.holds_points
        check(not missing or test is not None, f"{path}: holds no training points. {subject.ADD_POINTS}")
        read = _case(subject.predictions(given, path) if missing else given, sample, test)
        yield replace(read, notes=(*_unloaded(named, given), *read.notes))


def _unloaded(named: Named, given: Subject) -> list[str]:
    """A note if the module keeps the weights that its function gave it, which may be untrained."""
    if named.module is None or named.weights or not isinstance(given.program, ModuleProgram):
        return []
    return [f"no --weights: the weights are as {named.module} makes them, untrained unless it loads some."]


def _is_program(path: str) -> bool:
    """Whether the file holds operations, and not the layers of a model file."""
    from adanet_train.reading import exported

    return path.lower().endswith((".onnx", ".pt2")) or exported.is_exported_file(path)


def subject_of(path: str, named: Named) -> tuple[Subject, tuple[int, ...] | None]:
    """The predictor of a file or of the module, and the shape of its points where it has one of its own."""
    own_code = named.module is not None or named.subnetworks is not None
    if not own_code and not _is_program(path):
        own = subject.of_model_file(path, named.activation)
        return own, own.model.graph.shape if isinstance(own.model, ReadNetwork) else None
    source = named.data or named.test
    check(source is not None, f"{path}: holds no training points. {subject.ADD_POINTS}")
    assert source is not None
    ensemble = None if named.subnetworks is None else _ensemble(path, named.subnetworks)
    own_points = None if ensemble is None else ensemble.ensemble_
    data = load(named, source, own_points, many=True)
    shape = named.shape or (own_points.grown.shape if own_points else data.shape) or data.values.shape[1:]
    weights = path if named.weights else None
    network = ensemble or (path if named.module is None else made(named.module, weights))
    X = _shaped(data, shape, source, whole=named.module is not None and not hasattr(network, "state_dict"))
    given = subject.subject(network, X, data.y, named.activation)
    given = replace(given, coded=None if weights is None else _coded(weights))
    return subject.declare(given, named.declared), tuple(shape)


def _ensemble(path: str, factory: str) -> Any:
    """The ensemble in a file, with the builders that the user names: the file itself imports nothing."""
    from adanet_train.app.subnetworks import builders
    from adanet_train.estimator import load as load_model

    return load_model(path, subnetworks=builders(factory))


def load(named: Named, path: str, ensemble: Any = None, *, many: bool = False, **options: Any) -> Dataset:
    """The points of a file or name; for an ensemble of subnetworks as adanet-train gives them to builders."""
    from adanet_train.data import datasets, images

    encoder = None if ensemble is None else ensemble.encoder
    label, recorded = named.label, named.recorded if encoder is None else encoder.label
    if label is None and path.lower().endswith((".csv", ".parquet")):
        label = recorded
    options |= {"label": label, "data_dir": named.data_dir, "drop": named.drop}
    if ensemble is None:
        return datasets.load(path, shaped=True, many=many, **options)
    return images.load(path, known=encoder, **options).dataset


def _shaped(data: Dataset, shape: Sequence[int], path: str, *, whole: bool = False) -> Array:
    """X in the shape of the network's points; rows on the disk stay there but for what reads them as one array."""
    n = data.values.shape[1]
    fits = int(np.prod(shape)) == n
    check(fits, f"{path}: --shape must have {n} numbers, as many as a row has, got {','.join(map(str, shape))}.")
    values: Any = as_array(data.values) if whole else data.values
    return values.reshape(len(data.y), *shape)


def _named(name: Any) -> str:
    """A class as files name it, a whole number without its point."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _columns_of_training(named: Named, model: Any, sample: Dataset) -> tuple[str, ...]:
    """Which columns are read as in training, where they were not named again."""
    label = f"the labels are in column {sample.label!r}"
    says = [label] * (named.label is None and sample.label is not None and sample.label == named.recorded != "y")
    dropped = getattr(model, "dropped", ())
    says += [f"{shown(dropped)} {'are' if len(dropped) > 1 else 'is'} left out"] * (
        bool(dropped) and sample.label is not None
    )
    return (f"as in training, {' and '.join(says)}.",) if says else ()


class RunData:
    """The sample and the held-out points of a run, read once, with the classes of its first predictor."""

    def __init__(self, named: Named, given: Subject, shape: tuple[int, ...] | None) -> None:
        named = named.knowing(given.model)
        self.outputs, self.named, self.shape = given.outputs, named, shape
        self.whole = not isinstance(given.program, ModuleProgram)
        classes = None if given.classes is None else tuple(map(_named, given.classes))
        features = getattr(given.model, "features", None)
        read: dict[str, Any] = {"outputs": self.outputs, "ensemble": given.ensemble}
        read |= {} if features is None else {"only": features.columns}
        self.sample = None if named.data is None else load(named, named.data, classes=classes, **read)
        self.remarks = () if self.sample is None else _columns_of_training(named, given.model, self.sample)
        classes = (self.sample.classes if self.sample is not None else None) or classes
        self.test = None
        if named.test is not None:
            self.test = load(named, named.test, test=True, classes=classes, **read)
            if self.sample is not None:
                _require_labels(self.outputs, self.sample.classes, self.test.classes, f"{named.test}: ")

    def require_alike(self, path: str, given: Subject) -> None:
        """Refuse networks with different numbers of outputs: one data set has labels for one number."""
        used, own = self.sample is not None or self.test is not None, given.outputs
        check(not used or own == self.outputs, f"{path}: has {own or 1} outputs, the first model {self.outputs or 1}.")

    def pairs(self) -> tuple[Pairs | None, Pairs | None]:
        sample, test = self._pairs(self.sample, self.named.data), self._pairs(self.test, self.named.test)
        return sample and sample._replace(notes=(*sample.notes, *self.remarks)), test

    def _pairs(self, data: Dataset | None, path: str | None) -> Pairs | None:
        if data is None or path is None:
            return None
        same = data.outputs == self.outputs
        own, wanted = data.outputs or 2, self.outputs or 2
        check(same, f"{path}: has {own} classes, expected {wanted} as the network has.")
        X = data.values if self.shape is None else _shaped(data, self.shape, path, whole=self.whole)
        return Pairs(X, data.y, file=data, name=f"{path}: ")


def made(factory: str, weights: str | None) -> Any:
    """What package:factory makes, in eval mode and with the weights of the file; imported because the user named it."""
    network = user_code.called(factory, "--module", user_code.named(factory, "--module"))
    has_weights = hasattr(network, "load_state_dict")
    check(has_weights or weights is None, f"--weights is for an nn.Module, {factory} made a {type(network).__name__}.")
    known = has_weights or hasattr(network, "classes_")
    check(known, f"--module {factory} must make an nn.Module or a fitted classifier, got a {type(network).__name__}.")
    if weights is not None:
        network = _with_weights(network, weights)
    return network.eval() if has_weights else network


def _with_weights(module: Any, path: str) -> Any:
    """Tensors and nothing else: weights_only, every tensor has its place; or the weights of a compressed network."""
    from adanet_train.data import archive
    from adanet_train.reading import state_dict

    if (coded := _coded(path)) is not None:
        return coded.network(module)
    try:
        module.load_state_dict(state_dict.weights(state_dict.load_weights(archive.read_bytes(path), path)))
    except RuntimeError as error:
        reason = textwrap.shorten(str(error), 300, placeholder=" ..")
        raise ValueError(f"{path}: does not fit the module: {reason.rstrip('.')}.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    return module


def _coded(path: str) -> CodedFile | None:
    """The compressed network of a file, where it holds one."""
    from adanet_train.compression import file

    return file.read(path) if file.is_coded_file(path) else None
