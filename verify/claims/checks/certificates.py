"""Certificates: each part of a statement against enumeration or exact laws, the whole on overfitted samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from adanet_theory.certificates import grids
from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.kl import kl, kl_inverse, xi
from adanet_theory.certificates.stochastic import gaussian_kl, stochastic_certificate
from adanet_theory.certificates.vote import vote_b, vote_certificate, vote_empirical, vote_kl_iid, vote_kl_polya
from adanet_theory.certificates.vote_multiclass import (
    classes_b,
    classes_empirical,
    counts_kl,
    vote_certificate_multiclass,
)
from verify.claims.checks import Fact, Facts, settles

DELTA = 0.05


# PAC-Bayes-kl and points held out


@settles("pac-bayes-kl", {"factor": 0.5}, thorough={"largest": 300})
def the_moment_of_kl_is_xi(factor: float = 1.0, largest: int = 40) -> Facts:
    """E exp(m kl(X/m, p)) for X ~ Bin(m, p), over all p of a grid and all m."""
    from scipy.stats import binom

    gap = 0.0
    for m in range(1, largest + 1):
        counts = np.arange(m + 1)
        for p in (0.01, 0.3, 0.5, 0.9):
            moment = float(np.sum(np.exp(binom.logpmf(counts, m, p) + m * kl(counts / m, p))))  # neither part overflows
            gap = max(gap, abs(moment / (factor * xi(m)) - 1))
    yield Fact("largest |E exp(m kl)/ξ(m) - 1|", gap, "<=", 1e-9, "", f"m = 1 .. {largest}, four p")
    yield Fact("ξ(12,000)", factor * xi(12_000), "<=", 2 * math.sqrt(12_000), "2 sqrt(m)")
    yield _kl_failures(factor)


def _kl_failures(factor: float, m: int = 60, p: float = 0.35, delta: float = 0.5) -> Fact:
    """One hypothesis, P = Q: how often its risk is above the statement, exactly."""
    from scipy.stats import binom

    counts = np.arange(m + 1)
    bounds = np.array([kl_inverse(c / m, math.log(factor * xi(m) / delta) / m) for c in counts])
    return Fact("probability that R is above it", float(binom.pmf(counts, m, p)[bounds < p].sum()), "<=", delta, "δ")


@settles("held-out", {"level": 2.0})
def clopper_pearson_fails_at_most_delta_often(level: float = 1.0, m: int = 40) -> Facts:
    """The greatest probability of failure over the risks, exactly; with δ at `level` δ it is more than δ."""
    from scipy.stats import binom

    bounds = np.array([clopper_pearson(errors, m, min(0.99, level * DELTA)) for errors in range(m + 1)])
    risks = np.concatenate([np.linspace(0.001, 0.999, 400), bounds[:-1] + 1e-9])
    worst = max(float(binom.pmf(np.arange(m + 1), m, risk)[bounds < risk].sum()) for risk in risks)
    yield Fact("greatest probability of failure", worst, "<=", DELTA, "δ", f"m = {m}, all risks")
    yield Fact("it is attained", worst, ">", 0.99 * DELTA, ".99 δ")


# vote-certificate


@settles("vote-certificate", {"kl": 0.5}, {"b": 1.05}, {"G": 0.5}, {"vote": 0.5}, thorough={"trials": 60})
def vote_certificate_holds(
    kl: float = 1.0, b: float = 1.0, G: float = 1.0, vote: float = 1.0, trials: int = 6
) -> Facts:
    """The two KL by enumeration of sequences, b, the grid, the law of the votes, and labels independent of x."""
    theta, N = (0.5, 0.3, 0.2), 6
    for name, numeric, prior in (
        ("iid", vote_kl_iid(theta, N, n=3), lambda s: 3.0**-N),
        ("Polya, β = .03", vote_kl_polya(theta, N, n=3, beta=0.03), lambda s: urn(s, 3, 0.03)),
    ):
        exact = _sequence_kl(theta, N, prior)
        yield Fact(f"KL_N, {name}", kl * numeric, "=", exact, "sum over all sequences", "n = 3, N = 6", 1e-10)
    settings = [(N, k) for N in (10, 57) for k in range(0, N, 4)]
    least = min(vote_empirical([u], N, k) / (b * vote_b(N, k)) for N, k in settings for u in (-1.0, -0.2, 0.0))
    yield Fact("least P(loss = 1)/b where f is wrong", least, ">=", 1 - 1e-12, "", "u <= 0")
    paid = math.fsum((N + 1) * len(grids.PRIORS) / (G * math.exp(grids.vote_grid(N))) for N in grids.VOTES)
    yield Fact("sum of the priors of all settings", paid, "<=", 1 + 1e-9)
    yield Fact(
        "largest gap", _vote_law(vote), "<=", 0.01, "", "right votes of 40,000 drawn sequences against Bin(N, (1+u)/2)"
    )
    values = [_overfitted_vote(seed, size, kl) for seed in range(trials) for size in (1, 20)]
    broken = sum(value < 0.5 for value in values)
    where = f"labels independent of x, R(f) = 1/2, least {min(values):.3f}"
    yield Fact(f"certificates of {len(values)} below R(f)", broken, "<=", DELTA * len(values), "δ of them", where)


def urn(sequence: tuple[int, ...], n: int, beta: float) -> float:
    """The probability of a sequence of draws from a Polya urn, one after another."""
    counts, probability = [0] * n, 1.0
    for t, j in enumerate(sequence):
        probability *= (beta + counts[j]) / (n * beta + t)
        counts[j] += 1
    return probability


def _sequence_kl(theta: tuple[float, ...], N: int, prior: Callable[[tuple[int, ...]], float]) -> float:
    terms = []
    for sequence in itertools.product(range(len(theta)), repeat=N):
        q = math.prod(theta[j] for j in sequence)
        terms.append(q * math.log(q / prior(sequence)))
    return math.fsum(terms)


def _vote_law(vote: float, N: int = 12) -> float:
    """Thresholds uniform on [-1, 1] make a vote of mean s Ψ: the largest gap between the drawn and the binomial law."""
    rng = np.random.default_rng(0)
    values, theta = np.array([0.6, -0.2, -0.9]), np.array([0.5, 0.25, 0.25])
    chosen = rng.choice(3, p=theta, size=(40_000, N))
    right = (values[chosen] > rng.uniform(-1, 1, chosen.shape)).sum(axis=1)
    u = vote * float(theta @ values)
    return max(abs(float(np.mean(right <= k)) - vote_empirical([u], N, k)) for k in range(N))


@cache
def _overfitted_vote(seed: int, size: int, kl: float, m: int = 200, n_0: int = 2000) -> float:
    """The certificate of the mean of the features that agree best with random labels."""
    rng = np.random.default_rng(seed)
    x, y = 1.0 - 2.0 * rng.integers(0, 2, (m, n_0)), 1.0 - 2.0 * rng.integers(0, 2, m)
    agreement = x.T @ y / m
    best = np.argsort(-np.abs(agreement))[:size]
    u = y * (x[:, best] @ np.sign(agreement[best])) / size
    bound = vote_certificate(u, [1 / size] * size, n=2 * n_0, delta=DELTA)
    exponent = (kl * bound.terms["KL"] + math.log(xi(m) / DELTA) + bound.terms["grid"]) / m
    return kl_inverse(bound.terms["empirical"], exponent) / bound.terms["b"]


_RATES = np.array([0.01, 0.7, 3.0, 40.0])


def _summed_kl(A: int, N: int, beta: float) -> float:
    """Σ_a Σ_c Poisson(c) log(Poisson(c)/negative binomial(c)), from scipy's two laws."""
    from scipy.stats import nbinom, poisson

    b, c = A * beta / N, np.arange(400)
    prior = nbinom.logpmf(c, beta, b / (1 + b))
    used = sum(float(np.sum(poisson.pmf(c, r) * (poisson.logpmf(c, r) - prior))) for r in _RATES)
    return used - (A - len(_RATES)) * float(prior[0])


