"""--compress FILE: the network of a command rounded to few bits; --surrogate: a network that has a certificate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array, check
from verify.reading import case, points
from verify.reading.case import Named
from verify.reading.formula import BlackBox
from verify.reading.program import ChainProgram, ModuleProgram, decided
from verify.rows.citation import SWAPPED
from verify.rows.described import CertifiedNetwork, Differences, fixed
from verify.rows.setting import HeldOut

if TYPE_CHECKING:
    from adanet_theory.checks import Progress
    from adanet_train.compression.file import CodedFile
    from verify.reading.case import Case
    from verify.reading.points import GivenPoints
    from verify.reading.subject import Subject
    from verify.records.question import Question
    from verify.records.results import BoundReport

BUDGET = 60.0
"""Nominal seconds of --compress."""


# --compress


def compress_named(named: Named, path: str, question: Question, budget: float) -> tuple[Named, list[str]]:
    """Compress the network, write its file, and put that file in its place; also the notes for the reader."""
    import torch

    from adanet_train.compression import file
    from adanet_train.compression.disagreement import decisions
    from adanet_train.compression.search import compress

    check(named.data is not None, "--compress needs the sample that the network was trained on: --data FILE.")
    source = (*named.models, *named.weights, named.module or "")[0]
    given, shape = case.subject_of(source, named)
    sample, test = case.RunData(named, given, shape).pairs()
    assert sample is not None
    named = named.knowing(given.model)
    tokens = given.program.tokens if isinstance(given.program, ModuleProgram) else np.asarray
    module, X = _module(source, given), tokens(np.asarray(sample.X))
    # the report has a row of its own on repeated rows
    asked: dict[str, Any] = {"delta": float(question.delta), "seed": question.seed, "discrete": True}
    small = compress(module, X, sample.y, budget=budget, verbose=True, **asked)
    small.save(path)
    notes = [f"{source} rounded to {small.bits:,} bits: {path} ({small.errors:,} errors on the sample)."]
    if test is not None:
        rows = torch.from_numpy(tokens(np.asarray(test.X)))
        error = np.mean(decisions(module, rows) != points.indices(test.y))
        notes.append(f"{source} itself has the test error {error:.4g}.")
    named = replace(named, shape=X.shape[1:])
    if named.module is not None and file.read(path).graph is None:  # the factory gives the architecture
        return replace(named, weights=(path,)), notes
    return replace(named, models=(path,), module=None, weights=(), activation=None), notes


def _module(source: str, given: Subject) -> Any:
    """The network as a module on points as they came."""
    from adanet_train.compression.description import ChainModule, LayeredModule
    from adanet_train.data.features import FeatureMap, default_names

    if isinstance(given.program, ModuleProgram):
        return given.program.module
    if isinstance(given.program, ChainProgram):
        return ChainModule(given.program.chain, given.program.phi)
    check(given.coded is None, f"{source}: is compressed already: give the network it was made from.")
    model = given.model
    readable = not isinstance(model, BlackBox) and model.layers is not None
    check(readable, f"{source}: a black box without weights cannot be compressed.")
    assert not isinstance(model, BlackBox)
    assert model.layers is not None
    known = model.features is None or not (model.features.fitted_on_sample or "features_learned_on" in model.meta)
    learned = "its features were scaled by points that it was given, and no bits pay for that"
    check(known, f"{source}: {learned}: train with a range known beforehand (adanet-train --feature-range LO,HI).")
    biased = model.graph.has_bias  # then the layers read a constant behind x
    features = FeatureMap.identity(default_names(model.graph.n_0 - 1), bias=True) if biased else model.features
    return LayeredModule(model.layers, features)


# --surrogate


PICKED = "its recipe was fixed before the sample"


def surrogate(given: Any, X: Array, sample: GivenPoints, outputs: int | None, seed: int) -> CertifiedNetwork:
    """What was given as the surrogate: the result of compress or certify, the path of a network's file, or "pick"."""
    y = sample.y
    if given is None or given == "pick":
        from adanet_train.picking.certify import certify

        certified = certify("adanet", X.reshape(len(X), -1), y, seed=seed, discrete=True, verbose=False)
        name = f"AdaNet picked on the sample (seed {seed})"
        return CertifiedNetwork(
            certified.at, lambda U: certified.predictor.predict(U.reshape(len(U), -1)), name, PICKED
        )
    from adanet_train.compression import file
    from adanet_train.compression.exact import count

    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        return _of_file(file.read(path), X, y, path) if file.is_coded_file(path) else _of_picks(path, X, y)
    check(
        hasattr(given, "at"),
        f"surrogate must be a path, 'pick', or what compress or certify returned, got {type(given).__name__}.",
    )
    if hasattr(given, "coded"):
        given.require_unchanged()
        shape = given.shape
        return _of_code(given.module, partial(count, given.module), shape, given.bits, X, y, "the compressed network")
    return _of_certified(given, sample.names, outputs)


