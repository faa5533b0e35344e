"""What is printed is what the report holds: nothing lost, nothing computed, every rounding to the safe side."""

import io
import json
import math
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from adanet_theory.rounding import probability
from tests.example_report import HOSTILE, OUTSIDE, REPORT, SIGMOID
from tests.refusals import says
from verify.records.results import Assumption, CheckRow, Citation
from verify.show import render, wording

REPORTS = [REPORT, SIGMOID, OUTSIDE]


def shown(report, *, verbose=False, width=80, **options) -> str:
    file = io.StringIO()
    render.text(report, verbose=verbose, console=Console(file=file, width=width, **options))
    return file.getvalue()


def every(report) -> str:
    """The part of the verbose text with a line for each statement."""
    text = shown(report, verbose=True)
    return text[text.index("Every statement") :]


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(start))


# Numbers


@given(st.floats(min_value=-1e300, max_value=1e300), st.integers(1, 8))
def test_bounds_are_rounded_up_lower_values_down_and_by_less_than_a_digit(x, digits):
    above, below = (Decimal(shape(x, digits)) for shape in (wording.up, wording.down))
    exact = Decimal(x)
    assert below <= exact <= above
    if x:
        assert max(above - exact, exact - below) < Decimal(1).scaleb(exact.adjusted() - digits + 1)
        # 0.5 more than the half of that digit, as nearest may cross a power of ten
        assert abs(Decimal(wording.near(x, digits)) - exact) <= Decimal("0.5").scaleb(exact.adjusted() - digits + 1)


@given(st.floats(min_value=1e-99, max_value=1e99))
def test_numbers_are_short(x):
    assert len(wording.up(x)) <= 9


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.1867, "0.1868"), (1.0, "1"), (53001.0, "53010"), (1e6, "1e6"), (9.9999, "10"), (1e-9, "1.001e-9")],
)
def test_shapes_of_a_bound(x, text):
    assert wording.up(x) == text


# JSON

KEYS = {
    "": "schema subject model declared sample undecided rho delta rho_chosen assumptions complexities bounds checks "
    "test cite tried compared classes base_rate class_errors notes advice verdict",
    "model": "sha256 depth n activation w_norms W measured path_norm layered graph",
    "declared": "p q n Lambda",
    "sample": "m r_inf r_rms margin_error ramp train_error",
    "assumptions": "id status holds detail",
    "complexities": "k lower upper stderr draws method confidence lemma-1 lemma-2 lemma-1-corrected lemma-2-peeled",
    "bounds": "id group about delta raw value terms applies why_not vacuous rho m_needed norms_needed at_tenth at_rho",
    "checks": "claim k lhs rhs exact applies verdict",
    "test": "error n upper class_errors",
    "cite": "id value delta among compared assumes about",
}


@pytest.mark.parametrize("report", REPORTS)
def test_json_has_exactly_the_keys_of_the_schema(report):
    document = json.loads(render.to_json(report))
    assert list(document) == KEYS[""].split()
    for name, keys in KEYS.items():
        entries = document.get(name) or []
        for entry in entries if isinstance(entries, list) else [entries]:
            assert list(entry) == keys.split()
    assert document["schema"] == "verify-bounds/1"


def test_json_holds_the_numbers_unrounded():
    document = json.loads(render.to_json(REPORT))
    assert document["declared"] == {"p": 1.0, "q": "inf", "n": [154, 3000, 150], "Lambda": {"1,0": 1.0, "2,1": 1.01}}
    assert document["model"]["activation"] == "relu"
    assert document["model"]["measured"] == {"1,0": 0.9990001, "2,1": 1.0}
    bounds = {row["id"]: row for row in document["bounds"]}
    assert bounds["a-posteriori"]["raw"] == bounds["a-posteriori"]["value"] == 0.210936237151
    assert bounds["a-posteriori"]["terms"]["j"] == 16
    assert "j" not in bounds["theorem-1"]["terms"]
    assert (bounds["theorem-1"]["value"], bounds["theorem-1"]["why_not"]) == (None, ["range", "r-sup"])
    assert bounds["corollary-1"]["raw"] is None
    assert [row["holds"] for row in document["assumptions"]] == [True, True, True, False, None]
    assert json.loads(render.to_json(SIGMOID))["declared"] is None


def test_json_has_no_nan_no_infinity_and_no_numpy():
    odd = replace(REPORT, sample=replace(REPORT.sample, r_inf=math.inf, ramp=np.float64("nan"), m=np.int64(7)))
    text = render.to_json(odd)
    document = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert (document["sample"]["r_inf"], document["sample"]["ramp"], document["sample"]["m"]) == (None, None, 7)


