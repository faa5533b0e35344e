"""stochastic-certificate: for any network, but about its *randomised* form, with new weights for every prediction.

Q is Gaussian around the trained weights. P is Gaussian around weights that do not depend on the m points of the
statement: drawn at random, or trained on another part of the sample.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.certificates.derandomise import Certificate, certificate
from adanet_theory.certificates.kl import kl_inverse
from adanet_theory.checks import check, check_delta, check_m

SAMPLED = 0.1  # the share of δ for the Monte-Carlo estimate


def gaussian_kl(w: ArrayLike, s: ArrayLike, w_0: ArrayLike, s_0: ArrayLike) -> float:
    """KL( N(w, diag s^2) || N(w_0, diag s_0^2) ) = Σ_j [ ((w-w_0)^2 + s^2)/(2 s_0^2) - 1/2 + log(s_0/s) ].

    >>> gaussian_kl([3.0], [1.0], [0.0], [1.0]), round(gaussian_kl([1.0], [1.0], [0.0], [2.0]), 12)
    (4.5, 0.44314718056)
    """
    arrays = (np.asarray(values, dtype=np.float64) for values in (w, s, w_0, s_0))
    w, s, w_0, s_0 = np.broadcast_arrays(*arrays)
    check(bool(np.all(s > 0) and np.all(s_0 > 0)), "s and s_0 must be > 0.")
    return math.fsum(((w - w_0) ** 2 + s**2) / (2 * s_0**2) - 0.5 + np.log(s_0 / s))


def stochastic_certificate(
    error: float, *, draws: int, shared: bool, KL: float, m: int, delta: float, tried: int = 1, grid: float = 0.0
) -> Certificate:
    """E_{w ~ Q} R(f_w) <= kl^-1( q, [KL + log(ξ(m)/(.9 δ)) + grid]/m ),  q = kl^-1( error, log(K/(.1 δ))/T' ).

    `error` is the mean loss of `draws` weight vectors per point, and T' = draws · m. If all points share the vectors
    (`shared`), only T' = draws independent means are averaged. K = `tried` settings were compared on these draws.
    `grid` is log G of the priors that were tried. It says nothing about the network with the mean weights.

    >>> round(stochastic_certificate(0.02, draws=100, shared=False, KL=2.0, m=6000, delta=0.05).raw, 6)
    0.029718
    """
    check_m(m)
    check_delta(delta)
    check(draws >= 1 and tried >= 1, f"draws and tried must be >= 1, got draws={draws}, tried={tried}.")
    independent = draws if shared else draws * m
    q = kl_inverse(error, math.log(tried / (SAMPLED * delta)) / independent)
    main = (1 - SAMPLED) * delta
    return certificate("stochastic-certificate", q, KL=KL, grid=grid, b=1.0, m=m, delta=main, draws=draws)
