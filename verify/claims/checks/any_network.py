"""Certificates for any network: picking, description length, disagreement; exactly on small laws, and where they break.

`picked` is the procedure of the statement, as small as it can be: an oracle for the trainer and for the formula. The
constructions at the end break it in one place each; R is exact there, so every failure counted is a real one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.disagreement import disagreement_certificate
from adanet_theory.certificates.occam import occam_certificate
from adanet_theory.certificates.pick import pick_certificate
from verify.claims.checks import Fact, Facts, settles

DELTA = 0.1
Point = tuple[float, int]
Margin = Callable[[Point], float]
Learner = Callable[[Sequence[Point]], Margin]


# Picking


@dataclass(frozen=True)
class PickedRows:
    """The rows picked, in order; how many inappropriate ones are left; the margin of the trained network."""

    rows: tuple[int, ...]
    left: int
    margin: Margin

    @property
    def k(self) -> int:
        return len(self.rows) + self.left


def picked(
    S: Sequence[Point], learner: Learner, r: int = 1, most: int | None = None, by_value: bool = False
) -> PickedRows:
    """Pick the r worst errors outside T until there is none, or until |T| >= most; ties by the value of the point.

    `by_value` takes every copy of a picked point for picked too, which breaks the statement.
    """
    T: list[int] = []
    while True:
        margin = learner([S[i] for i in T])
        values = {S[i] for i in T} if by_value else set()
        outside = [i for i in range(len(S)) if i not in T and S[i] not in values and not margin(S[i]) > 0]
        if not outside or (most is not None and len(T) >= most):
            return PickedRows(tuple(T), len(outside), margin)
        T += sorted(outside, key=lambda i: (margin(S[i]), S[i]))[:r]


def last(T: Sequence[Point]) -> Margin:
    """The label of the last pick, +1 before there is one."""
    label = T[-1][1] if T else 1
    return lambda z: z[1] * label


def majority(T: Sequence[Point]) -> Margin:
    vote = sum(y for _, y in T) or 1
    return lambda z: z[1] * vote


def nearest(T: Sequence[Point]) -> Margin:
    """The label of the nearest pick; of equally near ones the first."""
    return lambda z: z[1] * (min(T, key=lambda t: abs(t[0] - z[0]))[1] if T else 1)


def memory(T: Sequence[Point]) -> Margin:
    """The label that was picked at x; +1 elsewhere."""
    known = dict(T)
    return lambda z: z[1] * known.get(z[0], 1)


LEARNERS: tuple[Learner, ...] = (last, majority, nearest, memory)
LAWS: tuple[tuple[tuple[Point, float], ...], ...] = (
    (((0.0, 1), 0.5), ((0.0, -1), 0.5)),
    (((0.0, 1), 0.8), ((1.0, -1), 0.2)),
    (((0.0, 1), 0.6), ((1.0, -1), 0.3), ((2.0, 1), 0.1)),
    (((0.0, -1), 0.7), ((1.0, -1), 0.15), ((2.0, 1), 0.15)),
    (((0.0, 1), 0.3), ((0.0, -1), 0.2), ((1.0, -1), 0.4), ((2.0, -1), 0.1)),
)
"""Atoms (x, y) with their probabilities."""


def samples(law: Sequence[tuple[Point, float]], N: int) -> Iterator[tuple[list[Point], float]]:
    """Every sample of N points up to the order of its rows, with its probability."""
    for counts in itertools.product(range(N + 1), repeat=len(law)):
        if sum(counts) == N:
            ways, rest = 1, N
            for count in counts:
                ways, rest = ways * math.comb(rest, count), rest - count
            S = [z for (z, _), count in zip(law, counts, strict=True) for _ in range(count)]
            yield S, ways * math.prod(p**count for (_, p), count in zip(law, counts, strict=True))


def risk(law: Sequence[tuple[Point, float]], margin: Margin) -> float:
    return math.fsum(p for z, p in law if not margin(z) > 0)


def pick_failure(
    law: Sequence[tuple[Point, float]],
    learner: Learner,
    N: int,
    delta: float,
    *,
    r: int = 1,
    most: int | None = None,
    level: float = 1.0,
) -> float:
    """P(R(h_T) > ε(k)), exactly, with ε at `level` δ."""
    eps = [pick_certificate(k, N, min(1 - 1e-9, level * delta)) for k in range(N + 1)]
    failures = 0.0
    for S, probability in samples(law, N):
        run = picked(S, learner, r, most)
        failures += probability * (risk(law, run.margin) > eps[run.k] + 1e-12)
    return failures


# What breaks picking: a trial is (R, ε) of one sample, R exact; `broken` is the one difference

N = 40
Trial = Callable[[np.random.Generator, bool], tuple[float, float]]


def coins(rng: np.random.Generator, n: int = N) -> list[Point]:
    """Points that never repeat, with labels that no network can know: R = 1/2 for every network."""
    return [(float(x), int(y)) for x, y in zip(rng.permutation(n), rng.choice((-1, 1), n), strict=True)]


def of_value(rng: np.random.Generator, broken: bool) -> tuple[float, float]:
    """One x, coin labels; a copy of a picked point counts as picked."""
    S = [(0.0, y) for _, y in coins(rng)]
    return 0.5, pick_certificate(picked(S, last, by_value=broken).k, N, DELTA)


def scaler(rng: np.random.Generator, broken: bool) -> tuple[float, float]:
    """All labels -1, x uniform in five dimensions; +1 outside a box. The box is that of T, or of all rows."""
    x = rng.uniform(size=(N, 5))
    T = list(range(N)) if broken else []
    k = 0
    while True:
        low, high = (x[T].min(0), x[T].max(0)) if T else (np.full(5, 0.5), np.full(5, 0.5))
        outside = np.maximum(np.maximum(low - x, x - high), 0).sum(1)
        outside[T] = 0
        if not outside.any():
            return 1 - float(np.prod(high - low)), pick_certificate(k, N, DELTA)
        T, k = [*T, int(outside.argmax())], k + 1


def encoding(rng: np.random.Generator, broken: bool) -> tuple[float, float]:
    """400 categories, coin labels, no picks: a category predicts the mean label of all its rows, or nothing is read."""
    category, y = rng.integers(400, size=N), rng.choice((-1, 1), N)
    means = np.bincount(category, y, minlength=400)
    predicted = np.where(means[category] >= 0, 1, -1) if broken else np.ones(N)
    return 0.5, pick_certificate(int((predicted != y).sum()), N, DELTA)


def seeds(rng: np.random.Generator, broken: bool, n: int = 20, tried: int = 64) -> tuple[float, float]:
    """The best of 64 random networks, none of which picks: paid for, δ/64, or not."""
    errors = int(rng.binomial(n, 0.5, tried).min())
    return 0.5, pick_certificate(errors, n, DELTA if broken else DELTA / tried)


def earlier(rng: np.random.Generator, broken: bool) -> tuple[float, float]:
    """A second run at δ/2 that starts from the network of the first one, or anew."""
    S = coins(rng)
    first = picked(S, memory)
    start = (lambda T: first.margin) if broken else memory
    return 0.5, min(pick_certificate(run.k, N, DELTA / 2) for run in (first, picked(S, start)))


def looks(rng: np.random.Generator, broken: bool) -> tuple[float, float]:
    """After its first pick the learner memorises S, or T alone."""
    S = coins(rng)
    return 0.5, pick_certificate(picked(S, lambda T: memory(S if broken and T else T)).k, N, DELTA)


def uncounted(rng: np.random.Generator, broken: bool) -> tuple[float, float]:
    """Picking stops at two picks; the errors that are left are in k, or not."""
    run = picked(coins(rng), memory, most=2)
    return 0.5, pick_certificate(len(run.rows) if broken else run.k, N, DELTA)


PICK_BROKEN: dict[str, Trial] = {
    "by value, not by row": of_value,
    "scaler on all of S": scaler,
    "target encoding on all of S": encoding,
    "best of 64 seeds unpaid": seeds,
    "a run that starts from an earlier run's network": earlier,
    "the learner looks at S after a pick": looks,
    "remaining errors not counted": uncounted,
}


def failure_frequency(trial: Trial, broken: bool, trials: int, seed: int = 0) -> float:
    """How often R is above the certificate."""
    rng = np.random.default_rng(seed)
    return sum(eps < R for R, eps in (trial(rng, broken) for _ in range(trials))) / trials


def _trials(variants: dict[str, Trial], broken: str, trials: int) -> Facts:
    """Every construction, done right but for the one that is broken."""
    for name, trial in variants.items():
        frequency = failure_frequency(trial, name == broken, trials)
        where = f"{trials} samples, the construction against: {name}"
        yield Fact("share of samples with R above the certificate", frequency, "<=", DELTA, "δ", where)


@settles(
    "pick-certificate",
    *({"broken": name} for name in PICK_BROKEN),
    {"level": 4.0},
    {"sum": 0.5},
    thorough={"trials": 2000},
)
def picking_is_certified(broken: str = "", level: float = 1.0, sum: float = 1.0, trials: int = 100) -> Facts:
    """Exactly on small laws; the root of the statement's sum; and every construction that breaks a wrong procedure."""
    worst = max(
        pick_failure(law, learner, size, delta, r=r, most=most, level=level) / delta
        for law, learner, size in itertools.product(LAWS, LEARNERS, (2, 5))
        for r, most in ((1, None), (2, None), (1, 1))
        for delta in (DELTA, 0.5)
    )
    laws = f"{len(LAWS)} laws x {len(LEARNERS)} learners x 2 N x 3 ways to pick x 2 δ, all samples"
    yield Fact("largest P(R > ε(k))/δ", worst, "<=", 1.0, "", laws)
    eps = pick_certificate(16, 357, 0.05)
    terms = (math.comb(m, 16) / math.comb(357, 16) * (1 - eps) ** (m - 357) for m in range(16, 357))
    yield Fact("(δ/N) Σ_m C(m,k)/C(N,k) (1-ε)^-(N-m)", sum * 0.05 / 357 * math.fsum(terms), "=", 1.0, "", "", 1e-9)
    yield from _trials(PICK_BROKEN, broken, trials)


