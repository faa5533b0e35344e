"""Hypothesis profiles: `ci` (default, repeatable), `thorough` (many, fresh randomness), `mutants` (few, not shrunk)."""

from __future__ import annotations

import os
from random import Random

from hypothesis import HealthCheck, Phase, settings


def load() -> None:
    """Register the profiles and load the one that HYPOTHESIS_PROFILE names."""
    slow = [HealthCheck.too_slow]
    settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100, suppress_health_check=slow)
    settings.register_profile("thorough", deadline=None, max_examples=5000, suppress_health_check=slow)
    # A mutant that fails is killed, however large the example: shrinking would cost more than all the rest.
    phases = [Phase.explicit, Phase.generate]
    few = {"derandomize": True, "deadline": None, "max_examples": 20, "database": None, "phases": phases}
    settings.register_profile("mutants", suppress_health_check=list(HealthCheck), **few)  # type: ignore[arg-type]
    settings.load_profile(current())


def current() -> str:
    """The name of the profile."""
    return os.environ.get("HYPOTHESIS_PROFILE", "ci")


def share(parts: int) -> settings:
    """Settings for a costly property: one in `parts` of the profile's examples.

    >>> share(4).max_examples * 4 == settings().max_examples
    True
    """
    return settings(max_examples=max(1, settings().max_examples // parts))


def search() -> settings:
    """Settings for `hypothesis.find` where any counterexample will do: making it small costs more than finding it."""
    return settings(max_examples=1000, database=None, deadline=None, phases=[Phase.generate])


def chance() -> Random:
    """Randomness for `hypothesis.find`, which the profile does not reach: repeatable except in `thorough`."""
    return Random() if current() == "thorough" else Random(0)


def scaled(quick: int, thorough: int) -> int:
    """A count that is no number of examples: `thorough` in that profile, else `quick`."""
    return thorough if current() == "thorough" else quick
