"""What the statements read from a file, exact or rounded up: W, the norms, the path norm B, r_inf, r_rms.

Sums of weights are exact fractions. Where that would be slow, a float sum is enlarged by a bound on its own error: n
roundings of non-negative terms err by at most n ulps of the sum in whatever order they are added (EPS is two unit
roundoffs, which leaves a factor 2 for the higher orders), and an underflow adds at most TINY each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.activations import activation
from adanet_theory.checks import Array
from adanet_theory.norms import norms
from adanet_theory.rounding import EPS, enlarged, exact_sum, up
from adanet_theory.spec import NetworkSpec
from adanet_train.data.disk import slices

if TYPE_CHECKING:
    from adanet_train.core.network import Network

Pair = tuple[int, int]


# The layers


def own_n(layers: Network, constant: bool) -> tuple[int, ...]:
    """n without a constant feature, last in Ψ, and the constant units that carry biases: as a user counts them.

    >>> import torch
    >>> from adanet_train.core.network import Network
    >>> U = {(1, 0): torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 1.0]]), (2, 1): torch.ones(1, 2)}
    >>> layers = Network((3, 2, 1), U, {2: torch.ones(1)}, ("relu",))
    >>> own_n(layers, constant=True), own_n(layers, constant=False)
    ((2, 1, 1), (3, 2, 1))
    """
    n = [*layers.n]
    for k in range(len(n)):
        n[k] -= constant
        U = layers.hidden[k + 1, k].numpy() if (k + 1, k) in layers.hidden else np.zeros((0, 0))
        constant = constant and len(U) > 1 and bool((U[-1] == np.eye(U.shape[1])[-1]).all())
    return tuple(n)


def arrays(layers: Network) -> tuple[dict[Pair, Array], list[dict[int, Array]]]:
    """U_{k,s} by pair, and for each output w_k by layer."""
    outputs = range(layers.outputs or 1)
    w = [{k: w.reshape(len(outputs), -1)[c].numpy() for k, w in layers.output.items()} for c in outputs]
    return {pair: U.numpy() for pair, U in layers.hidden.items()}, w


def w_norms(layers: Network, depth: int) -> list[Fraction]:
    """||w_1||_1, .., ||w_l||_1, exactly; 0 for the declared layers that the network does not have.

    Of C classes Σ_y ||w_{k,y} - a_k||_1 with a_k the median over y: subtracting a_k · h_k from all outputs moves no
    margin, so the network is also that of the smaller weights.
    """
    size = _size if layers.outputs is None else _centred_size
    return [size(layers.output[k].numpy()) if k in layers.output else Fraction(0) for k in range(1, depth + 1)]


def _size(w: Array) -> Fraction:
    return exact_sum(np.abs(w))


def _centred_size(w: Array) -> Fraction:
    """Σ |w - a| = Σ ±w - Σ ±a, exactly."""
    a = np.broadcast_to(_median(w), w.shape)
    sign = np.where(w >= a, 1.0, -1.0)
    return exact_sum(np.stack([sign * w, -sign * a]))


def _median(v: Array) -> Array:
    """The lower median over the classes, which is one of the entries; v has a row for each class."""
    return np.asarray(np.sort(v, axis=0)[(len(v) - 1) // 2])


def row_norms(layers: Network, p: float) -> dict[Pair, Array]:
    """||u||_p of the rows of every pair, as float64 evaluates it."""
    hidden = {pair: U.numpy() for pair, U in sorted(layers.hidden.items())}
    return {pair: norms(U, p) if U.shape[1] else np.zeros(len(U)) for pair, U in hidden.items()}


def largest_norms(layers: Network, p: float) -> dict[Pair, float]:
    """An upper value of the largest ||u||_p of every pair that has units."""
    rows = row_norms(layers, p)
    largest = {pair: float(values.max()) for pair, values in rows.items() if len(values)}
    return {pair: x if p == math.inf else float(_norm_up(x, layers.n[pair[1]])) for pair, x in largest.items()}


def _norm_up(x: Any, n: int) -> Any:
    """The n powers and their sum, the root and the scaling; a few ulps for each power."""
    return np.where(x == 0, 0.0, enlarged(x, n + 64))


def measured_family(layers: Network) -> NetworkSpec:
    """The smallest family at p = 1 that contains the network, rounded up: nobody declared it before training."""
    phi = [activation(name) for name in layers.activations]
    return NetworkSpec(layers.n, largest_norms(layers, 1.0), 1.0, phi)


# The features


@dataclass(frozen=True)
class FeatureSizes:
    """r_inf = max |Ψ| exactly; upper values of r_rms = max_j sqrt(Σ_i Ψ_j(x_i)²/m) and Σ_i ||Ψ(x_i)||_q² (or inf)."""

    r_inf: float
    r_rms: float
    square_norms: float
    has_constant: bool = False
    """Whether the last feature is 1 at every point."""


def feature_sizes(Psi: Array, q: float, *, biased: bool = False) -> FeatureSizes:
    """Scaled by a power of two, so that no square overflows and those that underflow do not count.

    A last feature that is constantly 1 has the r_rms 1 exactly; `biased` appends one to Ψ.

    >>> feature_sizes(np.array([[3.0, 0.0], [3.0, 1.0]]), 1.0).r_inf
    3.0
    """
    m, n_0 = Psi.shape[0], Psi.shape[1] + biased
    r_inf = max(float(biased), *(float(np.abs(Psi[rows]).max()) for rows in slices(m, n_0)))
    if r_inf == 0:
        return FeatureSizes(0.0, 0.0, 0.0)
    power = math.frexp(r_inf)[1]
    by_feature, by_point, constant = np.zeros(n_0), 0.0, True
    for rows in slices(m, n_0):
        part = np.column_stack([Psi[rows], np.ones(len(Psi[rows]))]) if biased else Psi[rows]
        constant = constant and bool((part[:, -1] == 1).all())
        scaled = np.ldexp(part, -power)
        by_feature = by_feature + np.einsum("ij,ij->j", scaled, scaled)
        sizes = _norm_up(norms(scaled, q), n_0)
        by_point += float(sizes @ sizes)
    mean_square = float(enlarged(by_feature[: n_0 - constant].max(initial=0.0), m + 1)) / m
    r_rms = up(Fraction(math.sqrt(mean_square) * (1 + 4 * EPS)) * Fraction(2) ** power)
    squares = float(enlarged(by_point, m + 1))
    try:
        square_norms = up(Fraction(squares) * Fraction(2) ** (2 * power))
    except OverflowError:
        square_norms = math.inf
    return FeatureSizes(r_inf, min(max(r_rms, float(constant)), r_inf), square_norms, constant)
