"""Table 3 of the paper: how AdaNet finds its candidates, on one pair; with what the paper did not measure.

Beside base, R, P, D and SD: AdaNet.CVX by its closed-form step and by the exact one, and AdaNet with the λ and β that
make the objective a bound on the risk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.experiments.cifar_pairs import Protocol, data_of
from verify.experiments.running.grids import Variant
from verify.experiments.running.selection import PairRow, best


def variants(
    protocol: Protocol, pair: str, chosen: Iterable[Variant], report: Callable[[list[PairRow]], None]
) -> list[PairRow]:
    """One row for each variant, with the setting of the best mean validation accuracy."""
    rows: list[PairRow] = []
    for variant in chosen:
        found = protocol.evaluate(data_of(pair), variant.method, variant.settings)
        rows.append(PairRow.of(pair, variant.name, best(variant.settings, found)))
        report(rows)
    return rows
