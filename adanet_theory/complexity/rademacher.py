"""Bounds on the empirical Rademacher complexity R_S(H_k) of the layer families: Lemmas 1-2, printed and corrected.

R_S lists R_S(H_1), R_S(H_2), ..: the value of layer s is at R_S[s - 1]. H_k reads every layer below, H*_k only
layer k - 1. The printed statements refuse an activation with φ(0) != 0 unless `literally` is set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from adanet_theory.checks import OutsideTheoryError, check, check_m, check_nonnegative, finite, product, total
from adanet_theory.spec import NetworkSpec, check_layer


def mean_absolute_sign_sum(m: int) -> float:
    """μ_m = E|Σ_i σ_i| / m = C(m-1, floor((m-1)/2)) / 2^(m-1) <= 1/sqrt(m).

    >>> mean_absolute_sign_sum(1), mean_absolute_sign_sum(2), mean_absolute_sign_sum(8)
    (1.0, 0.5, 0.2734375)
    """
    check_m(m)
    n = int(m) // 2  # the same number is C(2n, n) / 4^n = Γ(n + 1/2) / (sqrt(π) Γ(n + 1)), for odd and even m
    if n <= 500:
        return math.comb(2 * n, n) / 4**n
    tail = -1 / (8 * n) + 1 / (192 * n**3)  # log Γ(n + 1/2) - log Γ(n + 1) + log(n)/2, to far below an ulp here
    return math.exp(tail) / math.sqrt(math.pi * n)


def _check_lower_layers(spec: NetworkSpec, k: int, R_S: Sequence[float]) -> None:
    check_layer(spec, k, first=2)
    check(len(R_S) >= k - 1, f"R_S must hold the values of the {k - 1} layers below k={k}, got {len(R_S)}.")
    for s in range(1, k):
        check_nonnegative(f"R_S(H_{s})", R_S[s - 1])


# Lemma 1


def lemma_1(spec: NetworkSpec, k: int, R_S: Sequence[float], *, literally: bool = False) -> float:
    """Lemma 1: bound R_S(H_k) by the layers below.

        R_S(H_k) <= 2 Σ_{s<k} Λ_{k,s} n_s^(1/q) R_S(H_s)

    It holds only with φ(0) = 0: the step max(A, B) <= A + B of its proof needs A, B >= 0 (claim lemma-1).

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, 2 <= k <= l.
    R_S
        Complexities R_S(H_1), R_S(H_2), ..; the value of layer s is at index s - 1.
    literally
        Evaluate the printed formula even if its missing assumption fails. The number is then not a bound.

    Returns
    -------
    float
        The right-hand side.

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> lemma_1(NetworkSpec.layered((4, 9, 1), 1.0, p=2), 2, [0.5])
    3.0
    """
    _check_lower_layers(spec, k, R_S)
    if not literally:
        spec.require_lipschitz(below=k)
        spec.require_phi_zero(below=k)
    return finite(2 * sum(spec.bound(k, s) * spec.root(s) * R_S[s - 1] for s in range(1, k)), "lemma-1")


def lemma_1_exact(spec: NetworkSpec, k: int, sup_phi: Sequence[float]) -> float:
    """Lemma 1 as an equality, for any φ.

        R_S(H_k) = Σ_{s<k} Λ_{k,s} n_s^(1/q) (1/m) E sup_{h in H_s} |Σ_i σ_i φ_s(h(x_i))|

    `sup_phi[s - 1]` is the value (1/m) E sup|..| of layer s. (Duality in u_s; the sup over n_s units is n_s^(1/q) times
    the sup over one; the sups of different s decouple.)

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, 2 <= k <= l.
    sup_phi
        (1/m) E sup |Σ_i σ_i φ_s(h(x_i))| for the layers s < k.

    Returns
    -------
    float
        R_S(H_k).

    Examples
    --------
    >>> lemma_1_exact(NetworkSpec.layered((4, 9, 1), 1.0, p=2), 2, [0.5])
    1.5
    """
    _check_lower_layers(spec, k, sup_phi)
    return finite(sum(spec.bound(k, s) * spec.root(s) * sup_phi[s - 1] for s in range(1, k)), "lemma-1-exact")


def lemma_1_corrected(spec: NetworkSpec, k: int, R_S: Sequence[float], *, m: int) -> float:
    """Lemma 1, corrected: any Lipschitz φ, and no factor 2 on its odd part.

        R_S(H_k) <= Σ_{s<k} Λ_{k,s} n_s^(1/q) [ c_φ R_S(H_s) + |φ_s(0)| μ_m ],   c_φ = Activation.contraction

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, 2 <= k <= l.
    R_S
        Complexities R_S(H_1), R_S(H_2), ..; the value of layer s is at index s - 1.
    m
        Number of points in the sample, >= 1.

    Returns
    -------
    float
        An upper value of R_S(H_k).

    Examples
    --------
    >>> lemma_1_corrected(NetworkSpec.layered((4, 9, 1), 1.0, p=2), 2, [0.5], m=10)
    2.25
    """
    _check_lower_layers(spec, k, R_S)
    mu = mean_absolute_sign_sum(m)
    total = 0.0
    for s in range(1, k):
        phi = spec.phi(s)
        total += spec.bound(k, s) * spec.root(s) * (phi.contraction * R_S[s - 1] + abs(phi.at_zero) * mu)
    return finite(total, "lemma-1-corrected")


# Layer 1


def first_layer_closed(spec: NetworkSpec, *, m: int, r_rms: float) -> float:
    """h1-closed: bound R_S(H_1) without sampling signs.

        R_S(H_1) <= r_rms Λ_{1,0} n_0^(1/q) C_q / sqrt(m),   C_q = min{ sqrt(2 log 2n_0), κ_q }
        κ_q = 1 for q <= 2,   sqrt(2) (Γ((q+1)/2)/sqrt(π))^(1/q) for 2 < q < inf (Khintchine-Haagerup), none at q = inf

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    m
        Number of points in the sample, >= 1.
    r_rms
        max_j sqrt(Σ_i Ψ_j(x_i)²/m), the largest root mean square of a feature, >= 0.

    Returns
    -------
    float
        An upper value of R_S(H_1).

    Examples
    --------
    >>> first_layer_closed(NetworkSpec.layered((4, 1), 1.0, p=2), m=100, r_rms=1.0)
    0.2
    """
    check_m(m)
    check_nonnegative("r_rms", r_rms)
    q = spec.q
    constant = math.sqrt(2 * math.log(2 * spec.n[0]))
    if q <= 2:
        constant = min(constant, 1.0)
    elif q < math.inf:
        haagerup = (math.lgamma((q + 1) / 2) - math.log(math.pi) / 2) / q
        constant = min(constant, math.sqrt(2) * math.exp(haagerup))
    return product([r_rms, spec.bound(1, 0), spec.root(0), constant, 1 / math.sqrt(m)], "h1-closed")


# Lemma 2


def layered_complexity(spec: NetworkSpec, k: int, *, m: int, r_inf: float, literally: bool = False) -> float:
    """Lemma 2: bound R_S(H*_k), units that read only the layer below.

        R_S(H*_k) <= r_inf Λ_k N_k^(1/q) sqrt(log(2 n_0) / 2m),   Λ_k = Π 2Λ_{s,s-1},  N_k = Π n_{s-1},  s <= k

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, counted from 1.
    m
        Number of points in the sample, >= 1.
    r_inf
        max_i ||Ψ(x_i)||_inf of the sample, >= 0.
    literally
        Evaluate the printed formula even if its missing assumption fails. The number is then not a bound.

    Returns
    -------
    float
        The right-hand side.

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> round(layered_complexity(NetworkSpec.layered((154, 10, 1), 1.0, p=1), 2, m=9600, r_inf=1.0), 6)
    0.069102
    """
    check_layer(spec, k)
    check_m(m)
    check_nonnegative("r_inf", r_inf)
    if not literally:
        spec.require_lipschitz(below=k)
        spec.require_phi_zero(below=k)
    layers = [2 * spec.bound(s, s - 1) * spec.root(s - 1) for s in range(1, k + 1)]
    return product([r_inf, *layers, math.sqrt(math.log(2 * spec.n[0]) / (2 * m))], "lemma-2")


def peeling_factors(spec: NetworkSpec) -> list[tuple[float, float]]:
    """(P_k, D_k) for k = 1..l: the scale, and the factor in the moments, of peeling off the layers below k.

        P_1 = Λ_{1,0} n_0^(1/q),  P_k = Σ_s Λ_{k,s} n_s^(1/q) L_s P_s
        D_1 = 1,                  D_k = Σ_s π_s e_s D_s,   π_s = Λ_{k,s} n_s^(1/q) L_s P_s / P_k

    e_s is Activation.peeling of φ_s.

    >>> peeling_factors(NetworkSpec.layered((4, 9, 1), 1.0, p=2))
    [(2.0, 1.0), (6.0, 1.5)]
    """
    factors = [(product([spec.bound(1, 0), spec.root(0)], "P_1"), 1.0)]
    for k in range(2, spec.depth + 1):
        shares = []
        for s in range(1, k):
            phi = spec.phi(s)
            P_s, D_s = factors[s - 1]
            share = product([spec.bound(k, s), spec.root(s), phi.lipschitz, P_s], f"P_{k}")
            shares.append((share, phi.peeling * D_s))
        P_k = total((share for share, _ in shares), f"P_{k}")
        D_k = math.fsum(share / P_k * price for share, price in shares) if P_k > 0 else 1.0
        factors.append((P_k, D_k))
    return factors


def peeled_complexity(spec: NetworkSpec, k: int, *, m: int, r_rms: float) -> float:
    """Lemma 2, peeled: bound R_S(H_k) for φ(0) = 0, without a power of 2, for units that read every layer below.

        R_S(H_k) <= r_rms P_k sqrt( 2 [log(2n_0) + log D_k] / m )

    For layered ReLU networks: r_rms Π Λ_{s,s-1} N_k^(1/q) sqrt( 2 [log(2n_0) + (k-1) log(3/2)] / m ).

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, counted from 1.
    m
        Number of points in the sample, >= 1.
    r_rms
        max_j sqrt(Σ_i Ψ_j(x_i)²/m), the largest root mean square of a feature, >= 0.

    Returns
    -------
    float
        An upper value of R_S(H_k).

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> round(peeled_complexity(NetworkSpec.layered((154, 10, 1), 1.0, p=1), 2, m=9600, r_rms=1.0), 6)
    0.035753
    """
    check_layer(spec, k)
    check_m(m)
    check_nonnegative("r_rms", r_rms)
    spec.require_phi_zero(below=k)
    P_k, D_k = peeling_factors(spec)[k - 1]
    return product([r_rms, P_k, math.sqrt(2 * (math.log(2 * spec.n[0]) + math.log(D_k)) / m)], "lemma-2-peeled")


def peeled_complexity_data(spec: NetworkSpec, k: int, *, m: int, R_S_1: float, square_norms: float) -> float:
    """Lemma 2, peeled, in terms of the sample: R_S(H_k) from R_S(H_1), φ(0) = 0.

        R_S(H_k) <= (P_k/P_1) { R_S(H_1) + (Λ_{1,0}/m) sqrt( 2 log D_k Σ_i ||Ψ(x_i)||_q^2 ) }

    `square_norms` is Σ_i ||Ψ(x_i)||_q^2; layered families have P_k/P_1 = Π_{s=2..k} Λ_{s,s-1} n_{s-1}^(1/q) L.
    (As above. At layer 1 sup|Σ σ_i h(x_i)| is near its mean, by bounded differences in the signs.)

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, counted from 1.
    m
        Number of points in the sample, >= 1.
    R_S_1
        R_S(H_1), or an upper value of it, >= 0.
    square_norms
        Σ_i ||Ψ(x_i)||_q² over the sample.

    Returns
    -------
    float
        An upper value of R_S(H_k).

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> spec = NetworkSpec.layered((4, 9, 1), 1.0, p=2)
    >>> round(peeled_complexity_data(spec, 2, m=100, R_S_1=0.15, square_norms=200.0), 6)
    0.832057
    """
    check_layer(spec, k)
    check_m(m)
    check_nonnegative("R_S(H_1)", R_S_1)
    check_nonnegative("sum of ||Psi||_q^2", square_norms)
    spec.require_phi_zero(below=k)
    factors = peeling_factors(spec)
    P_1, (P_k, D_k) = factors[0][0], factors[k - 1]
    if P_k == 0:
        return 0.0
    deviation = spec.bound(1, 0) / m * math.sqrt(2 * math.log(D_k) * square_norms)
    return finite(P_k / P_1 * (R_S_1 + deviation), "lemma-2-peeled-data")


def peeled_complexity_offset(spec: NetworkSpec, k: int, *, m: int, r_rms: float) -> float:
    """Lemma 2, peeled, for any Lipschitz φ, even with φ(0) != 0.

        R_S(H_k) <= Q_k sqrt( 2 [log(2n_0) + (k-1) log 2] / m )
        Q_1 = r_rms Λ_{1,0} n_0^(1/q),   Q_k = Σ_s Λ_{k,s} n_s^(1/q) (L_s Q_s + |φ_s(0)|)

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, counted from 1.
    m
        Number of points in the sample, >= 1.
    r_rms
        max_j sqrt(Σ_i Ψ_j(x_i)²/m), the largest root mean square of a feature, >= 0.

    Returns
    -------
    float
        An upper value of R_S(H_k).

    Examples
    --------
    >>> spec = NetworkSpec.layered((154, 10, 1), 1.0, 1, "sigmoid")
    >>> round(peeled_complexity_offset(spec, 2, m=9600, r_rms=1.0), 6)
    0.027436
    """
    check_layer(spec, k)
    check_m(m)
    check_nonnegative("r_rms", r_rms)
    Q = [product([r_rms, spec.bound(1, 0), spec.root(0)], "Q_1")]
    for j in range(2, k + 1):
        inputs = [spec.phi(s).lipschitz * Q[s - 1] + abs(spec.phi(s).at_zero) for s in range(1, j)]
        Q.append(_weighted_sum(spec, j, inputs, "lemma-2-peeled-offset"))
    return product(
        [Q[-1], math.sqrt(2 * (math.log(2 * spec.n[0]) + (k - 1) * math.log(2)) / m)], "lemma-2-peeled-offset"
    )


def _weighted_sum(spec: NetworkSpec, k: int, values: Sequence[float], statement: str) -> float:
    """Σ_{s<k} Λ_{k,s} n_s^(1/q) values_s."""
    parts = (product([spec.bound(k, s), spec.root(s), values[s - 1]], statement) for s in range(1, k))
    return total(parts, statement)


# How much of it is real, and how large a unit can be


def depth_lower(spec: NetworkSpec, k: int, R_S_k: float) -> float:
    """depth-lower: bound R_S(H*_{k+1}) from below by R_S(H*_k), for layered ReLU (for k >= 2 also |x|).

        R_S(H*_{k+1}) >= Λ_{k+1,k} n_k^(1/q) R_S(H*_k)   for k >= 2,   and half of it (sharp) for k = 1, ReLU

    So growth like the product of Λ n^(1/q) is real. The powers of 2 and 4 in Lemma 2 and Corollary 1 are artefacts.

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    k
        Layer, 1 <= k < l.
    R_S_k
        R_S(H*_k), or a lower value of it, >= 0.

    Returns
    -------
    float
        A lower value of R_S(H*_{k+1}).

    Raises
    ------
    OutsideTheoryError
        If an assumption of the statement fails.

    Examples
    --------
    >>> spec = NetworkSpec.layered((4, 9, 9, 1), 1.0, p=2)
    >>> depth_lower(spec, 1, 0.5), depth_lower(spec, 2, 0.5)
    (0.75, 1.5)
    """
    check_layer(spec, k + 1, first=2)
    check_nonnegative(f"R_S(H_{k})", R_S_k)
    if not spec.is_layered:
        raise OutsideTheoryError("layered", "depth-lower is about families whose units read only the layer below.")
    allowed = ("relu",) if k == 1 else ("relu", "abs")
    for s in range(max(k - 1, 1), k + 1):
        if spec.phi(s).name not in allowed:
            raise OutsideTheoryError(
                "relu", f"depth-lower at k={k} needs {' or '.join(allowed)}, got {spec.phi(s).name}."
            )
    factor = 0.5 if k == 1 else 1.0
    return product([factor, spec.bound(k + 1, k), spec.root(k), R_S_k], "depth-lower")


def ranges(spec: NetworkSpec, *, r_sup: float) -> list[float]:
    """M_1, .., M_l with |h| <= M_k for every h in H_k, on the whole support.

        M_1 = Λ_{1,0} n_0^(1/q) r_sup,   M_k = Σ_s Λ_{k,s} n_s^(1/q) min{ L_s M_s + |φ_s(0)|, sup|φ_s| }

    Parameters
    ----------
    spec
        The family of networks, declared before the sample.
    r_sup
        A bound on ||Ψ(x)||_inf for every x, known before the sample, >= 0.

    Returns
    -------
    list of float
        M_1, .., M_l.

    Examples
    --------
    >>> ranges(NetworkSpec.layered((4, 9, 1), 1.0, p=2), r_sup=1.0)
    [2.0, 6.0]
    """
    check_nonnegative("r_sup", r_sup)
    M = [product([spec.bound(1, 0), spec.root(0), r_sup], "M_1")]
    for k in range(2, spec.depth + 1):
        reach = [min(spec.phi(s).lipschitz * M[s - 1] + abs(spec.phi(s).at_zero), spec.phi(s).sup) for s in range(1, k)]
        M.append(_weighted_sum(spec, k, reach, f"M_{k}"))
    return M
