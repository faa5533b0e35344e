"""The figures by name: their data, computed once and kept, and their files."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adanet_theory import catalogue
from adanet_train.core.files import write_file
from figures import latex, results
from figures.canvas import Data, save, settle
from figures.parameters import FLAGS
from verify.show.plots import COLUMN

FIGURES = {
    "answer": "figures.answer",
    "architecture": "figures.architecture",
    "construction": "figures.construction",
    "cvx-network": "figures.cvx_network",
    "training-rounds": "figures.training_rounds",
    "bounds-against": "figures.bounds_against",
    "complexities": "figures.complexities",
    "vacuity-map": "figures.vacuity_map",
    "sigmoid-counterexample": "figures.sigmoid_counterexample",
    "closed-form-step": "figures.closed_form_step",
    "failure-frequency": "figures.failure_frequency",
    "paper-tables": "figures.paper_tables",
    "tightness": "figures.tightness",
    "training-time": "figures.training_time",
    "certificates": "figures.bound_and_test_error",
    "frontier": "figures.frontier",
    "structure": "figures.structure",
    "description-stages": "figures.description_stages",
    "description-length": "figures.description_length",
}
OF_A_MODEL = {
    "model-terms": "figures.model_terms",
    "model-margins": "figures.model_margins",
    "model-network": "figures.architecture",
    "model-construction": "figures.construction",
    "model-rounds": "figures.training_rounds",
}
OF_A_SAMPLE = ("model-terms", "model-margins")  # pictures of the training and of the network need no points
_SHARED = (
    "bound_and_test_error", "description_stages", "ensemble", "family", "graph", "model", "parameters",
    "results", "runs",
)  # fmt: skip
"""Modules that the scripts compute with."""


def module(name: str) -> Any:
    """The script of that figure."""
    return importlib.import_module({**FIGURES, **OF_A_MODEL}[name])


def shows(name: str) -> str:
    """The first line of the figure's script, which says what it shows."""
    line = (module(name).__doc__ or "").strip().splitlines()[0].rstrip(".")
    return f"{line} (of the network of --model)" if name in OF_A_MODEL else line


def takes(name: str) -> dict[str, str]:
    """The parameters of the figure, one number or a span each; a figure of a given network takes none."""
    if name in OF_A_MODEL and name not in OF_A_SAMPLE:
        return {}
    return dict(getattr(module(name), "PARAMETERS", {}))


def reads(name: str) -> str | None:
    """The kind of file that --data names for the figure; None if it reads none."""
    if name in OF_A_MODEL:
        return "points" if name in OF_A_SAMPLE else None
    return getattr(module(name), "DATA", None)


def options_of(name: str) -> str:
    """The options of the figure, for --list."""
    own = [f"{FLAGS[parameter]} {kind}" for parameter, kind in takes(name).items()]
    of_data = {
        "points": ["--data FILE (its points)"],
        "sample": ["--data FILE or NAME (its points)", "--label COLUMN"],
        "results": ["--data DIR (its results)"],
        None: [],
    }
    return ", ".join([*own, *of_data[reads(name)], "--column"])


def data(
    name: str,
    *,
    cache: Path,
    quick: bool,
    model: Path | None = None,
    sample: Path | None = None,
    label: str | None = None,
    parameters: Mapping[str, tuple[float, float]] | None = None,
) -> Data:
    """compute(..) of that figure, or its cached result if neither code nor model has changed since.

    The data are numbers, texts, lists and dicts; JSON keeps every float to the last bit.
    """
    options: dict[str, Any] = {"quick": quick, **(parameters or {})}
    if name in OF_A_MODEL:
        options["model"] = model
    if reads(name) and sample is not None:
        options["data"] = sample
    if label is not None:
        options["label"] = label
    asked = json.dumps(parameters or {}, sort_keys=True)
    asked += f" {sample.resolve()}" if sample is not None and reads(name) else ""
    asked += "" if label is None else f" {label}"
    chosen = f".{hashlib.sha256(asked.encode()).hexdigest()[:8]}" if asked != "{}" else ""
    kept = cache / f"{name}{chosen}{'.quick' if quick else ''}.json"
    key = _key(name, [model if name in OF_A_MODEL else None, sample if reads(name) else None], asked)
    fixed = not catalogue.registered()  # no key covers what a user's function computes
    if fixed and kept.exists():
        try:
            kept_data = json.loads(kept.read_text(encoding="utf-8"))
        except ValueError:  # cut short by an interrupted run
            kept_data = {}
        if kept_data.get("key") == key:
            return dict(kept_data["data"])
    computed = module(name).compute(**options)
    if fixed:
        write_file(kept, json.dumps({"key": key, "data": computed}))
    return dict(json.loads(json.dumps(computed)))  # as a later call will find it


def write(name: str, data: Data, *, out: Path, formats: Sequence[str]) -> list[Path]:
    """Draw the data and write the picture in each format, and its caption."""
    script = module(name)
    out.mkdir(parents=True, exist_ok=True)
    figure = settle(script.draw(data))
    paths = [out / f"{name}.{kind}" for kind in formats]
    for path in paths:
        save(figure, path)
    text, tex = out / f"{name}.txt", out / f"{name}.tex"
    write_file(text, script.caption(data) + "\n")
    write_file(tex, latex.figure(name, script.caption(data), wide=figure.get_figwidth() > COLUMN))
    return [*paths, text, tex]


def _key(name: str, given: Sequence[Path | None], parameters: str) -> str:
    """A digest of the code, results and model behind the data, without the drawing code of other figures."""
    root = Path(__file__).parents[1]
    packages = ("adanet_theory", "adanet_train", "verify")
    sources = sorted(path for package in packages for path in (root / package).rglob("*.py"))
    shared = [root / "figures" / f"{part}.py" for part in _SHARED] + [Path(str(module(name).__file__))]
    measured = [results.path(part) for part in getattr(module(name), "RESULTS", ())]
    digest = hashlib.sha256(parameters.encode())
    files = [file for path in given if path for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    for path in [*sources, *shared, *measured, *files]:
        digest.update(hashlib.sha256(path.read_bytes() if path.exists() else b"").digest())
    return digest.hexdigest()
