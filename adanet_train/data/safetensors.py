"""A .safetensors file: eight bytes n, a JSON table of n bytes, then the numbers. Read without trust.

Every tensor must lie inside the file, none over another and none apart from its neighbour, with as many bytes as its
shape asks for: a small file cannot unfold into a large one.
"""

from __future__ import annotations

import json
import math
from typing import Any

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.data.archive import ModelFileError

MAX_TABLE_BYTES = 64 << 20
MAX_TENSORS = 100_000
_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16} | {
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


def is_safetensors(data: bytes) -> bool:
    """A torch archive begins like a zip file, this one with the length of a table that opens with a brace."""
    return len(data) > 9 and data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data) - 8


def load(data: bytes, where: str) -> dict[str, Tensor]:
    """The tensors by name."""
    try:
        return _tensors(data)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where}: {error}") from None


def _tensors(data: bytes) -> dict[str, Tensor]:
    n = int.from_bytes(data[:8], "little")
    check(n <= min(MAX_TABLE_BYTES, len(data) - 8), f"a table of {n} bytes, expected at most {MAX_TABLE_BYTES}.")
    try:
        table = json.loads(data[8 : 8 + n].decode("utf-8"), object_pairs_hook=_once)
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("its table is not JSON, expected a safetensors file.") from None
    check(isinstance(table, dict), "its table is not a dict, expected a safetensors file.")
    entries = {name: entry for name, entry in table.items() if name != "__metadata__"}
    check(len(entries) <= MAX_TENSORS, f"{len(entries)} tensors, expected at most {MAX_TENSORS}.")
    numbers = memoryview(data)[8 + n :]
    places = {name: _place(name, entry) for name, entry in entries.items()}
    end = 0
    for name, (_, _, start, stop) in sorted(places.items(), key=lambda item: item[1][2:]):
        check(start == end, f"{name!r} does not begin where the tensor before it ends.")
        end = stop
    check(end == len(numbers), f"{len(numbers)} bytes of numbers, expected {end}.")
    return {name: _tensor(numbers[start:stop], dtype, shape) for name, (dtype, shape, start, stop) in places.items()}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    check(len({key for key, _ in pairs}) == len(pairs), "a name occurs twice in its table.")
    return dict(pairs)


def _place(name: str, entry: Any) -> tuple[torch.dtype, list[int], int, int]:
    """(dtype, shape, start, stop), consistent."""
    whole = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}
    check(whole, f"{name!r} has no dtype, shape and data_offsets.")
    dtype, shape, offsets = _DTYPES.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    check(
        dtype is not None, f"{name!r} has the dtype {str(entry['dtype'])[:20]!r}, expected one of {', '.join(_DTYPES)}."
    )
    for values, length in ((shape, None), (offsets, 2)):
        sound = isinstance(values, list) and all(type(x) is int and 0 <= x < 2**62 for x in values)
        check(sound and length in (None, len(values)), f"{name!r} has a shape or offsets that are not sizes.")
    assert dtype is not None
    start, stop = offsets
    check(
        len(shape) <= 32 and stop - start == math.prod(shape) * dtype.itemsize,
        f"{name!r} has another size than its shape.",
    )
    return dtype, shape, start, stop


def _tensor(numbers: memoryview, dtype: torch.dtype, shape: list[int]) -> Tensor:
    if not len(numbers):
        return torch.zeros(shape, dtype=dtype)
    return torch.frombuffer(bytearray(numbers), dtype=dtype).reshape(shape)
