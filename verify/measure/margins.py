"""The margins of a network, enclosed: what is counted at a threshold is counted exactly, ties included.

The margin of a point is y f(x), or of C classes f(x, y) - max_{y' != y} f(x, y'), whose error is at most that of
f(x, y) and the largest of the others.

f is evaluated in float64 with a proved bound on its error at each point. With A_k the weight of all paths from a unit
of layer k to the output, a rounding error e of h_k changes f by at most A_k . |e|, and a sum of N products errs by at
most N ulps of the sum of their sizes. So

    |f - computed f| <= N EPS [ Σ_s G_s . |φ(h_s)| + Σ_k |w_k| . |h_k| ],   G_s = Σ_{k>s} |U_{k,s}|^T A_k,
    A_k = |w_k| + L_k G_k,   h_0 = Ψ,

and TINY more for every operation, amplified by A_k, for what underflows.

The few points that this leaves open are evaluated unit by unit, and then in ball arithmetic: the weights are dyadic,
so for piecewise linear φ the balls shrink to points and even a tie is decided. That is paid for in nominal seconds;
what they do not pay for stays undecided, and counts as below the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.activations import Activation
from adanet_theory.checks import Array
from adanet_theory.rounding import EPS, TINY, down, up
from verify.measure.effort import PER_PRODUCT, Purse
from verify.measure.evidence import Weights

if TYPE_CHECKING:
    from adanet_train.reading.graph import Graph

BLOCK = 2048  # points at a time, to bound the memory
MOST_BITS = 16384
ACTIVATION_ULPS = 64  # no library function here errs by more, against max(1, |φ|)


@dataclass(frozen=True, eq=False)
class Margins:
    """The margin of (Psi_i, y_i) is middle_i ± radius_i; y holds -1/+1, or class indices where there are C outputs."""

    weights: Weights
    Psi: Array
    y: Array
    middle: Array
    radius: Array
    purse: Purse = field(default_factory=Purse)
    counted: dict[Fraction, tuple[int, int]] = field(default_factory=dict)

    @property
    def m(self) -> int:
        return len(self.y)

    @property
    def lower(self) -> Array:
        return np.nextafter(self.middle - self.radius, -math.inf)

    @property
    def upper(self) -> Array:
        return np.nextafter(self.middle + self.radius, math.inf)

    def count(self, threshold: Fraction) -> int:
        """#{ i : margin_i <= threshold }, exactly but for what is undecided, which counts."""
        return self._counted(threshold)[0]

    def undecided(self, threshold: Fraction = Fraction(0)) -> int:
        """How many points `count` takes for below the threshold because the budget does not pay for their margin."""
        return self._counted(threshold)[1]

    def _counted(self, threshold: Fraction) -> tuple[int, int]:
        if threshold not in self.counted:
            self.counted[threshold] = self._count(threshold)
        return self.counted[threshold]

    def _count(self, threshold: Fraction) -> tuple[int, int]:
        low, high = down(threshold), up(threshold)
        open_ = np.flatnonzero((self.upper > low) & (self.lower <= high))
        decided = int(np.count_nonzero(self.upper <= low))
        if len(open_) == 0:
            return decided, 0
        u, error = self._by_unit(open_)
        below = np.nextafter(u + error, math.inf) <= low if threshold else u + error <= 0
        above = np.nextafter(u - error, -math.inf) > high if threshold else u - error > 0
        exactly, undecided = self._count_exactly(open_[~below & ~above], threshold)
        return decided + int(below.sum()) + exactly, undecided

    def _by_unit(self, points: Any) -> tuple[Array, Array]:
        """A graph has its errors node by node already."""
        if self.weights.graph is not None:
            return self.middle[points], self.radius[points]
        return _with_labels(*by_unit(self.weights, self.Psi[points]), self.y[points])

    def _count_exactly(self, points: Any, threshold: Fraction) -> tuple[int, int]:
        """Equal points are evaluated once."""
        if len(points) == 0:
            return 0, 0
        rows, times = np.unique(np.column_stack([self.y[points], self.Psi[points]]), axis=0, return_counts=True)
        seconds = PER_PRODUCT * _products(self.weights)
        found = [_at_most(self.weights, row[1:], int(row[0]), threshold, self.purse, seconds) for row in rows]
        below = sum(int(count) for is_below, count in zip(found, times, strict=True) if is_below is not False)
        return below, sum(int(count) for is_below, count in zip(found, times, strict=True) if is_below is None)

    def beside(self, wrong: Array) -> Margins:
        """With every error of the program counted as one of the formula too, whatever its margin is."""
        below = np.minimum(self.middle, -2 * self.radius - 4 * TINY)
        return replace(self, middle=np.where(wrong, below, self.middle), counted={})

    def ramp(self, rho: float, eta: float = 0.0) -> float:
        """An upper value of the mean of the ramp that falls from 1 at ηρ to 0 at ρ, ρ rounded up: it grows with ρ.

        η is a power of 1/2, or 0.
        """
        u = self.lower
        wrong = int(np.count_nonzero(u <= eta * rho))
        inside = u[(u > eta * rho) & (u < rho)]
        falling = np.minimum((1 - inside / rho) / (1 - eta), 1.0)
        # two quotients and two differences of numbers up to 2 for each point, one of each at η = 0; the sum once
        total = wrong + math.fsum(np.append(falling, len(inside) * (4 * EPS if eta else EPS)))
        return min(1.0, up(Fraction(math.nextafter(total, math.inf)) / self.m)) if total else 0.0


