"""What is written down while a module is read: the nodes so far, and on an example what each of them is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from torch import Tensor

from adanet_theory.checks import first_line
from adanet_train.reading.graph import Node
from adanet_train.reading.operations import Operation, Shape

POINTS = 3  # rows of the example from which the shapes are read
LOGITS = "f must be the logits themselves; leave it out of the module (it changes no decision)"


class UnreadableModule(ValueError):
    """The module is not a network that can be read; one line that says which part, why, and what could be done."""


@dataclass(frozen=True, eq=False)
class Value:
    """Node number `node` of the graph, and what it is on the example."""

    node: int
    example: Tensor

    @property
    def shape(self) -> Shape:
        return tuple(self.example.shape[1:])


@dataclass(eq=False)
class Recorder:
    """The nodes so far; `name` is the module or function that is being read."""

    nodes: list[Node] = field(default_factory=list)
    name: str = ""
    foldable: int = 0
    """The node that only this module reads, 0 if there is none: a BatchNorm may be folded into it."""
    fold: bool = True
    """Whether it is: without that the nodes are the steps of the program."""

    def add(self, operation: Operation, *read: Value) -> Value:
        try:
            example = operation.value(*(value.example for value in read))
        except (RuntimeError, IndexError) as error:
            raise self.refusal(f"does not fit what it reads ({first_line(error)})") from None
        shape = tuple(example.shape[1:])
        if len(example) != POINTS or math.prod(shape) == 0:
            raise self.refusal("mixes the points of a batch, or has no output at all")
        self.nodes.append(Node(operation, tuple(value.node for value in read), shape, self.name))
        return Value(len(self.nodes), example)

    def replace(self, operation: Operation, value: Value) -> Value:
        """The node with another operation on what it reads."""
        node = self.nodes[value.node - 1]
        self.nodes[value.node - 1] = Node(operation, node.inputs, node.shape, f"{node.name}, {self.name}")
        return value

    def refusal(self, reason: str) -> UnreadableModule:
        return UnreadableModule(f"{self.name} cannot be read: {reason}.")
