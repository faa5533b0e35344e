"""The batches of CIFAR-10 as they lie on a disk: the official archives or their folders, binary or python.

A user's file is not trusted: an archive is read as a stream of bounded length and unpacked to memory only, and the
pickles of the python version are walked with inert stand-ins for the few globals that the official file names.
"""

from __future__ import annotations

import gzip
import io
import math
import pickle
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check, first_line

Bytes = NDArray[np.uint8]

BATCHES = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")
ROW = 1 + 3 * 32 * 32
MAX_ROWS = 10_000
MAX_BATCH = 32 << 20
"""The largest batch there is: 10,000 pixel rows, and in the python version their file names."""
MAX_ARCHIVE = 256 << 20

PLACES = ("cifar-10-batches-bin", "cifar-10-batches-py", "cifar-10-binary.tar.gz", "cifar-10-python.tar.gz")


def find(data_dir: Path) -> Path:
    """The folder or archive of the batches, in `data_dir` or its subfolder cifar10; complete ones before others."""
    roots = (data_dir / "cifar10", data_dir)
    places = []
    for root in roots:
        places += [folder for folder in (root / PLACES[0], root / PLACES[1], root) if _missing(folder) != BATCHES]
        places += [archive for archive in (root / PLACES[2], root / PLACES[3]) if archive.is_file()]
    if not places:
        raise ValueError(
            f"cifar10: no {', '.join(PLACES[2:])} (or their folders) in {roots[0]} or {roots[1]}: put one there, or "
            "fetch them by adanet-experiment data cifar10; name the folder by --data-dir or ADANET_DATA."
        )
    return next((place for place in places if place.is_file() or not _missing(place)), places[0])


def _missing(folder: Path) -> tuple[str, ...]:
    return tuple(name for name in BATCHES if not any((folder / file).is_file() for file in (f"{name}.bin", name)))


def read(place: Path, names: tuple[str, ...] = BATCHES) -> tuple[Bytes, Bytes]:
    """The images [n, 32, 32, 3] and labels 0 to 9 of the named batches, in their order."""
    batches = contents(place, names)
    rows = np.concatenate([_rows(batches[name], f"{place}: {name}") for name in names])
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]


