"""A symbolic expression as a function on balls (arb): exact values in, an enclosure out.

The code walks the sympy tree node by node, because lambdify would turn 1/3 into a float. Each kind of node has one
small function. An expression is compiled once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, reduce
from operator import add, eq, ge, gt, le, lt, mul, ne
from typing import Any

import sympy as sp
from flint import arb, fmpq

from adanet_theory.twins.notation import KEYS, Definition, DualNorm, DualRoot, KLInverse, WalkMean
from adanet_theory.twins.tails import kl_inverse_ball
from adanet_theory.twins.values import Values


class Undefined(ArithmeticError):
    """The formula has no value here: a negative radicand, a division by zero, a logarithm of 0."""


class Undecided(Exception):
    """The balls are too wide to decide a comparison or a ceiling at this precision."""


def ball(number: Any) -> arb:
    """The ball of an exact number at the current precision."""
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    if isinstance(number, sp.Expr):
        return compiled(number)(Environment(Values({}), {}))
    return arb.pos_inf() if number == math.inf else arb(number)


@dataclass
class Environment:
    """The inputs of a compiled expression: values, definitions, the integers bound by sums, and cached results."""

    values: Values
    definitions: Mapping[str, Definition]
    last_chance: bool = False
    bound: dict[str, int] = field(default_factory=dict)
    memo: dict[Any, arb] = field(default_factory=dict)

    def whole(self, name: str) -> int:
        return self.bound[name] if name in self.bound else int(self.values.number(name))

    def symbol(self, name: str) -> arb:
        if name in self.bound:
            return arb(self.bound[name])
        return self.item(name, ())

    def item(self, name: str, index: tuple[int, ...]) -> arb:
        key = (name, index)
        if key not in self.memo:
            definition = self.definitions.get(name)
            if definition is None:
                self.memo[key] = ball(self.values.number(KEYS.get(name, name), index))
            else:
                outer, self.bound = self.bound, definition.bind(index)
                self.memo[key] = compiled(definition.at(index))(self)
                self.bound = outer
        return self.memo[key]

    def over(self, name: str, first: int, last: int, body: Node) -> list[arb]:
        outer, self.bound = self.bound, dict(self.bound)
        balls = []
        for value in range(first, last + 1):
            self.bound[name] = value
            balls.append(body(self))
        self.bound = outer
        return balls


Node = Callable[[Environment], arb]


def _index(expr: sp.Expr) -> Callable[[Environment], int]:
    """An index or a limit of a sum: an integer, a letter, or a letter plus an integer; n_s may be a limit."""
    if isinstance(expr, sp.Integer):
        constant = int(expr)
        return lambda env: constant
    if isinstance(expr, sp.Symbol):
        name = expr.name
        return lambda env: env.whole(name)
    if isinstance(expr, sp.Indexed):
        name, inner = str(expr.base.label), _index(expr.indices[0])
        return lambda env: int(env.values.number(name, (inner(env),)))
    offset, letter = expr.as_two_terms()
    shift, index = int(offset), _index(letter)
    return lambda env: index(env) + shift


def _nonnegative(x: arb, env: Environment, what: str) -> arb:
    if x < 0:
        raise Undefined(f"{what} of a negative number, {x.mid().str(5, radius=False)}.")
    if x >= 0:
        return x
    if not env.last_chance:
        raise Undecided
    return x.nonnegative_part()


def _sqrt(x: arb, env: Environment) -> arb:
    return _nonnegative(x, env, "square root").sqrt()


def _inverse(x: arb, env: Environment) -> arb:
    if x == 0:
        raise Undefined("division by zero.")
    return 1 / x


def _log(x: arb, env: Environment) -> arb:
    if x <= 0:
        raise Undefined("logarithm of a number that is not positive.")
    return x.log()


def _power(x: arb, y: arb, env: Environment) -> arb:
    if x == 0 and y < 0:
        raise Undefined("division by zero.")
    return _nonnegative(x, env, "power") ** y


def _ceiling(x: arb, env: Environment) -> arb:
    rounded = x.ceil()
    if rounded.is_exact() or env.last_chance:
        return rounded
    raise Undecided


def _floor(x: arb, env: Environment) -> arb:
    return -_ceiling(-x, env)


def _sign(x: arb, env: Environment) -> arb:
    if x == 0:
        return arb(0)
    if not (x > 0 or x < 0):
        raise Undecided
    return arb(1) if x > 0 else arb(-1)


def _walk_mean(x: arb, env: Environment) -> arb:
    # C(2t, t)/4^t with t = floor(m/2), which is Gamma(t + 1/2)/(sqrt(pi) Gamma(t + 1)).
    t = (x / 2).floor()
    return (t + arb(0.5)).gamma() * (t + 1).rgamma() / arb.pi().sqrt()


_FUNCTIONS: dict[type, Callable[[arb, Environment], arb]] = {
    sp.log: _log,
    sp.exp: lambda x, env: x.exp(),
    sp.erf: lambda x, env: x.erf(),
    sp.gamma: lambda x, env: x.gamma(),
    sp.loggamma: lambda x, env: x.lgamma(),
    sp.Abs: lambda x, env: abs(x),
    sp.sign: _sign,
    sp.ceiling: _ceiling,
    sp.floor: _floor,
    WalkMean: _walk_mean,
    sp.UnevaluatedExpr: lambda x, env: x,
}
_BINARY: dict[type, Callable[[arb, arb], arb]] = {
    sp.binomial: lambda n, k: (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma(),
    sp.besseli: lambda order, x: x.bessel_i(order),
    KLInverse: kl_inverse_ball,
}
_CONSTANTS: dict[sp.Expr, Callable[[], arb]] = {
    sp.pi: arb.pi,
    sp.E: arb.const_e,
    sp.oo: arb.pos_inf,
}


# Where balls overlap, neither the relation nor its opposite is certain.
_CERTAIN = {"==": (eq, ne), ">=": (ge, lt), ">": (gt, le), "<=": (le, gt), "<": (lt, ge)}


def _decide(relation: sp.Rel) -> Callable[[Environment], bool]:
    """Whether a relation holds; raises if the balls overlap without being one point."""
    if relation is sp.true:
        return lambda env: True
    left, right = compiled(relation.lhs), compiled(relation.rhs)
    true, false = _CERTAIN[relation.rel_op]

    def decide(env: Environment) -> bool:
        a, b = left(env), right(env)
        if true(a, b):
            return True
        if false(a, b):
            return False
        raise Undecided

    return decide


def _compile_power(expr: sp.Pow) -> Node:
    base, power = expr.base, expr.exp
    x = compiled(base)
    if abs(power) == sp.S.Half:
        if power > 0:
            return lambda env: _sqrt(x(env), env)
        return lambda env: _inverse(_sqrt(x(env), env), env)
    if isinstance(power, sp.Integer):
        exponent = abs(int(power))
        if power > 0:
            return lambda env: x(env) ** exponent
        return lambda env: _inverse(x(env) ** exponent, env)
    y = compiled(power)
    return lambda env: _power(x(env), y(env), env)


def _compile_piecewise(expr: sp.Piecewise) -> Node:
    """The first case that holds. If the last precision does not decide it, a ball around it and the later ones."""
    cases = [(_decide(condition), compiled(value)) for value, condition in expr.args]

    def piecewise(env: Environment, first: int = 0) -> arb:
        for place, (decide, value) in enumerate(cases[first:], start=first):
            try:
                if decide(env):
                    return value(env)
            except Undecided:
                if not env.last_chance:
                    raise
                return value(env).union(piecewise(env, place + 1))
        raise Undefined("no case of it holds.")

    return piecewise


def _compile_over(expr: Any, operator: Callable[[arb, arb], arb], empty: int) -> Node:
    """One loop for every limit, the first one innermost."""
    node = compiled(expr.function)
    for letter, first, last in expr.limits:
        node = _loop(letter.name, _index(first), _index(last), node, operator, empty)
    return node


def _loop(
    name: str,
    first: Callable[[Environment], int],
    last: Callable[[Environment], int],
    body: Node,
    operator: Callable[[arb, arb], arb],
    empty: int,
) -> Node:
    return lambda env: reduce(operator, env.over(name, first(env), last(env), body), arb(empty))


def _compile_product(expr: sp.Mul) -> Node:
    """The product of the factors; a missing connection (Lambda_{k,s} = 0) contributes 0 whatever the rest is."""
    connections = [compiled(x) for x in expr.args if _is_connection(x)]
    others = [compiled(x) for x in expr.args if not _is_connection(x)]

    def product(env: Environment) -> arb:
        result = reduce(mul, (x(env) for x in connections), arb(1))
        if result == 0:
            return result
        for factor in others:
            result *= factor(env)
        return result

    return product


def _is_connection(expr: sp.Expr) -> bool:
    return isinstance(expr, sp.Indexed) and str(expr.base.label) == "Lambda"


def _compile_dual_root(expr: DualRoot) -> Node:
    n, p = (compiled(argument) for argument in expr.args)

    def dual_root(env: Environment) -> arb:
        x, norm = n(env), p(env)
        if x == 0 or norm == math.inf:
            return x
        return arb(1) if norm == 1 else x ** (1 - 1 / norm)

    return dual_root


def _compile_dual_norm(expr: DualNorm) -> Node:
    count, p = _index(expr.args[0]), compiled(expr.args[1])

    def dual_norm(env: Environment) -> arb:
        norm, size = p(env), count(env)
        sizes = [abs(env.item("eps", (i,))) for i in range(1, size + 1)]
        if norm == 1:
            return reduce(arb.max, sizes, arb(0))
        q = 1 / (1 - 1 / norm)
        return sum((x**q for x in sizes if x != 0), arb(0)) ** (1 / q)

    return dual_norm


def _compile_leaf(expr: sp.Expr) -> Node | None:
    if expr in _CONSTANTS:
        constant = _CONSTANTS[expr]
        return lambda env: constant()
    if isinstance(expr, sp.Integer):
        whole = arb(int(expr))
        return lambda env: whole
    if isinstance(expr, sp.Rational):
        fraction = fmpq(int(expr.p), int(expr.q))
        return lambda env: arb(fraction)
    if isinstance(expr, sp.Symbol):
        name = expr.name
        return lambda env: env.symbol(name)
    if isinstance(expr, sp.Indexed):
        label, indices = str(expr.base.label), [_index(i) for i in expr.indices]
        return lambda env: env.item(label, tuple(i(env) for i in indices))
    return None


@cache
def compiled(expr: sp.Expr) -> Node:
    """The expression as a function of an environment; every subexpression is compiled once."""
    leaf = _compile_leaf(expr)
    if leaf is not None:
        return leaf
    if isinstance(expr, sp.Add):
        terms = [compiled(x) for x in expr.args]
        return lambda env: reduce(add, (x(env) for x in terms))
    if isinstance(expr, sp.Max | sp.Min):
        parts, choose = [compiled(x) for x in expr.args], arb.max if isinstance(expr, sp.Max) else arb.min
        return lambda env: reduce(choose, (x(env) for x in parts))
    if isinstance(expr, sp.Sum):
        return _compile_over(expr, add, 0)
    if isinstance(expr, sp.Product):
        return _compile_over(expr, mul, 1)
    special: dict[type, Callable[[Any], Node]] = {
        sp.Mul: _compile_product,
        sp.Pow: _compile_power,
        sp.Piecewise: _compile_piecewise,
        DualRoot: _compile_dual_root,
        DualNorm: _compile_dual_norm,
    }
    if type(expr) in special:
        return special[type(expr)](expr)
    if type(expr) in _FUNCTIONS:
        function, argument = _FUNCTIONS[type(expr)], compiled(expr.args[0])
        return lambda env: function(argument(env), env)
    if type(expr) in _BINARY:
        binary, first, second = _BINARY[type(expr)], *map(compiled, expr.args)
        return lambda env: binary(first(env), second(env))
    if isinstance(expr, sp.Function) and expr.doit() != expr:
        return compiled(expr.doit())
    raise TypeError(f"{type(expr).__name__} cannot be evaluated: {expr}.")
