"""Values of the bounds to forty digits, computed independently of numeric forms and twins; records of the catalogue.

The tests of double entry and of certified values, the property suite and the site use these records. So a new bound
brings one with it and needs no test of its own. `number` evaluates the numeric form at an example, `letters` the twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adanet_theory.catalogue import Bound


@dataclass(frozen=True)
class Example:
    """The arguments of a bound, by the names of its parameters, its value there, and the example in words.

    A number that is not an integer stands for its decimal digits. Arguments that a bound does not read are left out.
    """

    arguments: Mapping[str, Any]
    value: str
    words: str


POINT: Mapping[str, Any] = {
    "spec": {"n": (154, 5, 4, 1), "Lambda": ("0.5", "0.25", "2"), "p": 2},
    "w_norms": ("0.5", "1.5", "1"), "R_m": ("0.01", "0.02", "0.03"), "M": ("0.5", "1", "1.25"),
    "m": 9600, "rho": "0.7", "delta": "0.05", "margin_error": "0.125", "ramp": "0.125", "j": 7, "eta": "0.05",
    "B": 1, "d": 2, "c": "1.5", "n_0": 154, "C": 10, "r_inf": "0.75", "r_rms": "0.75", "r_sup": "0.75",
}  # fmt: skip
"""Arguments at which every constant of every bound on a margin changes the value."""


def at_point(value: str) -> tuple[Example, ...]:
    """The example of a bound on a margin."""
    return (Example(POINT, value, "three layers of 154, 5 and 4 units, m = 9,600, ρ = .7, δ = .05"),)


def number(bound: Bound, example: Example) -> float:
    """The value of the numeric form.

    >>> from adanet_theory.catalogue import bound
    >>> round(number(bound("held-out"), bound("held-out").examples[0]), 12)
    0.147837176364
    """
    given = dict(example.arguments) | {"R_S": example.arguments.get("R_m"), "literally": True}
    bounded = bound.numeric(**{name: _argument(bound, name, given[name]) for name in _read(bound) & set(given)})
    return float(getattr(bounded, "total", bounded))


def _read(bound: Bound) -> frozenset[str]:
    """The parameters that an example fills; a range only if the bound has one."""
    return bound.reads - ({"M"} if bound.range is None else set())


def _argument(bound: Bound, name: str, value: Any) -> Any:
    if name == "spec":
        from adanet_theory.spec import NetworkSpec

        return NetworkSpec.layered(value["n"], [float(x) for x in value["Lambda"]], float(value["p"]))
    if name == "M" and bound.range == "M":
        value = max(value, key=float)
    return [float(x) for x in value] if isinstance(value, tuple) else float(value) if isinstance(value, str) else value


_LETTERS = {"w_norms": "w", "R_m": "R", "M": "M_k", "errors": "threshold"}
_LETTERS_OF_COUNTS = {"k": "threshold", "d": "threshold", "n": "N", "b": "b_g"}


def letters(example: Example) -> dict[str, Any]:
    """The values that the twin reads. If it is an equation for δ, `error` is the bound itself."""
    spec = example.arguments.get("spec")
    if spec is None:
        names = _LETTERS | _LETTERS_OF_COUNTS
        return {names.get(name, name): value for name, value in example.arguments.items()} | {"error": example.value}
    values = {_LETTERS.get(name, name): value for name, value in example.arguments.items() if name != "spec"}
    depth = len(spec["Lambda"])
    layers = {"l": depth, "k": depth, "n": list(spec["n"]), "p": spec["p"], "M": max(values["M_k"], key=float)}
    return values | layers | {"Lambda": {(k, k - 1): x for k, x in enumerate(spec["Lambda"], start=1)}}
