"""Markdown and LaTeX of a results file, beside it. The paper's numbers are in paper_notes: its command makes them."""

from __future__ import annotations

from pathlib import Path

from verify.experiments.tools import run_module


def write_tables(path: str | Path) -> None:
    """NAME.md and NAME.tex beside NAME.json."""
    run_module("verify.experiments.result_tables", str(path))
