"""The parts of torch that can be read, one rule each: (recorder, module or arguments) -> Value.

BatchNorm in eval mode is an affine map, folded into the convolution or Linear below it where only it reads that one.
Dropout in eval mode is the identity. The largest of a window is written with |x|, see `operations.Largest`; what is cut
off and a trained slope are written with ReLU. What only moves numbers is read by what it does to their places.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from adanet_theory.activations import activation
from adanet_train.reading.operations import (
    Activate,
    Affine,
    Average,
    Cat,
    Convolution,
    Dense,
    Largest,
    Places,
    Reshape,
    Sum,
    Total,
    Window,
)
from adanet_train.reading.recorder import LOGITS, POINTS, Recorder, Value

Rule = Callable[..., Any]

_OWN_NORM = "it divides by a size of the point itself, which is not linear; BatchNorm in eval mode is"
_SEQUENCE = "recurrent networks and attention are products of the network with itself; no statement here covers them"
_CAST = "it rounds to another type of number; leave casts out, the network is read in float64"


# Activations


def _activate(r: Recorder, x: Value, name: str) -> Value:
    return r.add(Activate(activation(name)), x)


def _plain(name: str) -> Rule:
    """An activation without parameters, as a function or method; `trace` refuses what `inplace` could change."""
    return lambda r, x, inplace=False: _activate(r, x, name)


def _leaky(r: Recorder, x: Value, negative_slope: float = 0.01, inplace: bool = False) -> Value:
    return _activate(r, x, f"leaky_relu:{float(negative_slope)!r}")


def _clamp(r: Recorder, x: Value, min: Any = None, max: Any = None) -> Value:
    """a + relu(x - a) - relu(x - b), each where it is asked for."""
    low = x if min is None else _plus(r, _activate(r, _plus(r, x, -1.0, min), "relu"), 1.0, min)
    if max is None:
        return low
    above = _activate(r, _plus(r, x, -1.0, max), "relu")
    return r.add(Sum((1.0, -1.0)), low, above)


def _prelu(r: Recorder, x: Value, weight: Any) -> Value:
    """relu(x) - a relu(-x): a trained slope is one more weight of a ReLU network, one for each channel or for all."""
    slope = _tensor(r, weight).reshape(-1, *[1] * (len(x.shape) - 1))
    left = _activate(r, r.add(Sum((-1.0,)), x), "relu")
    return r.add(Sum((1.0, -1.0)), _activate(r, x, "relu"), r.add(Affine(slope, None), left))


def _larger(r: Recorder, x: Any, other: Any, sign: float = 1.0) -> Value:
    """max(x, y), or of sign -1 min(x, y) = -max(-x, -y); beside a fixed number by relu."""
    if not (isinstance(x, Value) and isinstance(other, Value)):
        value, fixed = (x, other) if isinstance(x, Value) else (other, x)
        return _clamp(r, value, min=fixed) if sign > 0 else _clamp(r, value, max=fixed)
    if x.shape != other.shape:
        raise r.refusal(f"the shapes {x.shape} and {other.shape} differ; expected equal ones")
    pair = [r.add(Reshape((1, math.prod(x.shape), 1)), v if sign > 0 else r.add(Sum((-1.0,)), v)) for v in (x, other)]
    larger = r.add(Largest(_rows_of(2)), r.add(Cat(2), *pair))
    shaped = r.add(Reshape(x.shape), larger)
    return shaped if sign > 0 else r.add(Sum((-1.0,)), shaped)


def _largest_along(r: Recorder, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    """The largest over some axes of a point."""
    axes = _point_axes(r, x, dim)
    rest = [axis for axis in range(x.example.ndim) if axis not in axes]
    count = math.prod(x.example.shape[axis] for axis in axes)
    rows = _moved(r, x, lambda z: z.permute(*rest, *axes).reshape(len(z), 1, -1, count))
    shape = x.example.amax(axes, keepdim).shape[1:]
    return r.add(Reshape(tuple(shape)), r.add(Largest(_rows_of(count)), rows))


def _rows_of(count: int) -> Window:
    return Window((1, count), (1, count), (0, 0, 0, 0), (1, 1))


class _Extremes(NamedTuple):
    """What x.max(dim) gives; the places of the largest are no features."""

    values: Value
    indices: None = None


def _max(r: Recorder, x: Value, other: Any = None, keepdim: bool = False, *, dim: Any = None) -> Any:
    """max(x, y), or the largest along an axis."""
    if isinstance(other, Value | Tensor):
        return _larger(r, x, other)
    return _Extremes(_largest_along(r, x, () if other is None and dim is None else dim or other, keepdim))


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


def _linear(r: Recorder, x: Value, weight: Tensor, bias: Tensor | None = None) -> Value:
    return r.add(Dense(_tensor(r, weight), None if bias is None else _tensor(r, bias)), x)


def _product(r: Recorder, x: Any, other: Any) -> Value:
    """x @ W with fixed W, a matrix or one column."""
    if not isinstance(x, Value) or isinstance(other, Value):
        raise r.refusal(
            "a product of two parts of the network, or from the left, is not a map of each point's last axis"
        )
    if other.ndim == 1:
        return _moved(r, _linear(r, x, other[None]), lambda z: z[..., 0])
    return _linear(r, x, other.T)


def _product_plus(r: Recorder, bias: Any, x: Value, other: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Value:
    """beta b + alpha x @ W."""
    scaled = r.add(Sum((float(alpha),)), _product(r, x, other)) if alpha != 1 else _product(r, x, other)
    return _plus(r, scaled, float(beta), bias)


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


def _sides(low: Sequence[int], high: Sequence[int]) -> tuple[int, ...]:
    """As functional.pad wants it, the last axis first."""
    return tuple(side for both in reversed(list(zip(low, high, strict=True))) for side in both)


def _padded(padding: Any, axes: int, reach: tuple[int, ...]) -> tuple[int, ...]:
    """ "same" puts the odd one behind."""
    if padding == "same":
        return _sides([n // 2 for n in reach], [n - n // 2 for n in reach])
    both = _sizes(0 if padding == "valid" else padding, axes)
    return _sides(both, both)


def _reach(kernel: Sequence[int], dilation: Sequence[int]) -> tuple[int, ...]:
    return tuple((k - 1) * step for k, step in zip(kernel, dilation, strict=True))


def _convolution(
    r: Recorder,
    x: Value,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    mode: str = "zeros",
) -> Value:
    axes = weight.ndim - 2
    _space(r, x, axes)
    kernel, steps = tuple(weight.shape[2:]), _sizes(dilation, axes)
    sides = _padded(padding, axes, _reach(kernel, steps))
    window = Window(kernel, _sizes(stride, axes), sides, steps, "constant" if mode == "zeros" else mode)
    return r.add(Convolution(_tensor(r, weight), None if bias is None else _tensor(r, bias), window, groups), x)


def _conv_module(r: Recorder, module: Any, x: Value) -> Value:
    parts = (module.stride, module.padding, module.dilation, module.groups, module.padding_mode)
    return _convolution(r, x, module.weight, module.bias, *parts)


def _transposed(
    r: Recorder,
    x: Value,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Value:
    """A convolution by the kernel turned round, of x with zeros between its numbers and around them."""
    axes = weight.ndim - 2
    space, steps, between = _space(r, x, axes), _sizes(dilation, axes), _sizes(stride, axes)
    low = [n - p for n, p in zip(_reach(weight.shape[2:], steps), _sizes(padding, axes), strict=True)]
    high = [n + p for n, p in zip(low, _sizes(output_padding, axes), strict=True)]

    def spread(z: Tensor) -> Tensor:
        wide = z.new_zeros(*z.shape[:2], *((n - 1) * s + 1 for n, s in zip(space, between, strict=True)))
        wide[(slice(None), slice(None), *(slice(None, None, s) for s in between))] = z
        return functional.pad(wide, _sides(low, high))

    by_group = weight.reshape(groups, -1, *weight.shape[1:]).transpose(1, 2)
    turned = by_group.flatten(0, 1).flip(tuple(range(2, 2 + axes)))
    return _convolution(r, _moved(r, x, spread), turned, bias, dilation=steps, groups=groups)


def _transposed_module(r: Recorder, module: Any, x: Value) -> Value:
    parts = (module.stride, module.padding, module.output_padding, module.groups, module.dilation)
    return _transposed(r, x, module.weight, module.bias, *parts)


def _batch_norm(
    r: Recorder,
    x: Value,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Value:
    if running_mean is None or running_var is None:
        raise r.refusal("it keeps no running statistics, so what it does to a point depends on the batch")
    if training:
        raise r.refusal("batch_norm in training mode; expected training=self.training and module.eval()")
    mean, var = _tensor(r, running_mean), _tensor(r, running_var)
    scale = _tensor(r, 1 / torch.sqrt(var + eps))
    if weight is not None:
        scale = scale * _tensor(r, weight)
    b = torch.zeros_like(mean) if bias is None else _tensor(r, bias)
    return _scaled_channels(r, x, scale, b - mean * scale, b.abs() + (mean * scale).abs())


def _batch_norm_module(r: Recorder, module: Any, x: Value) -> Value:
    return _batch_norm(r, x, module.running_mean, module.running_var, module.weight, module.bias, eps=module.eps)


def _scaled_channels(r: Recorder, x: Value, scale: Tensor, shift: Tensor, added: Tensor) -> Value:
    below = r.nodes[x.node - 1].operation if r.foldable and x.node == r.foldable else None
    spread = (-1, *[1] * (len(x.shape) - 1))
    if isinstance(below, Convolution) or (isinstance(below, Dense) and len(x.shape) == 1):
        b = shift if below.b is None else shift + scale * below.b
        W = below.W * scale.reshape(-1, *[1] * (below.W.ndim - 1))
        folded = Dense(W, b) if isinstance(below, Dense) else Convolution(W, b, below.window, below.groups)
        return r.replace(folded, Value(x.node, x.example * scale.reshape(spread) + shift.reshape(spread)))
    sizes = None if r.fold else added.reshape(spread)
    return r.add(Affine(scale.reshape(spread), shift.reshape(spread), sizes), x)


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
    if divisor_override:
        return r.add(Average(window, torch.tensor(1.0 / divisor_override, dtype=torch.float64)), x)
    border = _sizes(padding, axes)
    counted = _counted(window, x.shape[1:], border, border if count_include_pad else (0,) * axes)
    return r.add(Average(window, 1 / counted), x)


def _counted(window: Window, space: Sequence[int], border: Sequence[int], counts: Sequence[int]) -> Tensor:
    """By how many places torch divides each window: those of x, and `counts` of its border; never beyond the border."""
    counted = torch.ones((), dtype=torch.float64)
    out = window.out_space(tuple(space))
    for n, size, step, p, q, places in zip(space, window.kernel, window.stride, border, counts, out, strict=True):
        start = torch.arange(places) * step - p
        here = (start + size).clamp(max=n + q) - start.clamp(min=-q)
        counted = counted.unsqueeze(-1) * here
    return counted


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
        raise r.refusal("the indices of the largest are not features; expected return_indices=False")
    return r.add(Largest(_window(r, x, kernel_size, stride, padding, dilation, ceil_mode, axes)), x)


def _window(
    r: Recorder, x: Value, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, axes: int
) -> Window:
    """In ceil mode the last window may reach beyond the border, if it starts before it: the border is then wider."""
    space, sizes, border = _space(r, x, axes), _sizes(kernel, axes), _sizes(padding, axes)
    steps = sizes if stride is None or stride == () else _sizes(stride, axes)
    window = Window(sizes, steps, _sides(border, border), _sizes(dilation, axes))
    if not ceil_mode:
        return window
    high = []
    for n, p, s, reach in zip(space, border, steps, _reach(sizes, window.dilation), strict=True):
        last = math.ceil((n + 2 * p - reach - 1) / s) * s
        last -= s if last >= n + p else 0
        high.append(last + reach + 1 - n - p)
    return replace(window, padding=_sides(border, high))


def _adaptive(kind: Rule, axes: int) -> Rule:
    def rule(r: Recorder, x: Value, output_size: Any, return_indices: bool = False) -> Value:
        space = _space(r, x, axes)
        asked = (output_size,) * axes if not isinstance(output_size, tuple | list) else tuple(output_size)
        wanted = tuple(n if out is None else int(out) for n, out in zip(space, asked, strict=True))
        if all(n % out == 0 for n, out in zip(space, wanted, strict=True)):
            return kind(r, x, tuple(n // out for n, out in zip(space, wanted, strict=True)), axes=axes)
        if kind is not _average:
            raise r.refusal(f"{space} is not a multiple of {wanted}, so its windows differ; expected one that is")
        return _unequal(r, x, wanted)

    return rule


def _unequal(r: Recorder, x: Value, wanted: tuple[int, ...]) -> Value:
    """Window i of an axis holds the places from ⌊i n/out⌋ to ⌈(i+1) n/out⌉: side by side, the short ones with zeros."""
    counts, kernel, rows = torch.ones((), dtype=torch.float64), [], []
    for n, out in zip(x.shape[1:], wanted, strict=True):
        windows = [range(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]
        longest = max(map(len, windows))
        kernel.append(longest)
        counts = counts.unsqueeze(-1) * torch.tensor([len(places) for places in windows])
        rows.append([1 + place for places in windows for place in (*places, *[-1] * (longest - len(places)))])

    def side_by_side(z: Tensor) -> Tensor:
        windowed = functional.pad(z, (1, 0) * len(rows))
        for axis, row in enumerate(rows):
            windowed = windowed.index_select(2 + axis, torch.tensor(row))
        return windowed

    size = tuple(kernel)
    window = Window(size, size, (0,) * 2 * len(size), (1,) * len(size))
    return r.add(Average(window, 1 / counts), _moved(r, x, side_by_side))


# What moves numbers


def _moved(r: Recorder, x: Value, f: Callable[[Tensor], Any]) -> Any:
    """f, which only moves the numbers of a point, drops or repeats some, or puts zeros beside them.

    What it does to their places says all; of several parts, each.
    """
    n = math.prod(x.shape)
    numbers = torch.arange(1, POINTS * n + 1, dtype=torch.float64).reshape(POINTS, *x.shape)
    moved = f(numbers)
    if isinstance(moved, tuple | list):
        return tuple(_placed(r, x, part) for part in moved)
    return _placed(r, x, moved)


def _placed(r: Recorder, x: Value, moved: Tensor) -> Value:
    """The operation that puts number (i, j) of POINTS points, counted through, where it stands in `found`."""
    if moved.ndim < 1 or len(moved) != POINTS:
        raise r.refusal("it mixes the points of a batch, or takes some of them; expected the first axis to stay")
    n = math.prod(x.shape)
    before = n * torch.arange(POINTS).reshape(-1, *[1] * (moved.ndim - 1))
    own = torch.where(moved == 0, 0.0, moved - before).long()
    if bool((own != own[0]).any() | (own < 0).any() | (own > n).any()):
        raise r.refusal("it mixes the points of a batch; expected the first axis to stay")
    if not torch.equal(own[0].flatten(), torch.arange(1, n + 1)):
        return r.add(Places(own[0]), x)
    return x if own.shape[1:] == x.shape else r.add(Reshape(tuple(own.shape[1:])), x)


def _moving(function: Callable[..., Any]) -> Rule:
    """The rule of a function of torch that moves numbers; of its other arguments only the shape of a part is read."""

    def rule(r: Recorder, x: Value, *arguments: Any, **named: Any) -> Any:
        shaped = [other.example if isinstance(other, Value) else other for other in arguments]
        return _moved(r, x, lambda z: function(z, *shaped, **named))

    return rule


def _select(r: Recorder, x: Any, index: Any) -> Any:
    """x[index] with fixed numbers, slices and lists; or one of several parts."""
    return _moved(r, x, lambda z: z[index]) if isinstance(x, Value) else x[index]


def _bordered(r: Recorder, x: Value, pad: Any, mode: str = "constant", value: float | None = None) -> Value:
    """functional.pad; what it puts around x is 0, a fixed number, or numbers of x."""
    bordered: Value = _moved(r, x, lambda z: functional.pad(z, tuple(pad), mode))
    if not value:
        return bordered
    inside = functional.pad(torch.ones(1, *x.shape, dtype=torch.float64), tuple(pad))[0]
    return r.add(Affine(None, float(value) * (1 - inside)), bordered)


def _nearest(
    r: Recorder, x: Value, size: Any = None, scale_factor: Any = None, mode: str = "nearest", **options: Any
) -> Value:
    if not mode.startswith("nearest"):
        raise r.refusal(f"it is read for mode='nearest', which repeats numbers, got mode={mode!r}")
    repeated: Value = _moved(r, x, lambda z: functional.interpolate(z, size, scale_factor, mode, **options))
    return repeated


def _cat(r: Recorder, tensors: Any, dim: int = 0) -> Value:
    if not all(isinstance(x, Value) for x in tensors):
        raise r.refusal("it reads a tensor that is not part of the network")
    axis = int(dim) % tensors[0].example.ndim
    if axis == 0:
        raise r.refusal("it mixes the points of a batch; expected dim >= 1")
    return r.add(Cat(axis - 1), *tensors)


def _stack(r: Recorder, tensors: Any, dim: int = 0) -> Value:
    return _cat(r, [_moved(r, x, lambda z: z.unsqueeze(dim)) for x in tensors], dim)


# Sums


def _point_axes(r: Recorder, x: Value, dim: Any) -> tuple[int, ...]:
    """The axes that are asked for, none of them that of the points."""
    asked = range(x.example.ndim) if dim is None or dim == () else dim if isinstance(dim, tuple | list) else (dim,)
    axes = tuple(sorted(int(axis) % x.example.ndim for axis in asked))
    if 0 in axes or not axes:
        raise r.refusal("it mixes the points of a batch; expected axes dim >= 1")
    return axes


def _total(r: Recorder, x: Value, dim: Any = None, keepdim: bool = False, *, mean: bool = False) -> Value:
    axes = _point_axes(r, x, dim)
    count = math.prod(x.example.shape[axis] for axis in axes)
    return r.add(Total(tuple(axis - 1 for axis in axes), count, 1.0 / count if mean else 1.0, bool(keepdim)), x)


def _combined(sign: float) -> Rule:
    def rule(r: Recorder, x: Any, other: Any, *, alpha: float = 1.0) -> Value:
        factor = sign * float(alpha)
        if isinstance(x, Value) and isinstance(other, Value):
            return r.add(Sum((1.0, factor)), *_spread(r, x, other))
        if isinstance(x, Value):
            return _plus(r, x, factor, other)
        return _plus(r, other if factor == 1 else r.add(Sum((factor,)), other), 1.0, x)

    return rule


def _plus(r: Recorder, x: Value, factor: float, fixed: Any) -> Value:
    """x + factor times a fixed number or tensor, where there is anything to add."""
    shift = factor * _constant(r, fixed, x)
    return r.add(Affine(None, shift), x) if bool(shift.any()) or shift.ndim else x


def _spread(r: Recorder, x: Value, other: Value) -> tuple[Value, Value]:
    """Both in the shape that torch spreads them over, point by point."""
    if x.shape == other.shape:
        return x, other
    try:
        shape = torch.broadcast_shapes(x.shape, other.shape)
    except RuntimeError:
        shape = None
    if shape is None or len(x.shape) != len(other.shape):
        raise r.refusal(f"the shapes {x.shape} and {other.shape} differ; expected equal ones")
    first, second = (_moved(r, v, lambda z: z.expand(POINTS, *shape)) for v in (x, other))
    return first, second


def _constant(r: Recorder, value: Any, beside: Value) -> Tensor:
    """A fixed number or tensor, without an axis of points of its own."""
    tensor = torch.as_tensor(value, dtype=torch.float64).detach()
    if tensor.ndim == len(beside.shape) + 1 and len(tensor) == 1:
        tensor = tensor[0]
    if tensor.ndim > len(beside.shape) or not bool(torch.isfinite(tensor).all()):
        raise r.refusal(f"a fixed tensor of shape {tuple(tensor.shape)} does not spread over points of {beside.shape}")
    return tensor


def _times(r: Recorder, x: Any, other: Any) -> Value:
    if isinstance(x, Value) and isinstance(other, Value):
        raise r.refusal("a product of two parts of the network is neither linear nor an activation")
    value, factor = (x, other) if isinstance(x, Value) else (other, x)
    return r.add(Affine(_constant(r, factor, value), None), value)


def _divided(r: Recorder, x: Any, other: Any) -> Value:
    if isinstance(other, Value):
        raise r.refusal("a division by a part of the network is neither linear nor an activation")
    return r.add(Affine(_tensor(r, 1 / _constant(r, other, x)), None), x)


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


def _same_number(r: Recorder, x: Value, *arguments: Any, dtype: Any = None, **_: Any) -> Value:
    """to(device), type_as(x): the same numbers, if they stay float64."""
    kinds = [dtype, *(getattr(other, "dtype", other) for other in arguments)]
    if any(isinstance(kind, torch.dtype) and kind != torch.float64 for kind in kinds):
        raise r.refusal(_CAST)
    return x


def _pooled(kind: Rule, axes: int) -> Rule:
    return lambda r, x, *arguments, **named: kind(r, x, *arguments, axes=axes, **named)


AXES = (1, 2, 3)


def _each(*names: str) -> tuple[type, ...]:
    """The classes of torch.nn of these names for one, two and three axes."""
    return tuple(getattr(nn, f"{name}{axes}d") for name in names for axes in AXES)


def _axes(m: nn.Module) -> int:
    """Of a pool of torch's, or of a class made from one."""
    own = (axes for axes in AXES for kind in POOLS if isinstance(m, getattr(nn, f"{kind}{axes}d")))
    return next(own)


