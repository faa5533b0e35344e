"""What is known of R_S(H_k) and of the range of H_k, layer by layer: values, upper values, and what the lemmas say.

Every number is rounded outward: an upper value is not below what it bounds, a lower one not above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adanet_theory.checks import Array, Progress
from adanet_theory.complexity import estimates
from adanet_theory.complexity.arrangement import cell_count
from adanet_theory.complexity.estimates import Interval
from adanet_theory.rounding import Number, down
from adanet_theory.spec import NetworkSpec
from adanet_train.core.bar import stage
from verify.measure.effort import Effort, affordable
from verify.measure.evidence import FeatureSizes
from verify.records.question import BUDGET
from verify.records.results import Complexity

# An estimate encloses the rounding of its sums; this much more encloses that of the factors in front of them.
FACTORS = 2.0**-44
FIRST_LAYER_WORK = 2**31


@dataclass(frozen=True)
class Sampling:
    """How to estimate. The upper values from drawn signs hold together with probability 1 - δ/4; so do the lower ends
    of the same intervals, and so do the lower values of all layers that are searched."""

    delta: float
    draws: int
    seed: int
    device: str
    progress: Progress | None = None
    budget: float = BUDGET
    intervals: int = 1
    """How many values rest on drawn signs, and so share δ."""

    @property
    def confidence(self) -> float:
        """1 - δ/2 shared out, of which either side takes half; rounded up, to 1 where δ is too small for a float."""
        return math.nextafter(1 - self.delta / 2 / self.intervals, 1.0)

    def confidence_of_search(self, layers: int) -> float:
        """1 - δ/4 shared out among the layers whose lower value is searched: the union over them is paid."""
        return min(math.nextafter(1 - self.delta / 4 / layers, 1.0), 1 - 2.0**-52)


# The lemmas, certified


def lemma(id: str, spec: NetworkSpec, k: int, *, lower: bool = False, **values: Any) -> float | None:
    """The right side of a statement on R_S(H_k), rounded up (or down); None beyond the largest float."""
    from adanet_theory.twins import certified

    rounded = certified.lower if lower else certified.upper
    try:
        return rounded(id, {**certified.spec_values(spec), "k": k, **values})
    except OverflowError:
        return None


def layered_complexity(spec: NetworkSpec, k: int, *, m: int, r_inf: Number) -> float | None:
    """lemma-2, evaluated literally."""
    return lemma("lemma-2", spec, k, m=m, r_inf=r_inf)


def peeled_complexity(spec: NetworkSpec, k: int, *, m: int, r: Number) -> float | None:
    """lemma-2-peeled, or lemma-2-peeled-offset where φ(0) != 0 below k."""
    return lemma(peeled_id(spec, k), spec, k, m=m, r_rms=r)


def peeled_id(spec: NetworkSpec, k: int) -> str:
    return "lemma-2-peeled" if spec.is_centred(k) else "lemma-2-peeled-offset"


@dataclass(frozen=True)
class Ranges:
    """M_1, .., M_l with |h| <= M_k on H_k, rounded down and up."""

    lower: list[float]
    upper: list[float]

    @property
    def M(self) -> float:
        return max(self.upper)


def ranges(spec: NetworkSpec, r_sup: Number) -> Ranges:
    """The ranges at r_sup; OverflowError beyond the largest float."""
    from adanet_theory.twins import certified

    values = {**certified.spec_values(spec), "r_sup": r_sup}
    layers = range(1, spec.depth + 1)
    return Ranges(
        [certified.lower("range", {**values, "k": k}) for k in layers],
        [certified.upper("range", {**values, "k": k}) for k in layers],
    )


# Values of R_S

Estimate = Callable[[Array, NetworkSpec, Sampling], Interval | None]


def linear(Psi: Array, spec: NetworkSpec, sampling: Sampling) -> Interval | None:
    """R_S(H_1): all signs enumerated or drawn; None where δ is too small for a float to hold 1 - δ/2."""
    if len(Psi) <= estimates.H1_ENUMERATED:
        return _outward(estimates.linear_complexity(Psi, spec))
    confidence = sampling.confidence
    if confidence == 1:
        return None
    rng = np.random.default_rng([sampling.seed, 1])
    # the supremum of H_1 is a norm: ten times the draws of the searched layers while that costs little
    draws = max(sampling.draws, min(10 * sampling.draws, FIRST_LAYER_WORK // Psi.size))
    return _outward(
        estimates.sampled_linear_complexity(
            Psi, spec, draws=draws, rng=rng, confidence=confidence, progress=sampling.progress
        )
    )


def one_hidden(Psi: Array, spec: NetworkSpec, sampling: Sampling) -> Interval | None:
    """R_S(H_2) = R_S(H*_2) where its supremum is solved exactly and quickly; None elsewhere."""
    if len(Psi) <= estimates.H2_ENUMERATED and _is_solved(Psi, spec):
        return _outward(estimates.hidden_complexity(Psi, spec))
    confidence = sampling.confidence
    if confidence == 1 or not _is_drawn(Psi, spec):
        return None
    rng = np.random.default_rng([sampling.seed, 2])
    return _outward(
        estimates.sampled_hidden_complexity(
            Psi, spec, draws=sampling.draws, rng=rng, confidence=confidence, progress=sampling.progress
        )
    )


def _is_solved(Psi: Array, spec: NetworkSpec) -> bool:
    m, n_0 = Psi.shape
    few_cells = spec.p == 2 and m <= 10 and cell_count(m, n_0) <= 2000
    return n_0 == 1 or (spec.phi(1).is_homogeneous and (n_0 == 2 or few_cells))


def _is_drawn(Psi: Array, spec: NetworkSpec) -> bool:
    """Whether `one_hidden` draws signs."""
    m, n_0 = Psi.shape
    return estimates.H2_ENUMERATED < m <= 5000 and n_0 <= 2 and _is_solved(Psi, spec)


def _outward(value: Interval) -> Interval:
    lower, upper = value.lower * (1 - FACTORS), value.upper * (1 + FACTORS)
    return Interval(lower, upper, value.mean, value.stderr, value.draws, value.method, value.confidence)


# The rows


@dataclass(frozen=True)
class LayerComplexities:
    """The rows of the report, and the values among them that rest on no lemma."""

    rows: tuple[Complexity, ...]
    values: tuple[Interval | None, ...]
    note: str = ""
    """What the budget did not pay for."""

    @property
    def upper(self) -> list[float | None]:
        return [row.upper for row in self.rows]


def complexities(spec: NetworkSpec, Psi: Array, sizes: FeatureSizes, sampling: Sampling | None) -> LayerComplexities:
    """R_S(H_1), .., R_S(H_l) of the family; without sampling, upper values from the lemmas alone."""
    values: list[Interval | None] = [None] * spec.depth
    searched: Sequence[Any] = [None] * spec.depth
    note = ""
    if sampling is not None:
        if spec.depth >= 2 and _is_drawn(Psi, spec):
            sampling = replace(sampling, intervals=2)
        values[0] = _known(linear, Psi, spec, sampling)
        if spec.depth >= 2:
            values[1] = _known(one_hidden, Psi, spec, sampling)
        effort = affordable(spec, len(Psi), sampling.draws, sampling.budget)
        note = _shortened(sampling, effort, values)
        searched = _searched(Psi, spec, sampling, values, effort)
    together = _together([*values, *searched])
    rows: list[Complexity] = []
    for k in range(1, spec.depth + 1):
        rows.append(_row(spec, k, len(Psi), sizes, rows, values[k - 1] or searched[k - 1], together))
    return LayerComplexities(tuple(rows), tuple(values), note)


def _shortened(sampling: Sampling, effort: Effort | None, values: Sequence[Interval | None]) -> str:
    """What the budget left out; empty if it pays for everything, or nothing is searched."""
    wanted = Effort(sampling.draws)
    if effort == wanted or values.count(None) == 0:
        return ""
    done = "no search" if effort is None else effort.words
    return (
        f"lower values of R_S within a budget of {sampling.budget:g} s: {done}, where {wanted.words} were asked for; "
        "--budget for more."
    )


def _together(estimates: Sequence[Any]) -> float:
    """The probability with which all ends that rest on drawn signs hold at once, by the union, rounded down."""
    return max(0.0, down(1 - sum((1 - Fraction(one.confidence) for one in estimates if one is not None), Fraction(0))))


def _known(estimate: Estimate, Psi: Array, spec: NetworkSpec, sampling: Sampling) -> Interval | None:
    """The value, or None where it leaves the floats."""
    try:
        value = estimate(Psi, spec, sampling)
    except OverflowError:
        return None
    return value if value is not None and math.isfinite(value.upper) else None


def _searched(
    Psi: Array, spec: NetworkSpec, sampling: Sampling, values: Sequence[Interval | None], effort: Effort | None
) -> Sequence[Any]:
    """Lower values by ascent of the layers without a value; Nones elsewhere, and where they leave the floats.

    A layer whose value is known keeps it, because a random lower value could lie above an exact one.
    """
    from verify.measure.ascent import lower_complexities

    missing = values.count(None)
    if missing == 0 or effort is None:
        return [None] * spec.depth
    stage("estimating R_S of the layers")
    try:
        lowers = lower_complexities(
            spec,
            Psi,
            draws=effort.draws,
            seed=sampling.seed,
            device=sampling.device,
            progress=sampling.progress,
            confidence=sampling.confidence_of_search(missing),
            restarts=effort.restarts,
            steps=effort.steps,
            width=effort.width,
        )
    except OverflowError:
        return [None] * spec.depth
    return [None if value is not None else lower for value, lower in zip(values, lowers, strict=True)]


def _row(
    spec: NetworkSpec, k: int, m: int, sizes: FeatureSizes, below: Sequence[Complexity], estimate: Any, together: float
) -> Complexity:
    """`estimate`: the Interval of the layer, or the LowerValue of its search; `together`: the confidence of all."""
    R = [row.upper for row in below]
    known = k >= 2 and None not in R
    peeled = peeled_complexity(spec, k, m=m, r=sizes.r_rms)
    corrected = lemma("lemma-1-corrected", spec, k, m=m, R=R) if known else None
    from_first = _from_first_layer(spec, k, m, sizes, R)
    sure = [peeled, from_first if k == 1 else None]
    if all(row.confidence == 1 for row in below):
        sure += [corrected, from_first]
    value = estimate.upper if isinstance(estimate, Interval) else None
    upper = min((x for x in (peeled, corrected, from_first, value) if x is not None), default=None)
    is_sure = estimate is None or estimate.confidence == 1
    return Complexity(
        k=k,
        lower=estimate.lower * (1 - FACTORS) if estimate else None,
        upper=upper,
        stderr=estimate.stderr if estimate else None,
        draws=estimate.draws if estimate else None,
        method=estimate.method if estimate else "lemmas",
        confidence=1.0 if is_sure and (upper == value or upper in sure) else together,
        lemma_1=lemma("lemma-1", spec, k, R=R) if known else None,
        lemma_2=layered_complexity(spec, k, m=m, r_inf=sizes.r_inf) if spec.is_layered else None,
        lemma_1_corrected=corrected,
        lemma_2_peeled=peeled if peeled_id(spec, k) == "lemma-2-peeled" else None,
    )


def _from_first_layer(
    spec: NetworkSpec, k: int, m: int, sizes: FeatureSizes, R: Sequence[float | None]
) -> float | None:
    """h1-closed for k = 1; above it lemma-2-peeled-data, which starts from R_S(H_1) of the sample."""
    if k == 1:
        return lemma("h1-closed", spec, 1, m=m, r_rms=sizes.r_rms)
    usable = spec.is_layered and peeled_id(spec, k) == "lemma-2-peeled" and R[0] is not None
    if not usable or math.isinf(sizes.square_norms):
        return None
    return lemma("lemma-2-peeled-data", spec, k, m=m, R=R, sum_sq=sizes.square_norms)
