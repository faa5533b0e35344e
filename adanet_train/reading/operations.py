"""What a node of a network's graph computes: linear maps, activations, the largest of a window.

Every operation has a value in float64, and three more readings of the same map:

    size(x, one)   Σ |coefficient| x + |bias| one on x >= 0: sizes of paths and of errors pass through this
    exact(x)       on arrays of balls, one point at a time
    roundings      N, at most so many roundings in one number of the value or of the size
    slope_roundings   the same of a slope: of a sum over what reads one number

A convolution is the linear map it stands for, with its weights tied; it is never unrolled for a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from adanet_theory.activations import Activation
from adanet_train.core.activations import apply_activation

Shape = tuple[int, ...]
Balls = Any  # numpy arrays of flint.arb, without the axis of the points


def exact(values: Any) -> Any:
    """An array of balls of radius 0: every float is a dyadic number."""
    from flint import arb

    values = np.asarray(values, dtype=np.float64)
    return np.vectorize(arb, otypes=[object])(values) if values.size else values.astype(object)


class Operation:
    """Linear, without a bias and without a rounding, unless it says otherwise; axis 0 of a tensor is that of points."""

    value: Callable[..., Tensor]
    size: Callable[..., Tensor]
    exact: Callable[..., Balls]
    is_linear: ClassVar[bool] = True

    @property
    def has_bias(self) -> bool:
        return False

    @property
    def roundings(self) -> int:
        return 0

    @property
    def slope_roundings(self) -> int:
        return self.roundings


class _Unweighted(Operation):
    """No coefficient is below 0: the size is the value."""

    def size(self, *x: Tensor, one: float) -> Tensor:
        return self.value(*x)


@dataclass(frozen=True, eq=False)
class Dense(Operation):
    """W x + b on the last axis."""

    W: Tensor
    b: Tensor | None = None

    @property
    def roundings(self) -> int:
        return self.W.shape[1] + 2

    @property
    def slope_roundings(self) -> int:
        return self.W.shape[0] + 2

    @property
    def has_bias(self) -> bool:
        return self.b is not None

    @cached_property
    def _sizes(self) -> tuple[Tensor, Tensor | None]:
        return self.W.abs(), None if self.b is None else self.b.abs()

    def value(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.W, self.b)

    def size(self, x: Tensor, *, one: float) -> Tensor:
        W, b = self._sizes
        return functional.linear(x, W, None if b is None else one * b)

    def exact(self, x: Balls) -> Balls:
        kept = [i for i in range(x.shape[-1]) if not all(ball.is_zero() for ball in x[..., i].flat)]
        if kept:
            product = x[..., kept] @ exact(self.W[:, kept].numpy().T)
        else:
            product = exact(np.zeros((*x.shape[:-1], len(self.W))))
        return product if self.b is None else product + exact(self.b.numpy())


def by_axes(name: str, axes: int) -> Callable[..., Any]:
    """The function of torch.nn.functional for so many axes of space: conv1d, conv2d or conv3d."""
    function: Callable[..., Any] = getattr(functional, f"{name}{axes}d")
    return function


@dataclass(frozen=True)
class Window:
    """Where a window reads: one, two or three axes of the space, behind the axis of the channels."""

    kernel: Shape
    stride: Shape
    padding: tuple[int, ...]
    """As functional.pad reads it: low and high of the last axis, then of the one before."""
    dilation: Shape
    mode: str = "constant"

    @property
    def axes(self) -> int:
        return len(self.kernel)

    @property
    def points(self) -> int:
        return math.prod(self.kernel)

    @property
    def copies(self) -> int:
        """At most so many places of the padded x hold one number of x: its slopes there are summed."""
        if self.mode == "constant":
            return 1
        return math.prod(1 + low + high for low, high in zip(self.padding[::2], self.padding[1::2], strict=True))

    def padded(self, x: Tensor, value: float = 0.0) -> Tensor:
        if not any(self.padding):
            return x
        return functional.pad(x, self.padding, mode=self.mode, value=value if self.mode == "constant" else None)

    def columns(self, x: Tensor) -> Tensor:
        """What each window reads of the padded x: [point, channel, point of the kernel, window]."""
        windows = self.padded(x)
        for axis, (kernel, stride, step) in enumerate(zip(self.kernel, self.stride, self.dilation, strict=True)):
            windows = windows.unfold(2 + axis, (kernel - 1) * step + 1, stride)[..., ::step]
        return windows.flatten(2 + self.axes).flatten(2, 1 + self.axes).transpose(2, 3)

    def indices(self, shape: Shape) -> Any:
        """Places in (0, x_1, x_2, ..) of what each window reads: [channel, point of the kernel, window]."""
        places = torch.arange(1, math.prod(shape) + 1, dtype=torch.float64).reshape(1, *shape)
        return self.columns(places)[0].long().numpy()

    def read(self, x: Balls) -> Balls:
        return _with_zero(x)[self.indices(x.shape)]

    def out_space(self, space: Shape) -> Shape:
        padded = [n + sum(self.padding[2 * i : 2 * i + 2]) for i, n in enumerate(reversed(space))][::-1]
        reach = [(kernel - 1) * step for kernel, step in zip(self.kernel, self.dilation, strict=True)]
        return tuple((n - r - 1) // s + 1 for n, r, s in zip(padded, reach, self.stride, strict=True))


def _with_zero(x: Balls) -> Balls:
    """(0, x_1, x_2, ..)."""
    from flint import arb

    return np.concatenate([[arb(0)], x.ravel()])


@dataclass(frozen=True, eq=False)
class Convolution(Operation):
    """Σ over the window and the channels of its group of W x, plus b: a Dense whose rows share their weights."""

    W: Tensor
    b: Tensor | None
    window: Window
    groups: int = 1

    @property
    def roundings(self) -> int:
        return self.W.shape[1] * self.window.points + 2

    @property
    def slope_roundings(self) -> int:
        return self.W.shape[0] // self.groups * self.window.points * self.window.copies + 2

    @property
    def has_bias(self) -> bool:
        return self.b is not None

    def _apply(self, x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
        w = self.window
        return by_axes("conv", w.axes)(w.padded(x), W, b, w.stride, 0, w.dilation, self.groups)

    def value(self, x: Tensor) -> Tensor:
        return self._apply(x, self.W, self.b)

    def size(self, x: Tensor, *, one: float) -> Tensor:
        return self._apply(x, self.W.abs(), None if self.b is None else one * self.b.abs())

    def exact(self, x: Balls) -> Balls:
        read = self.window.read(x)
        W = exact(self.W.reshape(self.groups, -1, self.W.shape[1] * self.window.points).numpy())
        parts = read.reshape(self.groups, W.shape[2], -1)
        channels = np.concatenate([W[g] @ parts[g] for g in range(self.groups)])
        if self.b is not None:
            channels = channels + exact(self.b.numpy())[:, None]
        return channels.reshape(len(channels), *self.window.out_space(x.shape[1:]))


@dataclass(frozen=True, eq=False)
class Average(Operation):
    """weight times the sum over a window, channel by channel: average pooling.

    The weight is one number or, where the windows at the border count fewer places, one for each window.
    """

    window: Window
    weight: Tensor

    @property
    def roundings(self) -> int:
        return self.window.points + 4

    def _apply(self, x: Tensor, weight: Tensor) -> Tensor:
        w = self.window
        return by_axes("avg_pool", w.axes)(w.padded(x), w.kernel, w.stride) * (w.points * weight)

    def value(self, x: Tensor) -> Tensor:
        return self._apply(x, self.weight)

    def size(self, x: Tensor, *, one: float) -> Tensor:
        return self._apply(x, self.weight.abs())

    def exact(self, x: Balls) -> Balls:
        total = self.window.read(x).sum(axis=1).reshape(x.shape[0], *self.window.out_space(x.shape[1:]))
        return total * exact(self.weight.numpy())


@dataclass(frozen=True)
class Total(_Unweighted):
    """weight times the sum over some axes of a point, which stay as axes of length 1 if `keep`: sum and mean."""

    axes: tuple[int, ...]
    count: int
    weight: float
    keep: bool

    @property
    def roundings(self) -> int:
        return self.count + 2

    def value(self, x: Tensor) -> Tensor:
        return x.sum(dim=tuple(axis + 1 for axis in self.axes), keepdim=self.keep) * self.weight

    def exact(self, x: Balls) -> Balls:
        from flint import arb

        return np.asarray(x.sum(axis=self.axes, keepdims=self.keep)) * arb(self.weight)


@dataclass(frozen=True, eq=False)
class Affine(Operation):
    """scale x + shift, each of a shape that spreads over that of one point.

    `added` is the sum of the sizes that make up the shift, where a program adds them one by one: what cancels in the
    shift is rounded all the same. Only errors are read off such an Affine, no path norm.
    """

    scale: Tensor | None
    shift: Tensor | None
    added: Tensor | None = None

    @property
    def roundings(self) -> int:
        return 2 if self.added is None else 10

    @property
    def slope_roundings(self) -> int:
        spread = max((x.numel() for x in (self.scale, self.shift) if x is not None), default=1)
        return self.roundings + spread  # the slopes of a spread x are summed

    @property
    def has_bias(self) -> bool:
        return self.shift is not None

    def value(self, x: Tensor) -> Tensor:
        scaled = x if self.scale is None else x * self.scale
        return scaled if self.shift is None else scaled + self.shift

    def size(self, x: Tensor, *, one: float) -> Tensor:
        scaled = x if self.scale is None else x * self.scale.abs()
        if self.shift is None:
            return scaled
        return scaled + one * (self.shift.abs() if self.added is None else self.added)

    def exact(self, x: Balls) -> Balls:
        scaled = x if self.scale is None else x * exact(self.scale.numpy())
        return scaled if self.shift is None else scaled + exact(self.shift.numpy())


@dataclass(frozen=True)
class Sum(Operation):
    """Σ_i a_i x_i of equal shapes."""

    coefficients: tuple[float, ...]

    @property
    def roundings(self) -> int:
        return 2 * len(self.coefficients)

    def value(self, *x: Tensor) -> Tensor:
        terms = [x_i if a == 1 else a * x_i for a, x_i in zip(self.coefficients, x, strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def size(self, *x: Tensor, one: float) -> Tensor:
        return Sum(tuple(abs(a) for a in self.coefficients)).value(*x)

    def exact(self, *x: Balls) -> Balls:
        from flint import arb

        return sum(arb(a) * x_i for a, x_i in zip(self.coefficients, x, strict=True))


@dataclass(frozen=True)
class Cat(_Unweighted):
    """Concatenation along an axis of one point."""

    axis: int

    def value(self, *x: Tensor) -> Tensor:
        return torch.cat(x, dim=self.axis + 1)

    def exact(self, *x: Balls) -> Balls:
        return np.concatenate(x, axis=self.axis)


@dataclass(frozen=True)
class Reshape(_Unweighted):
    """The same numbers in another shape."""

    shape: Shape

    def value(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), *self.shape)

    def exact(self, x: Balls) -> Balls:
        return x.reshape(self.shape)


@dataclass(frozen=True, eq=False)
class Places(_Unweighted):
    """Numbers of x in other places: `places` counts them from 1, and a 0 is the number 0.

    One may stand in several places (repeat) or in none (x[:, 0]); padding, flips and permutations are such maps.
    """

    places: Tensor

    @cached_property
    def slope_roundings(self) -> int:
        """The slopes of a number that stands in several places are summed."""
        copies = int(torch.bincount(self.places.flatten(), minlength=2)[1:].max())
        return copies if copies > 1 else 0

    def value(self, x: Tensor) -> Tensor:
        return functional.pad(x.flatten(1), (1, 0))[:, self.places]

    def exact(self, x: Balls) -> Balls:
        return np.asarray(_with_zero(x)[self.places.numpy()])


@dataclass(frozen=True, eq=False)
class Activate(Operation):
    """φ, number by number."""

    phi: Activation
    is_linear = False

    def value(self, x: Tensor) -> Tensor:
        return apply_activation(self.phi.name, x)

    def size(self, x: Tensor, *, one: float) -> Tensor:
        """By homogeneity a unit divided by its path norm is a unit; |φ(x)| <= |x| for |slopes| <= 1."""
        return x

    def exact(self, x: Balls) -> Balls:
        from adanet_theory.twins.activations import activation_on_balls

        return np.vectorize(activation_on_balls(self.phi), otypes=[object])(x) if x.size else x

    @property
    def levels(self) -> tuple[str, ...]:
        return (self.phi.name,)


@dataclass(frozen=True)
class Largest(Operation):
    """The largest of each window: max(a, b) = (a + b)/2 + |a - b|/2, ⌈log2 K⌉ levels of |x| for K numbers.

    Each step has the path norm P_a + P_b, so the whole window has the sum of its path norms; the padding is no number.
    """

    window: Window
    is_linear = False

    @property
    def roundings(self) -> int:
        return self.window.points

    @property
    def levels(self) -> tuple[str, ...]:
        return ("abs",) * math.ceil(math.log2(self.window.points))

    def value(self, x: Tensor) -> Tensor:
        w = self.window
        return by_axes("max_pool", w.axes)(w.padded(x, -math.inf), w.kernel, w.stride, 0, w.dilation)

    def size(self, x: Tensor, *, one: float) -> Tensor:
        total = self.window.columns(x).sum(dim=2)
        return total.reshape(len(x), x.shape[1], *self.window.out_space(tuple(x.shape[2:])))

    def exact(self, x: Balls) -> Balls:
        windows = self.window.indices(x.shape)
        flat = x.ravel()
        maxima = np.empty((x.shape[0], windows.shape[2]), dtype=object)
        for channel, place in np.ndindex(*maxima.shape):
            read = [flat[i - 1] for i in windows[channel, :, place] if i]
            largest = read[0]
            for ball in read[1:]:
                largest = largest.max(ball)
            maxima[channel, place] = largest
        return maxima.reshape(x.shape[0], *self.window.out_space(x.shape[1:]))
