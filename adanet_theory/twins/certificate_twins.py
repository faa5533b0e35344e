"""The sympy twins of the certificates: sums over all counts, as the statements define them, evaluated in balls.

`certified` evaluates `CERTIFICATES[id]` like any other statement. The twins are meant for small sizes. `outward`
computes the same parts at the size of a network. Both are written apart from the numeric forms and compared with them.

The names in a dict of values, besides those of `notation`: theta (weights of the voters, those > 0), u (margins), N
votes (nu where their expectation is free), threshold (the k of the statements), beta, grid (G), A (atoms), r (rates),
sigma (standard deviations, s in the statements), w_gauss, p_2 (the two largest masses together), T (where a sum over
all counts of a law ends), J (entries of theta, r or w_gauss), E_Z (E Z_1), draws and tried (T' and K of an
empirical part that was drawn), w_prior and sigma_prior, bits, b_g (the bound b of the other network), shift (of a
program's margins against those of f, as a share of B'). In the statements on counts `threshold` is k or d, N the
points, error the bound itself.
"""
# ruff: noqa: F405

from __future__ import annotations

import sympy as sp
from sympy import Rational, Sum, binomial, exp, log, loggamma

from adanet_theory.twins.notation import *  # noqa: F403 - the letters
from adanet_theory.twins.symbolic import (
    Statement,
    bound_on_risk,
    define_A_d,
    define_rho_B,
    of_path_norm,
    proved,
    sampled,
)

N_votes, G, A = (sp.Symbol(name, integer=True, positive=True) for name in ("N", "grid", "A"))
threshold, t = (sp.Symbol(name, integer=True, nonnegative=True) for name in ("threshold", "t"))
J, T = (sp.Symbol(name, integer=True, positive=True) for name in ("J", "T"))
beta, nu, p_2, error = sp.symbols("beta nu p_2 error", positive=True)
x = sp.Symbol("x", integer=True)
draws, tried = (sp.Symbol(name, integer=True, positive=True) for name in ("draws", "tried"))
E_Z = sp.Symbol("E_Z", nonnegative=True)
bits, b_g, shift = sp.symbols("bits b_g shift", nonnegative=True)
delta_2 = sp.Symbol("delta_2", positive=True)
KL, empirical, b_Q, xi_m = sp.symbols("KL empirical b_Q xi_m", nonnegative=True)
theta, rate, margin_u = (sp.IndexedBase(name, real=True) for name in ("theta", "r", "u"))
gauss_w, deviation, prior_w, prior_deviation = (
    sp.IndexedBase(name, real=True) for name in ("w_gauss", "sigma", "w_prior", "sigma_prior")
)


def binomial_mass(N: sp.Expr, p: sp.Expr, count: sp.Expr) -> sp.Expr:
    """P[Bin(N, p) = count]; 0^0 = 1."""
    return binomial(N, count) * p**count * (1 - p) ** (N - count)


def rising(count: sp.Expr) -> sp.Expr:
    return loggamma(count + beta) - loggamma(beta)


def skellam_cdf(size: sp.Expr, k: sp.Expr) -> sp.Expr:
    """P[Skellam(size/2, size/2) <= k], k >= 0: half of the mass outside 0 lies below 0."""
    at = exp(-size) * sp.besseli(t, size)
    return Rational(1, 2) + exp(-size) * sp.besseli(0, size) / 2 + Sum(at, (t, 1, k))


program_multiclass_b = Sum(
    exp(-nu * shift) * (nu * shift) ** (threshold - x) / sp.gamma(threshold - x + 1) * skellam_cdf(nu * p_2, x),
    (x, 0, threshold),
)
define_xi = Definition(xi_m, Sum(binomial(m, t) * (t / m) ** t * (1 - t / m) ** (m - t), (t, 0, m)))
define_vote_q = Definition(
    empirical,
    Sum(Sum(binomial_mass(N_votes, (1 + margin_u[i]) / 2, t), (t, 0, threshold)), (i, 1, m)) / m,
)
define_vote_b = Definition(b_Q, Sum(binomial(N_votes, t), (t, 0, threshold)) / sp.Integer(2) ** N_votes)
program_vote_b = Sum(binomial_mass(N_votes, (1 + shift) / 2, t), (t, 0, threshold))
iid_kl = N_votes * Sum(theta[i] * log(2 * n[0] * theta[i]), (i, 1, J))
polya_kl = (
    N_votes * Sum(theta[i] * log(theta[i]), (i, 1, J))
    + loggamma(2 * n[0] * beta + N_votes)
    - loggamma(2 * n[0] * beta)
    - Sum(Sum(binomial_mass(N_votes, theta[i], t) * rising(t), (t, 0, N_votes)), (i, 1, J))
)
prior_b = A * beta / N_votes
counts_kl = Sum(
    rate[i] * log(rate[i])
    - rate[i]
    - Sum(exp(-rate[i]) * rate[i] ** t / sp.gamma(t + 1) * rising(t), (t, 0, T))
    + rate[i] * log(1 + prior_b),
    (i, 1, J),
) + A * beta * log(1 + 1 / prior_b)


