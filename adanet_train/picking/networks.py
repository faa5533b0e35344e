"""Our own trainers as learners for picking: AdaNet, which is refined and grown, and AdaNet.CVX, LR and NN, refitted.

They read Ψ. `Scaled` puts a feature map before them that is fitted on the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import Array
from adanet_train.convex.labels import Labels, labels_of
from adanet_train.convex.projection import members, nearest
from adanet_train.core.config import Config
from adanet_train.core.descend import Adam
from adanet_train.core.device import one_thread
from adanet_train.core.network import Network, margins
from adanet_train.core.points import Points
from adanet_train.core.training import Trained
from adanet_train.data.features import FeatureMap
from adanet_train.methods import adanet
from adanet_train.methods.trainers import plain_trainer
from adanet_train.picking.core import Labelled
from adanet_train.search import objective
from adanet_train.search.weak_learners import generator

EXACT = 2.0**-30
"""The grid of margins that are computed in float64."""


def tensors(points: Labelled) -> tuple[Tensor, Tensor]:
    """Ψ, and y as the trainers want it: -1/+1, or class indices of more than two classes."""
    y = torch.from_numpy(points.y)
    return torch.from_numpy(np.ascontiguousarray(points.X)), 2.0 * y - 1 if len(points.classes) == 2 else y


class _Networks:
    """What the learners here share: the margins of the network that was trained."""

    grid = EXACT

    def margins(self, predictor: Trained, points: Labelled) -> Array:
        (Psi, y), network = tensors(points), predictor.network
        return Points(Psi).computed(lambda rows, part: margins(network(part), y[rows]), max(network.n)).numpy()


@dataclass(frozen=True)
class AdaNet(_Networks):
    """AdaNet: rounds on the start; after picks all weights are refined, and a subnetwork is added if T is not fitted.

    Parameters
    ----------
    config : of the rounds on the start; `rounds` bounds the number of subnetworks in all.
    steps : of Adam after a round of picks, on batches from start and picks.
    rate : of these steps, as a share of the size of the weights of a layer.
    batch : points a step.
    weight : how much more often a pick is drawn than a point of the start.

    The defaults were chosen on four splits each of digits 1-8, 5-9, 2-3, 4-7, 1-2 and 4-6, and looked at on MNIST 2-7
    and 5-6: no result is reported on these.
    """

    config: Config
    steps: int = 120
    rate: float = 0.002
    batch: int = 256
    weight: float = 4.0

    def fit(self, P: Labelled, T: Labelled, previous: Trained | None) -> Trained:
        with one_thread():
            if previous is None:
                return adanet.train(*tensors(P), self.begun(*tensors(P)))
            Psi, y = tensors(P + T)
            weights = torch.ones(len(y), dtype=torch.float64)
            weights[len(P) :] = self.weight
            trained = self.refined(previous, Psi, y, weights, generator(self.config.run.seed, 0, len(T)))
            fitted = bool((margins(trained.network(Psi[len(P) :]), y[len(P) :]) > 0).all())
            return trained if fitted else self.grown(trained, Psi, y, weights)

    def begun(self, Psi: Tensor, y: Tensor) -> Config:
        """The config with the family spelt out, as the number of points will change."""
        config = self.config.resolve("adanet", y, len(Psi))
        return config.replace(max_rounds=config.family.declared_rounds)

    def refined(self, trained: Trained, Psi: Tensor, y: Tensor, weights: Tensor, draw: torch.Generator) -> Trained:
        """Refine all weights that are not 0 by Adam, inside the declared family."""
        search = Refinement(trained, labels_of_network(y, trained))
        x = Psi.float()
        for _ in range(self.steps):
            rows = torch.multinomial(weights, self.batch, replacement=True, generator=draw)
            search.step(x[rows], y[rows], self.rate)
            search.project()
        network = search.network()
        return with_objective(replace(trained, network=network), Psi, y)

    def grown(self, trained: Trained, Psi: Tensor, y: Tensor, weights: Tensor) -> Trained:
        """The run with one more subnetwork, as deep or one layer deeper, if AdaNet finds one that helps."""
        history = [entry for entry in trained.history if entry["chosen"] >= 0]
        config = trained.config
        if len(history) >= (config.family.max_rounds or 0):
            return trained
        width = config.family.width or 1
        further = config.replace(rounds=len(history) + 1, candidates=((0, width), (1, width)))
        begun = replace(trained, history=history, config=further)
        larger = adanet.train(Psi, y, further, weights=weights, resume=begun)
        return trained if larger.history[-1]["chosen"] < 0 else with_objective(replace(larger, config=config), Psi, y)


def labels_of_network(y: Tensor, trained: Trained) -> Labels:
    """Labels with the classes of the start, since some picks may lack a class."""
    C = trained.network.outputs
    return labels_of(y if C is None else torch.arange(C), trained.config.goal.surrogate)


def with_objective(trained: Trained, Psi: Tensor, y: Tensor) -> Trained:
    """The run with F on start and picks in the last round of its history."""
    F = objective.value(trained.network, Psi, y, objective.penalties(trained), labels_of_network(y, trained))
    return replace(trained, history=[*trained.history[:-1], {**trained.history[-1], "objective": F}])


class Refinement:
    """The weights of a network on their way down, in float32; what is 0 stays 0, so that members stay apart."""

    def __init__(self, trained: Trained, labels: Labels) -> None:
        self.trained, self.labels, network = trained, labels, trained.network
        self.exact = [*network.hidden.values(), *network.output.values()]
        self.used = [U != 0 for U in self.exact]
        self.theta = [U.float().requires_grad_() for U in self.exact]
        self.adam = [Adam(U, memory=0.99) for U in self.theta]
        both = zip(self.exact, self.used, strict=True)
        self.sizes = [float(U.square().sum() / used.sum().clamp_min(1)) ** 0.5 for U, used in both]

    def with_weights(self, theta: list[Tensor]) -> Network:
        network = self.trained.network
        count = len(network.hidden)
        hidden, output = (
            zip(network.hidden, theta[:count], strict=True),
            zip(network.output, theta[count:], strict=True),
        )
        return replace(network, hidden=dict(hidden), output=dict(output))

    def step(self, x: Tensor, y: Tensor, rate: float) -> None:
        """A step of Adam; each tensor has its own learning rate, a share of the size of its weights."""
        loss = self.labels.values(y, self.with_weights(self.theta)(x)).mean()
        slopes = torch.autograd.grad(loss, self.theta)
        for adam, used, slope, size in zip(self.adam, self.used, slopes, self.sizes, strict=True):
            adam.step(slope * used, rate * size)

    def bounds(self) -> Iterator[tuple[int, float]]:
        if self.trained.declared is not None:
            for i, pair in enumerate(self.trained.network.hidden):
                yield i, self.trained.declared.bound(*pair)

    @torch.no_grad()
    def project(self) -> None:
        for i, Lambda in self.bounds():
            self.theta[i].copy_(nearest(self.theta[i], Lambda, self.trained.config.family.p))

    def network(self) -> Network:
        """The network in float64, every row a member of its family to the last bit."""
        theta = [U.detach().double() for U in self.theta]
        for i, Lambda in self.bounds():
            theta[i] = members(theta[i], Lambda, self.trained.config.family.p)
        return self.with_weights(theta)


@dataclass(frozen=True)
class Refit(_Networks):
    """AdaNet.CVX, LR or NN, trained anew on the start and the picks.

    Parameters
    ----------
    method : "cvx", "cvx-exact", "lr" or "nn".
    config : of the trainer.
    weight : copies of each pick.
    """

    method: str
    config: Config
    weight: int = 1

    def fit(self, P: Labelled, T: Labelled, previous: Trained | None) -> Trained:
        with one_thread():
            Psi, y = tensors(weighted(P, T, self.weight))
            return plain_trainer(self.method)(Psi, y, self.config)


def weighted(P: Labelled, T: Labelled, copies: int) -> Labelled:
    """The start, then `copies` copies of each pick."""
    return P + T[np.arange(len(T)).repeat(copies)]


@dataclass(frozen=True)
class Mapped:
    """A predictor on X: a feature map, then a network."""

    features: FeatureMap
    trained: Trained


@dataclass(frozen=True)
class Scaled:
    """A learner that reads Ψ, with the map X -> Ψ fitted on the start."""

    learner: AdaNet | Refit

    grid = EXACT

    def fit(self, P: Labelled, T: Labelled, previous: Mapped | None) -> Mapped:
        features = FeatureMap.fitted(P.X) if previous is None else previous.features
        before = None if previous is None else previous.trained
        return Mapped(features, self.learner.fit(mapped(features, P), mapped(features, T), before))

    def margins(self, predictor: Mapped, points: Labelled) -> Array:
        return self.learner.margins(predictor.trained, mapped(predictor.features, points))


def mapped(features: FeatureMap, points: Labelled) -> Labelled:
    return replace(points, X=features(points.X))
