"""An nn.Module in memory -> its Graph, by torch.fx: what forward does is written down, node by node, and then checked.

Nothing is guessed: a module or function that stands in none of the tables below is refused by its name. The graph is
evaluated against the module on the sample before anything is said of it.
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn

from adanet_theory.checks import Array, check, first_line
from adanet_train.core.points import joined
from adanet_train.data import disk
from adanet_train.reading import enclosure, modules
from adanet_train.reading.graph import Graph, Node
from adanet_train.reading.operations import Activate, Places, Reshape, Shape
from adanet_train.reading.recorder import LOGITS, POINTS, Recorder, UnreadableModule, Value

FEWEST, PRODUCTS = 8, 2**32  # points at least, and products in one pass, of the comparison with the module
SCALES = (1.0, 1e3, 1e6)  # sizes of the points beside the sample, where other units are off


def trace(module: nn.Module, shape: Shape, *, fold: bool = True) -> Graph:
    """The graph of the module on points of this shape, in eval mode; without `fold` step by step as forward does it."""
    _require_plain(module)
    double, name = _double(module), type(module).__name__
    weights = [*double.parameters(), *double.buffers()]
    before = _versions(weights)
    traced, link = logits(double)
    _require_one_input(traced, name)
    reader = _Reader(traced, fold)
    with torch.no_grad():
        output = reader.run(torch.zeros(POINTS, *shape, dtype=torch.float64))
        for points in (1, POINTS):
            _Changes(traced).check(torch.zeros(points, *shape, dtype=torch.float64))
    if _versions(weights) != before:
        raise UnreadableModule(f"{name}: forward changes the weights of the module; it must stay one function.")
    graph = _finished(reader.recorder, output, shape, name)
    if "softmax" in link and graph.outputs == 1:
        raise UnreadableModule(f"{name}: {link} of one output is 1 for every point; expected sigmoid.")
    return replace(graph, link=link, derived=reader.derived)


def _symbolic(module: nn.Module) -> fx.GraphModule:
    name = type(module).__name__
    try:
        return fx.GraphModule(module, _Tracer().trace(module), name)
    except Exception as error:  # whatever forward does with a symbol
        raise UnreadableModule(
            f"{name}: forward cannot be traced by torch.fx ({first_line(error)}); write it without branches that "
            "depend on the values of a tensor."
        ) from None


# A sigmoid or softmax at the end


_LINKS = {"Sigmoid": "sigmoid", "Softmax": "softmax", "LogSoftmax": "log_softmax"}
_MOVES = ("flatten", "squeeze", "view", "reshape", "Flatten")


def logits(module: nn.Module) -> tuple[fx.GraphModule, str]:
    """The traced module without a sigmoid or softmax at its end, and the name of what was taken off, "" for nothing.

    Both keep the order of the outputs, and sigmoid(f) > 1/2 where f > 0: the logits decide as the probabilities do.

    >>> logits(nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()))[1]
    'sigmoid'
    """
    traced = _symbolic(module)
    (result,) = (node.args[0] for node in traced.graph.nodes if node.op == "output")
    last, moved = result, False
    while isinstance(last, fx.Node) and _step(traced, last) in _MOVES and len(last.users) == 1 and last.args:
        last, moved = last.args[0], True
    link = _LINKS.get(_step(traced, last), _step(traced, last)) if isinstance(last, fx.Node) else ""
    if link not in _LINKS.values() or len(last.users) > 1 or not last.all_input_nodes:
        return traced, ""
    if "softmax" in link and (moved or _axis(traced, last) not in (None, 1, -1)):
        return traced, ""
    last.replace_all_uses_with(last.all_input_nodes[0])
    traced.graph.erase_node(last)
    traced.recompile()
    return traced, link


def _step(traced: fx.GraphModule, node: fx.Node) -> str:
    """What a node does, as torch names it: the class of a module, else the name of the function or method."""
    if node.op == "call_module":
        part = traced.get_submodule(str(node.target))
        return type(part).__name__ if _is_of_torch(part) else ""
    of_torch = node.op == "call_method" or getattr(node.target, "__module__", "").startswith("torch")
    return getattr(node.target, "__name__", str(node.target)) if node.op.startswith("call") and of_torch else ""


def _axis(traced: fx.GraphModule, node: fx.Node) -> Any:
    """The axis of a softmax."""
    if node.op == "call_module":
        return traced.get_submodule(str(node.target)).dim
    return node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)


def _require_plain(module: nn.Module) -> None:
    """Every part does what its class says, in eval mode, with real weights: the rest could not be seen in a trace."""
    for name, part in module.named_modules():
        reason = _oddity(part)
        if reason:
            raise UnreadableModule(f"module {name!r} ({type(part).__name__}) {reason}.")


def require_eval_mode(module: nn.Module) -> None:
    """Refuse parts that compute something else in training; others are the same in both modes."""
    for name, part in module.named_modules():
        reason = _trains(part)
        check(reason is None, f"module {name!r} ({type(part).__name__}) {reason}.")


def _trains(part: nn.Module) -> str | None:
    if isinstance(part, nn.modules.batchnorm._NormBase | nn.modules.dropout._DropoutNd) and part.training:
        return "is in training mode, where the network is another one for every batch; call module.eval() first"
    if isinstance(part, nn.utils.parametrizations._SpectralNorm) and part.training:
        return "is in training mode, where every look at the weights changes them; call module.eval() first"
    return None


def _oddity(part: nn.Module) -> str | None:
    if reason := _trains(part):
        return reason
    if isinstance(part, torch.jit.ScriptModule):
        return "is a script, which torch.fx does not read; hand over the module that it was made from"
    weights = [*part.parameters(recurse=False), *part.buffers(recurse=False)]
    if any(nn.parameter.is_lazy(weight) for weight in weights):
        return "has no weights yet; call the module on a batch first"
    if part._forward_hooks or part._forward_pre_hooks:
        return (
            "has forward hooks, which may do anything; remove them, or make them permanent first (prune.remove, "
            "remove_weight_norm)"
        )
    if "forward" in vars(part) and not isinstance(part, fx.GraphModule):
        return "has a forward of its own in place of that of its class; make it a class"
    if any(weight.is_complex() for weight in weights):
        return "has complex weights, expected real ones"
    return None


def _double(module: nn.Module) -> nn.Module:
    """A float64 copy on the CPU, in the mode it is in; the weights are the same numbers."""
    try:
        return copy.deepcopy(module).to("cpu", torch.float64)
    except Exception as error:
        name, reason = type(module).__name__, first_line(error)
        raise UnreadableModule(f"{name}: cannot be copied in float64 ({type(error).__name__}: {reason}).") from None


def _finished(recorder: Recorder, output: Any, shape: Shape, name: str) -> Graph:
    if not isinstance(output, Value):
        raise UnreadableModule(f"{name}: forward must return one tensor, got a {type(output).__name__}.")
    recorder.name = "output"
    if output.node == 0 or len(output.shape) != 1:
        flat = math.prod(output.shape)
        if len(output.shape) > 1 and flat not in output.shape:
            raise UnreadableModule(f"{name}: outputs must have the shape (m, c), got (m, {output.shape}).")
        output = recorder.add(Reshape((flat,)), output)
    kept = _used(recorder.nodes, output.node)
    _require_logits(kept)
    return Graph(shape, kept)


def _require_logits(nodes: Sequence[Node]) -> None:
    """A sigmoid at the end makes probabilities, whose decision is at 1/2 and not at 0."""
    last = len(nodes)
    while last and isinstance(nodes[last - 1].operation, Reshape | Places):
        (last,) = nodes[last - 1].inputs
    operation = nodes[last - 1].operation if last else None
    if isinstance(operation, Activate) and operation.phi.name == "sigmoid":
        raise UnreadableModule(f"{nodes[last - 1].name} cannot be read: {LOGITS}.")


def _used(nodes: Sequence[Node], last: int) -> tuple[Node, ...]:
    """What the output reads, renumbered."""
    needed, pending = set(), [last]
    while pending:
        i = pending.pop()
        if i and i not in needed:
            needed.add(i)
            pending += nodes[i - 1].inputs
    number = {0: 0} | {i: new for new, i in enumerate(sorted(needed), start=1)}
    return tuple(
        Node(node.operation, tuple(number[j] for j in node.inputs), node.shape, node.name)
        for i, node in enumerate(nodes, start=1)
        if i in needed
    )


def _require_one_input(traced: fx.GraphModule, name: str) -> None:
    inputs = [node for node in traced.graph.nodes if node.op == "placeholder"]
    needed = [node.target for node in inputs[1:] if not node.args]
    if not inputs or needed:
        also = f" and {', '.join(map(str, needed))}" if needed else ""
        raise UnreadableModule(f"{name}: forward must read one tensor x, it reads {'x' if inputs else 'none'}{also}.")


class _Reader(fx.Interpreter):
    """Runs the traced module on Values: every step either records nodes or computes plain numbers (shapes)."""

    def __init__(self, traced: fx.GraphModule, fold: bool) -> None:
        super().__init__(traced)
        self.recorder = Recorder(fold=fold)
        self.extra_traceback = False  # a refusal is one line
        self.made: dict[fx.Node, int] = {}
        self.derived = False

    def run_node(self, n: fx.Node) -> Any:
        before = len(self.recorder.nodes)
        source = n.args[0] if n.args and isinstance(n.args[0], fx.Node) else None
        alone = source is not None and len(source.users) == 1 and self.made.get(source) == before
        self.recorder.foldable = before if alone and self.recorder.fold else 0
        self.recorder.name = f"{n.op.removeprefix('call_')} {str(n.target)!r}"
        value = super().run_node(n)
        if isinstance(value, Value) and (len(self.recorder.nodes) > before or self.recorder.foldable):
            self.made[n] = value.node
        return value

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        example = super().placeholder(target, args, kwargs)
        return Value(0, example) if isinstance(example, Tensor) else example

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        module = self.fetch_attr(target)
        self.recorder.name = f"module {target!r} ({_class(module)})"
        rules = (rule for kind, rule in modules.MODULES if isinstance(module, kind) and _is_of_torch(module))
        args, kwargs = _in_order(args, kwargs)
        return self._call(next(rules, None), (module, *args), kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if not _reads_value((args, kwargs)):
            return self._fixed(target(*args, **kwargs))
        self.recorder.name = f"function {getattr(target, '__name__', target)!r}"
        return self._call(modules.FUNCTIONS.get(target), args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        if not _reads_value((args, kwargs)):
            return self._fixed(super().call_method(target, args, kwargs))
        self.recorder.name = f"method {target!r}"
        return self._call(modules.METHODS.get(str(target)), args, kwargs)

    def _fixed(self, value: Any) -> Any:
        self.derived |= any(tensor.is_floating_point() for tensor in _tensors(value))
        return value

    def _call(self, rule: Callable[..., Any] | None, args: Any, kwargs: Any) -> Any:
        if rule is None:
            raise self.recorder.refusal("no statement here covers it; " + KNOWN)
        try:
            args, kwargs = _in_order(args, kwargs)
            return rule(self.recorder, *args, **kwargs)
        except UnreadableModule:
            raise
        except (TypeError, ValueError, IndexError, RuntimeError):
            raise self.recorder.refusal("its arguments are not understood; " + KNOWN) from None


class _Proxy(fx.Proxy):
    """torch.fx takes h += y for h + y; here it is written down as what it is, for another name of h changes too."""


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self.tracer.create_proxy("call_function", function, (self, other), {})


for _name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor"):
    setattr(_Proxy, f"__{_name}__", _in_place(getattr(operator, _name)))


class _Tracer(fx.Tracer):
    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Proxy(node, self)


class _Changes(fx.Interpreter):
    """Runs the traced module on a batch to see what it writes over: torch counts the changes of every tensor.

    Views of one tensor share the count, so a change through any of them shows.
    """

    def __init__(self, traced: fx.GraphModule) -> None:
        super().__init__(traced)
        self.extra_traceback = False
        self.made: dict[fx.Node, list[int]] = {}
        self.writers: dict[int, str] = {}

    def check(self, x: Tensor) -> None:
        """A tensor that is read again after it was changed in place is refused by name."""
        try:
            self.run(x)
        except UnreadableModule:
            raise
        except Exception as error:  # whatever forward does
            name = type(self.module).__name__
            raise UnreadableModule(f"{name}: forward fails on {len(x)} points ({first_line(error)}).") from None

    def run_node(self, n: fx.Node) -> Any:
        reads = {node: _tensors(self.env[node]) for node in n.all_input_nodes}
        for node, tensors in reads.items():
            if _versions(tensors) != self.made[node]:
                writer = next((self.writers[_storage(t)] for t in tensors if _storage(t) in self.writers), "forward")
                raise self._refusal(writer, f"writes over what {_title(n)} reads again")
        value = super().run_node(n)
        for node, tensors in reads.items():
            if _versions(tensors) != self.made[node]:
                self._note(n, tensors, [t for other in reads if other is not node for t in reads[other]])
        self.made[n] = _versions(_tensors(value))
        return value

    def _note(self, n: fx.Node, changed: list[Tensor], others: list[Tensor]) -> None:
        self.writers |= {_storage(tensor): _title(n) for tensor in changed}
        if {_storage(tensor) for tensor in others} & {_storage(tensor) for tensor in changed}:
            raise self._refusal(_title(n), "writes over what it reads itself")

    def _refusal(self, writer: str, does: str) -> UnreadableModule:
        return UnreadableModule(f"{writer} {does}: write it without the change in place (x = x + y, inplace=False).")


def _tensors(value: Any) -> list[Tensor]:
    """All tensors in what a node made."""
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in _tensors(part)]
    return [value] if isinstance(value, Tensor) else []


def _versions(tensors: Sequence[Tensor]) -> list[int]:
    return [tensor._version for tensor in tensors]


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _title(n: fx.Node) -> str:
    kind = n.op.removeprefix("call_")
    return f"{kind} {n.target if isinstance(n.target, str) else getattr(n.target, '__name__', n.target)!r}"


KNOWN = (
    "expected Linear, convolutions, pooling, BatchNorm, Flatten, reshape, sums, cat and the activations; replace it, "
    "or hand over the part of the network that stands on its features"
)


def _class(module: Any) -> str:
    """Its name, and where it is from if that is not torch.nn: there is more than one Linear."""
    kind = type(module)
    return kind.__name__ if kind.__module__.startswith("torch.nn.") else f"{kind.__module__}.{kind.__name__}"


def _is_of_torch(module: Any) -> bool:
    """Its forward is the one that torch documents, not that of a class made from it."""
    return type(module).forward.__module__.startswith("torch.nn.modules.")


def _in_order(args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What torch calls `input` stands first, by whatever name it came; numpy's `axis` is torch's `dim`."""
    named = {"dim" if name == "axis" else name: value for name, value in kwargs.items()}
    first = (named.pop("input"),) if "input" in named else ()
    return (*first, *args), named


