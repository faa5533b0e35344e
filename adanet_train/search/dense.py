"""AdaNet over dense units: what a round proposes, the convex step, the comparison, and what the history keeps.

The printed test compares F_t(w, h') with F_t(w', h') and so always deepens (claim adanet-comparison); here the
candidate with the least min_w F_t(w, h) is kept, and f_t = f_{t-1} + w* · h_t. Where λ is not given, the points that
a committee holds out choose it together with the first subnetwork.

For C classes f(x, y) = Σ_k w_{k,y} · h_k(x), with the loss of `labels` and the penalty Σ_j Γ_j Σ_c |w_{c,j}|.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from adanet_theory.spec import NetworkSpec
from adanet_train.convex.labels import Labels, labels_of
from adanet_train.core import network
from adanet_train.core.config import Config
from adanet_train.core.device import one_thread
from adanet_train.core.history import LEAST_F, NO_UNIT, NOT_WORTH, SHARES, CandidateRecord, Round, too_little
from adanet_train.core.points import Points
from adanet_train.core.training import Trained, check_class_config
from adanet_train.search import builder, committee, objective
from adanet_train.search.committee import Proposal
from adanet_train.search.complexity import Penalty, penalty
from adanet_train.search.growth import Growth, Part, regrown
from adanet_train.search.selection import Direction, HeldOutValues, Judged, choose, judge
from adanet_train.search.weak_learners import Task, candidate, generator

DEEPEST = 3
"""Largest depth that a committee tries when it chooses: a third hidden layer makes a small fit a quarter longer."""


@dataclass(frozen=True, eq=False)
class GrownNetwork:
    """f_{t-1} with its parts, F of it, and the rounds so far."""

    growth: Growth
    history: tuple[Round, ...]
    F: float

    @property
    def rounds(self) -> int:
        return len(self.history)

    @property
    def ended(self) -> bool:
        """Whether the last round added nothing."""
        return bool(self.history) and self.history[-1]["chosen"] < 0


@dataclass(frozen=True, eq=False)
class ComparedUnits:
    """The candidates of a round, the number of the best (-1: there is none), why, and the points held out from them."""

    candidates: list[WeighedPart]
    best: int
    why: str
    held_out: HeldOutValues | None


def entry(compared: ComparedUnits, kept: int, F: float, why: str) -> Round:
    """A round as the history records it."""
    candidates, held_out = compared.candidates, compared.held_out
    line: Round = {"candidates": [one.record for one in candidates], "chosen": kept, "objective": F}
    lam = candidates[compared.best].lam if compared.best >= 0 else None
    if lam is not None:
        line["lam"] = lam
    line["why"] = why
    if held_out is not None:
        after = candidates[kept].held_out if kept >= 0 else None
        line["held_out"] = held_out.loss() if after is None else after
    return line


@dataclass(frozen=True, eq=False)
class Read:
    """A proposal with what the output would read of it: h_k on the sample, for one layer or for all."""

    proposal: Proposal
    H: dict[int, Tensor]

    @property
    def columns(self) -> Tensor:
        """The columns of H, one for each unit."""
        return torch.cat([self.H[k] for k in sorted(self.H)], 1)


@dataclass(frozen=True, eq=False)
class WeighedPart:
    """A part with the best w for its units, their outputs, F if it were added, and the held-out loss then."""

    part: Part
    H: dict[int, Tensor]
    objective: float
    held_out: float | None = None
    helps: bool = True
    """Whether the held-out loss falls by enough with it."""
    lam: float | None = None
    """λ of its penalty, if that is not the config's."""

    def is_worth(self, F: float, least_decrease: float) -> bool:
        """Whether F falls by enough if it is added, and the held-out loss too."""
        return self.helps and objective.falls(self.objective, F, least_decrease)

    def refusal(self, F: float, least_decrease: float) -> str:
        """Why it is not added."""
        return NOT_WORTH if objective.falls(self.objective, F, least_decrease) else too_little(least_decrease)

    @property
    def record(self) -> CandidateRecord:
        part = self.part
        units = [len(part.block[k]) for k in sorted(part.block)]
        record = objective.record(units, self.objective, part.Gamma)
        if part.members > 1:
            record["members"] = part.members
        if self.held_out is not None:
            record["held_out"] = self.held_out
        return record


