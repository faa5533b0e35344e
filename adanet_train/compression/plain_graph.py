"""A graph as plain data: each operation by its name and fields; its weights are places in the code, not numbers.

Which numbers of a graph are weights is found by tracing the module twice, each time with other numbers in place of its
weights: what stays is the architecture's, what changes must be one weight at each place. A module whose weights enter
by a formula has no such form, and its file needs the module.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
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
        return first.clone()
    places = first.long() - 1
    known = bool((first == places + 1).all()) and bool(((places >= 0) & (places < total)).all())
    check(known and torch.equal(second, (2 * total - places).to(second.dtype)), "weights enter by a formula.")
    start, shape = int(places.flatten()[0]), list(places.shape)
    if torch.equal(places.flatten(), torch.arange(start, start + places.numel())):
        return {"start": start, "shape": shape}
    return {"places": places}


# Reading


def of_plain(plain: Mapping[str, Any], coded: Sequence[Coded]) -> Graph:
    """The graph with the weights of the code, every shape checked on an example.

    Raises
    ------
    ValueError
        If the data are no graph.
    """
    weights = np.concatenate([part.value.ravel() for part in coded])
    try:
        shape = tuple(int(n) for n in plain["shape"])
        nodes: list[Node] = []
        values = [torch.zeros(1, *shape, dtype=torch.float64)]
        for node in plain["nodes"]:
            operation = _operation(node["operation"], weights)
            read = tuple(int(i) for i in node["inputs"])
            check(bool(read) and all(0 <= i < len(values) for i in read), "a node reads what does not exist.")
            values.append(operation.value(*(values[i] for i in read)))
            check(len(values[-1]) == 1 and values[-1].numel() <= MAX_NUMBERS, "a node has no shape.")
            nodes.append(Node(operation, read, tuple(values[-1].shape[1:])))
        check(bool(nodes) and len(nodes[-1].shape) == 1, "the last node must have the shape (c,).")
        return Graph(shape, tuple(nodes))
    except ValueError:
        raise
    except (KeyError, TypeError, IndexError, RuntimeError, AttributeError) as error:
        raise ValueError(f"coded graph cannot be read: {str(error).splitlines()[0][:80]}.") from None


def _operation(plain: Mapping[str, Any], weights: Array) -> Any:
    kind = OPERATIONS.get(plain["kind"])
    check(kind is not None, f"coded graph: no operation {str(plain['kind'])[:40]!r} is known.")
    assert kind is not None
    given = {field.name: _value(plain.get(field.name), field.name, weights) for field in fields(kind)}
    return kind(**given)


def _value(value: Any, name: str, weights: Array) -> Any:
    if name == "window":
        parts = {field.name: _value(value.get(field.name), field.name, weights) for field in fields(Window)}
        return Window(**parts)
    if name == "phi":
        return activation(value)
    if isinstance(value, Mapping):
        return torch.from_numpy(_weights(value, weights))
    return tuple(value) if isinstance(value, list) else value


def _weights(value: Mapping[str, Any], weights: Array) -> Array:
    if "places" in value:
        places = value["places"].numpy()
        check(
            bool(((places >= 0) & (places < len(weights))).all()), "coded graph: a weight that the code does not have."
        )
        return np.asarray(weights[places])
    start, shape = int(value["start"]), tuple(int(n) for n in value["shape"])
    size = math.prod(shape)
    check(start >= 0 and start + size <= len(weights), "coded graph: a weight that the code does not have.")
    return weights[start : start + size].reshape(shape).copy()
