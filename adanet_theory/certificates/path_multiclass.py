"""path-certificate-multiclass: C classes, ReLU networks of any depth with skips, x in [-1, 1]^n_0 known beforehand.

Each f_c/B unrolls into a tree of its own (`tree.unrolled_classes`); units that classes share are copied, and the masses
of all trees together sum to 1. Counts are those of path-certificate, so that the g_c, the values of the trees at their
counts, are independent. The loss is 1{min_{c != y} (g_y - g_c) <= k}, k >= 0; an error is f_y <= max_{c != y} f_c.

g_y - g_c is the value of one tree: the leaves of the two roots are one, the children of c have their signs turned.
Where f_y <= f_c the bound of path-certificate on that tree is P(g_y - g_c > k) <= max_J P(D^+(y) + D^-(c) > k).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.certificates.derandomise import Candidates, Certificate, certificate, least
from adanet_theory.certificates.grids import BETAS, CLASS_VOTES, check_setting, path_classes_grid, path_thresholds
from adanet_theory.certificates.kl import kl_inverse
from adanet_theory.certificates.path import (
    CHOICES,
    DRAWS,
    SAMPLED,
    SEARCH_DRAWS,
    all_law,
    choices_below,
    convex_bound,
    count_errors,
    exceeds,
    law_of_g,
    leaf_rates,
    options,
    path_kl,
    path_kls,
)
from adanet_theory.certificates.tree import Tree
from adanet_theory.checks import Array, check, check_delta
from adanet_theory.risk.multiclass import multiclass_margins

Forest = Sequence[Tree]
"""A tree for each class, all divided by the same B."""


def levels(forest: Forest) -> list[int]:
    """How many nodes the trees have together at each level; the roots are level 0."""
    found: list[int] = []
    for tree in forest:
        depth: list[int] = []
        for parent in tree.parent:
            depth.append(0 if parent < 0 else depth[parent] + 1)
            found += [0] * (depth[-1] + 1 - len(found))
            found[depth[-1]] += 1
    return found


def atoms(forest: Forest) -> Array:
    """The weights θ_a > 0 of all atoms."""
    theta = np.abs(np.concatenate([tree.q.ravel() for tree in forest]))
    return theta[theta > 0]


def atom_count(forest: Forest) -> int:
    """A = 2 n_0 for every node."""
    return sum(2 * tree.q.size for tree in forest)


# eps: how often the right class is ahead by more than k where f errs


def path_classes_eps(forest: Forest, nu: float, k: int) -> float:
    """eps(k) = max over classes y != c and J of P(D^+(y) + D^-(c) > k), D^e(v) as in path-certificate, independent.

    Where there are too many J, the convex form of path-certificate. If f_y(x) <= max_{c != y} f_c(x), then
    P(min_{c != y} (g_y - g_c) > k) <= eps(k).

    >>> forest = [Tree((-1,), (1,), np.array([[p]]), B=1.0) for p in (0.5, 0.3, 0.2)]  # linear: Skellam(.8ν/2, .8ν/2)
    >>> round(1 - path_classes_eps(forest, 2500, 60), 12)
    0.911953379051
    """
    check(len(forest) >= 2, f"there must be at least two classes, got {len(forest)}.")
    return max(_pair_eps(forest[a], forest[b], nu, k) for a, b in pairs(forest))


def pairs(forest: Forest) -> list[tuple[int, int]]:
    """The two classes among which the worst are: of those without hidden units the heaviest two alone.

    P(Skellam(s/2, s/2) > k) grows with s.
    """
    plain = sorted((c for c, tree in enumerate(forest) if len(tree.parent) == 1), key=lambda c: float(forest[c].p[0]))
    light = [{a, b} for b in plain for a in plain[:-2]]
    return [pair for pair in itertools.combinations(range(len(forest)), 2) if set(pair) not in light]


def _pair_eps(a: Tree, b: Tree, nu: float, k: int) -> float:
    """The larger eps of the two ways to be right."""
    ways = ((a, b), (b, a))
    if sum(choices_below(own, 0, 1) * choices_below(other, 0, -1) for own, other in ways) > CHOICES:
        return max(convex_bound(all_law(own, nu, 1) + all_law(other, nu, -1), k) for own, other in ways)
    found = (
        itertools.product(*(options(t, 0, e, nu, every=True) for t, e in zip(way, (1, -1), strict=True)))
        for way in ways
    )
    return max(exceeds(s + t, p + q, k) for way in found for (s, p), (t, q) in way)


# The empirical part


def path_classes_empirical_exact(forest: Forest, x: Array, y: ArrayLike, nu: float, k: int) -> float:
    """(1/m) Σ_i { 1 - Σ_t P(g_y = t) Π_{c != y} P(g_c <= t-k-1) } by convolution of the laws, node by node."""
    means, masses = [tree.means(x) for tree in forest], [tree.p for tree in forest]
    errors = []
    for i, label in enumerate(np.asarray(y).tolist()):
        laws = [law_of_g(tree, 0, nu, p, z[i]) for tree, p, z in zip(forest, masses, means, strict=True)]
        right = laws[label].mass.copy()
        for c, law in enumerate(laws):
            right *= 1.0 if c == label else 1 - law.tails(laws[label].values - k - 1)
        errors.append(1 - math.fsum(right))
    return math.fsum(errors) / len(errors)


def path_classes_draws(
    forest: Forest, x: Array, y: np.ndarray, nu: float, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """`draws` independent values of min_{c != y} (g_y - g_c) for every example, one after another."""
    rates = [leaf_rates(tree, tree.means(x), nu) for tree in forest]
    found = []
    for _ in range(draws):
        leaves = [rng.poisson(plus) - rng.poisson(minus) for plus, minus in rates]
        g = [tree.value(leaf.astype(np.float64)) for tree, leaf in zip(forest, leaves, strict=True)]
        found.append(multiclass_margins(np.stack(g, axis=1), y))
    return np.concatenate(found).astype(np.int64)


def path_classes_errors(
    forest: Forest, x: Array, y: ArrayLike, nu: float, k: int, *, seed: int, draws: int
) -> tuple[int, int]:
    """How many of T m draws have min_{c != y} (g_y - g_c) <= k, T = draws/m rounded up for every example, and T m."""
    labels = np.asarray(y)
    return count_errors(
        lambda each, rng: path_classes_draws(forest, x, labels, nu, each, rng), len(labels), k, seed, draws
    )


# The certificate


def path_certificate_multiclass_at(
    forest: Forest,
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
    """path-certificate-multiclass at one setting of the grid, ν = N, the empirical part drawn with a tenth of δ.

        R(f) <= kl^-1( q, [KL + log(ξ(m) G/(.9 δ))]/m ) / (1 - eps(k))

    q is kl^-1(mean of T m draws, log(K/(.1 δ))/(T m)), K = `networks`, as in path-certificate.
    """
    check_delta(delta)
    check(networks >= 1, f"networks must be >= 1, got networks={networks}.")
    check_setting(N, beta, priors=BETAS, votes=CLASS_VOTES)
    check(k in path_thresholds(N), f"k must be on the grid of thresholds of N={N}, got k={k}.")
    _check(forest, x)
    errors, total = path_classes_errors(forest, x, y, N, k, seed=seed, draws=draws)
    return certificate(
        "path-certificate-multiclass",
        kl_inverse(errors / total, math.log(networks / (SAMPLED * delta)) / total),
        KL=path_kl(N * atoms(forest), A=atom_count(forest), N=N, beta=beta),
        grid=path_classes_grid(levels(forest)),
        b=1 - path_classes_eps(forest, N, k),
        m=len(x),
        delta=(1 - SAMPLED) * delta,
        N=N,
        k=k,
        beta=beta,
        draws=total,
    )


def _check(forest: Forest, x: Array) -> None:
    check(bool(np.all(np.abs(x) <= 1)), "x must be in [-1, 1]^n_0.")
    total = math.fsum(p for tree in forest for p in tree.p.tolist())
    check(abs(total - 1) <= 1e-9, f"the masses of all trees must sum to 1, got {total}.")


def path_certificate_multiclass(
    forest: Forest, x: Array, y: ArrayLike, *, delta: float, seed: int, draws: int = DRAWS
) -> Certificate:
    """path-certificate-multiclass at the best setting a search finds on draws of its own; every setting is paid for."""
    _, N, k, beta = least(path_classes_candidates(forest, x, y, seed=seed), len(x), (1 - SAMPLED) * delta)
    return path_certificate_multiclass_at(forest, x, y, N=N, k=k, beta=beta, delta=delta, seed=seed, draws=draws)


def path_classes_candidates(forest: Forest, x: Array, y: ArrayLike, *, seed: int) -> list[Candidates]:
    """For every N of the grid the β of least KL and all k, eps at J = all, on a few thousand draws."""
    rng, theta, A = np.random.default_rng([seed, 1]), atoms(forest), atom_count(forest)
    wanted = SEARCH_DRAWS * 5 // max(5, sum(levels(forest)))  # the time of a few nodes, however many there are
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), wanted)).astype(int))
    points, labels = x[some], np.asarray(y)[some]
    grid, each = path_classes_grid(levels(forest)), min(40, math.ceil(wanted / len(some)))
    found = []
    for N in CLASS_VOTES:
        KL = path_kls(N * theta, A=A, N=N)
        k = np.array(path_thresholds(N))
        drawn = np.sort(path_classes_draws(forest, points, labels, N, each, rng))
        empirical = np.searchsorted(drawn, k, side="right") / len(drawn)
        best = int(np.argmin(KL))
        found.append(Candidates(N, BETAS[best], float(KL[best]), grid, k, empirical, 1 - _all_tails(forest, N, k)))
    return found


def _all_tails(forest: Forest, nu: float, k: np.ndarray) -> Array:
    """The largest P(D^+(y) + D^-(c) > k) at J = all, for every k."""
    ahead, behind = ([all_law(tree, nu, e) for tree in forest] for e in (1, -1))
    ways = [way for a, b in pairs(forest) for way in ((a, b), (b, a))]
    return np.asarray(np.max([(ahead[y] + behind[c]).tails(k) for y, c in ways], axis=0))
