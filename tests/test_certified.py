"""The certified value against 60-digit arithmetic written out by hand: never below, and tight."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import given, target
from hypothesis import strategies as st
from mpmath import mp, mpf

from adanet_theory import catalogue
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified
from adanet_theory.twins.certified import Undefined, evaluate, lower, spec_values, terms_upper, upper
from adanet_theory.twins.symbolic import STATEMENTS
from tests.refusals import refused

ACTIVATIONS = ["relu", "leaky_relu:0.1", "tanh", "sigmoid", "softplus", "abs", "identity", "elu", "gelu"]


# Sixty digits, by hand


class Sixty:
    """Every statement without forty digits in the catalogue, in mpmath, with the values of one example."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.raw = values
        self.p = values["p"]
        self.q = mpf("inf") if self.p == 1 else mpf(1) if self.p == math.inf else 1 / (1 - 1 / self.number(self.p))

    @staticmethod
    def number(x: Any) -> Any:
        if isinstance(x, Fraction):
            return mpf(x.numerator) / x.denominator
        if x is sp.oo:
            return mpf("inf")
        return mpmath.mpmathify(sp.N(x, 70)) if isinstance(x, sp.Expr) else mpf(x)

    def __getattr__(self, name: str) -> Any:
        return self.number(self.raw[name])

    def at(self, name: str, k: int) -> Any:
        if name == "n":
            return self.raw["n"][k]
        value = self.raw[name]
        return self.number(value[k] if isinstance(value, dict) else value[k - 1])

    def Lam(self, k: int, s: int) -> Any:
        return self.number(self.raw["Lambda"].get((k, s), 0))

    def root(self, n: int) -> Any:
        return mpf(0) if n == 0 else mpf(n) ** (1 / self.q)

    def edge(self, k: int, s: int) -> Any:
        return self.Lam(k, s) * self.root(self.at("n", s))

    @property
    def layers(self) -> range:
        return range(1, self.raw["l"] + 1)

    def lemma_2(self, k: int) -> Any:
        edges = mp.fprod(2 * self.Lam(s, s - 1) * self.root(self.at("n", s - 1)) for s in range(1, k + 1))
        return self.r_inf * edges * mp.sqrt(mp.log(2 * self.at("n", 0)) / (2 * self.m))

    def peeled(self, k: int) -> tuple[Any, Any]:
        """P_k and P_k D_k, which obeys a recursion without division."""
        P, E = {1: self.edge(1, 0)}, {1: self.edge(1, 0)}
        for t in range(2, k + 1):
            P[t] = mp.fsum(self.edge(t, s) * self.at("L", s) * P[s] for s in range(1, t))
            E[t] = mp.fsum(self.edge(t, s) * self.at("L", s) * self.at("e", s) * E[s] for s in range(1, t))
        return P[k], E[k]

    def offset(self, k: int) -> Any:
        if k == 1:
            return self.r_rms * self.edge(1, 0)
        return mp.fsum(self.edge(k, s) * (self.at("L", s) * self.offset(s) + self.at("phi0", s)) for s in range(1, k))

    def range_of(self, k: int) -> Any:
        if k == 1:
            return self.edge(1, 0) * self.r_sup
        reach = {s: self.at("L", s) * self.range_of(s) + self.at("phi0", s) for s in range(1, k)}
        return mp.fsum(self.edge(k, s) * min(reach[s], self.at("sup", s)) for s in range(1, k))

    def C(self, rho: Any) -> Any:
        tail = mp.log(2 / self.delta) / (2 * self.m)
        if self.l == 1:
            return mp.sqrt(tail)
        blocks = mp.ceil(4 / rho**2 * mp.log(rho**2 * self.m / mp.log(self.l)))
        radicand = blocks * mp.log(self.l) / self.m + tail
        return mp.sqrt(radicand) if radicand >= 0 else None  # where it has no value

    def norm(self) -> Any:
        sizes = [abs(self.at("eps", i)) for i in range(1, self.at("n", self.raw["s"] - 1) + 1)]
        if self.p == 1 or max(sizes) == 0:
            return max(sizes)
        return max(sizes) * mp.fsum((x / max(sizes)) ** self.q for x in sizes if x) ** (1 / self.q)

    def W_M(self) -> Any:
        return mp.fsum(self.at("w", k) * self.at("M_k", k) for k in self.layers)

    def prior(self, j: Any) -> Any:
        return mp.sqrt((mp.log((mp.pi**2 / 3 - 1) / self.delta) + 2 * mp.log(j)) / (2 * self.m))


