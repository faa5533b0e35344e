"""What verify-bounds reads from a file, against exact fractions: denormal, huge and nearly equal numbers included."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import Array
from adanet_theory.complexity.estimates import Interval, hidden_complexity, linear_complexity
from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Network
from adanet_train.reading.enclosure import Sensitivity, values
from adanet_train.reading.graph import Graph, Node, of_network
from adanet_train.reading.operations import Activate, Dense
from adanet_train.reading.path_norm import path_norm
from verify.measure import evidence
from verify.measure.margins import by_node, margins
from verify.measure.membership import exceeds, outside
from verify.suite.profiles import share
from verify.suite.strategies import edge_arrays, edge_networks, edges, in_layers

Row = list[Fraction]
LEAST = 2.0**-1074


def fractions(x: Array) -> Row:
    return [Fraction(float(value)) for value in x]


def reads(weights: Network, k: int) -> list[tuple[int, Array]]:
    """(s, U_{k,s}) of every layer that layer k reads."""
    return [(s, weights.hidden[k, s].numpy()) for s in range(k) if (k, s) in weights.hidden]


def applied(phi: Activation, h: Fraction) -> Fraction:
    if phi.name == "identity":
        return h
    if phi.name == "abs":
        return abs(h)
    slope = Fraction(float(phi.name.partition(":")[2] or 0))
    return max(h, Fraction(0)) + slope * min(h, Fraction(0))


def exact_f(weights: Network, x: Array) -> Fraction:
    """f(x), as a fraction."""
    outputs, f = {0: fractions(x)}, Fraction(0)
    for k in range(1, weights.depth + 1):
        h = [Fraction(0)] * weights.n[k]
        for s, U in reads(weights, k):
            for i, row in enumerate(U):
                h[i] += sum((u * v for u, v in zip(fractions(row), outputs[s], strict=True)), Fraction(0))
        if k in weights.output:
            f += sum((w * v for w, v in zip(fractions(weights.output[k].numpy()), h, strict=True)), Fraction(0))
        if k < weights.depth:
            outputs[k] = [applied(activation(weights.activations[k - 1]), value) for value in h]
    return f


def exact_path_norm(weights: Network) -> Fraction:
    """B: the sum over all paths of the product of their weights, the last two maps collapsed to one."""
    paths: dict[int, Row] = {0: [Fraction(1)] * weights.n[0]}
    for k in range(1, weights.depth):
        paths[k] = [Fraction(0)] * weights.n[k]
        for (s, U), i in product(reads(weights, k), range(weights.n[k])):
            paths[k][i] += sum((abs(u) * P for u, P in zip(fractions(U[i]), paths[s], strict=True)), Fraction(0))
    B = Fraction(0)
    for s, t in [(layer, unit) for layer in range(weights.depth) for unit in range(weights.n[layer])]:
        v = Fraction(0)
        for k in range(s + 1, weights.depth + 1):
            if (k, s) in weights.hidden and k in weights.output:
                column = fractions(weights.hidden[k, s][:, t].numpy())
                v += sum(
                    (w * u for w, u in zip(fractions(weights.output[k].numpy()), column, strict=True)), Fraction(0)
                )
        B += abs(v) * paths[s][t]
    return B


def network(U: list[list[float]], w: list[float], phi: str | None = None) -> Network:
    """One layer, or with φ two layers whose second reads the first by w."""
    first = np.array(U)
    if phi is None:
        return in_layers((first.shape[1], len(first)), {(1, 0): first}, {1: np.array(w)}, "identity")
    hidden = {(1, 0): first, (2, 1): np.array([w])}
    return in_layers((first.shape[1], len(first), 1), hidden, {2: np.ones(1)}, phi)


# Margins

# 2 N EPS |x| underflows, the product does not: the float of f is 0 or of the wrong sign, and no error bound is.
UNSEEN = (network([[1e300, -1e300]], [1.0]), np.array([[2e-311, math.nextafter(2e-311, 1)]]))
# the whole product underflows; and a unit that is 0 as a float, of which only the error reaches the next layer
NOTHING = (network([[1e-200]], [1.0]), np.array([[1e-200]]))
CANCELLED = (network([[1.0, 1.0, 1.0]], [1.0], "identity"), np.array([[1.0, 2.0**-54, -1.0]]))


@pytest.mark.claim("a-posteriori")
@share(3)
@given(edge_networks().flatmap(lambda net: st.tuples(st.just(net), edge_arrays(3, net.n[0]))), edges())
@example(UNSEEN, 0.0)
@example(NOTHING, 0.0)
@example(CANCELLED, 0.0)
@example((network([[5e-324]], [1e300], "leaky_relu:0.1"), np.array([[-1.0]])), 0.0)
def test_margins_enclose_f_and_are_counted_exactly(case: tuple[Network, Array], threshold: float) -> None:
    weights, X = case
    try:
        enclosed = margins(of_network(weights), X, np.ones(len(X)))
    except ValueError:
        assume(False)
    f = [exact_f(weights, x) for x in X]
    for low, value, high in zip(enclosed.lower, f, enclosed.upper, strict=True):
        assert Fraction(float(low)) <= value <= Fraction(float(high))
    slow, error = by_node(of_network(weights), X)
    for middle, radius, value in zip(slow, error, f, strict=True):
        assert abs(Fraction(float(middle)) - value) <= Fraction(float(radius))
    for limit in (Fraction(0), Fraction(threshold), *f):
        if abs(limit) < Fraction(2) ** 1000:
            assert enclosed.count(limit) == sum(value <= limit for value in f)


def as_graph(weights: Network) -> tuple[Network, Graph]:
    """The network without its skips, and the same as a graph of linear maps and activations."""
    depth = weights.depth
    phi = next(iter(weights.activations), "identity")
    hidden = {pair: U.numpy() for pair, U in weights.hidden.items() if pair[1] == pair[0] - 1}
    layered = in_layers(weights.n, hidden, {depth: weights.output[depth].numpy()}, phi)
    operations: list[Any] = [Dense(torch.from_numpy(hidden[1, 0]))]
    for k in range(2, depth + 1):
        operations += [Activate(activation(phi)), Dense(torch.from_numpy(hidden[k, k - 1]))]
    operations.append(Dense(weights.output[depth][None]))
    nodes, example = [], torch.zeros(1, weights.n[0], dtype=torch.float64)
    for i, operation in enumerate(operations):
        example = operation.value(example)
        nodes.append(Node(operation, (i,), tuple(example.shape[1:])))
    return layered, Graph((weights.n[0],), tuple(nodes))


# two nodes read the unit that rounds, and the error is nearly all in one of them
SKIPPED = (
    in_layers(
        (3, 1, 1),
        {(1, 0): np.ones((1, 3)), (2, 1): np.ones((1, 1))},
        {1: np.full(1, 2.0**-60), 2: np.ones(1)},
        "identity",
    ),
    np.array([[1.0, 2.0**-54, -1.0]]),
)


@pytest.mark.claim("a-posteriori")
@share(2)
@given(edge_networks().flatmap(lambda net: st.tuples(st.just(net), edge_arrays(3, net.n[0]))))
@example(UNSEEN)
@example(NOTHING)
@example(CANCELLED)
@example(SKIPPED)
def test_the_quick_enclosure_holds_f(case: tuple[Network, Array]) -> None:
    """Without a second look at the points where it is wide."""
    weights, X = case
    graph = of_network(weights)
    f, error = (part.numpy() for part in Sensitivity.of(graph).values(graph, torch.from_numpy(X)))
    for x, middle, radius in zip(X, f[:, 0], error[:, 0], strict=True):
        if math.isfinite(middle) and math.isfinite(radius):
            assert abs(Fraction(float(middle)) - exact_f(weights, x)) <= Fraction(float(radius))


@pytest.mark.claim("a-posteriori")
@share(2)
@given(edge_networks().flatmap(lambda net: st.tuples(st.just(net), edge_arrays(3, net.n[0]))))
@example(UNSEEN)
@example(NOTHING)
@example(CANCELLED)
def test_a_graph_encloses_f_and_its_path_norm(case: tuple[Network, Array]) -> None:
    weights, graph = as_graph(case[0])
    f, error = values(graph, case[1])
    assume(bool(np.isfinite(f).all() and np.isfinite(error).all()))
    for x, middle, radius in zip(case[1], f[:, 0], error[:, 0], strict=True):
        assert abs(Fraction(float(middle)) - exact_f(weights, x)) <= Fraction(float(radius))
    try:
        B = path_norm(graph)
    except OverflowError:  # too small or too large to be said
        return
    assert Fraction(B) >= exact_path_norm(weights)


@pytest.mark.claim("a-posteriori")
@share(3)
@given(edge_networks())
@example(network([[3 * LEAST]], [0.25]))
@example(network([[2.0**-600, 2.0**-700]], [2.0**-470], "relu"))
@example(
    in_layers(
        (1, 2, 1),
        {(1, 0): np.array([[2.0**1000], [1.0]]), (2, 1): np.array([[2.0**-600, 2.0**-300]])},
        {2: np.array([2.0**-600])},
        "identity",
    )
)
def test_the_path_norm_is_not_below_its_value(weights: Network) -> None:
    exact = exact_path_norm(weights)
    try:
        B = path_norm(of_network(weights))
    except OverflowError:
        assume(False)
    assert Fraction(B) >= exact


# Norms and features


@given(edge_arrays(2, 3), st.sampled_from([1.0, 2.0, 3.0, math.inf]))
@example(np.array([[2.0**-1074, 0.0, 0.0]] * 2), 2.0)
@example(np.array([[2.0**-1073, 0.0, 0.0], [0.0] * 3]), 2.0)
def test_the_sizes_of_features_are_not_below_their_values(Psi: Array, q: float) -> None:
    sizes = evidence.feature_sizes(Psi, q)
    columns = [sum((v * v for v in fractions(column)), Fraction(0)) for column in Psi.T]
    assert Fraction(sizes.r_rms) ** 2 * len(Psi) >= max(columns)
    largest = [max(map(abs, fractions(row))) for row in Psi]
    assert Fraction(sizes.r_inf) == max(largest)
    if math.isfinite(sizes.square_norms):
        if q == math.inf:
            squares = sum((value**2 for value in largest), Fraction(0))
            assert Fraction(sizes.square_norms) >= squares
        if q == 2:
            squares = sum((v * v for row in Psi for v in fractions(row)), Fraction(0))
            assert Fraction(sizes.square_norms) >= squares


@given(edge_arrays(2, 3), st.sampled_from([1.0, 2.0, 3.0]))
def test_the_largest_norm_is_not_below_its_value(U: Array, p: float) -> None:
    weights = network(U.tolist(), [1.0, 1.0])
    largest = Fraction(evidence.largest_norms(weights, p)[1, 0])
    for row in U:
        assert sum((abs(u) ** int(p) for u in fractions(row)), Fraction(0)) <= largest ** int(p)


@pytest.mark.claim("margin-bound")
@given(edge_arrays(1, 3), st.sampled_from([1.0, 2.0, 3.0, math.inf]), st.integers(-3, 3))
@example(np.array([[0.6, 0.8, 0.0]]), 2.0, 0)
@example(np.array([[1 / 3, 1 / 3, math.nextafter(1 / 3, 1)]]), 1.0, 0)
def test_membership_is_decided_exactly(U: Array, p: float, ulps: int) -> None:
    """At a bound some ulps from the float of the norm: 0.6^2 + 0.8^2 > 1, though its float is 1."""
    bound = float(np.linalg.norm(U[0] * 2.0**-300, p)) * 2.0**300
    for _ in range(abs(ulps)):
        bound = math.nextafter(bound, math.copysign(math.inf, ulps))
    assume(0 <= bound < math.inf)
    sizes, power = [abs(u) for u in fractions(U[0])], 1 if p == math.inf else int(p)
    exact = max(sizes) > Fraction(bound) if p == math.inf else sum(u**power for u in sizes) > Fraction(bound) ** power
    spec = NetworkSpec.layered((3, 1), bound, p)
    beyond = list(outside(network(U.tolist(), [1.0]), spec))
    assert bool(beyond) == exact
    assert all(norm > bound for _, _, norm in beyond)


def test_membership_at_a_p_that_is_no_whole_number() -> None:
    """8 (1/4)^(3/2) = 1 is a tie; an ulp more is outside."""
    u = np.full(8, 0.25)
    assert not exceeds(u, 1.5, 1.0)
    u[0] = math.nextafter(0.25, 1)
    assert exceeds(u, 1.5, 1.0)
    assert exceeds(np.full(3, 5e-324), 1.1, 5e-324)


# Complexities


def encloses(value: Interval, exact: Fraction) -> None:
    assert Fraction(value.lower) <= exact <= Fraction(value.upper), (value, float(exact))


@pytest.mark.claim("h1-exact")
@given(edge_arrays(3, 2), st.sampled_from([1.0, math.inf]), edges(100).map(abs))
@example(np.array([[5e-324, 0.0], [5e-324, 0.0], [0.0, 0.0]]), math.inf, 0.25)
@example(np.array([[5e-324, 0.0]] * 3), math.inf, 1e30)
def test_the_first_layer_is_enclosed(Psi: Array, p: float, Lambda: float) -> None:
    spec = NetworkSpec.layered((2, 1), Lambda, p)
    total = Fraction(0)
    for signs in product([1, -1], repeat=3):
        sums = [
            abs(sum((s * v for s, v in zip(signs, fractions(column), strict=True)), Fraction(0))) for column in Psi.T
        ]
        total += max(sums) if p == 1 else sum(sums, Fraction(0))
    encloses(linear_complexity(Psi, spec), Fraction(Lambda) * total / 8 / 3)


@pytest.mark.claim("lemma-1-exact")
@given(edge_arrays(3, 1), edges(100).map(abs), edges(100).map(abs))
@example(np.array([[5e-324], [5e-324], [0.0]]), 0.25, 1e300)
def test_the_second_layer_is_enclosed(Psi: Array, first: float, second: float) -> None:
    spec = NetworkSpec.layered((1, 1, 1), [first, second], 1.0)
    total = Fraction(0)
    for signs in product([1, -1], repeat=3):
        total += max(
            abs(
                sum(
                    (s * max(c * x, Fraction(0)) for s, x in zip(signs, fractions(Psi[:, 0]), strict=True)), Fraction(0)
                )
            )
            for c in (1, -1)
        )
    encloses(hidden_complexity(Psi, spec), Fraction(first) * Fraction(second) * total / 8 / 3)