# a-posteriori from the sample's own features


@settles("a-posteriori-data", {"constant": 0.1}, {"spread": 0.0}, thorough={"trials": 400})
def a_posteriori_data_holds(constant: float = 1.0, spread: float = 4.0, trials: int = 60) -> Facts:
    """log E exp(t(Z_1 - E Z_1)) <= t^2 m r_rms^2, and E sup over two-layer networks of path norm 1, over all signs."""
    rng, moment, layer = np.random.default_rng(5), 0.0, 0.0
    for _ in range(trials):
        m, n_0 = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        Psi = rng.normal(size=(m, n_0)) * rng.choice([1.0, 0.0], size=(m, n_0), p=[0.8, 0.2])
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=m)))
        Z, square = np.abs(signs @ Psi).max(axis=1), float((Psi**2).sum(axis=0).max())
        for t in (0.1, 0.5, 2.0):
            left = math.log(np.mean(np.exp(t * (Z - Z.mean()))))
            moment = max(moment, left / (t * t * constant * square) if square else 0.0)
        units = [u / np.abs(u).sum() for u in rng.normal(size=(200, n_0))]  # some of the units of norm 1
        sup = np.max([np.abs(signs @ np.maximum(Psi @ u, 0)) for u in units], axis=0)
        bound = float(Z.mean()) + math.sqrt(spread * square * math.log(2.5))
        layer = max(layer, float(np.maximum(sup, Z).mean()) / bound if bound else 0.0)
    yield Fact("largest log-moment/(t² m r_rms²)", moment, "<=", 1.0, "", f"{trials} samples, all signs")
    yield Fact("largest E sup/bound, one hidden layer", layer, "<=", 1.0, "", "200 units tried for every sign vector")


