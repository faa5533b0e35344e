"""Lemma 2, its sharper forms, and how much of the growth with depth is real."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adanet_theory.activations import activation
from adanet_theory.checks import Array
from adanet_theory.complexity.estimates import hidden_complexity, linear_complexity
from adanet_theory.complexity.rademacher import (
    depth_lower,
    first_layer_closed,
    layered_complexity,
    mean_absolute_sign_sum,
    peeled_complexity,
    peeled_complexity_data,
)
from adanet_theory.norms import all_signs, p_norm
from adanet_theory.risk.generalization import corollary_1
from adanet_theory.spec import NetworkSpec
from verify.claims.checks import Fact, Facts, settles
from verify.claims.checks.lemma_1 import THREE_POINTS, one_feature

NORMS = (1.0, 2.0, math.inf)


def sizes(X: Array) -> tuple[float, float]:
    """r_inf and r_rms."""
    return float(np.abs(X).max()), math.sqrt(float((X**2).mean(axis=0).max()))


def samples(trials: int, n_0: int = 2) -> list[Array]:
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, size=(int(rng.integers(2, 8)), n_0)) for _ in range(trials)]


@settles("lemma-2", {"phi": "sigmoid"}, {"spoil": 0.05}, thorough={"trials": 200})
def lemma_2_holds(phi: str = "relu", spoil: float = 1.0, trials: int = 20) -> Facts:
    """Exact R_S(H_1) and R_S(H*_2) against Lemma 2; the sigmoid beside it; the constants two ways."""
    for k in (1, 2):
        worst = 0.0
        for X in samples(trials):
            for p in NORMS:
                spec = NetworkSpec.layered((2, 3, 1), [0.7, 1.3], p)
                value = (linear_complexity, hidden_complexity)[k - 1](X, spec).mean
                worst = max(worst, value / layered_complexity(spec, k, m=len(X), r_inf=sizes(X)[0]) / spoil)
        yield Fact(f"largest R_S(H*_{k})/Lemma 2", worst, "<=", 1.0, where=f"{3 * trials} cases, ReLU, p = 1, 2, inf")
    spec, X = NetworkSpec.layered((1, 1, 1), [0.0, 1.0], 2.0, phi), one_feature()
    value, bound = hidden_complexity(X, spec).mean, layered_complexity(spec, 2, m=8, r_inf=1.0, literally=True)
    yield Fact("R_S(H*_2)", value, "<=", bound, "Lemma 2", f"{phi}, Λ_{{1,0}} = 0, m = 8")
    value = hidden_complexity(X, NetworkSpec.layered((1, 1, 1), [0.0, 1.0], 2.0, "sigmoid")).mean
    yield Fact("R_S(H*_2)", value, ">", bound, "Lemma 2", "sigmoid, Λ_{1,0} = 0, m = 8: φ(0) = 0 is needed")


@settles("lemma-2-peeled", {"c": 1e-3}, {"printed": 1.0}, thorough={"trials": 200})
def lemma_2_loose(c: float = 1.0, printed: float = 2.0, trials: int = 20) -> Facts:
    """The constants in front of r Π Λ N_k^(1/q) / sqrt(m), n_0 = 154; and the peeled bound against exact values."""
    spec = NetworkSpec.layered((154, 1, 1, 1, 1), 1.0, p=1)
    for k, corollary, lemma in ((4, 433.0, 27.1), (3, 108.0, 13.5), (2, 27.1, 6.77)):
        ours = peeled_complexity(spec, k, m=1, r_rms=1.0)
        two = layered_complexity(spec, k, m=1, r_inf=1.0)
        w = [float(s == k) for s in range(1, 5)]
        four = corollary_1(spec, 0.0, w, rho=4.0, m=1, delta=0.5, r_inf=1.0, literally=True).terms["complexity"]
        where = f"k = {k}, n_0 = 154, times r ΠΛ N^(1/q)/sqrt(m)"
        yield Fact("constant of lemma-2-peeled", ours, "<", two * printed / 2, "of Lemma 2", where)
        yield Fact("of Lemma 2", two * printed / 2, "=", lemma, "", f"k = {k}", 0.006 * lemma)
        yield Fact("of Corollary 1, for 4/ρ", four or 0.0, "=", corollary, "", f"k = {k}", 0.006 * corollary)
    worst = worst_data = 0.0
    for X in samples(trials):
        for p in NORMS:
            spec = NetworkSpec.layered((2, 3, 1), [0.7, 1.3], p)
            value, m = hidden_complexity(X, spec).mean, len(X)
            worst = max(worst, value / peeled_complexity(spec, 2, m=m, r_rms=sizes(X)[1]) / c)
            squares = sum(p_norm(x, spec.q) ** 2 for x in X)
            R_1 = linear_complexity(X, spec).mean
            worst_data = max(worst_data, value / peeled_complexity_data(spec, 2, m=m, R_S_1=R_1, square_norms=squares))
    yield Fact("largest R_S(H*_2)/lemma-2-peeled", worst, "<=", 1.0, where=f"{3 * trials} cases")
    yield Fact("largest R_S(H*_2)/its data form", worst_data, "<=", 1.0, where=f"{3 * trials} cases")


@settles("h1-exact", {"p": math.inf})
def h1_exact(p: float = 2.0) -> Facts:
    """R_S(H_1) by enumeration and duality against the mean over all signs of the largest u·z on a fine circle."""
    X = samples(1)[0][:5]
    angles = np.linspace(0, 2 * np.pi, 40_001)
    circle = np.stack([np.cos(angles), np.sin(angles)], 1)
    Z = all_signs(len(X)) @ X
    brute = float((Z @ circle.T).max(axis=1).mean()) / len(X)
    spec = NetworkSpec.layered((2, 1), 1.0, p)
    yield Fact("R_S(H_1)", linear_complexity(X, spec).mean, "=", brute, "brute force", f"p = 2, m = {len(X)}", 1e-7)


@settles("h1-closed", {"spoil": 0.5}, thorough={"trials": 300})
def h1_closed(spoil: float = 1.0, trials: int = 30) -> Facts:
    worst = dict.fromkeys((1.0, 1.25, 2.0, math.inf), 0.0)
    for X in samples(trials, n_0=3):
        for p in worst:
            spec = NetworkSpec.layered((3, 1), 1.0, p)
            bound = spoil * first_layer_closed(spec, m=len(X), r_rms=sizes(X)[1])
            worst[p] = max(worst[p], linear_complexity(X, spec).mean / bound)
    for p, ratio in worst.items():
        yield Fact("largest R_S(H_1)/h1-closed", ratio, "<=", 1.0, where=f"p = {p:g}, {trials} samples")


@settles("lemma-2-index", {"n_1": 3})
def lemma_2_index(n_1: int = 1) -> Facts:
    """E max over j <= n_0 of |Σσ_i Ψ_j(x_i)| against the printed maximum over j <= n_1."""
    Z = np.abs(all_signs(3) @ np.array(THREE_POINTS))
    right, printed = float(Z.max(axis=1).mean()), float(Z[:, :n_1].max(axis=1).mean())
    yield Fact("E ||Σσ_iΨ(x_i)||_inf", right, ">", printed, "E max over j <= n_1", f"n_0 = 3, n_1 = {n_1}")


@settles("p-near-one", {"norms": (0.5,)})
def p_near_one(norms: tuple[float, ...] = (1.1, 1.5, 2.0, 4.0, math.inf)) -> Facts:
    rng = np.random.default_rng(0)
    for p in norms:
        ratios = [p_norm(u, 1) / (20 ** (1 - 1 / p) * p_norm(u, p)) for u in rng.standard_t(2, size=(200, 20))]
        yield Fact("largest ||u||_1/(n^(1/q) ||u||_p)", max(ratios), "<=", 1.0 + 1e-12, where=f"p = {p:g}, n = 20")


@settles("depth-lower", {"factor": 1.5}, thorough={"trials": 100})
def depth_lower_holds(factor: float = 1.0, trials: int = 20) -> Facts:
    """k = 1: exact values. k = 2: two hidden layers of two units on one feature, the best of a grid, from below."""
    least = math.inf
    for X in samples(trials):
        for p in NORMS:
            spec = NetworkSpec.layered((2, 3, 1), 1.0, p)
            bound = factor * depth_lower(spec, 1, linear_complexity(X, spec).mean)
            least = min(least, hidden_complexity(X, spec).mean / bound)
    yield Fact("least R_S(H*_2)/depth-lower", least, ">=", 1.0, where=f"ReLU, {3 * trials} cases")
    X = np.array([[0.5], [-1.0], [0.8], [0.3]])
    spec = NetworkSpec.layered((1, 2, 2, 1), 1.0, p=2)
    R_2, R_3 = hidden_complexity(X, spec).mean, _third_layer(X)
    bound = factor * depth_lower(spec, 2, R_2)
    yield Fact("R_S(H*_3), a lower value", R_3, ">=", bound - 1e-9, "depth-lower", "n = (1, 2, 2), p = 2")
    for m in (2, 8):
        ratio = _orthogonal_ratio(m, "relu")
        yield Fact("R_S(H*_2)/R_S(H_1)", ratio, "=", 0.5 + mean_absolute_sign_sum(m) / 2, "(1 + μ_m)/2 -> 1/2",
                   f"{m} orthogonal points, p = inf: 1/2 is sharp", 1e-9)  # fmt: skip


def _third_layer(X: Array) -> float:
    """A lower value of R_S(H*_3), n_1 = n_2 = 2, p = 2, one feature: copies of the best of a grid of units of H*_2."""
    relu, signs = activation("relu"), all_signs(len(X))
    up, down = relu(X[:, 0]), relu(-X[:, 0])
    angles = np.linspace(0, 2 * np.pi, 721)
    a, b = np.cos(angles)[:, None], np.sin(angles)[:, None]
    units = np.concatenate([(a + b) * up, (a + b) * down, a * up + b * down])
    sup = np.abs(relu(units) @ signs.T).max(axis=0)
    return math.sqrt(2) * float(sup.mean()) / len(X)


def _orthogonal_ratio(m: int, phi: str) -> float:
    """R_S(H*_2)/R_S(H_1) for m orthogonal points and p = inf, where the sup over u is over each coordinate alone."""
    values = activation(phi)([1.0, -1.0, 0.0])
    signs = all_signs(m)
    most = np.where(signs > 0, values.max(), -values.min()).sum(axis=1)
    return float(np.maximum(most, most[::-1]).mean()) / m


@settles("depth-lower-abs", {"points": ((30.0, 3.0), (-4.0, 40.0), (30.0, -1.0))}, {"copies": 1})
def depth_lower_abs(points: Any = ((30.0, 3.0), (-4.0, 40.0), (30.0, 1.0)), copies: int = 100_000) -> Facts:
    """Three points and N copies of them, each with its own two features, p = inf, so that every copy has its own u.

    With A± = sup_u ±Σ σ_i |u·x_i| of one copy, E sup|..| = E max(Σ A+, Σ A-) <= N E A+ + (1/2) sqrt(N E(A+ - A-)²).
    """
    X, signs, N = np.array(points), all_signs(len(points)), copies
    edge = np.linspace(-1, 1, 20_001)
    sides = np.vstack([np.ones_like(edge), edge])
    square = np.hstack([sides, sides[::-1]])  # the sup is on the boundary, and |u·x| is even: half of it suffices
    missed = float(np.abs(X).sum()) * (edge[1] - edge[0]) / 2
    above = np.maximum((signs @ np.abs(X @ square)).max(axis=1), 0) + missed
    below = np.maximum((-signs @ np.abs(X @ square)).max(axis=1), 0)
    linear = len(X) * linear_complexity(X, NetworkSpec.layered((2, 1), 1.0, math.inf)).mean
    two_sided = float(above.mean()) + math.sqrt(float(np.mean((above - below) ** 2)) / N) / 2
    where = f"(30,3), (-4,40), (30,1), p = inf, N = {N} copies"
    yield Fact("E sup|Σσ|h||/N", two_sided, "<", linear / 2, "half of E sup|Σσh|/N", where)
    ratio = _orthogonal_ratio(12, "abs")
    yield Fact("R_S(H*_2)/R_S(H_1)", ratio, "=", 0.5 + mean_absolute_sign_sum(12) / 2, "(1 + μ_m)/2",
               "|x|, 12 orthogonal points, p = inf: near 1/2 already", 1e-9)  # fmt: skip
