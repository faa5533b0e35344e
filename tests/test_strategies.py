"""What the strategies draw: always inside the theory's domain, and reaching its ends."""

import math

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from adanet_theory.spec import NetworkSpec
from verify.suite.profiles import chance, search
from verify.suite.strategies import NAMES, CvxStep, bounds, columns, exponents, families, labels, points, steps, vectors

any_family = st.integers(1, 4).flatmap(lambda depth: families(n_0=2, depth=depth))


@given(exponents(), vectors(3), bounds())
def test_numbers_are_in_their_domains(p: float, eps: np.ndarray, Lambda: float) -> None:
    assert p >= 1
    assert 1 <= len(eps) <= 3
    assert np.isfinite(eps).all()
    assert 0 <= Lambda <= 4


@given(points(2, 5, least=2))
def test_samples_have_the_asked_shape(X: np.ndarray) -> None:
    assert 2 <= len(X) <= 5
    assert X.shape[1] == 2
    assert np.abs(X).max() <= 2


@given(any_family)
def test_families_are_declared_whole(spec: NetworkSpec) -> None:
    assert spec.n[0] == 2
    assert min(spec.n) >= 1
    assert {phi.name for phi in spec.activations} <= set(NAMES)
    every = {(k, s) for k in range(1, spec.depth + 1) for s in range(k) if s > 0 or k == 1}
    assert set(spec.Lambda) == every


@given(families(n_0=1, depth=3, layered=True))
def test_layered_families_are_layered(spec: NetworkSpec) -> None:
    assert spec.is_layered


@given(steps())
def test_steps_are_consistent(step: CvxStep) -> None:
    m = len(step.y)
    assert step.Z.shape[0] == m == len(step.f)
    assert step.Gamma > 0
    assert set(step.y.tolist()) <= {1.0, -1.0}
    assert step.Z.dtype == step.y.dtype == step.f.dtype
    assert step.Phi in str(step)


@given(columns(3, 2, reach=0.5), labels(3))
def test_columns_keep_to_their_reach(Z, y) -> None:
    assert Z.abs().max() <= 0.5
    assert Z.shape == (3, 2)
    assert y.shape == (3,)


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        (exponents(), lambda p: p == 1),
        (exponents(), lambda p: p == math.inf),
        (exponents(), lambda p: 1 < p < 1.01),
        (vectors(), lambda eps: len(eps) > 1 and len(set(np.abs(eps))) < len(eps) and eps.any()),
        (vectors(), lambda eps: np.any((eps != 0) & (np.abs(eps) < 1e-307))),
        (vectors(), lambda eps: np.abs(eps).max() > 1e290),
        (vectors(), lambda eps: not eps.any()),
        (points(2, 5), lambda X: len(X) > 1 and np.linalg.matrix_rank(X) == 1),
        (points(2, 5), lambda X: len(X) == 5 and np.linalg.matrix_rank(X) == 2),
        (any_family, lambda spec: spec.depth == 4 and not spec.is_layered),
        (any_family, lambda spec: 0.0 in spec.Lambda.values()),
        (steps(), lambda step: step.Z.shape == (6, 3)),
        (steps(), lambda step: step.p == math.inf),
    ],
)
def test_the_ends_are_reached(strategy: st.SearchStrategy, wanted) -> None:
    find(strategy, wanted, settings=search(), random=chance())
