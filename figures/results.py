"""The measured results in the paper's notes, if they are present."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import paper_notes


def path(name: str, folder: Path | None = None) -> Path:
    """The path of the results of that name: in the user's folder, or with the notes."""
    return (folder or Path(paper_notes.__file__).parent / "results") / f"{name}.json"


def read(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """The results of that name; None if they are missing, as in an installed package."""
    file = path(name, folder)
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None
