"""Which statement may be quoted, what was paid for choosing it, and one hint where nothing says much.

What is quoted is fixed by the input, before anything is computed: the statement named by --cite; else the held-out
bound, where there are held-out points; else the statement that the file or the options ask for (`Counted.asked`).
Each of them stands alone, at its whole δ.

Only without any of these is the least of several quoted. It is chosen after the sample was seen: with K statements that
could have been quoted, each is taken at δ/K and all K hold together. K counts what nothing fixed beforehand rules out,
not what happens to apply: a number that moves with the sample would be paid only in part. Settings tried on the same
sample (--tried N) divide δ once more. Networks that were compared (--compared N, several MODELs) divide the δ of a
statement on one of them: held-out points, picks, points without labels, a bound of the user's. A statement on all
networks at once holds for the one that was chosen, whatever chose it (`Bound.is_paid_by_each`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.rounding import upward
from verify.records.question import CERTIFY, Question
from verify.records.results import BoundRow, Citation, TestFacts
from verify.rows.row import at_delta, paid, row
from verify.rows.setting import AT_RHO, Assessment, Counted, Predictions, RowValue, Setting

HELD_OUT = "held-out"


def fixed_by_input(question: Question, counted: Sequence[Counted] = (), *, has_test: bool) -> str | None:
    """The id of the one statement to quote; None where the least of K is quoted.

    >>> fixed_by_input(Question(cite="a-posteriori"), has_test=True), fixed_by_input(Question(), has_test=True)
    ('a-posteriori', 'held-out')
    >>> fixed_by_input(Question(), has_test=False)
    """
    asked = [None, *(one.bound.id for one in counted if one.asked)]
    return question.cite or (HELD_OUT if has_test else asked[-1])


def of_held_out(test: TestFacts | None) -> tuple[Counted, ...]:
    """Clopper-Pearson at the δ that the points were tested at."""
    if test is None:
        return ()
    said = RowValue(test.upper, {"errors": test.errors, "points": test.n}, about="program")
    return (Counted(catalogue.bound(HELD_OUT), lambda delta: said, delta=test.delta),)


def unused_rho(question: Question, fixed: str | None) -> list[str]:
    """Said where a margin was asked for, and what is quoted reads none."""
    if question.rho is None or fixed is None:
        return []
    bound = catalogue.bound(fixed)
    if bound.scale == "rho" or bound.reads & AT_RHO:
        return []
    return [f"rho = {float(question.rho):.4g} does not change what is quoted: {fixed} reads no margin that you fix."]


def cite(rows: Sequence[tuple[Bound, BoundRow]], setting: Predictions, fixed: str | None) -> Citation | None:
    """The statement fixed by the input, at the δ of its row, or the least of all at δ/K; None where it is not below 1.

    A row that does not apply is never quoted.
    """
    among = setting.quotable if fixed is None else 1
    there = setting if among == 1 else at_delta(setting, setting.delta / among)
    citations: list[Citation] = []
    for bound, each in rows:
        may = fixed == bound.id or (fixed is None and bound.quoted and bound.group != "user")
        if may and each.applies and not each.vacuous and not each.context:
            again = each if there is setting else row(bound, there)
            if again.applies and again.value is not None and again.value < 1:
                assumes = setting.verdict.assumed(bound, again.about)
                own, networks = float(paid(bound, there)), setting.compared if bound.is_paid_by_each else setting.shared
                citations.append(Citation(bound.id, again.value, own, assumes, among, again.about, networks))
    return min(citations, key=lambda citation: citation.value, default=None)


# One hint where nothing says much: the cause, what to do about it, and the number that would bring

HOLDOUT = Fraction(1, 10)
_COPIES = "If identical rows can be different people or events, add --discrete{}; otherwise remove the copies."
REMEDIES = {
    "iid": _COPIES,
    "untouched": _COPIES,
    "feature-map": "If you knew the range of the features beforehand, train with it: --feature-range LO,HI{}; "
    "otherwise keep points aside (adanet-train --holdout F) or learn the map on other points "
    "(adanet-train --features learned:F).",
    "arithmetic": "Give a bound on |x| that is known beforehand: --r-sup R{}.",
    "r-sup": "Give a bound on |Psi| that is known beforehand: --r-sup R{}.",
}
"""By assumption: what its failure asks for; the value that would result is put in."""

Hint = tuple[float, str]
"""The bound that would result, and the line."""


HOPELESS = "No bound can help; better training can."
SWAPPED = "Are the classes of y the other way round? Give y as the network was trained on it: 0/1 or -1/+1."


def hint(setting: Setting, rows: Sequence[BoundRow]) -> str:
    """The hint that helps most."""
    base_rate, tested = setting.base_rate, setting.tested
    if (share := setting.errors / setting.m) >= base_rate > 0:
        cure = SWAPPED if setting.classes == "two" and 1 - share < base_rate else HOPELESS
        error = f"The network errs on {_percent(share)} of the sample"
        return f"{error}, a constant prediction on {_percent(base_rate)}. {cure}"
    if tested is not None and tested.error >= base_rate > 0:
        error = f"The network errs on {_percent(tested.error)} of the held-out points"
        return f"{error}, a constant prediction on {_percent(base_rate)} of the sample. {HOPELESS}"
    blocked = [
        unblocked
        for row in rows
        if (unblocked := _unblocked(row, setting.verdict)) is not None and unblocked[0] < base_rate
        if not (setting.source.encoded and "feature-map" in row.why_not)  # no range fixes the list of words
    ]
    if blocked:
        return min(blocked)[1]
    if setting.verdict.holds("iid") is False:  # which stops every bound, also one that would say little
        return f"{_details(setting.verdict)['iid']}. {_COPIES.format('')}"
    if tested is not None:
        return _more_points(tested, base_rate, setting.float_delta)
    return held_out_hint(setting.m, base_rate, setting.float_delta, own="--compress FILE or --unlabelled FILE")


def _percent(share: float) -> str:
    """
    >>> _percent(1.0), _percent(0.123456)
    ('100 %', '12.35 %')
    """
    return f"{100 * share:.4g} %"


def _unblocked(row: BoundRow, verdict: Assessment) -> Hint | None:
    """What a row would say if nothing but remediable assumptions stopped it; 0 where its value is not known."""
    if row.applies or row.context or not row.why_not or not set(row.why_not) <= set(REMEDIES):
        return None
    details = _details(verdict)
    if "arithmetic" in row.why_not and not any(each.id == "r-sup" and each.status == "open" for each in verdict.rows):
        return None  # there is a range already
    last = row.why_not[-1]
    then = "" if row.raw is None else f" ({row.id} is then {upward(row.raw)})"
    causes = ". ".join(details[id] for id in row.why_not)
    remedies = dict.fromkeys(REMEDIES[id].format(then if REMEDIES[id] == REMEDIES[last] else "") for id in row.why_not)
    return row.raw or 0.0, f"{causes}. {' '.join(remedies)}"


def _details(verdict: Assessment) -> dict[str, str]:
    """What is said of each assumption, as the beginning of a sentence."""
    return {row.id: row.detail[:1].upper() + row.detail[1:] for row in verdict.rows}


def held_out_hint(m: int, base_rate: float, delta: float, *, own: str = "--unlabelled FILE") -> str:
    """The best that a tenth of the points kept aside could bring, or as many as it takes to beat a constant prediction.

    `own` are the options that certify the user's own network.
    """
    if base_rate == 0:
        return "All points are of one class, which a constant prediction gets right: add points of the others."
    needed = math.floor(math.log(delta) / math.log1p(-base_rate)) + 1 if base_rate < 1 else 1
    points = max(int(HOLDOUT * m), needed)
    if 2 * points > m:
        return f"Get more points: at least {points:,} for testing alone (--test-data FILE)."
    upper = upward(clopper_pearson(0, points, delta))
    kept = f"Keep points out of training for --test-data FILE: {points:,} with no error on them give the bound {upper}"
    return f"{kept}. To certify this network without them: {own}. To train one with a certificate: {CERTIFY}."


def _more_points(test: TestFacts, base_rate: float, delta: float) -> str:
    """What four times as many held-out points would bring at the same error, or as many as say something."""
    for times in (4, 16, 64, 256):
        n, errors = times * test.n, times * test.errors
        upper = clopper_pearson(errors, n, delta)
        if upper < base_rate:
            return f"Get more held-out points: {n:,} with the same error would bound the risk by {upward(upper)}."
    return "The error is too near that of a constant prediction for more held-out points to help; better training can."
