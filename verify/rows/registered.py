"""The bounds that a user registered with the catalogue, as rows of the report: a claim where what they need holds.

Their numbers are those of their own functions, in floats; what a record only `assumes` is named beside them.
"""

from __future__ import annotations

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.quantities import NoValue, Quantities, evaluate
from adanet_theory.risk.margin import MarginBound
from verify.results import BoundRow
from verify.rows.assumptions import Assessment

OF_A_FAMILY = frozenset({"spec", "w_norms", "R_m", "R_S", "M"})


def registered(given: Quantities, verdict: Assessment, *, in_layers: bool) -> tuple[list[BoundRow], list[str]]:
    """The rows, and for each a line for the reader: whose it is, what it takes for granted, or why it has no value.

    Of a graph nothing is known that is about a family of layers: a bound that reads such a thing has no value.
    """
    rows, told = [], []
    for bound in catalogue.registered():
        if bound.classes == verdict.classes:
            found, failure = (None, "") if not in_layers and bound.reads & OF_A_FAMILY else _value(bound, given)
            rows.append(_row(bound, found, verdict.why_not(bound)))
            told += [_remark(bound)] + ([f"{failure}."] if failure else [])
    return rows, told


def _remark(bound: Bound) -> str:
    source = f" ({bound.reference})" if bound.reference else ""
    taken = f", assuming {bound.assumes}, which is not checked here" if bound.assumes else ""
    return f"{bound.id} was registered by the user{source}{taken}; its numbers are those of its own function."


def _row(bound: Bound, found: MarginBound | None, why_not: tuple[str, ...]) -> BoundRow:
    raw = None if found is None else found.raw
    applies = bound.is_claim and not why_not
    value = None if not applies else 1.0 if raw is None else min(1.0, raw)
    terms, rho = ({}, None) if found is None else (dict(found.terms), found.rho)
    vacuous = raw is None or raw >= 1
    return BoundRow(bound.id, raw, value, terms, applies, why_not, vacuous, rho, group=bound.group)


def _value(bound: Bound, given: Quantities) -> tuple[MarginBound | None, str]:
    """None where it is undefined at these numbers, with the reason where its function failed."""
    try:
        return evaluate(bound, given), ""
    except NoValue as error:
        return None, str(error)
