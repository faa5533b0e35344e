"""What the figures of the theory show, against the theory called on its own and against the audit's numbers."""

import math

import numpy as np
import pytest

from adanet_theory.complexity import rademacher
from adanet_theory.complexity.estimates import hidden_complexity, linear_complexity
from adanet_theory.spec import NetworkSpec
from figures import (
    bounds_against,
    closed_form_step,
    complexities,
    family,
    gallery,
    sigmoid_counterexample,
)
from tests.figure_data import NAMES, quick
from verify.claims.checks.lemma_1 import one_feature
from verify.claims.checks.objective import coordinates, tensor

# The theory


def test_the_base_family_has_range_one():
    for depth in range(2, 11):
        setting = family.FamilySetting(depth=depth)
        assert setting.ranges == [1.0] * depth
        assert family.is_in_range(setting)
    assert not family.is_in_range(family.FamilySetting(p=2.1))
    assert not family.is_in_range(family.FamilySetting(width=17))
    assert family.is_possible(family.FamilySetting(width=2))
    assert not family.is_possible(family.FamilySetting(width=1))
    assert not family.is_possible(family.FamilySetting(rho=1.0))  # a margin equal to rho counts as an error
    assert all(family.is_possible(family.FamilySetting(rho=rho)) for rho in family.margins(5))


def by_hand(m, depth, rho):
    """The bounds on the base family, where every product of Λ n^(1/q) is 1, written out."""
    log_n, root = math.log(2 * 144), math.sqrt
    deep, tail = 2 / rho * root(math.log(depth) / m), math.log(2 / 0.05) / (2 * m)
    C = root(math.ceil(4 / rho**2 * math.log(rho**2 * m / math.log(depth))) * math.log(depth) / m + tail)
    peeled = root(2 * (log_n + (depth - 1) * math.log(1.5)) / m)
    j = math.ceil(math.log(1 / rho) / math.log(1.05))
    scale, prior = 1.05**j, math.log((math.pi**2 / 3 - 1) / 0.05) + 2 * math.log(j + 1)
    A = 1 + 1.5 * 2.5 ** (depth - 2)
    return {
        "corollary-1": 2 / rho * 4**depth * root(2 * log_n / m) + deep + C,
        "theorem-1": 4 / rho * 2**depth * root(log_n / (2 * m)) + deep + C,
        "theorem-1-range": 4 / rho * 2**depth * root(log_n / (2 * m)) + deep + C,
        "margin-bound": 2 / rho * peeled + 2 / rho * root(2 * math.log(depth) / m) + root(math.log(20) / (2 * m)),
        "margin-bound-unbounded": 2 / rho * peeled + root((math.log(20 * 4) + (depth - 1) * math.log(2)) / (2 * m)),
        "margin-bound-uniform": 2 * scale * (peeled + root(2 * math.log(depth) / m)) + root(prior / (2 * m)),
        "a-posteriori-bounded": 2 * scale * root(2 * math.log(2 * 144 * A) / m)
        + root((prior + math.log(depth * (depth + 1))) / (2 * m)),
    }


@pytest.mark.parametrize("variable", ["m", "depth", "rho"])
def test_bounds_against_shows_each_bound_at_each_value(variable):
    data = quick("bounds-against")
    for i, value in enumerate(data[variable]["values"]):
        at = {"m": 100_000, "depth": 3, "rho": 0.1, variable: value}
        if at["m"] * at["rho"] ** 2 <= 4 * math.log(at["depth"]):
            continue
        expected = by_hand(at["m"], at["depth"], at["rho"])
        shown = {name: raw[i] for name, raw in data[variable]["raw"].items() if name in expected}
        assert shown == pytest.approx(expected, rel=1e-12)


def test_bounds_against_p_and_width_scale_the_complexity():
    data = quick("bounds-against")
    for variable in ("p", "width"):
        for i, value in enumerate(data[variable]["values"]):
            p, n = (value, 16) if variable == "p" else (2.0, value)
            M = (144 * n**2) ** (1 - 1 / p) / (12 * 16)
            rest = by_hand(100_000, 3, 0.1)["corollary-1"] - 20 * 64 * math.sqrt(2 * math.log(288) / 100_000)
            complexity = data[variable]["raw"]["corollary-1"][i] - rest
            assert complexity == pytest.approx(20 * 64 * M * math.sqrt(2 * math.log(288) / 100_000), rel=1e-9)
            assert M > 0.1
            assert data[variable]["in_range"][i] == (value <= (2 if variable == "p" else 16))


