"""Numbers of any type as Python's own: numpy scalars, 0-dimensional arrays, "inf".

A float32 left as it is would reduce a whole formula to seven digits. So the functions at the top of the package
convert the numbers of their arguments to Python's own, without loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
_INFINITE = ("inf", "Infinity", "infinity")


def exponent(p: Any) -> float:
    """p in [1, inf] as a float.

    >>> exponent("inf"), exponent(2)
    (inf, 2.0)
    """
    try:
        number = float(p)
    except (TypeError, ValueError):
        number = math.nan
    if not number >= 1:
        raise ValueError(f"p must be in [1, inf], got p={p}.")
    return number


def plain(value: Any) -> Any:
    """The value with Python's own numbers; arrays of short floats become float64."""
    if isinstance(value, str):
        return math.inf if value in _INFINITE else value
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    dtype = getattr(value, "dtype", None)
    if dtype is None or getattr(dtype, "kind", "O") not in "biuf" or not hasattr(value, "astype"):
        return value
    return value.item() if value.ndim == 0 else value.astype("float64") if dtype.kind == "f" else value


def on_plain_numbers(function: Function) -> Function:
    """The function on `plain` arguments."""

    @wraps(function)
    def called(*arguments: Any, **more: Any) -> Any:
        return function(*map(plain, arguments), **{name: plain(value) for name, value in more.items()})

    return called  # type: ignore[return-value]
