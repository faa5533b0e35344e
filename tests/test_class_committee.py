"""The committee of C classes: its loss and gradient, the step on one direction, what held-out points choose."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from adanet_train.adanet import train
from adanet_train.config import Config
from adanet_train.convex import mixture
from adanet_train.convex.class_loss import LineLoss
from adanet_train.core import objective
from adanet_train.core.labels import Classes, Signs
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate
from adanet_train.search import committee
from adanet_train.search.committee import CommitteeDescent, Member, MemberSearch, SplitSample
from adanet_train.search.feed import Batch
from adanet_train.search.growth import Growth, regrown
from adanet_train.search.selection import LEAST_GAIN, HeldOut, scalar_path
from adanet_train.search.weak_learners import generator
from adanet_train.training import Trained
from verify.measure.membership import outside

SMALL = Config(rounds=3, width=6, learner="committee", lam=None, members=3, steps=120, validation_fraction=0.25)
LOGISTIC = Signs(surrogate("logistic"))


def sample(m: int = 120, C: int = 3) -> tuple[Tensor, Tensor]:
    """A class for each sector of the circle, opposite ones the same; the last feature is constant."""
    Psi = torch.rand(m, 4, generator=drawn(), dtype=torch.float64) * 2 - 1
    Psi[:, -1] = 1
    angle = torch.atan2(Psi[:, 0], Psi[:, 1]) % math.pi
    return Psi, (angle * C / math.pi).long().clamp_max(C - 1)


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=drawn(seed), dtype=torch.float64)


@pytest.fixture(scope="module")
def trained() -> Trained:
    # No gain is too small here, so that there are several rounds to look at.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldOut, "falls", lambda self, change: True)
        return train(*sample(), SMALL.replace(least_decrease=0.0))


# The loss, and one direction of it


def test_the_loss_by_a_loop_and_its_slopes_by_autograd():
    y, f = torch.tensor([[0, 2], [1, 1]]), normal(2, 2, 3).requires_grad_()
    values = Classes(3).values(y, f)
    seen = values.detach()
    for at in np.ndindex(2, 2):
        scores = f.detach()[at].numpy() + (np.arange(3) != int(y[at]))
        assert float(seen[at]) == pytest.approx(math.log(np.exp(scores - scores[y[at]]).sum()), rel=1e-13)
    values.sum().backward()
    torch.testing.assert_close(Classes(3).slopes(y, f.detach(), 0.5), f.grad / 2, rtol=1e-12, atol=1e-14)


def test_two_classes_are_signs():
    """f = f_1 - f_0: the same losses, and the same minimum, along one direction or with w for each output."""
    y, f, z = torch.arange(40) % 2, normal(40), normal(40, seed=1)
    signs, Gamma = (2 * y - 1).double(), torch.tensor(0.05, dtype=torch.float64)

    def both(one: Tensor) -> Tensor:
        return torch.stack([-one / 2, one / 2], 1)

    torch.testing.assert_close(Classes(2).values(y, both(f)), LOGISTIC.values(signs, f), rtol=1e-13, atol=1e-14)
    ours = Classes(2).minimise_along(both(z), y, both(f), Gamma)
    theirs = LOGISTIC.minimise_along(z, signs, f, Gamma)
    assert ours.converged
    assert ours.objective == pytest.approx(theirs.objective, abs=2e-10)
    torch.testing.assert_close(ours.w, theirs.w, rtol=1e-4, atol=1e-5)
    wide = Classes(2).minimise(z[:, None], y, both(f), Gamma[None], tol=1e-10)
    assert wide.objective == pytest.approx(theirs.objective, abs=2e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_step_on_one_direction(weighted):
    """The derivatives are autograd's, the minimum a scalar search's, the gap no lie; the path has the same minimum."""
    _, y = sample(90)
    f, z, labels = normal(90, 3), normal(90, 3, seed=1) + torch.eye(3, dtype=torch.float64)[y], Classes(3)
    s = torch.rand(90, generator=drawn(), dtype=torch.float64) + 0.5 if weighted else None
    loss = LineLoss(z, y, f, s)

    def F(t: Tensor) -> Tensor:
        return ((torch.ones(90).double() if s is None else s) * labels.values(y, f + t * z)).mean()

    t = torch.tensor([0.3], dtype=torch.float64)
    x = loss.argument(t)
    assert float(loss.value(x)) == pytest.approx(float(F(t)), rel=1e-13)
    first, second = torch.autograd.functional.jacobian(F, t), torch.autograd.functional.hessian(F, t)
    torch.testing.assert_close(loss.slope(loss.dual(x)), first, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(loss.curvature(loss.weight(x)), second, rtol=1e-11, atol=1e-13)
    prices = torch.tensor([10.0, 0.1, 1e-3], dtype=torch.float64)
    path, values = scalar_path(z, y, f, prices, labels, (torch.ones(90).double() if s is None else s) / 90)
    for Gamma, w, value in zip(prices, path, values, strict=True):
        found = mixture.minimise_along(z, y, f, Gamma, weights=s)
        least = minimize_scalar(lambda t, Gamma=Gamma: float(F(torch.tensor(t))) + float(Gamma) * abs(t), tol=1e-12)
        assert found.converged
        assert found.objective - found.gap <= least.fun + 1e-12
        assert found.objective == pytest.approx(least.fun, abs=1e-9)
        assert float(w) == pytest.approx(float(found.w), abs=1e-5)
        assert float(value) == pytest.approx(found.objective, rel=1e-8)
    assert float(path[0]) == 0.0


# The committee


def test_parts_have_every_class_as_the_sample_has_it():
    Psi, y = sample(240, 6)
    split = SplitSample.split(Points(Psi), Classes(6), y, None, SMALL, drawn())
    for c in range(6):
        shares = [int((y[split.part == j] == c).sum()) for j in (-1, 0, 1, 2)]
        assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_written_gradient_is_autograds(trained, depth):
    Psi, y = sample()
    growth = regrown(trained, Points(Psi))
    existing = Member(growth, 3)
    U = [torch.randn_like(u.double()) for u in committee.start(existing, depth, 4, 4, 3, drawn(), 3)]
    search = MemberSearch(U, existing, Classes(3), SMALL)
    x, labels = Psi[:60].view(3, 20, 4), y[:60].view(3, 20)
    offset, s = existing.f(x), torch.rand(3, 20, generator=drawn(), dtype=torch.float64)
    search.differentiate(Batch(x, labels, offset, s, 20))
    search.theta.requires_grad_()
    search.U = search.views(search.theta)
    losses = Classes(3).values(labels, offset + search.forward(x)[-1]) * s
    losses.mean(1).sum().backward()
    torch.testing.assert_close(search.slopes, search.theta.grad, rtol=1e-9, atol=1e-12)


def test_the_mean_of_the_members_is_the_network_and_a_class_reads_its_own_units(trained):
    assert len(objective.chosen(trained.history)) == 3
    Psi, _ = sample()
    growth = regrown(trained, Points(Psi))
    f = Member(growth, 3).f(Psi.expand(3, *Psi.shape))
    torch.testing.assert_close(f.mean(0), trained.network(Psi), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(growth.f, trained.network(Psi), rtol=1e-9, atol=1e-12)
    for part in growth.parts:
        (w,) = part.w.values()
        own = torch.eye(3).repeat(1, 3).bool()
        assert not w[~own].any()
        assert (w[own] > 0).all()


def test_a_member_does_not_see_its_own_part():
    """Other labels in part 0 leave the units of member 0 as they are, and change those of the others."""
    Psi, y = sample()
    split = SplitSample.split(Points(Psi), Classes(3), y, None, SMALL, drawn())
    changed = torch.where(split.part == 0, (y + 1) % 3, y)
    found = []
    for labels in (y, changed):
        one_look = SplitSample(split.points, Classes(3), labels, None, split.part, 3)
        growth, spec = Growth(Points(Psi), "relu", 3), SMALL.declared(4, 3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(committee, "LOOKS", 1)
            patch.setattr(CommitteeDescent, "look", lambda self: -float(self.adam.steps))
            found.append(committee.learn(growth, one_look, 2, 4, spec, SMALL, drawn()).block)
    for k, shape in ((1, (3, 4, 4)), (2, (3, 3, 12))):
        before, after = (block[k].view(shape) for block in found)
        assert torch.equal(before[0], after[0])
        assert not torch.equal(before[1], after[1])


def test_the_history_is_what_the_network_says(trained):
    Psi, y = sample()
    assert objective.recomputed(trained, Psi, y) == pytest.approx(trained.history[-1]["objective"], rel=1e-12)
    assert not list(outside(trained.network, trained.declared))
    split = SplitSample.split(Points(Psi), Classes(3), y, None, trained.config, generator(0, 0, 0))
    held_out = HeldOut.of(regrown(trained, Points(Psi)), split)
    assert held_out.loss() == pytest.approx(trained.history[-1]["held_out"], rel=1e-9)


def test_more_classes_than_units_stay_in_the_declared_family(monkeypatch):
    Psi, y = sample(120, 10)
    monkeypatch.setattr(HeldOut, "falls", lambda self, change: True)
    found = train(Psi, y, SMALL.replace(rounds=1, width=4, steps=60, lam=1e-6))
    assert found.network.n[-1] == 3 * 10
    assert all(n <= most for n, most in zip(found.network.n, found.declared.n, strict=False))


def test_rounds_end_when_the_held_out_loss_falls_too_little():
    Psi, y = sample(300)
    found = train(Psi, y, SMALL.replace(steps=None, rounds=6))
    told = [entry["held_out"] for entry in found.history if entry["chosen"] >= 0]
    assert all(after <= (1 - LEAST_GAIN) * before for before, after in itertools.pairwise(told))
    assert found.history[-1]["chosen"] == -1 or len(found.history) == 6
    assert found.network.depth > 1  # no linear network tells opposite sectors from the others
    assert float((found.network(Psi).argmax(1) == y).double().mean()) > 0.85
    noise = torch.randint(0, 3, (300,), generator=drawn(5))
    assert train(Psi, noise, SMALL).history[0]["held_out"] > 0.95 * math.log(1 + 2 * math.e)


def test_same_bits_again_and_after_an_interruption_with_sample_weights():
    Psi, y = sample()
    s = torch.rand(120, generator=drawn(), dtype=torch.float64) + 0.5
    stages: list[Trained] = []
    whole = train(Psi, y, SMALL, weights=s, callback=stages.append)
    again = [train(Psi, y, SMALL, weights=s), *[train(Psi, y, SMALL, weights=s, resume=stage) for stage in stages]]
    for other in again:
        assert other.history == whole.history
        pairs = zip(other.network.output.values(), whole.network.output.values(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)
    assert train(Psi, y, SMALL).history[0]["objective"] != whole.history[0]["objective"]


def test_a_sample_read_in_pieces_is_learnt_too(monkeypatch):
    from adanet_train.core import points
    from adanet_train.search import feed

    Psi, y = sample(400)
    monkeypatch.setattr(points, "CHUNK", 600)
    monkeypatch.setattr(points, "WHOLE", 500)
    for name, value in (("WHOLE", 500), ("PIECE", 500), ("BLOCK", 16)):
        monkeypatch.setattr(feed, name, value)
    found = train(Psi, y, SMALL.replace(steps=240, rounds=2))
    assert float((found.network(Psi).argmax(1) == y).double().mean()) > 0.85
