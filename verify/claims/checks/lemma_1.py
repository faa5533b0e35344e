"""Lemma 1 and the steps of its proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adanet_theory.activations import activation
from adanet_theory.checks import Array
from adanet_theory.complexity.estimates import hidden_complexity, linear_complexity
from adanet_theory.complexity.rademacher import lemma_1, lemma_1_corrected, lemma_1_exact
from adanet_theory.complexity.unit_supremum import unit_supremum
from adanet_theory.norms import all_signs, p_norm
from adanet_theory.spec import NetworkSpec
from verify.claims.checks import Fact, Facts, settles

THREE_POINTS = ((1.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, -1.0))


def one_feature() -> Array:
    """The sample behind the numbers of the sigmoid: eight points, one feature."""
    return np.random.default_rng(8).uniform(-1, 1, size=(8, 1))


def two_layers(X: Any, p: float, phi: str = "relu", n_1: int = 1, Lambda: float = 1.0) -> tuple[float, float]:
    """R_S(H_1) and R_S(H_2), all signs enumerated."""
    spec = NetworkSpec.layered((len(X[0]), n_1, 1), [Lambda, 1.0], p, phi)
    return linear_complexity(X, spec).mean, hidden_complexity(X, spec).mean


@settles("lemma-1", {"phi": ("tanh", "relu")})
def lemma_1_fails(phi: tuple[str, ...] = ("sigmoid", "softplus")) -> Facts:
    X = one_feature()
    for name in phi:
        for Lambda in (0.0, 0.1):
            R_1, R_2 = two_layers(X, 2.0, name, Lambda=Lambda)
            spec = NetworkSpec.layered((1, 1, 1), [Lambda, 1.0], 2.0, name)
            where = f"{name}, m = 8, n_0 = 1, Λ_{{1,0}} = {Lambda:g}"
            yield Fact("R_S(H_2)", R_2, ">", lemma_1(spec, 2, [R_1], literally=True), "Lemma 1", where)
            yield Fact("R_S(H_2)", R_2, "<=", lemma_1_corrected(spec, 2, [R_1], m=8) + 1e-12, "lemma-1-corrected")


@settles("lemma-1-corrected", {"factor": 1.0}, {"printed": 1.2}, thorough={"trials": 200})
def lemma_1_loose(factor: float = 1.5, printed: float = 2.0, trials: int = 20) -> Facts:
    """3/2 instead of 2 for ReLU holds on every sample tried; 1 does not."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(trials):
        X = rng.normal(size=(int(rng.integers(2, 7)), 2))
        for p in (1.0, 2.0, math.inf):
            R_1, R_2 = two_layers(X, p)
            worst = max(worst, R_2 / R_1)
    for p in (1.0, 2.0, math.inf):
        R_1, R_2 = two_layers(THREE_POINTS, p)
        yield Fact("R_S(H_2)/R_S(H_1)", R_2 / R_1, ">", 1.0, where=f"three points, p = {p:g}, ReLU, n_1 = 1")
        worst = max(worst, R_2 / R_1)
    yield Fact("largest R_S(H_2)/R_S(H_1)", worst, "<=", factor, "c_φ of ReLU", f"{3 * trials} samples and those three")
    spec = NetworkSpec.layered((3, 1, 1), 1.0, 1.0)
    yield Fact("lemma-1-corrected", lemma_1_corrected(spec, 2, [0.5], m=3), "=", 0.75, "(3/2) R_S(H_1)")
    yield Fact("Lemma 1", lemma_1(spec, 2, [0.5]), "=", 0.5 * printed, "2 R_S(H_1)")


@settles("relu-constant", {"points": ((1.0, 0.0), (0.0, 1.0))}, {"proved": 1.1})
def relu_constant(points: Any = THREE_POINTS, proved: float = 1.5) -> Facts:
    """Open: the least c with R_S(H_2) <= c n^(1/q) R_S(H_1) for ReLU. The best example found gives 7/6."""
    R_1, R_2 = two_layers(points, 1.0)
    yield Fact("R_S(H_2)/R_S(H_1)", R_2 / R_1, "=", 7 / 6, "7/6, the best example found", "p = 1", 1e-12)
    yield Fact("R_S(H_2)/R_S(H_1)", R_2 / R_1, "<", proved, "3/2, which is proved")


