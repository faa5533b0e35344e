"""python -m figures NAME --depth 2:20 ..: parameters, one column or two, captions in LaTeX."""

from __future__ import annotations

from pathlib import Path

import pytest

from figures import bounds_against, gallery, latex, vacuity_map
from figures.__main__ import main
from figures.canvas import NotDrawn
from figures.family import Setting, asked, spread, value


def test_a_span_is_what_a_panel_shows_and_a_number_what_the_others_keep() -> None:
    given = {"depth": (2.0, 20.0), "n_0": (784.0, 784.0), "delta": (0.01, 0.01), "width": (20.0, 20.0)}
    found = bounds_against.compute(quick=True, **given)
    assert found["depth"]["values"] == list(range(2, 21))
    assert found["base"] == {"m": 100_000, "depth": 3, "rho": 0.1, "p": 2.0, "width": 20, "n_0": 784, "delta": 0.01}
    at = found["depth"]["values"].index(7)
    setting = Setting(depth=7, n_0=784, delta=0.01, width=20)
    for bound in gallery.module("bounds-against").bounds():
        assert found["depth"]["raw"][bound.id][at] == value(bound, setting).raw
    caption = bounds_against.caption(found)
    assert "n_0 = 784" in caption
    assert "delta = 0.01" in caption


def test_the_default_figure_is_the_one_without_parameters() -> None:
    assert asked({}) == (Setting(), {})
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
    found = vacuity_map.compute(quick=True, depth=(2.0, 12.0), rho=(0.05, 0.5), delta=(0.1, 0.1))
    assert found["depth"][0] == 2
    assert (min(found["rho"]), max(found["rho"])) == pytest.approx((0.05, 0.5))
    assert "delta = 0.1" in vacuity_map.caption(found)
    with pytest.raises(NotDrawn, match="a span of depths"):
        vacuity_map.compute(quick=True, depth=(2.0, 2.0), rho=(2.0, 3.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bounds-against", "complexities", "--depth", "3"], "complexities does not take it"),
        (["--depth", "3"], "--depth is for bounds-against, vacuity-map: name the figure"),
        (["bounds-against", "--depth", "1"], "depth must be a number that the bounds allow, got 1:1"),
        (["bounds-against", "--delta", "2"], "delta must be a number that the bounds allow"),
        (["bounds-against", "--n0", "2:8"], "n_0 is one number, got the span 2:8"),
        (["bounds-against", "--depth", "9:2"], "argument --depth: invalid _span value: '9:2'"),
        (["bounds-against", "--rho", "5"], "no member has margins above rho = 5"),
        (["architecture", "--column", "single"], "--column is for bounds-against, vacuity-map"),
        (["bounds-against", "--data", "x.npz"], "--data is the sample of --model"),
    ],
)
def test_parameters_that_a_figure_does_not_take_are_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--quick", "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


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
