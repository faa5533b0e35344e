"""The weak learner "committee": K small networks, each trained without a part of the sample, which says when to stop.

Member j proposes one top unit over B units in every layer below; of C classes one for each, which that class reads. It
reads only Ψ and its own earlier units, so that its part of the sample stays held out from round to round:

    f^(j) = Σ_t K w_{t,j} h_{t,j},      f = (1/K) Σ_j f^(j)

The network gains the mean of the members; the loss of each member on its own part chooses λ, the depth and the
number of rounds. All members are trained at once, as one product with a dimension in front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train.convex.labels import Labels
from adanet_train.convex.projection import members, nearest_
from adanet_train.core.activations import activation_slope
from adanet_train.core.config import Config
from adanet_train.core.descend import Adam, descend, views
from adanet_train.core.network import layer, subnetwork
from adanet_train.core.points import Centre, Points
from adanet_train.search.feed import Batch, Feed, taken_from
from adanet_train.search.growth import Growth
from adanet_train.search.weak_learners import at_bounds

LOOK = 10_000
"""Largest number of points held out from a member: enough to compare by, and few enough to look at often."""
SCALES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18)
MEMORY = 0.99
"""Of Adam: a run is too short for the usual 0.999."""
LOOKS = 20
"""How often the held-out parts are looked at in a run of the rate from its height down to 0."""
CYCLES, GAIN = 4, 0.02
"""The most runs of the rate from its height down to 0. Another run follows if a run lowers the held-out loss by this
share of what it was before the first run: near 0, a share of the current loss would say nothing."""
VISITS = 2_000_000
"""Most points that a member reads, passes times m; a small sample stays below it."""


@dataclass(frozen=True, eq=False)
class SplitSample:
    """What the members learn from: the points, y, the sample weights, and the part of the sample of each point."""

    points: Points
    labels: Labels
    y: Tensor
    weights: Tensor | None
    part: Tensor
    """The member that a point is held out from; -1: it is in the training of all. Of every row of the sample, also
    where y and the weights are those of the rows of one process."""
    members: int

    @classmethod
    def split(
        cls,
        points: Points,
        labels: Labels,
        y: Tensor,
        weights: Tensor | None,
        config: Config,
        draw: torch.Generator,
    ) -> SplitSample:
        """Equal parts, each with all classes as in the sample; y and the weights are those of all rows."""
        m, K = len(points), config.search.members or 1
        every = max(K, round(1 / config.search.validation_fraction), math.ceil(m / LOOK))
        shuffled = torch.randperm(m, generator=draw)
        shuffled = shuffled[y.cpu()[shuffled].argsort(stable=True)]
        turn = torch.empty(m, dtype=torch.long)
        turn[shuffled] = torch.arange(m) % every
        s = None if weights is None else points.own(weights)
        return cls(points, labels, points.own(y), s, torch.where(turn < K, turn, -1), K)

    @cached_property
    def held_out(self) -> Tensor:
        """[K, v], the rows of each part; parts that are too short are filled with row 0, with weight 0."""
        part = self.points.own(self.part)
        rows = [(part == j).nonzero().flatten() for j in range(self.members)]
        most = max(1, *(len(part) for part in rows))
        return torch.stack([torch.nn.functional.pad(part, (0, most - len(part))) for part in rows])

    @cached_property
    def held_out_weights(self) -> Tensor:
        """[K, v], mean 1 over the points of all processes that count; 0 where a row only fills."""
        s = self.counts if self.weights is None else self.counts * self.weights[self.held_out]
        return s * (self.held_out_points / float(self.points.world.sum(s.sum())))

    @cached_property
    def counts(self) -> Tensor:
        """[K, v]: 1 for a point, 0 where a row only fills."""
        part = self.points.own(self.part)
        counts = torch.stack([(part == j).sum() for j in range(self.members)])
        return (torch.arange(self.held_out.shape[1]) < counts[:, None]).double().to(self.y.device)

    @cached_property
    def held_out_points(self) -> int:
        """How many points are held out from some member."""
        return int((self.part >= 0).sum())


@dataclass(frozen=True)
class Proposal:
    """The units of a candidate and, if they are not to be weighted one by one, the fixed proportions of their w."""

    block: Mapping[int, Tensor]
    mix: Tensor | None = None
    members: int = 1


@dataclass(frozen=True, eq=False)
class Member:
    """The units of each member that are there already: their weights on the units of the same member.

    Attributes
    ----------
    activation : φ.
    U : of each layer [K, units, units of the layer below], of layer 1 on the inputs.
    w : of each layer [K, units, outputs], with which f^(j) reads it; nothing where members have no f yet.
    own : of each layer [K, units], where these are among the units of the dense network; nothing outside of one.
    single : whether f is one number.
    """

    activation: str
    U: list[Tensor]
    w: Sequence[Tensor] = ()
    own: Sequence[Tensor] = ()
    single: bool = True

    @classmethod
    def of(cls, growth: Growth, K: int) -> Member:
        """What has grown so far, taken apart."""
        own: list[list[Tensor]] = [[torch.arange(growth.points.n_0)] * K]
        start = [0] * (growth.depth + 1)
        for part in growth.parts:
            for k in sorted(part.block):
                if k == len(own):
                    own.append([torch.zeros(0, dtype=torch.long)] * K)
                share = torch.arange(len(part.block[k])).view(K, -1) + start[k]
                own[k] = [torch.cat([mine, more]) for mine, more in zip(own[k], share, strict=True)]
                start[k] += len(part.block[k])
        places = [torch.stack(units).to(growth.f.device) for units in own]
        hidden, output = growth.network.hidden, growth.network.output
        U = [
            torch.stack([hidden[k, k - 1][rows][:, columns] for rows, columns in zip(places[k], below, strict=True)])
            for k, below in enumerate(places[:-1], start=1)
        ]
        w = [K * _by_output(output[k][..., places[k]]) for k in range(1, len(places))]
        return cls(growth.activation, U, w, places, growth.network.outputs is None)

    def to(self, dtype: torch.dtype) -> Member:
        return replace(self, U=[U.to(dtype) for U in self.U], w=[w.to(dtype) for w in self.w])

    def on(self, centre: Centre | None) -> Member:
        """The same functions as ones of the centred features."""
        if centre is None or not self.U:
            return self
        return replace(self, U=[centre.weights_on_centred(self.U[0]), *self.U[1:]])

    def layers(self, x: Tensor, depth: int) -> tuple[list[Tensor], list[Tensor]]:
        """(h_1, .., h_depth; a_1, .., a_depth) of the members' own units on x[j], the rows of member j."""
        U = self.U[:depth]
        return subnetwork(self.activation, [x, *[x[..., :0]] * (len(U) - 1)][: len(U)], U)

    def inputs(self, x: Tensor, depth: int) -> list[Tensor]:
        """What the new units of layers 1, .., depth read: Ψ, then the member's own φ(h_{k-1})."""
        a = self.layers(x, depth - 1)[1]
        return [x, *a, *[x[..., :0]] * (depth - 1 - len(a))]

    def f(self, x: Tensor) -> Tensor:
        """f^(j) on x[j]."""
        f = x.new_zeros(1)
        for h, w in zip(self.layers(x, len(self.U))[0], self.w, strict=True):
            f = f + h @ w
        return f.squeeze(-1) if self.single else f


