"""A statement in JavaScript: the body of a function that a page can run, with sums unrolled at one depth."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.printing.printer import Printer

from adanet_theory.twins.notation import KEYS

if TYPE_CHECKING:
    from adanet_theory.twins.symbolic import Statement

_HELPERS = {
    "p": 'const p = v.p === "inf" ? Infinity : v.p;',
    "Lambda": 'const Lambda = (k, s) => v.Lambda[k + "," + s] ?? 0;',
    "at": "const at = (x, i) => Array.isArray(x) ? x[i - 1] : x[i];",
    "dualRoot": "const dualRoot = (n, p) => n === 0 ? 0 : Math.pow(n, 1 - 1 / p);",
    "dualNorm": (
        "const dualNorm = (x, p) => {\n"
        "  const a = Object.values(x).map(Math.abs), top = Math.max(...a), q = 1 / (1 - 1 / p);\n"
        "  if (p === 1 || top === 0) return top;\n"
        "  return top * Math.pow(a.reduce((t, e) => t + Math.pow(e / top, q), 0), 1 / q);\n"
        "};"
    ),
    # Exact product for small t, the asymptotic series of Gamma(t + 1/2)/Gamma(t + 1) beyond.
    "walkMean": (
        "const walkMean = (m) => {\n"
        "  const t = Math.floor(m / 2);\n"
        "  let mu = 1;\n"
        "  if (t <= 400) { for (let i = 1; i <= t; i++) mu *= 1 - 1 / (2 * i); return mu; }\n"
        "  const x = 1 / t;\n"
        "  return (1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 - x * 21 / 32768)))) / Math.sqrt(Math.PI * t);\n"
        "};"
    ),
    # Stirling's series after shifting the argument to at least 16.
    "logGamma": (
        "const logGamma = (x) => {\n"
        "  let shift = 0;\n"
        "  while (x < 16) { shift += Math.log(x); x += 1; }\n"
        "  const y = 1 / (x * x);\n"
        "  const tail = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;\n"
        "  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + tail - shift;\n"
        "};"
    ),
}


class JavaScript(Printer):
    """Print an expression with l and k at one depth, with sums unrolled and a constant for every definition."""

    def __init__(self, statement: Statement, depth: int) -> None:
        super().__init__()
        self.bound: dict[str, int] = {"l": depth, "k": depth}
        self.definitions = {x.name: x for x in statement.definitions}
        self.constants: dict[str, str] = {}

    def with_bound(self, expr: sp.Basic, bound: dict[str, int]) -> str:
        outer, self.bound = self.bound, {**self.bound, **bound}
        text = str(self._print(expr))
        self.bound = outer
        return text

    def index(self, expr: sp.Expr) -> sp.Expr:
        """An index or a limit with the bound names replaced: an integer, or an expression in v.s or v.i."""
        return expr.subs({x: self.bound[x.name] for x in expr.free_symbols if x.name in self.bound})

    def constant(self, name: str, index: tuple[int, ...]) -> str:
        """The constant with a definition's value; the constants that it needs are defined before it."""
        label = "_".join([name, *map(str, index)])
        if label not in self.constants:
            definition = self.definitions[name]
            self.constants[label] = self.with_bound(definition.at(index), definition.bind(index))
        return label

    def over(self, expr: Any, operator: str, empty: str) -> str:
        x, first, last = expr.limits[0]
        steps = range(int(self.index(first)), int(self.index(last)) + 1)
        parts = [self.with_bound(expr.function, {x.name: value}) for value in steps]
        return f"({operator.join(parts)})" if parts else empty

    def call(self, function: str, args: Iterable[sp.Basic]) -> str:
        return f"{function}({', '.join(self._print(a) for a in args)})"

    def _print_Sum(self, expr: sp.Sum) -> str:
        return self.over(expr, " + ", "0")

    def _print_Product(self, expr: sp.Product) -> str:
        return self.over(expr, " * ", "1")

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        if expr.name in self.bound:
            return str(self.bound[expr.name])
        if expr.name in self.definitions:
            return self.constant(expr.name, ())
        return "p" if expr.name == "p" else f"v.{KEYS.get(expr.name, expr.name)}"

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        name, index = str(expr.base.label), [self.index(i) for i in expr.indices]
        if name in self.definitions:
            return self.constant(name, tuple(int(i) for i in index))
        if name == "Lambda":
            return self.call("Lambda", index)
        if name == "n":
            return f"v.n[{self._print(index[0])}]"
        return f"at(v.{KEYS.get(name, name)}, {self._print(index[0])})"

    def _print_Integer(self, expr: sp.Integer) -> str:
        return str(expr) if expr >= 0 else f"({expr})"

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"({expr.p} / {expr.q})"

    def _print_Pi(self, expr: sp.Basic) -> str:
        return "Math.PI"

    def _print_Infinity(self, expr: sp.Basic) -> str:
        return "Infinity"

    def _print_Add(self, expr: sp.Add) -> str:
        return f"({' + '.join(self._print(a) for a in expr.args)})"

    def _print_Mul(self, expr: sp.Mul) -> str:
        return f"({' * '.join(self._print(a) for a in expr.args)})"

    def _print_Pow(self, expr: sp.Pow) -> str:
        base, power = expr.args
        if power == -1:
            return f"(1 / {self._print(base)})"
        if abs(power) == sp.S.Half:
            square_root = f"Math.sqrt({self._print(base)})"
            return square_root if power > 0 else f"(1 / {square_root})"
        if isinstance(base, sp.Mul) and base.has(sp.gamma):
            # kappa_q: Gamma(x)^(1/q) overflows before its root does.
            logs = " + ".join(self.logarithm(factor) for factor in base.args)
            return f"Math.exp({self._print(power)} * ({logs}))"
        return self.call("Math.pow", (base, power))

    def logarithm(self, factor: sp.Expr) -> str:
        if isinstance(factor, sp.gamma):
            return self.call("logGamma", factor.args)
        return self.call("Math.log", (factor,))

    def _print_UnevaluatedExpr(self, expr: sp.Basic) -> str:
        return str(self._print(expr.args[0]))

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        text = ""
        for value, condition in expr.args:
            decided = self.index(condition)
            if decided == True:  # noqa: E712 - a sympy truth value
                return f"({text}{self._print(value)})"
            if decided != False:  # noqa: E712
                text += f"{self._print(decided)} ? {self._print(value)} : "
        return f"({text}NaN)"

    def _print_Relational(self, expr: sp.Rel) -> str:
        operator = {"==": "==="}.get(expr.rel_op, expr.rel_op)
        return f"{self._print(expr.lhs)} {operator} {self._print(expr.rhs)}"

    def _print_Function(self, expr: sp.Function) -> str:
        return self.call(_FUNCTIONS[type(expr).__name__], expr.args)

    def _print_Max(self, expr: sp.Max) -> str:
        return self.call("Math.max", expr.args)

    def _print_Min(self, expr: sp.Min) -> str:
        return self.call("Math.min", expr.args)

    def _print_DualNorm(self, expr: sp.Function) -> str:
        return "dualNorm(v.eps, p)"

    def _print_ConfidenceC(self, expr: sp.Function) -> str:
        return str(self._print(expr.doit()))

    def emptyPrinter(self, expr: Any) -> str:
        raise NotImplementedError(f"JavaScript of {type(expr).__name__} is not needed by any statement.")


_FUNCTIONS = {
    "log": "Math.log",
    "Abs": "Math.abs",
    "ceiling": "Math.ceil",
    "floor": "Math.floor",
    "sign": "Math.sign",
    "DualRoot": "dualRoot",
    "WalkMean": "walkMean",
}


def javascript_statement(statement: Statement, depth: int) -> str:
    """The body of a function of `v`, with only the helpers that it calls."""
    printer = JavaScript(statement, depth)
    terms = {name: printer.doprint(term) for name, term in statement.terms.items()}
    constants = [f"const {name} = {value};" for name, value in printer.constants.items()]
    lines = [
        *constants,
        f"const terms = {{{', '.join(f'{name}: {value}' for name, value in terms.items())}}};",
        "const total = Object.values(terms).reduce((a, b) => a + b, 0);",
        "for (const name in terms) if (Number.isNaN(terms[name])) terms[name] = null;",
        "return {terms, total: Number.isNaN(total) ? null : total};",
    ]
    code = "\n".join(lines)
    helpers = [text for name, text in _HELPERS.items() if re.search(rf"\b(?<!\.){name}\b", code)]
    return "\n".join([*helpers, code])
