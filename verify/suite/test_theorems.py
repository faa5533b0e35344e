"""Bounds on the risk on small finite distributions, where R(f) and R_m(H_k) are exact: how often does each fail?

Each statement holds with probability 1 - δ over the sample, for every f at once. So samples are drawn, f is chosen
after seeing them, and the failures are counted: their frequency must not exceed δ, as a Clopper-Pearson interval
judges it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch

from adanet_theory.checks import Array
from adanet_theory.estimates import sampled_linear_complexity
from adanet_theory.generalization import (
    margin_bound,
    margin_bound_empirical,
    margin_bound_uniform,
    objective_bound,
    theorem_1_range,
)
from adanet_theory.margin import MarginBound, margin_error, ramp_loss
from adanet_theory.posterior import a_posteriori, a_posteriori_bounded, path_norm
from adanet_theory.rademacher import ranges
from adanet_theory.spec import NetworkSpec
from adanet_train import objective
from adanet_train.network import Network
from adanet_train.surrogates import surrogate
from verify.claims.checks.theorem_1 import deepboost_restated
from verify.claims.checks.unbounded import margin_bound_unbounded
from verify.network.checks import clopper_pearson_lower, clopper_pearson_upper
from verify.suite.profiles import scaled
from verify.suite.tightness import keep

DELTA = 0.2
JUDGED_AT = Fraction(1, 1000)  # the chance that a true statement is judged refuted


@dataclass(frozen=True)
class Case:
    """One sample and the function chosen after seeing it: y_i f(x_i), R(f), ||w_k||_1, R_m(H_k), M_k, and Ψ.

    rho is fixed beforehand; rng goes on to draw signs where a statement needs them.
    """

    margins: Array
    risk: float
    rho: float
    w: tuple[float, ...]
    R_m: tuple[float, ...]
    M: tuple[float, ...]
    Psi: Array
    rng: np.random.Generator

    @property
    def m(self) -> int:
        return len(self.margins)


# Noise: many features, no signal


@cache
def largest_of(features: int, m: int) -> float:
    """E max_j |B_j| / m for independent sums B_j of m signs: R_m(H_1) for p = 1, Λ = 1 and Ψ uniform on {±1}^n_0."""
    values = np.arange(m + 1)
    tail = np.array([math.comb(m, (m + v) // 2) / 2**m if (m + v) % 2 == 0 else 0.0 for v in values])
    absolute = np.where(values == 0, tail, 2 * tail)
    at_most = np.cumsum(absolute) ** features
    return float(np.sum(1 - at_most[:-1])) / m


def noise(trials: int, m: int = 400, features: int = 30) -> Iterator[Case]:
    """Ψ uniform on {±1}^n_0, y independent of it: R(f) = 1/2 for f = ±Ψ_j, and the best ±Ψ_j on the sample is taken."""
    rng = np.random.default_rng(1)
    R = largest_of(features, m)
    for _ in range(trials):
        Psi, y = rng.choice([1.0, -1.0], size=(m, features)), rng.choice([1.0, -1.0], size=m)
        agreement = y @ Psi
        j = int(np.abs(agreement).argmax())
        margins = math.copysign(1.0, agreement[j]) * y * Psi[:, j]
        # w_2 = 0, so what stands for R_m(H_2) does not count
        yield Case(margins, 0.5, 0.99, (1.0, 0.0), (R, R), (1.0, 1.0), Psi, rng)


# Atoms: one feature in {-1, 0, 1}, two layers


@cache
def line_complexities(m: int, left: float, right: float) -> tuple[float, float]:
    """E|A - B|/m and E max(|A|, |B|)/m: each point adds a sign to A (x = 1) or to B (x = -1), or nothing (x = 0).

    R_m(H_1) = Λ_{1,0} times the first; R_m(H_2) = Λ_{2,1} n_1^(1/q) Λ_{1,0} times the second, for ReLU.
    """
    size = 2 * m + 1
    step = np.zeros((size, size))
    step[1, 0] = step[-1, 0] = right / 2
    step[0, 1] = step[0, -1] = left / 2
    step[0, 0] = 1 - left - right
    law = np.fft.ifft2(np.fft.fft2(step) ** m).real
    signed = np.where(np.arange(size) <= m, np.arange(size), np.arange(size) - size)
    A, B = np.meshgrid(signed, signed, indexing="ij")
    mean = [float(np.sum(law * value)) / m for value in (np.abs(A - B), np.maximum(np.abs(A), np.abs(B)))]
    return mean[0], mean[1]


def atoms(trials: int, m: int = 200, p: float = 2.0) -> Iterator[Case]:
    """P(x = -1, 0, 1) = (.3, .05, .65), P(y = 1 | x) = (.45, .5, .55); f is the sign pattern that looks best.

    ±x is in H_1; ±M_2 (x_+ + (-x)_+)/2 is the mean of two units of H_2. At x = 0 every f is 0, an error whatever y.
    """
    rng = np.random.default_rng(2)
    values, law, plus = np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.05, 0.65]), np.array([0.45, 0.5, 0.55])
    spec = NetworkSpec.layered((1, 3, 2), [1.0, 0.8], p)
    M = ranges(spec, r_sup=1.0)
    R = [M_k * value for M_k, value in zip(M, line_complexities(m, law[0], law[2]), strict=True)]
    functions = [
        (k, sign * M[k - 1] * shape) for k, shape in ((1, values), (2, np.abs(values) / 2)) for sign in (1, -1)
    ]
    for _ in range(trials):
        x = rng.choice(3, size=m, p=law)
        y = np.where(rng.random(m) < plus[x], 1.0, -1.0)
        k, f = max(functions, key=lambda function: float(np.mean(y * function[1][x] > 0)))
        risk = float(law @ np.where(f > 0, 1 - plus, np.where(f < 0, plus, 1.0)))
        w = tuple(float(s == k) for s in (1, 2))
        yield Case(y * f[x], risk, 0.69, w, tuple(R), tuple(M), values[x][:, None], rng)


# The statements on a case


def _theorem_1_range(case: Case, delta: float = DELTA) -> MarginBound:
    """theorem-1-range, which is Theorem 1 itself where M = 1."""
    error = margin_error(case.margins, case.rho)
    return theorem_1_range(error, case.w, case.R_m, rho=case.rho, m=case.m, delta=delta, M=max(case.M))


def _margin_bound(case: Case, delta: float = DELTA) -> MarginBound:
    ramp = ramp_loss(case.margins, case.rho)
    return margin_bound(ramp, case.w, case.R_m, rho=case.rho, m=case.m, delta=delta, M=max(case.M))


def _unbounded(case: Case, delta: float = DELTA) -> MarginBound:
    ramp = ramp_loss(case.margins, case.rho)
    return margin_bound_unbounded(ramp, case.w, case.R_m, rho=case.rho, m=case.m, delta=delta)


def _empirical(case: Case, delta: float = DELTA) -> MarginBound:
    """R_S(H_1) from drawn signs, at δ/4; R_S(H_2) <= (3/2) (M_2/M_1) R_S(H_1), lemma-1-corrected."""
    spec = NetworkSpec.layered((case.Psi.shape[1], 1), case.M[0], p=1)
    first = sampled_linear_complexity(case.Psi, spec, draws=64, rng=case.rng, confidence=1 - delta / 2).upper
    R_S = (first, 1.5 * case.M[1] / case.M[0] * first)
    ramp = ramp_loss(case.margins, case.rho)
    return margin_bound_empirical(ramp, case.w, R_S, rho=case.rho, m=case.m, delta=delta, M=case.M)


def _uniform(case: Case, delta: float = DELTA) -> MarginBound:
    return margin_bound_uniform(case.margins, case.w, case.R_m, delta=delta, M=case.M)


def _objective(case: Case, delta: float = DELTA) -> MarginBound:
    """At the multiple of f that makes it least, which may be chosen after the fact too."""

    def at(c: float) -> MarginBound:
        u = torch.from_numpy(c * case.margins)
        loss = objective.loss(surrogate("logistic"), torch.ones_like(u), u)
        w, rho = [c * w_k for w_k in case.w], surrogate("logistic").rho_max
        return objective_bound(loss, w, case.R_m, m=case.m, delta=delta, M=case.M, rho=rho)

    return min((at(c) for c in (0.25, 0.5, 1.0, 2.0, 4.0)), key=lambda bound: bound.total)


def _as_network(case: Case) -> tuple[int, float]:
    """d and B of f = c Ψ_j, without a hidden layer, or of f = c |x| = c relu(x) + c relu(-x), with one: two paths."""
    d = int(case.w[1] > 0)
    return d, float(np.abs(case.margins).max()) * (1 + d)


def _posterior(case: Case, delta: float = DELTA) -> MarginBound:
    d, B = _as_network(case)
    r_rms = math.sqrt(float((case.Psi**2).mean(axis=0).max()))
    return a_posteriori(case.margins, B, d=d, n_0=case.Psi.shape[1], r_rms=r_rms, delta=delta)


def _posterior_bounded(case: Case, delta: float = DELTA) -> MarginBound:
    d, B = _as_network(case)
    return a_posteriori_bounded(case.margins, B, d=d, n_0=case.Psi.shape[1], r_sup=1.0, delta=delta)


STATEMENTS: Mapping[str, Callable[..., MarginBound]] = {
    "theorem-1-range": _theorem_1_range,
    "margin-bound": _margin_bound,
    "margin-bound-unbounded": _unbounded,
    "margin-bound-empirical": _empirical,
    "margin-bound-uniform": _uniform,
    "objective-bound": _objective,
    "a-posteriori": _posterior,
    "a-posteriori-bounded": _posterior_bounded,
}
DISTRIBUTIONS: Mapping[str, Callable[[int], Iterator[Case]]] = {"noise": noise, "atoms": atoms}


def failures(cases: Iterator[Case], bound: Callable[[Case], float], name: str = "") -> tuple[int, int]:
    """(samples on which R(f) exceeds the bound, samples); the largest R(f)/bound is kept under the name."""
    failed = tried = 0
    for case in cases:
        value = bound(case)
        failed, tried = failed + (case.risk > value), tried + 1
        if name:
            keep(name, case.risk / value, f"m = {case.m}, R(f) = {case.risk:.3f}, δ = {DELTA}")
    return failed, tried


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_bound_fails_no_more_often_than_it_may(statement: str, distribution: str) -> None:
    cases = DISTRIBUTIONS[distribution](scaled(100, 4000))
    name = f"{statement}, {distribution}"
    failed, tried = failures(cases, lambda case: STATEMENTS[statement](case).total, name)
    assert clopper_pearson_upper(failed, tried, JUDGED_AT) <= DELTA, f"{failed} of {tried} samples"


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_empirical_error_alone_fails_more_often(distribution: str) -> None:
    """Otherwise the distribution would refute nothing."""
    cases = DISTRIBUTIONS[distribution](100)
    failed, tried = failures(cases, lambda case: float(np.mean(case.margins <= 0)))
    assert clopper_pearson_lower(failed, tried, JUDGED_AT) > DELTA, f"{failed} of {tried} samples"


@pytest.mark.claim("margin-bound")
def test_noise_needs_the_terms_that_pay_for_the_choice() -> None:
    """The ramp and the confidence term of margin-bound alone fail on more than δ of the samples: 3000 features."""

    def stripped(case: Case) -> float:
        terms = _margin_bound(case).terms
        return math.fsum(term or 0.0 for name, term in terms.items() if name not in ("complexity", "depth"))

    failed, tried = failures(noise(40, m=400, features=3000), stripped)
    assert clopper_pearson_lower(failed, tried, JUDGED_AT) > DELTA, f"{failed} of {tried} samples"


# Exact values of R_m by brute force, so that the two laws above are not taken on trust


def test_the_complexities_of_the_distributions_by_enumeration() -> None:
    from itertools import product

    m, features = 4, 2
    signs = np.array(list(product([1.0, -1.0], repeat=m)))
    brute = np.mean([max(abs(a.sum()), abs(b.sum())) for a in signs for b in signs]) / m
    assert largest_of(features, m) == pytest.approx(brute, rel=1e-12)
    left, right = 0.3, 0.65
    law = {-1: left, 0: 1 - left - right, 1: right}
    means = np.zeros(2)
    for x in product(law, repeat=3):
        weight = math.prod(law[value] for value in x)
        for sigma in product([1, -1], repeat=3):
            A = sum(s for s, value in zip(sigma, x, strict=True) if value == 1)
            B = sum(s for s, value in zip(sigma, x, strict=True) if value == -1)
            means += weight / 8 * np.array([abs(A - B), max(abs(A), abs(B))]) / 3
    assert line_complexities(3, left, right) == pytest.approx(tuple(means), rel=1e-12)


# The range counterexample


@pytest.mark.claim("deepboost-restated")
@pytest.mark.parametrize("size", [{}, {"blocks": 64, "width": 10}])
def test_the_restated_theorem_fails_on_every_sample(size: dict[str, int]) -> None:
    """200 of 200: R(f) >= 1/2 whatever the sample, and a bound below it."""
    facts = list(deepboost_restated(trials=200, **size))
    assert [str(fact) for fact in facts if not fact.holds] == []
    assert facts[1].left == 200


# After the fact: networks chosen on the sample


def _fitted(Psi: Array, y: Array, widths: tuple[int, ...], rng: np.random.Generator) -> Network:
    """Random ReLU features, each row of l1 norm 1, and an output layer fitted to the sample by least squares."""
    n = (Psi.shape[1], *widths, 1)
    hidden: dict[tuple[int, int], torch.Tensor] = {}
    h = Psi
    for k in range(1, len(n) - 1):
        U = rng.standard_normal((n[k], n[k - 1]))
        U /= np.abs(U).sum(axis=1, keepdims=True)
        hidden[k, k - 1] = torch.from_numpy(U)
        h = np.maximum(h @ U.T, 0)
    top = np.linalg.solve(h.T @ h + 0.1 * len(h) * np.eye(h.shape[1]), h.T @ y)
    depth = len(n) - 1
    hidden[depth, depth - 1] = torch.from_numpy(top[None])
    return Network(n, hidden, {depth: torch.ones(1, dtype=torch.float64)}, ("relu",) * (depth - 1))


@pytest.mark.claim("a-posteriori")
def test_a_posteriori_over_networks_chosen_on_the_sample() -> None:
    """128 atoms, labels that a line decides up to 10% noise; depth, widths and weights all chosen on the sample.

    Of many fitted networks that one is taken whose bound is least: the statement is about all of them at once.
    """
    rng, m = np.random.default_rng(4), 4000
    failed, trials, told = 0, scaled(40, 400), 0
    for _ in range(trials):
        atoms_of_X = rng.uniform(-1, 1, size=(128, 2))
        right = np.where(atoms_of_X @ [1.0, -0.5] > 0, 1.0, -1.0)
        S = rng.integers(128, size=m)
        y = np.where(rng.random(m) < 0.9, right[S], -right[S])
        best, risk = None, 1.0
        for widths in ((), (4,), (16,), (8, 8)):
            network = _fitted(atoms_of_X[S], y, widths, rng)
            f = network(torch.from_numpy(atoms_of_X)).numpy()
            hidden = {pair: U.numpy() for pair, U in network.hidden.items()}
            B = path_norm(hidden, {network.depth: np.ones(1)}, depth=network.depth)
            r_rms = math.sqrt(float((atoms_of_X[S] ** 2).mean(axis=0).max()))
            bound = a_posteriori(y * f[S], B, d=network.depth - 1, n_0=2, r_rms=r_rms, delta=DELTA)
            if best is None or bound.total < best.total:
                best = bound
                risk = float(np.mean(np.where(right * f > 0, 0.1, np.where(f == 0, 1.0, 0.9))))
        assert best is not None
        failed, told = failed + (risk > best.total), told + (not best.is_vacuous)
        keep("a-posteriori, chosen networks", risk / best.value, f"m = {m}, bound {best.value:.3f}, R(f) = {risk:.3f}")
    assert told == trials, "vacuous bounds show nothing"
    assert clopper_pearson_upper(failed, trials, JUDGED_AT) <= DELTA
