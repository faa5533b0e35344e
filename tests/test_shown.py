"""What README.md and the site show is there: options are known, Python compiles and imports, links lead somewhere."""

import ast
import importlib
import json
import re
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from adanet_theory import catalogue
from adanet_theory.twins.symbolic import STATEMENTS
from figures.documents import statements
from figures.documents.examples import examples
from figures.documents.proofs import sections
from figures.documents.tutorials import notebook, offered
from paper_notes import claims
from tests import shown
from verify.claims.run import Outcome, run
from verify.experiments import tables

ROOT = shown.ROOT
PARSERS = {
    "adanet-train": "adanet_train.app.cli",
    "verify-bounds": "verify.cli",
    "verify-claims": "verify.claims.cli",
    "adanet-experiment": "verify.experiments.cli",
}
COMMANDS = sorted(
    {(block.page, command) for page in shown.pages() for block in shown.blocks(page) for command in block.commands}
)
BLOCKS = [block for page in shown.pages() for block in shown.python_of(page)]
WRITTEN = {page.relative_to(shown.SITE).as_posix() for page in shown.pages() if shown.SITE in page.parents}
MADE = {
    "ledger.md",
    "derivations.md",
    "notation.md",
    "changes.md",
    "gallery.md",
    "statements/index.md",
    "api/theory.md",
}


def test_there_are_commands_and_blocks() -> None:
    assert len(COMMANDS) >= 8
    assert len(BLOCKS) >= 8


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_that_is_shown_has_its_options(page: str, command: str) -> None:
    name, *arguments = shlex.split(command)
    if name in PARSERS:
        importlib.import_module(PARSERS[name]).parser().parse_args(arguments)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.page)
