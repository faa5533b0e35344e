"""The report of verify-bounds on a model file, for the figures of a trained network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures.canvas import FULL, Data, is_single
from verify.records.results import BoundReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_DRAWS = 8


def report(
    model: Path, *, draws: int | None, data: Path | None = None, parameters: Mapping[str, Any] | None = None
) -> BoundReport:
    """The report of verify-bounds on the model and its sample, on the CPU, so that the figure is reproducible."""
    from verify.reading.case import read_file
    from verify.records.question import Question
    from verify.rows.report import build

    given = read_file(str(model), data=None if data is None else str(data))
    question = Question(draws=draws)
    for name, (low, _) in (parameters or {}).items():
        question = replace(question, **{name: Fraction(repr(low))})  # type: ignore[arg-type]
    return build(given.model, question, sample=given.sample)


def fitted(figure: Figure, data: Data) -> Figure:
    """The figure at the given width; verify.show.plots draws for one column."""
    if not is_single(data, by_default=True):
        figure.set_size_inches(FULL, figure.get_figheight())
    return figure
