"""A feed-forward network as a graph of linear maps and activations, and its depth.

The nodes stand in an order in which each reads earlier ones; node 0 is x. Linear maps and activations may follow in any
order, a node may read several, and any number of nodes may read it: dense and convolutional networks, with skips. A
network in layers is such a graph. Its values are in `enclosure`, its path norm in `path_norm`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import check
from adanet_train.core.network import Network
from adanet_train.reading.operations import Activate, Affine, Dense, Largest, Operation, Shape, Sum

DIFFERENCE = "difference"


@dataclass(frozen=True, eq=False)
class Node:
    """operation(inputs), of this shape for one point; `name` is that of the module it was read from."""

    operation: Operation
    inputs: tuple[int, ...]
    shape: Shape
    name: str = ""


@dataclass(frozen=True, eq=False)
class Graph:
    """x of `shape`, then nodes[0], which is number 1, and so on; the last one is the output, of shape (c,).

    `link` names the sigmoid or softmax that the module puts behind it and that was taken off.
    """

    shape: Shape
    nodes: tuple[Node, ...]
    link: str = ""
    derived: bool = False
    """Whether forward computes fixed tensors from the weights, in its own type of numbers."""

    @property
    def outputs(self) -> int:
        return self.nodes[-1].shape[0]

    @property
    def classes(self) -> int | None:
        """The number of classes with an output each; None for one function f."""
        return None if self.outputs == 1 else self.outputs

    @property
    def n(self) -> tuple[int, ...]:
        """Features, numbers of each level, outputs."""
        return (self.n_0, *self.units, self.outputs)

    @property
    def own_n(self) -> tuple[int, ...]:
        """n as a user counts it: without the constant that carries biases, and with both of two logits."""
        last = self.nodes[-2] if self.nodes[-1].name == DIFFERENCE else self.nodes[-1]
        return (math.prod(self.shape), *self.units, *last.shape)

    @property
    def has_bias(self) -> bool:
        """Biases are weights on one more feature, which is constantly 1."""
        return any(node.operation.has_bias for node in self.nodes)

    @property
    def n_0(self) -> int:
        return math.prod(self.shape) + self.has_bias

    def shape_of(self, i: int) -> Shape:
        """Of node i for one point; 0 is x."""
        return self.shape if i == 0 else self.nodes[i - 1].shape

    @property
    def widest(self) -> int:
        """The most numbers that one node has for one point."""
        return max(math.prod(self.shape_of(i)) for i in range(len(self.nodes) + 1))

    @property
    def work(self) -> int:
        """Products that one point costs: the numbers of all nodes times what one of them reads."""
        return sum(math.prod(node.shape) * max(node.operation.roundings, 1) for node in self.nodes)

    def read(self, coefficients: Sequence[float]) -> Graph:
        """The network with the one output Σ_i a_i f_i: (-1, 1) for the second of two logits minus the first."""
        check(len(coefficients) == self.outputs, f"the network has {self.outputs} outputs, got {len(coefficients)}.")
        if tuple(coefficients) == (1.0,):
            return self
        row = Dense(torch.tensor([list(coefficients)], dtype=torch.float64))
        return Graph(self.shape, (*self.nodes, Node(row, (len(self.nodes),), (1,), DIFFERENCE)), self.link)

    # Levels

    @cached_property
    def _levels(self) -> _Levels:
        return _levels(self)

    @property
    def d(self) -> int:
        """Activations on the longest path, and one more where x is read again above the first level."""
        return self._levels.d + self.rereads

    @property
    def units(self) -> tuple[int, ...]:
        """Numbers of each level."""
        return self._levels.units

    @property
    def levels(self) -> tuple[tuple[Activation, ...], ...]:
        """The activations of each level."""
        return tuple(tuple(activation(name) for name in level) for level in self._levels.names)

    @property
    def phi(self) -> tuple[Activation, ...]:
        """The activations that occur, each once."""
        names = sorted({name for level in self._levels.names for name in level})
        return tuple(activation(name) for name in names)

    @property
    def is_homogeneous(self) -> bool:
        return all(phi.is_homogeneous for phi in self.phi)

    @property
    def peeling(self) -> float:
        """c: at each level e_φ of its activations summed; the largest level counts."""
        return max((sum(phi.peeling for phi in level) for level in self.levels), default=1.0)

    @property
    def rereads(self) -> bool:
        """Whether an activation above the first level reads x itself (and not only the constant feature)."""
        return self._levels.rereads


def of_network(network: Network) -> Graph:
    """The layers of a network as a graph on Ψ; a layer that reads nothing is 0.

    w_k = 0 below the top is left out: a network and its file, which holds every w_k, are one graph.
    """
    nodes: list[Node] = []

    def add(operation: Operation, width: int, *read: int) -> int:
        nodes.append(Node(operation, read, (width,)))
        return len(nodes)

    def total(parts: list[int], width: int) -> int:
        if not parts:
            return add(Dense(torch.zeros(width, network.n[0], dtype=torch.float64)), width, 0)
        return parts[0] if len(parts) == 1 else add(Sum((1.0,) * len(parts)), width, *parts)

    phi, read_out, outputs = {0: 0}, [], network.outputs or 1
    for k in range(1, network.depth + 1):
        pairs = [s for s in range(k) if (k, s) in network.hidden]
        h = total([add(Dense(network.hidden[k, s].double()), network.n[k], phi[s]) for s in pairs], network.n[k])
        if k in network.output and (k == network.depth or bool(network.output[k].any())):
            read_out.append(add(Dense(network.output[k].double().reshape(outputs, -1)), outputs, h))
        if k < network.depth:
            phi[k] = add(Activate(activation(network.activations[k - 1])), network.n[k], h)
    last = total(read_out, outputs)
    return Graph((network.n[0],), tuple(nodes[:last]))


def chain(
    weights: Sequence[tuple[Any, Any]], phi: str, *, before: Sequence[tuple[Any, Any]] = (), link: str = ""
) -> Graph:
    """W_k φ(..) + b_k, one after the other, behind x scale + shift for every pair in `before`; arrays or tensors."""
    operations: list[tuple[Operation, int]] = [(Affine(_double(a), _double(b)), len(a)) for a, b in before]
    for k, (W, b) in enumerate(weights):
        if k and phi != "identity":
            operations.append((Activate(activation(phi)), W.shape[1]))
        operations.append((Dense(_double(W), None if b is None else _double(b)), len(W)))
    nodes = [Node(operation, (i,), (width,)) for i, (operation, width) in enumerate(operations)]
    return Graph((weights[0][0].shape[1],), tuple(nodes), link)


def _double(values: Any) -> Tensor:
    return torch.as_tensor(values).double()


# Walking through the graph


def walk(graph: Graph, first: Any, step: Callable[[int, Node, list[Any]], Any]) -> Any:
    """step for every node; what no later node reads is dropped."""
    last = {j: i for i, node in enumerate(graph.nodes, start=1) for j in node.inputs}
    values = {0: first}
    for i, node in enumerate(graph.nodes, start=1):
        values[i] = step(i, node, [values[j] for j in node.inputs])
        for j in {*node.inputs}:
            if last[j] == i:
                del values[j]
    return values[len(graph.nodes)]


@dataclass(frozen=True)
class _Levels:
    d: int
    names: tuple[tuple[str, ...], ...]
    units: tuple[int, ...]
    rereads: bool


def _levels(graph: Graph) -> _Levels:
    names: list[set[str]] = []
    units: dict[int, int] = {}
    rereads = False

    def step(_: int, node: Node, read: list[tuple[int, bool]]) -> tuple[int, bool]:
        nonlocal rereads
        level, direct = max(level for level, _ in read), any(direct for _, direct in read)
        if not isinstance(node.operation, Activate | Largest):
            return level, direct
        for name in node.operation.levels:
            rereads |= direct and level >= 1
            level += 1
            names.extend(set() for _ in range(level - len(names)))
            names[level - 1].add(name)
            units[level] = units.get(level, 0) + math.prod(node.shape)
        # (a + b)/2 passes on what it reads; an activation does not
        return level, direct and isinstance(node.operation, Largest)

    d, _ = walk(graph, (0, True), step)
    counts = tuple(units.get(level, 0) for level in range(1, len(names) + 1))
    return _Levels(d, tuple(tuple(sorted(level)) for level in names), counts, rereads)