# Many classes


@settles(
    "vote-certificate-multiclass",
    {"b": 1.05},
    {"pi": 1.0},
    {"kl": 0.5},
    {"G": 0.5},
    {"price": 0.0},
    thorough={"points": 2000},
)
def multiclass_votes_hold(
    b: float = 1.0, pi: float = 2.0, kl: float = 1.0, G: float = 1.0, price: float = 1.0, points: int = 150
) -> Facts:
    """P(loss = 1) against b at scores where f errs, exactly; `pi` classes of p in b, two are right; the KL, the grid.

    Then a finite distribution: C = 3 labels by coin, so that R(f) >= 2/3 whatever f is chosen on the sample.
    """
    least = _least_class_loss(points, pi) / b
    yield Fact("least P(loss = 1)/b where f is wrong", least, ">=", 1 - 1e-9, "", f"{points} points, four classes")
    yield Fact("it is attained", least * b, "<", 1.04)
    yield Fact("KL", kl * counts_kl(_RATES, A=9, N=40, beta=0.03), "=", _summed_kl(9, 40, 0.03), "summed", "", 1e-9)
    prior = math.fsum((N + 1) * 6 / (G * math.exp(grids.classes_grid(N))) for N in grids.CLASS_VOTES)
    yield Fact("sum of the priors of all settings", prior, "<=", 1 + 1e-9)
    values = [_overfitted_classes(seed, size, price) for seed in range(4) for size in (4, 20)]
    broken, where = sum(value < 2 / 3 for value in values), f"labels by coin, R(f) >= 2/3, least {min(values):.3f}"
    yield Fact(f"certificates of {len(values)} below R(f)", broken, "<=", DELTA * len(values), "δ of them", where)


def _least_class_loss(points: int, pi: float) -> float:
    rng, least = np.random.default_rng(2), math.inf
    for _ in range(points):
        p = rng.dirichlet(np.ones(4))
        scores = p * rng.choice([-0.99, -0.5, 0.0, 0.5, 0.99], 4)
        y, k, N = int(rng.integers(4)), int(rng.choice([0, 1, 3])), float(rng.choice([4.0, 20.0]))
        if rng.random() < 0.5:  # a tie of the two heaviest classes, where b is attained
            first, second = np.argsort(p)[-2:]
            scores, y = np.where(np.isin(np.arange(4), [first, second]), 0.0, -0.99 * p), int(first)
        if scores[y] <= np.delete(scores, y).max():
            bound = classes_b(p if pi == 2 else np.sort(p)[-1:], N, k)
            least = min(least, classes_empirical(scores[None], [y], p, N, k) / bound)
    return least


