"""occam-certificate: bound the risk of a network by the length of its description."""

from __future__ import annotations

import math

from adanet_theory.certificates.binomial import check_count, tail_inverse
from adanet_theory.checks import check, check_delta


def occam_certificate(k: int, N: int, bits: float, delta: float) -> float:
    """occam-certificate: R(h) <= max{ p : P[Bin(N, p) <= k] >= δ 2^-bits } for all networks h at once.

    It holds with probability >= 1-δ over N iid points. h makes k errors on them and takes `bits` bits in a
    self-delimiting code that was fixed before them (Σ_h 2^-bits(h) <= 1). bits = 0 is one network fixed beforehand,
    and the bound is then held-out.

    Parameters
    ----------
    k
        Errors on the sample, 0 <= k <= N; ties and NaN are errors.
    N
        Points of the sample, at least 1.
    bits
        Length of the description, -log2 P(h) >= 0, not necessarily an integer; inf gives the bound 1.
    delta
        Probability in (0, 1) with which the statement may fail.

    Returns
    -------
    float
        The bound, 1 at k = N; to about twelve digits (`twins.counted.occam_upper` rounds outward).

    Examples
    --------
    >>> round(occam_certificate(600, 60_000, 1000, 0.05), 15)
    0.033287258751222
    """
    check_count(k, N)
    check(bits >= 0, f"bits must be >= 0, got bits={bits}.")
    check_delta(delta)
    return tail_inverse(int(k), int(N), math.log(delta) - bits * math.log(2))
