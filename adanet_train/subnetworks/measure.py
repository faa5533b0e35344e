"""The complexity of a subnetwork: its path norm where it can be read, else the square root of its depth."""

from __future__ import annotations

import math
from typing import Any

from torch import nn

from adanet_train.reading import trace
from adanet_train.reading.path_norm import path_norm
from adanet_train.search.builder import CommitteeModule

DEEP = (nn.Linear, nn.Bilinear, nn.modules.conv._ConvNd, nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)


def complexity(module: nn.Module, builder: Any, shape: tuple[int, ...]) -> tuple[float, str]:
    """(r, where it comes from): the builder's own number, the path norm of the module, or sqrt(depth)."""
    own = getattr(builder, "complexity", None)
    if callable(own):
        return float(own(module)), "given"
    try:
        norm = float(path_norm(trace.trace(module, shape)))
    except (ValueError, RuntimeError, TypeError, ArithmeticError):
        return math.sqrt(depth(module)), "sqrt(depth)"
    if math.isfinite(norm) and norm > 0:
        return norm, "path norm"
    return math.sqrt(depth(module)), "sqrt(depth)"


def depth(module: nn.Module) -> int:
    """Layers with weights, also of earlier subnetworks inside; at least 1. A committee does not count what it reads."""
    if isinstance(module, CommitteeModule):
        return len(module.weights)
    return max(1, sum(isinstance(part, DEEP) for part in module.modules()))


def parameters(module: nn.Module) -> int:
    """The number of weights that training can change, without those of frozen earlier subnetworks."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
