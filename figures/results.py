"""The measured results in the paper's notes, if they are present."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paper_notes

Row = dict[str, Any]


def path(name: str, folder: Path | None = None) -> Path:
    """The path of the results of that name: in the user's folder, or with the notes."""
    return (folder or Path(paper_notes.__file__).parent / "results") / f"{name}.json"


def read(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """The results of that name; None if they are missing, as in an installed package."""
    file = path(name, folder)
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def rows(
    name: str, folder: Path | None, otherwise: Callable[[], list[Row]], wanted: Callable[[Row], bool] = bool
) -> tuple[list[Row], bool]:
    """The rows of those results that are wanted, or else rows made now; and whether they were measured."""
    measured = [row for row in (read(name, folder) or {"rows": []})["rows"] if wanted(row)]
    return (measured, True) if measured else (otherwise(), False)
