"""Lemmas 1-2, printed, corrected and peeled: against brute force over signs and weights, and at their edges."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st
from mpmath import mp, mpf

from adanet_theory.checks import OutsideTheoryError
from adanet_theory.complexity.rademacher import (
    depth_lower,
    first_layer_closed,
    layered_complexity,
    lemma_1,
    lemma_1_corrected,
    lemma_1_exact,
    mean_absolute_sign_sum,
    peeled_complexity,
    peeled_complexity_data,
    peeled_complexity_offset,
    peeling_factors,
    ranges,
)
from adanet_theory.norms import conjugate, p_norm
from adanet_theory.spec import NetworkSpec
from tests.refusals import refused

P = st.sampled_from([1, 1.5, 2, 3, math.inf])
PHI = st.sampled_from(["relu", "tanh", "leaky_relu:0.1", "abs", "identity", "elu", "gelu", "sigmoid", "softplus"])
samples = st.lists(
    st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=1, max_size=1), min_size=2, max_size=5
)


def signs(m: int) -> np.ndarray:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=m)))


def brute_first_layer(Psi: np.ndarray, Lambda: float, p: float) -> float:
    return Lambda * float(np.mean([p_norm(s @ Psi, conjugate(p)) for s in signs(len(Psi))])) / len(Psi)


def brute_unit(phi, x: np.ndarray, Lambda: float) -> float:
    """(1/m) E sup_{|u| <= Λ} |Σ σ_i φ(u x_i)| for one feature, on a grid of u that holds the ends: a lower value."""
    u = np.linspace(-Lambda, Lambda, 401)
    return float(np.abs(signs(len(x)) @ phi(np.outer(x, u))).max(axis=1).mean()) / len(x)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7, 10])
def test_mu_is_the_mean_absolute_sign_sum(m: int) -> None:
    assert mean_absolute_sign_sum(m) == pytest.approx(np.abs(signs(m).sum(axis=1)).mean() / m, rel=1e-14)


@pytest.mark.parametrize("m", [999, 1000, 1001, 1002, 1003, 10_000, 10**9, 10**9 + 1])
def test_mu_of_large_samples(m: int) -> None:
    mp.dps = 40
    exact = mp.gamma(mpf(m // 2) + mpf(1) / 2) / mp.gamma(mpf(m // 2) + 1) / mp.sqrt(mp.pi)
    assert mean_absolute_sign_sum(m) == pytest.approx(float(exact), rel=1e-14)
    assert mean_absolute_sign_sum(m) <= 1 / math.sqrt(m)


@given(samples, PHI, P, st.floats(0, 3), st.floats(0, 2), st.integers(1, 4))
def test_no_bound_is_below_the_brute_value(points, name, p, Lambda_1, Lambda_2, n_1) -> None:
    Psi = np.array(points)
    m = len(Psi)
    spec = NetworkSpec.layered((1, n_1, 1), [Lambda_1, Lambda_2], p, name)
    phi = spec.phi(1)
    R_1 = brute_first_layer(Psi, Lambda_1, p)
    lower = lemma_1_exact(spec, 2, [brute_unit(phi, Psi[:, 0], Lambda_1)])
    r_rms = float(np.sqrt((Psi**2).mean()))
    slack = 1e-9
    bounds = {
        "lemma-1-corrected": lemma_1_corrected(spec, 2, [R_1], m=m),
        "lemma-2-peeled-offset": peeled_complexity_offset(spec, 2, m=m, r_rms=r_rms),
    }
    if phi.at_zero == 0:
        bounds["lemma-2-peeled"] = peeled_complexity(spec, 2, m=m, r_rms=r_rms)
        bounds["data form"] = peeled_complexity_data(spec, 2, m=m, R_S_1=R_1, square_norms=float((Psi**2).sum()))
        if phi.lipschitz <= 1:
            bounds["lemma-1"] = lemma_1(spec, 2, [R_1])
            bounds["lemma-2"] = layered_complexity(spec, 2, m=m, r_inf=float(np.abs(Psi).max()))
    for bound in bounds.values():
        assert lower <= bound + slack
    if bounds["lemma-1-corrected"] > 0.01:
        target(lower / bounds["lemma-1-corrected"])


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=8), P)
def test_first_layer_closed_is_above_the_exact_value(points, p) -> None:
    Psi = np.array(points)
    spec = NetworkSpec.layered((3, 1), 0.7, p)
    r_rms = float(np.sqrt((Psi**2).mean(axis=0).max()))
    closed = first_layer_closed(spec, m=len(Psi), r_rms=r_rms)
    assert brute_first_layer(Psi, 0.7, p) <= closed + 1e-12
    assert closed <= peeled_complexity(spec, 1, m=len(Psi), r_rms=r_rms) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("p", "n_0", "constant"),
    [
        (2, 7, "1"),
        (1.5, 7, "sqrt(2) * (gamma(2) / sqrt(pi)) ** (mpf(1) / 3)"),
        (1.25, 1000, "sqrt(2) * (gamma(3) / sqrt(pi)) ** (mpf(1) / 5)"),
        (1.1, 1, "sqrt(2 * log(2))"),
        (1.01, 7, "sqrt(2 * log(14))"),
        (1, 7, "sqrt(2 * log(14))"),
        (math.inf, 7, "1"),
    ],
)
def test_first_layer_constants(p: float, n_0: int, constant: str) -> None:
    C_q = float(eval(constant, {name: getattr(mp, name) for name in ("sqrt", "gamma", "pi", "log", "mpf")}))
    spec = NetworkSpec.layered((n_0, 1), 1.25, p)
    root = n_0 ** (1 - 1 / p)
    assert first_layer_closed(spec, m=36, r_rms=0.5) == pytest.approx(0.5 * 1.25 * root * C_q / 6, rel=1e-12)


@pytest.mark.claim("lemma-1")
def test_the_sigmoid_breaks_lemma_1() -> None:
    """Audit C20, m = 8: with Λ_{1,0} = 0 the print says 0, the truth is .13672 (sigmoid) and .18953 (softplus)."""
    x = np.array([0.3, -0.8, 1.0, 0.5, -0.1, 0.9, -0.4, 0.7])
    for name, Lambda, true in [
        ("sigmoid", 0.0, 0.13672),
        ("sigmoid", 0.1, None),
        ("softplus", 0.0, 0.18953),
        ("softplus", 0.1, None),
    ]:
        spec = NetworkSpec.layered((1, 1, 1), [Lambda, 1.0], 2, name)
        R_1 = brute_first_layer(x[:, None], Lambda, 2)
        value = lemma_1_exact(spec, 2, [brute_unit(spec.phi(1), x, Lambda)])
        assert 3 * lemma_1(spec, 2, [R_1], literally=True) < value
        assert layered_complexity(spec, 2, m=8, r_inf=1.0, literally=True) < value or Lambda > 0
        assert value <= lemma_1_corrected(spec, 2, [R_1], m=8) + 1e-12
        if true is not None:
            assert value == pytest.approx(true, abs=5e-6)
            assert lemma_1_corrected(spec, 2, [R_1], m=8) == pytest.approx(true, abs=5e-6)
        for call in (lambda: lemma_1(spec, 2, [0.5]), lambda: layered_complexity(spec, 2, m=8, r_inf=1.0)):  # noqa: B023
            with pytest.raises(OutsideTheoryError) as caught:
                call()
            assert caught.value.assumption == "phi-zero"
    gelu = NetworkSpec.layered((1, 1, 1), 1.0, 2, "gelu")
    for call in (lambda: lemma_1(gelu, 2, [0.5]), lambda: layered_complexity(gelu, 2, m=8, r_inf=1.0)):
        with pytest.raises(OutsideTheoryError) as caught:
            call()
        assert caught.value.assumption == "lipschitz"
    for call in (
        lambda: peeled_complexity(NetworkSpec.layered((1, 1, 1), 1.0, 2, "sigmoid"), 2, m=8, r_rms=1.0),
        lambda: peeled_complexity_data(
            NetworkSpec.layered((1, 1, 1), 1.0, 2, "sigmoid"), 2, m=8, R_S_1=1.0, square_norms=1.0
        ),
    ):
        with pytest.raises(OutsideTheoryError):
            call()


def test_constants_of_lemma_2() -> None:
    """Audit C28, n_0 = 154, in units of Π Λ N^(1/q) r/sqrt(m); its peeled values pay a factor 2 per layer, as |x|."""
    spec = NetworkSpec.layered((154, 1, 1, 1, 1), 1.0, 1)
    assert [layered_complexity(spec, k, m=1, r_inf=1.0) for k in (2, 3, 4)] == pytest.approx(
        [6.77, 13.54, 27.08], abs=5e-3
    )
    assert layered_complexity(spec, 2, m=9, r_inf=1.0) == pytest.approx(layered_complexity(spec, 2, m=1, r_inf=1.0) / 3)
    doubled = NetworkSpec.layered((154, 1, 1, 1, 1), 1.0, 1, "abs")  # |x| pays the factor 2
    assert [peeled_complexity(doubled, k, m=1, r_rms=1.0) for k in (2, 3, 4)] == pytest.approx(
        [3.58, 3.77, 3.95], abs=5e-3
    )
    relu = [math.sqrt(2 * (math.log(308) + (k - 1) * math.log(1.5))) for k in (2, 3, 4)]
    assert [peeled_complexity(spec, k, m=1, r_rms=1.0) for k in (2, 3, 4)] == pytest.approx(relu, rel=1e-14)


def test_dense_peeling_by_hand() -> None:
    """Two hidden layers and a skip: tanh below (odd), |x| above (price 2)."""
    spec = NetworkSpec((4, 9, 16, 1), {(1, 0): 0.5, (2, 1): 2.0, (3, 1): 0.25, (3, 2): 3.0}, 2, ["tanh", "abs"])
    P_1 = 0.5 * 2
    P_2 = 2.0 * 3 * P_1
    P_3 = 0.25 * 3 * P_1 + 3.0 * 4 * P_2
    D_3 = (0.25 * 3 * P_1 * 1 * 1 + 3.0 * 4 * P_2 * 2 * 1) / P_3
    assert peeling_factors(spec) == [(P_1, 1.0), (P_2, 1.0), (P_3, pytest.approx(D_3))]
    expected = 0.7 * P_3 * math.sqrt(2 * (math.log(8) + math.log(D_3)) / 50)
    assert peeled_complexity(spec, 3, m=50, r_rms=0.7) == pytest.approx(expected)
    data = P_3 / P_1 * (0.3 + 0.5 / 50 * math.sqrt(2 * math.log(D_3) * 12.0))
    assert peeled_complexity_data(spec, 3, m=50, R_S_1=0.3, square_norms=12.0) == pytest.approx(data)
    Q_1 = 0.7 * P_1
    Q_2 = 6 * Q_1
    Q_3 = 0.75 * Q_1 + 12 * Q_2
    offset = Q_3 * math.sqrt(2 * (math.log(8) + 2 * math.log(2)) / 50)
    assert peeled_complexity_offset(spec, 3, m=50, r_rms=0.7) == pytest.approx(offset)
    assert lemma_1(spec, 3, [0.1, 0.2]) == pytest.approx(2 * (0.25 * 3 * 0.1 + 3 * 4 * 0.2))
    assert lemma_1_corrected(spec, 3, [0.1, 0.2], m=50) == pytest.approx(0.25 * 3 * 0.1 + 3 * 4 * 2 * 0.2)
    assert lemma_1_exact(spec, 3, [0.1, 0.2]) == pytest.approx(0.25 * 3 * 0.1 + 3 * 4 * 0.2)
    # tanh is bounded by 1, so layer 2 reaches no further than layer 1 allows
    assert ranges(spec, r_sup=10.0) == pytest.approx([10.0, 2.0 * 3 * 1, 0.25 * 3 * 1 + 3 * 4 * 6])


def test_offset_by_hand() -> None:
    spec = NetworkSpec((4, 9, 1, 1), {(1, 0): 0.5, (2, 1): 2.0, (3, 1): 0.25, (3, 2): 3.0}, 2, ["sigmoid", "softplus"])
    Q_1 = 0.7 * 0.5 * 2
    Q_2 = 2.0 * 3 * (Q_1 / 4 + 0.5)
    Q_3 = 0.25 * 3 * (Q_1 / 4 + 0.5) + 3.0 * (Q_2 + math.log(2))
    offset = Q_3 * math.sqrt(2 * (math.log(8) + 2 * math.log(2)) / 50)
    assert peeled_complexity_offset(spec, 3, m=50, r_rms=0.7) == pytest.approx(offset)
    mu = mean_absolute_sign_sum(50)
    corrected = 0.25 * 3 * (0.1 / 4 + mu / 2) + 3.0 * (1.5 * 0.2 + math.log(2) * mu)
    assert lemma_1_corrected(spec, 3, [0.1, 0.2], m=50) == pytest.approx(corrected)
    M_2 = 2.0 * 3 * (0.25 * 1.0 + 0.5)
    assert ranges(spec, r_sup=1.0) == pytest.approx([1.0, M_2, 0.25 * 3 * 0.75 + 3.0 * (M_2 + math.log(2))])
    assert ranges(spec, r_sup=100.0)[1] == 2.0 * 3 * 1  # min with sup|sigmoid| = 1


def test_a_dead_family_has_no_complexity() -> None:
    spec = NetworkSpec((3, 2, 2), {(1, 0): 0.0, (2, 1): 1.0}, 2)
    assert peeling_factors(spec) == [(0.0, 1.0), (0.0, 1.0)]
    assert peeled_complexity(spec, 2, m=5, r_rms=1.0) == 0
    assert peeled_complexity_data(spec, 2, m=5, R_S_1=0.0, square_norms=4.0) == 0
    assert layered_complexity(spec, 2, m=5, r_inf=1.0) == 0


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=1), min_size=1, max_size=6), P, st.integers(1, 5))
def test_depth_lower_by_brute_force(points, p, n_1) -> None:
    Psi = np.array(points)
    spec = NetworkSpec.layered((1, n_1, 1), [0.8, 1.3], p)
    value = lemma_1_exact(spec, 2, [brute_unit(spec.phi(1), Psi[:, 0], 0.8)])
    assert value >= depth_lower(spec, 1, brute_first_layer(Psi, 0.8, p)) - 1e-9


def test_depth_lower_asks_for_what_its_proof_uses() -> None:
    deep = NetworkSpec.layered((4, 9, 9, 9, 1), 2.0, 2, ["tanh", "relu", "abs"])
    assert depth_lower(deep, 3, 0.5) == 2.0 * 3 * 0.5
    assert depth_lower(NetworkSpec.layered((4, 9, 1), 2.0, 2), 1, 0.5) == 0.5 * 2.0 * 3 * 0.5
    for k, needed, got in [(1, "relu", "tanh"), (2, "relu or abs", "tanh")]:
        with pytest.raises(OutsideTheoryError) as caught:
            depth_lower(deep, k, 0.5)
        assert str(caught.value) == f"depth-lower at k={k} needs {needed}, got {got}. [assumption: relu]"
    with pytest.raises(OutsideTheoryError, match=r"^depth-lower at k=1 needs relu, got abs\."):
        depth_lower(NetworkSpec.layered((4, 9, 1), 2.0, 2, "abs"), 1, 0.5)
    skip = NetworkSpec((1, 1, 1, 1), {(3, 1): 1.0}, 2)
    message = r"^depth-lower is about families whose units read only the layer below\. \[assumption: layered\]$"
    with pytest.raises(OutsideTheoryError, match=message):
        depth_lower(skip, 1, 0.5)


def test_lemma_2_reads_each_layer_below() -> None:
    """Widths and Λ that differ, p = 2: r_inf (2·1·√9)(2·2·√4)(2·3·√16) √(log 18 / 2m) at k = 3."""
    spec = NetworkSpec.layered((9, 4, 16, 25), [1.0, 2.0, 3.0], 2)
    rest = 0.5 * math.sqrt(math.log(18) / 20)
    values = [layered_complexity(spec, k, m=10, r_inf=0.5) for k in (1, 2, 3)]
    assert values == pytest.approx([6 * rest, 6 * 8 * rest, 6 * 8 * 24 * rest], rel=1e-14)


SPEC = NetworkSpec.layered((2, 2, 2), 1.0, 2)
THREE_LAYERS = NetworkSpec.layered((3, 2, 2, 1), 1.0, p=2)
BOUNDS = {
    "lemma-2": lambda k=1, m=1, r_inf=1.0: layered_complexity(SPEC, k, m=m, r_inf=r_inf),
    "peeled": lambda k=1, m=1, r_rms=1.0: peeled_complexity(SPEC, k, m=m, r_rms=r_rms),
    "offset": lambda k=1, m=1, r_rms=1.0: peeled_complexity_offset(SPEC, k, m=m, r_rms=r_rms),
    "data": lambda k=1, m=1, R=1.0, squares=1.0: peeled_complexity_data(SPEC, k, m=m, R_S_1=R, square_norms=squares),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_layers_and_samples_that_are_none(name: str) -> None:
    refused(lambda: BOUNDS[name](k=0), "k ", "[1, 2]", "k=0.")
    refused(lambda: BOUNDS[name](m=0), "m ", ">= 1", "m=0.")


@pytest.mark.parametrize(
    ("call", "tokens"),
    [
        (lambda: lemma_1(SPEC, 1, []), ("k ", "[2, 2]", "k=1.")),
        (lambda: lemma_1(SPEC, 2, []), ("R_S", "1 layers", "k=2", "0.")),
        (lambda: lemma_1(SPEC, 2, [-0.5]), ("R_S(H_1)", ">= 0", "R_S(H_1)=-0.5.")),
        (lambda: lemma_1(THREE_LAYERS, 3, [0.5, -0.5]), ("R_S(H_2)", ">= 0", "R_S(H_2)=-0.5.")),
        (lambda: lemma_1_corrected(SPEC, 2, [0.5], m=0), ("m ", ">= 1", "m=0.")),
        (lambda: lemma_1_exact(SPEC, 3, [0.5, 0.5]), ("k ", "[2, 2]", "k=3.")),
        (lambda: first_layer_closed(SPEC, m=0, r_rms=1.0), ("m ", ">= 1", "m=0.")),
        (lambda: first_layer_closed(SPEC, m=1, r_rms=-1.0), ("r_rms", ">= 0", "r_rms=-1.0.")),
        (lambda: BOUNDS["lemma-2"](r_inf=-1.0), ("r_inf", ">= 0", "r_inf=-1.0.")),
        (lambda: BOUNDS["peeled"](r_rms=-1.0), ("r_rms", ">= 0", "r_rms=-1.0.")),
        (lambda: BOUNDS["offset"](r_rms=-1.0), ("r_rms", ">= 0", "r_rms=-1.0.")),
        (lambda: BOUNDS["data"](R=-1.0), ("R_S(H_1)", ">= 0", "R_S(H_1)=-1.0.")),
        (lambda: BOUNDS["data"](squares=-1.0), ("||Psi||_q^2", ">= 0", "=-1.0.")),
        (lambda: depth_lower(SPEC, 2, 0.5), ("k ", "[2, 2]", "k=3.")),
        (lambda: depth_lower(SPEC, 1, -0.5), ("R_S(H_1)", ">= 0", "R_S(H_1)=-0.5.")),
        (lambda: ranges(SPEC, r_sup=-1.0), ("r_sup", ">= 0", "r_sup=-1.0.")),
    ],
)
def test_refusals_name_symbol_condition_and_value(call, tokens: tuple[str, ...]) -> None:
    refused(call, *tokens)


DEEP = NetworkSpec.layered((2, 1, 1), 1e150, 2)
WIDE = NetworkSpec((1, 1, 1, 1), {(1, 0): 1.0, (2, 1): 1.0, (3, 1): 1.7e308, (3, 2): 1.7e308}, 2)
HUGE = NetworkSpec.layered((10**6, 10**6, 10**6), 1e200, math.inf)


@pytest.mark.parametrize(
    ("call", "statement"),
    [
        (lambda: lemma_1(HUGE, 2, [1e150]), "lemma-1"),
        (lambda: lemma_1_exact(HUGE, 2, [1e150]), "lemma-1-exact"),
        (lambda: lemma_1_corrected(HUGE, 2, [1e150], m=5), "lemma-1-corrected"),
        (lambda: first_layer_closed(NetworkSpec.layered((2, 1), 1e300, 2), m=1, r_rms=1e300), "h1-closed"),
        (lambda: layered_complexity(HUGE, 2, m=5, r_inf=1.0), "lemma-2"),
        (lambda: peeled_complexity(HUGE, 2, m=5, r_rms=1.0), "P_2"),
        (lambda: peeled_complexity(HUGE, 1, m=5, r_rms=1.0), "P_2"),
        (lambda: peeled_complexity_offset(HUGE, 2, m=5, r_rms=1.0), "lemma-2-peeled-offset"),
        (lambda: peeled_complexity_offset(HUGE, 1, m=5, r_rms=1e150), "Q_1"),
        (lambda: peeling_factors(NetworkSpec.layered((10**10, 1), 1e300, math.inf)), "P_1"),
        (lambda: peeled_complexity(NetworkSpec.layered((2, 1), 1e300, 2), 1, m=5, r_rms=1e10), "lemma-2-peeled"),
        (lambda: peeled_complexity_data(DEEP, 2, m=5, R_S_1=1e160, square_norms=1.0), "lemma-2-peeled-data"),
        (lambda: peeled_complexity_offset(DEEP, 2, m=1, r_rms=1e8), "lemma-2-peeled-offset"),
        (lambda: peeling_factors(WIDE), "P_3"),
        (lambda: ranges(HUGE, r_sup=1.0), "M_2"),
        (lambda: ranges(HUGE, r_sup=1e150), "M_1"),
        (lambda: depth_lower(HUGE, 1, 1e150), "depth-lower"),
    ],
)
def test_overflow_names_the_statement(call, statement: str) -> None:
    refused(call, f"{statement} exceeds the largest float, 1.8e308.", error=OverflowError)
