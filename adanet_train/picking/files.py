"""A picked network and its model.pt: what the file holds, and the learner that its recipe names."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import Progress, check
from adanet_theory.rounding import TINY
from adanet_train.core.training import Trained
from adanet_train.methods.trainers import METHODS
from adanet_train.model.model_file import ModelFile, Sample
from adanet_train.model.trained import model_of, trained_of
from adanet_train.picking.core import Labelled, Picked
from adanet_train.picking.networks import AdaNet, Mapped, Refit, Scaled, mapped, tensors
from adanet_train.picking.record import Checked, Record, checked

if TYPE_CHECKING:
    from adanet_train.model.classifier import NetworkClassifier


def settings(learner: AdaNet | Refit) -> dict[str, Any]:
    """The learner in a recipe: its method and settings; its config stands in meta."""
    method = {"method": "adanet"} if isinstance(learner, AdaNet) else {}
    return method | {one.name: getattr(learner, one.name) for one in fields(learner) if one.name != "config"}


def learner_of(model: ModelFile, record: Record) -> AdaNet | Refit:
    """The learner of a file's recipe."""
    given, config = dict(record.learner), trained_of(model).config
    method = given.get("method")
    check(method in METHODS, f"picked recipe learner must name a method of {', '.join(METHODS)}, got {method!r}.")
    kind: Any = AdaNet if method == "adanet" else Refit
    if method == "adanet":
        del given["method"]
    known = {one.name for one in fields(kind)} - {"config"}
    check(set(given) == known, f"picked recipe learner must hold {', '.join(sorted(known))}.")
    plain = all(type(value) in (int, float) and value > 0 for name, value in given.items() if name != "method")
    check(plain, "picked recipe learner must hold positive numbers.")
    learner: AdaNet | Refit = kind(config=config, **given)
    return learner


def classifier(picked: Picked, points: Labelled, learner: Scaled) -> NetworkClassifier:
    """The fitted network as a scikit-learn classifier on X, with the content of its model.pt."""
    from adanet_train.model.classifier import NetworkClassifier

    predictor: Mapped = picked.predictor
    Psi, y = tensors(mapped(predictor.features, points))
    sample = Sample.of(Psi, y, predictor.trained.network.outputs)
    method = settings(learner.learner)["method"]
    notes = {"classes": points.classes.tolist()}
    model = model_of(predictor.trained, method, features=predictor.features, sample=sample, notes=notes)
    fitted = NetworkClassifier()
    fitted.model_ = replace(model, picked=Record.of(picked, settings(learner.learner)).as_dict())
    fitted.classes_, fitted.n_features_in_ = points.classes, points.X.shape[1]
    return fitted


def check_file(model: ModelFile, Psi: Any, y: Any, *, replay: bool = True, progress: Progress | None = None) -> Checked:
    """A picked model file on its sample: wrong rows counted again, and the recipe run again.

    Parameters
    ----------
    model : with a record.
    Psi, y : its sample; y is -1/+1 or class indices.
    replay : whether to run the recipe.
    progress : called with the picks made so far, and how many there will be.

    Returns
    -------
    Checked
    """
    record = Record.from_dict(model.picked, len(y))
    trained = Trained(model.network, model.declared, list(model.meta["history"]), trained_of(model).config)
    points = Labelled.coded(np.asarray(Psi, dtype=np.float64), y, model.network.outputs)
    learner = learner_of(model, record)
    return checked(record, learner, trained, points, apart=_apart, replay=replay, progress=progress)


def _apart(a: Trained, b: Trained) -> float:
    """The largest distance between tensors of two networks, as a share of their norm; inf between other structures."""
    f, g = a.network, b.network
    if (f.n, f.activations, f.outputs) != (g.n, g.activations, g.outputs):
        return math.inf
    pairs = [(f.hidden.get(key), g.hidden.get(key)) for key in {*f.hidden, *g.hidden}]
    pairs += [(f.output.get(k), g.output.get(k)) for k in {*f.output, *g.output}]
    return max(map(share, pairs), default=0.0)


def share(pair: tuple[Tensor | None, Tensor | None]) -> float:
    """How far two tensors are apart, relative to the second; a missing one is 0."""
    U, V = (torch.zeros(()) if part is None else part.double() for part in pair)
    return 0.0 if torch.equal(*torch.broadcast_tensors(U, V)) else float((U - V).norm() / V.norm().clamp_min(TINY))
