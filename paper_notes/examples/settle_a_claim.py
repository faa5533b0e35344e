"""Settle a claim of your own: "Lemma 1 holds for the sigmoid". Both sides are computed exactly at eight points."""

from itertools import product

import numpy as np

from adanet_theory import NetworkSpec, lemma_1

m, Lambda_2 = 8, 1.0
spec = NetworkSpec((1, 1, 1), {(1, 0): 0.0, (2, 1): Lambda_2}, p=2, activations="sigmoid")

# Left side: with Λ_{1,0} = 0 the hidden unit is sigmoid(0) = 1/2 at every point, so H_2 = {u/2 : |u| <= Λ_{2,1}} and
# R_S(H_2) = E sup_u (1/m) Σ_i σ_i u/2, by enumeration of all 2^8 sign vectors.
signs = np.array(list(product([-1, 1], repeat=m)))
left = float((np.abs(signs.sum(axis=1)) * Lambda_2 / 2 / m).mean())

# Right side: Lemma 1 as printed, 2 Λ_{2,1} n_1^(1/q) R_S(H_1), and R_S(H_1) = 0.
right = lemma_1(spec, 2, [0.0], literally=True)

print(f"R_S(H_2) = {left:.5f}, Lemma 1 says at most {right:.5f}: {'false' if left > right else 'not refuted'}")
