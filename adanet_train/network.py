"""A network of Section 2 of the paper as plain tensors: f = Σ_k w_k · h_k, with h_k before its activation.

h_1 = U_{1,0} Ψ,    h_k = Σ_{1 <= s < k} U_{k,s} φ_s(h_s),    f = Σ_k w_k · h_k
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

Pair = tuple[int, int]


def apply_activation(name: str, h: Tensor) -> Tensor:
    """φ(h) for an activation name of adanet_theory.spec."""
    kind, _, parameter = name.partition(":")
    match kind:
        case "relu":
            return h.clamp_min(0)
        case "leaky_relu":
            return functional.leaky_relu(h, float(parameter))
        case "abs":
            return h.abs()
        case "identity":
            return h
        case _:
            return {
                "tanh": torch.tanh,
                "sigmoid": torch.sigmoid,
                "softplus": functional.softplus,
                "elu": functional.elu,
                "gelu": functional.gelu,
            }[kind](h)


@dataclass(frozen=True)
class Network:
    """hidden[k, s] holds one row per unit of layer k; output[k] is w_k; activations are φ_1, .., φ_{l-1}.

    A missing pair is no connection, a missing output[k] is zeros.
    """

    n: tuple[int, ...]
    hidden: Mapping[Pair, Tensor]
    output: Mapping[int, Tensor]
    activations: tuple[str, ...]

    @property
    def depth(self) -> int:
        return len(self.n) - 1

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
        """f on the rows of Psi."""
        f = Psi.new_zeros(len(Psi))
        for k, h in enumerate(self.layers(Psi), start=1):
            if k in self.output:
                f = f + h @ self.output[k]
        return f

    def to(self, device: torch.device | str) -> Network:
        return Network(
            self.n,
            {pair: U.to(device) for pair, U in self.hidden.items()},
            {k: w.to(device) for k, w in self.output.items()},
            self.activations,
        )
