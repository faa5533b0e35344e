"""AdaNet.CVX (Appendix C of the paper), corrected: one unit a round, found in closed form or as the exact minimiser.

A unit of layer s reads the units of layer s-1 that are there already; s is any layer of the network or one above it.
The step "closed-form" takes the steepest unit of each layer and keeps the layer whose scalar problem ends lowest; it is
not the joint minimiser that the paper claims (claim cvx-joint-minimiser). "exact" is, by another convex problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_theory import duality
from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train.config import Callback, Config, Trained, check_resume, check_sample
from adanet_train.convex import cvx_exact
from adanet_train.convex.projection import members
from adanet_train.core import objective
from adanet_train.core.activations import apply_activation
from adanet_train.core.complexity import penalty
from adanet_train.core.history import CandidateRecord, Round
from adanet_train.core.network import Network
from adanet_train.core.norms import row_norms
from adanet_train.core.surrogates import surrogate
from adanet_train.search.growable import Growable


def train(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """T rounds of AdaNet.CVX on the rows of Psi with labels y in {-1, +1}; callback and resume as in adanet.train."""
    points, y = check_sample(Psi, y, config)
    check_resume(resume, config)
    check(not config.corrective, "AdaNet.CVX has no fully corrective step, got corrective=True.")
    growth = _Growth(points.whole(), y, config)
    history: list[Round] = []
    if resume is not None:
        growth.replay(resume)
        history = [*resume.history]
    while len(history) < config.rounds and not (history and history[-1]["chosen"] < 0):
        candidates = growth.candidates()
        values = [unit.objective for unit in candidates]
        best = values.index(min(values)) if values else -1
        if config.step == "printed":
            best = growth.printed_choice(candidates)
        elif values and not objective.falls(min(values), growth.objective):
            best = -1
        if best >= 0:
            growth.add(candidates[best])
        history.append({"candidates": [u.record for u in candidates], "chosen": best, "objective": growth.objective})
        if callback is not None:
            callback(growth.trained(history))
    return growth.trained(history)


def family(config: Config, n_0: int, units: int = 1) -> NetworkSpec:
    """The declared family: up to T units in each layer, or T for each class, and at most five layers by default."""
    depth = config.max_depth or min(config.rounds, 5)
    return config.replace(width=units, candidates=None, max_depth=depth).family(n_0)


@dataclass(frozen=True)
class Unit:
    """A unit of layer s: weights u, outputs h on the sample, score g_s, its w and Γ, and F with it added."""

    s: int
    u: Tensor
    h: Tensor
    g: float
    w: float
    Gamma: float
    objective: float

    @property
    def record(self) -> CandidateRecord:
        units = [0] * (self.s - 1) + [1]
        return {"depth": self.s, "units": units, "objective": self.objective, "Gamma": {str(self.s): self.Gamma}}


class _Growth:
    """f_{t-1} and the outputs of its units: phi[k] has one row per unit of layer k, phi[0] = Ψ transposed."""

    def __init__(self, Psi: Tensor, y: Tensor, config: Config) -> None:
        self.y, self.config, self.Phi = y, config, surrogate(config.surrogate)
        self.spec = family(config, Psi.shape[1])
        self.Gamma = penalty(config, self.spec, Psi)
        self.phi = [Growable.of(Psi.T)]
        self.weights: list[Growable] = []
        self.w: list[list[float]] = []
        self.f, self.penalty = torch.zeros_like(y), 0.0
        self.objective = objective.loss(self.Phi, y, self.f)

    def candidates(self) -> list[Unit]:
        """The unit of each layer s <= l_{t-1} + 1 whose w is not 0: g_s > Γ_s. In round 1 only s = 1 can read anything.

        e = ε S_t/m is the gradient of the loss along the inputs of a layer, up to its sign.
        """
        pull = self.y * self.Phi.derivative(1 - self.y * self.f) / len(self.y)
        found = []
        for s in range(1, min(len(self.phi), self.spec.depth) + 1):
            e = torch.mv(self.phi[s - 1].rows, pull)
            unit = self.unit(s, e)
            if unit is not None:
                found.append(unit)
        return found

    def unit(self, s: int, e: Tensor) -> Unit | None:
        """The unit of layer s by the step that the config names, or None where w = 0 is optimal for the layer."""
        config, Lambda = self.config, self.spec.bound(s, s - 1)
        g = duality.layer_score(e.cpu().numpy(), Lambda, config.p, 1.0)
        if g == 0:
            return None
        closed_form = duality.printed_dual_vector if config.step == "printed" else duality.dual_vector
        u = torch.from_numpy(closed_form(e.cpu().numpy(), Lambda, config.p)).to(e.device)
        if config.enforce:
            u = members(u[None], Lambda, config.p)[0]
        h = self.outputs(s, u)
        Gamma = float(self.Gamma(s, h[:, None]))
        if config.step != "printed" and (duality.is_optimal(g, Gamma) or not self.can_fall(g, Gamma)):
            return None
        w = float(cvx_exact.minimise_scalar(h, self.y, self.f, Gamma, self.Phi, tol=config.tol).w)
        if config.step != "printed" and w == 0:
            return None
        if config.step == "exact":
            u, h, w = self.exact(s, Gamma)
            Gamma = float(self.Gamma(s, h[:, None]))  # the same, unless r looks at the outputs
        F = objective.loss(self.Phi, self.y, self.f + w * h) + self.penalty + Gamma * abs(w)
        return Unit(s, u, h, g, w, Gamma, F)

    def can_fall(self, g: float, Gamma: float) -> bool:
        """Whether a unit of score g could lower F by more than rounding.

        F(w) >= F(0) - (g - Γ)|w|, and Γ|w| <= F(0) wherever F(w) <= F(0): the gain is at most (g - Γ) F(0)/Γ.
        """
        return Gamma == 0 or objective.falls(self.objective - (g - Gamma) * self.objective / Gamma, self.objective)

    def exact(self, s: int, Gamma: float) -> tuple[Tensor, Tensor, float]:
        """The joint minimiser over w and ||u||_p <= Λ: v = w u solves  min_v loss(v · z) + (Γ/Λ) ||v||_p."""
        config, Lambda = self.config, self.spec.bound(s, s - 1)
        Z = self.phi[s - 1].rows.T
        v = cvx_exact.minimise_norm(Z, self.y, self.f, Gamma / Lambda, config.p, self.Phi, tol=config.tol).v
        norm = float(row_norms(v[None], config.p))
        u = members(v[None] * (Lambda / norm), Lambda, config.p)[0] if norm > 0 else torch.zeros_like(v)
        return u, self.outputs(s, u), norm / Lambda

    def outputs(self, s: int, u: Tensor) -> Tensor:
        return torch.mv(self.phi[s - 1].rows.T, u)

    def add(self, unit: Unit) -> None:
        """f_t = f_{t-1} + w h."""
        if unit.s > len(self.weights):
            self.weights.append(Growable.empty(self.y))
            self.w.append([])
            self.phi.append(Growable.empty(self.y))
        self.weights[unit.s - 1].append(unit.u)
        self.w[unit.s - 1].append(unit.w)
        self.phi[unit.s].append(apply_activation(self.config.activation, unit.h))
        self.f = self.f + unit.w * unit.h
        self.penalty += unit.Gamma * abs(unit.w)
        self.objective = objective.loss(self.Phi, self.y, self.f) + self.penalty

    def printed_choice(self, candidates: list[Unit]) -> int:
        """As printed: the largest Λ ||ε||_q, whatever Γ, and no test of whether to stop (claim cvx-layer)."""
        scores = [unit.g for unit in candidates]
        return scores.index(max(scores)) if scores else -1

    def replay(self, trained: Trained) -> None:
        """Add the units of an earlier run in their order."""
        network = trained.network.to(self.y.device)
        for candidate in objective.chosen(trained.history):
            s = candidate["depth"]
            row = len(self.w[s - 1]) if s <= len(self.w) else 0
            u = network.hidden[s, s - 1][row, : len(self.phi[s - 1].rows)].contiguous()
            w, Gamma = float(network.output[s][row]), candidate["Gamma"][str(s)]
            self.add(Unit(s, u, self.outputs(s, u), 0.0, w, Gamma, 0.0))

    def trained(self, history: list[Round]) -> Trained:
        network = self._network() if self.weights else Network.empty(self.spec.n[0], device=self.y.device)
        return Trained(network, self.spec if self.config.enforce else None, [*history], self.config)

    def _network(self) -> Network:
        n = (self.spec.n[0], *[len(w) for w in self.w])
        hidden = {(k, k - 1): U.widened(n[k - 1]) for k, U in enumerate(self.weights, start=1)}
        output = {k: self.y.new_tensor(w) for k, w in enumerate(self.w, start=1)}
        return Network(n, hidden, output, (self.config.activation,) * (len(n) - 2))
