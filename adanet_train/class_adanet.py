"""AdaNet for C classes: the rounds of `adanet` on f(x, y) = Σ_k w_{k,y} · h_k(x), units shared by the classes.

    F = (1/m) Σ_i log Σ_c exp( f(x_i, c) - f(x_i, y_i) + 1{c != y_i} ) + Σ_j Γ_j Σ_c |w_{c,j}|

The units of a candidate are trained under C outputs that start at f_{t-1}, each is then read by a unit of the top layer
of its own (the learner "units" of two classes), and w is the minimiser of F, with the certificate of `convex.mixture`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train import objective
from adanet_train.class_search import Descent, descend
from adanet_train.complexity import Penalty, penalty
from adanet_train.config import Callback, Config, Trained, check_resume, check_weights
from adanet_train.convex import mixture
from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.projection import members, nearest_
from adanet_train.history import CandidateRecord, Round
from adanet_train.network import Network, block_outputs, subnetwork
from adanet_train.norms import row_norms
from adanet_train.points import Points
from adanet_train.weak_learners import at_bounds, generator, he


def train(
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    weights: Tensor | None = None,
    callback: Callback | None = None,
    resume: Trained | None = None,
) -> Trained:
    """T rounds of AdaNet on the rows of Psi with class indices y; the rest as in `adanet.train`."""
    Psi, y, C = check_classes(Psi, y, config)
    check_config(config)
    sample = Sample(Psi, y, config, config.family(Psi.shape[1], len(y)), check_weights(weights, y))

    def candidates(network: Network, t: int) -> list[Candidate]:
        return [sample.candidate(network, depth, units, t, i) for i, depth, units in sample.sizes(network)]

    return grow(sample, C, candidates, config.least_decrease, callback, resume)


def grow(
    sample: Sample,
    C: int,
    candidates: Callable[[Network, int], list[Candidate]],
    least_decrease: float,
    callback: Callback | None,
    resume: Trained | None,
) -> Trained:
    """Rounds that keep the best of the candidates of network and t, until none lowers F by that share of it."""
    config, device = sample.config, sample.Psi.device
    check_resume(resume, config)
    network = resume.network.to(device) if resume else Network.empty(sample.spec.n[0], outputs=C, device=device)
    history: list[Round] = [*resume.history] if resume else []
    F = sample.value(network)
    for t in range(len(history) + 1, config.rounds + 1):
        if history and history[-1]["chosen"] < 0:
            break
        found = candidates(network, t)
        values = [candidate.objective for candidate in found]
        fell = bool(values) and objective.falls(min(values), F, least_decrease)
        best = values.index(min(values)) if fell else -1
        if best >= 0:
            network = found[best].network
            if config.corrective:
                network = sample.corrected(network)
            F = sample.value(network)
        history.append({"candidates": [candidate.record for candidate in found], "chosen": best, "objective": F})
        if callback is not None:
            callback(sample.trained(network, history))
    return sample.trained(network, history)


@dataclass(frozen=True, eq=False)
class Candidate:
    """The network with the candidate's units in it and the best w on them, and F then."""

    network: Network
    objective: float
    record: CandidateRecord


class Sample:
    """What stays the same from round to round. f is computed from the network: a run taken up has the same bits."""

    def __init__(self, Psi: Tensor, y: Tensor, config: Config, spec: NetworkSpec, weights: Tensor | None) -> None:
        self.Psi, self.y, self.config, self.spec, self.weights = Psi, y, config, spec, weights
        self.Gamma: Penalty = penalty(config, spec, Psi, int(y.max()) + 1)

    def value(self, network: Network) -> float:
        """F of the network."""
        loss = ClassLoss(self.Psi[:, :0], self.y, network(self.Psi), self.weights)
        return float(loss.value(loss.offset)) + self.penalty(network, network.layers(self.Psi))

    def penalty(self, network: Network, h: Sequence[Tensor]) -> float:
        """Σ_j Γ_j Σ_c |w_{c,j}|."""
        return sum(float((w.abs() @ self.Gamma(k, h[k - 1])).sum()) for k, w in network.output.items())

    def sizes(self, network: Network) -> list[tuple[int, int, int]]:
        """(number, depth, units) of each candidate."""
        depths = [(network.depth + offset, units) for offset, units in self.config.sizes(len(self.y))]
        return [(i, depth, units) for i, (depth, units) in enumerate(depths) if 1 <= depth <= self.spec.depth]

    def candidate(self, network: Network, depth: int, units: int, t: int, number: int) -> Candidate:
        """Units found by gradients, in their family, and w* = argmin_w F for them."""
        config = self.config
        h, f = network.layers(self.Psi), network(self.Psi)
        inputs = network.inputs(self.Psi, depth, config.activation)
        draw = generator(config.seed, t, number)
        U = find_units(inputs, self.y, f, units, self.spec, config, draw, self.weights)
        block = dict(enumerate(U, start=1))
        layers = list(block) if config.outputs == "all" else [depth]
        above = block_outputs(config.activation, inputs, U)
        H = {k: above[k - 1] for k in layers}
        Gamma = {k: self.Gamma(k, H[k]) for k in layers}
        columns = torch.cat([H[k] for k in layers], 1)
        every = torch.cat(list(Gamma.values()))
        found = mixture.minimise_classes(columns, self.y, f, every, weights=self.weights, tol=config.tol)
        w = dict(zip(layers, found.w.split(units, dim=1), strict=True))
        F = found.objective + self.penalty(network, h)
        record = objective.record([units] * depth, F, Gamma)
        return Candidate(network.extended(block, w, config.activation), F, record)

    def corrected(self, network: Network) -> Network:
        """The fully corrective step: F minimised over all of w, from where it stands."""
        h = network.layers(self.Psi)
        read = [k for k, w in network.output.items() if bool(w.any())]
        Gamma = torch.cat([self.Gamma(k, h[k - 1]) for k in read])
        w = torch.cat([network.output[k] for k in read], 1)
        nothing = h[0].new_zeros(len(self.y), len(w))
        columns = torch.cat([h[k - 1] for k in read], 1)
        tol = self.config.tol
        found = mixture.minimise_classes(columns, self.y, nothing, Gamma, w=w, weights=self.weights, tol=tol)
        parts = found.w.split([network.n[k] for k in read], dim=1)
        output = dict(network.output) | dict(zip(read, (part.contiguous() for part in parts), strict=True))
        return Network(network.n, network.hidden, output, network.activations, network.outputs)

    def trained(self, network: Network, history: list[Round]) -> Trained:
        return Trained(network, self.spec if self.config.enforce else None, [*history], self.config)


