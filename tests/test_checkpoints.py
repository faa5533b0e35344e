"""Checkpoints and .safetensors files: the state_dict inside them, or a line that says why not."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from adanet_train.data.archive import ModelFileError
from adanet_train.model import model_file
from tests.refusals import refused


def mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def trained() -> tuple[nn.Sequential, dict[str, Any]]:
    """A module and the checkpoint that a training loop would save: Adam keeps numbered tensors and tuples."""
    module = mlp()
    optimiser = torch.optim.Adam(module.parameters())
    module(torch.ones(2, 3)).sum().backward()
    optimiser.step()
    return module, {"epoch": 3, "optimizer": optimiser.state_dict(), "best": 0.5}


def same(path: Path, module: nn.Sequential) -> None:
    model = model_file.read_any(path, "relu")
    X = torch.randn(5, 3, generator=torch.Generator().manual_seed(1)).double()
    with torch.no_grad():
        expected = module.double()(X)[:, 0]
    torch.testing.assert_close(model.network(model.Psi(X.numpy())), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("key", ["state_dict", "model_state_dict", "model", "net"])
@pytest.mark.parametrize("wrapper", ["", "module.", "_orig_mod.module."])
def test_the_state_dict_of_a_checkpoint_is_found(tmp_path: Path, key: str, wrapper: str) -> None:
    module, checkpoint = trained()
    checkpoint[key] = {wrapper + name: tensor for name, tensor in module.state_dict().items()}
    torch.save(checkpoint, tmp_path / "ckpt.pt")
    same(tmp_path / "ckpt.pt", module)


def test_a_checkpoint_with_two_state_dicts_is_refused(tmp_path: Path) -> None:
    module, checkpoint = trained()
    torch.save(checkpoint | {"model": module.state_dict(), "net": module.state_dict()}, tmp_path / "ckpt.pt")
    refused(lambda: model_file.read_any(tmp_path / "ckpt.pt", "relu"), "2 state_dicts", error=ModelFileError)


def test_weights_of_convolutions_name_the_way_in(tmp_path: Path) -> None:
    torch.save(nn.Conv2d(1, 1, 3).state_dict(), tmp_path / "conv.pt")
    with pytest.raises(ModelFileError, match=r"connected.*verify_bounds\(module, X, y\)"):
        model_file.read_any(tmp_path / "conv.pt", "relu")


# safetensors, written by the letter of its format


def encoded(entries: dict[str, Any], numbers: bytes, pad: int = 0) -> bytes:
    table = json.dumps(entries).encode() + b" " * pad
    return struct.pack("<Q", len(table)) + table + numbers


def safetensors(state: dict[str, torch.Tensor]) -> bytes:
    kinds = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    numbers = b""
    for name, tensor in state.items():
        raw = tensor.contiguous().view(torch.uint8).numpy().tobytes()
        place = [len(numbers), len(numbers) + len(raw)]
        entries[name] = {"dtype": kinds[tensor.dtype], "shape": list(tensor.shape), "data_offsets": place}
        numbers += raw
    return encoded(entries, numbers, pad=5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_safetensors_are_read(tmp_path: Path, dtype: torch.dtype) -> None:
    module = mlp().to(dtype)
    (tmp_path / "net.safetensors").write_bytes(safetensors(dict(module.state_dict())))
    same(tmp_path / "net.safetensors", module)


ONE = {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (encoded({"w": ONE}, b"\0" * 12), "12 bytes of numbers, expected 8"),
        (encoded({"w": ONE, "v": ONE}, b"\0" * 8), "'v' does not begin where the tensor before it ends"),
        (encoded({"w": ONE | {"data_offsets": [4, 12]}}, b"\0" * 12), "'w' does not begin where"),
        (encoded({"w": ONE | {"shape": [1, 3]}}, b"\0" * 8), "'w' has another size than its shape"),
        (encoded({"w": ONE | {"shape": [2**40, 2**40]}}, b"\0" * 8), "'w' has another size than its shape"),
        (encoded({"w": ONE | {"shape": [-1, -2]}}, b"\0" * 8), "shape or offsets that are not sizes"),
        (encoded({"w": ONE | {"data_offsets": [True, 8]}}, b"\0" * 8), "shape or offsets that are not sizes"),
        (encoded({"w": ONE | {"dtype": "C64"}}, b"\0" * 8), "has the dtype 'C64', expected one of F64"),
        (encoded({"w": {"dtype": "F32"}}, b""), "'w' has no dtype, shape and data_offsets"),
        (struct.pack("<Q", 12) + b'{"a":1,"a":2' + b"}", "not JSON"),
        (struct.pack("<Q", 13) + b'{"a":1,"a":2}', "occurs twice"),
        (struct.pack("<Q", 4000) + b"{" + b'"a":{' * 799 + b"    ", "safetensors|recursion|nested|JSON"),
    ],
)
def test_safetensors_that_are_not_sound_are_refused_in_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=message) as caught:
        model_file.read_any(path, "relu")
    assert str(path) in str(caught.value)
