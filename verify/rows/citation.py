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

from collections.abc import Callable, Sequence
from fractions import Fraction

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from verify.question import Question
from verify.results import BoundRow, Citation
from verify.rows.assumptions import Assessment

HELD_OUT = "held-out"

RowAt = Callable[[Bound, Fraction], BoundRow]
"""The row of a bound at another δ."""


def fixed_by_input(question: Question, *, has_test: bool) -> str | None:
    """The id of the one statement to quote; None where the least of K is quoted.

    >>> fixed_by_input(Question(cite="a-posteriori"), has_test=True), fixed_by_input(Question(), has_test=True)
    ('a-posteriori', 'held-out')
    >>> fixed_by_input(Question(asked="gauss-certificate"), has_test=False), fixed_by_input(Question(), has_test=False)
    ('gauss-certificate', None)
    """
    return question.cite or (HELD_OUT if has_test else question.asked)


def quotable(verdict: Assessment) -> int:
    """K: the statements of the catalogue that could have been quoted."""
    claims = catalogue.of_group("paper", "corrected", "certificate")
    about_it = [bound for bound in claims if bound.classes == verdict.classes and bound.quoted]
    return max(1, sum(verdict.could_apply(bound) for bound in about_it))


def cite(
    rows: Sequence[BoundRow], verdict: Assessment, *, fixed: str | None, delta: Fraction, row_at: RowAt
) -> Citation | None:
    """The statement fixed by the input, whose row stands at `delta`, or the least of all; None where it is not below 1.

    A row that does not apply is never quoted.
    """
    among = quotable(verdict) if fixed is None else 1
    share = delta / among
    found: list[Citation] = []
    for row in rows:
        if row.applies and not row.vacuous and not row.context and row.group != "user" and fixed in (None, row.id):
            bound = catalogue.bound(row.id)
            if not bound.quoted and fixed is None:
                continue
            again = row if among == 1 else row_at(bound, share)
            if again.applies and again.value is not None and again.value < 1:
                found.append(Citation(row.id, again.value, float(share), verdict.assumed(bound), among))
    return min(found, key=lambda citation: citation.value, default=None)
