"""Many classes: the statements on C scores that share their units, tried where they are nearly attained: `extremal`."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import torch

from adanet_theory.risk.margin import ramp_loss
from adanet_theory.risk.multiclass import (
    kuznetsov_mohri_syed,
    multiclass_a_posteriori_at,
    multiclass_a_posteriori_bounded_at,
    multiclass_margin_bound,
    multiclass_margin_bound_uniform_at,
    multiclass_margins,
    multiclass_objective_bound,
)
from adanet_theory.risk.posterior import a_posteriori_at, a_posteriori_bounded_at
from adanet_train.convex.class_step import minimise_classes
from adanet_train.convex.cvx_exact import minimise_class_norms
from adanet_train.core.norms import row_norms
from verify.claims.checks import Fact, Facts, settles
from verify.claims.checks.extremal import Memorised, Rare
from verify.claims.checks.replacements import spoilt

DELTA = 0.05
CLASSES = 4


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


@settles("multiclass-margin-bound", {"spoil": 0.45}, {"constant": 1.0}, thorough={"classes": 2000})
def multiclass_margin_bound_holds(spoil: float = 1.0, constant: float = 2.0, classes: int = 400) -> Facts:
    """The scores ±h/2 of two classes have the margin h of one f, and twice the price: within a factor 1/2."""
    least = _contraction(classes, constant)
    yield Fact("least of right less left", least, ">=", 0.0, "", f"vector contraction, {classes} enumerated classes")
    x = Memorised()
    bound = multiclass_margin_bound(0.0, [1.0], [x.R_m], C=2, rho=1.0, m=x.m, delta=DELTA, M=1.0)
    where = f"C = 2, margin 1 on the sample, 0 on unseen atoms, m = {x.m:,}"
    yield Fact("R(f)", x.risk, "<=", spoilt(bound, spoil), "multiclass-margin-bound", where)


@settles("multiclass-margin-bound-uniform", {"j": 1})
def multiclass_uniform_holds(j: int = 0) -> Facts:
    """At W_M = ρ it is multiclass-margin-bound but for the price of the prior."""
    at: dict[str, Any] = {"C": 10, "m": 9600, "delta": DELTA}
    free = multiclass_margin_bound_uniform_at(j, 0.1, [1.0, 1.0], [0.01, 0.02], M=[1.0, 1.0], **at)
    fixed = multiclass_margin_bound(0.1, [1.0, 1.0], [0.01, 0.02], M=1.0, rho=1.0, **at)
    for term in ("complexity", "depth"):
        yield Fact(term, free.terms[term] or 0.0, "=", fixed.terms[term] or 0.0, "that of the fixed ρ", "j = 0", 1e-12)
    yield Fact("confidence", free.terms["confidence"] or 0.0, ">", fixed.terms["confidence"] or 0.0, "without a prior")


@settles("multiclass-objective-bound", {"spoil": 0.3}, {"margin": 0.0}, thorough={"trials": 2000})
def multiclass_objective_holds(spoil: float = 1.0, margin: float = 1.0, trials: int = 100) -> Facts:
    """Never below multiclass-margin-bound-uniform at the best j it could have taken; the loss above the ramp."""
    rng, least, above = np.random.default_rng(0), math.inf, math.inf
    for _ in range(trials):
        m, depth, C = int(rng.integers(50, 5000)), int(rng.integers(1, 6)), int(rng.integers(2, 20))
        w, R, M = (rng.uniform(0.01, s, size=depth).tolist() for s in (2.0, 0.1, 3.0))
        y = rng.integers(0, C, 200)
        f = rng.normal(size=(200, C)) + 2 * np.eye(C)[y]
        apart = f - f[np.arange(200), y][:, None] + margin * (1 - np.eye(C)[y])
        losses, u = np.log(np.exp(apart).sum(axis=1)), multiclass_margins(f, y)
        above = min(above, float((losses - np.clip(1 - u, 0, 1)).min()))
        at: dict[str, Any] = {"C": C, "m": m, "delta": DELTA, "M": M}
        ours = multiclass_objective_bound(float(losses.mean()), w, R, **at).total * spoil
        W_M = sum(a * b for a, b in zip(w, M, strict=True))
        j = math.ceil(math.log(W_M) / math.log(1.05))
        least = min(least, ours / multiclass_margin_bound_uniform_at(j, ramp_loss(u, W_M / 1.05**j), w, R, **at).total)
    yield Fact("least loss less ramp", above, ">=", 0.0, "", f"{trials} random cases of 200 points")
    yield Fact("least ratio to multiclass-margin-bound-uniform", least, ">=", 1.0, "", "W free")


@settles(
    "cvx-classes", {"penalty": 1.2, "trials": 1}, {"columns": 1, "trials": 1, "shared": 2}, thorough={"trials": 100}
)
def units_of_classes(penalty: float = 1.0, columns: int = 3, trials: int = 4, shared: int = 30) -> Facts:
    """The best weights of drawn units, one to eight, and of the units of the step itself; p = 3/2, Γ = 1/20, Λ = 1."""
    draw = torch.Generator().manual_seed(0)
    least, own = math.inf, 0.0
    for _ in range(trials):
        Z, scores = (torch.randn(40, n, generator=draw, dtype=torch.float64) for n in (4, 3))
        y, f = (scores + Z[:, :3]).argmax(1), torch.zeros(40, 3, dtype=torch.float64)
        step = minimise_class_norms(Z, y, f, 0.05 * penalty, 1.5)
        drawn = torch.randn(int(torch.randint(1, 9, (1,), generator=draw)), 4, generator=draw, dtype=torch.float64)
        values = [_best_weights(Z, U, y, f) for U in (drawn, step.v[row_norms(step.v, 1.5) > 0])]
        least, own = min(least, min(values) - step.objective), max(own, values[1] - step.objective)
    yield Fact("least F of units less that of the step", least, ">=", -1e-9, "", f"{trials} samples, C = 3")
    yield Fact("greatest F of its own units less that of the step", own, "<=", 1e-9, "")
    one = torch.eye(3, dtype=torch.float64)[:, :columns]
    y, f = torch.arange(3), torch.zeros(3, 3, dtype=torch.float64)
    units = torch.randn(shared, columns, generator=draw).double()
    least = min(_best_weights(one, u[None], y, f, tol=1e-6) for u in units)
    three = minimise_class_norms(one, y, f, 0.05, 1.5).objective
    yield Fact("least F of one shared unit", least, ">", three + 0.1, "1/10 + F of the step", "three points, one-hot")


def _best_weights(Z: torch.Tensor, U: torch.Tensor, y: torch.Tensor, f: torch.Tensor, tol: float = 1e-11) -> float:
    """F of units of norm Λ = 1 that all classes read with the best weights, Γ = 1/20."""
    inside = U / row_norms(U, 1.5)[:, None]
    return minimise_classes(Z @ inside.T, y, f, f.new_full((len(U),), 0.05), tol=tol).objective


@settles("multiclass-a-posteriori", {"spoil": 0.2}, {"classes": 5000})
def multiclass_a_posteriori_holds(spoil: float = 1.0, classes: int = CLASSES) -> Facts:
    """The best of very many features for two classes; and against one f: a factor 2, and log C under the root."""
    x = Rare()
    for d in (0, 1, 2):
        bound = multiclass_a_posteriori_at(0, x.ramp, 1.0, C=2, d=d, n_0=x.n_0, r_rms=x.r_rms, m=x.m, delta=DELTA)
        where = f"C = 2, the best of n_0 = 1e{x.digits} rare features, m = {x.m:,}, d = {d}, with probability > 0.9998"
        yield Fact("R(f)", x.risk, "<=", spoilt(bound, spoil), "multiclass-a-posteriori", where)
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