def _average_module(r: Recorder, m: Any, x: Value) -> Value:
    divisor = getattr(m, "divisor_override", None)  # AvgPool1d has none
    parts = (m.kernel_size, m.stride, m.padding, m.ceil_mode, m.count_include_pad, divisor)
    return _average(r, x, *parts, axes=_axes(m))


def _largest_module(r: Recorder, m: Any, x: Value) -> Value:
    parts = (m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode, m.return_indices)
    return _largest(r, x, *parts, axes=_axes(m))


POOLS = ("AvgPool", "MaxPool", "AdaptiveAvgPool", "AdaptiveMaxPool")

# fmt: off
_MOVING_MODULES = (
    nn.Flatten, nn.Unflatten, nn.PixelShuffle, nn.PixelUnshuffle, nn.ChannelShuffle,
    nn.modules.padding._ReflectionPadNd, nn.modules.padding._ReplicationPadNd, nn.modules.padding._CircularPadNd,
)
_SEQUENCES = (
    nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer,
)
# fmt: on

MODULES: tuple[tuple[type | tuple[type, ...], Rule], ...] = (
    (nn.Linear, lambda r, m, x: _linear(r, x, m.weight, m.bias)),
    (_each("Conv"), _conv_module),
    (_each("ConvTranspose"), _transposed_module),
    (nn.modules.batchnorm._BatchNorm, _batch_norm_module),
    ((nn.modules.dropout._DropoutNd, nn.Identity), lambda r, m, x: x),
    (_MOVING_MODULES, lambda r, m, x: _moved(r, x, m)),
    (nn.modules.padding._ConstantPadNd, lambda r, m, x: _bordered(r, x, m.padding, value=m.value)),
    (nn.Upsample, lambda r, m, x: _nearest(r, x, m.size, m.scale_factor, m.mode)),
    (_each("AvgPool"), _average_module),
    (_each("MaxPool"), _largest_module),
    (_each("AdaptiveAvgPool"), lambda r, m, x: _adaptive(_average, _axes(m))(r, x, m.output_size)),
    (_each("AdaptiveMaxPool"), lambda r, m, x: _adaptive(_largest, _axes(m))(r, x, m.output_size)),
    (nn.ReLU, lambda r, m, x: _activate(r, x, "relu")),
    (nn.LeakyReLU, lambda r, m, x: _leaky(r, x, m.negative_slope)),
    (nn.PReLU, lambda r, m, x: _prelu(r, x, m.weight)),
    (nn.Hardtanh, lambda r, m, x: _clamp(r, x, m.min_val, m.max_val)),
    (nn.Tanh, lambda r, m, x: _activate(r, x, "tanh")),
    (nn.Sigmoid, lambda r, m, x: _activate(r, x, "sigmoid")),
    (nn.GELU, lambda r, m, x: _gelu(r, x, m.approximate)),
    (nn.ELU, lambda r, m, x: _elu(r, x, m.alpha)),
    (nn.Softplus, lambda r, m, x: _softplus(r, x, m.beta, m.threshold)),
    (nn.SiLU, lambda r, m, x: _activate(r, x, "silu")),
    ((nn.Softmax, nn.LogSoftmax), _because(LOGITS)),
    ((nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, nn.modules.instancenorm._InstanceNorm), _because(_OWN_NORM)),
    (_SEQUENCES, _because(_SEQUENCE)),
)

