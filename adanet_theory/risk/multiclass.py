"""C classes: f(x, y) = Σ_k w_{k,y} · h_k(x) over units that the classes share, and the bounds on its risk.

The margin of a point is f(x, y) - max_{y' != y} f(x, y'), an error is a margin <= 0, ||w_k||_1 is Σ_y ||w_{k,y}||_1.
Compared with two classes, C classes cost a factor 2 in front of the complexity and log C under the root: the margin is
sqrt(2)-Lipschitz in (f(x, 1), .., f(x, C)) for the Euclidean norm, Maurer's contraction costs another sqrt(2), and
one maximum is over C times as many suprema. At C = 2 the statements about y f(x) are better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import Array, check, check_rho, check_risk, finite, total
from adanet_theory.risk.generalization import margin_bound, margin_bound_uniform_at, objective_bound
from adanet_theory.risk.margin import ETA, MarginBound, best_margin, growth
from adanet_theory.risk.posterior import a_posteriori_at, a_posteriori_bounded_at


def multiclass_margins(f: ArrayLike, y: ArrayLike) -> Array:
    """f(x_i, y_i) - max_{y != y_i} f(x_i, y) for f of shape (m, C) and class indices y.

    Parameters
    ----------
    f
        Outputs, one row for each point and one column for each class.
    y
        Index of the true class of each row.

    Returns
    -------
    ndarray
        One margin for each row.

    Examples
    --------
    >>> multiclass_margins([[1.0, 3.0, 2.0], [0.5, 0.5, 0.0]], [1, 0])
    array([1., 0.])
    """
    values, labels = np.array(f, dtype=np.float64), np.asarray(y)
    check(values.ndim == 2 and values.shape[1] >= 2, f"f must hold >= 2 scores a point, got shape {values.shape}.")
    check(labels.shape == values.shape[:1], f"y must hold {len(values)} class indices, got {labels.shape}.")
    rows = np.arange(len(values))
    own = values[rows, labels]
    values[rows, labels] = -np.inf
    return own - values.max(axis=1)


def _check_classes(C: int) -> None:
    check(C >= 2 and int(C) == C, f"C must be an integer >= 2, got C={C}.")


def multiclass_margin_bound(
    ramp: float, w_norms: Sequence[float], R_m: Sequence[float], *, C: int, rho: float, m: int, delta: float, M: float
) -> MarginBound:
    """multiclass-margin-bound: for |h| <= M, ρ fixed beforehand, and margins of f/W, W = Σ_{k,y} ||w_{k,y}||_1.

        R(f) <= ramp_ρ(f/W) + (4/ρ) Σ_k (||w_k||_1/W) R_m(H_k) + (4M/ρ) sqrt(2 log(C l)/m) + sqrt(log(1/δ)/(2m))

    Parameters
    ----------
    ramp
        Mean ramp loss of f/W at ρ, in [0, 1].
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    C
        Number of classes, >= 2.
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
    >>> bound = multiclass_margin_bound(0.0, [1.0, 1.0], [0.01, 0.02], C=10, rho=0.5, m=10_000, delta=0.05, M=1.0)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.12, 'depth': 0.19582, 'confidence': 0.012239}
    """
    _check_classes(C)
    binary = margin_bound(ramp, w_norms, R_m, rho=rho, m=m, delta=delta, M=M)
    if binary.rho is None:
        return MarginBound("multiclass-margin-bound", binary.terms, None)
    depth = 4 * M / rho * math.sqrt(2 * math.log(C * len(w_norms)) / m)
    return _doubled("multiclass-margin-bound", binary, depth)


def multiclass_margin_bound_uniform_at(
    j: int,
    ramp: float,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    C: int,
    m: int,
    delta: float,
    M: Sequence[float],
    eta: float = ETA,
) -> MarginBound:
    """multiclass-margin-bound-uniform at one j: for all w and all ρ_j = W_M/(1+η)^j at once, W_M = Σ_k ||w_k||_1 M_k.

        R(f) <= ramp_{ρ_j}(f) + (4/ρ_j) Σ_k ||w_k||_1 R_m(H_k) + 4 (1+η)^j sqrt(2 log(C l)/m)
                + sqrt( [log((π²/3-1)/δ) + 2 log(|j|+1)] / (2m) )

    Parameters
    ----------
    j
        Index of the margin ρ_j = W_M/(1+η)^j.
    ramp
        Mean ramp loss of f at ρ_j = W_M/(1+η)^j, in [0, 1].
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    C
        Number of classes, >= 2.
    m
        Number of points in the sample, >= 1.
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
    >>> at = dict(C=10, m=10_000, delta=0.05, M=[1.0, 2.0])
    >>> bound = multiclass_margin_bound_uniform_at(10, 0.0, [0.0, 1.0], [0.01, 0.02], **at)
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'ramp': 0.0, 'complexity': 0.065156, 'depth': 0.159485, 'confidence': 0.020761}
    """
    _check_classes(C)
    binary = margin_bound_uniform_at(j, ramp, w_norms, R_m, m=m, delta=delta, M=M, eta=eta)
    depth = 4 * growth(eta, j, "multiclass-margin-bound-uniform") * math.sqrt(2 * math.log(C * len(w_norms)) / m)
    return _doubled("multiclass-margin-bound-uniform", binary, depth)


def multiclass_objective_bound(
    loss: float,
    w_norms: Sequence[float],
    R_m: Sequence[float],
    *,
    C: int,
    m: int,
    delta: float,
    M: Sequence[float],
    rho: float = 1.0,
    eta: float = ETA,
) -> MarginBound:
    """multiclass-objective-bound: the objective of C classes as a bound, for all w at once.

        R(f) <= loss + (1+η) Σ_k ||w_k||_1 [4 R_m(H_k) + 4 M_k sqrt(2 log(C l)/m)] / ρ
                + sqrt( [log((π²/3-1)/δ) + 2 log(2 + |log_{1+η}(W_M/ρ)|)] / (2m) )

    `loss` = (1/m) Σ_i log Σ_c exp(f(x_i, c) - f(x_i, y_i) + 1{c != y_i}) is at least the mean of log(1 + e^(1-u)) over
    the margins u. So ρ may be up to 2.844, as for two classes.

    Parameters
    ----------
    loss
        Mean surrogate loss on the sample, >= 0.
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    C
        Number of classes, >= 2.
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
    >>> bound = multiclass_objective_bound(0.1, [0.0, 1.0], [0.01, 0.02], C=10, m=10_000, delta=0.05, M=[1.0, 2.0])
    >>> {name: round(term, 6) for name, term in bound.terms.items()}
    {'loss': 0.1, 'complexity': 0.084, 'depth': 0.205611, 'confidence': 0.021674}
    """
    _check_classes(C)
    binary = objective_bound(loss, w_norms, R_m, m=m, delta=delta, M=M, rho=rho, eta=eta)
    if binary.rho is None:
        return MarginBound("multiclass-objective-bound", binary.terms, None)
    W_M = total((w * M_k for w, M_k in zip(w_norms, M, strict=True)), "W_M")
    depth = (1 + eta) * 4 * W_M * math.sqrt(2 * math.log(C * len(w_norms)) / m) / rho
    return _doubled("multiclass-objective-bound", binary, depth)


def _doubled(id: str, binary: MarginBound, depth: float | None = None) -> MarginBound:
    """The terms of the two-class bound with twice its complexity, and another depth term if it has one."""
    complexity = binary.terms["complexity"]
    assert complexity is not None
    other = {} if depth is None else {"depth": finite(depth, id)}
    return MarginBound(id, {**binary.terms, "complexity": finite(2 * complexity, id), **other}, binary.rho, binary.j)


def multiclass_a_posteriori(
    margins: ArrayLike,
    B: float,
    *,
    C: int,
    d: int,
    n_0: int,
    r_rms: float,
    delta: float,
    c: float = 1.5,
    eta: float = ETA,
) -> MarginBound:
    """multiclass-a-posteriori at the best j for the margins f(x, y) - max f(x, y').

    Parameters
    ----------
    margins
        Margins f(x_i, y_i) - max of the other outputs (`multiclass_margins`), not normalised.
    B
        Sum over the outputs of their path norms, >= 0; it is least for centred outputs.
    C
        Number of classes, >= 2.
    d
        Number of hidden layers, >= 0.
    n_0
        Number of features, the length of Ψ(x), >= 1.
    r_rms
        max_j sqrt(Σ_i Ψ_j(x_i)²/m), the largest root mean square of a feature, >= 0.
    delta
        Probability in (0, 1) with which the statement may fail.
    c
        Largest `Activation.peeling` over the layers, >= 1; 3/2 is that of ReLU.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = multiclass_a_posteriori([1.0] * 60_000, 3.0, C=10, d=1, n_0=784, r_rms=1.0, delta=0.05)
    >>> bound.j, round(bound.value, 6)
    (23, 0.250664)
    """
    m = len(np.asarray(margins))
    at = partial(multiclass_a_posteriori_at, B=B, C=C, d=d, n_0=n_0, r_rms=r_rms, m=m, delta=delta, c=c, eta=eta)
    return best_margin("multiclass-a-posteriori", margins, B, at, eta=eta)


def multiclass_a_posteriori_at(
    j: int,
    ramp: float,
    B: float,
    *,
    C: int,
    d: int,
    n_0: int,
    r_rms: float,
    m: int,
    delta: float,
    c: float = 1.5,
    eta: float = ETA,
) -> MarginBound:
    """multiclass-a-posteriori at one j: any trained network with homogeneous activations and C outputs.

        R(f) <= ramp_{ρ_j}(f) + 4 (1+η)^j r_rms sqrt( 2 log(2 C n_0 A_d)/m )
                + 2 sqrt( [log(1/δ) + log((d+1)(d+2)) + log(π²/3-1) + 2 log(|j|+1)] / (2m) )

    B is the sum of the path norms of the C outputs, and ρ_j = B/(1+η)^j. Subtracting one function from all outputs
    changes no margin. B is least if every collapsed weight has median 0 over the classes.
    """
    _check_classes(C)
    # 2 C n_0 stands where two classes have 2 n_0: C independent rows of signs, one maximum over all of them.
    two = a_posteriori_at(j, ramp, B, d=d, n_0=C * n_0, r_rms=r_rms, m=m, delta=delta, c=c, eta=eta)
    return _doubled("multiclass-a-posteriori", two)


def multiclass_a_posteriori_bounded_at(
    j: int,
    ramp: float,
    B: float,
    *,
    C: int,
    d: int,
    n_0: int,
    r_sup: float,
    m: int,
    delta: float,
    c: float = 1.5,
    eta: float = ETA,
) -> MarginBound:
    """multiclass-a-posteriori-bounded at one j: r_sup replaces r_rms, and 1 the leading 2 of the last term.

    Parameters
    ----------
    j
        Index of the margin ρ_j = B/(1+η)^j.
    ramp
        Mean ramp loss of f at ρ_j = B/(1+η)^j, in [0, 1].
    B
        Sum over the outputs of their path norms, > 0; it is least for centred outputs.
    C
        Number of classes, >= 2.
    d
        Number of hidden layers, >= 0.
    n_0
        Number of features, the length of Ψ(x), >= 1.
    r_sup
        A bound on ||Ψ(x)||_inf for every x, known before the sample, >= 0.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.
    c
        Largest `Activation.peeling` over the layers, >= 1; 3/2 is that of ReLU.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.
    """
    _check_classes(C)
    two = a_posteriori_bounded_at(j, ramp, B, d=d, n_0=C * n_0, r_sup=r_sup, m=m, delta=delta, c=c, eta=eta)
    return _doubled("multiclass-a-posteriori-bounded", two)


def kuznetsov_mohri_syed(
    margin_error: float, w_norms: Sequence[float], R_m: Sequence[float], *, C: int, rho: float, m: int, delta: float
) -> MarginBound:
    """Multi-Class Deep Boosting (Kuznetsov, Mohri, Syed 2014), Theorem 1, for ensembles of functions of (x, y):

        R(f) <= R_{S,ρ}(f) + (8C/ρ) Σ_k (||w_k||_1/W) R_m(Π_1(H_k)) + (2/(Cρ)) sqrt(log l/m)
                + sqrt( ceil((4/ρ²) log(C² ρ² m/(4 log l))) (log l)/m + log(2/δ)/(2m) )

    It only shows the dependence on C, for comparison. Its functions score all classes at once; |h| <= 1 and l >= 2.

    Parameters
    ----------
    margin_error
        Share of points with margin at most ρ, in [0, 1].
    w_norms
        ||w_1||_1, .., ||w_l||_1, the output weights of each layer, >= 0.
    R_m
        Complexities R_m(H_1), .., R_m(H_l), or upper values of them.
    C
        Number of classes, >= 2.
    rho
        Margin, > 0, fixed before the sample.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = kuznetsov_mohri_syed(0.0, [1.0, 1.0], [0.01, 0.02], C=10, rho=0.5, m=10_000, delta=0.05)
    >>> {name: round(term, 4) for name, term in bound.terms.items()}
    {'margin_error': 0.0, 'complexity': 2.4, 'depth': 0.0033, 'confidence': 0.1134}
    """
    _check_classes(C)
    check_rho(rho)
    layers = len(w_norms)
    check(layers >= 2, f"l must be >= 2, got l={layers}.")
    check_risk(margin_error, m, delta)
    W = total(w_norms, "W")
    check(W > 0 and len(R_m) == layers, f"w must not be 0 and R_m must hold l={layers} values, got {len(R_m)}.")
    mean = total((w * R for w, R in zip(w_norms, R_m, strict=True)), "kuznetsov-mohri-syed") / W
    ratio = C**2 * rho**2 * m / (4 * math.log(layers))
    check(ratio >= 1, f"C^2 rho^2 m/(4 log l) must be >= 1, got {ratio:.6g}.")
    blocks = math.ceil(4 / rho**2 * math.log(ratio))
    terms = {
        "margin_error": margin_error,
        "complexity": finite(8 * C / rho * mean, "kuznetsov-mohri-syed"),
        "depth": 2 / (C * rho) * math.sqrt(math.log(layers) / m),
        "confidence": math.sqrt(blocks * math.log(layers) / m + math.log(2 / delta) / (2 * m)),
    }
    return MarginBound("kuznetsov-mohri-syed", terms, rho)
