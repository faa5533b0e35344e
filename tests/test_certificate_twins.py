"""Double entry of the certificates: the numeric forms against sums over all counts in balls, on random small inputs."""

import math

import numpy as np
import pytest

from adanet_theory import disagreement_certificate, occam_certificate, pick_certificate
from adanet_theory.certificates import gauss, path, stochastic, vote
from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.grids import path_classes_grid, path_thresholds
from adanet_theory.certificates.kl import xi
from adanet_theory.certificates.path_multiclass import atoms, path_certificate_multiclass_at, path_classes_eps
from adanet_theory.certificates.tree import Tree, one_layer, unrolled_classes
from adanet_theory.certificates.vote_multiclass import classes_b, vote_certificate_multiclass_at
from adanet_theory.risk import posterior
from adanet_theory.twins import certified
from adanet_theory.twins.certificates import CERTIFICATES


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
    assert vote.vote_kl_iid(theta, N, n=8) == pytest.approx(twin("vote-kl-iid", **values), rel=1e-12)
    KL = vote.vote_kl_polya(theta, N, n=8, beta=beta)
    assert pytest.approx(twin("vote-kl-polya", **values), rel=1e-11) == KL
    G = 25 * (N + 1) * 7
    found = vote.vote_certificate_at(u, theta, n=8, N=N, k=k, beta=beta, delta=0.1)
    assert found.raw == pytest.approx(twin("vote-certificate", **values, grid=G, delta=0.1), rel=1e-11)
    parts = {"empirical": found.terms["empirical"], "KL": found.terms["KL"], "b_Q": found.terms["b"]}
    assert found.raw == pytest.approx(twin("derandomised", m=m, grid=G, delta=0.1, **parts), rel=1e-11)


@pytest.mark.parametrize("beta", [0.001, 0.1])
def test_path_kl(beta: float) -> None:
    rates = [0.2, 3.0, 11.0]
    expected = twin("path-kl", r=rates, J=3, A=20, N=14, beta=beta, T=80)
    assert path.path_kl(rates, A=20, N=14, beta=beta) == pytest.approx(expected, rel=1e-11)


def test_path() -> None:
    rng = np.random.default_rng(5)
    tree = one_layer(np.array([0.3, 0.0]), np.array([1.0, -0.5]), np.array([[0.2, -0.4], [0.5, 0.1]]))
    x, y = rng.uniform(-1, 1, (6, 2)), rng.choice([-1.0, 1.0], 6)
    found = path.path_certificate_at(tree, x, y, N=10, k=path_thresholds(10)[3], beta=0.1, delta=0.1, seed=0, draws=50)
    theta = [share for share in np.abs(tree.q).ravel() if share > 0]
    values = {"r": [10 * share for share in theta], "J": len(theta), "A": 4 * len(tree.parent), "N": 10, "beta": 0.1}
    parts = {"empirical": found.terms["empirical"], "b_Q": found.terms["b"], "grid": math.exp(found.terms["grid"])}
    expected = twin("path-certificate", m=6, T=40, delta=0.1, **values, **parts)
    assert found.raw == pytest.approx(expected, rel=1e-10)


def test_vote_multiclass() -> None:
    theta, p = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.4, 0.5, 0.1])
    scores, y = np.array([[0.3, -0.2, 0.05], [-0.1, 0.4, 0.0], [0.1, 0.1, 0.1]]), np.array([0, 1, 2])
    found = vote_certificate_multiclass_at(scores, y, theta, p, A=24, N=10, k=2, beta=0.1, delta=0.1)
    values = {"r": (10 * theta).tolist(), "J": 4, "A": 24, "N": 10, "beta": 0.1, "p_2": 0.9, "threshold": 2}
    parts = {"empirical": found.terms["empirical"], "grid": math.exp(found.terms["grid"])}
    expected = twin("vote-certificate-multiclass", m=3, T=40, delta=0.1, **values, **parts)
    assert found.raw == pytest.approx(expected, rel=1e-10)


