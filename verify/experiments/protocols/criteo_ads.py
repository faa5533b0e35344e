"""Table 4 of the paper: AdaNet and NN with embeddings on Criteo's click data, in time order.

NN and LR learn their embeddings with the network. AdaNet reads those of a network trained before it on the same rows:
the theory's Ψ is fixed, see adanet_train.data.clicks.embeddings. The validation part chooses the setting, the test part
is used once. Only accuracies and sizes are kept: no row of the data, no network.
"""

from __future__ import annotations

import functools
import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from verify.experiments.running.grids import Setting
from verify.experiments.running.runner import Runner
from verify.experiments.running.selection import Choice, Scores, best, scores
from verify.experiments.running.trials import DataSource, Trial

if TYPE_CHECKING:
    from torch import Tensor

    from adanet_train.core.network import Network
    from adanet_train.data.clicks.criteo import Criteo, CriteoPart
    from adanet_train.data.clicks.embeddings import Embedding
    from adanet_train.model.model_file import ModelFile

METHODS = ("adanet", "nn", "lr")
LARGE = 1 << 28
"""Bytes of a file from which on its rows are encoded on the disk."""
IN_MEMORY = 1 << 26
"""Numbers in Ψ up to which it is computed once and kept."""


@dataclass(frozen=True)
class ClickRow:
    """A row of the table: what a method's best setting does on the test part."""

    method: str
    scores: Scores
    standard_error: float
    log_loss: float
    m_test: int

    @classmethod
    def of(cls, method: str, choice: Choice) -> ClickRow:
        (result,), validated = choice.results, scores(choice)
        standard_error = math.sqrt(validated.accuracy * (1 - validated.accuracy) / result["m_test"])
        return cls(method, validated, standard_error, result["log_loss"], result["m_test"])

    @property
    def plain(self) -> dict[str, Any]:
        """The row as the file of results has it."""
        last = {"standard_error": self.standard_error, "log_loss": self.log_loss, "m_test": self.m_test}
        return {"method": self.method, **vars(self.scores), **last}


def criteo(
    runner: Runner, settings: Mapping[str, Sequence[Setting]], *, seed: int, report: Callable[[list[ClickRow]], None]
) -> list[ClickRow]:
    """One row for each method."""
    rows: list[ClickRow] = []
    for method, tried in settings.items():
        results = runner.run([trial_of(runner.source, method, setting, seed) for setting in tried])
        rows.append(ClickRow.of(method, best(tried, [[result] for result in results])))
        report(rows)
    return rows


def trial_of(source: DataSource, method: str, setting: Setting, seed: int) -> Trial:
    """The file is identified by name and size, because it may have 45 million rows."""
    path = source.criteo
    check(path is not None and Path(path).is_file(), f"criteo needs --criteo FILE, train.txt or a sample, got {path}.")
    file = Path(path or "")
    return Trial(f"criteo:{file.name}:{file.stat().st_size}", method, 0, setting, seed, kind="criteo")


def work(trial: Trial, source: DataSource) -> dict[str, Any]:
    """One trial."""
    import torch

    torch.set_num_threads(1)
    data = _read(str(source.criteo))
    start = time.process_time()
    network, _, rounds, embedding = _trained(trial, data)
    seconds = time.process_time() - start
    outputs = {name: _outputs(network, embedding, getattr(data, name)) for name in ("train", "validation", "test")}
    labels = {name: torch.from_numpy(getattr(data, name).y) for name in outputs}
    margins = {name: labels[name] * outputs[name] for name in outputs}
    return {
        **{name: float((margin > 0).double().mean()) for name, margin in margins.items()},
        "log_loss": float(log_loss(margins["test"], shifted=trial.method == "adanet").mean()),
        "m_test": len(labels["test"]),
        "n": list(network.n),
        "rounds": rounds,
        "seconds": round(seconds, 3),
    }


def log_loss(margins: Tensor, *, shifted: bool) -> Tensor:
    """-log P(y | x): P = σ(y f) of a network trained on softplus(-y f).

    For AdaNet, trained on softplus(1 - y f), P = σ(1 + y f)/(σ(1 + y f) + σ(1 - y f)): f minimises the mean loss at it.
    """
    import torch

    softplus = torch.nn.functional.softplus
    if not shifted:
        return softplus(-margins)
    # -log P = log(1 + σ(1 - y f)/σ(1 + y f))
    return softplus(softplus(-1 - margins) - softplus(margins - 1))


def model_of(trial: Trial, source: DataSource) -> tuple[ModelFile, tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The trial's network as a model.pt without its sample, the training part and the test part, as (Psi, y)."""
    import torch

    from adanet_train.core.files import versions
    from adanet_train.model.model_file import ModelFile

    torch.set_num_threads(1)
    data = _read(str(source.criteo))
    network, declared, _, embedding = _trained(trial, data)
    meta = {"method": trial.method, "seed": trial.seed, "versions": versions()}
    rho = trial.config.family.rho if declared is not None else None
    model = ModelFile(network, declared, rho, embedding.feature_map(), None, meta)
    parts = (data.train, data.test)
    train, test = ((embedding.points(part).whole(), torch.from_numpy(part.y)) for part in parts)
    return model, train, test


@functools.lru_cache(maxsize=1)
def _read(path: str) -> Criteo:
    from adanet_train.data.clicks.criteo import read

    if Path(path).stat().st_size < LARGE:
        return read(path)
    # the arrays stay open, and the disk has their place again when the process ends
    with tempfile.TemporaryDirectory() as folder:
        return read(path, folder=folder)


def _trained(trial: Trial, data: Criteo) -> tuple[Network, NetworkSpec | None, int, Embedding]:
    """The network, the family it was declared in, the rounds, and the embedding whose Ψ it reads."""
    import torch

    from adanet_train.data.clicks.embeddings import embed
    from adanet_train.methods.adanet import train

    if trial.method != "adanet":
        draw = torch.Generator().manual_seed(trial.seed)
        embedding, network = embed(data.train, data.d, draw, **trial.setting)
        return network, None, 1, embedding
    embedding = _embedding(data, trial.seed)
    points = embedding.points(data.train)
    small = points.here * points.n_0 <= IN_MEMORY
    trained = train(points.whole() if small else points, torch.from_numpy(data.train.y), trial.config)
    return trained.network, trained.declared, len(trained.history), embedding


@functools.lru_cache(maxsize=1)
def _embedding(data: Criteo, seed: int) -> Embedding:
    import torch

    from adanet_train.data.clicks.embeddings import embed

    return embed(data.train, data.d, torch.Generator().manual_seed(seed))[0]


def _outputs(network: Network, embedding: Embedding, part: CriteoPart) -> Tensor:
    """f on the rows, in blocks."""
    return embedding.points(part).computed(lambda _, Psi: network(Psi), max(network.n))
