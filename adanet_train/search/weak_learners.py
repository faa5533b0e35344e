"""WeakLearner(S, f_{t-1}) of the paper's pseudocode: find the units h of a candidate subnetwork.

A weak learner is a function (task, generator) -> [U_1, .., U_d]; row i of U_k holds the weights of unit i of layer k,
first over the units of layer k-1 that are there already (over Ψ for k = 1), then over those of its own subnetwork. What
it returns is projected into the family and weighted by the convex step, so a learner may be as rough as it likes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train.convex.labels import Labels, labels_of
from adanet_train.convex.projection import members
from adanet_train.core.config import Config
from adanet_train.core.network import block_outputs
from adanet_train.core.norms import row_norms
from adanet_train.search.complexity import Penalty
from adanet_train.search.descent import GradientSearch, SubnetworkProblem


@dataclass(frozen=True)
class Task:
    """What a weak learner sees: the sample, f_{t-1}, what each layer can read, and the size of the candidate."""

    inputs: Sequence[Tensor]
    """inputs[k-1], k = 1..d: Ψ, then φ(h_{k-1}) of the existing units that layer k reads; float64, one row a point."""
    y: Tensor
    f: Tensor
    units: int
    spec: NetworkSpec
    config: Config
    Gamma: Penalty
    weights: Tensor | None = None
    """Sample weights of mean 1, or none."""

    @property
    def labels(self) -> Labels:
        return labels_of(self.y, self.config.goal.surrogate)

    @property
    def depth(self) -> int:
        return len(self.inputs)

    @property
    def output_layers(self) -> tuple[int, ...]:
        """The layers of the subnetwork that the output reads."""
        return tuple(range(1, self.depth + 1)) if self.config.search.outputs == "all" else (self.depth,)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        own = [0, *[self.units] * (self.depth - 1)]
        return [(self.units, x.shape[1] + extra) for x, extra in zip(self.inputs, own, strict=True)]

    def outputs(self, U: Sequence[Tensor]) -> list[Tensor]:
        """h_1, .., h_d of the candidate on the sample."""
        return block_outputs(self.config.family.activation, self.inputs, U)


def generator(seed: int, t: int, number: int) -> torch.Generator:
    """The randomness of one candidate: it depends only on the seed, the round and the candidate's number."""
    state = np.random.SeedSequence([seed, t, number]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))


WeakLearner = Callable[[Task, torch.Generator], Sequence[Tensor]]


def candidate(task: Task, generator: torch.Generator) -> list[Tensor]:
    """The weights of a candidate by the learner that the config names: float64, and members of their families."""
    config = task.config
    learner = config.search.learner if callable(config.search.learner) else LEARNERS[config.search.learner]
    U = [torch.as_tensor(U_k).to(task.y.device, torch.float64) for U_k in learner(task, generator)]
    shapes = [tuple(U_k.shape) for U_k in U]
    check(shapes == task.shapes, f"the weak learner must return weights of shapes {task.shapes}, got {shapes}.")
    check(all(bool(U_k.isfinite().all()) for U_k in U), "the weak learner must return finite weights.")
    if config.family.enforce:
        U = [members(U_k, task.spec.bound(k, k - 1), config.family.p) for k, U_k in enumerate(U, start=1)]
    return U


def start(task: Task, generator: torch.Generator) -> list[Tensor]:
    """Random directions of norm Λ, float64; drawn on the CPU, so that every device starts alike."""
    U: list[Tensor] = []
    for k, shape in enumerate(task.shapes, start=1):
        rows = torch.randn(shape, generator=generator, dtype=torch.float64)
        norms = row_norms(rows, task.config.family.p)[:, None].clamp_min(1e-300)
        U.append((rows / norms * task.spec.bound(k, k - 1)).to(task.y.device))
    return U


def best_random(task: Task, generator: torch.Generator) -> list[Tensor]:
    """The best of many random subnetworks: the least min_w F_t(w, h)."""
    best, least = start(task, generator), math.inf
    for _ in range(task.config.search.networks):
        U = start(task, generator)
        h = task.outputs(U)
        H = torch.cat([h[k - 1] for k in task.output_layers], 1)
        Gamma = torch.cat([task.Gamma(k, h[k - 1]) for k in task.output_layers])
        # A rough minimum ranks the candidates; the one kept is minimised again.
        mixture = task.labels.minimise(H, task.y, task.f, Gamma, weights=task.weights, tol=1e-4)
        if mixture.objective < least:
            best, least = U, mixture.objective
    return best


