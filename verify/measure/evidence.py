"""What the statements read off a file, exact or rounded up: W, the norms, the path norm B, r_inf, r_rms.

Sums of weights are exact fractions. Where that would be slow, a float sum is enlarged by a bound on its own error: n
roundings of non-negative terms err by at most n ulps of the sum in whatever order they are added (EPS is two unit
roundoffs, which leaves a factor 2 for the higher orders), and an underflow adds at most TINY each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import Array
from adanet_theory.norms import norms
from adanet_theory.rounding import EPS, enlarged, exact_sum, up
from adanet_theory.spec import NetworkSpec
from adanet_train.data.disk import slices

if TYPE_CHECKING:
    from adanet_train.core.network import Network
    from adanet_train.reading.graph import Graph

Pair = tuple[int, int]


# The network


@dataclass(frozen=True, eq=False)
class Weights:
    """The network as float64 arrays; or a graph that is not made of layers, of which n are the units by level.

    `outputs` is None for one function f, or the number C of classes: then output[k] has a column for each of them.
    """

    n: tuple[int, ...]
    hidden: Mapping[Pair, Array]
    output: Mapping[int, Array]
    phi: tuple[Activation, ...]
    graph: Graph | None = None
    outputs: int | None = None

    @classmethod
    def of(cls, network: Network) -> Weights:
        hidden = {pair: U.numpy() for pair, U in network.hidden.items()}
        output = {k: w.numpy() if w.ndim == 1 else np.ascontiguousarray(w.numpy().T) for k, w in network.output.items()}
        phi = tuple(activation(name) for name in network.activations)
        return cls(network.n, hidden, output, phi, outputs=network.outputs)

    @classmethod
    def of_graph(cls, graph: Graph) -> Weights:
        """The outputs themselves are the units of the last layer, each read by w = 1."""
        n = (graph.n_0, *graph.units, graph.outputs)
        if graph.outputs == 1:
            return cls(n, {}, {len(n) - 1: np.ones(1)}, graph.phi, graph)
        return cls(n, {}, {len(n) - 1: np.eye(graph.outputs)}, graph.phi, graph, graph.outputs)

    def own_n(self, constant: bool) -> tuple[int, ...]:
        """n without a constant feature, last in Ψ, and the constant units that carry biases: as a user counts them.

        >>> U = {(1, 0): np.array([[1.0, 2.0, 0.5], [0.0, 0.0, 1.0]]), (2, 1): np.ones((1, 2))}
        >>> weights = Weights((3, 2, 1), U, {2: np.ones(1)}, (activation("relu"),))
        >>> weights.own_n(constant=True), weights.own_n(constant=False)
        ((2, 1, 1), (3, 2, 1))
        """
        n = [*self.n]
        for k in range(len(n)):
            n[k] -= constant
            U = self.hidden.get((k + 1, k))
            constant = constant and U is not None and len(U) > 1 and bool((U[-1] == np.eye(U.shape[1])[-1]).all())
        return tuple(n)

    @property
    def of_classes(self) -> tuple[int, ...]:
        """What stands behind the shape of a vector of units where there is one number for each class."""
        return () if self.outputs is None else (self.outputs,)

    @property
    def depth(self) -> int:
        return len(self.n) - 1

    @property
    def d(self) -> int:
        """The levels that a-posteriori counts: hidden layers, or the activations on the longest path."""
        return self.depth - 1 if self.graph is None else self.graph.d

    @property
    def levels(self) -> tuple[tuple[Activation, ...], ...]:
        """The activations of each level."""
        return tuple((phi,) for phi in self.phi) if self.graph is None else self.graph.levels

    @property
    def is_homogeneous(self) -> bool:
        return all(phi.is_homogeneous for phi in self.phi)

    def reads(self, k: int) -> list[tuple[int, Array]]:
        """(s, U_{k,s}) of every layer that layer k reads."""
        return [(s, self.hidden[k, s]) for s in range(k) if (k, s) in self.hidden]


def w_norms(weights: Weights, depth: int) -> list[Fraction]:
    """||w_1||_1, .., ||w_l||_1, exactly; 0 for the declared layers that the network does not have.

    Of C classes Σ_y ||w_{k,y} - a_k||_1 with a_k the median over y: subtracting a_k · h_k from all outputs moves no
    margin, so the network is also that of the smaller weights.
    """
    zero = np.zeros((0, *weights.of_classes))
    size = _size if weights.outputs is None else _centred_size
    return [size(weights.output.get(k, zero)) for k in range(1, depth + 1)]


def _size(w: Array) -> Fraction:
    return exact_sum(np.abs(w))


def _centred_size(w: Array) -> Fraction:
    """Σ |w - a| = Σ ±w - Σ ±a, exactly."""
    a = np.broadcast_to(_median(w), w.shape)
    sign = np.where(w >= a, 1.0, -1.0)
    return exact_sum(np.stack([sign * w, -sign * a]))


def _median(v: Array) -> Array:
    """The lower median over the classes, which is one of the entries; v has a column for each class."""
    return np.sort(v, axis=1)[:, [(v.shape[1] - 1) // 2]]


def row_norms(weights: Weights, p: float) -> dict[Pair, Array]:
    """||u||_p of the rows of every pair, as float64 evaluates it."""
    return {pair: norms(U, p) if U.shape[1] else np.zeros(len(U)) for pair, U in sorted(weights.hidden.items())}


def largest_norms(weights: Weights, p: float) -> dict[Pair, float]:
    """An upper value of the largest ||u||_p of every pair that has units."""
    rows = row_norms(weights, p)
    largest = {pair: float(values.max()) for pair, values in rows.items() if len(values)}
    return {pair: x if p == math.inf else float(_norm_up(x, weights.n[pair[1]])) for pair, x in largest.items()}


def _norm_up(x: Any, n: int) -> Any:
    """The n powers and their sum, the root and the scaling; a few ulps for each power."""
    return np.where(x == 0, 0.0, enlarged(x, n + 64))


def measured_family(weights: Weights) -> NetworkSpec:
    """The smallest family at p = 1 that holds the network, rounded up: nobody declared it before training.

    Of a graph one activation of each level stands in it; no statement reads it, nor any norms.
    """
    if weights.graph is not None:
        return NetworkSpec(weights.n, {}, 1.0, [level[0] for level in weights.levels])
    return NetworkSpec(weights.n, largest_norms(weights, 1.0), 1.0, weights.phi)


@np.errstate(over="ignore", invalid="ignore")
def path_norm(weights: Weights) -> float:
    """An upper value of B, the path norm of f with its last two linear maps collapsed (`posterior.path_norm`).

    Of C classes the sum of those of the outputs, once the collapsed weights are centred (`multiclass.centred_outputs`).
    """
    if weights.graph is not None:
        from adanet_train.reading import graph

        return graph.path_norm(weights.graph)
    paths = {0: np.ones(weights.n[0])}
    for k in range(1, weights.depth):
        paths[k] = np.zeros(weights.n[k])
        for s, U in weights.reads(k):
            paths[k] = enlarged(paths[k] + np.abs(U) @ paths[s], U.shape[1] + 1)
    parts = [enlarged(_collapsed(weights, s) @ paths[s], weights.n[s]) for s in range(weights.depth)]
    B = float(enlarged(sum(parts), weights.depth))
    if B < 1e-280:  # where TINY counts, above all for f = 0
        return up(_exact_path_norm(weights))
    if not math.isfinite(B):
        raise OverflowError("the path norm exceeds the largest float, 1.8e308.")
    return B


def _collapsed(weights: Weights, s: int) -> Array:
    """Upper values of |v_s|, v_s = Σ_{k>s} U_{k,s}^T w_k: here terms cancel, so the error is one of Σ |U|^T |w|.

    Of C classes Σ_y |v_{s,y} - a|, a the median of what was computed: any number is as good, so it has no error.
    """
    shape = (weights.n[s], *weights.of_classes)
    v, size, terms = np.zeros(shape), np.zeros(shape), 0
    for k in range(s + 1, weights.depth + 1):
        if (k, s) in weights.hidden and k in weights.output:
            U, w = weights.hidden[k, s], weights.output[k]
            v = v + U.T @ w
            size = size + np.abs(U).T @ np.abs(w)
            terms += len(w) + 1
    if weights.outputs is None:
        return np.asarray(enlarged(np.abs(v) + terms * EPS * size, terms + 2))
    each = enlarged(np.abs(v - _median(v)) + terms * EPS * size, terms + 3)
    return np.asarray(enlarged(each.sum(axis=1), weights.outputs))


def _exact_path_norm(weights: Weights) -> Fraction:
    """B as a fraction: no sum of denormals is rounded."""
    hidden = {pair: _fractions(U) for pair, U in weights.hidden.items() if U.size}
    output = {k: _fractions(w) for k, w in weights.output.items() if w.size}
    paths: dict[int, Any] = {0: np.array([Fraction(1)] * weights.n[0], dtype=object)}
    for k in range(1, weights.depth):
        reads = [np.abs(hidden[k, s]) @ paths[s] for s in range(k) if (k, s) in hidden]
        paths[k] = sum(reads, np.array([Fraction(0)] * weights.n[k], dtype=object))
    B = Fraction(0)
    for s in range(weights.depth):
        collapsed = [hidden[k, s].T @ w for k, w in output.items() if (k, s) in hidden]
        if collapsed:
            v = sum(collapsed)
            sizes = np.abs(v) if weights.outputs is None else np.abs(v - _median(v)).sum(axis=1)
            B += sizes @ paths[s]
    return B


def _fractions(x: Array) -> Any:
    return np.vectorize(Fraction, otypes=[object])(x)


# The features


@dataclass(frozen=True)
class FeatureSizes:
    """r_inf = max |Ψ| exactly; upper values of r_rms = max_j sqrt(Σ_i Ψ_j(x_i)²/m) and Σ_i ||Ψ(x_i)||_q² (or inf)."""

    r_inf: float
    r_rms: float
    square_norms: float
    has_constant: bool = False
    """Whether the last feature is 1 at every point."""


def with_constant(sizes: FeatureSizes, has_bias: bool) -> FeatureSizes:
    """The sizes with one more feature that is constantly 1; nobody reads the norms of its points."""
    if not has_bias:
        return sizes
    return FeatureSizes(max(sizes.r_inf, 1.0), max(sizes.r_rms, 1.0), math.inf, has_constant=True)


def feature_sizes(Psi: Array, q: float) -> FeatureSizes:
    """Scaled by a power of two, so that no square overflows and those that underflow do not count.

    >>> feature_sizes(np.array([[3.0, 0.0], [3.0, 1.0]]), 1.0).r_inf
    3.0
    """
    m, n_0 = Psi.shape
    r_inf = max(float(np.abs(Psi[rows]).max()) for rows in slices(m, n_0))
    if r_inf == 0:
        return FeatureSizes(0.0, 0.0, 0.0)
    power = math.frexp(r_inf)[1]
    by_feature, by_point, constant = np.zeros(n_0), 0.0, True
    for rows in slices(m, n_0):
        constant = constant and bool((Psi[rows, -1] == 1).all())
        scaled = np.ldexp(Psi[rows], -power)
        by_feature = by_feature + np.einsum("ij,ij->j", scaled, scaled)
        sizes = _norm_up(norms(scaled, q), n_0)
        by_point += float(sizes @ sizes)
    mean_square = float(enlarged(by_feature.max(), m + 1)) / m
    r_rms = up(Fraction(math.sqrt(mean_square) * (1 + 4 * EPS)) * Fraction(2) ** power)
    squares = float(enlarged(by_point, m + 1))
    try:
        square_norms = up(Fraction(squares) * Fraction(2) ** (2 * power))
    except OverflowError:
        square_norms = math.inf
    return FeatureSizes(r_inf, min(r_rms, r_inf), square_norms, constant)
