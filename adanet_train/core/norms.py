"""p-norms and dual vectors of the rows of a matrix, on tensors: the twin of `adanet_theory.norms`."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def row_norms(U: Tensor, p: float) -> Tensor:
    """||u||_p of each row, scaled by the largest entry so that no power over- or underflows.

    >>> row_norms(torch.tensor([[3.0, -4.0], [0.0, 0.0]]), 2).tolist()
    [5.0, 0.0]
    """
    if U.shape[1] == 0:
        return U.new_zeros(len(U))
    largest = U.abs().amax(1)
    if p == math.inf:
        return largest
    scale = torch.where(largest > 0, largest, 1)
    return scale * torch.linalg.vector_norm(U / scale[:, None], p, dim=1)


def dual_vectors(G: Tensor, p: float) -> Tensor:
    """The u with ||u||_p <= 1 that maximises u . g, row by row: u_i = sgn(g_i) |g_i|^(q-1) / ||g||_q^(q-1).

    All weight on the first largest entry at p = 1, all signs at p = inf; g = 0 gives 0.

    >>> G = torch.tensor([[3.0, -4.0]])
    >>> [dual_vectors(G, p).tolist() for p in (1, 2, math.inf)]
    [[[0.0, -1.0]], [[0.6000000238418579, -0.800000011920929]], [[1.0, -1.0]]]
    """
    if p == math.inf or G.shape[1] == 0:
        return G.sign()
    if p == 1:
        first = G.abs().argmax(1, keepdim=True)
        return torch.zeros_like(G).scatter_(1, first, G.gather(1, first).sign())
    largest = G.abs().amax(1, keepdim=True)
    power = (G.abs() / torch.where(largest > 0, largest, 1)) ** (1 / (p - 1))  # q - 1 = 1/(p - 1)
    return torch.copysign(power / row_norms(power, p).clamp_min(1)[:, None], G)  # the largest power is 1, or g = 0
