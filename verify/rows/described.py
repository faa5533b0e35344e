"""The rows on a network's description: its bits and its errors, and for a network as it is points without labels.

occam-certificate is about the network with its weights as they are, or as the file of a compressed network codes them.
Both count errors of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.checks import Array
from verify.reading.formula import BlackBox, Formula
from verify.reading.points import GivenPoints, indices
from verify.reading.program import NamedProgram
from verify.records.question import Question
from verify.records.results import Assumption
from verify.rows.assumptions import assumption, new_draws
from verify.rows.report import stored_sample, trained_for
from verify.rows.setting import OCCAM, Counted, HeldOut, RowValue

if TYPE_CHECKING:
    from adanet_train.compression.file import CodedFile

DISAGREEMENT = "disagreement-certificate"
MOST_WEIGHTS = 20_000_000
"""Beyond, the description of a network as it is says nothing on any sample."""


@dataclass(frozen=True)
class Description:
    """Bits of a network in the code of this version, errors on the sample, and what is assumed."""

    bits: int
    errors: int
    points: int
    assumptions: tuple[Assumption, ...]
    asked: bool = False
    """Whether the file names this statement: a compressed network, or AdaNet trained for its description."""
    structured: bool = False
    """Whether the structure is a part of the code: then the statement is on all networks at once."""


@dataclass(frozen=True, eq=False)
class CertifiedNetwork:
    """A network with a certificate: `at(δ)` bounds its risk, `decide` its decisions, as those of a program."""

    at: Callable[[Any], float]
    decide: Callable[[Array], Array]
    name: str
    assumes: str
    """What its certificate assumes."""
    doubt: str = ""
    """Why it is none."""
    sample: Array | None = None
    """Its own points, where it holds them."""


@dataclass(frozen=True)
class Differences:
    """At how many points without labels f and g differ, and the certificate of g."""

    d: int
    points: HeldOut
    g: CertifiedNetwork
    note: str


MOST_BITS = 64  # a point: without one error the bound is above 1 - 2^-64
FIXED = "the architecture{} and code {} were fixed before the sample"
CONSTANTS = ", {:,} constants of its graph included,"
STRUCTURED = "the activation and code {}, which tells depth and widths, were fixed before the sample"
EXACT = "points whose margin is within the rounding error of float64 count as errors"
SAME = "every machine computes what the program computes here"
SCALED = "the program, whose weights may be scaled apart from the coded ones, decides as these do in real numbers"
ALSO = {
    EXACT: "",
    SAME: " and the program computes everywhere what it computes here",
    SCALED: " and the program decides everywhere as the coded weights do in real numbers",
}
"""What the words of a citation add to the architecture."""


def _architecture(fixed: str, computed: str, more: str = "") -> Assumption:
    """The statement is on the program: its errors were counted, and it must be one function of what is coded."""
    return assumption("architecture", "assumed", f"{fixed}; {more}{computed}", fixed + ALSO[computed])


def describe(
    model: Formula | BlackBox, sample: GivenPoints | None, program: Any = None, own: CodedFile | None = None
) -> Description | None:
    """The network's description; None where the weights are not known. A module that cannot be read has its own.

    The program must be a function of what is coded. A module is, of its own numbers: weights read from it may be made
    of others (a folded BatchNorm, a parametrization), or chosen by some that are not read. `own` is the compressed file
    that the weights are from: then its bits describe them.
    """
    module = getattr(program, "module", None)
    if isinstance(model, BlackBox):
        return None if module is None or sample is None else _of_module(module, sample, own)
    from adanet_train.compression import description

    points, weights = sample or stored_sample(model), _weights(model.graph)
    numbers = weights if module is None or own is not None else _numbers(module, model.graph)
    # a compressed file codes no structure
    structured = own is None and model.layers is not None and numbers is not None and _alike(numbers, weights)
    computed = SCALED if isinstance(program, NamedProgram) else SAME
    is_file = points.predicted is None  # then the program is the network in the file
    architecture = _architecture(fixed(own, structured), EXACT if is_file else computed)
    if own is not None:
        bits: int | None = own.bits
    elif structured and model.layers is not None:
        bits = description.described(model.layers)[0]
    else:
        bits = _bits(numbers)
    if bits is None:
        return None
    errors = _errors(model.graph, points, hopeless=bits > MOST_BITS * len(points.y))
    asked = own is not None or trained_for(model) == OCCAM
    return Description(bits, errors, len(points.y), (architecture,), asked, structured)


def _errors(graph: Any, points: GivenPoints, *, hopeless: bool) -> int:
    """Points where the program errs or the margin is not surely above 0; where it is `hopeless`, the program's alone.

    With so many bits a point the bound is 1 whatever the errors are, and a large network takes its time to enclose.
    """
    if points.predicted is None:
        return int(_wrong(graph, points).sum())
    return int((points.is_wrong if hopeless else points.is_wrong | _wrong(graph, points)).sum())


def _of_module(module: Any, sample: GivenPoints, own: CodedFile | None) -> Description | None:
    """Only its weights are coded; that every machine computes the same is assumed."""
    bits = _bits(_numbers(module)) if own is None else own.bits
    if bits is None:
        return None
    assumed = (_architecture(fixed(own), SAME, "the module cannot be read; "),)
    return Description(bits, int(sample.is_wrong.sum()), len(sample.y), assumed, own is not None)


def _bits(numbers: Sequence[Array] | None) -> int | None:
    """Bits of the numbers as they are."""
    from adanet_train.compression import code

    many = numbers is None or sum(w.size for w in numbers) > MOST_WEIGHTS
    if numbers is None or many or not all(np.isfinite(w).all() for w in numbers):
        return None
    return code.bits_of([code.lossless(w) for w in numbers])


def _numbers(module: Any, graph: Any = None) -> list[Array] | None:
    """All that a module is a function of, constants of its forward included where it was read as a graph.

    None where it may keep more than torch shows.
    """
    from adanet_train.compression.weights import own_numbers

    try:
        return own_numbers(module) + ([] if graph is None else _constants(module, graph))
    except (ValueError, RuntimeError):  # what torch does not let one look into
        return None


def _constants(module: Any, graph: Any) -> list[Array]:
    """The numbers of the graph that stay where all numbers of the module are others; all, where it then has another."""
    import torch

    from adanet_train.reading.recorder import UnreadableModule
    from adanet_train.reading.trace import trace

    other, draw = deepcopy(module), torch.Generator().manual_seed(0)
    for tensor in (*other.parameters(), *other.buffers()):
        if tensor.is_floating_point():
            tensor.data = (0.5 + torch.rand(tensor.shape, generator=draw)).to(tensor)
    weights = _weights(graph)
    try:
        moved = _weights(trace(other, graph.shape))
    except UnreadableModule:
        return weights
    if len(moved) != len(weights):
        return weights
    return [first for first, second in zip(weights, moved, strict=True) if np.array_equal(first, second)]


def _alike(numbers: Sequence[Array], weights: Sequence[Array]) -> bool:
    """Whether both are the same numbers: then the weights are the module's own, and there are no others."""
    first, second = (np.sort(np.concatenate([np.zeros(0), *(w.ravel() for w in part)])) for part in (numbers, weights))
    return bool(np.array_equal(first, second))


