"""Table 3 of the paper: how AdaNet finds its candidates, on one pair; with what the paper did not measure.

Beside base, R, P, D and SD: AdaNet.CVX by its closed-form step and by the exact one, and AdaNet with the λ and β that
make the objective a bound on the risk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.experiments.cifar_pairs import Protocol, Row, data_of
from verify.experiments.grids import Variant
from verify.experiments.selection import best, row


def variants(
    protocol: Protocol, pair: str, chosen: Iterable[Variant], report: Callable[[list[Row]], None]
) -> list[Row]:
    """One row for each variant, with the setting of the best mean validation accuracy."""
    rows: list[Row] = []
    for variant in chosen:
        found = protocol.evaluate(data_of(pair), variant.method, variant.settings)
        rows.append({"pair": pair, "method": variant.name, **row(best(variant.settings, found))})
        report(rows)
    return rows
