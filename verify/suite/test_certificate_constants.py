"""The certificates and what they are made of against reference values, and each of their constants halved in turn.

The references were computed from the statements as they stand on paper, in 30 digits of mpmath: sums written out, the
inverse of kl by bisection.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from adanet_theory import catalogue
from adanet_theory.certificates import binomial, disagreement, grids, kl, pick, stochastic, vote, vote_multiclass
from adanet_theory.certificates import derandomise as certificate
from adanet_theory.examples import number
from verify.suite.halved import halved, unnoticed

CERTIFICATES = catalogue.of_group("certificate", "held-out")
DELTA = 0.05
THETA = [0.5, 0.25, 0.25]
U = [0.25, -0.5, 0.75] * 40
SCORES, LABELS = np.array([[0.25, -0.125, 0.125]] * 200), np.array([0, 1] * 100)
ATOMS, MASSES = [0.25, 0.25, 0.125, 0.125, 0.25], [0.5, 0.25, 0.25]

VALUES: dict[str, tuple[Callable[[], float], float]] = {
    "kl": (lambda: float(kl.kl(0.125, 0.375)), 0.1570866709600476),
    "kl-inverse": (lambda: kl.kl_inverse(0.01, 0.02), 0.0442700243953511),
    "xi": (lambda: kl.xi(50), 9.543127039343949),
    "xi, large": (lambda: kl.xi(12_000), 137.961302558794),
    "certificate": (
        lambda: certificate.certificate("a", 0.0625, KL=3.0, grid=2.0, b=0.75, m=50, delta=DELTA).raw,
        0.4334443851286555,
    ),
    "held-out, all wrong": (lambda: binomial.clopper_pearson(3, 3, DELTA), 1.0),
    "disagreement-certificate, at most 1": (lambda: disagreement.disagreement_certificate(0.75, 9, 9, DELTA), 1.0),
    "pick-certificate, all picked": (lambda: pick.pick_certificate(3, 3, DELTA), 1.0),
    "vote-certificate, iid": (
        lambda: vote.vote_certificate_at(U, THETA, n=8, N=10, k=6, beta=0.0, delta=DELTA).raw, 0.9716269842595384
    ),
    "vote-certificate, Polya": (
        lambda: vote.vote_certificate_at(U, THETA, n=8, N=10, k=6, beta=0.3, delta=DELTA).raw, 0.939782911183702
    ),
    "vote KL": (lambda: vote.vote_kl_polya([0.05] * 20, 20480, n=1568, beta=0.003), 197.071771459312),
    "counts KL": (lambda: vote_multiclass.counts_kl([4.0, 2.5], A=12, N=10, beta=0.3), 6.456014456578019),
    "counts KL, large": (
        lambda: vote_multiclass.counts_kl([1024.0] * 20, A=7840, N=20480, beta=0.003), 339.409029140592
    ),
    "stochastic KL": (lambda: stochastic.gaussian_kl([2.5], [0.5], [0.5], [2.0]), 1.417544361119891),
    "stochastic-certificate": (lambda: _stochastic(False), 0.1910499487782193),
    "stochastic-certificate, shared": (lambda: _stochastic(True), 0.7310618166709822),
    "vote-certificate-multiclass": (
        lambda: vote_multiclass.vote_certificate_multiclass_at(
            SCORES, LABELS, ATOMS, MASSES, A=24, N=10, k=1, beta=0.3, delta=DELTA
        ).raw,
        1.306158472283419,
    ),
    "Skellam": (lambda: vote_multiclass.classes_b([0.05, 0.03, 0.02], 25_000, 60), 0.911953379051027),
    "Skellam, shifted": (lambda: vote_multiclass.classes_b([0.5, 0.25, 0.25], 10, 3, 0.05), 0.858310287464151865),
}  # fmt: skip


def _stochastic(shared: bool) -> float:
    numbers: dict[str, Any] = {"draws": 10, "KL": 2.0, "m": 200, "delta": DELTA, "tried": 3, "grid": 1.0}
    return stochastic.stochastic_certificate(0.0625, shared=shared, **numbers).raw


def examples() -> dict[str, tuple[Callable[[], float], float]]:
    """Those of the catalogue."""
    return {
        f"{bound.id}, {example.words}": (partial(number, bound, example), float(example.value))
        for bound in CERTIFICATES
        for example in bound.examples
    }


def noticed() -> list[str]:
    """What is not its reference value; an error of the arithmetic counts."""
    lines = []
    for name, (value, expected) in (VALUES | examples()).items():
        try:
            number = value()
        except (ValueError, ArithmeticError, TypeError, IndexError, AssertionError) as error:
            number, name = math.nan, f"{name} ({error})"
        if not math.isclose(number, expected, rel_tol=1e-10):
            lines.append(f"{name} = {number!r}, expected {expected}")
    return lines


def test_the_certificates_are_their_reference_values() -> None:
    assert noticed() == []


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    kl.kl,
    binomial.log_mass,
    vote._right_votes_cdf,
    grids.vote_grid,
    grids.classes_grid,
    vote_multiclass.counts_kls,
    stochastic.gaussian_kl,
    stochastic.stochastic_certificate,
    vote_multiclass.classes_b,
    *(bound.numeric for bound in CERTIFICATES if bound.examples and list(halved(bound.numeric))),
)
# constants of the search window of a law or of a bisection have room: they are not among the functions above


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_a_halved_constant_is_noticed(function: Callable[..., Any]) -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("adanet_theory.certificates.")]
    assert unnoticed(function, modules, noticed) == []


def test_a_halved_share_of_the_draws_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stochastic, "SAMPLED", stochastic.SAMPLED / 2)
    assert noticed() != []
