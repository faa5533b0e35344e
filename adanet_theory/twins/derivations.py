"""Derivations of the statements from one another, as steps that sympy decides.

Each derivation is a list of `ProofStep`s. A step has a claim (an equality or an inequality, with expressions from
`symbolic.STATEMENTS` if they occur there), its reason in the proof, and `check()`, which rewrites both
sides and compares them symbolically. Weights, widths and sums are taken to be positive. If one is 0, both sides are 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp
from sympy import Rational, Sum, exp, log, oo, pi, sqrt

from adanet_theory.twins.notation import *  # noqa: F403 - the letters
from adanet_theory.twins.symbolic import (
    STATEMENTS,
    define_A_d,
    define_kappa,
    define_q,
    recursion_b,
    recursion_D,
    recursion_P,
)

# ruff: noqa: F405


# Deciding a claim


def _split_product(product: sp.Product, top: sp.Expr) -> sp.Expr:
    """prod f g = prod f prod g, with a constant factor as a power and the factors beyond `top` written out."""
    letter, first, last = product.limits[0]
    result = sp.S.One
    for factor in sp.Mul.make_args(product.function):
        if not factor.has(letter):
            result *= factor ** (last - first + 1)
            continue
        beyond = last - top
        count = max(int(beyond), 0) if beyond.is_Integer else 0
        for offset in range(count):
            result *= factor.subs(letter, last - offset)
        if last - count != first - 1:
            result *= sp.Product(factor, (letter, first, last - count))
    return result


def _simplest(expr: sp.Expr) -> sp.Expr:
    expr = expr.replace(lambda x: isinstance(x, sp.Pow), lambda x: x.base ** sp.simplify(x.exp))
    return sp.simplify(sp.expand(sp.expand_log(sp.expand_power_base(sp.powdenest(expr)))))


def _is_nonnegative(expr: sp.Expr) -> bool:
    """Decided as a polynomial in unknowns that are >= 0: no coefficient is negative."""
    expr = sp.expand(sp.expand_log(expr))
    letters = sorted(expr.free_symbols, key=str)
    if not letters or not expr.is_polynomial(*letters):
        return bool(expr.is_nonnegative)
    return all(x.is_nonnegative for x in letters) and all(x.is_nonnegative for x in sp.Poly(expr, *letters).coeffs())


@dataclass(frozen=True)
class ProofStep:
    """A claim, its reason in the proof, and what its check may use: `top`, the limit at which products are cut;
    `unknowns`, expressions to treat as positive numbers; `where`, substitutions that express a condition."""

    claim: sp.Rel
    reason: str
    top: sp.Expr = k
    unknowns: tuple[sp.Expr, ...] = ()
    where: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)

    def sides(self) -> list[sp.Expr]:
        """Both sides in one normal form: every product, sum and indexed quantity is one positive unknown."""
        unknowns: dict[sp.Expr, sp.Symbol] = {}

        def unknown(part: sp.Expr) -> sp.Symbol:
            return unknowns.setdefault(part, sp.Dummy(positive=True))

        prepared = []
        for side in (self.claim.lhs, self.claim.rhs):
            side = plain(side).subs(self.where)
            side = side.replace(lambda x: isinstance(x, sp.Limit), lambda x: x.doit())
            side = side.replace(lambda x: isinstance(x, sp.Product), lambda x: _split_product(x, self.top))
            for part in self.unknowns:
                side = side.subs(part, unknown(part))
            for kind in (sp.Product, Sum, sp.Indexed):
                side = side.replace(lambda x, kind=kind: isinstance(x, kind), unknown)
            prepared.append(side)
        return prepared

    def check(self) -> bool:
        """Whether sympy proves the claim; False also if it cannot decide."""
        left, right = self.sides()
        difference = _simplest(right - left)
        if isinstance(self.claim, sp.Eq):
            return bool(difference.is_zero)
        return _is_nonnegative(difference)


def equal(left: sp.Expr, right: sp.Expr) -> sp.Rel:
    return sp.Eq(left, right, evaluate=False)


def at_most(left: sp.Expr, right: sp.Expr) -> sp.Rel:
    return sp.Le(left, right, evaluate=False)


def unfolded(id: str, term: str = "value") -> sp.Expr:
    """A term of a statement with its indexed abbreviations (Lambda_k, N_k) written out."""
    statement, expr = STATEMENTS[id], STATEMENTS[id].terms[term]
    indexed = {x.name: x for x in statement.definitions if type(x) is Definition and isinstance(x.lhs, sp.Indexed)}

    def unfold(x: sp.Indexed) -> sp.Expr:
        definition = indexed[str(x.base.label)]
        return definition.rhs.subs(definition.lhs.indices[0], x.indices[0])

    return expr.replace(lambda x: isinstance(x, sp.Indexed) and str(x.base.label) in indexed, unfold)


def summand(expr: sp.Expr) -> sp.Expr:
    """The summand of a coefficient times a sum over k: the statement for one k."""
    return expr.replace(lambda x: isinstance(x, Sum), lambda x: x.function)


def layered(expr: sp.Expr) -> sp.Expr:
    """The last term of a sum over the layers below, for units that read only the layer below."""
    return expr.replace(lambda x: isinstance(x, Sum), lambda x: x.function.subs(x.limits[0][0], x.limits[0][2]))


# Lemma 2 from Lemma 1

_lemma_2 = unfolded("lemma-2")
LEMMA_2 = [
    ProofStep(equal(_lemma_2.subs(k, 1), r_inf * Lambda[1, 0] * DualRoot(n[0], p) * sqrt(2 * log(2 * n[0]) / m)),
        "k = 1: duality, ||.||_q <= n_0^(1/q) ||.||_inf and Massart's lemma over 2 n_0 signed features; the factor 2"
        " of Lambda_1 = 2 Lambda_{1,0} makes sqrt(1/2) into sqrt(2)",
        top=sp.S.Zero),
    ProofStep(equal(layered(STATEMENTS["lemma-1"].rhs).subs(k, k + 1).subs(R_S[k], _lemma_2), _lemma_2.subs(k, k + 1)),
        "k to k + 1: Lemma 1 for a unit that reads layer k only, and the induction hypothesis",
        unknowns=(log(2 * n[0]),)),
]  # fmt: skip


# Corollary 1 from Theorem 1 and Lemma 2

_printed = summand(STATEMENTS["theorem-1"].terms["complexity"])
_corollary = summand(unfolded("corollary-1", "complexity"))
_doubled = _lemma_2.replace(lambda x: isinstance(x, sp.Indexed) and x.base == Lambda, lambda x: 2 * x)
COROLLARY_1 = [
    ProofStep(equal(4 * sqrt(Rational(1, 2)), 2 * sqrt(2)),
        "the constants: 4/rho in Theorem 1, sqrt(1/2) in Lemma 2"),
    ProofStep(equal(_printed.subs(R_m[k], _doubled), _corollary),
        "Lemma 2 with every Lambda doubled, as the printed proof has it, put into Theorem 1",
        unknowns=(log(2 * n[0]),)),
    ProofStep(equal(_corollary, 2**k * _printed.subs(R_m[k], _lemma_2)),
        "the doubling is needless (H_k is its own reflection): it costs 2^k on layer k", unknowns=(log(2 * n[0]),)),
    ProofStep(equal(STATEMENTS["theorem-1"].terms["depth"], STATEMENTS["corollary-1"].terms["depth"]),
        "the depth term is that of Theorem 1"),
    ProofStep(equal(STATEMENTS["theorem-1"].terms["confidence"], STATEMENTS["corollary-1"].terms["confidence"]),
        "and so is C"),
]  # fmt: skip


# lemma-2-peeled: the moment recursion, then the best t

t = sp.Symbol("t", positive=True)
alpha = sp.Symbol("alpha", positive=True)
_a = log(2 * n[0] * D[k])
_size = P[k] * r_rms * sqrt(m)
_chernoff = (_a + t**2 * _size**2 / 2) / t
_pi_s = Lambda[k, s] * DualRoot(n[s], p) * L[s] * P[s] / P[k]
_moments = Sum(_pi_s * P[k] * e[s] * D[s], (s, 1, k - 1)) / P[k]
_low, _high = sp.Symbol("a", real=True), sp.Symbol("b", positive=True)
LEMMA_2_PEELED = [
    ProofStep(equal((_low + _high) / 2 + (_high - _low) / 2, _high),
        "slopes in [a, b], b = L >= |a|: a linear part of slope (a+b)/2, a rest of slopes within (b-a)/2, in all L"),
    ProofStep(equal(1 - (_low + _high) / (2 * _high), (_high - _low) / (2 * _high)),
        "so phi_s/L_s = alpha o + (1-alpha) g with alpha = |a+b|/(2 L), o linear and g 1-Lipschitz"),
    ProofStep(equal(alpha * 1 + (1 - alpha) * 2, 2 - alpha),
        "e_s: convexity splits phi_s/L_s into its odd part, which contracts once, and the rest, which does so twice"),
    ProofStep(equal(Lambda[k, s] * DualRoot(n[s], p), _pi_s * P[k] / (L[s] * P[s])),
        "Z_k = sum_s Lambda n^(1/q) sup|sum sigma phi_s(h)| is the mean under pi_s of P_k/(L_s P_s) sup|.|"),
    ProofStep(equal(Sum(_pi_s * P[k], (s, 1, k - 1)) / recursion_P.rhs, 1),
        "the weights pi_s add up to 1, so that Jensen's inequality applies"),
    ProofStep(equal(_moments, recursion_D.rhs.args[1].expr),
        "E e^(t Z_k) <= sum_s pi_s e_s D_s E e^(t P_k Z_1/P_1) = D_k E e^(t P_k Z_1/P_1)"),
    ProofStep(equal(_chernoff - sqrt(2 * _a) * _size, (t * _size - sqrt(2 * _a)) ** 2 / (2 * t)),
        "E Z_k <= (log(2 n_0 D_k) + t^2 P_k^2 r_rms^2 m/2)/t for all t > 0: what exceeds the least value is a square",
        unknowns=(_a,)),
    ProofStep(equal(_chernoff.subs(t, sqrt(2 * _a) / _size), sqrt(2 * _a) * _size), "the best t", unknowns=(_a,)),
    ProofStep(equal(sqrt(2 * _a) * _size / m, STATEMENTS["lemma-2-peeled"].rhs), "divided by m this is the statement",
        unknowns=(_a,)),
    ProofStep(equal(Rational(3, 2) * Rational(3, 2) ** (k - 2), Rational(3, 2) ** (k - 1)),
        "layered ReLU networks: pi_{k-1} = 1 and D_k = (3/2) D_{k-1}, so log D_k = (k-1) log(3/2)"),
]  # fmt: skip


# lemma-2-peeled-data: the same with bounded differences at layer 1

_log_D = log(sp.Product(e[s], (s, 1, k - 1)))
_edges, _spread = sp.symbols("edges spread", positive=True)
_bracket = next(x for x in STATEMENTS["lemma-2-peeled-data"].rhs.args if isinstance(x, sp.Add))
LEMMA_2_PEELED_DATA = [
    ProofStep(equal(4 * Lambda[1, 0] ** 2 * sum_sq / 8, _spread**2 / 2),
        "Z_1 moves by 2 Lambda_{1,0} ||Psi(x_i)||_q with sigma_i: E e^(t(Z_1 - E Z_1)) <= e^(t^2 spread^2/2)",
        where={_spread: Lambda[1, 0] * sqrt(sum_sq)}),
    ProofStep(
        equal(_log_D / t + t * (_edges * _spread) ** 2 / 2 - _edges * _spread * sqrt(2 * _log_D),
              (t * _edges * _spread - sqrt(2 * _log_D)) ** 2 / (2 * t)),
        "E Z_k <= edges E Z_1 + (log D_k)/t + t edges^2 spread^2/2: what exceeds the least value is a square",
        unknowns=(_log_D,)),
    ProofStep(equal(_edges * (R_S[1] + _spread * sqrt(2 * _log_D) / m), _edges * _bracket),
        "divided by m this is the statement, R_S(H_1) = E Z_1/m", unknowns=(_log_D,),
        where={_spread: Lambda[1, 0] * sqrt(sum_sq)}),
]  # fmt: skip


# margin-bound against theorem-1, |h| <= 1 and equal complexities

x = sp.Symbol("x", positive=True)  # rho^2 m/log l
v = sp.Symbol("v", positive=True)  # log(1/delta)/(2m)
y, z = sp.symbols("y z", nonnegative=True)
_gap = sqrt(2) - 1
_threshold = (log(4) - _gap**2) / _gap
SHARPER = 2 * _threshold**2  # 17.2003..: margin-bound is the smaller where log(1/delta) <= SHARPER log l/rho^2
_in_x = {log(l): rho**2 * m / x}
_ceiling_slack = rho**2 / 4 * (1 + log(2) / (2 * log(l)))
MARGIN_BOUND = [
    ProofStep(
        equal(STATEMENTS["theorem-1"].terms["complexity"].subs(R_m[k], 1),
              2 * STATEMENTS["margin-bound"].terms["complexity"].subs(R_m[k], 1)),
        "Theorem 1 has twice the complexity term"),
    ProofStep(equal(STATEMENTS["theorem-1"].terms["depth"], 2 / sqrt(x)),
        "the depth term of Theorem 1 in x = rho^2 m/log l", where=_in_x),
    ProofStep(equal(STATEMENTS["margin-bound"].terms["depth"].subs(M, 1), 2 * sqrt(2) / sqrt(x)),
        "and that of margin-bound", where=_in_x),
    ProofStep(equal(4 / rho**2 * log(x) * log(l) / m, 4 * log(x) / x),
        "the first part of C^2 without its ceiling, which only adds", where=_in_x),
    ProofStep(at_most(log(1 / delta) / (2 * m), log(2 / delta) / (2 * m)), "log(2/delta) exceeds log(1/delta)"),
    ProofStep(
        equal(4 * log(x) / x + v - (2 * _gap / sqrt(x) + sqrt(v)) ** 2,
              4 / x * (log(x) - _gap**2 - _gap * sqrt(v * x))),
        "2 sqrt(2)/sqrt(x) + sqrt(v) <= 2/sqrt(x) + sqrt(4 log(x)/x + v), squared: the sign is that of the bracket"),
    ProofStep(at_most(0, log(x) - _gap**2 - _gap * (_threshold - z)),
        "for x = 4 e^y >= 4 the bracket is >= 0 where sqrt(v x) = threshold - z is at most the threshold",
        where={x: 4 * exp(y)}),
    ProofStep(at_most(1, 2 / sqrt(x)), "for x = 4/(1+y)^2 <= 4 the depth term alone makes Theorem 1 vacuous",
        where={x: 4 / (1 + y) ** 2}),
    ProofStep(
        equal((v * x).subs({v: log(1 / delta) / (2 * m), x: rho**2 * m / log(l)}) / _threshold**2,
              log(1 / delta) / (SHARPER * log(l) / rho**2)),
        "sqrt(v x) <= threshold reads log(1/delta) <= SHARPER log l/rho^2"),
    ProofStep(at_most(Rational(172, 10), SHARPER), "SHARPER is at least 17.2"),
    ProofStep(at_most(SHARPER, Rational(17201, 1000)), "and at most 17.201"),
    ProofStep(at_most(log(2), log(l) / rho**2),
        "for rho < 1 (else the margin error is 1) and l >= 2 every delta >= 2^-SHARPER = 6.641e-6 will do",
        where={l: 2 * exp(y), rho: 1 / (1 + z)}),
    ProofStep(
        equal((2 * _gap / sqrt(x) + sqrt(v)) ** 2 - (4 * log(x) / x + log(l) / m + log(2) / (2 * m) + v),
              4 / x * (_gap**2 + _gap * sqrt(v * x) - log(x) - _ceiling_slack)),
        "conversely, a ceiling adds less than 1: the sign of the bracket decides where margin-bound is the larger",
        where={m: x * log(l) / rho**2}, unknowns=(log(l),)),
    ProofStep(at_most(0, _gap**2 + _gap * ((log(x) + _ceiling_slack - _gap**2) / _gap + z) - log(x) - _ceiling_slack),
        "so it is at tiny delta, where log(1/delta) >= (2 log l/rho^2) T^2 with"
        " T = (log x + (rho^2/4)(1 + log 2/(2 log l)) - (sqrt 2 - 1)^2)/(sqrt 2 - 1)",
        unknowns=(log(l),)),
]  # fmt: skip


# a-posteriori: b_k, A_d and the priors

_c = sp.Symbol("c", positive=True)
_b = _c * (1 + _c) ** (s - 2)
A_POSTERIORI = [
    ProofStep(
        equal(recursion_b.rhs.subs(c_phi, _c).subs(Sum(b[s], (s, 1, k - 1)), 1 + Sum(_b, (s, 2, k - 1)).doit()),
              _b.subs(s, k)),
        "b_1 = 1 and b_k = c (1+c)^(k-2) for k >= 2 solve b_k = c sum_{s<k} b_s"),
    ProofStep(equal(1 + _c * (1 + Sum(_b, (s, 2, d)).doit()), define_A_d.rhs.args[1].expr.subs(c_phi, _c)),
        "G_1 and the d families phi(G_s) together: 1 + c sum_{s<=d} b_s = A_d"),
    ProofStep(equal(define_A_d.rhs.subs(d, 0), 1), "d = 0: a linear function"),
    ProofStep(equal(1 + _c * Sum((1 + _c) ** (s - 1), (s, 1, k - 1)).doit(), (1 + _c) ** (k - 1)),
        "with x read at every level, b'_k = (1+c)^(k-1) solves b'_k = 1 + c sum_{s<k} b'_s"),
    ProofStep(
        equal(define_A_d.rhs.args[1].expr.subs({c_phi: _c, d: d + 1}) - (1 + _c) ** d,
              1 + (_c - 1) * (1 + _c) ** d),
        "and b'_{d+1} = (1+c)^d <= A_{d+1} for c >= 1: such a network counts one level more"),
    ProofStep(equal(Sum(1 / ((d + 1) * (d + 2)), (d, 0, oo)).doit(), 1), "the prior over d is a probability"),
    ProofStep(equal(1 + 2 * Sum(1 / (j + 1) ** 2, (j, 1, oo)).doit(), pi**2 / 3 - 1),
        "the prior over j is one after division by pi^2/3 - 1"),
]  # fmt: skip


# Hoelder equality for the corrected u

_q = define_q.rhs
_eps, _norm, _Lambda = sp.symbols("eps N Lambda", positive=True)  # |eps_i|, sum_i |eps_i|^q, Lambda_{s,s-1}
_u = STATEMENTS["cvx-closed-form-corrected"].rhs.subs(
    {DualNorm(n[s - 1], p): _norm ** (1 / q), Lambda[s, s - 1]: _Lambda}
)
_conjugate = {p: 1 + 1 / x}  # every p in (1, inf), with q = 1 + x
HOELDER = [
    ProofStep(equal(p * (_q - 1), _q), "p and q are conjugate"),
    ProofStep(equal(_q / p, _q - 1), "so the printed exponent q/p is q - 1; what the print lacks is the sign"),
    ProofStep(equal((_u * eps[i]).subs(eps[i], _eps), _Lambda * _eps**q / _norm ** (1 - 1 / q)),
        "u_i eps_i where eps_i > 0"),
    ProofStep(equal((_u * eps[i]).subs(eps[i], -_eps), _Lambda * _eps**q / _norm ** (1 - 1 / q)),
        "and where eps_i < 0, which the print gets wrong"),
    ProofStep(equal(_Lambda * _norm / _norm ** (1 - 1 / q), _Lambda * _norm ** (1 / q)),
        "summed over i: u . eps = Lambda ||eps||_q, the largest value Hoelder's inequality allows"),
    ProofStep(equal((_u.subs(eps[i], _eps) ** p).subs(q, _q), (_Lambda**p * _eps**q / _norm).subs(q, _q)),
        "|u_i|^p = Lambda^p |eps_i|^q/sum|eps|^q, so that ||u||_p = Lambda", where=_conjugate),
    ProofStep(equal(sp.Limit(_q, p, oo), 1), "p -> inf: q -> 1 and u_i -> Lambda sgn(eps_i)"),
    ProofStep(equal(sp.Limit(1 / _q, p, 1, "+"), 0), "p -> 1: q -> inf"),
    ProofStep(equal(sp.Limit(exp(-x * (q - 1)), q, oo), 0),
        "there a unit with |eps_i| = e^-x max|eps|, x > 0, loses all weight to the maximisers"),
]  # fmt: skip


# The ends of the range of p and of l

_depth = sp.Symbol("y", positive=True)  # log l
LIMITS = [
    ProofStep(equal(sp.Limit(plain(DualRoot(t, p)), p, 1), DualRoot(t, sp.S.One)), "p -> 1: n^(1/q) -> 1"),
    ProofStep(equal(sp.Limit(plain(DualRoot(t, p)), p, oo), DualRoot(t, oo)), "p -> inf: n^(1/q) -> n"),
    ProofStep(equal(define_kappa.rhs.args[1].expr.subs(q, 2), define_kappa.rhs.args[0].expr),
        "kappa_q is continuous at q = 2"),
    ProofStep(equal(sp.Limit(2 / rho * sqrt(_depth / m), _depth, 0, "+"), 0),
        "l -> 1: the depth term vanishes with log l"),
    ProofStep(equal(sp.Limit((4 / rho**2 * log(rho**2 * m / _depth) + 1) * _depth / m, _depth, 0, "+"), 0),
        "and so does the first part of C^2, even with its ceiling rounded up by 1"),
    ProofStep(equal(ConfidenceC(rho, sp.S.One, m, delta), sqrt(log(2 / delta) / (2 * m))),
        "so that C at l = 1 is the limit, sqrt(log(2/delta)/(2m))"),
]  # fmt: skip

DERIVATIONS: dict[str, list[ProofStep]] = {
    "lemma-2": LEMMA_2,
    "corollary-1": COROLLARY_1,
    "lemma-2-peeled": LEMMA_2_PEELED,
    "lemma-2-peeled-data": LEMMA_2_PEELED_DATA,
    "margin-bound": MARGIN_BOUND,
    "a-posteriori": A_POSTERIORI,
    "cvx-closed-form-corrected": HOELDER,
    "limits": LIMITS,
}
