"""The evidence behind the ledger: one small function per claim, each yielding facts with both sides as numbers.

A check is registered under its claim with `settles`. Its arguments are the example it works on, so that the same
function, given another example or a spoilt formula, must come out the other way: those are its `flips`, and a test
runs every one of them. A claim is supported when all its facts are true.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


@dataclass(frozen=True)
class Fact:
    """Number against number: `left` relation `right`, each with its name; `where` says for which example.

    With a tolerance, "=" means that the two differ by at most that much.

    >>> print(Fact("R_S(H_2)", 0.13671875, ">", 0.0, "Lemma 1", "sigmoid, m = 8"))
    R_S(H_2) = 0.13672 > 0 = Lemma 1 (sigmoid, m = 8)
    >>> print(Fact("R_S(H_2)", 0.0, ">", 0.5, "Lemma 1", "sigmoid, m = 8"))
    R_S(H_2): found 0, expected > 0.5 = Lemma 1 (sigmoid, m = 8)
    """

    left_name: str
    left: float
    relation: str
    right: float
    right_name: str = ""
    where: str = ""
    tolerance: float = 0.0

    @property
    def holds(self) -> bool:
        if self.relation == "=" and self.tolerance:
            return abs(self.left - self.right) <= self.tolerance
        return bool(_RELATIONS[self.relation](self.left, self.right))

    def __str__(self) -> str:
        name = f" = {self.right_name}" if self.right_name else ""
        if not self.holds:
            sides = f"{self.left_name}: {self._missed()}{name}"
        elif self.relation == "=" and self.tolerance:
            sides = f"{self.left_name} = {number(self.left)} agrees with {number(self.right)}{name}"
        elif self.relation == "=":
            sides = f"{self.left_name} = {number(self.left)}{name}"
        else:
            sides = f"{self.left_name} = {number(self.left)} {self.relation} {number(self.right)}{name}"
        return sides + (f" ({self.where})" if self.where else "")

    def _missed(self) -> str:
        """What was found and what was expected, in as many digits as tell them apart."""
        digits = next((d for d in range(5, 17) if number(self.left, d) != number(self.right, d)), 17)
        relation = "" if self.relation == "=" else f"{self.relation} "
        within = f" within {self.tolerance:g}" if self.relation == "=" and self.tolerance else ""
        return f"found {number(self.left, digits)}, expected {relation}{number(self.right, digits)}{within}"


def number(x: float, digits: int = 5) -> str:
    """Five digits, no trailing zeros.

    >>> number(0.13671875), number(3.0), number(32743299)
    ('0.13672', '3', '32743299')
    """
    return str(int(x)) if abs(x) < 1e12 and x == int(x) else f"{x:.{digits}g}"


Facts = Iterator[Fact]


@dataclass(frozen=True)
class Check:
    """The function that settles a claim, what makes it come out the other way, and what a thorough run asks of it."""

    function: Callable[..., Facts]
    flips: tuple[Mapping[str, Any], ...]
    thorough: Mapping[str, Any]

    def facts(self, **example: Any) -> tuple[Fact, ...]:
        return tuple(self.function(**example))


_CHECKS: dict[str, Check] = {}


def settles(
    id: str, *flips: Mapping[str, Any], thorough: Mapping[str, Any] | None = None
) -> Callable[[Callable[..., Facts]], Callable[..., Facts]]:
    """Register the function as the check of that claim; each flip is an example with which it must turn."""

    def register(function: Callable[..., Facts]) -> Callable[..., Facts]:
        assert id not in _CHECKS, id
        _CHECKS[id] = Check(function, flips, thorough or {})
        return function

    return register


def check_of(id: str, section: str) -> Check | None:
    """The check of the claim, from the module of its section; None where there is none."""
    importlib.import_module(f"verify.claims.checks.{section}")
    return _CHECKS.get(id)


def registered() -> frozenset[str]:
    """The claims whose checks have been imported."""
    return frozenset(_CHECKS)
