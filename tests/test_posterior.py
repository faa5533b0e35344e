"""The bound after the fact: its path norm by enumerating paths, and its best margin."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.risk.margin import ramp_loss
from adanet_theory.risk.posterior import (
    a_posteriori,
    a_posteriori_at,
    a_posteriori_bounded,
    a_posteriori_bounded_at,
    a_posteriori_data_at,
    path_norm,
)

REFERENCE = {"d": 1, "n_0": 154, "m": 9600, "delta": 0.05}


def test_b_k_add_up_to_A_d() -> None:
    """b_1 = 1, b_k = c Σ_{s<k} b_s, A_d = 1 + c Σ_{s<=d} b_s, by recursion against the closed form in the bound."""
    for c in (1.0, 1.5, 2.0):
        b: list[float] = []
        for d in range(8):
            A_d = 1 + c * sum(b)
            bound = a_posteriori_at(0, 0.0, 1.0, d=d, n_0=3, r_rms=1.0, m=50, delta=0.1, c=c)
            assert bound.terms["complexity"] == pytest.approx(2 * math.sqrt(2 * math.log(6 * A_d) / 50))
            b.append(c * sum(b) if b else 1.0)


def forward(hidden, output, Psi, depth):
    h = {}
    for k in range(1, depth + 1):
        reads = [Psi @ hidden[1, 0].T] if k == 1 else []
        reads += [np.maximum(h[s], 0) @ hidden[k, s].T for s in range(1, k) if (k, s) in hidden]
        h[k] = sum(reads)
    return sum(h[k] @ output[k] for k in output)


def enumerated(hidden, output, n, depth) -> float:
    """The path norm by walking every path from a feature to the output; the last two maps are one."""
    total = 0.0
    for length in range(depth):
        for route in itertools.combinations(range(1, depth), length):
            for units in itertools.product(*[range(n[s]) for s in route]):
                top_layer, top = (route[-1], units[-1]) if route else (0, None)
                layers = [k for k in output if (k, top_layer) in hidden]
                if route:
                    v = abs(sum(hidden[k, top_layer][:, top] @ output[k] for k in layers))
                    for (s, i), (k, t) in itertools.pairwise(zip(route, units, strict=True)):
                        v *= abs(hidden[k, s][t, i]) if (k, s) in hidden else 0.0
                    total += v * np.abs(hidden[1, 0][units[0]]).sum() if route[0] == 1 else 0.0
                elif layers:
                    total += np.abs(sum(hidden[k, 0].T @ output[k] for k in layers)).sum()
    return total


@given(st.integers(1, 4), st.integers(0, 10**6), st.floats(0.3, 1))
def test_path_norm_counts_paths_and_bounds_the_network(depth: int, seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    n = [3, *rng.integers(1, 4, size=depth)]
    pairs = [(1, 0)] + [
        (k, s) for k in range(2, depth + 1) for s in range(1, k) if s == k - 1 or rng.random() < density
    ]
    hidden = {(k, s): rng.normal(size=(n[k], n[s])) for k, s in pairs}
    output = {k: rng.normal(size=n[k]) for k in range(1, depth + 1) if k == depth or rng.random() < density}
    B = path_norm(hidden, output, depth=depth)
    assert pytest.approx(enumerated(hidden, output, n, depth), rel=1e-10) == B
    Psi = rng.uniform(-1, 1, size=(50, 3))
    assert np.abs(forward(hidden, output, Psi, depth)).max() <= B * (1 + 1e-12)


def test_path_norm_of_missing_parts() -> None:
    assert path_norm({}, {1: np.ones(2)}, depth=1) == 0
    assert path_norm({(2, 1): np.ones((1, 2))}, {2: np.ones(1)}, depth=2) == 0
    assert path_norm({(1, 0): np.ones((2, 3))}, {}, depth=1) == 0
    assert path_norm({(1, 0): np.ones((2, 3))}, {1: np.array([1.0, -1.0])}, depth=1) == 0  # collapsed: they cancel
    with pytest.raises(OverflowError, match=r"^the path norm exceeds the largest float"), np.errstate(over="ignore"):
        path_norm({(1, 0): np.full((1, 2), 1e308)}, {1: np.ones(1)}, depth=1)


@given(st.lists(st.floats(-1, 3), min_size=1, max_size=30), st.floats(0.1, 20), st.integers(0, 3))
def test_the_best_margin(margins, B, d) -> None:
    """c and η are not the defaults, and m is large enough for the bounds to say something."""
    margins = np.repeat(margins, 500)
    shared = {"d": d, "n_0": 5, "delta": 0.05, "c": 1.25, "eta": 0.1}
    best = a_posteriori(margins, B, r_rms=0.01, **shared)
    bounded = a_posteriori_bounded(margins, B, r_sup=0.01, **shared)
    tried, tried_bounded = [], []
    for j in range(-40, 90):
        ramp = ramp_loss(margins, B / 1.1**j)
        tried.append(a_posteriori_at(j, ramp, B, r_rms=0.01, m=len(margins), **shared).raw)
        tried_bounded.append(a_posteriori_bounded_at(j, ramp, B, r_sup=0.01, m=len(margins), **shared).raw)
    assert best.value == pytest.approx(min(1, *tried), abs=1e-12)
    assert bounded.value == pytest.approx(min(1, *tried_bounded), abs=1e-12)


def test_defaults_and_the_zero_network() -> None:
    assert a_posteriori_at(3, 0.0, 1.0, r_rms=1.0, **REFERENCE) == a_posteriori_at(
        3, 0.0, 1.0, r_rms=1.0, c=1.5, eta=0.05, **REFERENCE
    )
    shared = {"d": 1, "n_0": 2, "delta": 0.05}
    for bound, id in [
        (a_posteriori([0.0], 0.0, r_rms=1.0, **shared), "a-posteriori"),
        (a_posteriori_bounded([0.0], 0.0, r_sup=1.0, **shared), "a-posteriori-bounded"),
    ]:
        assert (bound.id, bound.raw) == (id, 1.0)
    margins = [3.0] * 4000
    assert a_posteriori(margins, 3.0, r_rms=1.0, **shared).j == a_posteriori(margins, 3.0, r_rms=1.0, c=1.5, **shared).j
    for eta in (0.05, 0.5):
        best = a_posteriori(margins, 9.0, r_rms=1.0, eta=eta, **shared)
        assert best.rho == pytest.approx(9.0 / (1 + eta) ** best.j)
        best = a_posteriori_bounded(margins, 9.0, r_sup=1.0, eta=eta, **shared)
        assert best.rho == pytest.approx(9.0 / (1 + eta) ** best.j)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ramp": 2.0}, "the margin error and the ramp must be in [0, 1], got 2.0."),
        ({"B": 0.0}, "B must be finite and > 0, got B=0.0."),
        ({"B": math.inf}, "B must be finite and > 0, got B=inf."),
        ({"d": -1}, "d must be >= 0, got d=-1."),
        ({"n_0": 0}, "n_0 must be >= 1, got n_0=0."),
        ({"r": -1.0}, "the bound on Psi must be finite and >= 0, got the bound on Psi=-1.0."),
        ({"m": 0}, "m must be an integer >= 1, got m=0."),
        ({"delta": 0.0}, "delta must be in (0, 1), got delta=0.0."),
        ({"c": 0.5}, "c must be >= 1, got c=0.5."),
        ({"c": math.inf}, "c must be >= 1, got c=inf."),
    ],
)
def test_refusals(change: dict, message: str) -> None:
    good = {"j": 0, "ramp": 0.0, "B": 1.0, "r": 1.0, "c": 1.5} | REFERENCE
    for statement, r in [(a_posteriori_at, "r_rms"), (a_posteriori_bounded_at, "r_sup")]:
        arguments = good | change
        arguments[r] = arguments.pop("r")
        with pytest.raises(ValueError) as caught:
            statement(**arguments)
        assert str(caught.value) == message


def test_overflow_is_named() -> None:
    for statement, r, id in [
        (a_posteriori_at, "r_rms", "a-posteriori"),
        (a_posteriori_bounded_at, "r_sup", "a-posteriori-bounded"),
    ]:
        with pytest.raises(OverflowError, match=rf"^{id} at j=20000 exceeds the largest float"):
            statement(20_000, 0.0, 1.0, **{r: 1.0}, **REFERENCE)
        with pytest.raises(OverflowError, match=rf"^{id} exceeds the largest float"):
            statement(14_000, 0.0, 1.0, **{r: 1e100}, **REFERENCE)


def test_the_data_form_has_its_name_margin_and_refusals() -> None:
    fixed = {"d": 1, "r_rms": 0.6, "m": 900, "delta": 0.05}
    value = a_posteriori_data_at(7, 0.1, 3.0, E_Z=42.0, **fixed)
    assert (value.id, value.j, value.rho) == ("a-posteriori-data", 7, pytest.approx(3 / 1.05**7))
    for j, E_Z, line in [
        (7, -1.0, r"E Z_1 must be finite and >= 0, got E Z_1=-1\.0\."),
        (100_000, 42.0, r"a-posteriori-data at j=100000 exceeds the largest float"),
        (200, 1.7e308, r"a-posteriori-data exceeds the largest float"),
    ]:
        with pytest.raises((ValueError, OverflowError), match=f"^{line}"):
            a_posteriori_data_at(j, 0.1, 3.0, E_Z=E_Z, **fixed)


def test_the_constant_of_the_relu_is_taken_where_none_is_given() -> None:
    margins, fixed = np.linspace(0.1, 2, 900), {"d": 2, "n_0": 5, "delta": 0.05}
    assert a_posteriori(margins, 1.0, r_rms=1.0, **fixed) == a_posteriori(margins, 1.0, r_rms=1.0, c=1.5, **fixed)
    bounded = [a_posteriori_bounded(margins, 1.0, r_sup=1.0, **fixed, **c) for c in ({}, {"c": 1.5})]
    assert bounded[0] == bounded[1]