def _of_code(
    outputs: Callable[[Any], Any],
    counted: Callable[[Any, Any], Any],
    shape: tuple[int, ...],
    bits: int,
    X: Array,
    y: Array,
    name: str,
    file: CodedFile | None = None,
) -> CertifiedNetwork:
    """A compressed network, whose errors are counted on the sample, under the labels that the other network has there.

    Integers stay integers.
    """
    import torch

    from adanet_theory.twins.counted import occam_upper

    def read(points: Array) -> Any:
        values = np.asarray(points)
        values = values if values.dtype.kind in "iu" else values.astype(np.float64)
        return torch.from_numpy(np.ascontiguousarray(values.reshape(len(values), *shape)))

    @torch.no_grad()
    def decide(U: Array) -> Array:
        return decided(outputs(read(U)).numpy())

    errors = counted(read(X), torch.from_numpy(points.indices(y))).errors
    return CertifiedNetwork(partial(occam_upper, errors, len(y), bits), decide, name, fixed(file))


def _of_certified(given: Any, names: tuple[Any, ...] | None, outputs: int | None) -> CertifiedNetwork:
    """What certify returned, with its class names in the order of the other network."""
    from adanet_train.compression.disagreement import places, uncertified
    from verify.reading.program import NamedProgram

    wanted, own = names or ((-1, 1) if outputs is None else tuple(range(outputs))), given.points.classes.tolist()
    ordered: list[Any] = [object() for _ in wanted]  # a class that it does not know is never what it predicts
    for place, name in zip(places(own, wanted), own, strict=True):
        ordered[place] = name
    program = NamedProgram(given.predict, ordered)
    return CertifiedNetwork(given.at, program.predict, "the picked network", PICKED, uncertified(given), given.points.X)


def _of_picks(path: str, X: Array, y: Array) -> CertifiedNetwork:
    """A model.pt that was trained by picking on this sample: its picks are counted and replayed."""
    from verify.reading import subject
    from verify.reading.points import GivenPoints
    from verify.rows.picks import picking

    own = subject.of_model_file(path, None)
    Psi = case.features(own, X)
    model = own.model
    has_record = getattr(model, "picked", None) is not None
    check(has_record, f"{path}: --surrogate takes a compressed network or one that was trained by picking.")
    run = picking(model, GivenPoints(Psi, np.asarray(y)), replay=True)
    check(run is not None, f"{path}: was trained by picking on another sample than --data.")
    assert run is not None
    check(run.status != "fails", f"{path}: its certificate cannot be confirmed: {run.detail}")
    return CertifiedNetwork(
        run.upper, lambda U: case.decisions(own, U), os.path.basename(path), f"{PICKED} ({run.detail.rstrip('.')})"
    )


def _of_file(file: CodedFile, X: Array, y: Array, path: str) -> CertifiedNetwork:
    """The network of a compressed file."""
    check(file.graph is not None, f"{path}: holds no graph of its architecture; give what compress returned.")
    assert file.graph is not None
    return _of_code(file.outputs, file.count, file.graph.shape, file.bits, X, y, os.path.basename(path), file)


