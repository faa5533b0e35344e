"""What every trainer begins with and returns: a checked sample with the config of the run, and what was trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train.core.config import Config
from adanet_train.core.history import Round
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.core.world import ALONE, World


@dataclass(frozen=True)
class Trained:
    """A network, the family declared before training, the rounds, and the config.

    A candidate's Gamma holds Γ_k of its units by layer, so that F can be computed again from network and history.
    """

    network: Network
    declared: NetworkSpec | None
    history: list[Round]
    config: Config
    picked: Mapping[str, Any] | None = None
    """The record of a run of picking, as the file holds it."""


Callback = Callable[[Trained], None]


def begin(
    method: str,
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    resume: Trained | None = None,
    world: World = ALONE,
    rows: Callable[[int], int] | None = None,
) -> tuple[Points, Tensor, Config]:
    """The sample and the resolved config of a run; every trainer begins here, once.

    Parameters
    ----------
    method : as `Config.resolve` takes it.
    Psi, y : the sample.
    config : as it was asked for.
    resume : the run to take up, whose config must be this one.
    world : the processes that train together.
    rows : how many of m points training begins with. None: all.
    """
    points, y = check_sample(Psi, y, config.run.device, world)
    m = len(points) if rows is None else rows(len(points))
    config = config.resolve(method, y, m)
    check_world(world, config, len(points))
    if resume is not None:
        config = taken_up(replace(resume, config=resume.config.resolve(method, y, m)), config)
    return points, y, config


def check_sample(
    Psi: Tensor | Points, y: Tensor, device: str | torch.device = "cpu", world: World = ALONE
) -> tuple[Points, Tensor]:
    """Psi, and y as floats -1/+1 or class indices, on the device."""
    y = torch.as_tensor(y)
    if not isinstance(Psi, Points):
        Psi = torch.as_tensor(Psi)
        check(Psi.ndim == 2, f"Psi must be a matrix, got shape {tuple(Psi.shape)}.")
    points = Points.of(Psi, device, world)
    check(points.n_0 >= 1, "Psi must have at least one feature, got n_0=0.")
    check(y.shape == (len(points),), f"y must hold one label per row of Psi ({len(Psi)}), got {tuple(y.shape)}.")
    check(len(points) >= 2, f"m must be >= 2 to train, got m={len(Psi)}.")
    points.check_finite()
    if not y.is_floating_point() and not bool((y == -1).any()):
        return points, _class_indices(y).to(device)
    check(bool(((y == 1) | (y == -1)).all()), "y must be -1 or +1.")
    check(bool((y == 1).any() and (y == -1).any()), "y must hold both classes, got one.")
    return points, y.to(device, torch.float64).contiguous()


def _class_indices(y: Tensor) -> Tensor:
    """y as int64: every class 0..C-1 must occur."""
    classes = y.unique().tolist()
    C = len(classes)
    check(C >= 2, f"y must hold at least two classes, got {C}.")
    check(classes == list(range(C)), f"y must hold every class 0..{C - 1}, got {classes[:6]}.")
    return y.to(torch.int64)


def check_class_config(config: Config) -> None:
    """Refuse settings that C classes do not have."""
    Phi, variant, objective = config.goal.surrogate, config.search.variant, config.goal.objective
    check(Phi == "logistic", f"C classes have the multinomial loss, got surrogate={Phi!r}.")
    check(variant in ("base", "SD"), f"variant must be base or SD for more than two classes, got variant={variant!r}.")
    known = not config.goal.is_certificate
    check(known, f"objective must be paper, bound or certificate here, got {objective!r}.")


def check_world(world: World, config: Config, m: int) -> None:
    """Refuse settings that several processes cannot train with."""
    if world.size == 1:
        return
    check(m >= 10 * world.size, f"m must be at least 10 for each of {world.size} processes, got m={m}.")
    known = config.search.learner == "committee"
    check(known, f"several processes train the learner committee only, got learner={config.search.learner!r}.")
    by_layer = config.search.variant == "base" and config.goal.complexity in ("lemma-2", "lemma-2-peeled", "sqrt-depth")
    check(by_layer, "several processes need a complexity of the layers: lemma-2, lemma-2-peeled or sqrt-depth.")


# A run that is taken up


def taken_up(resume: Trained, config: Config) -> Config:
    """The config with which a run goes on: its family is the one that was declared, and need not be named again."""
    if config.family.max_rounds is None:
        config = config.replace(max_rounds=resume.config.family.max_rounds)
    check_resume(resume, config)
    return config


def check_resume(resume: Trained, config: Config) -> None:
    """A run can only be taken up as it was begun: its family was fixed before the first round."""
    before, now = resume.config.as_dict(), config.as_dict()
    declared = before["max_rounds"] is not None and before["max_rounds"] == now["max_rounds"]
    free = ("jobs", "device", "rounds") if declared else ("jobs", "device")
    changed = [name for name in now if before[name] != now[name] and name not in free]
    if is_extended(resume, config) and changed == ["rounds"]:
        T, objective = config.family.rounds, config.goal.objective
        needs = f"objective {objective} with rounds={T} needs a family declared for them: begin with max_rounds >= {T}"
        check(objective == "paper", f"{needs}; this run declared rounds={before['rounds']}.")
        return
    said = ", ".join(f"{name} (was {before[name]!r}, got {now[name]!r})" for name in changed)
    check(not changed, f"resume needs the config of the run it takes up; changed: {said}.")


def is_extended(resume: Trained | None, config: Config) -> bool:
    """Whether rounds are added for which no family was declared, now or before: then none was fixed in advance."""
    if resume is None or not config.family.enforce:
        return False
    more = config.family.max_rounds is None and config.family.rounds > resume.config.family.rounds
    return resume.declared is None or more
