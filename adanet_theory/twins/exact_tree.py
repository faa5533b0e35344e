"""The unrolled tree of a homogeneous network in exact weights, node by node, written apart from `adanet_theory.tree`.

A weight on a path is a sum of products of the file's numbers, here without rounding: it is 0 only where they cancel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import flint
import numpy as np
from flint import arb

from adanet_theory.checks import Array, check
from adanet_theory.tree import Tree
from adanet_theory.twins.tails import BITS

MAX_NODES = 64


def exact_bits(depth: int) -> int:
    """Enough for sums of products of depth + 1 weights and as many slopes: multiples of 2^-1074 below 2^1024 each."""
    return 2098 * (2 * depth + 2) + 64


@dataclass(frozen=True)
class ExactTree:
    """parent, sign and the weights of each node by feature, not divided by B = the sum of all their sizes."""

    parent: tuple[int, ...]
    sign: tuple[int, ...]
    weights: tuple[Mapping[int, arb], ...]
    n_0: int

    @property
    def B(self) -> arb:
        with flint.ctx.workprec(BITS):
            return sum((abs(x) for row in self.weights for x in row.values()), arb(0))

    @property
    def masses(self) -> list[arb]:
        """p_v, which sum to 1."""
        with flint.ctx.workprec(BITS):
            B = self.B
            return [sum((abs(x) for x in row.values()), arb(0)) / B for row in self.weights]

    @property
    def atoms(self) -> list[arb]:
        """theta_a > 0, which sum to 1."""
        with flint.ctx.workprec(BITS):
            B = self.B
            return [abs(x) / B for row in self.weights for x in row.values()]

    def rounded(self) -> Tree:
        """The tree in floats, each weight the float next to the exact one."""
        q = np.zeros((len(self.parent), self.n_0))
        with flint.ctx.workprec(BITS):
            B = self.B
            for v, row in enumerate(self.weights):
                for j, x in row.items():
                    q[v, j] = float(x / B)
        return Tree(self.parent, self.sign, q, float(B))


def exact_tree(
    hidden: Mapping[tuple[int, int], Array],
    output: Mapping[int, Array],
    *,
    depth: int,
    slopes: Sequence[tuple[float, float]] | None = None,
    max_nodes: int = MAX_NODES,
) -> ExactTree:
    """f = sum_k w_k . h_k, unrolled: ValueError where more than max_nodes nodes are needed.

    slopes[s-1] = (a, c) says that phi_s(z) = a relu(z) - c relu(-z); all are the ReLU, (1, 0), where none are given.
    """
    n_0 = hidden[1, 0].shape[1] if (1, 0) in hidden else 0
    check(n_0 > 0, "the network must read its features.")
    nodes: list[tuple[int, int, dict[int, arb]]] = []
    alive = _alive(hidden, depth)

    def collapsed(reads: dict[int, dict[int, arb]], s: int) -> dict[int, arb]:
        """The weight of every unit of layer s (feature, at s = 0) in sum_k reads[k] . h_k."""
        found: dict[int, arb] = {}
        for k, weights in reads.items():
            for i, weight in weights.items() if (k, s) in hidden else ():
                row = hidden[k, s][i]
                for t in np.flatnonzero(row):
                    found[int(t)] = found.get(int(t), arb(0)) + weight * arb(float(row[t]))
        return {t: x for t, x in found.items() if x != 0}

    def pieces(weight: arb, s: int) -> Iterator[tuple[int, arb]]:
        """weight phi_s(z) as signs and inner weights."""
        for side, slope in zip((1, -1), (1.0, 0.0) if slopes is None else slopes[s - 1], strict=True):
            outer = weight * arb(slope) * side
            if outer != 0:
                yield (1 if outer > 0 else -1), side * abs(outer)

    def grow(parent: int, sign: int, reads: dict[int, dict[int, arb]]) -> None:
        check(len(nodes) < max_nodes, f"the unrolled tree must have at most {max_nodes} nodes.")
        here = len(nodes)
        nodes.append((parent, sign, collapsed(reads, 0)))
        for s in range(1, depth):
            for i, weight in collapsed(reads, s).items():
                for child_sign, inner in pieces(weight, s):
                    if s in alive and alive[s][i]:
                        grow(here, child_sign, {s: {i: inner}})

    with flint.ctx.workprec(exact_bits(depth)):
        grow(-1, 1, {k: {i: arb(float(x)) for i, x in enumerate(w) if x != 0} for k, w in output.items()})
    parent, sign, weights = zip(*nodes, strict=True)
    return ExactTree(parent, sign, weights, n_0)


def _alive(hidden: Mapping[tuple[int, int], Array], depth: int) -> dict[int, Array]:
    """Which units of each layer are not identically 0, layer by layer."""
    alive: dict[int, Array] = {}
    for k in range(1, depth):
        reads = [
            U != 0 if s == 0 else (U != 0) & alive[s]
            for (at, s), U in hidden.items()
            if at == k and (s == 0 or s in alive)
        ]
        if reads:
            alive[k] = np.any([read.any(axis=1) for read in reads], axis=0)
    return alive


def linear_weights(hidden: Mapping[tuple[int, int], Array], output: Mapping[int, Array], *, depth: int) -> list[arb]:
    """v with f = v . x for a network whose activations are all the identity, exactly; one entry for every feature."""
    n_0 = hidden[1, 0].shape[1] if (1, 0) in hidden else 0
    with flint.ctx.workprec(exact_bits(depth)):
        reads: dict[int, dict[int, arb]] = {
            k: {i: arb(float(x)) for i, x in enumerate(w) if x != 0} for k, w in output.items()
        }
        for k in range(depth, 0, -1):
            for s in range(k):
                for i, weight in reads.get(k, {}).items() if (k, s) in hidden else ():
                    below = reads.setdefault(s, {})
                    for t in np.flatnonzero(hidden[k, s][i]):
                        below[int(t)] = below.get(int(t), arb(0)) + weight * arb(float(hidden[k, s][i, t]))
        v = reads.get(0, {})
        return [v.get(j, arb(0)) for j in range(n_0)]
