"""The bounds where they are nearly attained: a bound with a constant halved is refuted there, not only unlike its twin.

What is not approached is checked by the twin and the references alone (`test_constants`): the 4/rho of Theorem 1,
theorem-1-range and Corollary 1 (margin-bound proves 2/rho), the depth terms (deviations of few suprema, a quarter of
2 M sqrt(2 log l/m) at most), the second half of the confidence of a-posteriori and the empirical forms (it pays for
R_S in the place of R_m), and the last half of the complexity of a-posteriori (see `verify.claims.checks.extremal`).
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from adanet_theory.complexity.estimates import linear_complexity
from adanet_theory.complexity.rademacher import mean_absolute_sign_sum
from adanet_theory.risk.generalization import (
    margin_bound,
    margin_bound_empirical,
    margin_bound_uniform_at,
    objective_bound,
)
from adanet_theory.risk.margin import MarginBound
from adanet_theory.risk.posterior import a_posteriori_at, a_posteriori_bounded_at
from adanet_theory.risk.unbounded import margin_bound_unbounded, unbounded_empirical
from adanet_theory.spec import NetworkSpec
from adanet_train.core.surrogates import surrogate
from verify.claims.checks.extremal import Memorised, Rare, coin_tail
from verify.suite.tightness import below

DELTA = 0.05
X = Memorised()


def memorised() -> dict[str, MarginBound]:
    """The bounds on the f that knows the sample by heart: the ramp at rho = 1 is 0, R(f) is 1/2."""
    fixed = {"rho": 1.0, "m": X.m, "delta": DELTA}
    bounds = [
        margin_bound(0.0, [1.0], [X.R_m], M=1.0, **fixed),  # type: ignore[arg-type]
        margin_bound_unbounded(0.0, [1.0], [X.R_m], **fixed),  # type: ignore[arg-type]
        margin_bound_empirical(0.0, [1.0], [X.R_S(X.m // 2)], M=[1.0], **fixed),  # type: ignore[arg-type]
        unbounded_empirical(0.0, [1.0], [X.R_S(X.m // 2)], **fixed),  # type: ignore[arg-type]
        margin_bound_uniform_at(0, 0.0, [1.0], [X.R_m], m=X.m, delta=DELTA, M=[1.0]),
        _objective(),
    ]
    return {bound.id: bound for bound in bounds}


def _objective() -> MarginBound:
    """At the multiple of f that makes it least; Φ is logistic."""
    Phi = surrogate("logistic")

    def at(c: float) -> MarginBound:
        import torch

        loss = float(Phi.value(torch.tensor(1.0 - c, dtype=torch.float64)))
        return objective_bound(loss, [c], [X.R_m], m=X.m, delta=DELTA, M=[1.0], rho=Phi.rho_max)

    return min((at(c) for c in np.linspace(1, 4, 13).tolist()), key=lambda bound: bound.total)


@pytest.mark.claim("margin-bound")
@pytest.mark.parametrize("id", memorised())
def test_what_is_known_by_heart_nearly_attains_the_bound(id: str) -> None:
    bound = memorised()[id]
    below(f"{id}, memorised", X.risk, bound.total, f"m = {X.m}, N = {X.N}")
    halved = {name: (term or 0.0) / (2 if name == "complexity" else 1) for name, term in bound.terms.items()}
    assert math.fsum(halved.values()) < X.risk, "with half its complexity term it would hold as well"


def coins() -> dict[str, MarginBound]:
    """One function fixed beforehand whose errors are coins, at a small δ: what each bound adds to its error."""
    m, delta, R = 400, 1e-30, mean_absolute_sign_sum(400)
    bounds = [
        margin_bound(0.0, [1.0], [R], rho=1.0, m=m, delta=delta, M=1.0),
        margin_bound_unbounded(0.0, [1.0], [R], rho=1.0, m=m, delta=delta),
        margin_bound_uniform_at(0, 0.0, [1.0], [R], m=m, delta=delta, M=[1.0]),
        a_posteriori_bounded_at(0, 0.0, 1.0, d=0, n_0=1, r_sup=1.0, m=m, delta=delta),
    ]
    return {bound.id: bound for bound in bounds}


@pytest.mark.claim("margin-bound")
@pytest.mark.parametrize("id", coins())
def test_coins_need_the_confidence_term(id: str) -> None:
    terms = {name: term or 0.0 for name, term in coins()[id].terms.items()}
    assert coin_tail(math.fsum(terms.values()), 400) <= 1e-30
    terms["confidence"] /= 2
    assert coin_tail(math.fsum(terms.values()), 400) > 1e-30, "with half its confidence term it would hold as well"


@pytest.mark.claim("a-posteriori")
@pytest.mark.parametrize("d", [0, 1, 2, 5])
def test_rare_features_come_near_a_posteriori(d: int) -> None:
    """.44 of all that is added to the ramp, at every depth: a quarter of it would be refuted, and so would .4."""
    x = Rare()
    bound = a_posteriori_at(0, x.ramp, 1.0, d=d, n_0=x.n_0, r_rms=x.r_rms, m=x.m, delta=DELTA)
    where = f"n_0 = 1e{x.digits}, m = {x.m}, d = {d}"
    below("a-posteriori, rare features", x.risk - x.ramp, bound.total - x.ramp, where)
    assert x.risk - x.ramp > 0.42 * (bound.total - x.ramp)
    x = Rare(q=0.5)
    bound = a_posteriori_bounded_at(0, x.ramp, 1.0, d=d, n_0=x.n_0, r_sup=1.0, m=x.m, delta=DELTA)
    below("a-posteriori-bounded, rare features", x.risk - x.ramp, bound.total - x.ramp, where)
    assert x.risk - x.ramp > 0.24 * (bound.total - x.ramp)


# The constructions themselves, by enumeration


def test_the_complexity_of_what_is_known_by_heart() -> None:
    """R_S(H_1) of samples of six points over four atoms, all signs enumerated; and R(f) by its definition."""
    rng, m, N = np.random.default_rng(0), 6, 4
    x = Memorised(m, N)
    for _ in range(20):
        hard = rng.random(m) < 0.5
        atom = rng.integers(N, size=m)
        Psi = np.column_stack([(atom[:, None] == np.arange(N)) & hard[:, None], np.ones(m), ~hard]).astype(float)
        spec = NetworkSpec.layered((N + 2, 1), 0.5, math.inf)
        assert linear_complexity(Psi, spec).mean <= x.R_S(int(hard.sum())) + 1e-12
        u = np.append(np.where(np.isin(np.arange(N), atom[hard]), 0.5, -0.5), [0.5, 0.5])
        assert (Psi @ u == 1).all()
        everything = np.vstack([np.column_stack([np.eye(N), np.ones(N), np.zeros(N)]), [[0.0] * N + [1.0, 1.0]]])
        law = np.append(np.full(N, 0.5 / N), 0.5)
        assert np.abs(everything @ u).max() <= 1
        assert float(law @ (everything @ u <= 0)) >= x.risk


def test_the_mean_complexity_of_what_is_known_by_heart() -> None:
    """R_m(H_1) over all samples of three points of two atoms and the easy one."""
    m, N = 3, 2
    rows = np.array([[1.0, 0, 1, 0], [0, 1.0, 1, 0], [0, 0, 1, 1.0]])
    law, spec = np.array([0.25, 0.25, 0.5]), NetworkSpec.layered((4, 1), 0.5, math.inf)
    mean = sum(
        float(np.prod(law[list(S)])) * linear_complexity(rows[list(S)], spec).mean for S in product(range(3), repeat=m)
    )
    assert mean <= Memorised(m, N).R_m


def test_the_counts_of_rare_features() -> None:
    """At sizes where the binomial tail is a float: `ones` is reached and `most` is not exceeded, as is claimed."""
    x = Rare(m=2000, q=0.1, digits=6)
    reached = -math.expm1(x.n_0 * math.log1p(-binom.sf(x.ones - 1, x.m, x.q)))
    assert reached >= 1 - 5e-5
    assert x.n_0 * binom.sf(x.most, x.m, x.q) <= 5e-5
    assert x.ones <= x.most


def test_the_tail_of_coins() -> None:
    assert coin_tail(0.1875, 16) == sum(math.comb(16, k) for k in range(5)) / 2**16  # K = 5 is a tie
    assert coin_tail(0.25, 10) == sum(math.comb(10, k) for k in range(3)) / 2**10
