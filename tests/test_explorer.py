"""The explorer without a browser: what is in the page, and its scripts run by node where there is one."""

import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from adanet_theory import catalogue
from adanet_theory.risk import margin
from adanet_theory.twins.latex import latex_definition, latex_of
from adanet_theory.twins.symbolic import STATEMENTS
from adanet_train.model import model_file
from figures import explorer
from figures.explorer import content, mathml, network, page
from tests.explorer_settings import Reference, State, random_state
from tests.refusals import refuses
from tests.verify_models import class_model
from tests.verify_models import model as small_model
from verify.show import stylesheet

BOUNDS = catalogue.ids(content.BOUNDS)
TWO = catalogue.ids(catalogue.theory())
POSTERIOR = [bound.id for bound in catalogue.theory() if bound.scale == "B"]
SETTINGS = [random_state(seed) for seed in range(300)]


@pytest.fixture(scope="module")
def whole() -> str:
    return page.document()


# The page


class ExplorerPage(HTMLParser):
    """Tags in balance, every id once, every label tied to a field, and nothing that reaches out to the network."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.fors: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        self.ids += [attributes["id"] or ""] if "id" in attributes else []
        self.fors += [attributes["for"] or ""] if "for" in attributes else []
        assert not any(name in ("src", "srcset", "action", "style") or name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(whole: str) -> None:
    page = ExplorerPage(whole)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.fors) <= set(page.ids)
    assert not set(page.tags) & {"link", "img", "iframe", "object", "embed", "base"}
    assert page.tags.count("script") == 1
    assert not re.search(
        r"https?:|//\w+\.|@import|url\((?!#)|fetch\(|XMLHttp|WebSocket|import\(|eval\(|innerHTML", whole
    )
    assert "default-src 'none'" in whole


def test_the_page_shares_the_stylesheet_of_the_reports(whole: str) -> None:
    assert stylesheet.STYLE in whole
    assert "prefers-color-scheme: dark" in whole


def test_equal_calls_give_equal_bytes(whole: str) -> None:
    assert page.document() == whole


def test_every_statement_is_there_with_the_formula_of_each_term(whole: str) -> None:
    for id in BOUNDS:
        article = whole[whole.index(f'id="b-{id}"') :].partition("</article>")[0]
        for name, term in STATEMENTS[id].terms.items():
            assert mathml.math(latex_of(term), display=True) in article
            assert f'data-term="{name}"' in article


def test_the_formulas_are_the_printed_ones(whole: str) -> None:
    for id in (*BOUNDS, *content.LEMMAS):
        for depth in (1, content.DEPTHS):
            assert STATEMENTS[id].javascript(depth) in whole


def test_nothing_of_a_file_ends_the_script() -> None:
    hostile = {**content.STATE, "note": "</script><script>alert(1)"}
    assert "</script" not in content.data(hostile, margins=None, depths=3)


# MathML


def shown(latex: str) -> ElementTree.Element:
    return ElementTree.fromstring(mathml.math(latex))


SIGNS = {
    x: f"\\{name}" for name, x in {**mathml._GREEK, **mathml._UPRIGHT, **mathml._OPERATORS, **mathml._TALL}.items()
}
SIGNS |= {"−": "-", "′": "'"}
SIGNS |= {x: rf"\{font} {letter}" for font, letters in mathml._FONTS.items() for letter, x in letters.items()}


def unread(node: ElementTree.Element) -> str:
    """MathML as LaTeX again, every argument in braces and no spaces."""
    parts = [unread(child) for child in node if child.get("class") != "bracket"]
    scripts = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}
    if node.tag in ("mi", "mn", "mo", "mtext"):
        word = node.text or ""
        named = word in mathml._NAMED or (node.tag == "mtext" and rf"\text{{{word}}}")
        return (named if isinstance(named, str) else rf"\{word}" if named else SIGNS.get(word, word)) or word
    if node.tag == "mrow" and len(node) == 3 and node[1].get("linethickness") == "0":
        return rf"\binom{parts[1].removeprefix(chr(92) + 'frac')}"
    if node.tag == "mfrac":
        return rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    if node.tag == "msqrt":
        return rf"\sqrt{{{''.join(parts)}}}"
    if node.get("accent"):
        return rf"\widehat{{{parts[0]}}}"
    if node.tag == "mover" and node[1].text == "‾":
        return rf"\overline{{{parts[0]}}}"
    if node.tag in scripts:
        return f"{parts[0]}{scripts[node.tag]}{{{parts[1]}}}"
    if node.tag in ("msubsup", "munderover"):
        return f"{parts[0]}_{{{parts[1]}}}^{{{parts[2]}}}"
    if node.tag == "mtable":
        rows = [" & ".join("".join(map(unread, cell)) for cell in row) for row in node]
        return r"\begin{cases}" + r"\\".join(rows) + r"\end{cases}"
    return "".join(parts).replace(r"{\begin", r"\begin")


def braced(latex: str) -> str:
    """LaTeX of our printer in the same form: one token after _, ^ or a command takes braces, other brackets go."""
    latex = re.sub(r"\\(?:mathrm|operatorname)\{(\w+)\}", r"\1", latex)
    latex = re.sub(r"\\(left|right|Big)\b|\\:", "", latex)
    latex = re.sub(r"\\frac(\w)(\w)", r"\\frac{\1}{\2}", latex)
    latex = re.sub(r"([_^])(\\[a-z]+|\w)", r"\1{\2}", latex)
    latex = re.sub(r"\^\*(_\{[^}]*\})", r"\1^{*}", latex)
    latex = re.sub(r"\{(\\binom.*)\}$", r"\1", latex)
    latex = re.sub(r"\\widehat ?(\w)", r"\\widehat{\1}", latex)
    for side in ("ceil", "floor"):
        latex = latex.replace(rf"\l{side}{{", rf"\l{side}").replace(rf"}}\r{side}", rf"\r{side}")
    latex = re.sub(r"\|\{(\\?\w+(?: ?\w+_\{\w+\}|_\{\w+\})?)\}\|", r"|\1|", latex)
    return re.sub(r"\s", "", latex)


def formulas(id: str) -> list[str]:
    """The LaTeX of a statement's terms and definitions."""
    statement = STATEMENTS[id]
    defined = [part for x in statement.definitions for part in latex_definition(x).split("$")[1::2]]
    given = [part for clause in statement.given for part in clause.split("$")[1::2]]
    return [*map(latex_of, [statement.lhs, *statement.terms.values()]), *defined, *given]


