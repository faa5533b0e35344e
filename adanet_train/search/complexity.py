"""Γ_j = λ r_j + β: the complexities r that AdaNet can use, and the penalty made of them.

A complexity is a function (spec, k, Psi, H) -> r for units of H*_k whose outputs on the sample are the columns of H:
one number, or one per unit. Those that look at k only use the maximal widths of the declared family: the widths of the
network so far grow from round to round, and with them every earlier r (claim objective-width).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.complexity import rademacher
from adanet_theory.spec import NetworkSpec
from adanet_train.core.config import Config
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate

Penalty = Callable[[int, Tensor], Tensor]
"""(k, H) -> Γ of each column of H, units of layer k."""

_DRAWS = 1000


def below(spec: NetworkSpec, k: int) -> NetworkSpec:
    """The family of H*_k alone, so that what overflows in deeper layers does not matter here."""
    Lambda = {pair: bound for pair, bound in spec.Lambda.items() if pair[0] <= k}
    return NetworkSpec(spec.n[: k + 1], Lambda, spec.p, spec.activations[: k - 1])


def lemma_2(spec: NetworkSpec, k: int, *, m: int, r: float) -> float:
    """Lemma 2 at r_inf = r, the paper's choice."""
    return rademacher.layered_complexity(spec, k, m=m, r_inf=r)


def lemma_2_peeled(spec: NetworkSpec, k: int, *, m: int, r: float) -> float:
    """Lemma 2, peeled, at r_rms = r; its form for any activation where φ(0) != 0."""
    if any(phi.at_zero != 0 for phi in spec.activations[: k - 1]):
        return rademacher.peeled_complexity_offset(spec, k, m=m, r_rms=r)
    return rademacher.peeled_complexity(below(spec, k), k, m=m, r_rms=r)


def sampled(spec: NetworkSpec, k: int, Psi: Tensor) -> float:
    """R_S(H_1) = (Λ_{1,0}/m) E ||Σ_i σ_i Ψ(x_i)||_q from 1,000 draws of the signs, carried up by lemma-2-peeled."""
    from adanet_theory.complexity.estimates import sampled_linear_complexity

    rng = np.random.default_rng(0)
    R_S_1 = sampled_linear_complexity(Psi.cpu().numpy(), below(spec, 1), draws=_DRAWS, rng=rng).mean
    square_norms = float((torch.linalg.vector_norm(Psi, spec.q, dim=1) ** 2).sum())
    return rademacher.peeled_complexity_data(below(spec, k), k, m=len(Psi), R_S_1=R_S_1, square_norms=square_norms)


def standard_deviation(H: Tensor) -> Tensor:
    """AdaNet.SD: the standard deviation of each unit's output on the sample.

    >>> standard_deviation(torch.tensor([[1.0, 5.0], [-1.0, 5.0]])).tolist()
    [1.0, 0.0]
    """
    return H.std(0, correction=0)


def penalty(config: Config, spec: NetworkSpec, Psi: Tensor | Points, C: int | None = None) -> Penalty:
    """Γ = λ r + β as the config asks for it, on the sample Psi; what depends on k only is computed once.

    C is the number of classes where f has an output for each.
    """
    points = Psi if isinstance(Psi, Points) else Points.of(Psi, Psi.device)
    if config.goal.objective == "bound":
        by_layer = _bound_penalty(config, spec, points, C)
    elif callable(config.goal.complexity) or config.search.variant == "SD" or config.goal.complexity == "sd":
        return functools.partial(_output_penalty, config, spec, points)
    else:
        lam, r = config.goal.number, _layer_complexity(config, spec, points)

        def by_layer(k: int) -> float:
            return lam * r(k) + config.goal.beta

    by_layer = functools.cache(by_layer)
    return lambda k, H: torch.full((H.shape[1],), by_layer(k), dtype=torch.float64, device=H.device)


def _output_penalty(config: Config, spec: NetworkSpec, points: Points, k: int, H: Tensor) -> Tensor:
    r = (
        config.goal.complexity(spec, k, points.whole(), H)
        if callable(config.goal.complexity)
        else standard_deviation(H)
    )
    r = torch.as_tensor(r, dtype=torch.float64, device=H.device).expand(H.shape[1])
    check(bool((torch.isfinite(r) & (r >= 0)).all()), f"the complexity r must be finite and >= 0, got {r.tolist()}.")
    return config.goal.number * r + config.goal.beta


def _layer_complexity(config: Config, spec: NetworkSpec, points: Points) -> Callable[[int], float]:
    m = len(points)
    match config.goal.complexity:
        case "lemma-2":
            return lambda k: lemma_2(spec, k, m=m, r=points.largest)
        case "lemma-2-peeled":
            return lambda k: lemma_2_peeled(spec, k, m=m, r=points.r_rms)
        case "sampled":
            return lambda k: sampled(spec, k, points.whole())
        case _:
            return lambda k: math.sqrt(k)


def _bound_penalty(config: Config, spec: NetworkSpec, points: Points, C: int | None) -> Callable[[int], float]:
    """objective-bound: Γ_k = 2(1+η)/ρ [ r_k + M_k sqrt(2 log l/m) ], r_k >= R_m(H_k); then F bounds the risk.

    Of C classes multiclass-objective-bound: 4 for 2 and log(C l) for log l. ρ = 1, or the largest ρ with
    Φ(1-u) >= ψ_ρ(u). r and M at r_sup: what is known before the sample is drawn.
    """
    m, r_sup, largest = len(points), config.goal.r_sup, points.largest
    check(largest <= r_sup, f"r_sup must be at least the sample's ||Psi||_inf={largest}, got r_sup={r_sup}.")
    complexity = lemma_2 if config.goal.complexity == "lemma-2" else lemma_2_peeled
    Phi = surrogate(config.goal.surrogate)
    check(Phi.rho_max >= 1, f"objective='bound' needs Phi(1-u) >= psi_1(u), which {Phi.name} fails.")
    rho = Phi.rho_max if config.goal.largest_rho else 1.0
    factor, families = (2, spec.depth) if C is None else (4, C * spec.depth)

    def Gamma(k: int) -> float:
        M_k = rademacher.ranges(below(spec, k), r_sup=r_sup)[k - 1]
        r_k = complexity(spec, k, m=m, r=r_sup)
        return factor * (1 + config.goal.slack) / rho * (r_k + M_k * math.sqrt(2 * math.log(families) / m))

    return Gamma
