"""Every activation is in every table, and the tables say the same of it."""

import numpy as np
import pytest
import sympy as sp
import torch

from adanet_theory.activations import ACTIVATIONS, KINDS, activation
from adanet_theory.twins import activations as twins
from adanet_train import activations as tensors
from adanet_train.model.model_file import ModelFile
from adanet_train.module import NetworkModule
from adanet_train.network import Network
from figures.explorer import content

NAMES = [*ACTIVATIONS[:-1], "leaky_relu:0.3", "leaky_relu:-0.5", "leaky_relu:2.0"]
X = np.concatenate([np.linspace(-6, 6, 4001), [-40.0, 40.0]])


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
def test_slopes_lie_where_the_record_says_and_reach_its_ends(name):
    phi, h = activation(name), torch.from_numpy(X[X != 0])
    slopes = tensors.activation_slope(name, h).numpy()
    low, high = phi.slopes
    assert slopes.min() >= low - 1e-12
    assert slopes.max() <= high + 1e-12
    assert slopes.min() == pytest.approx(low, abs=3e-3)
    assert slopes.max() == pytest.approx(high, abs=3e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_are_as_steep_as_the_record_says(name):
    phi = activation(name)
    odd, even = (phi(X) - phi(-X)) / 2, (phi(X) + phi(-X)) / 2 - phi.at_zero
    order = np.argsort(X)
    for part, constant in ((odd, phi.odd_lipschitz), (even, phi.even_lipschitz)):
        steepest = np.abs(np.diff(part[order]) / np.diff(X[order])).max()
        assert steepest <= constant + 1e-10
        assert steepest == pytest.approx(constant, abs=5e-3)


@pytest.mark.parametrize("name", [name for name in NAMES if activation(name).curvature < np.inf])
def test_the_slope_changes_as_fast_as_the_record_says(name):
    fine = np.linspace(-6, 6, 48_001)
    slopes = tensors.activation_slope(name, torch.from_numpy(fine)).numpy()
    fastest = np.abs(np.diff(slopes) / np.diff(fine)).max()
    assert fastest <= activation(name).curvature + 1e-9
    assert fastest == pytest.approx(activation(name).curvature, abs=1e-3)


def test_what_has_no_curvature_has_a_kink():
    for name in NAMES:
        phi, eps = activation(name), 1e-6
        bend = (phi(eps) + phi(-eps) - 2 * phi(0.0)) / eps
        assert (abs(bend) > 1e-3) == (phi.curvature == np.inf)


def test_the_facts_of_silu_follow_from_its_definition():
    """Exactly: the odd part is x/2, the second derivative is σ'(x) (2 - x tanh(x/2)), the slope there 1/2 + x/4."""
    x = sp.Symbol("x", real=True)
    sigmoid = 1 / (1 + sp.exp(-x))
    silu = x * sigmoid
    zero = [
        (silu - silu.subs(x, -x)) / 2 - x / 2,
        sp.diff(silu, x, 2) - sp.diff(sigmoid, x) * (2 - x * sp.tanh(x / 2)),
        # tanh(x/2) = 2/x makes e^x = (x+2)/(x-2)
        sp.diff(silu, x).subs(sp.exp(-x), (x - 2) / (x + 2)) - (sp.Rational(1, 2) + x / 4),
    ]
    assert [sp.simplify(one.rewrite(sp.exp)) for one in zero] == [0, 0, 0]


def test_the_steepest_slope_of_silu_is_rounded_up():
    """In balls: x tanh(x/2) - 2 rises through 0 in an interval on which 1/2 + x/4 stays below the recorded slope."""
    from flint import arb

    recorded = twins.activation_facts("silu")["slopes"][1]
    left, right = arb("2.39935"), 4 * (arb(int(recorded.p)) / int(recorded.q) - arb(1) / 2)
    assert left * (left / 2).tanh() < 2 < right * (right / 2).tanh()
    assert right - left < arb("1e-4")
