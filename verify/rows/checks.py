"""Number against number: the value of each layer against what each lemma says, and the test error against the bounds.

`holds` needs a value that rests on no lemma: all signs enumerated or drawn, the supremum solved. A lower value above
the right side is `violated`; a lower value below it shows nothing, `not refuted`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from adanet_theory.checks import Array
from adanet_theory.complexity.estimates import Interval
from adanet_theory.spec import NetworkSpec
from adanet_train.core.by_class import class_errors
from verify.measure.evidence import FeatureSizes
from verify.measure.layers import LayerComplexities, lemma
from verify.reading.points import GivenPoints
from verify.records.results import BoundRow, CheckRow, Complexity, TestFacts, Verdict

LEMMAS = ("lemma-1", "lemma-2", "lemma-1-corrected", "lemma-2-peeled")


def layer_checks(spec: NetworkSpec, m: int, sizes: FeatureSizes, layers: LayerComplexities) -> list[CheckRow]:
    """Every layer whose value is known from below, against every lemma that is about it."""
    rows = []
    for row, value in zip(layers.rows, layers.values, strict=True):
        if row.lower is None:
            continue
        for claim in LEMMAS:
            rhs = getattr(row, claim.replace("-", "_"))
            if rhs is not None:
                below = layers.values[: row.k - 1]
                rows.append(_layer_check(claim, spec, m, sizes, row, row.lower, rhs, value, below))
    return rows


def _layer_check(
    claim: str,
    spec: NetworkSpec,
    m: int,
    sizes: FeatureSizes,
    row: Complexity,
    lower: float,
    rhs: float,
    value: Interval | None,
    below: Sequence[Interval | None],
) -> CheckRow:
    verdict: Verdict = "not refuted"
    if lower > rhs:
        verdict = "violated"
    elif value is not None and value.upper <= _least(claim, spec, row.k, m, sizes, below):
        verdict = "holds"
    exact = value is not None and value.confidence == 1
    return CheckRow(claim, row.k, lower, rhs, exact, lemma_applies(claim, spec, row.k), verdict)


def _least(
    claim: str, spec: NetworkSpec, k: int, m: int, sizes: FeatureSizes, below: Sequence[Interval | None]
) -> float:
    """The right side rounded down, with lower values of R_S(H_s) in it; -inf where those below k are not known.

    sizes.r_rms is an upper value by far less than the rounding of R_S, which the interval of the left side encloses.
    """
    values: dict[str, object] = {"m": m, "r_inf": sizes.r_inf, "r_rms": sizes.r_rms * (1 - 2.0**-30)}
    if claim.startswith("lemma-1"):
        known = [value.lower for value in below if value is not None]
        if len(known) < k - 1:
            return -math.inf
        values["R"] = known
    least = lemma(claim, spec, k, lower=True, **values)
    return -math.inf if least is None else least


def lemma_applies(claim: str, spec: NetworkSpec, k: int) -> bool:
    """Lemmas 1-2 as printed are about 1-Lipschitz φ with φ(0) = 0 below k; the corrected ones cover every φ."""
    below = [spec.phi(s) for s in range(1, k)]
    if claim in ("lemma-1", "lemma-2"):
        return all(phi.lipschitz <= 1 and phi.at_zero == 0 for phi in below)
    return True


# Held-out data


def held_out(predicted: Array, test: GivenPoints, delta: Fraction) -> TestFacts:
    """Clopper-Pearson: the risk is at most `upper` with probability 1 - δ over the test sample."""
    from adanet_theory.twins.counted import clopper_pearson_upper

    is_wrong = predicted != test.y
    errors, n = int(is_wrong.sum()), len(test.y)
    by_class = class_errors(is_wrong, test.y, test.names)
    return TestFacts(errors / n, n, clopper_pearson_upper(errors, n, delta), by_class, errors, delta)


def bound_checks(bounds: Sequence[BoundRow], test: TestFacts | None, delta: Fraction) -> list[CheckRow]:
    """The test error against every bound that applies.

    `violated` only where the risk is above the bound with confidence 1 - δ (Clopper-Pearson, from below): the test
    error itself is one draw around the risk.
    """
    if test is None:
        return []
    from adanet_theory.twins.counted import clopper_pearson_lower

    least = clopper_pearson_lower(test.errors, test.n, delta)
    rows = []
    for bound in bounds:
        if bound.applies and bound.value is not None:
            verdict: Verdict = "violated" if least > bound.value else "not refuted"
            rows.append(CheckRow(bound.id, None, test.error, bound.value, False, True, verdict))
    return rows
