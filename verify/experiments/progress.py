"""How far a run is and how long it will take: a bar on a terminal, else a line now and then, on stderr."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

EVERY = 30.0  # seconds between two lines


class Progress:
    """Counts trials by method, as a trial of one may take ten times as long as one of another."""

    def __init__(self, planned: Mapping[str, int] | None = None, *, quiet: bool = True) -> None:
        self.left = Counter(dict(planned or {}))
        self.total = sum(self.left.values())
        self.counts: Counter[str] = Counter()
        self.work: Counter[str] = Counter()
        self.quiet, self.begin, self.shown = quiet, time.monotonic(), time.monotonic()
        self.bar: Any = None

    def skip(self, methods: Sequence[str]) -> None:
        """Trials that were in the store."""
        self.left.subtract(methods)
        self.show()

    def done(self, method: str, seconds: float) -> None:
        self.left[method] -= 1
        self.counts[method] += 1
        self.work[method] += seconds  # type: ignore[assignment]
        self.show()

    def seconds_left(self, elapsed: float) -> float | None:
        """The trials to come at the mean cost of their method, at the rate at which work was done so far.

        >>> progress = Progress({"adanet": 3, "lr": 12})
        >>> progress.done("adanet", 10.0); progress.done("lr", 1.0)
        >>> progress.seconds_left(elapsed=5.5)  # 2 * 10 + 11 * 1 seconds of work, two of it a second
        15.5
        """
        spent = sum(self.work.values())
        if not spent:
            return None
        mean = spent / sum(self.counts.values())
        ahead = sum(
            max(left, 0) * (self.work[method] / self.counts[method] if self.counts[method] else mean)
            for method, left in self.left.items()
        )
        return ahead * elapsed / spent

    def line(self) -> str:
        finished = self.total - sum(max(left, 0) for left in self.left.values())
        seconds = self.seconds_left(time.monotonic() - self.begin)
        ahead = "" if seconds is None else f", about {_duration(seconds)} left"
        return f"{finished} of {self.total} trials{ahead}"

    def show(self) -> None:
        if self.quiet:
            return
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        if console.is_terminal:
            self._update_bar(console)
        elif time.monotonic() - self.shown >= EVERY:
            self.shown = time.monotonic()
            console.print(self.line(), markup=False, soft_wrap=True)

    def _update_bar(self, console: Any) -> None:
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        if self.bar is None:
            columns = (BarColumn(30), TextColumn("{task.description}"), TextColumn("{task.fields[trials]}"))
            self.bar = Bar(*columns, console=console, transient=True)
            self.task = self.bar.add_task("", total=self.total, trials="")
            self.bar.start()
        finished = self.total - sum(max(left, 0) for left in self.left.values())
        self.bar.update(self.task, completed=finished, trials=self.line())

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


class Download:
    """progress(done, total) of a download, as a bar on a terminal."""

    def __init__(self) -> None:
        self.bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            if not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task("fetching", total=total)
            self.bar.start()
        self.bar.update(self.task, completed=done, total=total)

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def _duration(seconds: float) -> str:
    """
    >>> _duration(42), _duration(5400)
    ('42 s', '1 h 30 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
