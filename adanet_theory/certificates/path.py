"""path-certificate: ReLU networks of any depth with skips, x in [-1, 1]^n_0 known beforehand, all weights trained on S.

The tree of f/B (`tree`) has atoms a = (v, j, +-) with weights θ_a = |q_vj|. Under Q the counts c_a are Poisson(ν θ_a),
every copy with a threshold of its own, so that given x the leaf of a node is T_v ~ Skellam(ν(p_v + q_v·x)/2,
ν(p_v - q_v·x)/2) and g = G_root, G_v = T_v + Σ s_c relu(G_c). Under P the counts are negative binomial. The loss is
1{y g <= k}, k >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.certificates.derandomise import Candidates, Certificate, certificate, least
from adanet_theory.certificates.grids import BETAS, VOTES, check_setting, path_grid, path_thresholds
from adanet_theory.certificates.kl import kl_inverse
from adanet_theory.certificates.laws import ZERO, Law, skellam, symmetric_skellam
from adanet_theory.certificates.tree import Tree
from adanet_theory.checks import Array, check, check_delta

SAMPLED = 0.1  # the share of δ that the Monte-Carlo estimate of the empirical part takes
DRAWS = 1_000_000  # of the final estimate, all examples together; fewer where 300 for each example are fewer
SEARCH_DRAWS = 20_000
_ROWS = 50_000
CHOICES = 64


def path_kl(rates: ArrayLike, *, A: int, N: int, beta: float) -> float:
    """KL of independent Poisson(r_a) against A negative binomials of mean N/A.

        KL = Σ_{r > 0} { r log r - r - E_{c ~ Poisson(r)}[lgamma(c+β) - lgamma(β)] + r log(1+b) }
             + A β log(1 + 1/b),   b = Aβ/N

    >>> round(path_kl([1024.0] * 20, A=7840, N=20480, beta=0.003), 8)
    339.40902914
    """
    return float(path_kls(rates, A=A, N=N, betas=(beta,))[0])


def path_kls(rates: ArrayLike, *, A: int, N: int, betas: Sequence[float] = BETAS) -> Array:
    """path_kl at every β."""
    from scipy.special import gammaln

    r = np.asarray(rates, dtype=np.float64).ravel()
    r = np.sort(r[r != 0])
    check(bool(np.all(r > 0)) and len(r) <= A, f"at most A={A} rates, all >= 0.")
    mass = _poisson_masses(r)
    c = np.flatnonzero(mass)
    mass = mass[c]
    own, total = math.fsum(r * np.log(r) - r), math.fsum(r)
    kls = []
    for beta in betas:
        b = A * beta / N
        rising = float(mass @ (gammaln(c + beta) - gammaln(beta)))
        kls.append(own - rising + total * math.log1p(b) + A * beta * math.log1p(1 / b))
    return np.array(kls)


def _poisson_masses(r: Array) -> Array:
    """Σ_a P[Poisson(r_a) = c] at every count c; r sorted, so that a chunk has windows alike."""
    from scipy.special import gammaln

    width = math.ceil(18 * math.sqrt(r[-1])) + 27
    mass = np.zeros(math.ceil(r[-1]) + width + 1)
    log_factorial = gammaln(np.arange(len(mass)) + 1.0)
    for chunk in np.array_split(r, math.ceil(len(r) * width / 200_000)):
        spread = 9 * np.sqrt(chunk)
        first = np.maximum(0, np.floor(chunk - spread - 5)).astype(int)
        c = first[:, None] + np.arange(math.ceil(2 * spread[-1]) + 27)
        part = np.exp(c * np.log(chunk)[:, None] - chunk[:, None] - log_factorial[c])
        part /= part.sum(axis=1, keepdims=True)
        mass += np.bincount(c.ravel(), weights=part.ravel(), minlength=len(mass))
    return mass


# eps: how often the random network is right by more than k where f is wrong


def path_eps(tree: Tree, nu: float, k: int) -> float:
    """eps(k) = max over y and J of P(D^y(root) > k), exactly; the convex form where there are too many J.

        D^e(v) = Sk(p_v) + Σ_{s_c = e} relu(D^+(c)) + Σ_{s_c = -e, c in J} D^-(c),   Sk(p) = Skellam(νp/2, νp/2)

    If y f(x) <= 0 then P(y g(x) > k) <= eps(k).

    >>> tree = Tree((-1, 0, 0, 0, 0), (1, 1, 1, -1, -1), np.full((5, 1), 0.2), B=1.0)
    >>> round(path_eps(tree, 20480, 500), 14), round(path_eps(tree, 20480, 209), 12)
    (0.00026687338994, 0.099814550103)
    """
    if choices(tree) > CHOICES:
        return path_eps_convex(tree, nu, k)
    found = [option for e in (1, -1) for option in options(tree, 0, e, nu, every=True)]
    return max(exceeds(size, rest, k) for size, rest in found)


def path_eps_convex(tree: Tree, nu: float, k: int) -> float:
    """eps(k) <= max over y of min_t E(D_all - k - 1 + t)_+/t, t = 1, 2, ..: J = all is the worst for convex functions.

    >>> tree = Tree((-1, 0, 0, 0, 0), (1, 1, 1, -1, -1), np.full((5, 1), 0.2), B=1.0)
    >>> path_eps(tree, 20480, 500) < path_eps_convex(tree, 20480, 500) < 3 * path_eps(tree, 20480, 500)
    True
    """
    return max(convex_bound(all_law(tree, nu, e), k) for e in (1, -1))


def path_eps_chernoff(tree: Tree, nu: float, k: int) -> float:
    """One hidden layer, without convolutions; the larger of the two y.

        eps(k) <= inf_λ exp( -λ(k+1) + ν(p_0 + Σ_- p_i)(cosh λ - 1) + Σ_+ log E exp(λ relu(Sk(p_i))) )

    >>> tree = Tree((-1, 0, 0, 0, 0), (1, 1, 1, -1, -1), np.full((5, 1), 0.2), B=1.0)
    >>> round(path_eps_chernoff(tree, 20480, 500), 9)
    0.002571998
    """
    check(all(parent <= 0 for parent in tree.parent), "the Chernoff form is for one hidden layer.")
    return max(_chernoff(tree, nu, k, e) for e in (1, -1))


def choices(tree: Tree) -> int:
    """How many J there are that matter, for both y together."""
    return choices_below(tree, 0, 1) + choices_below(tree, 0, -1)


def choices_below(tree: Tree, v: int, e: int) -> int:
    """How many J matter to D^e(v)."""
    below = tree.children(v)
    return math.prod(choices_below(tree, c, 1) if tree.sign[c] == e else 1 + choices_below(tree, c, -1) for c in below)


def all_law(tree: Tree, nu: float, e: int) -> Law:
    """The law of D^e(root) at J = all nodes."""
    ((size, rest),) = options(tree, 0, e, nu, every=False)
    return symmetric_skellam(size) + rest


def options(tree: Tree, v: int, e: int, nu: float, *, every: bool) -> list[tuple[float, Law]]:
    """D^e(v) for every J, or J = all alone, as the size of its Skellam part and the law of its positive parts."""
    found = [(nu * float(tree.p[v]), ZERO)]
    for c in tree.children(v):
        if tree.sign[c] == e:
            below = [(symmetric_skellam(s) + rest).positive_part() for s, rest in options(tree, c, 1, nu, every=every)]
            found = [(size, law + part) for size, law in found for part in below]
        else:
            taken = [(s + t, a + b) for s, a in found for t, b in options(tree, c, -1, nu, every=every)]
            found = found + taken if every else taken
    return found


def exceeds(size: float, rest: Law, k: int) -> float:
    """P(Skellam(size/2, size/2) + rest > k) = Σ_x P(rest = x) P(Skellam > k - x)."""
    law = symmetric_skellam(size)
    tail = np.concatenate([np.cumsum(law.mass[::-1])[::-1], [0.0]])
    at = np.clip(k + 1 - rest.values - law.first, 0, len(law.mass))
    return min(1.0, math.fsum(rest.mass * tail[at]))


def convex_bound(law: Law, k: int) -> float:
    """min over t = 1, 2, .. of E(X - k - 1 + t)_+/t."""
    mass, values = law.mass[::-1], law.values[::-1].astype(np.float64)
    probability, mean = np.cumsum(mass), np.cumsum(mass * values)
    t = k + 2 - values  # E over X >= k + 2 - t, the values from the largest down
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.where(t >= 1, (mean - (k + 1 - t) * probability) / t, math.inf)
    return float(min(1.0, np.min(bounds)))


def _chernoff(tree: Tree, nu: float, k: int, e: int) -> float:
    from scipy.optimize import minimize_scalar

    p, sign = tree.p, np.array(tree.sign)
    linear = float(p[0] + p[1:][sign[1:] == -e].sum())
    parts = [symmetric_skellam(nu * float(x), spread=16.0).positive_part() for x in p[1:][sign[1:] == e]]

    def exponent(lam: float) -> float:
        grown = sum(math.log(part.mean_of(lambda x: np.exp(lam * x))) for part in parts)
        return float(-lam * (k + 1) + 2 * nu * linear * math.sinh(lam / 2) ** 2 + grown)

    # Beyond the tilt that moves the mean to 2k+2 the exponent grows.
    found = minimize_scalar(
        exponent, bounds=(0.0, min(1.0, 2 * (k + 2) / nu)), method="bounded", options={"xatol": 1e-12}
    )
    return min(1.0, math.exp(found.fun))


# The empirical part


def path_empirical_exact(tree: Tree, means: Array, y: ArrayLike, nu: float, k: int) -> float:
    """(1/m) Σ_i P(y_i g(x_i) <= k) by convolution of the laws, node by node; means has q_v · x_i."""
    labels, p = np.asarray(y), tree.p
    errors = []
    for label, row in zip(labels, means, strict=True):
        law = law_of_g(tree, 0, nu, p, row)
        errors.append(1 - (law if label > 0 else law.negated()).above(k))
    return math.fsum(errors) / len(errors)


def law_of_g(tree: Tree, v: int, nu: float, p: Array, means: Array) -> Law:
    law = skellam(max(0.0, nu * (p[v] + means[v]) / 2), max(0.0, nu * (p[v] - means[v]) / 2))
    for c in tree.children(v):
        part = law_of_g(tree, c, nu, p, means).positive_part()
        law = law + (part if tree.sign[c] > 0 else part.negated())
    return law


def path_draws(tree: Tree, means: Array, y: Array, nu: float, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`draws` independent values of y_i g(x_i) for every example, one after another."""
    plus, minus = leaf_rates(tree, means, nu)
    drawn = [rng.poisson(plus) - rng.poisson(minus) for _ in range(draws)]
    return np.concatenate([y * tree.value(leaves.astype(np.float64)) for leaves in drawn]).astype(np.int64)


