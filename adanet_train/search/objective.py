"""The paper's objective  F(w) = (1/m) Σ_i Φ(1 - y_i f(x_i)) + Σ_j Γ_j |w_j|,  and F of a finished network.

For C classes the multinomial loss of `labels`, and Σ_j Γ_j Σ_c |w_{c,j}|.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from adanet_train.convex.labels import Labels, labels_of
from adanet_train.core.history import CandidateRecord, Round
from adanet_train.core.network import Network
from adanet_train.core.surrogates import Surrogate
from adanet_train.core.training import Trained
from adanet_train.core.world import ALONE, World


def loss(Phi: Surrogate, y: Tensor, f: Tensor) -> float:
    """(1/m) Σ_i Φ(1 - y_i f(x_i)).

    >>> from adanet_train.core.surrogates import surrogate
    >>> round(loss(surrogate("logistic"), torch.tensor([1.0, -1.0]), torch.zeros(2)), 4)
    1.3133
    """
    return mean(Phi.value(1 - y * f))


def mean(values: Tensor, weights: Tensor | None = None, world: World = ALONE) -> float:
    """(1/m) Σ_i s_i values_i, with sample weights s_i or without, over the rows of all processes."""
    total = values.sum() if weights is None else weights @ values
    both = world.sum(torch.stack([total, torch.full_like(total, len(values))]))
    return float(both[0] / both[1])


def falls(after: float, before: float, share: float = 0.0) -> bool:
    """Whether F fell by more than this share of it, and by more than its rounding error, or a run would not end.

    >>> falls(0.5, 0.6), falls(0.6 - 1e-16, 0.6), falls(0.5, 0.6, share=0.25)
    (True, False, False)
    """
    return after < before - max(2.0**-44 * max(1.0, before), share * before)


def price(Gamma: Tensor, w: Tensor) -> float:
    """Σ_j Γ_j |w_j|, over all outputs."""
    return float((w.abs() @ Gamma).sum())


def value(network: Network, Psi: Tensor, y: Tensor, Gamma: Mapping[int, Tensor], labels: Labels) -> float:
    """F of the network; Gamma[k] holds Γ_j of every unit of layer k."""
    penalty = sum(price(Gamma[k], w) for k, w in network.output.items() if k in Gamma)
    return mean(labels.values(y, network(Psi))) + penalty


def record(units: Sequence[int], objective: float, Gamma: Mapping[int, Tensor]) -> CandidateRecord:
    """A candidate as the history keeps it: new units in layers 1, 2, .., and Γ by layer (one number if all agree)."""
    plain = {str(k): values.tolist() for k, values in Gamma.items()}
    short = {k: values[0] if len(set(values)) == 1 else values for k, values in plain.items()}
    return {"depth": len(units), "units": list(units), "objective": objective, "Gamma": short}


def chosen(history: Sequence[Round]) -> list[CandidateRecord]:
    """The candidates that became part of the network, in order; a round that found none has chosen = -1."""
    return [entry["candidates"][entry["chosen"]] for entry in history if entry["chosen"] >= 0]


def placed(history: Sequence[Round]) -> Iterator[tuple[CandidateRecord, Counter[int], dict[int, int]]]:
    """Each of them with the number of units in each layer before it, and its own."""
    before = Counter[int]()
    for candidate in chosen(history):
        own = {k: count for k, count in enumerate(candidate["units"], start=1) if count}
        yield candidate, before.copy(), own
        before.update(own)


def penalties(trained: Trained) -> dict[int, Tensor]:
    """Γ_j of every unit, by layer, from the history. A unit that the output does not read has none: 0."""
    Gamma = {k: torch.zeros(n_k, dtype=torch.float64) for k, n_k in enumerate(trained.network.n)}
    for candidate, before, own in placed(trained.history):
        for k, count in own.items():
            values = torch.as_tensor(candidate["Gamma"].get(str(k), 0.0), dtype=torch.float64)
            Gamma[k][before[k] : before[k] + count] = values
    return {k: Gamma[k].to(w.device) for k, w in trained.network.output.items()}


def recomputed(trained: Trained, Psi: Tensor, y: Tensor) -> float:
    """F from the network and the history alone; the history's last objective says the same."""
    return value(trained.network, Psi, y, penalties(trained), labels_of(y, trained.config.goal.surrogate))
