"""vote-certificate against enumeration: the law of the votes, the KL of sequences, the failure frequency."""

import itertools
import math

import numpy as np
import pytest

from adanet_theory.certificates import vote
from adanet_theory.certificates.derandomise import Thresholds
from adanet_theory.certificates.grids import BETAS, PRIORS, VOTES, vote_grid
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.certificates.vote import (
    vote_b,
    vote_candidates,
    vote_certificate,
    vote_certificate_at,
    vote_empirical,
    vote_kl,
    vote_kl_iid,
    vote_kl_polya,
)


def urn(sequence: tuple[int, ...], n: int, beta: float) -> float:
    """Probability of a sequence of draws from a Polya urn, draw by draw."""
    counts, probability = [0] * n, 1.0
    for t, j in enumerate(sequence):
        probability *= (beta + counts[j]) / (n * beta + t)
        counts[j] += 1
    return probability


def enumerated_kl(theta: list[float], N: int, prior: object) -> float:
    n, terms = len(theta), []
    for sequence in itertools.product(range(n), repeat=N):
        q = math.prod(theta[j] for j in sequence)
        if q > 0:
            terms.append(q * math.log(q / prior(sequence)))  # type: ignore[operator]
    return math.fsum(terms)


@pytest.mark.parametrize("theta", [[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.9, 0.0, 0.1]])
@pytest.mark.parametrize("N", [1, 4, 7])
def test_both_kl_by_enumeration_of_sequences(theta: list[float], N: int) -> None:
    assert vote_kl_iid(theta, N, n=3) == pytest.approx(enumerated_kl(theta, N, lambda s: 3.0**-N), abs=1e-12)
    for beta in (0.001, 0.3, 2.0):
        expected = enumerated_kl(theta, N, lambda s, beta=beta: urn(s, 3, beta))
        assert vote_kl_polya(theta, N, n=3, beta=beta) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_many_voters_go_through_windows_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the tail form Σ_i log(β+i) P(c > i), with no window; chunks of a few voters."""
    from scipy.stats import binom

    monkeypatch.setattr(vote, "_CELLS", 5_000)
    theta = np.random.default_rng(1).dirichlet(np.full(300, 0.05))
    N, n, beta = 1280, 700, 0.01
    i = np.arange(N)
    rising = float(np.sum(np.log(beta + i)[:, None] * binom.sf(i[:, None], N, theta)))
    expected = N * float(np.sum(theta * np.log(theta))) + float(np.sum(np.log(n * beta + i))) - rising
    assert vote_kl(theta, N, n=n, beta=beta) == pytest.approx(expected, rel=1e-10)


def test_the_right_votes_are_binomial_by_simulation_of_thresholds() -> None:
    rng = np.random.default_rng(2)
    N, draws, Psi = 12, 40_000, np.array([0.6, -0.2, 0.9])
    theta, sign = np.array([0.5, 0.25, 0.25]), np.array([1, 1, -1])
    chosen = rng.choice(3, p=theta, size=(draws, N))
    votes = (sign[chosen] * Psi[chosen] > rng.uniform(-1, 1, (draws, N))).sum(axis=1)
    u = float(theta @ (sign * Psi))
    for k in range(N):
        assert np.mean(votes <= k) == pytest.approx(vote_empirical([u], N, k), abs=0.012)
        assert np.mean(N - votes <= k) == pytest.approx(vote_empirical([-u], N, k), abs=0.012)


def test_the_formula_at_a_setting_from_its_parts() -> None:
    u, theta = np.linspace(-0.1, 0.5, 200), [0.25] * 4
    value = vote_certificate_at(u, theta, n=20, N=160, k=95, beta=0.03, delta=0.1)
    exponent = (vote_kl_polya(theta, 160, n=20, beta=0.03) + math.log(xi(200) * 25 * 161 * 7 / 0.1)) / 200
    q = sum(
        sum(math.comb(160, c) * ((1 + x) / 2) ** c * ((1 - x) / 2) ** (160 - c) for c in range(96)) for x in u
    ) / len(u)
    b = sum(math.comb(160, c) for c in range(96)) / 2**160
    assert value.raw == pytest.approx(kl_inverse(q, exponent) / b, rel=1e-10)
    assert value.terms == pytest.approx(
        {"N": 160, "k": 95, "beta": 0.03, "empirical": q, "KL": value.terms["KL"], "grid": vote_grid(160), "b": b}
    )


def test_the_search_finds_the_least_of_the_whole_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """All k one by one, at the best prior of each N, on the first five N."""
    rng = np.random.default_rng(3)
    u, theta = np.clip(rng.normal(0.35, 0.15, 150), -1, 1), rng.dirichlet(np.ones(5))
    monkeypatch.setattr(vote, "VOTES", VOTES[:5])
    value = vote_certificate(u, theta, n=40, delta=0.05)
    prior = {N: min(PRIORS, key=lambda beta, N=N: vote_kl(theta, N, n=40, beta=beta)) for N in VOTES[:5]}
    least = min(
        vote_certificate_at(u, theta, n=40, N=N, k=k, beta=prior[N], delta=0.05).raw
        for N in VOTES[:5]
        for k in range(N // 3, N)
    )
    assert least <= value.raw <= least * (1 + 1e-3)
    assert value.terms["N"] > 10


def test_where_many_votes_are_best_no_k_nearby_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a standard deviation above N/2: found by a coarse step and a finer one."""
    u, theta, N = np.repeat([0.03, 0.04], 3_000), [0.05] * 20, 40_960
    monkeypatch.setattr(vote, "VOTES", (N,))
    value = vote_certificate(u, theta, n=1568, delta=0.05)
    k = int(value.terms["k"])
    assert (value.id, value.terms["N"], value.terms["beta"]) == ("vote-certificate", N, 0.001)
    assert 1.5 < (k - N / 2) / (math.sqrt(N) / 2) < 4
    around = [k + step for step in (-30, -10, -3, -1, 1, 3, 10, 30)]
    assert all(
        value.raw <= vote_certificate_at(u, theta, n=1568, N=N, k=at, beta=0.001, delta=0.05).raw for at in around
    )


