"""What verify_bounds is handed: a module, an estimator, a state_dict or a path, and arrays. -> Model and points.

Labels are understood or refused, never guessed: 0/1, -1/+1, two names (in the order of the alphabet, or of the
estimator's classes_), of a network with an output for each class their indices or names; a note says what was mapped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array, check
from adanet_theory.spec import NetworkSpec
from verify.question import Points
from verify.reading.program import ModuleProgram, NamedProgram, Program
from verify.rows.report import GraphModel

if TYPE_CHECKING:
    from adanet_train.model.model_file import ModelFile
    from adanet_train.reading.graph import Graph

Classes = tuple[Any, ...] | None
KINDS = "a torch nn.Module, a fitted estimator, a state_dict (with activation) or a path"


@dataclass(frozen=True, eq=False)
class Subject:
    """The network as a model, its classes where it knows them (of -1 and +1, or of its outputs), and notes.

    The model is the formula. `program` is what the user deploys, None where that is the network of the model file.
    """

    model: ModelFile | GraphModel
    classes: Classes = None
    notes: tuple[str, ...] = ()
    program: Program | None = None

    @property
    def outputs(self) -> int | None:
        """The number of classes with an output each; None for one function f."""
        if isinstance(self.model, GraphModel):
            return None if self.model.graph.outputs == 1 else self.model.graph.outputs
        return self.model.network.outputs


def subject(network: Any, X: Array | None, activation: str | None) -> Subject:
    """The network, whatever it came as. A module is read on points of the shape of X and compared with itself on X."""
    from torch import nn

    from adanet_train.classifier import NetworkClassifier

    if isinstance(network, str | os.PathLike):
        return _of_path(os.fspath(network), activation)
    if isinstance(network, Mapping):
        from adanet_train.model import model_file
        from verify.reading.inputs import conversion

        model = model_file.of_state_dict(network, activation)
        return Subject(model, notes=(conversion(model),))
    check(activation is None, "activation is for a state_dict; a module, an estimator and a model file have their own.")
    if isinstance(network, NetworkClassifier):
        check(hasattr(network, "model_"), "the estimator is not fitted yet, expected a fitted one.")
        return Subject(network.model_, tuple(network.classes_.tolist()))
    if isinstance(network, nn.Module):
        check(X is not None, "a module knows no sample, expected X and y.")
        return _of_module(_unwrapped(network), np.asarray(X))
    found = _of_sklearn(network)
    steps = "; of a Pipeline its last step, on X as the steps before it make it" if hasattr(network, "steps") else ""
    check(found is not None, f"network must be {KINDS}, got a {type(network).__name__}{steps}.")
    assert found is not None
    return found


def _of_path(path: str, activation: str | None) -> Subject:
    from verify.reading import inputs

    model, notes = inputs.read_model(path, activation)
    return Subject(model, inputs.named_classes(model), notes)


def _of_sklearn(network: Any) -> Subject | None:
    """A fitted MLPClassifier: one logit of two classes, or one for each of more."""
    import torch

    from adanet_train.model import model_file

    known = sys.modules.get("sklearn.neural_network")
    if known is None or not isinstance(network, known.MLPClassifier):
        return None
    check(hasattr(network, "coefs_"), "the estimator is not fitted yet, expected a fitted one.")
    several = network.n_outputs_ > 1 and network.out_activation_ == "logistic"
    check(not several, "an MLPClassifier of several labels for each point decides more than one class.")
    names = {"relu": "relu", "tanh": "tanh", "logistic": "sigmoid", "identity": "identity"}
    state: dict[str, Any] = {}
    for k, (W, b) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        state |= {f"{k}.weight": torch.from_numpy(W.T.copy()), f"{k}.bias": torch.from_numpy(b.copy())}
    model = model_file.of_state_dict(state, names[network.activation])
    classes = tuple(network.classes_.tolist())
    note = "read from the MLPClassifier's weights."
    return Subject(model, classes, (note,), NamedProgram(network.predict, classes))


# A module


def _unwrapped(module: Any) -> Any:
    """What torch.compile, DataParallel and DistributedDataParallel run."""
    from torch import nn

    if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return _unwrapped(module.module)
    return _unwrapped(module._orig_mod) if hasattr(module, "_orig_mod") else module


def _arithmetic(module: Any) -> list[str]:
    """A word where the module itself computes in less than float32."""
    kinds = {str(weight.dtype).removeprefix("torch.") for weight in module.parameters()} - {"float32", "float64"}
    if not kinds:
        return []
    return [f"its weights are {' and '.join(sorted(kinds))}; what is said is about these numbers in exact arithmetic."]


def _of_module(module: Any, X: Array) -> Subject:
    from adanet_train.reading.trace import require_equal, trace

    graph = trace(module, X.shape[1:])
    outputs = graph.outputs
    difference = require_equal(graph, module, X)
    notes = [f"read by torch.fx as {len(graph.nodes)} nodes; {len(X):,} points differ in float64 by {difference:.1g}."]
    notes += _arithmetic(module)
    if graph.link:
        notes.append(f"the {graph.link} at the end changes no decision: it was taken off, and f is the logit below it.")
    if outputs == 2:
        notes.append("f is the second logit minus the first.")
    model: ModelFile | GraphModel | None = stack(graph)
    program = ModuleProgram(module, 0.5 if graph.link == "sigmoid" else 0.0)
    if model is None:
        model = GraphModel(graph.read((-1.0, 1.0)) if outputs == 2 else graph)
    return Subject(model, notes=tuple(notes), program=program)


def stack(graph: Graph) -> ModelFile | None:
    """The network in layers, if it is Linear, activation, .., Linear with one activation: the families are about it.

    None for every other graph; so for biases above layer 1 where φ(1) != 1, which layers cannot carry.
    """
    from adanet_train.model import model_file
    from adanet_train.reading.operations import Activate, Dense, Reshape

    nodes = [node for node in graph.nodes if not isinstance(node.operation, Reshape)]
    follows = all(node.inputs == (i,) for i, node in enumerate(graph.nodes))
    linear, between = [node.operation for node in nodes[::2]], [node.operation for node in nodes[1::2]]
    names = {operation.phi.name for operation in between if isinstance(operation, Activate)}
    sound = follows and len(nodes) % 2 == 1 and all(isinstance(operation, Activate) for operation in between)
    if not sound or len(names) > 1 or not all(isinstance(o, Dense) for o in linear):
        return None
    state = {}
    for k, operation in enumerate(linear):
        assert isinstance(operation, Dense)
        state[f"{k}.weight"] = operation.W
        if operation.b is not None:
            state[f"{k}.bias"] = operation.b
    if any(W.ndim != 2 or W.shape[1] != n for W, n in zip(_weights(state), _reads(graph, state), strict=True)):
        return None
    biased = any(f"{k}.bias" in state for k in range(1, len(linear)))
    name = next(iter(names), "identity")
    from adanet_theory.activations import activation

    if biased and float(activation(name)(1.0)) != 1:
        return None
    return model_file.of_state_dict(state, name)


def _weights(state: Mapping[str, Any]) -> list[Any]:
    return [tensor for key, tensor in state.items() if key.endswith("weight")]


def _reads(graph: Graph, state: Mapping[str, Any]) -> list[int]:
    """How many numbers each Linear reads if it reads all of the layer below."""
    return [int(np.prod(graph.shape)), *(len(W) for W in _weights(state)[:-1])]


# Arrays


def array(values: Any, name: str) -> Array:
    """A numpy array of real numbers from an array, a tensor or a frame."""
    missing = bool(np.ma.is_masked(values))
    check(not missing, f"{name} must have no masked entries: what stands behind them is no measurement.")
    found = _numbers(values)
    check(found.dtype.kind != "O", f"{name} must hold real numbers in rows of one length, got {_kind(values)}.")
    check(found.dtype.kind in "buif", f"{name} must hold real numbers, got dtype {found.dtype}.")
    check(found.ndim >= 2 and len(found) >= 1, f"{name} must have the shape (m, ..) with m >= 1, got {found.shape}.")
    check(bool(np.isfinite(found).all()), f"{name} must be finite, got nan or inf.")
    return found


def _numbers(values: Any) -> Array:
    """As numpy has them; a tensor of any floating dtype, and a frame of nullable numbers, in float64."""
    if hasattr(values, "detach"):
        return _of_tensor(values)
    if hasattr(values, "convert_dtypes") and all(kind.kind in "buif" for kind in np.atleast_1d(values.dtypes)):
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    try:
        return np.asarray(values)
    except ValueError:  # rows of several lengths
        return np.empty(0, dtype=object)


def _of_tensor(values: Any) -> Array:
    dense = values.detach().cpu().to_dense()
    return np.asarray((dense.double() if dense.is_floating_point() else dense).numpy())


def _kind(values: Any) -> str:
    if hasattr(values, "toarray"):
        return f"a {type(values).__name__}; its toarray() is dense"
    return f"a {type(values).__name__} of objects"


def points(of: Subject, X: Array, y: Any, name: str = "") -> tuple[Points, Classes, list[str]]:
    """Ψ and the labels, the names of the classes, and what was mapped; `name` tells test points from the sample."""
    signs, classes, notes = labels(y, of.classes, len(X), f"{name}y", of.outputs)
    Psi, mapped = _features(of.model, X, name)
    predicted = None if of.program is None else of.program.predict(X)
    return Points(np.ascontiguousarray(Psi, dtype=np.float64), signs, mapped, predicted, classes), classes, notes


def _features(model: ModelFile | GraphModel, X: Array, name: str) -> tuple[Array, bool]:
    """Ψ, and whether the model's own map made it."""
    flat = X.reshape(len(X), -1)
    if isinstance(model, GraphModel):
        shape = (len(X), *model.graph.shape)
        check(X.shape == shape, f"{name}X must have the shape {shape}, as the module reads, got {X.shape}.")
        return flat, False
    Psi = flat if model.features is None else model.features(flat)
    n_0 = model.network.n[0]
    check(
        Psi.shape[1] == n_0, f"{name}X must give Psi with n_0={n_0} columns, as the network reads, got {Psi.shape[1]}."
    )
    return Psi, model.features is not None