def contents(place: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """The bytes of the named batches of a folder or an archive."""
    try:
        return _from_folder(place, names) if place.is_dir() else _from_archive(place, names)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise ValueError(f"{place}: {first_line(error)}") from None


def _from_folder(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    batches = {}
    for name in names:
        path = next((folder / file for file in (f"{name}.bin", name) if (folder / file).is_file()), None)
        if path is None:
            raise ValueError(f"{folder}: no {name}.bin or {name}.")
        check(path.stat().st_size <= MAX_BATCH, f"{path}: {path.stat().st_size} bytes, expected at most {MAX_BATCH}.")
        batches[name] = path.read_bytes()
    return batches


def _from_archive(path: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    batches: dict[str, bytes] = {}
    with gzip.open(path) as unpacked, tarfile.open(fileobj=_Bounded(unpacked, path), mode="r|") as archive:
        for member in archive:
            folder, _, file = member.name.removeprefix("./").rpartition("/")
            name = file.removesuffix(".bin")
            if folder not in PLACES[:2] or name not in names or not member.isreg():
                continue
            check(name not in batches, f"{path}: {member.name} occurs twice.")
            check(member.size <= MAX_BATCH, f"{path}: {name} has {member.size} bytes, expected at most {MAX_BATCH}.")
            stream = archive.extractfile(member)
            batches[name] = stream.read() if stream else b""
            if len(batches) == len(names):
                break
    missing = [name for name in names if name not in batches]
    check(not missing, f"{path}: no {missing[0] if missing else ''} in the archive.")
    return batches


class _Bounded(io.RawIOBase):
    """At most MAX_ARCHIVE bytes of a stream: a header that announces more is refused before anything is unpacked."""

    def __init__(self, stream: gzip.GzipFile, path: Path) -> None:
        self.stream, self.path, self.left = stream, path, MAX_ARCHIVE

    def read(self, size: int = -1) -> bytes:
        check(0 <= size <= self.left, f"{self.path}: unpacks to more than {MAX_ARCHIVE} bytes.")
        self.left -= size
        return self.stream.read(size)


def _rows(content: bytes, where: str) -> Bytes:
    """Rows of a label and 3,072 pixels in three planes, from either version of a batch."""
    rows = _pickled_rows(content, where) if content[:1] == pickle.PROTO else _binary_rows(content, where)
    check(1 <= len(rows) <= MAX_ROWS, f"{where}: {len(rows)} images, expected 1 to {MAX_ROWS}.")
    check(int(rows[:, 0].max()) < 10, f"{where}: a label of {rows[:, 0].max()}, expected 0 to 9.")
    return rows


def _binary_rows(content: bytes, where: str) -> Bytes:
    check(len(content) % ROW == 0, f"{where}: {len(content)} bytes, expected a multiple of {ROW}.")
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, ROW)


def _pickled_rows(content: bytes, where: str) -> Bytes:
    try:
        batch = _Unpickler(content).load()
        check(isinstance(batch, dict), "a pickle that is not a dict")
        fields = {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in batch.items()}
        pixels, labels = fields.get("data"), fields.get("labels")
        if not (isinstance(pixels, _Array) and isinstance(labels, list)):
            raise ValueError("no data and labels")
        check(all(type(label) is int and 0 <= label < 10 for label in labels), "labels that are not 0 to 9")
        values = pixels.values()
        check(values.shape == (len(labels), ROW - 1), f"data of shape {values.shape} for {len(labels)} labels")
    except Exception as error:  # a damaged pickle fails in many ways
        raise ValueError(f"{where}: {first_line(error)}, expected a batch of the official python version.") from None
    return np.hstack([np.array(labels, dtype=np.uint8)[:, None], values])


# The pickle

_OPCODES = (
    *("PROTO", "STOP", "MARK", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
    *("APPEND", "APPENDS", "SETITEM", "SETITEMS", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2"),
    *("SHORT_BINSTRING", "BINSTRING", "BINUNICODE", "SHORT_BINBYTES", "BINBYTES", "GLOBAL"),
    *("BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT"),
)


class _DType:
    def __init__(self, name: Any, *_: Any) -> None:
        self.name = name

    def fill(self, state: Any) -> None:
        """The byte order and alignment; a byte has neither."""


class _Array:
    state: Any = None

    def fill(self, state: Any) -> None:
        self.state = state

    def values(self) -> Bytes:
        _, shape, dtype, fortran, content = self.state
        is_bytes = isinstance(dtype, _DType) and dtype.name in ("u1", b"u1", "|u1", b"|u1")
        check(is_bytes and type(content) is bytes, "data that are not bytes")
        check(len(content) == math.prod(shape), f"data of {len(content)} bytes for the shape {shape}")
        return np.frombuffer(content, dtype=np.uint8).reshape(shape, order="F" if fortran else "C")


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _encode(text: Any, encoding: Any) -> bytes:
    """Bytes as Python 3 writes them in protocol 2."""
    check(type(text) is str and encoding in ("latin1", b"latin1"), "a call of encode")
    return text.encode("latin1")


_STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy", "ndarray"): None,  # only an argument of _reconstruct, never called
    ("numpy", "dtype"): _DType,
    ("_codecs", "encode"): _encode,
}


def _reduce(unpickler: Any) -> None:
    arguments, function = unpickler.stack.pop(), unpickler.stack.pop()
    check(function in (_reconstruct, _DType, _encode), "a call")
    unpickler.stack.append(function(*arguments))


def _build(unpickler: Any) -> None:
    state = unpickler.stack.pop()
    check(type(unpickler.stack[-1]) in (_Array, _DType), "an object with attributes")
    unpickler.stack[-1].fill(state)


class _Unpickler(pickle._Unpickler):
    """Calls the stand-ins above and nothing else.

    The unpickler written in Python, because its memo is a dict: the C one allocates up to the largest index it meets.
    """

    dispatch = {getattr(pickle, name)[0]: pickle._Unpickler.dispatch[getattr(pickle, name)[0]] for name in _OPCODES} | {
        pickle.REDUCE[0]: _reduce,
        pickle.BUILD[0]: _build,
    }

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="bytes")

    def find_class(self, module: str, name: str) -> Any:
        check((module, name) in _STAND_INS, f"a pickled {module}.{name}")
        return _STAND_INS[module, name]