def test_the_vacuity_map_holds_the_first_m_below_one():
    data = quick("vacuity-map")
    known = by_hand(10_000, 3, 0.1)
    assert set(known) <= set(data["m_needed"])
    for name in known:
        cells = data["m_needed"][name]
        for i, rho in enumerate(data["rho"]):
            for j, depth in enumerate(data["depth"]):
                m = cells[i][j]
                assert by_hand(m, depth, rho)[name] < 1
                assert m * rho**2 < 8 or by_hand(m - 1, depth, rho)[name] >= 1


def test_the_sigmoid_curve_passes_through_the_audits_points():
    data = quick("sigmoid-counterexample")
    at = {round(x, 12): i for i, x in enumerate(data["Lambda"])}
    assert [round(data["exact"][at[x]], 5) for x in (0.0, 0.1)] == [0.13672, 0.14052]
    assert [round(data["lemma-1"][at[x]], 5) for x in (0.0, 0.1)] == [0.0, 0.03046]
    assert [round(data["lemma-1-corrected"][at[x]], 5) for x in (0.0, 0.1)] == [0.13672, 0.14053]
    assert data["lemma-2"][0] == 0
    crossing = sigmoid_counterexample.crossing(data)
    spec = NetworkSpec.layered((1, 1, 1), [crossing, 1.0], 2.0, "sigmoid")
    Psi = one_feature()
    printed = 2 * linear_complexity(Psi, spec).mean
    assert printed == pytest.approx(hidden_complexity(Psi, spec).mean, abs=1e-5)
    assert f"{crossing:.3f}" in sigmoid_counterexample.caption(data)


def test_the_closed_form_step_against_the_audits_decreases():
    two_points = tensor([[3.0, 1.0], [-1.0, 1.0]])
    start = math.log1p(math.e)
    closed, exact = closed_form_step.decreases(two_points, tensor([1.0, 1.0]), 0.1, 2.0)
    assert (round(start - closed, 4), round(start - exact, 4)) == (0.8197, 0.412)
    for K, expected in ((10, "0.0132"), (100, "0.00014"), (1000, "1.4e-06")):
        closed, exact = closed_form_step.decreases(*coordinates(K), 1e-3, 1.0)
        assert f"{closed:.{3 if K == 10 else 2}g}" == expected
        assert round(exact, 4) == 1.3035


def test_no_step_gains_more_than_the_exact_one_and_none_beyond_the_threshold():
    data = quick("closed-form-step")
    for shares in (*data["random"].values(), *data["family"].values()):
        assert all(0 < share <= 1 + 1e-9 for share in shares)
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(9, 3)), rng.choice([-1.0, 1.0], size=9)
    for p in closed_form_step.P.values():
        g = closed_form_step.threshold(Z, y, p)
        assert closed_form_step.decreases(tensor(Z), tensor(y), 1.001 * g, p) == pytest.approx((0, 0), abs=1e-12)
        assert min(closed_form_step.decreases(tensor(Z), tensor(y), 0.99 * g, p)) > 0


def test_complexities_are_those_of_the_sample():
    data = quick("complexities")
    Psi = complexities.sample(data["m"])
    for name, p in complexities.P.items():
        spec, rows = (
            complexities.family(p, complexities.N_0, complexities.WIDTH, complexities.DEPTH),
            data["rows"][name],
        )
        R = [linear_complexity(Psi, spec).mean, hidden_complexity(Psi, spec).mean]
        assert [row["exact"] for row in rows] == [True, True, False, False]
        assert [row["upper"] for row in rows[:2]] == pytest.approx(R, rel=1e-9)
        assert rows[1]["lemma-1"] == pytest.approx(2 * R[0], rel=1e-9)
        assert rows[1]["lemma-1-corrected"] == pytest.approx(1.5 * R[0], rel=1e-9)
        for row in rows:
            assert row["lower"] <= row["upper"]
            r_inf = float(np.abs(Psi).max())
            printed = rademacher.layered_complexity(spec, row["k"], m=data["m"], r_inf=r_inf)
            assert row["lemma-2"] == pytest.approx(printed, rel=1e-9)


def test_the_family_of_the_complexities_has_unit_steps():
    for p in (1.0, 2.0, math.inf):
        spec = complexities.family(p, complexities.N_0, complexities.WIDTH, complexities.DEPTH)
        assert isinstance(spec, NetworkSpec)
        assert [spec.bound(k, k - 1) * spec.root(k - 1) for k in range(1, 5)] == pytest.approx([1] * 4, rel=1e-12)


def test_captions_state_the_numbers():
    caption = bounds_against.caption(quick("bounds-against"))
    for name, value in by_hand(100_000, 3, 0.1).items():
        assert f"{name} {value:.3g}" in caption
    for name in NAMES:
        assert gallery.module(name).caption(quick(name)).endswith(".")
