"""An ONNX file -> an nn.Module of the same operations, through the package `onnx`, which only parses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from adanet_theory.checks import first_line
from adanet_train.data.archive import ModelFileError
from adanet_train.reading.operations import by_axes
from adanet_train.reading.rebuild import REMEDY, Builder, is_fixed, numbers

Rule = Callable[..., Any]

UNUSED = frozenset({"momentum", "seed", "ratio", "storage_order", "stash_type", "kernel_shape"})
"""Attributes that change no value in eval mode, or that a weight has already; the kernel of a pool is read."""


class Attributes(dict[str, Any]):
    """Those of a node, the axes of what it reads (None if they are not known), and the version of its operations.

    What a rule does not read may change what the node computes: such an attribute is refused.
    """

    def __init__(self, own: Mapping[str, Any], rank: int | None, version: int) -> None:
        super().__init__(own)
        self.rank, self.version, self.unread = rank, version, set(own) - UNUSED

    def get(self, key: str, default: Any = None) -> Any:
        self.unread.discard(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.unread.discard(key)
        return super().__getitem__(key)


def read_onnx(path: str | Path) -> nn.Module:
    """The module of an .onnx file; a ModelFileError names the operation that is not known."""
    try:
        onnx = import_module("onnx")
    except ImportError:
        raise ModelFileError(f"{path}: an ONNX file is read by the package onnx: pip install onnx.") from None
    try:
        model = onnx.load(str(path), load_external_data=False)
        _load_beside(onnx, model, Path(path).parent)
        return _module(onnx, model)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except Exception as error:  # a damaged or hostile file fails in many ways
        raise ModelFileError(f"{path}: not an ONNX file that can be read ({first_line(error)}); {REMEDY}.") from None


def _load_beside(onnx: Any, model: Any, folder: Path) -> None:
    """Weights kept in another file: one that stands beside it, under a plain name."""
    for tensor in model.graph.initializer:
        place = next((entry.value for entry in tensor.external_data if entry.key == "location"), None)
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            plain = place is not None and Path(place).name == place and not (folder / place).is_symlink()
            if not plain:
                raise ModelFileError(f"its weights are in {place!r}, expected a file in the same folder.")
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))


def _module(onnx: Any, model: Any) -> nn.Module:
    graph, builder = model.graph, Builder()
    for tensor in graph.initializer:
        builder.values[tensor.name] = torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
    inputs = [entry.name for entry in graph.input if entry.name not in builder.values]
    if len(inputs) != 1 or len(graph.output) != 1:
        raise ModelFileError(f"has {len(inputs)} inputs and {len(graph.output)} outputs, expected one of each.")
    builder.input(inputs[0])
    ranks = _ranks(onnx, model)
    version = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=1)
    for node in graph.node:
        own = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
        attributes = Attributes(own, ranks.get(node.input[0]) if node.input else None, version)
        if node.op_type == "Constant" and not node.domain:
            builder.values[node.output[0]] = _constant(onnx, attributes)
        else:
            builder.values[node.output[0]] = _called(builder, node, attributes)
    return builder.finished(graph.output[0].name)


def _ranks(onnx: Any, model: Any) -> dict[str, int]:
    """How many axes each tensor has, that of the points among them, where that can be inferred."""
    try:
        graph = onnx.shape_inference.infer_shapes(model).graph
    except Exception:  # of what is refused by name below, or too large
        return {}
    typed = {entry.name: entry.type.tensor_type for entry in (*graph.input, *graph.value_info, *graph.output)}
    return {name: len(kind.shape.dim) for name, kind in typed.items() if kind.HasField("shape")}


def _constant(onnx: Any, attributes: Attributes) -> Tensor:
    ((name, value),) = attributes.items()
    if name == "value":
        return torch.from_numpy(onnx.numpy_helper.to_array(value).copy())
    if name not in ("value_float", "value_int", "value_floats", "value_ints"):
        raise ModelFileError(f"a Constant of the kind {name!r} is not known here; {REMEDY}.")
    return torch.tensor(value, dtype=torch.float32 if "float" in name else torch.int64)


def _called(builder: Builder, node: Any, attributes: Attributes) -> Any:
    rule = {**SIZES, **RULES}.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if rule is None:
        raise ModelFileError(f"the operation {node.op_type[:60]!r} is not known here; {REMEDY}.")
    inputs = [builder.values[name] if name else None for name in node.input]
    if node.op_type in SIZES and any(isinstance(value, Sizes | Shaped) for value in inputs):
        return SIZES[node.op_type](builder, attributes, *inputs)
    if all(is_fixed(value) for value in inputs):
        raise ModelFileError(f"{node.op_type} is computed from weights alone; simplify the file first (onnxsim).")
    value = rule(builder, attributes, *inputs)
    unread = ", ".join(sorted(attributes.unread))
    _refuse(bool(unread), f"{node.op_type} with {unread} is not known here")
    return value


# Sizes that are read off a tensor, as in x.view(x.shape[0], -1)


class Shaped(NamedTuple):
    """The shape of x, of which single sizes are asked for."""

    x: Any


class Sizes(NamedTuple):
    """Some sizes, each a number or a node that gives it."""

    parts: tuple[Any, ...]


def _size_of(b: Builder, a: Attributes, shaped: Any, index: Any) -> Sizes:
    _refuse(not isinstance(shaped, Shaped), "a Gather of something else than one size")
    return Sizes(tuple(b.size(shaped.x, axis) for axis in numbers(index)))


def _sizes_in_a_row(b: Builder, a: Attributes, *parts: Any) -> Sizes:
    return Sizes(tuple(n for part in parts for n in (part.parts if isinstance(part, Sizes) else numbers(part))))


SIZES: dict[str, Callable[..., Any]] = {
    "Gather": _size_of,
    "Unsqueeze": lambda b, a, sizes, axes=None: sizes,
    "Concat": _sizes_in_a_row,
    "Reshape": lambda b, a, x, sizes: b.call(torch.reshape, x, list(sizes.parts)),
}


# The operations


def _plain(function: Callable[..., Any]) -> Rule:
    return lambda b, a, *inputs: b.call(function, *inputs)


def _refuse(condition: bool, reason: str) -> None:
    if condition:
        raise ModelFileError(f"{reason}; {REMEDY}.")


def _gemm(b: Builder, a: Attributes, x: Any, W: Any, c: Any = None) -> Any:
    alpha, beta = a.get("alpha", 1.0), a.get("beta", 1.0)
    scaled = alpha != 1 or (c is not None and beta != 1)
    _refuse(scaled or bool(a.get("transA")) or not is_fixed(W), "a Gemm with factors, or of two parts of the network")
    _refuse(c is not None and c.ndim == 2 and len(c) != 1, "a Gemm with a bias for each point")
    W = W if a.get("transB") else W.T.contiguous()
    bias = None if c is None else c.reshape(-1).expand(len(W)).contiguous()
    return b.call(functional.linear, x, W, bias)


def _sides(a: Attributes, axes: int) -> tuple[list[int], list[int]]:
    """The padding before and behind each axis."""
    _refuse(a.get("auto_pad", b"NOTSET") != b"NOTSET", "auto_pad is not known here")
    pads = [int(side) for side in a.get("pads", [0] * 2 * axes)]
    return pads[:axes], pads[axes:]


def _conv(b: Builder, a: Attributes, x: Any, W: Any, bias: Any = None) -> Any:
    axes = W.ndim - 2
    low, high = _sides(a, axes)
    if low != high:
        x = b.call(functional.pad, x, [n for both in reversed(list(zip(low, high, strict=True))) for n in both])
        low = [0] * axes
    strides, dilations = (list(a.get(key, [1] * axes)) for key in ("strides", "dilations"))
    return b.call(by_axes("conv", axes), x, W, bias, strides, low, dilations, int(a.get("group", 1)))


def _batch_norm(b: Builder, a: Attributes, x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
    _refuse(bool(a.get("training_mode")), "BatchNormalization in training mode")
    return b.call(functional.batch_norm, x, mean, var, scale, bias, False, 0.1, float(a.get("epsilon", 1e-5)))


def _pool(b: Builder, a: Attributes, x: Any, *, largest: bool) -> Any:
    kernel = list(a["kernel_shape"])
    low, high = _sides(a, len(kernel))
    _refuse(low != high or bool(a.get("ceil_mode")), "pooling with unequal padding or ceil_mode")
    strides, axes = list(a.get("strides", [1] * len(kernel))), len(kernel)
    if largest:
        dilations = list(a.get("dilations", [1] * axes))
        return b.call(by_axes("max_pool", axes), x, kernel, strides, low, dilations)
    _refuse(any(step != 1 for step in a.get("dilations", [])), "AveragePool with dilations")
    return b.call(by_axes("avg_pool", axes), x, kernel, strides, low, False, bool(a.get("count_include_pad")))


def _global(b: Builder, a: Attributes, x: Any, *, largest: bool) -> Any:
    """Over all axes behind the channels."""
    axes = (a.rank or 0) - 2
    _refuse(axes not in (1, 2, 3), "a global pool of points whose axes are not known, or more than three")
    return b.call(by_axes("adaptive_max_pool" if largest else "adaptive_avg_pool", axes), x, (1,) * axes)


def _prelu(b: Builder, a: Attributes, x: Any, slope: Any) -> Any:
    """relu(x) - a relu(-x): ONNX lays the slopes along the last axes, prelu of torch along the channels."""
    left = b.call(torch.relu, b.call(torch.neg, x))
    return b.call(torch.sub, b.call(torch.relu, x), b.call(torch.mul, left, slope))


def _softmax(function: Callable[..., Any]) -> Rule:
    """Before version 13 it went over all axes from `axis` on."""

    def rule(b: Builder, a: Attributes, x: Any) -> Any:
        axis = int(a.get("axis", -1 if a.version >= 13 else 1))
        is_last = axis == -1 or (a.rank is not None and axis == a.rank - 1)
        _refuse(a.version < 13 and not is_last, f"a softmax of version {a.version} over several axes")
        return b.call(function, x, axis)

    return rule


def _no_dropout(b: Builder, a: Attributes, x: Any, ratio: Any = None, training: Any = None) -> Any:
    on = training is not None and (not is_fixed(training) or bool(training))
    _refuse(on, "Dropout in training mode")
    return x


def _reshape(b: Builder, a: Attributes, x: Any, shape: Any) -> Any:
    wanted, literal = numbers(shape), bool(a.get("allowzero"))
    dynamic = "export it with dynamic_shapes=({0: torch.export.Dim('batch')},)"
    fixed = f"a Reshape to {wanted}, which fixes the number of points: {dynamic}"
    _refuse(wanted[0] not in (0, -1) or 0 in wanted[1:] or (literal and 0 in wanted), fixed)
    rest = wanted[1:]
    if wanted[0] == -1:
        return b.call(torch.reshape, x, [-1, *rest])
    return b.call(torch.reshape, x, [b.size(x, 0), *rest])


def _flatten(b: Builder, a: Attributes, x: Any) -> Any:
    _refuse(a.get("axis", 1) != 1, "a Flatten that mixes the points")
    return b.call(torch.flatten, x, 1)


def _axes(a: Attributes, given: Any) -> list[int]:
    return list(a["axes"]) if given is None else numbers(given)


def _squeeze(b: Builder, a: Attributes, x: Any, axes: Any = None) -> Any:
    return b.call(torch.squeeze, x, tuple(_axes(a, axes)))


def _unsqueeze(b: Builder, a: Attributes, x: Any, axes: Any = None) -> Any:
    (axis,) = _axes(a, axes)
    return b.call(torch.unsqueeze, x, axis)


def _reduced(function: Callable[..., Any]) -> Rule:
    def rule(b: Builder, a: Attributes, x: Any, axes: Any = None) -> Any:
        over = _axes(a, axes)
        a.get("noop_with_empty_axes")
        _refuse(not over, "a mean or sum over no axes, or all of them")
        return b.call(function, x, over, bool(a.get("keepdims", 1)))

    return rule


def _clip(b: Builder, a: Attributes, x: Any, low: Any = None, high: Any = None) -> Any:
    low, high = (end if end is None else float(end) for end in (low, high))
    return b.call(torch.clamp, x, a.get("min", low), a.get("max", high))


def _gelu(b: Builder, a: Attributes, x: Any) -> Any:
    return b.call(functional.gelu, x, approximate="tanh" if a.get("approximate", b"none") == b"tanh" else "none")


def _layer_norm(b: Builder, a: Attributes, x: Any, scale: Any, bias: Any = None) -> Any:
    axis = int(a.get("axis", -1))
    last = axis if axis < 0 or a.rank is None else axis - a.rank
    _refuse(-last != scale.ndim, "a LayerNormalization whose weights spread over more axes")
    return b.call(functional.layer_norm, x, list(scale.shape), scale, bias, float(a.get("epsilon", 1e-5)))


_OF_TORCH = ("MatMul", "Add", "Sub", "Mul", "Div", "Neg", "Abs", "Relu", "Sigmoid", "Tanh")
RULES: dict[str, Rule] = {
    "Shape": lambda b, a, x: Shaped(x),
    "Gemm": _gemm,
    **{name: _plain(getattr(torch, name.lower())) for name in _OF_TORCH},
    "Softplus": _plain(functional.softplus),
    "Gelu": _gelu,
    "PRelu": _prelu,
    "LeakyRelu": lambda b, a, x: b.call(functional.leaky_relu, x, float(a.get("alpha", 0.01))),
    "Elu": lambda b, a, x: b.call(functional.elu, x, float(a.get("alpha", 1.0))),
    "Clip": _clip,
    "Conv": _conv,
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "MaxPool": lambda b, a, x: _pool(b, a, x, largest=True),
    "AveragePool": lambda b, a, x: _pool(b, a, x, largest=False),
    "GlobalAveragePool": lambda b, a, x: _global(b, a, x, largest=False),
    "GlobalMaxPool": lambda b, a, x: _global(b, a, x, largest=True),
    "ReduceMean": _reduced(torch.mean),
    "ReduceSum": _reduced(torch.sum),
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": lambda b, a, x: b.call(torch.permute, x, list(a["perm"])),
    "Concat": lambda b, a, *parts: b.call(torch.cat, list(parts), int(a["axis"])),
    "Identity": lambda b, a, x: x,
    "Dropout": _no_dropout,
    "Softmax": _softmax(torch.softmax),
    "LogSoftmax": _softmax(torch.log_softmax),
}
"""The operations of ONNX by name; an operation that is in no table of the reader is a black box."""