@pytest.mark.parametrize("id", STATEMENTS)
def test_mathml_reads_back_to_the_latex(id: str) -> None:
    for latex in formulas(id):
        assert re.sub(r"\s", "", unread(shown(latex))) == braced(latex)


def test_mathml_keeps_what_stands_where() -> None:
    fraction = shown(r"\frac{a + b}{c}").find("mfrac")
    assert fraction is not None
    assert ["".join(part.itertext()) for part in fraction] == ["a+b", "c"]
    assert "".join(shown(r"\|\mathbf w_{k}\|_1 |h|").itertext()) == "‖𝐰k‖1|h|"
    assert [x.tag for x in shown(r"\sum_{k=1}^{l} x_{s}^{2}")] == ["munderover", "msubsup"]
    assert len(shown(r"\begin{cases} 1 & \text{for}\: d = 0 \\2 & \text{otherwise} \end{cases}").findall(".//mtr")) == 2


@pytest.mark.parametrize("latex", [r"\underline x", r"\left( x", r"\sqrt{x", r"x \& y", r"\frac{1}"])
def test_mathml_refuses_what_it_does_not_know(latex: str) -> None:
    with pytest.raises(ValueError):
        mathml.math(latex)


# The scripts, by node

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def by_node(expression: str, states: list[State], document: str) -> Any:
    """The value of an expression in `states` after the page's own data, formulas and the scripts without a document."""
    script = document.partition("<script>")[2].partition("// The curves:")[0].replace('"use strict";', "")
    given = json.dumps([{**state, "p": "inf" if state["p"] == math.inf else state["p"]} for state in states])
    program = f"{script}\nconst states = {given}.map((x) => ({{...x, p: number(x.p)}}));\n"
    program += f"console.log(JSON.stringify({expression}));"
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


EVALUATE = "states.map((state) => { const {bounds, layers} = evaluate(state); return {bounds, layers}; })"


