"""A check of one's own builder, to run in one's own tests: check_builder(my_builder, shape=(1, 28, 28), outputs=10)."""

from __future__ import annotations

import torch
from torch import nn

from adanet_theory.checks import check
from adanet_train.search.weak_learners import generator
from adanet_train.subnetworks import measure
from adanet_train.subnetworks.protocol import Context, build, name_of, outputs_of

Builder = object


def check_builder(
    builder: Builder, *, shape: tuple[int, ...], outputs: int = 1, m: int = 64, categories: tuple[int, ...] = ()
) -> nn.Module:
    """Build twice and run: what `AdaNetClassifier(subnetworks=...)` asks of a builder.

    Parameters
    ----------
    builder : the builder.
    shape : shape of one input.
    outputs : 1 for two classes, else the number of classes.
    m : number of training points that the context names.
    categories : for each column of a table the number of its codes, 0 for numbers, for a builder that embeds.

    Returns
    -------
    nn.Module
        The module that was built.

    Raises
    ------
    ValueError
        The builder returns no module, outputs of another shape, dtype or device, other bits from the same generator,
        outputs of a point that depend on the rest of the batch in eval mode, or a complexity that is not >= 0.

    Examples
    --------
    >>> module = check_builder(lambda context: nn.Linear(4, context.outputs), shape=(4,), outputs=3)
    """
    name = name_of(builder)
    contexts = [Context(shape, outputs, (), 1, m, generator(0, 1, 0), categories) for _ in range(2)]
    first, second = (build(builder, context) for context in contexts)
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    check(all(torch.equal(a, b) for a, b in pairs), f"builder {name!r} must build the same bits from one generator.")
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(8, *shape, generator=draw)
    for j, count in enumerate(categories):
        x[:, j] = torch.randint(count, (8,), generator=draw) if count else x[:, j]
    with torch.no_grad():
        whole = outputs_of(first.eval(), x, outputs, name)
        part = outputs_of(first, x[:3], outputs, name)
    check(bool(whole.isfinite().all()), f"builder {name!r}: outputs must be finite, got nan or inf.")
    alone = torch.allclose(whole[:3], part, rtol=1e-4, atol=1e-5)
    check(alone, f"builder {name!r}: in eval mode the outputs of a point must not depend on its batch.")
    r, _ = measure.complexity(first, builder, shape)
    check(r >= 0, f"builder {name!r}: complexity must be >= 0, got {r}.")
    return first
