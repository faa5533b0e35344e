"""The report of verify-bounds on a model file, for the figures of a trained network."""

from __future__ import annotations

from pathlib import Path

from verify.network.results import BoundReport

QUICK_DRAWS = 8


def report(model: Path, *, draws: int | None, data: Path | None = None) -> BoundReport:
    """What verify-bounds says of the model and the sample in its file, on the CPU, so that the figure is repeatable."""
    from verify.network import inputs
    from verify.network.question import Question
    from verify.network.report import build

    given = inputs.read(str(model), data_path=None if data is None else str(data))
    return build(given.model, Question(draws=draws), sample=given.sample)
