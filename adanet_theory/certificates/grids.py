"""The settings a certificate may choose after seeing the sample, fixed here once, and what the choice costs.

A certificate that holds at every setting of a grid of G at once, each with confidence δ/G, pays log G in the exponent.
A setting may also have a prior of its own: the priors of all settings sum to at most 1, and it pays log(1/prior).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from adanet_theory.checks import check

# N, the number of votes (or of expected counts under the prior): 10, 20, .. 320 and 1,280, 1,810, .. 655,360. Few are
# small: networks with many errors or several units are best at large ones, and the price is how many there are.
VOTES = tuple(round(10 * 2 ** (a / 2)) for a in (*range(0, 12, 2), *range(14, 33)))
# N for C classes, round(10 2^(a/2)), 10 to 40,960: their laws are summed example by example, too slow at more counts.
CLASS_VOTES = tuple(round(10 * 2 ** (a / 2)) for a in range(25))
# β of the Polya urn or of the negative binomial; 0 stands for the iid prior, the limit β -> inf.
IID = 0.0
BETAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
PRIORS = (IID, *BETAS)
THRESHOLDS = 41  # of path-certificate


def check_setting(N: int, beta: float, *, priors: tuple[float, ...] = PRIORS, votes: tuple[int, ...] = VOTES) -> None:
    """Refuse a setting that is not on the grid: nobody has paid for it."""
    check(N in votes, f"N must be on the grid of votes, {votes[0]} .. {votes[-1]}, got N={N}.")
    check(beta in priors, f"beta must be one of {', '.join(map(str, priors))}, got beta={beta}.")


def vote_grid(N: int) -> float:
    """log G of vote-certificate at N: 25 values of N, N+1 of k, the iid prior and six β.

    >>> round(math.exp(vote_grid(20480))) == 25 * 20481 * 7
    True
    """
    return math.log(len(VOTES) * (N + 1) * len(PRIORS))


def path_threshold(N: int, index: int) -> int:
    """k of path-certificate: floor(index sqrt(N)/8), index = 0 .. 40, which is 0 to 5 standard deviations of N votes.

    >>> path_threshold(20480, 0), path_threshold(20480, 12), path_threshold(20480, 40)
    (0, 214, 715)
    """
    check(0 <= index < THRESHOLDS, f"the index of k must be in [0, {THRESHOLDS}), got {index}.")
    return math.isqrt(index * index * N // 64)


def path_thresholds(N: int) -> tuple[int, ...]:
    """All k of path-certificate at N."""
    return tuple(path_threshold(N, index) for index in range(THRESHOLDS))


def shape_cost(counts: Sequence[Sequence[tuple[int, int]]]) -> float:
    """log(1/prior) of a signed tree: counts[t] lists (plus, minus) children of every node at level t above the last.

        prior = 1/((d+1)(d+2)) Π_v 1/((h+1)^2 (h+2)),   h = children of v,  v at the levels 0 .. d-1

    d = len(counts) has the prior 1/((d+1)(d+2)), h the prior 1/((h+1)(h+2)), and each of its h+1 splits 1/(h+1).

    >>> round(math.exp(shape_cost([])), 9), round(math.exp(shape_cost([[(2, 2)]])), 9)
    (2.0, 900.0)
    """
    d = len(counts)
    sizes = [plus + minus for level in counts for plus, minus in level]
    return math.log((d + 1) * (d + 2)) + math.fsum(math.log((h + 1) ** 2 * (h + 2)) for h in sizes)


def path_grid(counts: Sequence[Sequence[tuple[int, int]]]) -> float:
    """log G of path-certificate: 25 values of N, six β, 41 of k, and the shape of the tree at its own price.

    >>> round(math.exp(path_grid([[(2, 2)]]))) == 25 * 6 * 41 * 900
    True
    """
    return math.log(len(VOTES) * len(BETAS) * THRESHOLDS) + shape_cost(counts)


# τ of gauss-certificate, in standard deviations of a unit vector under the prior.
TAUS = tuple(t / 4 for t in range(13))


def gauss_grid() -> float:
    """log G of gauss-certificate: the 13 values of τ.

    >>> round(math.exp(gauss_grid()))
    13
    """
    return math.log(len(TAUS))


def classes_grid(N: int) -> float:
    """log G of vote-certificate-multiclass at N: 25 values of N, six β, N+1 of k.

    >>> round(math.exp(classes_grid(20480))) == 25 * 6 * 20481
    True
    """
    return math.log(len(CLASS_VOTES) * len(BETAS) * (N + 1))


def forest_cost(levels: Sequence[int]) -> float:
    """log(1/prior) of C signed trees that have levels[t] nodes at level t, together; levels[0] = C is known beforehand.

        prior = 1/((d+1)(d+2)) Π_{t=1..d} 1/((n_t+1)(n_t+2) binom(n_t + 2n_{t-1} - 1, n_t)),   n_t nodes at level t

    d has the prior 1/((d+1)(d+2)), n_t the prior 1/((n_t+1)(n_t+2)), and so many are the ways to hang n_t nodes, each
    with a sign, under n_{t-1}: each has the same share. One tree with one hidden layer costs what shape_cost says.

    >>> round(math.exp(forest_cost([10])), 9), round(math.exp(forest_cost([10, 2])), 6)  # 6 · 12 · 210
    (2.0, 15120.0)
    """
    d = len(levels) - 1
    steps = itertools.pairwise(levels)
    hung = (math.log((n + 1) * (n + 2) * math.comb(n + 2 * above - 1, n)) for above, n in steps)
    return math.log((d + 1) * (d + 2)) + math.fsum(hung)


def path_classes_grid(levels: Sequence[int]) -> float:
    """log G of path-certificate-multiclass: 25 values of N, six β, 41 of k, and the shapes of the C trees.

    >>> round(math.exp(path_classes_grid([3, 4]))) == 25 * 6 * 41 * 6 * 30 * 126
    True
    """
    return math.log(len(CLASS_VOTES) * len(BETAS) * THRESHOLDS) + forest_cost(levels)