@pytest.mark.parametrize(
    ("names", "expected"),
    [((), None), (("relu", "relu"), "relu"), (("relu", "leaky_relu:0.1"), ["relu", "leaky_relu:0.1"])],
)
def test_json_names_activations_as_the_model_file_does(names, expected):
    report = replace(REPORT, model=replace(REPORT.model, activation=names))
    assert json.loads(render.to_json(report))["model"]["activation"] == expected


# Text


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_and_are_plain_when_piped(report, verbose, width):
    text = shown(report, verbose=verbose, width=width)
    assert max(map(len, text.splitlines())) <= min(max(width, 80), 100)
    assert "\x1b" not in text
    assert text.isascii()


def test_one_screen_with_the_answer_first():
    for report in REPORTS:
        lines = shown(report).splitlines()
        assert len(lines) <= 24
        assert lines[0].startswith("Answer ")
        assert "R_S(H_k)" not in "".join(lines)
        assert "golowich" not in "".join(lines)
    assert wording.errors(REPORT) in " ".join(shown(REPORT).split())
    deep = replace(REPORT, complexities=tuple(replace(REPORT.complexities[1], k=k) for k in range(1, 40)))
    assert len(shown(deep).splitlines()) == len(shown(REPORT).splitlines())
    assert len(re.findall(r"^ *\d+ +0\.01100 \.\. 0\.02180", shown(deep, verbose=True), flags=re.MULTILINE)) == 39


def test_a_statement_that_does_not_apply_shows_its_reason_and_no_number():
    line = line_of(shown(REPORT, verbose=True), "theorem-1 ")
    assert line.split(maxsplit=1)[1] == "fails: range; open: r-sup"
    assert "44.9" not in shown(REPORT)
    verbose = " ".join(shown(REPORT, verbose=True).split())
    says(verbose, ["formula only", "44.92", "margin error 0.04063"])
    assert "formula only, no bound here: undefined from" in verbose


def test_rows_stand_under_what_may_be_done_with_them():
    text = shown(REPORT, verbose=True)
    text = text[text.index("Every statement") :]
    places = [text.index(title.format("0.95")) for title in wording.GROUPS.values()]
    assert places == sorted(places)
    cite, vacuous, not_, context = places
    assert cite < text.index("\n    a-posteriori ") < vacuous < text.index("\n    margin-bound ") < not_
    assert not_ < text.index("\n    corollary-1") < context < text.index("\n    golowich-l1")


def test_both_scales_of_rho():
    """margin-bound: rho = 0.1 of f/W is 1.225 of f; a-posteriori: its rho_j = 8 of f is 8/12.25 of f/W."""
    text = every(REPORT)
    assert " ".join(line_of(text, "margin-bound ").split()) == "margin-bound 1 2.341 0.1 1.225 needs m = 53,001"
    assert " ".join(line_of(text, "a-posteriori ").split()) == "a-posteriori 0.2110 0.2110 0.6531 8 j = 16"
    zero = replace(REPORT, model=replace(REPORT.model, W=0.0))
    assert line_of(every(zero), "a-posteriori ").split()[3:5] == ["-", "8"]


def test_layers_are_enclosed_outward():
    assert (
        " ".join(line_of(shown(REPORT, verbose=True), "1   0").split())
        == "1 0.01234 .. 0.01457 2.4e-4 - 0.02341 - 0.02341"
    )


def test_assumptions_are_shown_when_verbose():
    text, verbose = shown(REPORT), shown(REPORT, verbose=True)
    assert "Assumptions" not in text
    assert "Assumptions: 3 hold, 0 assumed, 1 fails, 1 open" in verbose
    assert line_of(verbose, "FAILS").split()[1] == "range"
    assert line_of(verbose, "open").split()[1] == "r-sup"
    assert "needed by theorem-1, margin-bound" in verbose


def test_markup_of_a_file_is_text():
    assert HOSTILE in shown(SIGMOID, width=100)
    assert HOSTILE in shown(SIGMOID, width=100, force_terminal=True, color_system="truecolor")


# The verdict


def test_the_sentence_quotes_the_citation_with_what_was_paid_and_what_it_assumes():
    sentence = wording.sentence(REPORT)
    says(sentence, ["risk", "at most 0.1902", "probability at least 0.95 over the sample"])
    says(sentence, ["a-posteriori-bounded", "delta = 0.01", "least of 5"])
    says(sentence, ["(iid)", "(r-sup)", "2,400 held-out points", "0.01530"])
    named = replace(REPORT, cite=replace(REPORT.cite, among=1, delta=0.05, assumes=()), test=None)
    assert wording.sentence(named).endswith("by a-posteriori-bounded.")
    tried = replace(named, tried=4)
    assert "4 settings tried" in wording.sentence(tried)


