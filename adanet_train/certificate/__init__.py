"""Training for a certificate: the objective is a bound on the risk that can be below 1."""
