"""verify-claims: what it prints, what it writes, and its status."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.refusals import refuses, says
from verify.claims import checks as claim_checks
from verify.claims.cli import main


@pytest.fixture
def spoilt(monkeypatch: pytest.MonkeyPatch) -> str:
    """The check of a claim, working on an example with which it turns."""
    id = "reflection"
    check = claim_checks.check_of(id, "definitions")
    assert check is not None
    turned = replace(check, function=partial(check.function, **check.flips[0]))
    monkeypatch.setitem(claim_checks._CHECKS, id, turned)
    return id


def test_a_claim_and_its_evidence_under_its_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lemma-1", "C7", "window", "--quick"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    for heading in ("Definitions (Sections 2 and 3)", "Lemma 1 and its proof", "Lemma 2 and its proof"):
        assert heading in lines
    window = lines.index("read  window      misprint     lines 509-512 (page 4)")
    assert lines[window + 1].startswith("        read: ")
    assert "k-1, .., k-d" in lines[window + 1]
    (line,) = [line for line in lines if "  lemma-1 " in line]
    assert line.startswith("  ok  lemma-1     false        ")
    assert "lines 479-490" in line
    assert lines[lines.index(line) + 1].startswith("        R_S(H_2) = 0.13672 > 0 = Lemma 1")
    says(lines[-1], ["2 of 2 checks", "1 settled by reading"])


def test_the_words_are_explained_and_every_line_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "lemma-1", "margin-bound", "a-posteriori", "window", "theorem-1"]) == 0
    out = capsys.readouterr().out
    legend = out.partition("\n\n")[0]
    for word in ("ok lemma-1 false", "ok:", "FAIL:", "read:", "holds+:", "loose:"):
        assert word in legend
    assert max(map(len, out.splitlines())) <= 100


def test_the_evidence_of_what_holds_names_its_proof_and_what_the_number_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["margin-bound", "lemma-1", "--quick", "--json"]) == 0
    lemma, bound = json.loads(capsys.readouterr().out)["claims"]
    assert bound["evidence"].endswith("[one example, computed; proof: derivations.md#margin-bound]")
    assert "proof" not in lemma["evidence"]  # a counterexample is its own proof


def test_verbose_shows_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lemma-2-peeled", "-v", "--quick"]) == 0
    out = capsys.readouterr().out
    for part in ("claim ", "true is ", "fact ", "note ", "step    1.", "proof ", "C28", "peeled_complexity"):
        assert part in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_check_that_turns_is_told(spoilt: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([spoilt, "--quick"]) == 1
    out = capsys.readouterr().out
    assert f"FAIL  {spoilt}" in out
    assert "0 of 1 checks" in out
    assert f"Not supported: {spoilt}." in out
    assert main([spoilt, "--quick", "-v"]) == 1
    out = capsys.readouterr().out
    assert "NOT: " in out
    assert ": found " in out
    assert ", expected " in out
    assert main([spoilt, "--quick", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["supported"] == 0


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["C20", "--quick", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out, parse_constant=pytest.fail)
    assert document["schema"] == "verify-claims/1"
    assert (document["supported"], document["total"]) == (1, 1)
    (claim,) = document["claims"]
    assert (claim["id"], claim["audit"], claim["verdict"], claim["supported"]) == ("lemma-1", ["C20"], "false", True)
    assert captured.err == ""


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["lema-1"], "no claim 'lema-1' in the ledger; did you mean lemma-1"),
        (["--html"], "--html: expected one argument"),
        (["--nonsense"], "--nonsense"),
        (["window", "--html", "no/such/folder/page.html"], "no/such/folder/page.html: cannot be written"),
        (["window", "--markdown", "."], ".: cannot be written: not a regular file"),
        (["window", "--readme", "no-such-file.md"], "no-such-file.md"),
    ],
)
def test_refusals_are_one_line(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    refuses(main, argv, capsys, "verify-claims: ", message)


def test_pages_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, text = tmp_path / "claims.html", tmp_path / "claims.md"
    assert main(["reflection", "--quick", "--html", str(page), "--markdown", str(text)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "### reflection" in text.read_text(encoding="utf-8")


def test_the_list_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "lemma-2", "C20"]) == 0
    assert capsys.readouterr().out == "lemma-1\nlemma-2\n"


def test_findings_are_put_between_the_markers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("above\n<!-- findings -->\nold\n<!-- /findings -->\nbelow\n", encoding="utf-8")
    assert main(["lemma-1", "window", "--quick", "--readme", str(readme)]) == 0
    lines = readme.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [
        "above",
        "<!-- findings -->",
        "| claim of the paper | verdict | what we found |",
    ]
    assert lines[5:] == ["<!-- /findings -->", "below"]
    readme.write_text("no markers\n", encoding="utf-8")
    assert main(["window", "--readme", str(readme)]) == 2
    assert readme.read_text(encoding="utf-8") == "no markers\n"
    assert "<!-- findings -->" in capsys.readouterr().err


def test_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("verify-claims ")
