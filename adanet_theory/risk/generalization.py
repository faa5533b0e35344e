"""Bounds on the risk R(f), each with probability at least 1 - δ over the sample: printed, corrected and replaced.

f = Σ_k w_k · h_k, W = Σ_k ||w_k||_1. `w_norms` lists ||w_1||_1, .., ||w_l||_1 as trained; R_m and M list the complexity
and the range of H_1, .., H_l. Statements with a fixed ρ are about f/W, and so are their margin error and ramp.
For the zero function (W = 0, or all ranges 0) the bound is 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import (
    OutsideTheoryError,
    check,
    check_delta,
    check_m,
    check_nonnegative,
    check_rho,
    check_risk,
    finite,
    product,
    total,
)
from adanet_theory.risk.margin import ETA, PRIOR, MarginBound, best_margin, growth, zero_function
from adanet_theory.spec import NetworkSpec

# As printed


def confidence_term(rho: float, depth: int, m: int, delta: float) -> float | None:
    """C(ρ, l, m, δ) = sqrt( ceil((4/ρ²) log(ρ² m/log l)) (log l)/m + log(2/δ)/(2m) ), Theorem 1.

    At l = 1, where the print divides by log l = 0, it is sqrt(log(2/δ)/(2m)). It is None if the radicand is negative.

    Parameters
    ----------
    rho
        Margin, > 0, fixed before the sample.
    depth
        Number of layers l, >= 1.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.

    Returns
    -------
    float or None
        C(ρ, l, m, δ); None if the radicand is negative.

    Examples
    --------
    >>> round(confidence_term(0.1, 3, 10_000, 0.05), 15)
    0.44551538927101
    >>> confidence_term(0.01, 10, 100, 0.05) is None
    True
    """
    tail = math.log(2 / delta) / (2 * m)
    if depth == 1:
        return math.sqrt(tail)
    log_l = math.log(depth)
    units = 4 * (2 * math.log(rho) + math.log(m) - math.log(log_l)) / rho / rho
    radicand = math.ceil(units) * log_l / m + tail if math.isfinite(units) else -math.inf
    return math.sqrt(radicand) if radicand >= 0 else None


def check_mixture(w_norms: Sequence[float], *per_layer: Sequence[float]) -> float:
    """Check the mixture weights and the lists that go with them layer by layer, and return W."""
    check(len(w_norms) >= 1, "w_norms must hold ||w_1||_1, .., ||w_l||_1, got none.")
    for k, norm in enumerate(w_norms, start=1):
        check_nonnegative(f"||w_{k}||_1", norm)
    for values in per_layer:
        check(len(values) == len(w_norms), f"l={len(w_norms)} layers need as many values, got {len(values)}.")
        for value in values:
            check_nonnegative("each complexity and range", value)
    return total(w_norms, "W")


def _weighted(w_norms: Sequence[float], values: Sequence[float], name: str) -> float:
    """Σ_k ||w_k||_1 values_k."""
    return total((w * value for w, value in zip(w_norms, values, strict=True)), name)


def _mean(w_norms: Sequence[float], W: float, values: Sequence[float]) -> float:
    """Σ_k (||w_k||_1/W) values_k; a mean exceeds the largest float only by rounding."""
    return total((w / W * value for w, value in zip(w_norms, values, strict=True) if w > 0), "R_m")


def _require_theorem_1(depth: int, M: Sequence[float] | None) -> None:
    if depth < 2:
        raise OutsideTheoryError("depth", f"Theorem 1 needs l >= 2, got l={depth}: it divides by log l.")
    if M is None or max(M) > 1:
        reached = "unknown" if M is None else f"{max(M):.6g}"
        raise OutsideTheoryError("range", f"Theorem 1 needs |h| <= 1 on every H_k, got a range of {reached}.")


def theorem_1(
    margin_error: float,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    rho: float,
    m: int,
    delta: float,
    M: Sequence[float] | None = None,
    literally: bool = False,
) -> MarginBound:
    """Theorem 1 as printed.

        R(f) <= R_{S,ρ}(f/W) + (4/ρ) Σ_k (||w_k||_1/W) R_m(H_k) + (2/ρ) sqrt(log l/m) + C(ρ, l, m, δ)

    It needs |h| <= 1 and l >= 2, which the paper does not state (claim theorem-1); `literally` skips this check.

    Parameters
    ----------
    margin_error
        R_{S,ρ}(f/W), the share of points with margin of f/W at most ρ, in [0, 1].
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
    M
        Ranges M_1, .., M_l; each must be at most 1. None: unknown.
    literally
        Evaluate the printed formula even if its missing assumption fails. The number is then not a bound.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> bound = theorem_1(0.0, [1.0, 1.0], [0.01, 0.02], rho=0.5, m=10_000, delta=0.05, M=[1.0, 1.0])
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'margin_error': 0.0, 'complexity': 0.12, 'depth': 0.033302, 'confidence': 0.096613}
    """
    W = check_mixture(w_norms, R_m)
    check_risk(margin_error, m, delta)
    check_rho(rho)
    if not literally:
        _require_theorem_1(len(w_norms), M)
    if W == 0:
        return zero_function("theorem-1", "margin_error")
    complexity = finite(4 / rho * _mean(w_norms, W, R_m), "theorem-1")
    return _printed("theorem-1", margin_error, complexity, rho, len(w_norms), m, delta)


def _printed(
    id: str, margin_error: float, complexity: float, rho: float, depth: int, m: int, delta: float, M: float = 1.0
) -> MarginBound:
    """The terms that the printed statements share; `M` scales the two that assume |h| <= 1."""
    terms = {
        "margin_error": margin_error,
        "complexity": complexity,
        "depth": finite(2 * M / rho * math.sqrt(math.log(depth) / m), id),
        "confidence": confidence_term(rho / M, depth, m, delta),
    }
    return MarginBound(id, terms, rho)


def corollary_1(
    spec: NetworkSpec,
    margin_error: float,
    w_norms: Sequence[float],
    *,
    rho: float,
    m: int,
    delta: float,
    r_inf: float,
    M: Sequence[float] | None = None,
    literally: bool = False,
) -> MarginBound:
    """Corollary 1 as printed: Theorem 1 with Lemma 2 and every Λ doubled again, needlessly (claim corollary-1).

        complexity term  (2/ρ) Σ_k (||w_k||_1/W) [ E[r_inf] (Π_{s<=k} 4Λ_{s,s-1}) N_k^(1/q) sqrt(2 log(2 n_0)/m) ]

    `r_inf` is the expectation E[r_inf], which a sample does not give: pass a bound on ||Ψ||_inf known beforehand.

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    margin_error
        R_{S,ρ}(f/W), the share of points with margin of f/W at most ρ, in [0, 1].
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    rho
        Margin, > 0, fixed before the sample.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.
    r_inf
        E[r_inf], or a bound on ||Ψ||_inf known before the sample, >= 0.
    M
        Ranges M_1, .., M_l; each must be at most 1. None: unknown.
    literally
        Evaluate the printed formula even if its missing assumption fails. The number is then not a bound.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> spec = NetworkSpec.layered((154, 1, 1), 1.0, p=1)
    >>> bound = corollary_1(spec, 0.0, [0.0, 1.0], rho=0.5, m=9600, delta=0.05, r_inf=1.0, M=[1.0, 1.0])
    >>> round(bound.terms["complexity"], 4)
    2.2113
    """
    W = check_mixture(w_norms)
    check_risk(margin_error, m, delta)
    check_rho(rho)
    check_nonnegative("r_inf", r_inf)
    check(len(w_norms) == spec.depth, f"l={spec.depth} layers need as many ||w_k||_1, got {len(w_norms)}.")
    if not literally:
        spec.require_lipschitz(below=spec.depth)
        spec.require_phi_zero(below=spec.depth)
        if not spec.is_layered:
            raise OutsideTheoryError("layered", "Corollary 1 is about families whose units read only the layer below.")
        _require_theorem_1(spec.depth, M)
    if W == 0:
        return zero_function("corollary-1", "margin_error")
    root = math.sqrt(2 * math.log(2 * spec.n[0]) / m)
    factors = [4 * spec.bound(s, s - 1) * spec.root(s - 1) for s in range(1, spec.depth + 1)]
    per_layer = [product([2 / rho, r_inf, *factors[:k], root], "corollary-1") for k in range(1, spec.depth + 1)]
    complexity = _mean(w_norms, W, per_layer)
    return _printed("corollary-1", margin_error, complexity, rho, spec.depth, m, delta)


def rho_uniform_price(rho: float, m: int) -> float:
    """The printed price of a bound uniform in ρ in (0, 1]: sqrt(log log_2(2/ρ) / m).

    The true price also multiplies 1/ρ by a constant (claim rho-uniform); margin_bound_uniform includes both.

    Parameters
    ----------
    rho
        Margin in (0, 1].
    m
        Number of points in the sample, >= 1.

    Returns
    -------
    float
        The term that the paper adds to the bound.

    Examples
    --------
    >>> rho_uniform_price(1.0, 100), round(rho_uniform_price(0.5, 100), 6)
    (0.0, 0.083255)
    """
    check(0 < rho <= 1, f"rho must be in (0, 1], got rho={rho}.")
    check_m(m)
    return math.sqrt(math.log(1 - math.log2(rho)) / m)


# Repaired and replaced


def theorem_1_range(
    margin_error: float, w_norms: Sequence[float], R_m: Sequence[float], *, rho: float, m: int, delta: float, M: float
) -> MarginBound:
    """Theorem 1 for |h| <= M: ρ/M replaces ρ in the two terms without R_m.

    It follows from margin-bound where it is no smaller, which is always so for log(1/δ) <= 17.2 M² log l/ρ² and for
    l = 1. It is trivially true where vacuous, and for ρ >= M, where all margins are <= ρ. Elsewhere it is refused.

    Parameters
    ----------
    margin_error
        R_{S,ρ}(f/W), the share of points with margin of f/W at most ρ, in [0, 1].
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
    M
        Largest range: |h| <= M for every h in every H_k, >= 0.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> bound = theorem_1_range(0.0, [0.0, 1.0], [0.01, 0.02], rho=1.0, m=10_000, delta=0.05, M=2.0)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'margin_error': 0.0, 'complexity': 0.08, 'depth': 0.033302, 'confidence': 0.096613}
    """
    W = check_mixture(w_norms, R_m)
    check_risk(margin_error, m, delta)
    check_rho(rho)
    check_nonnegative("M", M)
    if W == 0 or M == 0:
        return zero_function("theorem-1-range", "margin_error")
    complexity = finite(4 / rho * _mean(w_norms, W, R_m), "theorem-1-range")
    bound = _printed("theorem-1-range", margin_error, complexity, rho, len(w_norms), m, delta, M)
    replaced = margin_bound(margin_error, w_norms, R_m, rho=rho, m=m, delta=delta, M=M)
    if not (bound.is_vacuous or rho >= M or bound.total >= replaced.total):
        raise OutsideTheoryError("delta", f"theorem-1-range does not follow from margin-bound at delta={delta}.")
    return bound


def margin_bound(
    ramp: float, w_norms: Sequence[float], R_m: Sequence[float], *, rho: float, m: int, delta: float, M: float
) -> MarginBound:
    """margin-bound: the replacement of Theorem 1, for |h| <= M, any l >= 1 and ρ fixed beforehand.

        R(f) <= ramp_ρ(f/W) + (2/ρ) Σ_k (||w_k||_1/W) R_m(H_k) + (2M/ρ) sqrt(2 log l/m) + sqrt(log(1/δ)/(2m))

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
    M
        Largest range: |h| <= M for every h in every H_k, >= 0.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = margin_bound(0.0, [1.0, 1.0], [0.01, 0.02], rho=0.5, m=10_000, delta=0.05, M=1.0)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.06, 'depth': 0.047096, 'confidence': 0.012239}
    """
    W = check_mixture(w_norms, R_m)
    check_risk(ramp, m, delta)
    check_rho(rho)
    check_nonnegative("M", M)
    if W == 0 or M == 0:
        return zero_function("margin-bound", "ramp")
    terms = {
        "ramp": ramp,
        "complexity": finite(2 / rho * _mean(w_norms, W, R_m), "margin-bound"),
        "depth": finite(2 * M / rho * math.sqrt(2 * math.log(len(w_norms)) / m), "margin-bound"),
        "confidence": math.sqrt(math.log(1 / delta) / (2 * m)),
    }
    return MarginBound("margin-bound", terms, rho)


def margin_bound_empirical(
    ramp: float,
    w_norms: Sequence[float],
    R_S: Sequence[float],
    *,
    rho: float,
    m: int,
    delta: float,
    M: Sequence[float],
) -> MarginBound:
    """margin-bound-empirical: margin-bound at δ/2 with R_m(H_k) <= R_S(H_k) + M_k sqrt(log(4l/δ)/(2m)).

    `R_S` are upper values of R_S(H_k) that hold with probability 1 - δ/4 over sampled signs (or surely). One point
    changes R_S(H_k) by at most M_k/m, half of the naive 2M_k/m (average over its sign first). McDiarmid applies at
    δ/(4l) for each k.

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
    M
        Ranges M_1, .., M_l: |h| <= M_k for every h in H_k.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = margin_bound_empirical(0.0, [0.0, 1.0], [0.01, 0.02], rho=0.5, m=10_000, delta=0.05, M=[1.0, 1.0])
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.143719, 'depth': 0.047096, 'confidence': 0.013581}
    """
    check_mixture(w_norms, R_S, M)
    check_m(m)
    check_delta(delta)
    deviation = math.sqrt(math.log(4 * len(w_norms) / delta) / (2 * m))
    id = "margin-bound-empirical"
    R_m = [total([R, M_k * deviation], id) for R, M_k in zip(R_S, M, strict=True)]
    bound = margin_bound(ramp, w_norms, R_m, rho=rho, m=m, delta=delta / 2, M=max(M))
    return MarginBound(id, bound.terms, bound.rho)


def margin_bound_uniform(
    margins: ArrayLike,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    delta: float,
    M: Sequence[float],
    eta: float = ETA,
) -> MarginBound:
    """margin-bound-uniform at the best j for the margins y f(x). It holds for all w and all margins ρ_j at once.

    Parameters
    ----------
    margins
        Margins y_i f(x_i) of the m points, not normalised.
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    delta
        Probability in (0, 1) with which the statement may fail.
    M
        Ranges M_1, .., M_l: |h| <= M_k for every h in H_k.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = margin_bound_uniform([2.0] * 10_000, [0.0, 1.0], [0.01, 0.02], delta=0.05, M=[1.0, 2.0])
    >>> bound.j, round(bound.value, 6)
    (0, 0.057376)
    """
    check_mixture(w_norms, R_m, M)
    m = len(np.asarray(margins))
    at = partial(margin_bound_uniform_at, w_norms=w_norms, R_m=R_m, m=m, delta=delta, M=M, eta=eta)
    return best_margin("margin-bound-uniform", margins, _weighted(w_norms, M, "W_M"), at, eta=eta)


def margin_bound_uniform_at(
    j: int,
    ramp: float,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    m: int,
    delta: float,
    M: Sequence[float],
    eta: float = ETA,
) -> MarginBound:
    """margin-bound-uniform at one j, with the ramp of f at ρ_j = W_M/(1+η)^j, W_M = Σ_k ||w_k||_1 M_k.

        R(f) <= ramp_{ρ_j}(f) + (2/ρ_j) Σ_k ||w_k||_1 R_m(H_k) + 2 (1+η)^j sqrt(2 log l/m)
                + sqrt( [log((π²/3-1)/δ) + 2 log(|j|+1)] / (2m) )

    (margin-bound with range 1 for the families H_k/M_k and f/W_M, at δ times the prior of j.)

    >>> bound = margin_bound_uniform_at(10, 0.0, [0.0, 1.0], [0.01, 0.02], m=10_000, delta=0.05, M=[1.0, 2.0])
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.032578, 'depth': 0.038358, 'confidence': 0.020761}
    """
    check_mixture(w_norms, R_m, M)
    check_risk(ramp, m, delta)
    W_M = _weighted(w_norms, M, "W_M")
    check(W_M > 0, "W_M = sum_k ||w_k||_1 M_k must be > 0, got 0.")
    scale = growth(eta, j, "margin-bound-uniform")
    weighted = _weighted(w_norms, R_m, "margin-bound-uniform")
    terms = {
        "ramp": ramp,
        "complexity": finite(2 * scale * (weighted / W_M), "margin-bound-uniform"),
        "depth": finite(2 * scale * math.sqrt(2 * math.log(len(w_norms)) / m), "margin-bound-uniform"),
        "confidence": math.sqrt((math.log(PRIOR / delta) + 2 * math.log(abs(j) + 1)) / (2 * m)),
    }
    return MarginBound("margin-bound-uniform", terms, W_M / scale, j)


def objective_bound(
    loss: float,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    m: int,
    delta: float,
    M: Sequence[float],
    rho: float = 1.0,
    eta: float = ETA,
) -> MarginBound:
    """objective-bound: the paper's objective as a bound, for all w at once, `loss` = (1/m) Σ Φ(1 - y_i f(x_i)).

        R(f) <= loss + (1+η) Σ_k ||w_k||_1 [2 R_m(H_k) + 2 M_k sqrt(2 log l/m)] / ρ
                + sqrt( [log((π²/3-1)/δ) + 2 log(2 + |log_{1+η}(W_M/ρ)|)] / (2m) )

    It needs Φ(1-u) >= ψ_ρ(u) for all u, which holds up to ρ = 3.146 for e^x and 2.844 for log(1+e^x). (Take the ρ_j of
    margin-bound-uniform in (ρ/(1+η), ρ].) AdaNet minimises a bound with λ = 2(1+η)/ρ and β_k = λ M_k sqrt(2 log l/m).

    Parameters
    ----------
    loss
        Mean surrogate loss on the sample, >= 0.
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.
    M
        Ranges M_1, .., M_l: |h| <= M_k for every h in H_k.
    rho
        Margin with Φ(1-u) >= ψ_ρ(u) for all u, fixed before the sample.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = objective_bound(0.1, [0.0, 1.0], [0.01, 0.02], m=10_000, delta=0.05, M=[1.0, 2.0])
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'loss': 0.1, 'complexity': 0.042, 'depth': 0.049451, 'confidence': 0.021674}
    """
    check_mixture(w_norms, R_m, M)
    check_m(m)
    check_delta(delta)
    check_rho(rho)
    check_nonnegative("the loss", loss)
    W_M = _weighted(w_norms, M, "W_M")
    if W_M == 0:
        return zero_function("objective-bound", "loss")
    index = abs(math.log(W_M / rho)) / math.log1p(eta)
    weighted = _weighted(w_norms, R_m, "objective-bound")
    terms = {
        "loss": loss,
        "complexity": finite((1 + eta) * 2 * weighted / rho, "objective-bound"),
        "depth": finite((1 + eta) * 2 * W_M * math.sqrt(2 * math.log(len(w_norms)) / m) / rho, "objective-bound"),
        "confidence": math.sqrt((math.log(PRIOR / delta) + 2 * math.log(2 + index)) / (2 * m)),
    }
    return MarginBound("objective-bound", terms, rho)