def least_tilt(**values: object) -> float:
    """The least Chernoff bound over a grid of tilts, and over one twenty times as fine about the best of it."""
    low, high = 0.0, 1.0
    for _ in range(2):
        tilts = np.linspace(low, high, 21).tolist()
        bounds = [twin("path-chernoff", **values, tilt=tilt) for tilt in tilts]
        best = int(np.argmin(bounds))
        low, high = tilts[max(best - 1, 0)], tilts[min(best + 1, 20)]
    return min(bounds)


@pytest.mark.parametrize("k", [6, 20])
def test_path_chernoff(k: int) -> None:
    tree = Tree((-1, 0, 0, 0), (1, 1, 1, -1), np.array([[0.1], [0.3], [0.2], [0.4]]), B=1.0)
    values = {"nu": 40, "threshold": k, "T": 90}
    plus = least_tilt(**values, p_linear=0.5, p_plus=[0.3, 0.2], J=2)
    # for y = -1 the unit of sign -1 is the only one that keeps its positive part
    minus = least_tilt(**values, p_linear=0.6, p_plus=[0.4], J=1)
    assert path.path_eps_chernoff(tree, 40, k) == pytest.approx(max(plus, minus), rel=1e-3)  # the least of a grid


@pytest.mark.parametrize("shared", [True, False])
def test_stochastic(shared: bool) -> None:
    w, s, w_0, s_0 = [0.5, -1.0], [0.3, 2.0], [0.25, -0.5], [1.0, 0.7]
    values = {"w_gauss": w, "sigma": s, "w_prior": w_0, "sigma_prior": s_0, "J": 2}
    KL = stochastic.gaussian_kl(w, s, w_0, s_0)
    assert pytest.approx(twin("stochastic-kl", **values), rel=1e-12) == KL
    numbers = {"KL": KL, "m": 40, "delta": 0.05, "tried": 3}
    found = stochastic.stochastic_certificate(0.1, draws=9, shared=shared, grid=math.log(4), **numbers)
    expected = twin("stochastic-certificate", error=0.1, draws=9 if shared else 360, grid=4, **numbers)
    assert found.raw == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("k", [0, 4, 30])
def test_multiclass_b(k: int) -> None:
    expected = twin("multiclass-b", nu=80, p_2=0.75, threshold=k)
    assert classes_b([0.5, 0.25, 0.2, 0.05], 80, k) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("k", "sign"), [(0, 1), (5, -1)])
def test_path_multiclass_eps(k: int, sign: int) -> None:
    """Two classes with a unit of the same sign each: one adds to y, the other may be in J; the largest of the four."""
    p, q = (0.1, 0.35), (0.25, 0.3)
    forest = [Tree((-1, 0), (1, sign), np.diag([a, b]), B=1.0) for a, b in zip(p, q, strict=True)]
    sets = [(q[y], sum(p) + more) for y in (0, 1) for more in (0.0, q[1 - y])]
    values = [twin("path-multiclass-eps", nu=12, p_1=a, p_2=b, threshold=k, T=30) for a, b in sets]
    assert path_classes_eps(forest, 12.0, k) == pytest.approx(max(values), rel=1e-11)


@pytest.mark.parametrize("nodes", [(3,), (3, 4), (10, 2, 5)])
def test_path_multiclass_grid(nodes: tuple[int, ...]) -> None:
    expected = twin("path-multiclass-grid", d=len(nodes) - 1, h=dict(enumerate(nodes)))
    assert math.exp(path_classes_grid(nodes)) == pytest.approx(expected, rel=1e-12)