def kappa(z: Sixty) -> Any:
    if z.p >= 2:
        return mpf(1)
    return mpf("inf") if z.p == 1 else mp.sqrt(2) * mp.exp((mp.loggamma((z.q + 1) / 2) - mp.log(mp.pi) / 2) / z.q)


def rho_uniform(z: Sixty) -> Any:
    return mp.sqrt(mp.log(mp.log(2 / z.rho) / mp.log(2)) / z.m) if z.rho <= 1 else None


def closed_form(z: Sixty, sign: bool) -> Any:
    value, norm = z.at("eps", z.raw["i"]), z.norm()
    if z.Lam(z.raw["s"], z.raw["s"] - 1) == 0:
        return mpf(0)
    if z.p == 1 or (norm == 0 and z.p != math.inf):
        return None
    size = 1 if z.p == math.inf else (abs(value) / norm) ** (z.q - 1)
    return z.Lam(z.raw["s"], z.raw["s"] - 1) * size * (mp.sign(value) if sign else 1)


def objective(z: Sixty) -> list[Any]:
    complexity = mp.fsum(z.at("w", k) * (1 + z.eta) * 2 * z.at("R", k) for k in z.layers)
    depth = mp.fsum(z.at("w", k) * (1 + z.eta) * 2 * z.at("M_k", k) * mp.sqrt(2 * mp.log(z.l) / z.m) for k in z.layers)
    return [z.loss, complexity, depth, z.prior(2 + abs(mp.log(z.W_M()) / mp.log(1 + z.eta)))]


def data_form(z: Sixty) -> Any:
    k = z.raw["k"]
    edges = mp.fprod(z.edge(s, s - 1) * z.at("L", s - 1) for s in range(2, k + 1))
    D = mp.fprod(z.at("e", s) for s in range(1, k))
    return edges * (z.at("R", 1) + z.Lam(1, 0) / z.m * mp.sqrt(2 * mp.log(D) * z.sum_sq))


def peeled(z: Sixty) -> Any:
    P, E = z.peeled(z.raw["k"])
    return z.r_rms * P * mp.sqrt(2 * (mp.log(2 * z.at("n", 0)) + mp.log(E / P)) / z.m) if P else mpf(0)


def over_below(z: Sixty, value: Callable[[int], Any]) -> Any:
    return mp.fsum(z.edge(z.raw["k"], s) * value(s) for s in range(1, z.raw["k"]))


def mu(z: Sixty) -> Any:
    t = z.raw["m"] // 2
    return mp.exp(mp.loggamma(mpf(2 * t + 1) / 2) - mp.loggamma(t + 1)) / mp.sqrt(mp.pi)


def multiclass_objective(z: Sixty) -> list[Any]:
    two = objective(z)
    depth = 4 * (1 + z.eta) * z.W_M() * mp.sqrt(2 * (mp.log(z.raw["C"]) + mp.log(z.l)) / z.m)
    return [two[0], 2 * two[1], depth, two[3]]


def decrease(z: Sixty) -> Any:
    return max(z.g_s - z.Gamma, 0) ** 2 / (2 * z.tau * z.h_ms)


BY_HAND: dict[str, Callable[[Sixty], Any]] = {
    "lemma-1": lambda z: 2 * over_below(z, lambda s: z.at("R", s)),
    "lemma-2": lambda z: z.lemma_2(z.raw["k"]),
    "confidence-C": lambda z: z.C(z.rho),
    "rho-uniform": rho_uniform,
    "cvx-closed-form": lambda z: closed_form(z, sign=False),
    "cvx-closed-form-corrected": lambda z: closed_form(z, sign=True),
    "cvx-score": lambda z: z.Lam(z.raw["s"], z.raw["s"] - 1) * z.norm() * z.S / z.m,
    "cvx-decrease": decrease,
    "lemma-1-exact": lambda z: over_below(z, lambda s: z.at("E_sup", s)) / z.m,
    "lemma-1-corrected": lambda z: over_below(z, lambda s: z.at("c", s) * z.at("R", s) + z.at("phi0", s) * mu(z)),
    "h1-exact": lambda z: z.Lam(1, 0) * z.E_norm / z.m,
    "h1-closed": lambda z: z.r_rms * z.edge(1, 0) * min(mp.sqrt(2 * mp.log(2 * z.at("n", 0))), kappa(z)) / mp.sqrt(z.m),
    "lemma-2-peeled": peeled,
    "lemma-2-peeled-data": data_form,
    "lemma-2-peeled-offset": lambda z: (
        z.offset(z.raw["k"]) * mp.sqrt(2 * (mp.log(2 * z.at("n", 0)) + (z.k - 1) * mp.log(2)) / z.m)
    ),
    "depth-lower": lambda z: (
        z.edge(z.raw["k"] + 1, z.raw["k"]) * z.at("R", z.raw["k"]) * (mpf(1) / 2 if z.k == 1 else 1)
    ),
    "range": lambda z: z.range_of(z.raw["k"]),
    "objective-bound": objective,
    "multiclass-objective-bound": multiclass_objective,
}


