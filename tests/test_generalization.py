"""The risk bounds against an independent calculation in mpmath, written from the statements, and at their edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

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

mp.dps = 50
layers = st.integers(1, 6)
sizes = st.one_of(st.sampled_from([1, 2, 10**9]), st.integers(1, 10**6))
margins = st.one_of(st.sampled_from([1e-6, 0.1, 1.0]), st.floats(1e-3, 3))
deltas = st.floats(1e-9, 0.999)
values = st.floats(0, 10)
per_layer = layers.flatmap(lambda n: st.tuples(*[st.lists(values, min_size=n, max_size=n) for _ in range(3)]))


def oracle_C(rho, depth, m, delta):
    tail = mp.log(2 / mpf(delta)) / (2 * m)
    if depth == 1:
        return mp.sqrt(tail)
    x = 4 / mpf(rho) ** 2 * mp.log(mpf(rho) ** 2 * m / mp.log(depth))
    radicand = mp.ceil(x) * mp.log(depth) / m + tail
    return None if radicand < 0 else mp.sqrt(radicand)


def near_a_jump(rho, depth, m) -> bool:
    if depth == 1:
        return False
    x = 4 / mpf(rho) ** 2 * mp.log(mpf(rho) ** 2 * m / mp.log(depth))
    return abs(x - mp.nint(x)) < mpf(10) ** -6 * (1 + abs(x))


def same(terms, expected) -> None:
    assert list(terms) == list(expected)
    for name, value in expected.items():
        if value is None:
            assert terms[name] is None
        else:
            assert terms[name] == pytest.approx(float(value), rel=1e-11, abs=1e-300)


def weighted(w, values) -> mpf:
    return mp.fsum(mpf(a) * mpf(b) for a, b in zip(w, values, strict=True))


@given(per_layer, sizes, margins, deltas, st.floats(0, 1))
def test_the_bounds_that_fix_rho(lists, m, rho, delta, error) -> None:
    w, R, M = lists
    depth, W, top = len(w), mp.fsum(map(mpf, w)), max(M)
    if W == 0 or top == 0:
        return
    mean = weighted(w, R) / W
    root = mp.sqrt(mp.log(depth) / m)
    if not near_a_jump(rho, depth, m):
        terms = {
            "margin_error": error,
            "complexity": 4 / mpf(rho) * mean,
            "depth": 2 / mpf(rho) * root,
            "confidence": oracle_C(rho, depth, m, delta),
        }
        bound = theorem_1(error, w, R, rho=rho, m=m, delta=delta, literally=True)
        assert (bound.id, bound.rho) == ("theorem-1", rho)
        same(bound.terms, terms)
    terms = {
        "ramp": error,
        "complexity": 2 / mpf(rho) * mean,
        "depth": 2 * top / mpf(rho) * mp.sqrt(2) * root,
        "confidence": mp.sqrt(mp.log(1 / mpf(delta)) / (2 * m)),
    }
    bound = margin_bound(error, w, R, rho=rho, m=m, delta=delta, M=top)
    assert (bound.id, bound.rho) == ("margin-bound", rho)
    same(bound.terms, terms)
    deviation = mp.sqrt(mp.log(4 * depth / mpf(delta)) / (2 * m))
    terms["complexity"] = 2 / mpf(rho) * (mean + weighted(w, M) / W * deviation)
    terms["confidence"] = mp.sqrt(mp.log(2 / mpf(delta)) / (2 * m))
    bound = margin_bound_empirical(error, w, R, rho=rho, m=m, delta=delta, M=M)
    assert (bound.id, bound.rho) == ("margin-bound-empirical", rho)
    same(bound.terms, terms)


@given(per_layer, sizes, margins, deltas, st.floats(0, 1))
def test_the_range_repair(lists, m, rho, delta, error) -> None:
    w, R, M = lists
    depth, W, top = len(w), mp.fsum(map(mpf, w)), max(M)
    if W == 0 or top < 1e-3 or near_a_jump(rho / top, depth, m):
        return
    scaled = mpf(rho) / mpf(top)
    terms = {
        "margin_error": error,
        "complexity": 4 / mpf(rho) * weighted(w, R) / W,
        "depth": 2 / scaled * mp.sqrt(mp.log(depth) / m),
        "confidence": oracle_C(scaled, depth, m, delta),
    }
    total = mp.inf if terms["confidence"] is None else mp.fsum(terms.values())
    replaced = mp.fsum(margin_bound(error, w, R, rho=rho, m=m, delta=delta, M=top).terms.values())
    if total < 1 and rho < top and total < replaced * (1 - mpf(10) ** -9):
        assert mp.log(1 / mpf(delta)) > 17.15 * mp.log(depth) / scaled**2
        with pytest.raises(OutsideTheoryError, match=r"^theorem-1-range does not follow from margin-bound") as caught:
            theorem_1_range(error, w, R, rho=rho, m=m, delta=delta, M=top)
        assert caught.value.assumption == "delta"
    else:
        bound = theorem_1_range(error, w, R, rho=rho, m=m, delta=delta, M=top)
        assert (bound.id, bound.rho) == ("theorem-1-range", rho)
        same(bound.terms, terms)


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


@given(per_layer, sizes, deltas, st.integers(-60, 200), st.floats(0, 1), st.floats(0, 3), margins)
def test_the_bounds_for_all_margins(lists, m, delta, j, ramp, loss, rho) -> None:
    w, R, M = lists
    W_M = weighted(w, M)
    if W_M < 1e-6:
        return
    prior = mp.pi**2 / 3 - 1
    rho_j = W_M / mpf(1.05) ** j
    root = mp.sqrt(2 * mp.log(len(w)) / m)
    bound = margin_bound_uniform_at(j, ramp, w, R, m=m, delta=delta, M=M)
    assert (bound.id, bound.j) == ("margin-bound-uniform", j)
    assert bound.rho == pytest.approx(float(rho_j), rel=1e-12)
    terms = {
        "ramp": ramp,
        "complexity": 2 / rho_j * weighted(w, R),
        "depth": 2 * mpf(1.05) ** j * root,
        "confidence": mp.sqrt((mp.log(prior / mpf(delta)) + 2 * mp.log(abs(j) + 1)) / (2 * m)),
    }
    same(bound.terms, terms)
    index = abs(mp.log(W_M / mpf(rho)) / mp.log(mpf(1.05)))
    terms = {
        "loss": loss,
        "complexity": mpf(1.05) * 2 * weighted(w, R) / mpf(rho),
        "depth": mpf(1.05) * 2 * W_M * root / mpf(rho),
        "confidence": mp.sqrt((mp.log(prior / mpf(delta)) + 2 * mp.log(2 + index)) / (2 * m)),
    }
    bound = objective_bound(loss, w, R, m=m, delta=delta, M=M, rho=rho)
    assert (bound.id, bound.rho) == ("objective-bound", rho)
    same(bound.terms, terms)
    assert objective_bound(loss, w, R, m=m, delta=delta, M=M).rho == 1


@given(
    st.lists(st.integers(1, 10**6), min_size=2, max_size=7),
    st.sampled_from([1, 1.5, 2, 3, math.inf]),
    st.data(),
    sizes,
    margins,
    deltas,
)
def test_corollary_1(n, p, data, m, rho, delta) -> None:
    depth = len(n) - 1
    Lambda = data.draw(st.lists(st.floats(0, 3), min_size=depth, max_size=depth))
    w = data.draw(st.lists(values, min_size=depth, max_size=depth))
    if sum(w) == 0 or near_a_jump(rho, depth, m):
        return
    inverse_q = 1 - (0 if p == math.inf else 1 / mpf(p))
    factor, total = mpf(2), mpf(0)
    for k in range(depth):
        factor *= 4 * mpf(Lambda[k]) * mpf(n[k]) ** inverse_q / (1 if k else mpf(rho))
        total += mpf(w[k]) / mp.fsum(map(mpf, w)) * mpf("0.7") * factor * mp.sqrt(2 * mp.log(2 * n[0]) / m)
    spec = NetworkSpec.layered(n, Lambda, p)
    bound = corollary_1(spec, 0.25, w, rho=rho, m=m, delta=delta, r_inf=0.7, literally=True)
    terms = {
        "margin_error": 0.25,
        "complexity": total,
        "depth": 2 / mpf(rho) * mp.sqrt(mp.log(depth) / m),
        "confidence": oracle_C(rho, depth, m, delta),
    }
    assert (bound.id, bound.rho) == ("corollary-1", rho)
    same(bound.terms, terms)


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


def test_rho_uniform_price() -> None:
    assert rho_uniform_price(1, 7) == 0
    assert rho_uniform_price(0.125, 7) == pytest.approx(math.sqrt(math.log(4) / 7))
    for call, message in [
        (lambda: rho_uniform_price(1.5, 7), "rho must be in (0, 1], got rho=1.5."),
        (lambda: rho_uniform_price(0, 7), "rho must be in (0, 1], got rho=0."),
        (lambda: rho_uniform_price(0.5, 0), "m must be an integer >= 1, got m=0."),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value) == message


FIXED = {"rho": 0.5, "m": 10, "delta": 0.05}
SPEC = NetworkSpec.layered((2, 1), 1.0, 2)


def one_layer(statement, **fixed):
    return lambda error=0.0, w=(1.0,), R=(1.0,), **changes: statement(error, w, R, **FIXED | fixed | changes)


STATEMENTS = {
    "theorem-1": one_layer(theorem_1, literally=True),
    "theorem-1-range": one_layer(theorem_1_range, M=1.0),
    "margin-bound": one_layer(margin_bound, M=1.0),
    "margin-bound-empirical": one_layer(margin_bound_empirical, M=[1.0]),
    "margin-bound-unbounded": one_layer(margin_bound_unbounded),
    "unbounded-empirical": one_layer(unbounded_empirical),
    "corollary-1": one_layer(lambda error, w, R, **kw: corollary_1(SPEC, error, w, r_inf=1.0, literally=True, **kw)),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_refusals(name: str) -> None:
    statement = STATEMENTS[name]
    statement()
    cases = [
        ({"m": 0}, "m must be an integer >= 1, got m=0."),
        ({"delta": 1.5}, "delta must be in (0, 1), got delta=1.5."),
        ({"rho": -1.0}, "rho must be > 0 and finite, got rho=-1.0."),
        ({"error": 1.5}, "the margin error and the ramp must be in [0, 1], got 1.5."),
        ({"w": ()}, "w_norms must hold ||w_1||_1, .., ||w_l||_1, got none."),
        ({"w": (-1.0,)}, "||w_1||_1 must be finite and >= 0, got ||w_1||_1=-1.0."),
    ]
    if name != "corollary-1":
        cases += [
            ({"R": (1.0, 1.0)}, "l=1 layers need as many values, got 2."),
            ({"R": (-1.0,)}, "each complexity and range must be finite and >= 0, got each complexity and range=-1.0."),
        ]
    if name in {"theorem-1-range", "margin-bound"}:
        cases += [({"M": -1.0}, "M must be finite and >= 0, got M=-1.0.")]
    for change, message in cases:
        with pytest.raises(ValueError) as caught:
            statement(**change)
        assert str(caught.value) == message


def test_refusals_of_the_rest() -> None:
    for call, message in [
        (
            lambda: corollary_1(SPEC, 0.0, [1.0], r_inf=-1.0, literally=True, **FIXED),
            "r_inf must be finite and >= 0, got r_inf=-1.0.",
        ),
        (
            lambda: corollary_1(SPEC, 0.0, [1.0, 1.0], r_inf=1.0, literally=True, **FIXED),
            "l=1 layers need as many ||w_k||_1, got 2.",
        ),
        (
            lambda: margin_bound_uniform_at(0, 0.0, [0.0], [1.0], m=5, delta=0.05, M=[1.0]),
            "W_M = sum_k ||w_k||_1 M_k must be > 0, got 0.",
        ),
        (
            lambda: margin_bound_uniform_at(0, 0.0, [1.0], [1.0], m=5, delta=0.05, M=[1.0, 1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: margin_bound_uniform_at(0, 0.0, [-1.0], [1.0], m=5, delta=0.05, M=[1.0]),
            "||w_1||_1 must be finite and >= 0, got ||w_1||_1=-1.0.",
        ),
        (
            lambda: margin_bound_uniform_at(0, 0.0, [1.0], [1.0, 1.0], m=5, delta=0.05, M=[1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: margin_bound_uniform([1.0], [-1.0], [1.0], delta=0.05, M=[1.0]),
            "||w_1||_1 must be finite and >= 0, got ||w_1||_1=-1.0.",
        ),
        (
            lambda: margin_bound_uniform([1.0], [1.0], [1.0, 1.0], delta=0.05, M=[1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: margin_bound_uniform([1.0], [1.0], [1.0], delta=0.05, M=[1.0, 1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: margin_bound_uniform_at(0, 2.0, [1.0], [1.0], m=5, delta=0.05, M=[1.0]),
            "the margin error and the ramp must be in [0, 1], got 2.0.",
        ),
        (
            lambda: margin_bound_empirical(0.0, [1.0], [1.0], m=5, delta=0.05, rho=1.0, M=[1.0, 1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: objective_bound(0.0, [-1.0], [1.0], m=5, delta=0.05, M=[1.0]),
            "||w_1||_1 must be finite and >= 0, got ||w_1||_1=-1.0.",
        ),
        (
            lambda: objective_bound(0.0, [1.0], [1.0, 1.0], m=5, delta=0.05, M=[1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: objective_bound(0.0, [1.0], [1.0], m=5, delta=0.05, M=[1.0, 1.0]),
            "l=1 layers need as many values, got 2.",
        ),
        (
            lambda: objective_bound(-1.0, [1.0], [1.0], m=5, delta=0.05, M=[1.0]),
            "the loss must be finite and >= 0, got the loss=-1.0.",
        ),
        (lambda: objective_bound(0.0, [1.0], [1.0], m=0, delta=0.05, M=[1.0]), "m must be an integer >= 1, got m=0."),
        (lambda: objective_bound(0.0, [1.0], [1.0], m=5, delta=5, M=[1.0]), "delta must be in (0, 1), got delta=5."),
        (
            lambda: objective_bound(0.0, [1.0], [1.0], m=5, delta=0.5, M=[1.0], rho=0),
            "rho must be > 0 and finite, got rho=0.",
        ),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value) == message


def test_overflow_is_named() -> None:
    for call, statement in [
        (lambda: theorem_1(0.0, [1.0], [1e300], rho=1e-10, m=5, delta=0.05, literally=True), "theorem-1"),
        (lambda: theorem_1_range(0.0, [1.0], [1e300], rho=1e-10, m=5, delta=0.05, M=1.0), "theorem-1-range"),
        (lambda: margin_bound(0.0, [1.0], [1e300], rho=1e-10, m=5, delta=0.05, M=1.0), "margin-bound"),
        (
            lambda: corollary_1(SPEC, 0.0, [1.0], r_inf=1e300, rho=1e-10, m=5, delta=0.05, literally=True),
            "corollary-1",
        ),
        (lambda: margin_bound_uniform_at(900, 0.0, [1.0], [1e300], m=5, delta=0.05, M=[1.0]), "margin-bound-uniform"),
        (lambda: margin_bound_uniform_at(0, 0.0, [1e10], [1.0], m=5, delta=0.05, M=[1e300]), "W_M"),
        (lambda: margin_bound_uniform_at(0, 0.0, [1e10], [1e300], m=5, delta=0.05, M=[1.0]), "margin-bound-uniform"),
        (
            lambda: margin_bound_uniform_at(14_540, 0.0, [1.0, 1.0], [0.0, 0.0], m=1, delta=0.05, M=[1.0, 1.0]),
            "margin-bound-uniform",
        ),
        (
            lambda: margin_bound_uniform_at(10**6, 0.0, [1.0], [1.0], m=5, delta=0.05, M=[1.0]),
            "margin-bound-uniform at j=1000000",
        ),
        (lambda: margin_bound_uniform([1.0], [1e10], [1.0], delta=0.05, M=[1e300]), "W_M"),
        (lambda: objective_bound(0.0, [1e10], [1e300], m=5, delta=0.05, M=[1.0]), "objective-bound"),
        (lambda: objective_bound(0.0, [1e10], [1.0], m=5, delta=0.05, M=[1e300]), "W_M"),
        (lambda: objective_bound(0.0, [1.0], [1e300], m=5, delta=0.05, M=[1.0], rho=1e-10), "objective-bound"),
        (
            lambda: objective_bound(0.0, [1.0] * 2, [1.0] * 2, m=5, delta=0.05, M=[1e300] * 2, rho=1e-10),
            "objective-bound",
        ),
        (lambda: margin_bound(0.0, [1.0] * 2, [0.0] * 2, rho=1e-10, m=5, delta=0.05, M=1e300), "margin-bound"),
        (lambda: theorem_1(0.0, [1.0] * 2, [0.0] * 2, rho=1e-308, m=1, delta=0.05, literally=True), "theorem-1"),
        (lambda: margin_bound(0.0, [1e308, 1e308], [1.0, 1.0], rho=1.0, m=5, delta=0.05, M=1.0), "W"),
    ]:
        with pytest.raises(OverflowError) as caught:
            call()
        assert str(caught.value) == f"{statement} exceeds the largest float, 1.8e308."
