"""Torch archives read without trust: look through the zip and its pickle first, call nothing, then torch.load.

`torch.load(weights_only=True)` runs no code of the file, but it would still allocate what a file of 1 kB asks for,
unpack what was never meant as data, and fail with a page of advice. So the pickle is walked once with inert
stand-ins for the few globals that plain tensors need; everything else is refused in one line.
"""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from adanet_theory.checks import first_line

MAX_BYTES = 4 << 30
MAX_PICKLE_BYTES = 64 << 20
MAX_NESTING = 32
MAX_ITEMS = 2_000_000


class ModelFileError(ValueError):
    """The file cannot be used; one line that says what, where, and what was expected."""


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a regular file of at most MAX_BYTES."""
    path = Path(path)
    try:
        if not path.exists():
            raise ModelFileError(f"{path}: no such file.")
        if not path.is_file():
            raise ModelFileError(f"{path}: not a regular file.")
        if path.stat().st_size > MAX_BYTES:
            raise ModelFileError(f"{path}: {path.stat().st_size} bytes, expected at most {MAX_BYTES}.")
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror or error}.") from None


def load(data: bytes, where: str, *, checkpoint: bool = False) -> Any:
    """What torch.save wrote, from str, int, float, bool, None, list, dict and dense tensors only; else refused.

    Beside the weights a checkpoint holds what an optimiser keeps: tuples, and dicts whose keys are numbers.
    """
    _Inspector(*_records(data, where), where).load()
    try:
        loaded = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except Exception as error:  # a damaged archive fails in many ways
        raise ModelFileError(f"{where}: torch cannot read it: {first_line(error)}") from None
    _require_plain(loaded, where, checkpoint)
    return loaded


# The zip


def _records(data: bytes, where: str) -> tuple[bytes, dict[str, int]]:
    """data.pkl and the size of every storage, from an archive whose members are stored as they are."""
    if not data:
        raise ModelFileError(f"{where}: the file is empty, expected a torch archive.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
        root = _root([info.filename for info in members], where)
        _require_honest(members, len(data), where)
        pickled = archive.read(f"{root}/data.pkl")
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{where}: not a zip archive ({first_line(error)}), expected what torch.save writes."
        ) from None
    prefix = f"{root}/data/"
    sizes = {i.filename.removeprefix(prefix): i.file_size for i in members if i.filename.startswith(prefix)}
    return pickled, sizes


def _require_honest(members: list[zipfile.ZipInfo], length: int, where: str) -> None:
    """No compression, no encryption, no name or byte claimed twice: a small file cannot unfold into a large one."""
    if any(info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size for info in members):
        raise ModelFileError(f"{where}: the archive is compressed, expected stored members as torch.save writes them.")
    if any(info.flag_bits & 1 for info in members):
        raise ModelFileError(f"{where}: the archive is encrypted, expected what torch.save writes.")
    if len({info.filename for info in members}) != len(members):
        raise ModelFileError(f"{where}: a member of the archive occurs twice.")
    if sum(info.file_size for info in members) > length:
        raise ModelFileError(f"{where}: the members of the archive are larger than the file.")


REMEDY = "save its state_dict() for --module PACKAGE:FACTORY --weights FILE, or a .pt2 of torch.export"


def _root(names: list[str], where: str) -> str:
    """The folder that holds data.pkl; TorchScript and exported programs are named and refused."""
    parts = {name.partition("/")[2] for name in names}
    if "constants.pkl" in parts or any(part.startswith("code/") for part in parts):
        raise ModelFileError(
            f"{where}: a TorchScript program, expected tensors only: {REMEDY}, or, held-out points alone, "
            "verify_bounds(torch.jit.load(FILE), test=(X, y)) in Python."
        )
    if "archive_format" in parts | set(names) or any(name.endswith(".json") for name in names):
        raise ModelFileError(f"{where}: an exported program, expected tensors only: {REMEDY}.")
    roots = [name.removesuffix("/data.pkl") for name in names if name.endswith("/data.pkl")]
    if len(roots) != 1 or "/" in roots[0]:
        raise ModelFileError(f"{where}: no data.pkl in the archive, expected what torch.save writes.")
    return roots[0]


# The pickle

_ITEM_BYTES = {"DoubleStorage": 8, "FloatStorage": 4, "HalfStorage": 2, "BFloat16Storage": 2} | {
    "LongStorage": 8,
    "IntStorage": 4,
    "ShortStorage": 2,
    "CharStorage": 1,
    "ByteStorage": 1,
    "BoolStorage": 1,
}

_REFUSED_TENSORS = {
    "_rebuild_sparse_tensor": "a sparse tensor",
    "_rebuild_sparse_csr_tensor": "a sparse tensor",
    "_rebuild_qtensor": "a quantised tensor",
    "_rebuild_nested_tensor": "a nested tensor",
    "_rebuild_meta_tensor_no_storage": "a meta tensor (without data)",
    "ComplexDoubleStorage": "a complex tensor",
    "ComplexFloatStorage": "a complex tensor",
}

# What torch.save writes in protocol 2, and nothing that could do more.
_OPCODES = (
    *("PROTO", "STOP", "MARK", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
    *("APPEND", "APPENDS", "SETITEM", "SETITEMS", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2"),
    *("LONG1", "BINFLOAT", "BINUNICODE", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT", "GLOBAL", "BINPERSID"),
)


@dataclass(frozen=True)
class _Storage:
    numel: int


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any) -> None:
    """Stand-in for _rebuild_tensor_v2: the tensor must cover its storage exactly, neither expanded nor a slice."""
    sound = (
        isinstance(storage, _Storage)
        and type(size) is type(stride) is tuple
        and len(size) == len(stride)
        and all(type(number) is int and number >= 0 for number in (*size, *stride))
    )
    if not sound:
        raise ModelFileError("a tensor without a size, stride and storage of its own")
    numel = math.prod(size)
    last = sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if numel else -1
    if offset != 0 or numel != storage.numel or last != numel - 1:
        raise ModelFileError(
            f"a tensor of size {list(size)} over a storage of {storage.numel}, expected one that fills its storage "
            "(save a contiguous clone)"
        )


def _parameter(*_: Any) -> None:
    """Stand-in for _rebuild_parameter."""


class _OrderedDict(dict[Any, Any]):
    """Stand-in for collections.OrderedDict."""


_STAND_INS: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("collections", "OrderedDict"): _OrderedDict,
}


def _reduce(inspector: Any) -> None:
    arguments, function = inspector.stack.pop(), inspector.stack.pop()
    if function not in (_tensor, _parameter, _OrderedDict):
        raise ModelFileError("a call, expected plain values and tensors")
    inspector.stack.append(function(*arguments))


def _build(inspector: Any) -> None:
    """The attributes of a state_dict (_metadata) are ignored; nothing else may have any."""
    inspector.stack.pop()
    if type(inspector.stack[-1]) is not _OrderedDict:
        raise ModelFileError("an object with attributes, expected plain values and tensors")


class _Inspector(pickle._Unpickler):
    """Walks a pickle that torch.save wrote; the only things it can call are the stand-ins above.

    The unpickler written in Python, because its memo is a dict: the C one allocates up to the largest index it meets.
    """

    proto: int
    dispatch = {getattr(pickle, name)[0]: pickle._Unpickler.dispatch[getattr(pickle, name)[0]] for name in _OPCODES} | {
        pickle.REDUCE[0]: _reduce,
        pickle.BUILD[0]: _build,
    }

    def __init__(self, pickled: bytes, sizes: dict[str, int], where: str) -> None:
        if len(pickled) > MAX_PICKLE_BYTES:
            raise ModelFileError(f"{where}: data.pkl has {len(pickled)} bytes, expected at most {MAX_PICKLE_BYTES}.")
        super().__init__(io.BytesIO(pickled))
        self.sizes, self.where = sizes, where

    def load(self) -> Any:
        try:
            loaded = super().load()
            if self.proto != 2:
                raise ModelFileError(f"a pickle of protocol {self.proto}, expected 2 as torch.save writes it")
            return loaded
        except ModelFileError as error:
            raise ModelFileError(f"{self.where}: holds {error}.") from None
        except Exception as error:  # a damaged pickle fails in many ways
            raise ModelFileError(
                f"{self.where}: its pickle is not one of plain values and tensors ({type(error).__name__})."
            ) from None

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in _ITEM_BYTES:
            return _ITEM_BYTES[name]
        if (module, name) in _STAND_INS:
            return _STAND_INS[module, name]
        if module in ("torch", "torch._utils") and name in _REFUSED_TENSORS:
            raise ModelFileError(f"{_REFUSED_TENSORS[name]}, expected dense real tensors")
        trusted = "in Python, if you trust the file: verify_bounds(torch.load(FILE, weights_only=False), X, y)"
        raise ModelFileError(f"a pickled {module}.{name}, expected plain values and tensors ({REMEDY}; {trusted})")

    def persistent_load(self, pid: Any) -> _Storage:
        kind, item_bytes, key, _, numel = pid
        if kind != "storage" or type(item_bytes) is not int or type(numel) is not int or numel < 0:
            raise ModelFileError("a reference that is not a tensor's storage")
        if self.sizes.get(key) != numel * item_bytes:
            raise ModelFileError(f"a storage of {numel} elements where the archive has {self.sizes.get(key)} bytes")
        return _Storage(numel)


# What was loaded


def _require_plain(loaded: Any, where: str, checkpoint: bool) -> None:
    """Only plain values and dense CPU tensors, MAX_NESTING deep at most; values shared many times count each time."""
    items = 0
    pending: list[tuple[Any, int]] = [(loaded, 0)]
    while pending:
        value, nesting = pending.pop()
        items += 1
        if nesting > MAX_NESTING or items > MAX_ITEMS:
            raise ModelFileError(f"{where}: nested deeper than {MAX_NESTING} or more than {MAX_ITEMS} items.")
        if isinstance(value, dict):
            if any(type(key) is not str and not (checkpoint and type(key) is int) for key in value):
                raise ModelFileError(f"{where}: a dict with a key that is not a str.")
            pending += [(item, nesting + 1) for item in value.values()]
        elif isinstance(value, (list, tuple) if checkpoint else list):
            pending += [(item, nesting + 1) for item in value]
        elif isinstance(value, torch.Tensor):
            if value.layout != torch.strided or value.device.type != "cpu":
                raise ModelFileError(f"{where}: a {value.layout} tensor on {value.device}, expected a dense CPU one.")
        elif value is not None and type(value) not in (str, int, float, bool):
            raise ModelFileError(f"{where}: a value of type {type(value).__name__}, expected plain values and tensors.")
