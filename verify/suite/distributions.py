"""Small finite distributions on which R(f) and R_m(H_k) are exact, and what each bound says about a sample from them.

f is chosen after seeing the sample. The property suite counts how often a bound fails, a figure shows it against δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from adanet_theory.checks import Array
from adanet_theory.complexity.estimates import sampled_linear_complexity
from adanet_theory.complexity.rademacher import ranges
from adanet_theory.risk.generalization import (
    margin_bound,
    margin_bound_empirical,
    margin_bound_uniform,
    objective_bound,
    theorem_1_range,
)
from adanet_theory.risk.margin import MarginBound, margin_error, ramp_loss
from adanet_theory.risk.posterior import a_posteriori, a_posteriori_bounded
from adanet_theory.risk.unbounded import margin_bound_unbounded, unbounded_empirical
from adanet_theory.spec import NetworkSpec
from adanet_train.core.surrogates import surrogate
from adanet_train.search import objective

DELTA = 0.2


@dataclass(frozen=True)
class DrawnCase:
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


def noise(trials: int, m: int = 400, features: int = 30) -> Iterator[DrawnCase]:
    """Ψ uniform on {±1}^n_0, y independent of it: R(f) = 1/2 for f = ±Ψ_j, and the best ±Ψ_j on the sample is taken."""
    rng = np.random.default_rng(1)
    R = largest_of(features, m)
    for _ in range(trials):
        Psi, y = rng.choice([1.0, -1.0], size=(m, features)), rng.choice([1.0, -1.0], size=m)
        agreement = y @ Psi
        j = int(np.abs(agreement).argmax())
        margins = math.copysign(1.0, agreement[j]) * y * Psi[:, j]
        # w_2 = 0, so what stands for R_m(H_2) does not count
        yield DrawnCase(margins, 0.5, 0.99, (1.0, 0.0), (R, R), (1.0, 1.0), Psi, rng)


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


def atoms(trials: int, m: int = 200, p: float = 2.0) -> Iterator[DrawnCase]:
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
        yield DrawnCase(y * f[x], risk, 0.69, w, tuple(R), tuple(M), values[x][:, None], rng)


# The statements on a case


def _theorem_1_range(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    """theorem-1-range, which is Theorem 1 itself where M = 1."""
    error = margin_error(case.margins, case.rho)
    return theorem_1_range(error, case.w, case.R_m, rho=case.rho, m=case.m, delta=delta, M=max(case.M))


def _margin_bound(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    ramp = ramp_loss(case.margins, case.rho)
    return margin_bound(ramp, case.w, case.R_m, rho=case.rho, m=case.m, delta=delta, M=max(case.M))


def _unbounded(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    ramp = ramp_loss(case.margins, case.rho)
    return margin_bound_unbounded(ramp, case.w, case.R_m, rho=case.rho, m=case.m, delta=delta)


def _sampled(case: DrawnCase, delta: float) -> tuple[float, float]:
    """R_S(H_1) from drawn signs, at δ/4; R_S(H_2) <= (3/2) (M_2/M_1) R_S(H_1), lemma-1-corrected."""
    spec = NetworkSpec.layered((case.Psi.shape[1], 1), case.M[0], p=1)
    first = sampled_linear_complexity(case.Psi, spec, draws=64, rng=case.rng, confidence=1 - delta / 2).upper
    return first, 1.5 * case.M[1] / case.M[0] * first


def _empirical(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    ramp, R_S = ramp_loss(case.margins, case.rho), _sampled(case, delta)
    return margin_bound_empirical(ramp, case.w, R_S, rho=case.rho, m=case.m, delta=delta, M=case.M)


def _unbounded_empirical(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    ramp, R_S = ramp_loss(case.margins, case.rho), _sampled(case, delta)
    return unbounded_empirical(ramp, case.w, R_S, rho=case.rho, m=case.m, delta=delta)


def _uniform(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    return margin_bound_uniform(case.margins, case.w, case.R_m, delta=delta, M=case.M)


def _objective(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    """At the multiple of f that makes it least, which may be chosen after the fact too."""

    def at(c: float) -> MarginBound:
        u = torch.from_numpy(c * case.margins)
        loss = objective.loss(surrogate("logistic"), torch.ones_like(u), u)
        w, rho = [c * w_k for w_k in case.w], surrogate("logistic").rho_max
        return objective_bound(loss, w, case.R_m, m=case.m, delta=delta, M=case.M, rho=rho)

    return min((at(c) for c in (0.25, 0.5, 1.0, 2.0, 4.0)), key=lambda bound: bound.total)


def _as_network(case: DrawnCase) -> tuple[int, float]:
    """d and B of f = c Ψ_j, without a hidden layer, or of f = c |x| = c relu(x) + c relu(-x), with one: two paths."""
    d = int(case.w[1] > 0)
    return d, float(np.abs(case.margins).max()) * (1 + d)


def _posterior(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    d, B = _as_network(case)
    r_rms = math.sqrt(float((case.Psi**2).mean(axis=0).max()))
    return a_posteriori(case.margins, B, d=d, n_0=case.Psi.shape[1], r_rms=r_rms, delta=delta)


def _posterior_bounded(case: DrawnCase, delta: float = DELTA) -> MarginBound:
    d, B = _as_network(case)
    return a_posteriori_bounded(case.margins, B, d=d, n_0=case.Psi.shape[1], r_sup=1.0, delta=delta)


STATEMENTS: Mapping[str, Callable[..., MarginBound]] = {
    "theorem-1-range": _theorem_1_range,
    "margin-bound": _margin_bound,
    "margin-bound-unbounded": _unbounded,
    "unbounded-empirical": _unbounded_empirical,
    "margin-bound-empirical": _empirical,
    "margin-bound-uniform": _uniform,
    "objective-bound": _objective,
    "a-posteriori": _posterior,
    "a-posteriori-bounded": _posterior_bounded,
}
DISTRIBUTIONS: Mapping[str, Callable[[int], Iterator[DrawnCase]]] = {"noise": noise, "atoms": atoms}
