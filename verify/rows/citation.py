"""Which statement may be quoted, and what was paid for choosing it.

A bound holds with probability 1 - δ if it was chosen before the sample was seen (--cite ID). The least of several is
chosen after it: with K statements that could have been quoted, each is taken at δ/K and all K hold together. K counts
what nothing fixed beforehand rules out, not what happens to apply: a number that moves with the sample would be paid
only in part. Settings tried on the same sample (--tried N) divide δ once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from verify.results import BoundRow, Citation
from verify.rows.assumptions import Assessment

HELD_OUT = "held-out"

RowAt = Callable[[Bound, Fraction], BoundRow]
"""The row of a bound at another δ."""


def quotable(verdict: Assessment, *, has_test: bool) -> int:
    """K: the statements of the catalogue that could have been quoted, and the held-out bound where there are points."""
    claims = catalogue.of_group("paper", "corrected", "certificate")
    about_it = [bound for bound in claims if bound.classes == verdict.classes and bound.quoted]
    return max(1, sum(verdict.could_apply(bound) for bound in about_it) + has_test)


def cite(
    rows: Sequence[BoundRow],
    verdict: Assessment,
    *,
    named: str | None,
    delta: Fraction,
    row_at: RowAt,
    held_out_at: Callable[[Fraction], float] | None,
) -> Citation | None:
    """The statement named beforehand, or the least of all that apply; None where it says nothing below 1."""
    among = 1 if named is not None else quotable(verdict, has_test=held_out_at is not None)
    share = delta / among
    found: list[Citation] = []
    for row in rows:
        if row.applies and not row.vacuous and not row.context and row.group != "user" and named in (None, row.id):
            bound = catalogue.bound(row.id)
            if not bound.quoted and named is None:
                continue
            again = row if among == 1 else row_at(bound, share)
            if again.applies and again.value is not None and again.value < 1:
                found.append(Citation(row.id, again.value, float(share), verdict.assumed(bound), among))
    if held_out_at is not None and named in (None, HELD_OUT):
        upper = held_out_at(share)
        found += [Citation(HELD_OUT, upper, float(share), ("iid",), among)] if upper < 1 else []
    return min(found, key=lambda citation: citation.value, default=None)
