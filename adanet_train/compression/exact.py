"""Errors of a network as one function on every machine.

Weights q 2^e and points on a dyadic grid: a float64 sum is exact, in any order, while every partial sum is a multiple
of one power of two and below 2^53 of it. That is checked node by node. Where it fails, the proved error of the
evaluation counts: a point whose margin is not above it is an error. A module that cannot be read is run as it is, in
float64, and that another machine computes the same is an assumption (`arithmetic`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from adanet_theory.checks import Array, check
from adanet_train.compression.code import grid_exponent
from adanet_train.compression.problem import ROWS, margins, one_or_many
from adanet_train.core.points import joined
from adanet_train.data.disk import slices
from adanet_train.reading import enclosure
from adanet_train.reading.graph import Graph
from adanet_train.reading.operations import (
    Activate,
    Affine,
    Average,
    Cat,
    Convolution,
    Dense,
    Largest,
    Operation,
    Places,
    Reshape,
    Sum,
    Total,
)
from adanet_train.reading.recorder import UnreadableModule
from adanet_train.reading.trace import require_equal, trace

DIGITS = 52  # one below the 53 of a float64: the size itself is computed with rounding
KEEPS_GRID = ("relu", "abs", "identity")


@dataclass(frozen=True)
class Count:
    """Errors of a network on a sample.

    `open` of them are points whose margin is within the rounding error; `is_exact`: every sum was exact; `is_read`:
    the module was read as a graph, so that these errors are proved.
    """

    errors: int
    open: int
    is_exact: bool
    is_read: bool


def count(module: nn.Module, X: Tensor, y: Tensor) -> Count:
    """Errors of a prepared module on a sample; ties and NaN are errors."""
    graph = read(module, X)
    return _run(module, X, y) if graph is None else count_graph(graph, X, y)


def read(module: nn.Module, X: Tensor) -> Graph | None:
    """The module as a graph, None if it cannot be read."""
    if not X.is_floating_point():
        return None
    try:
        graph = trace(module, tuple(X.shape[1:]))
        require_equal(graph, module, X[:64].double().numpy())
    except UnreadableModule:
        return None
    return graph


@torch.no_grad()
def _run(module: nn.Module, X: Tensor, y: Tensor) -> Count:
    errors = 0
    for i in range(0, len(X), ROWS):
        x = X[i : i + ROWS]
        f = one_or_many(module(x.double() if x.is_floating_point() else x), len(x))
        errors += int((~(margins(f, y[i : i + ROWS]) > 0)).sum())
    return Count(errors, 0, False, False)


def count_graph(graph: Graph, X: Tensor, y: Tensor) -> Count:
    """Errors of a graph, each decided exactly or counted."""
    margin, e, exact = enclosed(graph, X.numpy(), y)
    is_wrong = ~(margin > e)
    return Count(int(is_wrong.sum()), int((is_wrong & (margin > -e)).sum()), exact, True)


def wrong(graph: Graph, X: Array, y: Tensor) -> Tensor:
    """For every point, whether its margin is not proved to be above 0."""
    margin, e, _ = enclosed(graph, X, y)
    return ~(margin > e)


@torch.no_grad()
def enclosed(graph: Graph, X: Array, y: Tensor) -> tuple[Tensor, Tensor, bool]:
    """(margins, their errors, whether every sum was exact)."""
    check(tuple(X.shape[1:]) == graph.shape, f"X must have points of shape {graph.shape}, got {tuple(X.shape[1:])}.")
    grid = min(
        (grid_exponent(np.asarray(X[rows], dtype=np.float64)) for rows in slices(len(X), math.prod(graph.shape))),
        default=1000,
    )
    every = [True]

    def parts() -> Iterator[tuple[Tensor, Tensor]]:
        start = 0
        for block in enclosure.blocks(graph, X):
            own = y[start : start + len(block)]
            start += len(block)
            f = _exact_values(graph, block, grid)
            every[0] &= f is not None
            if f is None:
                yield _within(graph, block, own)
            else:
                yield margins(one_or_many(f, len(f)), own), torch.zeros(len(f), dtype=torch.float64)

    margin, e = joined(parts(), len(X))
    return margin, e, every[0]


def _within(graph: Graph, block: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Margins, and upper values of their errors: those of both outputs, and the rounding of the difference."""
    f, error = enclosure.with_errors(graph, block)
    both = error.amax(dim=1) * (1 if graph.outputs == 1 else 2)
    return margins(one_or_many(f, len(f)), y), both * (1 + 2.0**-50) + f.abs().amax(dim=1) * 2.0**-51


def grid_of(x: Tensor) -> int:
    """The largest g such that all numbers are multiples of 2^g.

    >>> grid_of(torch.tensor([0.75, 4.0]))
    -2
    """
    return grid_exponent(x.double().numpy().ravel())


def _exact_values(graph: Graph, x: Tensor, grid: int) -> Tensor | None:
    """f where every sum is exact, else None."""
    values, grids = [x], [grid]
    for node in graph.nodes:
        read = [values[i] for i in node.inputs]
        g = _grid(node.operation, [grids[i] for i in node.inputs])
        if g is None or not _fits(node.operation, read, g):
            return None
        values.append(node.operation.value(*read))
        grids.append(g)
    return values[-1]


def _fits(operation: Operation, read: list[Tensor], grid: int) -> bool:
    """Whether no partial sum, in whatever order, needs more digits."""
    if isinstance(operation, Activate | Largest | Cat | Reshape | Places):
        return True
    size = operation.size(*(x.abs() for x in read), one=1.0)
    return float(size.max()) <= math.ldexp(1.0, min(DIGITS + grid, 1000)) and grid > -1000


def _grid(operation: Operation, read: list[int]) -> int | None:
    """The grid of what a node computes, None if there is none."""
    g = min(read)
    if isinstance(operation, Activate):
        return g if operation.phi.name in KEEPS_GRID else None
    if isinstance(operation, Dense | Convolution):
        return min(g + grid_of(operation.W), 1000 if operation.b is None else grid_of(operation.b))
    if isinstance(operation, Affine):
        scaled = g if operation.scale is None else g + grid_of(operation.scale)
        return min(scaled, 1000 if operation.shift is None else grid_of(operation.shift))
    if isinstance(operation, Sum):
        return min(
            a + grid_of(torch.tensor(c, dtype=torch.float64)) for a, c in zip(read, operation.coefficients, strict=True)
        )
    if isinstance(operation, Average | Total):
        # a sum, then its product with the weight, or with points times the weight after a mean: powers of two only
        weight = torch.as_tensor(operation.weight, dtype=torch.float64)
        points = operation.window.points if isinstance(operation, Average) else operation.count
        whole = bool((torch.frexp(weight)[0] == 0.5).all()) and points & (points - 1) == 0
        return g + grid_of(weight) if whole else None
    return g if isinstance(operation, Largest | Cat | Reshape | Places) else None
