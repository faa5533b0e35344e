"""How far the margins of a program can be from those of its formula.

With |program - formula| <= e on the whole range of inputs an error of the program implies y f <= e (2e for a difference
of two outputs).

e depends on the trained weights, so the shift of the margin is not e but η ρ, with η fixed here: where e <= η ρ, the
ramp from η ρ to ρ bounds the errors of the program, and its slope is 1/((1 - η) ρ) (derivations, "The program"). The
vote certificates need no η: there e/B' enters through b, which may depend on the trained weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adanet_theory.rounding import Number, up

if TYPE_CHECKING:
    import torch

    from adanet_train.reading.graph import Graph

ETA = {"float64": 2.0**-30, "float32": 2.0**-4, "bfloat16": 2.0**-4}
"""By the type of the program's numbers, which is fixed before the sample as its architecture is."""


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """The type of the program's numbers; `difference(r)` is a proved e where |x| <= r, None where there is no proof.

    `why` says why there is none, or is empty.
    """

    dtype: str = "float64"
    difference: Callable[[float], float | None] | None = None
    why: str = ""

    @property
    def is_double(self) -> bool:
        return self.dtype == "float64"

    @property
    def eta(self) -> float:
        return ETA.get(self.dtype, 0.0)

    def shift(self, r: Number | None) -> float | None:
        """How far the margins of the program are from those of the formula, at most; None where nothing proves it."""
        if self.difference is None or r is None or self.eta == 0:
            return None
        e = self.difference(up(r))
        return e if e is not None and math.isfinite(e) else None


DOUBLE = Arithmetic()


def of_steps(steps: Graph, dtype: torch.dtype | None) -> Arithmetic:
    """The arithmetic of a program with these steps in this type of numbers; None stands for several types."""
    from adanet_train.reading import arithmetic

    name = "mixed types" if dtype is None else str(dtype).removeprefix("torch.")
    if dtype is None or name not in ETA:
        return Arithmetic(name, why=f"sums in {name} are not bounded here")

    def difference(r: float) -> float | None:
        try:
            e = arithmetic.difference(steps, r, dtype)
        except arithmetic.NoProof:
            return None
        return e if steps.outputs == 1 else 2 * e

    return Arithmetic(name, difference)
