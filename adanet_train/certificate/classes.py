"""The linear network of C classes of least certificate: the l1 path of the multinomial loss, then atoms by the dozen.

The nodes of the search are the classes, f_c = q_c · Ψ, Σ ||q_c||_1 = 1. Of a large sample a part is searched on, at the
price of all of it; what is stated is computed on all points.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from adanet_theory.certificate import Certificate
from adanet_theory.checks import check
from adanet_theory.vote_multiclass import vote_certificate_multiclass
from adanet_train.certificate.forms import ClassVote
from adanet_train.certificate.search import (
    LEAST_FALL,
    NEW_SHARE,
    Found,
    Rows,
    Sample,
    descend,
    refit,
    settled,
    steepest,
)
from adanet_train.certificate.train import judged, one_thread
from adanet_train.class_adanet import check_classes
from adanet_train.config import Callback, Config, Trained, check_resume
from adanet_train.convex import mixture
from adanet_train.network import Network

SHARES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02)
"""Γ on the path, as shares of the Γ from which on w = 0."""
GAP = 1e-3
COUNTS, DEVIATION, BETA = 20_000.0, 1.5, 0.003
"""N, t and β of a start."""
ADDED, DROPPED = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16)
"""How many atoms a round tries to add or to drop."""
ROUNDS, PART_ROUNDS, REFINED = 16, 3, 2
"""Rounds of atoms, and where a part of the sample is searched on; the starts that are refined, of a part only one."""
POINTS, WHOLE_STEPS = 8_000, 30
"""As many points as a search looks at, evenly spread over the sample; steps on all of it at the end."""


def train(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """One round: f(x, c) = q_c · Ψ(x), certified by vote-certificate-multiclass; F is the certificate itself."""
    check_resume(resume, config)
    if resume is not None and resume.history:
        return resume
    Psi, y, C = check_classes(Psi, y, config)
    largest = float(Psi.abs().max())
    check(largest <= 1, f"objective certificate needs |Psi| <= 1, got {largest}: scale the features.")
    own = torch.nn.functional.one_hot(y, C).T.float()
    sample = Sample(Psi.float(), own, config.delta / config.tried, ClassVote)
    with one_thread():
        found = network(minimise(sample), Psi.shape[1], C)
    empty = Trained(Network.empty(Psi.shape[1], outputs=C, device=config.device), None, [], config)
    trained = judged(empty, (found, certificate(found, Psi, y, sample.delta)))
    if callback is not None:
        callback(trained)
    return trained


def minimise(sample: Sample) -> Found:
    """Nothing is drawn at random."""
    part = sample.y.shape[1] // POINTS + 1
    few = replace(sample, Psi=sample.Psi[::part].contiguous(), y=sample.y[:, ::part].contiguous(), m=sample.y.shape[1])
    begun = [start(w, few) for w in path(few)]
    fitted = sorted((refit(few, found, found.theta[None]) for found in begun), key=lambda found: found.value)
    rounds, refined = (ROUNDS, REFINED) if part == 1 else (PART_ROUNDS, 1)
    found = min((refine(few, found, rounds) for found in fitted[:refined]), key=lambda found: found.value)
    if part == 1:
        return found
    return settled(sample, found, descend(sample, found, Rows.of(found, found.theta[None]), WHOLE_STEPS), 0)


def path(sample: Sample) -> list[Tensor]:
    """W of min (1/m) Σ log Σ_c exp(z_c - z_y) + Γ Σ |W_cj|, for Γ falling from where W = 0."""
    Psi, own = sample.Psi.double(), sample.y.double()
    labels, nothing = own.argmax(0), torch.zeros_like(own).T.contiguous()
    slopes = (1 - own + nothing.T).softmax(0) - own
    most = float((slopes @ Psi).abs().max()) / len(Psi)
    found: list[Tensor] = []
    for share in SHARES:
        Gamma = torch.full_like(Psi[0], share * most)
        w = mixture.minimise_classes(Psi, labels, nothing, Gamma, w=found[-1] if found else None, tol=GAP).w
        if bool(w.any()):
            found.append(w)
    return found


def start(w: Tensor, sample: Sample) -> Found:
    """θ = |W|/Σ|W|."""
    node, column = w.nonzero(as_tuple=True)
    weights = w[node, column].to(sample.Psi.dtype)
    theta = weights.abs() / weights.abs().sum()
    return Found(node, column, weights.sign(), theta, (0,) * (len(w) - 1), COUNTS, DEVIATION, BETA)


def refine(sample: Sample, found: Found, rounds: int) -> Found:
    """Rounds that add or drop atoms while F falls."""
    for _ in range(rounds):
        grown = refit(sample, *neighbours(sample, found))
        if grown.value > found.value * (1 - LEAST_FALL):
            break
        found = grown
    return found


def neighbours(sample: Sample, found: Found) -> tuple[Found, Tensor]:
    """θ as it is, with the atoms along which the empirical part falls most, or without the lightest."""
    node, column, sign = steepest(sample, found, ADDED[-1])
    old = len(found.theta)
    alone = torch.cat([found.theta, torch.zeros_like(sign)])
    rows = [alone]
    for added in ADDED:
        row = alone.clone()
        row[old : old + added] = NEW_SHARE / added**0.5
        rows.append(row)
    lightest = found.theta.argsort()
    for dropped in DROPPED:
        row = alone.clone()
        row[lightest[: min(dropped, old // 4)]] = 0
        rows.append(row)
    thetas = torch.stack(rows)
    parts = [torch.cat(pair) for pair in ((found.node, node), (found.column, column), (found.sign, sign))]
    wider = replace(found, node=parts[0], column=parts[1], sign=parts[2])
    return wider, thetas / thetas.sum(1, keepdim=True)


# The network and its certificate


def network(found: Found, n_0: int, C: int) -> Network:
    """Layer 1 has a unit q_c for each class, read by the output of that class as it is."""
    q = found.weights(n_0)
    eye = torch.eye(C, dtype=torch.float64, device=q.device)
    return Network((n_0, C), {(1, 0): q}, {1: eye}, (), C)


def certificate(trained: Network, Psi: Tensor, y: Tensor, delta: float) -> Certificate:
    """vote-certificate-multiclass from exact laws."""
    q = trained.hidden[1, 0].abs().cpu()
    p = q.sum(1)
    scores = trained(Psi).cpu().clamp(-p, p).numpy()
    theta = q[q > 0].numpy()
    return vote_certificate_multiclass(scores, y.cpu().numpy(), theta, p.numpy(), A=2 * q.numel(), delta=delta)
