"""The certificates and what they are made of against reference values, and each of their constants halved in turn.

The references were computed from the statements as they stand on paper, in 30 digits of mpmath: sums written out, the
inverse of kl by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from adanet_theory import catalogue
from adanet_theory.certificates import (
    binomial,
    gauss,
    grids,
    kl,
    laws,
    occam,
    path,
    path_multiclass,
    pick,
    stochastic,
    vote,
    vote_multiclass,
)
from adanet_theory.certificates import derandomise as certificate
from adanet_theory.certificates.tree import Tree
from adanet_theory.examples import number
from verify.suite.halved import halved

DELTA = 0.05
THETA = [0.5, 0.25, 0.25]
U = [0.25, -0.5, 0.75] * 40
GAUSS = ([1.5, -0.25, 3.0] * 100, [1.0, 2.0, 0.5] * 100, [0.75, 1.5, 0.5] * 100)
SCORES, LABELS = np.array([[0.25, -0.125, 0.125]] * 200), np.array([0, 1] * 100)
ATOMS, MASSES = [0.25, 0.25, 0.125, 0.125, 0.25], [0.5, 0.25, 0.25]
TREE = Tree((-1, 0, 0, 0, 0), (1, 1, 1, -1, -1), np.full((5, 1), 0.2), B=1.0)


def _path() -> float:
    """What path-certificate adds to its parts: A = 2 n_0 nodes atoms, a tenth of δ for the draws."""
    x = np.linspace(-1, 1, 40)[:, None]
    k = grids.path_thresholds(160)[3]
    found = path.path_certificate_at(TREE, x, np.ones(40), N=160, k=k, beta=0.1, delta=DELTA, seed=0, draws=4000)
    exponent = found.terms["KL"] + math.log(kl.xi(40) / (0.9 * DELTA)) + math.log(25 * 6 * 41 * 900)
    assert found.terms["KL"] == path.path_kl([32.0] * 5, A=10, N=160, beta=0.1)
    assert found.terms["b"] == 1 - path.path_eps(TREE, 160, k)
    return found.raw / (kl.kl_inverse(found.terms["empirical"], exponent / 40) / found.terms["b"])


FOREST = [
    Tree((-1, 0, 0), (1, 1, -1), np.diag([0.125, 0.25, 0.125]), B=1.0),
    Tree((-1,), (1,), np.eye(1, 3) / 2, B=1.0),
]


def _path_multiclass() -> float:
    """What path-certificate-multiclass adds to its parts: A = 2 n_0 nodes atoms, a tenth of δ for the draws."""
    x, y, k = np.linspace(-1, 1, 120).reshape(40, 3), np.array([0, 1] * 20), grids.path_thresholds(160)[3]
    found = path_multiclass.path_certificate_multiclass_at(
        FOREST, x, y, N=160, k=k, beta=0.1, delta=DELTA, seed=0, draws=4000
    )
    exponent = found.terms["KL"] + math.log(kl.xi(40) / (0.9 * DELTA)) + math.log(25 * 6 * 41 * 6 * 12 * 10)
    assert found.terms["KL"] == path.path_kl([20.0, 40.0, 20.0, 80.0], A=24, N=160, beta=0.1)
    assert found.terms["b"] == 1 - path_multiclass.path_classes_eps(FOREST, 160, k)
    errors, total = path_multiclass.path_classes_errors(FOREST, x, y, 160, k, seed=0, draws=4000)
    assert math.isclose(found.terms["empirical"], kl.kl_inverse(errors / total, math.log(10 / DELTA) / total))
    return found.raw / (kl.kl_inverse(found.terms["empirical"], exponent / 40) / found.terms["b"])


VALUES: dict[str, tuple[Callable[[], float], float]] = {
    "kl": (lambda: float(kl.kl(0.125, 0.375)), 0.1570866709600476),
    "kl-inverse": (lambda: kl.kl_inverse(0.01, 0.02), 0.0442700243953511),
    "kl-inverse-lower": (lambda: kl.kl_inverse_lower(0.99, 0.02), 1 - 0.0442700243953511),
    "xi": (lambda: kl.xi(50), 9.543127039343949),
    "xi, large": (lambda: kl.xi(12_000), 137.961302558794),
    "certificate": (
        lambda: certificate.certificate("a", 0.0625, KL=3.0, grid=2.0, b=0.75, m=50, delta=DELTA).raw,
        0.4334443851286555,
    ),
    "held-out, all wrong": (lambda: binomial.clopper_pearson(3, 3, DELTA), 1.0),
    "pick-certificate, all picked": (lambda: pick.pick_certificate(3, 3, DELTA), 1.0),
    "vote-certificate, iid": (
        lambda: vote.vote_certificate_at(U, THETA, n=8, N=10, k=6, beta=0.0, delta=DELTA).raw, 0.9716269842595384
    ),
    "vote-certificate, Polya": (
        lambda: vote.vote_certificate_at(U, THETA, n=8, N=10, k=6, beta=0.3, delta=DELTA).raw, 0.939782911183702
    ),
    "vote KL": (lambda: vote.vote_kl_polya([0.05] * 20, 20480, n=1568, beta=0.003), 197.071771459312),
    "path KL": (lambda: path.path_kl([4.0, 2.5], A=12, N=10, beta=0.3), 6.456014456578019),
    "path KL, large": (lambda: path.path_kl([1024.0] * 20, A=7840, N=20480, beta=0.003), 339.409029140592),
    "path eps": (lambda: path.path_eps(TREE, 20480, 500), 0.000266873389943940),
    "path eps, Chernoff": (lambda: path.path_eps_chernoff(TREE, 20480, 500), 0.00257199758717174),
    "path grid": (lambda: math.exp(grids.path_grid([[(2, 2)], [(1, 0)] * 4])), 25 * 6 * 41 * 12 * 150 * 12**4),
    "path-certificate over its parts": (_path, 1.0),
    "gauss, a point without features": (lambda: gauss.gauss_empirical([0.0, 5.0], [1.0, 0.0], [1.0, 0.0], 0.0), 0.75),
    "gauss KL": (lambda: gauss.gauss_kl([1.5, -0.5], [0.75, 1.25]), 1.377038521137571),
    "gauss-certificate": (
        lambda: gauss.gauss_certificate_at(*GAUSS, KL=1.377038521137571, s_max=1.25, tau=0.75, delta=DELTA).raw,
        0.6525042582639552,
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
    "path-certificate-multiclass eps": (lambda: path_multiclass.path_classes_eps(FOREST, 40, 4), 0.283284119000142),
    "path-certificate-multiclass grid": (
        lambda: math.exp(grids.path_classes_grid([3, 4, 2])), 25 * 6 * 41 * 12 * 30 * 126 * 12 * 36
    ),
    "path-certificate-multiclass over its parts": (_path_multiclass, 1.0),
    "Skellam": (lambda: 1 - laws.skellam(1000, 1000).above(60), 0.911953379051027),
    "Skellam, uneven": (lambda: laws.skellam(3.0, 1.0).mean_of(lambda x: x), 2.0),
}  # fmt: skip


def _stochastic(shared: bool) -> float:
    numbers: dict[str, Any] = {"draws": 10, "KL": 2.0, "m": 200, "delta": DELTA, "tried": 3, "grid": 1.0}
    return stochastic.stochastic_certificate(0.0625, shared=shared, **numbers).raw


def examples() -> dict[str, tuple[Callable[[], float], float]]:
    """Those of the catalogue."""
    certificates = catalogue.of_group("certificate", "held-out")
    return {
        f"{bound.id}, {example.words}": (partial(number, bound, example), float(example.value))
        for bound in certificates
        for example in bound.examples
    }


def noticed() -> list[str]:
    """What is not its reference value; an error of the arithmetic counts."""
    found = []
    for name, (value, expected) in (VALUES | examples()).items():
        try:
            number = value()
        except (ValueError, ArithmeticError, TypeError, IndexError, AssertionError) as error:
            number, name = math.nan, f"{name} ({error})"
        if not math.isclose(number, expected, rel_tol=1e-10):
            found.append(f"{name} = {number!r}, expected {expected}")
    return found


def test_the_certificates_are_their_reference_values() -> None:
    assert noticed() == []


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    kl.kl,
    kl.kl_inverse_lower,
    binomial.log_mass,
    occam.occam_certificate,
    vote._right_votes_cdf,
    grids.vote_grid,
    grids.classes_grid,
    grids.shape_cost,
    grids.forest_cost,
    path.path_kls,
    path.path_certificate_at,
    path_multiclass.path_certificate_multiclass_at,
    path_multiclass.atom_count,
    gauss.gauss_kl,
    gauss.gauss_empirical,
    stochastic.gaussian_kl,
    stochastic.stochastic_certificate,
    vote_multiclass.classes_b,
)
# constants of the search window of a law or of a bisection have room: they are not among the functions above


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_a_halved_constant_is_noticed(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    modules = (
        binomial,
        certificate,
        gauss,
        grids,
        kl,
        laws,
        occam,
        path,
        path_multiclass,
        pick,
        stochastic,
        vote,
        vote_multiclass,
    )
    missed, mutants = [], list(halved(function))
    assert mutants
    for line, mutant in mutants:
        with monkeypatch.context() as changed:
            for module in modules:
                if vars(module).get(function.__name__) is function:
                    changed.setattr(module, function.__name__, mutant)
            if not noticed():
                missed.append(line)
    assert missed == []


@pytest.mark.parametrize("module", [path, path_multiclass, stochastic], ids=lambda module: module.__name__)
def test_a_halved_share_of_the_draws_is_noticed(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLED", module.SAMPLED / 2)
    assert noticed() != []
