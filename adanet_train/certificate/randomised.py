"""Training for stochastic-certificate: ReLU networks whose weights are drawn anew for every prediction.

P = N(U_0, s² I): U_0 is trained and s is chosen on one part of the points. Q = N(U, s² I): U is trained on the other
part, and the statement is about that part alone; KL = |U - U_0|²/(2 s²). For the inputs a of a unit, with new weights
for every example, h = u · a is N(u_0 · a, s² |a|²), so whole weight vectors are never drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_theory.certificates.kl import xi
from adanet_theory.certificates.stochastic import SAMPLED, gaussian_kl, stochastic_certificate
from adanet_theory.checks import check
from adanet_train.certificate.smooth import kl_inverse, normal_cdf
from adanet_train.core.descend import Adam
from adanet_train.core.network import Network
from adanet_train.search.weak_learners import generator

WIDTHS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""s; the largest by which the error on the points of P rises by at most RISE."""
RISE = 0.002
STEPS, RATE = 60, 0.005
"""Of Adam on the certificate; the rate is a share of s."""
DRAWS = 200
"""Per example, for the value that is stated."""
TRIED = 2
"""Q as trained, and Q = P, are compared on the draws."""


@dataclass(frozen=True)
class Randomised:
    """The mean U of Q and the width s of both laws; `raw` is the certificate."""

    network: Network
    s: float
    error: float
    KL: float
    raw: float


def train(
    prior: Network, own: tuple[Tensor, Tensor], rest: tuple[Tensor, Tensor], delta: float, seed: int
) -> Randomised:
    """Q from P: `prior` was trained on the points `own`, the certificate is about the `rest`."""
    check(all(name == "relu" for name in prior.activations), "a randomised network needs ReLU units.")
    s = width(prior, *own, generator(seed, 1, 1))
    moved = trained_centre(prior, s, *rest, delta, generator(seed, 1, 2))
    choices = [judged(network, prior, s, rest, delta, generator(seed, 1, 3)) for network in (prior, moved)]
    return min(choices, key=lambda one: one.raw)


def outputs(network: Network, Psi: Tensor, s: float, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of f at every row, given the units below the last layer, which are drawn."""
    return _above(network, Psi, _reads(network, 1, [Psi]), s, draw)


def _above(
    network: Network, Psi: Tensor, first: tuple[Tensor, Tensor], s: float, draw: torch.Generator
) -> tuple[Tensor, Tensor]:
    """`outputs`, from what layer 1 reads of Ψ."""
    below, (mean, spread) = [Psi], first
    for k in range(2, network.depth + 1):
        noise = torch.randn(mean.shape, generator=draw, dtype=mean.dtype)
        below.append(torch.relu(mean + s * spread * noise))
        mean, spread = _reads(network, k, below)
    return mean[:, 0], s * spread[:, 0]


def _reads(network: Network, k: int, below: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Σ_s U_{k,s} a_s, and sqrt(Σ_s |a_s|²) over what layer k reads."""
    read = [(below[s], U) for (layer, s), U in network.hidden.items() if layer == k]
    mean = torch.stack([a @ U.T for a, U in read]).sum(0)
    return mean, torch.stack([(a * a).sum(1, keepdim=True) for a, _ in read]).sum(0).sqrt()


def errors(network: Network, Psi: Tensor, y: Tensor, s: float, draws: int, draw: torch.Generator) -> int:
    """The share of y f <= 0, with that many draws for every example."""
    total, first = 0, _reads(network, 1, [Psi])
    for _ in range(draws):
        mean, spread = _above(network, Psi, first, s, draw)
        f = mean + spread * torch.randn(mean.shape, generator=draw, dtype=mean.dtype)
        total += int((y * f <= 0).sum())
    return total


def width(prior: Network, Psi: Tensor, y: Tensor, draw: torch.Generator) -> float:
    """s of both P and Q, from the points of P."""
    own = float((y * prior(Psi) <= 0).double().mean())
    noisy = {s: errors(prior, Psi, y, s, 1, draw) / len(y) for s in WIDTHS}
    return max((s for s in WIDTHS if noisy[s] <= own + RISE), default=WIDTHS[0])


def trained_centre(prior: Network, s: float, Psi: Tensor, y: Tensor, delta: float, draw: torch.Generator) -> Network:
    """Adam on kl^-1(E_Q error, [KL + log(ξ(m)/.9 δ)]/m), the output unit's noise integrated exactly."""
    start = {pair: U.float() for pair, U in prior.hidden.items()}
    U = {pair: value.clone().requires_grad_() for pair, value in start.items()}
    network = replace(prior, hidden=U)
    price = math.log(xi(len(y)) / ((1 - SAMPLED) * delta))
    Psi, y = Psi.float(), y.float()
    adams = [Adam(value) for value in U.values()]
    for _ in range(STEPS):
        mean, spread = outputs(network, Psi, s, draw)
        error = normal_cdf(-y * mean / spread.clamp_min(1e-12)).mean()
        KL = torch.stack([((U[pair] - start[pair]) ** 2).sum() for pair in U]).sum() / (2 * s * s)
        slopes = torch.autograd.grad(kl_inverse(error, (KL + price) / len(y)), [*U.values()])
        for adam, slope in zip(adams, slopes, strict=True):
            adam.step(slope, RATE * s)
    return replace(prior, hidden={pair: value.detach().double() for pair, value in U.items()})


def judged(
    network: Network, prior: Network, s: float, rest: tuple[Tensor, Tensor], delta: float, draw: torch.Generator
) -> Randomised:
    Psi, y = rest
    error = errors(network, Psi, y, s, DRAWS, draw) / (DRAWS * len(y))
    KL = math.fsum(gaussian_kl(network.hidden[pair].flatten(), s, U.flatten(), s) for pair, U in prior.hidden.items())
    bound = stochastic_certificate(error, draws=DRAWS, shared=False, KL=KL, m=len(y), delta=delta, tried=TRIED)
    return Randomised(network, s, error, KL, bound.raw)
