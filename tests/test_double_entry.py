"""Double entry: every numeric formula against its symbolic twin, enclosed in balls, on random admissible inputs.

The two were written apart from the statements. A numeric value must lie within a few rounding errors of the ball; where
the twin has no value the numeric form has none, and where one reports an overflow so does the other.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adanet_theory.catalogue import Bound
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.complexity import rademacher
from adanet_theory.duality import dual_vector, guaranteed_decrease, layer_score
from adanet_theory.risk import generalization, multiclass
from adanet_theory.risk.margin import MarginBound
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified
from verify.suite.agreement import THEORY, Arguments, within

SMOOTH = ["relu", "tanh", "leaky_relu:0.1", "leaky_relu:-0.5", "abs", "identity", "elu", "gelu"]
OFFSET = ["sigmoid", "softplus"]


def nonnegative(largest: float) -> st.SearchStrategy[float]:
    return st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-3, largest))


@st.composite
def situations(draw: st.DrawFn) -> Arguments:
    """Beyond those of the suite: layers without weight, connections that skip, φ(0) != 0, one point, a tiny δ."""
    depth = draw(st.integers(1, 6))
    n = [draw(st.sampled_from([1, 2, 154, 10**6]) | st.integers(1, 5000)) for _ in range(depth + 1)]
    pairs = [(k, s) for k in range(2, depth + 1) for s in range(1, k) if s == k - 1 or draw(st.booleans())]
    Lambda = {pair: draw(nonnegative(4)) for pair in [(1, 0), *pairs]}
    names = draw(st.lists(st.sampled_from(SMOOTH + OFFSET), min_size=depth - 1, max_size=depth - 1))
    spec = NetworkSpec(n, Lambda, draw(st.sampled_from([1, 1.5, 2, 3, math.inf])), names)
    lists = [tuple(draw(st.lists(nonnegative(10), min_size=depth, max_size=depth))) for _ in range(3)]
    return Arguments(
        spec,
        *lists,
        m=draw(st.sampled_from([1, 2, 9600, 10**9]) | st.integers(1, 10**6)),
        rho=draw(st.sampled_from([1e-6, 0.1, 1.0]) | st.floats(1e-3, 3)),
        delta=draw(st.sampled_from([0.05, 1e-12]) | st.floats(1e-6, 0.999)),
        r=draw(nonnegative(100)),
        error=draw(st.floats(0, 1)),
        j=draw(st.integers(-50, 150)),
        d=draw(st.integers(0, 60)),
        c=draw(st.sampled_from([1.0, 1.45, 1.5, 2.0])),
        C=draw(st.integers(2, 1000)),
    )


def agree(number: float | None, ball: Any, what: str) -> None:
    assert within(number, ball), f"{what}: {number!r} against {ball}"


def near_a_jump(x: Arguments, M: float) -> bool:
    """Whether the ceiling in C could be decided differently in floats."""
    if x.spec.depth == 1:
        return False
    rho = x.rho / M
    units = 4 / rho**2 * math.log(rho**2 * x.m / math.log(x.spec.depth))
    return abs(units - round(units)) <= 1e-9 * (1 + abs(units))


def near_a_step(share: float) -> bool:
    """Whether the floor in j_k could be decided differently in floats; a share of 1 has j_k = 0 in both."""
    steps = -math.log(share) / math.log1p(0.05) if 0 < share < 1 - 1e-9 else 0.5
    return abs(steps - round(steps)) <= 1e-9 * (1 + abs(steps))


def is_decided(x: Arguments, bound: Bound) -> bool:
    if "w_norms" not in bound.reads:
        return True
    W_M = sum(w * M for w, M in zip(x.w, x.M, strict=True))
    if sum(x.w) == 0 or max(x.M) == 0 or (bound.scale == "W_M" and W_M == 0):
        return False
    if "unbounded" in bound.id:
        return not any(near_a_step(w / sum(x.w)) for w in x.w)
    return bound.id not in RANGES or not near_a_jump(x, RANGES[bound.id](x))


RANGES: dict[str, Callable[[Arguments], float]] = {
    "theorem-1": lambda x: 1.0,
    "corollary-1": lambda x: 1.0,
    "theorem-1-range": lambda x: max(x.M),
}
"""What ρ is divided by in C."""


def same_bound(x: Arguments, id: str, numeric: Callable[[], MarginBound]) -> None:
    try:
        balls = certified.enclosures(id, x.network)
    except certified.Undefined:
        assert numeric().raw is None
        return
    bound = numeric()
    assert bound.id == id
    assert set(bound.terms) == set(balls) - {"total"}
    for name, term in bound.terms.items():
        agree(term, balls[name], f"{name} of {id}")
    agree(bound.total, balls["total"], id)


def same_number(x: Arguments, id: str, numeric: Callable[[], float], **changes: Any) -> None:
    agree(numeric(), certified.evaluate(id, x.values | changes), id)


@settings(max_examples=150)
@given(situations())
def test_complexities(x: Arguments) -> None:
    spec, m, k = x.spec, x.m, x.spec.depth
    same_number(x, "lemma-2", lambda: rademacher.layered_complexity(spec, k, m=m, r_inf=x.r, literally=True))
    same_number(x, "h1-closed", lambda: rademacher.first_layer_closed(spec, m=m, r_rms=x.r))
    same_number(x, "lemma-2-peeled-offset", lambda: rademacher.peeled_complexity_offset(spec, k, m=m, r_rms=x.r))
    for layer, M_k in enumerate(rademacher.ranges(spec, r_sup=x.r), start=1):
        values = {name: value for name, value in x.values.items() if name != "M_k"}
        agree(M_k, certified.evaluate("range", values | {"k": layer}), "range")
    centred = NetworkSpec(
        spec.n, spec.Lambda, spec.p, [phi.name if phi.at_zero == 0 else "relu" for phi in spec.activations]
    )
    facts = certified.spec_values(centred)
    same_number(x, "lemma-2-peeled", lambda: rademacher.peeled_complexity(centred, k, m=m, r_rms=x.r), **facts)
    layered = NetworkSpec.layered(spec.n, [spec.bound(s, s - 1) for s in range(1, k + 1)], spec.p, centred.activations)
    facts = certified.spec_values(layered)
    R_1 = x.R[0] * spec.bound(1, 0)  # a family with Lambda_{1,0} = 0 has R_S(H_1) = 0
    same_number(
        x,
        "lemma-2-peeled-data",
        lambda: rademacher.peeled_complexity_data(layered, k, m=m, R_S_1=R_1, square_norms=x.r),
        **facts | {"sum_sq": x.r, "R": [R_1]},
    )
    if k >= 2:
        same_number(x, "lemma-1", lambda: rademacher.lemma_1(spec, k, x.R, literally=True))
        same_number(x, "lemma-1-corrected", lambda: rademacher.lemma_1_corrected(spec, k, x.R, m=m))
        same_number(x, "lemma-1-exact", lambda: rademacher.lemma_1_exact(spec, k, x.R), E_sup=[m * R for R in x.R])
        relu = NetworkSpec.layered(spec.n, [spec.bound(s, s - 1) for s in range(1, k + 1)], spec.p)
        lower = rademacher.depth_lower(relu, k - 1, x.R[k - 2])
        same_number(x, "depth-lower", lambda: lower, **certified.spec_values(relu) | {"k": k - 1})


@settings(max_examples=150)
@given(situations())
def test_risk_bounds(x: Arguments) -> None:
    x = replace(x, spec=NetworkSpec(x.spec.n, x.spec.Lambda, x.spec.p))
    for bound in THEORY:
        if is_decided(x, bound):
            try:
                value = bound.numeric(**x.arguments(bound))
            except OutsideTheoryError:
                assert bound.id == "theorem-1-range"
                assert x.delta < 1e-5
            else:
                same_bound(x, bound.id, lambda value=value: value)
                assert "rho" not in bound.reads or value.rho in (x.rho, None)  # None for the zero function
    if sum(w * M for w, M in zip(x.w, x.M, strict=True)) > 0:
        free = {"m": x.m, "delta": x.delta, "M": x.M}
        objective, many = generalization.objective_bound, multiclass.multiclass_objective_bound
        same_bound(x, "objective-bound", lambda: objective(x.error, x.w, x.R, **free))
        same_bound(x, "multiclass-objective-bound", lambda: many(x.error, x.w, x.R, C=x.C, **free))


@given(
    st.lists(st.floats(-3, 3).filter(lambda e: abs(e) > 1e-3), min_size=1, max_size=5),
    st.sampled_from([1.5, 2, 3]),
    st.floats(0.1, 3),
    st.floats(0.1, 10),
    st.integers(1, 1000),
)
def test_duality(eps: list[float], p: float, Lambda: float, S: float, m: int) -> None:
    values = {"s": 1, "p": p, "n": [len(eps)], "Lambda": {(1, 0): Lambda}, "eps": eps, "S": S, "m": m}
    for i, u_i in enumerate(dual_vector(eps, Lambda, p), start=1):
        ball = certified.evaluate("cvx-closed-form-corrected", values | {"i": i})
        assert u_i == pytest.approx(float(ball.mid()), rel=1e-12)
    g = layer_score(eps, Lambda, p, S / m)
    agree(g, certified.evaluate("cvx-score", values), "cvx-score")
    gain = guaranteed_decrease(g, 0.125, tau=0.25, mean_square=S)
    step = {"g_s": g, "Gamma": 0.125, "tau": 0.25, "h_ms": S}
    assert gain == pytest.approx(float(certified.evaluate("cvx-decrease", step).mid()), rel=1e-10)


def test_rho_uniform() -> None:
    for rho in (1e-6, 0.1, 0.5, 0.75):
        ball = certified.evaluate("rho-uniform", {"rho": rho, "m": 100})
        agree(generalization.rho_uniform_price(rho, 100), ball, "rho-uniform")


def test_an_overflow_is_reported_by_both() -> None:
    spec = NetworkSpec.layered((10**6, 10**6, 10**6), 1e200, math.inf)
    values = certified.spec_values(spec) | {"k": 2, "m": 5, "r_inf": 1, "r_rms": 1}
    with pytest.raises(OverflowError, match=r"^lemma-2 exceeds the largest float"):
        rademacher.layered_complexity(spec, 2, m=5, r_inf=1.0)
    with pytest.raises(OverflowError, match=r"^lemma-2 exceeds the largest float"):
        certified.upper("lemma-2", values)
