"""The pictures show the report's own numbers, in one style, and equal reports give equal bytes."""

import re
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

from tests.example_report import OUTSIDE, REPORT, SIGMOID
from verify.show import plots

DRAW = [plots.draw_terms, plots.draw_complexities, plots.draw_margins, plots.draw_bound_against_rho]
BARE = replace(REPORT, complexities=(), bounds=(), curves={}, margins=np.zeros(0))


def lines(figure):
    return [line for line in figure.axes[0].lines if len(line.get_xdata())]


@pytest.mark.parametrize("draw", DRAW)
@pytest.mark.parametrize("report", [REPORT, SIGMOID, OUTSIDE, BARE])
def test_every_report_can_be_drawn_twice_with_the_same_bytes(draw, report):
    one, two = (plots.svg(draw(report), "name") for _ in range(2))
    assert one == two
    assert one.startswith("<svg ")
    assert draw(report).get_figwidth() == 3.25


@pytest.mark.parametrize("draw", DRAW)
def test_an_svg_takes_the_ink_of_its_page_and_keeps_its_ids_to_itself(draw):
    text = plots.svg(draw(REPORT), "name")
    assert plots.INK not in text
    assert "currentColor" in text
    assert "#000000" not in text
    assert "white" not in text
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert all(id.startswith("name-") for id in ids)
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(ids)
    assert set(re.findall(r'href="#([^"]*)"', text)) <= set(ids)
    assert not re.search(r'<svg[^>]*(width|height)="', text)
    assert "date" not in text.lower()


def test_the_readers_settings_are_neither_used_nor_changed():
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        figure = plots.draw_margins(REPORT)
        assert dict(matplotlib.rcParams) == before
    assert plots.svg(figure, "a") == plots.svg(plots.draw_margins(REPORT), "a")


def test_terms_are_drawn_at_their_values_and_the_sum_at_raw():
    drawn = [
        (float(line.get_xdata()[0]), round(float(line.get_ydata()[0]))) for line in lines(plots.draw_terms(REPORT))
    ]
    summed = [row for row in REPORT.bounds if row.group not in ("certificate", "held-out")]
    assert (REPORT.cite.value, len(summed)) in drawn
    for y, row in enumerate(reversed(summed)):
        for value in [*row.terms.values(), row.raw]:
            assert value in (None, 0.0) or (value, y) in drawn


def test_complexities_are_drawn_at_their_values():
    values = [float(y) for line in lines(plots.draw_complexities(REPORT)) for y in line.get_ydata()]
    for row in REPORT.complexities:
        for value in (row.lower, row.upper, row.lemma_1, row.lemma_2, row.lemma_1_corrected, row.lemma_2_peeled):
            assert value is None or value in values


def test_the_margin_curve_passes_through_the_margin_error():
    curve = lines(plots.draw_margins(REPORT))[0]
    x, y = curve.get_xdata(), curve.get_ydata()
    share = y[x <= REPORT.rho].max()
    assert share == pytest.approx(REPORT.sample.margin_error, abs=1 / 200)  # 400 points are drawn of 960
    assert np.all(np.diff(y) > 0)
    assert (x[0], y[-1]) == (-0.1, 1.0)


def test_a_large_sample_gives_no_large_picture():
    many = replace(REPORT, margins=np.random.default_rng(0).normal(size=200_000))
    assert len(plots.svg(plots.draw_margins(many), "a")) < 60_000


def test_curves_that_do_not_apply_are_dashed():
    figure = plots.draw_bound_against_rho(
        replace(REPORT, curves=dict.fromkeys(("theorem-1", "margin-bound"), REPORT.curves["a-posteriori"]))
    )
    styles = {line.get_label(): line.get_linestyle() for line in lines(figure)}
    assert (styles["theorem-1"], styles["margin-bound"]) == ("--", "-")


def test_what_is_out_of_reach_is_an_arrow_at_the_edge():
    row = replace(REPORT.bounds[3], terms={"complexity": 1e50, "confidence": 1e-30}, raw=1e50)
    markers = {
        line.get_marker(): float(line.get_xdata()[0])
        for line in lines(plots.draw_terms(replace(REPORT, bounds=(row,))))
    }
    assert (markers[">"], markers["<"]) == (1e4, 1e-4)


def test_a_rho_far_beyond_the_margins_does_not_press_them_together():
    axes = plots.draw_margins(replace(REPORT, rho=1780.0)).axes[0]
    assert axes.get_xlim()[1] < 2


def test_no_two_terms_share_a_colour_or_a_marker():
    names = ("margin_error", "ramp", "loss", "complexity", "depth", "confidence")
    row = replace(REPORT.bounds[3], terms=dict.fromkeys(names, 0.1), raw=0.6)
    figure = plots.draw_terms(replace(REPORT, bounds=(row,)))
    key = [line for line in figure.axes[0].lines if line.get_label()[0] != "_"]
    assert [line.get_label() for line in key] == [*(name.replace("_", " ") for name in names), "sum"]
    assert len({line.get_color() for line in key}) == len(key)
    assert len({line.get_marker() for line in key}) == len(key)


@pytest.mark.parametrize(("rho", "error"), [(0.1, 0.04), (0.9, 0.88)])
def test_rho_and_the_margin_error_are_named_beside_their_line(rho, error):
    sample = replace(REPORT.sample, margin_error=error)
    axes = plots.draw_margins(replace(REPORT, rho=rho, sample=sample)).axes[0]
    (text,) = axes.texts
    assert text.get_text() == rf"$\rho = {rho}$" + f"\nmargin error {error}"
    assert text.xy[0] == rho
    assert axes.get_legend() is None


def test_the_axis_of_margins_names_those_of_c_classes():
    assert plots.draw_margins(REPORT).axes[0].get_xlabel() == r"margin $y\,f(x)/W$"
    many = plots.draw_margins(replace(REPORT, classes=10)).axes[0]
    assert many.get_xlabel() == r"margin $[f(x, y) - \max f(x, y')]/W$"