def test_every_statement_is_written_out_by_hand_or_has_an_example() -> None:
    assert set(BY_HAND) <= set(STATEMENTS)
    assert set(STATEMENTS) - set(BY_HAND) <= set(catalogue.ids(catalogue.select(lambda bound: bool(bound.examples))))


# Examples


@st.composite
def examples(draw: st.DrawFn) -> dict[str, Any]:
    """Values of every letter; hypothesis picks what matters for the branches, a seeded generator the rest."""
    depth = draw(st.integers(1, 6))
    p = draw(st.sampled_from([1, 1.5, 2, 3, math.inf, Fraction(4, 3), Fraction(5, 2)]))
    m = draw(st.sampled_from([1, 2, 9600, 10**9]) | st.integers(1, 10**6))
    rng = Random(draw(st.integers(0, 2**32)))

    def number(low: float = 1e-3, high: float = 10.0) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    def many(zero: float = 0.1) -> list[float]:
        return [0.0 if rng.random() < zero else number() for _ in range(depth + 1)]

    sizes = [rng.choice([1, 7, 10**6]), *(rng.choice([0, 1, 2, 50, 10**6]) for _ in range(depth + 1))]
    pairs = [(1, 0), *((k, s) for k in range(2, depth + 2) for s in range(1, k))]
    spec = NetworkSpec(
        sizes,
        {pair: number() for pair in pairs if rng.random() < 0.85},
        2,
        [rng.choice(ACTIVATIONS) for _ in range(depth)],
    )
    w = many()
    w[0] = number()
    return {
        **spec_values(spec),
        "p": p,
        "l": depth,
        "k": rng.randint(1, depth),
        "m": m,
        "w": w,
        "R": many(),
        "E_sup": many(),
        "M_k": [number() for _ in range(depth + 1)],
        "rho": draw(st.sampled_from([1e-6, 0.1, 1.0, 2.0])) if rng.random() < 0.3 else number(1e-4, 3),
        "delta": draw(st.sampled_from([0.05, 1e-12, 1 - 1e-9])),
        "eta": rng.choice([0.05, Fraction(1, 20), 1.0]),
        "C": rng.randint(2, 1000),
        **{name: number() for name in ("r_inf", "r_rms", "r_sup", "E_norm", "sum_sq", "S", "h_ms", "tau")},
        **{name: rng.choice([0.0, rng.random()]) for name in ("loss", "g_s", "Gamma")},
    }


