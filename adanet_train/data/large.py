"""Tables larger than memory: .npy memory-mapped; .csv and .parquet read in batches, twice, into a matrix on the disk.

The first pass reads off what each column holds (the encoding of `encoding`, the labels), the second writes the encoded
rows as float64 to a file in the folder of temporary files (TMPDIR), which has no name there: it goes with the process.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check
from adanet_train.data.disk import on_disk, slices
from adanet_train.data.encoding import Column, Encoder

STREAMED = 1 << 28
"""Bytes from which on a .csv or .parquet file is read in batches."""
BATCH = 1 << 16
BLOCK = 16 << 20

Batches = Iterator[dict[str, Column]]


def read_npy(path: Path, label: str | None) -> dict[str, Any]:
    """X and y of a memory-mapped matrix: y is its last column, its column number `label`, or another .npy file."""
    values = _mapped(path, 2)
    if label is not None and label.endswith(".npy"):
        return {"X": values, "y": np.array(_mapped(Path(label), 1))}
    n = values.shape[1]
    place = n - 1 if label is None else int(label) if label.isdecimal() else -1
    check(0 <= place < n, f"{path}: --label must be a column 0..{n - 1} or a .npy file of labels, got {label!r}.")
    check(n >= 2, f"{path}: no column beside the labels.")
    y = np.array(values[:, place])
    if place in (0, n - 1):
        return {"X": values[:, 1:] if place == 0 else values[:, :-1], "y": y}
    X = on_disk((len(values), n - 1))
    for rows in slices(len(values), n):
        X[rows] = np.delete(values[rows], place, axis=1)
    return {"X": X, "y": y}


def _mapped(path: Path, dimensions: int) -> Any:
    check(path.is_file(), f"{path}: no such file.")
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path}: not a .npy file of numbers ({' '.join(str(error).split())}).") from None
    check(isinstance(values, np.memmap), f"{path}: not a .npy file of numbers.")
    shown = f"got dtype {values.dtype} and shape {values.shape}"
    check(values.dtype.kind in "buif" and values.ndim == dimensions, f"{path}: expected numbers in rows, {shown}.")
    return values


def read_batches(path: Path, label: str) -> dict[str, Any]:
    """X, y and the names of the columns of X, of a .csv or .parquet file of any size; X is on the disk."""
    try:
        batches = _csv_batches if path.suffix.lower() == ".csv" else _parquet_batches
        header = next(iter(batches(path)))
        shown = ", ".join(list(header)[:8]) + (", .." if len(header) > 8 else "")
        check(label in header, f"no column {label!r} for the labels (--label COLUMN), the header has {shown}.")
        check(len(header) >= 2, f"no column beside the labels {label!r}.")
        encoder = Encoder([name for name in header if name != label])
        parts = [_labels(encoder, batch, label) for batch in batches(path)]
        X, done = on_disk((encoder.rows, len(encoder.names))), 0
        for batch in batches(path):
            count = len(batch.pop(label))
            X[done : done + count] = encoder([*batch.values()])
            done += count
    except StopIteration:
        raise ValueError(f"{path}: expected a header and at least one row.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return {"X": X, "y": _joined(parts), "names": encoder.names}


def _labels(encoder: Encoder, batch: dict[str, Column], label: str) -> Any:
    y = batch.pop(label)
    if isinstance(y, list) and "" in y:
        raise ValueError(f"row {encoder.rows + y.index('') + 2} has no label in column {label!r}.")
    encoder.see([*batch.values()])
    return np.array([cell.strip() for cell in y]) if isinstance(y, list) else y


def _joined(parts: Sequence[Any]) -> Any:
    """Numbers if all labels are; strings keep their own spelling where one of them is a word."""
    words = [part.dtype.kind == "U" for part in parts]
    check(all(words) or not any(words), "the labels must be all numbers or all words.")
    return np.concatenate(parts)


# CSV


def _csv_batches(path: Path) -> Batches:
    """Blocks of whole lines by polars; from the first quoted cell on by the csv module, as it may hold a line's end."""
    polars, row = require_polars(path), 2
    with open(path, "rb") as file:
        first = file.readline().decode("utf-8-sig")
        between = max(",;\t", key=first.count)
        header = [name.strip() for name in next(csv.reader([first], delimiter=between), [])]
        check(len(set(header)) == len(header), f"a column name occurs twice in the header: {', '.join(header[:8])}.")
        for block in _lines(file):
            if b'"' in block:
                rest = io.TextIOWrapper(file, "utf-8", newline="")
                lines = itertools.chain(io.StringIO(block.decode(), newline=""), rest)
                yield from _quoted(header, csv.reader(lines, delimiter=between, strict=True), row)
                rest.detach()
                return
            count = block.count(b"\n")
            if block.count(between.encode()) != count * (len(header) - 1):
                _find_ragged(block, between, len(header), row)
            # all as text: what a column is, the whole of it says
            table = polars.read_csv(
                io.BytesIO(block), separator=between, has_header=False, new_columns=header, infer_schema=False
            )
            check(len(table) == count, f"{len(table)} of {count} rows could be read behind row {row}.")
            yield {name: _column(polars, table[name]) for name in header}
            row += count


def _lines(file: Any) -> Iterator[bytes]:
    """Blocks of whole lines, each with its end, without those that are empty."""
    while block := file.read(BLOCK):
        block += file.readline()
        block = block.replace(b"\r\n", b"\n") if b"\r" in block else block
        block = block if block.endswith(b"\n") else block + b"\n"
        while b"\n\n" in block:
            block = block.replace(b"\n\n", b"\n")
        if block.lstrip(b"\n"):
            yield block.lstrip(b"\n")


def _find_ragged(block: bytes, between: str, cells: int, row: int) -> None:
    for number, line in enumerate(block.splitlines(), start=row):
        found = line.count(between.encode()) + 1
        check(found == cells, f"row {number} has {found} cells, expected {cells} as in the header.")


def _quoted(header: list[str], rows: Iterator[list[str]], row: int) -> Batches:
    while some := [cells for cells in itertools.islice(rows, BATCH) if cells]:
        for number, cells in enumerate(some, start=row):
            wrong = f"row {number} has {len(cells)} cells, expected {len(header)} as in the header."
            check(len(cells) == len(header), wrong)
        columns = zip(header, zip(*some, strict=True), strict=True)
        yield {name: _numbers_or_cells(list(cells)) for name, cells in columns}
        row += len(some)


def _numbers_or_cells(cells: list[str]) -> Column:
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return cells


# Parquet


def _parquet_batches(path: Path) -> Batches:
    polars = require_polars(path)
    try:
        batches = polars.scan_parquet(path).collect_batches(chunk_size=BATCH, maintain_order=True)
        for table in batches:
            if len(table):
                yield {name: _column(polars, table[name]) for name in table.columns}
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"not a Parquet file ({str(error).splitlines()[0]}).") from None


def _column(polars: Any, series: Any) -> Column:
    """Numbers where every cell is one; else the cells, an empty string where there is none."""
    numbers = series.cast(polars.Float64, strict=False)
    if numbers.null_count() == 0:
        return np.array(numbers.to_numpy(), dtype=np.float64)
    return ["" if cell is None else str(cell) for cell in series.to_list()]


def require_polars(path: Path) -> Any:
    try:
        import polars
    except ImportError:
        raise ValueError(f"{path}: tables of this size need polars: pip install polars.") from None
    return polars
