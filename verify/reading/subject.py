"""What verify_bounds is given -> a Subject: the formula that is read from it, and the program that predicts.

A module, an estimator, a state_dict or a file whose weights and operations are known here is read as a network. All
else that predicts is a black box: the reason is a note, and held-out points bound its risk all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array, check
from adanet_theory.rounding import upward
from adanet_theory.spec import NetworkSpec
from adanet_train.data.alone import FEWEST, require_of_x_alone
from adanet_train.data.disk import largest
from verify.measure import arithmetic
from verify.measure.arithmetic import DOUBLE, Arithmetic
from verify.reading import points
from verify.reading.estimators import NOT_FITTED
from verify.reading.families import Families
from verify.reading.formula import BlackBox, Formula, ReadNetwork
from verify.reading.points import Classes
from verify.reading.program import (
    PROBABILITY,
    ChainProgram,
    ModuleProgram,
    NamedProgram,
    NotScores,
    Program,
    decided,
    gaps,
    program_of,
)

if TYPE_CHECKING:
    from adanet_train.compression.file import CodedFile
    from adanet_train.model.model_file import ModelFile
    from adanet_train.reading.graph import Graph

KINDS = "a torch nn.Module, a fitted estimator, a function that predicts, a state_dict (with activation) or a path"
ADD_POINTS = (
    "Add --data FILE (the training points) or --test-data FILE (held-out points); in Python, X and y or test=(X, y)."
)


@dataclass(frozen=True, eq=False)
class Subject:
    """The network as a model, its classes where it knows them (of -1 and +1, or of its outputs), and notes.

    The model is the formula. `program` is what the user deploys, None where that is the network of the model file.
    `before` are steps that learn nothing, through which x goes first.
    """

    model: Formula | BlackBox
    classes: Classes = None
    notes: tuple[str, ...] = ()
    program: Program | None = None
    before: Callable[[Array], Array] | None = None
    arithmetic: Arithmetic = DOUBLE
    ensemble: Any = None
    """The user's own subnetworks, as they were fitted."""
    families: Families | None = None
    """What was declared of them."""
    coded: CodedFile | None = None
    """The compressed file that the weights are from."""

    @property
    def outputs(self) -> int | None:
        """The number of classes with an output each; None for one function f."""
        return self.model.outputs if isinstance(self.model, BlackBox) else self.model.graph.classes

    @property
    def holds_points(self) -> bool:
        """Whether the model file has its sample, and not only the digest."""
        sample = None if isinstance(self.model, BlackBox) else self.model.sample
        return sample is not None and sample.Psi is not None


def subject(network: Any, X: Any = None, y: Any = None, activation: str | None = None) -> Subject:
    """The network, whatever it came as. A module is read on points of the shape of X and compared with itself on X."""
    from torch import nn

    from adanet_train.model.classifier import NetworkClassifier

    if isinstance(network, str | os.PathLike):
        return _of_path(os.fspath(network), X, activation)
    if isinstance(network, Mapping):
        from adanet_train.model import model_file

        return _of_converted(model_file.of_state_dict(network, activation))
    check(activation is None, "activation is for a state_dict; a module, an estimator and a model file have their own.")
    if hasattr(network, "coded") and hasattr(network, "stages"):
        return _of_compressed(network, X)
    if _is_certified(network):
        return _of_certified(network, X, y)
    if isinstance(network, NetworkClassifier) and hasattr(network, "ensemble_"):
        _require_points(X, "an AdaNetClassifier(subnetworks=...)")
        return _of_ensemble(network, points.rows(X, "X"))
    if isinstance(network, NetworkClassifier):
        check(hasattr(network, "model_"), NOT_FITTED)
        return Subject(network.model_, tuple(network.classes_.tolist()))
    if isinstance(network, nn.Module):
        _require_points(X, "an nn.Module")
        return of_module(_unwrapped(network), points.rows(X, "X"))
    predicts = hasattr(network, "predict") or (callable(network) and not isinstance(network, type))
    check(predicts, f"network must be {KINDS}, got a {type(network).__name__}.")
    _require_points(X, f"a {type(network).__name__}")
    return _of_estimator(network, X, y) if hasattr(network, "predict") else _black_box(network, X, y)


def _require_points(X: Any, network: str) -> None:
    check(X is not None, f"X and y are required for {network}, which holds no sample; or held-out points: test=(X, y).")


