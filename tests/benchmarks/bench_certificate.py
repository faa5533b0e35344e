"""Training for a certificate at the size of an MNIST pair, and what verify-bounds does with it after the fact."""

import resource
import subprocess
import sys
import time

import numpy as np
import torch

from adanet_theory.certificates.vote import vote_certificate
from adanet_train.certificate.train import train
from adanet_train.core.config import Config

M, N_0 = 12_000, 785


def sample() -> tuple[torch.Tensor, torch.Tensor]:
    """Pixels that are mostly dark, a sparse linear rule, and a tenth of the labels near it turned by noise."""
    draw = torch.Generator().manual_seed(0)
    Psi = torch.where(torch.rand(M, N_0, generator=draw) < 0.8, -1.0, torch.rand(M, N_0, generator=draw) * 2 - 1)
    rule = torch.zeros(N_0)
    rule[:: N_0 // 20] = torch.randn(len(rule[:: N_0 // 20]), generator=draw)
    noise = 0.3 * torch.randn(M, generator=draw)
    f = Psi @ rule
    return Psi.double(), torch.where(f - f.median() + noise > 0, 1.0, -1.0).double()


def seconds(work) -> tuple[float, object]:
    """Of the processor, as in importing_torch: a busy machine then changes neither side much."""
    start = time.process_time()
    minimum = work()
    return time.process_time() - start, minimum


def importing_torch() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def certified(u: np.ndarray, v: np.ndarray) -> float:
    """What verify-bounds does: the search for the setting, then balls."""
    from adanet_theory.certificates.vote import vote_candidates, vote_setting
    from adanet_theory.twins import outward

    table = vote_candidates(u, np.abs(v), n=2 * N_0)
    N, k, beta = vote_setting(u, table, delta=0.05)
    return outward.vote_parts(u, v.tolist(), n=2 * N_0, N=N, k=k, beta=beta).at("0.05").raw


def run() -> list[dict[str, object]]:
    Psi, y = sample()
    spent, trained = seconds(lambda: train(Psi, y, Config(objective="vote", max_depth=1)))
    X, labels = Psi.numpy(), y.numpy()
    v = trained.network.hidden[1, 0][0].numpy()
    vote, _ = seconds(lambda: vote_certificate(labels * (X @ v), np.abs(v), n=2 * N_0, delta=0.05))
    rounded, _ = seconds(lambda: certified(labels * (X @ v), v))
    torch_seconds = min(importing_torch() for _ in range(3))
    shape = f"m={M}, n_0={N_0}"
    rows = [
        ("training for vote-certificate", spent, 60.0, "a minute on one core", "<= 1"),
        ("vote-certificate after the fact", vote, torch_seconds, "importing torch", "<= 5"),
        ("vote-certificate after the fact, rounded outward", rounded, torch_seconds, "importing torch", "<= 5"),
    ]
    return [
        {
            "work": f"{work}, {shape}",
            "ours": round(ours, 3),
            "against": against,
            "theirs": round(theirs, 3),
            "ratio": round(ours / theirs, 3),
            "target": target,
        }
        for work, ours, theirs, against, target in rows
    ]
