"""The progress bar of every command and of every function that takes long."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def is_quiet(verbose: bool | None) -> bool:
    """Whether a Python function shows no progress; None: quiet unless stderr is a terminal."""
    return not (sys.stderr.isatty() if verbose is None else verbose)


_shown: list[Bar] = []
"""The bars in use, the innermost last."""


def stage(words: str, *, anew: bool = True) -> None:
    """Name the current stage on the bar in use; `anew` restarts its share and its time left."""
    if _shown:
        _shown[-1].stage(words, anew=anew)


def inside(done: int, total: int) -> None:
    """Show the progress inside one step, which may take minutes, on the bar in use."""
    if _shown:
        _shown[-1].inside(done, total)


def counted(items: Iterable[T]) -> Iterator[T]:
    """The items one by one, counted on the bar in use."""
    known = list(items)
    for done, item in enumerate(known):
        if _shown:
            _shown[-1](done, len(known), f"{done} of {len(known)}")
        yield item


class Bar:
    """Progress and time left: a bar after one second, or without a terminal a line every 10 s.

    with Bar("fetching") as progress: fetch(folder, progress)      calls progress(done, total)
    """

    AFTER, EVERY = 1.0, 10.0  # seconds
    SHORT = 0.3  # seconds between two changes by `inside`

    def __init__(self, what: str, *, quiet: bool = False, counts: bool = False) -> None:
        """`counts`: the share is that of a list of works, and no stage of one of them begins it anew."""
        self.what, self.quiet, self.counts = what, quiet, counts
        self.on_terminal = not quiet and sys.stderr.isatty()
        self.begin = self.spoke = time.monotonic()
        self.done, self.total, self.words, self.item = 0, 0, "", ""
        self.part, self.of, self.part_begin, self.part_spoke = 0, 0, self.begin, self.begin
        self.shown: Any = None
        self.lock = threading.RLock()
        self.timer = threading.Timer(self.AFTER, self._show)  # the first step may take long
        self.timer.daemon = True

    def __enter__(self) -> Bar:
        _shown.append(self)
        if self.on_terminal:
            self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:
            _shown.remove(self)
            self.timer.cancel()
            self.on_terminal, self.quiet = False, True
            self._hide()

    def __call__(self, done: int, total: int, words: str | None = None) -> None:
        now = time.monotonic()
        if done < self.done:  # the next work began
            self.begin = now
        self.done, self.total, self.part, self.of = done, total, 0, 0
        if words is not None:
            self.words = self.item = words
        self._tell(now, self.begin)

    def stage(self, words: str, *, anew: bool = True) -> None:
        """Name the current stage; `anew` restarts the share and the time left."""
        now = time.monotonic()
        self.words = f"{self.item}: {words}" if self.counts and self.item else words
        self.part, self.of = 0, 0
        if anew and not self.counts:
            self.done, self.total, self.begin = 0, 0, now
        self._tell(now, now if self.shown is None else 0.0)

    def inside(self, done: int, total: int) -> None:
        """Show the progress inside one step."""
        now = time.monotonic()
        if done <= self.part or total != self.of:  # the next step began
            self.part_begin = now
        self.part, self.of = done, total
        if now - self.part_spoke >= self.SHORT:
            self.part_spoke = now
            self._tell(now, now if self.shown is None else 0.0)

    def _tell(self, now: float, begin: float) -> None:
        if self.on_terminal and now - begin >= self.AFTER:
            self._show()
        elif not self.on_terminal and not self.quiet and now - self.spoke >= self.EVERY:
            self.say(self.line())

    def paced(self) -> None:
        """Estimate the time left from here on: the work before was of another kind."""
        self.begin, self.spoke = time.monotonic() - self.AFTER, time.monotonic() - self.EVERY

    def line(self) -> str:
        share = f" {self.done / self.total:.0%}" if self.total else ""
        return ", ".join(part for part in (f"{self.what}{share}", self._words()) if part)

    def _words(self) -> str:
        step = f"{self.part / self.of:.0%} of this step" if self.of else ""
        return ", ".join(part for part in (self.words, step, self._left()) if part)

    def _left(self) -> str:
        """The time that the rest takes at the pace so far, or the rest of this step."""
        now = time.monotonic()
        if 0 < self.done < self.total:
            return _time((now - self.begin) * (self.total - self.done) / self.done)
        if 0 < self.part < self.of and now - self.part_begin >= self.SHORT:
            return f"{_time((now - self.part_begin) * (self.of - self.part) / self.part)} in it"
        return ""

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        with self.hidden():
            print(line, file=sys.stderr, flush=True)
        self.spoke = time.monotonic()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the bar in the block, so that it can print; the next step shows it again."""
        with self.lock:
            self._hide()
            yield

    def _show(self) -> None:
        with self.lock:
            if not self.on_terminal:
                return
            if self.shown is None:
                self.shown = _rich_bar(self.what)
                self.shown.start()
            self.shown.update(
                self.shown.task_ids[0], completed=self.done, total=self.total or None, words=self._words(), refresh=True
            )

    def _hide(self) -> None:
        if self.shown is not None:
            self.shown.stop()
            self.shown = None


def _time(seconds: float) -> str:
    return f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"


def _rich_bar(what: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[words]}", markup=False),
    )
    # stdout may be a file though stderr is a terminal: nothing is to be redirected
    console = Console(stderr=True, highlight=False)
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task(what, total=None, words="")
    return bar
