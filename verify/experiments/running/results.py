"""The file of results of a protocol: its command, versions, machine, time and rows."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from adanet_train.core.bar import counted
from adanet_train.core.files import PROJECT, versions, write_file

PACKAGES = (PROJECT, "numpy", "scipy", "torch", "scikit-learn", "optuna")
Row = dict[str, Any]
T = TypeVar("T")


def write(
    path: str | Path,
    protocol: str,
    command: str,
    seed: int,
    seconds: float,
    rows: Sequence[Mapping[str, Any]],
    **more: Any,
) -> None:
    """`seconds` counts all trainings behind the rows, whenever they were run."""
    document = {
        "protocol": protocol,
        "command": command,
        "versions": versions(PACKAGES),
        "seed": seed,
        "machine": machine(),
        "seconds": round(seconds, 1),
        **more,
        "rows": [dict(row) for row in rows],
    }
    write_file(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, one torch thread per trial"


def read(path: str | Path) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: expected the JSON of a protocol's results: {error}.") from None
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
        raise ValueError(f"{path}: expected the JSON of a protocol's results, with rows.")
    return document


def stored(path: str | Path) -> list[Row]:
    """The rows of a file that may not be there yet."""
    return list(read(path)["rows"]) if Path(path).exists() else []


def missing(
    path: str | Path, asked: Iterable[T], name: Callable[[T], Any], of_row: Callable[[Row], Any]
) -> Iterator[T]:
    """What is asked for and has no row in the file, counted on the bar; what another run writes meanwhile is left out.

    `name` and `of_row` give what tells one work from the others.
    """

    def done() -> list[Any]:
        return list(map(of_row, stored(path)))

    known = done()
    for one in counted([one for one in asked if name(one) not in known]):
        if name(one) not in done():
            yield one