def compare(page: Any, state: State, margins: list[float] | None = None) -> None:
    """Every term, sum, index, layer and reason of the page against the numeric modules."""
    reference = Reference(state, margins)
    expected = reference.bounds()
    assert {row["id"] for row in page["bounds"]} == set(expected)
    for row in page["bounds"]:
        bound = expected[row["id"]]
        for name, term in bound.terms.items():
            assert row["terms"][name] == (None if term is None else pytest.approx(term, rel=1e-12, abs=1e-300)), row
        raw = bound.raw
        assert row["raw"] == (None if raw is None else pytest.approx(raw, rel=1e-12)), (row, state)
        assert row["vacuous"] == bound.is_vacuous
        assert row["j"] == bound.j
        assert row["whyNot"] == reference.why_not(row["id"], content.NEEDS), (row, state)
    layers = {f"{name} {row['k']}": row[name] for row in page["layers"] for name in ("lemma-2", "peeled", "R_S", "M")}
    assert layers == pytest.approx(reference.layers(), rel=1e-12)


@needs_node
def test_the_scripts_agree_with_the_numeric_modules(whole: str) -> None:
    assert by_node("states.map(faults)", SETTINGS, whole) == [[]] * len(SETTINGS)
    decided = 0
    for state, each in zip(SETTINGS, by_node(EVALUATE, SETTINGS, whole), strict=True):
        if not Reference(state).near_a_jump():
            compare(each, state)
            decided += 1
    assert decided > 0.95 * len(SETTINGS)


@needs_node
def test_the_settings_see_every_reason_and_every_kind(whole: str) -> None:
    """The comparison above would prove little if no setting failed an assumption, or none applied."""
    rows = [row for each in by_node(EVALUATE, SETTINGS, whole) for row in each["bounds"]]
    assert {name for row in rows for name in row["whyNot"]} == set(content.NEEDS)
    for id in BOUNDS:
        mine = [row for row in rows if row["id"] == id]
        assert {bool(row["whyNot"]) for row in mine} == {True, False}
        assert {row["vacuous"] for row in mine} == {True, False}
    assert any(row["raw"] is None for row in rows)


@needs_node
def test_a_link_restores_the_state(whole: str) -> None:
    back = by_node(
        "states.map((state) => { const x = read(write(state)); return {...x, p: String(x.p)}; })", SETTINGS, whole
    )
    for state, each in zip(SETTINGS, back, strict=True):
        assert each == {**state, "p": "Infinity" if state["p"] == math.inf else f"{state['p']:g}"}


@needs_node
def test_a_link_that_is_none_of_ours_is_refused(whole: str) -> None:
    good = by_node("write(states[0])", [content.STATE], whole)
    broken = ["x=1", "n=1", good.replace("phi=relu", "phi=toString"), good.replace("n=16", "n=16*16"), "%E0%A4%A"]
    for text in broken:
        assert by_node(f"read({json.dumps(text)})", [], whole) is None, text
    assert by_node(f"read({json.dumps(good)})", [], whole) is not None


@needs_node
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"m": 0}, "m must be an integer in [1, 1e15], got 0."),
        ({"C": 1}, "C must be an integer in [2, 1e15], got 1."),
        ({"delta": 1.5}, "delta must be in (0, 1), got 1.5."),
        ({"delta": 0}, "delta must be in (0, 1), got 0."),
        ({"rho": 0}, "rho must be > 0 and finite, got 0."),
        ({"p": 0.5}, "p must be in [1, inf], got 0.5."),
        ({"r_sup": 0.5}, "r_sup must be ≥ r_inf, got 0.5."),
        ({"r_rms": 1.5}, "r_rms must be in [0, r_inf], got 1.5."),
        ({"margin_error": 2}, "margin_error must be in [0, 1], got 2."),
        ({"margin_error": 0.1, "ramp": 0.2}, "ramp must be in [0, margin error], got 0.2."),
        ({"d": 3}, "d must be in [0, l - 1], got 3."),
        ({"n": [16, 16, 1.5, 16]}, "n_2 must be an integer in [1, 1e15], got 1.5."),
        ({"Lambda": [[0.25], [-1], [0, 0.25]]}, "Lambda_2,1 must be finite and ≥ 0, got -1."),
    ],
)
def test_what_is_no_setting_is_said(whole: str, change: State, said: str) -> None:
    (numbers_of,) = by_node("states.map(faults)", [{**content.STATE, **change}], whole)
    assert [sentence for _, sentence in numbers_of] == [said]


