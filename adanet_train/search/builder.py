"""The committee as a builder: `build(context)` makes one module of K networks side by side, `train` trains them.

The default learner takes the trained module apart and adds its units to one dense network (`learn`). Beside the user's
builders it stays a module (`subnetworks.committee`). Both use this builder and this training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from adanet_theory.spec import NetworkSpec
from adanet_train.core.activations import on_tensors
from adanet_train.core.config import Config
from adanet_train.core.descend import views
from adanet_train.search.committee import (
    CommitteeDescent,
    Member,
    MemberSearch,
    Proposal,
    RateSchedule,
    SplitSample,
    inside,
    member_outputs,
    proposal_of,
    start,
)
from adanet_train.search.context import Context
from adanet_train.search.feed import Feed
from adanet_train.search.growth import Growth


class _Below(nn.Linear):
    """Its weights come from `take`: nothing is drawn for them."""

    def reset_parameters(self) -> None:
        pass


class _Above(nn.Conv1d):
    """A layer of each member on its own units, as one convolution of groups; nothing is drawn for it either."""

    def reset_parameters(self) -> None:
        pass


class CommitteeModule(nn.Module):
    """h(x), the mean of K networks of dense layers, one beside the other: parts of standard layers, so that it exports.

    Member j reads the inputs and, above its first layer, the units of member j of the committee `before` too.

    Parameters
    ----------
    U : weights of each layer, [K, units, what a unit reads]: first the units that are there, then those of the module.
    activation : φ of the layers below the top, which is linear.
    before : an earlier committee of K members, or none.
    constant : whether the last column of U_1 is on a constant 1 instead of on an input.
    """

    before: CommitteeModule | GrownCommittee | None

    def __init__(
        self,
        U: Sequence[Tensor],
        activation: str,
        before: CommitteeModule | GrownCommittee | None,
        *,
        constant: bool,
    ) -> None:
        super().__init__()
        K, self.activation, self.before = len(U[0]), activation, before
        self.members, self.phi = K, on_tensors(activation).value
        self.first = _Below(U[0].shape[2] - constant, K * U[0].shape[1], bias=constant)
        sides = [(K * part.shape[2], K * part.shape[1]) for part in U[1:]]
        above = (_Above(*side, 1, groups=K, bias=False) for side in sides)
        self.above = nn.ModuleList(above)
        self.take(U)

    @property
    def weights(self) -> list[Tensor]:
        """U_1, .., U_d, each [K, units, what a unit reads]."""
        K, U, b = self.members, self.first.weight.detach(), self.first.bias
        U = U.view(K, -1, U.shape[1])
        first = U if b is None else torch.cat([U, b.detach().view(K, -1, 1)], 2)
        return [first, *(layer.weight.detach().view(K, layer.out_channels // K, -1) for layer in self._above)]

    @property
    def _above(self) -> list[_Above]:
        return [layer for layer in self.above if isinstance(layer, _Above)]

    def take(self, U: Sequence[Tensor]) -> None:
        """Set these weights."""
        n = self.first.in_features
        with torch.no_grad():
            self.first.weight.copy_(U[0][:, :, :n].flatten(0, 1))
            if self.first.bias is not None:
                self.first.bias.copy_(U[0][:, :, n].flatten())
            for layer, part in zip(self._above, U[1:], strict=True):
                layer.weight.copy_(part.flatten(0, 1)[:, :, None])

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)[0][-1].mean(1)

    def hidden(self, x: Tensor) -> Tensor:
        """The last hidden layer of all members; the inputs where there is none."""
        h, read = self.layers(x)
        return read[-1] if len(h) > 1 else x.flatten(1)

    def layers(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """(h_1, .., h_d, each [points, K, units]; what layers 2, .., d read, each [points, K units])."""
        K, phi = self.members, self.phi
        earlier = [] if self.before is None else self.before.units(x, len(self.above))
        h, read = [self.first(x.flatten(1)).unflatten(1, (K, -1))], []
        for k, layer in enumerate(self.above):
            a = phi(h[-1])
            read.append((torch.cat([earlier[k], a], 2) if k < len(earlier) else a).flatten(1))
            h.append(layer(read[-1].unsqueeze(2)).squeeze(2).unflatten(1, (K, -1)))
        return h, read

    def units(self, x: Tensor, depth: int) -> list[Tensor]:
        """φ(h_k) of layers 1, .., depth, [points, K, units], with the units of earlier committees before its own."""
        own = [self.phi(h) for h in self.layers(x)[0][:depth]]
        earlier = [] if self.before is None else self.before.units(x, depth)
        both = min(len(own), len(earlier))
        joined = [torch.cat([earlier[k], own[k]], 2) for k in range(both)]
        return [*joined, *own[both:], *earlier[both:]]

    @property
    def earlier(self) -> Member:
        """The units of earlier committees that each member reads."""
        return Member(self.activation, []) if self.before is None else self.before.existing

    @property
    def existing(self) -> Member:
        """All units of each member with those of earlier committees: what a further one reads."""
        below = self.earlier.U
        own, U = self.weights, list[Tensor]()
        for k in range(max(len(own), len(below))):
            width = U[k - 1].shape[1] if k else own[0].shape[2]
            old = [nn.functional.pad(part, (0, width - part.shape[2])) for part in below[k : k + 1]]
            U.append(torch.cat([*old, *own[k : k + 1]], 1))
        return Member(self.activation, U)


class GrownCommittee(nn.Module):
    """The committee of a dense network so far, as `context.previous` holds it."""

    def __init__(self, existing: Member, members: int) -> None:
        super().__init__()
        self.existing, self.members, self.activation = existing, members, existing.activation

    def forward(self, x: Tensor) -> Tensor:
        return self.existing.f(x.expand(self.members, *x.shape)).mean(0)

    def units(self, x: Tensor, depth: int) -> list[Tensor]:
        """φ(h_k) of layers 1, .., depth, [points, K, units]."""
        return [a.transpose(0, 1) for a in self.existing.layers(x.expand(self.members, *x.shape), depth)[1]]


@dataclass(frozen=True)
class CommitteeBuilder:
    """Committees of so many layers.

    Parameters
    ----------
    depth : layers of each member, the linear one on top included.
    units : units of each member in every layer below the top.
    config : resolved: the number of members, and the settings of the training.
    constant : whether a constant 1 stands behind the inputs.
    spec : the family that every step must stay in; None where weights are free.
    """

    depth: int
    units: int
    config: Config
    constant: bool = False
    spec: NetworkSpec | None = None

    def build(self, context: Context) -> CommitteeModule:
        """Untrained members that read the last committee among the earlier subnetworks; their top weights are 0."""
        K, phi = self.config.search.members or 1, self.config.family.activation
        committees = [one for one in context.previous if isinstance(one, CommitteeModule | GrownCommittee)]
        alike = [one for one in committees if (one.members, one.activation) == (K, phi)]
        before = alike[-1] if alike and self.depth > 1 else None
        existing = Member(phi, []) if before is None else before.existing
        n_0 = math.prod(context.shape) + self.constant
        U = start(existing, self.depth, self.units, n_0, K, context.generator, context.outputs)
        return CommitteeModule(U, phi, before, constant=self.constant)

    @property
    def radii(self) -> list[float] | None:
        """Bounds on the units below the top while they are trained; where φ is homogeneous they are scaled afterwards.

        Units that cannot be scaled are kept in their family step by step, and on Ψ itself.
        """
        spec = self.spec
        if spec is None or not self.config.family.enforce:
            return None
        if all(phi.is_homogeneous for phi in spec.activations[: self.depth - 1]):
            return None
        return [spec.bound(k, k - 1) for k in range(1, self.depth)]

    def train(
        self, module: CommitteeModule, sample: SplitSample, existing: Member, draw: torch.Generator
    ) -> list[Tensor]:
        """Train every member from f^(j) of `existing` until the loss on its part stops falling; keep the best look.

        The weights are set in the module and also returned in float64.
        """
        config, radii, labels = self.config, self.radii, sample.labels
        dtype, device = getattr(torch, config.run.dtype), sample.y.device
        centre = sample.points.centre if radii is None else None
        existing = existing.on(centre).to(dtype)
        offset = member_outputs(existing, sample, centre is not None, dtype)
        m, further, classes = len(sample.points), offset is not None, labels.outputs is not None
        schedule = RateSchedule.of(config, m, self.depth, further=further, classes=classes)
        search = MemberSearch([part.to(device, dtype) for part in module.weights], existing, labels, config)
        feed = Feed(sample, offset, schedule.batch, centred=centre is not None, dtype=dtype)
        # A further subnetwork starts from what is there already: if it helps it does so soon.
        patience = max(1, config.search.patience // 2) if further else config.search.patience
        descent = CommitteeDescent(search, feed, schedule, radii, draw)
        U = [part.double() for part in views(descent.lowest(patience), search.shapes)]
        if centre is not None:
            U[0] = centre.weights(U[0])
        module.take(U)
        return U


def learn(
    growth: Growth,
    sample: SplitSample,
    depth: int,
    units: int,
    spec: NetworkSpec,
    config: Config,
    draw: torch.Generator,
) -> Proposal:
    """A trained committee as units of the dense network, inside their families."""
    existing, shape = Member.of(growth, sample.members), (growth.points.n_0,)
    previous = (GrownCommittee(existing, sample.members),) if growth.parts else ()
    builder = CommitteeBuilder(depth, units, config, spec=spec)
    t, m = len(growth.parts) + 1, len(sample.points)
    module = builder.build(Context(shape, sample.labels.tops, previous, t, m, draw)).to(growth.f.device)
    U = builder.train(module, sample, existing, draw)
    return inside(proposal_of(U, existing, spec, config), spec, config)
