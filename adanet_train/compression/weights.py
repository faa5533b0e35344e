"""The weights of a module as the code sees them: BatchNorm folded, every tensor of its state_dict, each once.

What is in state_dict() is coded, parameters and buffers alike. Buffers with persistent=False and constants in
`forward` belong to the architecture, which is fixed before the sample.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from adanet_theory.checks import check
from adanet_train.compression.code import Array, Coded, Shape
from adanet_train.reading.recorder import UnreadableModule
from adanet_train.reading.trace import logits

_BatchNorm = nn.modules.batchnorm._BatchNorm
_Convolution = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


class Scale(nn.Module):
    """A BatchNorm in eval mode that follows no linear layer: scale x + shift, channel by channel."""

    def __init__(self, norm: _BatchNorm) -> None:
        super().__init__()
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = (norm.running_var + norm.eps).rsqrt() * (1 if norm.weight is None else norm.weight)
        shift = -norm.running_mean * scale + (0 if norm.bias is None else norm.bias)
        self.scale, self.shift = nn.Parameter(scale.detach()), nn.Parameter(shift.detach())

    def forward(self, x: Tensor) -> Tensor:
        shape = (1, -1, *[1] * (x.ndim - 2))
        return x * self.scale.reshape(shape) + self.shift.reshape(shape)


def prepared(module: nn.Module) -> nn.Module:
    """A copy in eval mode, in float64 on the CPU, with every BatchNorm folded into what it follows.

    A function of the architecture alone: the same module class gives the same tensors in the same order.

    Raises
    ------
    ValueError
        If the module cannot be copied, has no weights, or keeps numbers that state_dict() does not have.
    """
    wrapped = any(isinstance(part, nn.DataParallel) for part in module.modules())
    check(not wrapped, "module is wrapped in nn.DataParallel: give the one inside, .module.")
    require_coded(module)
    try:
        own = copy.deepcopy(module).to("cpu", torch.float64).eval()
    except Exception as error:  # a module may refuse in its own way
        raise ValueError(f"{type(module).__name__}: cannot be copied in float64 ({error}).") from None
    coded = own.state_dict().keys()
    own = _logits(own).requires_grad_(False)
    if any(_foldable(part) for part in own.modules()):
        own = _folded(own)
    own = _with_constants(own, coded)
    check(bool(own.state_dict()), f"{type(module).__name__} has no weights.")
    return own


def own_numbers(module: nn.Module) -> list[Array]:
    """Every number that the module is a function of in eval mode, as it is: its state_dict and all buffers, each once.

    Raises
    ------
    ValueError
        If it keeps others.
    """
    require_coded(module)
    norms = (name for name, part in module.named_modules() if _foldable(part))
    counts = {f"{name}.num_batches_tracked".lstrip(".") for name in norms}
    kept = [*module.state_dict(keep_vars=True).items(), *module.named_buffers()]
    own = {id(tensor): tensor for name, tensor in kept if name not in counts}
    return [tensor.detach().cpu().double().numpy() for tensor in own.values()]


def require_coded(module: nn.Module) -> None:
    """Refuse weights that are not real, and tensors or arrays as plain attributes of a part.

    Fitted to the sample, these would not be paid for. This includes those inside an object that is an attribute, and
    those in a class.
    """
    scripted = any(isinstance(part, torch.jit.ScriptModule) for part in module.modules())
    check(not scripted, "module is TorchScript, whose weights cannot be changed: give the nn.Module it was made from.")
    for name, tensor in module.state_dict().items():
        is_real = isinstance(tensor, Tensor) and not tensor.is_complex() and not tensor.is_quantized
        check(is_real, f"weight {name!r} must be a real tensor.")
    for name, part in module.named_modules():
        own = {key: value for key, value in vars(part).items() if key not in _PLAIN}
        own = {} if _is_torchs(type(part)) else own
        for kind in type(part).__mro__:
            own = ({} if _is_torchs(kind) else dict(vars(kind))) | own
        hidden = next((key for key, value in own.items() if _holds_numbers(value)), None)
        hooks = [*part._forward_pre_hooks.values(), *part._forward_hooks.values()]
        where = f"{type(part).__name__} {name!r}" if name else type(part).__name__
        remedy = "make it a buffer, or with persistent=False a constant of the architecture"
        check(hidden is None, f"{where} keeps numbers in {hidden!r}, which state_dict() does not have: {remedy}.")
        check(all(map(_is_torchs, hooks)), f"{where} has forward hooks, which may do anything: remove them.")


_PLAIN = frozenset(vars(nn.Module()))
_MOST_NUMBERS = 64  # in a list of settings


def _is_torchs(value: Any) -> bool:
    """Whether it is a class, a function or an object of torch's own."""
    named = getattr(value, "__module__", None) or type(value).__module__
    return str(named).split(".")[0] in ("torch", "builtins")


def _holds_numbers(value: Any, depth: int = 3) -> bool:
    if isinstance(value, Tensor | np.ndarray):
        return True
    if not isinstance(value, list | tuple | dict | set | frozenset):
        inside = [] if depth == 0 or isinstance(value, type | ModuleType) else _inside(value)
        return hasattr(value, "predict") or any(_holds_numbers(part, depth - 1) for part in inside)
    parts = [*value.values()] if isinstance(value, dict) else [*value]
    return len(parts) > _MOST_NUMBERS or any(_holds_numbers(part, depth) for part in parts)


