"""Compare checkpoints: one network during its training, with its test error and the bound that you may quote."""

import torch
from sklearn.datasets import load_digits
from torch import nn

from verify import verify_bounds

torch.manual_seed(0)
X, y = load_digits(n_class=2, return_X_y=True)
X, y = torch.from_numpy(X / 16).float(), torch.from_numpy(y)
order = torch.randperm(len(y))
train, test = order[:200], order[200:]

network = nn.Sequential(nn.Linear(64, 20), nn.ReLU(), nn.Linear(20, 1))
optimiser = torch.optim.SGD(network.parameters(), lr=0.5)
EPOCHS = (1, 5, 25)
for epoch in range(1, max(EPOCHS) + 1):
    optimiser.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(network(X[train])[:, 0], y[train].float()).backward()
    optimiser.step()
    if epoch in EPOCHS:
        # Three checkpoints are compared on the same test points: compared=3 pays for quoting the best of them.
        report = verify_bounds(network, X[train], y[train], test=(X[test], y[test]), compared=len(EPOCHS), draws=None)
        error = float(((network(X[test])[:, 0] > 0) != y[test]).double().mean())
        print(f"epoch {epoch:2d}: test error {error:.4f}, risk at most {report.cite.value:.4f} ({report.cite.id})")
