"""Corollary 1: what it needs, how loose it is, what it says in the paper's own setting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from adanet_theory.complexity.rademacher import layered_complexity, peeled_complexity, ranges
from adanet_theory.norms import all_signs
from adanet_theory.risk.generalization import corollary_1, margin_bound, theorem_1
from adanet_theory.risk.margin import MarginBound
from adanet_theory.risk.related import standard_margin_bound
from adanet_theory.risk.solve import smallest_m
from adanet_theory.spec import NetworkSpec
from verify.claims.checks import Fact, Facts, settles

M, DELTA, N_0 = 9600, 0.05, 154  # the paper's setting: ten folds of 12,000 points less two, 154 features in [0, 1]


def on_top(depth: int) -> list[float]:
    return [0.0] * (depth - 1) + [1.0]


def complexity(spec: NetworkSpec, w: Sequence[float], rho: float = 1.0) -> float:
    """The complexity term of Corollary 1."""
    bound = corollary_1(spec, 0.0, w, rho=rho, m=M, delta=DELTA, r_inf=1.0, literally=True)
    return bound.terms["complexity"] or 0.0


@settles("corollary-1", {"doubled": 1.0}, {"reach": 20.0})
def corollary_1_loose(doubled: float = 2.0, reach: float = 1.0) -> Facts:
    """Theorem 1 with Lemma 2 and H~_k = H_k gives the same bound with 2Λ for 4Λ: a factor 2^k too much."""
    for k in (3, 2, 1):
        spec = NetworkSpec.layered((N_0, *[10] * k), 0.7, p=1.5)
        R = layered_complexity(spec, k, m=M, r_inf=1.0)
        enough = (
            theorem_1(0.0, on_top(k), [R] * k, rho=1.0, m=M, delta=DELTA, literally=True).terms["complexity"] or 0.0
        )
        ratio = complexity(spec, on_top(k)) / enough
        yield Fact("Corollary 1/(Theorem 1 with Lemma 2)", ratio, "=", doubled**k, "2^k", f"k = {k}", 1e-9)
    spec = NetworkSpec.layered((2, 2, 1), 0.5, p=1)
    printed = corollary_1(spec, 0.0, on_top(2), rho=0.5, m=M, delta=DELTA, r_inf=1.0, M=[1.0, 1.0])
    peeled = [peeled_complexity(spec, k, m=M, r_rms=1.0) for k in (1, 2)]
    proved = margin_bound(0.0, on_top(2), peeled, rho=0.5, m=M, delta=DELTA, M=reach)
    yield Fact(
        "margin-bound with lemma-2-peeled", proved.total, "<=", printed.total, "Corollary 1", f"|h| <= {reach:g}"
    )


@settles("corollary-1-doubling", {"symmetric": False})
def corollary_1_doubling(symmetric: bool = True) -> Facts:
    """R_S(H u -H) against R_S(H) for a finite H: equal when H = -H, and at most twice for any H that holds 0."""
    rng, signs = np.random.default_rng(0), all_signs(6)
    H = np.vstack([np.zeros(6), rng.normal(size=(4, 6))])
    both = np.vstack([H, -H])
    R, R_both = (float((signs @ A.T).max(axis=1).mean()) / 6 for A in (both if symmetric else H, both))
    yield Fact("R_S(H u -H)", R_both, "=", R, "R_S(H)", "H = -H, as for every H_k", 1e-12)
    one = float((signs @ H.T).max(axis=1).mean()) / 6
    yield Fact("R_S(H u -H)", R_both, "<=", 2 * one, "2 R_S(H)", "any H with 0: one factor 2, not one per layer")


@settles("expected-radius", {"power": 0.0})
def expected_radius(m: int = 100, power: float = 3.0) -> Facts:
    """Ψ = m^3 with probability m^-2, else 1."""
    hidden = (1 - m**-2.0) ** m
    expected = hidden + (1 - hidden) * m**power
    yield Fact("E[r_inf]", expected, ">", 1000.0, "1000 times the r_inf of a sample that shows", f"m = {m}")
    yield Fact("P(the sample shows r_inf = 1)", hidden, ">", 0.98)
    spec, radii = NetworkSpec.layered((3, 2, 1), 1.0, p=2), np.random.default_rng(0).uniform(0, 1, size=100)
    mean = float(np.mean([layered_complexity(spec, 2, m=m, r_inf=r) for r in radii]))
    bound = layered_complexity(spec, 2, m=m, r_inf=float(radii.mean()))
    yield Fact(
        "mean of Lemma 2 over samples", mean, "=", bound, "Lemma 2 at the mean r_inf", "the statement itself", 1e-12
    )


@settles("finer-than-previous", {"w": "bottom"})
def finer_than_previous(w: str = "top") -> Facts:
    """A standard network, all weight on the last layer: Corollary 1 against Lemma 2 in the standard margin bound."""
    for depth in (2, 4):
        spec = NetworkSpec.layered((N_0, *[1] * depth), 1.0, p=1)
        weights = on_top(depth) if w == "top" else [1.0] + [0.0] * (depth - 1)
        R = layered_complexity(spec, depth, m=M, r_inf=1.0)
        standard = standard_margin_bound("standard", 0.0, R, rho=1.0, m=M, delta=DELTA).terms["complexity"] or 1.0
        ratio = complexity(spec, weights) / standard
        yield Fact("Corollary 1/standard", ratio, "=", 2.0 ** (depth + 1), "2^(l+1)", f"l = {depth}", 1e-9)
    bottom = complexity(spec, [1.0, 0.0, 0.0, 0.0])
    share = (standard - bottom) / (complexity(spec, on_top(4)) - bottom)
    where = "l = 4, w = (1-e, 0, 0, e), Λ = 1, p = 1"
    yield Fact("weight e on the top layer below which it is finer", share, "=", 0.0159, "", where, 5e-5)


@settles("no-exponential-growth", {"decay": 4.0})
def no_exponential_growth(decay: float = 1.0) -> Facts:
    """Equal weights on all layers, Λ = 1, p = 1: the term grows like 4^l/l. `decay`: ||w_k||_1 ∝ decay^-k."""
    terms = []
    for depth in (4, 8):
        w = np.array([decay**-k for k in range(1, depth + 1)])
        terms.append(complexity(NetworkSpec.layered((N_0, *[1] * depth), 1.0, p=1), (w / w.sum()).tolist()))
    yield Fact("term at l = 8/term at l = 4", terms[1] / terms[0], ">", 2.0**4, "2^4", f"||w_k||_1 ∝ {decay:g}^-k")


def _in_setting(p: float, depth: int, share: float, m: int = M, Lambda: float = 1.0) -> MarginBound:
    """Corollary 1 at ρ = share * (largest attainable |f|), all weight on layer l, no margin errors, r_inf = 1."""
    n = (N_0, *[150 if p > 1 else 1] * depth)
    spec = NetworkSpec.layered(n, Lambda, p)
    rho = share * ranges(spec, r_sup=1.0)[-1]
    return corollary_1(spec, 0.0, on_top(depth), rho=rho, m=m, delta=DELTA, r_inf=1.0, literally=True)


def _replaced(p: float, depth: int, share: float, m: int = M) -> MarginBound:
    """margin-bound with lemma-2-peeled in the same setting."""
    spec = NetworkSpec.layered((N_0, *[150 if p > 1 else 1] * depth), 1.0, p)
    reach = ranges(spec, r_sup=1.0)
    R = [peeled_complexity(spec, k, m=m, r_rms=1.0) for k in range(1, depth + 1)]
    return margin_bound(0.0, on_top(depth), R, rho=share * reach[-1], m=m, delta=DELTA, M=max(reach))


@settles("corollary-1-vacuous", {"m": 10**9})
def corollary_1_vacuous(m: int = M) -> Facts:
    for p, depth, share, stored in ((1.0, 2, 0.1, 11.6), (1.0, 2, 0.5, 2.34), (1.0, 3, 0.1, 44.9), (2.0, 2, 0.5, 2.23)):
        bound = _in_setting(p, depth, share, m).total
        where = f"m = {m}, p = {p:g}, l = {depth}, ρ = {share:g} of the largest |f|"
        yield Fact("Corollary 1", bound, ">=", 1.0, where=where)
        yield Fact("Corollary 1", bound, "=", stored, "", "", 0.005 * stored)
    for p in (1.0, 2.0):
        alone = _in_setting(p, 2, 1.0, m).terms["complexity"] or 0.0
        yield Fact("its complexity term at the largest margin", alone, ">=", 1.0, where=f"m = {m}, p = {p:g}, l = 2")
    needed = smallest_m(lambda m: _in_setting(1.0, 2, 0.1, m)) or math.inf
    yield Fact("m needed", needed, "=", 1.33e6, "", "below 1 at p = 1, l = 2, ρ = 0.1 of |f|", 1e4)
    ours = _replaced(1.0, 2, 0.1).total
    yield Fact("margin-bound with lemma-2-peeled", ours, "<", 1.0, where="m = 9600, p = 1, l = 2, ρ = 0.1 of |f|")
