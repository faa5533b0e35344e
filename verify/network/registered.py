"""The bounds that a user registered with the catalogue, as rows of the report: a claim where what they need holds.

Their numbers are those of their own functions, in floats; what a record only `assumes` is named beside them.
"""

from __future__ import annotations

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.margin import MarginBound
from adanet_theory.quantities import Quantities, evaluate
from verify.network.assumptions import Assessment
from verify.network.results import BoundRow

OF_A_FAMILY = frozenset({"spec", "w_norms", "R_m", "R_S", "M"})


def registered(given: Quantities, verdict: Assessment, *, in_layers: bool) -> list[BoundRow]:
    """Of a graph nothing is known that is about a family of layers: a bound that reads such a thing has no value."""
    found = [bound for bound in catalogue.registered() if bound.classes == verdict.classes]
    undefined = {bound.id for bound in found if not in_layers and bound.reads & OF_A_FAMILY}
    return [_row(bound, None if bound.id in undefined else given, verdict.why_not(bound)) for bound in found]


def remarks(verdict: Assessment) -> list[str]:
    """One line for the reader on each: whose it is, and what it takes for granted."""
    return [_remark(bound) for bound in catalogue.registered() if bound.classes == verdict.classes]


def _remark(bound: Bound) -> str:
    source = f" ({bound.reference})" if bound.reference else ""
    taken = f", assuming {bound.assumes}, which is not checked here" if bound.assumes else ""
    return f"{bound.id} was registered by the user{source}{taken}; its numbers are those of its own function."


def _row(bound: Bound, given: Quantities | None, why_not: tuple[str, ...]) -> BoundRow:
    found = None if given is None else _value(bound, given)
    raw = None if found is None else found.raw
    applies = bound.is_claim and not why_not
    value = None if not applies else 1.0 if raw is None else min(1.0, raw)
    terms, rho = ({}, None) if found is None else (dict(found.terms), found.rho)
    vacuous = raw is None or raw >= 1
    return BoundRow(bound.id, raw, value, terms, applies, why_not, vacuous, rho, group=bound.group)


def _value(bound: Bound, given: Quantities) -> MarginBound | None:
    """None where it is undefined at these numbers."""
    try:
        return evaluate(bound, given)
    except (OverflowError, OutsideTheoryError):
        return None
