"""The search for a network of least certificate: Adam on the smooth form, over atoms that come and go.

An atom (v, j, sign) carries the weight θ of coordinate j in node v, which is f, or f_c of one of C classes. Rounds add
or drop atoms and are kept only if F falls, since the priors make many atoms costly. No coordinate keeps weight on both
signs, so that the weights of the network give θ back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_theory.certificates.grids import BETAS
from adanet_train.certificate.forms import ClassVote, Form, Vote
from adanet_train.certificate.smooth import RateCost
from adanet_train.convex.labels import labels_of
from adanet_train.core.bar import inside
from adanet_train.core.descend import Adam

RATE, SETTING_RATE = 0.1, 0.025
"""Of Adam: for log θ, and for log N and t."""
SCREEN_STEPS, SPARSE_STEPS = 40, 120
FINALISTS = 3
LEAST_FALL = 2e-4
"""The share of F by which a round has to lower it."""
LEAST_RATE = 0.5
"""An atom that is expected fewer than this many times among the N counts is dropped."""
NEW_SHARE = 0.02
"""The weight of an atom that is added."""
FEW = 40_960
"""The largest N at first: with more counts the loss is steeper, and a search that starts there ends worse."""


@dataclass(frozen=True)
class VoteProblem:
    """Ψ and y in the precision of the search, on its device."""

    Psi: Tensor
    y: Tensor
    delta: float
    m: int | None = None
    """The size of the whole sample, of which these points may be a part."""
    most: float = FEW
    """The largest N that is searched."""

    @property
    def nodes(self) -> int:
        """1, or the number of classes; y then has one row for each class."""
        return 1 if self.y.ndim == 1 else len(self.y)

    def at(self, betas: Sequence[float]) -> Form:
        form = Vote if self.y.ndim == 1 else ClassVote
        return form(self.y, self.Psi.shape[1], self.nodes, betas, self.delta, self.m)


@dataclass(frozen=True)
class Voters:
    """A network as its atoms, and the N, t, β that go with it."""

    node: Tensor
    column: Tensor
    sign: Tensor
    theta: Tensor
    nodes: int
    N: float
    t: float
    beta: float
    value: float = math.inf
    """F by the smooth form; the certificate that is reported is computed exactly from the network."""

    def weights(self, n_0: int) -> Tensor:
        """q_v, one row per node, in float64; Σ ||q_v||_1 = 1."""
        q = torch.zeros(self.nodes, n_0, dtype=torch.float64, device=self.theta.device)
        q[self.node, self.column] = (self.sign * self.theta).double()
        return q / q.abs().sum()


@dataclass(frozen=True)
class ThetaRows:
    """Several θ on the same atoms, side by side: logits [rows, atoms], log N and t [rows, 1], F [rows]."""

    logits: Tensor
    log_N: Tensor
    t: Tensor
    values: Tensor
    betas: tuple[float, ...]

    @classmethod
    def of(cls, voters: Voters, thetas: Tensor) -> ThetaRows:
        one = thetas.new_ones(len(thetas), 1)
        return cls(thetas.log(), math.log(voters.N) * one, voters.t * one, one[:, 0], (voters.beta,) * len(thetas))

    def best(self, count: int) -> ThetaRows:
        order = self.values.argsort()[:count]
        betas = tuple(self.betas[i] for i in order.tolist())
        return ThetaRows(self.logits[order], self.log_N[order], self.t[order], self.values[order], betas)


class NodeMeans:
    """The z_v and p_v of rows of θ on the atoms given; reads only the columns of Ψ that an atom has."""

    def __init__(self, Psi: Tensor, voters: Voters) -> None:
        used, place = voters.column.unique(return_inverse=True)
        self.columns = Psi.T if len(used) == Psi.shape[1] else Psi[:, used].T.contiguous()
        self.nodes, self.width = voters.nodes, len(used)
        self.place, self.node, self.sign = voters.node * self.width + place, voters.node, voters.sign

    def __call__(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        rows = len(theta)
        q = theta.new_zeros(rows, self.nodes * self.width).index_add(1, self.place, theta * self.sign)
        mass = theta.new_zeros(rows, self.nodes).index_add(1, self.node, theta)
        # q Ψ^T and not Ψ q^T: the gradient of the former is a product that runs along the rows of Ψ
        return (q.view(rows * self.nodes, -1) @ self.columns).view(rows, self.nodes, -1), mass


def take_steps(problem: VoteProblem, voters: Voters, rows: ThetaRows, steps: int) -> ThetaRows:
    """Adam on F for every row; an atom at 0 stays there."""
    form, read = problem.at(rows.betas), NodeMeans(problem.Psi, voters)
    most = math.log(problem.most)
    start = (rows.logits, rows.log_N.clamp_max(most), rows.t)
    parameters = logits, log_N, t = tuple(part.clone().requires_grad_() for part in start)
    adams = [Adam(part) for part in parameters]
    for step in range(steps):
        log_theta = torch.log_softmax(logits, 1)
        values = form(*read(log_theta.exp()), log_theta, log_N.clamp_max(most), t)
        slopes = torch.autograd.grad(values.sum(), parameters)
        share = 0.525 + 0.475 * math.cos(math.pi * step / steps)  # down to a twentieth
        for adam, slope, rate in zip(adams, slopes, (RATE, SETTING_RATE, SETTING_RATE), strict=True):
            adam.step(slope, rate * share)
    return ThetaRows(logits.detach(), log_N.detach().clamp_max(most), t.detach(), values.detach(), rows.betas)


def settled(problem: VoteProblem, voters: Voters, rows: ThetaRows, row: int) -> Voters:
    """That row as a network, without atoms that are hardly ever drawn, at the best β."""
    N, t, value = (float(part[row]) for part in (rows.log_N.exp(), rows.t, rows.values))
    theta = rows.logits[row].softmax(0)
    kept = pruned(replace(voters, theta=theta, N=N, t=t, beta=rows.betas[row], value=value))
    return replace(kept, beta=best_beta(problem, kept))


def pruned(voters: Voters) -> Voters:
    """Cancel opposite signs of a coordinate, and drop atoms of too small a rate."""
    size = int(voters.column.max()) + 1
    place = voters.node * size + voters.column
    net = voters.theta.new_zeros(voters.nodes * size).index_add(0, place, voters.sign * voters.theta)
    kept = (net.abs() / net.abs().sum() * voters.N > LEAST_RATE).nonzero()[:, 0]
    node, column = kept // size, kept % size
    theta = net[kept].abs() / net[kept].abs().sum()
    return replace(voters, node=node, column=column, sign=net[kept].sign(), theta=theta)


def best_beta(problem: VoteProblem, voters: Voters) -> float:
    """The β of the grid with the least KL."""
    N = voters.theta.new_full((len(BETAS),), voters.N)
    atoms = RateCost(BETAS, voters.theta)((voters.theta * voters.N).log().expand(len(BETAS), -1)).sum(1)
    return BETAS[int((atoms + problem.at(BETAS).base_kl(N)).argmin())]


def l1_path(Psi: Tensor, y: Tensor, shares: Sequence[float], tol: float) -> list[Tensor]:
    """w of least logistic loss + Γ Σ|w|, a row for each of C classes, for Γ falling from where w = 0; 0 is left out.

    Γ are shares of the largest slope of the loss at w = 0; each w begins at the one before.
    """
    labels = labels_of(y, "logistic")
    nothing = Psi.new_zeros(len(y), *([] if labels.outputs is None else [labels.outputs]))
    most = float((Psi.T @ labels.slopes(y, nothing, 1 / len(y))).abs().max())
    path: list[Tensor] = []
    for share in shares:
        Gamma = torch.full_like(Psi[0], share * most)
        w = labels.minimise(Psi, y, nothing, Gamma, w=path[-1] if path else None, tol=tol).w
        if bool(w.any()):
            path.append(w)
    return path


# Rounds of atoms


def refined(
    problem: VoteProblem, voters: Voters, rounds: int, near: Callable[[VoteProblem, Voters], tuple[Voters, Tensor]]
) -> Voters:
    """Add or drop atoms in rounds while F falls; `near` proposes the changes."""
    for number in range(rounds):
        inside(number, rounds)
        grown = refit(problem, *near(problem, voters))
        if grown.value > voters.value * (1 - LEAST_FALL):
            break
        voters = grown
    return voters


def refit(problem: VoteProblem, voters: Voters, thetas: Tensor) -> Voters:
    """The best θ after Adam: a few steps for all that are given, then more for the most promising."""
    rows = ThetaRows.of(voters, thetas)
    if len(thetas) > FINALISTS:
        rows = take_steps(problem, voters, rows, SCREEN_STEPS).best(FINALISTS)
    rows = take_steps(problem, voters, rows, SPARSE_STEPS)
    return settled(problem, voters, rows, int(rows.values.argmin()))


Atoms = tuple[Tensor, Tensor, Tensor]
"""(node, column, sign)."""


def widened(
    voters: Voters, atoms: Atoms, added: Sequence[tuple[Sequence[int], float]], dropped: Sequence[Sequence[int]]
) -> tuple[Voters, Tensor]:
    """One row of θ for each change: some new atoms added at a weight, or some old ones dropped."""
    node, column, sign = atoms
    old, alone = len(voters.theta), torch.cat([voters.theta, torch.zeros_like(sign)])
    rows = []
    for places, weight in [*(([old + j for j in new], weight) for new, weight in added), *((o, 0.0) for o in dropped)]:
        row = alone.clone()
        row[list(places)] = weight
        rows.append(row)
    thetas = torch.stack(rows)
    parts = [torch.cat(pair) for pair in ((voters.node, node), (voters.column, column), (voters.sign, sign))]
    wider = replace(voters, node=parts[0], column=parts[1], sign=parts[2])
    return wider, thetas / thetas.sum(1, keepdim=True)


def slopes(problem: VoteProblem, voters: Voters) -> Tensor:
    """The gradient of E_Q of the losses by every z_v(x_i), [nodes, m]."""
    form = problem.at((voters.beta,))
    with torch.no_grad():
        means, mass = NodeMeans(problem.Psi, voters)(voters.theta[None])
    means.requires_grad_()
    N, t = mass.new_tensor([[voters.N]]), mass.new_tensor([[voters.t]])
    (slope,) = torch.autograd.grad(form.losses(means, mass, N, t)[0].sum(), means)
    return slope[0]


def steepest(problem: VoteProblem, voters: Voters, count: int) -> Atoms:
    """The atoms to add, steepest first."""
    along = slopes(problem, voters) @ problem.Psi
    along[voters.node, voters.column] = 0
    flat = along.flatten()
    new = flat.abs().topk(min(count, len(flat))).indices
    return new // along.shape[1], new % along.shape[1], -flat[new].sign()
