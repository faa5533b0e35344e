"""adanet_train.reading.graph: values within their proved error, path norms against the unrolled network, levels."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import flint
import numpy as np
import pytest
import torch
from torch import Tensor

from adanet_theory.activations import activation
from adanet_theory.risk.posterior import path_norm as layered_path_norm
from adanet_train.core.network import Network
from adanet_train.reading import enclosure
from adanet_train.reading.graph import Graph, Node, of_network
from adanet_train.reading.graph import chain as graph_of_chain
from adanet_train.reading.layers import layers
from adanet_train.reading.operations import (
    Activate,
    Affine,
    Average,
    Cat,
    Convolution,
    Dense,
    Largest,
    Operation,
    Places,
    Reshape,
    Sum,
    Total,
    Window,
)
from adanet_train.reading.path_norm import path_norm

RELU = Activate(activation("relu"))


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def chain(shape: tuple[int, ...], *steps: Operation | tuple[Operation, tuple[int, ...]]) -> Graph:
    """Each step reads the one before, or the nodes that it names."""
    nodes: list[Node] = []
    examples = [torch.zeros(1, *shape, dtype=torch.float64)]
    for step in steps:
        operation, read = step if isinstance(step, tuple) else (step, (len(nodes),))
        examples.append(operation.value(*(examples[i] for i in read)))
        nodes.append(Node(operation, read, tuple(examples[-1].shape[1:])))
    return Graph(shape, tuple(nodes))


def plane(kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1) -> Window:
    return Window((kernel, kernel), (stride, stride), (padding,) * 4, (dilation, dilation))


def residual() -> Graph:
    """Two convolutions around a skip, average pooling, and a read-out of x itself beside it."""
    return chain(
        (2, 5, 5),
        Convolution(normal(1, 4, 2, 3, 3), normal(2, 4), plane(3, padding=1)),
        RELU,
        Convolution(normal(3, 4, 2, 3, 3), normal(4, 4), plane(3, padding=2, dilation=2), groups=2),
        (Sum((1.0, -0.5)), (2, 3)),
        RELU,
        Average(plane(2, stride=2), torch.tensor(0.25)),
        Reshape((16,)),
        (Reshape((50,)), (0,)),
        (Cat(0), (7, 8)),
        Dense(normal(5, 1, 66), normal(6, 1)),
    )


def pooled() -> Graph:
    return chain(
        (1, 6),
        Convolution(normal(7, 3, 1, 3), normal(8, 3), Window((3,), (1,), (1, 1), (1,))),
        Affine(normal(9, 3, 1), normal(10, 3, 1)),
        Activate(activation("leaky_relu:0.25")),
        Largest(Window((3,), (2,), (1, 1), (1,))),
        Reshape((9,)),
        Dense(normal(11, 1, 9)),
    )


def chosen() -> Graph:
    """Two parts of x read apart, and the second of three outputs."""
    return chain(
        (2, 5),
        Places(torch.tensor([1, 2])),
        Dense(normal(1, 4, 2), normal(2, 4)),
        (Places(torch.tensor([7, 8, 9, 10])), (0,)),
        Dense(normal(3, 4, 4)),
        (Sum((1.0, -1.0)), (2, 4)),
        RELU,
        Dense(normal(4, 3, 4)),
        Places(torch.tensor([2])),
    )


def totalled() -> Graph:
    """Sums and means over axes, one of them of what an activation gave, and a pooling of negative weight."""
    return chain(
        (2, 3, 4),
        Convolution(normal(1, 3, 2, 2, 2), normal(2, 3), plane(2, padding=1)),
        Average(plane(2), torch.tensor(-0.25)),
        Total((1,), 3, 1 / 3, True),
        RELU,
        (Total((0, 2), 8, 1.0, False), (0,)),
        (Reshape((1, 3, 1)), (5,)),
        (Total((1,), 3, 1 / 3, True), (6,)),
        (Cat(2), (4, 4)),
        Total((2,), 8, 1.0, True),
        (Cat(0), (9, 7)),
        Reshape((4,)),
        Dense(normal(3, 1, 4), normal(4, 1)),
    )


GRAPHS = {"residual": residual, "pooled": pooled, "chosen": chosen, "totalled": totalled}


# Brute force: every linear operation as a matrix, by what it does to the basis


def matrix(operation: Operation, shapes: list[tuple[int, ...]]) -> tuple[Tensor, Tensor]:
    """(A, b) of a linear operation: column by column, one input after the other."""
    zeros = [torch.zeros(1, *shape, dtype=torch.float64) for shape in shapes]
    b = operation.value(*zeros).flatten()
    columns = []
    for i, shape in enumerate(shapes):
        for place in range(math.prod(shape)):
            read = [x.clone() for x in zeros]
            read[i].view(-1)[place] = 1
            columns.append(operation.value(*read).flatten() - b)
    return torch.stack(columns, dim=1), b


def unrolled(graph: Graph) -> tuple[dict[tuple[int, ...], Tensor], dict[int, Tensor]]:
    """What each node is as a signed sum of x, 1 and the nodes that are not linear; windows are nodes of their own."""
    shapes = {0: graph.shape} | {i: node.shape for i, node in enumerate(graph.nodes, start=1)}
    n = math.prod(graph.shape)
    maps: dict[int, dict[int, Tensor]] = {0: {0: torch.eye(n, dtype=torch.float64)}}
    reads = {}
    for i, node in enumerate(graph.nodes, start=1):
        size = math.prod(node.shape)
        if not node.operation.is_linear:
            reads[i] = maps[node.inputs[0]]
            maps[i] = {i: torch.eye(size, dtype=torch.float64)}
            continue
        A, b = matrix(node.operation, [shapes[j] for j in node.inputs])
        parts: dict[int, Tensor] = {-1: b[:, None]}
        start = 0
        for j in node.inputs:
            block = A[:, start : start + math.prod(shapes[j])]
            start += block.shape[1]
            for source, M in maps[j].items():
                parts[source] = parts.get(source, torch.zeros(size, M.shape[1], dtype=torch.float64)) + block @ M
        maps[i] = parts
    return reads, maps[len(graph.nodes)]  # type: ignore[return-value]


def brute_force_path_norm(graph: Graph) -> float:
    """Σ |v| P with signed collapsed maps at the output and absolute node-by-node maps below."""
    shapes = {0: graph.shape} | {i: node.shape for i, node in enumerate(graph.nodes, start=1)}
    P: dict[int, Tensor] = {0: torch.ones(math.prod(graph.shape), dtype=torch.float64)}
    for i, node in enumerate(graph.nodes, start=1):
        below = torch.cat([P[j] for j in node.inputs])
        if node.operation.is_linear:
            A, b = matrix(node.operation, [shapes[j] for j in node.inputs])
            P[i] = A.abs() @ below + b.abs()
        elif isinstance(node.operation, Largest):
            windows = node.operation.window.indices(shapes[node.inputs[0]])
            P[i] = torch.tensor(
                [
                    sum(float(below[j - 1]) for j in windows[channel, :, place] if j)
                    for channel, place in product(range(windows.shape[0]), range(windows.shape[2]))
                ],
                dtype=torch.float64,
            )
        else:
            P[i] = below
    _, out = unrolled(graph)
    one = torch.ones(1, dtype=torch.float64)
    return float(sum(M.abs()[0] @ (one if i == -1 else P[i]) for i, M in out.items()))


@pytest.mark.parametrize("mode", ["constant", "replicate", "circular", "reflect"])
def test_no_slope_sums_more_terms_than_roundings_are_counted(mode: str) -> None:
    """With weights 1 a slope is the number of its terms."""
    window = Window((3, 3), (1, 1), (3,) * 4, (1, 1), mode)
    operation = Convolution(torch.ones(2, 1, 3, 3, dtype=torch.float64), None, window)
    x = torch.zeros(1, 1, 4, 4, dtype=torch.float64, requires_grad=True)
    (slopes,) = torch.autograd.grad(operation.value(x).sum(), [x])
    assert float(slopes.max()) <= operation.slope_roundings


@pytest.mark.parametrize("name", GRAPHS)
def test_path_norm_is_that_of_the_unrolled_network_and_never_below(name: str) -> None:
    graph = GRAPHS[name]()
    expected = brute_force_path_norm(graph)
    B = path_norm(graph)
    assert expected * (1 - 1e-13) <= B <= expected * (1 + 1e-11)


def test_path_norm_is_the_layered_one_on_a_stack() -> None:
    U, V, w = normal(1, 5, 3), normal(2, 4, 5), normal(3, 2, 4)
    graph = chain((3,), Dense(U), RELU, Dense(V), RELU, Dense(w)).read((-1.0, 1.0))
    hidden = {(1, 0): U.numpy(), (2, 1): V.numpy(), (3, 2): (w[1:] - w[:1]).numpy()}
    assert path_norm(graph) == pytest.approx(layered_path_norm(hidden, {3: np.ones(1)}, depth=3), rel=1e-12)


def test_linear_maps_are_collapsed_only_above_the_last_activations() -> None:
    cancels = Dense(torch.tensor([[1.0, -1.0]], dtype=torch.float64))
    twice = Dense(torch.ones(2, 1, dtype=torch.float64))
    assert path_norm(chain((1,), twice, cancels)) < 1e-13
    assert path_norm(chain((1,), Dense(torch.zeros(1, 1, dtype=torch.float64)))) == 0
    assert path_norm(chain((1,), twice, RELU, cancels)) == pytest.approx(2, rel=1e-12)
    assert path_norm(chain((1,), twice, cancels, RELU)) == pytest.approx(2, rel=1e-12)


def weight(x: float) -> Dense:
    return Dense(torch.tensor([[x]], dtype=torch.float64))


@pytest.mark.parametrize("powers", [(-700, -700, 1000), (1000, -700, -700), (-700, 1000, -700), (-1074, 1000, 60)])
def test_path_norm_stays_above_what_underflows_on_the_way(powers: tuple[int, ...]) -> None:
    collapsed = chain((1,), *(weight(2.0**k) for k in powers))
    between = chain((1,), *(step for k in powers for step in (weight(2.0**k), RELU)), weight(1.0))
    first = Dense(weight(2.0 ** powers[0]).W, torch.full((1,), 2.0 ** powers[0], dtype=torch.float64))
    biased = chain((1,), first, *(weight(2.0**k) for k in powers[1:]))
    for graph, paths in ((collapsed, 1), (between, 1), (biased, 2)):
        assert path_norm(graph) >= paths * Fraction(2) ** sum(powers)


def test_path_norm_keeps_a_bias_that_underflows_on_the_way() -> None:
    constant = Dense(torch.zeros(1, 1, dtype=torch.float64), torch.full((1,), 2.0**-700, dtype=torch.float64))
    graph = chain((1,), constant, weight(2.0**-700), weight(2.0**1000))
    assert path_norm(graph) >= Fraction(1, 2**400)


def test_path_norm_makes_up_for_what_is_rounded_away_where_collapsed_weights_cancel() -> None:
    for terms in permutations([2.0**53, 1.0, -(2.0**53), 1.0]):  # some order adds 2^53 + 1 = 2^53
        below = Dense(torch.tensor([[x] for x in terms], dtype=torch.float64))
        above = Dense(torch.ones(1, 4, dtype=torch.float64))
        assert path_norm(chain((1,), below, above)) >= 2


def test_path_norm_beside_a_larger_path_keeps_what_underflows() -> None:
    steps = [
        weight(2.0**1000),
        weight(2.0**-700),
        weight(2.0**-700),
        (weight(2.0**-500), (0,)),
        (Sum((1.0, 1.0)), (3, 4)),
    ]
    assert path_norm(chain((1,), *steps)) >= Fraction(1, 2**400) + Fraction(1, 2**500)


@pytest.mark.parametrize("power", [-1000, -330, -100, 0, 200])
@pytest.mark.parametrize("name", GRAPHS)
def test_path_norm_of_small_and_large_weights_is_not_below(name: str, power: int) -> None:
    graph = GRAPHS[name]()
    scaled = Graph(graph.shape, (*graph.nodes, Node(weight(2.0**power), (len(graph.nodes),), (1,))))
    expected = Fraction(brute_force_path_norm(graph)) * Fraction(2) ** power
    assert expected * (1 - Fraction(1, 10**13)) <= Fraction(path_norm(scaled)) <= expected * 2


@pytest.mark.parametrize("name", GRAPHS)
def test_f_is_at_most_its_path_norm_where_the_features_are_at_most_1(name: str) -> None:
    graph = GRAPHS[name]()
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, *graph.shape))
    f, error = enclosure.values(graph, X)
    assert (np.abs(f) - error).max() <= path_norm(graph)


@pytest.mark.parametrize("name", GRAPHS)
def test_values_lie_within_their_error_of_the_balls(name: str) -> None:
    graph = GRAPHS[name]()
    X = np.random.default_rng(1).normal(size=(5, *graph.shape)) * 1e3
    f, error = enclosure.values(graph, X)
    for x, value, e in zip(X, f, error, strict=True):
        with flint.ctx.workprec(4096):
            ball = enclosure.balls(graph, x)[0]
            assert float(ball.rad()) == 0
            difference = abs(ball - flint.arb(float(value[0])))
            assert difference <= flint.arb(float(e[0]))
            assert 0 < float(e[0]) < 1e-9 * path_norm(graph) * 1e3


@pytest.mark.parametrize("name", [*GRAPHS, "many"])
def test_the_quick_enclosure_holds_the_balls_too(name: str) -> None:
    many = chain((2, 5), *(node.operation for node in chosen().nodes[:2]), RELU, Dense(normal(7, 3, 4), normal(8, 3)))
    graph = many if name == "many" else GRAPHS[name]()
    X = np.random.default_rng(1).normal(size=(7, *graph.shape)) * 1e3
    quick, error = enclosure.Sensitivity.of(graph).values(graph, torch.from_numpy(X))
    by_node, own = enclosure.values(graph, X)
    together, radius = enclosure.enclosed(graph, X)
    for i, x in enumerate(X):
        with flint.ctx.workprec(4096):
            for c, ball in enumerate(enclosure.balls(graph, x)):
                for f, e in ((quick[i, c], error[i, c]), (by_node[i, c], own[i, c]), (together[i, c], radius[i, c])):
                    assert abs(ball - flint.arb(float(f))) <= flint.arb(float(e))
    assert (error.numpy() < 100 * own + 1e-9).all()


@pytest.mark.parametrize("name", GRAPHS)
def test_the_sizes_of_slopes_are_not_below_them(name: str) -> None:
    """Of every linear map, pulled back: a negative weight counts by its size."""
    graph = GRAPHS[name]()
    for i, node in enumerate(graph.nodes, start=1):
        if node.operation.is_linear:
            shapes, a = [graph.shape_of(j) for j in node.inputs], normal(i, 3, *node.shape)
            slopes, constant = enclosure.pulled(node.operation, shapes, a, one=None)
            sizes, own = enclosure.pulled(node.operation, shapes, a.abs(), one=1.0)
            for slope, size in zip((*slopes, constant), (*sizes, own), strict=True):
                assert (slope.abs() <= size * (1 + 1e-12)).all()
            assert any(bool(size.any()) for size in sizes)


def test_where_the_quick_enclosure_is_wide_it_is_that_of_the_nodes() -> None:
    """A sum that cancels, behind a unit that is off for all points but the last."""
    double = {"dtype": torch.float64}
    twice, less = torch.tensor([[1.0, 0.0], [1.0, 0.0]], **double), torch.tensor([[1.0, -1.0]], **double)
    graph = chain((2,), Dense(twice), RELU, Dense(less))
    f, error = enclosure.enclosed(graph, np.array([[-1.0, 0.0]] * 3 + [[1.0, 0.0]]))
    assert not f.any()
    assert not error[:3].any()
    assert error[3] > 0


@pytest.mark.parametrize("bias", [False, True])
def test_the_layers_of_a_chain_are_the_same_network(bias: bool) -> None:
    b = [normal(i, n) if bias else None for i, n in enumerate((4, 2))]
    graph = graph_of_chain([(normal(5, 4, 3), b[0]), (normal(6, 2, 4), b[1])], "relu")
    read_layers = layers(graph)
    assert read_layers is not None
    assert read_layers.n == ((4, 5, 2) if bias else (3, 4, 2))
    X = normal(9, 20, 3)
    Psi = torch.cat([X, torch.ones(20, 1)], dim=1) if bias else X
    f, _ = enclosure.values(graph.read((-1.0, 1.0)), X.numpy())
    again, _ = enclosure.values(of_network(read_layers), Psi.numpy())
    np.testing.assert_allclose(again, f, rtol=1e-12, atol=1e-12)
    assert path_norm(of_network(read_layers)) == pytest.approx(path_norm(graph.read((-1.0, 1.0))), rel=1e-12)


@pytest.mark.parametrize("steps", [(Dense(normal(1, 2, 2)), Dense(normal(2, 1, 2))), (RELU, Dense(normal(1, 1, 2)))])
def test_other_graphs_have_no_layers(steps: tuple[Operation, ...]) -> None:
    assert layers(chain((2,), *steps)) is None
    assert layers(residual()) is None
    tanh = graph_of_chain([(normal(1, 2, 2), None), (normal(2, 1, 2), normal(3, 1))], "tanh")
    assert layers(tanh) is None  # no unit of tanh carries the second bias
    assert layers(graph_of_chain([(normal(1, 2, 2), normal(3, 2)), (normal(2, 1, 2), None)], "tanh")) is not None


def test_a_layer_that_reads_nothing_is_0() -> None:
    hidden = {(1, 0): normal(1, 2, 3), (3, 2): normal(2, 1, 2)}
    network = Network((3, 2, 2, 1), hidden, {1: normal(3, 2), 3: normal(4, 1)}, ("sigmoid",) * 2)
    X = normal(5, 6, 3)
    f, _ = enclosure.values(of_network(network), X.numpy())
    np.testing.assert_allclose(f[:, 0], network(X).numpy(), rtol=1e-12, atol=1e-12)
    nothing = of_network(Network.empty(3))
    assert not enclosure.enclosed(nothing, X.numpy())[0].any()
    assert path_norm(nothing) == 0


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus", "elu", "gelu", "silu", "abs", "leaky_relu:-0.5"])
def test_values_of_every_activation_lie_within_their_error(name: str) -> None:
    graph = chain((2,), Dense(normal(1, 6, 2), normal(2, 6)), Activate(activation(name)), Dense(normal(3, 1, 6)))
    X = np.random.default_rng(2).normal(size=(4, 2)) * 3
    f, error = enclosure.values(graph, X)
    for x, value, e in zip(X, f[:, 0], error[:, 0], strict=True):
        with flint.ctx.workprec(512):
            assert abs(enclosure.balls(graph, x)[0] - flint.arb(float(value))) <= flint.arb(float(e))


@pytest.mark.parametrize("name", ["relu", "abs", "tanh", "silu", "leaky_relu:2.0"])
def test_an_activation_passes_on_the_error_times_its_slope(name: str) -> None:
    below, phi = Dense(normal(1, 4, 3)), activation(name)
    X = np.random.default_rng(4).normal(size=(20, 3))
    f, before = enclosure.values(chain((3,), below), X)
    _, after = enclosure.values(chain((3,), below, Activate(phi)), X)
    on = f > 0
    assert (before[on] > 0).all()
    assert (after[on] >= phi.lipschitz * before[on]).all()


def test_what_underflows_on_the_way_is_in_the_error() -> None:
    small, large = (Dense(torch.tensor([[x]], dtype=torch.float64)) for x in (2.0**-600, 2.0**1000))
    graph = chain((1,), small, RELU, large)
    x = np.array([[2.0**-474 * (1 + 2.0**-52)]])  # the product is the least denormal number and a half
    f, error = enclosure.values(graph, x)
    with flint.ctx.workprec(2048):
        assert abs(enclosure.balls(graph, x[0])[0] - flint.arb(float(f[0, 0]))) <= flint.arb(float(error[0, 0]))


def test_blocks_do_not_change_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = residual()
    X = np.random.default_rng(3).normal(size=(7, *graph.shape)).astype(np.float32)
    whole, _ = enclosure.values(graph, X)
    monkeypatch.setattr(enclosure, "BLOCK_NUMBERS", 200)
    parts, _ = enclosure.values(graph, X)
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-12)


# Levels


def test_levels_count_the_activations_of_the_longest_path() -> None:
    assert (residual().d, residual().peeling, residual().rereads) == (2, 1.5, False)
    assert [phi.name for phi in residual().phi] == ["relu"]
    graph = pooled()  # three numbers in a window: two levels of |x| above the leaky ReLU
    assert (graph.d, graph.peeling, graph.rereads) == (3, 2.0, False)
    assert [phi.name for phi in graph.phi] == ["abs", "leaky_relu:0.25"]


def test_activations_that_share_a_level_add_up() -> None:
    mixed = chain((2,), Dense(normal(1, 3, 2)), RELU, (Activate(activation("abs")), (1,)), (Sum((1.0, 1.0)), (2, 3)))
    assert (mixed.d, mixed.peeling) == (1, 3.5)


@pytest.mark.parametrize(
    ("steps", "rereads"),
    [
        ((Dense(normal(1, 2, 2)), RELU, (Sum((1.0, 1.0)), (0, 2))), False),
        ((Dense(normal(1, 2, 2)), RELU, (Sum((1.0, 1.0)), (0, 2)), RELU), True),
        ((Dense(normal(1, 2, 2), normal(2, 2)), RELU, Dense(normal(3, 2, 2), normal(4, 2)), RELU), False),
    ],
)
def test_whether_x_is_read_again_above_the_first_level(steps: Any, rereads: bool) -> None:
    assert chain((2,), *steps).rereads is rereads


def test_windows_of_two_numbers_of_x_are_a_first_level_and_wider_ones_read_it_again() -> None:
    two, three = (Largest(Window((k,), (1,), (0, 0), (1,))) for k in (2, 3))
    assert (chain((1, 4), two).rereads, chain((1, 4), two).d) == (False, 1)
    assert (chain((1, 4), three).rereads, chain((1, 4), three).d) == (True, 3)
    assert (chain((1, 4), two, RELU).rereads, chain((1, 4), two, RELU).d) == (True, 3)  # (a + b)/2 passes x on


def test_biases_are_one_more_feature() -> None:
    assert chain((3,), Dense(normal(1, 1, 3))).n_0 == 3
    assert residual().n_0 == 51
