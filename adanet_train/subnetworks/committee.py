"""A committee as one builder among others: subnetworks=[Committee(), make_cnn]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adanet_theory.checks import check
from adanet_train.convex.labels import Classes, Signs
from adanet_train.core.config import Config
from adanet_train.core.device import one_thread
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate
from adanet_train.search.builder import CommitteeBuilder, CommitteeModule
from adanet_train.search.committee import SplitSample
from adanet_train.search.context import Context
from adanet_train.search.weak_learners import generator
from adanet_train.subnetworks.data import Inputs
from adanet_train.subnetworks.fitting import Data
from adanet_train.subnetworks.protocol import Loss


@dataclass(frozen=True)
class Committee:
    """What the default learner of `AdaNetClassifier` adds in a round: the mean of some small dense networks.

    Each is trained without a part of the training points, which says when to stop. A committee reads a point as one row
    of numbers, and above its first layer the units of the last committee with as many members.

    Parameters
    ----------
    depth : layers of each network, the linear one on top included: 1 is linear.
    width : units of each network in every layer below the top. None: 50, and 100 from 20,000 points on.
    members : number of networks. None: 8, 4 from 20,000 points on, 2 from 200,000 on.
    config : settings of the training: `batch`, `epochs`, `steps`, `learning_rate`, `patience`, `validation_fraction`.

    Examples
    --------
    >>> from adanet_train.subnetworks.conformance import check_builder
    >>> module = check_builder(Committee(width=4, members=2), shape=(3,), outputs=3)
    >>> module(torch.zeros(5, 3)).shape
    torch.Size([5, 3])
    """

    depth: int = 2
    width: int | None = None
    members: int | None = None
    config: Config = field(default_factory=Config)
    name = "committee"

    def __post_init__(self) -> None:
        check(isinstance(self.depth, int) and self.depth >= 1, f"depth must be >= 1, got depth={self.depth}.")
        self._builder(2)  # refuses a width or a number of members below 1

    def build(self, context: Context) -> CommitteeModule:
        """The untrained committee, in float32."""
        return self._builder(context.m).build(context)

    def fit(self, module: CommitteeModule, data: Data, loss: Loss) -> None:
        """Train on the training rows by the logistic loss of F, whose gradient is written out here."""
        rows, draw = data.split.train, generator(0, 0, 0)  # the same parts in every round: what is read knows others
        builder, y = self._builder(len(rows)), data.y[rows.to(data.y.device)]
        points = Points(_Flattened(data.inputs, rows), _WithOne(data.inputs), data.device)
        labels = Signs(surrogate("logistic")) if y.is_floating_point() else Classes(data.outputs)
        sample = SplitSample.split(points, labels, y, None, builder.config, draw)
        with one_thread():
            builder.train(module, sample, module.earlier, data.generator)

    def _builder(self, m: int) -> CommitteeBuilder:
        asked = {"width": self.width, "members": self.members}
        config = self.config.replace(**{name: value for name, value in asked.items() if value is not None})
        config = config.replace(learner="committee").resolve("adanet", torch.zeros(0), m)
        return CommitteeBuilder(self.depth, config.sizes[-1][1], config, constant=True)


class _Flattened:
    """Inputs of some rows as a matrix, read when they are asked for."""

    def __init__(self, inputs: Inputs, rows: torch.Tensor) -> None:
        self.inputs, self.rows = inputs, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: slice | NDArray[np.int64]) -> NDArray[Any]:
        rows = self.rows[index if isinstance(index, slice) else torch.from_numpy(index)]
        found: NDArray[Any] = self.inputs[rows].flatten(1).cpu().numpy()
        return found


class _WithOne:
    """A constant 1 behind the numbers of each point."""

    def __init__(self, inputs: Inputs) -> None:
        self.n_0 = int(np.prod(inputs.shape)) + 1

    def __call__(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return np.column_stack([X, np.ones(len(X))]).astype(np.float64)
