"""An ensemble of subnetworks as a file of plain values and tensors (model.pt, version 3).

The file holds state_dicts and the names of the builders. Who reads it gives the builders: a file imports nothing.
"""

from __future__ import annotations

import copy
import io
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch

from adanet_theory.checks import check
from adanet_train.core.files import versions, write_file
from adanet_train.data import archive
from adanet_train.data import fields as model_fields
from adanet_train.data.encoding import Encoder
from adanet_train.search.weak_learners import generator
from adanet_train.subnetworks.protocol import Context, Given, Report, build, is_given, name_of, proposed
from adanet_train.subnetworks.train import Chosen, GrownEnsemble, Subnetworks

VERSION = 3


@dataclass(frozen=True)
class RunSettings:
    """The settings of a run; a further run resumes it only with the same settings.

    Attributes
    ----------
    seed : of all randomness.
    m : number of points.
    trained : number of those that subnetworks were trained on; the others validated.
    sample : SHA-256 of the points.
    settings : strategy, weights, validation, lam and beta, but for those that are None.
    """

    seed: int
    m: int
    trained: int
    sample: str
    settings: dict[str, Any]

    def check_same(self, asked: RunSettings, where: str) -> None:
        for one in fields(self):
            own, other = getattr(self, one.name), getattr(asked, one.name)
            values = "other points or labels here" if one.name == "sample" else f"{own} there, {other} here"
            check(own == other, f"{where} adds rounds to a run with the same {one.name}: {values}.")


def write(
    path: str | Path,
    grown: GrownEnsemble,
    classes: list[Any],
    run: RunSettings,
    encoder: Encoder | None,
    picked: Any = None,
) -> None:
    """Write atomically; estimators given as candidates are not plain values and are refused.

    The file holds no timings: equal runs write equal files. `picked` is the record of a run of picking.
    """
    given = [one.name for one in grown.chosen if isinstance(one.module, Given)]
    check(not given, f"{given[:1]} is an estimator, which model.pt cannot hold: pickle the classifier instead.")
    content = {
        "format": "adanet-theory",
        "version": VERSION,
        "subnetworks": [_plain(one) for one in grown.chosen],
        "reports": [{**report.plain, "seconds": None} for report in grown.reports],
        "lam": grown.lam,
        "outputs": grown.outputs,
        "shape": list(grown.shape),
        "ended": grown.ended,
        "run": asdict(run),
        "columns": None if encoder is None else encoder.plain,
        "summary": grown.summary().rows,
        "picked": picked,
        "meta": {"classes": classes, "versions": versions()},
    }
    buffer = io.BytesIO()
    torch.save(model_fields.plain(content, "the model"), buffer)
    write_file(path, buffer.getvalue())


def _plain(one: Chosen) -> dict[str, Any]:
    state = dict(one.module.state_dict())
    names = ("name", "weight", "complexity", "parameters", "round", "number", "size")
    return {name: getattr(one, name) for name in names} | {"state": state}


def is_ensemble(content: Any) -> bool:
    return isinstance(content, dict) and "subnetworks" in content


def outline(path: str | Path) -> dict[str, Any] | None:
    """What a file shows without its builders: the rows of the summary, outputs and shape; None for another model."""
    try:
        content = archive.load(archive.read_bytes(path), str(path))
    except ValueError:  # whatever else it is, its own reader says
        return None
    if not is_ensemble(content):
        return None
    try:
        rows = [_row(row, t) for t, row in enumerate(content["summary"])]
        return {"rows": rows, "outputs": int(content["outputs"]), "shape": [int(side) for side in content["shape"]]}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: is damaged: {type(error).__name__} {error}.") from None


def _row(row: dict[str, Any], t: int) -> dict[str, Any]:
    counts = {name: int(row[name]) for name in ("round", "depth", "parameters")}
    sizes = {name: float(row[name]) for name in ("weight", "share")}
    reads = [int(s) for s in row["reads"]]
    check(all(1 <= s <= t for s in reads), "what a subnetwork reads must stand before it.")
    return {"name": str(row["name"]), **counts, **sizes, "reads": reads}


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds, with modules made by the builders that are given."""

    grown: GrownEnsemble
    classes: list[Any]
    run: RunSettings
    encoder: Encoder | None
    picked: dict[str, Any] | None


def read(path: str | Path, subnetworks: Any) -> Saved:
    """The content of a file.

    Raises
    ------
    ValueError
        A builder is missing, or its module does not fit the weights in the file.
    """
    content = archive.load(archive.read_bytes(path), str(path))
    check(is_ensemble(content), f"{path}: expected a file of subnetworks, written by AdaNetClassifier(subnetworks=..).")
    try:
        return _read(content, subnetworks, str(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: is damaged: {type(error).__name__} {error}.") from None


def _read(content: dict[str, Any], subnetworks: Any, path: str) -> Saved:
    check(content["version"] <= VERSION, f"{path}: version {content['version']} is newer than {VERSION}: update.")
    reports = tuple(Report(**{"validation": None} | report) for report in content["reports"])
    builders, run = Subnetworks.of(subnetworks).builders, RunSettings(**content["run"])
    columns = content.get("columns")
    encoder = None if columns is None else Encoder.from_plain(columns)
    kinds = () if encoder is None or not encoder.coded else encoder.categories
    grown = GrownEnsemble((), (), content["lam"], content["outputs"], tuple(content["shape"]), content["ended"], kinds)
    chosen: list[Chosen] = []
    for saved in content["subnetworks"]:
        earlier = tuple(report for report in reports if report.round < saved["round"])
        proposals = proposed(builders, saved["round"], earlier)
        chosen.append(_rebuilt(saved, proposals, chosen, grown, run, path))
    grown, picked = replace(grown, chosen=tuple(chosen), reports=reports), content.get("picked")
    sound = picked is None or (isinstance(picked, dict) and isinstance(picked.get("bound"), float))
    check(sound, f"{path}: picked must be the record of certify, with its bound.")
    return Saved(grown, content["meta"]["classes"], run, encoder, picked)


def _rebuilt(
    saved: dict[str, Any], builders: list[Any], chosen: list[Chosen], grown: GrownEnsemble, run: RunSettings, where: str
) -> Chosen:
    """The module of the builder of that name, with the weights of the file."""
    name, t, number = saved["name"], saved["round"], saved["number"]
    fits = number < len(builders) and name_of(builders[number]) == name
    known = ", ".join(map(name_of, builders))
    check(fits, f"{where}: candidate {number} of round {t} is {name!r}, but the builders given here are: {known}.")
    builder = builders[number]
    previous = tuple(one.module for one in chosen if one.round < t)
    draw = generator(run.seed, t, number)
    context = Context(grown.shape, grown.outputs, previous, t, run.trained, draw, grown.categories)
    given = is_given(builder)
    module = copy.deepcopy(builder) if given else build(builder, context)
    try:
        module.load_state_dict(saved["state"])
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{where}: builder {name!r} makes another module than the file: {reason}") from None
    module.eval().requires_grad_(False)
    kept = {field: saved[field] for field in ("weight", "complexity", "parameters", "size")}
    return Chosen(name=name, module=module, round=t, number=number, origin=builder if given else None, **kept)
