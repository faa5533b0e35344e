"""The path norm of a graph, rounded up, with all linear maps above the activations collapsed.

    f = v_0 · (x, 1) + Σ_s v_s · z_s,   B = ||v_0||_1 + Σ_s |v_s| · P(z_s),   P(x_i) = P(1) = 1,

z_s the activations that f reads through linear maps alone, and P their path norms: one pass of absolute weights over
ones. v is the slope of f, computed backwards with its rounding errors as values are forwards. Of C outputs B is the sum
of theirs, once every weight is centred: Σ_y |v_y - a| for |v|, a the median over y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.rounding import EPS, TINY, up
from adanet_train.reading.enclosure import pulled, reach
from adanet_train.reading.graph import Graph, Node, walk
from adanet_train.reading.operations import Activate, Dense, Reshape, Sum

DENORMAL = 1e-280  # below, TINY counts, above all for f = 0
CONSTANT = -1  # the number of the feature that is constantly 1


def path_norm(graph: Graph) -> float:
    """An upper value of B; where it is tiny and all linear maps are matrices, B itself. OverflowError beyond floats.

    >>> from adanet_train.reading.operations import Dense
    >>> W = torch.tensor([[3.0, -4.0]], dtype=torch.float64)
    >>> 7 <= path_norm(Graph((2,), (Node(Dense(W), (0,), (1,)),))) < 7 + 1e-12
    True
    """
    B = _rounded_up(graph)
    if B < DENORMAL and _in_matrices(graph):
        return up(_exactly(graph))
    if not math.isfinite(B):
        raise OverflowError("the path norm exceeds the largest float, 1.8e308.")
    return B


def _rounded_up(graph: Graph) -> float:
    paths, slopes = unit_paths(graph), _slopes(graph)
    parts = [(_centred(v) + e.sum(dim=0)) @ paths[i] for i, (v, e) in slopes.items()]
    roundings = sum(len(paths[i]) for i in slopes) + len(parts) + 4 + 2 * graph.outputs
    # the sum over all paths is no less than B, and floats may hold it where they do not hold the slopes
    values = (torch.stack(parts).sum(), paths[len(graph.nodes)].sum())
    return min((float(x) for x in values if torch.isfinite(x)), default=math.inf) * (1 + 2 * roundings * EPS) + (
        roundings * TINY
    )


def _centred(v: Tensor) -> Tensor:
    """|v| of one output; of several (rows) Σ_y |v_y - a|, a the median of what was computed: any number would do."""
    if len(v) == 1:
        return v[0].abs()
    return (v - v.sort(dim=0).values[(len(v) - 1) // 2]).abs().sum(dim=0)


@torch.no_grad()
def unit_paths(graph: Graph) -> dict[int, Tensor]:
    """Upper values of P of x, of the constant and of every node that is not linear, flattened; and of f by its number.

    >>> from adanet_train.reading.operations import Dense
    >>> unit_paths(Graph((2,), (Node(Dense(torch.ones(1, 2, dtype=torch.float64)), (0,), (1,)),)))[0].tolist()
    [1.0, 1.0]
    """
    ones = torch.ones(1, *graph.shape, dtype=torch.float64)
    paths = {0: ones.flatten(), CONSTANT: ones.new_ones(1)}

    def step(i: int, node: Node, read: list[Tensor]) -> Tensor:
        N = node.operation.roundings
        P = node.operation.size(*read, one=1.0)
        if N:
            P = P * (1 + 2 * N * EPS) + 2 * N * TINY
        if not node.operation.is_linear or i == len(graph.nodes):
            paths[i] = P.flatten()
        return P

    walk(graph, ones, step)
    return paths


@torch.no_grad()
def _slopes(graph: Graph) -> dict[int, tuple[Tensor, Tensor]]:
    """v and bounds on its error, a row for each output, by the node that f reads linearly, and of the constant."""
    last, c = len(graph.nodes), graph.outputs
    one = torch.eye(c, dtype=torch.float64)
    by_node = {last: (one, torch.zeros_like(one)), CONSTANT: (one.new_zeros(c, 1), one.new_zeros(c, 1))}
    tail = _tail(graph)
    for i in sorted(tail, reverse=True):
        node, (v, e) = graph.nodes[i - 1], by_node.pop(i)
        shapes, N = [graph.shape_of(j) for j in node.inputs], max(node.operation.slope_roundings, v[0].numel()) + 2
        slopes, constant = pulled(node.operation, shapes, v, one=None)
        errors, own = pulled(node.operation, shapes, reach(v.abs(), e, N), one=1.0)
        parts = [*zip(node.inputs, slopes, errors, strict=True)]
        if node.operation.has_bias:
            parts.append((CONSTANT, constant[:, None], own[:, None]))
        for j, slope, error in parts:
            before = by_node.get(j, (torch.zeros_like(slope), torch.zeros_like(slope)))
            total = before[0] + slope
            more = error * (1 + 2 * N * EPS) + N * TINY
            by_node[j] = total, (before[1] + more) * (1 + 2 * EPS) + EPS * total.abs()
    return {i: (v.flatten(1), e.flatten(1)) for i, (v, e) in by_node.items()}


def _tail(graph: Graph) -> set[int]:
    """The linear nodes from which f is reached through linear nodes alone, f among them."""
    tail, pending = set(), [len(graph.nodes)]
    while pending:
        i = pending.pop()
        if i and i not in tail and graph.nodes[i - 1].operation.is_linear:
            tail.add(i)
            pending += graph.nodes[i - 1].inputs
    return tail


# Exactly


def _in_matrices(graph: Graph) -> bool:
    """Whether every map is a matrix, a sum or an activation of vectors."""
    kinds = (Dense, Sum, Activate, Reshape)
    return all(isinstance(node.operation, kinds) and len(node.shape) == 1 for node in graph.nodes)


def _exactly(graph: Graph) -> Fraction:
    """B as a fraction: no sum of denormals is rounded."""
    paths: dict[int, Any] = {0: np.array([Fraction(1)] * math.prod(graph.shape)), CONSTANT: np.array([Fraction(1)])}
    for i, node in enumerate(graph.nodes, start=1):
        maps, b = _matrices(node)
        read = [_times(np.abs(M), paths[j]) for M, j in zip(maps, node.inputs, strict=True)]
        paths[i] = sum(read[1:], start=read[0]) + np.abs(b)
    last, c = len(graph.nodes), graph.outputs
    v: dict[int, Any] = {last: _fractions(np.eye(c)), CONSTANT: _fractions(np.zeros((c, 1)))}
    for i in sorted(_tail(graph), reverse=True):
        own, node = v.pop(i), graph.nodes[i - 1]
        maps, b = _matrices(node)
        v[CONSTANT] = v[CONSTANT] + (own * b).sum(axis=1, keepdims=True)
        for M, j in zip(maps, node.inputs, strict=True):
            v[j] = v.get(j, 0) + _times(own, M)
    return sum((_exact_size(v[i]) @ paths[i] for i in v if v[i].size), Fraction(0))


def _matrices(node: Node) -> tuple[list[Any], Any]:
    """The map of each input, a matrix or one number for all, and the bias."""
    operation = node.operation
    if isinstance(operation, Dense):
        b = Fraction(0) if operation.b is None else _fractions(operation.b.numpy())
        return [_fractions(operation.W.numpy())], b
    coefficients = operation.coefficients if isinstance(operation, Sum) else (1.0,)
    return [np.array(Fraction(a), dtype=object) for a in coefficients], Fraction(0)


def _times(A: Any, B: Any) -> Any:
    if np.ndim(A) == 0 or np.ndim(B) == 0:
        return A * B
    return A @ B if len(B) else _fractions(np.zeros(A.shape[:-1] + B.shape[1:]))


def _exact_size(v: Any) -> Any:
    centre = np.sort(v, axis=0)[(len(v) - 1) // 2] if len(v) > 1 else Fraction(0)
    return np.abs(v - centre).sum(axis=0)


def _fractions(x: Any) -> Any:
    return np.vectorize(Fraction, otypes=[object])(x) if x.size else x.astype(object)