def _of_ensemble(network: Any, X: Array) -> Subject:
    """The user's own subnetworks as one graph or a black box, with the record of picking if there is one."""
    from adanet_train.picking.again import Recorded

    own = of_module(network.to_torch(), X)
    model: Any = own.model
    encoder = network.ensemble_.encoder
    model = replace(model, encoded=encoder is not None and encoder.lists_words)
    if hasattr(network, "picked_"):
        model = replace(model, picked=Recorded(network, np.asarray(X)))
    unnamed = tuple(network.classes_.tolist()) == (-1, 1)
    classes = None if unnamed else tuple(network.classes_.tolist())
    return replace(own, model=model, classes=classes, ensemble=network.ensemble_)


# A file


def _of_path(path: str, X: Any, activation: str | None) -> Subject:
    from adanet_train.data import archive
    from adanet_train.reading import exported, onnx_file

    is_onnx = path.lower().endswith(".onnx")
    data = b"" if is_onnx else archive.read_bytes(path)
    if not is_onnx and not exported.is_exported(data):
        return of_model_file(path, activation)
    check(activation is None, f"{path}: --activation is for a state_dict; a program has its own.")
    check(X is not None, f"{path}: holds no training points. {ADD_POINTS}")
    module = onnx_file.read_onnx(path) if is_onnx else exported.read_exported(data, path)
    return of_module(module, points.rows(X, "X"), f"the program in {os.path.basename(path)}")


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
    return _of_converted(model) if model.is_converted else Subject(model, model.class_names)


def _of_converted(model: ModelFile) -> Subject:
    """A state_dict as a chain, which runs in the type of its weights."""
    from adanet_train.reading.graph import chain

    assert model.chain is not None
    phi = model.network.activations[0] if model.network.activations else "identity"
    program = ChainProgram(model.chain, phi)
    own = arithmetic.of_steps(chain(model.chain, phi), program.dtype)
    return Subject(model, notes=(conversion(model),), program=program, arithmetic=own)


def _of_coded(file: CodedFile, path: str) -> Subject:
    """The network in the file of `compress`; of two logits f is the second minus the first."""
    check(file.graph is not None, f"{path}: holds no graph of its architecture: give --module and --weights {path}.")
    assert file.graph is not None
    graph = file.graph.read((-1.0, 1.0)) if file.graph.outputs == 2 else file.graph
    notes = (f"compressed: {file.bits:,} bits, code {file.code}.",)
    return Subject(ReadNetwork(graph, sha256=file.sha256), notes=notes, coded=file)


def _of_compressed(small: Any, X: Any) -> Subject:
    """What `compress` returned, as its file; a module that cannot be read is a black box."""
    from adanet_train.compression import file

    coded = file.decode(file.encoded(small), "the compressed network")
    if coded.graph is not None:
        return _of_coded(coded, "the compressed network")
    check(X is not None, "X and y are required for a compressed network, which holds no sample.")
    return replace(of_module(small.module, points.array(X, "X")), coded=coded)


