"""A statement in LaTeX: the paper's notation, ready to paste (amsmath, amssymb)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from adanet_theory.twins.notation import Definition, Recursion

if TYPE_CHECKING:
    from adanet_theory.twins.symbolic import Statement

# How an indexed name is printed; %s takes the index.
INDEXED = {
    "R_S": r"\widehat{\mathfrak R}_S(\mathcal H_{%s})",
    "Rstar_S": r"\widehat{\mathfrak R}_S(\mathcal H^*_{%s})",
    "R_m": r"\mathfrak R_m(\mathcal H_{%s})",
    "w": r"\|\mathbf w_{%s}\|_1",
    "Lambda": r"\Lambda_{%s}",
    "Lambda_k": r"\Lambda_{%s}",
    "M_k": r"M_{%s}",
    "j_k": r"j_{%s}",
    "pi_k": r"\pi_{%s}",
    "c": r"c_{\varphi_{%s}}",
    "phi0": r"|\varphi_{%s}(0)|",
    "sup": r"\sup|\varphi_{%s}|",
    "eps": r"\epsilon_{%s}",
    "E_sup": (
        r"\mathbb E_{\boldsymbol\sigma}\Big[\sup_{h \in \mathcal H_s}"
        r"\Big|\sum_{i=1}^m \sigma_i \varphi_s(h(x_i))\Big|\Big]"
    ),
}
SYMBOLS = {
    "E_norm": r"\mathbb E_{\boldsymbol\sigma}\Big[\Big\|\sum_{i=1}^m \sigma_i \boldsymbol\Psi(x_i)\Big\|_q\Big]",
    "sum_sq": r"\sum_{i=1}^m \|\boldsymbol\Psi(x_i)\|_q^2",
    "risk": r"R(f)",
    "margin_error": r"\widehat R_{S,\rho}(f/W)",
    "ramp": r"\frac1m \sum_{i=1}^m \psi_{\rho}(y_i f(x_i)/W)",
    "ramp_j": r"\frac1m \sum_{i=1}^m \psi_{\rho_j}(y_i f(x_i))",
    "ramp_y": r"\frac1m \sum_{i=1}^m \psi_{\rho}(u_i/W)",
    "ramp_yj": r"\frac1m \sum_{i=1}^m \psi_{\rho_j}(u_i)",
    "loss": r"\frac1m \sum_{i=1}^m \Phi(1 - y_i f(x_i))",
    "loss_y": r"\frac1m \sum_{i=1}^m \log \Big(1 + \sum_{y \neq y_i} e^{1 - f(x_i, y_i) + f(x_i, y)}\Big)",
    "price": r"\text{price of uniformity in } \rho",
    "decrease": r"F_t(0, h) - \min_w F_t(w, h)",
    "r_inf": r"r_\infty",
    "r_rms": r"r_{\mathrm{rms}}",
    "r_sup": r"r_{\sup}",
    "Gamma": r"\Gamma_s",
    "S": r"S_t",
    "h_ms": r"\overline{h^2}",
}
CERTIFICATES = {
    "empirical": r"\widehat q",
    "KL": r"\mathrm{KL}",
    "b_Q": "b",
    "b_g": "b",
    "bits": r"\mathrm{bits}",
    "grid": "G",
    "xi_m": r"\xi(m)",
    "threshold": "k",
    "error": "p",
    "shift": r"\epsilon",
    "draws": "T",
    "tried": "K",
    "E_Z": r"\mathbb E_{\boldsymbol\sigma}[Z_1]",
    "T": r"\infty",
}
"""The names that only the twins of the certificates use; a sum that a twin ends at T is printed as infinite."""
CERTIFICATES_INDEXED = {
    "theta": r"\theta_{%s}",
    "sigma": r"s_{%s}",
    "w_gauss": r"w_{%s}",
    "w_prior": r"\bar w_{%s}",
    "sigma_prior": r"\bar s_{%s}",
}
RELATION = {"<=": r"\leq", "=": "=", ">=": r"\geq"}
WIDE = ("E_norm", "sum_sq")
# The order in which a product names its factors.
FACTORS = ("w", "a", "Lambda", "Lambda_k", "DualRoot", "DualNorm", "L", "P", "Q", "M_k", "e", "c", "phi0", "D")


def _rank(factor: sp.Expr) -> tuple[int, int, str]:
    """Numbers, symbols, powers of sums, the FACTORS in their order, roots and logarithms, sums."""
    base = factor.as_base_exp()[0]
    name = str(base.base.label) if isinstance(base, sp.Indexed) else type(base).__name__
    kinds = [sp.Number, sp.Symbol, sp.Add, sp.Indexed | sp.Function, sp.UnevaluatedExpr | sp.log, sp.Sum]
    if isinstance(factor, sp.Add):
        return 4, 0, str(factor)
    kind = max((i for i, types in enumerate(kinds) if isinstance(base, types)), default=3)
    return kind, FACTORS.index(name) if name in FACTORS else len(FACTORS), str(base)


def _above_bar(factor: sp.Expr) -> bool:
    """Whether a factor is small enough for the numerator of a fraction with other factors next to it."""
    base = factor.as_base_exp()[0]
    if isinstance(base, sp.Symbol | sp.Indexed):
        return str(base.base.label) in ("w", "Lambda") if isinstance(base, sp.Indexed) else base.name not in WIDE
    return isinstance(base, sp.Number | sp.NumberSymbol | sp.log | sp.gamma | sp.Abs)


class Latex(LatexPrinter):
    """The paper's notation: its names, its order of factors, n^{1/q}, and sums next to a fraction, not on top of it."""

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        return SYMBOLS.get(expr.name) or CERTIFICATES.get(expr.name) or str(super()._print_Symbol(expr, style))

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        name, index = str(expr.base.label), ", ".join(self._print(i) for i in expr.indices)
        known = INDEXED | CERTIFICATES_INDEXED
        return known.get(name, name + "_{%s}").replace("%s", index)

    def _print_UnevaluatedExpr(self, expr: sp.UnevaluatedExpr) -> str:
        return str(self._print(expr.args[0]))

    def _as_ordered_terms(self, expr: sp.Add, order: Any = None) -> list[sp.Expr]:
        """1 + eta and k - 1: a positive number first, a negative one last."""
        terms = super()._as_ordered_terms(expr, order)
        return sorted(terms, key=lambda x: int(x.is_negative or 0) - int(x.is_positive or 0) if x.is_Number else 0)

    def _print_Mul(self, expr: sp.Mul) -> str:
        if expr.could_extract_minus_sign():
            return "- " + str(self._print(-expr))
        above: list[sp.Expr] = []
        below: list[sp.Expr] = []
        for factor in expr.args:
            if isinstance(factor, sp.Rational):
                above.append(sp.Integer(factor.p))
                below.append(sp.Integer(factor.q))
            elif isinstance(factor, sp.Pow) and factor.exp.could_extract_minus_sign():
                below.append(1 / factor)
            else:
                above.append(factor)
        above, below = (sorted((x for x in part if x != 1), key=_rank) for part in (above, below))
        if not below:
            return self._factors(above)
        top = [x for x in above if _above_bar(x)]
        rest = [x for x in above if not _above_bar(x)]
        if not top and len(rest) == 1 and isinstance(rest[0], sp.Add):
            top, rest = rest, []
        fraction = rf"\frac{{{self._factors(top)}}}{{{self._factors(below)}}}"
        return f"{fraction} {self._factors(rest, beside=True)}" if rest else fraction

    def _factors(self, factors: list[sp.Expr], beside: bool = False) -> str:
        """The factors in a row; a factor that is not one block has parentheses unless it is the only one."""
        alone = len(factors) == 1 and not beside
        texts = []
        for factor in factors:
            open_end = isinstance(factor, sp.Sum) and factor is factors[-1]
            wide = isinstance(factor, sp.Add | sp.Piecewise | sp.Product | sp.Sum)
            text = str(self._print(factor))
            texts.append(rf"\left({text}\right)" if wide and not (alone or open_end) else text)
        return " ".join(texts) or "1"

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp.could_extract_minus_sign():
            return rf"\frac{{1}}{{{self._print(1 / expr)}}}"
        return str(super()._print_Pow(expr))

    def _print_log(self, expr: sp.log, exp: str | None = None) -> str:
        (x,) = expr.args
        text = f" {self._print(x)}" if x.is_Atom or isinstance(x, sp.Indexed) else rf"\left({self._print(x)}\right)"
        return r"\log" + ("" if exp is None else f"^{{{exp}}}") + text

    def _print_loggamma(self, expr: sp.loggamma, exp: str | None = None) -> str:
        return rf"\log \Gamma\left({self._print(expr.args[0])}\right)"

    def _print_Sum(self, expr: sp.Sum) -> str:
        """One sign for each index, the outermost first."""
        signs = [
            rf"\sum_{{{self._print(i)}={self._print(a)}}}^{{{self._print(b)}}}" for i, a, b in reversed(expr.limits)
        ]
        inner = self._print(expr.function)
        wide = isinstance(expr.function, sp.Add)
        return " ".join([*signs, rf"\left({inner}\right)" if wide else inner])

    def _print_sign(self, expr: sp.sign, exp: str | None = None) -> str:
        return rf"\operatorname{{sgn}}({self._print(expr.args[0])})"

    def _print_DualRoot(self, expr: sp.Function, exp: str | None = None) -> str:
        return f"{self._print(expr.args[0])}^{{1/q}}"

    def _print_DualNorm(self, expr: sp.Function, exp: str | None = None) -> str:
        return r"\|\boldsymbol\epsilon\|_q" + ("" if exp is None else f"^{{{exp}}}")

    def _print_WalkMean(self, expr: sp.Function, exp: str | None = None) -> str:
        return rf"\mu_{{{self._print(expr.args[0])}}}"

    def _print_ConfidenceC(self, expr: sp.Function, exp: str | None = None) -> str:
        return f"C({', '.join(self._print(a) for a in expr.args)})"


