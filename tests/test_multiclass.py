"""C classes: the margins, the contraction behind the constants by enumeration, and how often the bounds fail."""

import math

import numpy as np
import pytest

from adanet_theory.risk.generalization import margin_bound_uniform_at, objective_bound
from adanet_theory.risk.margin import ramp_loss, zero_function
from adanet_theory.risk.multiclass import (
    kuznetsov_mohri_syed,
    multiclass_a_posteriori,
    multiclass_a_posteriori_at,
    multiclass_a_posteriori_bounded_at,
    multiclass_margin_bound,
    multiclass_margin_bound_uniform_at,
    multiclass_margins,
    multiclass_objective_bound,
)
from adanet_theory.risk.posterior import a_posteriori_at


def test_margins_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=(40, 5)), rng.integers(0, 5, 40)
    expected = [f[i, y[i]] - max(f[i, c] for c in range(5) if c != y[i]) for i in range(40)]
    np.testing.assert_array_equal(multiclass_margins(f, y), expected)
    with pytest.raises(ValueError, match=r"^f .*>= 2 .*\(3, 1\)\.$"):
        multiclass_margins(np.zeros((3, 1)), [0, 0, 0])
    with pytest.raises(ValueError, match=r"^y .* 3 .*\(2,\)\.$"):
        multiclass_margins(np.zeros((3, 2)), [0, 0])
    single = f.astype(np.float32)
    np.testing.assert_array_equal(multiclass_margins(single, y), multiclass_margins(single.astype(np.float64), y))


