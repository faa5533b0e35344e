"""A graph as plain data: each operation by its name and fields; its weights are places in the code, not numbers.

Which numbers of a graph are weights is found by tracing the module twice, each time with other numbers in place of its
weights: what stays is the architecture, and what changes must be one weight at each place. A module whose weights enter
by a formula has no such form, and its file needs the module.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import check
from adanet_train.compression.code import Array, Coded, integers
from adanet_train.compression.weights import fill
from adanet_train.reading.graph import Graph, Node
from adanet_train.reading.operations import (
    Activate,
    Affine,
    Average,
    Cat,
    Convolution,
    Dense,
    Largest,
    Places,
    Reshape,
    Shape,
    Sum,
    Total,
    Window,
)
from adanet_train.reading.recorder import UnreadableModule
from adanet_train.reading.trace import trace

OPERATIONS = {
    kind.__name__: kind
    for kind in (Dense, Convolution, Average, Total, Affine, Sum, Cat, Reshape, Places, Activate, Largest)
}
MAX_NUMBERS = 1 << 26
"""Numbers that one point may take in a node of a file."""


def to_plain(module: nn.Module, coded: Sequence[Coded], shape: Shape) -> dict[str, Any] | None:
    """The graph of a prepared module, None where it cannot be read or its weights enter by a formula."""
    sizes = [part.value.size for part in coded]
    total = sum(sizes)
    numbers = [np.arange(1, total + 1), np.arange(1, total + 1)[::-1] + total]
    graphs = []
    try:
        for marks in numbers:
            parts = np.split(marks, np.cumsum(sizes)[:-1])
            marked = [integers(part.reshape(own.value.shape), 0) for part, own in zip(parts, coded, strict=True)]
            graphs.append(trace(fill(copy.deepcopy(module), marked), shape))
        first, second = graphs
        pairs = zip(first.nodes, second.nodes, strict=True)
        return {"shape": list(shape), "nodes": [_node(a, b, total) for a, b in pairs]}
    except (UnreadableModule, ValueError):
        return None


def _node(first: Node, second: Node, total: int) -> dict[str, Any]:
    check(
        type(first.operation) is type(second.operation) and first.inputs == second.inputs,
        "the graph depends on weights.",
    )
    operation = _fields(first.operation, second.operation, total)
    return {"operation": operation, "inputs": list(first.inputs), "shape": list(first.shape)}


def _fields(first: Any, second: Any, total: int) -> dict[str, Any]:
    kept = {
        field.name: _plain(getattr(first, field.name), getattr(second, field.name), total) for field in fields(first)
    }
    return {"kind": type(first).__name__} | {name: value for name, value in kept.items() if value is not None}


def _plain(first: Any, second: Any, total: int) -> Any:
    if isinstance(first, Tensor):
        return _tensor(first, second, total)
    if isinstance(first, Activation):
        return first.name
    if is_dataclass(first):
        return _fields(first, second, total)
    check(first == second, "a number of the graph depends on the weights.")
    return list(first) if isinstance(first, tuple) else first


def _tensor(first: Tensor, second: Tensor, total: int) -> Any:
    """Constant numbers as they are; weights as places in the code, counted from 0."""
    if torch.equal(first, second):
        return first.double() if first.is_floating_point() else first.clone()
    places = first.long() - 1
    known = bool((first == places + 1).all()) and bool(((places >= 0) & (places < total)).all())
    check(known and torch.equal(second, (2 * total - places).to(second.dtype)), "weights enter by a formula.")
    start, shape = int(places.flatten()[0]), list(places.shape)
    if torch.equal(places.flatten(), torch.arange(start, start + places.numel())):
        return {"start": start, "shape": shape}
    return {"places": places}


# Reading


def of_plain(plain: Mapping[str, Any], coded: Sequence[Coded]) -> Graph:
    """The graph with the weights of the code; shapes are worked out before a number is computed.

    Raises
    ------
    ValueError
        If the data are not a graph.
    """
    weights = np.concatenate([part.value.ravel() for part in coded])
    try:
        shapes: list[Shape] = [_whole_numbers(plain["shape"])]
        nodes: list[Node] = []
        numbers = math.prod(shapes[0])
        check(bool(plain["nodes"]), "it has no nodes.")
        for node in plain["nodes"]:
            check(isinstance(node, dict) and isinstance(node["operation"], dict), "a node must be a dict.")
            operation = _operation(node["operation"], weights)
            read = _whole_numbers(node["inputs"])
            check(bool(read) and all(0 <= i < len(shapes) for i in read), "a node reads what does not exist.")
            shape, most = _shape_of(operation, [shapes[i] for i in read])
            numbers += math.prod(shape)
            check(max(numbers, most) <= MAX_NUMBERS, f"one point takes more than {MAX_NUMBERS:,} numbers.")
            shapes.append(shape)
            nodes.append(Node(operation, read, shape))
        check(len(shapes[-1]) == 1, "the last node must have the shape (c,).")
        return Graph(shapes[0], tuple(nodes))
    except (KeyError, TypeError, IndexError, RuntimeError, AttributeError, ValueError, OverflowError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else (str(error).splitlines() or ["?"])[0][:120]
        raise ValueError(f"coded graph cannot be read: {reason.rstrip('.')}.") from None


def _operation(plain: Mapping[str, Any], weights: Array) -> Any:
    kind = OPERATIONS.get(plain["kind"])
    check(kind is not None, f"no operation {str(plain['kind'])[:40]!r} is known.")
    assert kind is not None
    return kind(**{field.name: value_of(plain.get(field.name), field, weights) for field in fields(kind)})


def value_of(value: Any, field: Field[Any], weights: Array) -> Any:
    """The value of a field of an operation, of the type that the operation declares."""
    if field.type == "Window":
        check(isinstance(value, dict), "a window must be a dict.")
        return Window(**{part.name: value_of(value.get(part.name), part, weights) for part in fields(Window)})
    if field.type == "Activation":
        return activation(value)
    if field.type == "Tensor" or (field.type == "Tensor | None" and value is not None):
        return _tensor_of(value, weights)
    if field.type in ("Shape", "tuple[int, ...]"):
        return _whole_numbers(value)
    if field.type == "tuple[float, ...]":
        check(all(isinstance(part, float) and math.isfinite(part) for part in value), f"{field.name} must be numbers.")
        return tuple(value)
    kind = {"int": int, "float": float, "bool": bool, "str": str, "Tensor | None": type(None)}[str(field.type)]
    check(type(value) is kind, f"{field.name} must be {field.type}, got {str(value)[:40]!r}.")
    return value


def _whole_numbers(value: Any) -> tuple[int, ...]:
    check(
        isinstance(value, list | tuple) and all(type(n) is int and abs(n) <= MAX_NUMBERS for n in value),
        f"expected whole numbers, got {str(value)[:40]!r}.",
    )
    return tuple(value)


def _tensor_of(value: Any, weights: Array) -> Tensor:
    """Numbers of the architecture, or weights of the code by their places."""
    if isinstance(value, Tensor):
        check(value.dtype in (torch.float64, torch.int64), f"numbers must be float64 or int64, got {value.dtype}.")
        check(bool(value.isfinite().all()), "numbers must be finite.")
        return value
    check(isinstance(value, dict), f"expected numbers or their places, got {str(value)[:40]!r}.")
    if "places" in value:
        places = value["places"]
        check(isinstance(places, Tensor) and places.dtype == torch.int64, "places must be whole numbers.")
        known = bool(((places >= 0) & (places < len(weights))).all())
        check(known, "a weight that the code does not have.")
        return torch.from_numpy(np.asarray(weights[places.numpy()]))
    start, shape = value["start"], _whole_numbers(value["shape"])
    size = math.prod(shape)
    known = type(start) is int and min(shape, default=0) >= 0 <= start and start + size <= len(weights)
    check(known, "a weight that the code does not have.")
    return torch.from_numpy(weights[start : start + size].reshape(shape).copy())


def _shape_of(operation: Any, read: Sequence[Shape]) -> tuple[Shape, int]:
    """The shape of a node at one point, and the most numbers that computing it holds; nothing is computed."""
    _require_own_point(operation, read)
    most = 0
    if isinstance(operation, Convolution | Average | Largest):
        _require_window(operation.window, read[0])
        most = math.prod(read[0][:1] + operation.window.out_space(read[0][1:])) * operation.window.points
        most = max(most, _padded(operation.window, read[0]))
    parts = {name: part.to("meta") for name, part in vars(operation).items() if isinstance(part, Tensor)}
    inputs = [torch.empty(1, *shape, dtype=torch.float64, device="meta") for shape in read]
    output = replace(operation, **parts).value(*inputs)
    check(output.ndim >= 1 and len(output) == 1, "a node mixes points.")
    return tuple(output.shape[1:]), most


def _require_own_point(operation: Any, read: Sequence[Shape]) -> None:
    """Every number of a node depends on one point, and what it says of itself is so."""
    axes = len(read[0])
    check(len(read) == 1 or isinstance(operation, Sum | Cat), "only a sum or a row of several reads several nodes.")
    if isinstance(operation, Average):
        check(set(operation.window.dilation) == {1}, "an average must be over neighbours.")
    if isinstance(operation, Dense):
        check(axes >= 1 and operation.W.ndim == 2, "a dense layer must have a matrix and read a vector.")
        check(operation.b is None or operation.b.shape == operation.W.shape[:1], "a bias must fit its matrix.")
    if isinstance(operation, Sum):
        check(len(set(read)) == 1, "a sum must read equal shapes.")
    if isinstance(operation, Cat):
        check(0 <= operation.axis < axes, "a row must lie along an axis of a point.")
    if isinstance(operation, Total):
        known = all(0 <= axis < axes for axis in operation.axes) and operation.weight > 0
        check(known, "a total must be over axes of a point, its weight above 0.")
        check(operation.count == math.prod(read[0][axis] for axis in operation.axes), "a total must count its numbers.")
    if isinstance(operation, Places):
        places = operation.places
        known = places.dtype == torch.int64 and bool(((places >= 0) & (places <= math.prod(read[0]))).all())
        check(known, "a place must be a number of the node before.")
    if isinstance(operation, Affine) and operation.added is not None:
        check(operation.shift is not None, "a shift is missing.")
        assert operation.shift is not None
        check(bool((operation.added >= operation.shift.abs()).all()), "a shift must be at most what it was made of.")


def _require_window(window: Window, shape: Shape) -> None:
    sides = (window.kernel, window.stride, window.dilation)
    known = 1 <= window.axes <= 3 and len(shape) == window.axes + 1 and len(window.padding) == 2 * window.axes
    known = known and all(len(side) == window.axes and min(side) >= 1 for side in sides)
    known = known and window.mode in ("constant", "reflect", "replicate", "circular") and min(window.padding) >= 0
    check(known and min(window.out_space(shape[1:])) >= 1, "a window does not fit what it reads.")


def _padded(window: Window, shape: Shape) -> int:
    """Numbers of the padded x."""
    sides = [n + sum(window.padding[2 * i : 2 * i + 2]) for i, n in enumerate(reversed(shape[1:]))]
    return math.prod(sides) * shape[0]


def constants(plain: Mapping[str, Any]) -> int:
    """How many numbers of a graph are not weights of the code: they belong to the architecture and cost no bits.

    Places that choose among the weights are such numbers too. Signs, means over windows of one size and views are not
    counted.
    """
    return sum(_constants(node["operation"]) for node in plain["nodes"])


def _constants(operation: Mapping[str, Any]) -> int:
    if operation["kind"] in (Average.__name__, Total.__name__):
        points = math.prod(operation["window"]["kernel"]) if "window" in operation else operation["count"]
        weight = torch.as_tensor(operation["weight"], dtype=torch.float64)
        is_mean = (1 / weight).round().clamp(1, points).reciprocal() == weight
        # one count for each window could say which of them matter
        return 0 if bool(is_mean.all()) and len(weight.unique()) <= 1 else weight.numel()
    chosen = [part["places"] for part in operation.values() if isinstance(part, dict) and "places" in part]
    parts = [part for part in operation.values() if isinstance(part, Tensor)]
    parts += [places for places in chosen if not _is_view(places)]
    signs = sum(abs(a) != 1 for a in operation.get("coefficients", ()))
    slopes = ":" in str(operation.get("phi", ""))  # as of leaky_relu:0.3
    return sum(part.numel() for part in parts) + signs + slopes


def _is_view(places: Tensor) -> bool:
    """Whether they are those of a slice, a transposed matrix or a repeated row: a start and a step for each axis."""
    if not places.numel():
        return True
    view = start = places.flatten()[0]
    for axis, size in enumerate(places.shape):
        step = places.select(axis, min(1, size - 1)).flatten()[0] - start
        view = view[..., None] + step * torch.arange(size)
    return torch.equal(view, places)
