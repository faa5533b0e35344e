"""How to write your own subnetwork: a builder makes a module, a generator proposes builders each round.

    def small_cnn(context): return nn.Sequential(nn.Conv2d(context.shape[0], 8, 3), nn.ReLU(), nn.Flatten(), ...)

A builder is such a function, or an object with `build(context)` and, if it likes, `name`, `fit(module, data, loss)` and
`complexity(module)`. A module instance is taken as it is, trained or not, and so is a fitted estimator of scikit-learn.
A list of these is proposed every round; an object with `candidates(round, reports)` proposes by what it has seen.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from adanet_theory.checks import check
from adanet_train.search.context import Context as Context

Loss = Callable[[Tensor, Tensor], Tensor]
"""loss(outputs, y): one number, the mean over the batch."""


@dataclass(frozen=True)
class Report:
    """One candidate of one round: what it cost and what it would bring.

    `objective` is F if it were added, `validation` the loss then on the validation points (None without any); `measure`
    says where the complexity comes from; `seconds` are CPU seconds of building and fitting. A file holds no timings and
    a generator sees none, so that equal seeds give equal files and equal proposals: `seconds` is None there.
    """

    round: int
    name: str
    train: float
    validation: float | None
    objective: float
    complexity: float
    measure: str
    parameters: int
    depth: int
    weight: float
    chosen: bool
    why: str
    seconds: float | None = None

    @property
    def plain(self) -> dict[str, Any]:
        return asdict(self)


@runtime_checkable
class Generator(Protocol):
    """Proposes the builders of a round from the reports of the rounds before."""

    def candidates(self, round: int, reports: Sequence[Report]) -> Sequence[Any]: ...


class InstanceWarning(UserWarning):
    """A module instance among the builders is used as it is, but perhaps it should have been trained."""


class Given(nn.Module):
    """A fitted estimator as a subnetwork: class probabilities less 1/C, or its decision function."""

    def __init__(self, estimator: Any, outputs: int) -> None:
        super().__init__()
        self.estimator, self.outputs = estimator, outputs

    def forward(self, x: Tensor) -> Tensor:
        exported = torch.compiler.is_exporting() or torch.jit.is_tracing()  # type: ignore[attr-defined]
        check(
            not exported,
            f"{type(self.estimator).__name__} is not a torch module: an ensemble with it cannot be exported.",
        )
        X = x.detach().cpu().numpy().reshape(len(x), -1)
        if hasattr(self.estimator, "predict_proba"):
            p = torch.as_tensor(self.estimator.predict_proba(X))
            f = p[:, 1:] - p[:, :1] if self.outputs == 1 else p - 1 / self.outputs
        else:
            f = torch.as_tensor(self.estimator.decision_function(X)).reshape(len(x), -1)
        return f.to(x.device, x.dtype)


def proposed(subnetworks: Any, round: int, reports: Sequence[Report]) -> list[Any]:
    """The builders of this round."""
    if isinstance(subnetworks, Generator):
        instance = not isinstance(subnetworks, type)
        check(instance, f"generator {name_of(subnetworks)!r} is a class: give an instance, {name_of(subnetworks)}(..).")
        who = f"generator {name_of(subnetworks)!r}"
        try:
            found = subnetworks.candidates(round, [replace(report, seconds=None) for report in reports])
        except Exception as error:
            raise ValueError(f"{who} failed in round {round}: {described(error)}") from error
        known = isinstance(found, Sequence | Iterator) or _is_proposal(found)
        check(known, f"{who} must propose builders in round {round}, got {type(found).__name__}.")
    else:
        found = subnetworks
    several = isinstance(found, Sequence | Iterator) and not isinstance(found, str)
    builders = list(found) if several else [found]
    for one in builders:
        expected = "each of subnetworks must be a builder, a module or an estimator"
        check(_is_proposal(one), f"{expected}, got {type(one).__name__} in round {round}.")
        instance = not isinstance(one, type) or not hasattr(one, "build")
        check(instance, f"builder {name_of(one)!r} is a class: give an instance, {name_of(one)}(..).")
    return builders


def _is_proposal(one: Any) -> bool:
    return isinstance(one, nn.Module) or callable(one) or hasattr(one, "build") or hasattr(one, "fit")


def described(error: Exception) -> str:
    """The message of an error in the user's code, with its class unless that is RuntimeError or ValueError."""
    return str(error) if isinstance(error, RuntimeError | ValueError) else f"{type(error).__name__} {error}"


def name_of(builder: Any) -> str:
    """The name of a builder in reports: its own, or that of its function or class."""
    given = getattr(builder, "name", None)
    if not given and isinstance(builder, functools.partial):
        return name_of(builder.func)
    return str(given) if given else getattr(builder, "__name__", type(builder).__name__)


def is_given(builder: Any) -> bool:
    """Whether it is a module or an estimator, to be taken as it is, rather than a builder."""
    return isinstance(builder, nn.Module) or (hasattr(builder, "fit") and not hasattr(builder, "build"))


