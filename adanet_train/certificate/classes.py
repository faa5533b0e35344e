"""C classes for their certificate: the linear network, then rounds that add a hidden unit only if the bound falls.

The linear network is searched on the l1 path of the multinomial loss, then atoms by the dozen; the nodes of the search
are the classes, f_c = q_c · Ψ, Σ ||q_c||_1 = 1. A hidden unit belongs to one class. Of a large sample a part is
searched on, at the price of all of it; what is stated is computed on all points. vote-certificate-multiclass is about
linear networks, path-certificate-multiclass about the others: where both are looked at, each takes half of δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.certificates.derandomise import Certificate
from adanet_theory.certificates.path import DRAWS
from adanet_theory.certificates.path_multiclass import path_certificate_multiclass
from adanet_theory.certificates.tree import unrolled_classes
from adanet_theory.certificates.vote_multiclass import vote_certificate_multiclass
from adanet_theory.checks import check
from adanet_train.certificate import hidden
from adanet_train.certificate.forms import ClassPath, ClassVote
from adanet_train.certificate.search import (
    NEW_SHARE,
    Found,
    Rows,
    Sample,
    descend,
    losses,
    refined,
    refit,
    settled,
    steepest,
)
from adanet_train.certificate.train import judged, one_thread
from adanet_train.config import Callback, Config, Trained, check_classes, check_resume
from adanet_train.convex import mixture
from adanet_train.core.network import Network
from adanet_train.search.weak_learners import generator

SHARES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02)
"""Γ on the path, as shares of the Γ from which on w = 0."""
GAP = 1e-3
COUNTS, DEVIATION, BETA = 20_000.0, 1.5, 0.003
"""N, t and β of a start."""
UNIT_DEVIATION = 1.0
"""The largest t with which the search for a hidden unit begins."""
ADDED, DROPPED = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16)
"""How many atoms a round tries to add or to drop."""
ROUNDS, PART_ROUNDS, REFINED, UNIT_ROUNDS = 16, 3, 2, 6
"""Rounds of atoms, and where a part of the sample is searched on; the starts that are refined, of a part only one;
rounds of atoms after a hidden unit."""
POINTS, WHOLE_STEPS = 8_000, 30
"""As many points as a search looks at, evenly spread over the sample; steps on all of it at the end."""


def train(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """The network of least certificate that the rounds find; round 1 is the linear one, f(x, c) = q_c · Ψ(x).

    F of the history is the certificate itself, at δ/tried. Every round begins from what the file holds.
    """
    check_resume(resume, config)
    Psi, y, C = check_classes(Psi, y, config)
    largest = float(Psi.abs().max())
    check(largest <= 1, f"objective vote needs |Psi| <= 1, got {largest}: scale the features.")
    own = torch.nn.functional.one_hot(y, C).T.float()
    sample = Sample(Psi.float(), own, config.delta / config.tried, ClassVote)
    trained = resume or Trained(Network.empty(Psi.shape[1], outputs=C, device=config.device), None, [], config)
    for t in range(len(trained.history) + 1, (config.rounds if config.depth > 1 else 1) + 1):
        if trained.history and trained.history[-1]["chosen"] < 0:
            break
        with one_thread():
            found = [minimise(sample)] if t == 1 else grown(replace(sample, form=ClassPath), trained, t)
        proposed = [network(one, Psi.shape[1], C) for one in found]
        bounds = [certificate(one, Psi, y, sample.delta, seed=(config.seed, t)) for one in proposed]
        trained = judged(trained, *zip(proposed, bounds, strict=True))
        if callback is not None:
            callback(trained)
    return trained


def minimise(sample: Sample) -> Found:
    """The linear network; nothing is drawn at random."""
    few = part(sample)
    begun = [start(w, few) for w in path(few)]
    fitted = sorted((refit(few, found, found.theta[None]) for found in begun), key=lambda found: found.value)
    rounds, refined = (ROUNDS, REFINED) if few is sample else (PART_ROUNDS, 1)
    found = min((refine(few, found, rounds) for found in fitted[:refined]), key=lambda found: found.value)
    return found if few is sample else _on_all(sample, found)


def part(sample: Sample) -> Sample:
    """The points that are searched on: all, or an even share of many."""
    m = sample.y.shape[1]
    step = m // POINTS + 1
    if step == 1:
        return sample
    return replace(sample, Psi=sample.Psi[::step].contiguous(), y=sample.y[:, ::step].contiguous(), m=m)


def _on_all(sample: Sample, found: Found) -> Found:
    return settled(sample, found, descend(sample, found, Rows.of(found, found.theta[None]), WHOLE_STEPS), 0)


def grown(sample: Sample, trained: Trained, t: int) -> list[Found]:
    """The network of the last round with one or two more units."""
    few = part(sample)
    last = taken_up(trained.network, trained.history[-1]["certificate"], sample.Psi)
    base = refit(few, last, last.theta[None])

    count = UNIT_ROUNDS if few is sample else PART_ROUNDS

    def rounds(points: Sample, found: Found, _: int) -> Iterator[Found]:
        return refined(points, found, count, neighbours)

    # a threshold far out, which costs a confident network nothing, would leave new units without a slope
    begun = replace(base, t=min(base.t, UNIT_DEVIATION))
    found = hidden.with_units(few, begun, generator(trained.config.seed, t, 0), proposals(few, begun), rounds)
    return found if few is sample else [_on_all(sample, one) for one in found]


def proposals(sample: Sample, found: Found) -> list[tuple[int, ...]]:
    """Units that would help most if they could speak for their examples alone: three of them, and pairs of the first.

    ±(c + 1) is a unit that raises or lowers f_c; the slope of the loss along f_c says what that is worth.
    """
    slope = losses(sample, found)[1][: len(sample.y)]
    own = sample.y > 0
    worth = torch.cat([-(slope * own).sum(1), (slope * ~own).sum(1)])
    codes = [*range(1, len(own) + 1), *range(-1, -len(own) - 1, -1)]
    first, second, third = (codes[i] for i in worth.argsort(descending=True)[:3].tolist())
    return [(first,), (second,), (third,), (first, first), (first, second)]


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
    """What rounds that add or drop atoms while F falls end with."""
    return [found, *refined(sample, found, rounds, neighbours)][-1]


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
    """Layer 1 has q_c for each class, read by its output as it is, and the hidden units, which layer 2 adds up."""
    q = found.weights(n_0)
    eye = torch.eye(C, len(q), dtype=torch.float64, device=q.device)
    if len(q) == C:
        return Network((n_0, C), {(1, 0): q}, {1: eye}, (), C)
    above = torch.zeros_like(eye)
    for i, unit in enumerate(found.units[C - 1 :], start=C):
        above[abs(unit) - 1, i] = 1.0 if unit > 0 else -1.0
    return Network((n_0, len(q), C), {(1, 0): q, (2, 1): above}, {1: eye, 2: eye[:, :C].clone()}, ("relu",), C)


def units(trained: Network) -> list[int]:
    """±(c + 1) for every hidden unit: the inverse of `network`."""
    C = trained.outputs or 0
    if trained.depth == 1:
        return []
    above = trained.hidden[2, 1][:, C:]
    return [(int(column.abs().argmax()) + 1) * (1 if float(column.sum()) > 0 else -1) for column in above.T]


def taken_up(trained: Network, stands: Mapping[str, Any], like: Tensor) -> Found:
    """The atoms of a network, at the setting of its certificate."""
    q = trained.hidden[1, 0]
    node, column = q.nonzero(as_tuple=True)
    theta = q[node, column].to(like.device, like.dtype)
    under = (*(0,) * ((trained.outputs or 0) - 1), *units(trained))
    N, t = float(stands["N"]), float(stands["k"]) / math.sqrt(stands["N"])
    return Found(node, column, theta.sign(), theta.abs() / theta.abs().sum(), under, N, t, stands["beta"])


def certificate(trained: Network, Psi: Tensor, y: Tensor, delta: float, seed: Sequence[int]) -> Certificate:
    """vote-certificate-multiclass of a linear network, path-certificate-multiclass of one with hidden units.

    The draws of the latter are the search's own: what a report states later is estimated on others.
    """
    X, labels = Psi.cpu().numpy(), y.cpu().numpy()
    q = trained.hidden[1, 0].abs().cpu()
    if trained.depth > 1:
        weights = {pair: U.cpu().numpy() for pair, U in trained.hidden.items()}
        outputs = [{k: w[c].cpu().numpy() for k, w in trained.output.items()} for c in range(trained.outputs or 0)]
        forest = unrolled_classes(weights, outputs, depth=2)
        own, draws = int(np.random.SeedSequence(seed).generate_state(1)[0]), DRAWS * 5 // len(q)
        return path_certificate_multiclass(forest, X, labels, delta=delta, seed=own, draws=draws)
    p = q.sum(1)
    scores = trained(Psi).cpu().clamp(-p, p).numpy()
    theta = q[q > 0].numpy()
    return vote_certificate_multiclass(scores, labels, theta, p.numpy(), A=2 * q.numel(), delta=delta)
