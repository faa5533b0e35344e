"""AdaNet for its certificate: the linear network first, then rounds that add a hidden unit only if the bound falls.

Depth 1 is certified by vote-certificate, a network with hidden units by path-certificate. Where both are looked at,
each takes half of δ: the file says that two statements were tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.certificates.derandomise import Certificate
from adanet_theory.certificates.path import path_certificate
from adanet_theory.certificates.tree import one_layer
from adanet_theory.certificates.vote import vote_certificate
from adanet_theory.checks import check
from adanet_train.certificate import hidden, linear
from adanet_train.certificate.forms import Path, Vote
from adanet_train.certificate.search import Found, Sample, refine, refit, sharpened
from adanet_train.config import Callback, Config, Trained, check_resume, check_sample
from adanet_train.core.history import CandidateRecord, Round
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.search.weak_learners import generator


def train(
    Psi: Tensor | Points, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """The network of least certificate that at most T rounds find; round 1 is the linear one.

    F of the history is the certificate itself, from exact laws, at δ/tried. Every round begins from what the file
    holds, so that a run taken up again ends with the bits of one that was not interrupted.
    """
    check_resume(resume, config)
    n_0 = Psi.n_0 if isinstance(Psi, Points) else Psi.shape[1]
    begun = trained = resume or Trained(Network.empty(n_0, device=config.device), None, [], config)
    for trained, _ in rounds(Psi, y, begun):
        if callback is not None:
            callback(trained)
    return trained


def rounds(Psi: Tensor | Points, y: Tensor, trained: Trained) -> Iterator[tuple[Trained, list[Network]]]:
    """What stands after each of the rounds to come, and what the round had proposed: the history's candidates."""
    config = trained.config
    points, y = check_sample(Psi, y, config)
    Psi = points.whole()
    largest = float(Psi.abs().max())
    check(largest <= 1, f"objective vote needs |Psi| <= 1, got {largest}: scale the features.")
    sample = Sample(Psi.float(), y.float(), config.delta / config.tried, Vote)
    for t in range(len(trained.history) + 1, (config.rounds if config.depth > 1 else 1) + 1):
        if trained.history and trained.history[-1]["chosen"] < 0:
            break
        with one_thread():
            found = [linear.minimise(sample)] if t == 1 else grown(replace(sample, form=Path), trained, t)
        proposed = [network(one, Psi.shape[1]) for one in found]
        bounds = [certificate(one, Psi, y, sample.delta, seed=(config.seed, t)) for one in proposed]
        trained = judged(trained, *zip(proposed, bounds, strict=True))
        yield trained, proposed


@contextmanager
def one_thread() -> Iterator[None]:
    """The products are small, and their bits then do not depend on the number of cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def judged(trained: Trained, *proposed: tuple[Network, Certificate]) -> Trained:
    """The best proposal if its certificate is the least so far, and the round in the history."""
    best = min(range(len(proposed)), key=lambda i: proposed[i][1].raw)
    network, bound = proposed[best]
    stands: dict[str, Any] = {"id": bound.id, "raw": bound.raw, **bound.terms}
    fell = not trained.history or bound.raw < trained.history[-1]["objective"]
    if not fell:
        stands = trained.history[-1]["certificate"]
    candidates: list[CandidateRecord] = [
        {"depth": one.depth, "units": list(one.n[1:]), "objective": its.raw, "Gamma": {}} for one, its in proposed
    ]
    told: Round = {"candidates": candidates, "chosen": best if fell else -1, "objective": stands["raw"]}
    told["certificate"] = stands
    return replace(trained, network=network if fell else trained.network, history=[*trained.history, told])


def grown(sample: Sample, trained: Trained, t: int) -> list[Found]:
    """The network of the last round with one or two more units, found at few counts, then at as many as are best."""
    last = taken_up(trained.network, trained.history[-1]["certificate"], sample.Psi)
    base = refit(sample, last, last.theta[None])
    if not base.units:  # it was refined for votes, not for paths
        base = refine(sample, base)
    found = hidden.with_units(sample, base, generator(trained.config.seed, t, 0))
    return hidden.proposed([one for begun in found for one in sharpened(sample, begun, hidden.UNIT_ROUNDS)])


# The network and its certificate


def parts(network: Network) -> tuple[Tensor, tuple[int, ...]]:
    """q_0 and q_i, one row each, and the signs s_i: the inverse of `network`."""
    units = network.hidden[2, 1][0, 1:].tolist() if network.depth > 1 else []
    return network.hidden[1, 0], tuple(int(s) for s in units)


def network(found: Found, n_0: int) -> Network:
    """f/B = q_0 · Ψ + Σ s_i relu(q_i · Ψ): layer 1 has q_0, read by the output as it is, and the units of layer 2."""
    q = found.weights(n_0)
    if not found.units:
        return Network((n_0, 1), {(1, 0): q}, {1: q.new_ones(1)}, ())
    w = q.new_zeros(len(q))
    w[0] = 1
    above = q.new_tensor([[0.0, *found.units]])
    return Network((n_0, len(q), 1), {(1, 0): q, (2, 1): above}, {1: w, 2: q.new_ones(1)}, ("relu",))


def taken_up(trained: Network, stands: Mapping[str, Any], like: Tensor) -> Found:
    """The atoms of a network, at the setting of its certificate."""
    q, units = parts(trained)
    node, column = q.nonzero(as_tuple=True)
    theta = q[node, column].to(like.device, like.dtype)
    N, k = float(stands["N"]), float(stands["k"])
    t = (2 * k - N) / math.sqrt(N) if stands["id"] == Vote.id else k / math.sqrt(N)
    return Found(node, column, theta.sign(), theta.abs() / theta.abs().sum(), units, N, t, stands["beta"])


def certificate(trained: Network, Psi: Tensor, y: Tensor, delta: float, seed: Sequence[int]) -> Certificate:
    """vote-certificate of a linear network, path-certificate of one with hidden units, from exact laws.

    The draws of the latter are the search's own: what a report states later is estimated on others.
    """
    q, units = parts(trained)
    weights, X, labels = q.cpu().numpy(), Psi.cpu().numpy(), y.cpu().numpy()
    if not units:
        return vote_certificate(labels * (X @ weights[0]), np.abs(weights[0]), n=2 * X.shape[1], delta=delta)
    tree = one_layer(weights[0], np.array(units, dtype=np.float64), weights[1:])
    own = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return path_certificate(tree, X, labels, delta=delta, seed=own)