@dataclass(frozen=True, eq=False)
class Training:
    """What stays the same from round to round: the sample, the config, the declared family."""

    points: Points
    labels: Labels
    y: Tensor
    weights: Tensor | None
    config: Config
    spec: NetworkSpec
    split: committee.SplitSample | None
    """The parts of the sample that are held out, if the learner holds any out."""
    undeclared: bool
    """Whether rounds are added for which no family was declared."""

    @classmethod
    def begun(cls, points: Points, y: Tensor, weights: Tensor | None, config: Config, *, undeclared: bool) -> Training:
        split, labels = None, labels_of(y, config.goal.surrogate)
        if labels.outputs is not None:
            check_class_config(config)
        if config.search.learner == "committee":
            committee.check_config(config)
            split = committee.SplitSample.split(points, labels, y, weights, config, generator(config.run.seed, 0, 0))
        own = None if weights is None else points.own(weights)
        spec = config.declared(points.n_0, labels.tops)
        return cls(points, labels, points.own(y), own, config, spec, split, undeclared)

    def Gamma(self, lam: float | None) -> Penalty:
        """Γ at the λ of the config, or at the one that was chosen."""
        config = self.config if lam is None else self.config.replace(lam=lam)
        return penalty(config, self.spec, self.points, self.labels.outputs)

    def objective(self, growth: Growth) -> float:
        """F of what has grown so far."""
        values = self.labels.values(self.y, growth.f)
        return objective.mean(values, self.weights, self.points.world) + growth.penalty

    @property
    def pass_costs(self) -> float:
        """Products and sums of two layers of a candidate on the whole sample, the main cost of comparing it."""
        members, units = self.config.search.members or 1, max(units for _, units in self.config.sizes)
        return 2.0 * len(self.y) * members * units * (self.points.n_0 + units)

    @property
    def settles(self) -> bool:
        """Whether the held-out points choose λ, and with it the depth; the bound objective fixes λ itself."""
        return self.split is not None and self.config.goal.lam is None and self.config.goal.objective != "bound"

    @property
    def lam(self) -> float | None:
        """λ where it is neither that of the config nor chosen."""
        return 0.0 if self.config.goal.lam is None else None

    def begin(self, resume: Trained | None) -> GrownNetwork:
        """Nothing yet, or what a run that is taken up has grown."""
        nothing = Growth(self.points, self.config.family.activation, self.labels.outputs)
        growth = regrown(resume, self.points) if resume else nothing
        return GrownNetwork(growth, tuple(resume.history) if resume else (), self.objective(growth))

    def propose(self, grown: GrownNetwork, t: int) -> list[Read]:
        """By default one candidate as deep as the network and one deeper; only the former once the depth is settled."""
        sizes, growth = self.config.sizes, grown.growth
        if self.settles and self.config.search.candidates is None and growth.parts:
            sizes = sizes[:1]
        depths = [(growth.depth + offset, units) for offset, units in sizes]
        return self.learnt(growth, t, [(depth, units) for depth, units in depths if 1 <= depth <= self.spec.depth])

    def compare(self, grown: GrownNetwork, proposals: list[Read], t: int) -> ComparedUnits:
        """The proposals at min_w F_t(w, h)."""
        growth, history = grown.growth, grown.history
        held_out = HeldOutValues.of(growth, self.split) if self.split else None
        settled: tuple[int, str] | None = None
        lams: Sequence[float | None] = [history[0].get("lam") if history else self.lam] * len(proposals)
        if held_out is not None and self.settles and not history:
            settled, lams = self.settle(growth, proposals, held_out)
        pairs = zip(proposals, lams, strict=True)
        candidates = [self.minimise(growth, read, lam, held_out) for read, lam in pairs]
        best, why = settled or least(candidates)
        if best >= 0 and not growth.parts and not candidates[best].helps and self.points.centre.constant is not None:
            candidates.append(self.minimise(growth, self.constant(growth), self.lam, held_out))
            if candidates[-1].is_worth(grown.F, self.config.search.least_decrease):
                best, why = len(candidates) - 1, SHARES
        return ComparedUnits(candidates, best, why, held_out)

    def extended(self, grown: GrownNetwork, compared: ComparedUnits, t: int) -> GrownNetwork:
        """With the best candidate, if F falls by enough."""
        growth, F, why, kept = grown.growth, grown.F, compared.why, compared.best
        h, least = compared.candidates[kept] if kept >= 0 else None, self.config.search.least_decrease
        if h is not None and h.is_worth(F, least):
            growth.extend(h.part, h.H)
            if self.config.search.corrective:
                self.correct(growth)
            F = self.objective(growth)
        elif h is not None:
            why, kept = h.refusal(F, least), -1
        return GrownNetwork(growth, (*grown.history, entry(compared, kept, F, why)), F)

    def learnt(self, growth: Growth, t: int, sizes: list[tuple[int, int]], first: int = 0) -> list[Read]:
        return [self.read(growth, proposal) for proposal in learn(growth, self, t, sizes, first)]

    def settle(
        self, growth: Growth, proposals: list[Read], held_out: HeldOutValues
    ) -> tuple[tuple[int, str], list[float]]:
        """The first subnetwork, why that one, and λ of each.

        If held-out points choose one hidden layer, two are proposed as well. A deeper one has no chance later: r_k
        grows by a large factor with every layer, and λ is settled here.
        """
        deepest = min(DEEPEST, self.spec.depth)
        judged: list[Judged] = []
        while True:
            judged += [self.judge(growth, read, held_out) for read in proposals[len(judged) :]]
            chosen, lams = choose(judged, held_out), [candidate.lam for candidate in judged]
            depth = growth.depth + len(proposals)
            if self.config.search.candidates is not None or chosen[0] < len(proposals) - 1 or depth > deepest:
                return chosen, lams
            units = self.config.sizes[-1][1]
            proposals += self.learnt(growth, 1, [(depth, units)], len(proposals))

    def read(self, growth: Growth, proposal: Proposal) -> Read:
        """The outputs of the units that the output reads: those of the top layer, or of all."""
        layers = sorted(proposal.block) if self.config.search.outputs == "all" else [max(proposal.block)]
        return Read(proposal, growth.outputs(proposal.block, layers))

    def judge(self, growth: Growth, read: Read, held_out: HeldOutValues) -> Judged:
        """A proposal at its best λ."""
        r = penalty(self.config.replace(lam=1.0, beta=0.0), self.spec, self.points)
        ((k, H),) = read.H.items()
        mix = read.proposal.mix
        assert mix is not None
        w = self.labels.spread(mix)
        direction = Direction(network.read(H, w), float(r(k, H) @ mix), held_out.of_members(H, w))
        return judge(direction, self.y, growth.f, held_out, self.config.goal.beta, weights=self.weights)

    def minimise(self, growth: Growth, read: Read, lam: float | None, held_out: HeldOutValues | None) -> WeighedPart:
        """w* = argmin_w F_t(w, h) for the units h of a proposal, at this λ."""
        config, mix, H, Gamma = self.config, read.proposal.mix, read.H, self.Gamma(lam)
        price = {k: Gamma(k, H[k]) for k in sorted(H)}
        prices = torch.cat([*price.values()])
        how: dict[str, Any] = {"weights": self.weights, "tol": config.convex.tol}
        if mix is None:
            best = self.labels.minimise(read.columns, self.y, growth.f, prices, **how)
            w = best.w
        else:
            z = network.read(read.columns, self.labels.spread(mix))
            best = self.labels.minimise_along(z, self.y, growth.f, prices @ mix, world=self.points.world, **how)
            w = self.labels.spread(best.w * mix)
        split = dict(zip(price, w.split([H[k].shape[1] for k in price], dim=-1), strict=True))
        kept = H if config.search.corrective else None
        part = Part(read.proposal.block, split, price, read.proposal.members, kept)
        F = best.objective + growth.penalty
        if held_out is None:
            return WeighedPart(part, H, F, lam=lam)
        change = held_out.of_members(H[max(H)], w)
        return WeighedPart(part, H, F, held_out.loss(change), held_out.falls(change), lam)

    def correct(self, growth: Growth) -> None:
        """The fully corrective step: F minimised over all of w, from where it stands."""
        H, Gamma, w = growth.columns()
        f, how = torch.zeros_like(growth.f), {"weights": self.weights, "tol": self.config.convex.tol}
        best = self.labels.minimise(H, self.y, f, Gamma, w=w, **how)
        growth.reweight(best.w)

    def constant(self, growth: Growth) -> Read:
        """Units that read the constant feature alone: one for each member, or one per class by the log of its share.

        If no candidate helps, f follows the shares of the classes. With f = 0 all points would be in the first class.
        """
        assert self.split is not None
        K, at = self.split.members, self.points.centre.constant
        U = growth.f.new_zeros(K * self.labels.tops, self.points.n_0)
        U[:, at] = self.spec.bound(1, 0)
        if self.labels.outputs is not None:
            counts = self.points.world.sum(torch.bincount(self.y, self.weights, self.labels.outputs).double())
            share = counts.log() - counts.log().mean()
            U[:, at] *= (share / share.abs().max().clamp_min(1e-300)).repeat(K)
        return self.read(growth, Proposal({1: U}, U.new_full((len(U),), 1 / K), K))

    def trained(self, grown: GrownNetwork) -> Trained:
        declared = self.spec if self.config.family.enforce and not self.undeclared else None
        return Trained(grown.growth.network, declared, [*grown.history], self.config)


