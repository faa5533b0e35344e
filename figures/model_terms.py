"""A trained network's bounds, term by term: needs --model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from figures.canvas import Data, styled
from figures.model import QUICK_DRAWS, fitted, report
from figures.parameters import ONE
from verify.records.results import BoundReport, BoundRow
from verify.show import wording
from verify.show.plots import draw_terms, has_terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PARAMETERS = {"rho": ONE, "delta": ONE}


def compute(*, quick: bool, model: Path, data: Path | None = None, **parameters: Any) -> Data:
    """The rows of the bounds, as in verify-bounds."""
    from verify.records.question import DRAWS

    built = report(model, draws=QUICK_DRAWS if quick else DRAWS, data=data, parameters=parameters)
    return {
        "bounds": [asdict(row) for row in built.bounds],
        "rho": built.rho,
        "delta": built.delta,
        "m": built.sample.m,
        "n": list(built.model.n),
        "sha256": built.model.sha256,
    }


@styled
def draw(data: Data) -> Figure:
    # it reads nothing else of a report
    return fitted(draw_terms(cast(BoundReport, SimpleNamespace(bounds=_rows(data), cite=None))), data)


def _rows(data: Data) -> tuple[BoundRow, ...]:
    return tuple(BoundRow(**{**row, "why_not": tuple(row["why_not"])}) for row in data["bounds"])


def caption(data: Data) -> str:
    """The caption of the rows that are drawn."""
    claims = [row for row in _rows(data) if has_terms(row) and not row.context]
    values = "; ".join(
        f"{row.id} {'undefined' if row.raw is None else wording.up(row.raw)}" for row in claims if row.applies
    )
    others = ", ".join(row.id for row in claims if not row.applies)
    return (
        f"The bounds on the risk of one trained network, term by term, and their sums: sizes n = {data['n']}, "
        f"m = {data['m']}, rho = {data['rho']:.4g}, delta = {data['delta']:g}, model {data['sha256'][:12]}. "
        f"Those that apply: {values or 'none'}. Not applicable (n/a): {others or 'none'}. A bound above 1 is vacuous."
    )