def _reads_value(arguments: Any) -> bool:
    if isinstance(arguments, Value):
        return True
    if isinstance(arguments, dict):
        return any(map(_reads_value, arguments.values()))
    return isinstance(arguments, list | tuple) and any(map(_reads_value, arguments))


# Whether it is the same network


def require_equal(graph: Graph, module: nn.Module, X: Array) -> float:
    """The largest difference between graph and module on X, both in float64; a ValueError beyond what rounding can do.

    That is twice the proved error of the module's own steps: either evaluation errs by no more. They must agree
    elsewhere too, because a risk is about other points: on drawn ones as large as X, and larger. A module in training
    mode must also agree with its eval mode, which is the one that will be used.
    """
    double = logits(_double(module))[0] if graph.link else _double(module)
    steps, rows = trace(module, graph.shape, fold=False), compared(graph, len(X))
    beside = _beside(X, rows)
    _largest_difference(graph, steps, double, beside, "a point that was drawn")
    difference = _largest_difference(graph, steps, double, X, "point", rows)
    if any(part.training for part in module.modules()):
        evaluated = _double(module).eval()
        evaluated = logits(evaluated)[0] if graph.link else evaluated
        _largest_difference(graph, steps, evaluated, beside, "a point that was drawn, in eval mode,")
    return difference


