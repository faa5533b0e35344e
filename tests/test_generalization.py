"""The risk bounds at their edges; their terms against the twins are in test_double_entry."""

import math

import pytest

from adanet_theory.checks import OutsideTheoryError
from adanet_theory.risk.generalization import (
    confidence_term,
    corollary_1,
    margin_bound,
    margin_bound_empirical,
    margin_bound_uniform,
    margin_bound_uniform_at,
    objective_bound,
    rho_uniform_price,
    theorem_1,
    theorem_1_range,
)
from adanet_theory.risk.margin import ramp_loss
from adanet_theory.risk.unbounded import margin_bound_unbounded, unbounded_empirical
from adanet_theory.spec import NetworkSpec
from tests.refusals import refused


def test_the_range_repair_is_refused_where_it_does_not_follow() -> None:
    arguments = {"rho": 1.0, "m": 1768, "M": 1.01}
    theorem_1_range(0.0, [0.0, 1.0], [0.0, 0.0], delta=1e-100, **arguments)
    with pytest.raises(OutsideTheoryError) as caught:
        theorem_1_range(0.0, [0.0, 1.0], [0.0, 0.0], delta=1e-300, **arguments)
    message = "theorem-1-range does not follow from margin-bound at delta=1e-300. [assumption: delta]"
    assert str(caught.value) == message
    # Where it says nothing there is nothing to refuse: it is vacuous, or no margin reaches rho.
    vacuous = arguments | {"m": 170}
    replaced = margin_bound(0.0, [0.0, 1.0], [0.0, 0.0], delta=1e-300, **vacuous)
    assert 1 < theorem_1_range(0.0, [0.0, 1.0], [0.0, 0.0], delta=1e-300, **vacuous).raw < replaced.raw
    theorem_1_range(0.0, [0.0, 1.0], [0.0, 0.0], delta=1e-300, **arguments | {"M": 1.0})


def test_reference_points() -> None:
    assert confidence_term(0.1, 3, 10_000, 0.05) == pytest.approx(0.445515389271009915, rel=1e-15)
    # Audit C16: negative radicands, always where (2/ρ) sqrt(log l/m) >= 1 alone.
    for rho, depth, m, alone in [(0.01, 10, 100, 30.3), (0.05, 5, 500, 2.27), (0.1, 3, 100, 2.10)]:
        bound = theorem_1(0.0, [1.0] * depth, [0.0] * depth, rho=rho, m=m, delta=0.05, literally=True)
        assert bound.raw is None
        assert bound.is_vacuous
        assert bound.terms["depth"] == pytest.approx(alone, abs=6e-2)
    assert confidence_term(1e-200, 3, 100, 0.05) is None


def test_uniform_takes_the_best_margin() -> None:
    w, R, M = [0.5, 1.0], [0.001, 0.002], [1.0, 2.0]
    margins = [2.4, 1.0, 0.5, -0.1] * 50_000
    for eta in (0.05, 0.5):
        best = margin_bound_uniform(margins, w, R, delta=0.05, M=M, eta=eta)
        tried = []
        for j in range(-20, 120):
            ramp = ramp_loss(margins, 2.5 / (1 + eta) ** j)
            tried.append(margin_bound_uniform_at(j, ramp, w, R, m=200_000, delta=0.05, M=M, eta=eta).raw)
        assert best.raw == pytest.approx(min(tried), abs=1e-12)
        assert best.rho == pytest.approx(2.5 / (1 + eta) ** best.j)
    assert margin_bound_uniform([0.0], [0.0], [1.0], delta=0.05, M=[1.0]).raw == 1


def test_the_zero_function_has_bound_one() -> None:
    spec = NetworkSpec.layered((2, 1, 1), 1.0, 2)
    arguments = {"rho": 0.5, "m": 10, "delta": 0.05}
    for id, first, bound in [
        ("theorem-1", "margin_error", theorem_1(0.0, [0.0, 0.0], [1.0, 1.0], literally=True, **arguments)),
        (
            "corollary-1",
            "margin_error",
            corollary_1(spec, 0.0, [0.0, 0.0], r_inf=1.0, literally=True, **arguments),
        ),
        ("theorem-1-range", "margin_error", theorem_1_range(0.0, [0.0, 0.0], [1.0, 1.0], M=1.0, **arguments)),
        ("theorem-1-range", "margin_error", theorem_1_range(0.0, [1.0, 0.0], [0.0, 0.0], M=0.0, **arguments)),
        ("margin-bound", "ramp", margin_bound(0.0, [0.0, 0.0], [1.0, 1.0], M=1.0, **arguments)),
        ("margin-bound", "ramp", margin_bound(0.0, [1.0, 0.0], [0.0, 0.0], M=0.0, **arguments)),
        ("margin-bound-uniform", "ramp", margin_bound_uniform([1.0], [0.0], [1.0], delta=0.05, M=[1.0])),
        ("objective-bound", "loss", objective_bound(0.0, [0.0, 0.0], [1.0, 1.0], m=10, delta=0.05, M=[1.0, 1.0])),
    ]:
        assert (bound.id, bound.raw) == (id, 1.0)
        assert bound.terms == {first: 1.0, "complexity": 0.0, "depth": 0.0, "confidence": 0.0}


