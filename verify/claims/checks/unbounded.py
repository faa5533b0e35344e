"""margin-bound-unbounded: a margin bound for mixtures of layers that knows of no range.

Fix ρ and η > 0. With probability 1 - δ, for all f = Σ_k w_k·h_k, W = Σ_k ||w_k||_1 and a_k = ||w_k||_1/W:

    R(f) <= ramp_ρ(f/W) + (2/ρ) Σ_k c_k R_m(H_k) + sqrt( [log(1/δ) + Σ_k log(1/π(j_k))] / (2m) )
    c_k = (1+η)^-j_k,  (1+η)^-(j_k+1) < a_k <= (1+η)^-j_k,  so that c_k < (1+η) a_k;  c_k = 0 where a_k = 0
    π(j) = 1/(2 (j+1) (j+2)),  and 1/2 for a_k = 0

Proof. For one choice of c = (c_1, .., c_l) the class {Σ_k v_k·h_k : ||v_k||_1 <= c_k} has R_m at most Σ_k c_k R_m(H_k),
because every H_k is symmetric. Its ramp loss lies in [0, 1], whatever the range of h, so McDiarmid, symmetrisation and
contraction give the margin bound of one class at confidence δ Π_k π(j_k); these add up to δ over all c.

Against margin-bound it has no (2M/ρ) sqrt(2 log l/m): it is the smaller where M/ρ is large and the layers are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from adanet_theory.checks import check, check_rho, check_risk, total
from adanet_theory.margin import ETA, MarginBound


def _index(share: float, eta: float) -> int:
    """j with (1+η)^-(j+1) < share <= (1+η)^-j, up to rounding on the safe side."""
    j = max(0, math.floor(-math.log(share) / math.log1p(eta)))
    return j - 1 if j > 0 and (1 + eta) ** -j < share else j


def _log_prior(share: float, eta: float) -> float:
    """log(1/π)."""
    if share == 0:
        return math.log(2)
    j = _index(share, eta)
    return math.log(2 * (j + 1) * (j + 2))


def price(shares: Sequence[float], m: int, *, eta: float = ETA) -> float:
    """sqrt( Σ_k log(1/π(j_k)) / (2m) ): at most what choosing the weights after the sample costs.

    >>> round(price([0.5, 0.5], 9600, eta=1.0), 4)
    0.0161
    """
    return math.sqrt(math.fsum(_log_prior(share, eta) for share in shares) / (2 * m))


def margin_bound_unbounded(
    ramp: float,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    rho: float,
    m: int,
    delta: float,
    eta: float = ETA,
) -> MarginBound:
    """margin-bound-unbounded at one ρ, with the ramp of f/W.

    >>> bound = margin_bound_unbounded(0.0, [0.0, 1.0], [0.01, 0.02], rho=0.5, m=10_000, delta=0.05)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.08, 'confidence': 0.01593}
    """
    check_risk(ramp, m, delta)
    check_rho(rho)
    W = total(w_norms, "W")
    check(W > 0, "W = sum_k ||w_k||_1 must be > 0, got 0.")
    shares = [w / W for w in w_norms]
    c = [(1 + eta) ** -_index(share, eta) if share > 0 else 0.0 for share in shares]
    confidence = math.log(1 / delta) + math.fsum(_log_prior(share, eta) for share in shares)
    terms = {
        "ramp": ramp,
        "complexity": 2 / rho * math.fsum(c_k * R for c_k, R in zip(c, R_m, strict=True)),
        "confidence": math.sqrt(confidence / (2 * m)),
    }
    return MarginBound("margin-bound-unbounded", terms, rho)
