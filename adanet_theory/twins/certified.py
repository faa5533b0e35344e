"""The value of a symbolic statement, enclosed: ball arithmetic over the sympy tree, rounded outward.

Inputs are exact (int, Fraction, Decimal, a decimal string, a float's binary value, a sympy number), so the balls
contain all errors. The precision doubles until the result is known to 60 bits and every comparison and ceiling is
decided. A ceiling that 8192 bits do not decide takes both values, so its upper end is safe.

>>> upper("confidence-C", {"rho": "0.1", "l": 3, "m": 10_000, "delta": "0.05"})
0.4455153892710099
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from operator import add
from typing import Any

import flint
import sympy as sp
from flint import arb

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins.activations import activation_facts
from adanet_theory.twins.balls import Environment, Undecided, Undefined, compiled
from adanet_theory.twins.notation import Definition
from adanet_theory.twins.symbolic import STATEMENTS, Statement
from adanet_theory.twins.values import Values

__all__ = ["Undefined", "enclosures", "evaluate", "lower", "spec_values", "terms_upper", "upper"]

START_BITS, MAX_BITS, TIGHT_BITS = 128, 8192, 60


def _tight(x: arb) -> bool:
    return bool(x.is_finite()) and x.rel_accuracy_bits() >= TIGHT_BITS


def _enclose(
    terms: Mapping[str, sp.Expr], definitions: Sequence[Definition], values: Mapping[str, Any]
) -> dict[str, arb]:
    """Balls of all terms and of their total, at the first precision that makes them tight."""
    by_name = {definition.name: definition for definition in definitions}
    numbers, bits = Values(values), START_BITS
    while True:
        last_chance = bits >= MAX_BITS
        with flint.ctx.workprec(bits):
            try:
                env = Environment(numbers, by_name, last_chance)
                balls = {name: compiled(term)(env) for name, term in terms.items()}
                balls["total"] = reduce(add, balls.values())
                if all(map(_tight, balls.values())) or (last_chance and all(x.is_finite() for x in balls.values())):
                    return balls
            except Undecided:
                pass
        if last_chance:
            raise Undefined(f"not decided at {MAX_BITS} bits.")
        bits *= 2


def _parts(statement: Statement | sp.Expr | str) -> tuple[str, Mapping[str, sp.Expr], tuple[Definition, ...]]:
    if isinstance(statement, str):
        check(statement in STATEMENTS, f"there is no statement {statement!r}.")
        statement = STATEMENTS[statement]
    if isinstance(statement, Statement):
        return statement.id, statement.terms, statement.definitions
    return "the expression", {"value": sp.sympify(statement)}, ()


def enclosures(statement: Statement | sp.Expr | str, values: Mapping[str, Any]) -> dict[str, arb]:
    """A ball around every term and around their "total"; raises `Undefined` if the formula has no value."""
    name, terms, definitions = _parts(statement)
    try:
        return _enclose(terms, definitions, values)
    except Undefined as error:
        raise Undefined(f"{name} has no value here: {error}") from None


def evaluate(statement: Statement | sp.Expr | str, values: Mapping[str, Any]) -> arb:
    """A ball that contains the value of the right side.

    >>> evaluate("lemma-2-peeled-offset", {"k": 1, "p": 1, "n": [4], "Lambda": {(1, 0): "0.1"}, "r_rms": 1, "m": 10})
    [0.0644894028764391 +/- 1.50e-18]
    """
    return enclosures(statement, values)["total"]


def _to_float(x: arb, name: str, up: bool) -> float:
    """The end of the ball as a float, rounded outward; OverflowError beyond the largest float."""
    mantissa, exponent = map(int, (x.upper() if up else x.lower()).man_exp())
    bits = mantissa.bit_length()
    if bits + exponent > 1025:
        raise OverflowError(f"{name} exceeds the largest float, 1.8e308.")
    shift = max(bits - 53, -1074 - exponent)
    if shift > 0:
        mantissa = -(-mantissa >> shift) if up else mantissa >> shift
        exponent += shift
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        raise OverflowError(f"{name} exceeds the largest float, 1.8e308.") from None


def upper(statement: Statement | sp.Expr | str, values: Mapping[str, Any]) -> float:
    """A float at or above the value of the right side, by at most a few ulps.

    >>> upper(sp.Rational(1, 10), {}), upper(sp.Rational(1, 3), {})
    (0.1, 0.33333333333333337)
    """
    return _to_float(evaluate(statement, values), _parts(statement)[0], up=True)


def lower(statement: Statement | sp.Expr | str, values: Mapping[str, Any]) -> float:
    """A float at or below the value of the right side.

    >>> lower(sp.Rational(1, 10), {}), lower(sp.Rational(1, 3), {})
    (0.09999999999999999, 0.3333333333333333)
    """
    return _to_float(evaluate(statement, values), _parts(statement)[0], up=False)


def terms_upper(statement: Statement | sp.Expr | str, values: Mapping[str, Any]) -> dict[str, float]:
    """Every term rounded up, and their sum as "total", rounded up once from its own ball."""
    name = _parts(statement)[0]
    return {term: _to_float(x, f"{term} of {name}", up=True) for term, x in enclosures(statement, values).items()}


@lru_cache(maxsize=64)
def _layer_facts(activation: Any) -> dict[str, Any]:
    return activation_facts(activation)


def spec_values(spec: NetworkSpec) -> dict[str, Any]:
    """The declared family as values: l, p, n, Lambda and the exact constants L, c, e, phi0, sup of each layer.

    >>> spec_values(NetworkSpec.layered((4, 3, 2), 1.5, p=1))["c"]
    {1: 3/2}
    """
    facts = {s: _layer_facts(spec.phi(s)) for s in range(1, spec.depth)}
    by_layer = {name: {s: fact[name] for s, fact in facts.items()} for name in ("L", "c", "e", "phi0", "sup")}
    return {"l": spec.depth, "p": spec.p, "n": list(spec.n), "Lambda": dict(spec.Lambda), **by_layer}