@settles("lemma-1-exact", {"n_1": 3, "n_1_of_formula": 2}, {"p": 2.0, "units": 1})
def lemma_1_exactly(
    p: float = math.inf, n_1: int = 2, n_1_of_formula: int | None = None, units: int | None = None
) -> Facts:
    """One feature x, units relu(x) and relu(-x): the sup over all choices of n_1 units and u, by brute force."""
    X = np.array([[0.5], [-1.0], [0.8], [0.3]])
    m, relu, signs = len(X), activation("relu"), all_signs(len(X))
    unit = relu(np.hstack([X, -X])).T  # h = u x with |u| <= 1 is extreme at u = 1 and u = -1
    grids = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * (units or n_1)), -1).reshape(-1, units or n_1)
    norms = np.array([max(p_norm(u, p), 1e-300) for u in grids])
    U = grids / norms[:, None]
    best = np.zeros(len(signs))
    for choice in np.ndindex(*[2] * (units or n_1)):
        best = np.maximum(best, ((U @ unit[list(choice)]) @ signs.T).max(axis=0))
    formula = n_1_of_formula or n_1
    spec = NetworkSpec.layered((1, formula, 1), 1.0, p)
    sup = float(np.mean(unit_supremum(X, signs, Lambda=1.0, p=p).lower)) / m
    exact = lemma_1_exact(spec, 2, [sup])
    yield Fact(
        "R_S(H_2) by brute force", float(best.mean()) / m, "=", exact, "lemma-1-exact", f"n_1 = {n_1}, p = {p:g}", 1e-9
    )


@settles("lemma-1-dual-norm", {"q_of_power": 1.0})
def lemma_1_dual_norm(q_of_power: float | None = None) -> Facts:
    """sup over Z^n of ||z||_q against n^(1/q) sup|z|, all z in Z^n tried."""
    Z = [-0.7, 0.2, 0.5]
    for q in (1.0, 2.0, 4.0, math.inf):
        sup = max(p_norm(z, q) for z in ([a, b, c] for a in Z for b in Z for c in Z))
        power = 3 ** (1 / (q if q_of_power is None else q_of_power)) * 0.7
        yield Fact("sup ||z||_q", sup, "=", power, "n^(1/q) sup|z|", f"n = 3, q = {q:g}", 1e-12)


@settles("lemma-1-maximum", {"phi": "relu"}, {"phi": "tanh"})
def lemma_1_maximum(phi: str = "sigmoid") -> Facts:
    """At Λ_{1,0} = 0 the family is {0}: A = φ(0) Σσ_i and B = -A. All σ_i = -1, m = 8."""
    A = float(activation(phi)(0.0)) * -8.0
    yield Fact("max(A, B)", max(A, -A), ">", A + -A, "A + B", f"{phi}, h = 0, m = 8")


@settles("lemma-1-second-summand", {"n_s": 1})
def lemma_1_second_summand(n_s: int = 8) -> Facts:
    """Without n_s^(1/q) in the second summand the chain would prove (n_s^(1/q) + 1) R_S(H_s), which is too small."""
    R_1, R_2 = two_layers(THREE_POINTS, math.inf, "relu", n_1=n_s)
    yield Fact("R_S(H_2)", R_2, ">", (n_s + 1) * R_1, "(n_s^(1/q) + 1) R_S(H_1)", f"three points, p = inf, n_s = {n_s}")


@settles("contraction", {"phi": lambda x: 2 * x}, {"phi": lambda x: np.where(x > 0, 1.5 * x, 0)})
def contraction(phi: Callable[[Array], Any] | None = None) -> Facts:
    """E sup Σσ_i φ(a_i) against E sup Σσ_i a_i over finite sets of vectors, φ(0) = 0 or not."""
    rng, signs = np.random.default_rng(0), all_signs(6)
    names = ("relu", "abs", "tanh", "sigmoid", "softplus")
    functions = [(name, activation(name)) for name in names] if phi is None else [("spoilt", phi)]
    sets = [rng.normal(size=(5, 6)) for _ in range(40)]
    for name, function in functions:
        ratios = [np.mean((signs @ function(A).T).max(1)) / np.mean((signs @ A.T).max(1)) for A in sets]
        yield Fact("largest E sup Σσφ(a)/E sup Σσa", float(max(ratios)), "<=", 1.0, where=f"{name}, 40 sets")
        if np.all(function(np.zeros(1)) == 0):
            worst = max(_moment(signs, function(A)) / _moment(signs, A) for A in sets)
            yield Fact("largest E e^sup Σσφ(a)/E e^sup Σσa", worst, "<=", 1.0, where=f"{name}, 40 sets")
    still = _moment(signs, activation("sigmoid")(np.zeros((1, 6))))
    yield Fact("E e^sup Σσφ(a)", still, ">", 1.0, "E e^sup Σσa", "sigmoid, a = 0: for moments φ(0) = 0 is needed")


def _moment(signs: Array, A: Any) -> float:
    return float(np.mean(np.exp((signs @ np.asarray(A).T).max(axis=1))))