def test_the_statements_that_say_nothing_are_counted_and_the_papers_own_named():
    paper = replace(REPORT.bounds[0], id="corollary-1", group="paper")
    report = replace(REPORT, bounds=(paper, *REPORT.bounds[1:]), base_rate=0.2)
    silent = [row for row in report.bounds if not row.context and not wording.says(row, report)]
    assert 0 < len(silent) < len(report.bounds)
    assert all(row.value < report.base_rate for row in report.bounds if wording.says(row, report))
    assert wording.others(report).startswith(f"{len(silent)} statements say nothing or do not apply (the paper's")
    assert "corollary-1 among them" in wording.others(report)
    says(wording.others(replace(report, bounds=(paper,))), ["1 statement says nothing"])
    assert wording.others(replace(report, bounds=())) == ""


def test_a_certificate_shows_its_setting_and_rounds_b_down():
    row = next(row for row in REPORT.bounds if row.group == "certificate")
    assert wording.remark(row, REPORT) == "N = 20,480, KL = 197.1, b = 0.9334"
    assert "k 10,347, beta 0.003, empirical 0.05" in wording.terms(row)
    held_out = next(row for row in REPORT.bounds if row.group == "held-out")
    assert wording.remark(held_out, REPORT) == "26 errors on 2,400 points (Clopper-Pearson)"


def test_the_sentence_where_the_price_of_choosing_is_too_high():
    unpaid = replace(REPORT, cite=None, test=None, among=5)
    says(wording.sentence(unpaid), ["delta = 0.01", "5 statements", "none is below 1"])


def test_the_sentence_when_nothing_applies_or_all_is_vacuous():
    nothing = "Nothing can be certified from the training points alone"
    assert wording.sentence(SIGMOID) == f"{nothing}: no bound applies to this network."
    vacuous = replace(REPORT, bounds=REPORT.bounds[:3], test=None, cite=None)
    assert wording.sentence(vacuous) == f"{nothing}: every bound that applies is 1 or more."


def test_the_sentence_names_what_is_violated():
    says(wording.sentence(OUTSIDE), ["declared family", "unit 17 of layer 2", "1.02 > Lambda_{2,1} = 1.01"])
    broken = replace(
        REPORT, verdict="violated", checks=(CheckRow("margin-bound", None, 0.5, 0.2, True, True, "violated"),)
    )
    assert wording.sentence(broken).startswith("Violated: margin-bound is violated: exact value 0.5")
    assert "at most" not in wording.sentence(broken)


def test_a_violation_outside_the_assumptions_is_shown_and_changes_no_verdict():
    says(shown(SIGMOID, width=100), ["lemma-1 is violated", "k = 2", "0.1367 > 0", "does not apply"])
    assert "Violated" not in wording.sentence(SIGMOID)


def test_probability_is_that_of_the_typed_decimal():
    assert [probability(delta) for delta in (0.05, 0.1, 1e-7)] == ["0.95", "0.9", "0.9999999"]


# HTML


