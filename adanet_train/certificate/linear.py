"""The linear network of least certificate, with one output or one for each class: starts, then rounds of atoms.

Starts with few atoms lie on the l1 path of the logistic loss. One output also has starts with weight on all atoms, from
descent on the certificate itself. They are better on data with few errors; with many errors the KL drives θ to the
constant feature too early. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch
from torch import Tensor

from adanet_theory.certificates.grids import CLASS_VOTES, VOTES
from adanet_train.certificate.search import (
    NEW_SHARE,
    NodeMeans,
    ThetaRows,
    VoteProblem,
    Voters,
    best_beta,
    l1_path,
    refined,
    refit,
    settled,
    steepest,
    take_steps,
    widened,
)
from adanet_train.core.bar import inside, stage

BETA = 0.003
LEAN = 3.0
"""How far θ of a dense start leans at first to the voters that agree with the labels."""
NEIGHBOURS = 8
"""How many voters a round tries to add, and to drop, one by one."""
ADDED, DROPPED = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16)
"""How many atoms a round tries to add or to drop at once."""
REFINED, WORTH = 2, 1.25
"""Starts of each kind that are refined, if F is below WORTH times the least: one that is far behind never wins."""
PART_ROUNDS, WHOLE_STEPS = 3, 30
"""A search on a part of the sample refines one start by so many rounds, and takes steps on all points at the end."""


def one_by_one(problem: VoteProblem, voters: Voters) -> tuple[Voters, Tensor]:
    """θ with one or more of the voters along which the empirical part falls most, or without one of the lightest."""
    atoms = steepest(problem, voters, NEIGHBOURS)
    new, old = len(atoms[0]), len(voters.theta)
    added = [*([j] for j in range(new)), range(new // 2), range(new)]
    lightest = voters.theta.argsort()[: min(NEIGHBOURS, old - 1)].tolist()
    return widened(voters, atoms, [(places, NEW_SHARE) for places in added], [[j] for j in lightest])


def by_the_dozen(problem: VoteProblem, voters: Voters) -> tuple[Voters, Tensor]:
    """θ as it is, with the atoms along which the empirical part falls most, or without the lightest."""
    atoms, lightest = steepest(problem, voters, ADDED[-1]), voters.theta.argsort().tolist()
    new, most = len(atoms[0]), len(lightest) // 4
    added = [(range(0), 0.0), *((range(min(count, new)), NEW_SHARE / count**0.5) for count in ADDED)]
    return widened(voters, atoms, added, [lightest[: min(count, most)] for count in DROPPED])


@dataclass(frozen=True)
class VotePlan:
    """What a search tries, and how long."""

    shares: tuple[float, ...]
    """Γ on the path, as shares of the Γ from which on w = 0."""
    gap: float
    """Gap at which a point of the path is close enough to the minimum to start from."""
    settings: tuple[tuple[float, float], ...]
    """The (N, t) from which a start on the path takes the best."""
    most: float
    """The largest N of the certificate's grid."""
    near: Callable[[VoteProblem, Voters], tuple[Voters, Tensor]]
    """The θ that a round tries."""
    rounds: int
    dense: tuple[float, ...] = ()
    """N of the starts with weight on all voters."""
    dense_steps: int = 350
    points: int | None = None
    """The search uses about this many points, evenly spread over a larger sample."""


ONE_OUTPUT = VotePlan(
    shares=(0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03),
    gap=1e-4,
    settings=tuple(product((500.0, 1e3, 2e3, 4e3, 8e3, 16e3, 40e3), (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0))),
    most=VOTES[-1],
    near=one_by_one,
    rounds=40,
    dense=(5_000.0, 20_000.0),
)
CLASSES = VotePlan(
    shares=(*ONE_OUTPUT.shares, 0.02),
    gap=1e-3,
    settings=((20_000.0, 1.5),),
    most=CLASS_VOTES[-1],
    near=by_the_dozen,
    rounds=16,
    points=8_000,
)


def minimise(problem: VoteProblem) -> Voters:
    """f = Σ v_j Ψ_j, or f_c = q_c · Ψ with Σ ||q_c||_1 = 1."""
    plan = ONE_OUTPUT if problem.nodes == 1 else CLASSES
    few = part(problem, plan)
    count, rounds = (REFINED, plan.rounds) if few is problem else (1, PART_ROUNDS)
    starts = [*_first(on_path(few, plan), count), *_first(dense(few, plan), count)]
    least = min(map(_value, starts))
    near = [one for one in starts if one.value < WORTH * least]
    ends: list[Voters] = []
    for number, one in enumerate(near, start=1):
        stage(f"weights are added and dropped, start {number} of {len(near)}", anew=False)
        ends.append(refined(few, one, rounds, plan.near))
    best = min(ends, key=_value)
    if few is not problem:
        return settled(problem, best, take_steps(problem, best, ThetaRows.of(best, best.theta[None]), WHOLE_STEPS), 0)
    return min(best, *sharpened(problem, best, plan), key=_value) if plan.most > problem.most else best


