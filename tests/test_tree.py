"""The unrolled tree computes f/B, has total mass 1, and its B is the path norm."""

import numpy as np
import pytest

from adanet_theory.certificates.tree import one_layer, unrolled
from adanet_theory.risk.posterior import path_norm

PHI = {(1.0, 0.0): lambda z: np.maximum(z, 0), (1.0, 0.1): lambda z: np.where(z > 0, z, 0.1 * z), (1.0, -1.0): np.abs}


def network(rng: np.random.Generator, n: tuple[int, ...]) -> tuple[dict, dict]:
    hidden = {(1, 0): rng.normal(size=(n[1], n[0]))}
    for k in range(2, len(n)):
        for s in range(1, k):
            hidden[k, s] = rng.normal(size=(n[k], n[s])) * rng.integers(0, 2, (n[k], n[s]))
    return hidden, {k: rng.normal(size=n[k]) for k in range(1, len(n))}


def forward(hidden: dict, output: dict, phi: object, x: np.ndarray) -> np.ndarray:
    h = {1: x @ hidden[1, 0].T}
    for k in range(2, max(output) + 1):
        h[k] = sum(phi(h[s]) @ hidden[k, s].T for s in range(1, k))  # type: ignore[operator]
    return sum(h[k] @ w for k, w in output.items())


@pytest.mark.parametrize("slopes", list(PHI))
@pytest.mark.parametrize("n", [(3, 2), (3, 4, 2), (2, 3, 2, 2)])
def test_the_tree_is_the_network(slopes: tuple[float, float], n: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(n))
    hidden, output = network(rng, n)
    tree = unrolled(hidden, output, depth=len(n) - 1, slopes=slopes)
    x = rng.uniform(-1, 1, (40, n[0]))
    assert np.allclose(tree.value(tree.means(x)) * tree.B, forward(hidden, output, PHI[slopes], x), rtol=1e-12)
    assert tree.p.sum() == pytest.approx(1)
    assert (tree.parent[0], tree.sign[0]) == (-1, 1)
    assert all(parent < v for v, parent in enumerate(tree.parent))
    if slopes == (1.0, 0.0):
        assert pytest.approx(path_norm(hidden, output, depth=len(n) - 1)) == tree.B


def test_the_counts_of_children_are_those_of_the_tree() -> None:
    hidden, output = network(np.random.default_rng(5), (2, 3, 2, 2))
    tree = unrolled(hidden, output, depth=3)
    assert sum(plus + minus for level in tree.counts for plus, minus in level) == len(tree.parent) - 1
    assert len(tree.counts) == 2
    assert next(sum(map(sum, level)) for level in tree.counts) == tree.parent.count(0)


def test_what_has_no_weight_is_no_node() -> None:
    tree = one_layer(np.zeros(2), np.array([1.0, 0.0, -2.0]), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    assert (tree.parent, tree.sign, tree.B) == ((-1, 0), (1, 1), 1.0)
    hidden = {(1, 0): np.array([[1.0]]), (2, 1): np.array([[1.0], [0.0]]), (3, 2): np.array([[1.0, 1.0]])}
    assert unrolled(hidden, {3: np.ones(1)}, depth=3).parent == (-1, 0, 1)


def test_refusals() -> None:
    hidden, output = network(np.random.default_rng(0), (2, 8, 8, 8))
    with pytest.raises(ValueError, match="at most 20 nodes"):
        unrolled(hidden, output, depth=3, max_nodes=20)
    small = network(np.random.default_rng(1), (2, 2, 1))
    nodes = len(unrolled(*small, depth=2).parent)
    assert len(unrolled(*small, depth=2, max_nodes=nodes).parent) == nodes
    with pytest.raises(ValueError, match=rf"^the unrolled tree must have at most {nodes - 1} nodes\.$"):
        unrolled(*small, depth=2, max_nodes=nodes - 1)
    for v_0, B in ((0.0, 0), (np.inf, np.inf)):
        with pytest.raises(ValueError, match=rf"^the path norm must be finite and > 0, got B={B}"):
            one_layer(np.array([v_0]), np.zeros(1), np.zeros((1, 1)))
    with pytest.raises(ValueError, match=r"^the network must read its features\.$"):
        unrolled({(2, 1): np.ones((1, 1))}, {2: np.ones(1)}, depth=2)


def test_single_precision_is_read_in_double() -> None:
    tree = one_layer(np.ones(2, np.float32), np.ones(1, np.float32), np.ones((1, 2), np.float32))
    assert tree.q.dtype == np.float64
