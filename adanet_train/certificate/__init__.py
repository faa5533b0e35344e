"""Training for a certificate: the bound on the risk is the objective, and it is one that says something."""
