"""The letters of the theory as sympy objects, its functions, and the classes of definitions and recursions.

The names in a dict of values follow. A list starts at index 1, that of `n` at 0. A dict is keyed by the index.

    k, l, d, j, i, s    layer, depth, hidden layers (d = l-1), index of rho_j, unit, layer of a CVX candidate
    m, delta            sample size, probability of failure
    rho, eta            margin; ratio - 1 of the grid of margins
    p                   norm of the weights, oo allowed; q enters as 1/q = 1 - 1/p
    n, Lambda           n_0 .. n_l; {(k, s): Lambda_{k,s}}, 0 for a missing pair
    w                   ||w_k||_1, not normalised: statements about f/W divide by W = sum_k ||w_k||_1
    R                   values of R_m(H_k) or R_S(H_k), whichever the statement names
    M, M_k              range of all layers; ranges by layer
    r_inf, r_rms, r_sup size of the features
    margin_error, ramp, loss    the empirical term
    L, c, e, phi0, sup  constants of phi_s, by layer: Lipschitz constant, c_phi, e_phi, |phi(0)|, sup|phi| (oo allowed)
    C                   the number of classes, if there are more than two: w is then ||w_k||_1 = sum_y ||w_{k,y}||_1
    c, B                in a-posteriori one number e_phi, and the path norm (it enters only through rho_j)
    E_sup               E sup_{H_s} |sum_i sigma_i phi_s(h(x_i))|, by layer
    E_norm, sum_sq      E ||sum_i sigma_i Psi(x_i)||_q;  sum_i ||Psi(x_i)||_q^2
    eps, S              eps_i = E_{D_t}[y phi(h_i)] over the units below;  S_t = sum_i Phi'(1 - y_i f(x_i))
    g_s, Gamma, tau, h_ms    score, penalty, bound on Phi'', mean of h^2

Conventions: at l = 1 the two log l terms are 0. A layer without units has n_s^(1/q) = 0. If a radicand is
negative, or f = 0 makes the weights 0/0, the statement has no value (`certified.Undefined`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import Eq, Piecewise, Sum, log, oo, sqrt

k, l, m, s, i = sp.symbols("k l m s i", integer=True, positive=True)  # noqa: E741 - the paper's letter
d = sp.Symbol("d", integer=True, nonnegative=True)
j = sp.Symbol("j", integer=True)
rho, delta, eta, p, tau = sp.symbols("rho delta eta p tau", positive=True)
r_inf, r_rms, r_sup, M, c_phi, B = sp.symbols("r_inf r_rms r_sup M c B", nonnegative=True)
margin_error, ramp, ramp_j, loss = sp.symbols("margin_error ramp ramp_j loss", nonnegative=True)
ramp_y, ramp_yj, loss_y = sp.symbols("ramp_y ramp_yj loss_y", nonnegative=True)  # of C classes
E_norm, sum_sq, S, g_s, Gamma, h_ms = sp.symbols("E_norm sum_sq S g_s Gamma h_ms", nonnegative=True)
n, N = (sp.IndexedBase(name, positive=True) for name in ("n", "N"))
Lambda, Lambda_k, w, R_S, Rstar_S, R_m, M_k, L, c, e, phi0, sup, E_sup = (
    sp.IndexedBase(name, nonnegative=True)
    for name in ("Lambda", "Lambda_k", "w", "R_S", "Rstar_S", "R_m", "M_k", "L", "c", "e", "phi0", "sup", "E_sup")
)
P, D, Q, b = (sp.IndexedBase(name, nonnegative=True) for name in ("P", "D", "Q", "b"))
a, j_k = (sp.IndexedBase(name, nonnegative=True) for name in ("a", "j_k"))
pi_k = sp.IndexedBase("pi_k", positive=True)
eps, u = (sp.IndexedBase(name, real=True) for name in ("eps", "u"))

# Abbreviations and left sides
W = sp.Symbol("W", positive=True)
W_M = sp.Symbol("W_M", positive=True)
rho_j = sp.Symbol("rho_j", positive=True)
A_d = sp.Symbol("A_d", positive=True)
q, kappa_q, C_q = sp.symbols("q kappa_q C_q", positive=True)
risk = sp.Symbol("risk", nonnegative=True)
classes = sp.Symbol("C", integer=True, positive=True)
price = sp.Symbol("price", nonnegative=True)
decrease = sp.Symbol("decrease", nonnegative=True)

# Several names stand for values under one key: a list of complexities serves whichever of them a statement names.
KEYS = {"R_S": "R", "Rstar_S": "R", "R_m": "R", "ramp_j": "ramp", "ramp_y": "ramp", "ramp_yj": "ramp", "loss_y": "loss"}


# Functions of the theory: `doit` gives the formula


class DualRoot(sp.Function):
    """n^(1/q), 1/p + 1/q = 1: n at p = oo, 1 at p = 1, and 0 at n = 0 for every p."""

    nargs = 2

    @classmethod
    def eval(cls, n: sp.Expr, p: sp.Expr) -> sp.Expr | None:
        if n.is_zero or p is oo:
            return n
        return sp.S.One if p == 1 else None

    def doit(self, **hints: Any) -> sp.Expr:
        n, p = self.args
        return n.doit(**hints) ** (1 - 1 / p)


class DualNorm(sp.Function):
    """||(eps_1, .., eps_n)||_q as a function of (n, p); the maximum at p = 1."""

    nargs = 2

    def doit(self, **hints: Any) -> sp.Expr:
        n, p = self.args
        q = 1 / (1 - 1 / p)
        return Sum(abs(eps[i]) ** q, (i, 1, n)) ** (1 / q)


class WalkMean(sp.Function):
    """mu_m = E|sigma_1 + .. + sigma_m|/m."""

    nargs = 1

    def doit(self, **hints: Any) -> sp.Expr:
        (m,) = self.args
        return sp.binomial(m - 1, sp.floor((m - 1) / 2)) / sp.Integer(2) ** (m - 1)


class KLInverse(sp.Function):
    """kl^-1(q, c) = max{ p : kl(q, p) <= c }. It has no closed form and is evaluated numerically."""

    nargs = 2

    def _latex(self, printer: Any) -> str:
        q, c = (printer._print(argument) for argument in self.args)
        return rf"\operatorname{{kl}}^{{-1}}\left({q}, {c}\right)"


class ConfidenceC(sp.Function):
    """C(rho, l, m, delta) of Theorem 1; at l = 1 the limit, sqrt(log(2/delta)/(2m))."""

    nargs = 4

    def doit(self, **hints: Any) -> sp.Expr:
        rho, depth, m, delta = self.args
        tail = log(2 / delta) / (2 * m)
        blocks = sp.ceiling(4 / rho**2 * log(rho**2 * m / log(depth)))
        return Piecewise((root(tail), Eq(depth, 1)), (root(blocks * log(depth) / m + tail), True))


def root(x: sp.Expr) -> sp.Expr:
    """sqrt(x) with x kept in one piece: sympy alone would print sqrt(2) sqrt(log(2 n_0))/(2 sqrt(m))."""
    return sqrt(sp.UnevaluatedExpr(x))


def plain(expr: sp.Basic) -> sp.Basic:
    """The expression without the brackets of `root` and with the functions above replaced by their formulas."""
    functions = (DualRoot, DualNorm, WalkMean, ConfidenceC)
    expr = expr.replace(lambda x: isinstance(x, functions), lambda x: x.doit(deep=False))
    return expr.replace(lambda x: isinstance(x, sp.UnevaluatedExpr), lambda x: x.args[0])


# Definitions and statements


@dataclass(frozen=True)
class Definition:
    """lhs = rhs, where lhs is a symbol W, an indexed N_k, or a function of the theory (which prints only)."""

    lhs: sp.Expr
    rhs: sp.Expr

    @property
    def name(self) -> str:
        if isinstance(self.lhs, sp.Indexed):
            return str(self.lhs.base.label)
        return str(self.lhs.name) if isinstance(self.lhs, sp.Symbol) else str(self.lhs.func)

    def bind(self, index: tuple[int, ...]) -> dict[str, int]:
        """The values of the index letters if the definition is used at `index`."""
        letters = self.lhs.indices if isinstance(self.lhs, sp.Indexed) else ()
        return {letter.name: value for letter, value in zip(letters, index, strict=True)}

    def at(self, index: tuple[int, ...]) -> sp.Expr:
        """The expression that gives the value at `index`."""
        return self.rhs


@dataclass(frozen=True)
class Recursion(Definition):
    """lhs = first at index 1 and lhs = rhs, the step, beyond."""

    first: sp.Expr

    def at(self, index: tuple[int, ...]) -> sp.Expr:
        return self.first if index == (1,) else self.rhs