def _products(weights: Weights) -> int:
    """What one point costs in ball arithmetic."""
    if weights.graph is not None:
        return weights.graph.work
    outputs = 0 if weights.outputs is None else sum(w.size for w in weights.output.values())
    return sum(U.size for U in weights.hidden.values()) + outputs + 1


@np.errstate(over="ignore", invalid="ignore")  # looked for in the result
def margins(weights: Weights, Psi: Array, y: Array, purse: Purse | None = None) -> Margins:
    """The margins of the network on the points Psi with labels y = ±1, or class indices.

    The purse pays for what is decided in ball arithmetic.
    """
    found = _in_floats(weights, Psi, y)
    return found if purse is None else replace(found, purse=purse)


def _in_floats(weights: Weights, Psi: Array, y: Array) -> Margins:
    if weights.graph is not None:
        f, error = _of_graph(weights.graph, Psi)
        return _finite(weights, Psi, y, f, error)
    sensitivity = _sensitivity(weights)
    parts = [_evaluate(weights, block, sensitivity) for block in blocks(Psi)]
    f, error = (np.concatenate(values) for values in zip(*parts, strict=True))
    return _finite(weights, Psi, y, f, error)


def _finite(weights: Weights, Psi: Array, y: Array, f: Array, error: Array) -> Margins:
    finite = (np.isfinite(f) & np.isfinite(error)).reshape(len(f), -1).all(axis=1)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ValueError(f"f must stay within float64, got an overflow at point {row} of the sample.")
    return Margins(weights, Psi, y, *_with_labels(f, error, y))


def _with_labels(f: Array, error: Array, y: Array) -> tuple[Array, Array]:
    """The margins of computed outputs, and a bound on their error."""
    if f.ndim == 1:
        return y * f, error
    rows = np.arange(len(f))
    others, other_errors = f.copy(), error.copy()
    others[rows, y], other_errors[rows, y] = -math.inf, 0.0
    margin = f[rows, y] - others.max(axis=1)
    radius = error[rows, y] + other_errors.max(axis=1)
    return margin, radius * (1 + 4 * EPS) + EPS * np.abs(margin)  # the difference and the sum are rounded too


def _of_graph(network: Graph, Psi: Array) -> tuple[Array, Array]:
    from adanet_train.reading import graph

    f, error = graph.values(network, Psi)
    return (f[:, 0], error[:, 0]) if network.outputs == 1 else (f, error)


def blocks(Psi: Array) -> Iterator[Array]:
    """The rows of Psi, few enough at a time."""
    for start in range(0, len(Psi), BLOCK):
        yield Psi[start : start + BLOCK]


# In float64, with a bound on the error


def _roundings(weights: Weights) -> int:
    """N: the longest sum, that of a unit or that of the output, and the roundings of one φ."""
    return sum(weights.n) + weights.depth + ACTIVATION_ULPS


@dataclass(frozen=True, eq=False)
class _Sensitivity:
    """G_s for s = 0..l-1, and what does not depend on the point: underflows, and the errors of a curved φ.

    Of C classes each has one more dimension, that of the classes.
    """

    G: list[Array]
    constant: Any


def _sensitivity(weights: Weights) -> _Sensitivity:
    depth, N = weights.depth, _roundings(weights)
    G = [np.zeros((n_s, *weights.of_classes)) for n_s in weights.n]
    constant: Any = N * TINY
    for k in range(depth, 0, -1):
        slope = weights.phi[k - 1].lipschitz if k < depth else 0.0
        A = np.abs(weights.output.get(k, np.zeros_like(G[k]))) + slope * G[k]
        constant = constant + N * TINY * A.sum(axis=0)
        if k < depth and not weights.phi[k - 1].is_homogeneous:
            constant = constant + ACTIVATION_ULPS * EPS * G[k].sum(axis=0)
        for s, U in weights.reads(k):
            G[s] += np.abs(U).T @ A + len(A) * TINY
    return _Sensitivity(G[:depth], constant)


def _evaluate(weights: Weights, Psi: Array, sensitivity: _Sensitivity) -> tuple[Array, Array]:
    """f on the rows of Psi, and a bound on the error of each value."""
    N = _roundings(weights)
    shape = (len(Psi), *weights.of_classes)
    f, size = np.zeros(shape), np.zeros(shape)
    outputs = [Psi]
    for k in range(1, weights.depth + 1):
        h = _preactivation(weights, k, outputs, len(Psi))
        w = weights.output.get(k)
        if w is not None:
            f += h @ w
            size += np.abs(h) @ np.abs(w)
        if k < weights.depth:
            outputs.append(weights.phi[k - 1](h))
    for x, G in zip(outputs, sensitivity.G, strict=True):
        size += np.abs(x) @ G
    return f, N * EPS * size + sensitivity.constant


