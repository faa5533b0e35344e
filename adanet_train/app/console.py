"""What all commands share: the parser, errors of one line with status 2, the progress bar. Nothing heavy."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from adanet_theory.checks import nearest
from adanet_train.core.files import PROJECT, versions

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class Parser(argparse.ArgumentParser):
    """Options in full only, and the epilog as it was written."""

    def __init__(self, prog: str | None = None, **more: Any) -> None:
        more.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(prog, allow_abbrev=False, **more)

    def error(self, message: str) -> NoReturn:
        """One line, no usage dump; a misspelt option is answered with the one that was probably meant."""
        self.exit(2, f"{self.prog}: {_one_line(message)}{self._meant(message)}\n")

    def _meant(self, message: str) -> str:
        unknown = re.search(r"unrecognized arguments: (--[\w-]+)", message)
        near = self._longer(unknown[1]) or nearest(unknown[1], self._option_string_actions) if unknown else None
        if choice := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            near = nearest(choice[1], choice[2].replace("'", "").split(", "))
        if re.search(r"unrecognized arguments: \S+\.(npy|csv|parquet)\b", message):
            return " (quote a pattern of files, as in 'part-*.npy': the shell replaced it by its files)"
        return f" (did you mean {near}?)" if near else ""

    def _longer(self, option: str) -> str | None:
        """The one option that begins as the given one does."""
        longer = [name for name in self._option_string_actions if name.startswith(f"{option.removesuffix('s')}-")]
        return longer[0] if len(longer) == 1 else None

    def add_version(self) -> None:
        self.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")


class _Version(argparse.Action):
    """Looks the version up when it is asked for: that takes longer than --help."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(parser.prog, versions([PROJECT])[PROJECT])
        parser.exit()


def run(
    parser: Parser,
    command: Callable[[argparse.Namespace], int],
    argv: Sequence[str] | None = None,
    *,
    interrupted: str = "interrupted.",
) -> int:
    """The status of the command: its own, 2 after one line on stderr for what it refuses, 130 if interrupted."""
    try:
        status = _status(parser, command, argv)
        sys.stdout.flush()  # here a reader that left early can still be met with silence
        return status
    except KeyboardInterrupt as error:
        return refuse(parser.prog, interrupted, status_of(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        return 2
    except (ValueError, ArithmeticError, OSError, RuntimeError, MemoryError) as error:
        return refuse(parser.prog, described(error))


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which a scheduler or torchrun ends a process: to be met as an interrupt from the keyboard is."""


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM as Terminated, once, while the block runs; only the main thread can hear signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def status_of(error: KeyboardInterrupt) -> int:
    """As shells have it: 128 and the number of the signal."""
    return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def _status(parser: Parser, command: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as done:
        return int(done.code or 0)
    return command(arguments)


def refuse(name: str, message: str, status: int = 2) -> int:
    print(f"{name}: {_one_line(message)}", file=sys.stderr)
    return status


def described(error: BaseException) -> str:
    """The error in words; of one for want of memory what was asked for, where it is known.

    >>> described(ValueError("m must be >= 2 to train,\\n got m=1."))
    'm must be >= 2 to train, got m=1.'
    >>> described(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes."))
    'out of memory: 8 GiB were asked for at once.'
    >>> described(MemoryError())
    'out of memory.'
    """
    text = _one_line(str(error))
    asked = _asked(error)
    if asked:
        return f"out of memory: {size(float(asked[1]), asked[2])} were asked for at once."
    if isinstance(error, MemoryError):
        return f"out of memory: {text}" if text else "out of memory."
    return text or type(error).__name__


def memory_asked(error: BaseException) -> float | None:
    """The bytes that could not be had at once, 0 where that is not known; None for another error.

    >>> memory_asked(MemoryError()), memory_asked(MemoryError("allocate 2.5 KiB")), memory_asked(ValueError("x"))
    (0.0, 2560.0, None)
    """
    asked = _asked(error)
    if asked:
        return float(asked[1]) * 1024 ** UNITS.index(asked[2])
    return 0.0 if isinstance(error, MemoryError) else None


def _asked(error: BaseException) -> re.Match[str] | None:
    match = re.search(r"allocate ([\d.]+) (bytes|[KMGTPE]iB)\b", _one_line(str(error)))
    return match if isinstance(error, MemoryError | RuntimeError) else None


def size(value: float, unit: str = "bytes") -> str:
    """
    >>> size(3 * 2**31), size(256, "TiB")
    ('6 GiB', '256 TiB')
    """
    place = UNITS.index(unit)
    while value >= 1000 and place + 1 < len(UNITS):
        value, place = value / 1024, place + 1
    return f"{value:.3g} {UNITS[place]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


# Progress


def is_quiet(verbose: bool | None) -> bool:
    """Whether a function of Python shows no progress; None: it does where stderr is a terminal."""
    return not (sys.stderr.isatty() if verbose is None else verbose)


class Bar:
    """How far long work is and how long it will take: a bar after a second, without a terminal a line every 10 s.

    with Bar("fetching") as progress: fetch(folder, progress)      calls progress(done, total)
    """

    AFTER, EVERY = 1.0, 10.0  # seconds

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self.what, self.quiet = what, quiet
        self.on_terminal = not quiet and sys.stderr.isatty()
        self.begin = self.spoke = time.monotonic()
        self.done, self.total, self.words = 0, 0, ""
        self.shown: Any = None
        self.lock = threading.RLock()
        self.timer = threading.Timer(self.AFTER, self._show)  # the first step may take long
        self.timer.daemon = True

    def __enter__(self) -> Bar:
        if self.on_terminal:
            self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.timer.cancel()
            self.on_terminal, self.quiet = False, True
            self._hide()

    def __call__(self, done: int, total: int, words: str = "") -> None:
        now = time.monotonic()
        if done < self.done:  # the next work began
            self.begin = now
        self.done, self.total, self.words = done, total, words
        if self.on_terminal and now - self.begin >= self.AFTER:
            self._show()
        elif not self.on_terminal and not self.quiet and now - self.spoke >= self.EVERY:
            self.say(self.line())

    def paced(self) -> None:
        """The time left is counted from here: what was done before was of another kind."""
        self.begin, self.spoke = time.monotonic() - self.AFTER, time.monotonic() - self.EVERY

    def line(self) -> str:
        share = f" {self.done / self.total:.0%}" if self.total else ""
        return ", ".join(part for part in (f"{self.what}{share}", self._words()) if part)

    def _words(self) -> str:
        return ", ".join(part for part in (self.words, self._left()) if part)

    def _left(self) -> str:
        """The time that the rest takes at the pace so far."""
        if not 0 < self.done < self.total:
            return ""
        seconds = (time.monotonic() - self.begin) * (self.total - self.done) / self.done
        return f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        with self.hidden():
            print(line, file=sys.stderr, flush=True)
        self.spoke = time.monotonic()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """The terminal without the bar, to print on; the next step shows it again."""
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
