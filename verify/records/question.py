"""What verify-bounds is asked about a network, checked once; light, so that a command refuses before it loads torch."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any

from adanet_theory import catalogue
from adanet_theory.checks import check, check_choice, check_delta, check_rho
from adanet_theory.rounding import Number

DELTA = Fraction(1, 20)
DRAWS = 64
BUDGET = 20.0
"""Seconds, about ten times the import of torch."""
MAX_DRAWS = 1_000_000


@dataclass(frozen=True)
class Question:
    """The margin, the confidence, what is known of Ψ, and how much to estimate; draws=None estimates nothing.

    Numbers are taken exactly: a float at its binary value, a Fraction("0.05") as the decimal that was meant. A ρ that
    is given here counts as fixed in advance, as a declared one does; otherwise it is chosen. `curves` is for pictures,
    `budget` the seconds, on a core of an ordinary machine, that the search for lower values of R_S may take.
    `cite` names the statement to be quoted before anything was seen; `tried` counts the settings, maps and families
    that were tried on the same sample (None: what the model file says), `compared` the networks whose least bound is
    quoted, which statements on one of them pay for, and those on all networks at once too unless the networks are
    `alike`: of one activation, feature map and declared family; `replay` says whether the recipe of a picked network is
    run again; `discrete` says that equal rows are separate draws; `command` says that the command asks, not Python.
    """

    rho: Number | None = None
    delta: Number = DELTA
    r_sup: Number | None = None
    draws: int | None = DRAWS
    seed: int = 0
    device: str = "cpu"
    curves: bool = False
    budget: float = BUDGET
    cite: str | None = None
    tried: int | None = None
    discrete: bool = False
    replay: bool = True
    compared: int = 1
    alike: bool = True
    command: bool = False

    @classmethod
    def of(cls, **given: Any) -> Question:
        """The question with its numbers taken as the decimals that were typed, or that a float prints as.

        >>> Question.of(delta=0.05, rho="0.1", tried=None).delta
        Fraction(1, 20)
        """
        reals = ("rho", "delta", "r_sup")
        named = {name: value for name, value in given.items() if name not in reals}
        named |= {name: exact(given[name], name) for name in reals if given.get(name) is not None}
        asked = cls(**named)
        whole: dict[str, Any] = {name: getattr(asked, name) for name in ("draws", "seed", "tried", "compared")}
        whole = {name: int(value) for name, value in whole.items() if value is not None}  # numpy's too
        return replace(asked, **whole)

    @property
    def shared(self) -> int:
        """How many networks a statement on all networks at once pays for."""
        return 1 if self.alike else self.compared

    def __post_init__(self) -> None:
        check_delta(float(self.delta))
        if self.rho is not None:
            check_rho(float(self.rho))
        if self.r_sup is not None:
            check(0 < self.r_sup < math.inf, f"r_sup must be > 0 and finite, got r_sup={float(self.r_sup)}.")
        drawn = self.draws is None or (_is_whole(self.draws, 2) and self.draws <= MAX_DRAWS)
        check(drawn, f"draws must be an integer in [2, {MAX_DRAWS}], got draws={self.draws}.")
        check(0 < self.budget < math.inf, f"budget must be > 0 and finite, got budget={self.budget}.")
        if self.tried is not None:
            check(_is_whole(self.tried, 1), f"tried must be an integer >= 1, got tried={self.tried}.")
        check(_is_whole(self.compared, 1), f"compared must be an integer >= 1, got compared={self.compared}.")
        known = catalogue.ids(catalogue.select(lambda bound: bound.is_claim))
        if self.cite is not None:
            check_choice("cite", self.cite, known)
        check(
            _is_whole(self.seed, 0) and self.seed < 2**63,
            f"seed must be an integer >= 0 and < 2^63, got seed={self.seed}.",
        )


def exact(value: Any, name: str = "value") -> Fraction | float:
    """The decimal that was typed, or that a float prints as, exactly; 0, inf and nan stay, for the check of the range.

    >>> exact("0.05"), exact(0.1), exact("1e400")
    (Fraction(1, 20), Fraction(1, 10), inf)
    """
    if isinstance(value, Fraction):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {name}={value!r}.") from None
    text = value if isinstance(value, str) else repr(number)
    return Fraction(text) if math.isfinite(number) and number != 0 and len(text) <= 400 else number


CERTIFY = "adanet-train DATA --objective certificate -o FILE, or certify(learner, X, y) in Python"
_IN_PYTHON = {
    CERTIFY: "certify(learner, X, y)",
    "--compress FILE": "compress(module, X, y)",
    "--unlabelled FILE": "unlabelled=U",
    "--discrete": "discrete=True",
    "--feature-range LO,HI": "feature_range=(LO, HI)",
    "--r-sup R": "r_sup=R",
    "--r-sup": "r_sup=",
    "--test-data FILE": "test=(X, y)",
    "--test-data": "test=",
    "--data": "(X, y)",
    "--activation": "activation=",
    "--budget": "budget=",
    "--cite ID": "cite=ID",
}
"""Options of verify-bounds as arguments of verify_bounds, the longer first."""


def in_python(text: str) -> str:
    """The text with the options of the command named as Python names them.

    >>> in_python("add --discrete, or --r-sup R"), in_python("adanet-train --discrete-nothing")
    ('add discrete=True, or r_sup=R', 'adanet-train --discrete-nothing')
    """
    return re.sub(rf"({'|'.join(map(re.escape, _IN_PYTHON))})(?![\w-])", lambda match: _IN_PYTHON[match[1]], text)


def _is_whole(value: Any, least: int) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    return is_number and bool(value == int(value) >= least)
