"""What a user declares of an ensemble of subnetworks: for each builder R_m of its family, and a bound on |h|."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from adanet_theory.checks import Array, check
from verify.reading.program import ModuleProgram
from verify.records.question import exact


@dataclass(frozen=True, eq=False)
class Families:
    """H_1, .., H_l by the names of their builders, and f = sum_t w_t h_t with the family of each h_t."""

    R_m: Mapping[str, Fraction]
    M: Mapping[str, Fraction]
    names: Sequence[str]
    """The builder of h_1, h_2, .."""
    module: Any
    """f as the program computes it."""

    @classmethod
    def of(cls, declared: Mapping[str, Any], ensemble: Any) -> Families:
        """What is declared, checked against the builders that were used."""
        check(ensemble is not None, "declared as a dict is about builders, for an AdaNetClassifier(subnetworks=...).")
        builders = dict.fromkeys(report.name for report in ensemble.reports)
        expected = f"declared must have an entry for each of the {len(builders)} builders ({', '.join(builders)})"
        # families beyond these are those that a generator might have proposed: they count in l
        check(set(builders) <= set(declared), f"{expected}, got {len(declared)} ({', '.join(map(str, declared))}).")
        R_m, M = {}, {}
        for name, given in declared.items():
            pair = given if isinstance(given, tuple | list) else (given, 1)
            check(len(pair) == 2, f"declared {name} must be R_m or a pair (R_m, M), got {len(pair)} numbers.")
            R, most = (exact(value, f"declared {name}") for value in pair)
            check(0 <= R < math.inf, f"declared {name}: R_m must be >= 0 and finite, got {float(R)}.")
            check(0 < most < math.inf, f"declared {name}: M must be > 0 and finite, got {float(most)}.")
            R_m[name], M[name] = Fraction(R), Fraction(most)
        return cls(R_m, M, [one.name for one in ensemble.chosen], ensemble.module())

    @property
    def weights(self) -> list[Fraction]:
        """w_t as the program has them, exactly."""
        return [Fraction(float(w)) for w in self.module.w]

    @property
    def norms(self) -> list[Fraction]:
        """||w_1||_1, .., ||w_l||_1; each of C outputs is a function of its own, with the same weight."""
        pairs = list(zip(self.names, self.weights, strict=True))
        C = self.module.outputs
        return [C * sum((abs(w) for name, w in pairs if name == family), Fraction(0)) for family in self.R_m]

    def outputs(self, X: Array) -> list[Array]:
        """h_1, h_2, .. on the sample."""
        return [ModuleProgram(part).outputs(X) for part in self.module.parts]

    def margins(self, H: Sequence[Array], y: Array) -> Array:
        """Floats below y f(x), or f(x, y) - max f(x, y'), by more than the program's sum may be off wherever |h| <= M.

        So a ramp of them is a loss of the program: it is 1 where the program errs.
        """
        import torch

        f = np.zeros_like(H[0])
        for w, h in zip(self.weights, H, strict=True):
            f = f + float(w) * h
        size = sum(abs(w) * self.M[name] for name, w in zip(self.names, self.weights, strict=True))
        unit = torch.finfo(self.module.w.dtype).eps  # twice the unit roundoff
        off = float(size) * (len(H) + 2) * unit
        rows = np.arange(len(y))
        if self.module.outputs == 1:
            return np.asarray(y * f[:, 0] - off)
        own, others = f[rows, y], f.copy()
        others[rows, y] = -np.inf
        return np.asarray(own - others.max(axis=1) - 2 * off)
