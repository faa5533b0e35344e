"""Theorem 1 as corrected, at families that the user declares: sum_k ||w_k||_1 R_m(H_k) with R_m taken at its word."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import Array
from adanet_theory.risk.margin import best_margin
from adanet_theory.rounding import up
from verify.measure.margins import ramp
from verify.records.results import Assumption
from verify.rows.bounds import EXACT_ETA, certified_terms, trivial
from verify.rows.setting import Counted, RowValue

if TYPE_CHECKING:
    from verify.reading.families import Families
    from verify.records.question import Question

NEEDS = ("iid", "feature-map", "declared")


def of_families(families: Families, X: Array, y: Array, question: Question) -> Counted:
    """margin-bound at the rho that was fixed, else margin-bound-uniform."""
    scale = "W_M" if question.rho is None else "rho"
    theory = catalogue.theory("many" if families.module.outputs > 1 else "two")
    (stated,) = [one for one in theory if one.scale == scale and one.range and one.complexity == "lemma-2-peeled"]
    bound = replace(stated, needs=NEEDS)
    H = families.outputs(X)
    value = partial(_value, bound, families, families.margins(H, y), question)
    return Counted(bound, value, (_declared(families, H, bound.id),))


def _declared(families: Families, H: list[Array], id: str) -> Assumption:
    """The user's word on every family; an output beyond its range on the sample refutes it."""
    for name, h in zip(families.names, H, strict=True):
        seen, M = float(np.abs(h).max(initial=0.0)), families.M[name]
        if not seen <= M:
            detail = f"|h| <= {float(M):.6g} was declared for {name}, and |h| = {seen:.6g} on the sample"
            return Assumption("declared", "fails", detail, (id,))
    each = ", ".join(f"R_m({name}) <= {float(R):.6g}, |h| <= {float(families.M[name]):.6g}"
                     for name, R in families.R_m.items())  # fmt: skip
    return Assumption("declared", "assumed", f"your word, which nothing here checks: {each}", (id,))


def _value(bound: Bound, families: Families, u: Array, question: Question, delta: Fraction) -> RowValue:
    """Rounded up; about the program, whose own rounding the margins pay for."""
    w, R = families.norms, list(families.R_m.values())
    M, C = list(families.M.values()), families.module.outputs
    values: dict[str, Any] = {"l": len(R), "w": w, "R": R, "M": max(M), "M_k": M, "m": len(u), "delta": delta}
    values |= {"eta": EXACT_ETA} | ({"C": C} if C > 1 else {})
    if sum(w) == 0:
        return replace(trivial(bound), about="program")
    if question.rho is not None:
        rho, j = Fraction(question.rho), None
        width = up(rho * sum(w))
        values |= {"rho": rho}
    else:
        W_M = sum((x * y for x, y in zip(w, M, strict=True)), Fraction(0))
        j = _best_j(bound, families, u, float(delta), float(W_M))
        width = up(W_M / (1 + EXACT_ETA) ** j)
        values |= {"j": j}
    terms, raw = certified_terms(bound.id, values | {"ramp": ramp(u, width)})
    return RowValue(raw, terms, float(rho) if j is None else width, j, about="program")


def _best_j(bound: Bound, families: Families, u: Array, delta: float, W_M: float) -> int:
    """The j at which the uniform bound is least."""
    given: dict[str, Any] = {"m": len(u), "delta": delta, "M": [float(M) for M in families.M.values()]}
    lists = [float(x) for x in families.norms], [float(R) for R in families.R_m.values()]
    if families.module.outputs > 1:
        given["C"] = families.module.outputs

    def at(j: int, loss: float) -> Any:
        return bound.numeric(j, loss, *lists, **given)

    return best_margin(bound.id, u, W_M, at).j or 0
