"""R_S of the first two layer families, by enumeration of all signs or from drawn signs with a proved interval.

H_1 has a closed supremum; the supremum of H*_2 over one hidden unit is in `unit_supremum`. By lemma-1-exact

    R_S(H_1)  = (Λ_{1,0}/m) E || Σ_i σ_i Ψ(x_i) ||_q
    R_S(H*_2) = Λ_{2,1} n_1^(1/q) (1/m) E sup_{||u||_p <= Λ_{1,0}} | Σ_i σ_i φ(u . Ψ(x_i)) |.

Every result is an `Interval` that contains the true value, surely or with its confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import Array, Progress, check
from adanet_theory.complexity.unit_supremum import Supremum, matrix, unit_supremum
from adanet_theory.norms import all_signs, norms
from adanet_theory.rounding import EPS, TINY
from adanet_theory.spec import NetworkSpec

H1_ENUMERATED = 20  # R_S(H_1) is exact up to this m: 2^19 sums of n_0 numbers
H2_ENUMERATED = 16  # R_S(H*_2) is exact up to this m: 2^15 suprema

# Draws are taken in panels and points in blocks, so that memory is bounded whatever m and the number of draws.
_PANEL = 1088
_BLOCK = 2048
_SIGNS = 2**18  # how many at a time are given to `unit_supremum`


@dataclass(frozen=True)
class Interval:
    """lower <= R_S <= upper: surely if confidence is 1, else with at least that probability over the drawn signs.

    R_S <= upper alone fails with probability at most half of 1 - confidence.

    Parameters
    ----------
    lower, upper
        The ends, rounded outward.
    mean
        Average over the signs.
    stderr
        Its standard error, 0 if every sign vector was taken; lower and upper do not use it.
    draws
        Number of sign vectors drawn, 0 if every one was taken.
    method
        How the suprema were computed.
    confidence
        Probability with which the interval holds; 1 if surely.
    """

    lower: float
    upper: float
    mean: float
    stderr: float
    draws: int
    method: str
    confidence: float


def linear_complexity(Psi: Any, spec: NetworkSpec) -> Interval:
    """h1-exact: R_S(H_1) by enumeration of all signs, m <= 20.

        R_S(H_1) = (Λ_{1,0}/m) 2^(-m) Σ_σ || Σ_i σ_i Ψ(x_i) ||_q

    lower and upper account for the rounding of the sums.

    Parameters
    ----------
    Psi
        Features of the sample, m <= 20 rows of n_0 numbers.
    spec
        The family of networks, declared before the sample.

    Returns
    -------
    Interval
        R_S(H_1), enclosed surely.

    Examples
    --------
    >>> three_points = [[1, 1, 0], [1, 0, 1], [0, 1, -1]]
    >>> round(linear_complexity(three_points, NetworkSpec.layered((3, 1), 1.0, p=1)).mean, 12)
    0.5
    """
    X, power = _normalised(_sample(Psi, spec))
    m = len(X)
    check(m <= H1_ENUMERATED, f"m must be <= {H1_ENUMERATED} to enumerate the signs, got m={m}.")
    # σ and -σ give the same norm, so the last sign stays +; the rest splits in two halves whose sums are added.
    half = m // 2
    low = all_signs(half) @ X[:half]
    high = all_signs(m - half - 1) @ X[half:-1] + X[-1]
    mean = math.fsum(math.fsum(norms(row + low, spec.q)) for row in high) / 2 ** (m - 1)
    rounding = _rounding(X.shape[1], _lengths(X, spec.q))
    return _enumerated(mean, mean, rounding, _Scale((spec.bound(1, 0),), m, power), "all signs")


def sampled_linear_complexity(
    Psi: Any,
    spec: NetworkSpec,
    *,
    draws: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Interval:
    """h1-exact: R_S(H_1) from sign vectors drawn at random, with a proved interval.

        | mean - R_S(H_1) | <= (Λ_{1,0}/m) sqrt(2 v log(2/δ) / draws)   with probability 1 - δ = confidence,
        v = min{ Σ_i ||Ψ(x_i)||_q²,  4 sup_{||u||_p <= 1} Σ_i (u . Ψ(x_i))² },

    δ/2 for each side. `_spread` says why. The signs depend only on the state of rng.
    progress(done, total) is called after each block of points, and counts signs.

    Parameters
    ----------
    Psi
        Features of the sample, m rows of n_0 numbers.
    spec
        The family of networks, declared before the sample.
    draws
        Number of sign vectors to draw, >= 1.
    rng
        Generator of the signs; the same state gives the same interval.
    confidence
        Probability in (0, 1) with which the interval holds.
    progress
        Called as progress(done, total), counted in signs.

    Returns
    -------
    Interval
        R_S(H_1), enclosed with the given confidence.

    Examples
    --------
    >>> spec = NetworkSpec.layered((2, 1), 1.0, p=2)
    >>> value = sampled_linear_complexity([[0.6, 0.8]] * 100, spec, draws=64, rng=np.random.default_rng(0))
    >>> value.lower < 0.0796 < value.upper  # μ_100 = 0.0796
    True
    """
    X, power = _normalised(_sample(Psi, spec))
    _check_sampling(draws, rng, confidence)
    m, n_0 = X.shape
    values = np.empty(draws)
    for start in range(0, draws, _PANEL):
        width = min(_PANEL, draws - start)
        product, sums = np.empty((n_0, width)), np.zeros((n_0, width))
        done = start * m
        for block, signs in _signed_blocks(X, width, rng):
            sums += np.matmul(block.T, signs[:, :width], out=product)
            done += width * len(block)
            if progress is not None:
                progress(done, draws * m)
        values[start : start + width] = norms(sums.T, spec.q)
    lengths = _lengths(X, spec.q)
    spread = _spread(X, spec.p, lengths, 1.0, activation("identity"))
    scale = _Scale((spec.bound(1, 0),), m, power)
    return _sampled(values, values, _rounding(n_0, lengths), scale, spread, confidence, "drawn signs")


def hidden_complexity(Psi: Any, spec: NetworkSpec, *, time_limit: float | None = None) -> Interval:
    """lemma-1-exact: R_S(H_2) = R_S(H*_2) by enumeration of all signs, m <= 16.

        R_S(H*_2) = Λ_{2,1} n_1^(1/q) (1/m) 2^(-m) Σ_σ sup_{||u||_p <= Λ_{1,0}} | Σ_i σ_i φ_1(u . Ψ(x_i)) |

    Parameters
    ----------
    Psi
        Features of the sample, m <= 16 rows of n_0 numbers.
    spec
        The family of networks, declared before the sample.
    time_limit
        Seconds for each mixed-integer program; None sets no limit.

    Returns
    -------
    Interval
        R_S(H_2), enclosed surely.

    Examples
    --------
    >>> three_points = [[1, 1, 0], [1, 0, 1], [0, 1, -1]]
    >>> round(hidden_complexity(three_points, NetworkSpec.layered((3, 1, 1), 1.0, p=1)).mean, 12)
    0.583333333333
    """
    X, Lambda, scale = _unit_problem(Psi, spec)
    m = len(X)
    check(m <= H2_ENUMERATED, f"m must be <= {H2_ENUMERATED} to enumerate the signs, got m={m}.")
    signs = np.column_stack([all_signs(m - 1), np.ones(2 ** (m - 1))])  # the supremum is even in σ
    sup = unit_supremum(X, signs, Lambda=Lambda, p=spec.p, phi=spec.phi(1), time_limit=time_limit)
    lower, upper = (math.fsum(values) / len(signs) for values in (sup.lower, sup.upper))
    return _enumerated(lower, upper, sup.rounding, scale, f"all signs, {sup.method}")


def sampled_hidden_complexity(
    Psi: Any,
    spec: NetworkSpec,
    *,
    draws: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Interval:
    """lemma-1-exact: R_S(H_2) = R_S(H*_2) from drawn signs, with the exact supremum for each.

        | mean - R_S(H*_2) | <= Λ_{2,1} n_1^(1/q) (1/m) sqrt(2 v log(2/δ) / draws)   with probability 1 - δ

    with the v of `_spread`, δ/2 for each side. If time_limit (in seconds, for each program) stopped a
    mixed-integer program, lower uses its incumbents and upper its dual bounds.

    Parameters
    ----------
    Psi
        Features of the sample, m rows of n_0 numbers.
    spec
        The family of networks, declared before the sample.
    draws
        Number of sign vectors to draw, >= 1.
    rng
        Generator of the signs; the same state gives the same interval.
    confidence
        Probability in (0, 1) with which the interval holds.
    time_limit
        Seconds for each mixed-integer program; None sets no limit.
    progress
        Called as progress(done, total), counted in signs.

    Returns
    -------
    Interval
        R_S(H_2), enclosed with the given confidence.

    Examples
    --------
    >>> spec = NetworkSpec.layered((2, 3, 1), 1.0, p=2)
    >>> value = sampled_hidden_complexity(np.eye(2), spec, draws=64, rng=np.random.default_rng(0))
    >>> value.lower < hidden_complexity(np.eye(2), spec).mean < value.upper
    True
    """
    X, Lambda, scale = _unit_problem(Psi, spec)
    _check_sampling(draws, rng, confidence)
    m, phi = len(X), spec.phi(1)
    panel = 64 * (1 + _SIGNS // (64 * m))
    parts: list[Supremum] = []
    for start in range(0, draws, panel):
        width = min(panel, draws - start)
        drawn = _sign_buffer(m, width)
        _draw_signs(rng, drawn)
        signs = drawn[:, :width].T
        parts.append(unit_supremum(X, signs, Lambda=Lambda, p=spec.p, phi=phi, time_limit=time_limit))
        if progress is not None:
            progress((start + len(signs)) * m, draws * m)
    lower, upper = (np.concatenate(values) for values in zip(*((s.lower, s.upper) for s in parts), strict=True))
    spread = _spread(X, spec.p, _lengths(X, spec.q), Lambda, phi)
    method = f"drawn signs, {parts[0].method}"
    return _sampled(lower, upper, parts[0].rounding, scale, spread, confidence, method)


def _spread(X: NDArray[Any], p: float, lengths: Array, Lambda: float, phi: Activation) -> float:
    """sqrt(v) with  E e^{t (Z - EZ)} <= e^{t² v/2}  for all real t,  Z = sup_{||u||_p <= Λ} |Σ_i σ_i φ(u . Ψ(x_i))|.

        v = Σ_i a_i²,  a_i = min{ |φ(0)| + L Λ ||Ψ(x_i)||_q, sup|φ| } >= |φ(u . Ψ(x_i))|;
        if φ(0) = 0, also v = 4 L² Λ² sup_{||u||_p <= 1} Σ_i (u . Ψ(x_i))²;   the smaller of the two.

    First: changing σ_i changes Z by at most 2 a_i (bounded differences). Second: for the maximiser u of σ,
    Z(σ) - Z(σ') <= Σ_i 2 |φ(u . Ψ(x_i))| 1{σ_i != σ'_i}, and for such functions of independent variables the
    conditional transportation inequalities of Marton and Samson give the moment bound for either sign of t
    (see Boucheron, Lugosi, Massart 2013, Chapter 8). No square of Ψ is taken that could overflow or underflow.
    """
    bounded = float(norms(np.minimum(abs(phi.at_zero) + phi.lipschitz * Lambda * lengths, phi.sup), 2))
    unit = float(lengths.max())
    if phi.at_zero != 0 or unit == 0 or not _may_be_flat(X, p, lengths, unit):
        return bounded
    return min(bounded, 2 * phi.lipschitz * Lambda * unit * math.sqrt(_largest_energy(X, p, unit)))


def _may_be_flat(X: NDArray[Any], p: float, lengths: Array, unit: float) -> bool:
    """Whether 4 sup_u Σ_i (u . Ψ(x_i))² < Σ_i ||Ψ(x_i)||_q² looks possible: Ψ^T Ψ costs as much as n_0 draws.

    It is judged on some points, at the u in the direction of their sum, which is long if the features share a sign.
    """
    stride = -(-len(X) // _BLOCK)
    some = np.asarray(X[::stride], dtype=np.float64) / unit
    total = some.sum(axis=0)
    u = total / (norms(total, p) or 1.0)
    return 4 * float(np.sum((some @ u) ** 2)) < float(np.sum((lengths[::stride] / unit) ** 2))


def _largest_energy(X: NDArray[Any], p: float, unit: float) -> float:
    """An upper value of sup_{||u||_p <= 1} Σ_i (u . Ψ(x_i)/unit)², exact up to rounding at p = 1 and p = 2.

    For p < 2 the ball lies in the Euclidean one; for p > 2 it lies in n_0^(1/2 - 1/p) times it.
    """
    m, n_0 = X.shape
    blocks = (block / unit for block in _blocks(X))
    if p == 1:
        return float(np.sum([np.sum(block**2, axis=0) for block in blocks], axis=0).max()) * (1 + m * EPS)
    if n_0 <= m:
        gram = sum((block.T @ block for block in blocks), start=np.zeros((n_0, n_0)))
    else:
        all_points = np.vstack(list(blocks))
        gram = all_points @ all_points.T
    top = float(np.linalg.eigvalsh(gram)[-1]) + 2 * EPS * (m + n_0) * float(np.trace(gram))
    return top * float(n_0) ** max(0.0, 1 - 2 / p)


def _lengths(X: NDArray[Any], q: float) -> Array:
    """||Ψ(x_i)||_q for each point."""
    return np.concatenate([norms(block, q) for block in _blocks(X)])


def _blocks(X: NDArray[Any]) -> Iterator[Array]:
    """The rows of Ψ in float64, a block at a time."""
    for row in range(0, len(X), _BLOCK):
        yield np.asarray(X[row : row + _BLOCK], dtype=np.float64)


# Signs


_SIGNS_OF_BYTE = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")


def _sign_buffer(points: int, draws: int) -> Array:
    """A buffer for the signs of `points` points in at least `draws` draws; rows have an odd number of 64-bit words.

    Rows a power of two apart share cache lines, and matrix products on them take 1.5 times as long.
    """
    return np.empty((points, 64 * (-(-draws // 64) | 1)))


def _draw_signs(rng: np.random.Generator, signs: Array) -> None:
    """Fill the rows, one for each point, with random signs, one bit of rng for each.

    Each point takes whole words, so the stream does not depend on how the points are split in blocks.
    """
    words = rng.integers(0, 2**64 - 1, size=(len(signs), signs.shape[1] // 64), dtype=np.uint64, endpoint=True)
    octets = words.astype("<u8", copy=False).view(np.uint8)
    np.take(_SIGNS_OF_BYTE, octets, axis=0, out=signs.reshape(*octets.shape, 8), mode="clip")


def _signed_blocks(X: NDArray[Any], draws: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """The blocks of Ψ, each with its signs; while a block is used, a thread draws the signs of the next.

    It uses two buffers, because new memory for each block would cost as much as drawing the signs.
    """
    blocks = range(0, len(X), _BLOCK)
    buffers = [_sign_buffer(min(len(X), _BLOCK), draws) for _ in blocks[:2]]

    def draw(number: int) -> Array:
        signs = buffers[number % 2][: len(X) - blocks[number]]
        _draw_signs(rng, signs)
        return signs

    with ThreadPoolExecutor(max_workers=1) as thread:
        drawn = thread.submit(draw, 0)
        for number, block in enumerate(_blocks(X)):
            signs = drawn.result()
            if number + 1 < len(blocks):
                drawn = thread.submit(draw, number + 1)
            yield block, signs


# From values to an interval


def _rounding(n_0: int, lengths: Array) -> float:
    """An upper value of the error of a computed || Σ_i σ_i Ψ(x_i) ||_q for normalised Ψ; lengths: ||Ψ(x_i)||_q.

    A sum of m terms in blocks errs by at most (block + blocks) roundings of Σ_i |Ψ_ij|, whatever the order inside
    a block, and || Σ_i |Ψ(x_i)| ||_q <= Σ_i ||Ψ(x_i)||_q. The norm adds n_0 roundings and a few more. EPS is two unit
    roundoffs, which leaves a factor 2 for all higher orders.
    """
    m = len(lengths)
    return (min(m, _BLOCK + m // _BLOCK + 1) + n_0 + 16) * EPS * math.fsum(lengths)


@dataclass(frozen=True)
class _Scale:
    """The factor of a mean supremum, Π factors 2^power / m, without an intermediate underflow."""

    factors: tuple[float, ...]
    m: int
    power: int = 0

    def __call__(self, x: float) -> float:
        mantissa, exponent = math.frexp(x)
        for factor in self.factors:
            mantissa, more = math.frexp(mantissa * math.frexp(factor)[0])
            exponent += more + math.frexp(factor)[1]
        try:
            return math.ldexp(mantissa / self.m, exponent + self.power)
        except OverflowError:
            raise OverflowError("R_S exceeds the largest float, 1.8e308.") from None

    def outward(self, lower: float, upper: float) -> tuple[float, float]:
        """Both ends, widened by the roundings of a few factors and the underflow of the last; 0 stays 0."""
        least, most = self(max(lower, 0.0)), self(upper)
        if upper == 0 or 0 in self.factors:
            return 0.0, 0.0
        return max(least * (1 - 16 * EPS) - TINY, 0.0), most * (1 + 16 * EPS) + TINY


def _enumerated(lower: float, upper: float, rounding: float, scale: _Scale, method: str) -> Interval:
    """The interval around the averages of lower and upper suprema over all signs."""
    mean = scale((lower + upper) / 2)
    return Interval(*scale.outward(lower - rounding, upper + rounding), mean, 0.0, 0, method, 1.0)


def _sampled(
    lower: Array, upper: Array, rounding: float, scale: _Scale, spread: float, confidence: float, method: str
) -> Interval:
    """The interval around the means of the drawn suprema, widened by the sampling error and the rounding error."""
    draws = len(lower)
    # sqrt(v) itself carries some rounding, far below the 1e-9 that is added here
    margin = (1 + 1e-9) * spread * math.sqrt(2 * math.log(2 / (1 - confidence)) / draws) + rounding
    least, most = (math.fsum(values) / draws for values in (lower, upper))
    middle = (lower + upper) / 2
    unit = float(middle.max()) or 1.0
    stderr = scale(unit * float(np.std(middle / unit, ddof=1)) / math.sqrt(draws))
    ends = scale.outward(least - margin, most + margin)
    return Interval(*ends, scale((least + most) / 2), stderr, draws, method, confidence)


def _normalised(X: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """X = 2^power Y with Y far from under- and overflow. The usual sample has power = 0 and is not copied."""
    largest = max(float(X.max()), -float(X.min()))
    power = math.frexp(largest)[1]
    if largest == 0 or abs(power) < 100:
        return X, 0
    return np.ldexp(np.asarray(X, dtype=np.float64), -power), power


def _unit_problem(Psi: Any, spec: NetworkSpec) -> tuple[NDArray[Any], float, _Scale]:
    """The sample, the Λ of the hidden unit and the factor in front. T is homogeneous in both if φ is."""
    X = _sample(Psi, spec, layers=2)
    outer = (spec.bound(2, 1), spec.root(1))
    if not spec.phi(1).is_homogeneous:
        return X, spec.bound(1, 0), _Scale(outer, len(X))
    Y, power = _normalised(X)
    return Y, 1.0, _Scale((spec.bound(1, 0), *outer), len(X), power)


def _sample(Psi: Any, spec: NetworkSpec, layers: int = 1) -> NDArray[Any]:
    X = matrix(Psi)
    check(spec.depth >= layers, f"l must be >= {layers}, got l={spec.depth}.")
    check(X.shape[1] == spec.n[0], f"Psi must have n_0={spec.n[0]} columns, got {X.shape[1]}.")
    return X


def _check_sampling(draws: int, rng: np.random.Generator, confidence: float) -> None:
    check(draws >= 2 and draws == int(draws), f"draws must be an integer >= 2, got draws={draws}.")
    check(isinstance(rng, np.random.Generator), f"rng must be a numpy Generator, got rng={rng!r}.")
    check(0 < confidence < 1, f"confidence must be in (0, 1), got confidence={confidence}.")