def derandomised(share: sp.Expr) -> sp.Expr:
    """kl^-1(q, [KL + log(xi(m) G/share)]/m)/b, where share is the part of delta that the draws of q leave."""
    return KLInverse(empirical, (KL + log(xi_m * G / share)) / m) / b_Q


bound = derandomised(delta)
# A tenth of delta is for the draws.
define_drawn = Definition(empirical, KLInverse(error, log(tried / (delta / 10)) / draws))
moved = (gauss_w[i] - prior_w[i]) ** 2 + deviation[i] ** 2
stochastic_kl = Sum(
    moved / (2 * prior_deviation[i] ** 2) - Rational(1, 2) + log(prior_deviation[i] / deviation[i]), (i, 1, J)
)
kept = binomial(t, threshold) / binomial(N_votes, threshold)

_ALL = [
    proved("xi", xi_m, "=", define_xi.rhs),
    proved("derandomised", risk, "<=", bound, (define_xi,)),
    proved("vote-empirical", empirical, "=", define_vote_q.rhs),
    proved("vote-b", b_Q, "=", define_vote_b.rhs),
    proved("vote-b-program", b_Q, "=", program_vote_b),
    proved("vote-kl-iid", KL, "=", iid_kl),
    proved("vote-kl-polya", KL, "=", polya_kl),
    proved("vote-certificate", risk, "<=", bound, (define_xi, define_vote_q, define_vote_b, Definition(KL, polya_kl)),
        (r"$f = \sum_j v_j \Psi_j$, $\theta_i$ are the $|v_j|/\|v\|_1 > 0$ and $u_i = y_i f(x_i)/\|v\|_1$",
         r"$G$ counts the $N$, $k$ and $\beta$ among which the best may be taken",
         r"$|\Psi_j| \leq 1$ is known beforehand")),
    proved("counts-kl", KL, "=", counts_kl),
    proved("vote-certificate-multiclass", risk, "<=", bound,
        (define_xi, Definition(b_Q, skellam_cdf(N_votes * p_2, threshold)), Definition(KL, counts_kl)),
        (r"$\widehat q = \frac1m \sum_{i=1}^m P(g_{y_i}(x_i) - g_c(x_i) \leq k \text{ for some } c)$",
         r"$p_2$ is the mass of the two heaviest classes together",
         r"$r_i = N \theta_i$ for the shares $\theta_i > 0$ of $\sum_c \|v_c\|_1$, $A = 2 n_0 C$",
         r"$G$ counts the $N$, $k$ and $\beta$ among which the best may be taken",
         r"$|\Psi_j| \leq 1$ is known beforehand")),
    proved("stochastic-kl", KL, "=", stochastic_kl),
    proved("stochastic-certificate", risk, "<=", derandomised(Rational(9, 10) * delta).subs(b_Q, 1),
        (define_xi, define_drawn),
        ("the risk is that of the randomised network",
         r"$p$ is the mean loss of $T$ draws, on which $K$ settings were compared")),
    proved("multiclass-b", b_Q, "=", skellam_cdf(nu * p_2, threshold)),
    proved("multiclass-b-program", b_Q, "=", program_multiclass_b),
    proved("held-out", delta, "=", Sum(binomial_mass(m, error, t), (t, 0, threshold)), (),
        ("the bound is the error rate $p$ at which this holds, $k$ the errors on $m$ held-out points",)),
    proved("pick-certificate", delta, "=",
        N_votes / Sum(kept * (1 - error) ** (t - N_votes), (t, threshold, N_votes - 1)), (),
        ("the bound is the $p$ at which this holds, and 1 where $k = N$",
         "$k$ of $N$ points were picked, or are inappropriate and left where picking stopped early",
         "the learner sees the picked points and nothing else of the $N$")),
    proved("occam-certificate", delta, "=", 2**bits * Sum(binomial_mass(N_votes, error, t), (t, 0, threshold)), (),
        ("the bound is the $p$ at which this holds, $k$ the errors on $N$ points",
         r"$\mathrm{bits}$ is the length of the network in a self-delimiting code fixed before the sample")),
    proved("disagreement-certificate", delta_2, "=", Sum(binomial_mass(N_votes, error - b_g, t), (t, 0, threshold)),
        (),
        ("the bound is the $p$ at which this holds, $k$ the points of $N$ at which $f$ and $g$ differ",
         r"$R(g) \leq b$ with probability $\geq 1 - \delta_1$, this with $\geq 1 - \delta_1 - \delta_2$")),
    bound_on_risk("a-posteriori-data", {
        "ramp": ramp_j,
        "complexity": 2 * (1 + eta) ** j / m * (E_Z + root(4 * m * r_rms**2 * log(A_d))),
        "confidence": 2 * root(sampled / (2 * m)),
    }, (define_rho_B, define_A_d), (r"$Z_1 = \max_j |\sum_i \sigma_i \Psi_j(x_i)|$", of_path_norm)),
]  # fmt: skip
CERTIFICATES: dict[str, Statement] = {statement.id: statement for statement in _ALL}