def leaf_rates(tree: Tree, means: Array, nu: float) -> tuple[Array, Array]:
    """ν(p_v + q_v · x_i)/2 and ν(p_v - q_v · x_i)/2."""
    half = nu * tree.p / 2
    return np.maximum(half + nu * means / 2, 0), np.maximum(half - nu * means / 2, 0)


def path_errors(tree: Tree, means: Array, y: ArrayLike, nu: float, k: int, *, seed: int, draws: int) -> tuple[int, int]:
    """How many of T m draws have y_i g(x_i) <= k, T = draws/m rounded up for every example, and T m."""
    labels = np.asarray(y)
    return count_errors(lambda each, rng: path_draws(tree, means, labels, nu, each, rng), len(labels), k, seed, draws)


def count_errors(
    drawn: Callable[[int, np.random.Generator], np.ndarray], m: int, k: int, seed: int, draws: int
) -> tuple[int, int]:
    """How many margins of T m draws are <= k, and T m; drawn(t, rng) are those of t draws for every example."""
    rng, each = np.random.default_rng(seed), math.ceil(draws / m)
    block, errors = max(1, _ROWS // m), 0
    for first in range(0, each, block):
        errors += int(np.sum(drawn(min(block, each - first), rng) <= k))
    return errors, each * m


def path_empirical(
    tree: Tree,
    means: Array,
    y: ArrayLike,
    nu: float,
    k: int,
    *,
    delta: float,
    seed: int,
    draws: int = DRAWS,
    networks: int = 1,
) -> tuple[float, int]:
    """An upper value of (1/m) Σ_i P(y_i g(x_i) <= k), false with probability <= δ over the draws, and their number.

        kl^-1( mean of T m draws, log(K/δ)/(T m) ),   T independent draws for every example,  K = `networks`

    Hoeffding: the kl tail holds for independent Bernoullis that are not alike. Settings are compared on other draws;
    the least of the certificates of K networks needs the draws of all K to be good.
    """
    check_delta(delta)
    check(networks >= 1, f"networks must be >= 1, got networks={networks}.")
    errors, total = path_errors(tree, means, y, nu, k, seed=seed, draws=draws)
    return kl_inverse(errors / total, math.log(networks / delta) / total), total


# The certificate


def path_certificate_at(
    tree: Tree,
    x: Array,
    y: ArrayLike,
    *,
    N: int,
    k: int,
    beta: float,
    delta: float,
    seed: int,
    draws: int = DRAWS,
    networks: int = 1,
) -> Certificate:
    """path-certificate at one setting of the grid, ν = N, the empirical part estimated with a tenth of δ.

        R(f) <= kl^-1( q, [KL + log(ξ(m) G/(.9 δ))]/m ) / (1 - eps(k))

    The statement holds for all networks at once, its draws for one: of `networks` the least may be quoted.
    """
    check_delta(delta)
    check_setting(N, beta, priors=BETAS)
    check(k in path_thresholds(N), f"k must be on the grid of thresholds of N={N}, got k={k}.")
    check(bool(np.all(np.abs(x) <= 1)), "x must be in [-1, 1]^n_0.")
    nodes, n_0 = tree.q.shape
    share, means = SAMPLED * delta, tree.means(x)
    empirical, total = path_empirical(tree, means, y, N, k, delta=share, seed=seed, draws=draws, networks=networks)
    return certificate(
        "path-certificate",
        empirical,
        KL=path_kl(N * np.abs(tree.q), A=2 * n_0 * nodes, N=N, beta=beta),
        grid=path_grid(tree.counts),
        b=1 - path_eps(tree, N, k),
        m=len(x),
        delta=(1 - SAMPLED) * delta,
        N=N,
        k=k,
        beta=beta,
        draws=total,
    )


def path_certificate(tree: Tree, x: Array, y: ArrayLike, *, delta: float, seed: int, draws: int = DRAWS) -> Certificate:
    """path-certificate at the best setting that a search finds on draws of its own; every setting is paid for."""
    found = path_candidates(tree, x, y, seed=seed)
    _, N, k, beta = least(found, len(x), (1 - SAMPLED) * delta)
    return path_certificate_at(tree, x, y, N=N, k=k, beta=beta, delta=delta, seed=seed, draws=draws)


def path_candidates(tree: Tree, x: Array, y: ArrayLike, *, seed: int) -> list[Candidates]:
    """For every N of the grid the β of least KL and all k, eps at J = all, on draws of at most 20,000 examples."""
    rng, nodes, n_0 = np.random.default_rng([seed, 1]), len(tree.parent), tree.q.shape[1]
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), SEARCH_DRAWS)).astype(int))
    means, labels = tree.means(x[some]), np.asarray(y)[some]
    found = []
    for N in VOTES:
        KL = path_kls(N * np.abs(tree.q), A=2 * n_0 * nodes, N=N)
        k = np.array(path_thresholds(N))
        drawn = np.sort(path_draws(tree, means, labels, N, min(40, math.ceil(SEARCH_DRAWS / len(some))), rng))
        empirical = np.searchsorted(drawn, k, side="right") / len(drawn)
        b = 1 - np.maximum(*(all_law(tree, N, e).tails(k) for e in (1, -1)))
        best = int(np.argmin(KL))
        found.append(Candidates(N, BETAS[best], float(KL[best]), path_grid(tree.counts), k, empirical, b))
    return found
