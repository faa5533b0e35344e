"""Solve a bound for the least sample or the greatest depth (`margin` has the best margin)."""

from __future__ import annotations

from collections.abc import Callable

from adanet_theory.risk.margin import MarginBound


def smallest_m(bound: Callable[[int], MarginBound], target: float = 1.0, *, largest: int = 10**18) -> int | None:
    """Return the least m, all else equal, at which the bound is below the target; None if it exceeds `largest`.

    The bound must fall with m. The ceiling in Theorem 1 gives its bound tiny teeth. There the bound is below the target
    at the m returned and not at m - 1, but it may also be below the target at an earlier tooth.

    Parameters
    ----------
    bound
        Evaluates the bound at m.
    target
        Value to stay below.
    largest
        Greatest m to try.

    Returns
    -------
    int or None
        The least m; None if it exceeds `largest`.

    Examples
    --------
    >>> from adanet_theory.risk.generalization import margin_bound
    >>> smallest_m(lambda m: margin_bound(0.0, [1.0], [1 / m**0.5], rho=0.5, M=1.0, m=m, delta=0.05), 0.25)
    437
    """

    def below(m: int) -> bool:
        raw = bound(m).raw
        return raw is not None and raw < target

    high = 1
    while not below(high):
        if high >= largest:
            return None
        high = min(2 * high, largest)
    low = high // 2  # not below the target, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return high


def largest_depth(bound: Callable[[int], MarginBound], target: float = 1.0, *, largest: int = 1000) -> int:
    """Return the greatest depth up to which the bound stays below the target; 0 if depth 1 is already too deep.

    Parameters
    ----------
    bound
        Evaluates the bound at a depth.
    target
        Value to stay below.
    largest
        Greatest depth to try.

    Returns
    -------
    int
        The greatest depth, 0 if there is none.

    Examples
    --------
    >>> from adanet_theory.risk.generalization import margin_bound
    >>> largest_depth(lambda l: margin_bound(0.0, [1.0] * l, [0.1 * l] * l, rho=1.0, M=1.0, m=10000, delta=0.05), 0.7)
    3
    """
    for depth in range(1, largest + 1):
        raw = bound(depth).raw
        if raw is None or raw >= target:
            return depth - 1
    return largest
