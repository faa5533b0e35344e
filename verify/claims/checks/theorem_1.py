"""Theorem 1 and the DeepBoost theorem it is taken from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adanet_theory.complexity.estimates import hidden_complexity, linear_complexity
from adanet_theory.complexity.rademacher import depth_lower, mean_absolute_sign_sum
from adanet_theory.risk.generalization import (
    confidence_term,
    margin_bound,
    margin_bound_uniform_at,
    rho_uniform_price,
    theorem_1,
    theorem_1_range,
)
from adanet_theory.risk.related import standard_margin_bound
from adanet_theory.risk.unbounded import price
from adanet_theory.spec import NetworkSpec
from verify.claims.checks import Fact, Facts, settles

DELTA = 0.05


@settles("deepboost-restated", {"M": 1.0}, {"blocks": 1}, thorough={"trials": 200})
def deepboost_restated(M: float = 1e6, blocks: int = 12, width: int = 8, trials: int = 20) -> Facts:
    """X = {1..blocks*width} uniform, any labels; l = blocks * 2^width singletons h_{j,v} = M v on block j, else 0.

    A singleton has R_m = 0. f = (1/blocks) Σ_j h_{j,v_j} is right on S and wrong off S, with margin M/blocks.
    """
    size, m, depth = blocks * width, blocks * width // 2, blocks * 2**width
    rho = M / (blocks + 1)
    w = np.zeros(depth)
    w[:blocks] = 1 / blocks
    arguments: dict[str, Any] = {"rho": rho, "m": m, "delta": DELTA}
    bound = theorem_1(0.0, w.tolist(), [0.0] * depth, literally=True, **arguments)
    rng = np.random.default_rng(0)
    risks = [1 - len(np.unique(rng.integers(size, size=m))) / size for _ in range(trials)]
    broken = sum(risk > bound.total for risk in risks)
    where = f"l = {depth}, m = {m}, ρ = M/{blocks + 1}, M = {M:g}, δ = {DELTA}"
    yield Fact("least R(f)", min(risks), ">", bound.total, "bound", where)
    yield Fact(f"samples out of {trials} on which it fails", broken, "=", trials)
    mended = theorem_1_range(0.0, w.tolist(), [0.0] * depth, M=M, **arguments)
    term = mended.terms["depth"] or 0.0
    yield Fact("(2/ρ) sqrt(log l/m) with ρ/M for ρ", term, ">=", 1.0, where="corrected: vacuous, as it has to be")


SHARPER = 332.1  # Theorem 1 follows from margin-bound wherever it is below 1 and log(1/δ) <= 332.1 log l/ρ²


@settles("theorem-1", {"bits": 1000.0}, {"complexity": 5.0}, thorough={"trials": 50_000})
def theorem_1_holds(bits: float = SHARPER, complexity: float = 1.0, trials: int = 2000) -> Facts:
    """margin-bound, which is proved, lies below Theorem 1 for |h| <= 1, l >= 2, ρ <= 1 and every δ >= 2^-332.1.

    With a = log l/(ρ² m), L = log(1/a) and y = log(1/δ) ρ²/(2 log l) it does so if sqrt(y) <= (L - (√2-1)²)/(√2-1),
    and Theorem 1 is below 1 only if e^(-L/2) (2 + sqrt(4L + y)) < 1: both hold up to 2y = 332.1. For ρ > 1 the margin
    error of f in F is 1. `complexity` spoils the factor of margin-bound.
    """
    for rho in (0.1, 0.5, 1.0):
        old, new = _both(rho, 2, 9600, DELTA, 0.0, complexity)
        yield Fact("margin-bound", new, "<", old, "Theorem 1", f"ρ = {rho}, l = 2, m = 9600, R_m = 0")
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(trials):
        rho, depth, m = rng.uniform(0.01, 1), int(rng.integers(2, 50)), int(10 ** rng.uniform(0, 6))
        old, new = _both(rho, depth, m, 2.0 ** -rng.uniform(0.01, bits), 0.0, complexity)
        ratios.append(new / old)
    where = f"{trials} random (ρ, l, m, δ), δ >= 2^-{bits:g}"
    yield Fact("largest margin-bound/Theorem 1", max(ratios), "<=", 1.0, where=where)
    worst = [_both(1.0, 2, m, 2.0**-bits, 0.0, complexity) for m in range(100, 3000)]
    ratio = max(new / old for old, new in worst)
    yield Fact("largest margin-bound/Theorem 1", ratio, "<=", 1.0, where="ρ = 1, l = 2, δ = 1.1e-100, 100 <= m < 3000")


def _both(rho: float, depth: int, m: int, delta: float, R: float, complexity: float) -> tuple[float, float]:
    w, arguments = [1.0] * depth, {"rho": rho, "m": m, "delta": delta}
    old = theorem_1(0.0, w, [R] * depth, M=[1.0] * depth, **arguments)  # type: ignore[arg-type]
    new = margin_bound(0.0, w, [R * complexity] * depth, M=complexity, **arguments)  # type: ignore[arg-type]
    return old.value, new.value


@settles("maurey-constants", {"level": 1.5})
def maurey_constants(level: float = 1.0) -> Facts:
    """Margins 0 -> a -> a+w -> 2a+w, the last the margin of the empirical error, `level` times ρ = 1.

    A ramp of width w costs (2/w) R_m, so the printed 4 asks w = 1/2; the tail e^(-n a²/2) of the average of n units is
    the printed (1/ρ) sqrt(log l/m) when n = (1/a²) log(ρ² m/log l).
    """
    rho, depth, m = 0.01, 2, 10**14
    tail = math.log(2 / DELTA) / (2 * m)
    C = confidence_term(rho, depth, m, DELTA)
    assert C is not None
    printed = (C * C - tail) * m / math.log(depth) * rho**2 / math.log(rho**2 * m / math.log(depth))
    w = 2 / 4
    a = (level - w) / 2
    yield Fact("constant that the bookkeeping needs", 1 / a**2, ">", printed * 1.001, "constant printed, times 1/ρ²")


@settles("theorem-1-rate", {"delta": 1e-300}, {"power": 0.0})
def theorem_1_rate(delta: float = DELTA, power: float = 1.0) -> Facts:
    """C over (1/ρ) sqrt(log l/m) sqrt(log(ρ² m/log l)) stays below a constant; `power` drops the log factor."""
    worst = 0.0
    for rho in (0.05, 0.3, 1.0):
        for depth in (2, 10, 100):
            for m in (10**6, 10**9, 10**12):
                C = confidence_term(rho, depth, m, delta)
                assert C is not None
                rate = math.sqrt(math.log(depth) / m) / rho
                worst = max(worst, C / rate / math.log(rho**2 * m / math.log(depth)) ** (power / 2))
    yield Fact("largest C/rate", worst, "<=", 2.2, where="l >= 2, m = 10^6, 10^9, 10^12")


@settles("theorem-1-one-layer", {"depth": 2})
def theorem_1_one_layer(depth: int = 1, m: int = 9600) -> Facts:
    """At l = 1 the print divides by log l = 0; as log l -> 0 its C tends to our convention."""
    yield Fact("log l", math.log(depth), "=", 0.0, where="the print has log(ρ² m/log l)")
    rho, log_l = 0.5, 1e-9
    near = math.ceil(4 / rho**2 * math.log(rho**2 * m / log_l)) * log_l / m + math.log(2 / DELTA) / (2 * m)
    convention = confidence_term(rho, depth, m, DELTA)
    yield Fact("C at l = 1, our convention", convention or 0.0, "=", math.sqrt(near), "C at log l = 1e-9", "", 1e-6)


@settles("theorem-1-small-sample", {"factor": 10**6})
def theorem_1_small_sample(factor: int = 1) -> Facts:
    for rho, m, depth in ((0.01, 100, 10), (0.05, 500, 5), (0.1, 100, 3)):
        m *= factor
        units = math.ceil(4 / rho**2 * math.log(rho**2 * m / math.log(depth)))
        radicand = units * math.log(depth) / m + math.log(2 / DELTA) / (2 * m)
        yield Fact("radicand", radicand, "<", 0.0, where=f"ρ = {rho}, m = {m}, l = {depth}, ceiling {units}")
        undefined = confidence_term(rho, depth, m, DELTA) is None
        yield Fact("C has no value", float(undefined), "=", 1.0)
        yield Fact("(2/ρ) sqrt(log l/m) alone", 2 / rho * math.sqrt(math.log(depth) / m), ">=", 1.0, where="vacuous")


@settles("rho-uniform", {"ratio": 1.0})
def rho_uniform(ratio: float = 2.0) -> Facts:
    """The standard technique: Theorem 1 at ρ_j = ratio^-j <= ρ with δ/(j+1)², against Theorem 1 at ρ plus the price."""
    w, R, m = [0.5, 0.5], [0.01, 0.02], 9600
    for rho in (0.9, 0.3):
        fixed = theorem_1(0.0, w, R, rho=rho, m=m, delta=DELTA, M=[1.0, 1.0]).total
        delta = DELTA / math.log2(2 / rho) ** 2
        grid = theorem_1(0.0, w, R, rho=rho / ratio, m=m, delta=delta, M=[1.0, 1.0]).total
        price = rho_uniform_price(rho, m)
        yield Fact("cost of the technique", grid - fixed, ">", price, "printed price", f"ρ = {rho}, m = {m}")
    j = math.ceil(math.log(1 / 0.3) / math.log(1.05))
    ours = margin_bound_uniform_at(j, 0.0, w, R, m=m, delta=DELTA, M=[1.0, 1.0]).total
    printed = fixed + price
    yield Fact("margin-bound-uniform", ours, "<", printed, "Theorem 1 and its printed price", "the same ρ")


@settles("depth-logarithmic", {"n": 1})
def depth_logarithmic(n: int = 4, depth: int = 6) -> Facts:
    """depth-lower, from layer 2 to layer 6, p = 2: R_S(H*_k) grows at least by Λ n^(1/2) with every layer."""
    spec = NetworkSpec.layered((2, *[n] * depth), 1.0, p=2)
    R_2 = R = hidden_complexity([[1.0, 0.5], [0.2, -1.0], [-0.7, 0.3]], NetworkSpec.layered((2, n, 1), 1.0, p=2)).mean
    for k in range(2, depth):
        R = depth_lower(spec, k, R)
    where = f"p = 2, Λ = 1, n_k = {n}"
    yield Fact("R_S(H*_6)/R_S(H*_2) at least", R / R_2, ">", math.log(6) / math.log(2), "log 6/log 2", where)


@settles("finer-than-standard", {"R": (1e-3, 0.3), "w": (1.0, 0.0)})
def finer_than_standard(R: Sequence[float] = (0.01, 0.01), w: Sequence[float] = (0.0, 1.0)) -> Facts:
    m, rho = 9600, 0.5
    fine = theorem_1(0.0, w, R, rho=rho, m=m, delta=DELTA, M=[1.0, 1.0]).total
    standard = standard_margin_bound("standard", 0.0, max(R), rho=rho, m=m, delta=DELTA).total
    where = f"ρ = {rho}, m = {m}, R_m(H_1) = {R[0]}, R_m(H_2) = {R[1]}"
    yield Fact("Theorem 1", fine, ">", standard, "standard margin bound", where)


@settles("lower-layers", {"wide": 0.1}, {"narrow": 10.0})
def lower_layers(wide: float = 1.0, narrow: float = 0.1) -> Facts:
    """R_S(H_2) against R_S(H_1): larger for Λ n^(1/q) = 4, smaller for 0.4, and at Λ n^(1/q) = 1 either may win."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(6, 2))

    def values(Lambda: float, n_1: int, p: float) -> tuple[float, float]:
        spec = NetworkSpec.layered((2, n_1, 1), [1.0, Lambda], p)
        return linear_complexity(X, spec).mean, hidden_complexity(X, spec).mean

    R_1, R_2 = values(wide, 4, math.inf)
    yield Fact("R_S(H_2)", R_2, ">", R_1, "R_S(H_1)", f"Λ n_1^(1/q) = {4 * wide:g}")
    R_1, R_2 = values(narrow, 4, math.inf)
    yield Fact("R_S(H_2)", R_2, "<", R_1, "R_S(H_1)", f"Λ n_1^(1/q) = {4 * narrow:g}")
    R_1, R_2 = values(1.0, 1, 1.0)
    yield Fact("R_S(H_2)", R_2, "<", R_1, "R_S(H_1)", "Λ n_1^(1/q) = 1: above layer 1 it takes 2")