def fixed(own: CodedFile | None, structured: bool = False) -> str:
    """What was fixed before the sample, the code by its version: another one is another prior."""
    from adanet_train.compression.code import VERSION

    if structured:
        return STRUCTURED.format(VERSION)
    return FIXED.format("" if own is None or own.constants == 0 else CONSTANTS.format(own.constants), VERSION)


def _weights(graph: Any) -> list[Array]:
    """Every tensor of a linear map; that of the second logit less the first is no weight."""
    from torch import Tensor

    from adanet_train.reading.graph import DIFFERENCE

    operations = [node.operation for node in graph.nodes if node.name != DIFFERENCE]
    parts = [vars(operation).get(name) for operation in operations for name in ("W", "b", "scale", "shift")]
    return [part.double().numpy() for part in parts if isinstance(part, Tensor)]


def _wrong(graph: Any, points: GivenPoints) -> Array:
    """Of every point whether its margin is not surely above 0."""
    import torch

    from adanet_train.compression.exact import wrong

    X = points.Psi.reshape(len(points.y), *graph.shape)
    return np.asarray(wrong(graph, X, torch.from_numpy(indices(points.y))).numpy())


# The rows


def of_description(description: Description | None) -> tuple[Counted, ...]:
    """occam-certificate; a compressed network's file asks for it."""
    if description is None:
        return ()
    from adanet_theory.twins.counted import occam_upper
    from adanet_train.compression.code import VERSION

    bits, errors, points = description.bits, description.errors, description.points
    counts = {"bits": bits, "errors": errors, "points": points, "code": VERSION}
    terms = {name: float(count) for name, count in counts.items()}
    # networks of other architectures have codes of their own; that of layers does not tell the activation
    bound = replace(catalogue.bound(OCCAM), simultaneous=description.structured)

    def at(delta: Fraction) -> RowValue:
        return RowValue(occam_upper(errors, points, bits, delta), terms, about="program")

    return (Counted(bound, at, description.assumptions, asked=description.asked),)


def of_disagreement(differing: Differences, question: Question, tried: int) -> Counted:
    """disagreement-certificate: points without labels were given for it.

    Half of δ for each part; what was tried on the sample divides the first, networks compared on U the second: they
    share g.
    """
    from adanet_theory.twins.counted import disagreement_upper

    half, g, d, n = Fraction(question.delta) / 2, differing.g, differing.d, differing.points.n
    b = min(1.0, float(g.at(half / tried)) * (1 + 1e-12))  # g.at is right to twelve digits or rounded up
    terms: dict[str, float | None] = {"surrogate": b, "disagreements": float(d), "n": float(n)}
    said = RowValue(disagreement_upper(b, d, n, half / question.compared), terms, about="program")
    rows = (new_draws("unlabelled", differing.points, question.discrete), _surrogate(g, question.discrete))
    delta = half / tried + half / question.compared
    return Counted(catalogue.bound(DISAGREEMENT), lambda _: said, rows, delta=delta)


def _surrogate(g: CertifiedNetwork, discrete: bool) -> Assumption:
    """A certificate from rows that repeat does not hold, unless they are separate draws."""
    if g.doubt and not discrete:
        return assumption(
            "surrogate", "fails", f"{g.name} has no certificate: {g.doubt} (if rows may repeat: --discrete)"
        )
    copies = f"; {g.doubt}, taken as draws of their own" if g.doubt else ""
    detail = f"the certificate of {g.name} is used: {g.assumes}{copies}"
    return assumption("surrogate", "assumed", detail, f"the certificate of the surrogate holds: {g.assumes}")