def compared(graph: Graph, m: int) -> int:
    """How many of m points `require_equal` looks at: all, or the first few if the network has many products."""
    return min(m, max(FEWEST, PRODUCTS // graph.work))


def outputs(graph: Graph, X: Array) -> Array:
    """What the graph gives on X, in float64."""
    with torch.no_grad():
        (f,) = joined(((enclosure.plain(graph, block),) for block in enclosure.blocks(graph, X)), len(X))
    values: Array = f.numpy()
    return values


def _beside(X: Array, rows: int) -> Array:
    each = 16 if rows == len(X) else FEWEST // len(SCALES)
    drawn = np.random.default_rng(0).standard_normal((len(SCALES), each, *X.shape[1:]))
    largest = disk.largest(X) or 1.0
    scales = (np.minimum(SCALES, 1e100 / largest) * largest).reshape(-1, *[1] * X.ndim)
    return (drawn * scales).reshape(-1, *X.shape[1:])


def _largest_difference(
    graph: Graph, steps: Graph, double: nn.Module, X: Array, where: str, rows: int | None = None
) -> float:
    largest, seen = 0.0, 0
    with torch.no_grad():
        for block in enclosure.blocks(graph, X, rows):
            f, (_, error) = enclosure.plain(graph, block), enclosure.with_errors(steps, block, another=True)
            # a copy, for forward may write over what it reads
            own = _own_values(double, block.clone(), f)
            difference = (f - own).abs()
            wrong = ~(difference <= 2 * error)
            if where != "point":
                wrong &= torch.isfinite(f) & torch.isfinite(error)
            if bool(wrong.any()):
                row = int(wrong.any(dim=1).nonzero()[0])
                read, given = float(f[row][wrong[row]][0]), float(own[row][wrong[row]][0])
                name, place = type(double).__name__, f"{where} {seen + row}" if where == "point" else where
                if not math.isfinite(read) and not math.isfinite(given):
                    raise UnreadableModule(f"{name}: exceeds the largest float, 1.8e308, at {place}.")
                raise UnreadableModule(
                    f"{name}: read as a graph it gives {read!r} at {place} where the module gives {given!r}: it does "
                    "something that was not read (in-place changes, a branch on values)."
                )
            largest, seen = max(largest, float(difference.max())), seen + len(block)
    return largest


def _own_values(double: nn.Module, x: Tensor, f: Tensor) -> Tensor:
    try:
        own = double(x)
        if own.dtype == torch.float64 and len(own) == len(f):
            return own.reshape(f.shape)
    except Exception as error:  # whatever forward does
        raise UnreadableModule(
            f"{type(double).__name__}: forward fails on {len(x)} points ({first_line(error)})."
        ) from None
    raise UnreadableModule(
        f"{type(double).__name__}: forward gives {own.dtype} of shape {tuple(own.shape)} for {len(x)} points, expected "
        f"torch.float64 of shape {tuple(f.shape)}."
    )
