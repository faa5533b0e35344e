"""The store of results: one JSON file per trial, written atomically under the digest of the trial's description.

A trial that is in the store is never run again, so a killed run continues where it stopped. The description
holds what determines the result (data, method, setting, fold, seed) and nothing about the code or the machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adanet_train.core.files import write_file


def digest(description: Mapping[str, Any]) -> str:
    """A name for the description that does not depend on the order of its keys.

    >>> digest({"a": 1, "b": [2.0]}) == digest({"b": [2.0], "a": 1})
    True
    """
    text = json.dumps(description, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Store:
    """A folder of results; several runs may share it."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)

    def path(self, description: Mapping[str, Any], suffix: str = ".json") -> Path:
        name = digest(description)
        return self.directory / name[:2] / f"{name}{suffix}"

    def get(self, description: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result, or None if there is none; a file in another format counts as none."""
        try:
            entry = json.loads(self.path(description).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        sound = isinstance(entry, dict) and entry.get("trial") == _plain(description)
        result = entry.get("result") if sound else None
        return result if isinstance(result, dict) else None

    def put(self, description: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Write it under another name, then rename it, so that a reader sees all of it or nothing."""
        text = json.dumps({"trial": description, "result": result}, allow_nan=False, indent=1)
        write_file(self.path(description), text + "\n")


def _plain(description: Mapping[str, Any]) -> Any:
    """The value as a file gives it back: lists instead of tuples."""
    return json.loads(json.dumps(description))
