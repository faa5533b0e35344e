"""On tensors the activations, the p-norms and the dual vectors are those of the theory."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adanet_theory.activations import KINDS, activation
from adanet_theory.duality import dual_vector
from adanet_theory.norms import conjugate, dual_direction, norms, p_norm
from adanet_theory.twins import activations as twins
from adanet_train.core import activations as tensors
from adanet_train.core.network import Network
from adanet_train.core.norms import dual_vectors, row_norms
from adanet_train.model.model_file import ModelFile
from adanet_train.model.module import NetworkModule
from figures.explorer import content
from tests.test_activations import NAMES, X
from tests.test_norms import EXPONENTS, finite_floats


def test_every_table_has_the_activations_of_the_record():
    assert {activation(name).kind for name in NAMES} == KINDS
    assert tensors.TABLE.keys() | tensors.PARAMETRIC.keys() == KINDS
    assert not tensors.TABLE.keys() & tensors.PARAMETRIC.keys()
    assert {*twins.FACTS, "leaky_relu"} == KINDS
    assert twins.on_balls().keys() == KINDS
    assert {activation(name).kind for name in content.ACTIVATIONS} == KINDS


@pytest.mark.parametrize("name", NAMES)
def test_tensors_arrays_and_balls_have_the_same_values(name):
    phi, points = activation(name), X[::97]
    on_arrays = phi(points)
    on_tensors = tensors.apply_activation(name, torch.from_numpy(points)).numpy()
    np.testing.assert_allclose(on_tensors, on_arrays, rtol=1e-13, atol=1e-15)
    from flint import arb

    balls = [twins.activation_on_balls(phi)(arb(float(x))) for x in points]
    np.testing.assert_allclose([float(ball.mid()) for ball in balls], on_arrays, rtol=1e-13, atol=1e-15)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_it_is_scripted(name):
    """TorchScript compiles functions with a name and modules, and would refuse a lambda."""
    hidden = {(1, 0): torch.eye(2, dtype=torch.float64), (2, 1): torch.ones(1, 2, dtype=torch.float64)}
    network = Network((2, 2, 1), hidden, {2: torch.ones(1, dtype=torch.float64)}, (name,))
    x = torch.linspace(-3, 3, 10, dtype=torch.float64).view(5, 2)
    assert torch.equal(torch.jit.script(NetworkModule(ModelFile(network)))(x), network(x))


@pytest.mark.parametrize("name", NAMES)
def test_the_slope_is_the_difference_quotient(name):
    phi, h, step = activation(name), X[np.abs(X) > 1e-3], 1e-5
    quotients = (phi(h + step) - phi(h - step)) / (2 * step)
    np.testing.assert_allclose(tensors.activation_slope(name, torch.from_numpy(h)).numpy(), quotients, atol=1e-9)


@given(arrays(np.float64, (3, 4), elements=finite_floats), st.sampled_from(EXPONENTS))
def test_rows_have_the_norm_of_each(X: np.ndarray, p: float) -> None:
    each = norms(X, p)
    if np.isfinite(each).all():
        np.testing.assert_allclose(row_norms(torch.from_numpy(X), p).numpy(), each, rtol=1e-12)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.sampled_from(EXPONENTS))
def test_dual_vectors_attain_hoelder(g: list[float], p: float) -> None:
    u = dual_vectors(torch.tensor([g], dtype=torch.float64), p)[0].numpy()
    assert np.linalg.norm(u, p) <= 1 + 1e-12
    assert u @ np.array(g) == pytest.approx(p_norm(g, conjugate(p)), rel=1e-9, abs=1e-290)


@pytest.mark.parametrize("p", EXPONENTS)
def test_dual_vectors_of_tensors_are_the_theorys(p: float) -> None:
    G = np.array([[0.3, -2.0, 0.0, 1e-3], [0.0] * 4, [1e-200, -1e-200, 0.0, 5e-324], [-4.0, 3.0, 4.0, 1.0]])
    outputs = dual_vectors(torch.from_numpy(G), p).numpy()
    np.testing.assert_allclose(outputs, [dual_vector(g, 1.0, p) for g in G], rtol=1e-12, atol=1e-300)
    if 1 < p < math.inf:
        direction = dual_direction(G, p)
        lengths = norms(direction, p)[:, None]
        np.testing.assert_allclose(direction, outputs * lengths, rtol=1e-12, atol=1e-300)
