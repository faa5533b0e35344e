"""Conditions that all statements share, each with its error message; sums and products that report overflow."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")
Progress = Callable[[int, int], None]
"""progress(done, total), called from time to time during long work."""


def __getattr__(name: str) -> Any:
    """Array, made on first use, so that commands that only check their options do not load numpy."""
    if name != "Array":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import numpy as np
    from numpy.typing import NDArray

    return NDArray[np.float64]


class OutsideTheoryError(ValueError):
    """The statement is not proved for this input.

    Parameters
    ----------
    assumption
        Id of the assumption that fails, kept as an attribute.
    message
        Symbol, condition, value.
    """

    def __init__(self, assumption: str, message: str) -> None:
        super().__init__(f"{message} [assumption: {assumption}]")
        self.assumption = assumption


def check(condition: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or the name of its class if it has no message.

    >>> first_line(ValueError(" too short\\n expected 3")), first_line(KeyError())
    ('too short', 'KeyError')
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_choice(symbol: str, value: object, known: Iterable[str]) -> None:
    """Refuse a value that is not among the known ones, and suggest the nearest.

    >>> check_choice("statement", "theorem1", ["lemma-1", "theorem-1"])
    Traceback (most recent call last):
    ValueError: statement 'theorem1' is not known: did you mean 'theorem-1'?
    """
    known = list(known)
    if value not in known:
        raise unknown_choice(symbol, value, known)


def unknown_choice(symbol: str, value: object, known: Iterable[str]) -> ValueError:
    """The error for an unknown value, which may be the beginning of one name.

    >>> unknown_choice("cite", "occam", ["occam-certificate", "held-out"])
    ValueError("cite 'occam' is not known: did you mean 'occam-certificate'?")
    """
    known = list(known)
    begun = [name for name in known if name.startswith(f"{value}-")]
    near = begun[0] if len(begun) == 1 else nearest(str(value), known)
    if near is not None:
        return ValueError(f"{symbol} {value!r} is not known: did you mean {near!r}?")
    return ValueError(f"{symbol} must be one of {', '.join(known)}, got {symbol}={value!r}.")


def nearest(value: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: it may differ in case, hyphens and a letter or two, but not in digits.

    >>> nearest("theorem1", ["theorem-1", "lemma-1"]), nearest("theorem-3", ["theorem-1"])
    ('theorem-1', None)
    """
    from difflib import get_close_matches

    plain = {_plain(name): name for name in known}
    alike = [name for name in plain if _digits(name) == _digits(value)]
    # of a short name two letters that changed places are half of it
    close = get_close_matches(_plain(value), alike, n=1, cutoff=0.8 if len(_plain(value)) > 5 else 0.7)
    return plain[close[0]] if close else None


def shown(names: Sequence[str], most: int = 20) -> str:
    """The names for a message: all if there are few, else the first and the last, where labels often are.

    >>> shown(["a", "b", "c", "d", "e", "f"], most=4)
    'a, b, .., e, f'
    """
    if len(names) <= most:
        return ", ".join(names)
    return ", ".join([*names[: most // 2], "..", *names[-(most // 2) :]])


def refuse_unknown(function: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Refuse arguments that a function does not take, and suggest the nearest.

    >>> refuse_unknown("NetworkSpec", ["activation"], ["n", "activations"])
    Traceback (most recent call last):
    TypeError: NetworkSpec takes no argument 'activation': did you mean 'activations'?
    """
    for name in unknown:
        known = list(known)
        near = nearest(name, known) or next((one for one in known if len(one) > 3 and name.startswith(one)), None)
        remedy = f"did you mean {near!r}?" if near else f"it takes {', '.join(known)}."
        raise TypeError(f"{function} takes no argument {name!r}: {remedy}")


def with_near_misses(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which answers an unknown keyword with the one that was probably meant.

    >>> @with_near_misses
    ... def door(X, *, delta=0.05, test=None): ...
    >>> door(0, detla=0.1)
    Traceback (most recent call last):
    TypeError: door takes no argument 'detla': did you mean 'delta'?
    >>> door(0, test_data=0)
    Traceback (most recent call last):
    TypeError: door takes no argument 'test_data': did you mean 'test'?
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*given: P.args, **named: P.kwargs) -> R:
        refuse_unknown(function.__name__, (name for name in named if name not in known), known)
        return function(*given, **named)

    return checked


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _digits(name: str) -> list[str]:
    return [letter for letter in name if letter.isdigit()]


def check_m(m: float) -> None:
    check(m >= 1 and m == int(m), f"m must be an integer >= 1, got m={m}.")


def check_rho(rho: float) -> None:
    check(0 < rho < math.inf, f"rho must be > 0 and finite, got rho={rho}.")


def check_delta(delta: float, name: str = "delta") -> None:
    check(0 < delta < 1, f"{name} must be in (0, 1), got {name}={delta}.")


def check_risk(error: float, m: float, delta: float) -> None:
    check(0 <= error <= 1, f"the margin error and the ramp must be in [0, 1], got {error}.")
    check_m(m)
    check_delta(delta)


def check_nonnegative(symbol: str, value: float) -> None:
    check(0 <= value < math.inf, f"{symbol} must be finite and >= 0, got {symbol}={value}.")


def finite(value: float, statement: str) -> float:
    """Return the value; raise OverflowError if it is beyond the largest float, so the result is never inf."""
    if math.isinf(value):
        raise OverflowError(f"{statement} exceeds the largest float, 1.8e308.")
    return value


def total(values: Iterable[float], statement: str) -> float:
    """Return the correctly rounded sum of the values; raise OverflowError if it is beyond the largest float.

    >>> total([0.1] * 10, "a sum")
    1.0
    """
    try:
        return finite(math.fsum(values), statement)
    except OverflowError:
        raise OverflowError(f"{statement} exceeds the largest float, 1.8e308.") from None


def product(factors: Iterable[float], statement: str) -> float:
    """Return the product of factors >= 0. Only the result may overflow or underflow, never a partial product.

    >>> product([2.0**1000, 2.0**1000, 2.0**-1000, 2.0**-999], "a product")
    2.0
    """
    mantissa, exponent = 1.0, 0
    for factor in factors:
        part, power = math.frexp(factor)
        mantissa, shift = math.frexp(mantissa * part)
        exponent += power + shift
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        raise OverflowError(f"{statement} exceeds the largest float, 1.8e308.") from None
