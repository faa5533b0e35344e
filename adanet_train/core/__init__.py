"""What every trainer shares: networks, points, labels, losses, norms, the objective."""
