"""The unrolled tree of a homogeneous network in exact weights, node by node; written apart from `certificates.tree`.

A weight on a path is a sum of products of the file's numbers, here without rounding: it is 0 only where they cancel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import flint
import numpy as np
from flint import arb

from adanet_theory.certificates.tree import Tree
from adanet_theory.checks import Array, check
from adanet_theory.twins.tails import BITS

MAX_NODES = 64
Reads = dict[int, dict[int, arb]]
"""Weights by layer and unit; layer 0 are the features."""


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

    def rounded(self, B: arb | None = None) -> Tree:
        """The tree in floats, each weight divided by B the float next to the exact one."""
        q = np.zeros((len(self.parent), self.n_0))
        with flint.ctx.workprec(BITS):
            B = self.B if B is None else B
            for v, row in enumerate(self.weights):
                for j, x in row.items():
                    q[v, j] = float(x / B)
        return Tree(self.parent, self.sign, q, float(B))


@dataclass(frozen=True)
class ExactForest:
    """A tree for each class; B is the sum of all."""

    trees: tuple[ExactTree, ...]

    @property
    def B(self) -> arb:
        with flint.ctx.workprec(BITS):
            return sum((tree.B for tree in self.trees), arb(0))

    @property
    def nodes(self) -> int:
        return sum(len(tree.parent) for tree in self.trees)

    @property
    def atoms(self) -> list[arb]:
        """theta_a > 0, which sum to 1."""
        with flint.ctx.workprec(BITS):
            B = self.B
            return [abs(x) / B for tree in self.trees for row in tree.weights for x in row.values()]

    def masses(self, c: int) -> list[arb]:
        """p_v of class c; those of all classes sum to 1."""
        with flint.ctx.workprec(BITS):
            B = self.B
            return [sum((abs(x) for x in row.values()), arb(0)) / B for row in self.trees[c].weights]

    def rounded(self) -> tuple[Tree, ...]:
        """The trees in floats, all divided by B."""
        B = self.B
        return tuple(tree.rounded(B) for tree in self.trees)


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
    unroller = _Unroller(hidden, depth, slopes, max_nodes)
    with flint.ctx.workprec(exact_bits(depth)):
        return unroller.tree(unroller.top(output))


def exact_forest(
    hidden: Mapping[tuple[int, int], Array],
    outputs: Sequence[Mapping[int, Array]],
    *,
    depth: int,
    slopes: Sequence[tuple[float, float]] | None = None,
    max_nodes: int = MAX_NODES,
    centred: bool = False,
) -> ExactForest:
    """The trees of f_1, .., f_C, at most max_nodes nodes together; centred: what they read less its median over c.

    What is taken from all f_c alike moves no margin.
    """
    unroller = _Unroller(hidden, depth, slopes, max_nodes)
    unroller.check_read(outputs)
    with flint.ctx.workprec(exact_bits(depth)):
        tops = [unroller.top(output) for output in outputs]
        if centred:
            tops = _less_medians(tops)
        return ExactForest(tuple(unroller.tree(top) for top in tops))


def _less_medians(tops: Sequence[Reads]) -> list[Reads]:
    found: list[Reads] = [{} for _ in tops]
    for s in tops[0]:
        for i in sorted({i for top in tops for i in top[s]}):
            column = [top[s].get(i, arb(0)) for top in tops]
            median = sorted(column, key=float)[len(column) // 2]
            for top, x in zip(found, column, strict=True):
                top.setdefault(s, {})
                if x - median != 0:
                    top[s][i] = x - median
    return found


class _Unroller:
    """Grows trees of one network, at the precision that it is called with."""

    def __init__(
        self,
        hidden: Mapping[tuple[int, int], Array],
        depth: int,
        slopes: Sequence[tuple[float, float]] | None,
        max_nodes: int,
    ) -> None:
        self.n_0 = hidden[1, 0].shape[1] if (1, 0) in hidden else 0
        check(self.n_0 > 0, "the network must read its features.")
        self.hidden, self.depth, self.slopes, self.max_nodes = hidden, depth, slopes, max_nodes
        self.alive, self.used = _alive(hidden, depth), 0

    def check_read(self, outputs: Sequence[Mapping[int, Array]]) -> None:
        """Refuse wide networks before anything is multiplied: the units that the outputs read, by weights not 0."""
        read = len(outputs)
        for s, alive in self.alive.items():
            for output in outputs:
                lit = [(self.hidden[k, s] != 0)[w != 0].any(axis=0) for k, w in output.items() if (k, s) in self.hidden]
                read += int(np.sum(np.any(lit, axis=0) & alive)) if lit else 0
        check(read <= self.max_nodes, f"the unrolled trees must have at most {self.max_nodes} nodes together.")

    def top(self, output: Mapping[int, Array]) -> Reads:
        """What sum_k w_k . h_k reads of the features and of every hidden layer."""
        reads = {k: {i: arb(float(x)) for i, x in enumerate(w) if x != 0} for k, w in output.items()}
        return {s: self._collapsed(reads, s) for s in range(self.depth)}

    def tree(self, top: Reads) -> ExactTree:
        nodes: list[tuple[int, int, dict[int, arb]]] = []
        self._grow(nodes, -1, 1, top)
        parent, sign, weights = zip(*nodes, strict=True)
        return ExactTree(parent, sign, weights, self.n_0)

    def _grow(self, nodes: list[tuple[int, int, dict[int, arb]]], parent: int, sign: int, reads: Reads) -> None:
        check(self.used < self.max_nodes, f"the unrolled tree must have at most {self.max_nodes} nodes.")
        self.used += 1
        here = len(nodes)
        nodes.append((parent, sign, reads.get(0, {})))
        for s in range(1, self.depth):
            for i, weight in reads.get(s, {}).items():
                for child_sign, inner in self._pieces(weight, s) if s in self.alive and self.alive[s][i] else ():
                    below = {t: self._collapsed({s: {i: inner}}, t) for t in range(s)}
                    self._grow(nodes, here, child_sign, below)

    def _collapsed(self, reads: Reads, s: int) -> dict[int, arb]:
        """The weight of every unit of layer s (feature, at s = 0) in sum_k reads[k] . h_k."""
        found: dict[int, arb] = {}
        for k, weights in reads.items():
            for i, weight in weights.items() if (k, s) in self.hidden else ():
                row = self.hidden[k, s][i]
                for t in np.flatnonzero(row):
                    found[int(t)] = found.get(int(t), arb(0)) + weight * arb(float(row[t]))
        return {t: x for t, x in found.items() if x != 0}

    def _pieces(self, weight: arb, s: int) -> Iterator[tuple[int, arb]]:
        """weight phi_s(z) as signs and inner weights."""
        for side, slope in zip((1, -1), (1.0, 0.0) if self.slopes is None else self.slopes[s - 1], strict=True):
            outer = weight * arb(slope) * side
            if outer != 0:
                yield (1 if outer > 0 else -1), side * abs(outer)


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