@cache
def _overfitted_classes(seed: int, size: int, price: float, m: int = 90, n_0: int = 400) -> float:
    """The certificate of the features that agree best with each of three labels drawn by coin; `price` on its KL."""
    rng = np.random.default_rng(seed)
    x, y = 1.0 - 2.0 * rng.integers(0, 2, (m, n_0)), rng.integers(0, 3, m)
    agreement = x.T @ ((y[:, None] == np.arange(3)) - 1 / 3)
    best = np.argsort(-np.abs(agreement), axis=0)[:size]
    scores = np.stack([x[:, best[:, c]] @ np.sign(agreement[best[:, c], c]) for c in range(3)], axis=1) / (3 * size)
    bound = vote_certificate_multiclass(
        scores, y, np.full(3 * size, 1 / (3 * size)), [1 / 3] * 3, A=6 * n_0, delta=DELTA
    )
    exponent = (price * bound.terms["KL"] + math.log(xi(m) / DELTA) + bound.terms["grid"]) / m
    return kl_inverse(bound.terms["empirical"], exponent) / bound.terms["b"]


# The Gaussian draft


def draft_bound(empirical: float, *, KL: float, tau: float, m: int, delta: float) -> float:
    """kl^-1(empirical, [KL + log(13 ξ(m)/δ)]/m)/Φ(τ): 13 values of τ to choose from."""
    from scipy.special import ndtr

    return kl_inverse(empirical, (KL + math.log(13 * xi(m) / delta)) / m) / float(ndtr(tau))


def one_hot_failure(n: int, m: int, seed: int, tau: float = 2.0, delta: float = DELTA) -> tuple[float, float]:
    """One-hot φ, labels by coin: the draft and R(f) of the Q that gives each seen j s = (1+z^2)^(-1/2), w = z s y.

    The loss is 1{y g(x) <= τ s}, so that its mean at a seen point is Φ(τ - z). On a point not seen f = 0: an error.
    """
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    seen, values = len(np.unique(rng.integers(n, size=m))), []
    for z in np.linspace(3.0, 8.0, 26):
        s = (1 + z**2) ** -0.5
        KL = seen * (((z * s) ** 2 + s**2) / 2 - 0.5 - math.log(s))
        values.append(draft_bound(float(ndtr(tau - z)), KL=KL, tau=tau, m=m, delta=delta))
    return min(values), 1 - seen / n


@settles("gauss-draft", {"n": 60}, thorough={"trials": 200})
def the_draft_is_false(n: int = 10_000, m: int = 50, trials: int = 20) -> Facts:
    draws = [one_hot_failure(n, m, seed) for seed in range(trials)]
    broken = sum(value < risk for value, risk in draws)
    where = (
        f"one-hot φ, n = {n:,}, m = {m}: draft {max(v for v, _ in draws):.3f}, R(f) >= {min(r for _, r in draws):.3f}"
    )
    yield Fact(f"samples of {trials} with R(f) above it", broken, ">", DELTA * trials, "δ of them", where)


@settles("stochastic-certificate", {"kl": 0.5}, {"share": 0.0})
def stochastic_certificate_holds(kl: float = 1.0, share: float = 0.1) -> Facts:
    """The KL against the mean log-ratio of draws, and a draw shared by all points counted once."""
    rng = np.random.default_rng(4)
    w, s, w_0, s_0 = (np.array(x) for x in ([0.5, -1.0], [0.3, 0.8], [0.1, -0.4], [0.5, 0.7]))
    x = w + s * rng.normal(size=(400_000, 2))
    ratio = (((x - w_0) / s_0) ** 2 - ((x - w) / s) ** 2).sum(axis=1) / 2 + np.log(s_0 / s).sum()
    where = "mean log-ratio of 400,000 draws"
    yield Fact("KL", kl * gaussian_kl(w, s, w_0, s_0), "=", float(ratio.mean()), where, "", 0.01)
    m, draws, errors = 50, 8, 0.25
    bound = stochastic_certificate(errors, draws=draws, shared=True, KL=0.0, m=m, delta=DELTA)
    left = bound.terms["empirical"]
    right = kl_inverse(errors, math.log(1 / (max(share, 1e-300) * DELTA)) / draws)
    yield Fact("empirical part", left, "=", right, "kl^-1 at T = 8 shared draws and .1 δ", "", 1e-12)
