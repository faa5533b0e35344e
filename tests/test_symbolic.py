"""The statements themselves: ids, terms, exact facts, and what they print."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import shutil
import subprocess
from random import Random
from typing import Any

import pytest
import sympy as sp

from adanet_theory.activations import activation
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified
from adanet_theory.twins.activations import activation_facts
from adanet_theory.twins.notation import B, DualRoot, L, Lambda, Recursion, WalkMean, eta, j, k, l, n, p, plain, s
from adanet_theory.twins.symbolic import STATEMENTS, recursion_P
from tests.refusals import refused

PRINTED = {"lemma-1", "lemma-2", "theorem-1", "corollary-1", "rho-uniform", "cvx-closed-form", "confidence-C"}
CORRECTED = {
    *("lemma-1-exact", "lemma-1-corrected", "h1-exact", "h1-closed", "depth-lower", "range"),
    *("lemma-2-peeled", "lemma-2-peeled-data", "lemma-2-peeled-offset"),
    *("theorem-1-range", "margin-bound", "margin-bound-uniform", "margin-bound-empirical"),
    *("margin-bound-unbounded", "unbounded-empirical"),
    *("a-posteriori", "a-posteriori-bounded", "objective-bound"),
    *("multiclass-margin-bound", "multiclass-margin-bound-uniform", "multiclass-objective-bound"),
    *("multiclass-a-posteriori", "multiclass-a-posteriori-bounded"),
    *("cvx-closed-form-corrected", "cvx-score", "cvx-decrease"),
}
FULL = ["complexity", "depth", "confidence"]
TERMS = {
    "theorem-1": ["margin_error", *FULL],
    "corollary-1": ["margin_error", *FULL],
    "theorem-1-range": ["margin_error", *FULL],
    "margin-bound": ["ramp", *FULL],
    "margin-bound-uniform": ["ramp", *FULL],
    "margin-bound-empirical": ["ramp", *FULL],
    "margin-bound-unbounded": ["ramp", "complexity", "confidence"],
    "unbounded-empirical": ["ramp", "complexity", "confidence"],
    "a-posteriori": ["ramp", "complexity", "confidence"],
    "a-posteriori-bounded": ["ramp", "complexity", "confidence"],
    "objective-bound": ["loss", *FULL],
    "multiclass-margin-bound": ["ramp", *FULL],
    "multiclass-margin-bound-uniform": ["ramp", *FULL],
    "multiclass-objective-bound": ["loss", *FULL],
    "multiclass-a-posteriori": ["ramp", "complexity", "confidence"],
    "multiclass-a-posteriori-bounded": ["ramp", "complexity", "confidence"],
}


def test_ids_relations_and_terms() -> None:
    assert set(STATEMENTS) >= PRINTED | CORRECTED
    for name, statement in STATEMENTS.items():
        assert statement.id == name
        assert (statement.where == "theory") == (name not in PRINTED)
        assert name not in PRINTED | CORRECTED or list(statement.terms) == TERMS.get(name, ["value"])
        assert statement.rhs == sum(statement.terms.values())
    lower = {name for name, statement in STATEMENTS.items() if statement.relation == ">="}
    assert lower == {"depth-lower", "cvx-decrease"}


def test_sums_run_over_the_layers_below_or_over_all_layers() -> None:
    # No evaluation would show a sum to k for one to k - 1: Lambda_{k,k} does not exist and counts as 0.
    for statement in STATEMENTS.values():
        parts = [*statement.terms.values(), *(definition.rhs for definition in statement.definitions)]
        for total in set().union(*(part.atoms(sp.Sum) for part in parts)):
            assert total.limits in ((sp.Tuple(s, 1, k - 1),), (sp.Tuple(k, 1, l),))


@pytest.mark.parametrize("name", ["a-posteriori", "a-posteriori-bounded"])
def test_the_margins_of_a_posteriori_form_a_grid_below_the_path_norm(name: str) -> None:
    assert STATEMENTS[name].definitions[0].rhs == B / (1 + eta) ** j


# Exact facts of activations


LEAKY = ["leaky_relu", "leaky_relu:0.1", "leaky_relu:-0.5", "leaky_relu:-2", "leaky_relu:3", "leaky_relu:1"]


@pytest.mark.parametrize(
    "name", ["relu", "tanh", "sigmoid", "softplus", "abs", "identity", "elu", "gelu", "silu", *LEAKY]
)
def test_exact_facts_agree_with_the_floats_of_spec(name: str) -> None:
    phi, facts = activation(name), activation_facts(name)
    floats = {
        "L": phi.lipschitz,
        "odd": phi.odd_lipschitz,
        "even": phi.even_lipschitz,
        "c": phi.contraction,
        "e": phi.peeling,
        "phi0": phi.at_zero,
        "sup": phi.sup,
    }
    assert {key: float(facts[key]) for key in floats} == pytest.approx(floats, rel=1e-15)
    assert [float(x) for x in facts["slopes"]] == pytest.approx(phi.slopes, rel=1e-15)
    for value in floats:
        assert facts[value].is_number
        assert not facts[value].has(sp.Float)


def test_the_parameter_of_leaky_relu_is_exact() -> None:
    assert activation_facts("leaky_relu:0.1")["c"] == sp.Rational(29, 20)
    assert activation_facts("leaky_relu")["e"] == sp.Rational(299, 200)
    computed = activation_facts(activation("leaky_relu:0.1"))["slopes"][0]
    assert computed == sp.Rational(3602879701896397, 2**55)


def test_the_steepest_slope_of_gelu_is_at_sqrt_2() -> None:
    x = sp.Symbol("x", real=True)
    slope = sp.diff(x * (1 + sp.erf(x / sp.sqrt(2))) / 2, x)
    assert sp.solveset(sp.simplify(sp.diff(slope, x) * sp.exp(x**2 / 2)), x, sp.S.Reals) == {-sp.sqrt(2), sp.sqrt(2)}
    assert sp.simplify(slope.subs(x, sp.sqrt(2)) - activation_facts("gelu")["L"]) == 0
    assert sp.simplify(slope.subs(x, -sp.sqrt(2)) - activation_facts("gelu")["slopes"][0]) == 0


@pytest.mark.parametrize("name", ["relu", "softplus", "abs", "elu", "gelu", "leaky_relu:0.1", "leaky_relu:-2"])
def test_peeling_constant_cannot_be_improved_by_another_odd_part(name: str) -> None:
    # Where the slope is b at x and a at -x (in the limit), an odd part of size alpha L and a rest of size (1-alpha) L
    # must both meet it: o' >= b - (1-alpha) L and o' <= a + (1-alpha) L, so 2 (1-alpha) L >= b - a.
    facts = activation_facts(name)
    a, b = facts["slopes"]
    alpha = 2 - facts["e"]
    assert sp.simplify(2 * (1 - alpha) * facts["L"] - (b - a)) == 0


def test_an_activation_of_ones_own_keeps_its_own_facts() -> None:
    own = dataclasses.replace(activation("relu"), name="swish", slopes=(-0.1, 1.1), odd_lipschitz=0.5, at_zero=-0.25)
    facts = activation_facts(own)
    assert facts["L"] == sp.Rational(*(1.1).as_integer_ratio())
    assert float(facts["e"]) == own.peeling
    assert facts["phi0"] == sp.Rational(1, 4)
    assert activation_facts(dataclasses.replace(own, name="relu"))["L"] == facts["L"]
    assert activation_facts(dataclasses.replace(own, name="leaky_relu:0.1"))["L"] == facts["L"]


def test_unknown_activation_is_refused() -> None:
    refused(lambda: activation_facts("swish"), "activation must be one of")
    refused(lambda: activation_facts("leaky_relu:inf"), "needs a finite number A")


# Functions and recursions


def test_dual_root_at_the_ends_of_p_and_for_an_empty_layer() -> None:
    assert DualRoot(n[1], sp.S.One) == 1
    assert DualRoot(n[1], sp.oo) == n[1]
    assert all(DualRoot(sp.S.Zero, q) == 0 for q in (sp.S.One, sp.Integer(2), sp.oo, p))
    assert plain(DualRoot(n[1], p)) == n[1] ** (1 - 1 / p)


@pytest.mark.parametrize("m", range(1, 10))
def test_walk_mean_is_the_mean_over_all_signs(m: int) -> None:
    mean = sp.Rational(sum(abs(sum(signs)) for signs in itertools.product((-1, 1), repeat=m)), m * 2**m)
    assert WalkMean(sp.Integer(m)).doit() == mean
    assert certified.evaluate(WalkMean(sp.Integer(m)), {}).contains(certified.evaluate(mean, {}).mid())


def test_recursion_sums_over_all_paths() -> None:
    values = {"p": 1, "n": [1, 1, 1, 1], "Lambda": {(1, 0): 2, (2, 1): 3, (3, 1): 5, (3, 2): 7}, "L": [11, 13]}
    assert isinstance(recursion_P, Recursion)
    assert recursion_P.at((1,)) == Lambda[1, 0] * DualRoot(n[0], p)
    assert recursion_P.at((2,)).has(L)
    # D_k = 1 throughout (e = 1), so that the statement is r_rms P_k sqrt(2 log(2)/m): P_3 = 2 (5 11 + 3 11 7 13).
    ball = certified.evaluate("lemma-2-peeled", {**values, "k": 3, "e": [1, 1], "r_rms": 1, "m": 1})
    expected = certified.evaluate(2 * (5 * 11 + 3 * 11 * 7 * 13) * sp.sqrt(2 * sp.log(2)), {})
    assert ball.overlaps(expected)


# Printing


def float_values(depth: int, p: float, seed: int) -> dict[str, Any]:
    """Values as floats and ints, of which JavaScript reads the same."""
    rng = Random(seed)
    many = [rng.uniform(0.1, 2) for _ in range(depth + 1)]
    pairs = [(1, 0), *((k, s) for k in range(2, depth + 2) for s in range(1, k))]
    spec = NetworkSpec(
        [rng.choice([1, 5, 154]), *(rng.choice([1, 3, 40]) for _ in range(depth + 1))],
        {pair: rng.uniform(0.1, 2) for pair in pairs if rng.random() < 0.9},
        p,
        [rng.choice(["relu", "tanh", "sigmoid", "softplus", "gelu"]) for _ in range(depth)],
    )
    facts = {key: {s: float(x) for s, x in spec_facts.items()} for key, spec_facts in facts_of(spec).items()}
    scalars = ("M", "r_inf", "r_rms", "r_sup", "B", "E_norm", "sum_sq", "S", "h_ms", "tau", "g_s", "Gamma")
    return {
        "n": list(spec.n),
        "Lambda": dict(spec.Lambda),
        "p": p,
        "l": depth,
        "k": depth,
        **facts,
        **{name: rng.uniform(0.1, 2) for name in scalars},
        **{name: rng.random() for name in ("margin_error", "ramp", "loss")},
        "w": many,
        "R": many[::-1],
        "M_k": many,
        "E_sup": many,
        "eps": [rng.uniform(-1, 1) for _ in range(154)],
        "rho": rng.choice([0.05, 0.3, 1.0]),
        "delta": 0.05,
        "eta": 0.05,
        "m": rng.choice([1, 7, 800, 9600, 10**9]),
        "j": rng.randint(-30, 30),
        "d": rng.randint(0, 5),
        "C": rng.randint(2, 1000),
        "s": 1,
        "i": 1,
    }


def facts_of(spec: NetworkSpec) -> dict[str, Any]:
    values = certified.spec_values(spec)
    return {key: values[key] for key in ("L", "c", "e", "phi0", "sup")}


def values_for(name: str, values: dict[str, Any]) -> dict[str, Any]:
    if "a-posteriori" in name:
        return {**values, "c": 1.5}
    return {**values, "eps": values["eps"][: values["n"][0]]}


def javascript_case(name: str, values: dict[str, Any]) -> dict[str, Any]:
    literal = {key: (str(x) if x == math.inf else x) for key, x in values.items()}
    literal["Lambda"] = {f"{k},{s}": x for (k, s), x in values["Lambda"].items()}
    return {"body": STATEMENTS[name].javascript(values["l"]), "values": literal}


CASES = [
    (name, values_for(name, float_values(depth, p, seed=100 * depth + i)))
    for depth in (1, 2, 3, 5)
    for i, p in enumerate([1, 1.5, 2, 3, math.inf])
    for name in STATEMENTS
]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_gives_the_certified_values() -> None:
    cases = [javascript_case(name, values) for name, values in CASES]
    program = (
        f"const cases = {json.dumps(cases)};"
        'console.log(JSON.stringify(cases.map(c => (new Function("v", c.body))(c.values))));'
    )
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, check=True)
    undefined = 0
    for (name, values), result in zip(CASES, json.loads(run.stdout), strict=True):
        try:
            expected = {term: float(x.mid()) for term, x in certified.enclosures(name, values).items()}
        except certified.Undefined:
            undefined += 1
            assert result["total"] is None, (name, values)
            continue
        got = {**result["terms"], "total": result["total"]}
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-300), (name, values)
    assert 0 < undefined < len(CASES) / 10


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_javascript_reads_only_what_it_is_given(name: str) -> None:
    body = STATEMENTS[name].javascript(3)
    known = set(CASES[-1][1]) | {"c"}
    assert set(re.findall(r"\bv\.(\w+)", body)) <= known
    assert "undefined" not in body
    assert body.rstrip().endswith("};")
