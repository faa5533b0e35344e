"""Rounds that add a hidden ReLU unit: AdaNet whose objective is the certificate, so that the structure adapts to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from adanet_train.certificate.search import Found, Rows, Sample, descend, losses, refined, refit, settled

PROPOSALS = ((1,), (-1,), (1, -1))
"""Signs of the units that a round tries to add."""
TRIES, UNIT_STEPS, UNIT_ROUNDS = 4, 150, 12
WORTH = 1.15
"""A new unit that leaves F above this many times its value is not refined: it would not pay."""
UNIT_SHARE = 0.4
"""The weight of the new units; of C classes at most 1/C."""
BLUR = 16.0
LEAN = 4.0
"""How far the weight of a new unit leans to its direction."""
NEAR = 0.2
"""The share of a class that a new unit is first turned to."""


def with_units(
    sample: Sample,
    found: Found,
    draw: torch.Generator,
    proposals: Sequence[tuple[int, ...]] = PROPOSALS,
    rounds: Callable[[Sample, Found, int], Iterable[Found]] | None = None,
) -> list[Found]:
    """The best network with one more unit or a pair, from directions towards hard examples drawn at random.

    Its units may lose their atoms one by one: where none is left, the best that still had a unit comes second.
    """
    seen = [_start(sample, found, signs, draw) for signs in proposals]
    best = min([one for one in seen if any(one.units)] or seen, key=_value)
    if best.value < WORTH * found.value:
        seen += (rounds or refined)(sample, best, UNIT_ROUNDS)
    return proposed(seen)


def proposed(seen: Sequence[Found]) -> list[Found]:
    """The best, and where it has no unit the best with one."""
    best = min(seen, key=_value)
    return [best] if any(best.units) else [best, *sorted((one for one in seen if any(one.units)), key=_value)[:1]]


def _value(found: Found) -> float:
    return found.value


def _start(sample: Sample, found: Found, signs: tuple[int, ...], draw: torch.Generator) -> Found:
    """All atoms of the new units at first, then those that kept weight."""
    n_0, new, device = sample.Psi.shape[1], len(signs), sample.Psi.device
    every = torch.arange(n_0, device=device).repeat(2 * new)
    nodes = torch.arange(1 + len(found.units), 1 + len(found.units) + new, device=device)
    ones = sample.Psi.new_ones(n_0)
    wider = replace(
        found,
        node=torch.cat([found.node, nodes.repeat_interleave(2 * n_0)]),
        column=torch.cat([found.column, every]),
        sign=torch.cat([found.sign, torch.cat([ones, -ones]).repeat(new)]),
        units=(*found.units, *signs),
    )
    hard = losses(sample, found)[0]
    directions = [torch.stack([towards(sample, hard, sign, draw) for _ in range(TRIES)]) for sign in signs]
    units = [torch.softmax(LEAN * torch.cat([q, -q], 1), 1) / new for q in directions]
    share = min(UNIT_SHARE, 1 / len(sample.y)) if sample.y.ndim == 2 else UNIT_SHARE
    thetas = torch.cat([(1 - share) * found.theta.expand(TRIES, -1), share * torch.cat(units, 1)], 1)
    rows = Rows.of(wider, thetas)
    # fewer counts blur the loss, so that weights may still change sides; half of the tries begin there
    rows.log_N[::2] -= math.log(BLUR)
    rows = descend(sample, wider, rows, UNIT_STEPS).best(1)
    start = settled(sample, wider, rows, 0)
    return refit(sample, start, start.theta[None])


def supported(y: Tensor, unit: int) -> Tensor:
    """The examples that a unit speaks for: of its sign; of C classes those of class |unit| - 1, or all but those."""
    return y == unit if y.ndim == 1 else (y[abs(unit) - 1] > 0) == (unit > 0)


def towards(sample: Sample, hard: Tensor, unit: int, draw: torch.Generator) -> Tensor:
    """A direction from the other examples to the neighbours, among those of the unit, of a hard example."""
    Psi, own = sample.Psi, supported(sample.y, unit)
    chosen = int(torch.multinomial((hard * own).double().cpu(), 1, generator=draw))
    closeness = (Psi @ Psi[chosen]).masked_fill(~own, -torch.inf)
    near = closeness.topk(max(1, int(NEAR * int(own.sum())))).indices
    inside, outside = Psi[near].mean(0), (hard * ~own) @ Psi / (hard * ~own).sum()
    direction = inside - outside
    return direction / direction.abs().max()
