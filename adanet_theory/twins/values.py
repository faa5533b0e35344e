"""Values of the letters: read exactly, checked on first use, looked up by name and index."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from adanet_theory.checks import check


def exact(value: Any) -> Any:
    """The exact value as int, float, Fraction or sympy number; oo as math.inf."""
    if isinstance(value, int | float | Fraction):
        return value
    if isinstance(value, sp.Expr):
        if value.free_symbols:
            raise ValueError(f"{value} is not a number.")
        return math.inf if value is sp.oo else value
    if value in ("inf", "oo"):
        return math.inf
    if isinstance(value, str | Decimal):
        return Fraction(value)
    if hasattr(value, "item"):
        return exact(value.item())
    raise ValueError(f"{value!r} is not a number.")


_WHOLE = ("k", "l", "m", "s", "i", "d", "j")
_CONDITIONS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "p": ("in [1, inf]", lambda x: x >= 1),
    "delta": ("in (0, 1)", lambda x: 0 < x < 1),
    "sup": (">= 0", lambda x: x >= 0),
    "j": ("an integer", lambda x: x == int(x)),
    "d": ("an integer >= 0", lambda x: x == int(x) and x >= 0),
    "n": ("an integer >= 0", lambda x: x == int(x) and x >= 0),
    **{name: ("finite", lambda x: abs(x) < math.inf) for name in ("eps", "u", "w_gauss", "w_prior")},
    **{name: ("> 0 and finite", lambda x: 0 < x < math.inf) for name in ("rho", "eta", "tau")},
    **{name: ("an integer >= 1", lambda x: x == int(x) and x >= 1) for name in ("k", "l", "m", "s", "i")},
}
_NONNEGATIVE = ("finite and >= 0", lambda x: 0 <= x < math.inf)


@lru_cache(maxsize=4096)
def _holds(name: str, number: Any) -> bool:
    """Whether a value of that name meets its condition (cached, because sympy is slow to compare exact numbers)."""
    if isinstance(number, float) and not math.isfinite(number):
        return number == math.inf and name in ("p", "sup")
    return bool(_CONDITIONS.get(name, _NONNEGATIVE)[1](number))


def _checked(name: str, index: tuple[int, ...], value: Any) -> Any:
    symbol = f"{name}_{{{','.join(map(str, index))}}}" if index else name
    try:
        number = exact(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(f"{symbol} must be an exact number, got {symbol}={value!r}.") from None
    if not _holds(name, number):
        raise ValueError(f"{symbol} must be {_CONDITIONS.get(name, _NONNEGATIVE)[0]}, got {symbol}={value}.")
    return int(number) if name in _WHOLE else number


class Values:
    """The values by name and index as balls at the current precision, checked on first use."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.numbers: dict[Any, Any] = {}

    def number(self, name: str, index: tuple[int, ...] = ()) -> Any:
        key = (name, index)
        if key not in self.numbers:
            self.numbers[key] = _checked(name, index, self._find(name, index))
        return self.numbers[key]

    def _find(self, name: str, index: tuple[int, ...]) -> Any:
        check(name in self.values, f"{name} is needed, got no value.")
        value = self.values[name]
        if isinstance(value, Mapping | Sequence | np.ndarray) and not isinstance(value, str):
            return self._element(name, value, index)
        check(not index, f"{name} must be a list or a dict, got {name}={value}.")
        return value

    @staticmethod
    def _element(name: str, value: Any, index: tuple[int, ...]) -> Any:
        check(bool(index), f"{name} must be one number, got several.")
        if isinstance(value, Mapping):
            element = value.get(index if len(index) > 1 else index[0], 0 if name == "Lambda" else None)
        else:
            position = index[0] - (name != "n")
            element = value[position] if 0 <= position < len(value) else None
        if element is None:
            raise ValueError(f"{name}_{index[0]} is needed, got no value.")
        return element
