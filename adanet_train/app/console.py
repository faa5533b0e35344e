"""What all commands share: the parser, and errors of one line with status 2. Nothing heavy."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from adanet_theory.checks import nearest
from adanet_train.core.files import PROJECT, versions

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class Parser(argparse.ArgumentParser):
    """Refuses abbreviated options, and prints the epilog unchanged."""

    def __init__(self, prog: str | None = None, **more: Any) -> None:
        more.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(prog, allow_abbrev=False, **more)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line, which suggests the option or choice that was probably meant."""
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
    """Run the command: its own status, 2 after one line on stderr for an error, 130 (SIGTERM: 143) if interrupted."""
    try:
        status = _status(parser, command, argv)
        sys.stdout.flush()  # here a reader that left early can still be met with silence
        return status
    except KeyboardInterrupt as error:
        return refuse(parser.prog, interrupted, status_of(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        return 2
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        return 2  # rich left so; its status 1 would say that a bound is violated
    except (ValueError, ArithmeticError, OSError, RuntimeError, MemoryError) as error:
        return refuse(parser.prog, described(error))


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which a scheduler or torchrun ends a process; handled like an interrupt from the keyboard."""


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated at the first SIGTERM in the block; only the main thread receives signals."""
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
    """128 + the number of the signal, as in shells."""
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
    """The error in one line; if memory ran out, how much was asked for, where that is known.

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
    """Size in bytes of the allocation that failed, 0 if unknown; None for an error that is not about memory.

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
