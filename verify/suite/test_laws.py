"""How the bounds depend on their arguments: monotone where a larger family or a smaller sample can only be worse."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.complexity.rademacher import (
    first_layer_closed,
    layered_complexity,
    lemma_1_corrected,
    peeled_complexity,
    peeled_complexity_offset,
    ranges,
)
from adanet_theory.risk.generalization import (
    confidence_term,
    corollary_1,
    margin_bound,
    margin_bound_empirical,
    margin_bound_uniform_at,
    objective_bound,
    theorem_1,
)
from adanet_theory.risk.posterior import a_posteriori_at, a_posteriori_bounded_at
from adanet_theory.spec import NetworkSpec
from verify.suite.strategies import families
from verify.suite.tightness import below

ZERO = ("relu", "leaky_relu:0.1", "abs", "tanh", "identity")
deep = families(n_0=3, depth=3, activations=ZERO)
sizes = st.integers(1, 10**6)
radii = st.floats(0.1, 10)


def complexities(spec: NetworkSpec, m: int, r: float) -> dict[str, float]:
    """Every bound on R_S(H_3) or H*_3 that is a formula of the family, m and the size of Ψ alone."""
    return {
        "h1-closed": first_layer_closed(spec, m=m, r_rms=r),
        "lemma-2": layered_complexity(spec, 3, m=m, r_inf=r),
        "lemma-2-peeled": peeled_complexity(spec, 3, m=m, r_rms=r),
        "lemma-2-peeled-offset": peeled_complexity_offset(spec, 3, m=m, r_rms=r),
        "lemma-1-corrected": lemma_1_corrected(spec, 3, [r / math.sqrt(m), r], m=m),
        "range": ranges(spec, r_sup=r)[2],
    }


def with_bound(spec: NetworkSpec, pair: tuple[int, int], factor: float) -> NetworkSpec:
    return NetworkSpec(spec.n, {**spec.Lambda, pair: factor * spec.bound(*pair)}, spec.p, spec.activations)


def with_size(spec: NetworkSpec, k: int, more: int) -> NetworkSpec:
    n = tuple(n_k + more * (s == k) for s, n_k in enumerate(spec.n))
    return NetworkSpec(n, spec.Lambda, spec.p, spec.activations)


def assert_no_less(smaller: dict[str, float], larger: dict[str, float]) -> None:
    for name, value in smaller.items():
        assert value <= larger[name] * (1 + 1e-12), name


@given(deep, sizes, radii, st.floats(1, 3), st.data())
def test_a_larger_family_has_larger_bounds(
    spec: NetworkSpec, m: int, r: float, factor: float, data: st.DataObject
) -> None:
    """In every Λ_{k,s}, every width, p and r."""
    here = complexities(spec, m, r)
    pair = data.draw(st.sampled_from(sorted(spec.Lambda)))
    assert_no_less(here, complexities(with_size(spec, data.draw(st.integers(0, 2)), 2), m, r))
    assert_no_less(here, complexities(spec, m, factor * r))
    wider = NetworkSpec(spec.n, spec.Lambda, factor * spec.p, spec.activations)
    for name, value in complexities(wider, m, r).items():
        if name != "h1-closed":  # n_0^(1/q) grows with p, but C_q falls, and for small n_0 it wins
            assert here[name] <= value * (1 + 1e-12), name
    for name, value in complexities(with_bound(spec, pair, factor), m, r).items():
        # D_k may fall, but P_k² (log 2n_0 + log D_k) grows in P_k and in P_k D_k, as 2 log 2n_0 >= 1
        assert here[name] <= value * (1 + 1e-12), name


@given(deep, sizes, radii, st.integers(1, 10**6))
def test_a_larger_sample_has_smaller_bounds(spec: NetworkSpec, m: int, r: float, more: int) -> None:
    here, there = complexities(spec, m, r), complexities(spec, m + more, r)
    assert_no_less(there, here)
    for name in ("h1-closed", "lemma-2", "lemma-2-peeled", "lemma-2-peeled-offset"):
        assert there[name] * math.sqrt(m + more) == pytest.approx(here[name] * math.sqrt(m), rel=1e-12), name


@given(deep, sizes, radii, st.sampled_from([0.25, 0.5, 2.0, 16.0]))
def test_scaling_laws(spec: NetworkSpec, m: int, r: float, c: float) -> None:
    """All Λ_{k,k-1} of a layered family times c: c^k; Λ_{1,0} or r alone: c, where φ(0) = 0."""
    layered = NetworkSpec.layered(spec.n, [spec.bound(k, k - 1) for k in (1, 2, 3)], spec.p, spec.activations)
    here = complexities(layered, m, r)
    scaled = NetworkSpec.layered(spec.n, [c * spec.bound(k, k - 1) for k in (1, 2, 3)], spec.p, spec.activations)
    there = complexities(scaled, m, r)
    for name in ("lemma-2", "lemma-2-peeled"):
        assert there[name] == pytest.approx(c**3 * here[name], rel=1e-12), name
    assert there["h1-closed"] == pytest.approx(c * here["h1-closed"], rel=1e-12)
    by_r, by_first = complexities(layered, m, c * r), complexities(with_bound(layered, (1, 0), c), m, r)
    for name in ("h1-closed", "lemma-2", "lemma-2-peeled"):
        assert by_r[name] == pytest.approx(c * here[name], rel=1e-12), name
        assert by_first[name] == pytest.approx(c * here[name], rel=1e-12), name


@pytest.mark.claim("lemma-2-peeled")
@given(families(n_0=5, depth=4, activations=("relu",), layered=True), st.integers(1, 4), sizes)
def test_peeled_is_below_the_print_from_two_layers_on(spec: NetworkSpec, k: int, m: int) -> None:
    """sqrt(1 + (k-1) log(3/2)/log(2n_0)) <= 2^(k-1): for every k and n_0, equal at k = 1."""
    peeled, printed = peeled_complexity(spec, k, m=m, r_rms=1.0), layered_complexity(spec, k, m=m, r_inf=1.0)
    below(f"lemma-2-peeled <= lemma-2, k = {k}", peeled, printed, f"n_0 = {spec.n[0]}")


# Bounds on the risk

mixtures = st.lists(st.floats(0.05, 3), min_size=2, max_size=4)
deltas = st.floats(1e-6, 0.5)


def risks(w: list[float], R: float, *, rho: float, m: int, delta: float, M: float) -> dict[str, float]:
    """Every bound on the risk at ramp 1/8, with R_m(H_k) = R and M_k = M for all layers."""
    depth, common = len(w), {"rho": rho, "m": m, "delta": delta}
    fixed: dict[str, Any] = {
        "margin-bound": margin_bound(0.125, w, [R] * depth, M=M, **common),  # type: ignore[arg-type]
        "margin-bound-empirical": margin_bound_empirical(0.125, w, [R] * depth, M=[M] * depth, **common),  # type: ignore[arg-type]
        "margin-bound-uniform": margin_bound_uniform_at(3, 0.125, w, [R] * depth, m=m, delta=delta, M=[M] * depth),
        "objective-bound": objective_bound(0.125, w, [R] * depth, m=m, delta=delta, M=[M] * depth),
        "a-posteriori": a_posteriori_at(3, 0.125, 1.0, d=depth - 1, n_0=5, r_rms=R, m=m, delta=delta),
        "a-posteriori-bounded": a_posteriori_bounded_at(3, 0.125, 1.0, d=depth - 1, n_0=5, r_sup=R, m=m, delta=delta),
    }
    return {name: bound.total for name, bound in fixed.items()}


@given(mixtures, st.floats(0.001, 1), st.floats(0.05, 2), sizes, deltas, st.floats(0.5, 4), st.floats(1, 3))
def test_laws_of_the_bounds_on_the_risk(
    w: list[float], R: float, rho: float, m: int, delta: float, M: float, c: float
) -> None:
    """They fall with m and δ and grow with R_m; margin-bound also falls with ρ and grows with M."""
    here = risks(w, R, rho=rho, m=m, delta=delta, M=M)
    assert_no_less(risks(w, R, rho=rho, m=math.ceil(c * m), delta=delta, M=M), here)
    assert_no_less(risks(w, R, rho=rho, m=m, delta=min(c * delta, 0.99), M=M), here)
    assert_no_less(here, risks(w, c * R, rho=rho, m=m, delta=delta, M=M))
    for name in ("margin-bound", "margin-bound-empirical"):
        assert risks(w, R, rho=c * rho, m=m, delta=delta, M=M)[name] <= here[name] * (1 + 1e-12)
        assert here[name] <= risks(w, R, rho=rho, m=m, delta=delta, M=c * M)[name] * (1 + 1e-12)
        scaled = risks([c * w_k for w_k in w], R, rho=rho, m=m, delta=delta, M=M)
        assert scaled[name] == pytest.approx(here[name], rel=1e-12), "only f/W counts"


@pytest.mark.claim("theorem-1")
@given(mixtures, st.floats(0.001, 1), st.floats(0.05, 1), sizes, st.floats(1e-5, 0.5))
def test_margin_bound_is_below_theorem_1(w: list[float], R: float, rho: float, m: int, delta: float) -> None:
    depth = len(w)
    old = theorem_1(0.125, w, [R] * depth, rho=rho, m=m, delta=delta, M=[1.0] * depth)
    new = margin_bound(0.125, w, [R] * depth, rho=rho, m=m, delta=delta, M=1.0)
    below("margin-bound <= theorem-1", new.value, old.value, f"l = {depth}, ρ = {rho:.3g}, m = {m}, δ = {delta:.2g}")


@pytest.mark.claim("theorem-1-small-sample")
@given(st.floats(0.01, 1), st.integers(2, 50), sizes, deltas)
def test_the_print_is_undefined_only_where_it_says_nothing(rho: float, depth: int, m: int, delta: float) -> None:
    if confidence_term(rho, depth, m, delta) is None:
        assert 2 / rho * math.sqrt(math.log(depth) / m) >= 1


@pytest.mark.claim("corollary-1-doubling")
@given(families(n_0=3, depth=3, activations=("relu",), layered=True), st.integers(1, 3), st.floats(0.1, 1), sizes)
def test_corollary_1_is_loose_by_two_to_the_depth(spec: NetworkSpec, k: int, rho: float, m: int) -> None:
    w = [float(s == k) for s in (1, 2, 3)]
    printed = corollary_1(spec, 0.0, w, rho=rho, m=m, delta=0.05, r_inf=1.0, literally=True).terms["complexity"]
    needed = 4 / rho * layered_complexity(spec, k, m=m, r_inf=1.0)
    assert printed == pytest.approx(2**k * needed, rel=1e-12)
