"""Small random models for the tests of verify: networks inside their declared family, with their own labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from adanet_theory.norms import norms
from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Network
from adanet_train.data.features import FeatureMap
from adanet_train.model.model_file import ModelFile, Sample
from verify.records.question import Question
from verify.records.results import BoundReport, BoundRow
from verify.rows import report


def model(
    n=(3, 4, 2),
    activation="relu",
    p=2.0,
    m=60,
    Lambda=1.0,
    skip=False,
    rho=0.2,
    seed=0,
    declared=True,
    more=(),
    r_sup=1.0,
    fitted=False,
    fill=0.999,
    flips=0.1,
    top_only=False,
) -> ModelFile:
    """`more` are declared layers above those of the network; every unit has norm fill * Lambda."""
    draw = np.random.default_rng(seed)
    depth, widths = len(n) - 1, (*n, *more)
    pairs = [(k, s) for k in range(1, depth + 1) for s in range(k) if s == k - 1 or (skip and s >= 1)]
    hidden = {}
    for k, s in pairs:
        U = draw.normal(size=(n[k], n[s]))
        hidden[k, s] = U * (fill * Lambda / norms(U, p))[:, None]
    output = {k: draw.normal(size=n[k]) for k in range(1, depth + 1) if k == depth or not top_only}
    network = Network(
        tuple(n),
        {pair: torch.from_numpy(U) for pair, U in hidden.items()},
        {k: torch.from_numpy(w) for k, w in output.items()},
        (activation,) * (depth - 1),
    )
    Psi = draw.uniform(-1, 1, size=(m, n[0]))
    y = np.where(network(torch.from_numpy(Psi)).numpy() > 0, 1.0, -1.0)
    y[draw.uniform(size=m) < flips] *= -1
    family = {(k, s): Lambda for k in range(1, len(widths)) for s in range(k) if s == k - 1 or (skip and s >= 1)}
    names = [f"x{j}" for j in range(n[0])]
    features = FeatureMap(
        tuple(names), np.full(n[0], 0.0), np.full(n[0], 1.0), False, False, fitted_on_sample=fitted, r_sup=r_sup
    )
    return ModelFile(
        network,
        declared=NetworkSpec(widths, family, p, activation) if declared else None,
        declared_rho=rho if declared else None,
        features=features,
        sample=Sample.of(Psi, y),
        sha256="0" * 64,
    )


def class_model(C=3, seed=0, m=60, skip=False, declared=True, n=(3, 4, 2), flips=0.1, **options) -> ModelFile:
    """C classes on the units of `model`: each w_k with a row for each class, labels by the largest output."""
    base = model(n=n, seed=seed, m=m, skip=skip, declared=declared, **options)
    draw = np.random.default_rng(seed + 1000)
    output = {k: torch.from_numpy(draw.normal(size=(C, base.network.n[k]))) for k in base.network.output}
    network = Network(base.network.n, base.network.hidden, output, base.network.activations, C)
    Psi = base.sample.Psi
    y = network(Psi).argmax(dim=1).numpy()
    y = np.where(draw.uniform(size=m) < flips, draw.integers(0, C, m), y)
    names = [chr(ord("a") + c) if C <= 26 else f"{c:04d}" for c in range(C)]
    return replace(base, network=network, sample=Sample.of(Psi, y, C), meta={"classes": names})


def built(file: ModelFile, test=None, **options) -> BoundReport:
    """The report on a file, without estimates of R_S unless they are asked for."""
    return report.build(file, Question(**{"draws": None} | options), test=test)


def row(report: BoundReport, id: str) -> BoundRow:
    """The one row of that statement."""
    (only,) = [row for row in report.bounds if row.id == id]
    return only
