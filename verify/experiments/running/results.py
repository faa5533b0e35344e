"""The file of results of a protocol: its command, versions, machine, time and rows."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adanet_train.core.files import PROJECT, versions, write_file

PACKAGES = (PROJECT, "numpy", "scipy", "torch", "scikit-learn", "optuna")


def document(
    protocol: str, command: str, seed: int, seconds: float, rows: Sequence[Mapping[str, Any]], **more: Any
) -> dict[str, Any]:
    """`seconds` counts all trainings behind the rows, whenever they were run."""
    return {
        "protocol": protocol,
        "command": command,
        "versions": versions(PACKAGES),
        "seed": seed,
        "machine": machine(),
        "seconds": round(seconds, 1),
        **more,
        "rows": [dict(row) for row in rows],
    }


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, one torch thread per trial"


def write(path: str | Path, result: Mapping[str, Any]) -> None:
    write_file(path, json.dumps(result, indent=1, allow_nan=False) + "\n")


def read(path: str | Path) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: expected the JSON of a protocol's results: {error}.") from None
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
        raise ValueError(f"{path}: expected the JSON of a protocol's results, with rows.")
    return document
