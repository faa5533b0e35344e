"""A module, a sample and δ: what a choice of integers costs, how many errors it makes, and its certificate."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from adanet_theory.certificates.occam import occam_certificate
from adanet_theory.checks import check
from adanet_train.compression import code
from adanet_train.compression.code import Array, Coded
from adanet_train.compression.weights import Weights
from adanet_train.core.device import evaluated
from adanet_train.data import classes, datasets
from adanet_train.data.alone import require_of_x_alone
from adanet_train.data.rows import require_finite

Loss = Callable[[Tensor, Tensor], Tensor]
Spend = Callable[[float], None]
"""Called with the nominal seconds that were spent."""
ROWS = 4096
SOME_ROWS = 256
FLOPS_PER_BLOCK = 2e8
"""So many rows are evaluated at a time that their numbers stay in the cache."""
FLOPS_PER_SECOND, SECONDS_PER_CALL = 2.5e10, 4e-4
"""A nominal second, about one of one core: what a budget buys does not depend on the clock."""


@dataclass(frozen=True)
class Score:
    """Bits of a description, errors on the m points of the sample, and the certificate at δ."""

    bits: int
    errors: int
    m: int
    delta: float

    @property
    def bound(self) -> float:
        return occam_certificate(self.errors, self.m, self.bits, self.delta)

    @property
    def key(self) -> float:
        """What a search minimises: the bound, and where that is 1 a weaker one without that limit."""
        bound = self.bound
        if bound < 1 - 1e-9:
            return bound
        return 1 + self.errors / self.m + math.sqrt(self.bits * math.log(2) / (2 * self.m))

    @property
    def errors_per_bit(self) -> float:
        """How many errors a bit is worth: the slope of the bound in its bits over that in its errors, at least 0.1."""
        bound = self.bound
        if bound >= 1 - 1e-9 or self.errors >= self.m:
            return 0.1
        by_bits = replace(self, bits=self.bits + 10).bound - bound
        step = max(1, self.errors // 100)
        by_errors = replace(self, errors=min(self.errors + step, self.m)).bound - bound
        return max(0.1, by_bits / 10 / (by_errors / step))


def margins(f: Tensor, y: Tensor) -> Tensor:
    """y f for one logit, f_y minus the largest other output for several; NaN where f is NaN."""
    if f.ndim == 1:
        return torch.where(y > 0, f, -f)
    own = f.gather(1, y[:, None])
    return own[:, 0] - f.scatter(1, y[:, None], -math.inf).amax(dim=1)


def labels(y: object, m: int, outputs: int) -> tuple[Tensor, str]:
    """Class indices as int64 for a module of so many outputs, as verify_bounds reads y, and what was mapped.

    >>> labels(["b", "a", "b"], 3, 1)
    (tensor([1, 0, 1]), "labels 'a' and 'b' mapped to -1 and +1.")

    Raises
    ------
    ValueError
        If y has another length, is continuous, or holds other classes than the module has.
    """
    values, read = classes.plain(np.asarray(y.detach().cpu() if isinstance(y, Tensor) else y), m)
    if outputs > 2:
        places, _, mapped = classes.indices(values, outputs, None)
        return torch.from_numpy(places.astype(np.int64)), read or mapped
    many, names = classes.count(values)
    check(many is None, f"y holds {many} classes, the module has {outputs} output(s): expected one for each class.")
    signs, _, mapped = datasets.labels(values, names)
    return torch.from_numpy((signs > 0).astype(np.int64)), read or mapped


def points(X: object) -> Tensor:
    """X as a tensor with a row for each point: numbers as they are, integers (tokens) as integers."""
    rows = X.detach().cpu() if isinstance(X, Tensor) else torch.from_numpy(np.array(X))
    rows = rows.float() if rows.dtype == torch.bfloat16 else rows  # which numpy has not
    check(rows.ndim >= 1 and len(rows) > 0, "X must have a row for each point, got none.")
    if rows.is_floating_point():
        require_finite(rows.double().numpy())
    return rows


def outputs(module: nn.Module, x: Tensor) -> Tensor:
    """f of a batch: shape (rows,) of one logit, (rows, C) of C classes."""
    f = module(x)
    return one_or_many(f, len(x))


def count_of_outputs(module: nn.Module, X: Tensor) -> int:
    """How many outputs a prepared module has; rows that it cannot read are refused."""
    x = X[:2].double() if X.is_floating_point() else X[:2]
    f = one_or_many(evaluated(module, x)[0], len(x))
    return 1 if f.ndim == 1 else f.shape[1]


@torch.no_grad()
def require_function(module: nn.Module, X: Tensor, name: str) -> None:
    """Refuse a prepared module that reads other points of a batch, draws at random or keeps a state."""

    def answers_at(rows: Array) -> Array:
        x = X[torch.from_numpy(rows)]
        f: Array = outputs(module, x.double() if x.is_floating_point() else x).numpy()
        return f

    some = np.arange(min(len(X), SOME_ROWS))
    require_of_x_alone(name, answers_at, answers_at(some), eps=2.0**-52)


def one_or_many(f: object, rows: int) -> Tensor:
    """The outputs of a module, checked."""
    known = isinstance(f, Tensor) and f.ndim >= 1 and len(f) == rows and f.ndim <= 2
    check(known, f"the module must give a tensor of one logit or one for each class for each of {rows} points.")
    assert isinstance(f, Tensor)
    return f.reshape(rows) if f.ndim == 1 or f.shape[1] == 1 else f


def default_loss(f: Tensor, y: Tensor) -> Tensor:
    """Logistic of one logit, cross-entropy of several."""
    if f.ndim == 1:
        return functional.binary_cross_entropy_with_logits(f, y.to(f.dtype))
    return functional.cross_entropy(f, y)


class CodingProblem:
    """The search's view: float32, a batch at a time. What is certified is counted again, exactly, by `exact`."""

    def __init__(
        self,
        module: nn.Module,
        X: Tensor,
        y: Tensor,
        delta: float,
        loss: Loss | None = None,
        spend: Spend = lambda _: None,
    ) -> None:
        self.weights = Weights.of(module)
        self.module = copy.deepcopy(module).float()
        self.X = X.float() if X.is_floating_point() else X
        self.y, self.delta, self.loss = y, delta, loss or default_loss
        self.is_free = [tensor.is_floating_point() for tensor in self.weights.tensors]
        count = sum(tensor.numel() for tensor in self.weights.tensors)
        self.flops = max(evaluated(self.module, self.X[:2])[1], float(count))
        self.spend = spend

    @property
    def m(self) -> int:
        return len(self.y)

    @property
    def block(self) -> int:
        """How many rows are evaluated at a time."""
        return int(min(max(FLOPS_PER_BLOCK / self.flops, 64), ROWS))

    def seconds(self, rows: int, *, backward: bool = False) -> float:
        """Nominal seconds of a pass over so many rows."""
        calls = SECONDS_PER_CALL * (1 + rows // self.block)
        return (rows * self.flops / FLOPS_PER_SECOND + calls) * (3 if backward else 1)

    def f(self, values: Sequence[Tensor], x: Tensor) -> Tensor:
        own = self.weights.named(values)  # under every name: torch need not look for tied ones
        return one_or_many(functional_call(self.module, own, x, tie_weights=False), len(x))

    @torch.no_grad()
    def margins(self, values: Sequence[Tensor], rows: Tensor | None = None) -> Tensor:
        """The margins of all points, or of those in `rows`."""
        X, y = (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])
        size = self.block
        parts = [margins(self.f(values, X[i : i + size]), y[i : i + size]) for i in range(0, len(X), size)]
        return torch.cat(parts)

    def score(self, coded: Sequence[Coded]) -> Score:
        """Bits and errors, the latter in float32."""
        return Score(code.bits_of(coded), self.errors(coded), self.m, self.delta)

    @torch.no_grad()
    def mean_loss(self, coded: Sequence[Coded]) -> float:
        """The loss on the first points of the sample."""
        f = self.f(self.values(coded), self.X[:ROWS])
        return float(self.loss(f, self.y[:ROWS]))

    def errors(self, coded: Sequence[Coded]) -> int:
        return int((~(self.margins(self.values(coded)) > 0)).sum())

    def values(self, coded: Sequence[Coded]) -> list[Tensor]:
        tensors = self.weights.tensors
        return [
            torch.from_numpy(np.ascontiguousarray(part.value))
            .to(torch.float32 if free else old.dtype)
            .reshape(old.shape)
            for part, old, free in zip(coded, tensors, self.is_free, strict=True)
        ]

    # Rounding

    def exponents(self, c: float, *, trained: bool = False) -> list[int]:
        """e of every tensor: a step of about c root mean squares, 2c for large matrices, at most the largest weight.

        Where the network is `trained` from there, steps are at most twice the largest weight, and that of a bias is at
        least that of the weights before it: training moves a weight by steps.
        """
        exponents = [_exponent(tensor.double().numpy(), c, int(trained)) for tensor in self.weights.tensors]
        for t in range(1, len(exponents)):
            if trained and all(name.endswith("bias") for name in self.weights.names[t]):
                exponents[t] = max(exponents[t], exponents[t - 1])
        return exponents

    def rounded(self, exponents: Sequence[int], arrays: Sequence[Array] | None = None) -> list[Coded]:
        """Every weight at the next multiple of its step; integer tensors are kept."""
        arrays = self.weights.arrays() if arrays is None else arrays
        parts = zip(arrays, exponents, self.is_free, strict=True)
        return [code.integers(np.rint(np.ldexp(w, -e)), e) if free else code.integers(w, 0) for w, e, free in parts]

    def as_zeros(self) -> list[Coded]:
        """Zeros in the shapes of the weights."""
        return [code.integers(np.zeros(tensor.shape), 0) for tensor in self.weights.tensors]

    def as_it_is(self) -> list[Coded]:
        """The network with its weights unchanged."""
        return [code.lossless(w) for w in self.weights.arrays()]


LARGE = 1000  # entries of a matrix whose step is doubled


def _exponent(w: Array, c: float, more: int) -> int:
    largest = float(np.abs(w).max(initial=0.0))
    if largest == 0:
        return 0
    rms = float(np.sqrt(np.square(w / largest).mean())) * largest
    e = round(math.log2(c * rms * (2 if w.size > LARGE else 1)))
    return max(min(e, math.floor(math.log2(largest)) + more), -900)
