"""A program that torch.export.save wrote (.pt2) -> an nn.Module, from its JSON and the bytes of its weights.

torch.export.load would run what the file says (its guards, its pickles); here a graph is a list of names, each looked
up in ATEN, and a weight is a block of numbers of a stated type, shape and stride.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from adanet_theory.checks import first_line
from adanet_train.data import archive
from adanet_train.data.archive import MAX_BYTES, ModelFileError
from adanet_train.reading.operations import by_axes
from adanet_train.reading.rebuild import REMEDY, Builder

Rule = Callable[..., Any]

DTYPES = {
    1: torch.uint8, 2: torch.int8, 3: torch.int16, 4: torch.int32, 5: torch.int64,
    6: torch.float16, 7: torch.float32, 8: torch.float64, 12: torch.bool, 13: torch.bfloat16,
}  # fmt: skip
"""As the schema of torch.export numbers them."""


DAMAGED = (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError)
"""What zipfile raises on a broken archive."""


def is_exported(data: bytes) -> bool:
    """Whether these are the bytes of a .pt2 archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            return any(name.endswith("models/model.json") for name in members.namelist())
    except DAMAGED:
        return False


def is_exported_file(path: str) -> bool:
    """Whether the file is a .pt2 archive; False for a missing file or a pipe."""
    try:
        may_be = Path(path).is_file() and zipfile.is_zipfile(path)
    except DAMAGED:
        return False
    return may_be and is_exported(archive.read_bytes(path))


