"""Tables (.csv, .parquet) of any size, read in batches: X with named columns, and y.

Only a whole column shows what it holds: a first pass finds the encoding (`encoding`) and the labels, a second one
encodes the rows. A file of STREAMED bytes or more is read twice in batches, and X is a matrix on the disk, in the
folder of temporary files (TMPDIR). It has no name there and ends with the process.
"""

from __future__ import annotations

import csv
import io
import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check, first_line, nearest, shown
from adanet_train.data.disk import on_disk
from adanet_train.data.encoding import (
    Column,
    Encoder,
    columns_of,
    decimal_points,
    is_empty,
    numbered,
    numbers_or_cells,
    of_ids,
)
from adanet_train.data.files import parts

STREAMED = 1 << 28
"""Bytes from which on a file is read in batches."""
BATCH = 1 << 16
TABLES = "{}: Parquet and tables of this size need polars: pip install polars."
BLOCK = 16 << 20

Batch = dict[str, Column]


def read(
    path: Path,
    label: str | None = "y",
    only: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    *,
    coded: bool = False,
    known: Encoder | None = None,
) -> dict[str, Any]:
    """X, the names of its features, those of them that are encoded (words, empty cells), and y, the column `label`.

    With label None there is no y. `only` are the features of a model: the columns that they are made of are read.
    `drop` are columns to leave out. A pattern such as part-*.parquet names the parts of one table. `coded` asks for one
    column of codes for each column of words; `known` is the encoder of a table before, by which this one is encoded.
    """
    paths = parts(path)
    for one in paths:
        check(one.exists(), f"{one}: no such file.")
        check(one.is_file(), f"{one}: not a regular file.")
    streamed = sum(one.stat().st_size for one in paths) >= STREAMED
    wanted = None if only is None else columns_of(only)
    try:
        empty = on_disk if streamed else np.empty
        return _read(_batches(paths, streamed), label, wanted, empty, drop, coded, known)
    except _Unreadable:
        raise
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def of_frame(
    frame: Any,
    label: str | None = None,
    only: Sequence[str] | None = None,
    *,
    coded: bool = False,
    known: Encoder | None = None,
) -> dict[str, Any]:
    """X and its names, of a data frame of pandas or polars; the labels are the column `label`, if one is named."""
    batch = {str(name): _of_list(frame[name].to_list()) for name in frame.columns}
    wanted = None if only is None else columns_of(only)
    return _read(lambda: iter([batch]), label, wanted, np.empty, coded=coded, known=known)


def _of_list(values: list[Any]) -> Column:
    return numbers_or_cells(["" if value is None else str(value) for value in values])


class _Unreadable(ValueError):
    """Names the file already."""


def _batches(paths: Sequence[Path], streamed: bool) -> Callable[[], Iterator[Batch]]:
    """The batches of the files in their order, once more at every call; those of small ones are kept."""
    if streamed:
        return lambda: _of_files(paths, _blocks)
    kept = [*_of_files(paths, _rows)]
    return lambda: iter(kept)


def _of_files(paths: Sequence[Path], csv_reader: Callable[[Path], Iterator[Batch]]) -> Iterator[Batch]:
    header: set[str] | None = None
    for path in paths:
        try:
            for batch in (_parquet if path.suffix.lower() == ".parquet" else csv_reader)(path):
                header = header or {*batch}
                other = sorted({*batch} ^ header)
                check(
                    not other,
                    f"expected the columns of {paths[0].name}, {(other or [''])[0]!r} is in one of them only.",
                )
                yield batch
        except (UnicodeDecodeError, csv.Error) as error:
            raise _Unreadable(f"{path}: not a comma-separated table in UTF-8 ({error}).") from None
        except ValueError as error:
            raise _Unreadable(f"{path}: {error}") from None


def _read(
    batches: Callable[[], Iterator[Batch]],
    label: str | None,
    wanted: set[str] | None,
    empty: Callable[..., Any],
    drop: Sequence[str] = (),
    coded: bool = False,
    known: Encoder | None = None,
) -> dict[str, Any]:
    first = next(batches(), {})
    header = list(first)
    check(any(len(column) for column in first.values()), "expected a header and at least one row.")
    check(label is None or label in header, f"no column {label!r} for the labels (--label COLUMN), {_shown(header)}.")
    for name in drop:
        check(name in header and name != label, _not_dropped(name, label, header))
    names = _read_names(header, {label, *drop}, wanted, known)
    check(bool(names), f"no column beside the labels {label!r}." if label else "no column that the model reads.")
    encoder, y = Encoder(names, coded=coded if known is None else known.coded), []
    for batch in batches():
        if label is not None:
            y.append(_labels(batch[label], label, encoder.rows))
        encoder.see([batch[name] for name in names])
    by = encoder if known is None else known
    notes, X, done = by.unseen(encoder), empty((encoder.rows, len(by.names))), 0
    for batch in batches():
        part = by([batch[name] for name in names])
        X[done : done + len(part)] = part
        done += len(part)
    encoded = tuple(name for name in by.names if name not in names)
    ids: list[str] = []
    if known is None and wanted is None:
        ids = [*encoder.ids, *(name for name in numbered(X, by.names) if name in names)]
    content = {"X": X, "names": by.names, "encoded": encoded, "encoder": by, "notes": notes}
    if label is None:
        return content
    if known is None:
        encoder.label = label
    content["notes"] = (*notes, *of_ids(ids, lambda name: f"--drop {shlex.quote(name)}"))
    return content | {"y": _joined(y), "label": label}


