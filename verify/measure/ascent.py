"""Lower values of R_S(H_k) for every layer of any family, from sign vectors drawn at random.

    R_S(H_k) = (1/m) E Z_k(σ),   Z_1(σ) = Λ_{1,0} ||Σ_i σ_i Ψ(x_i)||_q,
    Z_k(σ) = Σ_{s<k} Λ_{k,s} n_s^(1/q) max{ T_s(σ), T_s(-σ) },   T_s(σ) = sup_{h in H_s} Σ_i σ_i φ_s(h(x_i))

(lemma-1-exact). Z_1 is computed; each T_s is searched from below over one unit by `unit_ascent`, for all draws and
starts at once, up to s = 3; from there on the best unit found is carried up. For ReLU and |x| besides
T_s(σ) >= Σ_r Λ_{s,r} n_r^(1/q) T_r(σ): the sum of the maximisers of the layers below is >= 0, so φ_s leaves it alone
(depth-lower).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import Array, Progress, check
from adanet_theory.complexity.unit_supremum import matrix
from adanet_theory.norms import all_signs, norms, p_norm
from adanet_theory.rounding import TINY
from adanet_theory.spec import NetworkSpec
from verify.measure.effort import DEEPEST
from verify.measure.unit_ascent import UnitSearch, Weights

# Numbers held at once in a layer's outputs; the draws are taken in as many batches as that needs.
_BATCH = 2**22
_NON_NEGATIVE = {"relu", "abs"}


@dataclass(frozen=True)
class LowerValue:
    """lower <= R_S(H_k), surely if confidence is 1, else with at least that probability over the drawn signs.

    `mean` is the average over the draws of values that are themselves lower ones, `stderr` its standard error (0 if
    every sign vector was taken, then draws is 0). The confidence is that of this layer alone; all layers share
    their draws.
    """

    k: int
    lower: float
    mean: float
    stderr: float
    draws: int
    method: str
    confidence: float


def lower_complexities(
    spec: NetworkSpec,
    Psi: Any,
    *,
    draws: int,
    seed: int,
    device: str = "cpu",
    progress: Progress | None = None,
    confidence: float = 0.95,
    restarts: int = 8,
    steps: int = 25,
    width: int = 2,
) -> list[LowerValue]:
    """A lower value of R_S(H_k) for each layer k = 1, .., l; all signs are taken where draws >= 2^(m-1).

        R_S(H_k) >= mean - (1/m) sqrt(2 v log(1/δ) / draws)   with probability 1 - δ = confidence,

    with the v of `spreads`. Every draw's value belongs to a member of the family, rounded down, so that more
    restarts, steps or distinct units a layer (width) can only bring the mean closer to R_S(H_k). progress(done,
    total) counts searches. Equal seeds give equal results on one device.

    >>> spec = NetworkSpec.layered((2, 3, 1), 1.0, p=2)
    >>> [round(value.mean, 6) for value in lower_complexities(spec, [[1, 0], [0, 1]], draws=2, seed=0)]
    [0.707107, 1.045385]
    """
    X = _checked(spec, Psi, draws, confidence)
    for name, count in (("restarts", restarts), ("width", width)):
        check(count >= 1 and count == int(count), f"{name} must be an integer >= 1, got {name}={count}.")
    m = len(X)
    generator = torch.Generator().manual_seed(seed)
    exhaustive = m - 1 <= math.log2(draws)
    signs = _half_of_all(m) if exhaustive else _random_signs(draws, m, generator)
    sample = torch.from_numpy(X).to(device)
    search = UnitSearch(spec, sample, generator, restarts, steps, width)
    Z = _suprema(search, signs, progress).cpu().numpy()
    if not np.isfinite(Z).all():
        raise OverflowError("R_S exceeds the largest float, 1.8e308.")
    reach = ranges(spec, X)
    spread, lost = spreads(spec, X, reach), _underflow(spec, m)
    error = 0.0 if exhaustive else math.sqrt(2 * math.log(1 / (1 - confidence)) / draws)
    kind = "all signs" if exhaustive else "drawn signs"
    values = []
    for k in range(1, spec.depth + 1):
        mean = math.fsum(Z[k - 1]) / len(signs)
        slack = (1 + 1e-9) * error * spread[k] + _rounding(spec, m, reach[k]) + m * lost[k]
        values.append(
            LowerValue(
                k,
                lower=max(mean - slack, 0.0) / m,
                mean=mean / m,
                stderr=0.0 if exhaustive else float(np.std(Z[k - 1], ddof=1)) / math.sqrt(draws) / m,
                draws=0 if exhaustive else draws,
                method=kind + (", ascent" if k > 1 else "") + (", carried up" if k > DEEPEST + 1 else ""),
                confidence=1.0 if exhaustive else confidence,
            )
        )
    return values


# The suprema


def _suprema(search: UnitSearch, signs: Tensor, progress: Progress | None) -> Tensor:
    """Lower values of Z_k(σ), a row for each layer and a column for each σ."""
    spec, X = search.spec, search.Psi
    largest = max([search.units(r) for r in range(1, spec.depth)], default=1)
    batch = max(1, _BATCH // (2 * search.restarts * max(1, largest) * len(X)))
    searches = max(1, spec.depth - 1)
    Z = X.new_zeros(spec.depth, len(signs))
    for start in range(0, len(signs), batch):
        part = signs[start : start + batch].to(X)
        columns = slice(start, start + len(part))
        Z[0, columns] = spec.bound(1, 0) * torch.linalg.vector_norm(part @ X, spec.q, dim=1)
        for s, values in enumerate(_by_layer(search, part), start=1):
            if progress is not None:
                progress(start * searches + s * len(part), len(signs) * searches)
            both = values.reshape(2, -1).amax(0)
            for k in range(s + 1, spec.depth + 1):
                Z[k - 1, columns] += spec.bound(k, s) * spec.root(s) * both
    return Z


def _by_layer(search: UnitSearch, part: Tensor) -> Iterator[Tensor]:
    """Lower values of T_s(σ) and T_s(-σ) for s = 1, .., l-1, one after the other."""
    spec = search.spec
    signs = torch.cat([part, -part])
    values: list[Tensor] = []
    below: Weights = {}
    for s in range(1, spec.depth):
        value, below = search.best(s, signs, below)
        if all(spec.phi(r).name in _NON_NEGATIVE for r in range(1, s + 1)):
            carried = sum(
                (spec.bound(s, r) * spec.root(r) * values[r - 1] for r in range(1, s)), torch.zeros_like(value)
            )
            value = torch.maximum(value, carried)
        values.append(value)
        yield value


def _half_of_all(m: int) -> Tensor:
    """Of the 2^m sign vectors those with the last sign +: Z_k is even in σ."""
    return torch.from_numpy(all_signs(m)[: 2 ** (m - 1)])


def _random_signs(draws: int, m: int, generator: torch.Generator) -> Tensor:
    return torch.randint(0, 2, (draws, m), generator=generator, dtype=torch.int8).mul_(2).sub_(1)


# How far a mean of drawn suprema may lie above its expectation


def ranges(spec: NetworkSpec, X: Array) -> list[Array]:
    """M_k(x_i) >= sup_{H_k} |h(x_i)|: the M_k of the theory with ||Ψ(x_i)||_q for n_0^(1/q) r_sup; [0] is empty."""
    M = [np.zeros(0), spec.bound(1, 0) * norms(X, spec.q)]
    for k in range(2, spec.depth + 1):
        reach = np.zeros(len(X))
        for s in range(1, k):
            phi = spec.phi(s)
            reach += spec.bound(k, s) * spec.root(s) * np.minimum(phi.lipschitz * M[s] + abs(phi.at_zero), phi.sup)
        M.append(reach)
    return M


def spreads(spec: NetworkSpec, X: Array, reach: list[Array]) -> list[float]:
    """sqrt(v_k) with  E e^{t (Z_k - E Z_k)} <= e^{t² v_k/2}  for all t >= 0; [0] is 0.

        v_k = min{ Σ_i M_k(x_i)²,  2 sup_{h in H_k} Σ_i h(x_i)² }

    First: changing σ_i moves Z_k by at most 2 M_k(x_i) (bounded differences). Second: with h the maximiser at σ,
    (Z_k(σ) - Z_k(σ^i))_+ <= 2 |h(x_i)|, σ^i having the i-th sign changed; for such functions of independent signs the
    logarithmic Sobolev inequality gives the exponent t² Σ_i (2 h(x_i))²/4 (Boucheron, Lugosi, Massart 2013,
    Theorem 5.3). It is one-sided, and the side is the one a lower value needs.
    """
    root_m = math.sqrt(len(X))
    E = [0.0, spec.bound(1, 0) * _longest(X, spec.p)]
    for k in range(2, spec.depth + 1):
        E.append(0.0)
        for s in range(1, k):
            phi = spec.phi(s)
            far = min(phi.lipschitz * E[s] + abs(phi.at_zero) * root_m, phi.sup * root_m)
            E[k] += spec.bound(k, s) * spec.root(s) * far
    return [0.0] + [min(p_norm(M, 2), math.sqrt(2) * e) for M, e in zip(reach[1:], E[1:], strict=True)]


def _longest(X: Array, p: float) -> float:
    """An upper value of sup_{||u||_p <= 1} ||Ψ u||_2; inf where its eigenvalue problem would be too large."""
    m, n_0 = X.shape
    if p == 1:
        return max(p_norm(column, 2) for column in X.T) * (1 + m * 2.0**-51)
    if min(m, n_0) > 4096:
        return math.inf
    unit = float(np.abs(X).max()) or 1.0
    x = X / unit
    gram = x.T @ x if n_0 <= m else x @ x.T
    top = float(np.linalg.eigvalsh(gram)[-1]) + (m + n_0) * 2.0**-50 * float(np.trace(gram))
    # the p-ball lies in the Euclidean ball, for p > 2 in n_0^(1/2 - 1/p) times it
    return unit * math.sqrt(top) * float(n_0) ** max(0.0, 0.5 - 1 / p)


def _rounding(spec: NetworkSpec, m: int, reach: Array) -> float:
    """An upper value of the error of a computed Z_k: a rounding for each of the terms of its sums, with room."""
    return (m + sum(spec.n[:-1]) + 64 * spec.depth) * 2.0**-50 * float(reach.sum())


def _underflow(spec: NetworkSpec, m: int) -> list[float]:
    """Upper values of what underflow may add to a unit of layer k, amplified by the layers above; [0] is empty."""
    once = (m + sum(spec.n[:-1]) + 64 * spec.depth) * TINY
    lost = [0.0, once]
    for k in range(2, spec.depth + 1):
        from_below = (spec.bound(k, s) * spec.root(s) * (spec.phi(s).lipschitz * lost[s] + TINY) for s in range(1, k))
        lost.append(sum(from_below, once))
    return lost


def _checked(spec: NetworkSpec, Psi: Any, draws: int, confidence: float) -> Array:
    X = np.asarray(matrix(Psi), dtype=np.float64)
    check(X.shape[1] == spec.n[0], f"Psi must have n_0={spec.n[0]} columns, got {X.shape[1]}.")
    check(draws >= 2 and draws == int(draws), f"draws must be an integer >= 2, got draws={draws}.")
    check(0 < confidence < 1, f"confidence must be in (0, 1), got confidence={confidence}.")
    return X
