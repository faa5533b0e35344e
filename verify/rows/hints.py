"""One hint where nothing says much: the cause, what to do about it, and the number that would bring."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.rounding import upward
from verify.results import BoundRow, TestFacts
from verify.rows.setting import Assessment, Setting

HOLDOUT = Fraction(1, 10)
_COPIES = "If identical rows can be different people or events, add --discrete{}; otherwise remove the copies."
REMEDIES = {
    "iid": _COPIES,
    "untouched": _COPIES,
    "feature-map": "If the range of the features is known beforehand, train with it (feature_range=){}; "
    "otherwise learn the map on other points (adanet-train --features learned:F).",
    "arithmetic": "Give a bound on |x| that is known beforehand: --r-sup R{}.",
    "r-sup": "Give a bound on |Psi| that is known beforehand: --r-sup R{}.",
}
"""By assumption: what its failure asks for; the value that would result is put in."""

Hint = tuple[float, str]
"""The bound that would result, and the line."""


def hint(setting: Setting, rows: Sequence[BoundRow]) -> str:
    """The hint that helps most."""
    base_rate = setting.base_rate
    if setting.errors / setting.m >= base_rate > 0:
        error = f"The network errs on {setting.errors / setting.m:.4g} of the sample"
        return f"{error}, a constant prediction on {base_rate:.4g}. No bound can help; better training can."
    blocked = [
        unblocked
        for row in rows
        if (unblocked := _unblocked(row, setting.verdict)) is not None and unblocked[0] < base_rate
    ]
    if blocked:
        return min(blocked)[1]
    tested = setting.tested
    if tested is not None:
        return _more_points(tested, setting.float_delta)
    alone = f"The m = {setting.m:,} training points alone give no useful bound for this network."
    return f"{alone} {held_out(setting.m, setting.errors, setting.float_delta)}"


def _unblocked(row: BoundRow, verdict: Assessment) -> Hint | None:
    """What a row would say if nothing but remediable assumptions stopped it; 0 where its value is not known."""
    if row.applies or row.context or not row.why_not or not set(row.why_not) <= set(REMEDIES):
        return None
    details = {assumption.id: assumption.detail for assumption in verdict.rows}
    if "arithmetic" in row.why_not and not any(each.id == "r-sup" and each.status == "open" for each in verdict.rows):
        return None  # there is a range already
    last = row.why_not[-1]
    then = "" if row.raw is None else f" ({row.id} is then {upward(row.raw)})"
    causes = ". ".join(details[id][:1].upper() + details[id][1:] for id in row.why_not)
    remedies = dict.fromkeys(REMEDIES[id].format(then if REMEDIES[id] == REMEDIES[last] else "") for id in row.why_not)
    return row.raw or 0.0, f"{causes}. {' '.join(remedies)}"


def held_out(m: int, errors: int, delta: float) -> str:
    """What points kept aside would bring, at the error of the training points."""
    points = int(HOLDOUT * m)
    if points < 1:
        return "Get more points."
    expected = min(round(points * errors / m), points)
    upper = upward(clopper_pearson(expected, points, delta))
    kept = "Keep some points out of training and give them as --test-data FILE"
    rate = f"{points:,} points with {expected} error{'s' * (expected != 1)}, as on the training points"
    return f"{kept}: {rate}, would bound the risk by {upper}."


def _more_points(test: TestFacts, delta: float) -> str:
    """What four times as many held-out points would bring at the same error."""
    n, errors = 4 * test.n, 4 * round(test.error * test.n)
    upper = clopper_pearson(errors, n, delta)
    return f"Get more held-out points: {n:,} with the same error would bound the risk by {upward(upper)}."
