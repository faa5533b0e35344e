"""The effect of a change of a few weights on the outputs of a network, computed only where the change acts.

The network is read as a graph. For the points that are watched the numbers of every node are kept; a change of weights
in one row of a linear map moves one channel, which passes through activations and pools alone, and the next linear map
adds what moved. After that everything is computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from adanet_train.compression import plain_graph
from adanet_train.compression.problem import FLOPS_PER_SECOND, SECONDS_PER_CALL, CodingProblem, one_or_many
from adanet_train.reading.operations import (
    Activate,
    Average,
    Convolution,
    Dense,
    Largest,
    Reshape,
)

NUMBERS = 1 << 27
"""Most numbers that are kept for the points that are watched."""
PER_NUMBER = 4e-9
"""Nominal seconds that a number of a channel costs, in every node that it passes."""


Channels = slice | Tensor
"""One channel as a slice, which is a view; several by their numbers."""


@dataclass(frozen=True)
class Moved:
    """The new numbers of a node; for some channels alone, with their old numbers, or for all if channels is None."""

    channels: Channels | None
    value: Tensor
    old: Tensor | None = None


@dataclass(frozen=True)
class _Node:
    operation: Any
    inputs: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class NodePlan:
    """The nodes of a module, and for every tensor of the code the node and the field that it is; None: a formula."""

    nodes: tuple[Mapping[str, Any], ...]
    places: tuple[tuple[int, str], ...]

    @property
    def numbers(self) -> int:
        """How many numbers are kept for a point."""
        return sum(int(torch.Size(node["shape"]).numel()) for node in self.nodes)


def plan(problem: CodingProblem) -> NodePlan | None:
    """How changes pass through the module; None if it cannot be read: then everything is computed anew."""
    if not problem.X.is_floating_point() or not all(problem.is_free):
        return None
    plain = plain_graph.to_plain(problem.module, problem.as_zeros(), tuple(problem.X.shape[1:]))
    if plain is None:
        return None
    starts: dict[int, tuple[int, str]] = {}
    for number, node in enumerate(plain["nodes"]):
        for name, value in node["operation"].items():
            if isinstance(value, Mapping) and "places" in value:
                return None
            if isinstance(value, Mapping) and "start" in value:
                if value["start"] in starts:
                    return None
                starts[value["start"]] = number, name
    offset, places = 0, []
    for tensor in problem.weights.tensors:
        if offset not in starts:
            return None
        places.append(starts[offset])
        offset += tensor.numel()
    return NodePlan(tuple(plain["nodes"]), tuple(places)) if len(places) == len(starts) else None


class Watched:
    """The numbers of every node on some points, with weights that are changed in place.

    In memory the points are the last axis: a channel, or what a tap of a convolution reads, is a view in long pieces.
    """

    def __init__(self, plan: NodePlan, values: Sequence[Tensor], X: Tensor) -> None:
        self.places = plan.places
        own = dict(zip(plan.places, values, strict=True))
        self.nodes = [_node(number, plain, own) for number, plain in enumerate(plan.nodes)]
        self.kept = [_points_last(X)]
        self.padded: dict[int, Tensor] = {}
        for node in self.nodes:
            self.kept.append(_points_last(node.operation.value(*(self.kept[i] for i in node.inputs))))

    def after(self, tensor: int, places: Tensor, difference: Tensor) -> dict[int, Moved]:
        """What moved, by node, after these places of a tensor, already written, changed by `difference`."""
        first, name = self.places[tensor]
        moved = {first + 1: self._first(first + 1, name, places, difference)}
        for number in range(first + 2, len(self.kept)):
            if any(i in moved for i in self.nodes[number - 1].inputs):
                moved[number] = self._next(number, moved)
        return moved

    def outputs(self, moved: Mapping[int, Moved]) -> Tensor:
        """The outputs after what moved."""
        outputs = self._whole(len(self.nodes), moved)
        return one_or_many(outputs, len(outputs))

    def keep(self, moved: Mapping[int, Moved]) -> None:
        """Keep the change: store what moved."""
        for number, part in moved.items():
            if part.channels is None:
                self.kept[number] = _points_last(part.value)
            else:
                self.kept[number].movedim(0, -1)[part.channels] = part.value.movedim(0, -1)

    def seconds(self, tensor: int) -> float:
        """Nominal seconds of a change of one weight of a tensor."""
        moved = self.after(tensor, torch.zeros(1, dtype=torch.long), torch.zeros(1))
        total = 0.0
        for number, part in moved.items():
            node = self.nodes[number - 1]
            total += SECONDS_PER_CALL / 2 + PER_NUMBER * part.value.numel()
            anew = number > min(moved) and all(moved[i].channels is None for i in node.inputs if i in moved)
            if anew and isinstance(node.operation, Dense | Convolution):
                total += 2 * part.value.numel() * node.operation.W[0].numel() / FLOPS_PER_SECOND
        return total

    def _whole(self, number: int, moved: Mapping[int, Moved]) -> Tensor:
        if number not in moved:
            return self.kept[number]
        part = moved[number]
        if part.channels is None:
            return part.value
        whole = self.kept[number].clone()
        whole.movedim(0, -1)[part.channels] = part.value.movedim(0, -1)
        return whole

    def _first(self, number: int, name: str, places: Tensor, difference: Tensor) -> Moved:
        operation, inputs = self.nodes[number - 1].operation, self.nodes[number - 1].inputs
        x, old = self.kept[inputs[0]], self.kept[number]
        plain = isinstance(operation, Dense) and x.ndim == 2
        if not plain and not (isinstance(operation, Convolution) and operation.groups == 1):
            return Moved(None, operation.value(*(self.kept[i] for i in inputs)))
        columns = 1 if name == "b" else operation.W[0].numel()
        rows, at = torch.unique(places // columns, return_inverse=True)
        channels = slice(int(rows[0]), int(rows[0]) + 1) if len(rows) == 1 else rows
        before = _part(old, channels)
        new = before.clone()
        if name == "b":
            new += torch.zeros(len(rows)).index_add_(0, at, difference).reshape(1, -1, *[1] * (old.ndim - 2))
        elif plain:
            used = places % columns
            for row, column, change in zip(at.tolist(), used.tolist(), difference.tolist(), strict=True):
                new[:, row].add_(x[:, column], alpha=change)
        else:
            for row, column, change in zip(at.tolist(), (places % columns).tolist(), difference.tolist(), strict=True):
                new[:, row].add_(self._tap(number, operation, x, column, new.shape[2:]), alpha=change)
        return Moved(channels, new, before)

    def _tap(self, number: int, layer: Convolution, x: Tensor, column: int, space: Sequence[int]) -> Tensor:
        """What one weight of a convolution reads: a channel, shifted."""
        window = layer.window
        channel, tap = divmod(column, window.points)
        if self.nodes[number - 1].inputs == (0,) and number not in self.padded:
            self.padded[number] = _points_last(window.padded(x))
        whole = self.padded.get(number)
        read = window.padded(x[:, channel : channel + 1])[:, 0] if whole is None else whole[:, channel]
        at = []
        sides = zip(window.kernel, window.stride, window.dilation, space, strict=True)
        for kernel, stride, step, size in reversed([*sides]):
            tap, place = divmod(tap, kernel)
            at.append(slice(place * step, place * step + stride * (size - 1) + 1, stride))
        return read[(slice(None), *reversed(at))]

    def _next(self, number: int, moved: Mapping[int, Moved]) -> Moved:
        node = self.nodes[number - 1]
        operation, part = node.operation, moved.get(node.inputs[0])
        if len(node.inputs) == 1 and part is not None and part.old is not None and part.channels is not None:
            channels, new, old = part.channels, part.value, part.old
            if isinstance(operation, Activate) or (isinstance(operation, Largest | Average) and new.ndim > 2):
                return Moved(channels, operation.value(new), _part(self.kept[number], channels))
            if isinstance(operation, Reshape) and len(operation.shape) == 1:
                flat = _spread(channels, new[0, 0].numel())
                return Moved(flat, new.reshape(len(new), -1), old.reshape(len(new), -1))
            if isinstance(operation, Dense) and new.ndim == 2:
                return Moved(None, self.kept[number] + (operation.W[:, channels] @ (new - old).T).T)
            if isinstance(operation, Convolution) and operation.groups == 1:
                more = Convolution(operation.W[:, channels], None, operation.window)
                return Moved(None, self.kept[number] + more.value(new - old))
        return Moved(None, operation.value(*(self._whole(i, moved) for i in node.inputs)))


def _part(value: Tensor, channels: Channels) -> Tensor:
    """The numbers of some channels, in the same order in memory."""
    return value.movedim(0, -1)[channels].movedim(-1, 0)


def _points_last(value: Tensor) -> Tensor:
    """The same numbers, those of one place side by side in memory."""
    return value.movedim(0, -1).contiguous().movedim(-1, 0)


def _spread(channels: Channels, size: int) -> Channels:
    """The places of the channels behind a flattening."""
    if isinstance(channels, slice):
        return slice(channels.start * size, channels.stop * size)
    return (channels[:, None] * size + torch.arange(size)).reshape(-1)


def _node(number: int, plain: Mapping[str, Any], own: Mapping[tuple[int, str], Tensor]) -> _Node:
    """The operation in float32, its weights those of the search themselves."""
    given = plain["operation"]
    kind = plain_graph.OPERATIONS[given["kind"]]
    values: dict[str, Any] = {}
    for field in fields(kind):
        value = given.get(field.name)
        if (number, field.name) in own:
            values[field.name] = own[number, field.name].view(tuple(value["shape"]))
        else:
            plainly = plain_graph.value_of(value, field, torch.zeros(0).numpy())
            values[field.name] = (
                plainly.float() if isinstance(plainly, Tensor) and plainly.is_floating_point() else plainly
            )
    return _Node(kind(**values), tuple(plain["inputs"]), tuple(plain["shape"]))