# fmt: off
_MOVING = (
    "flatten", "unflatten", "reshape", "squeeze", "unsqueeze", "permute", "transpose", "swapaxes", "swapdims",
    "moveaxis", "movedim", "narrow", "select", "unbind", "split", "chunk", "tensor_split", "flip", "roll", "rot90",
    "tile", "repeat_interleave", "index_select",
)
# fmt: on
_MOVING_METHODS = (*_MOVING, "view", "view_as", "reshape_as", "expand", "expand_as", "repeat", "unfold")

_SHARED: dict[str, Rule] = {
    **{name: _plain(name) for name in ("relu", "abs", "tanh", "sigmoid")},
    "relu_": _plain("relu"),
    "mean": partial(_total, mean=True),
    "sum": _total,
    **dict.fromkeys(("clamp", "clip", "clamp_min"), _clamp),
    "clamp_max": lambda r, x, max: _clamp(r, x, None, max),
    "maximum": _larger,
    "minimum": lambda r, x, other: _larger(r, x, other, -1.0),
    "max": _max,
    "amax": _largest_along,
    **dict.fromkeys(("matmul", "mm"), _product),
    "add": _combined(1.0),
    "sub": _combined(-1.0),
    "mul": _times,
    "div": _divided,
    "neg": lambda r, x: r.add(Sum((-1.0,)), x),
    **dict.fromkeys(("softmax", "log_softmax"), _because(LOGITS)),
}

