"""disagreement-certificate: bound the risk of any network by that of a certified one plus their disagreement."""

from __future__ import annotations

from adanet_theory.certificates.binomial import check_count, clopper_pearson
from adanet_theory.checks import check, check_delta


def disagreement_certificate(b: float, d: int, n: int, delta_2: float) -> float:
    """disagreement-certificate: R(f) <= b + max{ p : P[Bin(n, p) <= d] >= δ_2 }, at most 1.

    It holds with probability >= 1-δ_1-δ_2. Here R(g) <= b with probability >= 1-δ_1, and f and g differ at d of n
    unlabelled points from the same law, which were used for neither of the two.

    Parameters
    ----------
    b
        Bound on the risk of g, in [0, 1], which holds with probability at least 1-δ_1.
    d
        Points at which f and g differ, 0 <= d <= n; a tie or NaN of either is a difference.
    n
        Points without labels, at least 1.
    delta_2
        Probability in (0, 1) with which the second part may fail.

    Returns
    -------
    float
        The bound; to about twelve digits (`twins.counted.disagreement_upper` rounds outward).

    Examples
    --------
    >>> round(disagreement_certificate(0.02, 0, 100, 0.05), 12) == round(0.02 + 1 - 0.05**0.01, 12)
    True
    """
    check(0 <= b <= 1, f"b must be in [0, 1], got b={b}.")
    check_count(d, n, "d", "n")
    check_delta(delta_2, "delta_2")
    return min(1.0, b + clopper_pearson(d, n, delta_2))
