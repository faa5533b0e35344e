"""AdaNet (Section 4 of the paper), corrected: propose, minimise, compare, extend or stop.

The printed test compares F_t(w, h') with F_t(w', h') and so always deepens (claim adanet-comparison); here the
candidate with the least min_w F_t(w, h) is kept, and f_t = f_{t-1} + w* · h_t.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from adanet_theory.spec import NetworkSpec
from adanet_train import objective
from adanet_train.complexity import Penalty, penalty
from adanet_train.config import Callback as Callback
from adanet_train.config import Config as Config
from adanet_train.config import Trained as Trained
from adanet_train.config import check_resume, check_sample
from adanet_train.convex import mixture
from adanet_train.growth import Growth, Part, regrown
from adanet_train.surrogates import surrogate
from adanet_train.weak_learners import Task, candidate, generator


def train(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """T rounds of AdaNet on the rows of Psi with labels y in {-1, +1}.

    `callback` sees the result after every round; `resume` takes up a result of an earlier call with the same config,
    and ends with the same bits as one uninterrupted run.
    """
    Psi, y = check_sample(Psi, y, config)
    check_resume(resume, config)
    spec = config.family(Psi.shape[1])
    sample = Sample(y, config, spec, penalty(config, spec, Psi))
    growth = regrown(resume, Psi) if resume else Growth(Psi, config.activation)
    history: list[dict[str, Any]] = [*resume.history] if resume else []
    F = sample.objective(growth)
    for t in range(len(history) + 1, config.rounds + 1):
        if history and history[-1]["chosen"] < 0:
            break
        candidates = [sample.minimise(growth, block) for block in propose(growth, sample, t)]
        values = [found.objective for found in candidates]
        fell = bool(values) and objective.falls(min(values), F, config.least_decrease)
        best = values.index(min(values)) if fell else -1
        if best >= 0:
            growth.extend(candidates[best].part, candidates[best].H)
            if config.corrective:
                sample.correct(growth)
            F = sample.objective(growth)
        records = [objective.record(found.units, found.objective, found.part.Gamma) for found in candidates]
        history.append({"candidates": records, "chosen": best, "objective": F})
        if callback is not None:
            callback(sample.trained(growth, history))
    return sample.trained(growth, history)


@dataclass(frozen=True)
class Candidate:
    """A part with the best w for its units, the outputs of all of them, and F if it were added."""

    part: Part
    H: dict[int, Tensor]
    objective: float

    @property
    def units(self) -> list[int]:
        return [len(self.part.block[k]) for k in sorted(self.part.block)]


@dataclass(frozen=True)
class Sample:
    """What stays the same from round to round."""

    y: Tensor
    config: Config
    spec: NetworkSpec
    Gamma: Penalty

    def objective(self, growth: Growth) -> float:
        """F of what has grown so far."""
        return objective.loss(surrogate(self.config.surrogate), self.y, growth.f) + growth.penalty

    def minimise(self, growth: Growth, block: dict[int, Tensor]) -> Candidate:
        """w* = argmin_w F_t(w, h) for the units h of the block, read by the output from the top layer or from all."""
        config, H = self.config, growth.outputs(block)
        layers = sorted(block) if config.outputs == "all" else [max(block)]
        Gamma = [self.Gamma(k, H[k]) for k in layers]
        columns = torch.cat([H[k] for k in layers], 1)
        found = mixture.minimise(
            columns, self.y, growth.f, torch.cat(Gamma), surrogate(config.surrogate), tol=config.tol
        )
        w = found.w.split([H[k].shape[1] for k in layers])
        part = Part(
            block, {k: H[k] for k in layers}, dict(zip(layers, w, strict=True)), dict(zip(layers, Gamma, strict=True))
        )
        return Candidate(part, H, found.objective + growth.penalty)

    def correct(self, growth: Growth) -> None:
        """The fully corrective step: F minimised over all of w, from where it stands."""
        H, Gamma, w = growth.columns()
        Phi = surrogate(self.config.surrogate)
        found = mixture.minimise(H, self.y, torch.zeros_like(growth.f), Gamma, Phi, w=w, tol=self.config.tol)
        growth.reweight(found.w)

    def trained(self, growth: Growth, history: list[dict[str, Any]]) -> Trained:
        return Trained(growth.network, self.spec if self.config.enforce else None, [*history], self.config)


def propose(growth: Growth, sample: Sample, t: int) -> list[dict[int, Tensor]]:
    """The candidates of round t: by default one as deep as the network and one deeper, B units in each layer.

    Each is trained in one thread of its own: its products are small, and its bits then depend neither on the number
    of cores nor on how many candidates are trained at the same time.
    """
    config, spec = sample.config, sample.spec
    depths = [(growth.depth + offset, units) for offset, units in config.sizes]
    sizes = [(depth, units) for depth, units in depths if 1 <= depth <= spec.depth]

    def learn(number: int) -> dict[int, Tensor]:
        depth, units = sizes[number]
        existing = [growth.existing(k) for k in range(1, depth + 1)]
        unread = [growth.unread(k, last_only=config.variant == "P") for k in range(1, depth + 1)]
        inputs = [x[:, skipped:] for x, skipped in zip(existing, unread, strict=True)]
        task = Task(inputs, sample.y, growth.f, units, spec, config, sample.Gamma)
        U = candidate(task, generator(config.seed, t, number))
        # AdaNet.P: no connection, that is zeros, to the earlier units that it does not read.
        return {k: torch.nn.functional.pad(U[k - 1], (unread[k - 1], 0)) for k in range(1, depth + 1)}

    threads = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(config.jobs, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(learn, range(len(sizes))))
    finally:
        torch.set_num_threads(threads)
