"""Many classes: the statements on C scores that share their units, tried on samples that were overfitted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.margin import ETA, MarginBound, ramp_loss
from adanet_theory.multiclass import (
    kuznetsov_mohri_syed,
    multiclass_a_posteriori_at,
    multiclass_a_posteriori_bounded_at,
    multiclass_margin_bound,
    multiclass_margin_bound_uniform_at,
    multiclass_margins,
)
from adanet_theory.posterior import a_posteriori_at, a_posteriori_bounded_at
from verify.claims.checks import Fact, Facts, settles

DELTA = 0.05
CLASSES = 4


@dataclass(frozen=True)
class Overfitted:
    """Margins of f/B on the sample, B = Σ_y ||v_y||_1, and E max_j |Σ σ_i x_ij|/m from drawn signs."""

    margins: Array
    R: float
    n_0: int


@cache
def overfitted(trials: int, m: int = 300, n_0: int = 1500) -> tuple[Overfitted, ...]:
    """x uniform on {-1, 1}^n_0 and labels uniform, independent of x, so R(f) >= 1 - 1/C; f interpolates the sample."""
    rng, cases = np.random.default_rng(0), []
    for _ in range(trials):
        X = 1.0 - 2.0 * rng.integers(0, 2, size=(m, n_0))
        y = rng.integers(0, CLASSES, m)
        v = X.T @ np.linalg.solve(X @ X.T, np.eye(CLASSES)[y])
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(40, m))
        R = float(np.abs(signs @ X).max(axis=1).mean()) / m
        cases.append(Overfitted(multiclass_margins(X @ v / np.abs(v).sum(), y), R, n_0))
    return tuple(cases)


def _never_below(bounds: Sequence[float]) -> Fact:
    """How often R(f) is above the bound: in more than a share δ of the samples would refute the statement."""
    risk = 1 - 1 / CLASSES
    where = f"C = {CLASSES}, labels independent of x, R(f) = {risk:g}, least bound {min(bounds):.4g}"
    broken = sum(bound < risk for bound in bounds)
    return Fact(f"samples of {len(bounds)} with R(f) above it", broken, "<=", DELTA * len(bounds), "δ of them", where)


def _spoilt(bound: MarginBound, spoil: float) -> float:
    """The bound with all its terms but the ramp multiplied by `spoil`."""
    return sum((term or 0.0) * (1.0 if name == "ramp" else spoil) for name, term in bound.terms.items())


def _contraction(classes: int, constant: float) -> float:
    """The least right side less left side of the vector contraction with `constant`/ρ, over enumerated classes."""
    rng, least = np.random.default_rng(1), math.inf
    signs = [np.array(list(itertools.product([-1.0, 1.0], repeat=n))) for n in range(10)]
    for trial in range(classes):
        count, m, C = int(rng.integers(2, 7)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        f = rng.normal(size=(count, m, C)) * rng.choice([0.1, 1.0, 3.0])
        y = rng.integers(0, C, m)
        if trial == 0:  # one point, scores ±(1, -1)/4 about (1/4, 0): ψ moves by 1, twice the largest score
            f, y, count, m, C = np.array([[[0.5, -0.25]], [[0.0, 0.25]]]), np.array([0]), 2, 1, 2
        ramp = np.array([np.clip(1 - multiclass_margins(scores, y), 0, 1) for scores in f])
        left = (signs[m] @ ramp.T).max(axis=1).mean()
        right = (constant * signs[m * C] @ f.reshape(count, -1).T).max(axis=1).mean()
        least = min(least, float(right - left))
    return least


@settles("multiclass-margin-bound", {"spoil": 0.0}, {"constant": 1.0}, thorough={"trials": 100, "classes": 2000})
def multiclass_margin_bound_holds(
    spoil: float = 1.0, constant: float = 2.0, trials: int = 10, classes: int = 400
) -> Facts:
    least = _contraction(classes, constant)
    yield Fact("least of right less left", least, ">=", 0.0, "", f"vector contraction, {classes} enumerated classes")
    bounds = []
    for case in overfitted(trials):
        rho, m = float(case.margins.min()), len(case.margins)
        ramp = ramp_loss(case.margins, rho)
        bound = multiclass_margin_bound(ramp, [1.0], [case.R], C=CLASSES, rho=rho, m=m, delta=DELTA, M=1.0)
        bounds.append(_spoilt(bound, spoil))
    yield _never_below(bounds)


@settles("multiclass-margin-bound-uniform", {"j": 1})
def multiclass_uniform_holds(j: int = 0) -> Facts:
    """At W_M = ρ it is multiclass-margin-bound but for the price of the prior."""
    at: dict[str, Any] = {"C": 10, "m": 9600, "delta": DELTA}
    free = multiclass_margin_bound_uniform_at(j, 0.1, [1.0, 1.0], [0.01, 0.02], M=[1.0, 1.0], **at)
    fixed = multiclass_margin_bound(0.1, [1.0, 1.0], [0.01, 0.02], M=1.0, rho=1.0, **at)
    for term in ("complexity", "depth"):
        yield Fact(term, free.terms[term] or 0.0, "=", fixed.terms[term] or 0.0, "that of the fixed ρ", "j = 0", 1e-12)
    yield Fact("confidence", free.terms["confidence"] or 0.0, ">", fixed.terms["confidence"] or 0.0, "without a prior")


@settles("multiclass-a-posteriori", {"spoil": 0.0}, {"classes": 5000}, thorough={"trials": 100})
def multiclass_a_posteriori_holds(spoil: float = 1.0, classes: int = CLASSES, trials: int = 10) -> Facts:
    """On overfitted samples; and against two classes: a factor 2, and log C under the root."""
    bounds = []
    for case in overfitted(trials):
        j = math.ceil(-math.log(float(case.margins.min())) / math.log1p(ETA))
        at_j: dict[str, Any] = {
            "C": CLASSES,
            "d": 0,
            "n_0": case.n_0,
            "r_rms": 1.0,
            "m": len(case.margins),
            "delta": DELTA,
        }
        ramp = ramp_loss(case.margins, (1 + ETA) ** -j)
        bounds.append(_spoilt(multiclass_a_posteriori_at(j, ramp, 1.0, **at_j), spoil))
    yield _never_below(bounds)
    at: dict[str, Any] = {"d": 1, "r_rms": 1.0, "m": 9600, "delta": DELTA}
    many = multiclass_a_posteriori_at(5, 0.0, 1.0, C=classes, n_0=154, **at).terms["complexity"] or 0.0
    two = a_posteriori_at(5, 0.0, 1.0, n_0=154 * CLASSES, **at).terms["complexity"] or 0.0
    yield Fact("complexity", many, "=", 2 * two, "2 x that of two classes and C n_0 features", f"C = {CLASSES}", 1e-12)


@settles("multiclass-a-posteriori-bounded", {"factor": 1.0})
def multiclass_a_posteriori_bounded_holds(factor: float = 2.0) -> Facts:
    at: dict[str, Any] = {"d": 2, "r_sup": 1.0, "m": 9600, "delta": DELTA}
    many = multiclass_a_posteriori_bounded_at(5, 0.0, 1.0, C=10, n_0=154, **at)
    two = a_posteriori_bounded_at(5, 0.0, 1.0, n_0=1540, **at)
    left, right = many.terms["complexity"] or 0.0, two.terms["complexity"] or 0.0
    yield Fact("complexity", left, "=", factor * right, "2 x that of two classes and C n_0 features", "C = 10", 1e-12)
    left, right = many.terms["confidence"] or 0.0, two.terms["confidence"] or 0.0
    yield Fact("confidence", left, "=", right, "that of two classes", "", 1e-15)


@settles("multiclass-straightforward", {"C": 2})
def the_price_of_classes(C: int = 100) -> Facts:
    """What the best published bound for such ensembles costs in C, beside ours."""
    at: dict[str, Any] = {"rho": 0.5, "m": 60_000, "delta": DELTA}
    theirs = kuznetsov_mohri_syed(0.0, [1.0, 1.0], [1e-3, 2e-3], C=C, **at).terms["complexity"] or 0.0
    ours = multiclass_margin_bound(0.0, [1.0, 1.0], [1e-3, 2e-3], C=C, M=1.0, **at)
    where = f"C = {C}, m = 60,000, ρ = 1/2, R_m = .001 and .002"
    yield Fact("complexity of Kuznetsov, Mohri, Syed 2014", theirs, ">", ours.total, "all of ours", where)
