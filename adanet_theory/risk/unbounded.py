"""Margin bounds for mixtures of layers without a bound on the range: h may be unbounded.

Fix ρ and η > 0. They hold for all f = Σ_k w_k·h_k, W = Σ_k ||w_k||_1, with the layers' shares rounded up to a grid:

    a_k = (1+η)^-j_k,  j_k >= 0 the largest with ||w_k||_1/W <= a_k,  a_k = 0 where w_k = 0:  a_k < (1+η) ||w_k||_1/W
    π_k = 1/(2 (j_k+1) (j_k+2)),  and 1/2 where w_k = 0

(proofs in paper_notes/derivations.md). Unlike margin-bound they have no term (2M/ρ) sqrt(2 log l/m), so they are
smaller if M/ρ is large and there are few layers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from adanet_theory.checks import check, check_delta, check_rho, check_risk, finite, total
from adanet_theory.risk.generalization import check_mixture
from adanet_theory.risk.margin import ETA, MarginBound, zero_function


def _index(share: float, eta: float) -> int:
    """j with (1+η)^-(j+1) < share <= (1+η)^-j for a share in (0, 1], up to rounding on the safe side."""
    j = math.floor(-math.log(share) / math.log1p(eta))
    return j - 1 if (1 + eta) ** -j < share else j


def _log_prior(share: float, eta: float) -> float:
    """log(1/π)."""
    if share == 0:
        return math.log(2)
    j = _index(share, eta)
    return math.log(2 * (j + 1) * (j + 2))


def price(shares: Sequence[float], m: int, *, eta: float = ETA) -> float:
    """sqrt( Σ_k log(1/π_k) / (2m) ), an upper value of the price of choosing the weights after the sample.

    >>> round(price([0.5, 0.5], 9600, eta=1.0), 4)
    0.0161
    """
    return math.sqrt(math.fsum(_log_prior(share, eta) for share in shares) / (2 * m))


def _terms(
    id: str, ramp: float, w_norms: Sequence[float], R: Sequence[float], rho: float, m: int, delta: float, eta: float
) -> MarginBound:
    """ramp + (2/ρ) Σ_k a_k R_k + sqrt( [log(1/δ) + Σ_k log(1/π_k)] / (2m) )."""
    W = check_mixture(w_norms, R)
    check_risk(ramp, m, delta)
    check_rho(rho)
    check(eta > 0, f"eta must be > 0, got eta={eta}.")
    if W == 0:
        return zero_function(id, "ramp")
    shares = [w / W for w in w_norms]
    a = [(1 + eta) ** -_index(share, eta) if share > 0 else 0.0 for share in shares]
    paid = math.log(1 / delta) + math.fsum(_log_prior(share, eta) for share in shares)
    terms = {
        "ramp": ramp,
        "complexity": finite(2 / rho * total((a_k * R_k for a_k, R_k in zip(a, R, strict=True)), id), id),
        "confidence": math.sqrt(paid / (2 * m)),
    }
    return MarginBound(id, terms, rho)


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

        R(f) <= ramp_ρ(f/W) + (2/ρ) Σ_k a_k R_m(H_k) + sqrt( [log(1/δ) + Σ_k log(1/π_k)] / (2m) )

    Parameters
    ----------
    ramp
        Mean ramp loss of f/W at ρ (`ramp_loss`), in [0, 1].
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    rho
        Margin, > 0, fixed before the sample.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.
    eta
        Ratio of the grid of shares minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = margin_bound_unbounded(0.0, [0.0, 1.0], [0.01, 0.02], rho=0.5, m=10_000, delta=0.05)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.08, 'confidence': 0.01593}
    """
    return _terms("margin-bound-unbounded", ramp, w_norms, R_m, rho, m, delta, eta)


def unbounded_empirical(
    ramp: float,
    w_norms: Sequence[float],
    R_S: Sequence[float],
    *,
    rho: float,
    m: int,
    delta: float,
    eta: float = ETA,
) -> MarginBound:
    """unbounded-empirical: margin-bound-unbounded without a bound on Ψ outside the sample.

        R(f) <= ramp_ρ(f/W) + (2/ρ) Σ_k a_k R_S(H_k) + 2 sqrt( [log(4/(3δ)) + Σ_k log(1/π_k)] / (2m) )

    `R_S` are upper values of R_S(H_k) that hold with probability 1 - δ/4 over sampled signs (or surely).

    Parameters
    ----------
    ramp
        Mean ramp loss of f/W at ρ (`ramp_loss`), in [0, 1].
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_S
        Upper values of R_S(H_1), .., R_S(H_l).
    rho
        Margin, > 0, fixed before the sample.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.
    eta
        Ratio of the grid of shares minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = unbounded_empirical(0.0, [0.0, 1.0], [0.01, 0.02], rho=0.5, m=10_000, delta=0.05)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.08, 'confidence': 0.03275}
    """
    check_delta(delta)
    bound = _terms("unbounded-empirical", ramp, w_norms, R_S, rho, m, 0.75 * delta, eta)
    # 2, not 1: the empirical complexity of the loss class has to concentrate too.
    return MarginBound(bound.id, dict(bound.terms) | {"confidence": 2 * (bound.terms["confidence"] or 0.0)}, bound.rho)