def sample_of(network: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """X and y, or where none are given the sample that the result of `certify` holds."""
    if X is None and y is None and _is_certified(network) and not hasattr(network.predictor, "model_"):
        own = network.points
        return own.X, own.classes[own.y]
    return X, y


def _is_certified(network: Any) -> bool:
    return hasattr(network, "predictor") and hasattr(network, "picked")


def _of_certified(certified: Any, X: Any, y: Any) -> Subject:
    """What `certify` returned: its predictor, with its run where X and y are the sample of the run."""
    from adanet_train.picking.again import OwnRun
    from adanet_train.picking.certify import labelled, sample_digest

    predictor = certified.predictor
    if hasattr(predictor, "predict") or callable(predictor):
        own = subject(predictor, X, y)
    else:
        own = _black_box(certified.predict, X, y, predictor, f"a {type(predictor).__name__} is not read.")
    own = own if own.classes is not None else replace(own, classes=tuple(certified.points.classes.tolist()))
    if hasattr(certified.predictor, "model_"):  # which holds its sample and its record
        return own
    model: Any = own.model
    if sample_digest(labelled(X, y)) == sample_digest(certified.points):
        return replace(own, model=replace(model, picked=OwnRun(certified)))
    return replace(own, notes=(*own.notes, OTHER_ROWS))


OTHER_ROWS = (
    "the certificate of certify is about the rows that it was given, and X and y are others: "
    "call verify_bounds without X and y for a report on its own rows."
)


def _model(path: str, activation: str | None) -> ModelFile:
    """Read a model file; what a broken or hostile one raises in zipfile, pickle or torch becomes one line."""
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
    between = f" with {phi[0]} between them, as --activation says, and nothing else" if phi else ""
    parts = [f"read as the state_dict of {model.network.depth} Linear layers{between}"]
    if biased:
        parts.append("biases are read exactly, as weights of a constant feature")
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
    if hasattr(X, "toarray"):
        return _black_box(network.predict, X, y, network, f"X is a {type(X).__name__}; its toarray() would be read.")
    x = points.array(X, "X")
    x = x if layers.before is None else layers.before(x)
    classes = tuple(network.classes_.tolist())
    model = ReadNetwork.of(layers.graph)
    notes = estimators.remarks(layers, kind, x)
    own = arithmetic.of_steps(layers.steps, _numbers_of(network))
    return Subject(model, classes, notes, NamedProgram(network.predict, classes), layers.before, own)


def _numbers_of(network: Any) -> Any:
    """The type of the weights of an estimator, or of the last step of a Pipeline; None if torch does not have it."""
    import torch

    last = network.steps[-1][1] if hasattr(network, "steps") else network
    weights = (getattr(last, "coefs_", None) or [getattr(last, "coef_", None)])[0]
    dtype = getattr(torch, str(getattr(weights, "dtype", "float64")), None)
    return dtype if isinstance(dtype, torch.dtype) else None


def _black_box(function: Callable[..., Any], X: Any, y: Any, network: Any = None, reason: str = "") -> Subject:
    """What is known by its predictions alone; `network` is the estimator whose they are."""
    known = getattr(network, "classes_", None)
    program, outputs, classes = program_of(function, X, y, None if known is None else tuple(np.asarray(known).tolist()))
    kind = type(network).__name__ if network is not None else getattr(function, "__name__", type(function).__name__)
    note = reason or f"{kind} is a function: only its predictions can be read."
    return Subject(BlackBox(kind, outputs), classes, (f"black box: {note}",), program)


def predictions(given: Subject, network: Any) -> Subject:
    """The same predictor, known by its predictions alone, because its training sample is missing."""
    if isinstance(given.model, BlackBox):
        return given
    program = given.program
    if program is None:
        from adanet_train.estimator import load

        classifier = network if hasattr(network, "predict") else load(network)
        program = NamedProgram(classifier.predict, tuple(classifier.classes_.tolist()))
    note = "no sample was given: the held-out points alone bound its risk."
    notes = given.notes if given.model.is_converted else ()  # others tell of the formula, which nothing here reads
    kind = Path(network).name if isinstance(network, str | Path) else type(network).__name__
    return replace(
        given, model=BlackBox(kind, given.outputs, given.model.is_converted), notes=(*notes, note), program=program
    )


# A module


def _unwrapped(module: Any) -> Any:
    """What torch.compile, DataParallel and DistributedDataParallel run."""
    from torch import nn

    if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return _unwrapped(module.module)
    return _unwrapped(module._orig_mod) if hasattr(module, "_orig_mod") else module


def _arithmetic(program: ModuleProgram, graph: Graph, X: Array) -> Arithmetic:
    """How far the program is from its formula, where its arithmetic is one that a proof covers."""
    from adanet_train.reading import arithmetic as rounding
    from adanet_train.reading import trace

    module = program.module
    steps = trace.trace(module, graph.shape, fold=False)
    own = arithmetic.of_steps(steps, rounding.one_type(module))
    why = own.why or rounding.obstacle(module, steps, program.input(X[:FEWEST]))
    if why or own.difference is None or (own.is_double and not graph.link):
        return Arithmetic(own.dtype, why=why) if why else own
    e = own.difference(largest(X))
    if e is None:
        return Arithmetic(own.dtype, why="it may overflow, or its sums are too long")
    f = trace.outputs(graph, X)
    if graph.link:
        others = np.count_nonzero((program.predict(X) != decided(f)) & (gaps(f) > e))
        why = f"they decide otherwise at {others:,} points of the sample, which rounding does not explain"
        return Arithmetic(own.dtype, why=why) if others else own
    seen = float(np.nan_to_num(np.abs(program.outputs(X) - f), nan=np.inf).max(initial=0.0))
    if not seen <= e:
        return Arithmetic(own.dtype, why=f"they differ by {seen:.3g} on the sample, where rounding explains {e:.3g}")
    return own


def of_module(module: Any, X: Array, name: str | None = None) -> Subject:
    """The graph of the module; one that the reader refuses is a black box, if it can be run."""
    import torch

    from adanet_train.reading.recorder import UnreadableModule
    from adanet_train.reading.trace import compared

    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()):
        return _opaque(module, X, "a TorchScript program is not read; hand over the module that it was made from.")
    try:
        graph, difference = _read(module, X)
    except UnreadableModule as error:
        return _opaque(module, X, str(error))
    # what was read is the formula: a reader need not know of it unless it differs from the program
    differs = (
        f"{name or 'the module'} and the formula read from it differ by at most {upward(difference, 1)} in float64"
    )
    notes = [f"{differs} at {compared(graph, len(X)):,} points."] if difference else []
    if graph.link:
        notes.append(f"the {graph.link} at the end changes no decision: it was taken off, and f is the logit below it.")
    if graph.outputs == 2:
        notes.append("f is the second logit minus the first.")
    program = ModuleProgram(module, 0.5 if graph.link == "sigmoid" else 0.0)
    if not graph.link and _within(program.outputs(X)):  # a logit leaves [0, 1] far out, a probability does not
        _require_logit(module, np.concatenate([program.outputs(X, times) for times in (1, FAR, -FAR)]))
    own = _arithmetic(program, graph, X)
    return Subject(ReadNetwork.of(graph), notes=tuple(notes), program=program, arithmetic=own)


