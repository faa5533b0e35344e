"""The committee, of two classes and of C: its loss and gradient, that no member sees its own part, what is chosen."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from adanet_train.convex import mixture
from adanet_train.convex.class_loss import LineLoss
from adanet_train.convex.labels import Classes, Labels, Signs
from adanet_train.core.config import Config
from adanet_train.core.descend import views
from adanet_train.core.history import LEAST_F, LEAST_HELD_OUT, NOT_WORTH, SHARES, SIMPLER, too_little
from adanet_train.core.points import Centre, Points
from adanet_train.core.surrogates import surrogate
from adanet_train.core.training import Trained
from adanet_train.methods.adanet import train
from adanet_train.search import builder, committee, objective, selection
from adanet_train.search.committee import CommitteeDescent, Member, MemberSearch, RateSchedule, SplitSample
from adanet_train.search.feed import Batch
from adanet_train.search.growth import Growth, regrown
from adanet_train.search.selection import LEAST_GAIN, Direction, HeldOutValues, Judged, choose, judge, scalar_path
from adanet_train.search.weak_learners import generator
from tests.refusals import refused
from verify.measure.membership import outside

SIGNS = Signs(surrogate("logistic"))
SMALL = Config(rounds=3, width=6, learner="committee", lam=None, members=3, steps=120, validation_fraction=0.25)


def sample(m: int = 120, n_0: int = 5) -> tuple[Tensor, Tensor]:
    """The label is the sign of a product; the last feature is constant."""
    Psi = torch.rand(m, n_0, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    Psi[:, -1] = 1
    return Psi, torch.where((Psi[:, 0] - 0.5) * (Psi[:, 1] - 0.5) > 0, 1.0, -1.0).double()


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=drawn(seed), dtype=torch.float64)


def sectors(m: int = 120, C: int = 3) -> tuple[Tensor, Tensor]:
    """A class for each sector of the circle, opposite ones the same; the last feature is constant."""
    Psi = torch.rand(m, 4, generator=drawn(), dtype=torch.float64) * 2 - 1
    Psi[:, -1] = 1
    angle = torch.atan2(Psi[:, 0], Psi[:, 1]) % math.pi
    return Psi, (angle * C / math.pi).long().clamp_max(C - 1)


@dataclass(frozen=True)
class DrawnTask:
    """Two classes, or three, and a network of three rounds: no gain is too small here."""

    labels: Labels
    Psi: Tensor
    y: Tensor
    trained: Trained

    @property
    def growth(self) -> Growth:
        return regrown(self.trained, Points(self.Psi))


@pytest.fixture(scope="module", params=[None, 3], ids=["two classes", "three classes"])
def task(request) -> DrawnTask:
    Psi, y = sample() if request.param is None else sectors()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "LEAST_GAIN", -1.0)
        patch.setattr(HeldOutValues, "falls", lambda self, change: True)
        trained = train(Psi, y, SMALL.replace(least_decrease=0.0))
    return DrawnTask(SIGNS if request.param is None else Classes(3), Psi, y, trained)


def test_parts_are_equal_disjoint_and_have_both_classes():
    Psi, y = sample(200)
    y[:150] = 1.0
    split = SplitSample.split(Points(Psi), SIGNS, y, None, SMALL, drawn())
    assert [int((split.part == j).sum()) for j in (-1, 0, 1, 2)] == [50, 50, 50, 50]
    assert {int((y[split.part == j] == 1).sum()) for j in range(3)} <= {36, 37, 38, 39, 40, 41, 42, 43, 44}
    assert len(split.held_out.unique()) == 150
    many = SplitSample.split(Points(torch.ones(50_000, 1)), SIGNS, torch.ones(50_000), None, SMALL, drawn())
    assert int((many.part == 0).sum()) == committee.LOOK


def test_a_part_one_short_counts_its_points_once():
    Psi, y = sample(122)
    split = SplitSample.split(Points(Psi), SIGNS, y, None, SMALL, drawn())
    held_out = HeldOutValues.of(Growth(Points(Psi), "relu"), split)
    assert held_out.loss() == pytest.approx(math.log(1 + math.e), rel=1e-12)
    assert set((split.held_out_weights > 0).sum(1).tolist()) == {30, 31}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_written_gradient_is_autograds(task, depth, activation):
    growth, n_0 = task.growth, task.Psi.shape[1]
    growth.activation = activation
    existing = Member.of(growth, 3)
    start = committee.start(existing, depth, 4, n_0, 3, drawn(), task.labels.tops)
    U = [torch.randn_like(u.double()) for u in start]
    search = MemberSearch(U, existing, task.labels, SMALL.replace(activation=activation))
    x, y = task.Psi[:60].view(3, 20, n_0), task.y[:60].view(3, 20)
    offset, s = existing.f(x), torch.rand(3, 20, generator=drawn(), dtype=torch.float64)
    search.differentiate(Batch(x, y, offset, s, 20))
    search.theta.requires_grad_()
    search.U = views(search.theta, search.shapes)
    losses = task.labels.values(y, offset + search.forward(x)[-1]) * s
    losses.mean(1).sum().backward()
    torch.testing.assert_close(search.slopes, search.theta.grad, rtol=1e-9, atol=1e-12)


def test_the_mean_of_the_members_is_the_network_and_a_class_reads_its_own_units(task):
    growth, f = task.growth, task.trained.network(task.Psi)
    assert len(objective.chosen(task.trained.history)) == 3
    members = Member.of(growth, 3).f(task.Psi.expand(3, *task.Psi.shape))
    torch.testing.assert_close(members.mean(0), f, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(growth.f, f, rtol=1e-9, atol=1e-12)
    if task.labels.outputs is not None:
        for part in growth.parts:
            (w,) = part.w.values()
            own = torch.eye(3).repeat(1, 3).bool()
            assert not w[~own].any()
            assert (w[own] > 0).all()


def test_a_member_does_not_see_its_own_part(task):
    """Other labels in part 0 leave the units of member 0 as they are, and change those of the others."""
    labels, n_0, C = task.labels, task.Psi.shape[1], task.labels.outputs
    split = SplitSample.split(Points(task.Psi), labels, task.y, None, SMALL, drawn())
    changed = torch.where(split.part == 0, -task.y if C is None else (task.y + 1) % 3, task.y)
    blocks = []
    for y in (task.y, changed):
        one_look = SplitSample(split.points, labels, y, None, split.part, 3)
        growth, spec = Growth(Points(task.Psi), "relu", C), SMALL.declared(n_0, labels.tops)
        # One look, at the end: when to stop is decided by all parts together.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(committee, "LOOKS", 1)
            patch.setattr(CommitteeDescent, "look", lambda self: -float(self.adam.steps))
            blocks.append(builder.learn(growth, one_look, 2, 4, spec, SMALL, drawn()).block)
    for k, shape in ((1, (3, 4, n_0)), (2, (3, labels.tops, 12))):
        before, after = (block[k].view(shape) for block in blocks)
        assert torch.equal(before[0], after[0])
        assert not torch.equal(before[1], after[1])


def test_rows_are_in_the_family_and_read_their_own_member_only(task):
    assert not list(outside(task.trained.network, task.trained.declared))
    assert all(span["members"] == 3 for span in objective.chosen(task.trained.history))
    growth = task.growth
    own = Member.of(growth, 3).own
    for k in range(2, len(own)):
        U = growth.network.hidden[k, k - 1]
        for i, j in [(0, 1), (1, 2), (2, 0)]:
            assert not U[own[k][i]][:, own[k - 1][j]].any()


def test_the_history_is_what_the_network_says(task):
    trained, last = task.trained, task.trained.history[-1]
    assert objective.recomputed(trained, task.Psi, task.y) == pytest.approx(last["objective"], rel=1e-12)
    assert {entry["lam"] for entry in trained.history} == {trained.history[0]["lam"]}
    split = SplitSample.split(Points(task.Psi), task.labels, task.y, None, trained.config, generator(0, 0, 0))
    assert HeldOutValues.of(task.growth, split).loss() == pytest.approx(last["held_out"], rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits_again_and_after_an_interruption(task, weighted):
    s = torch.rand(120, generator=drawn(), dtype=torch.float64) + 0.5 if weighted else None
    stages: list[Trained] = []
    whole = train(task.Psi, task.y, SMALL, weights=s, callback=stages.append)
    for stage in (None, *stages):
        other = train(task.Psi, task.y, SMALL, weights=s, resume=stage)
        assert other.history == whole.history
        for kind in ("hidden", "output"):
            pairs = zip(getattr(other.network, kind).values(), getattr(whole.network, kind).values(), strict=True)
            assert all(torch.equal(a, b) for a, b in pairs)
    assert not weighted or train(task.Psi, task.y, SMALL).history[0]["objective"] != whole.history[0]["objective"]


@pytest.mark.parametrize("points", [sample, sectors])
def test_a_sample_read_in_pieces_is_learnt_too(points, monkeypatch):
    from adanet_train.core import points as whole_points
    from adanet_train.search import feed

    Psi, y = points(400)
    monkeypatch.setattr(whole_points, "CHUNK", 600)
    longer = SMALL.replace(steps=240, rounds=2)
    whole = train(Psi, y, longer).network
    monkeypatch.setattr(whole_points, "WHOLE", 500)
    for name, value in (("WHOLE", 500), ("PIECE", 500), ("BLOCK", 16)):
        monkeypatch.setattr(feed, name, value)
    pieces = train(Psi, y, longer).network
    for network in (whole, pieces):
        f = network(Psi)
        assert float(((f * y > 0) if f.ndim == 1 else f.argmax(1) == y).double().mean()) > 0.85
    assert not torch.equal(whole.hidden[1, 0], pieces.hidden[1, 0])


def test_other_activations_stay_in_their_family():
    trained = train(*sample(), SMALL.replace(activation="tanh", rounds=1, Lambda=0.5))
    for (k, s), U in trained.network.hidden.items():
        assert (torch.linalg.vector_norm(U, dim=1) <= trained.declared.bound(k, s)).all()


@pytest.mark.parametrize("options", [{"variant": "R"}, {"outputs": "all"}, {"corrective": True}], ids=str)
def test_what_a_committee_has_not_is_refused(options):
    refused(lambda: train(*sample(), SMALL.replace(**options)), "learner='committee'")


def test_a_linear_task_stays_shallow_and_an_interaction_does_not():
    Psi, y = sample(500)
    two = SMALL.replace(steps=None, rounds=2)
    deeper = train(Psi, y, two)
    assert deeper.network.depth == 2
    assert [[c["depth"] for c in entry["candidates"]] for entry in deeper.history] == [[1, 2, 3], [2]]
    chance = torch.sigmoid(Psi @ torch.tensor([4.0, -4, 8, -8, 0]).double())
    drawn_labels = torch.where(torch.rand(500, generator=drawn(3)) < chance, 1.0, -1.0).double()
    linear = train(Psi, drawn_labels, two)
    assert linear.network.depth == 1
    assert [[c["depth"] for c in entry["candidates"]] for entry in linear.history] == [[1, 2], [1]]
    given = train(Psi, y, two.replace(lam=1e-4))
    assert [c["depth"] for c in given.history[-1]["candidates"]] == [2, 3]  # as in the paper
    assert train(Psi, y, two.replace(max_depth=2)).history[0]["candidates"][-1]["depth"] == 2


def test_the_simplest_of_the_close_is_chosen_each_at_its_best_lambda():
    Psi, y = sample(400)
    split = SplitSample.split(Points(Psi), SIGNS, y, None, SMALL, drawn())
    held_out = HeldOutValues.of(Growth(Points(Psi), "relu"), split)
    own = y[split.held_out]
    noise = torch.randn(own.shape, generator=drawn(1), dtype=torch.float64)

    def choice(r: float, right: float) -> Direction:
        """In the sample all right, on held-out points with noise: then w of the sample is too large for them."""
        return Direction(y / 10, r, (right * own + noise) / 10)

    def judged(*choices: Direction) -> list[Judged]:
        return [judge(one, y, f, held_out, 0.0, weights=None) for one in choices]

    f = torch.zeros_like(y)
    equal, better = choice(1e-2, 1.0), choice(1.0, 1.0)
    assert choose(judged(equal, better), held_out) == (0, LEAST_HELD_OUT)
    assert choose(judged(better, equal), held_out) == (1, SIMPLER)
    better = choice(1.0, 2.0)
    found_best = judged(equal, better)
    assert choose(found_best, held_out) == (1, LEAST_HELD_OUT)
    # the best λ of a fine grid, by brute force, is near: half a decade apart are those of the path
    grid = [10 ** (-k / 20) for k in range(1, 121)]
    for each, best in zip((equal, better), found_best, strict=True):
        w, _ = scalar_path(each.z, y, f, torch.tensor(grid).double() * each.r, SIGNS, torch.full_like(y, 1 / len(y)))
        losses = [held_out.loss(w_i * each.held_out) for w_i in w]
        assert abs(math.log10(best.lam / grid[losses.index(min(losses))])) <= 0.5


@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_of_a_scalar_is_at_its_minimum(weighted):
    Psi, y = sample()
    z, f = Psi[:, 0] - Psi[:, 1], Psi[:, 2] - 0.5
    s = torch.rand(120, generator=drawn(), dtype=torch.float64) + 0.5 if weighted else None
    Phi, Gamma = surrogate("logistic"), torch.tensor([1.0, 0.05, 0.01, 1e-4]).double()
    w, F = scalar_path(z, y, f, Gamma, SIGNS, (torch.ones_like(y) if s is None else s) / len(y))
    for i in range(4):
        minimum = mixture.minimise(z[:, None], y, f, Gamma[i : i + 1], Phi, weights=s)
        assert float(w[i]) == pytest.approx(float(minimum.w), abs=1e-5)
        assert float(F[i]) == pytest.approx(minimum.objective, rel=1e-8)
    assert float(w[0]) == 0.0


def test_centred_weights_are_the_same_function():
    Psi = sample()[0] * 3
    points, U = Points(Psi), torch.randn(4, 5, generator=drawn(), dtype=torch.float64)
    centre = points.centre
    torch.testing.assert_close(centre(Psi) @ U.T, Psi @ centre.weights(U).T, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(centre.weights_on_centred(centre.weights(U)), U, rtol=1e-9, atol=1e-12)
    assert centre(Psi)[:, :-1].mean(0).abs().max() < 1e-12
    without = Centre.of(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]))
    assert without(torch.tensor([[1.0, 6.0]])).tolist() == [[1.0, 2.0]]


def test_points_from_a_map_are_those_of_the_matrix():
    from adanet_train.data.features import FeatureMap

    X = np.random.default_rng(0).normal(size=(50, 3))
    features = FeatureMap.fitted(X)
    lazy, whole = Points(X, features), Points(torch.from_numpy(features(X)))
    assert torch.equal(lazy.whole(), whole.whole())
    assert (lazy.largest, lazy.r_rms, lazy.n_0) == (whole.largest, whole.r_rms, 4)
    assert lazy.r_rms == pytest.approx(math.sqrt(float((whole.whole() ** 2).mean(0).max())))


def test_the_schedule():
    small, large = (RateSchedule.of(SMALL.replace(steps=None), m, 2) for m in (100, 1_000_000))
    assert (small.steps, small.batch) == (200, 64)
    assert (large.batch, large.steps) == (512, 12 * math.ceil(1_000_000 / 512))
    further = RateSchedule.of(SMALL.replace(steps=None), 1_000_000, 2, further=True)
    assert further.steps == 4 * math.ceil(1_000_000 / 512)
    assert RateSchedule.of(SMALL.replace(steps=None), 1_000_000, 3) == further
    many = RateSchedule.of(SMALL.replace(steps=None), 2_000, 2, classes=True)
    assert many.steps == 50 * math.ceil(2_000 / 64)
    assert small.at(1) < small.at(20) > small.at(200) > 0
    assert (small.cycles, many.cycles, large.cycles) == (committee.CYCLES, committee.CYCLES, 1)
    assert RateSchedule.of(SMALL.replace(steps=None), 10_000, 2).cycles == 2_000_000 // (80 * 10_000)
    assert RateSchedule.of(SMALL.replace(steps=None, epochs=7), 100, 2).cycles == 1


@pytest.mark.parametrize(
    ("leasts", "runs", "kept"),
    [([1.0, 0.9, 0.8, 0.7], 4, 4), ([1.0, 0.97, 0.5], 2, 2), ([1.0, 1.0, 0.5], 2, 2), ([0.1, 0.05, 0.02, 0.0], 3, 3)],
)
def test_the_rate_starts_again_while_the_held_out_loss_falls(monkeypatch, leasts, runs, kept):
    """By a share of what it was before the first, 2 here.

    Each run begins where the best of the last one was, with an Adam of its own.
    """
    started = []

    def descend(run, **_):
        started.append((float(run.theta), run.adam.steps))
        return torch.full((1,), float(len(started))), leasts[len(started) - 1]

    monkeypatch.setattr(committee, "descend", descend)
    monkeypatch.setattr(CommitteeDescent, "look", lambda _: 2.0)
    run = CommitteeDescent.__new__(CommitteeDescent)
    run.theta, run.schedule = torch.zeros(1), RateSchedule(10, 5, 0.1, cycles=4)
    run.adam = committee.Adam(run.theta)
    assert float(run.lowest(4)) == kept
    assert started == [(float(i), 0) for i in range(runs)]


def test_the_history_says_why_a_candidate_was_chosen(monkeypatch):
    """The simplest within so many errors of the least held-out loss; if that does not help, the shares alone."""
    Psi, product = sample()
    partly = torch.where((Psi[:, 0] - 0.5) * (Psi[:, 1] - 0.2) > 0, 1.0, -1.0).double()
    for y, caution, expected in ((partly, 1e9, SIMPLER), (product, 0.0, LEAST_HELD_OUT), (product, 1e9, SHARES)):
        monkeypatch.setattr(selection, "CAUTION", caution)
        first, *_, last = train(Psi, y, SMALL).history
        losses = [candidate["held_out"] for candidate in first["candidates"]]
        assert first["why"] == expected
        assert first["chosen"] == {SIMPLER: 0, SHARES: len(losses) - 1}.get(expected, losses.index(min(losses)))
        assert (last["chosen"] >= 0) == (last["why"] == LEAST_F)
        assert last["why"] in (LEAST_F, NOT_WORTH, too_little(SMALL.search.least_decrease))


# C classes


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

    torch.testing.assert_close(Classes(2).values(y, both(f)), SIGNS.values(signs, f), rtol=1e-13, atol=1e-14)
    ours = Classes(2).minimise_along(both(z), y, both(f), Gamma)
    theirs = SIGNS.minimise_along(z, signs, f, Gamma)
    assert ours.converged
    assert ours.objective == pytest.approx(theirs.objective, abs=2e-10)
    torch.testing.assert_close(ours.w, theirs.w, rtol=1e-4, atol=1e-5)
    wide = Classes(2).minimise(z[:, None], y, both(f), Gamma[None], tol=1e-10)
    assert wide.objective == pytest.approx(theirs.objective, abs=2e-10)


def test_the_step_on_several_directions():
    """The derivatives are autograd's; columns of one class each are the directions of the full step."""
    _, y = sectors(90)
    f, Z, labels = normal(90, 3), torch.stack([normal(90, 3, seed=seed) for seed in (1, 2, 3)]), Classes(3)
    Z = Z + torch.eye(3, dtype=torch.float64)[y]
    loss, t = LineLoss(Z, y, f), torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)

    def F(t: Tensor) -> Tensor:
        return labels.values(y, f + torch.tensordot(t, Z, 1)).mean()

    x = loss.argument(t)
    first, second = torch.autograd.functional.jacobian(F, t), torch.autograd.functional.hessian(F, t)
    torch.testing.assert_close(loss.slope(loss.dual(x)), first, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(loss.curvature(loss.weight(x)), second, rtol=1e-11, atol=1e-13)
    some = torch.tensor([0, 2])
    torch.testing.assert_close(loss.curvature(loss.weight(x), some), second[some][:, some], rtol=1e-11, atol=1e-13)
    H, own = normal(90, 2, seed=4), torch.eye(3, dtype=torch.float64)
    columns = torch.stack([H[:, j, None] * own[c] for c in range(3) for j in range(2)])
    Gamma = torch.tensor([0.02, 0.01], dtype=torch.float64)
    each, full = labels.minimise_along(columns, y, f, Gamma.repeat(3)), labels.minimise(H, y, f, Gamma)
    assert each.converged
    assert each.objective == pytest.approx(full.objective, abs=1e-9)
    torch.testing.assert_close(each.w.view(3, 2), full.w, rtol=0, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_step_on_one_direction(weighted):
    """The derivatives are autograd's, the minimum a scalar search's, the gap no lie; the path has the same minimum."""
    _, y = sectors(90)
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
        step = mixture.minimise_along(z, y, f, Gamma, weights=s)
        least = minimize_scalar(lambda t, Gamma=Gamma: float(F(torch.tensor(t))) + float(Gamma) * abs(t), tol=1e-12)
        assert step.converged
        assert step.objective - step.gap <= least.fun + 1e-12
        assert step.objective == pytest.approx(least.fun, abs=1e-9)
        assert float(w) == pytest.approx(float(step.w), abs=1e-5)
        assert float(value) == pytest.approx(step.objective, rel=1e-8)
    assert float(path[0]) == 0.0


def test_parts_have_every_class_as_the_sample_has_it():
    Psi, y = sectors(240, 6)
    split = SplitSample.split(Points(Psi), Classes(6), y, None, SMALL, drawn())
    for c in range(6):
        shares = [int((y[split.part == j] == c).sum()) for j in (-1, 0, 1, 2)]
        assert max(shares) - min(shares) <= 1


def test_more_classes_than_units_stay_in_the_declared_family(monkeypatch):
    Psi, y = sectors(120, 10)
    monkeypatch.setattr(HeldOutValues, "falls", lambda self, change: True)
    trained = train(Psi, y, SMALL.replace(rounds=1, width=4, steps=60, lam=1e-6))
    assert trained.network.n[-1] == 3 * 10
    assert all(n <= most for n, most in zip(trained.network.n, trained.declared.n, strict=False))


def test_rounds_end_when_the_held_out_loss_falls_too_little():
    Psi, y = sectors(300)
    trained = train(Psi, y, SMALL.replace(steps=None, rounds=6))
    messages = [entry["held_out"] for entry in trained.history if entry["chosen"] >= 0]
    assert all(after <= (1 - LEAST_GAIN) * before for before, after in itertools.pairwise(messages))
    assert trained.history[-1]["chosen"] == -1 or len(trained.history) == 6
    assert trained.network.depth > 1  # no linear network tells opposite sectors from the others
    assert float((trained.network(Psi).argmax(1) == y).double().mean()) > 0.85
    noise = torch.randint(0, 3, (300,), generator=drawn(5))
    assert train(Psi, noise, SMALL).history[0]["held_out"] > 0.95 * math.log(1 + 2 * math.e)
