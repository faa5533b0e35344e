"""Check a CNN: train it as usual, keep 400 points aside, and print its test error and the bound that you may quote."""

import torch
from sklearn.datasets import load_digits
from torch import nn

from verify import verify_bounds

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.from_numpy(X / 16).float().reshape(-1, 1, 8, 8)
y = torch.from_numpy(y)
order = torch.randperm(len(y))
train, test = order[400:], order[:400]

network = nn.Sequential(
    nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)
)
optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
for _ in range(30):
    for rows in train[torch.randperm(len(train))].split(64):
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(X[rows]), y[rows]).backward()
        optimiser.step()
network.eval()

report = verify_bounds(network, X[train], y[train], test=(X[test], y[test]), draws=None)
errors = float((network(X[test]).argmax(1) != y[test]).double().mean())
print(f"test error {errors:.4f}; the risk is at most {report.cite.value:.4f} with probability 0.95 ({report.cite.id})")
