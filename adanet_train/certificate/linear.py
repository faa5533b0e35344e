"""The linear network of least certificate: several starts on all signed voters, then rounds of single ones."""

from __future__ import annotations

import torch

from adanet_train.certificate.search import (
    DENSE_RATE,
    DENSE_STEPS,
    Found,
    Rows,
    Sample,
    descend,
    refine,
    refit,
    settled,
)

STARTS = ((0.001, 20_000.0), (0.003, 20_000.0), (0.003, 5_000.0), (0.01, 20_000.0))
"""(β, N) of the starts."""
LEAN = 3.0
"""How far θ leans at first to the voters that agree with the labels."""


def minimise(sample: Sample) -> Found:
    """f = Σ v_j Ψ_j; nothing is drawn at random."""
    return refine(sample, min(dense_starts(sample), key=lambda found: found.value))


def dense_starts(sample: Sample) -> list[Found]:
    Psi = sample.Psi
    n_0 = Psi.shape[1]
    every = torch.arange(n_0, device=Psi.device)
    sign = torch.cat([torch.ones_like(Psi[0]), -torch.ones_like(Psi[0])])
    lean = LEAN * (sample.y @ Psi) / len(Psi)
    betas, N = zip(*STARTS, strict=True)
    theta = torch.softmax(sign * torch.cat([lean, lean]), 0)
    found = Found(torch.zeros_like(every).repeat(2), every.repeat(2), sign, theta, (), N[0], 1.0, betas[0])
    log_N = Psi.new_tensor(N)[:, None].log()
    rows = Rows(theta.log().repeat(len(STARTS), 1), log_N, torch.ones_like(log_N), log_N[:, 0], betas)
    rows = descend(sample, found, rows, DENSE_STEPS, DENSE_RATE)
    starts = [settled(sample, found, rows, row) for row in range(len(STARTS))]
    return [refit(sample, start, start.theta[None]) for start in starts]
