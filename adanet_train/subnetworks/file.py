"""An ensemble of subnetworks as a file of plain values and tensors (model.pt, version 3).

The file holds state_dicts and the names of the builders. The builders themselves come from whoever reads it: nothing is
imported because a file names it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from adanet_theory.checks import check
from adanet_train.core.files import versions, write_file
from adanet_train.model import archive
from adanet_train.search.weak_learners import generator
from adanet_train.subnetworks.protocol import Context, Given, Report, build, is_given, name_of, proposed
from adanet_train.subnetworks.train import Chosen, Grown, Subnetworks

VERSION = 3


def write(path: str | Path, grown: Grown, classes: list[Any], seed: int, m: int) -> None:
    """Write atomically; estimators given as candidates are not plain values and are refused."""
    given = [one.name for one in grown.chosen if isinstance(one.module, Given)]
    check(not given, f"{given[:1]} is an estimator, which model.pt cannot hold: pickle the classifier instead.")
    content = {
        "format": "adanet-theory",
        "version": VERSION,
        "subnetworks": [_plain(one) for one in grown.chosen],
        "reports": [report.plain for report in grown.reports],
        "lam": grown.lam,
        "outputs": grown.outputs,
        "shape": list(grown.shape),
        "ended": grown.ended,
        "meta": {"classes": classes, "seed": seed, "m": m, "versions": versions()},
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_file(path, buffer.getvalue())


def _plain(one: Chosen) -> dict[str, Any]:
    state = {name: tensor.detach().cpu().clone() for name, tensor in one.module.state_dict().items()}
    kept = {"name": one.name, "weight": one.weight, "complexity": one.complexity, "parameters": one.parameters}
    return {**kept, "round": one.round, "number": one.number, "state": state}


def is_ensemble(content: Any) -> bool:
    return isinstance(content, dict) and "subnetworks" in content


def read(path: str | Path, subnetworks: Any) -> tuple[Grown, dict[str, Any]]:
    """The ensemble and its meta data, with modules made by the builders that are given.

    Raises
    ------
    ValueError
        A builder is missing, or its module does not fit the weights in the file.
    """
    content = archive.load(archive.read_bytes(path), str(path))
    check(is_ensemble(content), f"{path}: expected a file of subnetworks, written by AdaNetClassifier(subnetworks=..).")
    check(content["version"] <= VERSION, f"{path}: version {content['version']} is newer than {VERSION}: update.")
    reports = tuple(Report(**report) for report in content["reports"])
    settings, meta = Subnetworks.of(subnetworks), content["meta"]
    grown = Grown((), (), content["lam"], content["outputs"], tuple(content["shape"]), content["ended"])
    chosen: list[Chosen] = []
    for saved in content["subnetworks"]:
        earlier = tuple(report for report in reports if report.round < saved["round"])
        chosen.append(_rebuilt(saved, settings, earlier, chosen, grown, meta, str(path)))
    return Grown(tuple(chosen), reports, grown.lam, grown.outputs, grown.shape, grown.ended), meta


def _rebuilt(
    saved: dict[str, Any],
    settings: Subnetworks,
    reports: tuple[Report, ...],
    chosen: list[Chosen],
    grown: Grown,
    meta: dict[str, Any],
    where: str,
) -> Chosen:
    """The module of the builder of that name, with the weights of the file."""
    name, t, number = saved["name"], saved["round"], saved["number"]
    builders = proposed(settings.builders, t, reports)
    fits = number < len(builders) and name_of(builders[number]) == name
    known = ", ".join(map(name_of, builders))
    check(fits, f"{where}: candidate {number} of round {t} is {name!r}, but the builders given here are: {known}.")
    builder = builders[number]
    m = round(meta["m"] * (1 - settings.validation))
    previous = tuple(one.module for one in chosen)
    context = Context(grown.shape, grown.outputs, previous, t, m, generator(meta["seed"], t, number))
    module = builder if is_given(builder) else build(builder, context)
    try:
        module.load_state_dict(saved["state"])
    except RuntimeError as error:
        raise ValueError(f"{where}: builder {name!r} makes another module than the file: {error}.") from None
    module.eval().requires_grad_(False)
    return Chosen(name, module, saved["weight"], saved["complexity"], saved["parameters"], t, number)
