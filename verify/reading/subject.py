"""What verify_bounds is handed -> a Subject: the formula that is read from it, and the program that predicts.

A module, an estimator, a state_dict or a file whose weights and operations are known here is read as a network. All
else that predicts is a black box: the reason is a note, and held-out points bound its risk all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array, check
from adanet_theory.spec import NetworkSpec
from verify.measure.arithmetic import DOUBLE, ETA, Arithmetic
from verify.reading import points
from verify.reading.points import Classes
from verify.reading.program import PROBABILITY, ModuleProgram, NamedProgram, Program, program_of
from verify.rows.black_box import BlackBox
from verify.rows.report import GraphModel

if TYPE_CHECKING:
    from adanet_train.compression.file import CodedFile
    from adanet_train.model.model_file import ModelFile
    from adanet_train.reading.graph import Graph

KINDS = "a torch nn.Module, a fitted estimator, a function that predicts, a state_dict (with activation) or a path"


@dataclass(frozen=True, eq=False)
class Subject:
    """The network as a model, its classes where it knows them (of -1 and +1, or of its outputs), and notes.

    The model is the formula. `program` is what the user deploys, None where that is the network of the model file.
    `before` are steps that learn nothing, through which x goes first.
    """

    model: ModelFile | GraphModel | BlackBox
    classes: Classes = None
    notes: tuple[str, ...] = ()
    program: Program | None = None
    before: Callable[[Array], Array] | None = None
    arithmetic: Arithmetic = DOUBLE

    @property
    def outputs(self) -> int | None:
        """The number of classes with an output each; None for one function f."""
        if isinstance(self.model, GraphModel):
            return None if self.model.graph.outputs == 1 else self.model.graph.outputs
        return self.model.outputs if isinstance(self.model, BlackBox) else self.model.network.outputs


def subject(network: Any, X: Any = None, y: Any = None, activation: str | None = None) -> Subject:
    """The network, whatever it came as. A module is read on points of the shape of X and compared with itself on X."""
    from torch import nn

    from adanet_train.classifier import NetworkClassifier

    if isinstance(network, str | os.PathLike):
        return _of_path(os.fspath(network), X, activation)
    if isinstance(network, Mapping):
        from adanet_train.model import model_file

        model = model_file.of_state_dict(network, activation)
        return Subject(model, notes=(conversion(model),))
    check(activation is None, "activation is for a state_dict; a module, an estimator and a model file have their own.")
    if isinstance(network, NetworkClassifier) and hasattr(network, "ensemble_"):
        check(X is not None, "X and y are required for an AdaNetClassifier(subnetworks=...), which holds no sample.")
        return replace(of_module(network.to_torch(), points.array(X, "X")), classes=tuple(network.classes_.tolist()))
    if isinstance(network, NetworkClassifier):
        check(hasattr(network, "model_"), "the estimator is not fitted yet, expected a fitted one.")
        return Subject(network.model_, tuple(network.classes_.tolist()))
    if isinstance(network, nn.Module):
        check(X is not None, "a module knows no sample, expected X and y.")
        return of_module(_unwrapped(network), points.array(X, "X"))
    predicts = hasattr(network, "predict") or (callable(network) and not isinstance(network, type))
    check(predicts, f"network must be {KINDS}, got a {type(network).__name__}.")
    check(X is not None, f"X and y are required for a {type(network).__name__}, which holds no sample.")
    return _of_estimator(network, X, y) if hasattr(network, "predict") else _black_box(network, X, y)


# A file


def _of_path(path: str, X: Any, activation: str | None) -> Subject:
    from adanet_train.model import archive
    from adanet_train.reading import exported, onnx_file

    is_onnx = path.lower().endswith(".onnx")
    data = b"" if is_onnx else archive.read_bytes(path)
    if not is_onnx and not exported.is_exported(data):
        return of_model_file(path, activation)
    check(activation is None, f"{path}: --activation is for a state_dict; a program has its own.")
    check(X is not None, f"{path}: holds no sample, expected --data FILE with the points it was trained on.")
    module = onnx_file.read_onnx(path) if is_onnx else exported.read_exported(data, path)
    return of_module(module, points.array(X, "X"), f"the program in {os.path.basename(path)}")


def of_model_file(path: str, activation: str | None) -> Subject:
    """A model.pt, a compressed network, or a state_dict with its activation."""
    from adanet_train.compression import file

    if file.is_coded_file(path):
        check(activation is None, f"{path}: --activation is for a state_dict; a compressed network has its own.")
        return _of_coded(file.read(path), path)
    model = _model(path, activation)
    check(
        model.is_converted or activation is None,
        f"{path}: --activation is for a state_dict; a model file names its own.",
    )
    return Subject(model, model.class_names, (conversion(model),) if model.is_converted else ())


def _of_coded(file: CodedFile, path: str) -> Subject:
    """The network in the file of `compress`; of two logits f is the second minus the first."""
    check(file.graph is not None, f"{path}: holds no graph of its architecture: give --module and --weights {path}.")
    assert file.graph is not None
    graph = file.graph.read((-1.0, 1.0)) if file.graph.outputs == 2 else file.graph
    return Subject(
        GraphModel(graph, extra={"coded": file}), notes=(f"compressed: {file.bits:,} bits, code {file.code}.",)
    )


def _model(path: str, activation: str | None) -> ModelFile:
    """Whatever a broken or hostile file provokes in zipfile, pickle or torch is said of the file, in one line."""
    from adanet_train.model import model_file

    try:
        return model_file.read_any(path, activation)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"{path}: cannot be read: {type(error).__name__} {error}".rstrip() + ".") from None


def conversion(model: ModelFile) -> str:
    """How a state_dict was read."""
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


# An estimator, or anything that predicts


def _of_estimator(network: Any, X: Any, y: Any) -> Subject:
    """A classifier whose weights are known here as a network; every other as a black box."""
    from verify.reading import estimators

    kind = type(network).__name__
    check(
        not estimators.predicts_numbers(network),
        f"a {kind} predicts numbers: this is regression; only classification is covered.",
    )
    try:
        layers = estimators.layers_of(network)
    except estimators.NotRead as error:
        return _black_box(network.predict, X, y, network, f"{error}.")
    x = points.array(X, "X")
    x = x if layers.before is None else layers.before(x)
    classes = tuple(network.classes_.tolist())
    model = _formula(_read(layers.module(), x)[0])
    notes = estimators.remarks(layers, kind, x)
    own = Arithmetic(_numbers_of(network), why="an estimator is known by its weights alone")
    return Subject(model, classes, notes, NamedProgram(network.predict, classes), layers.before, own)


def _numbers_of(network: Any) -> str:
    """The type of the weights of an estimator, or of the last step of a Pipeline."""
    last = network.steps[-1][1] if hasattr(network, "steps") else network
    weights = (getattr(last, "coefs_", None) or [getattr(last, "coef_", None)])[0]
    return str(getattr(weights, "dtype", "float64"))


def _black_box(function: Callable[..., Any], X: Any, y: Any, network: Any = None, reason: str = "") -> Subject:
    """What is known by its predictions alone; `network` is the estimator whose they are."""
    known = getattr(network, "classes_", None)
    program, outputs, classes = program_of(function, X, y, None if known is None else tuple(np.asarray(known).tolist()))
    kind = type(network).__name__ if network is not None else getattr(function, "__name__", type(function).__name__)
    note = reason or f"{kind} is a function: only its predictions can be read."
    return Subject(BlackBox(kind, outputs), classes, (f"black box: {note}",), program)


# A module


def _unwrapped(module: Any) -> Any:
    """What torch.compile, DataParallel and DistributedDataParallel run."""
    from torch import nn

    if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return _unwrapped(module.module)
    return _unwrapped(module._orig_mod) if hasattr(module, "_orig_mod") else module


def _arithmetic(program: ModuleProgram, graph: Graph, X: Array) -> Arithmetic:
    """How far the program is from its formula, where its arithmetic is one that a proof covers."""
    import torch

    from adanet_train.reading import arithmetic, trace

    module, dtype = program.module, arithmetic.one_type(program.module)
    name = "mixed types" if dtype is None else str(dtype).removeprefix("torch.")
    if dtype is None or name not in ETA:
        return Arithmetic(name, why=f"sums in {name} are not bounded here")
    steps = trace.trace(module, graph.shape, fold=False)
    why = arithmetic.obstacle(module, steps, dtype)

    def difference(r: float) -> float | None:
        try:
            e = arithmetic.difference(steps, r, dtype)
        except arithmetic.NoProof:
            return None
        return e if steps.outputs == 1 else 2 * e

    if why or dtype == torch.float64:
        return Arithmetic(name, None if why else difference, why)
    e = difference(float(np.abs(X).max(initial=0.0)))
    if e is None:
        return Arithmetic(name, why="it may overflow, or its sums are too long")
    seen = 0.0 if graph.link else trace.distance(graph, program.outputs(X), X)
    if not seen <= e:
        return Arithmetic(name, why=f"they differ by {seen:.3g} on the sample, where rounding explains {e:.3g}")
    return Arithmetic(name, difference)


def of_module(module: Any, X: Array, name: str | None = None) -> Subject:
    """The graph of the module; what the reader refuses is a black box, if it can be run at all."""
    from adanet_train.reading.trace import UnreadableModule, compared

    try:
        graph, difference = _read(module, X)
    except UnreadableModule as error:
        return _opaque(module, X, str(error))
    told = f"{name or 'read by torch.fx'} {'is read' if name else ''}".strip()
    seen = f"{compared(graph, len(X)):,} points differ in float64 by {difference:.1g}"
    notes = [f"{told} as {len(graph.nodes)} nodes; {seen}."]
    if graph.link:
        notes.append(f"the {graph.link} at the end changes no decision: it was taken off, and f is the logit below it.")
    if graph.outputs == 2:
        notes.append("f is the second logit minus the first.")
    program = ModuleProgram(module, 0.5 if graph.link == "sigmoid" else 0.0)
    own = _arithmetic(program, graph, X)
    return Subject(_formula(graph), notes=tuple(notes), program=program, arithmetic=own)


def _read(module: Any, X: Array) -> tuple[Graph, float]:
    """The graph, and by how much it differs from the module on X."""
    from adanet_train.reading.trace import require_equal, trace

    graph = trace(module, X.shape[1:])
    return graph, require_equal(graph, module, X)


def _formula(graph: Graph) -> ModelFile | GraphModel:
    """In layers where they say it all; of two logits the second minus the first."""
    model = stack(graph)
    if model is not None:
        return model
    return GraphModel(graph.read((-1.0, 1.0)) if graph.outputs == 2 else graph)


def _opaque(module: Any, X: Array, refusal: str) -> Subject:
    """A module by its outputs alone; one that draws at random, or cannot be run, is refused as it was by the reader."""
    remedy = f"{refusal} As a black box it must be in eval mode: call module.eval() first."
    check(not any(part.training for part in module.modules()), remedy)
    program = ModuleProgram(module)
    try:
        f = program.outputs(X)
    except ValueError:
        raise ValueError(refusal) from None
    again = program.outputs(X[:FEW])
    same = bool(np.array_equal(f[: len(again)], again, equal_nan=True))
    check(same, f"{type(module).__name__}: its outputs differ from call to call, expected a function of x alone.")
    probable = f.shape[1] == 1 and bool(((f >= 0) & (f <= 1)).all())
    check(not probable, f"{type(module).__name__}: {PROBABILITY}")
    box = BlackBox(type(module).__name__, None if f.shape[1] <= 2 else f.shape[1])
    return Subject(box, notes=(f"black box: {refusal}",), program=program)


FEW = 16  # points on which a program is run again


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
    return replace(model_file.of_state_dict(state, name), is_converted=False)


def _weights(state: Mapping[str, Any]) -> list[Any]:
    return [tensor for key, tensor in state.items() if key.endswith("weight")]


def _reads(graph: Graph, state: Mapping[str, Any]) -> list[int]:
    """How many numbers each Linear reads if it reads all of the layer below."""
    return [int(np.prod(graph.shape)), *(len(W) for W in _weights(state)[:-1])]


# The family


def declare(of: Subject, declared: NetworkSpec | None) -> Subject:
    """With the family that was fixed before training."""
    if declared is None:
        return of
    from adanet_train.model import fields

    model = of.model
    check(isinstance(declared, NetworkSpec), f"declared must be a NetworkSpec, got a {type(declared).__name__}.")
    what = "a black box" if isinstance(model, BlackBox) else "a graph"
    in_layers = not isinstance(model, GraphModel | BlackBox)
    check(in_layers, f"declared is a family of layers; this network is {what}, in no such family.")
    assert not isinstance(model, GraphModel | BlackBox)
    fields.require_fit(model.network.n, declared.n)
    own = model.network.activations
    wanted = tuple(phi.name for phi in declared.activations[: len(own)])
    check(own == wanted, f"declared must have the network's activations {own}, got {wanted}.")
    return replace(of, model=replace(model, declared=declared))
