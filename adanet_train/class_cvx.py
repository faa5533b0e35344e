"""AdaNet.CVX for C classes: in every round units of one layer, at most one for each class, by a convex problem.

    min_V  (1/m) Σ_i log Σ_c exp( f_c - f_y + (V_c - V_y) · z + 1{c != y} ) + (Γ_s/Λ) Σ_c ||V_c||_p

is the least F that any number of new units of layer s can reach, however the classes share them, and the units
u_c = Λ V_c / ||V_c||_p, each read by its own class with w = ||V_c||_p / Λ, reach it (derivation cvx-classes). One unit
that all classes share is not a convex problem, and its least F is no lower. "closed-form" takes the steepest unit of
each class, which the classes share, with its best weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.norms import conjugate
from adanet_theory.spec import NetworkSpec
from adanet_train.adanet_cvx import family
from adanet_train.config import Callback, Config, Trained, check_class_config, check_classes, check_resume
from adanet_train.convex import cvx_exact, mixture
from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.projection import members
from adanet_train.core import objective
from adanet_train.core.complexity import Penalty, penalty
from adanet_train.core.history import CandidateRecord, Round
from adanet_train.core.labels import labels_of
from adanet_train.core.network import Network
from adanet_train.core.norms import dual_vectors, row_norms
from adanet_train.core.points import Points


def train(
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    callback: Callback | None = None,
    resume: Trained | None = None,
) -> Trained:
    """T rounds of AdaNet.CVX on the rows of Psi with class indices y; a gain within the gap of a step is none."""
    Psi, y, C = check_classes(Psi, y, config)
    check_cvx(config)
    check_resume(resume, config)
    sample = Sample(Psi, y, config, family(config, Psi.shape[1], C))
    network = resume.network.to(Psi.device) if resume else Network.empty(Psi.shape[1], outputs=C, device=Psi.device)
    history: list[Round] = [*resume.history] if resume else []
    F = sample.value(network)
    for _ in range(len(history), config.rounds):
        if history and history[-1]["chosen"] < 0:
            break
        found = sample.candidates(network)
        values = [candidate.objective for candidate in found]
        fell = bool(values) and objective.falls(min(values), F, config.tol)
        best = values.index(min(values)) if fell else -1
        if best >= 0:
            network = found[best].network
            F = sample.value(network)
        history.append({"candidates": [candidate.record for candidate in found], "chosen": best, "objective": F})
        if callback is not None:
            callback(sample.trained(network, history))
    return sample.trained(network, history)


def check_cvx(config: Config) -> None:
    check_class_config(config)
    check(config.step != "printed", "step printed is about two classes: the paper prints no step for more.")
    check(not config.corrective, "AdaNet.CVX has no fully corrective step, got corrective=True.")
    by_layer = config.variant == "base" and config.complexity in ("lemma-2", "lemma-2-peeled", "sampled", "sqrt-depth")
    check(by_layer, "AdaNet.CVX of more than two classes needs a complexity of the layers, the same for every unit.")


@dataclass(frozen=True, eq=False)
class Candidate:
    """The network with the candidate's units in it and the best w on them, and F then."""

    network: Network
    objective: float
    record: CandidateRecord


class Sample:
    """What stays the same from round to round. f is computed from the network: a run taken up has the same bits."""

    def __init__(self, Psi: Tensor, y: Tensor, config: Config, spec: NetworkSpec) -> None:
        self.Psi, self.y, self.config, self.spec = Psi, y, config, spec
        self.labels = labels_of(y, config.surrogate)
        self.Gamma: Penalty = penalty(config, spec, Psi, self.labels.outputs)

    def value(self, network: Network) -> float:
        """F of the network."""
        values = self.labels.values(self.y, network(self.Psi))
        return objective.mean(values) + self.penalty(network, network.layers(self.Psi))

    def penalty(self, network: Network, h: Sequence[Tensor]) -> float:
        """Σ_j Γ_j Σ_c |w_{c,j}|."""
        return sum(objective.price(self.Gamma(k, h[k - 1]), w) for k, w in network.output.items())

    def trained(self, network: Network, history: list[Round]) -> Trained:
        return Trained(network, self.spec if self.config.enforce else None, [*history], self.config)

    def candidates(self, network: Network) -> list[Candidate]:
        """Units of each layer s <= l_{t-1} + 1 where V = 0 is not optimal; in round 1 only s = 1 can read anything."""
        f, paid = network(self.Psi), self.penalty(network, network.layers(self.Psi))
        found = (self.of_layer(s, network, f, paid) for s in range(1, min(network.depth + 1, self.spec.depth) + 1))
        return [candidate for candidate in found if candidate is not None]

    def of_layer(self, s: int, network: Network, f: Tensor, paid: float) -> Candidate | None:
        """V = 0 is optimal iff g_c = Λ ||∇_c||_q <= Γ for every class c."""
        config, Lambda = self.config, self.spec.bound(s, s - 1)
        Z = network.inputs(self.Psi, s, config.activation)[-1]
        Gamma = float(self.Gamma(s, f[:, :1]))
        G = gradient(Z, self.y, f)
        steep = Lambda * row_norms(G, conjugate(config.p)) > Gamma
        if not bool(steep.any()):
            return None
        U, w, F = (self.exact if config.step == "exact" else self.closed_form)(Z, f, Gamma, Lambda, G[steep])
        if not bool(w.any()):
            return None
        record = objective.record([0] * (s - 1) + [len(U)], F + paid, {s: Z.new_full((len(U),), Gamma)})
        return Candidate(network.extended({s: U}, {s: w}, config.activation), F + paid, record)

    def closed_form(self, Z: Tensor, f: Tensor, Gamma: float, Lambda: float, G: Tensor) -> tuple[Tensor, Tensor, float]:
        """(U, w, F): the steepest units of the classes with gradients G, read by all classes."""
        U = self.inside(-dual_vectors(G, self.config.p) * Lambda, Lambda)
        found = mixture.minimise_classes(Z @ U.T, self.y, f, Z.new_full((len(U),), Gamma), tol=self.config.tol)
        return U, found.w, found.objective

    def exact(self, Z: Tensor, f: Tensor, Gamma: float, Lambda: float, G: Tensor) -> tuple[Tensor, Tensor, float]:
        """(U, w, F): a unit for each class with V_c != 0, read by that class alone."""
        config = self.config
        found = cvx_exact.minimise_class_norms(Z, self.y, f, Gamma / Lambda, config.p, tol=config.tol)
        norms = row_norms(found.v, config.p)
        read = norms > 0
        U = self.inside(found.v[read] * (Lambda / norms[read])[:, None], Lambda)
        return U, torch.diag(norms / Lambda)[:, read], found.objective

    def inside(self, U: Tensor, Lambda: float) -> Tensor:
        return members(U, Lambda, self.config.p) if self.config.enforce else U


def gradient(Z: Tensor, y: Tensor, f: Tensor) -> Tensor:
    """∇ of the loss along the inputs Z of a layer, one row for each class."""
    loss = ClassLoss(Z, y, f)
    return loss.slope(loss.dual(loss.offset)).view(f.shape[1], -1)