def test_python_that_is_shown_imports_what_there_is(block: shown.Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if not hasattr(module, alias.name):  # a module of a package
                    importlib.import_module(f"{node.module}.{alias.name}")


@pytest.mark.parametrize("page", shown.pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    home = page.parent
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            inside = (home / target).resolve()
            site = inside.relative_to(shown.SITE).as_posix() if shown.SITE in inside.parents else ""
            assert inside.exists() or site in MADE or Path(site).stem in STATEMENTS, f"{page}: {target}"


@pytest.mark.parametrize("page", ["derivations.md", "notation.md", "proofs/README.md"])
def test_no_subscript_is_taken_for_emphasis(page: str) -> None:
    """After a sign such as ‖ or ) an underscore opens emphasis, and formulas lose theirs: write ‖u‖\\_1."""
    text = (ROOT / "paper_notes" / page).read_text(encoding="utf-8")
    words = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", text, flags=re.DOTALL)
    matches = [
        words[max(0, place.start() - 30) : place.end() + 10] for place in re.finditer(r"(?<![\w\\])_(?=\S)", words)
    ]
    assert not matches


@pytest.mark.parametrize("page", ["README.md", "paper_notes/site/howto/read-a-report.md"])
def test_a_report_is_shown_with_its_answer_first(page: str) -> None:
    """`make docs-test` runs the command or the code above it and compares the answer."""
    reports = [block.text for block in shown.blocks(ROOT / page) if block.kind == "text"]
    assert len(reports) == 1
    assert reports[0].startswith("Answer ")
    assert "at most" in shown.answer(reports[0])


def test_the_citations_name_the_version_and_no_other() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for page in ("CITATION.cff", "paper_notes/site/citation.md"):
        matches = re.findall(r"(?m)^ *version *[:=] *\{?([\d.]+)", (ROOT / page).read_text(encoding="utf-8"))
        assert set(matches) == {version}, page


@pytest.mark.parametrize("page", sorted((shown.SITE / "tutorials").glob("*.md")), ids=lambda page: page.stem)
def test_a_tutorial_is_a_notebook_too(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    cells = json.loads(notebook(text))["cells"]
    assert ".md)" not in notebook(text)  # beside the notebook lie pages
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code == [block.text.strip() for block in shown.python_of(page)]
    assert f'# {cells[0]["source"][0][2:]}\n<a href="{page.stem}.ipynb" download>' in offered(text, page.stem)


# The pages that are made


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    ledger = claims()
    unrun = {id: Outcome(claim, (), True, 0.0) for id, claim in ledger.items()}
    return {**unrun, "lemma-1": run(ledger["lemma-1"])}


@pytest.fixture(scope="module")
def listed(outcomes: dict[str, Outcome]) -> dict[str, statements.Page]:
    proofs = sections((ROOT / "paper_notes" / "derivations.md").read_text(encoding="utf-8"))
    return {page.id: page for page in statements.pages(outcomes, proofs)}


def test_every_statement_has_a_page_with_its_parts(listed: dict[str, statements.Page]) -> None:
    assert {*STATEMENTS, *catalogue.ids(catalogue.select())} <= set(listed)
    for page in listed.values():
        text = statements.markdown(page)
        assert "No value at the example" not in text, page.id
        for part in ("## Statement", "## Assumptions", "## Function"):
            assert part in text or (page.bound is not None and page.bound.group == "context"), f"{page.id}: {part}"
        if page.statement is not None:
            assert page.statement.latex() in text
            assert "<math" in text
        if page.bound is not None and "#" in page.bound.reference:
            assert page.proof is not None, page.id
            assert page.bound.reference.endswith("#" + page.proof.anchor)


def test_every_certificate_has_a_network_to_show_its_value(listed: dict[str, statements.Page]) -> None:
    networks = examples()
    bounds = {id: page.bound for id, page in listed.items() if page.is_certificate and page.bound is not None}
    assert {id for id, bound in bounds.items() if bound.classes != "any"} <= set(networks) <= set(bounds)
    for id in set(bounds) - set(networks):  # a bound from counts is shown at the examples of its record
        assert bounds[id].examples[0].words in statements.markdown(listed[id])
    assert all(0 < (example.value or 0) < 1 for example in networks.values())
    text = statements.markdown(replace(listed["vote-certificate"], example=networks["vote-certificate"]))
    assert f"| **bound** | {networks['vote-certificate'].value!r} |" in text
    picked = statements.markdown(listed["pick-certificate"])
    assert "| 16 of 357 points were picked | k = 16, N = 357, delta = 0.05 | 0.0832931255391" in picked


def test_every_statement_is_in_one_table(listed: dict[str, statements.Page]) -> None:
    index = statements.index(list(listed.values()))
    for id in listed:
        assert index.count(f"| [{id}]({id}.md) |") == 1, id
    peeled = next(line for line in index.splitlines() if line.startswith("| [lemma-2-peeled]("))
    assert "verdict on the claim it replaces" in peeled  # Lemma 2 is loose, its replacement is not


def test_a_page_says_what_is_false_and_by_which_numbers(listed: dict[str, statements.Page]) -> None:
    text = statements.markdown(listed["lemma-1"])
    assert (
        'verdict: <a href="../ledger.html#lemma-1">false</a> · Lemma 1, lines 479-490, 1334-1405 (pages 4, 11-12)'
        in text
    )
    assert "`phi-zero`: Every activation is 0 at 0." in text
    assert "R_S(H_2) = 0.13672 > 0 = Lemma 1" in text


def test_the_ledger_links_to_statements_and_proofs(outcomes: dict[str, Outcome]) -> None:
    text = statements.ledger(list(outcomes.values()), set(STATEMENTS))
    assert 'href="statements/lemma-1.html"' in text
    assert all(f'<article id="{id}"' in text for id in outcomes)
    anchors = {proof.anchor for proof in sections((ROOT / "paper_notes" / "derivations.md").read_text()).values()}
    assert set(re.findall(r'href="derivations.html#([^"]+)"', text)) <= anchors


RESULTS = "paper_notes/site/results"
PAGES = [
    ("picking", "README.md"),
    ("picking", f"{RESULTS}/certificates.md"),
    ("certificates", f"{RESULTS}/certificates.md"),
]
PAGES += [("classes", f"{RESULTS}/classes.md"), ("tables", f"{RESULTS}/learner.md")]


def test_there_are_six_examples_of_a_screen_each() -> None:
    """`make docs-test` runs them."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in shown.examples()}
    assert len(texts) == 6
    for name, text in texts.items():
        assert len(text.splitlines()) <= 40, name
        compile(text, name, "exec")
        assert "print(" in text


@pytest.mark.parametrize(("name", "page"), PAGES)
def test_the_tables_of_results_are_those_of_the_files(name: str, page: str) -> None:
    """If not: make readme"""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert tables.with_tables(text, [ROOT / "paper_notes" / "results" / f"{name}.json"]) == text