def for_statement(name: str, values: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The same values, with eps over a few units for AdaNet.CVX."""
    if name.startswith("cvx"):
        size = rng.randint(1, 5)
        eps = [rng.choice([0.0, 1.0, -1.0]) * rng.random() for _ in range(size)]
        return {**values, "s": 1, "i": rng.randint(1, size), "n": [size], "eps": eps}
    return values


def assert_encloses(value: float, true: Any, up: bool) -> None:
    """`value` is on the right side of `true` and within two ulps of it."""
    slack = abs(true) * mpf(10) ** -50
    gap = mpf(value) - true if up else true - mpf(value)
    assert -slack <= gap <= abs(true) * mpf(2) ** -51 + mpf(5e-324)


@pytest.mark.parametrize("name", sorted(BY_HAND))
@given(values=examples(), seed=st.integers(0, 2**32))
def test_certified_value_encloses_sixty_digits(name: str, values: dict[str, Any], seed: int) -> None:
    values = for_statement(name, values, Random(seed))
    with mp.workdps(60):
        result = BY_HAND[name](Sixty(values))
        parts = result if isinstance(result, list) else [result]
        if None in parts:
            with pytest.raises(Undefined):
                upper(name, values)
            return
        true = mp.fsum(parts)
        assert_encloses(upper(name, values), true, up=True)
        assert_encloses(lower(name, values), true, up=False)
        for term, part in zip(terms_upper(name, values).values(), [*parts, true], strict=True):
            assert_encloses(term, part, up=True)
        if true:
            target(float(mpf(upper(name, values)) / true - 1), label=name)


# Reference points computed elsewhere


def test_confidence_C_at_the_reference_point() -> None:
    value = evaluate("confidence-C", {"rho": "0.1", "l": 3, "m": 10_000, "delta": Fraction(1, 20)})
    with flint.ctx.workprec(128):
        assert abs(value - arb("0.445515389271009915")) < arb("6e-19")


def paper_setting(l: int, p: float, rho: str, **values: Any) -> dict[str, Any]:  # noqa: E741
    """m = 9600, n_0 = 154, r = 1, delta = .05, no margin error, Lambda = 1, all weight on the top layer."""
    spec = NetworkSpec.layered((154, *(150,) * l), 1.0, p)
    fixed = {
        "m": 9600,
        "r_inf": 1,
        "r_rms": 1,
        "delta": "0.05",
        "rho": rho,
        "margin_error": 0,
        "w": [0] * (l - 1) + [1],
    }
    return {**spec_values(spec), **fixed, **values}


# Exactness, extremes, refusals


def test_inputs_are_taken_exactly() -> None:
    for tenth in ("0.1", Decimal("0.1"), Fraction(1, 10), sp.Rational(1, 10)):
        value = evaluate("h1-exact", {"Lambda": {(1, 0): tenth}, "E_norm": 10, "m": 1})
        assert value.contains(1)
        assert value.rad() < 2**-100
    binary = {"Lambda": {(1, 0): 0.1}, "E_norm": np.float64(10), "m": np.int64(1)}
    with flint.ctx.workprec(128):
        assert evaluate("h1-exact", binary) == 10 * arb(0.1)


def test_overflow_is_reported_and_underflow_rounds_up() -> None:
    values = {"Lambda": {(1, 0): 1.7e308}, "E_norm": 10, "m": 1}
    refused(lambda: upper("h1-exact", values), "h1-exact exceeds the largest float", error=OverflowError)
    refused(lambda: terms_upper("h1-exact", values), "value of h1-exact", error=OverflowError)
    tiny = {"Lambda": {(1, 0): 1e-300}, "E_norm": 1e-300, "m": 1}
    assert upper("h1-exact", tiny) == 5e-324
    assert lower("h1-exact", tiny) == 0.0
    largest = {"Lambda": {(1, 0): 1.7976931348623157e308}, "E_norm": 1, "m": 1}
    assert upper("h1-exact", largest) == lower("h1-exact", largest) == 1.7976931348623157e308
    with pytest.raises(OverflowError):
        upper("h1-exact", {**largest, "E_norm": "1.00000000000000000001"})


def test_partial_products_may_exceed_every_float() -> None:
    spec = NetworkSpec.layered((2, *(10**6,) * 60), [1e300, *([1e-8] * 59)], math.inf)
    values = {**spec_values(spec), "k": 60, "m": 10**9, "r_rms": 1e-6}
    assert math.isfinite(upper("lemma-2-peeled", values))


@pytest.mark.parametrize(("rho", "m", "l"), [("0.01", 100, 10), ("0.05", 500, 5), ("0.1", 100, 3)])
def test_negative_radicand_has_no_value(rho: str, m: int, l: int) -> None:  # noqa: E741
    with pytest.raises(Undefined, match=r"confidence-C.*square root"):
        upper("confidence-C", {"rho": rho, "l": l, "m": m, "delta": "0.05"})


@pytest.mark.parametrize(
    "name", ["theorem-1", "corollary-1", "margin-bound", "margin-bound-uniform", "objective-bound"]
)
def test_the_zero_function_has_no_weights_to_divide(name: str) -> None:
    values = {**paper_setting(2, 1, "0.1"), "w": [0, 0], "R": [1, 1], "M": 1, "M_k": [1, 1], "j": 0, "eta": "0.05"}
    with pytest.raises(Undefined):
        upper(name, {**values, "ramp": 0, "loss": 0})


def test_a_ceiling_of_an_integer_is_that_integer_and_an_undecided_one_takes_its_upper_end() -> None:
    assert upper(sp.ceiling(sp.Rational(7, 2)), {}) == 4.0
    assert upper(sp.ceiling(sp.UnevaluatedExpr(sp.Integer(3)) * 1), {}) == 3.0
    x = sp.Symbol("rho", positive=True)
    undecided = sp.ceiling(sp.log(x) / sp.log(2), evaluate=False)
    assert 4 <= upper(undecided, {"rho": 8}) < 4 + 1e-8  # a ball's radius has 30 bits
    assert 3 - 1e-8 < lower(undecided, {"rho": 8}) <= 3


def test_zero_to_the_dual_root_is_zero_at_every_p() -> None:
    for p in (1, 1.5, 2, math.inf):
        values = {"k": 2, "p": p, "n": [1, 0, 1], "Lambda": {(2, 1): 1}, "R": [1]}
        assert upper("lemma-1", values) == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 1.5}, r"delta must be in \(0, 1\), got delta=1.5."),
        ({"delta": math.nan}, r"delta must be in \(0, 1\), got delta=nan."),
        ({"rho": 0}, "rho must be > 0 and finite, got rho=0."),
        ({"rho": math.inf}, "rho must be > 0 and finite, got rho=inf."),
        ({"m": 0}, "m must be an integer >= 1, got m=0."),
        ({"m": 2.5}, "m must be an integer >= 1, got m=2.5."),
        ({"p": 0.5}, r"p must be in \[1, inf\], got p=0.5."),
        ({"n": [154, -1, 2]}, r"n_\{1\} must be an integer >= 0, got n_\{1\}=-1."),
        (
            {"Lambda": {(1, 0): 1.0, (2, 1): math.inf}},
            r"Lambda_\{2,1\} must be finite and >= 0, got Lambda_\{2,1\}=inf.",
        ),
        ({"w": [1]}, "w_2 is needed, got no value."),
        ({"w": 1}, "w must be a list or a dict, got w=1."),
        ({"rho": [1]}, "rho must be one number, got several."),
        ({"r_inf": "abc"}, "r_inf must be an exact number, got r_inf='abc'."),
        ({"r_inf": "1/0"}, "r_inf must be an exact number, got r_inf='1/0'."),
        ({"r_inf": Decimal("Infinity")}, r"r_inf must be an exact number, got r_inf=Decimal\('Infinity'\)."),
        ({"r_inf": None}, "r_inf must be an exact number, got r_inf=None."),
        ({"r_inf": sp.Symbol("x")}, "r_inf must be an exact number, got r_inf=x."),
        ({"r_inf": sp.oo}, "r_inf must be finite and >= 0, got r_inf=oo."),
    ],
)
def test_bad_values_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        upper("corollary-1", {**paper_setting(2, 1.5, "0.1"), **change})


def test_unknown_statement_missing_value_and_foreign_node_are_refused() -> None:
    refused(lambda: upper("lemma-3", {}), "there is no statement 'lemma-3'")
    with pytest.raises(ValueError, match=r"^rho .*no value"):
        upper("confidence-C", {"l": 1, "m": 1, "delta": 0.5} | {"l": 2})
    refused(lambda: upper(sp.sin(1), {}), "cannot be evaluated", error=TypeError)
    refused(lambda: upper(sp.Float(0.1), {}), "Float cannot be evaluated", error=TypeError)


def test_precision_of_the_caller_is_left_alone() -> None:
    before = flint.ctx.prec
    upper("confidence-C", {"rho": "0.1", "l": 3, "m": 10_000, "delta": "0.05"})
    assert flint.ctx.prec == before


def test_spec_values_hold_the_exact_facts_of_each_layer() -> None:
    values = spec_values(NetworkSpec((3, 2, 2, 1), {(1, 0): 0.5}, 3, ["leaky_relu:0.1", "softplus"]))
    assert values["c"][1] == (3 - sp.Rational(Fraction(0.1).numerator, Fraction(0.1).denominator)) / 2
    assert values["phi0"] == {1: 0, 2: sp.log(2)}
    assert (values["l"], values["p"], values["n"], values["Lambda"]) == (3, 3.0, [3, 2, 2, 1], {(1, 0): 0.5})


def test_terms_add_up_and_the_total_is_its_own_ball() -> None:
    values = {**paper_setting(2, 1, "0.1"), "R": ["0.01", "0.02"]}
    terms = terms_upper("theorem-1", values)
    assert list(terms) == ["margin_error", "complexity", "depth", "confidence", "total"]
    assert terms["total"] == upper("theorem-1", values) == upper(STATEMENTS["theorem-1"], values)
    assert certified.enclosures("theorem-1", values)["total"].contains(evaluate("theorem-1", values).mid())
