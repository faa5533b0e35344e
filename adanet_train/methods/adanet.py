"""AdaNet (Section 4 of the paper), corrected: propose, minimise, compare, extend or stop.

One loop over rounds for all proposals: units of a learner (`search.dense`), modules of builders (`subnetworks.train`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from torch import Tensor

from adanet_train.core.config import Config
from adanet_train.core.device import threads_for
from adanet_train.core.points import Points, check_weights
from adanet_train.core.training import Callback, Trained, begin, is_extended
from adanet_train.core.world import ALONE, World
from adanet_train.search.dense import Training


class Grown(Protocol):
    """The state after some rounds."""

    @property
    def rounds(self) -> int:
        """The number of rounds."""

    @property
    def ended(self) -> bool:
        """Whether the last round added nothing."""


class RoundSteps(Protocol):
    """The steps of a round: propose candidates, compare them, extend f."""

    def propose(self, grown: Any, t: int) -> Any:
        """Trained candidates h of round t."""

    def compare(self, grown: Any, proposals: Any, t: int) -> Any:
        """Each at min_w F_t(w, h), and the best of them."""

    def extended(self, grown: Any, compared: Any, t: int) -> Any:
        """f_t with the best candidate, if it helps enough, and the round in the history."""


G = TypeVar("G", bound=Grown)


def grow(search: RoundSteps, grown: G, rounds: int, callback: Callable[[G], None] | None = None) -> G:
    """Run up to `rounds` rounds in all, from the state given; `callback` sees the result of each."""
    for t in range(grown.rounds + 1, rounds + 1):
        if grown.ended:
            break
        proposals = search.propose(grown, t)
        compared = search.compare(grown, proposals, t)
        grown = search.extended(grown, compared, t)
        if callback is not None:
            callback(grown)
    return grown


def train(
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    weights: Tensor | None = None,
    callback: Callback | None = None,
    resume: Trained | None = None,
    world: World = ALONE,
) -> Trained:
    """T rounds of AdaNet on the rows of Psi with labels y in {-1, +1}, or class indices, and sample weights, if any.

    `callback` sees the result after every round; `resume` takes up a result of an earlier call with the same config,
    and ends with the same bits as one uninterrupted run. Each process of a `world` calls this with the same sample and
    works on its own rows of it; all end with the same bits.
    """
    points, y, config = begin("adanet", Psi, y, config, resume=resume, world=world)
    training = Training.begun(points, y, check_weights(weights, y), config, undeclared=is_extended(resume, config))
    after = None if callback is None else lambda grown: callback(training.trained(grown))
    with threads_for(training.pass_costs):
        return training.trained(grow(training, training.begin(resume), config.family.rounds, after))
