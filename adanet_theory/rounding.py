"""Rounding outward: floats that are certainly above or below an exact number, and exact sums of floats.

EPS is two unit roundoffs, which leaves a factor 2 for higher orders. TINY bounds the loss of an underflow.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from adanet_theory.checks import Array

EPS = 2.0**-52
TINY = 2.0**-1022
Number = float | Fraction


def up(x: Number) -> float:
    """The least float >= x; OverflowError beyond the largest one.

    >>> up(Fraction(1, 10)) == 0.1, up(Fraction(1, 3)) > Fraction(1, 3)
    (True, True)
    """
    try:
        nearest = float(x)
    except OverflowError:
        raise OverflowError("a number exceeds the largest float, 1.8e308.") from None
    return nearest if Fraction(nearest) >= x else math.nextafter(nearest, math.inf)


def down(x: Number) -> float:
    """The greatest float <= x."""
    return -up(-x)


def exact_sum(values: Array) -> Fraction:
    """The exact sum of the values: mantissas of equal exponent are added as integers.

    >>> exact_sum(np.array([1e300, 1.0, -1e300]))
    Fraction(1, 1)
    """
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64).ravel())
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    result = Fraction(0)
    for exponent in np.unique(exponents):
        part = integers[exponents == exponent]
        whole = (int((part >> 26).sum()) << 26) + int((part & (2**26 - 1)).sum())  # neither half overflows
        result += whole * Fraction(2) ** (int(exponent) - 53)
    return result


def enlarged(x: Any, roundings: int) -> Any:
    """An upper value of a non-negative number or array that was computed as x with that many roundings."""
    return x * (1 + (roundings + 4) * EPS) + (roundings + 1) * TINY


# Numbers as text


def upward(x: float, digits: int = 4) -> str:
    """A bound as every report, message and log shows it: rounded up, so that the text is never below the number.

    >>> upward(0.18669524), upward(44.90001), upward(1.0), upward(1234567.0)
    ('0.1867', '44.91', '1', '1.235e6')
    """
    return shown(x, digits, ROUND_CEILING)


def probability(delta: float) -> str:
    """1 - delta of the decimal that delta prints as, exactly: a rounding would promise more.

    >>> probability(0.05), probability(1e-9), probability(1e-300)
    ('0.95', '0.999999999', '1 - 1e-300')
    """
    # the float nearest to 0.05 is above it, and would otherwise show as 0.9499
    written = Decimal(repr(float(delta)))
    if written.adjusted() < -12:
        return f"1 - {float(delta)!r}"
    with localcontext(prec=60):
        return f"{1 - written:f}"


def shown(x: float, digits: int, rounding: str) -> str:
    """That many significant digits. Decimal(x) is the float exactly, so the rounding is that of the number itself."""
    if not math.isfinite(x):
        return str(float(x))
    exact = Decimal(float(x))
    value = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding)
    power = value.adjusted()
    if value == 0 or -3 <= power < 6:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if value == value.to_integral_value() and "." in text else text
    return f"{value.scaleb(-power):f}".rstrip("0").rstrip(".") + f"e{power}"
