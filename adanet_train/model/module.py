"""A model as a torch module: X -> f(Ψ(X)), the weights as parameters; it exports with any number of rows."""

# No postponed annotations here: TorchScript reads them as they stand.

import torch
from torch import Tensor, nn

from adanet_train.core.activations import on_tensors
from adanet_train.core.network import Network
from adanet_train.model.model_file import ModelFile


class Layer(nn.Module):
    """(w_k · h_k, φ(h_k)) of h_k = Σ_s U_{k,s} φ(h_s), where Ψ stands for φ(h_0)."""

    def __init__(self, network: Network, k: int) -> None:
        super().__init__()
        self.sources = [s for s in range(k) if (k, s) in network.hidden]
        self.U = nn.ParameterList([nn.Parameter(network.hidden[k, s].detach().clone()) for s in self.sources])
        w = network.output.get(k, torch.zeros(*([network.outputs] if network.outputs else []), network.n[k]).double())
        self.w = nn.Parameter(w.detach().clone())
        self.phi = on_tensors(network.activations[k - 1] if k < network.depth else "identity").value

    def forward(self, phi: list[Tensor]) -> tuple[Tensor, Tensor]:
        h = torch.zeros_like(phi[0][:, :1])
        for i, U in enumerate(self.U):
            h = h + phi[self.sources[i]] @ U.t()
        return h @ (self.w.t() if self.w.dim() == 2 else self.w), self.phi(h)


class NetworkModule(nn.Module):
    """forward(X) gives f on the rows of X, after scaling, clipping and the constant feature of the model.

    For many classes f has a column for each. `layers[k-1].U[i]` are the weights of layer k on its i-th source, and
    `layers[k-1].w` is w_k.
    """

    low: Tensor
    width: Tensor

    def __init__(self, model: ModelFile) -> None:
        super().__init__()
        network, features = model.network, model.features
        self.layers = nn.ModuleList([Layer(network, k) for k in range(1, network.depth + 1)])
        self.clip, self.bias = (False, False) if features is None else (features.clip, features.bias)
        self.floor = 0.0 if features is None else float(getattr(features, "floor", 0.0))
        low = torch.zeros(network.n[0]) if features is None else torch.from_numpy(features.low)
        width = torch.ones(network.n[0]) if features is None else torch.from_numpy(features.high - features.low)
        self.register_buffer("low", low.double().clone())
        self.register_buffer("width", torch.where(width > 0, width, 1.0).double())

    def forward(self, X: Tensor) -> Tensor:
        Psi = (X.to(self.low.dtype) - self.low) / self.width
        if self.clip:
            Psi = Psi.clamp(self.floor, 1.0)
        if self.bias:
            Psi = torch.cat([Psi, torch.ones_like(Psi[:, :1])], dim=1)
        phi = [Psi]
        f = torch.zeros_like(Psi[:, 0])
        for number, layer in enumerate(self.layers):
            read, above = layer(phi)
            f = read if number == 0 else f + read
            phi.append(above)
        return f