# The units of a candidate


def find_units(
    inputs: Sequence[Tensor],
    y: Tensor,
    f: Tensor,
    units: int,
    spec: NetworkSpec,
    config: Config,
    generator: torch.Generator,
    weights: Tensor | None = None,
) -> list[Tensor]:
    """U_1, .., U_d, members of their families."""
    depth, C = len(inputs), f.shape[1]
    own = [0, *[units] * (depth - 1)]
    shapes = [(units, x.shape[1] + extra) for x, extra in zip(inputs, own, strict=True)]
    if depth == 1:
        U = _linear(inputs[0], y, f, shapes[0], spec, config, generator, weights)
    else:
        start = [he(shape, generator).to(y.device) for shape in shapes[:-1]]

        def forward(U: Sequence[Tensor], rows: Sequence[Tensor]) -> Tensor:
            return subnetwork(config.activation, rows, U[:-1])[1][-1] @ U[-1].T

        V = f.new_zeros(C, units)
        of = Descent(inputs[:-1], y, f, forward, margin=1.0, weights=weights)
        found = descend(of, [*start, V], config, generator)
        top = torch.eye(units, dtype=torch.float64, device=y.device) * spec.bound(depth, depth - 1)
        U = [*at_bounds(found[:-1], spec, config.p), torch.nn.functional.pad(top, (inputs[-1].shape[1], 0))]
    if config.enforce:
        U = [members(U_k, spec.bound(k, k - 1), config.p) for k, U_k in enumerate(U, start=1)]
    return U


def _linear(
    Psi: Tensor,
    y: Tensor,
    f: Tensor,
    shape: tuple[int, int],
    spec: NetworkSpec,
    config: Config,
    generator: torch.Generator,
    weights: Tensor | None,
) -> list[Tensor]:
    """Units of layer 1 under C outputs, kept in their ball while they are trained."""
    Lambda = spec.bound(1, 0)
    U = torch.randn(shape, generator=generator, dtype=torch.float64)
    U = (U / row_norms(U, config.p)[:, None] * Lambda).to(y.device)

    def forward(parts: Sequence[Tensor], rows: Sequence[Tensor]) -> Tensor:
        return rows[0] @ parts[0].T @ parts[1].T

    def project(parts: Sequence[Tensor]) -> None:
        nearest_(parts[0], Lambda, config.p)

    V = f.new_zeros(f.shape[1], shape[0])
    of = Descent([Psi], y, f, forward, margin=1.0, project=project if config.enforce else None, weights=weights)
    return descend(of, [U, V], config, generator)[:1]


# What is asked


def check_classes(Psi: Tensor | Points, y: Tensor, config: Config) -> tuple[Tensor, Tensor, int]:
    """Psi in float64 and y in int64 on the device, and C: every class 0..C-1 must occur."""
    Psi = Psi.whole() if isinstance(Psi, Points) else Psi
    check(Psi.ndim == 2 and Psi.shape[1] >= 1, f"Psi must be a matrix, got shape {tuple(Psi.shape)}.")
    check(y.shape == Psi.shape[:1], f"y must hold one label per row of Psi ({len(Psi)}), got {tuple(y.shape)}.")
    check(y.dtype == torch.int64, f"y must be int64 class indices, got {y.dtype}.")
    check(bool(torch.isfinite(Psi).all()), "Psi must be finite, got nan or inf.")
    found = y.unique()
    C = len(found)
    check(C >= 2, f"y must hold at least two classes, got {C}.")
    check(
        bool((found.cpu() == torch.arange(C)).all()), f"y must hold every class 0..{C - 1}, got {found.tolist()[:6]}."
    )
    device = torch.device(config.device)
    return Psi.to(device, torch.float64).contiguous(), y.to(device), C


def check_config(config: Config) -> None:
    """What this search does not do is refused, not passed over."""
    check(config.surrogate == "logistic", f"C classes have the multinomial loss, got surrogate={config.surrogate!r}.")
    plain = config.variant in ("base", "SD")
    check(plain, f"variant must be base or SD for more than two classes, got variant={config.variant!r}.")
    check(config.objective in ("paper", "bound"), f"objective must be paper or bound here, got {config.objective!r}.")
    check(config.learner == "units", f"more than two classes have one learner, units; got learner={config.learner!r}.")


def of_classes(config: Config) -> Config:
    """The config as C classes read it: the learner is units, and where a committee would choose λ it is 1e-5.

    A network trained for its certificate is linear, unless max_depth says that it may have hidden units.
    """
    if config.objective == "certificate" and (config.max_depth or 1) == 1:
        config = config.replace(max_depth=1, rounds=1, max_rounds=None)
    asked = config.learner in ("committee", "gradient", "units")
    return config.replace(learner="units" if asked else config.learner, lam=1e-5 if config.lam is None else config.lam)
