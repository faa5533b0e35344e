"""The ledger: complete, consistent, backed by checks that support it and that turn when their example is changed."""

import dataclasses
import functools
import importlib
import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from adanet_theory import catalogue
from adanet_theory.twins.derivations import DERIVATIONS, equal
from paper_notes import CERTIFYING, KINDS, SECTIONS, VERDICTS, claims
from tests.refusals import refused
from verify.claims.checks import Check, Fact, check_of, registered
from verify.claims.pages import bounds, findings, html, markdown
from verify.claims.run import Outcome, document, run, run_all, select
from verify.show.markdown import spliced

ROOT = Path(__file__).parents[1]
LEDGER = claims()
COMPUTED = [claim for claim in LEDGER.values() if not claim.is_read_only]


def marked(id: str, *values: object, name: str = "") -> object:
    return pytest.param(id, *values, marks=pytest.mark.claim(id), id=name or id)


@functools.cache
def outcome(id: str) -> Outcome:
    return run(LEDGER[id])


def check(id: str) -> Check:
    check = check_of(id, LEDGER[id].section)
    assert check is not None
    return check


# The ledger itself


def test_every_number_of_the_first_reading_is_in_one_entry() -> None:
    expected = [f"C{number}" for number in range(1, 83)] + ["C19b", "C19c"]
    assert Counter(number for claim in LEDGER.values() for number in claim.audit) == Counter(expected)


@pytest.mark.parametrize("id", LEDGER)
def test_an_entry_is_whole(id: str) -> None:
    claim = LEDGER[id]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id)
    assert claim.section in SECTIONS
    assert claim.verdict in VERDICTS
    assert claim.kind in KINDS
    assert re.search(r"line", claim.where)
    assert claim.statement.endswith((".", "?", '"'))
    assert claim.correction or claim.verdict == "holds"
    assert (claim.rank is None) == (not claim.headline)


def test_entries_of_a_section_stand_together_and_ranks_differ() -> None:
    sections = [claim.section for claim in LEDGER.values()]
    assert sections == sorted(sections, key=list(SECTIONS).index)
    ranks = [claim.rank for claim in LEDGER.values() if claim.rank]
    assert len(set(ranks)) == len(ranks)
    assert 10 <= len(ranks) <= 16


@pytest.mark.parametrize("id", LEDGER)
def test_the_code_of_a_claim_exists(id: str) -> None:
    module, _, name = LEDGER[id].code.partition(":")
    assert functools.reduce(getattr, name.split("."), importlib.import_module(module)) is not None


def test_every_proof_is_a_heading_of_the_derivations() -> None:
    text = (ROOT / "paper_notes" / "derivations.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {claim.proof for claim in LEDGER.values() if claim.proof} <= anchors


def test_claims_and_checks_name_each_other() -> None:
    for section in SECTIONS:
        importlib.import_module(f"verify.claims.checks.{section}")
    assert registered() == {claim.id for claim in COMPUTED}


def marks() -> dict[str, set[str]]:
    """The ids in @pytest.mark.claim(..) of every test, by file."""
    mark = re.compile(r"mark\.claim\(\"([a-z0-9-]+)\"\)")
    paths = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "verify").rglob("*.py")]
    return {path.name: set(mark.findall(path.read_text(encoding="utf-8"))) for path in sorted(paths)}


def test_tests_name_claims_that_exist() -> None:
    marked = marks()
    assert "h1-exact" in marked["test_estimates.py"]
    for name, ids in marked.items():
        assert ids <= set(LEDGER), f"{name} marks claims that the ledger does not know"


# The evidence


@pytest.mark.parametrize("id", [marked(claim.id) for claim in COMPUTED])
def test_the_check_supports_the_verdict(id: str) -> None:
    assert outcome(id).facts
    assert all(math.isfinite(fact.left) and math.isfinite(fact.right) for fact in outcome(id).facts)
    assert outcome(id).supported, [str(fact) for fact in outcome(id).facts if not fact.holds]


@pytest.mark.parametrize("id", [marked(claim.id) for claim in COMPUTED])
def test_the_check_turns_when_its_example_or_its_formula_is_changed(id: str) -> None:
    assert check(id).flips
    for flip in check(id).flips:
        facts = check(id).facts(**flip)
        assert not all(fact.holds for fact in facts), f"{flip} leaves the evidence as it was"


