"""AdaNet (Section 4 of the paper), corrected: propose, minimise, compare, extend or stop."""

from __future__ import annotations

from torch import Tensor

from adanet_train.config import Callback as Callback
from adanet_train.config import Config as Config
from adanet_train.config import Trained as Trained


def train(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    raise NotImplementedError
