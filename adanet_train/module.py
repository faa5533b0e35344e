"""A model as a torch module: X -> f(Ψ(X)), the weights as parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from adanet_train.model.model_file import ModelFile
from adanet_train.network import Network


class NetworkModule(nn.Module):
    """forward(X) gives f on the rows of X, after scaling, clipping and the constant feature of the model.

    Of many classes f has a column for each.
    """

    low: Tensor
    width: Tensor

    def __init__(self, model: ModelFile) -> None:
        super().__init__()
        network, features = model.network, model.features
        self.n, self.activations, self.outputs = network.n, network.activations, network.outputs
        self.pairs, self.layers = sorted(network.hidden), sorted(network.output)
        for (k, s), U in network.hidden.items():
            self.register_parameter(f"U_{k}_{s}", nn.Parameter(U.detach().clone()))
        for k, w in network.output.items():
            self.register_parameter(f"w_{k}", nn.Parameter(w.detach().clone()))
        self.clip, self.bias = (False, False) if features is None else (features.clip, features.bias)
        low = torch.zeros(network.n[0]) if features is None else torch.from_numpy(features.low)
        width = torch.ones(network.n[0]) if features is None else torch.from_numpy(features.high - features.low)
        self.register_buffer("low", low.double().clone())
        self.register_buffer("width", torch.where(width > 0, width, 1.0).double())

    def forward(self, X: Tensor) -> Tensor:
        Psi = (X.to(self.low) - self.low) / self.width
        if self.clip:
            Psi = Psi.clamp(0, 1)
        if self.bias:
            Psi = torch.cat([Psi, Psi.new_ones(len(Psi), 1)], dim=1)
        return self.network()(Psi)

    def network(self) -> Network:
        """The Network of the parameters as they are now."""
        hidden = {(k, s): self.get_parameter(f"U_{k}_{s}") for k, s in self.pairs}
        output = {k: self.get_parameter(f"w_{k}") for k in self.layers}
        return Network(self.n, hidden, output, self.activations, self.outputs)