def build(builder: Any, context: Context) -> nn.Module:
    """The module of a builder; its initial weights depend on nothing but the candidate's own generator."""
    make = builder.build if hasattr(builder, "build") else builder
    with seeded(context.generator):
        module = _made(make, context)
        what = f"builder {name_of(builder)!r}"
        check(isinstance(module, nn.Module), f"{what} must return an nn.Module, got {type(module).__name__}.")
        if any(map(is_lazy, _tensors(module))):
            known = (p.device for earlier in context.previous for p in earlier.parameters())
            x = torch.zeros(2, *context.shape, device=next(known, None))
            with torch.no_grad():
                module.to(x.device).eval()(x)  # LazyLinear and its like draw their weights now
    return module


def _tensors(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()


@contextlib.contextmanager
def seeded(generator: torch.Generator) -> Iterator[None]:
    """torch's global generators seeded by this one in the block, and afterwards as they were."""
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**62, (1,), generator=generator)))
        yield


def takes_context(make: Callable[..., Any]) -> bool:
    """Whether it has a parameter `context`, or one that must be given: else a factory is called without a context."""
    parameters = _parameters(make)
    if parameters is None or "context" in parameters:
        return True
    return any(one.default is one.empty and one.kind in (0, 1, 2) for one in parameters.values())


def _parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError):
        return None


def _made(make: Callable[..., Any], context: Context) -> Any:
    """What the factory makes; a parameter `context` is given by its name, as others may stand before it."""
    own = (_parameters(make) or {}).get("context")
    if own is not None and own.kind in (1, 3):
        return make(context=context)
    return make(context) if takes_context(make) else make()


def outputs_of(module: nn.Module, x: Tensor, outputs: int, name: str) -> Tensor:
    """The module on a batch, of shape (rows, outputs); two logits of two classes become their difference."""
    f = module(x)
    what = f"subnetwork {name!r}"
    check(isinstance(f, Tensor), f"{what} must return a tensor, got {type(f).__name__}.")
    check(f.is_floating_point(), f"{what} must return real numbers, got {f.dtype}.")
    check(f.device == x.device, f"{what} must stay on the device of its input, {x.device}, got {f.device}.")
    f = f[:, None] if f.ndim == 1 and outputs == 1 else f
    if outputs == 1 and f.ndim == 2 and f.shape[1] == 2:
        f = f[:, 1:] - f[:, :1]
    expected = (len(x), outputs)
    check(tuple(f.shape) == expected, f"{what} must return shape {expected}, got {tuple(f.shape)}.")
    return f


@torch.no_grad()
def require_function(module: nn.Module, x: Tensor, outputs: int, name: str) -> Tensor:
    """The outputs of two rows or more in eval mode, of a module that is one function of each row, and no more."""
    given, f = x.clone(), outputs_of(module.eval(), x, outputs, name)
    what = f"subnetwork {name!r}"
    check(torch.equal(x, given), f"{what}: forward changes its input in place, which other subnetworks read too.")
    again = outputs_of(module, x.clone(), outputs, name)
    same = torch.allclose(f, again, rtol=1e-4, atol=1e-5, equal_nan=True)
    check(same, f"{what}: in eval mode the outputs must not be random, got others the second time.")
    alone = outputs_of(module, x[:1].clone(), outputs, name)
    same = torch.allclose(f[:1], alone, rtol=1e-3, atol=1e-4 * max(1.0, float(f.abs().max())), equal_nan=True)
    check(same, f"{what}: in eval mode the outputs of a point must not depend on its batch.")
    return f


def continued(module: nn.Module, context: Context) -> nn.Module:
    """The module with the weights of the last earlier subnetwork that has the same ones, if there is one.

    Called at the end of `build`: then a round goes on where an earlier one ended, instead of from random weights.
    """
    shapes = {name: part.shape for name, part in module.state_dict().items()}
    for earlier in reversed(context.previous):
        if {name: part.shape for name, part in earlier.state_dict().items()} == shapes:
            module.load_state_dict(earlier.state_dict())
            break
    return module


def hidden(module: nn.Module, x: Tensor) -> Tensor:
    """The last hidden layer of a subnetwork: its `hidden(x)` if it has one, else what its last Linear reads."""
    own = getattr(module, "hidden", None)
    if callable(own):
        return own(x)
    layers = [part for part in module.modules() if isinstance(part, nn.Linear)]
    check(bool(layers), f"{type(module).__name__} has no Linear layer and no method hidden(x) to read.")
    read: list[Tensor] = []
    hook = layers[-1].register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))
    try:
        module(x)
    finally:
        hook.remove()
    return read[-1]


def with_seed(estimator: Any, seed: int) -> Any:
    """The estimator with this seed for each random_state that is None."""
    params = estimator.get_params().items()
    unset = [name for name, value in params if name.endswith("random_state") and value is None]
    return estimator.set_params(**dict.fromkeys(unset, seed))
