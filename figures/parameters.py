"""The parameters of the command line (--depth 2:20, --data FILE): which figure takes each, and its allowed values.

Each script declares its own: PARAMETERS names them, each with ONE number or a SPAN, and DATA the kind of file for
--data. Its compute gets them as pairs (low, high).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import Any

ONE, SPAN = "A", "A[:B]"
WORDS = {
    "depth": "depth l, or the largest number of layers of a run",
    "rho": "margin",
    "m": "sample size",
    "p": "exponent of the norm, 1 to inf",
    "width": "units per layer, or per block",
    "n_0": "number of features",
    "delta": "largest probability that a bound fails",
    "Lambda": "largest norm of a unit's weights",
    "rounds": "rounds of a training run",
    "trials": "number of samples, or problems, to draw",
}
FLAGS = {name: "--n0" if name == "n_0" else f"--{name}" for name in WORDS}
_LEAST = {"depth": 2.0, "m": 2.0, "p": 1.0, "width": 1.0, "n_0": 1.0, "rounds": 2.0, "trials": 10.0}
P = {"1": 1.0, "2": 2.0, "inf": math.inf}
"""The exponents that figures show side by side."""
WHOLE = ("m", "depth", "width", "n_0", "rounds", "trials")


def span(text: str) -> tuple[float, float]:
    """A number, or A:B with A < B.

    >>> span("2:20"), span("inf")
    ((2.0, 20.0), (inf, inf))
    """
    low, colon, high = text.partition(":")
    ends = float(low), float(high if colon else low)
    if not 0 <= ends[0] <= ends[1]:
        raise ValueError(text)
    return ends


def add_to(options: argparse.ArgumentParser) -> None:
    for name, flag in FLAGS.items():
        help = f"{WORDS[name]}: a number or a span A:B, for the figures that --list shows with it"
        options.add_argument(flag, dest=name, type=span, metavar="A[:B]", help=help)


def given(arguments: argparse.Namespace) -> dict[str, tuple[float, float]]:
    return {name: getattr(arguments, name) for name in WORDS if getattr(arguments, name) is not None}


def check_taken(names: Sequence[str], asked: Mapping[str, tuple[float, float]], takes: Mapping[str, Mapping]) -> None:
    """Refuse a parameter that a named figure does not take, or one without a named figure. `takes`: by figure."""
    for parameter, (low, high) in asked.items():
        _check_value(parameter, low, high)
        able = [name for name, own in takes.items() if parameter in own]
        wrong = [name for name in names if parameter not in takes[name]]
        if wrong or not names:
            what = f"{wrong[0]} does not take it" if wrong else "name the figure"
            raise ValueError(f"{FLAGS[parameter]} is for {', '.join(able)}: {what}.")
        for name in names:
            if low < high and takes[name][parameter] == ONE:
                raise ValueError(f"{parameter} is one number for {name}, got the span {low:g}:{high:g}.")


def _check_value(name: str, low: float, high: float) -> None:
    positive = low > 0 or name == "Lambda"
    finite = high < (1.0 if name == "delta" else math.inf) or name == "p"
    if low < _LEAST.get(name, 0.0) or not positive or not finite:
        raise ValueError(f"{name} must be {_condition(name)}, got {low:g}:{high:g}.")


def _condition(name: str) -> str:
    """
    >>> _condition("delta"), _condition("depth"), _condition("rho")
    ('in (0, 1)', 'finite and >= 2', 'finite and > 0')
    """
    if name == "delta":
        return "in (0, 1)"
    least = f">= {_LEAST[name]:g}" if name in _LEAST else ">= 0" if name == "Lambda" else "> 0"
    return least if name == "p" else f"finite and {least}"


def number(asked: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    """The given number, else the default.

    >>> number({"depth": (4.0, 4.0)}, "depth", 3), number({}, "depth", 3)
    (4, 3)
    """
    if name not in asked:
        return otherwise
    return int(asked[name][0]) if name in WHOLE else asked[name][0]
