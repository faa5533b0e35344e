"""Double entry of the certificates: the numeric forms against sums over all counts in balls, on random small inputs."""

import math

import numpy as np
import pytest

from adanet_theory.certificates import stochastic, vote
from adanet_theory.certificates.kl import xi
from adanet_theory.certificates.vote_multiclass import classes_b, counts_kl, vote_certificate_multiclass_at
from adanet_theory.risk import posterior
from adanet_theory.twins import certified
from adanet_theory.twins.certificate_twins import CERTIFICATES


def twin(id: str, **values: object) -> float:
    ball = certified.evaluate(CERTIFICATES[id], values)
    assert ball.rel_accuracy_bits() > 50
    return float(ball.mid())


@pytest.mark.parametrize("m", [1, 2, 9, 60])
def test_xi(m: int) -> None:
    assert xi(m) == pytest.approx(twin("xi", m=m), rel=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_vote(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, N = int(rng.integers(1, 6)), int(rng.choice([10, 20, 40]))
    k, beta = int(rng.integers(0, N)), float(rng.choice([0.001, 0.03, 0.3]))
    u, theta = rng.uniform(-1, 1, m), rng.dirichlet(np.ones(3))
    u[0] = rng.choice([-1.0, 0.0, 1.0])
    n_0, J = 4, len(theta)
    values = {
        "m": m,
        "N": N,
        "threshold": k,
        "u": u.tolist(),
        "theta": theta.tolist(),
        "n": [n_0],
        "J": J,
        "beta": beta,
    }
    assert vote.vote_empirical(u, N, k) == pytest.approx(twin("vote-empirical", **values), rel=1e-12)
    assert vote.vote_b(N, k) == pytest.approx(twin("vote-b", **values), rel=1e-12)
    shift = float(rng.uniform(0, 1))
    assert vote.vote_b(N, k, shift) == pytest.approx(twin("vote-b-program", shift=shift, **values), rel=1e-11)
    assert vote.vote_kl_iid(theta, N, n=8) == pytest.approx(twin("vote-kl-iid", **values), rel=1e-12)
    KL = vote.vote_kl_polya(theta, N, n=8, beta=beta)
    assert pytest.approx(twin("vote-kl-polya", **values), rel=1e-11) == KL
    G = 25 * (N + 1) * 7
    value = vote.vote_certificate_at(u, theta, n=8, N=N, k=k, beta=beta, delta=0.1)
    assert value.raw == pytest.approx(twin("vote-certificate", **values, grid=G, delta=0.1), rel=1e-11)
    parts = {"empirical": value.terms["empirical"], "KL": value.terms["KL"], "b_Q": value.terms["b"]}
    assert value.raw == pytest.approx(twin("derandomised", m=m, grid=G, delta=0.1, **parts), rel=1e-11)


@pytest.mark.parametrize("beta", [0.001, 0.1])
def test_counts_kl(beta: float) -> None:
    rates = [0.2, 3.0, 11.0]
    expected = twin("counts-kl", r=rates, J=3, A=20, N=14, beta=beta, T=80)
    assert counts_kl(rates, A=20, N=14, beta=beta) == pytest.approx(expected, rel=1e-11)


def test_vote_multiclass() -> None:
    theta, p = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.4, 0.5, 0.1])
    scores, y = np.array([[0.3, -0.2, 0.05], [-0.1, 0.4, 0.0], [0.1, 0.1, 0.1]]), np.array([0, 1, 2])
    value = vote_certificate_multiclass_at(scores, y, theta, p, A=24, N=10, k=2, beta=0.1, delta=0.1)
    values = {"r": (10 * theta).tolist(), "J": 4, "A": 24, "N": 10, "beta": 0.1, "p_2": 0.9, "threshold": 2}
    parts = {"empirical": value.terms["empirical"], "grid": math.exp(value.terms["grid"])}
    expected = twin("vote-certificate-multiclass", m=3, T=40, delta=0.1, **values, **parts)
    assert value.raw == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("shared", [True, False])
def test_stochastic(shared: bool) -> None:
    w, s, w_0, s_0 = [0.5, -1.0], [0.3, 2.0], [0.25, -0.5], [1.0, 0.7]
    values = {"w_gauss": w, "sigma": s, "w_prior": w_0, "sigma_prior": s_0, "J": 2}
    KL = stochastic.gaussian_kl(w, s, w_0, s_0)
    assert pytest.approx(twin("stochastic-kl", **values), rel=1e-12) == KL
    numbers = {"KL": KL, "m": 40, "delta": 0.05, "tried": 3}
    value = stochastic.stochastic_certificate(0.1, draws=9, shared=shared, grid=math.log(4), **numbers)
    expected = twin("stochastic-certificate", error=0.1, draws=9 if shared else 360, grid=4, **numbers)
    assert value.raw == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("k", [0, 4, 30])
def test_multiclass_b(k: int) -> None:
    expected = twin("multiclass-b", nu=80, p_2=0.75, threshold=k)
    assert classes_b([0.5, 0.25, 0.2, 0.05], 80, k) == pytest.approx(expected, rel=1e-12)
    for shift in (1e-3, 0.1):
        expected = twin("multiclass-b-program", nu=80, p_2=0.75, threshold=k, shift=shift)
        assert classes_b([0.5, 0.25, 0.2, 0.05], 80, k, shift) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("d", [0, 1, 5])
def test_a_posteriori_from_data(d: int) -> None:
    value = posterior.a_posteriori_data_at(7, 0.1, 1.0, d=d, E_Z=42.0, r_rms=0.6, m=900, delta=0.05)
    values = {"j": 7, "ramp": 0.1, "d": d, "E_Z": 42, "r_rms": 0.6, "m": 900, "delta": 0.05, "eta": 0.05, "c": 1.5}
    balls = certified.enclosures(CERTIFICATES["a-posteriori-data"], values | {"B": 1})
    for name, term in value.terms.items():
        assert term == pytest.approx(float(balls[name].mid()), rel=1e-12)
    gaussian = posterior.a_posteriori_at(7, 0.1, 1.0, d=d, n_0=10**6, r_rms=0.6, m=900, delta=0.05)
    assert d > 0 or value.total < gaussian.total  # 42 is far below what n_0 = 10^6 features of that size could be
    assert value.terms["confidence"] == gaussian.terms["confidence"]


def test_a_changed_constant_shows() -> None:
    """Halving what the KL reads, or dropping the prior's normalisation, is far outside the tolerance."""
    values = {"N": 10, "theta": [0.5, 0.5], "n": [4], "J": 2, "beta": 0.03}
    right = vote.vote_kl_polya([0.5, 0.5], 10, n=8, beta=0.03)
    assert not math.isclose(twin("vote-kl-polya", **values | {"n": [2]}), right, rel_tol=1e-3)
    assert not math.isclose(twin("vote-kl-polya", **values | {"N": 5}), right, rel_tol=1e-3)


@pytest.mark.parametrize("id", sorted(CERTIFICATES))
def test_a_certificate_prints_in_latex(id: str) -> None:
    text = CERTIFICATES[id].latex()
    assert text.startswith(r"\begin{align*}")
    for name in ("KLInverse", "empiri", "grid", "threshold", "loggamma", "substack"):
        assert name not in text