def read_exported(data: bytes, where: str) -> nn.Module:
    """The module of a .pt2 file; a ModelFileError names the operation that is not known."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            return _module(_Archive(members))
    except ModelFileError as error:
        raise ModelFileError(f"{where}: {error}") from None
    except Exception as error:  # a damaged or hostile archive fails in many ways
        raise ModelFileError(
            f"{where}: not an exported program that can be read ({first_line(error)}); {REMEDY}."
        ) from None


class _Archive:
    """The members of the zip by their path below its root."""

    def __init__(self, members: zipfile.ZipFile) -> None:
        self.members = members
        size = sum(info.file_size for info in members.infolist())
        if size > MAX_BYTES:
            raise ModelFileError(f"unpacks to {size} bytes, expected at most {MAX_BYTES}.")
        self.root = next(n for n in members.namelist() if n.endswith("models/model.json"))[: -len("models/model.json")]

    def json(self, path: str) -> Any:
        return json.loads(self.members.read(self.root + path))

    def tensors(self, folder: str, config: str) -> dict[str, Tensor]:
        try:
            entries = self.json(f"data/{folder}/{config}")["config"]
        except KeyError:  # no such member
            return {}
        return {name: self._tensor(folder, name, entry) for name, entry in entries.items()}

    def _tensor(self, folder: str, name: str, entry: Mapping[str, Any]) -> Tensor:
        meta = entry["tensor_meta"]
        if entry.get("use_pickle") or meta["dtype"] not in DTYPES:
            raise ModelFileError(f"the weight {name!r} is not a plain block of numbers; {REMEDY}.")
        block = bytearray(self.members.read(f"{self.root}data/{folder}/{entry['path_name']}"))
        sizes, strides = (tuple(int(part["as_int"]) for part in meta[key]) for key in ("sizes", "strides"))
        if not block:
            return torch.zeros(sizes, dtype=DTYPES[meta["dtype"]])
        flat = torch.frombuffer(block, dtype=DTYPES[meta["dtype"]])
        return flat.as_strided(sizes, strides, int(meta["storage_offset"]["as_int"])).clone()


def _module(files: _Archive) -> nn.Module:
    program = files.json("models/model.json")["graph_module"]
    weights = files.tensors("weights", "model_weights_config.json")
    weights |= files.tensors("constants", "model_constants_config.json")
    builder = Builder()
    inputs = [_bind(builder, spec, weights) for spec in program["signature"]["input_specs"]]
    if sum(inputs) != 1:
        raise ModelFileError(f"the program reads {sum(inputs)} inputs, expected one tensor x.")
    for node in program["graph"]["nodes"]:
        _add(builder, node)
    outputs = program["signature"]["output_specs"]
    if len(outputs) != 1 or "user_output" not in outputs[0]:
        raise ModelFileError("the program must give one tensor and change none of its buffers; call eval() first.")
    return builder.finished(outputs[0]["user_output"]["arg"]["as_tensor"]["name"])


def _bind(builder: Builder, spec: Mapping[str, Any], weights: Mapping[str, Tensor]) -> bool:
    """An input of the graph: x itself (True), or a tensor of the file."""
    ((kind, entry),) = spec.items()
    if kind == "user_input":
        builder.input(entry["arg"]["as_tensor"]["name"])
        return True
    key = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}.get(kind)
    if key is None or entry[key] not in weights:
        raise ModelFileError(f"the program reads a {kind} that the file does not hold as numbers.")
    builder.values[entry["arg"]["name"]] = weights[entry[key]]
    return False


def _add(builder: Builder, node: Mapping[str, Any]) -> None:
    name = str(node["target"]).removeprefix("torch.ops.aten.").partition(".")[0]
    args = [_argument(builder, entry["arg"]) for entry in node["inputs"] if entry.get("kind", 1) == 1]
    named = {entry["name"]: _argument(builder, entry["arg"]) for entry in node["inputs"] if entry.get("kind", 1) == 2}
    value = builder.size(*args) if name == "sym_size" else _called(builder, str(node["target"]), name, args, named)
    ((_, target),) = node["outputs"][0].items()
    builder.values[target.get("name") or target.get("as_name")] = value


def _called(builder: Builder, target: str, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    rule = ATEN.get(name) if target.startswith("torch.ops.aten.") else None
    if rule is None:
        raise ModelFileError(
            f"the operation {target!r} is not known here; run_decompositions() before saving may write it with others, "
            f"or {REMEDY}."
        )
    if any(isinstance(part, fx.Node) for part in (*args, *named.values(), *_inside(args))):
        return rule(builder, *args, **named)
    aside = Builder()  # of weights alone: a number of the file, computed now
    value = rule(aside, *args, **named)
    if not isinstance(value, fx.Node):
        return value
    aside.graph.output(value)
    return fx.GraphModule(aside.root, aside.graph)()


def _inside(args: list[Any]) -> list[Any]:
    return [entry for part in args if isinstance(part, list) for entry in part]


def _argument(builder: Builder, arg: Mapping[str, Any]) -> Any:
    ((kind, value),) = arg.items()
    match kind:
        case "as_none":
            return None
        case "as_tensor":
            return builder.values[value["name"]]
        case "as_tensors":
            return [builder.values[entry["name"]] for entry in value]
        case "as_int" | "as_float" | "as_bool" if isinstance(value, int | float):
            return value
        case "as_ints" | "as_floats" | "as_bools" if all(isinstance(entry, int | float) for entry in value):
            return value
        case "as_sym_int":
            return _symbol(builder, value)
        case "as_sym_ints":
            return [_symbol(builder, entry) for entry in value]
        case "as_string" if value in ("none", "tanh", "same", "valid", "constant", "nearest"):
            return value
    raise ModelFileError(f"an argument of the kind {str(kind)[:40]!r} is not known here; {REMEDY}.")


def _symbol(builder: Builder, value: Mapping[str, Any]) -> Any:
    return builder.values[value["as_name"]] if "as_name" in value else int(value["as_int"])


# The operations


def _plain(function: Callable[..., Any]) -> Rule:
    """The function of torch with the arguments of the operation, in their order."""
    return lambda b, *args, **named: b.call(function, *args, **named)


def _some(function: Callable[..., Any], count: int) -> Rule:
    """With its first arguments; the others say how to compute, not what."""
    return lambda b, *args, **_: b.call(function, *args[:count])


def _batch_norm(
    b: Builder,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    training: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Any:
    return b.call(functional.batch_norm, x, mean, var, weight, bias, training, momentum, eps)


def _convolution(
    b: Builder,
    x: Any,
    W: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    more: Any,
    groups: int,
) -> Any:
    axes = len(stride)
    if transposed:
        return b.call(by_axes("conv_transpose", axes), x, W, bias, stride, padding, more, groups, dilation)
    return b.call(by_axes("conv", axes), x, W, bias, stride, padding, dilation, groups)


def _elu(b: Builder, x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    if (scale, input_scale) != (1, 1):
        raise ModelFileError(f"elu with scales of its own, as of SELU and CELU, is not known here; {REMEDY}.")
    return b.call(functional.elu, x, alpha)


def _padded(b: Builder, x: Any, pad: Any, value: float = 0.0) -> Any:
    return b.call(functional.pad, x, pad, "constant", value)


# fmt: off
_OF_TORCH = (
    "relu", "abs", "tanh", "sigmoid", "mean", "sum", "clamp", "clamp_min", "clamp_max", "maximum", "minimum", "amax",
    "matmul", "mm", "bmm", "addmm", "add", "sub", "mul", "div", "neg", "flatten", "squeeze", "unsqueeze", "permute",
    "transpose", "select", "narrow", "flip", "cat", "stack", "reshape", "t", "sqrt", "exp", "pow", "rsqrt",
)
_OF_FUNCTIONAL = (
    "linear", "conv1d", "conv2d", "conv3d", "leaky_relu", "hardtanh", "gelu", "softplus", "silu", "dropout",
    "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d",
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "prelu", "scaled_dot_product_attention",
)
# fmt: on

ATEN: dict[str, Rule] = {
    **{name: _plain(getattr(torch, name)) for name in _OF_TORCH},
    **{name: _plain(getattr(functional, name)) for name in _OF_FUNCTIONAL},
    **dict.fromkeys(("view", "_unsafe_view"), _plain(torch.reshape)),
    **dict.fromkeys(("softmax", "_softmax"), _some(torch.softmax, 2)),
    **dict.fromkeys(("log_softmax", "_log_softmax"), _some(torch.log_softmax, 2)),
    **dict.fromkeys(("clone", "alias", "detach", "contiguous"), lambda b, x, **_: x),
    "layer_norm": _some(functional.layer_norm, 5),
    "elu": _elu,
    "max_pool2d_with_indices": _plain(functional.max_pool2d),
    "_adaptive_avg_pool2d": _plain(functional.adaptive_avg_pool2d),
    "embedding": lambda b, weight, indices, *_: b.call(functional.embedding, indices, weight),
    "batch_norm": _batch_norm,
    "_native_batch_norm_legit_no_training": lambda b, *args: _batch_norm(b, *args[:5], False, *args[5:]),
    "convolution": _convolution,
    "constant_pad_nd": _padded,
    "pad": lambda b, x, pad, mode="constant", value=None: b.call(functional.pad, x, pad, mode, value),
}
"""The operations of a program by name; a program with an operation that is not here is a black box."""
