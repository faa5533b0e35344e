"""Arrays from .csv, .npz, .pt and idx files, without pickle; every refusal is one line."""

from __future__ import annotations

import csv
import gzip
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check
from adanet_train.data import encoding, large

MAX_BYTES = 4 << 30

Arrays = dict[str, Any]


def require_file(path: Path) -> None:
    check(path.exists(), f"{path}: no such file.")
    check(path.is_file(), f"{path}: not a regular file.")
    check(path.stat().st_size <= MAX_BYTES, f"{path}: {path.stat().st_size} bytes, expected at most {MAX_BYTES}.")


def read_npz(path: Path) -> Arrays:
    """X or Psi, and y, of an .npz file."""
    require_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        check(unpacked <= MAX_BYTES, f"unpacks to {unpacked} bytes, expected at most {MAX_BYTES}.")
        with np.load(path, allow_pickle=False) as file:
            return _named({name: file[name] for name in file.files if name in ("X", "Psi", "y")})
    except (ValueError, OSError, EOFError, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: {_line(error)}") from None


def read_pt(path: Path) -> Arrays:
    """X or Psi, and y, of a dict of tensors that torch.save wrote."""
    from adanet_train.model import archive

    loaded = archive.load(archive.read_bytes(path), str(path))
    try:
        check(isinstance(loaded, dict), "expected a dict with X (or Psi) and y.")
        tensors = {name: loaded[name] for name in ("X", "Psi", "y") if name in loaded}
        for name, value in tensors.items():
            check(hasattr(value, "numpy"), f"{name} must be a tensor, got a {type(value).__name__}.")
        # numpy has no bfloat16; float64 holds every real type but the largest integers
        return _named({name: value.double().numpy() for name, value in tensors.items()})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _named(arrays: Arrays) -> Arrays:
    check("y" in arrays, "expected y, the labels, beside X or Psi.")
    check(("X" in arrays) != ("Psi" in arrays), "expected either X or Psi beside y.")
    return arrays


def read_table(path: Path, label: str | None) -> Arrays:
    """X, y and the names of the columns of X, of a .csv or .parquet file; `label` names the column of y, default y."""
    check(path.exists(), f"{path}: no such file.")
    if path.is_file() and path.stat().st_size >= large.STREAMED:
        return large.read_batches(path, label if label is not None else "y")
    return (read_csv if path.suffix.lower() == ".csv" else read_parquet)(path, label)


def read_csv(path: Path, label: str | None) -> Arrays:
    """X, y and the names of the columns of X; `label` names the column of y."""
    require_file(path)
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            between = max(",;\t", key=first.count)
            header, *rows = [row for row in csv.reader(file, strict=True, delimiter=between) if row] or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: not a comma-separated table in UTF-8 ({_line(error)}).") from None
    try:
        return _table([name.strip() for name in header], rows, label if label is not None else "y")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read_parquet(path: Path, label: str | None) -> Arrays:
    """The same of a Parquet file."""
    require_file(path)
    try:
        import polars

        table = polars.read_parquet(path)
    except ImportError:
        raise ValueError(f"{path}: Parquet needs polars: pip install polars.") from None
    except Exception as error:  # polars has many kinds of its own for a damaged file
        raise ValueError(f"{path}: not a Parquet file ({_line(error)}).") from None
    try:
        rows = [["" if cell is None else str(cell) for cell in row] for row in table.rows()]
        return _table(list(table.columns), rows, label if label is not None else "y")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _table(header: list[str], rows: list[list[str]], label: str) -> Arrays:
    shown = ", ".join(header[:8]) + (", .." if len(header) > 8 else "")
    check(len(rows) >= 1, "expected a header and at least one row.")
    check(len(set(header)) == len(header), f"a column name occurs twice in the header: {shown}.")
    check(label in header, f"no column {label!r} for the labels (--label COLUMN), the header has {shown}.")
    for number, row in enumerate(rows, start=2):
        check(len(row) == len(header), f"row {number} has {len(row)} cells, expected {len(header)} as in the header.")
    place = header.index(label)
    names = header[:place] + header[place + 1 :]
    check(len(names) >= 1, f"no column beside the labels {label!r}.")
    y = [row.pop(place).strip() for row in rows]
    if "" in y:
        raise ValueError(f"row {y.index('') + 2} has no label in column {label!r}.")
    try:
        X, known = np.array(rows, dtype=np.float64), tuple(names)
    except ValueError:
        X, known = encoding.encode(names, rows)
    return {"X": X, "y": _numbers(y), "names": known}


def _numbers(cells: list[str]) -> Any:
    """Numbers if all cells are, else the strings."""
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        return np.array(cells)


def read_idx(path: Path) -> Any:
    """The bytes of an idx file (MNIST and its kin), plain or gzipped, in their shape."""
    require_file(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            magic = file.read(4)
            check(
                len(magic) == 4 and magic[:3] == b"\x00\x00\x08" and 1 <= magic[3] <= 3,
                "expected an idx file of bytes.",
            )
            shape = np.frombuffer(file.read(4 * magic[3]), dtype=">u4").astype(int).tolist()
            size = math.prod(shape)
            check(len(shape) == magic[3] and size <= MAX_BYTES, f"expected at most {MAX_BYTES} bytes of shape {shape}.")
            data = file.read(size)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path}: {_line(error)}") from None
    check(len(data) == size, f"{path}: {len(data)} bytes, expected {size} for the shape {shape}.")
    return np.frombuffer(data, dtype=np.uint8).reshape(shape)


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