RANGE = "Theorem 1 needs |h| <= 1 on every H_k, got a range of {}. [assumption: range]"


def test_theorem_1_says_when_it_does_not_apply() -> None:
    arguments = {"rho": 0.5, "m": 10_000, "delta": 0.05}
    for w, M, assumption, message in [
        ([1.0], [1.0], "depth", "Theorem 1 needs l >= 2, got l=1: it divides by log l. [assumption: depth]"),
        (
            [1.0, 1.0],
            [1.0, 1.5],
            "range",
            RANGE.format("1.5"),
        ),
        (
            [1.0, 1.0],
            None,
            "range",
            RANGE.format("unknown"),
        ),
    ]:
        with pytest.raises(OutsideTheoryError) as caught:
            theorem_1(0.0, w, w, M=M, **arguments)
        assert (caught.value.assumption, str(caught.value)) == (assumption, message)
    good = NetworkSpec.layered((2, 1, 1), 0.25, 2)
    corollary_1(good, 0.0, [1.0, 1.0], r_inf=1.0, M=[1.0, 1.0], **arguments)
    for spec, M, assumption in [
        (NetworkSpec.layered((2, 1, 1), 1.0, 2, "sigmoid"), [1.0, 1.0], "phi-zero"),
        (NetworkSpec.layered((2, 1, 1), 1.0, 2, "gelu"), [1.0, 1.0], "lipschitz"),
        (NetworkSpec((2, 1, 1, 1), {(3, 1): 1.0}, 2), [1.0, 1.0, 1.0], "layered"),
        (good, [1.0, 2.0], "range"),
    ]:
        with pytest.raises(OutsideTheoryError) as caught:
            corollary_1(spec, 0.0, [1.0] * spec.depth, r_inf=1.0, M=M, **arguments)
        assert caught.value.assumption == assumption
    with pytest.raises(OutsideTheoryError, match=r"^Corollary 1 .*only the layer below"):
        corollary_1(NetworkSpec((2, 1, 1, 1), {(3, 1): 1.0}, 2), 0.0, [1.0] * 3, r_inf=1.0, M=[1.0] * 3, **arguments)


def test_the_objective_at_another_rho_is_that_of_smaller_weights() -> None:
    """The loss apart, ρ only scales w."""
    w, free = [0.5, 1.5], {"m": 1000, "delta": 0.05, "M": [1.0, 2.0]}
    bound = objective_bound(0.1, w, [0.01, 0.02], rho=0.25, **free)
    scaled = objective_bound(0.1, [4 * x for x in w], [0.01, 0.02], **free)
    assert (bound.rho, scaled.rho) == (0.25, 1)
    assert bound.terms == pytest.approx(scaled.terms, rel=1e-12)


def test_rho_uniform_price() -> None:
    assert rho_uniform_price(1, 7) == 0
    assert rho_uniform_price(0.125, 7) == pytest.approx(math.sqrt(math.log(4) / 7))
    refused(lambda: rho_uniform_price(1.5, 7), "rho", "(0, 1]", "rho=1.5")
    refused(lambda: rho_uniform_price(0, 7), "rho", "(0, 1]", "rho=0")
    refused(lambda: rho_uniform_price(0.5, 0), "m ", ">= 1", "m=0")


FIXED = {"rho": 0.5, "m": 10, "delta": 0.05}
SPEC = NetworkSpec.layered((2, 1), 1.0, 2)


def one_layer(statement, **fixed):
    return lambda error=0.0, w=(1.0,), R=(1.0,), **changes: statement(error, w, R, **FIXED | fixed | changes)


def at_j(error, w, R, *, rho, j=0, **fixed):
    return margin_bound_uniform_at(j, error, w, R, **fixed)


