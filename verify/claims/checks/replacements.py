"""The statements that take the place of the paper's: what they say is tried on samples that were overfitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from adanet_theory.activations import activation
from adanet_theory.checks import Array
from adanet_theory.estimates import hidden_complexity
from adanet_theory.generalization import (
    margin_bound,
    margin_bound_empirical,
    margin_bound_uniform,
    theorem_1,
    theorem_1_range,
)
from adanet_theory.margin import PRIOR, MarginBound, ramp_loss
from adanet_theory.posterior import a_posteriori, a_posteriori_at, a_posteriori_bounded, a_posteriori_bounded_at
from adanet_theory.rademacher import peeled_complexity, peeled_complexity_offset, ranges
from adanet_theory.spec import NetworkSpec
from verify.claims.checks import Fact, Facts, settles
from verify.claims.checks.lemma_1 import one_feature
from verify.claims.checks.unbounded import margin_bound_unbounded

DELTA = 0.05
REFERENCE = {48: (0.826920502923, 0.800502758560), 34: (0.442457203801, 0.416711368683),
             16: (0.210936237151, 0.186695245844)}  # fmt: skip


@dataclass(frozen=True)
class Overfitted:
    """The best of 2 n_0 features ±x_j on a sample whose labels are coins: its margins; R_S(H_1) from drawn signs."""

    margins: Array
    R: float
    n_0: int


RISK = 0.5  # of every f: the labels are fair coins, independent of x


@cache
def overfitted(trials: int, m: int = 1000, n_0: int = 1000) -> tuple[Overfitted, ...]:
    """x uniform on {-1, 1}^n_0, y a coin; H_1 = {u·x, ||u||_1 <= 1}, so the feature chosen is f in H_1, |f| = 1."""
    rng, cases = np.random.default_rng(0), []
    for _ in range(trials):
        X, y = (1.0 - 2.0 * rng.integers(0, 2, size=size) for size in ((m, n_0), m))
        agreement = y @ X
        j = int(np.abs(agreement).argmax())
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(40, m))
        R = float(np.abs(signs @ X).max(axis=1).mean()) / m
        cases.append(Overfitted(math.copysign(1.0, agreement[j]) * y * X[:, j], R, n_0))
    return tuple(cases)


def _never_below(bounds: Sequence[float], name: str) -> Fact:
    """How often R(f) = 1/2 is above the bound: in more than a share δ of the samples would refute the statement."""
    broken = sum(bound < RISK for bound in bounds)
    where = f"labels are coins, R(f) = 1/2, least bound {min(bounds):.4f}"
    return Fact(
        f"samples of {len(bounds)} with R(f) above {name}", broken, "<=", DELTA * len(bounds), "δ of them", where
    )


def _spoilt(bound: MarginBound, spoil: float) -> float:
    """The bound with all its terms but the ramp multiplied by `spoil`."""
    return sum((term or 0.0) * (1.0 if name == "ramp" else spoil) for name, term in bound.terms.items())


@settles("margin-bound", {"spoil": 0.0}, {"complexity": 0.0}, thorough={"trials": 200})
def margin_bound_holds(spoil: float = 1.0, complexity: float = 1.0, trials: int = 10) -> Facts:
    bounds = []
    for case in overfitted(trials):
        ramp, R = ramp_loss(case.margins, 1.0), complexity * case.R
        bound = margin_bound(ramp, [1.0], [R], rho=1.0, m=len(case.margins), delta=DELTA, M=1.0)
        bounds.append(_spoilt(bound, spoil))
    yield _never_below(bounds, "margin-bound")


@settles("margin-bound-unbounded", {"spoil": 0.0}, {"complexity": 0.0}, {"share": 10.0}, thorough={"trials": 200})
def margin_bound_unbounded_holds(
    spoil: float = 1.0, complexity: float = 1.0, share: float = 0.1, trials: int = 10
) -> Facts:
    """Against margin-bound in the paper's setting, ρ a share of the largest |f|; and on overfitted samples."""
    spec = NetworkSpec.layered((154, 1, 1), 1.0, p=1)
    R, reach = [peeled_complexity(spec, k, m=9600, r_rms=1.0) for k in (1, 2)], ranges(spec, r_sup=1.0)[-1]
    ours = margin_bound_unbounded(0.0, [0.0, 1.0], R, rho=share * reach, m=9600, delta=DELTA).total
    other = margin_bound(0.0, [0.0, 1.0], R, rho=share * reach, m=9600, delta=DELTA, M=reach).total
    where = f"m = 9600, n_0 = 154, p = 1, l = 2, ρ = {share:g} of the largest |f|"
    yield Fact("margin-bound-unbounded", ours, "<", other, "margin-bound", where)
    mass = sum(1 / (2 * (j + 1) * (j + 2)) for j in range(10_000)) + 1 / 2
    yield Fact("sum of the prior", mass, "<=", 1.0)
    bounds = []
    for case in overfitted(trials):
        ramp, m = ramp_loss(case.margins, 1.0), len(case.margins)
        bound = margin_bound_unbounded(ramp, [1.0], [complexity * case.R], rho=1.0, m=m, delta=DELTA)
        bounds.append(_spoilt(bound, spoil))
    yield _never_below(bounds, "margin-bound-unbounded")


@settles("margin-bound-uniform", {"spoil": 0.0}, {"complexity": 0.0}, {"prior": 1.0}, thorough={"trials": 200})
def margin_bound_uniform_holds(
    spoil: float = 1.0, complexity: float = 1.0, prior: float = PRIOR, trials: int = 10
) -> Facts:
    total = sum(1 / (prior * (abs(j) + 1) ** 2) for j in range(-10_000, 10_001))
    yield Fact("sum of the prior over j", total, "<=", 1.0)
    bounds = []
    for case in overfitted(trials):
        bound = margin_bound_uniform(case.margins, [1.0], [complexity * case.R], delta=DELTA, M=[1.0])
        bounds.append(_spoilt(bound, spoil))
    yield _never_below(bounds, "margin-bound-uniform")