def labels(y: Any, classes: Classes, m: int, name: str, outputs: int | None = None) -> tuple[Array, Classes, list[str]]:
    """-1/+1 from y, of many classes their indices; the names of the classes, None where y holds numbers for them."""
    from adanet_train.data import classes as of_classes
    from adanet_train.data import datasets

    check(not np.ma.is_masked(y), f"{name} must have no masked entries.")
    found = _of_tensor(y) if hasattr(y, "detach") else np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    check(found.shape == (m,), f"{name} must have the shape ({m},), one label for each point, got {found.shape}.")
    if found.dtype.kind == "O" and all(isinstance(value, str) for value in found):
        found = found.astype(str)
    ordered = classes or _in_order(y, outputs or 2)
    try:
        if outputs is not None:
            names = None if ordered is None else tuple(of_classes.names_of(np.array(ordered)).tolist())
            places, named, note = of_classes.indices(found, outputs, names)
            if classes is None and names is not None:
                note = of_classes.mapped(names)
            return places, classes or named, [note] if note else []
        if classes is not None:
            _require_known(found, classes)
            return np.where(found == classes[1], 1.0, -1.0), classes, []
        signs, named, note = datasets.labels(found, ordered)
        return signs, named, [note] if note else []
    except ValueError as error:
        raise ValueError(str(error).replace("y ", f"{name} ", 1)) from None


