"""Certificates: bounds below 1 for trained networks, and the tails and priors they are made of."""