def test_what_the_search_compares_is_the_certificate_at_that_setting() -> None:
    u, theta, delta = np.linspace(-0.1, 0.9, 20), [0.25] * 4, 0.1
    table = vote_candidates(u, theta, n=20)
    assert [each.N for each in table] == list(VOTES)
    for each in table[::6]:
        assert vote_kl(theta, each.N, n=20, beta=each.beta) == min(vote_kl(theta, each.N, n=20, beta=b) for b in PRIORS)
        assert each.k[0] <= each.N / 2 - 0.9 * math.sqrt(each.N) or each.k[0] == 0
        assert each.k[-1] >= each.N / 2 + 2.4 * math.sqrt(each.N) or each.k[-1] == each.N - 1
        assert np.diff(each.k).max() <= math.ceil(math.sqrt(each.N) / 8)
        for k, value in list(zip(each.k, each.values(20, delta), strict=True))[::7]:
            at = vote_certificate_at(u, theta, n=20, N=each.N, k=int(k), beta=each.beta, delta=delta)
            assert value == pytest.approx(at.raw, rel=1e-9)


@pytest.mark.parametrize("m", [1, 3])
def test_exactly_how_often_some_network_is_certified_below_its_risk(m: int) -> None:
    """All samples of three points with noisy labels, all θ in fourths, all settings at N = 10; at the third f = 0."""
    x, noise, delta = np.array([[1.0, 1.0], [1.0, -0.5], [0.0, 0.0]]), np.array([0.05, 0.4, 0.5]), 0.5
    cells = np.vstack([x, -x])  # y x, once for each label
    law = np.concatenate([1 - noise, noise]) * np.tile([0.5, 0.3, 0.2], 2)
    samples = np.array([c for c in itertools.product(range(m + 1), repeat=6) if sum(c) == m])
    ways = np.array([math.factorial(m) / math.prod(map(math.factorial, c)) for c in samples.tolist()])
    fails = {1.0: np.zeros(len(samples), bool), 2.0: np.zeros(len(samples), bool)}
    k = np.arange(10)
    for fourths in (c for c in itertools.product(range(5), repeat=4) if sum(c) == 4):
        theta = np.array(fourths) / 4
        u = cells @ (theta[:2] - theta[2:])
        risk, KL = law[u <= 0].sum(), min(vote_kl(theta, 10, n=4, beta=beta) for beta in PRIORS)
        empirical = samples @ np.array([[vote_empirical([x], 10, at) for at in k] for x in u]) / m
        b = np.array([vote_b(10, at) for at in k])
        for factor, failed in fails.items():
            values = Thresholds(10, 0.0, KL, vote_grid(10), k, empirical, factor * b).values(m, delta)
            failed |= (values < risk).any(axis=1)
    probability = ways * np.prod(law**samples, axis=1)
    assert probability.sum() == pytest.approx(1)
    assert probability[fails[1.0]].sum() <= delta
    assert probability[fails[2.0]].sum() > 0.99  # b twice as large


