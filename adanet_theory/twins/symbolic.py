"""The sympy twin of every statement: symbols, recursions and terms as the paper writes them, l and k symbolic.

`STATEMENTS[id]` is a statement. `certified` evaluates it, and `.latex()` and `.javascript(depth)` print it. The
numeric modules are written independently and compared with this one, so a slip in either shows.

The letters, and the names in a dict of values, are in `notation`.
"""
# ruff: noqa: F405

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp
from sympy import Eq, Max, Min, Piecewise, Product, Rational, Sum, log, oo, pi, sqrt

from adanet_theory.twins import javascript, latex
from adanet_theory.twins.notation import *  # noqa: F403 - the letters


@dataclass(frozen=True)
class Statement:
    """One statement: `lhs relation sum of terms`, with the definitions it uses.

    >>> STATEMENTS["lemma-1"].relation, STATEMENTS["lemma-1"].rhs
    ('<=', 2*Sum(DualRoot(n[s], p)*Lambda[k, s]*R_S[s], (s, 1, k - 1)))
    """

    id: str
    where: str
    lhs: sp.Expr
    relation: str
    terms: Mapping[str, sp.Expr]
    definitions: tuple[Definition, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def rhs(self) -> sp.Expr:
        return sp.Add(*self.terms.values())

    def latex(self) -> str:
        """The full statement with its definitions, in LaTeX (amsmath, amssymb)."""
        return latex.latex_statement(self)

    def javascript(self, depth: int) -> str:
        """The body of a JavaScript function of `v`, the values, that returns {terms, total} at l = k = depth.

        Lambda is keyed "k,s"; oo is Infinity or "inf"; a term is null if the statement has no value.
        """
        return javascript.javascript_statement(self, depth)


def bound_on_risk(
    id: str, terms: Mapping[str, sp.Expr], definitions: tuple[Definition, ...] = (), given: tuple[str, ...] = ()
) -> Statement:
    """A statement of ours: R(f) is at most the sum of these terms."""
    return Statement(id, "theory", risk, "<=", terms, definitions, given)


def proved(
    id: str,
    lhs: sp.Expr,
    relation: str,
    value: sp.Expr,
    definitions: tuple[Definition, ...] = (),
    given: tuple[str, ...] = (),
) -> Statement:
    """Another one of ours, about one value."""
    return Statement(id, "theory", lhs, relation, {"value": value}, definitions, given)


CONJUGATE = r"$1/q = 1 - 1/p$"
below = (s, 1, k - 1)
layers = (k, 1, l)
weights = Lambda[k, s] * DualRoot(n[s], p)

define_W = Definition(W, Sum(w[k], layers))
define_W_M = Definition(W_M, Sum(w[k] * M_k[k], layers))
define_q = Definition(q, 1 / (1 - 1 / p))
define_mu = Definition(WalkMean(m), WalkMean(m).doit())
define_C = Definition(ConfidenceC(rho, l, m, delta), ConfidenceC(rho, l, m, delta).doit())
define_N = Definition(N[k], Product(n[s - 1], (s, 1, k)))
define_kappa = Definition(
    kappa_q,
    Piecewise((1, p >= 2), (sqrt(2) * (sp.gamma((q + 1) / 2) / sqrt(pi)) ** (1 / q), p > 1), (oo, True)),
)
define_C_q = Definition(C_q, Min(root(2 * log(2 * n[0])), kappa_q))
define_A_d = Definition(A_d, Piecewise((1, Eq(d, 0)), (1 + c_phi * (1 + c_phi) ** (d - 1), True)))


def define_Lambda_k(factor: int) -> Definition:
    """Lambda_k, which is one product in Lemma 2 (factor 2) and another in Corollary 1 (factor 4)."""
    return Definition(Lambda_k[k], Product(factor * Lambda[s, s - 1], (s, 1, k)))


recursion_P = Recursion(P[k], Sum(weights * L[s] * P[s], below), Lambda[1, 0] * DualRoot(n[0], p))
# The weights pi_s = Lambda_{k,s} n_s^(1/q) L_s P_s/P_k sum to 1; where P_k = 0 nothing is summed and D_k is not used.
recursion_D = Recursion(
    D[k],
    Piecewise((1, Eq(P[k], 0)), (Sum(weights * L[s] * P[s] * e[s] * D[s], below) / P[k], True)),
    sp.S.One,
)
recursion_Q = Recursion(Q[k], Sum(weights * (L[s] * Q[s] + phi0[s]), below), r_rms * Lambda[1, 0] * DualRoot(n[0], p))
recursion_M = Recursion(
    M_k[k], Sum(weights * Min(L[s] * M_k[s] + phi0[s], sup[s]), below), Lambda[1, 0] * DualRoot(n[0], p) * r_sup
)
recursion_b = Recursion(b[k], c_phi * Sum(b[s], below), sp.S.One)

# The prior 1/((pi^2/3 - 1)(|j|+1)^2) on the integers, in a confidence term.
prior = log((pi**2 / 3 - 1) / delta) + 2 * log(abs(j) + 1)
sampled = log(1 / delta) + log((d + 1) * (d + 2)) + log(pi**2 / 3 - 1) + 2 * log(abs(j) + 1)
define_rho_W = Definition(rho_j, W_M / (1 + eta) ** j)
define_rho_B = Definition(rho_j, B / (1 + eta) ** j)
# The share of a layer rounded up to a grid, and what the choice of the grid point costs.
# (The first case says what the floor does: at a share of 1 balls would not decide it.)
define_j_k = Definition(j_k[k], Piecewise((0, w[k] * (1 + eta) > W), (sp.floor(-log(w[k] / W) / log(1 + eta)), True)))
define_a = Definition(a[k], Piecewise((0, Eq(w[k], 0)), ((1 + eta) ** -j_k[k], True)))
define_pi = Definition(
    pi_k[k], Piecewise((Rational(1, 2), Eq(w[k], 0)), (Rational(1, 2) / ((j_k[k] + 1) * (j_k[k] + 2)), True))
)
shares = (define_a, define_pi, define_j_k, define_W)
priors = Sum(log(1 / pi_k[k]), layers)
massart = root(2 * log(2 * n[0]) / m)
depth_term = 2 * M / rho * root(2 * log(l) / m)
in_range = r"$|h| \leq M$ for all $h \in \mathcal H_1, \dots, \mathcal H_l$"
in_ranges = r"$|h| \leq M_k$ for all $h \in \mathcal H_k$"
of_path_norm = r"$B$ is the path norm of $f$ and $d = l - 1$"
of_path_norms = r"$B$ is the sum of the path norms of the $C$ outputs and $d = l - 1$"
of_classes = r"$u_i = f(x_i, y_i) - \max_{y \neq y_i} f(x_i, y)$"

_ALL = [
    # As printed
    Statement("lemma-1", "Lemma 1", R_S[k], "<=", {"value": 2 * Sum(weights * R_S[s], below)}, (), (CONJUGATE,)),
    Statement("lemma-2", "Lemma 2", Rstar_S[k], "<=",
        {"value": r_inf * Lambda_k[k] * DualRoot(N[k], p) * root(log(2 * n[0]) / (2 * m))},
        (define_Lambda_k(2), define_N), (CONJUGATE,)),
    Statement("theorem-1", "Theorem 1", risk, "<=", {
        "margin_error": margin_error,
        "complexity": 4 / rho * Sum(w[k] / W * R_m[k], layers),
        "depth": 2 / rho * root(log(l) / m),
        "confidence": ConfidenceC(rho, l, m, delta),
    }, (define_W, define_C)),
    Statement("corollary-1", "Corollary 1", risk, "<=", {
        "margin_error": margin_error,
        "complexity": 2 / rho * Sum(w[k] / W * (r_inf * Lambda_k[k] * DualRoot(N[k], p) * massart), layers),
        "depth": 2 / rho * root(log(l) / m),
        "confidence": ConfidenceC(rho, l, m, delta),
    }, (define_W, define_Lambda_k(4), define_N, define_C), (CONJUGATE,)),
    Statement("confidence-C", "Theorem 1", ConfidenceC(rho, l, m, delta), "=", {"value": define_C.rhs}),
    Statement("rho-uniform", "after Theorem 1", price, "=", {"value": root(log(log(2 / rho) / log(2)) / m)}, (),
        (r"$\rho \leq 1$",)),
    Statement("cvx-closed-form", "Theorem 3 (AdaNet.CVX)", u[i], "=",
        {"value": Lambda[s, s - 1] * abs(eps[i]) ** (q - 1) / DualNorm(n[s - 1], p) ** (q / p)}, (define_q,)),
    # Complexities, corrected
    proved("lemma-1-exact", R_S[k], "=", Sum(weights * E_sup[s] / m, below), (), (CONJUGATE,)),
    proved("lemma-1-corrected", R_S[k], "<=", Sum(weights * (c[s] * R_S[s] + phi0[s] * WalkMean(m)), below),
        (define_mu,), (CONJUGATE,)),
    proved("h1-exact", R_S[1], "=", Lambda[1, 0] / m * E_norm, (), (CONJUGATE,)),
    proved("h1-closed", R_S[1], "<=", r_rms * Lambda[1, 0] * DualRoot(n[0], p) * C_q / sqrt(m),
        (define_C_q, define_kappa, define_q)),
    proved("lemma-2-peeled", R_S[k], "<=", r_rms * P[k] * root(2 * log(2 * n[0] * D[k]) / m),
        (recursion_P, recursion_D), (CONJUGATE,)),
    proved("lemma-2-peeled-data", Rstar_S[k], "<=",
        Product(Lambda[s, s - 1] * DualRoot(n[s - 1], p) * L[s - 1], (s, 2, k))
        * (R_S[1] + Lambda[1, 0] / m * root(2 * log(Product(e[s], (s, 1, k - 1))) * sum_sq)),
        (), (CONJUGATE,)),
    proved("lemma-2-peeled-offset", R_S[k], "<=", Q[k] * root(2 * log(2**k * n[0]) / m), (recursion_Q,),
        (CONJUGATE,)),
    proved("depth-lower", Rstar_S[k + 1], ">=",
        Piecewise((Rational(1, 2), Eq(k, 1)), (1, True)) * Lambda[k + 1, k] * DualRoot(n[k], p) * Rstar_S[k], (),
        (CONJUGATE, r"every $\varphi_s$ is the ReLU, or, for $k \geq 2$, the ReLU or $|\cdot|$")),
    proved("range", sp.Symbol(r"\sup_{h \in \mathcal H_k} |h|"), "<=", M_k[k], (recursion_M,), (CONJUGATE,)),
    # Risk bounds, corrected
    bound_on_risk("theorem-1-range", {
        "margin_error": margin_error,
        "complexity": 4 / rho * Sum(w[k] / W * R_m[k], layers),
        "depth": 2 * M / rho * root(log(l) / m),
        "confidence": ConfidenceC(rho / M, l, m, delta),
    }, (define_W, define_C), (in_range,)),
    bound_on_risk("margin-bound", {
        "ramp": ramp,
        "complexity": 2 / rho * Sum(w[k] / W * R_m[k], layers),
        "depth": depth_term,
        "confidence": root(log(1 / delta) / (2 * m)),
    }, (define_W,), (in_range,)),
    bound_on_risk("margin-bound-uniform", {
        "ramp": ramp_j,
        "complexity": 2 / rho_j * Sum(w[k] * R_m[k], layers),
        "depth": 2 * (1 + eta) ** j * root(2 * log(l) / m),
        "confidence": root(prior / (2 * m)),
    }, (define_rho_W, define_W_M), (in_ranges,)),
    bound_on_risk("margin-bound-empirical", {
        "ramp": ramp,
        "complexity": 2 / rho * Sum(w[k] / W * (R_S[k] + M_k[k] * root(log(4 * l / delta) / (2 * m))), layers),
        "depth": depth_term,
        "confidence": root(log(2 / delta) / (2 * m)),
    }, (define_W,), (r"$|h| \leq M_k \leq M$ for all $h \in \mathcal H_k$",)),
    bound_on_risk("margin-bound-unbounded", {
        "ramp": ramp,
        "complexity": 2 / rho * Sum(a[k] * R_m[k], layers),
        "confidence": root((log(1 / delta) + priors) / (2 * m)),
    }, shares),
    bound_on_risk("unbounded-empirical", {
        "ramp": ramp,
        "complexity": 2 / rho * Sum(a[k] * R_S[k], layers),
        "confidence": 2 * root((log(4 / (3 * delta)) + priors) / (2 * m)),
    }, shares),
    bound_on_risk("a-posteriori", {
        "ramp": ramp_j,
        "complexity": 2 * (1 + eta) ** j * r_rms * root(2 * log(2 * n[0] * A_d) / m),
        "confidence": 2 * root(sampled / (2 * m)),
    }, (define_rho_B, define_A_d), (of_path_norm,)),
    bound_on_risk("a-posteriori-bounded", {
        "ramp": ramp_j,
        "complexity": 2 * (1 + eta) ** j * r_sup * root(2 * log(2 * n[0] * A_d) / m),
        "confidence": root(sampled / (2 * m)),
    }, (define_rho_B, define_A_d), (of_path_norm,)),
    bound_on_risk("objective-bound", {
        "loss": loss,
        "complexity": 2 * (1 + eta) * Sum(w[k] * R_m[k], layers),
        "depth": 2 * (1 + eta) * Sum(w[k] * M_k[k], layers) * root(2 * log(l) / m),
        "confidence": root((log((pi**2 / 3 - 1) / delta) + 2 * log(2 + abs(log(W_M) / log(1 + eta)))) / (2 * m)),
    }, (define_W_M,), (r"$\Phi(1 - u) \geq \min(1, \max(0, 1 - u))$", in_ranges)),
    # C classes: margins f(x, y) - max f(x, y'), ||w_k||_1 and B summed over the classes
    bound_on_risk("multiclass-margin-bound", {
        "ramp": ramp_y,
        "complexity": 4 / rho * Sum(w[k] / W * R_m[k], layers),
        "depth": 4 * M / rho * root(2 * log(classes * l) / m),
        "confidence": root(log(1 / delta) / (2 * m)),
    }, (define_W,), (of_classes, in_range)),
    bound_on_risk("multiclass-margin-bound-uniform", {
        "ramp": ramp_yj,
        "complexity": 4 / rho_j * Sum(w[k] * R_m[k], layers),
        "depth": 4 * (1 + eta) ** j * root(2 * log(classes * l) / m),
        "confidence": root(prior / (2 * m)),
    }, (define_rho_W, define_W_M), (of_classes, in_ranges)),
    bound_on_risk("multiclass-objective-bound", {
        "loss": loss_y,
        "complexity": 4 * (1 + eta) * Sum(w[k] * R_m[k], layers),
        "depth": 4 * (1 + eta) * Sum(w[k] * M_k[k], layers) * root(2 * log(classes * l) / m),
        "confidence": root((log((pi**2 / 3 - 1) / delta) + 2 * log(2 + abs(log(W_M) / log(1 + eta)))) / (2 * m)),
    }, (define_W_M,), (in_ranges,)),
    bound_on_risk("multiclass-a-posteriori", {
        "ramp": ramp_yj,
        "complexity": 4 * (1 + eta) ** j * r_rms * root(2 * log(2 * classes * n[0] * A_d) / m),
        "confidence": 2 * root(sampled / (2 * m)),
    }, (define_rho_B, define_A_d), (of_classes, of_path_norms)),
    bound_on_risk("multiclass-a-posteriori-bounded", {
        "ramp": ramp_yj,
        "complexity": 4 * (1 + eta) ** j * r_sup * root(2 * log(2 * classes * n[0] * A_d) / m),
        "confidence": root(sampled / (2 * m)),
    }, (define_rho_B, define_A_d), (of_classes, of_path_norms)),
    # AdaNet.CVX, corrected
    proved("cvx-closed-form-corrected", u[i], "=",
        Lambda[s, s - 1] * sp.sign(eps[i]) * abs(eps[i]) ** (q - 1) / DualNorm(n[s - 1], p) ** (q - 1), (define_q,)),
    proved("cvx-score", g_s, "=", Lambda[s, s - 1] * DualNorm(n[s - 1], p) * S / m),
    proved("cvx-decrease", decrease, ">=", Max(g_s - Gamma, 0) ** 2 / (2 * tau * h_ms), (),
        (r"$\Phi'' \leq \tau$", r"$\overline{h^2} = \frac1m \sum_{i=1}^m h(x_i)^2$")),
]  # fmt: skip
STATEMENTS: dict[str, Statement] = {statement.id: statement for statement in _ALL}