def _preactivation(weights: Weights, k: int, outputs: list[Any], points: int) -> Any:
    h = np.zeros((points, weights.n[k]))
    for s, U in weights.reads(k):
        h = h + outputs[s] @ U.T
    return h


def by_unit(weights: Weights, Psi: Array) -> tuple[Array, Array]:
    """f and a bound on its error, with the error of every unit: slower, but a ReLU that is surely off has none."""
    if weights.graph is not None:
        return _of_graph(weights.graph, Psi)
    N = _roundings(weights)
    shape = (len(Psi), *weights.of_classes)
    f, error = np.zeros(shape), np.zeros(shape)
    outputs, errors = [Psi], [np.zeros_like(Psi)]
    for k in range(1, weights.depth + 1):
        h = _preactivation(weights, k, outputs, len(Psi))
        e = np.zeros_like(h)
        for s, U in weights.reads(k):
            e = e + _propagated(np.abs(U).T, np.abs(outputs[s]), errors[s], N)
        w = weights.output.get(k)
        if w is not None:
            f += h @ w
            error += _propagated(np.abs(w).reshape(len(w), -1), np.abs(h), e, N).reshape(shape)
        if k < weights.depth:
            outputs_k, errors_k = _through(weights.phi[k - 1], h, e)
            outputs.append(outputs_k)
            errors.append(errors_k)
    return f, error * (1 + N * EPS)


def _propagated(U: Array, x: Array, error: Array, N: int) -> Array:
    """The error of x @ U that is due to the error of x and to N roundings; U, x >= 0. All zeros give exactly zero.

    4 N TINY is more than the N underflows of the sum and the one of a leaky slope that is applied to it.

    x @ U is formed before it is multiplied by EPS: EPS x may underflow where U is large enough to bring it back.
    """
    used = np.any((x != 0) | (error != 0), axis=1)[:, None]
    return np.asarray((1 + 2 * N * EPS) * (error @ U) + 2 * N * EPS * (x @ U) + 4 * N * TINY * used)


def _through(phi: Activation, h: Array, e: Array) -> tuple[Array, Array]:
    x = phi(h)
    error = phi.lipschitz * e + (0 if phi.is_homogeneous else ACTIVATION_ULPS * EPS)
    if phi.name == "relu":
        error = np.where(h <= -e, 0.0, error)
        x = np.where(h <= -e, 0.0, x)
    return x, error


# In ball arithmetic


def _at_most(weights: Weights, Psi: Array, y: int, threshold: Fraction, purse: Purse, seconds: float) -> bool | None:
    """Whether the margin is <= threshold at one point; None where MOST_BITS do not decide, or the purse is empty."""
    import flint
    from flint import arb, fmpq

    bits = 256
    while bits <= MOST_BITS and purse.pays(seconds):
        with flint.ctx.workprec(bits):
            # of C classes the margin is the least of C - 1 differences: one that is <= decides, or all that are >
            margins = _margins_in_balls(_ball(weights, Psi, arb), y)
            limit = arb(fmpq(threshold.numerator, threshold.denominator))
            if any(margin <= limit for margin in margins):
                return True
            if all(margin > limit for margin in margins):
                return False
        bits *= 4
    return None


def _margins_in_balls(f: list[Any], y: int) -> list[Any]:
    """y f, or f(y) - f(y') for every other class."""
    return [y * f[0]] if len(f) == 1 else [f[y] - other for c, other in enumerate(f) if c != y]


def _ball(weights: Weights, Psi: Array, arb: Any) -> list[Any]:
    """f, or all C outputs."""
    if weights.graph is not None:
        from adanet_train.reading import graph

        return list(graph.balls(weights.graph, Psi))
    from adanet_theory.twins.activations import activation_on_balls

    exact = np.vectorize(arb, otypes=[object])
    outputs = [_nonzero(exact, Psi)]
    f = [arb(0)] * (weights.outputs or 1)
    for k in range(1, weights.depth + 1):
        h = [arb(0)] * weights.n[k]
        for s, U in weights.reads(k):
            columns, values = outputs[s]
            if len(columns) and len(U):
                h = list(h + exact(U[:, columns]) @ values)
        w = weights.output.get(k)
        if w is not None:
            for c, column in enumerate(w.reshape(len(w), -1).T):
                f[c] = sum((arb(float(column[i])) * h[i] for i in np.flatnonzero(column)), f[c])
        if k < weights.depth:
            phi = activation_on_balls(weights.phi[k - 1])
            x = [phi(value) for value in h]
            kept = [i for i, value in enumerate(x) if not value.is_zero()]
            outputs.append((kept, np.array([x[i] for i in kept], dtype=object)))
    return f


def _nonzero(exact: Any, x: Array) -> tuple[list[int], Any]:
    kept = [int(i) for i in np.flatnonzero(x)]
    return kept, (exact(x[kept]) if kept else np.zeros(0, dtype=object))
