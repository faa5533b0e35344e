"""What adanet-train shows: a line per round, a bar below them on a terminal, and the closing table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from adanet_train.config import Trained


class Progress:
    """Called after every round; on stderr, so that stdout holds the result alone."""

    def __init__(self, rounds: int, notes: Sequence[str] = ()) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.bar: Bar | None = None
        if self.console.is_terminal:
            columns = (TextColumn("round"), MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn())
            self.bar = Bar(*columns, console=self.console, transient=True)
            self.task = self.bar.add_task("rounds", total=rounds)
        self.notes = list(notes)

    def __enter__(self) -> Progress:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, trained: Trained) -> None:
        # the notes with the first round and not before: a run refused at its start says one line only
        lines = [*self.notes, f"round {len(trained.history)}: {round_line(trained.history[-1])}"]
        self.notes = []
        for line in lines:
            self.console.print(line, markup=False, soft_wrap=True)
        if self.bar is not None:
            self.bar.update(self.task, completed=len(trained.history))


def round_line(entry: Mapping[str, Any]) -> str:
    """The candidates' objective values, and what was chosen.

    >>> candidates = [{"depth": 1, "objective": 0.5}, {"depth": 2, "objective": 0.25}]
    >>> round_line({"candidates": candidates, "chosen": 1, "objective": 0.25})
    'F = 0.25 at depth 2 (depth 1: 0.5, depth 2: 0.25)'
    """
    candidates = entry["candidates"]
    shown = ", ".join(f"depth {candidate['depth']}: {candidate['objective']:.6g}" for candidate in candidates)
    if entry["chosen"] < 0:
        return f"F = {entry['objective']:.6g}, no candidate is lower: stopped ({shown})"
    return f"F = {entry['objective']:.6g} at depth {candidates[entry['chosen']]['depth']} ({shown})"


def closing_table(result: Mapping[str, Any]) -> str:
    """Method, rounds, architecture, objective, train and test error, seconds, file."""
    n_0, *units = result["n"]
    test_error = result["test_error"]
    rows = {
        "method": result["method"],
        "rounds": result["rounds"],
        "architecture": f"n_0 = {n_0}, depth {result['depth']}, units {', '.join(str(n_k) for n_k in units)}",
        "objective": f"{result['objective']:.6g}",
        "train error": f"{result['train_error']:.4f}",
        "test error": "no test data" if test_error is None else f"{test_error:.4f}",
        "seconds": f"{result['seconds']:.1f}",
        "model": result["model"],
    }
    return "\n".join(f"{name:14}{value}" for name, value in rows.items())