STATEMENTS = {
    "theorem-1": one_layer(theorem_1, literally=True),
    "theorem-1-range": one_layer(theorem_1_range, M=1.0),
    "margin-bound": one_layer(margin_bound, M=1.0),
    "margin-bound-empirical": one_layer(margin_bound_empirical, M=[1.0]),
    "margin-bound-unbounded": one_layer(margin_bound_unbounded),
    "unbounded-empirical": one_layer(unbounded_empirical),
    "corollary-1": one_layer(
        lambda error, w, R, *, r_inf=1.0, **kw: corollary_1(SPEC, error, w, r_inf=r_inf, literally=True, **kw)
    ),
    "margin-bound-uniform": one_layer(at_j, M=[1.0]),
    "the best margin": lambda w=(1.0,), R=(1.0,), M=(1.0,): margin_bound_uniform([1.0], w, R, delta=0.05, M=M),
    "objective-bound": one_layer(objective_bound, M=[1.0]),
}
COUNT = ("l=1 layers", "2.")
CASES = [
    ({"m": 0}, {"the best margin"}, ("m ", ">= 1", "m=0")),
    ({"delta": 1.5}, {"the best margin"}, ("delta", "(0, 1)", "delta=1.5")),
    ({"rho": -1.0}, {"the best margin", "margin-bound-uniform"}, ("rho", "> 0", "rho=-1.0")),
    ({"error": 1.5}, {"the best margin", "objective-bound"}, ("margin error", "ramp", "[0, 1]", "1.5")),
    ({"w": ()}, set(), ("w_norms", "none")),
    ({"w": (-1.0,)}, set(), ("||w_1||_1", ">= 0", "||w_1||_1=-1.0")),
    ({"R": (1.0, 1.0)}, {"corollary-1"}, COUNT),
    ({"R": (-1.0,)}, {"corollary-1"}, ("complexity", ">= 0", "=-1.0")),
]


@pytest.mark.parametrize("name", STATEMENTS)
def test_refusals(name: str) -> None:
    statement = STATEMENTS[name]
    statement()
    for change, without, tokens in CASES:
        if name not in without:
            refused(lambda change=change: statement(**change), *tokens)


@pytest.mark.parametrize(
    ("name", "change", "tokens"),
    [
        ("theorem-1-range", {"M": -1.0}, ("M ", ">= 0", "M=-1.0")),
        ("margin-bound", {"M": -1.0}, ("M ", ">= 0", "M=-1.0")),
        ("margin-bound-empirical", {"M": [1.0, 1.0]}, COUNT),
        ("margin-bound-uniform", {"M": [1.0, 1.0]}, COUNT),
        ("the best margin", {"M": [1.0, 1.0]}, COUNT),
        ("objective-bound", {"M": [1.0, 1.0]}, COUNT),
        ("corollary-1", {"w": (1.0, 1.0)}, COUNT),
        ("corollary-1", {"r_inf": -1.0}, ("r_inf", ">= 0", "r_inf=-1.0")),
        ("margin-bound-uniform", {"w": (0.0,)}, ("W_M", "> 0", "0.")),
        ("objective-bound", {"error": -1.0}, ("loss", ">= 0", "=-1.0")),
    ],
)
def test_refusals_of_one_statement(name: str, change: dict, tokens: tuple[str, ...]) -> None:
    refused(lambda: STATEMENTS[name](**change), *tokens)


TWO, NONE, LARGE, TINY = (1.0, 1.0), (0.0, 0.0), (1e300,), 1e-10


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        ("theorem-1", {"R": LARGE, "rho": TINY}, "theorem-1"),
        ("theorem-1", {"w": TWO, "R": NONE, "rho": 1e-308, "m": 1}, "theorem-1"),
        ("theorem-1-range", {"R": LARGE, "rho": TINY}, "theorem-1-range"),
        ("corollary-1", {"r_inf": 1e300, "rho": TINY}, "corollary-1"),
        ("margin-bound", {"R": LARGE, "rho": TINY}, "margin-bound"),
        ("margin-bound", {"w": TWO, "R": NONE, "M": 1e300, "rho": TINY}, "margin-bound"),
        ("margin-bound", {"w": (1e308, 1e308), "R": TWO}, "W"),
        ("margin-bound-uniform", {"R": LARGE, "j": 900}, "margin-bound-uniform"),
        ("margin-bound-uniform", {"R": LARGE, "w": (1e10,)}, "margin-bound-uniform"),
        ("margin-bound-uniform", {"w": TWO, "R": NONE, "M": TWO, "j": 14_540, "m": 1}, "margin-bound-uniform"),
        ("margin-bound-uniform", {"j": 10**6}, "margin-bound-uniform at j=1000000"),
        ("margin-bound-uniform", {"w": (1e10,), "M": LARGE}, "W_M"),
        ("the best margin", {"w": (1e10,), "M": LARGE}, "W_M"),
        ("objective-bound", {"w": (1e10,), "R": LARGE}, "objective-bound"),
        ("objective-bound", {"w": (1e10,), "M": LARGE}, "W_M"),
        ("objective-bound", {"R": LARGE, "rho": TINY}, "objective-bound"),
        ("objective-bound", {"w": TWO, "R": TWO, "M": 2 * LARGE, "rho": TINY}, "objective-bound"),
    ],
)
def test_overflow_is_named(name: str, change: dict, named: str) -> None:
    refused(lambda: STATEMENTS[name](**change), f"{named} exceeds the largest float, 1.8e308.", error=OverflowError)