def _inside(value: Any) -> list[Any]:
    """What an object holds, and what a function closes over."""
    cells = getattr(value, "__closure__", None) or ()
    bound = getattr(value, "__self__", None)
    parts = [*getattr(value, "__dict__", {}).values(), *(getattr(value, "__defaults__", None) or ())]
    for cell in cells:
        with contextlib.suppress(ValueError):  # not bound yet
            parts.append(cell.cell_contents)
    return parts if bound is None or isinstance(bound, nn.Module | ModuleType) else [*parts, bound]


def _logits(module: nn.Module) -> nn.Module:
    """Without a sigmoid or softmax at its end, which changes no decision."""
    try:
        traced, link = logits(module)
    except UnreadableModule:
        return module
    return traced if link else module


class Constant(nn.Module):
    """A tensor of the architecture, which is not in state_dict()."""

    value: Tensor

    def __init__(self, value: Tensor) -> None:
        super().__init__()
        self.register_buffer("value", value, persistent=False)

    def forward(self) -> Tensor:
        return self.value


def _with_constants(own: nn.Module, coded: Collection[str]) -> nn.Module:
    """torch.fx makes weights of constants: what is not in the state_dict() of the module itself stays one."""
    if not isinstance(own, fx.GraphModule):
        return own
    buffers = dict(own.named_buffers())
    for number, node in enumerate(own.graph.nodes):
        name = str(node.target)
        if node.op == "get_attr" and name in buffers and name not in coded:
            own.add_submodule(f"constant_{number}", Constant(buffers[name]))
            node.op, node.target = "call_module", f"constant_{number}"
    own.delete_all_unused_submodules()
    return fx.GraphModule(own, own.graph)


def _foldable(part: nn.Module) -> bool:
    return isinstance(part, _BatchNorm) and part.running_mean is not None


def _folded(module: nn.Module) -> nn.Module:
    """Into the layer before where torch.fx sees that nothing else reads it; elsewhere scale and shift."""
    try:
        traced = fx.symbolic_trace(module)
    except Exception:  # whatever forward does with a symbol
        traced = None
    if traced is not None:
        for node in list(traced.graph.nodes):
            _fold_node(traced, node)
        traced.graph.lint()
        traced.recompile()
        module = traced
    for name, part in list(module.named_modules()):
        if _foldable(part):
            module.set_submodule(name, Scale(part))
    return module


def _fold_node(traced: fx.GraphModule, node: fx.Node) -> None:
    norm = traced.get_submodule(str(node.target)) if node.op == "call_module" else None
    before = node.args[0] if norm is not None and node.args else None
    if norm is None or not _foldable(norm) or not isinstance(before, fx.Node) or before.op != "call_module":
        return
    layer = traced.get_submodule(str(before.target))
    calls = sum(
        other.op == "call_module" and other.target in (before.target, node.target) for other in traced.graph.nodes
    )
    if len(before.users) != 1 or calls != 2 or not isinstance(layer, (nn.Linear, *_Convolution)):
        return
    fuse: Any = fuse_linear_bn_eval if isinstance(layer, nn.Linear) else fuse_conv_bn_eval
    traced.set_submodule(str(before.target), fuse(layer, norm))
    node.replace_all_uses_with(before)
    traced.graph.erase_node(node)
    traced.delete_submodule(str(node.target))


@dataclass(frozen=True, eq=False)
class Weights:
    """The tensors of a prepared module, in the order of its state_dict; `names[i]` are those that share tensor i."""

    names: tuple[tuple[str, ...], ...]
    tensors: tuple[Tensor, ...]

    @classmethod
    def of(cls, module: nn.Module) -> Weights:
        """Tied tensors count once."""
        shared: dict[tuple[int, Shape], list[str]] = {}
        first: dict[tuple[int, Shape], Tensor] = {}
        for name, tensor in module.state_dict(keep_vars=True).items():
            key = (tensor.data_ptr() if tensor.numel() else id(tensor), tuple(tensor.shape))
            shared.setdefault(key, []).append(name)
            first.setdefault(key, tensor.detach())
        return cls(tuple(tuple(names) for names in shared.values()), tuple(first.values()))

    @property
    def shapes(self) -> list[Shape]:
        return [tuple(tensor.shape) for tensor in self.tensors]

    def arrays(self) -> list[Array]:
        """Copies: the module may be filled with other weights."""
        return [tensor.double().numpy().copy() for tensor in self.tensors]

    def named(self, values: Sequence[Tensor]) -> dict[str, Tensor]:
        """The values under every name, as torch.func.functional_call reads them."""
        return {name: value for names, value in zip(self.names, values, strict=True) for name in names}


def fill(module: nn.Module, coded: Sequence[Coded]) -> nn.Module:
    """The prepared module with the weights of a code."""
    weights = Weights.of(module)
    check(len(coded) == len(weights.tensors), f"the code has {len(coded)} tensors, the module {len(weights.tensors)}.")
    with torch.no_grad():
        for tensor, part in zip(weights.tensors, coded, strict=True):
            check(tuple(tensor.shape) == part.value.shape, "the code and the module differ in a shape.")
            tensor.copy_(torch.from_numpy(part.value.copy()))
    return module
