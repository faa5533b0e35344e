"""Which statement may be quoted, and what was paid for choosing it.

What is quoted is fixed by the input, before anything is computed: the statement named by --cite; else the held-out
bound, where there are held-out points; else the statement that the file or the options ask for (`Question.asked`).
Each of them stands alone, at its whole δ.

Only without any of these is the least of several quoted. It is chosen after the sample was seen: with K statements that
could have been quoted, each is taken at δ/K and all K hold together. K counts what nothing fixed beforehand rules out,
not what happens to apply: a number that moves with the sample would be paid only in part. Settings tried on the same
sample (--tried N) divide δ once more; networks compared on the held-out points divide that of the held-out bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from adanet_theory import catalogue
from verify.question import Question
from verify.results import BoundRow, Citation
from verify.rows.row import at_delta, row
from verify.rows.setting import Assessment, Setting

HELD_OUT = "held-out"


def fixed_by_input(question: Question, *, has_test: bool) -> str | None:
    """The id of the one statement to quote; None where the least of K is quoted.

    >>> fixed_by_input(Question(cite="a-posteriori"), has_test=True), fixed_by_input(Question(), has_test=True)
    ('a-posteriori', 'held-out')
    >>> fixed_by_input(Question(asked="vote-certificate"), has_test=False), fixed_by_input(Question(), has_test=False)
    ('vote-certificate', None)
    """
    return question.cite or (HELD_OUT if has_test else question.asked)


def cite(
    rows: Sequence[BoundRow], verdict: Assessment, *, fixed: str | None, delta: Fraction, setting: Setting | None = None
) -> Citation | None:
    """The statement fixed by the input, whose row stands at `delta`, or the least of all; None where it is not below 1.

    A row that does not apply is never quoted.
    """
    among = verdict.quotable if fixed is None else 1
    share = delta / among
    there = setting if among == 1 or setting is None else at_delta(setting, share)
    found: list[Citation] = []
    for each in rows:
        if each.applies and not each.vacuous and not each.context and each.group != "user" and fixed in (None, each.id):
            bound = catalogue.bound(each.id)
            if not bound.quoted and fixed is None:
                continue
            again = each if there is setting or there is None else row(bound, there)
            if again.applies and again.value is not None and again.value < 1:
                assumes = verdict.assumed(bound, again.about)
                found.append(Citation(each.id, again.value, float(share), assumes, among, again.about))
    return min(found, key=lambda citation: citation.value, default=None)
