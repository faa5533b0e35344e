"""python -m figures NAME --depth 2:20 ..: parameters, one column or two, captions in LaTeX."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adanet_theory.complexity.estimates import linear_complexity
from figures import (
    architecture,
    bounds_against,
    closed_form_step,
    complexities,
    construction,
    cvx_network,
    failure_frequency,
    gallery,
    latex,
    model_terms,
    sigmoid_counterexample,
    training_rounds,
    vacuity_map,
)
from figures.__main__ import main
from figures.canvas import NotDrawn
from figures.family import FamilySetting, asked, spread, value
from tests.figure_data import model_path


def test_a_span_is_what_a_panel_shows_and_a_number_what_the_others_keep() -> None:
    given = {"depth": (2.0, 20.0), "n_0": (784.0, 784.0), "delta": (0.01, 0.01), "width": (20.0, 20.0)}
    data = bounds_against.compute(quick=True, **given)
    assert data["depth"]["values"] == list(range(2, 21))
    assert data["base"] == {"m": 100_000, "depth": 3, "rho": 0.1, "p": 2.0, "width": 20, "n_0": 784, "delta": 0.01}
    at = data["depth"]["values"].index(7)
    setting = FamilySetting(depth=7, n_0=784, delta=0.01, width=20)
    for bound in gallery.module("bounds-against").bounds():
        assert data["depth"]["raw"][bound.id][at] == value(bound, setting).raw
    caption = bounds_against.caption(data)
    assert "n_0 = 784" in caption
    assert "delta = 0.01" in caption


def test_the_default_figure_is_the_one_without_parameters() -> None:
    assert asked({}) == (FamilySetting(), {})
    assert asked({"depth": (5.0, 9.0)})[0].depth == 5  # the other panels stay inside the span


@pytest.mark.parametrize(
    ("name", "span", "values"),
    [
        ("depth", (2.0, 5.0), [2, 3, 4, 5]),
        ("width", (1.0, 100.0), [1, 10, 100]),
        ("rho", (0.01, 1.0), [0.01, 0.1, 1.0]),
        ("p", (1.0, float("inf")), [1.0, 2.0, float("inf")]),
    ],
)
def test_values_of_a_span(name: str, span: tuple[float, float], values: list[float]) -> None:
    assert spread(name, span, 3) == pytest.approx(values)


def test_a_map_over_other_depths_and_margins() -> None:
    data = vacuity_map.compute(quick=True, depth=(2.0, 12.0), rho=(0.05, 0.5), delta=(0.1, 0.1))
    assert data["depth"][0] == 2
    assert (min(data["rho"]), max(data["rho"])) == pytest.approx((0.05, 0.5))
    assert "delta = 0.1" in vacuity_map.caption(data)
    with pytest.raises(NotDrawn, match="a span of depths"):
        vacuity_map.compute(quick=True, depth=(2.0, 2.0), rho=(2.0, 3.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bounds-against", "paper-tables", "--depth", "3"], "paper-tables does not take it"),
        (["--Lambda", "3"], "--Lambda is for sigmoid-counterexample: name the figure"),
        (["bounds-against", "--depth", "1"], "depth must be finite and >= 2, got 1:1"),
        (["bounds-against", "--delta", "2"], "delta must be in (0, 1), got 2:2"),
        (["bounds-against", "--n0", "2:8"], "n_0 is one number for bounds-against, got the span 2:8"),
        (["complexities", "--m", "2:8"], "m is one number for complexities, got the span 2:8"),
        (["complexities", "--m", "30"], "m must be at most 12, got m=30"),
        (["failure-frequency", "--delta", "0.1"], "it needs a span"),
        (["sigmoid-counterexample", "--Lambda", "1"], "a curve needs a span of Lambda"),
        (["bounds-against", "--depth", "9:2"], "argument --depth: invalid span value: '9:2'"),
        (["bounds-against", "--rho", "5"], "no member has margins above rho = 5"),
        (["bounds-against", "--data", "x.npz"], "bounds-against does not take it"),
        (["architecture", "--data", "x.npz"], "x.npz: no such file or folder"),
        (["architecture", "--data", "digits:3-8"], "digits:3-8: no such file or folder"),
        (["frontier", "--data", "mnits"], "mnits: no such file or folder"),
        (["frontier", "--data", "digits:3-3"], "digits:A-B needs two different classes"),
    ],
)
def test_parameters_that_a_figure_does_not_take_are_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--quick", "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def points(path: Path, m: int = 60) -> Path:
    X = np.random.default_rng(0).uniform(size=(m, 4))
    np.savez(path, X=X, y=np.where(X[:, 0] > X[:, 1], 1, 0))
    return path


def test_the_runs_are_made_on_the_points_and_with_the_sizes_that_are_given(tmp_path: Path) -> None:
    data = points(tmp_path / "points.npz")
    built = construction.compute(quick=True, data=data, rounds=(2.0, 2.0), width=(3.0, 3.0), depth=(2.0, 2.0))
    assert built["n_0"] == 5  # the constant feature is one more
    assert {count for units in built["before"] for count in units} == {3}
    rounds = training_rounds.compute(quick=True, data=data, rounds=(2.0, 2.0), width=(3.0, 3.0), depth=(2.0, 2.0))
    assert len(rounds["rounds"]) == 2
    assert "on 60 points" in training_rounds.caption(rounds)
    network = architecture.compute(quick=True, data=data, depth=(2.0, 2.0), width=(6.0, 6.0))
    assert network["n"] == [5, 6, 6]
    cvx = cvx_network.compute(quick=True, data=data, rounds=(3.0, 3.0), p=(1.0, 1.0))
    assert cvx["rounds"] <= 3
    assert "p = 1, on 60 points" in cvx_network.caption(cvx)


def test_the_complexities_are_those_of_the_points_given(tmp_path: Path) -> None:
    data = points(tmp_path / "points.npz")
    computed = complexities.compute(quick=True, data=data, m=(4.0, 4.0), depth=(2.0, 2.0), width=(2.0, 2.0))
    assert (computed["m"], computed["n_0"], len(computed["rows"]["2"])) == (4, 5, 2)
    Psi = complexities.sample(4, data)
    spec = complexities.family(2.0, 5, 2, 2)
    assert computed["rows"]["2"][0]["upper"] == pytest.approx(linear_complexity(Psi, spec).mean, rel=1e-9)


def test_the_sigmoid_on_another_span_and_other_points() -> None:
    data = sigmoid_counterexample.compute(quick=True, Lambda=(0.5, 4.0), m=(5.0, 5.0))
    assert (data["m"], data["Lambda"][0], data["Lambda"][-1]) == (5, 0.5, 4.0)
    for drawn in ((0.5, 4.0), (0.0, 0.2), (3.0, 4.0)):
        part = sigmoid_counterexample.compute(quick=True, Lambda=drawn)
        assert sigmoid_counterexample.draw(part)
        above = part["lemma-1"][0] >= part["exact"][0]
        below = part["lemma-1"][-1] < part["exact"][-1]
        words = "only for smaller" if above else "all along" if below else "up to Lambda_(1,0) = "
        assert words in sigmoid_counterexample.caption(part)


def test_failures_over_another_span_of_delta_and_fewer_samples() -> None:
    data = failure_frequency.compute(quick=True, delta=(0.02, 0.4), trials=(20.0, 20.0))
    assert data["trials"] == 20
    assert (data["delta"][0], data["delta"][-1]) == pytest.approx((0.02, 0.4))
    assert "over 20 samples" in failure_frequency.caption(data)
    assert "Below: the ensemble" in failure_frequency.caption({**data, "column": "single"})


def test_the_steps_over_other_problems() -> None:
    data = closed_form_step.compute(quick=True, m=(8.0, 8.0), width=(2.0, 2.0), trials=(10.0, 10.0))
    assert len(data["random"]["2"]) == 10
    assert "m = 8 points" in closed_form_step.caption(data)


def test_results_of_ones_own_folder_are_drawn(tmp_path: Path) -> None:
    rows = [
        {"benchmark": "training", "work": "mine", "against": "yours", "ratio": 0.5, "target": "<= 1", "machine": "a"}
    ]
    (tmp_path / "benchmarks.json").write_text(json.dumps({"rows": rows}))
    data = gallery.data("training-time", cache=tmp_path / "cache", quick=True, sample=tmp_path)
    assert [work["work"] for work in data["works"]] == ["mine"]
    rows[0]["ratio"] = 0.25  # what was kept is for the results as they were
    (tmp_path / "benchmarks.json").write_text(json.dumps({"rows": rows}))
    data = gallery.data("training-time", cache=tmp_path / "cache", quick=True, sample=tmp_path)
    assert data["works"][0]["ratios"] == [0.25]


def test_the_terms_of_a_model_at_a_margin_and_confidence_of_ones_own() -> None:
    given = {"rho": (0.02, 0.02), "delta": (0.1, 0.1)}
    data = model_terms.compute(quick=True, model=model_path(), **given)
    assert (data["rho"], data["delta"]) == (0.02, 0.1)
    said = model_terms.caption(data)
    assert "vote-certificate" in [row["id"] for row in data["bounds"]]
    assert "a-posteriori" in said
    assert "certificate" not in said  # whose terms do not add up and are not drawn


def test_one_column_is_half_as_wide_and_parameters_have_data_of_their_own(tmp_path: Path) -> None:
    options = ["bounds-against", "--quick", "--format", "svg", "--out", str(tmp_path)]
    assert main(options) == 0
    double = (tmp_path / "bounds-against.svg").read_text()
    assert main([*options, "--column", "single", "--depth", "2:4"]) == 0
    single = (tmp_path / "bounds-against.svg").read_text()
    assert 'width="486' in double
    assert 'width="234' in single
    assert len(list((tmp_path / "cache").iterdir())) == 2
    tex = (tmp_path / "bounds-against.tex").read_text()
    assert tex.startswith(r"\begin{figure}")
    assert r"\includegraphics{bounds-against}" in tex


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Lambda_(k,k-1) = n_(k-1)^(-1/2)", r"$\Lambda_{k,k-1}$ = $n_{k-1}^{-1/2}$"),
        ("R_S(H_2), |h| <= 1", r"$\mathfrak{R}_S(H_2)$, $|h|$ $\leq$ 1"),
        ("||Psi||_inf <= 1 & 5%", r"$\|\Psi\|_\infty$ $\leq$ 1 \& 5\%"),
        ("144^(-1/2), delta = .05", r"$144^{-1/2}$, $\delta$ = .05"),
        ("theorem-1 of deltas", "theorem-1 of deltas"),
        ("R_m(H_k) and n_0", r"$\mathfrak{R}_m(H_k)$ and $n_0$"),
    ],
)
def test_captions_in_latex(words: str, expected: str) -> None:
    assert latex.text(words) == expected