def differences(subject: Subject, U: Array, g: CertifiedNetwork, X: Array, question: Question) -> Differences:
    """Where f and g differ, a tie or NaN of either among them; points of the sample are refused."""
    import torch

    from adanet_train.compression.disagreement import require_fresh
    from verify.measure.near import apart
    from verify.measure.repeats import repeated

    for sample in (X, *[g.sample] * (g.sample is not None)):
        require_fresh(torch.from_numpy(np.asarray(U)), torch.from_numpy(np.asarray(sample)))
    rows, others = (np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in (U, X))
    repeats = repeated(rows, np.zeros(len(U)))
    close = apart(rows, others, "points without labels", discrete=question.discrete)
    mine, other = case.decisions(subject, U), g.decide(U)
    none = 0 if subject.outputs is None else -1
    differ = (mine != other) | (mine == none)
    note = f"disagreement: with {g.name} on {len(U):,} points without labels"
    better = "if they have labels, held-out is better (--test-data)."
    fresh = HeldOut(len(U), repeats, shared=0, near=close)
    return Differences(int(differ.sum()), fresh, g, f"{note}; {better}")


def unlabelled_file(path: str, shape: tuple[int, ...] | None) -> Array:
    """The X of a .npz file, or a .npy file of X alone; labels are not read."""
    from pathlib import Path

    from adanet_train.data import files

    is_npz, is_npy = path.endswith(".npz"), path.endswith(".npy")
    check(is_npz or is_npy, f"{path}: --unlabelled reads a .npz file with X, or a .npy file of X alone.")
    files.require_file(Path(path))
    try:
        stored = np.load(path, allow_pickle=False)
        X = stored["X"] if is_npz else stored
    except (ValueError, OSError, KeyError, EOFError) as error:
        raise ValueError(f"{path}: cannot be read as X: {error}.") from None
    return np.asarray(X if shape is None else X.reshape(len(X), *shape))


# The report


def complete(
    read: Case, question: Question, U: Any = None, given: Any = None, progress: Progress | None = None
) -> BoundReport:
    """The report on a case, with the rows on its description and on points without labels."""
    built = _built(read, question, U, given, progress)
    doubts = () if read.sample is None else _doubts(built, read.sample.y)
    return replace(built, notes=(*built.notes, *doubts), command=question.command)


def _doubts(report: BoundReport, y: Any) -> Iterator[str]:
    """Notes on input that is valid and probably not meant."""
    if report.classes > 2:
        return
    if len(report.margins) and bool((y * report.margins > 0).all()) and len(set(y.tolist())) == 2:
        yield "f is positive at every point of the sample: f must be a logit, whose sign decides, not a probability."
    elif report.subject == "black box" and report.sample.train_error > 0.5:
        yield f"it is wrong on more than half of the sample. {SWAPPED}"


def _built(read: Case, question: Question, U: Any, given: Any, progress: Progress | None) -> BoundReport:
    from verify.rows import declared, described, report

    check(U is not None or given is None, "surrogate is for points without labels: give unlabelled too.")
    subject, families = read.given, read.given.families
    own = described.describe(read.model, read.sample, subject.program, subject.coded)
    counted = [*described.of_description(own)]
    if families is not None:
        check(read.X is not None, "declared needs the sample: X and y, or --data FILE.")
        assert read.sample is not None
        counted.append(declared.of_families(families, points.rows(read.X, "X"), read.sample.y, question))
    if U is not None:
        check(read.X is not None, "unlabelled needs the sample as it was given: X and y, or --data FILE.")
        X, fresh = np.asarray(read.X), points.array(U, "unlabelled")
        assert read.sample is not None
        g = surrogate(given, X, read.sample, read.given.outputs, question.seed)
        differing = differences(read.given, fresh, g, X, question)
        counted.append(described.of_disagreement(differing, question, report.tried(read.model, question)))
    built = report.build(
        read.model, question, sample=read.sample, test=read.test, notes=read.notes, counted=counted, progress=progress
    )
    return built if U is None else replace(built, notes=(*built.notes, differing.note))