def latex_of(expr: sp.Basic) -> str:
    """LaTeX of an expression in the paper's notation.

    >>> from adanet_theory.twins.notation import DualRoot, n, p
    >>> print(latex_of(DualRoot(n[0], p)))
    n_{0}^{1/q}
    """
    return str(Latex().doprint(expr))


def latex_definition(definition: Definition) -> str:
    """One clause after "where": an equation, or the first value and the step of a recursion."""
    name, equation = definition.lhs, f"{latex_of(definition.lhs)} = {latex_of(definition.rhs)}"
    if not isinstance(definition, Recursion):
        return f"${equation}$"
    (k,) = name.indices
    first = f"{latex_of(name.base[1])} = {latex_of(definition.first)}"
    return rf"${first}$ and ${equation}$ for ${k} > 1$"


def latex_statement(statement: Statement) -> str:
    """The statement as an align*, one term a line, and its definitions in a sentence."""
    first, *rest = (latex_of(term) for term in statement.terms.values())
    lines = [f"{latex_of(statement.lhs)} & {RELATION[statement.relation]} {first}", *(f"& \\quad + {t}" for t in rest)]
    text = "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"
    clauses = [latex_definition(x) for x in statement.definitions] + list(statement.given)
    return text + ("\nwhere " + ", ".join(clauses) + "." if clauses else "")