def _read(module: Any, X: Array) -> tuple[Graph, float]:
    """The graph, and by how much it differs from the module on X."""
    from adanet_train.reading.trace import require_equal, trace

    graph = trace(module, X.shape[1:])
    return graph, require_equal(graph, module, X)


def _opaque(module: Any, X: Array, refusal: str) -> Subject:
    """A module by its outputs alone; one that draws at random, or cannot be run, is refused as it was by the reader."""
    shape = f"X has rows of the shape {X.shape[1:]}, expected rows as the module reads them."
    unfit = f"{refusal} {shape}{_reshaped(module, X)}"
    program = ModuleProgram(module)
    if any(getattr(part, "training", False) for part in module.modules()):
        check(_runs_in_eval_mode(module, X), unfit)
        check("module.eval()" not in refusal, refusal)
        raise ValueError(f"{refusal} As a black box it must be in eval mode: call module.eval() first.")
    try:
        f = program.outputs(X)
    except NotScores:
        raise
    except ValueError:
        raise ValueError(unfit) from None
    require_of_x_alone(type(module).__name__, lambda rows: program.outputs(X[rows]), f, eps=program.eps)
    _require_logit(module, f)
    box = BlackBox(type(module).__name__, None if f.shape[1] <= 2 else f.shape[1])
    return Subject(box, notes=(f"black box: {refusal}",), program=program)


def _reshaped(module: Any, X: Array) -> str:
    """What to type where rows of numbers are the images of the module's first convolution."""
    kernels = ((part.in_channels, len(part.kernel_size)) for part in module.modules() if hasattr(part, "kernel_size")
               and hasattr(part, "in_channels"))  # fmt: skip
    channels, axes = next(kernels, (0, 1))
    if channels == 1 and X.ndim == axes + 1:
        typed = ",".join(map(str, (1, *X.shape[1:])))
        return f" If they are images without a channel axis, type --shape {typed}; in Python X[:, None]."
    side = round((X[0].size / channels) ** (1 / axes)) if channels else 0
    if X.ndim != 2 or channels * side**axes != X.shape[1]:
        return ""
    shape = [channels, *[side] * axes]
    typed = ",".join(map(str, shape))
    return f" If they are such images, type --shape {typed}; in Python X.reshape(-1, {', '.join(map(str, shape))})."


def _require_logit(module: Any, f: Array) -> None:
    check(not _within(f), f"{type(module).__name__}: {PROBABILITY}")


def _within(f: Array) -> bool:
    """One output that varies within [0, 1] may be a probability; a constant one predicts one class either way."""
    return f.shape[1] == 1 and bool(((f >= 0) & (f <= 1)).all() and f.min() < f.max())


def _runs_in_eval_mode(module: Any, X: Array) -> bool:
    """Whether a copy does: the mode and the statistics of the user's own module stay as they are."""
    try:
        ModuleProgram(deepcopy(module).eval()).outputs(X[:FEWEST])
    except ValueError:
        return False
    except Exception:  # what cannot be copied may still run
        return True
    return True


FAR = 1e3


# The family


def declare(given: Subject, declared: NetworkSpec | Mapping[str, Any] | None) -> Subject:
    """With the family that was fixed before training; for the user's own subnetworks, one for each builder."""
    if declared is None:
        return given
    if isinstance(declared, Mapping):
        return replace(given, families=Families.of(declared, getattr(given.ensemble, "grown", None)))
    from adanet_train.data import fields

    model = given.model
    check(
        isinstance(declared, NetworkSpec), f"declared must be a NetworkSpec or a dict, got a {type(declared).__name__}."
    )
    layers = None if isinstance(model, BlackBox) else model.layers
    what = "a black box" if isinstance(model, BlackBox) else "a graph"
    check(layers is not None, f"declared is a family of layers; this network is {what}, in no such family.")
    assert layers is not None
    assert not isinstance(model, BlackBox)
    fields.require_fit(layers.n, declared.n)
    own = layers.activations
    wanted = tuple(phi.name for phi in declared.activations[: len(own)])
    check(own == wanted, f"declared must have the network's activations {own}, got {wanted}.")
    return replace(given, model=replace(model, declared=declared))