def least(candidates: Sequence[WeighedPart]) -> tuple[int, str]:
    """The first candidate of least F."""
    values = [candidate.objective for candidate in candidates]
    return (values.index(min(values)), LEAST_F) if values else (-1, NO_UNIT)


def learn(growth: Growth, training: Training, t: int, sizes: list[tuple[int, int]], first: int) -> list[Proposal]:
    """Candidates of these depths and units per layer; the first has this number in its round.

    Each is trained in one thread of its own: its products are small, and its bits then depend neither on the number
    of cores nor on how many candidates are trained at the same time.
    """
    config, spec = training.config, training.spec

    def one(number: int) -> Proposal:
        depth, units = sizes[number]
        draw = generator(config.run.seed, t, first + number)
        if training.split is not None:
            return builder.learn(growth, training.split, depth, units, spec, config, draw)
        return Proposal(_block(growth, training, depth, units, draw))

    jobs = config.run.jobs if training.points.world.size == 1 else 1  # the processes add up in one order
    with one_thread():
        if jobs == 1:  # here: what another thread has freed, malloc keeps for that thread
            return [one(number) for number in range(len(sizes))]
        with ThreadPoolExecutor(jobs, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(one, range(len(sizes))))


def _block(growth: Growth, training: Training, depth: int, units: int, draw: torch.Generator) -> dict[int, Tensor]:
    """The units of a weak learner that looks at the whole sample."""
    last_only = training.config.search.variant == "P"
    unread = [growth.unread(k, last_only=last_only) for k in range(1, depth + 1)]
    inputs = [x[:, skipped:] for x, skipped in zip(growth.existing(depth), unread, strict=True)]
    gamma = training.Gamma(None)
    task = Task(inputs, training.y, growth.f, units, training.spec, training.config, gamma, training.weights)
    U = candidate(task, draw)
    # AdaNet.P: no connection, that is zeros, to the earlier units that it does not read.
    return {k: torch.nn.functional.pad(U[k - 1], (unread[k - 1], 0)) for k in range(1, depth + 1)}