def part(problem: VoteProblem, plan: VotePlan) -> VoteProblem:
    """The points used by the search: all, or every n-th of a large sample."""
    m = problem.y.shape[-1]
    step = 1 if plan.points is None else m // plan.points + 1
    if step == 1:
        return problem
    return replace(problem, Psi=problem.Psi[::step].contiguous(), y=problem.y[..., ::step].contiguous(), m=m)


def sharpened(problem: VoteProblem, voters: Voters, plan: VotePlan) -> tuple[Voters, Voters]:
    """Voters from a search with small N, refitted where N may be larger, and the same after more rounds there."""
    stage("more draws", anew=False)
    every = replace(problem, most=plan.most)
    begun = refit(every, voters, voters.theta[None])
    return begun, refined(every, begun, plan.rounds, plan.near)


def _value(voters: Voters) -> float:
    return voters.value


def _first(starts: list[Voters], count: int) -> list[Voters]:
    return sorted(starts, key=_value)[:count]


def on_path(problem: VoteProblem, plan: VotePlan) -> list[Voters]:
    stage("starts on the l1 path", anew=False)
    starts, fitted = [start(problem, w, plan) for w in weights(problem, plan)], list[Voters]()
    for voters in starts:
        inside(len(fitted), len(starts))
        fitted.append(refit(problem, voters, voters.theta[None]))
    return fitted


def weights(problem: VoteProblem, plan: VotePlan) -> list[Tensor]:
    """Weights along the l1 path; for one output first the single voter that agrees most with the labels."""
    Psi = problem.Psi.double()
    if problem.nodes > 1:
        return [w.to(problem.Psi) for w in l1_path(Psi, problem.y.argmax(0), plan.shares, plan.gap)]
    y = problem.y.double()
    agreement = y @ Psi / len(y)
    alone = torch.zeros_like(agreement)
    largest = agreement.abs().argmax()
    alone[largest] = torch.where(agreement[largest] < 0, -1.0, 1.0)
    return [alone, *l1_path(Psi, y, plan.shares, plan.gap)]


def start(problem: VoteProblem, w: Tensor, plan: VotePlan) -> Voters:
    """θ = |w|/Σ|w| at the best setting of the plan."""
    q = w.reshape(problem.nodes, -1)
    node, column = q.nonzero(as_tuple=True)
    w = q[node, column]
    theta, (N, t) = (w.abs() / w.abs().sum()).to(problem.Psi), plan.settings[0]
    voters = Voters(node, column, w.sign().to(theta), theta, problem.nodes, N, t, BETA)
    return voters if len(plan.settings) == 1 else at_best(problem, voters, plan.settings)


def at_best(problem: VoteProblem, voters: Voters, settings: Sequence[tuple[float, float]]) -> Voters:
    """The voters at the N and t of least F, and then at the best β."""
    theta, rows = voters.theta[None], len(settings)
    log_N, t = theta.new_tensor([N for N, _ in settings]).log(), theta.new_tensor([t for _, t in settings])
    means, mass = NodeMeans(problem.Psi, voters)(theta)
    means, mass, log_theta = (part.expand(rows, *part.shape[1:]) for part in (means, mass, theta.log()))
    values = problem.at((voters.beta,) * rows)(means, mass, log_theta, log_N[:, None], t[:, None])
    best = int(values.argmin())
    voters = replace(voters, N=float(log_N[best].exp()), t=float(t[best]), value=float(values[best]))
    return replace(voters, beta=best_beta(problem, voters))


def dense(problem: VoteProblem, plan: VotePlan) -> list[Voters]:
    """Starts of one output with weight on every voter."""
    if not plan.dense:
        return []
    Psi, count = problem.Psi, len(plan.dense)
    every = torch.arange(Psi.shape[1], device=Psi.device)
    sign = torch.cat([torch.ones_like(Psi[0]), -torch.ones_like(Psi[0])])
    lean = LEAN * (problem.y @ Psi) / len(Psi)
    theta = torch.softmax(sign * torch.cat([lean, lean]), 0)
    voters = Voters(torch.zeros_like(every).repeat(2), every.repeat(2), sign, theta, 1, plan.dense[0], 1.0, BETA)
    log_N = Psi.new_tensor(plan.dense)[:, None].log()
    rows = ThetaRows(theta.log().repeat(count, 1), log_N, torch.ones_like(log_N), log_N[:, 0], (BETA,) * count)
    rows = take_steps(problem, voters, rows, plan.dense_steps)
    starts = [settled(problem, voters, rows, row) for row in range(count)]
    return [refit(problem, one, one.theta[None]) for one in starts]