@settles("margin-bound-empirical", {"spoil": 0.0}, thorough={"trials": 200})
def margin_bound_empirical_holds(spoil: float = 1.0, trials: int = 10) -> Facts:
    bounds = []
    for case in overfitted(trials):
        ramp, m = ramp_loss(case.margins, 1.0), len(case.margins)
        arguments = {"rho": 1.0, "m": m, "delta": DELTA}
        bound = margin_bound_empirical(ramp, [1.0], [case.R], M=[1.0], **arguments)  # type: ignore[arg-type]
        bounds.append(_spoilt(bound, spoil))
    yield _never_below(bounds, "margin-bound-empirical")


@settles("a-posteriori", {"spoil": 0.0}, {"c": 2.0}, thorough={"trials": 200})
def a_posteriori_holds(spoil: float = 1.0, c: float = 1.5, trials: int = 10) -> Facts:
    """Reference points to twelve digits, and the overfitted feature: B = 1, no hidden layer."""
    for j, (value, _) in REFERENCE.items():
        bound = a_posteriori_at(j, 0.0, 1.0, d=1, n_0=154, r_rms=1.0, m=9600, delta=DELTA, c=c).total
        yield Fact("a-posteriori", bound, "=", value, "", f"n_0 = 154, m = 9600, d = 1, j = {j}", 1e-12)
    bounds = []
    for case in overfitted(trials):
        found = a_posteriori(case.margins, 1.0, d=0, n_0=case.n_0, r_rms=1.0, delta=DELTA)
        bounds.append(_spoilt(found, spoil))
    yield _never_below(bounds, "a-posteriori")


@settles("a-posteriori-bounded", {"spoil": 0.0}, {"c": 2.0}, thorough={"trials": 200})
def a_posteriori_bounded_holds(spoil: float = 1.0, c: float = 1.5, trials: int = 10) -> Facts:
    for j, (_, value) in REFERENCE.items():
        bound = a_posteriori_bounded_at(j, 0.0, 1.0, d=1, n_0=154, r_sup=1.0, m=9600, delta=DELTA, c=c).total
        yield Fact("a-posteriori-bounded", bound, "=", value, "", f"n_0 = 154, m = 9600, d = 1, j = {j}", 1e-12)
    bounds = []
    for case in overfitted(trials):
        found = a_posteriori_bounded(case.margins, 1.0, d=0, n_0=case.n_0, r_sup=1.0, delta=DELTA)
        bounds.append(_spoilt(found, spoil))
    yield _never_below(bounds, "a-posteriori-bounded")


@settles("theorem-1-range", {"scale": 2.0}, {"spoil": 5.0})
def theorem_1_range_holds(scale: float = 1.0, spoil: float = 1.0) -> Facts:
    """Dividing every h by M turns it into Theorem 1 at ρ/M; and margin-bound lies below it."""
    w, R, M = [0.5, 1.5], [0.02, 0.04], 3.0
    bound = theorem_1_range(0.1, w, R, rho=1.0, m=9600, delta=DELTA, M=M).total
    divided = theorem_1(0.1, w, [r / M for r in R], rho=scale / M, m=9600, delta=DELTA, M=[1.0, 1.0]).total
    yield Fact("theorem-1-range", bound, "=", divided, "Theorem 1 of the families H_k/M at ρ/M", "M = 3", 1e-12)
    replaced = margin_bound(0.1, w, [spoil * r for r in R], rho=1.0, m=9600, delta=DELTA, M=spoil * M).total
    yield Fact("margin-bound", replaced, "<=", bound, "theorem-1-range")


@settles("range", {"spoil": 0.5})
def range_holds(spoil: float = 1.0) -> Facts:
    """The largest |h| of many units of H_2 whose weights are vertices of the balls, p = inf, against M_2."""
    rng = np.random.default_rng(0)
    for name in ("relu", "sigmoid"):
        spec = NetworkSpec.layered((3, 4, 1), [0.5, 2.0], math.inf, name)
        reach = spoil * ranges(spec, r_sup=1.0)[1]
        U, u = rng.choice([-0.5, 0.5], size=(2000, 4, 3)), rng.choice([-2.0, 2.0], size=(2000, 4))
        Psi = rng.choice([-1.0, 1.0], size=(2000, 3))
        largest = float(np.abs(np.einsum("it,it->i", u, activation(name)(np.einsum("itj,ij->it", U, Psi)))).max())
        yield Fact("largest |h|", largest, "<=", reach + 1e-12, "M_2", f"{name}, 2000 units at random vertices")


@settles("lemma-2-peeled-offset", {"spoil": 0.1})
def lemma_2_peeled_offset(spoil: float = 1.0) -> Facts:
    X = one_feature()
    r_rms = math.sqrt(float((X**2).mean()))
    for name in ("sigmoid", "softplus"):
        for Lambda in (0.0, 1.0):
            spec = NetworkSpec.layered((1, 2, 1), [Lambda, 1.0], 2.0, name)
            value = hidden_complexity(X, spec).mean
            bound = spoil * peeled_complexity_offset(spec, 2, m=8, r_rms=r_rms)
            yield Fact(
                "R_S(H_2)", value, "<=", bound, "lemma-2-peeled-offset", f"{name}, Λ_{{1,0}} = {Lambda:g}, m = 8"
            )