class ReportPage(HTMLParser):
    """Tags in balance, every id once, and what would reach out to the network."""

    VOID = frozenset({"meta", "br", "path", "use", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        for name, value in attributes:
            assert name not in ("src", "srcset", "action", "style") or tag not in ("img", "script", "iframe", "link")
            assert not name.startswith("on")
            if name in ("href", "xlink:href"):
                assert value.startswith("#")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("report", REPORTS)
def test_the_page_is_whole_and_needs_nothing_else(report):
    text = render.to_html(report)
    page = ReportPage(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert not page.tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text
    used = set(re.findall(r"url\(#([^)]*)\)", text)) | set(re.findall(r'href="#([^"]*)"', text))
    assert used <= set(page.ids)


def test_the_page_says_what_the_terminal_says():
    words = " ".join(ReportPage(render.to_html(REPORT)).words)
    for said in (wording.sentence(REPORT), wording.network(REPORT), wording.sample(REPORT)):
        assert said in words
    for row in REPORT.bounds:
        assert row.id in words
    assert "0.1867" in words
    assert words.count("44.92") == 1  # only as a formula
    named = replace(REPORT, sources={"model": "net.pt", "data": HOSTILE, "made on": "2026-01-02"})
    whole = ReportPage(render.to_html(named))
    assert f"model net.pt; data {HOSTILE}; made on 2026-01-02; delta 0.05." in " ".join(whole.words)
    assert whole.open == []
    assert not whole.tags & {"script"}


def test_nothing_of_a_file_becomes_markup():
    report = replace(
        SIGMOID,
        model=replace(SIGMOID.model, activation=(HOSTILE,), sha256=HOSTILE),
        assumptions=(Assumption(HOSTILE, "fails", HOSTILE, (HOSTILE,)),),
        complexities=(replace(SIGMOID.complexities[0], method=HOSTILE),),
        bounds=(replace(SIGMOID.bounds[0], id=HOSTILE, why_not=(HOSTILE,), terms={HOSTILE: 1.0}),),
        checks=(CheckRow(HOSTILE, 1, 0.0, 1.0, True, True, "holds"),),
        curves={HOSTILE: SIGMOID.curves["a-posteriori"]},
    )
    page = ReportPage(render.to_html(report))
    assert not page.tags & {"script"}
    assert page.open == []


def test_equal_reports_give_equal_bytes():
    assert render.to_html(REPORT) == render.to_html(REPORT)


def test_a_report_without_estimates_or_curves_has_a_page():
    bare = replace(REPORT, complexities=(), checks=(), curves={}, margins=np.zeros(0), bounds=(), test=None)
    page = ReportPage(render.to_html(bare))
    assert "None were estimated." in " ".join(page.words)
    assert shown(bare, verbose=True)


# TeX


def test_checks_are_shown_where_no_complexity_was_estimated() -> None:
    """A network without layers has none, and its bounds are checked against held-out points all the same."""
    for report in (REPORT, SIGMOID):
        text = shown(replace(report, complexities=()), verbose=True)
        assert all(wording.outcome(check) in " ".join(text.split()) for check in report.checks)
    assert wording.violation(SIGMOID.checks[0]) in " ".join(
        shown(replace(SIGMOID, complexities=()), verbose=True).split()
    )


def test_the_table_is_booktabs_with_five_columns_and_escapes():
    report = replace(
        REPORT,
        bounds=(
            *(replace(REPORT.bounds[3], id=part) for part in (HOSTILE[:24], HOSTILE[24:44], HOSTILE[44:])),
            *REPORT.bounds,
            replace(REPORT.bounds[2], raw=1.5e9),
        ),
    )
    lines = render.to_tex_all(report).splitlines()
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    for line in body:
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == 4
    starts = [
        r"$<$script$>$alert(1)$<$/script &",
        r"$>$ \& [red]x[/red] \textbackslash{}in &",
        r"put\{x\} \%\_\# &",
    ]
    assert all(line.startswith(start) for line, start in zip(body, starts, strict=False))
    assert r"theorem-1 & -- & -- & -- & fails: range; open: r-sup \\" in body
    assert any(r"$1.5 \cdot 10^{9}$" in line for line in body)
    assert any(line.startswith("held-out & 0.01530") for line in body)


def test_the_table_of_one_row_is_what_may_be_quoted():
    lines = render.to_tex(REPORT).splitlines()
    row = lines[lines.index(r"\midrule") + 1]
    assert row == r"9,600 & 0.0125 & 0.011 & a-posteriori-bounded & 0.1902 & 0.01 & 9,600 & -- \\"
    held_out = render.to_tex(replace(REPORT, cite=Citation("held-out", 0.0153, 0.05, ("iid", "untouched"), 1)))
    assert r"& held-out & 0.01530 & 0.05 & 2,400 & 26 \\" in held_out
    (note,) = [line for line in held_out.splitlines() if line.startswith(r"\multicolumn{8}")]
    says(note, ["held-out points", "(untouched)"])
    nothing = render.to_tex(replace(REPORT, cite=None, test=None))
    assert r"& -- & none & -- & -- & -- & -- \\" in nothing


def test_a_long_name_is_cut_in_the_table_and_leaves_the_numbers_of_the_screen_in_their_columns():
    name = "a-bound-that-somebody-registered"
    report = replace(REPORT, bounds=(replace(REPORT.bounds[3], id=name), *REPORT.bounds))
    assert r"a-bound-that-somebody-r\ldots{} & " in render.to_tex_all(report)
    text = every(report)
    head = line_of(text, "bound ")
    for row in (report.bounds[0], REPORT.bounds[3]):
        minimum = re.search(rf" {row.id} +(\S+)", line_of(text, f"{row.id} "))
        assert minimum is not None
        assert minimum.end(1) == head.index("bound") + len("bound")


def test_the_table_fits_a_column_of_the_paper():
    """Seven-point type in the paper's font; the remark breaks between words, the other columns do not."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font, column = FontProperties(family="STIXGeneral"), 3.25 * 72.27

    def width(text: str) -> float:
        plain = text.replace(r"\cdot", "·").replace("$", "").replace("{", "").replace("}", "")
        return TextPath((0, 0), plain, size=7, prop=font).get_extents().width if plain.strip() else 0.0

    lines = render.to_tex_all(REPORT).splitlines()
    rows = [line.removesuffix(r" \\").split(" & ") for line in lines if line.endswith(r" \\")]
    columns = [max(width(row[i]) for row in rows) for i in range(4)]
    words = [word for row in rows for word in row[4].replace(",", " ").replace("-", "- ").split()]
    assert max(map(width, words)) <= column / 4
    assert sum(columns) + column / 4 + 8 * 2.5 <= column
