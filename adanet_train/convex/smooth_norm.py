"""Smooth convex functions that tend to a p-norm, with gradients in the dual ball ||g||_q <= 1 and simple Hessians."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from adanet_train.core.norms import row_norms


def norm(v: Tensor, p: float) -> Tensor:
    """||v||_p."""
    return row_norms(v[None], p)[0]


@dataclass(frozen=True)
class Expansion:
    """A function at a point: its value, gradient, and Hessian diag(D) - r rᵀ."""

    value: Tensor
    gradient: Tensor
    D: Tensor
    r: Tensor


class SmoothNorm(ABC):
    """A smooth convex φ with ||∇φ||_q <= 1; the minimiser of loss + λ φ has a gap of about λ `error` to the norm's."""

    error: float

    @abstractmethod
    def at(self, v: Tensor) -> Expansion: ...

    def error_at(self, parts: Sequence[Tensor]) -> float:
        """An upper value of the error at the groups of v."""
        return self.error


@final
@dataclass(frozen=True)
class SmoothPower(SmoothNorm):
    """φ(v) = || sqrt(v² + ε²) ||_p for 1 < p < inf: the norm itself at ε = 0, where p >= 2 needs no more (v != 0)."""

    p: float
    epsilon: float
    error: float

    def at(self, v: Tensor) -> Expansion:
        t = (v * v + self.epsilon**2).sqrt()
        value = norm(t, self.p)
        ratio = t / value
        gradient = ratio ** (self.p - 2) * v / value
        # The power 2 of v/t in place of t^(p-4): at ε = 0 and v_j = 0 it stays defined.
        share = torch.where(t > 0, (v / t) ** 2, 1.0)
        D = ratio ** (self.p - 2) * (1 + (self.p - 2) * share) / value
        return Expansion(value, gradient, D, gradient * ((self.p - 1) / value).sqrt())

    def error_at(self, parts: Sequence[Tensor]) -> float:
        """φ minus the norms at these groups: far less than the error where no group is near its kink."""
        return float(torch.stack([self.at(part).value - norm(part, self.p) for part in parts]).sum())


@final
@dataclass(frozen=True)
class SmoothMax(SmoothNorm):
    """φ(v) = min_t t - μ Σ_j log(t² - v_j²), the barrier of max_j |v_j| <= t: its gap on the path is 2 μ N."""

    mu: float
    error: float

    def at(self, v: Tensor) -> Expansion:
        magnitude = v.abs()
        largest = magnitude.amax()
        excess = self.excess(magnitude, largest)
        t = largest + excess
        # t² - v², from the excess of t over the largest |v_j|: the difference of squares would cancel.
        room = (excess + (largest - magnitude)) * (t + magnitude)
        gradient = 2 * self.mu * v / room
        D = 2 * self.mu * (t * t + v * v) / room**2
        mixed = 4 * self.mu * t * v / room**2
        return Expansion(t - self.mu * room.log().sum(), gradient, D, mixed / D.sum().sqrt())

    def excess(self, magnitude: Tensor, largest: Tensor) -> Tensor:
        """t - max |v_j| where S(t) = μ Σ_j 2t / (t² - v_j²) = 1: Newton on 1/S, which is nearly linear."""
        low, high = self.mu, 2 * self.mu * len(magnitude)
        excess = largest.new_full((), low)
        for _ in range(30):
            t = largest + excess
            near, far = excess + (largest - magnitude), t + magnitude
            S = self.mu * (1 / near + 1 / far).sum()
            slope = self.mu * (1 / near**2 + 1 / far**2).sum()
            excess, before = (excess + (S - 1) * S / slope).clamp(low, high), excess
            if bool((excess - before).abs() <= 4 * torch.finfo(excess.dtype).eps * excess):
                break
        return excess


def stages(p: float, v: Tensor, accuracy: float, groups: int = 1) -> Iterator[SmoothNorm]:
    """Ever closer functions, from one that is easy at the scale of v to one with error below `accuracy`.

    None at v = 0, which has no scale: there the norm has a kink, and what is not yet gained is rounding. The error is
    that of all groups of v together. One group is not 0 at the minimiser, of several some may be: the kink is then met
    at p >= 2 too.
    """
    scale = float(v.abs().amax())
    if scale == 0:
        return
    N = len(v) // groups
    if p == math.inf:
        yield from (SmoothMax(error / (2 * groups * N), error) for error in errors(scale, accuracy))
    elif p < 2 or groups > 1:
        root = groups * N ** (1 / p)
        yield from (SmoothPower(p, error / root, error) for error in errors(scale * root, accuracy))
    else:
        yield SmoothPower(p, 0.0, 0.0)


def errors(scale: float, accuracy: float) -> Iterator[float]:
    """scale/10, scale/100, .. down to the first that is not above accuracy."""
    error = scale / 10
    while error > accuracy:
        yield error
        error /= 10
    yield error
