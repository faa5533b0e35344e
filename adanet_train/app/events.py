"""TensorBoard event files, `adanet-train --log DIR`: F, the held-out loss and the size of the network after each round.

A file is a sequence of records: length (uint64), its checksum, the Event message, its checksum; little-endian, the
checksums CRC-32C, rotated by 15 bits and shifted by a constant. Only the fields below are written.
"""

from __future__ import annotations

import functools
import os
import socket
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adanet_train.core.training import Trained

VERSION = "brain.Event:2"


class Events:
    """Callback after every round. A resumed run begins a new file and leaves the earlier one as it is."""

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}"
        self.path = path / name
        self._append(_field(3, VERSION.encode()))

    def __call__(self, trained: Trained) -> None:
        t = len(trained.history)
        values = b"".join(_field(1, _scalar(tag, value)) for tag, value in scalars(trained).items())
        self._append(_number(2, t) + _field(5, values))

    def _append(self, message: bytes) -> None:
        record = _record(struct.pack("<Bd", 1 << 3 | 1, time.time()) + message)
        with open(self.path, "ab") as file:
            file.write(record)


def scalars(trained: Trained) -> dict[str, float]:
    """The values to log after the last round."""
    entry: Mapping[str, Any] = trained.history[-1]
    values = {"objective": entry["objective"]}
    values |= {name: entry[name] for name in ("held_out", "lam") if name in entry}
    for candidate in entry["candidates"]:
        values[f"candidates/depth_{candidate['depth']}"] = candidate["objective"]
    values["network/depth"] = float(trained.network.depth)
    values["network/units"] = float(sum(trained.network.n[1:]))
    values["network/l1"] = sum(float(w.abs().sum()) for w in trained.network.output.values())
    return {tag: float(value) for tag, value in values.items()}


# Protocol buffers


def _scalar(tag: str, value: float) -> bytes:
    """Summary.Value: tag, simple_value."""
    return _field(1, tag.encode()) + struct.pack("<Bf", 2 << 3 | 5, value)


def _field(number: int, content: bytes) -> bytes:
    return bytes(_varint(number << 3 | 2)) + bytes(_varint(len(content))) + content


def _number(number: int, value: int) -> bytes:
    return bytes(_varint(number << 3)) + bytes(_varint(value))


def _varint(value: int) -> Iterator[int]:
    """Seven bits a byte, the lowest first.

    >>> bytes(_varint(300)).hex()
    'ac02'
    """
    while value >= 128:
        yield value & 127 | 128
        value >>= 7
    yield value


# Records


def _record(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + _masked(length) + message + _masked(message)


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """
    >>> hex(crc32c(b"123456789"))  # the check value of the standard
    '0xe3069283'
    """
    crc, table = 0xFFFFFFFF, _table()
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


@functools.cache
def _table() -> tuple[int, ...]:
    """CRC-32C of every byte, by Castagnoli's polynomial, its bits reversed."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)