def gradient(task: Task, generator: torch.Generator) -> list[Tensor]:
    """Minimise F_t(w, u) over w and u by stochastic gradients, w from 0; every step is followed by the projection."""
    U = start(task, generator)
    w = [task.f.new_zeros(task.labels.tops, task.units) for _ in task.output_layers]
    return GradientSearch(_problem(task, U), U, w, task.config, generator).lowest()


def units(task: Task, generator: torch.Generator) -> list[Tensor]:
    """Train B hidden units under the outputs, which start at f_{t-1}, and let each unit of the top layer read one.

    With `gradient` the top layer is a second linear map below w: their product moves in steps that grow with ||w||_1,
    and its rows stay random mixtures, on which Γ ||w||_1 charges signal and noise alike. Here w weighs the hidden units
    themselves. Their norms are free while training: for a homogeneous φ they can be set to Λ afterwards.
    """
    config = task.config
    check(config.search.variant != "R", "the learner 'units' has no penalty on w to search with, got variant='R'.")
    if task.depth == 1:
        return gradient(task, generator)
    tops = task.labels.tops
    U = [he(shape, generator).to(task.y.device) for shape in task.shapes[:-1]]
    problem = SubnetworkProblem(
        inputs=[*task.inputs[:-1], task.inputs[-1][:, :0]],
        y=task.y,
        f=task.f,
        weights=task.weights,
        output_layers=(task.depth,),
        train_w=False,
        dropout=config.search.dropout if config.search.variant == "D" else 0.0,
    )
    V, each = task.f.new_zeros(tops, task.units), torch.eye(tops).to(task.f)
    return _read_one_by_one(task, GradientSearch(problem, [*U, V], [each], config, generator).lowest()[:-1])


def _read_one_by_one(task: Task, U: Sequence[Tensor]) -> list[Tensor]:
    """The hidden layers with rows of norm Λ, and a top layer of which each unit reads one."""
    top = torch.eye(task.units, dtype=torch.float64, device=task.f.device)
    top = top * task.spec.bound(task.depth, task.depth - 1)
    scaled, _ = at_bounds(U, task.spec, task.config.family.p)
    return [*scaled, torch.nn.functional.pad(top, (task.inputs[-1].shape[1], 0))]


def he(shape: tuple[int, int], generator: torch.Generator) -> Tensor:
    """Random weights of He's scale."""
    return torch.randn(shape, generator=generator, dtype=torch.float64) * math.sqrt(2 / shape[1])


def at_bounds(
    U: Sequence[Tensor], spec: NetworkSpec, p: float, *, linear_top: bool = False
) -> tuple[list[Tensor], Tensor]:
    """Rows of norm Λ where φ is homogeneous, or linear on top, and what the last ones were divided by.

    What reads a row is scaled the other way, so that the function stays; dimensions in front are several networks.
    """
    scaled: list[Tensor] = []
    scale = U[0].new_ones(*U[0].shape[:-2], 0)
    for k, rows in enumerate(U, start=1):
        existing = rows.shape[-1] - scale.shape[-1]
        rows = torch.cat([rows[..., :existing], rows[..., existing:] * scale.unsqueeze(-2)], -1)
        scale = row_norms(rows.flatten(0, -2), p).view(rows.shape[:-1]) / spec.bound(k, k - 1)
        if not (linear_top and k == len(U)) and not spec.activations[k - 1].is_homogeneous:
            scale = torch.ones_like(scale)
        scaled.append(rows / scale.clamp_min(1e-300).unsqueeze(-1))
    return scaled, scale


def _problem(task: Task, U: Sequence[Tensor]) -> SubnetworkProblem:
    config = task.config
    radii = [task.spec.bound(k, k - 1) for k in range(1, task.depth + 1)]
    l1: list[Tensor] = []
    if config.search.variant == "R":
        # Γ as the units stand at the start: r may depend on their outputs, which training changes.
        h = task.outputs(U)
        l1 = [task.Gamma(k, h[k - 1]) for k in task.output_layers]
    return SubnetworkProblem(
        inputs=task.inputs,
        y=task.y,
        f=task.f,
        weights=task.weights,
        output_layers=task.output_layers,
        radii=radii if config.family.enforce else None,
        l1=l1,
        dropout=config.search.dropout if config.search.variant == "D" else 0.0,
    )


LEARNERS: dict[str, WeakLearner] = {"gradient": gradient, "units": units, "random": best_random}