def test_a_fact_knows_when_it_fails() -> None:
    assert not Fact("a", 1.0, "<", 1.0).holds
    assert not Fact("a", math.nan, "<=", 1.0).holds
    assert not Fact("a", 1.0, "=", 1.1, tolerance=0.01).holds
    assert Fact("a", 1.0, "=", 1.1, tolerance=0.2).holds
    assert str(Fact("a", 1.0, "=", 2.0)) == "a: found 1, expected 2"
    assert str(Fact("a", 1.0, "<", 0.5, "b")) == "a: found 1, expected < 0.5 = b"
    close = str(Fact("a-posteriori", 0.826920503, "=", 0.826920502, tolerance=1e-12))
    assert close == "a-posteriori: found 0.826920503, expected 0.826920502 within 1e-12"


def test_a_claim_without_a_check_is_not_supported() -> None:
    stray = LEDGER["hk-bold"].__class__(**{**vars(LEDGER["hk-bold"]), "kind": "exact"})
    assert not run(stray).supported
    assert run(stray).evidence == "no check"


def test_a_thorough_run_asks_sympy_for_the_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DERIVATIONS, "reflection", DERIVATIONS["corollary-1"])
    thorough = run(LEDGER["reflection"], quick=False)
    assert thorough.supported
    assert thorough.facts[-1].left == len(DERIVATIONS["corollary-1"]) > 3
    wrong = DERIVATIONS["corollary-1"][0]
    wrong = dataclasses.replace(wrong, claim=equal(wrong.claim.lhs, 2 * wrong.claim.rhs))
    monkeypatch.setitem(DERIVATIONS, "reflection", [wrong])
    assert not run(LEDGER["reflection"], quick=False).supported


# The pages


def same(page: str, stored: str) -> bool:
    """Equal words, and numbers that agree to three digits or are both nothing but rounding."""
    number = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d+)?"
    if re.split(number, page) != re.split(number, stored):
        return False
    pairs = zip(re.findall(number, page), re.findall(number, stored), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-7) for a, b in pairs)


def test_numbers_on_a_page_are_compared() -> None:
    assert same("a = 0.13672 (m = 8)", "a = 0.13671 (m = 8)")
    assert same("a = 7.1e-15 <= 1e-12", "a = 3.5e-15 <= 1e-12")
    assert not same("a = 0.136", "a = 0.137")
    assert not same("a = 0.136", "b = 0.136")
    assert not same("a = 1 b", "a = 1")


def test_the_page_of_claims_is_current() -> None:
    """If not: verify-claims --quick --markdown paper_notes/claims.md"""
    stored = (ROOT / "paper_notes" / "claims.md").read_text(encoding="utf-8").splitlines()
    page = markdown([outcome(id) for id in LEDGER]).splitlines()
    assert len(page) == len(stored)
    for ours, theirs in zip(page, stored, strict=True):
        assert same(ours, theirs), f"{theirs!r} is now {ours!r}"


def test_the_table_of_findings() -> None:
    ranked = [outcome(claim.id) for claim in LEDGER.values() if claim.rank]
    table = findings(ranked).splitlines()
    assert len(table) == 5 + 2
    assert {len(re.split(r"(?<!\\)\|", line)) for line in table} == {5}
    assert "lemma-1" in table[2]
    readme = spliced("a\n<!-- findings -->\n<!-- /findings -->\nb\n", findings(ranked), "findings")
    assert spliced(readme, findings(ranked), "findings") == readme
    refused(lambda: spliced("no markers", "", "findings"), "findings")


def test_the_readme_holds_the_findings() -> None:
    """If not: verify-claims --quick --readme README.md"""
    stored = (ROOT / "README.md").read_text(encoding="utf-8")
    page = spliced(stored, findings([outcome(claim.id) for claim in LEDGER.values() if claim.rank]), "findings")
    assert len(page.splitlines()) == len(stored.splitlines())
    for ours, theirs in zip(page.splitlines(), stored.splitlines(), strict=True):
        assert same(ours, theirs), f"{theirs!r} is now {ours!r}"