def test_path_certificate_multiclass() -> None:
    rng = np.random.default_rng(5)
    hidden = {(1, 0): rng.normal(size=(3, 2)), (2, 1): rng.normal(size=(1, 3))}
    outputs = [{1: np.array([1.0, 0.0, 0.0])}, {1: np.array([0.0, 1.0, 0.0])}, {2: np.ones(1)}]
    forest = unrolled_classes(hidden, outputs, depth=2)
    x = rng.uniform(-1, 1, (12, 2))
    y = np.argmax([tree.value(tree.means(x)) for tree in forest], axis=0)
    found = path_certificate_multiclass_at(forest, x, y, N=14, k=3, beta=0.1, delta=0.2, seed=0, draws=600)
    rates = (14 * atoms(forest)).tolist()
    KL = twin("path-kl", r=rates, J=len(rates), A=24, N=14, beta=0.1, T=80)
    values = {"KL": KL, "empirical": found.terms["empirical"], "eps_Q": path_classes_eps(forest, 14, 3)}
    expected = twin("path-certificate-multiclass", **values, m=12, delta=0.2, d=1, h={0: 3, 1: 3})
    assert found.raw == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("tau", [0.25, 2.0])
def test_gauss(tau: float) -> None:
    rng = np.random.default_rng(3)
    u, norms, s = rng.normal(size=5), rng.uniform(0.5, 2, 5), rng.uniform(0.2, 1, 5)
    w = rng.normal(size=3)
    KL = gauss.gauss_kl(w, s[:3])
    assert pytest.approx(twin("gauss-kl", w_gauss=w.tolist(), sigma=s.tolist(), J=3), rel=1e-12) == KL
    found = gauss.gauss_certificate_at(u, norms, s, KL=KL, s_max=0.9, tau=tau, delta=0.05)
    values = {"u": u.tolist(), "phi_norm": norms.tolist(), "sigma": s.tolist(), "m": 5, "KL": KL, "s_max": 0.9}
    expected = twin("gauss-certificate", **values, tau=tau, grid=13, delta=0.05)
    assert found.raw == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("errors", "m"), [(0, 9), (3, 40)])
def test_held_out(errors: int, m: int) -> None:
    risk = clopper_pearson(errors, m, 0.05)
    assert twin("held-out", m=m, threshold=errors, error=risk) == pytest.approx(0.05, rel=1e-10)


@pytest.mark.parametrize(("count", "points"), [(0, 9), (3, 40), (39, 40)])
def test_what_is_read_off_a_count(count: int, points: int) -> None:
    at = {"threshold": count, "N": points}
    picked = pick_certificate(count, points, 0.05)
    assert twin("pick-certificate", **at, error=picked) == pytest.approx(0.05, rel=1e-10)
    coded = occam_certificate(count, points, 7, 0.05)
    assert twin("occam-certificate", **at, bits=7, error=coded) == pytest.approx(0.05, rel=1e-10)
    if count < 39:
        differs = disagreement_certificate(0.0625, count, points, 0.05)
        assert twin("disagreement-certificate", **at, b_g=0.0625, error=differs) == pytest.approx(0.05, rel=1e-10)


@pytest.mark.parametrize("d", [0, 1, 5])
def test_a_posteriori_from_data(d: int) -> None:
    found = posterior.a_posteriori_data_at(7, 0.1, 1.0, d=d, E_Z=42.0, r_rms=0.6, m=900, delta=0.05)
    values = {"j": 7, "ramp": 0.1, "d": d, "E_Z": 42, "r_rms": 0.6, "m": 900, "delta": 0.05, "eta": 0.05, "c": 1.5}
    balls = certified.enclosures(CERTIFICATES["a-posteriori-data"], values | {"B": 1})
    for name, term in found.terms.items():
        assert term == pytest.approx(float(balls[name].mid()), rel=1e-12)
    gaussian = posterior.a_posteriori_at(7, 0.1, 1.0, d=d, n_0=10**6, r_rms=0.6, m=900, delta=0.05)
    assert d > 0 or found.total < gaussian.total  # 42 is far below what n_0 = 10^6 features of that size could be
    assert found.terms["confidence"] == gaussian.terms["confidence"]


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
    for name in ("KLInverse", "empiri", "grid", "threshold", "loggamma", "substack", "phi_norm"):
        assert name not in text
