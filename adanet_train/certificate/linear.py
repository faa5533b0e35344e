"""The linear network of least certificate: starts from the l1 path of the logistic loss, then rounds of single voters.

From weight on all voters the KL would drive θ to any few of them before the sample has spoken, and on data with many
errors down to the constant; the l1 path is convex and has few voters at every place.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from adanet_train.certificate.search import Found, Reader, Sample, best_beta, refine, refit
from adanet_train.convex import mixture
from adanet_train.surrogates import surrogate

SHARES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03)
"""Γ on the path, as shares of the Γ from which on w = 0."""
GAP = 1e-4
"""The path is for starts: that close to the minimum will do."""
REFINED = 2
"""The starts that are refined: the first is not always the best in the end."""
COUNTS = (500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 40_000.0)
DEVIATIONS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""N and t among which a start has the best."""
BETA = 0.003


def minimise(sample: Sample) -> Found:
    """f = Σ v_j Ψ_j; nothing is drawn at random."""
    begun = [start(sample, w) for w in weights(sample)]
    fitted = sorted((refit(sample, found, found.theta[None]) for found in begun), key=lambda found: found.value)
    return min((refine(sample, found) for found in fitted[:REFINED]), key=lambda found: found.value)


def weights(sample: Sample) -> list[Tensor]:
    """The voter that agrees most with the labels alone, and what min (1/m) Σ Φ(1 - y w·Ψ) + Γ ||w||_1 finds."""
    Psi, y = sample.Psi.double(), sample.y.double()
    zero, Phi = torch.zeros_like(y), surrogate("logistic")
    agreement = y @ Psi / len(y)
    alone = torch.zeros_like(agreement)
    largest = agreement.abs().argmax()
    alone[largest] = torch.where(agreement[largest] < 0, -1.0, 1.0)
    # Φ'(1) at every example where w = 0
    most = float(agreement.abs().max() * Phi.derivative(torch.ones_like(y[:1])))
    found, w = [alone], None
    for share in SHARES:
        w = mixture.minimise(Psi, y, zero, torch.full_like(alone, share * most), Phi, w=w, tol=GAP).w
        if bool(w.any()):
            found.append(w)
    return found


def start(sample: Sample, w: Tensor) -> Found:
    """θ = |w|/||w||_1 at the best of a few N and t."""
    column = w.nonzero()[:, 0]
    theta = (w[column].abs() / w.abs().sum()).to(sample.Psi.dtype)
    sign = w[column].sign().to(theta.dtype)
    found = Found(torch.zeros_like(column), column, sign, theta, (), COUNTS[-1], 1.0, BETA)
    log_N, t = (
        part.reshape(-1, 1)
        for part in torch.meshgrid(theta.new_tensor(COUNTS).log(), theta.new_tensor(DEVIATIONS), indexing="ij")
    )
    rows = len(t)
    means, mass = Reader(sample.Psi, found)(theta[None])
    form = sample.at((), (BETA,) * rows)
    values = form(means.expand(rows, -1, -1), mass.expand(rows, -1), theta.log().expand(rows, -1), log_N, t)
    best = int(values.argmin())
    found = replace(found, N=float(log_N[best].exp()), t=float(t[best]), value=float(values[best]))
    return replace(found, beta=best_beta(sample, found))
