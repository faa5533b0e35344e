"""Is one method better than another over the folds? Nadeau and Bengio's corrected t-test, and Holm's correction.

Folds share most of their training points, so the plain t-test takes them for more independent than they are. Nadeau and
Bengio (2003) replace 1/J in the variance of the mean of J differences by 1/J + n_test/n_train.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adanet_theory.checks import check


@dataclass(frozen=True)
class Comparison:
    difference: float
    t: float | None
    """None where all differences are equal."""
    p: float


def corrected_t_test(differences: Sequence[float], *, train: int, test: int) -> Comparison:
    """t = mean / sqrt((1/J + n_test/n_train) s²) on J - 1 degrees of freedom, two-sided.

    >>> compared = corrected_t_test([0.01, 0.02, 0.03], train=80, test=10)
    >>> round(compared.t, 4), round(compared.p, 4)  # 0.02 / (0.01 sqrt(1/3 + 1/8))
    (2.9542, 0.098)
    """
    J = len(differences)
    check(J >= 2, f"a t-test needs at least two folds, got {J}.")
    check(train >= 1 and test >= 1, f"train and test must be >= 1, got train={train}, test={test}.")
    mean = math.fsum(differences) / J
    variance = math.fsum((d - mean) ** 2 for d in differences) / (J - 1)
    if variance == 0:
        return Comparison(mean, None, 1.0 if mean == 0 else 0.0)
    from scipy.stats import t as student

    t = mean / math.sqrt((1 / J + test / train) * variance)
    return Comparison(mean, t, float(2 * student.sf(abs(t), J - 1)))


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values: the i-th smallest of n times n - i + 1, at least the one before it, at most 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda j: p[j])
    adjusted, least = [0.0] * len(p), 0.0
    for rank, j in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * p[j]))
        adjusted[j] = least
    return adjusted
