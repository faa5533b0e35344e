"""NetworkSpec and the facts about activations, each against the function itself."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.activations import ACTIVATIONS, Activation, activation, leaky_relu
from adanet_theory.checks import (
    OutsideTheoryError,
    check_delta,
    check_m,
    check_nonnegative,
    check_rho,
    check_risk,
    finite,
    product,
    total,
)
from adanet_theory.spec import NetworkSpec, check_layer

NAMES = [name for name in ACTIVATIONS if ":" not in name] + [
    f"leaky_relu:{a}" for a in (-2.0, -1.0, -0.3, 0.0, 0.1, 1.0, 3.0)
]
X = np.concatenate([np.linspace(-12, 12, 480_001), np.linspace(-1.6, 1.6, 64_001)])
X.sort()


def slopes(y: np.ndarray) -> np.ndarray:
    dx = np.diff(X)
    return np.diff(y)[dx > 1e-9] / dx[dx > 1e-9]


@pytest.mark.parametrize("name", NAMES)
def test_facts_hold_and_are_the_best(name: str) -> None:
    phi = activation(name)
    y = phi(X)
    least, greatest = slopes(y).min(), slopes(y).max()
    assert phi.slopes == pytest.approx((least, greatest), abs=2e-4)
    assert phi.lipschitz == pytest.approx(max(abs(least), abs(greatest)), abs=2e-4)
    assert phi.at_zero == pytest.approx(float(phi(0.0)), abs=1e-15)
    centred = y - phi.at_zero
    odd, even = (centred - centred[::-1]) / 2, (centred + centred[::-1]) / 2
    assert phi.odd_lipschitz == pytest.approx(np.abs(slopes(odd)).max(), abs=2e-4)
    assert phi.even_lipschitz == pytest.approx(np.abs(slopes(even)).max(), abs=2e-4)
    assert phi.is_odd == (np.abs(even).max() < 1e-12)
    far = float(np.abs(phi(np.array([-1e6, 1e6]))).max())
    assert far == pytest.approx(phi.sup) if math.isfinite(phi.sup) else far > 1e5
    homogeneous = all(np.allclose(phi(scale * X), scale * phi(X)) for scale in (0.5, 3.0))
    assert phi.is_homogeneous == homogeneous


@pytest.mark.parametrize("name", NAMES)
def test_peeling_splits_the_activation(name: str) -> None:
    """(φ - φ(0))/L = α o + (1-α) g with α = 2 - e: o is the odd or linear part, g what is left, both 1-Lipschitz."""
    phi = activation(name)
    alpha = 2 - phi.peeling
    scaled = (phi(X) - phi.at_zero) / phi.lipschitz
    o = scaled if phi.is_odd else math.copysign(1, sum(phi.slopes)) * X
    rest = scaled - alpha * o
    assert np.abs(slopes(o)).max() <= 1 + 1e-4
    assert np.abs(slopes(rest)).max() <= 1 - alpha + 1e-4
    assert alpha == pytest.approx(1) or np.abs(slopes(rest)).max() == pytest.approx(1 - alpha, abs=1e-3)


def test_the_constants_of_the_theory() -> None:
    expected = {"relu": 1.5, "elu": 1.5, "tanh": 1, "identity": 1, "abs": 2, "sigmoid": 0.25, "softplus": 1.5}
    for name, constant in expected.items():
        assert activation(name).contraction == pytest.approx(constant)
    assert activation("gelu").contraction == pytest.approx(1.758, abs=5e-4)
    assert leaky_relu(0.1).contraction == pytest.approx(1.45)
    assert leaky_relu(0.1).peeling == pytest.approx(1.45)
    assert activation("relu").peeling == activation("elu").peeling == 1.5
    assert activation("tanh").peeling == activation("sigmoid").peeling == 1.0
    assert activation("abs").peeling == 2.0
    assert (activation("sigmoid").at_zero, activation("softplus").at_zero) == (0.5, math.log(2))


def test_activation_names() -> None:
    phi = activation("relu")
    assert activation(phi) is phi
    assert activation("leaky_relu").slopes == (0.01, 1.0)
    assert activation("leaky_relu:0.1").name == "leaky_relu:0.1"
    with pytest.raises(ValueError, match=r"^activation .*abs, .*leaky_relu:A.* activation='swish'\.$"):
        activation("swish")
    for bad in ("leaky_relu:x", "leaky_relu:inf", "leaky_relu:"):
        with pytest.raises(ValueError, match=r"^activation leaky_relu:A .*finite.* A, got 'leaky_relu:"):
            activation(bad)
    with pytest.raises(ValueError, match=r" a of leaky_relu .*finite.* a=nan\.$"):
        leaky_relu(math.nan)


def test_a_flat_activation_peels_for_nothing() -> None:
    flat = Activation("flat", (0.0, 0.0), 0.0, 0.0, 1.0, 1.0, False, np.ones_like)
    assert (flat.lipschitz, flat.contraction, flat.peeling) == (0, 0, 1)


def test_spec_reads_as_the_paper() -> None:
    spec = NetworkSpec((4, 3, 2, 5), {(2, 1): 0.5, (1, 0): 1, (3, 1): 0.25}, 1.5, ["relu", "tanh"])
    assert (spec.depth, spec.p, spec.q) == (3, 1.5, 3.0)
    assert list(spec.Lambda) == [(1, 0), (2, 1), (3, 1)]
    assert (spec.bound(3, 1), spec.bound(3, 2)) == (0.25, 0.0)
    assert (spec.phi(1).name, spec.phi(2).name) == ("relu", "tanh")
    assert not spec.is_layered
    assert NetworkSpec((4, 3, 2, 5), {(2, 1): 0.5, (3, 1): 0}, 1).is_layered


@pytest.mark.parametrize(("p", "q", "root"), [(1, math.inf, 1.0), (1.5, 3, 2.0), (2, 2, 8**0.5), (math.inf, 1, 8.0)])
def test_conjugate_and_root(p: float, q: float, root: float) -> None:
    spec = NetworkSpec((8, 0, 1), {}, p)
    assert spec.q == pytest.approx(q)
    assert spec.root(0) == pytest.approx(root)
    assert spec.root(1) == 0
    assert NetworkSpec((1, 1), {}, p).root(0) == 1


def test_a_family_can_be_sent_to_another_process() -> None:
    for name in NAMES:
        spec = NetworkSpec.layered((4, 3, 2), 1.5, 2, name)
        copy = pickle.loads(pickle.dumps(spec))
        assert copy == spec
        np.testing.assert_array_equal(copy.phi(1)(X), spec.phi(1)(X))


def test_layered() -> None:
    assert NetworkSpec.layered((4, 3, 2), [1, 2.5], 2).Lambda == {(1, 0): 1.0, (2, 1): 2.5}
    assert NetworkSpec.layered((4, 3, 2), 3, 2, "abs").phi(1).name == "abs"
    with pytest.raises(ValueError, match=r"^Lambda .*2 layers.* 1\.$"):
        NetworkSpec.layered((4, 3, 2), [1.0], 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": (4,)}, "n must hold n_0 and at least n_1, got n=[4]."),
        ({"n": (0, 1)}, "n_0 must be >= 1, got n_0=0."),
        ({"n": (1, -1)}, "n_1 must be >= 0, got n_1=-1."),
        ({"n": (1, 2.0)}, "n_1 must be an integer, got n_1=2.0."),
        ({"n": (True, 2)}, "n_0 must be an integer, got n_0=True."),
        ({"p": 0.5}, "p must be in [1, inf], got p=0.5."),
        ({"p": math.nan}, "p must be in [1, inf], got p=nan."),
        ({"Lambda": {(1, 0): -1}}, "Lambda_{1,0} must be finite and >= 0, got -1."),
        ({"Lambda": {(1, 0): math.inf}}, "Lambda_{1,0} must be finite and >= 0, got inf."),
        ({"Lambda": {(2, 0): 1}}, "Lambda_{2,0} must connect layers 1 <= s < k <= 2, or be Lambda_{1,0}."),
        ({"Lambda": {(3, 1): 1}}, "Lambda_{3,1} must connect layers 1 <= s < k <= 2, or be Lambda_{1,0}."),
        ({"Lambda": {(2, 2): 1}}, "Lambda_{2,2} must connect layers 1 <= s < k <= 2, or be Lambda_{1,0}."),
        ({"activations": ["relu", "relu"]}, "activations must name the 1 layers below the top, got 2."),
    ],
)
def test_spec_refuses(arguments: dict, message: str) -> None:
    good = {"n": (4, 3, 2), "Lambda": {(1, 0): 1.0}, "p": 2, "activations": "relu"}
    NetworkSpec(**good)
    with pytest.raises(ValueError) as caught:
        NetworkSpec(**good | arguments)
    assert str(caught.value) == message


def test_assumptions_are_named() -> None:
    spec = NetworkSpec((1, 1, 1, 1), {}, 2, ["relu", "sigmoid"])
    spec.require_phi_zero(below=2)
    spec.require_lipschitz(below=3)
    with pytest.raises(
        OutsideTheoryError, match=r"^phi\(0\) must be 0.*sigmoid\(0\)=0\.5.*layer 2\. \[assumption: phi-zero\]$"
    ) as caught:
        spec.require_phi_zero(below=3)
    assert caught.value.assumption == "phi-zero"
    message = r"^phi must be 1-Lipschitz, got L=1\.1289 for gelu at layer 1\. \[assumption: lipschitz\]$"
    with pytest.raises(OutsideTheoryError, match=message) as caught:
        NetworkSpec((1, 1, 1), {}, 2, "gelu").require_lipschitz(below=2)
    assert caught.value.assumption == "lipschitz"
    NetworkSpec((1, 1, 1), {}, 2, "gelu").require_lipschitz(below=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_m(0), "m must be an integer >= 1, got m=0."),
        (lambda: check_m(1.5), "m must be an integer >= 1, got m=1.5."),
        (lambda: check_rho(0.0), "rho must be > 0 and finite, got rho=0.0."),
        (lambda: check_rho(math.inf), "rho must be > 0 and finite, got rho=inf."),
        (lambda: check_delta(0.0), "delta must be in (0, 1), got delta=0.0."),
        (lambda: check_delta(1.0), "delta must be in (0, 1), got delta=1.0."),
        (lambda: check_nonnegative("r", -1.0), "r must be finite and >= 0, got r=-1.0."),
        (lambda: check_nonnegative("r", math.inf), "r must be finite and >= 0, got r=inf."),
        (lambda: check_nonnegative("r", math.nan), "r must be finite and >= 0, got r=nan."),
        (lambda: check_risk(1.5, 1, 0.5), "the margin error and the ramp must be in [0, 1], got 1.5."),
        (lambda: check_risk(-0.5, 1, 0.5), "the margin error and the ramp must be in [0, 1], got -0.5."),
        (lambda: check_risk(0.5, 0, 0.5), "m must be an integer >= 1, got m=0."),
        (lambda: check_risk(0.5, 1, 2), "delta must be in (0, 1), got delta=2."),
        (lambda: check_layer(NetworkSpec((1, 1), {}, 1), 2), "k must be a layer in [1, 1], got k=2."),
        (lambda: check_layer(NetworkSpec((1, 1, 1), {}, 1), 1, first=2), "k must be a layer in [2, 2], got k=1."),
    ],
)
def test_conditions(call, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message


def test_conditions_admit_their_edges() -> None:
    check_m(1)
    check_m(1e9)
    check_rho(1e-300)
    check_nonnegative("r", 0)
    check_risk(0, 1, 0.5)
    check_risk(1, 1, 0.5)
    check_layer(NetworkSpec((1, 1), {}, 1), 1)


@pytest.mark.parametrize("name", NAMES)
def test_an_activation_computes_in_double(name: str) -> None:
    x = np.array([-0.7, 0.1, 3.0], dtype=np.float32)
    assert np.array_equal(activation(name)(x), activation(name)(x.astype(np.float64)))


def test_overflow_is_reported() -> None:
    assert finite(1e308, "x") == 1e308
    assert total([1e16, 1.0, -1e16], "x") == 1.0
    for call in (
        lambda: finite(math.inf, "lemma-1"),
        lambda: product([1e300, 1e300], "lemma-1"),
        lambda: total([1e308, 1e308], "lemma-1"),
        lambda: total([math.inf], "lemma-1"),
    ):
        with pytest.raises(OverflowError) as caught:
            call()
        assert str(caught.value) == "lemma-1 exceeds the largest float, 1.8e308."


@given(st.lists(st.floats(0, 1e300), max_size=8))
def test_product_is_the_product(factors: list[float]) -> None:
    exact = math.prod(map(Fraction, factors), start=Fraction(1))
    try:
        expected = float(exact)
    except OverflowError:
        with pytest.raises(OverflowError):
            product(factors, "x")
    else:
        assert product(factors, "x") == pytest.approx(expected, rel=1e-14, abs=1e-320)


@pytest.mark.parametrize(
    "make",
    [lambda **more: NetworkSpec((2, 1), {}, 2, **more), lambda **more: NetworkSpec.layered((2, 1), 1, 2, **more)],
)
def test_an_argument_that_was_nearly_right(make):
    with pytest.raises(TypeError, match=r"'activation'.*'activations'"):
        make(activation="tanh")
    with pytest.raises(TypeError, match=r"'width'.*n, Lambda, p, activations"):
        make(width=3)
