"""Bounds on the risk on small finite distributions, where R(f) and R_m(H_k) are exact: how often does each fail?

Each statement holds with probability 1 - δ over the sample, for every f at once. So samples are drawn, f is chosen
after seeing them, and the failures are counted: their frequency must not exceed δ, as a Clopper-Pearson interval
judges it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
import torch

from adanet_theory.checks import Array
from adanet_theory.risk.posterior import a_posteriori, path_norm
from adanet_theory.twins.counted import clopper_pearson_lower, clopper_pearson_upper
from adanet_train.core.network import Network
from verify.claims.checks.theorem_1 import deepboost_restated
from verify.suite.distributions import DELTA, DISTRIBUTIONS, STATEMENTS, DrawnCase, largest_of, line_complexities, noise
from verify.suite.profiles import scaled
from verify.suite.tightness import keep

JUDGED_AT = Fraction(1, 1000)  # the chance that a true statement is judged refuted


def failures(cases: Iterator[DrawnCase], bound: Callable[[DrawnCase], float], name: str = "") -> tuple[int, int]:
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

    def stripped(case: DrawnCase) -> float:
        terms = STATEMENTS["margin-bound"](case).terms
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
    failed, trials, said = 0, scaled(40, 400), 0
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
        failed, said = failed + (risk > best.total), said + (not best.is_vacuous)
        keep("a-posteriori, chosen networks", risk / best.value, f"m = {m}, bound {best.value:.3f}, R(f) = {risk:.3f}")
    assert said == trials, "vacuous bounds show nothing"
    assert clopper_pearson_upper(failed, trials, JUDGED_AT) <= DELTA
