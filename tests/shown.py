"""The commands and code blocks that README.md and the site show, read from the pages, to be run in an empty folder.

python -m tests.shown     runs all of them, as a reader would: each page in a folder of its own (make docs-test)
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "paper_notes" / "site"
OURS = ("adanet-train", "verify-bounds", "verify-claims", "adanet-experiment", "python -m figures", "torchrun")
FENCE = re.compile(r"^```(\{code-cell\}|\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_DATA = (
    "--data-dir",
    "adanet-experiment",
    "checkpoint",
    "ckpt",
    "held_out",
    "DATA",
    "HOST",
    "model.pt --data",
    "net.pt",
)
"""What asks for data or files that are not there: only its options are read."""


@dataclass(frozen=True)
class Block:
    """One block: Python, or commands one a line, without comments."""

    page: str
    kind: str
    text: str

    @property
    def commands(self) -> list[str]:
        lines = [line.partition("  #")[0].strip() for line in self.text.splitlines()]
        return [line for line in lines if line.startswith(OURS)] if self.kind == "" else []


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted(SITE.rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    matches = FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(page.relative_to(ROOT).as_posix(), kind, text) for kind, text in matches]


def python_of(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.kind in ("python", "{code-cell}")]


def can_run(command: str) -> bool:
    return not any(part in command for part in NEEDS_DATA)


def run_page(page: Path, folder: Path) -> None:
    """Its blocks in their order: a command by itself, Python cumulatively; what a report ends with is as shown."""
    program = said = ""
    for block in blocks(page):
        for command in filter(can_run, block.commands):
            said = _run(shlex.split(command), folder)
        if block.kind == "text" and answer(block.text) not in _words(said):
            raise SystemExit(f"{block.page}: the report does not say {answer(block.text)}")
        if block in python_of(page) and "{code-cell}" not in block.kind:  # notebooks are run by Sphinx
            said = _run(["python", "-c", program + block.text], folder)
            program += block.text
    print(f"ok {page.relative_to(ROOT)}", flush=True)


def answer(report: str) -> str:
    """The first sentence of a report, its numbers left out: another processor has others."""
    return _words(report[report.index("Answer") : report.index("Errors")])


def _words(text: str) -> str:
    return re.sub(r"\d[\d.,]*\d", "#", " ".join(text.split()))


def _run(command: list[str], folder: Path) -> str:
    """With the programs of this environment; a status other than 0, or 1 of a report, is an error."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = "python .." if "-c" in command else shlex.join(command)
    print("$", shown, flush=True)
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{shown}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def examples() -> list[Path]:
    return sorted((ROOT / "paper_notes" / "examples").glob("*.py"))


def main() -> int:
    for example in examples():
        with tempfile.TemporaryDirectory() as folder:
            print(_run(["python", str(example)], Path(folder)), flush=True)
    for page in pages():
        with tempfile.TemporaryDirectory() as folder:
            run_page(page, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
