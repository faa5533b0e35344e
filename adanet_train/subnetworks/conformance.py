"""A check of your own builder, for your tests: check_builder(my_builder, shape=(1, 28, 28), outputs=10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from adanet_theory.checks import check
from adanet_train.search.weak_learners import generator
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.protocol import (
    Context,
    Report,
    build,
    described,
    is_given,
    name_of,
    proposed,
    require_function,
)
from adanet_train.subnetworks.train import Subnetworks, train

Builder = object
POINTS = 40
"""Random ones, to train on."""


def check_builder(
    builder: Builder,
    *,
    shape: tuple[int, ...],
    outputs: int = 1,
    m: int = 64,
    categories: tuple[int, ...] = (),
    after: Builder | None = None,
) -> nn.Module:
    """Build twice, run, and train for two rounds on random points, as `AdaNetClassifier(subnetworks=...)` requires.

    The builder's own `fit` is called, if it has one; else one pass of the default training is made.

    Parameters
    ----------
    builder : the builder.
    shape : shape of one input.
    outputs : 1 for two classes, else the number of classes.
    m : number of training points that the context names.
    categories : for each column of a table the number of its codes, 0 for numbers, for a builder that embeds.
    after : the builder of the first round, whose subnetwork this one may read. None: the same one.

    Returns
    -------
    nn.Module
        The module that was built.

    Raises
    ------
    ValueError
        The builder returns no module, the same one twice, outputs of another shape, dtype or device, other bits from
        the same generator, or a complexity that is not >= 0; in eval mode the module changes its input, or its outputs
        are random or depend on the rest of the batch; its training fails, returns another module, ends with outputs
        that are not finite, or changes an earlier subnetwork.

    Examples
    --------
    >>> module = check_builder(lambda context: nn.Linear(4, context.outputs), shape=(4,), outputs=3)
    """
    name = name_of(builder)
    check(not is_given(builder), f"{name} is taken as it is, expected a builder: a function or an object with `build`.")
    proposed([builder], 1, ())  # refuses a class of builders, and what is none
    x = torch.randn(POINTS, *shape, generator=generator(0, 0, 0))
    for j, count in enumerate(categories):
        x[:, j] = torch.arange(POINTS) % count if count else x[:, j]
    context = Context(shape, outputs, (), 1, m, generator(0, 1, 0), categories)
    if after is not None:
        earlier = build(after, context).eval().requires_grad_(False)
        context = replace(context, previous=(earlier,), round=2)
    try:
        module = _built(builder, name, context, x[:8])
    except Exception as error:
        if repr(name) in str(error):
            raise
        raise ValueError(f"builder {name!r} failed: {described(error)}") from error
    y = torch.arange(POINTS) % outputs if outputs > 1 else (torch.arange(POINTS) % 2 * 2 - 1).double()
    given = Subnetworks(_Plan(after or builder, builder), strategy="all", validation=0.0, training=Fit(epochs=1))
    train(x, y, given, rounds=2, categories=categories)
    return module


@dataclass(frozen=True)
class _Plan:
    first: Builder
    second: Builder

    def candidates(self, round: int, reports: Sequence[Report]) -> list[Builder]:
        return [self.first if round == 1 else self.second]


def _built(builder: Builder, name: str, context: Context, x: Tensor) -> nn.Module:
    t = context.round
    first, second = (build(builder, replace(context, generator=generator(0, t, 0))) for _ in range(2))
    check(first is not second, f"builder {name!r} must make a new module each time, got the same one twice.")
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    check(all(torch.equal(a, b) for a, b in pairs), f"builder {name!r} must build the same bits from one generator.")
    with torch.no_grad():
        f = require_function(first, x, context.outputs, name)
    check(bool(f.isfinite().all()), f"builder {name!r}: outputs must be finite, got nan or inf.")
    return first
