"""The figures draw without warnings or clipped text, twice with the same bytes, and show the theory's own numbers."""

import sys
import types
import warnings

import numpy as np
import pytest
from matplotlib import image

from adanet_train.model import model_file
from figures import (
    bound_and_test_error,
    bounds_against,
    closed_form_step,
    complexities,
    gallery,
    sigmoid_counterexample,
    vacuity_map,
)
from figures.__main__ import main
from figures.canvas import FULL, NotDrawn, save, settle, style
from tests.figure_data import NAMES, model_path, quick
from tests.verify_models import model as small_model
from verify.show.plots import COLUMN

# Pictures

COLUMNS = {"single": COLUMN, "double": FULL}


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_fits_either_column_and_its_files_carry_their_fonts_and_the_same_bytes(name, tmp_path):
    """Without a column it is one of the two, drawn again."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns = {column: settle(gallery.module(name).draw({**quick(name), "column": column})) for column in COLUMNS}
        figure = settle(gallery.module(name).draw(quick(name)))
    for column, inches in COLUMNS.items():
        assert columns[column].get_figwidth() == inches
        check_nothing_is_clipped(columns[column])
    (again,) = (other for other in columns.values() if other.get_figwidth() == figure.get_figwidth())
    paths = [tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "a.pdf"]
    for path, drawn in zip(paths, (figure, again, figure), strict=True):
        save(drawn, path)
    svg, same, pdf = (path.read_bytes() for path in paths)
    assert svg == same
    assert b"<text" not in svg
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


@pytest.mark.parametrize("name", ["complexities", "sigmoid-counterexample"])
def test_no_letter_of_a_formula_reaches_the_edge_of_the_file(name, tmp_path):
    """A label was measured in other fonts than it is written in, and cut off by a point."""
    save(settle(gallery.module(name).draw(quick(name))), tmp_path / "a.png")
    pixels = image.imread(tmp_path / "a.png")[..., :3].min(axis=2)
    assert min(pixels[:, 0].min(), pixels[:, -1].min(), pixels[0].min(), pixels[-1].min()) > 0.9


def test_the_key_of_the_certificates_stands_on_no_point():
    """Drawn in one column as in two."""
    points = [
        {"data": "d", "id": id, "error": 0.01, "bound": 0.003, "tested": True} for id in bound_and_test_error.SHOWN
    ]
    for column in ("single", "double"):
        figure = settle(bound_and_test_error.draw({"points": points, "column": column}))
        figure.draw_without_rendering()
        (axes,) = figure.axes
        (key,) = figure.legends or [axes.get_legend()]
        assert not key.get_window_extent().contains(*axes.transData.transform((0.01, 0.003)))


def check_nothing_is_clipped(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    with style():  # the fonts in which it is written
        canvas.draw()
        box = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0) >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01
    sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text() and text.get_visible()}
    assert sizes <= {8, 9}


def test_a_written_figure_has_its_caption_beside_it(tmp_path):
    paths = gallery.write("cvx-network", quick("cvx-network"), out=tmp_path / "new", formats=["svg"])
    assert [path.name for path in paths] == ["cvx-network.svg", "cvx-network.txt", "cvx-network.tex"]
    assert paths[1].read_text(encoding="utf-8").startswith("A network made by AdaNet.CVX in 14 rounds")


@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_the_readers_settings_do_not_matter(kind, tmp_path):
    import matplotlib

    data = quick("sigmoid-counterexample")
    save(sigmoid_counterexample.draw(data), tmp_path / f"a.{kind}")
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "savefig.bbox": "tight", "axes.grid": True}):
        save(sigmoid_counterexample.draw(data), tmp_path / f"b.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def drawn(axes):
    """The y values of every line, a line without points left out."""
    return [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines if len(line.get_ydata())]


def is_among(values, lines):
    """Whether the values are drawn as one line, or as two that each leave out a part."""
    y = np.array([np.nan if value is None else value for value in values])
    shown = [line for line in lines if len(line) == len(y) and np.all(np.isnan(line) | (line == y))]
    return bool(np.all(np.isnan(y) | np.any([line == y for line in shown], axis=0)))


def test_the_curves_drawn_are_the_data():
    data = quick("bounds-against")
    panels = bounds_against.draw(data).axes
    for axes, variable in zip(panels, ("m", "depth", "rho", "p", "width"), strict=False):
        assert all(is_among(raw, drawn(axes)) for raw in data[variable]["raw"].values())
    data = quick("sigmoid-counterexample")
    lines = drawn(sigmoid_counterexample.draw(data).axes[0])
    assert all(is_among(data[name], lines) for name in ("exact", "lemma-1", "lemma-2", "lemma-1-corrected"))
    data = quick("closed-form-step")
    lines = drawn(closed_form_step.draw(data).axes[1])
    assert all(is_among(values, lines) for values in data["family"].values())


def test_the_maps_drawn_are_the_data():
    data = quick("vacuity-map")
    panels = vacuity_map.draw(data).axes
    for axes, cells in zip(panels, data["m_needed"].values(), strict=False):
        assert np.array_equal(axes.collections[0].get_array(), np.log10(np.array(cells, dtype=float)))


def test_the_layers_drawn_are_the_data():
    data = quick("complexities")
    panels = complexities.draw(data).axes
    for axes, rows in zip(panels, data["rows"].values(), strict=True):
        marks = {float(y) for line in drawn(axes) for y in line}
        bars = {(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches}
        for row in rows:
            lemmas = [row[name] for name in ("lemma-1", "lemma-2", "lemma-1-corrected", "lemma-2-peeled")]
            assert {value for value in lemmas if value is not None} <= marks
            if row["exact"]:
                assert row["upper"] in marks
            else:
                assert any((row["lower"], row["upper"]) == pytest.approx(bar, rel=1e-12) for bar in bars)


# Data kept


def test_a_redraw_computes_nothing(monkeypatch, tmp_path):
    kept = gallery.data("sigmoid-counterexample", cache=tmp_path, quick=True)

    def fail(**_):
        raise AssertionError("computed again")

    monkeypatch.setattr(sigmoid_counterexample, "compute", fail)
    assert gallery.data("sigmoid-counterexample", cache=tmp_path, quick=True) == kept
    with pytest.raises(AssertionError, match="computed again"):
        gallery.data("sigmoid-counterexample", cache=tmp_path, quick=False)


def test_what_was_kept_is_computed_anew_for_another_model_or_after_an_interruption(tmp_path):
    other = tmp_path / "other.pt"
    model_file.write(str(other), small_model(seed=1))
    values = [gallery.data("model-margins", cache=tmp_path, quick=True, model=path) for path in (model_path(), other)]
    assert values[0]["margins"] != values[1]["margins"]
    (tmp_path / "model-margins.quick.json").write_text('{"key": "')
    assert gallery.data("model-margins", cache=tmp_path, quick=True, model=other) == values[1]


# The command


def test_the_command_writes_pictures_and_captions(tmp_path, capsys):
    arguments = ["sigmoid-counterexample", "--quick", "--out", str(tmp_path / "new"), "--format", "svg,png"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert [line.rsplit(".", 1)[1] for line in printed.out.splitlines()] == ["svg", "png", "txt", "tex"]
    assert printed.err == "[1/1] sigmoid-counterexample\n"
    assert {path.name for path in (tmp_path / "new").iterdir() if path.is_file()} == {
        f"sigmoid-counterexample.{kind}" for kind in ("svg", "png", "txt", "tex")
    }


def test_the_command_lists_one_name_a_line_and_what_it_shows(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(len(line.split()) > 4 for line in lines)
    assert all("--column]" in line for line in lines)
    assert "--depth A[:B]" in next(line for line in lines if line.startswith("vacuity-map"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "NAME must be one of"),
        (["--format", "gif"], "--format must list pdf, png, svg, got 'gif'."),
        (["model-terms"], "model-terms needs --model model.pt."),
        (["model-terms", "--model", "missing.pt"], "missing.pt"),
    ],
)
def test_the_command_refuses_in_one_line(arguments, message, capsys, tmp_path):
    assert main([*arguments, "--out", str(tmp_path)]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("python -m figures: ")
    assert message in last


def test_a_model_without_rounds_is_drawn_without_them(tmp_path, capsys):
    path = tmp_path / "model.pt"
    model_file.write(str(path), small_model())
    with pytest.raises(NotDrawn, match="records no training rounds"):
        gallery.data("model-rounds", cache=tmp_path, quick=True, model=path)
    arguments = ["model-rounds", "--model", str(path), "--out", str(tmp_path)]
    assert main(arguments) == 2
    assert "records no training rounds" in capsys.readouterr().err


def test_of_all_figures_one_that_the_model_has_nothing_for_is_only_named(tmp_path, capsys, monkeypatch):
    path = tmp_path / "model.pt"
    model_file.write(str(path), small_model())
    monkeypatch.setattr(gallery, "FIGURES", {})
    monkeypatch.setattr(
        gallery, "OF_A_MODEL", {name: gallery.OF_A_MODEL[name] for name in ("model-rounds", "model-margins")}
    )
    assert main(["--model", str(path), "--out", str(tmp_path), "--format", "svg", "--quick"]) == 0
    printed = capsys.readouterr()
    assert "  not drawn: " in printed.err
    assert [line.rsplit("/", 1)[1] for line in printed.out.splitlines()] == [
        f"model-margins.{kind}" for kind in ("svg", "txt", "tex")
    ]


def test_the_explorer_has_a_command_of_its_own(monkeypatch):
    seen = []
    explorer = types.ModuleType("figures.explorer")
    explorer.main = lambda argv: seen.append(argv) or 3
    monkeypatch.setitem(sys.modules, "figures.explorer", explorer)
    monkeypatch.setattr("figures.explorer", explorer, raising=False)
    assert main(["explorer", "--model", "x.pt"]) == 3
    assert seen == [["--model", "x.pt"]]
    assert "explorer" not in NAMES
