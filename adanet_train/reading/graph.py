"""A feed-forward network as a graph: its values with a proved error, its path norm, its depth.

The nodes stand in an order in which each reads earlier ones; node 0 is x. Linear maps and activations may follow in any
order, a node may read several, and any number of nodes may read it: dense and convolutional networks, with skips.

Every linear node errs by at most N ulps of the sum of the sizes it adds, so with e the errors of what it reads

    e_out <= size( (1 + 2N EPS) e + 2N EPS |x| ) (1 + 2N EPS),

in one more pass, of absolute weights. An activation multiplies e by its Lipschitz constant, the largest of a window
errs by no more than the worst of what it reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import Array, check
from adanet_theory.rounding import EPS, TINY
from adanet_train.reading.operations import Activate, Balls, Dense, Largest, Operation, Shape

BLOCK_NUMBERS = 2**22  # numbers of the widest node at a time, to bound the memory
SMALLEST = 2.0**-900  # products of more than this keep all their digits
ACTIVATION_ULPS = 64  # no library function here errs by more, against 1 + |φ|
SOFTPLUS = 3e-9  # torch's softplus is x itself beyond 20, off by e^-20


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
    """Whether forward makes fixed tensors out of the weights, in whatever numbers it computes."""

    @property
    def outputs(self) -> int:
        return self.nodes[-1].shape[0]

    @property
    def has_bias(self) -> bool:
        """Biases are weights on one more feature, which is constantly 1."""
        return any(node.operation.has_bias for node in self.nodes)

    @property
    def n_0(self) -> int:
        return math.prod(self.shape) + self.has_bias

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
        return Graph(self.shape, (*self.nodes, Node(row, (len(self.nodes),), (1,), "difference")), self.link)

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


# Values


def blocks(graph: Graph, X: Array) -> Any:
    """The rows of X, few enough at a time, as float64 of the network's shape."""
    widest = max([math.prod(graph.shape), *(math.prod(node.shape) for node in graph.nodes)])
    rows = max(1, BLOCK_NUMBERS // widest)
    for start in range(0, len(X), rows):
        part = np.ascontiguousarray(X[start : start + rows], dtype=np.float64)
        yield torch.from_numpy(part).reshape(len(part), *graph.shape)


@torch.no_grad()
def values(graph: Graph, X: Array) -> tuple[Array, Array]:
    """(f, error) of shape (m, c): |f - computed f| <= error at every row of X."""
    parts = [with_errors(graph, block) for block in blocks(graph, X)]
    f, error = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    return f, error


def with_errors(graph: Graph, x: Tensor, *, another: bool = False) -> tuple[Tensor, Tensor]:
    """f and its error; `another`: no other evaluation in float64, in whatever order it adds, errs by more either."""
    first = (x, torch.zeros_like(x))
    return walk(graph, first, lambda _, node, read: _propagated(node.operation, read, another))


def plain(graph: Graph, x: Tensor) -> Tensor:
    """f in float64."""
    return walk(graph, x, lambda _, node, read: node.operation.value(*read))


def _propagated(operation: Operation, read: list[tuple[Tensor, Tensor]], another: bool) -> tuple[Tensor, Tensor]:
    x, e = [value for value, _ in read], [error for _, error in read]
    value = operation.value(*x)
    if isinstance(operation, Activate):
        return _through(operation.phi, x[0], value, e[0], another)
    if isinstance(operation, Largest):
        return value, operation.value(*e)
    N = operation.roundings
    if N == 0:
        return value, operation.value(*e)
    reach = [_reach(size.abs(), error, N) for size, error in zip(x, e, strict=True)]
    error = operation.size(*reach, one=2 * N * EPS)
    # nothing underflows where all that is read is exactly 0
    alive = torch.stack([part.reshape(len(part), -1).any(dim=1) for part in reach]).any(dim=0)
    tiny = (N * TINY * alive.double()).reshape(-1, *[1] * (error.ndim - 1))
    return value, error * (1 + 2 * N * EPS) + tiny


def _reach(x: Tensor, e: Tensor, N: int) -> Tensor:
    """e and N ulps of x; TINY more, since EPS x may underflow before a large weight brings it back."""
    return e * (1 + 2 * N * EPS) + 2 * N * EPS * x + TINY * ((x != 0) | (e != 0)).double()


def _through(phi: Activation, h: Tensor, value: Tensor, e: Tensor, another: bool) -> tuple[Tensor, Tensor]:
    error = phi.lipschitz * e * (1 + 4 * EPS)
    if phi.name == "relu":  # one that is surely off has no error
        off = h <= -(2 * e if another else e)
        return value.masked_fill(off, 0.0), error.masked_fill(off, 0.0)
    if phi.name.startswith("leaky_relu"):
        return value, error + EPS * value.abs() + TINY * (h != 0).double()
    if phi.is_homogeneous:
        return value, error
    cut = SOFTPLUS if another and phi.name == "softplus" else 0.0
    return value, error + ACTIVATION_ULPS * EPS * (1 + value.abs()) + cut


def balls(graph: Graph, x: Array) -> Balls:
    """The outputs at one point, in ball arithmetic: dyadic weights, so piecewise linear networks shrink to points."""
    from adanet_train.reading.balls import exact

    return walk(graph, exact(x).reshape(graph.shape), lambda _, node, read: node.operation.exact(*read))


# The path norm


def path_norm(graph: Graph) -> float:
    """An upper value of B, the path norm of the output f, with all linear maps above the activations collapsed.

        f = v_0 · (x, 1) + Σ_s v_s · z_s,   B = ||v_0||_1 + Σ_s |v_s| · P(z_s),   P(x_i) = P(1) = 1,

    z_s the activations that f reads through linear maps alone, and P their path norms: one pass of absolute weights
    over ones. v is the slope of f, computed by one backward pass, and so are the sizes that bound its rounding.
    Of C outputs B is the sum of theirs, once every weight is centred: Σ_y |v_y - a| for |v|, a the median over y.
    Where a product of the collapsed weights could underflow, they are left as they are: the sum over all paths is no
    less than B, and in that pass what underflows is made up for at every node.
    """
    paths, whole = _paths(graph)
    if math.prod(graph.nodes[i - 1].operation.smallest for i in _tail(graph)) < SMALLEST:
        B = float(whole.sum() * (1 + 2 * graph.outputs * EPS)) + TINY
    else:
        B = _collapsed(graph, paths)
    if not math.isfinite(B):
        raise OverflowError("the path norm exceeds the largest float, 1.8e308.")
    return B


def _collapsed(graph: Graph, paths: Mapping[int, Tensor]) -> float:
    v, size, N = _slopes(graph)
    parts = [(_centred(v[i]) + 2 * N * EPS * size[i].sum(dim=0) + N * graph.outputs * TINY) @ paths[i] for i in v]
    roundings = N + sum(len(paths[i]) for i in v) + len(parts) + 4 + 2 * (graph.outputs - 1)
    return float(torch.stack(parts).sum() * (1 + 2 * roundings * EPS)) + roundings * TINY


def _centred(v: Tensor) -> Tensor:
    """|v| of one output; of several (rows) Σ_y |v_y - a|, a the median of what was computed: any number would do."""
    if len(v) == 1:
        return v[0].abs()
    return (v - v.sort(dim=0).values[(len(v) - 1) // 2]).abs().sum(dim=0)


@torch.no_grad()
def _paths(graph: Graph) -> tuple[dict[int, Tensor], Tensor]:
    """Upper values of P of x, of the constant (-1) and of every node that is not linear, flattened; and of f."""
    ones = torch.ones(1, *graph.shape, dtype=torch.float64)
    found = {0: ones.flatten(), -1: ones.new_ones(1)}

    def step(i: int, node: Node, read: list[Tensor]) -> Tensor:
        N = node.operation.roundings
        P = node.operation.size(*read, one=1.0)
        if N:
            P = P * (1 + 2 * N * EPS) + 2 * N * TINY
        if not node.operation.is_linear:
            found[i] = P.flatten()
        return P

    whole = walk(graph, ones, step)
    return found, whole


def _slopes(graph: Graph) -> tuple[dict[int, Tensor], dict[int, Tensor], int]:
    """v and the sizes of its sums, by the node that f reads linearly (-1: the constant), and N of their roundings.

    Each has a row for every output, which is one backward pass.
    """
    tail = _tail(graph)
    last = len(graph.nodes)
    sources = sorted({j for i in tail for j in graph.nodes[i - 1].inputs if j not in tail} or {last})
    shapes = {j: graph.shape if j == 0 else graph.nodes[j - 1].shape for j in sources}
    leaves = [torch.zeros(1, *shapes[j], dtype=torch.float64, requires_grad=True) for j in sources]
    found = []
    for one in (None, 1.0):
        values = dict(zip(sources, leaves, strict=True))
        for i in sorted(tail):
            node = graph.nodes[i - 1]
            read = [values[j] for j in node.inputs]
            values[i] = node.operation.value(*read) if one is None else node.operation.size(*read, one=one)
        f = values[last].reshape(-1)
        rows = [torch.autograd.grad(f_y, leaves, materialize_grads=True, retain_graph=True) for f_y in f]
        parts = {j: torch.stack([row[i].flatten() for row in rows]) for i, j in enumerate(sources)}
        found.append(parts | {-1: f.detach().reshape(-1, 1)})  # at 0 what is left is the constant
    N = sum(graph.nodes[i - 1].operation.roundings + len(graph.nodes) for i in tail) + 4
    return found[0], found[1], N


def _tail(graph: Graph) -> set[int]:
    """The linear nodes from which f is reached through linear nodes alone, f among them."""
    last = len(graph.nodes)
    tail, pending = set(), [last]
    while pending:
        i = pending.pop()
        if i and i not in tail and graph.nodes[i - 1].operation.is_linear:
            tail.add(i)
            pending += graph.nodes[i - 1].inputs
    return tail