def test_the_table_of_the_bounds_has_a_row_and_a_proof_for_each() -> None:
    rows = bounds("").splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(catalogue.ids(catalogue.theory()))
    assert "[proof](derivations.md#margin-bound)" in bounds("")
    assert "[proof](../derivations.md#margin-bound)" in bounds("../")


def test_the_html_page_is_self_contained_and_escaped() -> None:
    page = html([outcome("lemma-1"), outcome("margin-error-ties"), outcome("hk-bold")])
    assert not re.search(r"https?:|src=|<link|fetch", page)
    assert "default-src 'none'" in page
    assert "0.13672 &gt; 0" in page
    assert "y f(x) &lt;= 0" in page
    assert page.count("<article ") == 3


def test_the_html_page_says_in_a_sentence_what_a_verdict_means() -> None:
    page = html([outcome("lemma-1"), outcome("hk-bold")])
    assert "False: refuted" in page
    assert "Checked: a counterexample" in page
    assert "Eq. (2), lines 306-318 (page 2)" in page
    failed = html([dataclasses.replace(outcome("lemma-1"), supported=False)])
    assert "does NOT confirm it" in failed
    assert "NOT SUPPORTED" in failed


def test_every_place_is_named_as_in_print_with_its_pages() -> None:
    for claim in LEDGER.values():
        assert not re.search(r"\b(eq|th|lemma|cor|algo|tbl):", claim.place), claim.place
        assert claim.place.count("page") == len(re.findall(r"\b(?:lines?|also) \d(?![^;]*not printed)", claim.where))
    assert LEDGER["table-1-significant"].place == "Table 1, lines 814-838 (page 7)"
    assert LEDGER["architecture-fixed"].place == "lines 198-206 (page 1); Section 5"


# Selection and JSON


def test_claims_are_selected_by_id_or_number() -> None:
    assert [claim.id for claim in select(["C66", "lemma-1"])] == ["lemma-1", "cvx-joint-minimiser"]
    assert len(select([])) == len(LEDGER)
    refused(lambda: select(["lemma-9"]), "'lemma-9'", "lemma-2")


def test_progress_is_told_before_each_claim() -> None:
    messages: list[tuple[int, int, str]] = []
    outcomes = run_all(select(["hk-bold", "reflection"]), progress=lambda *news: messages.append(news))
    assert [each.claim.id for each in outcomes] == ["hk-bold", "reflection"]
    assert messages == [(0, 2, "hk-bold"), (1, 2, "reflection")]


def test_the_document_counts() -> None:
    written = document([outcome("reflection"), outcome("hk-bold")])
    assert (written["schema"], written["supported"], written["total"], written["read"]) == ("verify-claims/1", 2, 2, 1)
    first = written["claims"][0]
    assert {"id", "where", "verdict", "kind", "supported", "evidence", "seconds", "audit"} <= set(first)
    assert first["audit"] == ["C7"]
    assert first["facts"][0]["holds"] is True


def test_the_pages_agree_on_the_number_of_claims() -> None:
    """The paper's statements, counted; what takes their place, and what others proved, is not among them."""
    paper = [claim for claim in LEDGER.values() if not claim.is_ours]
    assert all("ours" not in claim.where and claim.section not in CERTIFYING for claim in paper)
    assert f"\n{len(paper)} statements of *AdaNet*" in (ROOT / "paper_notes" / "claims.md").read_text(encoding="utf-8")


def test_the_page_has_the_bounds_that_pay_for_the_maps_looked_at() -> None:
    """The table of MNIST: the record at δ/4, rounded upwards, and the test error beside it."""
    rows = json.loads((ROOT / "paper_notes" / "results" / "mnist-bound.json").read_text(encoding="utf-8"))["rows"]
    page = (ROOT / "paper_notes" / "site" / "results" / "certificates.md").read_text(encoding="utf-8")
    shown = [row for row in rows if row["train"].endswith("--beta 0.3 --center")]
    assert len(shown) == 4
    for row in shown:
        paid = row["bounds at delta 0.0125"]
        ids = ("a-posteriori", "a-posteriori-bounded", "margin-bound-uniform")
        values = " | ".join(f"{math.ceil(1000 * paid[id]) / 1000:.3f}" for id in ids)
        assert f"| {row['pair']} | {row['m']:,} | {values} | {row['test_error']:.3f} |" in page