def test_an_error_costs_at_least_b() -> None:
    for N in VOTES[:6]:
        for k in range(0, N, 3):
            assert all(vote_empirical([u], N, k) >= vote_b(N, k) - 1e-15 for u in (-1.0, -0.3, 0.0))


def test_an_error_of_a_program_within_shift_costs_at_least_its_b_and_more_than_without() -> None:
    """The program errs only where u <= shift: the right votes there, by all subsets of N votes."""
    for N, k, shift in itertools.product((3, 7), (1, 2), (0.1, 0.4)):
        right = [sum(votes) <= k for votes in itertools.product((0, 1), repeat=N)]
        at = [math.prod((1 + shift) / 2 if vote else (1 - shift) / 2 for vote in votes)
              for votes in itertools.product((0, 1), repeat=N)]  # fmt: skip
        assert vote_b(N, k, shift) == pytest.approx(np.dot(right, at), rel=1e-12)
        assert all(vote_empirical([u], N, k) >= vote_b(N, k, shift) - 1e-15 for u in (-1.0, 0.0, shift))
        assert vote_empirical([shift], N, k) < vote_b(N, k)


def test_a_program_that_errs_where_its_formula_is_just_right_is_bounded_only_with_its_shift() -> None:
    """All u = shift, every decision of the program wrong: its risk is 1, and b without the shift claims less."""
    N, k, shift, m = 40, 15, 0.3, 4000
    setting = {"n": 2, "N": N, "k": k, "beta": 0.0, "delta": 0.05}
    shifted, plain = (vote_certificate_at([shift] * m, [1.0], **setting, shift=s) for s in (shift, 0.0))
    assert plain.raw < 0.5 < 1 <= shifted.raw
    with pytest.raises(ValueError, match=r"^shift .*\[0, 1\].* shift=1\.5\.$"):
        vote_b(N, k, 1.5)


def test_settings_that_nobody_paid_for_are_refused() -> None:
    good = {"n": 4, "N": 20, "k": 12, "beta": 0.03, "delta": 0.05}
    for change, line in [
        ({"N": 21}, r"^N must be on the grid of votes, 10 \.\. 655360, got N=21\.$"),
        ({"beta": 0.02}, r"^beta must be one of 0\.0, 0\.001, 0\.003, 0\.01, 0\.03, 0\.1, 0\.3, got beta=0\.02\.$"),
        ({"k": 20}, "k must be in"),
        ({"delta": 1.5}, "delta must be in"),
        ({"n": 1}, "at most n entries"),
    ]:
        with pytest.raises(ValueError, match=line):
            vote_certificate_at([0.1], [0.5, 0.5], **(good | change))
    for theta in ([0.5, 0.4], [1.5, -0.5]):
        with pytest.raises(ValueError, match=r"^theta .*>= 0 .* 1\.$"):
            vote_certificate_at([0.1], theta, **good)
    for u in (1.1, -1.1):
        with pytest.raises(ValueError, match=r"y f\(x\)/B' .*\[-1, 1\].*Psi_j"):
            vote_certificate_at([u], [0.5, 0.5], **good)
    for margins in ([], [[0.1]]):
        with pytest.raises(ValueError, match=r"margins .*at least one number"):
            vote_certificate_at(margins, [0.5, 0.5], **good)
    with pytest.raises(ValueError, match=r"^beta must be > 0, got beta=0\.0\.$"):
        vote_kl_polya([1.0], 10, n=4, beta=0.0)


def test_single_precision_is_read_in_double() -> None:
    u, theta = np.array([0.1, -0.3], np.float32), np.array([0.3, 0.7], np.float32)
    assert vote_empirical(u, 20, 12) == vote_empirical(u.astype(np.float64), 20, 12)
    assert vote_kl_iid(theta, 20, n=4) == vote_kl_iid(theta.astype(np.float64), 20, n=4)


def test_the_grid_is_a_prior() -> None:
    assert len(VOTES) == 25
    assert len(BETAS) == 6
    assert math.fsum((N + 1) * len(PRIORS) * math.exp(-vote_grid(N)) for N in VOTES) == pytest.approx(1)
