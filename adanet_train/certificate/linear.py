"""The linear network of least certificate: two kinds of starts, then rounds of single voters.

Few voters: places on the l1 path of the logistic loss. Weight on all voters: descent on the certificate itself, better
on data with few errors; on data with many the KL drives θ down to the constant before the sample has spoken.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from adanet_train.certificate.search import (
    NEW_SHARE,
    Found,
    Reader,
    Rows,
    Sample,
    best_beta,
    descend,
    l1_path,
    refined,
    refit,
    settled,
    steepest,
    widened,
)

SHARES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03)
"""Γ on the path, as shares of the Γ from which on w = 0."""
GAP = 1e-4
"""The path is for starts: that close to the minimum will do."""
COUNTS = (500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 40_000.0)
DEVIATIONS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""N and t among which a start on the path has the best."""
BETA = 0.003
DENSE, DENSE_STEPS = ((0.003, 5_000.0), (0.003, 20_000.0)), 350
"""(β, N) of the starts with weight on all voters."""
LEAN = 3.0
"""How far θ leans there at first to the voters that agree with the labels."""
ROUNDS, NEIGHBOURS = 40, 8
"""Rounds of voters; so many are tried to add, and to drop."""
REFINED, WORTH = 2, 1.25
"""The starts of each kind that are refined, if F is below so many times the least: the first is not always the best
in the end, one that is far behind never is."""


def minimise(sample: Sample) -> Found:
    """f = Σ v_j Ψ_j; nothing is drawn at random."""
    starts = [*_first(on_path(sample)), *_first(dense(sample))]
    least = min(found.value for found in starts)
    worth = [refined(sample, one, ROUNDS, neighbours) for one in starts if one.value < WORTH * least]
    best = min(worth, key=_value)
    return min(best, *sharpened(sample, best), key=_value)


def sharpened(sample: Sample, found: Found) -> tuple[Found, Found]:
    """What was found at few counts where more are allowed, and after rounds of voters there."""
    every = sample.with_all_counts()
    begun = refit(every, found, found.theta[None])
    return begun, refined(every, begun, ROUNDS, neighbours)


def neighbours(sample: Sample, found: Found) -> tuple[Found, Tensor]:
    """θ with one or more of the voters along which the empirical part falls most, or without one of the lightest."""
    atoms = steepest(sample, found, NEIGHBOURS)
    new, old = len(atoms[0]), len(found.theta)
    added = [*([j] for j in range(new)), range(new // 2), range(new)]
    lightest = found.theta.argsort()[: min(NEIGHBOURS, old - 1)].tolist()
    return widened(found, atoms, [(places, NEW_SHARE) for places in added], [[j] for j in lightest])


def _value(found: Found) -> float:
    return found.value


def _first(starts: list[Found]) -> list[Found]:
    return sorted(starts, key=_value)[:REFINED]


def on_path(sample: Sample) -> list[Found]:
    starts = [start(sample, w) for w in weights(sample)]
    return [refit(sample, found, found.theta[None]) for found in starts]


def dense(sample: Sample) -> list[Found]:
    Psi = sample.Psi
    every = torch.arange(Psi.shape[1], device=Psi.device)
    sign = torch.cat([torch.ones_like(Psi[0]), -torch.ones_like(Psi[0])])
    lean = LEAN * (sample.y @ Psi) / len(Psi)
    theta = torch.softmax(sign * torch.cat([lean, lean]), 0)
    betas, N = zip(*DENSE, strict=True)
    found = Found(torch.zeros_like(every).repeat(2), every.repeat(2), sign, theta, 1, N[0], 1.0, betas[0])
    log_N = Psi.new_tensor(N)[:, None].log()
    rows = Rows(theta.log().repeat(len(DENSE), 1), log_N, torch.ones_like(log_N), log_N[:, 0], betas)
    rows = descend(sample, found, rows, DENSE_STEPS)
    starts = [settled(sample, found, rows, row) for row in range(len(DENSE))]
    return [refit(sample, one, one.theta[None]) for one in starts]


def weights(sample: Sample) -> list[Tensor]:
    """The voter that agrees most with the labels alone, and those of the l1 path."""
    Psi, y = sample.Psi.double(), sample.y.double()
    agreement = y @ Psi / len(y)
    alone = torch.zeros_like(agreement)
    largest = agreement.abs().argmax()
    alone[largest] = torch.where(agreement[largest] < 0, -1.0, 1.0)
    return [alone, *l1_path(Psi, y, SHARES, GAP)]


def start(sample: Sample, w: Tensor) -> Found:
    """θ = |w|/||w||_1 at the best of a few N and t."""
    column = w.nonzero()[:, 0]
    theta = (w[column].abs() / w.abs().sum()).to(sample.Psi.dtype)
    sign = w[column].sign().to(theta.dtype)
    found = Found(torch.zeros_like(column), column, sign, theta, 1, COUNTS[-1], 1.0, BETA)
    log_N, t = (
        part.reshape(-1, 1)
        for part in torch.meshgrid(theta.new_tensor(COUNTS).log(), theta.new_tensor(DEVIATIONS), indexing="ij")
    )
    rows = len(t)
    means, mass = Reader(sample.Psi, found)(theta[None])
    form = sample.at((BETA,) * rows)
    values = form(means.expand(rows, -1, -1), mass.expand(rows, -1), theta.log().expand(rows, -1), log_N, t)
    best = int(values.argmin())
    found = replace(found, N=float(log_N[best].exp()), t=float(t[best]), value=float(values[best]))
    return replace(found, beta=best_beta(sample, found))
