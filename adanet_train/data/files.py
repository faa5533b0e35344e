"""Arrays from .npy (memory-mapped), .npz, .pt and idx files, without pickle; every refusal is one line."""

from __future__ import annotations

import glob
import gzip
import math
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check, first_line, shown
from adanet_train.data.disk import Joined, on_disk, slices

MAX_BYTES = 4 << 30

Arrays = dict[str, Any]


def parts(path: Path) -> list[Path]:
    """The files of a pattern such as part-*.npy, or of a folder such as table.parquet, by name with numbers in order.

    >>> parts(Path("table.csv"))
    [PosixPath('table.csv')]
    """
    if path.is_dir():
        path = path / f"*{path.suffix}"
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    names = sorted(glob.glob(str(path)), key=_in_order)
    check(bool(names), f"{path}: no file has such a name.")
    return [Path(name) for name in names]


def _in_order(name: str) -> list[Any]:
    """part-9 before part-10: every other piece is a number."""
    return [int(piece) if piece.isdecimal() else piece for piece in re.split("([0-9]+)", name)]


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
            return _named({name: file[name] for name in file.files if name in ("X", "Psi", "y")}, file.files)
    except (ValueError, OSError, EOFError, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: {first_line(error)}") from None


def read_pt(path: Path) -> Arrays:
    """X or Psi, and y, of a dict of tensors that torch.save wrote."""
    from adanet_train.data import archive

    loaded = archive.load(archive.read_bytes(path), str(path))
    try:
        check(isinstance(loaded, dict), "expected a dict with X (or Psi) and y.")
        tensors = {name: loaded[name] for name in ("X", "Psi", "y") if name in loaded}
        for name, value in tensors.items():
            check(hasattr(value, "numpy"), f"{name} must be a tensor, got a {type(value).__name__}.")
        # numpy has no bfloat16; float64 holds every real type but the largest integers
        return _named({name: value.double().numpy() for name, value in tensors.items()}, loaded)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _named(arrays: Arrays, keys: Iterable[Any]) -> Arrays:
    has = f"the file has {shown([str(key)[:40] for key in keys]) or 'nothing'}"
    check("y" in arrays, f"expected y, the labels, beside X or Psi; {has}.")
    check(("X" in arrays) != ("Psi" in arrays), f"expected either X or Psi beside y; {has}.")
    return arrays


def rows(path: Path) -> Any:
    """The memory-mapped rows of a .npy file without labels, or of the parts that a pattern names, as one array."""
    paths = parts(path)
    arrays = [_mapped(one) for one in paths]
    _require_alike(paths, arrays)
    return arrays[0] if len(arrays) == 1 else Joined(arrays)


def _require_alike(paths: list[Path], arrays: list[Any]) -> None:
    for one, array in zip(paths, arrays, strict=True):
        shape, first = array.shape[1:], arrays[0].shape[1:]
        check(shape == first, f"{one}: expected rows of shape {first} as in {paths[0].name}, got {shape}.")


def read_npy(path: Path, label: str | None) -> Arrays:
    """X and y of memory-mapped rows: y is the last column, the column number `label`, or another .npy file.

    A pattern names the parts of one table, which stay on the disk; labels in files of their own are then a pattern too.
    """
    paths, others = parts(path), [label]
    if label is not None and label.endswith(".npy"):
        others = [str(one) for one in parts(Path(label))]
        same = len(others) == len(paths)
        check(same, f"{label}: expected as many files of labels as {path} names, {len(paths)}, got {len(others)}.")
    tables = [_read_npy(one, other) for one, other in zip(paths, others * (len(paths) // len(others)), strict=True)]
    if len(tables) == 1:
        return tables[0]
    _require_alike(paths, [arrays["X"] for arrays in tables])
    for one, arrays in zip(paths, tables, strict=True):
        check(len(arrays["X"]) == len(arrays["y"]), f"{one}: {len(arrays['X'])} rows and {len(arrays['y'])} labels.")
    return {"X": Joined([arrays["X"] for arrays in tables]), "y": np.concatenate([arrays["y"] for arrays in tables])}


def _read_npy(path: Path, label: str | None) -> Arrays:
    if label is not None and label.endswith(".npy"):
        return {"X": _mapped(path), "y": np.array(_mapped(Path(label), 1, "buifU"))}
    values = _mapped(path)
    flat = values.ndim == 2
    check(flat, f"{path}: holds no labels beside its inputs of shape {values.shape[1:]}: --label LABELS.npy.")
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


def _mapped(path: Path, dimensions: int | None = None, kinds: str = "buif") -> Any:
    """The array of a file, with so many dimensions, or two at least."""
    check(path.is_file(), f"{path}: no such file.")
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path}: not a .npy file of numbers ({' '.join(str(error).split())}).") from None
    check(isinstance(values, np.memmap), f"{path}: not a .npy file of numbers.")
    shown = f"got dtype {values.dtype} and shape {values.shape}"
    rows = values.ndim >= 2 if dimensions is None else values.ndim == dimensions
    check(values.dtype.kind in kinds and rows, f"{path}: expected numbers in rows, {shown}.")
    return values


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
        raise ValueError(f"{path}: {first_line(error)}") from None
    check(len(data) == size, f"{path}: {len(data)} bytes, expected {size} for the shape {shape}.")
    return np.frombuffer(data, dtype=np.uint8).reshape(shape)
