"""Rows of Criteo's text as arrays, a block at a time: whole lines of a plain or gzipped file, parsed by polars."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check, first_line
from adanet_train.data.tables import require_polars

COUNTS, CATEGORIES = 13, 26
COLUMNS = 1 + COUNTS + CATEGORIES
READ = "reading Criteo needs polars: pip install 'adanet-theory[experiments]'."
BLOCK = 16 << 20
"""Bytes at a time, about 65,000 rows."""


def blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, each with its end."""
    check(path.is_file(), f"{path}: no such file.")
    rest = b""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            while block := file.read(BLOCK):
                check(len(rest) <= BLOCK, f"{path}: a line of more than {BLOCK} bytes.")
                lines, end, begun = (rest + block).rpartition(b"\n")
                if end:
                    yield lines + end
                rest = begun
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    if rest:
        yield rest + b"\n"


def tables(path: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Labels [n], counts [n, 13] as float64 with nan where missing, and categories [n, 26] with -1 where missing."""
    first = 1
    for block in blocks(path):
        lines = block.count(b"\n")
        try:
            yield _parse(block.replace(b"\r\n", b"\n") if b"\r" in block else block, lines)
        except ValueError as error:
            reason = _ragged(block, first) or f"rows {first} to {first + lines - 1}: {error}"
            raise ValueError(f"{path}: {reason}") from None
        first += lines


def _parse(block: bytes, lines: int) -> tuple[Any, Any, Any]:
    pl = require_polars(READ)
    names = [f"x{j}" for j in range(COLUMNS)]
    numbers, digits = names[1 : 1 + COUNTS], names[1 + COUNTS :]
    schema = {name: pl.String if name in digits else pl.Int64 for name in names}
    check(block.count(b"\t") == lines * (COLUMNS - 1), "ragged")  # polars would fill a short row
    try:
        table = pl.read_csv(io.BytesIO(block), separator="\t", has_header=False, schema=schema, quote_char=None)
        codes = table.select(pl.col(digits).str.to_integer(base=16, dtype=pl.Int64).fill_null(-1)).to_numpy()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{first_line(error)[:120]}; expected whole numbers and hexadecimal digits.") from None
    label = table["x0"].fill_null(-1).to_numpy()
    check(len(label) == lines, f"{len(label)} rows of {lines} could be read.")
    check(bool(np.isin(label, (0, 1)).all()), "a label that is not 0 or 1.")
    check(bool((codes >> 32 <= 0).all() and (codes >= -1).all()), "a category of more than 8 digits.")
    return label, table.select(pl.col(numbers).cast(pl.Float64).fill_null(math.nan)).to_numpy(), codes


def _ragged(block: bytes, first: int) -> str:
    """The first row that has not 40 cells, if there is one."""
    cells = ((number, line.count(b"\t") + 1) for number, line in enumerate(block.splitlines(), first))
    lines = (
        f"row {number} has {n} cells, expected {COLUMNS} separated by tabs." for number, n in cells if n != COLUMNS
    )
    return next(lines, "")
