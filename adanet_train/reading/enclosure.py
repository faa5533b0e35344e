"""The values of a graph with a proved error: node by node, quickly for many points, and in ball arithmetic.

Every linear node errs by at most N ulps of the sum of the sizes it adds, so with e the errors of what it reads

    e_out <= size( (1 + 2N EPS) e + 2N EPS |x| ) (1 + 2N EPS),

in one more pass, of absolute weights. An activation multiplies e by its Lipschitz constant, the largest of a window
errs by no more than the worst of what it reads.

For many points that second pass is made once, backwards: with A_i the weight of all paths from node i to the output, a
rounding error d of node i changes f by at most A_i . |d|, and N ulps of what a linear node adds come to G . |x|, so

    |f - computed f| <= EPS Σ_i N_i G_i . |x_i| + what does not depend on the point,   G_i = size^T A_i.

That does not see which ReLU is off: points where it is wide are evaluated node by node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from adanet_theory.activations import Activation
from adanet_theory.checks import Array
from adanet_theory.rounding import EPS, TINY
from adanet_train.core.points import joined
from adanet_train.reading.graph import Graph, Node, walk
from adanet_train.reading.operations import Activate, Balls, Operation, exact

BLOCK_NUMBERS = 2**20  # numbers of the widest node at a time: few enough for the processor to keep at hand
ACTIVATION_ULPS = 64  # no library function here errs by more, against 1 + |φ|
SOFTPLUS = 3e-9  # torch's softplus is x itself beyond 20, off by e^-20
WIDE = 2.0**-20  # an error above this share of f is looked at node by node


def block_rows(graph: Graph) -> int:
    """How many points are evaluated at a time."""
    return max(1, BLOCK_NUMBERS // max(graph.widest, 1))


def blocks(graph: Graph, X: Array, first: int | None = None) -> Iterator[Tensor]:
    """The first rows of X, or all, few enough at a time, as float64 of the network's shape."""
    rows, m = block_rows(graph), len(X) if first is None else first
    for start in range(0, m, rows):
        part = np.ascontiguousarray(X[start : min(start + rows, m)], dtype=np.float64)
        yield torch.from_numpy(part).reshape(len(part), *graph.shape)


def plain(graph: Graph, x: Tensor) -> Tensor:
    """f in float64."""
    return walk(graph, x, lambda _, node, read: node.operation.value(*read))


def balls(graph: Graph, x: Array) -> Balls:
    """The outputs at one point, in ball arithmetic: dyadic weights, so piecewise linear networks shrink to points."""
    return walk(graph, exact(x).reshape(graph.shape), lambda _, node, read: node.operation.exact(*read))


# Node by node


@torch.no_grad()
def values(graph: Graph, X: Array) -> tuple[Array, Array]:
    """(f, error) of shape (m, c): |f - computed f| <= error at every row of X."""
    f, error = joined((with_errors(graph, block) for block in blocks(graph, X)), len(X))
    return f.numpy(), error.numpy()


def with_errors(graph: Graph, x: Tensor, *, another: bool = False) -> tuple[Tensor, Tensor]:
    """f and its error; `another`: no other evaluation in float64, in whatever order it adds, errs by more either."""
    first = (x, torch.zeros_like(x))
    return walk(graph, first, lambda _, node, read: _propagated(node.operation, read, another))


def _propagated(operation: Operation, read: list[tuple[Tensor, Tensor]], another: bool) -> tuple[Tensor, Tensor]:
    x, e = [value for value, _ in read], [error for _, error in read]
    value = operation.value(*x)
    if isinstance(operation, Activate):
        return _through(operation.phi, x[0], value, e[0], another)
    N = operation.roundings
    if N == 0 or not operation.is_linear:
        return value, operation.value(*e)
    reaches = [reach(size.abs(), error, N) for size, error in zip(x, e, strict=True)]
    error = operation.size(*reaches, one=2 * N * EPS)
    # nothing underflows where all that is read is exactly 0
    alive = torch.stack([part.reshape(len(part), -1).any(dim=1) for part in reaches]).any(dim=0)
    tiny = (N * TINY * alive.double()).reshape(-1, *[1] * (error.ndim - 1))
    return value, error * (1 + 2 * N * EPS) + tiny


def reach(x: Tensor, e: Tensor, N: int, eps: float = EPS, tiny: float = TINY) -> Tensor:
    """e and N ulps of x; `tiny` more, since eps x may underflow before a large weight brings it back."""
    return e * (1 + 2 * N * eps) + 2 * N * eps * x + tiny * ((x != 0) | (e != 0)).double()


