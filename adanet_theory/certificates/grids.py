"""The settings that a certificate may choose from after seeing the sample, and the price of the choice.

A certificate that holds at all G settings of a grid at once, each at δ/G, pays log G in the exponent.
"""

from __future__ import annotations

import math

from adanet_theory.checks import check

# N, the number of votes (or of expected counts under the prior): 10, 20, .. 320 and 1,280, 1,810, .. 655,360. Few are
# small: networks with many errors are best at large ones, and the price is how many there are.
VOTES = tuple(round(10 * 2 ** (a / 2)) for a in (*range(0, 12, 2), *range(14, 33)))
# N for C classes, round(10 2^(a/2)), 10 to 40,960: their laws are summed example by example, too slow at more counts.
CLASS_VOTES = tuple(round(10 * 2 ** (a / 2)) for a in range(25))
# β of the Polya urn or of the negative binomial; 0 stands for the iid prior, the limit β -> inf.
IID = 0.0
BETAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
PRIORS = (IID, *BETAS)


def check_setting(N: int, beta: float, *, priors: tuple[float, ...] = PRIORS, votes: tuple[int, ...] = VOTES) -> None:
    """Refuse a setting that is not on the grid, because its price is not paid."""
    check(N in votes, f"N must be on the grid of votes, {votes[0]} .. {votes[-1]}, got N={N}.")
    check(beta in priors, f"beta must be one of {', '.join(map(str, priors))}, got beta={beta}.")


def vote_grid(N: int) -> float:
    """log G of vote-certificate at N: 25 values of N, N+1 of k, the iid prior and six β.

    >>> round(math.exp(vote_grid(20480))) == 25 * 20481 * 7
    True
    """
    return math.log(len(VOTES) * (N + 1) * len(PRIORS))


def classes_grid(N: int) -> float:
    """log G of vote-certificate-multiclass at N: 25 values of N, six β, N+1 of k.

    >>> round(math.exp(classes_grid(20480))) == 25 * 6 * 20481
    True
    """
    return math.log(len(CLASS_VOTES) * len(BETAS) * (N + 1))