# Description length


def intervals(positions: int) -> list[tuple[int, ...]]:
    """+1 on an interval of the positions, -1 elsewhere; the empty one too."""
    ends = [(a, b) for a in range(positions) for b in range(a + 1, positions + 1)]
    return [tuple(1 if a <= x < b else -1 for x in range(positions)) for a, b in [(0, 0), *ends]]


def fewest_errors(S: Sequence[tuple[int, int]], family: Sequence[tuple[int, ...]]) -> int:
    return min(sum(h[x] != y for x, y in S) for h in family)


def occam_failure(N: int, delta: float, paid: float = 1.0, positions: int = 3) -> float:
    """P(R(h) > its certificate), exactly over all samples, h the interval with the fewest errors on coin labels."""
    family = intervals(positions)
    bits = paid * math.log2(len(family))
    bounds = [occam_certificate(k, N, bits, delta) for k in range(N + 1)]
    draws = itertools.product(itertools.product(range(positions), (-1, 1)), repeat=N)
    failures = sum(bounds[fewest_errors(S, family)] < 0.5 for S in draws)
    return failures / (2 * positions) ** N


def interval_trial(rng: np.random.Generator, unpaid: bool) -> tuple[float, float]:
    """The best of 821 intervals on 40 points with coin labels; the bits of an interval are paid, or not."""
    family = np.array(intervals(N))
    x, y = rng.integers(N, size=N), rng.choice((-1, 1), N)
    errors = int((family[:, x] != y).sum(1).min())
    return 0.5, occam_certificate(errors, N, 0 if unpaid else math.log2(len(family)), DELTA)


