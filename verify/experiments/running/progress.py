"""How far an experiment is and how long it will take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from adanet_train.core.bar import Bar


class Trials:
    """Counts trials by method, as a trial of one may take ten times as long as one of another."""

    def __init__(self, planned: Mapping[str, int] | None = None, bar: Bar | None = None) -> None:
        self.left = Counter(dict(planned or {}))
        self.total = sum(self.left.values())
        self.counts: Counter[str] = Counter()
        self.work: Counter[str] = Counter()
        self.begin, self.bar = time.monotonic(), bar

    def skip(self, methods: Sequence[str]) -> None:
        """Count trials that were in the store."""
        self.left.subtract(methods)
        self.show()

    def done(self, method: str, seconds: float) -> None:
        self.left[method] -= 1
        self.counts[method] += 1
        self.work[method] += seconds  # type: ignore[assignment]
        self.show()

    def seconds_left(self, elapsed: float) -> float | None:
        """The trials to come at the mean cost of their method, at the rate at which work was done so far.

        >>> progress = Trials({"adanet": 3, "lr": 12})
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

    @property
    def finished(self) -> int:
        return self.total - sum(max(left, 0) for left in self.left.values())

    def line(self) -> str:
        seconds = self.seconds_left(time.monotonic() - self.begin)
        ahead = "" if seconds is None else f", about {_duration(seconds)} left"
        return f"{self.finished} of {self.total} trials{ahead}"

    def show(self) -> None:
        if self.bar is not None:
            self.bar(self.finished, self.total, self.line())


def _duration(seconds: float) -> str:
    """
    >>> _duration(42), _duration(5400)
    ('42 s', '1 h 30 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
