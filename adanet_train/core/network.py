"""A network of Section 2 of the paper as plain tensors: f = Σ_k w_k · h_k, with h_k before its activation.

h_1 = U_{1,0} Ψ,    h_k = Σ_{1 <= s < k} U_{k,s} φ_s(h_s),    f = Σ_k w_k · h_k
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_train.core.activations import apply_activation

Pair = tuple[int, int]
Block = Mapping[int, Tensor]
"""New units by layer: block[k] has one row per new unit of layer k; its columns are all the units of layer k-1,
first the old ones, then those of the same block (of Ψ for k = 1)."""


def layer(x: Tensor, U: Tensor, a: Tensor | None = None) -> Tensor:
    """h = U (x, a): one layer of a subnetwork on the existing units x and on its own units a of the layer below.

    One row per point; an extra first dimension, the same for all three, is for several members.
    """
    n = x.shape[-1]
    if a is None or U.shape[-1] == n:
        return x @ U.mT
    if not n:
        return a @ U.mT
    h = x @ U[..., :n].mT
    return (h.addmm_ if h.ndim == 2 else h.baddbmm_)(a, U[..., n:].mT)


def read(h: Tensor, w: Tensor) -> Tensor:
    """w · h of every point: one number, or a row of C where w has a row for each of C classes."""
    return h @ (w if w.ndim == 1 else w.mT)


def margins(f: Tensor, y: Tensor) -> Tensor:
    """y f for signs y, f_y - max_{c != y} f_c for class indices."""
    if y.is_floating_point():
        return y * f
    own = torch.nn.functional.one_hot(y, f.shape[1]).bool()
    return f[own] - f.masked_fill(own, -torch.inf).amax(1)


def subnetwork(activation: str, inputs: Sequence[Tensor], U: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """(h_1, .., h_d; a_1, .., a_d), a_k = φ(h_k): layer k reads the existing inputs[k-1] and the subnetwork's a_{k-1}.

    Every search and every step of growth goes through here.
    """
    h: list[Tensor] = []
    a: list[Tensor] = []
    for x, U_k in zip(inputs, U, strict=True):
        h.append(layer(x, U_k, a[-1] if a else None))
        a.append(apply_activation(activation, h[-1]))
    return h, a


def block_outputs(activation: str, inputs: Sequence[Tensor], U: Sequence[Tensor]) -> list[Tensor]:
    """h_1, .., h_d of a subnetwork, of which nothing reads φ(h_d) yet."""
    h, a = subnetwork(activation, inputs[:-1], U[:-1])
    return [*h, layer(inputs[-1], U[-1], a[-1] if a else None)]


@dataclass(frozen=True)
class Network:
    """hidden[k, s] holds one row per unit of layer k; output[k] is w_k; activations are φ_1, .., φ_{l-1}.

    A missing pair means no connection, a missing output[k] zeros. `outputs` is None for one output f, or the number C
    of classes: then output[k] has a row w_{k,y} for each of them, and the classes share the units.
    """

    n: tuple[int, ...]
    hidden: Mapping[Pair, Tensor]
    output: Mapping[int, Tensor]
    activations: tuple[str, ...]
    outputs: int | None = None

    @classmethod
    def empty(cls, n_0: int, *, outputs: int | None = None, device: torch.device | str = "cpu") -> Network:
        """f = 0: no unit yet.

        >>> Network.empty(3)(torch.ones(2, 3, dtype=torch.float64))
        tensor([0., 0.], dtype=torch.float64)
        """
        nothing = torch.zeros(0, n_0, dtype=torch.float64, device=device)
        w = nothing.new_zeros(0) if outputs is None else nothing.new_zeros(outputs, 0)
        return cls((n_0, 0), {(1, 0): nothing}, {1: w}, (), outputs)

    @property
    def depth(self) -> int:
        return len(self.n) - 1

    def no_weights(self, units: int) -> Tensor:
        """w = 0 on so many units, for every output."""
        like = self.hidden[1, 0] if (1, 0) in self.hidden else torch.zeros(0, dtype=torch.float64)
        return like.new_zeros(units) if self.outputs is None else like.new_zeros(self.outputs, units)

    def layers(self, Psi: Tensor) -> list[Tensor]:
        """h_1, .., h_l on the rows of Psi, each of shape (rows, n_k), before activation."""
        h: list[Tensor] = []
        phi: list[Tensor] = []
        for k in range(1, self.depth + 1):
            below = Psi.new_zeros(len(Psi), self.n[k])
            if k == 1 and (1, 0) in self.hidden:
                below = Psi @ self.hidden[1, 0].T
            for s in range(1, k):
                if (k, s) in self.hidden:
                    below = below + phi[s - 1] @ self.hidden[k, s].T
            h.append(below)
            if k < self.depth:
                phi.append(apply_activation(self.activations[k - 1], below))
        return h

    def __call__(self, Psi: Tensor) -> Tensor:
        """f on the rows of Psi, of shape (m,), or (m, C) for C classes."""
        f = Psi.new_zeros(len(Psi)) if self.outputs is None else Psi.new_zeros(len(Psi), self.outputs)
        for k, h in enumerate(self.layers(Psi), start=1):
            if k in self.output:
                f = f + read(h, self.output[k])
        return f

    def inputs(self, Psi: Tensor, depth: int, activation: str) -> list[Tensor]:
        """What new units of layers 1, .., depth can read of these rows: Ψ, then φ(h_{k-1}) of the units there are."""
        below = Network(
            self.n[:depth],
            {pair: U for pair, U in self.hidden.items() if pair[0] < depth},
            {},
            self.activations[: max(depth - 2, 0)],
        )
        phi = [apply_activation(activation, h) for h in below.layers(Psi)] if depth > 1 else []
        return [Psi, *phi, *[Psi.new_zeros(len(Psi), 0)] * (depth - 1 - len(phi))]

    def extended(self, block: Block, output: Mapping[int, Tensor], activation: str) -> Network:
        """The network with the units of the block added; output[k] is w on its units of layer k, zeros if missing.

        The units that were there read none of the new ones, so f changes by w · h of the new units only.
        """
        depth = max(self.depth, *block)
        old = [*self.n, *[0] * (depth - self.depth)]
        n = tuple(old[k] + (len(block[k]) if k in block else 0) for k in range(depth + 1))
        hidden: dict[Pair, Tensor] = {}
        w: dict[int, Tensor] = {}
        for k in range(1, depth + 1):
            like = block[min(block)]
            U = like.new_zeros(n[k], n[k - 1])
            if (k, k - 1) in self.hidden:
                U[: old[k], : old[k - 1]] = self.hidden[k, k - 1]
            if k in block:
                U[old[k] :] = block[k]
            hidden[k, k - 1] = U
            above = output.get(k, self.no_weights(n[k] - old[k]))
            w[k] = torch.cat([self.output.get(k, self.no_weights(old[k])), above], dim=-1)
        return Network(n, hidden, w, (activation,) * (depth - 1), self.outputs)

    def block(self, old: Mapping[int, int], new: Mapping[int, int]) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """(block, output) of the new[k] units that follow the first old[k] ones: the inverse of `extended`.

        The columns go up to the units of the block itself in the layer below; it cannot read later units.
        """
        block: dict[int, Tensor] = {}
        output: dict[int, Tensor] = {}
        for k, count in new.items():
            rows = slice(old.get(k, 0), old.get(k, 0) + count)
            columns = self.n[0] if k == 1 else old.get(k - 1, 0) + new.get(k - 1, 0)
            block[k] = self.hidden[k, k - 1][rows, :columns].contiguous()
            output[k] = self.output[k][..., rows].contiguous()
        return block, output

    def to(self, device: torch.device | str) -> Network:
        return Network(
            self.n,
            {pair: U.to(device) for pair, U in self.hidden.items()},
            {k: w.to(device) for k, w in self.output.items()},
            self.activations,
            self.outputs,
        )
