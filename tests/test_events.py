"""Event files read back, by a reader of the format that shares nothing with the writer."""

import math
import struct

import pytest

from adanet_train.app import cli
from adanet_train.model import model_file


def records(data):
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert checksum(data[:8]) == data[8:12]
        message, data = data[12 : 12 + length], data[12 + length :]
        assert checksum(message) == data[:4]
        data = data[4:]
        yield message


def checksum(data):
    """CRC-32C bit by bit, as the division of polynomials it is."""
    remainder = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            odd = (remainder ^ (byte >> bit)) & 1
            remainder = (remainder >> 1) ^ (0x82F63B78 * odd)
    crc = remainder ^ 0xFFFFFFFF
    return struct.pack("<I", (((crc >> 15) | (crc << 17) & 0xFFFFFFFF) + 0xA282EAD8) % 2**32)


def fields(message):
    """(number, value) of a protocol buffer."""
    values = []
    while message:
        key, message = varint(message)
        match key & 7:
            case 0:
                value, message = varint(message)
            case 1:
                value, message = struct.unpack("<d", message[:8])[0], message[8:]
            case 2:
                length, message = varint(message)
                value, message = message[:length], message[length:]
            case 5:
                value, message = struct.unpack("<f", message[:4])[0], message[4:]
        values.append((key >> 3, value))
    return values


def varint(data):
    value = 0
    for place, byte in enumerate(data):
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            return value, data[place + 1 :]
    raise AssertionError("no end")


def read(folder):
    """{tag: {step: value}} of the one file there."""
    (path,) = folder.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    first, *rest = (dict(fields(record)) for record in records(path.read_bytes()))
    assert first[3] == b"brain.Event:2"
    by_name = {}
    for event in rest:
        assert event[1] >= first[1] > 1.6e9
        for number, value in fields(event[5]):
            assert number == 1
            scalar = dict(fields(value))
            by_name.setdefault(scalar[1].decode(), {})[event[2]] = scalar[2]
    return by_name


def test_every_round_is_a_step(tmp_path):
    options = ["--rounds", "3", "--width", "5", "--set", "members=2", "--set", "steps=50"]
    assert cli.main(["breast-cancer", "-o", str(tmp_path / "m.pt"), "--log", str(tmp_path / "log"), *options]) == 0
    model, data = model_file.read(tmp_path / "m.pt"), read(tmp_path / "log")
    history = model.meta["history"]
    assert data["objective"] == pytest.approx({t: entry["objective"] for t, entry in enumerate(history, 1)}, rel=1e-6)
    assert data["held_out"] == pytest.approx({t: entry["held_out"] for t, entry in enumerate(history, 1)}, rel=1e-6)
    assert set(data["candidates/depth_1"]) >= {1}
    assert data["network/units"][len(history)] == sum(model.network.n[1:])
    assert data["lam"][1] == pytest.approx(history[0]["lam"], rel=1e-6)
    assert all(math.isfinite(value) for series in data.values() for value in series.values())
