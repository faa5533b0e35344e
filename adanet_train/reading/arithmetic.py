"""How far a program may be from its formula: a bound on |program - formula| for all inputs of a range at once.

The program computes the steps of a graph in a type of numbers whose EPS is two unit roundoffs; the formula is the graph
in real numbers. With M >= |x| and e >= |program - formula| of what a linear node of N roundings reads, and all N
products and sums rounded one by one in any order,

    e_out <= size( (1 + g) e + g M ) (1 + g),   g = 2 N EPS,   M_out = size(M),

which is `enclosure.with_errors` at the largest |x| in place of x: it depends on the weights and the range alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.utils._python_dispatch import TorchDispatchMode

from adanet_theory.rounding import EPS, TINY
from adanet_train.reading.enclosure import ACTIVATION_ULPS, SOFTPLUS, reach
from adanet_train.reading.graph import Graph, Node, walk
from adanet_train.reading.operations import Activate, Largest

UNDERFLOW = 2.0**40  # times the smallest normal number: what an underflow loses, under any weight below 2^40
LINK_ULPS = 1024  # of a sigmoid or softmax that stands behind the outputs, against 1 + |f|


class NoProof(ValueError):
    """Nothing bounds the program: too many roundings, or it may overflow."""


@dataclass(frozen=True)
class _Type:
    eps: float
    tiny: float
    largest: float

    @classmethod
    def of(cls, dtype: torch.dtype) -> _Type:
        info = torch.finfo(dtype)
        return cls(info.eps, info.smallest_normal * UNDERFLOW, info.max)


def difference(steps: Graph, r: float, dtype: torch.dtype) -> float:
    """e: every output of the program is within e of the formula at every |x| <= r, which is rounded to dtype first.

    `steps` is the graph as forward has it (`trace(module, shape, fold=False)`); the folded one is as near to it as
    any other evaluation in float64, so that its distance is added. Raises NoProof where there is no such number.

    >>> from adanet_train.reading.operations import Dense
    >>> graph = Graph((2,), (Node(Dense(torch.ones(1, 2, dtype=torch.float64)), (0,), (1,)),))
    >>> difference(graph, 1.0, torch.float64) < 1e-13 < 1e-6 < difference(graph, 1.0, torch.float32) < 1e-5
    True
    """
    own = _largest_error(steps, r, _Type.of(dtype))
    return (own + _largest_error(steps, r, _Type.of(torch.float64))) * (1 + 4 * EPS)


@torch.no_grad()
def _largest_error(steps: Graph, r: float, kind: _Type) -> float:
    M = torch.full((1, *steps.shape), r, dtype=torch.float64)
    M, e = walk(steps, (M, kind.eps * M + kind.tiny), lambda _, node, read: _step(node, read, kind))
    if steps.link:
        e = e + LINK_ULPS * kind.eps * (1 + M + e)
    return float(e.max()) * (1 + 4 * EPS)


def _step(node: Node, read: list[tuple[Tensor, Tensor]], kind: _Type) -> tuple[Tensor, Tensor]:
    M, e = _bounded(node.operation, [size for size, _ in read], [error for _, error in read], kind)
    if M.numel() and not float((M + e).max()) <= kind.largest / 4:
        raise NoProof(f"{node.name or 'a node'} may overflow")
    return M, e


def _bounded(operation: Any, M: list[Tensor], e: list[Tensor], kind: _Type) -> tuple[Tensor, Tensor]:
    if isinstance(operation, Activate):
        return _activated(operation, M[0], e[0], kind)
    N = operation.roundings
    if isinstance(operation, Largest):
        return operation.value(*M), operation.value(*e)
    if N == 0:
        return operation.size(*M, one=1.0), operation.size(*e, one=0.0)
    g = 2 * N * kind.eps
    if not g <= 0.5:
        raise NoProof(f"a sum of {N:,} numbers is too long for its roundings to be bounded")
    up = 1 + 4 * N * EPS
    reaches = [reach(size, error, N, kind.eps, kind.tiny) for size, error in zip(M, e, strict=True)]
    error = operation.size(*reaches, one=g) * (1 + g) * up + 2 * N * kind.tiny
    return operation.size(*M, one=1.0) * up + 2 * N * TINY, error


def _activated(operation: Activate, M: Tensor, e: Tensor, kind: _Type) -> tuple[Tensor, Tensor]:
    phi = operation.phi
    size = (abs(phi.at_zero) + phi.lipschitz * M) * (1 + 4 * EPS)
    error = phi.lipschitz * e * (1 + 4 * EPS)
    if phi.name.startswith("leaky_relu"):
        return size, error + 2 * kind.eps * (size + error) + kind.tiny
    if phi.is_homogeneous:
        return size, error
    cut = SOFTPLUS if phi.name == "softplus" else 0.0
    return size, error + ACTIVATION_ULPS * kind.eps * (1 + size + error) + cut


# What no proof here covers


def one_type(module: nn.Module) -> torch.dtype | None:
    """The type of all floating weights, torch's own where there are none; None where there are several."""
    kinds = {weight.dtype for weight in _floats(module)} or {torch.get_default_dtype()}
    return kinds.pop() if len(kinds) == 1 else None


def obstacle(module: nn.Module, steps: Graph, x: Tensor) -> str:
    """Why the program may round in another way than `difference` counts; "" if no reason is known.

    It is run on points x of its own type of numbers, to see whether it takes its steps in that type.
    """
    if any(weight.device.type != "cpu" for weight in _floats(module)):
        return "it runs on another device than the CPU, whose sums may be shorter than its numbers (TF32)"
    if _is_shortened():
        return "torch.set_float32_matmul_precision or torch.backends allows shorter numbers in its sums"
    with torch.no_grad(), _Types() as seen:
        module(x.clone())
    own = torch.finfo(x.dtype).eps
    others = sorted(str(dtype) for dtype in seen.types if torch.finfo(dtype).eps > own)
    if others:
        return f"some of its steps are in {others[0].removeprefix('torch.')}, as under torch.autocast"
    if x.dtype == torch.float64:
        return ""
    made = any(parametrize.is_parametrized(part) for part in module.modules())
    return "it makes some of its weights from others, in its own numbers" if made or steps.derived else ""


class _Types(TorchDispatchMode):
    """The types of real numbers that torch makes, below what forward says."""

    def __init__(self) -> None:
        super().__init__()
        self.types: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        parts = result if isinstance(result, list | tuple) else [result]
        self.types |= {part.dtype for part in parts if isinstance(part, Tensor) and part.is_floating_point()}
        return result


def _is_shortened() -> bool:
    """Whether products of float32 may be taken in shorter numbers."""
    try:
        legacy = torch.get_float32_matmul_precision() != "highest"
    except RuntimeError:  # torch refuses to say where the settings of a backend were changed
        return True
    backends: Any = torch.backends
    places = (
        backends,
        backends.mkldnn,
        getattr(backends.mkldnn, "matmul", None),
        getattr(backends.mkldnn, "conv", None),
    )
    return legacy or any(getattr(place, "fp32_precision", "none") not in ("none", "ieee") for place in places)


def _floats(module: nn.Module) -> list[Tensor]:
    return [weight for weight in [*module.parameters(), *module.buffers()] if weight.is_floating_point()]
