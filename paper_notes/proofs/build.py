"""Builds the proofs with Coq and judges them: nothing admitted, no foreign axiom, every stated theorem there.

    python3 paper_notes/proofs/build.py

statements.v repeats each theorem word for word: a theorem that was weakened no longer fits its statement there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "build" / "proofs"
COQC = ["coqc", "-w", "none", "-Q", ".", "AdaNet"]
# Those of mathcomp-analysis, whose suprema need them, word for word: a false one must not pass under their names.
AXIOMS = {
    "propositional_extensionality": "forall P Q : Prop, P <-> Q -> P = Q",
    "functional_extensionality_dep": "forall (A : Type) (B : A -> Type) (f g : forall x : A, B x),"
    " (forall x : A, f x = g x) -> f = g",
    "constructive_indefinite_description": "forall (A : Type) (P : A -> Prop), (exists x : A, P x) -> {x : A | P x}",
}
FORBIDDEN = r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Unset \w+ Checking|bypass_check|type_in_type)\b"


def code(file: Path) -> str:
    """The text of a file without its comments."""
    return re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)


def needs(name: str) -> list[str]:
    """The files that a file requires."""
    required = re.findall(r"From AdaNet Require Import ([^.]*)\.", code(HERE / f"{name}.v"))
    return re.findall(r"\w+", " ".join(required))


def in_order() -> list[str]:
    """The files, each behind those that it requires."""
    names = sorted(file.stem for file in HERE.glob("*.v"))
    done: list[str] = []
    while len(done) < len(names):
        done.append(next(name for name in names if name not in done and set(needs(name)) <= set(done)))
    return done


def theorems() -> list[str]:
    """What statements.v states."""
    return re.findall(r"^Check \(@?(\w+)\b", code(HERE / "statements.v"), flags=re.MULTILINE)


def coqc(name: str) -> str:
    run = subprocess.run([*COQC, f"{name}.v"], cwd=OUT, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{name}.v does not build:\n{run.stderr}")
    return run.stdout


def build() -> None:
    """Compile what changed since the last time, and what requires it."""
    OUT.mkdir(parents=True, exist_ok=True)
    built: set[str] = set()
    for name in in_order():
        source, copy = HERE / f"{name}.v", OUT / f"{name}.v"
        compiled = copy.with_suffix(".vo")
        if built & set(needs(name)) or not compiled.exists() or copy.read_bytes() != source.read_bytes():
            compiled.unlink(missing_ok=True)
            shutil.copy(source, copy)
            print(f"coqc {name}.v", flush=True)
            coqc(name)
            built.add(name)


def axioms() -> set[str]:
    """What the theorems rest on together, as `Print Assumptions` says: asked once, it walks what they share once.

    The imports are those of statements.v, so that a name is the theorem that it is there.
    """
    asked = " ".join(f"(conj (@{name})" for name in theorems()) + " I" + ")" * len(theorems())
    imports = f"From AdaNet Require Import {' '.join(needs('statements'))}."
    text = f"{imports}\nDefinition asked := {asked}.\nPrint Assumptions asked.\n"
    (OUT / "assumptions.v").write_text(text, encoding="utf-8")
    return assumed(coqc("assumptions"))


def assumed(printed: str) -> set[str]:
    """What `Print Assumptions` lists, each on one line: what is not indented begins a new one."""
    if printed.startswith("Closed under the global context"):
        return set()
    listed = re.sub(r"\n\s+", " ", printed.removeprefix("Axioms:\n")).splitlines()
    return {line.removeprefix("boolp.") for line in listed}


def main() -> None:
    for file in HERE.glob("*.v"):
        if word := re.search(FORBIDDEN, code(file)):
            sys.exit(f"{file.name} has {word.group()}")
    build()
    used = axioms()
    if foreign := used - {f"{name} : {says}" for name, says in AXIOMS.items()}:
        sys.exit(f"the theorems rest on {'; '.join(sorted(foreign))}")
    print(f"{len(theorems())} theorems checked; axioms: {', '.join(sorted(AXIOMS))}")


if __name__ == "__main__":
    main()