@settles("architecture-fixed", {"fixed": True})
def architecture_fixed(fixed: bool = False, m: int = 20_000) -> Facts:
    """H_1 = H_2 = {f, -f, 0} for f = y on S and -y off S, |f| = 1, X of 2m points: a family declared after the fact."""
    size, rng = 2 * m, np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], size=size)
    S = rng.integers(size, size=m)
    f = -y
    f[S] = y[S]
    if fixed:
        f = np.ones(size)
    error, risk = float(np.mean(y[S] * f[S] <= 0.5)), float(np.mean(y * f <= 0))
    R = mean_absolute_sign_sum(m)
    bound = theorem_1(error, [1.0, 0.0], [R, R], rho=0.5, m=m, delta=DELTA, M=[1.0, 1.0])
    yield Fact("R(f)", risk, ">", bound.total, "Theorem 1", f"ρ = 1/2, m = {m}, R_m = {R:.4f}")


@settles("theorem-1-networks", {"depth": 3072, "m": 48}, thorough={"trials": 200})
def theorem_1_networks(depth: int = 3, m: int = 9600, trials: int = 20) -> Facts:
    """Open. Whatever the range, the printed bound can fail by at most the `price` of margin-bound-unbounded, η = 1.

    And a search: linear units of heavy-tailed features, the unit that is best on the sample.
    """
    w = [1 / depth] * depth
    yield Fact("Theorem 1 can fail by at most", price(w, m, eta=1.0), "<=", 0.03, where=f"l = {depth}, m = {m}, any M")
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(trials):
        worst = max(worst, _heavy_tailed_ratio(rng))
    yield Fact(
        "largest R(f)/Theorem 1 found", worst, "<", 1.0, where=f"{trials} heavy-tailed samples, l = 2: no failure"
    )


def _heavy_tailed_ratio(rng: np.random.Generator, size: int = 64, n_0: int = 8, m: int = 32) -> float:
    """The largest R(f)/bound over f = ±x_j and all ρ; H_1 = {u·x, ||u||_1 <= 1}, w_2 = 0, y random, x Cauchy."""
    X, y = rng.standard_cauchy(size=(size, n_0)), rng.choice([-1.0, 1.0], size=size)
    S = rng.integers(size, size=m)
    signs = rng.choice([-1.0, 1.0], size=(64, m))
    R = float(np.mean([np.abs(s @ X[rng.integers(size, size=m)]).max() for s in signs])) / m
    best = 0.0
    for j in range(n_0):
        for f in (X[:, j], -X[:, j]):
            u = y[S] * f[S]
            for rho in np.unique(np.abs(u)):
                bound = theorem_1(
                    float(np.mean(u <= rho)), [1.0, 0.0], [R, R], rho=rho, m=m, delta=DELTA, literally=True
                )
                best = max(best, float(np.mean(y * f <= 0)) / bound.total)
    return best
