"""A refusal is one line that names the symbol, the condition and the value; how it words them is left open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest


def says(line: str, tokens: Sequence[str]) -> str:
    """The line, in which the tokens stand one after the other."""
    rest = line
    for token in tokens:
        assert token in rest, f"{token!r} is missing, in this place, in {line!r}"
        rest = rest.partition(token)[2]
    return line


def refused(call: Callable[[], Any], *tokens: str, error: type[Exception] = ValueError) -> str:
    """The message, one line, of the error that the call raises."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return says(message, tokens)


def refuses(main: Callable[[list[str]], int], argv: list[str], capsys: pytest.CaptureFixture[str], *tokens: str) -> str:
    """The one line on stderr of a command that ends with status 2 and prints nothing else."""
    capsys.readouterr()
    assert main(argv) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1), printed
    return says(printed.err, tokens)