def _read_names(
    header: Sequence[str], left_out: set[str | None], wanted: set[str] | None, known: Encoder | None
) -> list[str]:
    """The columns to read: those of an encoder that is known in its order, else those that are wanted."""
    if known is None:
        return [name for name in header if name not in left_out and (wanted is None or name in wanted)]
    names = [column.name for column in known.columns]
    missing = [name for name in names if name not in header]
    check(not missing, f"no column {(missing or [''])[0]!r}, which the model reads, {_shown(header)}.")
    return names


def _not_dropped(name: str, label: str | None, header: Sequence[str]) -> str:
    if name == label:
        return f"column {name!r} holds the labels and cannot be dropped (--drop)."
    near = nearest(name, header)
    return f"no column {name!r} to drop (--drop), " + (f"did you mean {near!r}?" if near else f"{_shown(header)}.")


def _labels(y: Column, label: str, before: int) -> Any:
    """Numbers, or words as they are written."""
    missing = np.isnan(y) if not isinstance(y, list) else np.array([is_empty(cell) and cell != "None" for cell in y])
    check(not missing.any(), f"row {before + int(missing.argmax()) + 2} has no label in column {label!r}.")
    return np.array([cell.strip() for cell in y]) if isinstance(y, list) else y


def _joined(parts: Sequence[Any]) -> Any:
    words = [part.dtype.kind == "U" for part in parts]
    check(all(words) or not any(words), "the labels must be all numbers or all words.")
    return np.concatenate(parts)


# CSV


def _split(line: str) -> tuple[str, list[str]]:
    """What stands between two cells, by the first line, and the names in it."""
    between = max(",;\t", key=line.count)
    header = [name.strip() for name in next(csv.reader([line], delimiter=between, strict=True), [])]
    check(len({*header}) == len(header), f"a column name occurs twice: {_shown(header)}.")
    unnamed = "a column has no name: name it, or drop it if it only numbers the rows"
    check("" not in header, f"{unnamed}; {_shown(header)}.")
    return between, header


def _shown(header: Sequence[str]) -> str:
    return f"the header has {shown(header)}"


def _rows(path: Path) -> Iterator[Batch]:
    """All rows at once, by the csv module."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        between, header = _split(file.readline())
        if header:
            yield from _cells(header, file, between)


def _blocks(path: Path) -> Iterator[Batch]:
    """Blocks of whole lines by polars; from the first quoted cell on by the csv module, as it may hold a line's end."""
    polars, row = require_polars(TABLES.format(path)), 2
    with open(path, "rb") as file:
        between, header = _split(file.readline().decode("utf-8-sig"))
        for block in _lines(file):
            if b'"' in block:
                rest = io.TextIOWrapper(file, "utf-8", newline="")
                lines = itertools.chain(io.StringIO(block.decode(), newline=""), rest)
                yield from _cells(header, lines, between, row)
                rest.detach()
                return
            count = block.count(b"\n")
            if block.count(between.encode()) != count * (len(header) - 1):
                _find_ragged(block, between, len(header), row)
            # all as text: what a column is, the whole of it says
            table = polars.read_csv(
                io.BytesIO(block), separator=between, has_header=False, new_columns=header, infer_schema=False
            )
            check(len(table) == count, f"{len(table)} of {count} rows could be read after row {row}.")
            yield {name: decimal_points(_column(polars, table[name]), between) for name in header}
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
        counted = line.count(between.encode()) + 1
        check(counted == cells, f"row {number} has {counted} cells, expected {cells} as in the header.")


def _cells(header: list[str], lines: Iterator[str] | Any, between: str, row: int = 2) -> Iterator[Batch]:
    rows = csv.reader(lines, delimiter=between, strict=True)
    while some := [cells for cells in itertools.islice(rows, BATCH) if cells]:
        for number, cells in enumerate(some, start=row):
            wrong = f"row {number} has {len(cells)} cells, expected {len(header)} as in the header."
            check(len(cells) == len(header), wrong)
        columns = zip(header, zip(*some, strict=True), strict=True)
        yield {name: decimal_points(numbers_or_cells(list(cells)), between) for name, cells in columns}
        row += len(some)


# Parquet


def _parquet(path: Path) -> Iterator[Batch]:
    polars = require_polars(TABLES.format(path))
    try:
        batches = polars.scan_parquet(path).collect_batches(chunk_size=BATCH, maintain_order=True)
        for table in batches:
            if len(table):
                yield {name: _column(polars, table[name]) for name in table.columns}
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"not a Parquet file ({first_line(error)}).") from None


def _column(polars: Any, series: Any) -> Column:
    """Numbers where every cell is one; else the cells, an empty string where there is none."""
    kind = series.dtype
    plain = not kind.is_nested() and kind not in (polars.Binary, polars.Object)
    check(plain, f"column {series.name!r} must hold numbers or words, got {kind}.")
    if kind.is_numeric() or kind in (polars.Boolean, polars.String):
        numbers = series.cast(polars.Float64, strict=False)
        if numbers.null_count() == 0 or kind != polars.String:
            return np.array(numbers.to_numpy(), dtype=np.float64)
    return _of_list(series.to_list())


def require_polars(needs: str) -> Any:
    """The package, or an error that says what needs it."""
    try:
        import polars
    except ImportError:
        raise ValueError(needs) from None
    return polars