def _in_order(y: Any, count: int) -> Classes:
    """The names in the order that a pandas Categorical gives them, where they are as many as the classes."""
    names = tuple(getattr(getattr(y, "cat", y), "categories", ()))
    return names if len(names) == count and all(isinstance(name, str) for name in names) else None


def _require_known(found: Array, classes: tuple[Any, ...]) -> None:
    known = np.isin(found, classes)
    shown = ", ".join(f"{value!r}" for value in np.unique(found[~known])[:3].tolist())
    check(bool(known.all()), f"y must hold {classes[0]!r} and {classes[1]!r} as in training, got {shown}.")


def declare(of: Subject, declared: NetworkSpec | None) -> Subject:
    """With the family that was fixed before training."""
    if declared is None:
        return of
    from adanet_train.model import fields

    model = of.model
    check(isinstance(declared, NetworkSpec), f"declared must be a NetworkSpec, got a {type(declared).__name__}.")
    check(
        not isinstance(model, GraphModel), "declared is a family of layers; this network is a graph, in no such family."
    )
    assert not isinstance(model, GraphModel)
    fields.require_fit(model.network.n, declared.n)
    own = model.network.activations
    wanted = tuple(phi.name for phi in declared.activations[: len(own)])
    check(own == wanted, f"declared must have the network's activations {own}, got {wanted}.")
    return replace(of, model=replace(model, declared=declared))
