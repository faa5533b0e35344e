"""AdaNet's network in the making: its units with their outputs on the sample, extended part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_train.activations import apply_activation
from adanet_train.config import Trained
from adanet_train.network import Block, Network
from adanet_train.objective import chosen, penalties


@dataclass(frozen=True)
class Part:
    """A subnetwork: its units by layer, and for each layer that the output reads h_k on the sample, w and Γ."""

    block: Block
    H: Mapping[int, Tensor]
    w: Mapping[int, Tensor]
    Gamma: Mapping[int, Tensor]

    def of_output(self, f: Tensor) -> Tensor:
        """f + w · h."""
        for k in sorted(self.w):
            f = f + self.H[k] @ self.w[k]
        return f

    @property
    def penalty(self) -> float:
        """Σ_j Γ_j |w_j|."""
        return sum(float(self.Gamma[k] @ self.w[k].abs()) for k in sorted(self.w))


class Growth:
    """f_{t-1} with its parts and the outputs of all their units; phi[k] holds φ(h_k) on the sample, phi[0] = Ψ.

    f is always the sum over the parts in their order, so that a run taken up again has the same bits.
    """

    def __init__(self, Psi: Tensor, activation: str) -> None:
        self.activation = activation
        self.network = Network.empty(Psi.shape[1], device=Psi.device)
        self.phi = [Psi]
        self.f = Psi.new_zeros(len(Psi))
        self.parts: list[Part] = []

    @property
    def depth(self) -> int:
        """l_{t-1}; 1 before the first round, which compares a linear model with one hidden layer."""
        return self.network.depth

    @property
    def penalty(self) -> float:
        """Σ_j Γ_j |w_j| over all parts."""
        return sum(part.penalty for part in self.parts)

    def existing(self, k: int) -> Tensor:
        """φ(h_{k-1}) of the units that a new unit of layer k can read."""
        return self.phi[k - 1] if k <= len(self.phi) else self.f.new_zeros(len(self.f), 0)

    def unread(self, k: int, *, last_only: bool) -> int:
        """How many of the first of them it does not read: none, or (AdaNet.P) all but those of the last part."""
        if k == 1 or not last_only:
            return 0
        latest = self.parts[-1].block if self.parts else {}
        return self.existing(k).shape[1] - (len(latest[k - 1]) if k - 1 in latest else 0)

    def outputs(self, block: Block) -> dict[int, Tensor]:
        """h_k on the sample, for the new units of each layer of the block."""
        H: dict[int, Tensor] = {}
        for k in sorted(block):
            old = self.existing(k)
            H[k] = old @ block[k][:, : old.shape[1]].T
            if k > 1 and k - 1 in H:
                H[k] += apply_activation(self.activation, H[k - 1]) @ block[k][:, old.shape[1] :].T
        return H

    def extend(self, part: Part, H: Mapping[int, Tensor]) -> None:
        """f_t = f_{t-1} + w · h_t; H holds the outputs of all the units of the part."""
        for k in sorted(part.block):
            wider = torch.cat([self.existing(k + 1), apply_activation(self.activation, H[k])], 1)
            self.phi[k : k + 1] = [wider]
        self.network = self.network.extended(part.block, part.w, self.activation)
        self.f = part.of_output(self.f)
        self.parts.append(part)

    def reweight(self, w: Tensor) -> None:
        """New weights for all units that the output reads, in the order of `columns`."""
        pieces = iter(w.split([len(part.w[k]) for part in self.parts for k in sorted(part.w)]))
        self.parts = [replace(part, w={k: next(pieces) for k in sorted(part.w)}) for part in self.parts]
        output = {k: torch.zeros_like(w_k) for k, w_k in self.network.output.items()}
        first = dict.fromkeys(output, 0)
        self.f = torch.zeros_like(self.f)
        for part in self.parts:
            self.f = part.of_output(self.f)
            for k, U in part.block.items():
                if k in part.w:
                    output[k][first[k] : first[k] + len(U)] = part.w[k]
                first[k] += len(U)
        self.network = replace(self.network, output=output)

    def columns(self) -> tuple[Tensor, Tensor, Tensor]:
        """(H, Γ, w) of every unit that the output reads, part by part."""
        places = [(part, k) for part in self.parts for k in sorted(part.w)]
        H = torch.cat([part.H[k] for part, k in places], 1)
        return H, torch.cat([part.Gamma[k] for part, k in places]), torch.cat([part.w[k] for part, k in places])


def regrown(trained: Trained, Psi: Tensor) -> Growth:
    """The growth that led to a network, part by part as its history tells: the same bits as the run that made it."""
    growth = Growth(Psi, trained.config.activation)
    network, Gamma = trained.network.to(Psi.device), penalties(trained)
    first = dict.fromkeys(range(network.depth + 1), 0)
    for candidate in chosen(trained.history):
        units = {k: count for k, count in enumerate(candidate["units"], start=1) if count}
        block, output = network.block(first, units)
        H = growth.outputs(block)
        w = {int(k): output[int(k)] for k in candidate["Gamma"]}
        price = {k: Gamma[k][first[k] : first[k] + units[k]].to(Psi.device) for k in w}
        growth.extend(Part(block, {k: H[k] for k in w}, w, price), H)
        for k, count in units.items():
            first[k] += count
    return growth
