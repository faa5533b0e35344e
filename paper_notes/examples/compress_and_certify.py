"""Compress and certify: a network is trained as usual, rounded to few bits, and certified by the number of bits."""

import torch
from sklearn.datasets import make_classification
from torch import nn

from adanet_train import compress

torch.manual_seed(0)
X, y = make_classification(30_000, 20, n_informative=10, n_redundant=0, class_sep=1.5, flip_y=0.02, random_state=0)
X, y = torch.from_numpy(X).float(), torch.from_numpy(y)
train, test = slice(0, 20_000), slice(20_000, None)

network = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 1))
optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
for _ in range(20):
    for rows in torch.randperm(20_000).split(256):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(network(X[rows])[:, 0], y[rows].float()).backward()
        optimiser.step()

small = compress(network, X[train], y[train], budget=20)


def error(module: nn.Module) -> float:
    with torch.no_grad():
        return float(((module(X[test].to(next(module.parameters()).dtype))[:, 0] > 0) != y[test]).double().mean())


print(f"test error of your network {error(network):.4f}, of the rounded one {error(small.module):.4f}")
print(small)
