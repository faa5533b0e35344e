"""The machine-checked theorems and the ledger name each other; where they were built once they are built again."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

import pytest

from paper_notes import claims

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "paper_notes" / "proofs"
MARKED = {theorem: claim for claim in claims().values() for theorem in claim.checked}
# What a constructor makes; statements.v has the constructors, and the fields of the one net that is named.
MADE = {"H", "net", "exponent", "ensemble", "network", "bad_net"}

_spec = importlib.util.spec_from_file_location("build_proofs", PROOFS / "build.py")
assert _spec is not None
assert _spec.loader is not None
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)


def test_every_marked_claim_has_its_theorem() -> None:
    for theorem in MARKED:
        file, name = theorem.split(":")
        assert re.search(rf"^(Theorem|Corollary|Lemma) {name}\b", build.code(PROOFS / file), re.MULTILINE), theorem
        assert name in build.theorems(), f"{name} is not in statements.v"


def test_every_stated_theorem_is_marked_once() -> None:
    assert sorted(build.theorems()) == sorted(theorem.split(":")[1] for theorem in MARKED)
    assert len(MARKED) == sum(len(claim.checked) for claim in claims().values())


def test_nothing_is_admitted() -> None:
    for file in PROOFS.glob("*.v"):
        assert not re.search(build.FORBIDDEN, build.code(file)), file.name
    assert re.search(build.FORBIDDEN, "Proof. Admitted.")
    assert re.search(build.FORBIDDEN, "Axiom choice : False.")


def test_the_definitions_behind_a_statement_are_stated_too() -> None:
    stated = build.code(PROOFS / "statements.v")
    pins = " ".join(re.findall(r"^  Check .*?\)\.$", stated, re.MULTILINE | re.DOTALL))
    words = set(re.findall(r"(?<!\.)\b\w+", stated))
    defined = r"^(?:Definition|Fixpoint|Inductive|Record) (\w+)"
    names = {name for file in PROOFS.glob("*.v") for name in re.findall(defined, build.code(file), re.MULTILINE)}
    argument = r"(?:[\w.'`|]+|\([^()]*\))"
    loose = {name for name in names & words if not re.search(rf"\b{name}(?:\s+{argument})*\s+=\s", pins)}
    assert loose == MADE


def test_a_bound_on_a_risk_says_for_which_distributions_it_is_checked() -> None:
    checks = re.findall(r"^Check \(@(\w+)(.*?)\)\.$", build.code(PROOFS / "statements.v"), re.MULTILINE | re.DOTALL)
    sampled = {name for name, text in checks if "Ex w" in text}
    assert {"margin_bound", "vote_certificate", "held_out"} <= sampled
    for theorem, claim in MARKED.items():
        assert theorem.split(":")[1] not in sampled or "finite support" in claim.note, claim.id


def test_what_is_assumed_is_read_whole() -> None:
    listed = "Axioms:\nboolp.a : forall P : Prop,\n  P\nb'\n  : False\nc is assumed to be guarded.\n"
    assert build.assumed(listed) == {"a : forall P : Prop, P", "b' : False", "c is assumed to be guarded."}
    assert build.assumed("Closed under the global context\n") == set()


def test_a_file_stands_behind_what_it_requires() -> None:
    order = build.in_order()
    assert order[-1] == "statements"
    assert all(set(build.needs(name)) <= set(order[:at]) for at, name in enumerate(order))


def test_the_readme_and_the_derivations_name_every_file() -> None:
    table = (PROOFS / "README.md").read_text(encoding="utf-8")
    derivations = (ROOT / "paper_notes" / "derivations.md").read_text(encoding="utf-8")
    for theorem, claim in MARKED.items():
        file, name = theorem.split(":")
        row = next(line for line in table.splitlines() if line.startswith(f"| {claim.id} |"))
        assert f"`{file}`" in row
        assert f"`{name}`" in row
        assert f"`proofs/{file}`" in derivations
    assert all(f"`{name}.v`" in table for name in build.in_order())


@pytest.mark.skipif(
    "PROOFS_TEST" not in os.environ and not (build.OUT / "statements.vo").exists(),
    reason="not built yet, about three minutes: make proofs, or PROOFS_TEST=1",
)
@pytest.mark.skipif(shutil.which("coqc") is None, reason="no coqc")
def test_the_proofs_build() -> None:
    build.main()