@settles("occam-certificate", {"broken": "P unpaid"}, {"paid": 0.0}, {"level": 2.0}, thorough={"trials": 2000})
def a_description_is_certified(broken: str = "", paid: float = 1.0, level: float = 1.0, trials: int = 100) -> Facts:
    """All samples of a small law; one network of no bits is held out; intervals fitted to coin labels."""
    for delta in (DELTA, 0.5):
        where = "7 intervals fitted to coin labels, N = 5, all samples"
        yield Fact("P(R > the certificate)", occam_failure(5, delta, paid), "<=", delta, "δ", where)
    bits = math.log2(7)
    alone = clopper_pearson(3, 50, level * DELTA / 7)
    yield Fact("occam-certificate", occam_certificate(3, 50, bits, DELTA), "=", alone, "held-out at δ P(h)", "", 1e-12)
    yield from _trials({"P unpaid": interval_trial}, broken, trials)


# Disagreement


def best_of(rng: np.random.Generator, unpaid: bool, n: int = N, tried: int = 100) -> tuple[float, float]:
    """g is always right; of 100 networks f that differ from it at 3 of 10 points, the one that differs least on U."""
    d = int(rng.binomial(n, 0.3, tried).min())
    return 0.3, disagreement_certificate(0.0, d, n, DELTA if unpaid else DELTA / tried)


def half_from_sample(rng: np.random.Generator, broken: bool, n: int = N) -> tuple[float, float]:
    """f and g agree on S, and differ at 3 of 10 new points; half of U is taken from S, or none."""
    return 0.3, disagreement_certificate(0.0, int(rng.binomial(n // 2 if broken else n, 0.3)), n, DELTA)


DISAGREEMENT_BROKEN: dict[str, Trial] = {"best of 100 unpaid": best_of, "half of U from S": half_from_sample}


def disagreement_failure(wrong: float, differ: float, n: int, delta: float, level: float = 1.0) -> float:
    """P(R(f) > b + ..), exactly: g errs with probability `wrong` = b; f differs where g is right, the worst case."""
    bounds = [disagreement_certificate(wrong, d, n, min(1 - 1e-9, level * delta)) for d in range(n + 1)]
    masses = (math.comb(n, d) * differ**d * (1 - differ) ** (n - d) for d in range(n + 1))
    return math.fsum(p for p, bound in zip(masses, bounds, strict=True) if wrong + differ > bound + 1e-12)


@settles(
    "disagreement-certificate",
    *({"broken": name} for name in DISAGREEMENT_BROKEN),
    {"level": 2.0},
    thorough={"trials": 2000},
)
def disagreement_is_certified(broken: str = "", level: float = 1.0, trials: int = 400) -> Facts:
    """The worst pair of networks, exactly over all samples without labels; two wrong ways to choose U or f."""
    rates = [0.01 * i for i in range(1, 90)]
    worst = max(disagreement_failure(0.1, differ, n, DELTA, level) for differ in rates for n in (5, 20))
    yield Fact("greatest P(R(f) > the certificate)", worst, "<=", DELTA, "δ", "b = R(g) = .1, n = 5 and 20, 89 rates")
    yield Fact("it is nearly attained", worst, ">", 0.9 * DELTA, ".9 δ")
    yield from _trials(DISAGREEMENT_BROKEN, broken, trials)
