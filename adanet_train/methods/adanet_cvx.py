"""AdaNet.CVX (Appendix C of the paper), corrected: in every round units of one layer, by a convex problem.

A unit of layer s reads the units of layer s-1 that are there already; s is any layer of the network or one above it.
The step "closed-form" takes the steepest unit of each layer and keeps the layer whose scalar problem ends lowest; it is
not the joint minimiser that the paper claims (claim cvx-joint-minimiser). "exact" is, by another convex problem.

C classes have at most one new unit each. "exact" solves

    min_V  (1/m) Σ_i log Σ_c exp( f_c - f_y + (V_c - V_y) · z + 1{c != y} ) + (Γ_s/Λ) Σ_c ||V_c||_p

which is the least F that any number of new units of layer s can reach, however the classes share them, and the units
u_c = Λ V_c / ||V_c||_p, each read by its own class with w = ||V_c||_p / Λ, reach it (derivation cvx-classes). One unit
that all classes share is not a convex problem, and its least F is no lower. "closed-form" takes the steepest unit of
each class, which the classes share, with its best weights.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_theory import duality
from adanet_theory.checks import check
from adanet_theory.norms import conjugate
from adanet_theory.spec import NetworkSpec
from adanet_train.convex.cvx_exact import Say
from adanet_train.convex.labels import labels_of
from adanet_train.convex.newton import expected_seconds
from adanet_train.convex.projection import members
from adanet_train.core.activations import apply_activation
from adanet_train.core.config import Config
from adanet_train.core.device import threads_for
from adanet_train.core.history import LARGEST_SCORE, LEAST_F, NO_UNIT, CandidateRecord, Round, too_little
from adanet_train.core.network import Network, read
from adanet_train.core.norms import dual_vectors, row_norms
from adanet_train.core.points import Points
from adanet_train.core.training import Callback, Trained, begin, check_class_config, is_extended
from adanet_train.search import objective
from adanet_train.search.complexity import penalty
from adanet_train.search.growable import Growable

QUICK, LONG = 10.0, 600.0
"""Seconds below which an exact step is silent, and above which it warns even without `say`."""


def train(
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    callback: Callback | None = None,
    resume: Trained | None = None,
    method: str = "cvx",
    say: Say | None = None,
) -> Trained:
    """T rounds of AdaNet.CVX; callback and resume as in adanet.train.

    Parameters
    ----------
    Psi : the sample, one row a point.
    y : labels in {-1, +1}, or class indices.
    config : rounds, p, Λ, λ and the step.
    callback : sees the result after every round.
    resume : a result of an earlier call with the same config, which is taken up.
    method : "cvx", or "cvx-exact" for the exact step whatever the config says.
    say : prints the expected time of an exact step, if that is above ten seconds, and then its progress.
        Without it, steps of more than ten minutes are announced by a warning.
    """
    points, y, config = begin(method, Psi, y, config, resume=resume)
    check_cvx(y, config)
    growth = CvxGrowth(points.whole(), y, config, say)
    growth.extended = is_extended(resume, config)
    history: list[Round] = []
    if resume is not None:
        growth.replay(resume)
        history = [*resume.history]
    # An exact step takes the threads that it needs; what else a round does are passes over the sample.
    with nullcontext() if config.convex.step == "exact" else threads_for(2.0 * len(points) * points.n_0):
        while len(history) < config.family.rounds and not (history and history[-1]["chosen"] < 0):
            candidates = growth.candidates()
            best, why = growth.choice(candidates)
            if best >= 0:
                growth.add(candidates[best])
            records = [units.record for units in candidates]
            history.append({"candidates": records, "chosen": best, "objective": growth.objective, "why": why})
            if callback is not None:
                callback(growth.trained(history))
    return growth.trained(history)


def check_cvx(y: Tensor, config: Config) -> None:
    check(not config.search.corrective, "AdaNet.CVX has no fully corrective step, got corrective=True.")
    if y.is_floating_point():
        return
    check_class_config(config)
    check(config.convex.step != "printed", "step printed is for two classes: the paper prints no step for more.")
    by_layer = config.search.variant == "base" and config.goal.is_by_layer
    check(by_layer, "AdaNet.CVX of more than two classes needs a complexity of the layers, the same for every unit.")


def family(config: Config, n_0: int, units: int = 1) -> NetworkSpec:
    """The declared family: up to T units in each layer, or T for each class, and at most five layers by default."""
    depth = config.family.max_depth or min(config.family.rounds, 5)
    return config.replace(width=units, candidates=None, max_depth=depth).declared(n_0)


def announced(Z: Tensor, C: int, p: float, say: Say | None) -> Say | None:
    """The function that reports the progress of an exact step, after its expected time; None if it is quick."""
    m, n = Z.shape
    seconds = expected_seconds(m, n, C)
    if p == 1 or seconds < QUICK:
        return None
    line = (
        f"cvx-exact on {m:,} points, {n:,} inputs and {max(C, 2)} classes: about {seconds / 60:.1f} minutes of one core"
    )
    if say is None:
        if seconds > LONG:
            warnings.warn(f"{line}; verbose=True shows how far it is.", stacklevel=2)
        return None
    say(f"{line}.")
    return seldom(say)


def seldom(say: Say) -> Say:
    """Print at most one line in QUICK seconds, and drop the others."""
    last = time.monotonic()

    def said(line: str) -> None:
        nonlocal last
        if time.monotonic() - last > QUICK:
            say(line)
            last = time.monotonic()

    return said


@dataclass(frozen=True, eq=False)
class Units:
    """New units of layer s: their weights U, outputs H on the sample, the largest score g_s, their Γ.

    w has one entry a unit, or a row of them for each class.
    """

    s: int
    U: Tensor
    H: Tensor
    g: float
    Gamma: Tensor
    w: Tensor
    objective: float

    @property
    def record(self) -> CandidateRecord:
        return objective.record([0] * (self.s - 1) + [len(self.U)], self.objective, {self.s: self.Gamma})


class CvxGrowth:
    """f_{t-1} and the outputs of its units: phi[k] has one row per unit of layer k, phi[0] = Ψ transposed."""

    def __init__(self, Psi: Tensor, y: Tensor, config: Config, say: Say | None = None) -> None:
        self.say = say
        self.y, self.config, self.labels = y, config, labels_of(y, config.goal.surrogate)
        self.spec = family(config, Psi.shape[1], self.labels.tops)
        self.extended = False
        self.Gamma = penalty(config, self.spec, Psi, self.labels.outputs)
        self.phi = [Growable.of(Psi.T)]
        self.weights: list[Growable] = []
        self.w: list[Growable] = []
        """Of each layer one row per unit: its weight, or that of every class."""
        self.f, self.penalty = self.labels.none(len(y), like=Psi), 0.0
        self.objective = objective.mean(self.labels.values(y, self.f))

    # A round

    def candidates(self) -> list[Units]:
        """The units of each layer s <= l_{t-1} + 1 whose w is not 0. In round 1 only s = 1 can read anything."""
        slopes = self.labels.slopes(self.y, self.f, 1 / len(self.y))
        layers = range(1, min(len(self.phi), self.spec.depth) + 1)
        gradients = [(self.phi[s - 1].rows @ slopes).view(-1, self.labels.tops).T for s in layers]
        steepest = [u for s, G in zip(layers, gradients, strict=True) if (u := self.steepest(s, G)) is not None]
        weighed = (
            [self.exact(units) for units in steepest] if self.config.convex.step == "exact" else self.weighed(steepest)
        )
        return [units for units in weighed if self.config.convex.step == "printed" or bool(units.w.any())]

    def steepest(self, s: int, G: Tensor) -> Units | None:
        """The steepest unit of each class with g = Λ ||∇_c||_q > Γ, its w still 0; None if w = 0 is optimal for all."""
        config, Lambda = self.config, self.spec.bound(s, s - 1)
        scores = Lambda * row_norms(G, conjugate(config.family.p))
        g = float(scores.amax())
        if g == 0:
            return None
        U = self.directions(G, Lambda)
        if self.labels.outputs is not None:
            U = U[scores > self.Gamma(s, self.f)]
        H = self.outputs(s, U)
        Gamma = self.Gamma(s, H)
        if config.convex.step != "printed" and not (len(U) and self.can_fall(g, float(Gamma.amax()))):
            return None
        return Units(s, U, H, g, Gamma, H.new_zeros(len(U)), self.objective)

    def directions(self, G: Tensor, Lambda: float) -> Tensor:
        """The units of the ball along which the loss falls most, row by row; as printed, without their signs."""
        p, n = self.config.family.p, G.shape[1]
        if self.config.convex.step == "printed":
            U = torch.from_numpy(duality.printed_dual_vector(-G[0].cpu().numpy(), Lambda, p))[None].to(G)
            return self.inside(U, Lambda)
        # Of norm 1 but for (n + 16) 2^-52: this much shorter they are members as they are.
        return dual_vectors(G, p) * -(Lambda * (1 - (n + 16) * 2.0**-50) if self.config.family.enforce else Lambda)

    def weighed(self, each: Sequence[Units]) -> list[Units]:
        """Each candidate with its best w."""
        H, Gamma = [units.H for units in each], [units.Gamma for units in each]
        best = self.labels.minimise_each(
            H, self.y, self.f, Gamma, self.objective - self.penalty, self.config.convex.tol
        )
        return [replace(u, w=w, objective=self.penalty + F) for u, (w, F) in zip(each, best, strict=True)]

    def exact(self, units: Units) -> Units:
        """The joint minimiser over w and ||u||_p <= Λ: v = w u solves  min_v loss(v · z) + (Γ/Λ) Σ_c ||v_c||_p."""
        config, s, Lambda = self.config, units.s, self.spec.bound(units.s, units.s - 1)
        price, Z = float(units.Gamma[0]) / Lambda, self.phi[s - 1].rows.T
        p, tol, say = config.family.p, config.convex.tol, announced(Z, self.labels.tops, config.family.p, self.say)
        v = self.labels.minimise_norms(Z, self.y, self.f, price, p, tol, say).v.view(self.labels.tops, -1)
        norms = row_norms(v, p)
        used = norms > 0
        U = self.inside(v[used] * (Lambda / norms[used])[:, None], Lambda)
        w = norms / Lambda if self.labels.outputs is None else torch.diag(norms / Lambda)
        H, w = self.outputs(s, U), w[..., used]
        Gamma = self.Gamma(s, H)  # the same as before, unless r looks at the outputs
        F = objective.mean(self.labels.values(self.y, self.f + read(H, w))) + objective.price(Gamma, w)
        return Units(s, U, H, units.g, Gamma, w, self.penalty + F)

    def can_fall(self, g: float, Gamma: float) -> bool:
        """Whether a unit of score g could lower F by enough to count.

        F(w) >= F(0) - (g - Γ)|w|, and Γ|w| <= F(0) wherever F(w) <= F(0): the gain is at most (g - Γ) F(0)/Γ.
        """
        if g <= Gamma:
            return False
        return Gamma == 0 or self.falls(self.objective - (g - Gamma) * self.objective / Gamma)

    def falls(self, F: float) -> bool:
        """Whether F falls by more than rounding; for C classes, whose steps end at a gap of tol, by more than that."""
        return objective.falls(F, self.objective, 0.0 if self.labels.outputs is None else self.config.convex.tol)

    def choice(self, candidates: Sequence[Units]) -> tuple[int, str]:
        """The number of the candidate with the least F, or -1 where F does not fall, and why.

        As printed: the largest Λ ||ε||_q, whatever Γ, and no test of whether to stop (claim cvx-layer).
        """
        if not candidates:
            return -1, NO_UNIT
        if self.config.convex.step == "printed":
            scores = [units.g for units in candidates]
            return scores.index(max(scores)), LARGEST_SCORE
        values = [units.objective for units in candidates]
        return (values.index(min(values)), LEAST_F) if self.falls(min(values)) else (-1, too_little(0.0))

    def inside(self, U: Tensor, Lambda: float) -> Tensor:
        return members(U, Lambda, self.config.family.p) if self.config.family.enforce else U

    def outputs(self, s: int, U: Tensor) -> Tensor:
        """H, one column a unit, each whole in memory; at p = 1 only what a unit reads is multiplied."""
        rows = self.phi[s - 1].rows
        if self.config.family.p == 1:
            used = (U[0] if len(U) == 1 else U.any(0)).nonzero().view(-1)
            rows, U = rows.index_select(0, used), U.index_select(1, used)
        return (U @ rows).T

    # The network

    def add(self, units: Units) -> None:
        """f_t = f_{t-1} + w · h."""
        if units.s > len(self.weights):
            for rows in (self.weights, self.w, self.phi):
                rows.append(Growable.empty(self.f))
        self.weights[units.s - 1].extend(units.U)
        self.w[units.s - 1].extend(units.w.reshape(-1, len(units.U)).T)
        self.phi[units.s].extend(apply_activation(self.config.family.activation, units.H.T))
        self.f = self.f + read(units.H, units.w)
        self.penalty += objective.price(units.Gamma, units.w)
        self.objective = units.objective

    def replay(self, trained: Trained) -> None:
        """Add the units of an earlier run in their order."""
        network = trained.network.to(self.y.device)
        for entry, candidate in zip(trained.history, objective.chosen(trained.history), strict=False):
            s, k = candidate["depth"], candidate["units"][-1]
            row = len(self.w[s - 1].rows) if s <= len(self.w) else 0
            U = network.hidden[s, s - 1][row : row + k, : len(self.phi[s - 1].rows)].contiguous()
            Gamma = torch.as_tensor(candidate["Gamma"][str(s)], dtype=torch.float64).expand(k).to(U.device)
            w = network.output[s][..., row : row + k].contiguous()
            self.add(Units(s, U, self.outputs(s, U), 0.0, Gamma, w, entry["objective"]))

    def trained(self, history: list[Round]) -> Trained:
        outputs = self.labels.outputs
        network = self._network() if self.w else Network.empty(self.spec.n[0], outputs=outputs, device=self.y.device)
        declared = self.spec if self.config.family.enforce and not self.extended else None
        return Trained(network, declared, [*history], self.config)

    def _network(self) -> Network:
        n = (self.spec.n[0], *[len(w.rows) for w in self.w])
        hidden = {(k, k - 1): U.widened(n[k - 1]) for k, U in enumerate(self.weights, start=1)}
        shape = (-1,) if self.labels.outputs is None else (self.labels.outputs, -1)
        output = {k: w.rows.T.reshape(shape).contiguous() for k, w in enumerate(self.w, start=1)}
        return Network(n, hidden, output, (self.config.family.activation,) * (len(n) - 2), self.labels.outputs)
