"""AdaNet's network in the making: its units and f on the sample, extended part by part.

The outputs of its units are not kept: they are computed again, chunk of rows by chunk, when a candidate reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_train.core.network import Block, Network, block_outputs, read
from adanet_train.core.points import Points
from adanet_train.core.training import Trained
from adanet_train.search.objective import penalties, placed, price


@dataclass(frozen=True)
class Part:
    """A subnetwork: its units by layer, and for each layer that the output reads w and Γ.

    Its members, one or more, hold equal shares of every layer, one after the other. H, the outputs of the layers that
    the output reads, is kept only for a fully corrective step.
    """

    block: Block
    w: Mapping[int, Tensor]
    Gamma: Mapping[int, Tensor]
    members: int = 1
    H: Mapping[int, Tensor] | None = None

    @property
    def penalty(self) -> float:
        """Σ_j Γ_j |w_j|."""
        return sum(price(self.Gamma[k], self.w[k]) for k in sorted(self.w))


class Growth:
    """f_{t-1} with its parts. f is always the sum over the parts in their order: a run taken up has the same bits.

    f has one entry a point, or a row of C where the network has C `outputs`.
    """

    def __init__(self, points: Points, activation: str, outputs: int | None = None) -> None:
        self.points, self.activation = points, activation
        self.network = Network.empty(points.n_0, outputs=outputs, device=points.device)
        shape = (points.here,) if outputs is None else (points.here, outputs)
        self.f = torch.zeros(shape, dtype=torch.float64, device=points.device)
        self.parts: list[Part] = []

    @property
    def depth(self) -> int:
        """l_{t-1}; 1 before the first round, which compares a linear model with one hidden layer."""
        return self.network.depth

    @property
    def penalty(self) -> float:
        """Σ_j Γ_j |w_j| over all parts."""
        return sum(part.penalty for part in self.parts)

    def inputs(self, Psi: Tensor, depth: int) -> list[Tensor]:
        """What units of layers 1, .., depth can read of these rows: Ψ, then φ(h_{k-1}) of the units that are there."""
        return self.network.inputs(Psi, depth, self.activation)

    def existing(self, depth: int) -> list[Tensor]:
        """The inputs of layers 1, .., depth on the whole sample, for weak learners that read all of it."""
        return self.inputs(self.points.whole(), depth)

    def unread(self, k: int, *, last_only: bool) -> int:
        """How many of the first units a layer k does not read: none, or (AdaNet.P) all but those of the last part."""
        if k == 1 or not last_only:
            return 0
        latest = self.parts[-1].block if self.parts else {}
        count = self.network.n[k - 1] if k <= len(self.network.n) else 0
        return count - (len(latest[k - 1]) if k - 1 in latest else 0)

    def outputs(self, block: Block, layers: list[int]) -> dict[int, Tensor]:
        """h_k on the sample, for the new units of these layers of the block."""
        depth = max(block)
        H = {k: self.f.new_empty(len(self.f), len(block[k])) for k in layers}
        for rows, Psi in self.points.chunks(max(self.network.n) + max(len(U) for U in block.values())):
            h = block_outputs(self.activation, self.inputs(Psi, depth), [block[k] for k in range(1, depth + 1)])
            for k in layers:
                H[k][rows] = h[k - 1]
        return H

    def extend(self, part: Part, H: Mapping[int, Tensor]) -> None:
        """f_t = f_{t-1} + w · h_t; H holds the outputs of the units that the output reads."""
        self.network = self.network.extended(part.block, part.w, self.activation)
        for k in sorted(part.w):
            self.f = self.f + read(H[k], part.w[k])
        self.parts.append(part)

    def reweight(self, w: Tensor) -> None:
        """New weights for all units that the output reads, in the order of `columns`."""
        pieces = iter(w.split([part.w[k].shape[-1] for part in self.parts for k in sorted(part.w)], dim=-1))
        self.parts = [replace(part, w={k: next(pieces) for k in sorted(part.w)}) for part in self.parts]
        output = {k: torch.zeros_like(w_k) for k, w_k in self.network.output.items()}
        first = dict.fromkeys(output, 0)
        self.f = torch.zeros_like(self.f)
        for part in self.parts:
            for k in sorted(part.w):
                self.f = self.f + read((part.H or {})[k], part.w[k])
            for k, U in part.block.items():
                if k in part.w:
                    output[k][..., first[k] : first[k] + len(U)] = part.w[k]
                first[k] += len(U)
        self.network = replace(self.network, output=output)

    def columns(self) -> tuple[Tensor, Tensor, Tensor]:
        """(H, Γ, w) of every unit that the output reads, part by part."""
        places = [(part, k) for part in self.parts for k in sorted(part.w)]
        H = torch.cat([(part.H or {})[k] for part, k in places], 1)
        return H, torch.cat([part.Gamma[k] for part, k in places]), torch.cat([part.w[k] for part, k in places], -1)


def regrown(trained: Trained, points: Points) -> Growth:
    """The growth that led to a network, part by part as its history tells: the same bits as the run that made it."""
    growth = Growth(points, trained.config.family.activation, trained.network.outputs)
    network, Gamma = trained.network.to(points.device), penalties(trained)
    for candidate, before, own in placed(trained.history):
        block, output = network.block(before, own)
        w = {int(k): output[int(k)] for k in candidate["Gamma"]}
        H = growth.outputs(block, sorted(w))
        price = {k: Gamma[k][before[k] : before[k] + own[k]].to(points.device) for k in w}
        kept = H if trained.config.search.corrective else None
        growth.extend(Part(block, w, price, candidate.get("members", 1), kept), H)
    return growth
