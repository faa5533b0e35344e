"""The parts of torch that can be read, one rule each: (recorder, module or arguments) -> Value.

BatchNorm in eval mode is an affine map, folded into the convolution or Linear below it where only it reads that one.
Dropout in eval mode is the identity. The largest of a window is written with |x|, see `operations.Largest`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from adanet_theory.activations import activation
from verify.network.operations import (
    Activate,
    Affine,
    Average,
    Cat,
    Convolution,
    Dense,
    Largest,
    Reshape,
    Select,
    Sum,
    Total,
    Window,
)
from verify.network.trace import LOGITS, Recorder, Value

Rule = Callable[..., Any]

_OWN_NORM = "it divides by a size of the point itself, which is no linear map; BatchNorm in eval mode is one"
_TRAINED = "its slope was trained on the sample; fix it and use LeakyReLU"
_SEQUENCE = "recurrent networks and attention are products of the network with itself; no statement here covers them"
_BOUNDED = "what is cut off at a and b is read when written as a + relu(x - a) - relu(x - b)"


# Activations


def _activate(r: Recorder, x: Value, name: str) -> Value:
    return r.add(Activate(activation(name)), x)


def _plain(name: str) -> Rule:
    """An activation without parameters, as a function or method; `inplace` changes nothing that is read later."""
    return lambda r, x, inplace=False: _activate(r, x, name)


def _leaky(r: Recorder, x: Value, negative_slope: float = 0.01, inplace: bool = False) -> Value:
    return _activate(r, x, f"leaky_relu:{float(negative_slope)!r}")


def _clamp(r: Recorder, x: Value, min: Any = None, max: Any = None) -> Value:
    if min != 0 or max is not None:
        raise r.refusal(f"it is known here as clamp(min=0), which is relu; {_BOUNDED}")
    return _activate(r, x, "relu")


def _gelu(r: Recorder, x: Value, approximate: str = "none") -> Value:
    if approximate != "none":
        raise r.refusal("GELU by tanh is another function; expected approximate='none'")
    return _activate(r, x, "gelu")


def _elu(r: Recorder, x: Value, alpha: float = 1.0, inplace: bool = False) -> Value:
    if alpha != 1:
        raise r.refusal(f"ELU is known here for alpha = 1, got alpha={alpha:g}")
    return _activate(r, x, "elu")


def _softplus(r: Recorder, x: Value, beta: float = 1.0, threshold: float = 20.0) -> Value:
    if beta != 1 or threshold < 20:
        raise r.refusal(f"softplus is known here for beta = 1, threshold >= 20, got {beta:g}, {threshold:g}")
    return _activate(r, x, "softplus")


# Linear maps


def _linear(r: Recorder, x: Value, W: Tensor, b: Tensor | None = None) -> Value:
    return r.add(Dense(_tensor(r, W), None if b is None else _tensor(r, b)), x)


def _product(r: Recorder, x: Any, W: Any) -> Value:
    """x @ W with fixed W, a matrix or one column."""
    if not isinstance(x, Value) or isinstance(W, Value):
        raise r.refusal("a product of two parts of the network, or from the left, is no map of each point's last axis")
    if W.ndim == 1:
        return _select(r, _linear(r, x, W[None]), (slice(None),) * len(x.shape) + (0,))
    return _linear(r, x, W.T)


def _tensor(r: Recorder, value: Any) -> Tensor:
    if not isinstance(value, Tensor) or not value.is_floating_point() or not bool(torch.isfinite(value).all()):
        raise r.refusal("its weights must be finite real numbers that do not depend on the point")
    return value.detach().to(torch.float64).contiguous()


def _sizes(value: Any, axes: int) -> tuple[int, ...]:
    return (int(value),) * axes if not isinstance(value, tuple | list) else tuple(int(v) for v in value)


def _space(r: Recorder, x: Value, axes: int) -> tuple[int, ...]:
    if len(x.shape) != axes + 1:
        raise r.refusal(f"it reads points of shape {x.shape}, expected channels and {axes} axes")
    return x.shape[1:]


def _padded(padding: Any, axes: int, reach: tuple[int, ...]) -> tuple[int, ...]:
    """As functional.pad wants it, the last axis first; "same" puts the odd one behind."""
    if padding == "valid":
        padding = 0
    if padding == "same":
        return tuple(side for n in reversed(reach) for side in (n // 2, n - n // 2))
    return tuple(side for n in reversed(_sizes(padding, axes)) for side in (n, n))


def _convolution(
    r: Recorder,
    x: Value,
    W: Tensor,
    b: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    mode: str = "zeros",
) -> Value:
    axes = W.ndim - 2
    _space(r, x, axes)
    kernel, steps = tuple(W.shape[2:]), _sizes(dilation, axes)
    reach = tuple((k - 1) * step for k, step in zip(kernel, steps, strict=True))
    sides = _padded(padding, axes, reach)
    window = Window(kernel, _sizes(stride, axes), sides, steps, "constant" if mode == "zeros" else mode)
    return r.add(Convolution(_tensor(r, W), None if b is None else _tensor(r, b), window, groups), x)


def _conv_module(r: Recorder, module: Any, x: Value) -> Value:
    parts = (module.stride, module.padding, module.dilation, module.groups, module.padding_mode)
    return _convolution(r, x, module.weight, module.bias, *parts)


def _batch_norm(r: Recorder, module: Any, x: Value) -> Value:
    if module.running_mean is None or module.running_var is None:
        raise r.refusal("it keeps no running statistics, so what it does to a point depends on the batch")
    mean, var = _tensor(r, module.running_mean), _tensor(r, module.running_var)
    scale = _tensor(r, 1 / torch.sqrt(var + module.eps))
    if module.weight is not None:
        scale = scale * _tensor(r, module.weight)
    shift = -mean * scale if module.bias is None else _tensor(r, module.bias) - mean * scale
    return _scaled_channels(r, x, scale, shift)


def _scaled_channels(r: Recorder, x: Value, scale: Tensor, shift: Tensor) -> Value:
    below = r.nodes[x.node - 1].operation if r.foldable and x.node == r.foldable else None
    if isinstance(below, Convolution) or (isinstance(below, Dense) and len(x.shape) == 1):
        b = shift if below.b is None else shift + scale * below.b
        W = below.W * scale.reshape(-1, *[1] * (below.W.ndim - 1))
        folded = Dense(W, b) if isinstance(below, Dense) else Convolution(W, b, below.window, below.groups)
        example = x.example * scale.reshape(-1, *[1] * (len(x.shape) - 1)) + shift.reshape(
            -1, *[1] * (len(x.shape) - 1)
        )
        return r.replace(folded, Value(x.node, example))
    spread = (-1, *[1] * (len(x.shape) - 1))
    return r.add(Affine(scale.reshape(spread), shift.reshape(spread)), x)


# Pooling


def _average(
    r: Recorder,
    x: Value,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    axes: int,
) -> Value:
    window = _window(r, x, kernel_size, stride, padding, 1, ceil_mode, axes)
    if any(window.padding) and not count_include_pad:
        raise r.refusal("it divides by another number at the border; expected count_include_pad=True or no padding")
    return r.add(Average(window, 1.0 / (divisor_override or window.points)), x)


def _largest(
    r: Recorder,
    x: Value,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    axes: int,
) -> Value:
    if return_indices:
        raise r.refusal("the indices of the largest are no features; expected return_indices=False")
    return r.add(Largest(_window(r, x, kernel_size, stride, padding, dilation, ceil_mode, axes)), x)


def _window(
    r: Recorder, x: Value, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, axes: int
) -> Window:
    space, sizes = _space(r, x, axes), _sizes(kernel, axes)
    steps = sizes if stride is None or stride == () else _sizes(stride, axes)
    window = Window(sizes, steps, _padded(padding, axes, ()), _sizes(dilation, axes))
    rest = [
        (n + 2 * p - (k - 1) * d - 1) % s
        for n, p, k, d, s in zip(space, _sizes(padding, axes), sizes, window.dilation, steps, strict=True)
    ]
    if ceil_mode and any(rest):
        raise r.refusal("its last window reaches beyond the border; expected ceil_mode=False")
    return window


def _adaptive(kind: Rule, axes: int) -> Rule:
    def rule(r: Recorder, x: Value, output_size: Any, return_indices: bool = False) -> Value:
        space = _space(r, x, axes)
        asked = (output_size,) * axes if not isinstance(output_size, tuple | list) else tuple(output_size)
        wanted = tuple(n if out is None else int(out) for n, out in zip(space, asked, strict=True))
        if any(n % out for n, out in zip(space, wanted, strict=True)):
            raise r.refusal(f"{space} is no multiple of {wanted}, so its windows differ; expected one that is")
        return kind(r, x, tuple(n // out for n, out in zip(space, wanted, strict=True)), axes=axes)

    return rule


# Shapes, sums


def _reshape(r: Recorder, x: Value, *shape: Any) -> Value:
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list | torch.Size) else shape
    return _as(r, x, x.example.reshape(tuple(sizes)))


def _flatten(r: Recorder, x: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    return _as(r, x, x.example.flatten(start_dim, end_dim))


def _as(r: Recorder, x: Value, wanted: Tensor) -> Value:
    if wanted.ndim < 1 or len(wanted) != len(x.example):
        raise r.refusal("it mixes the points of a batch; expected the first axis to stay")
    return x if wanted.shape == x.example.shape else r.add(Reshape(tuple(wanted.shape[1:])), x)


def _select(r: Recorder, x: Any, index: Any) -> Any:
    if not isinstance(x, Value):  # one of several parts
        return x[index]
    parts = index if isinstance(index, tuple) else (index,)
    if parts[0] != slice(None):
        raise r.refusal("it takes some of the points of a batch; expected x[:, ..]")
    if not all(type(part) is int or (isinstance(part, slice) and part.step in (None, 1)) for part in parts[1:]):
        raise r.refusal("its index is not understood; expected whole numbers and slices without a step")
    return r.add(Select(tuple(parts[1:])), x)


def _squeeze(r: Recorder, x: Value, dim: int | None = None) -> Value:
    return _as(r, x, x.example.squeeze() if dim is None else x.example.squeeze(dim))


def _unsqueeze(r: Recorder, x: Value, dim: int) -> Value:
    return _as(r, x, x.example.unsqueeze(dim))


def _permute(r: Recorder, x: Value, *dims: Any) -> Value:
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims
    places = tuple(int(axis) % x.example.ndim for axis in order)
    if places[0] != 0:
        raise r.refusal("it moves the axis of the points; expected the first axis to stay")
    axes = tuple(axis - 1 for axis in places[1:])
    return r.add(Reshape(tuple(x.shape[axis] for axis in axes), axes), x)


def _transpose(r: Recorder, x: Value, dim0: int, dim1: int) -> Value:
    order = list(range(x.example.ndim))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return _permute(r, x, tuple(order))


def _cat(r: Recorder, tensors: Any, dim: int = 0) -> Value:
    if not all(isinstance(x, Value) for x in tensors):
        raise r.refusal("it reads a tensor that is no part of the network")
    axis = int(dim) % tensors[0].example.ndim
    if axis == 0:
        raise r.refusal("it mixes the points of a batch; expected dim >= 1")
    return r.add(Cat(axis - 1), *tensors)


def _stack(r: Recorder, tensors: Any, dim: int = 0) -> Value:
    return _cat(r, [_unsqueeze(r, x, dim) for x in tensors], dim)


def _parts(r: Recorder, x: Value, sizes: Any, dim: int) -> tuple[Value, ...]:
    """x cut into parts of these sizes along an axis of the point."""
    axis = int(dim) % x.example.ndim
    if axis == 0:
        raise r.refusal("it takes some of the points of a batch; expected dim >= 1")
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    cuts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return tuple(r.add(Select((*[slice(None)] * (axis - 1), cut)), x) for cut in cuts)


def _split(r: Recorder, x: Value, split_size: Any, dim: int = 0) -> tuple[Value, ...]:
    return _parts(r, x, [part.shape[dim] for part in x.example.split(split_size, dim)], dim)


def _chunk(r: Recorder, x: Value, chunks: int, dim: int = 0) -> tuple[Value, ...]:
    return _parts(r, x, [part.shape[dim] for part in x.example.chunk(chunks, dim)], dim)


def _total(r: Recorder, x: Value, dim: Any, keepdim: bool, *, mean: bool) -> Value:
    asked = range(x.example.ndim) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    axes = tuple(sorted(int(axis) % x.example.ndim for axis in asked))
    if 0 in axes or not axes:
        raise r.refusal("it mixes the points of a batch; expected axes dim >= 1")
    count = math.prod(x.example.shape[axis] for axis in axes)
    return r.add(Total(tuple(axis - 1 for axis in axes), count, 1.0 / count if mean else 1.0, bool(keepdim)), x)


def _mean(r: Recorder, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return _total(r, x, dim, keepdim, mean=True)


def _sum(r: Recorder, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return _total(r, x, dim, keepdim, mean=False)


def _combined(sign: float) -> Rule:
    def rule(r: Recorder, a: Any, b: Any, *, alpha: float = 1.0) -> Value:
        if isinstance(a, Value) and isinstance(b, Value):
            if a.shape != b.shape:
                raise r.refusal(f"the shapes {a.shape} and {b.shape} differ; expected equal ones")
            return r.add(Sum((1.0, sign * float(alpha))), a, b)
        if isinstance(a, Value):
            return r.add(Affine(None, sign * float(alpha) * _constant(r, b, a)), a)
        factor = sign * float(alpha)
        return r.add(Affine(None, _constant(r, a, b)), b if factor == 1 else r.add(Sum((factor,)), b))

    return rule


def _constant(r: Recorder, value: Any, beside: Value) -> Tensor:
    """A fixed number or tensor, without an axis of points of its own."""
    tensor = torch.as_tensor(value, dtype=torch.float64).detach()
    if tensor.ndim == len(beside.shape) + 1 and len(tensor) == 1:
        tensor = tensor[0]
    if tensor.ndim > len(beside.shape) or not bool(torch.isfinite(tensor).all()):
        raise r.refusal(f"a fixed tensor of shape {tuple(tensor.shape)} does not spread over points of {beside.shape}")
    return tensor


def _times(r: Recorder, a: Any, b: Any) -> Value:
    if isinstance(a, Value) and isinstance(b, Value):
        raise r.refusal("a product of two parts of the network is neither linear nor an activation")
    x, factor = (a, b) if isinstance(a, Value) else (b, a)
    return r.add(Affine(_constant(r, factor, x), None), x)


def _divided(r: Recorder, a: Any, b: Any) -> Value:
    if isinstance(b, Value):
        raise r.refusal("a division by a part of the network is neither linear nor an activation")
    return r.add(Affine(1 / _constant(r, b, a), None), a)


def _same(r: Recorder, x: Value, *_: Any, **__: Any) -> Value:
    return x


def _no_dropout(r: Recorder, x: Value, p: float = 0.5, training: bool = True, inplace: bool = False) -> Value:
    if training and p:
        raise r.refusal("dropout in training mode; expected training=self.training and module.eval()")
    return x


def _because(reason: str) -> Rule:
    def rule(r: Recorder, *_: Any, **__: Any) -> Value:
        raise r.refusal(reason)

    return rule


MODULES: tuple[tuple[type, Rule], ...] = (
    (nn.Linear, lambda r, m, x: _linear(r, x, m.weight, m.bias)),
    (nn.Conv1d, _conv_module),
    (nn.Conv2d, _conv_module),
    (nn.BatchNorm1d, _batch_norm),
    (nn.BatchNorm2d, _batch_norm),
    (nn.modules.dropout._DropoutNd, lambda r, m, x: x),
    (nn.Identity, lambda r, m, x: x),
    (nn.Flatten, lambda r, m, x: _flatten(r, x, m.start_dim, m.end_dim)),
    (nn.Unflatten, lambda r, m, x: _as(r, x, x.example.unflatten(m.dim, m.unflattened_size))),
    (nn.AvgPool1d, lambda r, m, x: _average(
        r, x, m.kernel_size, m.stride, m.padding, m.ceil_mode, m.count_include_pad, axes=1)),
    (nn.AvgPool2d, lambda r, m, x: _average(
        r, x, m.kernel_size, m.stride, m.padding, m.ceil_mode, m.count_include_pad, m.divisor_override, axes=2)),
    (nn.MaxPool1d, lambda r, m, x: _largest(
        r, x, m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode, m.return_indices, axes=1)),
    (nn.MaxPool2d, lambda r, m, x: _largest(
        r, x, m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode, m.return_indices, axes=2)),
    (nn.AdaptiveAvgPool1d, lambda r, m, x: _adaptive(_average, 1)(r, x, m.output_size)),
    (nn.AdaptiveAvgPool2d, lambda r, m, x: _adaptive(_average, 2)(r, x, m.output_size)),
    (nn.AdaptiveMaxPool1d, lambda r, m, x: _adaptive(_largest, 1)(r, x, m.output_size)),
    (nn.AdaptiveMaxPool2d, lambda r, m, x: _adaptive(_largest, 2)(r, x, m.output_size)),
    (nn.ReLU, lambda r, m, x: _activate(r, x, "relu")),
    (nn.LeakyReLU, lambda r, m, x: _leaky(r, x, m.negative_slope)),
    (nn.Tanh, lambda r, m, x: _activate(r, x, "tanh")),
    (nn.Sigmoid, lambda r, m, x: _activate(r, x, "sigmoid")),
    (nn.GELU, lambda r, m, x: _gelu(r, x, m.approximate)),
    (nn.ELU, lambda r, m, x: _elu(r, x, m.alpha)),
    (nn.Softplus, lambda r, m, x: _softplus(r, x, m.beta, m.threshold)),
    (nn.SiLU, lambda r, m, x: _activate(r, x, "silu")),
    (nn.Hardtanh, _because(_BOUNDED)),
    (nn.PReLU, _because(_TRAINED)),
    (nn.Softmax, _because(LOGITS)),
    (nn.LogSoftmax, _because(LOGITS)),
    (nn.LayerNorm, _because(_OWN_NORM)),
    (nn.RMSNorm, _because(_OWN_NORM)),
    (nn.GroupNorm, _because(_OWN_NORM)),
    (nn.modules.instancenorm._InstanceNorm, _because(_OWN_NORM)),
    (nn.RNNBase, _because(_SEQUENCE)),
    (nn.RNNCellBase, _because(_SEQUENCE)),
    (nn.MultiheadAttention, _because(_SEQUENCE)),
    (nn.TransformerEncoderLayer, _because(_SEQUENCE)),
    (nn.TransformerDecoderLayer, _because(_SEQUENCE)),
)  # fmt: skip

_SHARED: dict[str, Rule] = {
    "relu": _plain("relu"),
    "relu_": _plain("relu"),
    "abs": _plain("abs"),
    "tanh": _plain("tanh"),
    "sigmoid": _plain("sigmoid"),
    "flatten": _flatten,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "permute": _permute,
    "transpose": _transpose,
    "mean": _mean,
    "sum": _sum,
    "split": _split,
    "chunk": _chunk,
    "clamp": _clamp,
    "matmul": _product,
    "add": _combined(1.0),
    "sub": _combined(-1.0),
    "mul": _times,
    "div": _divided,
    "neg": lambda r, x: r.add(Sum((-1.0,)), x),
    "softmax": _because(LOGITS),
    "log_softmax": _because(LOGITS),
}

METHODS: dict[str, Rule] = _SHARED | {
    "view": _reshape,
    "add_": _combined(1.0),
    "sub_": _combined(-1.0),
    "mul_": _times,
    "div_": _divided,
    "contiguous": _same,
    "clone": _same,
    "detach": _same,
    "size": lambda r, x, dim=None: x.example.size() if dim is None else x.example.size(dim),
    "dim": lambda r, x: x.example.ndim,
}

FUNCTIONS: dict[Any, Rule] = {getattr(torch, name): rule for name, rule in _SHARED.items()} | {
    torch.cat: _cat,
    torch.concat: _cat,
    torch.stack: _stack,
    operator.add: _combined(1.0),
    operator.iadd: _combined(1.0),
    operator.sub: _combined(-1.0),
    operator.isub: _combined(-1.0),
    operator.mul: _times,
    operator.imul: _times,
    operator.truediv: _divided,
    operator.itruediv: _divided,
    operator.matmul: _product,
    operator.neg: lambda r, x: r.add(Sum((-1.0,)), x),
    operator.abs: _plain("abs"),
    operator.getitem: _select,
    getattr: lambda r, x, name: _attribute(r, x, name),
    functional.linear: _linear,
    functional.conv1d: _convolution,
    functional.conv2d: _convolution,
    functional.relu: _plain("relu"),
    functional.leaky_relu: _leaky,
    functional.relu6: _because(_BOUNDED),
    functional.hardtanh: _because(_BOUNDED),
    functional.tanh: _plain("tanh"),
    functional.sigmoid: _plain("sigmoid"),
    functional.gelu: _gelu,
    functional.elu: _elu,
    functional.softplus: _softplus,
    functional.silu: _plain("silu"),
    functional.softmax: _because(LOGITS),
    functional.log_softmax: _because(LOGITS),
    functional.layer_norm: _because(_OWN_NORM),
    functional.dropout: _no_dropout,
    functional.dropout2d: _no_dropout,
    functional.avg_pool1d: lambda r, x, *a, **k: _average(r, x, *a, axes=1, **k),
    functional.avg_pool2d: lambda r, x, *a, **k: _average(r, x, *a, axes=2, **k),
    functional.max_pool1d: lambda r, x, *a, **k: _largest(r, x, *a, axes=1, **k),
    functional.max_pool2d: lambda r, x, *a, **k: _largest(r, x, *a, axes=2, **k),
    functional.adaptive_avg_pool1d: _adaptive(_average, 1),
    functional.adaptive_avg_pool2d: _adaptive(_average, 2),
}


def _attribute(r: Recorder, x: Value, name: str) -> Any:
    if name in ("shape", "ndim", "dtype", "device"):
        return getattr(x.example, name)
    raise r.refusal(f"the attribute {name!r} of a tensor is no feature")