def finite_distribution(rng: np.random.Generator, C: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight points on the unit sphere of l_inf with labels that no linear map can all get right."""
    return rng.uniform(-1, 1, size=(8, 3)), rng.integers(0, C, 8)


@pytest.mark.claim("multiclass-a-posteriori")
def test_overfitted_linear_networks_stay_under_the_bound() -> None:
    rng = np.random.default_rng(2)
    below = 0
    for trial in range(60):
        C, m = 3 + trial % 3, 4000
        x, labels = finite_distribution(rng, C)
        weight = rng.dirichlet(np.ones(8))
        rows = rng.choice(8, m, p=weight)
        y = np.where(rng.random(m) < 0.1, rng.integers(0, C, m), labels[rows])
        v = np.linalg.lstsq(x[rows], np.eye(C)[y], rcond=None)[0].T
        v = v - np.median(v, axis=0)
        r_rms = float(np.sqrt((x[rows] ** 2).mean(axis=0)).max())
        value = multiclass_a_posteriori(
            multiclass_margins(x[rows] @ v.T, y), float(np.abs(v).sum()), C=C, d=0, n_0=3, r_rms=r_rms, delta=0.05
        )
        wrong = np.array([multiclass_margins(x @ v.T, np.full(8, c)) <= 0 for c in range(C)])  # [c, point]
        right_label = 0.9 * np.eye(C)[labels].T + 0.1 / C
        risk = float((weight * (wrong * right_label).sum(axis=0)).sum())
        assert risk <= value.value
        below += value.value < 1
    assert below > 10


@pytest.mark.parametrize("C", [2, 5, 6])
def test_centring_keeps_the_margins_and_shrinks_the_norm(C: int) -> None:
    rng = np.random.default_rng(3)
    v, x, y = rng.normal(size=(C, 4)), rng.normal(size=(50, 4)), rng.integers(0, C, 50)
    centred = v - np.median(v, axis=0)
    np.testing.assert_allclose(multiclass_margins(x @ v.T, y), multiclass_margins(x @ centred.T, y), atol=1e-12)
    assert np.abs(centred).sum() < np.abs(v).sum()


@pytest.mark.parametrize("choice", [{}, {"c": 1.2}, {"eta": 0.2}])
def test_the_best_margin_is_that_of_its_own_grid(choice: dict[str, float]) -> None:
    margins, at = np.linspace(0.2, 2, 40_000), {"C": 3, "d": 2, "n_0": 5, "r_rms": 1.0, "delta": 0.05, **choice}
    value = multiclass_a_posteriori(margins, 2.0, **at)
    ramp = ramp_loss(margins, 2.0 / (1 + choice.get("eta", 0.05)) ** value.j)
    expected = multiclass_a_posteriori_at(value.j, ramp, 2.0, m=40_000, **{"c": 1.5, "eta": 0.05} | at)
    assert (value.id, value.rho) == ("multiclass-a-posteriori", expected.rho)
    assert value.total == pytest.approx(expected.total, rel=1e-12)
    assert value.total < 1
    assert multiclass_a_posteriori(margins, 0.0, **at) == zero_function("multiclass-a-posteriori", "ramp")


def test_two_classes_cost_twice_the_complexity_and_log_2() -> None:
    at = {"d": 1, "n_0": 100, "r_rms": 1.0, "m": 9600, "delta": 0.05}
    two, many = a_posteriori_at(3, 0.1, 1.0, **at), multiclass_a_posteriori_at(3, 0.1, 1.0, C=2, **at)
    ratio = math.sqrt(math.log(2 * 200 * 2.5) / math.log(2 * 100 * 2.5))
    assert many.terms["complexity"] == pytest.approx(2 * ratio * two.terms["complexity"])
    assert many.terms["confidence"] == two.terms["confidence"]


def test_every_setting_reaches_the_terms() -> None:
    """At values that are no default, beside the bounds of two classes."""
    w, R, M, at = [0.5, 1.5], [0.01, 0.02], [1.0, 2.0], {"m": 1000, "delta": 0.1}
    root = math.sqrt(2 * math.log(3 * 2) / 1000)
    two = margin_bound_uniform_at(4, 0.1, w, R, M=M, eta=0.2, **at)
    many = multiclass_margin_bound_uniform_at(4, 0.1, w, R, C=3, M=M, eta=0.2, **at)
    changed = {"complexity": 2 * two.terms["complexity"], "depth": 4 * 1.2**4 * root}
    assert many.terms == pytest.approx({**two.terms, **changed})
    assert (many.id, many.rho, many.j) == ("multiclass-margin-bound-uniform", two.rho, 4)
    two = objective_bound(0.1, w, R, M=M, rho=2.0, eta=0.2, **at)
    many = multiclass_objective_bound(0.1, w, R, C=3, M=M, rho=2.0, eta=0.2, **at)
    changed = {"complexity": 2 * two.terms["complexity"], "depth": 1.2 * 4 * 3.5 * root / 2}
    assert many.terms == pytest.approx({**two.terms, **changed})
    assert (many.id, many.rho) == ("multiclass-objective-bound", two.rho)
    complexity = 4 * 1.2**4 * 0.7 * math.sqrt(2 * math.log(2 * 3 * 5 * (1 + 1.2 * 2.2)) / 1000)
    fixed = {"C": 3, "d": 2, "n_0": 5, "c": 1.2, "eta": 0.2, **at}
    for many in (
        multiclass_a_posteriori_at(4, 0.1, 3.0, r_rms=0.7, **fixed),
        multiclass_a_posteriori_bounded_at(4, 0.1, 3.0, r_sup=0.7, **fixed),
    ):
        assert many.terms["complexity"] == pytest.approx(complexity)
        assert (many.rho, many.j) == (pytest.approx(3 / 1.2**4), 4)


def test_the_zero_function_and_what_is_too_large_have_the_name_of_the_bound() -> None:
    at, zero = {"C": 3, "m": 10, "delta": 0.1}, zero_function("x", "ramp").terms
    bound = multiclass_margin_bound(0.0, [0.0, 0.0], [0.1, 0.1], rho=1.0, M=1.0, **at)
    assert (bound.id, bound.terms, bound.rho) == ("multiclass-margin-bound", zero, None)
    bound = multiclass_objective_bound(0.5, [0.0, 0.0], [0.1, 0.1], M=[1.0, 1.0], **at)
    binary = objective_bound(0.5, [0.0, 0.0], [0.1, 0.1], M=[1.0, 1.0], m=10, delta=0.1)
    assert (bound.id, bound.terms, bound.rho) == ("multiclass-objective-bound", binary.terms, None)
    for R, M in ((6e307, 1.0), (0.1, 8e307)):
        with pytest.raises(OverflowError, match=r"^multiclass-margin-bound exceeds the largest float"):
            multiclass_margin_bound(0.0, [1.0, 1.0], [R, R], rho=1.0, M=M, **at)
    with pytest.raises(OverflowError, match=r"^multiclass-a-posteriori exceeds the largest float"):
        multiclass_a_posteriori_at(0, 0.0, 1.0, C=3, d=0, n_0=1, r_rms=6e307, m=4, delta=0.1)


def test_the_price_of_classes_is_logarithmic_here_and_linear_there() -> None:
    at = {"rho": 0.5, "m": 60_000, "delta": 0.05}
    ours = [multiclass_margin_bound(0, [1, 1], [1e-3, 2e-3], C=C, M=1.0, **at).total for C in (10, 1000)]
    theirs = [kuznetsov_mohri_syed(0, [1, 1], [1e-3, 2e-3], C=C, **at).terms["complexity"] for C in (10, 1000)]
    assert ours[1] < 1.7 * ours[0]
    assert theirs[1] == pytest.approx(100 * theirs[0])


def test_the_bound_of_2014_term_by_term() -> None:
    bound = kuznetsov_mohri_syed(0.25, [0.5, 0.25, 0.0], [0.01, 0.03, 5.0], C=3, rho=0.4, m=1000, delta=0.1)
    blocks = math.ceil(25 * math.log(9 * 0.16 * 1000 / (4 * math.log(3))))
    assert (bound.id, bound.rho) == ("kuznetsov-mohri-syed", 0.4)
    assert dict(bound.terms) == pytest.approx(
        {
            "margin_error": 0.25,
            "complexity": 60 * (0.5 * 0.01 + 0.25 * 0.03) / 0.75,
            "depth": 5 / 3 * math.sqrt(math.log(3) / 1000),
            "confidence": math.sqrt(blocks * math.log(3) / 1000 + math.log(20) / 2000),
        },
        rel=1e-12,
    )


@pytest.mark.parametrize(
    ("w", "R", "m", "line"),
    [
        ([0.0, 0.0], [0.1, 0.1], 100, r"w must not be 0 and R_m must hold l=2 values, got 2\."),
        ([1.0, 0.0], [0.1], 100, r"w must not be 0 and R_m must hold l=2 values, got 1\."),
        ([1.0, 0.0], [0.1, 0.1], 2, r"C\^2 rho\^2 m/\(4 log l\) must be >= 1, got 0\.721348\."),
        ([1e308, 1e308], [0.1, 0.1], 100, "W exceeds the largest float"),
        ([1e200, 1.0], [1e200, 0.1], 100, "kuznetsov-mohri-syed exceeds the largest float"),
        ([1.0, 0.0], [1e308, 0.1], 100, "kuznetsov-mohri-syed exceeds the largest float"),
    ],
)
def test_where_the_bound_of_2014_has_no_value(w: list[float], R: list[float], m: int, line: str) -> None:
    with pytest.raises((ValueError, OverflowError), match=f"^{line}"):
        kuznetsov_mohri_syed(0.0, w, R, C=2, rho=0.5, m=m, delta=0.1)
    assert kuznetsov_mohri_syed(0.0, [0.5, 0.0], [0.1, 0.1], C=2, rho=0.5, m=4, delta=0.1).total > 0  # a ratio of 1.4


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"^C .*integer >= 2.* C=1\.$"):
        multiclass_margin_bound(0, [1], [0.1], C=1, rho=1, m=10, delta=0.1, M=1)
    with pytest.raises(ValueError, match=r"^l must be >= 2, got l=1\.$"):
        kuznetsov_mohri_syed(0, [1.0], [0.1], C=3, rho=1, m=10, delta=0.1)
