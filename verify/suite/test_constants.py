"""Every constant of every bound on a risk is checked: by its symbolic twin, by a reference value, or by both.

And the checks have power: each constant of each formula is halved in turn, and that must be noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adanet_theory.complexity import rademacher
from adanet_theory.risk import generalization, margin, multiclass, posterior, unbounded
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified
from verify.suite.agreement import THEORY, Arguments, bounds, disagreements, twins
from verify.suite.halved import unnoticed
from verify.suite.profiles import share

# The totals at REFERENCE_POINT, which is the point of the catalogue's examples, in 40 digits of mpmath.
REFERENCE = {bound.id: float(bound.examples[0].value) for bound in THEORY} | {"objective-bound": 0.3798856049596489}
SPARSE = 0.22125828925635869  # margin-bound-unbounded where a layer has no weight
REFERENCE_POINT = Arguments(
    NetworkSpec.layered((154, 5, 4, 1), [0.5, 0.25, 2.0], 2.0), (0.5, 1.5, 1.0), (0.01, 0.02, 0.03), (0.5, 1.0, 1.25)
)


@cache
def fixed_points() -> tuple[Arguments, ...]:
    """Some points at which all constants tell: one and several layers, other p, j on both sides of 0."""
    leaky = NetworkSpec.layered((3, 2, 5), [1.5, 0.75], 1.5, "leaky_relu:0.25")
    linear = NetworkSpec.layered((40, 2), 2.0, 1.0)
    return (
        REFERENCE_POINT,
        Arguments(leaky, (1.0, 3.0), (0.02, 0.05), (2.0, 1.0), 500, 0.3, 0.2, 1.5, 0.0, -4, 1, 1.25, 3),
        Arguments(linear, (2.0,), (0.01,), (1.5,), 20_000, 1.25, 0.01, 1.0, 0.25, 0, 0, 1.0, 2),
    )


@cache
def fixed_twins() -> tuple[dict[str, dict[str, Any]], ...]:
    return tuple(twins(x) for x in fixed_points())


def noticed() -> list[str]:
    """What is wrong with the bounds as they are now; an error of their arithmetic counts."""
    try:
        lines = [
            line for x, balls in zip(fixed_points(), fixed_twins(), strict=True) for line in disagreements(x, balls)
        ]
        totals = {id: bound.total for id, bound in bounds(REFERENCE_POINT).items()}
    except (ValueError, ArithmeticError, TypeError) as error:
        return [str(error)]
    sparse = unbounded.margin_bound_unbounded(0.125, [0.0, 1.0], [0.01, 0.02], rho=0.5, m=9600, delta=0.05).total
    if not math.isclose(sparse, SPARSE, rel_tol=1e-12):
        lines.append(f"margin-bound-unbounded without a layer = {sparse!r}, expected {SPARSE}")
    wrong = [id for id, value in REFERENCE.items() if not math.isclose(totals[id], value, rel_tol=1e-12)]
    return lines + [f"{id} = {totals[id]!r}, expected {REFERENCE[id]}" for id in wrong]


# Agreement


def test_the_bounds_agree_with_their_twins_and_with_the_references() -> None:
    assert noticed() == []


def test_the_twins_agree_with_the_references() -> None:
    """Were the same constant wrong in both forms, this would tell."""
    for id, value in REFERENCE.items():
        total = certified.evaluate(id, REFERENCE_POINT.network)
        assert float(total.mid()) == pytest.approx(value, rel=1e-12), id


sizes = st.floats(1e-3, 4)


@st.composite
def points(draw: st.DrawFn) -> Arguments:
    depth = draw(st.integers(1, 4))
    n = tuple(draw(st.lists(st.integers(1, 2000), min_size=depth + 1, max_size=depth + 1)))
    phi = draw(st.sampled_from(["relu", "leaky_relu:0.1", "abs", "tanh", "identity"]))
    Lambda = draw(st.lists(sizes, min_size=depth, max_size=depth))
    spec = NetworkSpec.layered(n, Lambda, draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf])), phi)
    w, R, M = (tuple(draw(st.lists(sizes, min_size=depth, max_size=depth))) for _ in range(3))
    return Arguments(
        spec, w, R, M,
        m=draw(st.integers(1, 10**6)), rho=draw(sizes), delta=draw(st.floats(1e-6, 0.999)), r=draw(sizes),
        error=draw(st.floats(0, 1)), j=draw(st.integers(-50, 150)), d=draw(st.integers(0, 20)),
        c=draw(st.sampled_from([1.0, 1.45, 1.5, 2.0])), C=draw(st.integers(2, 1000)),
    )  # fmt: skip


def decided(x: Arguments) -> bool:
    """Whether the radicand of C is positive and neither its ceiling nor the floor of a share rests on the last bits."""
    for w in x.w:
        steps = -math.log(w / math.fsum(x.w)) / math.log1p(0.05)
        if len(x.w) > 1 and abs(steps - round(steps)) <= 1e-9 * (1 + steps):
            return False
    for rho in (x.rho, x.rho / max(x.M)):
        if x.spec.depth > 1:
            units = 4 / rho**2 * math.log(rho**2 * x.m / math.log(x.spec.depth))
            if units < 1 or abs(units - round(units)) <= 1e-9 * units:
                return False
    return True


@share(2)
@given(points())
def test_numeric_and_symbolic_forms_agree(x: Arguments) -> None:
    assume(decided(x))
    assert disagreements(x, twins(x)) == []


# Power: each constant halved in turn

FUNCTIONS: tuple[Callable[..., Any], ...] = (
    generalization.confidence_term,
    generalization._printed,
    generalization.theorem_1,
    generalization.corollary_1,
    generalization.theorem_1_range,
    generalization.margin_bound,
    generalization.margin_bound_empirical,
    generalization.margin_bound_uniform_at,
    generalization.objective_bound,
    posterior.a_posteriori_at,
    posterior._complexity,
    posterior._confidence,
    multiclass.multiclass_margin_bound,
    multiclass.multiclass_margin_bound_uniform_at,
    multiclass._doubled,
    margin.growth,
    unbounded._terms,
    unbounded._log_prior,
    unbounded.unbounded_empirical,
    rademacher.lemma_1,
    rademacher.layered_complexity,
    rademacher.peeled_complexity,
    rademacher.peeled_complexity_offset,
    rademacher.first_layer_closed,
)


MODULES = (generalization, posterior, multiclass, margin, unbounded, rademacher)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_halved_constant_is_noticed(function: Callable[..., Any]) -> None:
    assert unnoticed(function, MODULES, noticed) == []


@pytest.mark.parametrize("name", ["PRIOR", "ETA"])
def test_a_halved_constant_of_the_grid_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """η is a default of the bounds, so it is halved where they are called."""
    if name == "PRIOR":
        for module in (generalization, posterior):
            with monkeypatch.context() as changed:
                changed.setattr(module, "PRIOR", margin.PRIOR / 2)
                assert noticed() != []
        return
    growth = margin.growth
    for module in (generalization, posterior, multiclass):
        with monkeypatch.context() as changed:
            changed.setattr(module, "growth", lambda eta, j, id: growth(eta / 2, j, id))
            assert noticed() != []