def _by_output(w: Tensor) -> Tensor:
    """Weights [K, n], or [C, K, n] of C outputs, as [K, n, outputs]."""
    return w.unsqueeze(-1) if w.ndim == 2 else w.permute(1, 2, 0)


# Training


@dataclass(frozen=True)
class RateSchedule:
    """Steps, points per step, and the learning rate over the run: up in its first tenth, down to 0 by a square root.

    While the held-out loss falls the rate starts again, so many `cycles` at most.
    """

    steps: int
    batch: int
    rate: float
    cycles: int = 1

    @classmethod
    def of(cls, config: Config, m: int, depth: int, *, further: bool = False, classes: bool = False) -> RateSchedule:
        """Enough passes to learn a small sample, and fewer over a large one, in larger batches.

        A class index tells more than a sign, so fewer passes do. A further subnetwork starts from what is there,
        and one of several hidden layers learns faster and costs more per step: both get a third of the passes.
        """
        batch = config.search.batch or min(m, max(64, min(512, m // 200)))
        passes = max(12, min(50 if classes else 80, VISITS // m))
        epochs = config.search.epochs or passes // (3 if further or depth > 2 else 1)
        least = 100 if depth == 1 else 200
        steps = config.search.steps if config.search.steps is not None else max(least, epochs * math.ceil(m / batch))
        free = config.search.epochs is None and config.search.steps is None
        cycles = min(CYCLES, max(1, VISITS // (m * passes))) if free else 1
        return cls(steps, min(batch, m), config.search.learning_rate or (0.03 if depth == 1 else 0.005), cycles)

    def at(self, step: int) -> float:
        return self.rate * min(1.0, 10 * step / self.steps) * math.sqrt(1 - (step - 1) / self.steps)


class MemberSearch:
    """U_1, .., U_d of all members, and their slopes; U_d is the one top unit, or one for each class."""

    def __init__(self, U: list[Tensor], existing: Member, labels: Labels, config: Config) -> None:
        self.existing, self.labels, self.config = existing, labels, config
        self.shapes = [part.shape for part in U]
        self.theta = torch.cat([part.reshape(-1) for part in U])
        self.slopes = torch.zeros_like(self.theta)
        self.U, self.U_slopes = views(self.theta, self.shapes), views(self.slopes, self.shapes)

    def forward(self, x: Tensor) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """(z_1, .., z_d, what each layer reads; h_1, .., h_{d-1}; f, the output of the top units)."""
        inputs = self.existing.inputs(x, len(self.U))
        h, a = subnetwork(self.config.family.activation, inputs[:-1], self.U[:-1])
        z = [x, *(torch.cat([old, own], 2) if old.shape[2] else own for old, own in zip(inputs[1:], a, strict=True))]
        return z, h, self.labels.of(layer(z[-1], self.U[-1]))

    def differentiate(self, batch: Batch) -> None:
        """The gradient of each member's mean loss on its batch, into `slopes`: of several processes their share."""
        z, h, f = self.forward(batch.x)
        g = self.labels.slopes(batch.y, batch.offset + f, 1 / batch.size).view(*batch.y.shape, -1)
        if batch.weights is not None:
            g.mul_(batch.weights.unsqueeze(2))
        torch.bmm(g.mT, z[-1], out=self.U_slopes[-1])
        back = torch.bmm(g, self.U[-1])
        for k in range(len(h) - 1, -1, -1):
            back = back[:, :, -h[k].shape[2] :] * activation_slope(self.config.family.activation, h[k])
            torch.bmm(back.mT, z[k], out=self.U_slopes[k])
            if k:
                back = torch.bmm(back, self.U[k])

    def losses(self, batch: Batch) -> Tensor:
        """Σ_i s_i loss_i at a few scales of the output: the convex step sets the scale, not the search."""
        f = self.forward(batch.x)[-1]
        scales = batch.x.new_tensor(SCALES).view(-1, *[1] * f.ndim)
        values = self.labels.values(batch.y, batch.offset + scales * f)
        return (values if batch.weights is None else values * batch.weights).sum((1, 2))


class CommitteeDescent:
    """A search on its way down, by Adam, on the batches of a feed."""

    def __init__(
        self, search: MemberSearch, feed: Feed, schedule: RateSchedule, radii: list[float] | None, draw: torch.Generator
    ) -> None:
        self.search, self.feed, self.schedule, self.radii = search, feed, schedule, radii
        self.theta, self.batches, self.world = search.theta, feed(draw), feed.points.world
        self.adam = Adam(search.theta, MEMORY)

    def lowest(self, patience: int) -> Tensor:
        """theta at the least held-out loss; the rate starts again from there while each run lowers it enough."""
        steps = self.schedule.steps
        every = max(1, math.ceil(steps / LOOKS))
        start = self.look()
        best, least = descend(self, steps=steps, every=every, patience=patience)
        for _ in range(self.schedule.cycles - 1):
            self.theta.copy_(best)
            self.adam = Adam(self.theta, MEMORY)
            before = least
            best, least = descend(self, steps=steps, every=every, patience=patience)
            if before - least < GAIN * start:
                break
        return best

    def step(self, number: int) -> None:
        search = self.search
        search.differentiate(next(self.batches))
        self.adam.step(self.world.sum(search.slopes), self.schedule.at(number))
        if self.radii is not None:
            for U, radius in zip(search.U[:-1], self.radii, strict=True):
                nearest_(U.view(-1, U.shape[2]), radius, search.config.family.p)

    def look(self) -> float:
        """The held-out loss at the best of a few scales of the output."""
        return float(self.world.sum(self.search.losses(self.held_out)).min()) / self.held_out.size

    @cached_property
    def held_out(self) -> Batch:
        """The points that each member is not trained on, as a batch."""
        feed, sample = self.feed, self.feed.sample
        rows = sample.held_out
        x = torch.stack([feed.rows(part) for part in rows])
        offset = taken_from(feed.offset, rows)
        return Batch(x, feed.y(rows), offset, sample.held_out_weights, sample.held_out_points)


def start(
    existing: Member, depth: int, units: int, n_0: int, K: int, draw: torch.Generator, tops: int = 1
) -> list[Tensor]:
    """He's scale below; zeros on top, so that a candidate begins at f_{t-1}."""
    old = [n_0, *[U.shape[1] for U in existing.U[: depth - 1]]]
    read = [n + (units if k else 0) for k, n in enumerate([*old, *[0] * (depth - len(old))])]
    U = [torch.randn(K, units, n, generator=draw) * math.sqrt(2 / n) for n in read[:-1]]
    return [*U, torch.zeros(K, tops, read[-1])]


def member_outputs(existing: Member, sample: SplitSample, centred: bool, dtype: torch.dtype) -> Tensor | None:
    """[K, ..]: f^(j) of the points here, the offset that member j starts from; None where there is nothing yet."""
    if not existing.w:
        return None
    points, K = sample.points, sample.members
    outputs = sample.labels.none(K, points.here, like=torch.zeros(0, dtype=dtype, device=sample.y.device))
    for rows, Psi in points.chunks(K * (points.n_0 + sum(U.shape[1] for U in existing.U))):
        x = (points.centre(Psi) if centred else Psi).to(dtype)
        outputs[:, rows] = existing.f(x.expand(K, *x.shape))
    return outputs


# From members to units of the network


def proposal_of(U: list[Tensor], existing: Member, spec: NetworkSpec, config: Config) -> Proposal:
    """Rows of norm Λ, block by block; w in proportion to the norms that the top units had."""
    scaled, scale = at_bounds(U, spec, config.family.p, linear_top=True)
    block = {k: _dense(rows, existing, k) for k, rows in enumerate(scaled, start=1)}
    top = scale.flatten()
    mix = top / top.sum() if bool(top.sum() > 0) else torch.full_like(top, 1 / len(top))
    return Proposal(block, mix, len(U[0]))


def _dense(rows: Tensor, existing: Member, k: int) -> Tensor:
    """[K, B, own inputs] as the rows of layer k over all units of layer k-1: zeros to those of other members."""
    K, B, _ = rows.shape
    if k == 1:
        return rows.flatten(0, 1)
    old = existing.own[k - 1] if k - 1 < len(existing.own) else torch.zeros(K, 0, dtype=torch.long)
    new = rows.shape[2] - old.shape[1]
    count = old.numel()
    dense = rows.new_zeros(K, B, count + K * new)
    for j in range(K):
        dense[j][:, old[j]] = rows[j, :, : old.shape[1]]
        dense[j][:, count + j * new : count + (j + 1) * new] = rows[j, :, old.shape[1] :]
    return dense.flatten(0, 1)


def inside(proposal: Proposal, spec: NetworkSpec, config: Config) -> Proposal:
    """The proposal with its rows members of their families, to the last bit."""
    if not config.family.enforce:
        return proposal
    block = {k: members(U, spec.bound(k, k - 1), config.family.p) for k, U in proposal.block.items()}
    return replace(proposal, block=block)


def check_config(config: Config) -> None:
    """Refuse settings of a search over w: the committee trains whole members."""
    check(
        config.search.variant in ("base", "SD"),
        f"learner='committee' has no variant {config.search.variant!r}: take 'gradient'.",
    )
    check(config.search.outputs == "top", "learner='committee' has one top unit per member, got outputs='all'.")
    check(not config.search.corrective, "learner='committee' weighs its members alike, got corrective=True.")