@needs_node
def test_the_zero_function_has_the_bound_one(whole: str) -> None:
    nothing = {**content.STATE, "w": [0, 0, 0]}
    narrow = {**content.STATE, "Lambda": [[0.25], [0], [0, 0.25]]}
    flat = {**content.STATE, "B": 0}
    numbers_of = by_node(EVALUATE, [nothing, narrow, flat], whole)
    assert {row["id"]: row["raw"] for row in numbers_of[0]["bounds"]} == dict.fromkeys(TWO, 1)
    ranged = {"margin-bound-uniform", *POSTERIOR}  # all weight is on a layer that is 0; M_1 > 0
    assert {row["id"] for row in numbers_of[1]["bounds"] if row["raw"] == 1} >= ranged
    assert {row["id"] for row in numbers_of[2]["bounds"] if row["raw"] == 1} == set(POSTERIOR)
    trivial = margin.zero_function("margin-bound", "ramp").terms
    assert numbers_of[0]["bounds"][3]["terms"] == trivial


@needs_node
def test_margins_beyond_the_range_are_called_impossible(whole: str) -> None:
    """|f/W| <= 1 in the opening family, so at rho >= 1 the margin error of every member is 1."""
    settings = [{**content.STATE, "rho": rho, "margin_error": error} for rho in (0.99, 1.0) for error in (0.5, 1.0)]
    assert by_node("states.map((state) => evaluate(state).impossible)", settings, whole) == [False, False, True, False]


@needs_node
def test_another_depth_copies_the_layer_below_and_keeps_the_weight_on_top(whole: str) -> None:
    shown = "[atDepth(states[0], 5), atDepth(states[0], 1), atDepth(atDepth(states[1], 4), 2)]"
    skips = {**content.STATE, "Lambda": [[1], [2], [3, 4]], "w": [1, 2, 0], "n": [7, 8, 9, 10], "phi": ["abs", "tanh"]}
    deeper, linear, back = by_node(shown, [content.STATE, skips], whole)
    assert (deeper["n"], deeper["w"], deeper["phi"]) == ([16] * 6, [0, 0, 0, 0, 1], ["relu"] * 4)
    assert deeper["Lambda"] == [[0.25], [0.25], [0, 0.25], [0, 0, 0.25], [0, 0, 0, 0.25]]
    assert (linear["n"], linear["w"], linear["phi"], linear["Lambda"]) == ([16, 16], [1], [], [[0.25]])
    assert (back["n"], back["w"], back["Lambda"], back["phi"]) == ([7, 8, 9], [1, 2], [[1], [2]], ["abs"])
    (skipping,) = by_node("[atDepth(states[0], 4)]", [skips], whole)
    assert skipping["Lambda"][3] == [3, 3, 4]
    assert (skipping["w"], skipping["phi"], skipping["n"]) == ([1, 2, 0, 0], ["abs", "tanh", "tanh"], [7, 8, 9, 10, 10])


@needs_node
def test_numbers_are_rounded_up(whole: str) -> None:
    numbers = [0.18669524, 44.90001, 1, 1234567, 0.00012345678, 0, 0.99999, 123456, 1e-7, 0.2109362371]
    numbers_of = by_node(f"{json.dumps(numbers)}.map((x) => up(x))", [], whole)
    assert numbers_of[:4] == ["0.1867", "44.91", "1", "1.235e6"]
    for number, text in zip(numbers, numbers_of, strict=True):
        assert number <= float(text) <= number * (1 + 1.001e-3)


@needs_node
def test_a_slider_gives_back_the_value_it_shows(whole: str) -> None:
    back = (
        "Object.values(VARIABLES).flatMap((x) => [0, 0.25, 0.5, 1].map((t) => valueAt(x, t)).map((value) =>"
        " [value === Infinity ? 'inf' : value, valueAt(x, position(x, value)) === value]))"
    )
    numbers_of = by_node(back, [], whole)
    assert all(same for _, same in numbers_of), numbers_of


# A trained network


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("model") / "model.pt"
    model_file.write(path, small_model())
    return path


