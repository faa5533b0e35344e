"""Files of programs: what torch.export and ONNX wrote is read as data, computes what it computed, and runs nothing."""

from __future__ import annotations

import io
import json
import logging
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper
from torch import Tensor, nn

from adanet_train.data.archive import ModelFileError
from adanet_train.reading.exported import is_exported, read_exported
from adanet_train.reading.onnx_file import read_onnx
from adanet_train.reading.trace import require_equal, trace
from tests.refusals import refused


class Mixed(nn.Module):
    """What exporters write in many ways: a buffer, a constant, a view by the size of x, a skip, a slope."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 3)
        self.register_buffer("mean", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        z = (x - self.mean) * 2
        h = z + nn.functional.leaky_relu(self.a(z), 0.25)
        return torch.softmax(self.b(h.view(x.shape[0], -1)), dim=1)


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1, stride=2),
        nn.BatchNorm2d(3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(3, 4, 1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )


MODULES: list[tuple[Callable[[], nn.Module], tuple[int, ...]]] = [(Mixed, (4,)), (convolutional, (1, 8, 8))]


def prepared(make: Callable[[], nn.Module], shape: tuple[int, ...]) -> tuple[nn.Module, Tensor]:
    """With statistics of its own in every BatchNorm, so that a mix-up of its arguments would show."""
    torch.manual_seed(0)
    module, X = make(), torch.randn(9, *shape)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            for tensor in (part.running_mean, part.running_var, part.weight, part.bias):
                assert tensor is not None
                nn.init.uniform_(tensor, 0.5, 2.0)
    return module.eval(), X


def export(module: nn.Module, X: Tensor, *, decomposed: bool) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, (X,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
        written = io.BytesIO()
        torch.export.save(program.run_decompositions() if decomposed else program, written)
    return written.getvalue()


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize(("make", "shape"), MODULES)
def test_an_exported_program_computes_what_the_module_did(
    make: Callable[[], nn.Module], shape: tuple[int, ...], decomposed: bool
) -> None:
    module, X = prepared(make, shape)
    data = export(module, X, decomposed=decomposed)
    assert is_exported(data)
    again = read_exported(data, "net.pt2")
    torch.testing.assert_close(again(X), module(X), rtol=1e-6, atol=1e-6)
    require_equal(trace(again, shape), again, X.numpy())


@pytest.mark.parametrize(("make", "shape"), MODULES)
def test_an_onnx_file_computes_what_onnxruntime_computes(
    make: Callable[[], nn.Module], shape: tuple[int, ...], tmp_path: Path
) -> None:
    module, X = prepared(make, shape)
    path = str(tmp_path / "net.onnx")
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, (X,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "m"}})
    finally:
        logging.disable(logging.NOTSET)
    again = read_onnx(path)
    (expected,) = onnxruntime.InferenceSession(path).run(None, {"x": X.numpy()})
    np.testing.assert_allclose(again(X).numpy(), expected, rtol=1e-5, atol=1e-6)
    require_equal(trace(again, shape), again, X.numpy())


def written(path: Path, nodes: list[Any], tensors: dict[str, Any], shape: tuple[int, ...], version: int = 17) -> str:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", *shape])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9)
    onnx.save(model, str(path))
    return str(path)


def random(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


NODES: list[tuple[list[Any], dict[str, Any], tuple[int, ...]]] = [
    ([helper.make_node("Gemm", ["x", "W", "b"], ["out"])], {"W": random(3, 2), "b": random(1, 2)}, (3,)),
    ([helper.make_node("MatMul", ["x", "W"], ["out"])], {"W": random(3, 2)}, (3,)),
    ([helper.make_node("Conv", ["x", "W"], ["out"], pads=[0, 1, 2, 1])], {"W": random(2, 1, 3, 3)}, (1, 6, 6)),
    ([helper.make_node("Conv", ["x", "W"], ["out"], strides=[1, 2])], {"W": random(2, 1, 3, 3)}, (1, 6, 6)),
    ([helper.make_node("MaxPool", ["x"], ["out"], kernel_shape=[2, 2])], {}, (1, 4, 4)),
    ([helper.make_node("AveragePool", ["x"], ["out"], kernel_shape=[2, 2], pads=[1, 1, 1, 1])], {}, (1, 4, 4)),
    ([helper.make_node("GlobalAveragePool", ["x"], ["out"])], {}, (2, 4, 4)),
    ([helper.make_node("GlobalMaxPool", ["x"], ["out"])], {}, (2, 4, 4)),
    ([helper.make_node("GlobalAveragePool", ["x"], ["out"])], {}, (2, 4)),
    ([helper.make_node("GlobalMaxPool", ["x"], ["out"])], {}, (2, 4)),
    ([helper.make_node("GlobalAveragePool", ["x"], ["out"])], {}, (2, 3, 4, 5)),
    ([helper.make_node("PRelu", ["x", "a"], ["out"])], {"a": random(4)}, (4, 4)),
    ([helper.make_node("PRelu", ["x", "a"], ["out"])], {"a": random(4, 1, 1)}, (4, 3, 3)),
    ([helper.make_node("Clip", ["x", "low", "high"], ["out"])], {"low": np.float32(-1), "high": np.float32(0.5)}, (3,)),
    ([helper.make_node("LeakyRelu", ["x"], ["out"])], {}, (3,)),
    ([helper.make_node("Elu", ["x"], ["out"])], {}, (3,)),
    ([helper.make_node("Sub", ["c", "x"], ["out"])], {"c": random(3)}, (3,)),
    ([helper.make_node("Div", ["x", "c"], ["out"])], {"c": random(3)}, (3,)),
    ([helper.make_node("ReduceMean", ["x"], ["out"], axes=[2], keepdims=0)], {}, (2, 4)),
    ([helper.make_node("Transpose", ["x"], ["out"], perm=[0, 2, 1])], {}, (2, 3)),
    ([helper.make_node("Reshape", ["x", "s"], ["out"])], {"s": np.array([0, -1])}, (2, 3)),
    ([helper.make_node("Concat", ["x", "x"], ["out"], axis=1)], {}, (2,)),
    ([helper.make_node("PRelu", ["x", "a"], ["out"])], {"a": np.float32([0.25])}, (3,)),
    ([helper.make_node("LayerNormalization", ["x", "a", "b"], ["out"])], {"a": random(3), "b": random(3)}, (3,)),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "tensors", "shape"), NODES, ids=lambda value: getattr(value, "op_type", None))
def test_each_operation_is_that_of_onnxruntime(
    nodes: list[Any], tensors: dict[str, Any], shape: tuple[int, ...], tmp_path: Path
) -> None:
    path = written(tmp_path / "net.onnx", nodes, tensors, shape)
    X = random(5, *shape)
    (expected,) = onnxruntime.InferenceSession(path).run(None, {"x": X})
    np.testing.assert_allclose(read_onnx(path)(torch.from_numpy(X)).numpy(), expected, rtol=1e-5, atol=1e-6)


REFUSED: list[tuple[list[Any], dict[str, Any], str]] = [
    ([helper.make_node("Erf", ["x"], ["out"])], {}, "the operation 'Erf' is not known here; hand over the module"),
    ([helper.make_node("Relu", ["x"], ["out"], domain="evil")], {}, "the operation 'Relu' is not known here"),
    ([helper.make_node("Reshape", ["x", "s"], ["out"])], {"s": np.array([5, 3])}, "fixes the number of points"),
    ([helper.make_node("Gemm", ["x", "W"], ["out"], alpha=2.0)], {"W": random(3, 2)}, "a Gemm with factors"),
    ([helper.make_node("Relu", ["c"], ["out"])], {"c": random(3)}, "computed from weights alone"),
    ([helper.make_node("Add", ["x", "c"], ["out"], axis=1)], {"c": random(3)}, "Add with axis is not known here"),
    ([helper.make_node("Gemm", ["x", "W", "c"], ["out"])], {"W": random(3, 2), "c": random(5, 1)}, "for each point"),
    (
        [helper.make_node("Dropout", ["x", "ratio", "on"], ["out"])],
        {"ratio": np.float32(0.5), "on": np.array(True)},
        "Dropout in training mode",
    ),
    (
        [helper.make_node("LayerNormalization", ["x", "a"], ["out"], axis=0)],
        {"a": random(3)},
        "weights spread over more axes",
    ),
    (
        [helper.make_node("ReduceSum", ["x", "axes"], ["out"], noop_with_empty_axes=1)],
        {"axes": np.array([], dtype=np.int64)},
        "a mean or sum over no axes",
    ),
    ([helper.make_node("GlobalAveragePool", ["x"], ["out"])], {}, "points whose axes are not known"),
]


@pytest.mark.parametrize(("nodes", "tensors", "message"), REFUSED)
def test_what_is_not_known_is_refused_by_its_name(
    nodes: list[Any], tensors: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "net.onnx", nodes, tensors, (3,))
    with pytest.raises(ModelFileError, match=message) as caught:
        read_onnx(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("node", "version", "message"),
    [
        (helper.make_node("Softmax", ["x"], ["out"]), 12, "a softmax of version 12 over several axes"),
        (helper.make_node("LogSoftmax", ["x"], ["out"], axis=1), 11, "a softmax of version 11 over several axes"),
        (
            helper.make_node("AveragePool", ["x"], ["out"], kernel_shape=[2], dilations=[2]),
            19,
            "AveragePool with dilations",
        ),
    ],
)
def test_what_another_version_means_by_an_operation_is_refused(
    node: Any, version: int, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "net.onnx", [node], {}, (3, 4), version)
    with pytest.raises(ModelFileError, match=message):
        read_onnx(path)


def test_a_softmax_of_an_older_version_over_the_last_axis_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "net.onnx", [helper.make_node("Softmax", ["x"], ["out"])], {}, (3,), 12)
    X = random(5, 3)
    (expected,) = onnxruntime.InferenceSession(path).run(None, {"x": X})
    np.testing.assert_allclose(read_onnx(path)(torch.from_numpy(X)).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_weights_in_another_folder_are_not_followed(tmp_path: Path) -> None:
    """They are read from a file beside it, under a plain name, and from nowhere else."""
    path = written(tmp_path / "net.onnx", [helper.make_node("MatMul", ["x", "W"], ["out"])], {"W": random(3, 2)}, (3,))
    model = onnx.load(path)
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    X = torch.ones(2, 3)
    torch.testing.assert_close(read_onnx(path)(X), X @ torch.from_numpy(random(3, 2)))
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../w.bin"
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    refused(lambda: read_onnx(path), "expected a file in the same folder", error=ModelFileError)


def test_a_program_with_an_unknown_operation_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    module, X = prepared(*MODULES[0])
    data = export(module, X, decomposed=False)
    marker = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    for target in (f"torch.ops.aten.{code}.default", code, "torch.ops.aten.__class__.default", "builtins.exec"):
        with pytest.raises(ModelFileError, match="is not known here"):
            read_exported(changed(data, target, {}), "net.pt2")
    hostile = {"name": "x); " + code + "  # ", "arg": {"as_int": code}, "kind": 1}
    with pytest.raises(ModelFileError, match=r"net\.pt2: "):
        read_exported(changed(data, "torch.ops.aten.relu.default", hostile), "net.pt2")
    assert not marker.exists()


def changed(data: bytes, target: str, extra: dict[str, Any]) -> bytes:
    """The archive with another first operation."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(result, "w") as new:
        for info in old.infolist():
            content = old.read(info.filename)
            if info.filename.endswith("models/model.json"):
                document = json.loads(content)
                node = document["graph_module"]["graph"]["nodes"][0]
                node["target"] = target
                node["inputs"] = [*node["inputs"], extra] if extra else node["inputs"]
                content = json.dumps(document).encode()
            new.writestr(info.filename, content)
    return result.getvalue()


def test_an_elu_with_scales_of_its_own_is_not_read_as_elu() -> None:
    module, X = prepared(lambda: nn.Sequential(nn.Linear(3, 3), nn.SELU()), (3,))
    with pytest.raises(ModelFileError, match="elu with scales of its own, as of SELU and CELU, is not known here"):
        read_exported(export(module, X, decomposed=True), "net.pt2")


@pytest.mark.parametrize("size", [40, 3000])
def test_a_truncated_archive_is_refused_in_one_line(size: int) -> None:
    module, X = prepared(*MODULES[1])
    data = export(module, X, decomposed=False)
    with pytest.raises(ModelFileError, match=r"net\.pt2: not an exported program") as caught:
        read_exported(data[:-size], "net.pt2")
    assert "\n" not in str(caught.value)
