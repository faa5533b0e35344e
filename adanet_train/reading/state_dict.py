"""The state_dict of a plain torch MLP as a Network: the Linear layers in the order in which they are registered.

Layer k of l computes W_k φ(h_{k-1}) + b_k. The last Linear is layer l: one logit is f, read by w_l = (1); of two logits
f is the second minus the first, read by w_l = (-1, 1), so that no difference of weights is rounded; more logits are the
outputs of as many classes, each read by a w_{l,y} of its own, a row of the identity. The file does not say φ: the user
must. A bias is a weight on a unit that is constantly 1: below layer 1 a constant feature appended last to x, above it a
constant unit, last in its layer, that reads the constant one below and needs φ(1) = 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from adanet_theory.activations import activation as activation_of
from adanet_theory.checks import check
from adanet_train.core.network import Network
from adanet_train.data import archive, safetensors
from adanet_train.data.archive import ModelFileError

Linear = tuple[str, Tensor, Tensor | None]
Chain = tuple[tuple[Tensor, Tensor | None], ...]
MAX_LOGITS = 10_000

_FROM_PYTHON = (
    "a file of weights does not say how they are connected: name your code by --module PACKAGE:FACTORY --weights FILE "
    "(in Python verify_bounds(module, X, y)), or give a .pt2 of torch.export"
)


def read_state_dict(source: str | Path | Mapping[str, Any], activation: str | None = None) -> Network:
    """The Network of a state_dict, given as a file or as a dict; n_0 counts the constant feature if there is a bias.

    Without an activation only a single Linear is read: taken for ReLU, a tanh network would be another network.

    >>> network = read_state_dict({"weight": torch.tensor([[2.0, 3.0]]), "bias": torch.tensor([5.0])})
    >>> network.n, network.hidden[1, 0].tolist()
    ((3, 1), [[2.0, 3.0, 5.0]])
    """
    where = "state_dict" if isinstance(source, Mapping) else str(source)
    try:
        state = weights(source if isinstance(source, Mapping) else load_weights(archive.read_bytes(source), where))
        linears = _linears(state)
        return chained([(W, b) for _, W, b in linears], _activation(activation, len(linears)))
    except ValueError as error:
        raise ModelFileError(f"{where}: {error}") from None


def chain_of(state: Mapping[str, Any]) -> Chain:
    """The W_k and b_k of a state_dict or checkpoint in their own type of numbers.

    >>> chain_of({"weight": torch.ones(1, 2, dtype=torch.float32)})
    ((tensor([[1., 1.]]), None),)
    """
    return tuple((W, b) for _, W, b in _linears(weights(state)))


def load_weights(data: bytes, where: str) -> Any:
    """What torch.save wrote, or a .safetensors file."""
    if safetensors.is_safetensors(data):
        return safetensors.load(data, where)
    return archive.load(data, where, checkpoint=True)


def weights(loaded: Any) -> Mapping[str, Any]:
    """The state_dict itself, or the one that a checkpoint holds under one of CHECKPOINT beside other things.

    >>> list(weights({"epoch": 3, "model": {"module.0.weight": torch.ones(1, 2)}}))
    ['0.weight']
    """
    check(isinstance(loaded, Mapping) and len(loaded) > 0, "not a dict of tensors, expected a state_dict.")
    if all(isinstance(value, Tensor) for value in loaded.values()):
        return {_plain_name(key): value for key, value in loaded.items()}
    inside = [key for key in CHECKPOINT if isinstance(loaded.get(key), Mapping)]
    keys = ", ".join(repr(key) for key in list(loaded)[:4])
    expected = f"expected a state_dict, or one under {' or '.join(map(repr, CHECKPOINT))}"
    check(len(inside) == 1, f"a dict of {keys}.. with {len(inside)} state_dicts, {expected}.")
    inner = loaded[inside[0]]
    check(
        all(isinstance(value, Tensor) for value in inner.values()),
        f"{inside[0]!r} holds more than tensors, {expected}.",
    )
    return weights(inner)


CHECKPOINT = ("state_dict", "model_state_dict", "model", "net")
_WRAPPERS = ("module.", "_orig_mod.")


def _plain_name(name: str) -> str:
    """Without what DataParallel and torch.compile put before it."""
    while (wrapper := next((w for w in _WRAPPERS if name.startswith(w)), None)) is not None:
        name = name.removeprefix(wrapper)
    return name


def _activation(name: str | None, depth: int) -> str:
    check(
        name is not None or depth == 1,
        "a state_dict does not name its activation, expected --activation relu, or the one that the network was "
        "trained with (activation='relu' in Python).",
    )
    return activation_of(name or "identity").name


def _linears(state: Any) -> list[Linear]:
    """(name, W_k, b_k) in order, as they are, shapes and values checked; anything but a stack of Linears is refused."""
    check(isinstance(state, Mapping) and len(state) > 0, "not a dict of tensors, expected a state_dict.")
    parts: dict[str, dict[str, Tensor]] = {}
    for key, value in state.items():
        prefix, _, kind = key.rpartition(".")
        check(isinstance(value, Tensor), f"{key!r} is not a tensor, expected the state_dict of a stack of Linears.")
        known = kind in ("weight", "bias") and value.ndim == (2 if kind == "weight" else 1)
        check(known, f"{key!r} of shape {list(value.shape)} is not a weight or bias of a Linear; {_FROM_PYTHON}.")
        check(value.is_floating_point(), f"{key!r} must be real floating, got {value.dtype}.")
        tensor = value.detach().cpu()
        check(bool(torch.isfinite(tensor).all()), f"{key!r} must be finite, got nan or inf.")
        parts.setdefault(prefix, {})[kind] = tensor
    for name, part in parts.items():
        check("weight" in part, f"'{name}.bias' has no weight beside it, expected a Linear.")
        bias = part.get("bias")
        fits = bias is None or len(bias) == len(part["weight"])
        check(fits, f"'{name}.bias' does not fit the {len(part['weight'])} rows of its weight.")
    linears = [(name, part["weight"], part.get("bias")) for name, part in parts.items()]
    for (below, W, _), (above, V, _) in pairwise(linears):
        fits = V.shape[1] == W.shape[0]
        check(fits, f"'{above}' reads {V.shape[1]} units, but '{below}' before it has {W.shape[0]}.")
    check(min(min(W.shape) for _, W, _ in linears) >= 1, "a Linear without units.")
    name, W, _ = linears[-1]
    check(len(W) <= MAX_LOGITS, f"the last Linear '{name}' has {len(W)} outputs, expected at most {MAX_LOGITS}.")
    return linears


def chained(linears: Sequence[tuple[Tensor, Tensor | None]], phi: str) -> Network:
    """The layers of (W_k, b_k) in order with φ between them; a ValueError where they cannot carry the biases."""
    depth = len(linears)
    highest_bias = max((k for k, (_, b) in enumerate(linears, start=1) if b is not None), default=0)
    check(
        highest_bias <= 1 or float(activation_of(phi)(1.0)) == 1,
        f"weights alone cannot be read here: the bias of layer {highest_bias} needs a constant unit and so phi(1) = 1, "
        f"which {phi} does not have. Name the code of the network instead, which may have any architecture: "
        "--module PACKAGE:FACTORY --weights net.pt, or in Python verify_bounds(network, X, y).",
    )
    hidden = {}
    for k, (own, b) in enumerate(linears, start=1):
        W = own.double()
        if k <= highest_bias:
            W = torch.hstack([W, (torch.zeros(len(W), dtype=W.dtype) if b is None else b.double())[:, None]])
        if k < highest_bias:
            constant = W.new_zeros(1, W.shape[1])
            constant[0, -1] = 1
            W = torch.vstack([W, constant])
        hidden[k, k - 1] = W.contiguous()
    n = (hidden[1, 0].shape[1], *(len(hidden[k, k - 1]) for k in range(1, depth + 1)))
    phis = (phi,) * (depth - 1)
    if n[-1] > 2:
        return Network(n, hidden, {depth: torch.eye(n[-1], dtype=torch.float64)}, phis, outputs=n[-1])
    w = torch.tensor([1.0] if n[-1] == 1 else [-1.0, 1.0], dtype=torch.float64)
    return Network(n, hidden, {depth: w}, phis)