@needs_node
@pytest.mark.parametrize("classes", ["two", "many"])
def test_a_model_opens_with_what_verify_bounds_says_of_it(classes: Any, tmp_path: Any) -> None:
    from verify.measure.arithmetic import ETA
    from verify.reading.case import read_file
    from verify.records.question import Question
    from verify.rows.report import build

    saved, fixed_rho = tmp_path / "model.pt", [b.id for b in catalogue.theory(classes) if b.scale == "rho"]
    model_file.write(saved, small_model() if classes == "two" else class_model())
    state, margins, words = network.opening(saved)
    assert state["C"] == (2 if classes == "two" else 3)
    report = build(read_file(str(saved)).model, Question(draws=None, rho=state["rho"]))
    (document,) = by_node(EVALUATE, [state], page.document(state, margins=margins, words=words))
    rows = {row["id"]: row for row in document["bounds"]}
    theory = [row for row in report.bounds if row.group in ("paper", "corrected")]
    assert {row.id for row in theory} == set(rows)
    for row in theory:
        if row.id in fixed_rho and catalogue.bound(row.id).complexity != "R_S":
            # the page has the formula, the row the program: its 1/ρ is larger by a factor 1/(1-η), squared in C
            raw, steeper = rows[row.id]["raw"], 1 / (1 - ETA["float64"]) ** 2
            assert (raw is None) == (row.raw is None)
            assert raw is None or raw * (1 - 1e-10) <= row.raw <= raw * steeper * (1 + 1e-10)
        chosen = {"fixed-in-advance"} if "rho" in state["unmet"] else set()
        assert set(rows[row.id]["whyNot"]) - chosen == set(row.why_not) - chosen, row.id


@needs_node
def test_a_models_margins_give_the_losses_at_every_margin(saved: Any) -> None:
    opening, margins, words = network.opening(saved)
    document = page.document(opening, margins=margins, words=words)
    exact = [u for u, count in zip(margins["u"], margins["count"], strict=True) for _ in range(count)]
    settings = [random_state(seed, of_model=True) for seed in range(100)]
    positive = [u for u in exact if u > 0]
    settings += [{**opening, "rho": u} for u in positive[:: len(positive) // 5]]  # a margin equal to rho is an error
    open_ended = 0
    for state, each in zip(settings, by_node(EVALUATE, settings, document), strict=True):
        if not Reference(state, exact).near_a_jump():
            compare(each, state, exact)
            open_ended += state["margin_error"] is None
    assert open_ended > 30


def test_blocks_of_margins_err_on_the_safe_side() -> None:
    u = np.random.default_rng(0).normal(1.0, 1.0, size=5003)
    counted = network.blocks(u, most=100)
    assert len(counted["u"]) == 100
    assert sum(counted["count"]) == len(u)
    kept = np.repeat(counted["u"], counted["count"])
    for rho in (0.1, 0.5, 2.0):
        assert margin.margin_error(u, rho) <= margin.margin_error(kept, rho) <= margin.margin_error(u, rho) + 0.011
        assert margin.ramp_loss(u, rho) <= margin.ramp_loss(kept, rho) <= margin.ramp_loss(u, rho) + 0.03
    assert network.blocks(u[:7]) == {"u": sorted(u[:7].tolist()), "count": [1] * 7}


# What the page takes over from verify-bounds, and the command


@pytest.mark.parametrize("classes", ["two", "many"])
def test_the_needs_are_those_of_verify_bounds(classes: Any) -> None:
    from verify.records.question import Question
    from verify.rows.report import build

    report = build(small_model() if classes == "two" else class_model(), Question(draws=None))
    ids = set(catalogue.ids(catalogue.theory(classes)))
    # what only certificates need, and what the page is about: f/W, and formulas, not programs
    elsewhere = ("linear", "normalised", "arithmetic")
    theirs = {row.id: set(row.statements) & ids for row in report.assumptions if row.id not in elsewhere}
    ours = {id: set(statements) & ids for id, statements in content.NEEDS.items()}
    assert {id: each for id, each in ours.items() if each} == {id: each for id, each in theirs.items() if each}
    assert classes == "many" or list(theirs) == list(content.NEEDS)


def test_the_command_writes_the_page(tmp_path: Any, saved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    plain, of_model = tmp_path / "deep" / "explorer.html", tmp_path / "model.html"
    assert explorer.main(["--out", str(plain)]) == 0
    assert explorer.main(["--model", str(saved), "--out", str(of_model)]) == 0
    assert capsys.readouterr().out.split() == [str(plain), str(of_model)]
    assert plain.read_text(encoding="utf-8") == page.document()
    assert "It opens with a trained network" in of_model.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"), [(["--model", "no.pt"], "no.pt"), (["--modle", "x"], "unrecognized arguments: --modle x")]
)
def test_what_cannot_be_used_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    refuses(explorer.main, arguments, capsys, said)
