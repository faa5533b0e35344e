"""A file's own list of operations -> an nn.Module of the same operations of torch. The file is data: none of it is run.

Every operation is looked up in a table of ours, every name in the file is a key and never a name in code: what is built
refers to its tensors by number. An operation that is in no table is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from adanet_train.data.archive import ModelFileError

REMEDY = "hand over the module itself, or a function that gives its predictions: verify_bounds(network, X, y)"


class Builder:
    """The module so far; `values` are its tensors and nodes by the names that the file gives them."""

    def __init__(self) -> None:
        self.graph, self.root = fx.Graph(), nn.Module()
        self.values: dict[str, Any] = {}
        self.stored: dict[int, fx.Node] = {}

    def input(self, name: str) -> None:
        self.values[name] = self.graph.placeholder("x")

    def call(self, function: Callable[..., Any], *args: Any, **named: Any) -> fx.Node:
        return self.graph.call_function(function, self._stored(args), self._stored(named))

    def size(self, x: Any, axis: int) -> fx.Node:
        return self.graph.call_method("size", (x, axis))

    def _stored(self, value: Any) -> Any:
        """The value with every tensor replaced by the node that fetches it."""
        if isinstance(value, Tensor):
            return self._fetched(value)
        if isinstance(value, dict):
            return {name: self._stored(entry) for name, entry in value.items()}
        return type(value)(map(self._stored, value)) if isinstance(value, list | tuple) else value

    def _fetched(self, tensor: Tensor) -> fx.Node:
        if id(tensor) not in self.stored:
            name = f"t{len(self.stored)}"
            self.root.register_buffer(name, tensor)
            self.stored[id(tensor)] = self.graph.get_attr(name)
        return self.stored[id(tensor)]

    def finished(self, name: str) -> nn.Module:
        if not isinstance(self.values.get(name), fx.Node):
            raise ModelFileError("its output does not depend on its input.")
        self.graph.output(self.values[name])
        return fx.GraphModule(self.root, self.graph, "Network").eval()


def is_fixed(value: Any) -> bool:
    """Whether a value of the builder is a tensor or number of the file and no part of the network."""
    return not isinstance(value, fx.Node)


def numbers(value: Any) -> list[int]:
    """A fixed tensor of integers as a list."""
    if not is_fixed(value):
        raise ModelFileError("a shape is computed from the points; expected fixed numbers.")
    return [int(entry) for entry in torch.as_tensor(value).reshape(-1).tolist()]
