"""What the record says of every activation, against the function itself."""

import numpy as np
import pytest
import sympy as sp

from adanet_theory.activations import ACTIVATIONS, activation
from adanet_theory.twins import activations as twins

NAMES = [*ACTIVATIONS[:-1], "leaky_relu:0.3", "leaky_relu:-0.5", "leaky_relu:2.0"]
X = np.concatenate([np.linspace(-6, 6, 4001), [-40.0, 40.0]])


@pytest.mark.parametrize("name", NAMES)
def test_slopes_lie_where_the_record_says_and_reach_its_ends(name):
    phi, points = activation(name), np.sort(X)
    slopes = np.diff(phi(points)) / np.diff(points)
    low, high = phi.slopes
    assert slopes.min() >= low - 1e-10
    assert slopes.max() <= high + 1e-10
    assert slopes.min() == pytest.approx(low, abs=3e-3)
    assert slopes.max() == pytest.approx(high, abs=3e-3)


@pytest.mark.parametrize("name", [name for name in NAMES if activation(name).curvature < np.inf])
def test_the_slope_changes_as_fast_as_the_record_says(name):
    step = 1 / 2048  # a power of two: the points are as far apart as that
    fastest = np.abs(np.diff(activation(name)(np.arange(-8192, 8193) * step), n=2)).max() / step**2
    assert fastest <= activation(name).curvature + 1e-8  # eps |phi(4)| / step^2
    assert fastest == pytest.approx(activation(name).curvature, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_are_as_steep_as_the_record_says(name):
    phi = activation(name)
    odd, even = (phi(X) - phi(-X)) / 2, (phi(X) + phi(-X)) / 2 - phi.at_zero
    order = np.argsort(X)
    for part, constant in ((odd, phi.odd_lipschitz), (even, phi.even_lipschitz)):
        steepest = np.abs(np.diff(part[order]) / np.diff(X[order])).max()
        assert steepest <= constant + 1e-10
        assert steepest == pytest.approx(constant, abs=5e-3)


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
    left, right = arb("2.399357"), 4 * (arb(int(recorded.p)) / int(recorded.q) - arb(1) / 2)
    assert left * (left / 2).tanh() < 2 < right * (right / 2).tanh()
    assert right - left < arb("1e-6")