def _through(phi: Activation, h: Tensor, value: Tensor, e: Tensor, another: bool) -> tuple[Tensor, Tensor]:
    error = phi.lipschitz * e * (1 + 4 * EPS)
    if phi.name == "relu":  # one that is surely off has no error
        off = h <= -(2 * e if another else e)
        return value.masked_fill(off, 0.0), error.masked_fill(off, 0.0)
    ulps, one = _own_ulps(phi)
    if ulps == 0:
        return value, error
    cut = SOFTPLUS if another and phi.name == "softplus" else 0.0
    return value, error + ulps * EPS * (one + value.abs()) + TINY * (h != 0).double() + cut


def _own_ulps(phi: Activation) -> tuple[int, float]:
    """(N, c): φ as a library computes it errs by N EPS (c + |φ|) and an underflow."""
    if phi.name.startswith("leaky_relu"):
        return 1, 0.0
    return (0, 0.0) if phi.is_homogeneous else (ACTIVATION_ULPS, 1.0)


# Quickly


@torch.no_grad()
def enclosed(graph: Graph, X: Array) -> tuple[Array, Array]:
    """`values` of many points in half the time: wide errors alone are propagated node by node.

    The backward pass has a row for each output, so it must be worth it and fit into a block.
    """
    c = graph.outputs
    if len(X) < 2 * c or c > block_rows(graph):
        return values(graph, X)
    f, error = joined(_quickly(graph, X), len(X))
    return f.numpy(), error.numpy()


def _quickly(graph: Graph, X: Array) -> Iterator[tuple[Tensor, Tensor]]:
    sensitivity, quick = Sensitivity.of(graph), True
    for block in blocks(graph, X):
        f, error = sensitivity.values(graph, block) if quick else with_errors(graph, block)
        if quick:
            wide = ~(error.amax(dim=1) <= WIDE * f.abs().amax(dim=1))
            if bool(wide.any()):
                f = f.clone()  # it may be x itself
                f[wide], error[wide] = with_errors(graph, block[wide])
            quick = 2 * int(wide.sum()) < len(block)
        yield f, error


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """N G of every node that is read or rounds by itself, of shape (numbers, c), and what is the same at every point.

    All are upper values: the factor 2 of EPS is more than the roundings of their own sums.
    """

    ulps: dict[int, Tensor]
    constant: Tensor

    @classmethod
    def of(cls, graph: Graph) -> Sensitivity:
        c, last = graph.outputs, len(graph.nodes)
        A = {last: torch.eye(c, dtype=torch.float64)}
        ulps: dict[int, Tensor] = {}
        constant = torch.full((c,), 4 * TINY, dtype=torch.float64)
        for i in range(last, 0, -1):
            if i not in A:  # nothing reads it
                continue
            node, a = graph.nodes[i - 1], A.pop(i)
            total = a.reshape(c, -1).sum(dim=1)
            if isinstance(node.operation, Activate):
                N, one = _own_ulps(node.operation.phi)
                if N:
                    _add(ulps, i, N * a)
                    constant += N * (EPS * one + TINY) * total
                _add(A, node.inputs[0], node.operation.phi.lipschitz * a + TINY)
                continue
            N, shapes = node.operation.roundings * node.operation.is_linear, [graph.shape_of(j) for j in node.inputs]
            sizes, own = pulled(node.operation, shapes, a, one=1.0)
            constant += N * (EPS * own + TINY * total)
            for j, size in zip(node.inputs, sizes, strict=True):
                upper = size + node.operation.slope_roundings * TINY
                _add(A, j, upper)
                if N:
                    _add(ulps, j, N * upper)
        return cls({i: part.reshape(c, -1).T.contiguous() for i, part in ulps.items()}, constant)

    def values(self, graph: Graph, x: Tensor) -> tuple[Tensor, Tensor]:
        """f, and a bound on its error."""
        size = x.new_zeros(len(x), graph.outputs)

        def seen(i: int, value: Tensor) -> Tensor:
            if i in self.ulps:
                size.addmm_(value.reshape(len(value), -1).abs(), self.ulps[i])
            return value

        def step(i: int, node: Node, read: list[Tensor]) -> Tensor:
            return seen(i, node.operation.value(*read))

        f = walk(graph, seen(0, x), step)
        return f, EPS * size + self.constant


def _add(parts: dict[int, Tensor], i: int, part: Tensor) -> None:
    parts[i] = parts[i] + part if i in parts else part


def pulled(
    operation: Operation, shapes: list[tuple[int, ...]], a: Tensor, one: float | None
) -> tuple[tuple[Tensor, ...], Tensor]:
    """(a^T M_1, a^T M_2, ..; a^T b) for every row a, of the linear map M x + b that the operation is.

    Of its sizes, with `one`, where that is a number. The operation need not be linear for those.
    """
    leaves = [torch.zeros(len(a), *shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    with torch.enable_grad():
        y = operation.value(*leaves) if one is None else operation.size(*leaves, one=one)
        products = (y * a).reshape(len(a), -1).sum(dim=1)
        parts = torch.autograd.grad(products.sum(), leaves, materialize_grads=True)
    return parts, products.detach()
