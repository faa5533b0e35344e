"""Graph -> Network: the layers that the families of the paper are about, for the graphs that are made of them."""

from __future__ import annotations

import math

from torch import Tensor

from adanet_theory.activations import activation
from adanet_train.core.network import Network
from adanet_train.reading.graph import Graph
from adanet_train.reading.operations import Activate, Dense, Reshape
from adanet_train.reading.state_dict import chained


def layers(graph: Graph) -> Network | None:
    """The network in layers, if it is Linear, activation, .., Linear with one activation; None for every other graph.

    Also None for biases above layer 1 with φ(1) != 1, which layers cannot carry. With a bias, the layers read one
    more feature, constantly 1 and last. For two outputs f is the second minus the first.
    """
    if any(node.inputs != (i,) for i, node in enumerate(graph.nodes)):
        return None
    steps = [node.operation for node in graph.nodes if not isinstance(node.operation, Reshape)]
    names = {step.phi.name for step in steps[1::2] if isinstance(step, Activate)}
    linears = [(step.W, step.b) for step in steps[::2] if isinstance(step, Dense)]
    if len(names) > 1 or len(linears) + sum(isinstance(step, Activate) for step in steps[1::2]) < len(steps):
        return None
    if len(linears) != len(steps) // 2 + 1 or not _fit(math.prod(graph.shape), [W for W, _ in linears]):
        return None
    phi = next(iter(names), "identity")
    biased = any(b is not None for _, b in linears[1:])
    return None if biased and float(activation(phi)(1.0)) != 1 else chained(linears, phi)


def _fit(n: int, weights: list[Tensor]) -> bool:
    """Whether every Linear reads all of the layer below."""
    return all(W.shape[1] == below for W, below in zip(weights, [n, *map(len, weights[:-1])], strict=True))
