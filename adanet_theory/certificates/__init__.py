"""Certificates: bounds that say something of a trained network, and the tails and priors they are made of."""
