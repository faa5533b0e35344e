"""A homogeneous network unrolled into a tree: f/B as sums of positive parts, every weight on one path.

    z_v = q_v · x + Σ_{c child of v} s_c relu(z_c),   f(x)/B = z_root,   Σ_v ||q_v||_1 = 1

By homogeneity v relu(z) = sgn(v) relu(|v| z): a unit that several others read is copied under each of them. B is then
the path norm of the unrolled network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adanet_theory.checks import Array, check

MAX_NODES = 4096


@dataclass(frozen=True)
class Tree:
    """Node 0 is the root; parent[v] < v; sign[v] is s_v; q has one row per node. B is what f was divided by."""

    parent: tuple[int, ...]
    sign: tuple[int, ...]
    q: Array
    B: float

    @property
    def p(self) -> Array:
        """p_v = ||q_v||_1, the mass of every node."""
        return np.abs(self.q).sum(axis=1)

    def children(self, v: int) -> list[int]:
        return [c for c, parent in enumerate(self.parent) if parent == v]

    @property
    def counts(self) -> list[list[tuple[int, int]]]:
        """(plus, minus) children of every node, level by level, without the last level."""
        levels: list[list[tuple[int, int]]] = []
        level = [0]
        while True:
            below = {v: self.children(v) for v in level}
            level = [c for children in below.values() for c in children]
            if not level:
                return levels
            levels.append(
                [(sum(self.sign[c] > 0 for c in cs), sum(self.sign[c] < 0 for c in cs)) for cs in below.values()]
            )

    def means(self, x: Array) -> Array:
        """q_v · x for every point and node."""
        return np.asarray(x @ self.q.T)

    def value(self, leaves: Array) -> Array:
        """G_root where G_v = leaves[.., v] + Σ s_c relu(G_c): f/B at the means, the random network at its counts."""
        G = np.array(leaves)
        for v in range(len(self.parent) - 1, 0, -1):
            G[..., self.parent[v]] += self.sign[v] * np.maximum(G[..., v], 0)
        return np.asarray(G[..., 0])


def one_layer(v_0: Array, v: Array, u: Array) -> Tree:
    """The tree of f(x) = v_0 · x + Σ_i v_i relu(u_i · x); units with v_i = 0 or u_i = 0 are left out.

    >>> u = np.array([[1.0, 0.5], [0.0, 3.0], [1.0, 1.0]])
    >>> tree = one_layer(np.array([1.0, -1.0]), np.array([2.0, -1.0, 0.0]), u)
    >>> tree.B, tree.sign, tree.p.tolist(), tree.counts
    (8.0, (1, 1, -1), [0.25, 0.375, 0.375], [[(1, 1)]])
    >>> float(tree.value(tree.means(np.array([1.0, 0.5])))) * tree.B  # 0.5 + 2 * 1.25 - 1.5
    1.5
    """
    nodes = [(-1, 1, v_0)] + [(0, 1 if v_i > 0 else -1, abs(v_i) * u_i) for v_i, u_i in zip(v, u, strict=True)]
    return _normalised([nodes])[0]


def _normalised(forest: Sequence[Sequence[tuple[int, int, Array]]]) -> tuple[Tree, ...]:
    """The trees of (parent, sign, q) after all are divided by B; a node without weight or children is left out."""
    B = math.fsum(x for nodes in forest for _, _, q in nodes for x in np.abs(q).tolist())
    check(0 < B < math.inf, f"the path norm must be finite and > 0, got B={B}.")
    return tuple(_divided(nodes, B) for nodes in forest)


def _divided(nodes: Sequence[tuple[int, int, Array]], B: float) -> Tree:
    kept = {0}
    for v in range(len(nodes) - 1, 0, -1):
        if v in kept or np.any(nodes[v][2] != 0):
            kept |= {v, nodes[v][0]}
    place = {v: new for new, v in enumerate(sorted(kept))}
    q = np.array([nodes[v][2] for v in place], dtype=np.float64)
    return Tree(tuple(place.get(nodes[v][0], -1) for v in place), tuple(nodes[v][1] for v in place), q / B, B)


def unrolled(
    hidden: Mapping[tuple[int, int], Array],
    output: Mapping[int, Array],
    *,
    depth: int,
    slopes: tuple[float, float] = (1.0, 0.0),
    max_nodes: int = MAX_NODES,
) -> Tree:
    """The tree of f = Σ_k w_k · h_k,  h_1 = U_{1,0} x,  h_k = Σ_s U_{k,s} φ(h_s), with φ(z) = a relu(z) - c relu(-z).

    `slopes` is (a, c): (1, 0) for the ReLU, (1, 0.1) for the leaky ReLU, (1, -1) for |z|. A unit read with a
    weight of 0 is no node; ValueError where there would be more than max_nodes.

    >>> hidden = {(1, 0): np.array([[1.0, -2.0], [0.5, 0.5]]), (2, 1): np.array([[1.0, -1.0]])}
    >>> tree = unrolled(hidden, {2: np.array([2.0])}, depth=2)
    >>> tree.B, tree.sign, tree.p.tolist()
    (8.0, (1, 1, -1), [0.0, 0.75, 0.25])
    """
    return unrolled_classes(hidden, [output], depth=depth, slopes=slopes, max_nodes=max_nodes)[0]


def unrolled_classes(
    hidden: Mapping[tuple[int, int], Array],
    outputs: Sequence[Mapping[int, Array]],
    *,
    depth: int,
    slopes: tuple[float, float] = (1.0, 0.0),
    max_nodes: int = MAX_NODES,
) -> tuple[Tree, ...]:
    """A tree for each class, as in `unrolled`: units that the classes share are copied; B is the sum of all.

    >>> hidden = {(1, 0): np.array([[1.0, -2.0]]), (2, 1): np.array([[1.0]])}
    >>> first, second = unrolled_classes(hidden, [{2: np.array([1.0])}, {1: np.array([-1.0])}], depth=2)
    >>> first.B, first.p.tolist(), second.p.tolist()
    (6.0, [0.0, 0.5], [0.5])
    """
    forest: list[list[tuple[int, int, Array]]] = []
    for output in outputs:
        left = max_nodes - sum(map(len, forest))
        forest.append(_nodes(hidden, output, depth=depth, slopes=slopes, left=left, max_nodes=max_nodes))
    return _normalised(forest)


def _nodes(
    hidden: Mapping[tuple[int, int], Array],
    output: Mapping[int, Array],
    *,
    depth: int,
    slopes: tuple[float, float],
    left: int,
    max_nodes: int,
) -> list[tuple[int, int, Array]]:
    """(parent, sign, weights) of every node, not yet divided by B; `left` of them may still be added."""
    n_0 = next((U.shape[1] for (_, s), U in hidden.items() if s == 0), 0)
    check(n_0 > 0, "the network must read its features.")
    nodes: list[tuple[int, int, Array]] = []

    def add(parent: int, sign: int, reads: Mapping[int, Array]) -> None:
        """A node that reads Σ_k reads[k] · h_k: its linear part, then one child or two per unit below."""
        check(len(nodes) < left, f"the unrolled tree must have at most {max_nodes} nodes.")
        here = len(nodes)
        nodes.append((parent, sign, hidden[1, 0].T @ reads[1] if 1 in reads and (1, 0) in hidden else np.zeros(n_0)))
        for s in range(1, depth):
            below = [hidden[k, s].T @ weights for k, weights in reads.items() if (k, s) in hidden]
            read = np.sum(below, axis=0) if below else np.zeros(0)
            for i, weight in enumerate(read):
                for slope, side in zip(slopes, (1, -1), strict=True):
                    if weight * slope != 0:
                        unit = np.where(np.arange(len(read)) == i, side * abs(weight * slope), 0.0)
                        add(here, int(side * np.sign(weight * slope)), {s: unit})

    add(-1, 1, {k: np.asarray(w) for k, w in output.items()})
    return nodes
