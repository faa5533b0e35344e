"""Value and slope of every activation of adanet_theory.activations, on tensors.

The values are named functions or modules, because TorchScript compiles these.
"""

# No postponed annotations here: TorchScript reads them as they stand.

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from adanet_theory.activations import activation


@dataclass(frozen=True)
class OnTensors:
    """φ, and φ'; at a kink the slope from the left, as autograd has it for relu (0 at 0)."""

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]


def apply_activation(name: str, h: Tensor) -> Tensor:
    """φ(h) for an activation name of adanet_theory.activations."""
    return on_tensors(name).value(h)


def activation_slope(name: str, h: Tensor) -> Tensor:
    """φ'(h), see `OnTensors`."""
    return on_tensors(name).slope(h)


@functools.lru_cache(maxsize=64)
def on_tensors(name: str) -> OnTensors:
    phi = activation(name)
    return TABLE[phi.kind] if phi.parameter is None else PARAMETRIC[phi.kind](phi.parameter)


# A step of training takes these often: comparisons would give boolean tensors, which cost ten times as much as a sign.


def _relu(h: Tensor) -> Tensor:
    return h.clamp_min(0)


def _identity(h: Tensor) -> Tensor:
    return h


def _relu_slope(h: Tensor) -> Tensor:
    return h.sign().clamp_min_(0)


def _softplus(h: Tensor) -> Tensor:
    # torch's softplus is h itself beyond a threshold, off by e^-20 there.
    return h.clamp_min(0) + torch.log1p(torch.exp(-h.abs()))


def _gelu_slope(h: Tensor) -> Tensor:
    density = torch.exp(-h * h / 2) / math.sqrt(2 * math.pi)
    return torch.special.ndtr(h) + h * density


def _silu_slope(h: Tensor) -> Tensor:
    sigmoid = torch.sigmoid(h)
    return sigmoid * (1 + h * torch.sigmoid(-h))


def _leaky_relu(a: float) -> OnTensors:
    return OnTensors(nn.LeakyReLU(a), lambda h: _relu_slope(h).mul_(1 - a).add_(a))


TABLE: Mapping[str, OnTensors] = {
    "relu": OnTensors(_relu, _relu_slope),
    "abs": OnTensors(torch.abs, torch.sign),
    "identity": OnTensors(_identity, torch.ones_like),
    "tanh": OnTensors(torch.tanh, lambda h: 1 - torch.tanh(h) ** 2),
    "sigmoid": OnTensors(torch.sigmoid, lambda h: torch.sigmoid(h) * torch.sigmoid(-h)),
    "softplus": OnTensors(_softplus, torch.sigmoid),
    "elu": OnTensors(functional.elu, lambda h: torch.exp(h.clamp_max(0))),
    "gelu": OnTensors(functional.gelu, _gelu_slope),
    "silu": OnTensors(functional.silu, _silu_slope),
}
PARAMETRIC: Mapping[str, Callable[[float], OnTensors]] = {"leaky_relu": _leaky_relu}
