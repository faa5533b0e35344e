"""AdaNet.CVX (Appendix C): the unit of steepest descent, the score of its layer, and the guaranteed decrease.

    ε_i = E_{D_t}[y φ_{s-1}(h_{s-1,i})],   D_t(i) ∝ Φ'(1 - y_i f_{t-1}(x_i)),   S_t = Σ_i Φ'(1 - y_i f_{t-1}(x_i))

The paper calls the pair (closed-form unit, its best weight) the joint minimiser of F_t. It is only the steepest
direction. The joint minimiser solves another convex problem, without a closed form (claim cvx-joint-minimiser).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import Array, check, check_nonnegative
from adanet_theory.norms import conjugate, dual_direction, p_norm


def dual_vector(eps: ArrayLike, Lambda: float, p: float) -> Array:
    """The closed form, corrected: argmax of u·ε over ||u||_p <= Λ, where u·ε = Λ ||ε||_q.

        u_i = Λ sgn(ε_i) |ε_i|^(q-1) / ||ε||_q^(q-1)

    At p = 1 all weight is on the first largest |ε_i| (any maximiser works). At p = inf, u_i = Λ sgn(ε_i). At ε = 0
    nothing descends, and u = 0.

    Parameters
    ----------
    eps
        The vector ε of weighted correlations, one number for each unit below.
    Lambda
        Bound Λ >= 0 on the p-norm of the weights of one unit.
    p
        Exponent of the norm, in [1, inf].

    Returns
    -------
    ndarray
        The weights u of the unit.

    Examples
    --------
    >>> dual_vector([3.0, -4.0], Lambda=5.0, p=2)
    array([ 3., -4.])
    >>> dual_vector([3.0, -4.0], Lambda=5.0, p=1)
    array([ 0., -5.])
    """
    check(p >= 1, f"p must be in [1, inf], got p={p}.")
    check_nonnegative("Lambda", Lambda)
    eps = np.asarray(eps, dtype=np.float64)
    check(eps.ndim == 1 and bool(np.isfinite(eps).all()), "eps must be a vector of finite numbers.")
    if p == math.inf or not eps.any():
        return np.asarray(Lambda * np.sign(eps))
    if p == 1:
        u, first = np.zeros_like(eps), np.abs(eps).argmax()
        u[first] = np.sign(eps[first])
    else:
        u = dual_direction(eps, p)
        u /= p_norm(u, p)
    # The print has no sign (claim cvx-sign): with it missing, one ε_i < 0 already costs more than half the descent.
    return np.asarray(Lambda * u)


def printed_dual_vector(eps: ArrayLike, Lambda: float, p: float) -> Array:
    """The closed form as printed, for comparison only: u_i = Λ |ε_i|^(q-1) / ||ε||_q^(q/p), with no sign.

    Undefined at p = 1 (q = inf) and at ε = 0.

    Parameters
    ----------
    eps
        The vector ε of weighted correlations, one number for each unit below.
    Lambda
        Bound Λ >= 0 on the p-norm of the weights of one unit.
    p
        Exponent of the norm, in (1, inf].

    Returns
    -------
    ndarray
        The weights u of the unit.

    Examples
    --------
    >>> printed_dual_vector([3.0, -4.0], Lambda=5.0, p=2)
    array([3., 4.])
    """
    check(p > 1, f"the printed formula needs p > 1, got p={p}.")
    q = conjugate(p)
    eps = np.asarray(eps)
    check(bool(np.any(eps)), "the printed formula needs eps != 0, got eps=0.")
    return np.asarray(Lambda * np.abs(eps) ** (q - 1) / p_norm(eps, q) ** (q / p))


def layer_score(eps: ArrayLike, Lambda: float, p: float, mean_derivative: float) -> float:
    """g_s = Λ_{s,s-1} ||ε_s||_q S_t/m: how fast the loss falls, at w = 0, along the best unit of layer s.

    `mean_derivative` is S_t/m.

    Parameters
    ----------
    eps
        The vector ε of weighted correlations, one number for each unit below.
    Lambda
        Bound Λ >= 0 on the p-norm of the weights of one unit.
    p
        Exponent of the norm, in [1, inf].
    mean_derivative
        S_t/m, the mean of Φ'(1 - y_i f(x_i)), >= 0.

    Returns
    -------
    float
        g_s, >= 0.

    Examples
    --------
    >>> layer_score([3.0, -4.0], Lambda=2.0, p=2, mean_derivative=0.5)
    5.0
    """
    check_nonnegative("Lambda", Lambda)
    check_nonnegative("S_t/m", mean_derivative)
    return Lambda * p_norm(eps, conjugate(p)) * mean_derivative


def is_optimal(g: float, Gamma: float) -> bool:
    """Whether w = 0 is optimal over all units of the layer: g_s <= Γ_s.

    Parameters
    ----------
    g
        Score g_s of the layer (`layer_score`).
    Gamma
        Penalty Γ_s of one unit of weight in the layer.

    Returns
    -------
    bool
        True if no unit of the layer lowers the objective.

    Examples
    --------
    >>> is_optimal(g=0.3, Gamma=0.5), is_optimal(g=0.5, Gamma=0.3)
    (True, False)
    """
    return g <= Gamma


def guaranteed_decrease(g: float, Gamma: float, *, tau: float, mean_square: float) -> float:
    """Bound the decrease of the closed-form step from below, if Φ'' <= τ: (g_s - Γ_s)_+^2 / (2 τ (1/m) Σ h(x_i)^2).

    (F_t(w, h) <= F_t(0, h) - (g - Γ) w + τ mean(h^2) w^2/2 for w >= 0; take the best w.) The logistic loss has τ = 1/4.
    The exponential loss has τ = inf, so no decrease is guaranteed.

    Parameters
    ----------
    g
        Score g_s of the layer (`layer_score`).
    Gamma
        Penalty Γ_s of one unit of weight in the layer.
    tau
        Largest second derivative of the loss Φ, > 0; 1/4 for the logistic loss, inf for the exponential.
    mean_square
        (1/m) Σ_i h(x_i)² of the new unit.

    Returns
    -------
    float
        A lower value of the decrease of F_t, >= 0.

    Examples
    --------
    >>> guaranteed_decrease(0.5, 0.25, tau=0.25, mean_square=1.0)
    0.125
    """
    check(tau > 0, f"tau must be > 0, got tau={tau}.")
    check_nonnegative("mean_square", mean_square)
    excess = max(g - Gamma, 0.0)
    if excess == 0 or tau == math.inf:
        return 0.0
    check(mean_square > 0, "mean_square must be > 0 where g > Gamma, got 0.")
    return excess * excess / (2 * tau * mean_square)
