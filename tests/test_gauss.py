"""gauss- and stochastic-certificate: laws by simulation, the draft that is false, the formula from its parts."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from adanet_theory.certificates.gauss import gauss_b, gauss_certificate, gauss_certificate_at, gauss_empirical, gauss_kl
from adanet_theory.certificates.grids import TAUS
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.certificates.stochastic import gaussian_kl, stochastic_certificate
from verify.claims.checks.certificates import draft_bound, one_hot_failure

PHI = NormalDist().cdf


def test_the_kl_is_the_integral() -> None:
    w, s = 0.7, 0.6
    q, p = NormalDist(w, s), NormalDist()
    grid = np.linspace(-6, 8, 20_001)
    integral = sum(q.pdf(x) * math.log(q.pdf(x) / p.pdf(x)) for x in grid) * (grid[1] - grid[0])
    assert gauss_kl([w], [s]) == pytest.approx(integral, rel=1e-6)
    assert gauss_kl([w, w], [s, s]) == pytest.approx(2 * gauss_kl([w], [s]))
    assert gaussian_kl([w], [s], [0.0], [1.0]) == pytest.approx(gauss_kl([w], [s]))
    assert gaussian_kl([1.0], [s], [1.0], [s]) == 0
    assert gaussian_kl([w], [s], [-0.2], [1.5]) == pytest.approx(gauss_kl([(w + 0.2) / 1.5], [s / 1.5]))


def test_the_loss_by_simulation_and_where_f_is_wrong_it_is_at_least_b() -> None:
    rng = np.random.default_rng(0)
    s, w = np.array([0.4, 1.2, 0.9]), np.array([1.0, -0.3, 0.2])
    phi = rng.normal(size=(6, 3))
    draws = w + s * rng.normal(size=(60_000, 3))
    norms, deviations = np.linalg.norm(phi, axis=1), np.sqrt(phi**2 @ s**2)
    for tau in (0.0, 0.75):
        for i in range(6):
            u = phi[i] @ w
            exact = gauss_empirical([u], [norms[i]], [deviations[i]], tau)
            assert np.mean(draws @ phi[i] <= tau * norms[i]) == pytest.approx(exact, abs=0.01)
            assert gauss_empirical([min(u, 0.0)], [norms[i]], [deviations[i]], tau) >= gauss_b(tau, 1.2) - 1e-15


def test_the_formula_from_its_parts() -> None:
    u, size, s = [0.5, 2.0, -0.1, 1.0], [1.0, 2.0, 0.5, 0.0], [0.5, 1.5, 0.4, 0.0]
    found = gauss_certificate_at(u, size, s, KL=0.3, s_max=0.9, tau=0.5, delta=0.1)
    q = (PHI((0.5 - 0.5) / 0.5) + PHI((1 - 2) / 1.5) + PHI((0.25 + 0.1) / 0.4) + 1) / 4
    exponent = (0.3 + math.log(xi(4) * 13 / 0.1)) / 4
    assert found.raw == pytest.approx(kl_inverse(q, exponent) / PHI(0.5 / 0.9), rel=1e-12)
    assert (found.id, found.terms["tau"]) == ("gauss-certificate", 0.5)
    with pytest.raises(ValueError, match=r"^tau must be on the grid 0\.0 \.\. 3\.0, got tau=0\.3\.$"):
        gauss_certificate_at(u, size, s, KL=0.3, s_max=0.9, tau=0.3, delta=0.1)


def test_the_search_is_near_the_best_scale() -> None:
    rng = np.random.default_rng(1)
    u, norms = rng.normal(0.3, 0.1, 900), rng.uniform(0.8, 1.2, 900)
    u[:3] = norms[:3] = 0.0  # no feature: an error whatever is drawn
    found = gauss_certificate(u, norms, 0.7, delta=0.05)
    a, tau = math.sqrt(2 * found.terms["KL"]), found.terms["tau"]
    assert found.terms["empirical"] == pytest.approx(gauss_empirical(u * a / 0.7, norms, norms, tau), rel=1e-9)
    assert found.terms["b"] == gauss_b(tau)
    least = min(
        gauss_certificate_at(u * a / 0.7, norms, norms, KL=a**2 / 2, s_max=1.0, tau=tau, delta=0.05).raw
        for tau in TAUS
        for a in np.geomspace(2, 20, 24)
    )
    assert found.raw <= least * 1.01


@pytest.mark.claim("gauss-draft")
def test_the_draft_with_the_threshold_tau_s_fails_every_time() -> None:
    bounds, risks = zip(*(one_hot_failure(n=10_000, m=50, seed=seed) for seed in range(20)), strict=True)
    assert max(bounds) == pytest.approx(0.839, abs=2e-3)
    assert min(risks) >= 0.994
    sound, _ = one_hot_failure(n=10_000, m=50, seed=0, bound=None)
    assert sound >= 1
    assert draft_bound(0.0, KL=1.0, tau=1.0, m=50, delta=0.05) < 1


def test_shared_draws_count_once() -> None:
    apart = stochastic_certificate(0.1, draws=50, shared=False, KL=1.0, m=400, delta=0.05)
    shared = stochastic_certificate(0.1, draws=50, shared=True, KL=1.0, m=400, delta=0.05)
    assert apart.terms["empirical"] == pytest.approx(kl_inverse(0.1, math.log(1 / 0.005) / 20_000))
    assert shared.terms["empirical"] == pytest.approx(kl_inverse(0.1, math.log(1 / 0.005) / 50))
    exponent = (1.0 + math.log(xi(400) / 0.045)) / 400
    assert apart.raw == pytest.approx(kl_inverse(apart.terms["empirical"], exponent))
    assert (apart.id, apart.terms["draws"], apart.terms["b"]) == ("stochastic-certificate", 50, 1.0)
    once = stochastic_certificate(0.1, draws=1, shared=True, KL=1.0, m=400, delta=0.05)
    assert once.terms["empirical"] == pytest.approx(kl_inverse(0.1, math.log(1 / 0.005)))
    tried = stochastic_certificate(0.1, draws=50, shared=False, KL=1.0, m=400, delta=0.05, tried=8)
    assert tried.raw > apart.raw


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"^s_j must be > 0\.$"):
        gauss_kl([1.0], [0.0])
    with pytest.raises(ValueError, match=r"^w must not be 0\.$"):
        gauss_certificate([0.1], [1.0], 0.0, delta=0.05)
    with pytest.raises(ValueError, match=r"^\|\|w\|\| must be finite and >= 0, got \|\|w\|\|=-1\.0\.$"):
        gauss_certificate([0.1], [1.0], -1.0, delta=0.05)
    for s, s_0 in ((1.0, 0.0), (0.0, 1.0)):
        with pytest.raises(ValueError, match=r"^s and s_0 must be > 0\.$"):
            gaussian_kl([1.0], [s], [0.0], [s_0])
    for draws, tried in ((0, 1), (1, 0)):
        line = rf"^draws and tried must be >= 1, got draws={draws}, tried={tried}\.$"
        with pytest.raises(ValueError, match=line):
            stochastic_certificate(0.1, draws=draws, tried=tried, shared=False, KL=1.0, m=4, delta=0.05)


def test_single_precision_is_read_in_double() -> None:
    numbers = np.array([0.1, 0.3, 0.7, 0.9], np.float32)
    w, s, w_0, s_0 = ([x] for x in numbers)
    exact = [[float(x)] for x in numbers]
    assert gaussian_kl(w, s, w_0, s_0) == gaussian_kl(*exact)
    assert gauss_kl(w, s) == gauss_kl(*exact[:2])
    double = numbers.astype(np.float64)
    assert gauss_certificate(numbers, numbers, 0.5, delta=0.05) == gauss_certificate(double, double, 0.5, delta=0.05)


@pytest.mark.parametrize("m", [1, 7, 13, 49])
def test_points_without_features_are_all_errors(m: int) -> None:
    assert gauss_certificate(np.zeros(m), np.zeros(m), 1.0, delta=0.05).terms["empirical"] == 1.0
