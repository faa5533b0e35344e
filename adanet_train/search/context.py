"""What a builder of subnetworks sees."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Context:
    """What a builder sees.

    Attributes
    ----------
    shape : shape of one input, for instance (1, 28, 28). Inputs come in float32; convert codes by `x.long()`.
    outputs : number of outputs the module must have: 1 for two classes (the sign decides), else one per class.
    previous : subnetworks chosen in earlier rounds, trained and frozen; `hidden(module, x)` reads the last hidden layer
        of one.
    round : the round, counted from 1.
    m : number of training points.
    generator : random numbers of this candidate. torch's global generator is seeded from it while `build` runs.
    categories : number of codes of each column of x, 0 for a column of numbers, for a table read with
        `Subnetworks(categories=True)`, else empty; `Embedded(context.categories)` is a first layer for such rows.
    """

    shape: tuple[int, ...]
    outputs: int
    previous: tuple[nn.Module, ...]
    round: int
    m: int
    generator: torch.Generator
    categories: tuple[int, ...] = ()