METHODS: dict[str, Rule] = {
    **_SHARED,
    **{name: _moving(getattr(Tensor, name)) for name in _MOVING_METHODS},
    **{f"{name}_": _SHARED[name] for name in ("add", "sub", "mul", "div")},
    **dict.fromkeys(("contiguous", "clone", "detach", "double"), _same),
    **dict.fromkeys(("to", "type_as"), _same_number),
    **dict.fromkeys(("float", "half", "bfloat16"), _because(_CAST)),
    "size": lambda r, x, dim=None: x.example.size() if dim is None else x.example.size(dim),
    "dim": lambda r, x: x.example.ndim,
}

_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}
_BY_AXES: dict[str, Callable[[int], Rule]] = {
    "conv": lambda axes: _convolution,
    "conv_transpose": lambda axes: _transposed,
    "dropout": lambda axes: _no_dropout,
    "avg_pool": lambda axes: _pooled(_average, axes),
    "max_pool": lambda axes: _pooled(_largest, axes),
    "adaptive_avg_pool": lambda axes: _adaptive(_average, axes),
    "adaptive_max_pool": lambda axes: _adaptive(_largest, axes),
}

FUNCTIONS: dict[Any, Rule] = {
    **{getattr(torch, name): rule for name, rule in _SHARED.items()},
    **{getattr(torch, name): _moving(getattr(torch, name)) for name in _MOVING},
    **{getattr(operator, f"{i}{name}"): _SHARED[rule] for name, rule in _OPERATORS.items() for i in ("", "i")},
    **{getattr(functional, f"{name}{axes}d"): rule(axes) for name, rule in _BY_AXES.items() for axes in AXES},
    **{getattr(torch, f"max_pool{axes}d"): _pooled(_largest, axes) for axes in AXES},
    **{getattr(functional, name): _SHARED[name] for name in ("relu", "tanh", "sigmoid", "softmax", "log_softmax")},
    **dict.fromkeys((torch.cat, torch.concat, torch.concatenate), _cat),
    torch.hstack: lambda r, tensors: _cat(r, tensors, 1),
    torch.stack: _stack,
    torch.addmm: _product_plus,
    operator.matmul: _product,
    operator.neg: _SHARED["neg"],
    operator.abs: _SHARED["abs"],
    operator.getitem: _select,
    getattr: lambda r, x, name: _attribute(r, x, name),
    functional.linear: _linear,
    functional.batch_norm: _batch_norm,
    functional.pad: _bordered,
    functional.interpolate: _nearest,
    functional.pixel_shuffle: _moving(functional.pixel_shuffle),
    functional.pixel_unshuffle: _moving(functional.pixel_unshuffle),
    **dict.fromkeys((functional.leaky_relu, functional.leaky_relu_), _leaky),
    functional.prelu: _prelu,
    functional.relu6: lambda r, x, inplace=False: _clamp(r, x, 0.0, 6.0),
    functional.hardtanh: lambda r, x, min_val=-1.0, max_val=1.0, inplace=False: _clamp(r, x, min_val, max_val),
    functional.gelu: _gelu,
    functional.elu: _elu,
    functional.softplus: _softplus,
    functional.silu: _plain("silu"),
    functional.layer_norm: _because(_OWN_NORM),
    **dict.fromkeys((functional.dropout, functional.alpha_dropout), _no_dropout),
}


def _attribute(r: Recorder, x: Any, name: str) -> Any:
    if not isinstance(x, Value):  # the values of x.max(dim)
        return getattr(x, name)
    if name in ("shape", "ndim", "dtype", "device"):
        return getattr(x.example, name)
    raise r.refusal(f"the attribute {name!r} of a tensor is not a feature")
