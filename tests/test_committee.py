"""The committee: its gradient is autograd's, a member never sees its own part, and what is chosen is what was told."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from adanet_train.adanet import train
from adanet_train.config import Config
from adanet_train.core import objective
from adanet_train.core.history import LEAST_F, LEAST_HELD_OUT, NOT_WORTH, SHARES, SIMPLER, too_little
from adanet_train.core.labels import Signs
from adanet_train.core.points import Centre, Points
from adanet_train.core.surrogates import surrogate
from adanet_train.search import committee, selection
from adanet_train.search.committee import CommitteeDescent, Member, MemberSearch, Schedule, SplitSample
from adanet_train.search.feed import Batch
from adanet_train.search.growth import Growth, regrown
from adanet_train.search.selection import Choice, HeldOut, Judged, choose, judge, scalar_path
from adanet_train.training import Trained

SIGNS = Signs(surrogate("logistic"))
SMALL = Config(rounds=3, width=6, learner="committee", lam=None, members=3, steps=120, validation_fraction=0.25)


def sample(m: int = 120, n_0: int = 5) -> tuple[Tensor, Tensor]:
    """The label is the sign of a product; the last feature is constant."""
    Psi = torch.rand(m, n_0, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    Psi[:, -1] = 1
    return Psi, torch.where((Psi[:, 0] - 0.5) * (Psi[:, 1] - 0.5) > 0, 1.0, -1.0).double()


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def trained() -> Trained:
    # No gain is too small here, so that there are several rounds to look at.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adanet_train.search.selection.LEAST_GAIN", -1.0)
        patch.setattr(HeldOut, "falls", lambda self, change: True)
        return train(*sample(), SMALL.replace(least_decrease=0.0))


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
    held_out = HeldOut.of(Growth(Points(Psi), "relu"), split)
    assert held_out.loss() == pytest.approx(math.log(1 + math.e), rel=1e-12)
    assert set((split.held_out_weights > 0).sum(1).tolist()) == {30, 31}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_written_gradient_is_autograds(trained, depth, activation):
    Psi, y = sample()
    growth = regrown(trained, Points(Psi))
    growth.activation = activation
    existing = Member(growth, 3)
    U = [torch.randn_like(u.double()) for u in committee.start(existing, depth, 4, 5, 3, drawn())]
    search = MemberSearch(U, existing, SIGNS, SMALL.replace(activation=activation))
    x, labels = Psi[:60].view(3, 20, 5), y[:60].view(3, 20)
    offset, s = existing.f(x), torch.rand(3, 20, generator=drawn(), dtype=torch.float64)
    search.differentiate(Batch(x, labels, offset, s, 20))
    search.theta.requires_grad_()
    search.U = search.views(search.theta)
    losses = surrogate("logistic").value(1 - labels * (offset + search.forward(x)[-1])) * s
    losses.mean(1).sum().backward()
    torch.testing.assert_close(search.slopes, search.theta.grad, rtol=1e-9, atol=1e-12)


def test_the_mean_of_the_members_is_the_network(trained):
    assert len(trained.history) == 3
    Psi, _ = sample()
    growth = regrown(trained, Points(Psi))
    f = Member(growth, 3).f(Psi.expand(3, *Psi.shape))
    torch.testing.assert_close(f.mean(0), trained.network(Psi), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(growth.f, trained.network(Psi), rtol=1e-9, atol=1e-12)


def test_a_member_does_not_see_its_own_part():
    """Other labels in part 0 leave the units of member 0 as they are, and change those of the others."""
    Psi, y = sample()
    split = SplitSample.split(Points(Psi), SIGNS, y, None, SMALL, drawn())
    changed = torch.where(split.part == 0, -y, y)
    blocks = []
    for labels in (y, changed):
        one_look = SplitSample(split.points, SIGNS, labels, None, split.part, 3)
        growth, spec = Growth(Points(Psi), "relu"), SMALL.declared(5)
        # One look, at the end: when to stop is decided by all parts together.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(committee, "LOOKS", 1)
            patch.setattr(CommitteeDescent, "look", lambda self: -float(self.adam.steps))
            blocks.append(committee.learn(growth, one_look, 2, 4, spec, SMALL, drawn()).block[1].view(3, 4, 5))
    assert torch.equal(blocks[0][0], blocks[1][0])
    assert not torch.equal(blocks[0][1], blocks[1][1])


def test_rows_are_members_and_read_their_own_member_only(trained):
    for (k, s), U in trained.network.hidden.items():
        assert (torch.linalg.vector_norm(U, dim=1) <= trained.declared.bound(k, s)).all()
    spans = objective.chosen(trained.history)
    assert all(span["members"] == 3 for span in spans)
    growth = regrown(trained, Points(sample()[0]))
    own = Member(growth, 3).own
    for k in range(2, len(own)):
        U = growth.network.hidden[k, k - 1]
        for i, j in [(0, 1), (1, 2), (2, 0)]:
            assert not U[own[k][i]][:, own[k - 1][j]].any()


def test_the_history_is_what_the_network_says(trained):
    Psi, y = sample()
    assert objective.recomputed(trained, Psi, y) == pytest.approx(trained.history[-1]["objective"], rel=1e-12)
    assert {entry["lam"] for entry in trained.history} == {trained.history[0]["lam"]}
    growth = regrown(trained, Points(Psi))
    split = SplitSample.split(Points(Psi), SIGNS, y, None, trained.config, committee_generator())
    held_out = HeldOut.of(growth, split)
    assert held_out.loss() == pytest.approx(trained.history[-1]["held_out"], rel=1e-9)


def committee_generator() -> torch.Generator:
    from adanet_train.search.weak_learners import generator

    return generator(0, 0, 0)


def test_same_bits_again_and_after_an_interruption():
    Psi, y = sample()
    stages: list[Trained] = []
    whole = train(Psi, y, SMALL, callback=stages.append)
    for other in (train(Psi, y, SMALL), *[train(Psi, y, SMALL, resume=stage) for stage in stages]):
        assert other.history == whole.history
        pairs = zip(other.network.hidden.values(), whole.network.hidden.values(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


def test_a_sample_read_in_pieces_is_learnt_too(monkeypatch):
    from adanet_train.core import points
    from adanet_train.search import feed

    Psi, y = sample(400)
    monkeypatch.setattr(points, "CHUNK", 600)
    longer = SMALL.replace(steps=240)
    whole = train(Psi, y, longer)
    monkeypatch.setattr(points, "WHOLE", 500)
    for name, value in (("WHOLE", 500), ("PIECE", 500), ("BLOCK", 16)):
        monkeypatch.setattr(feed, name, value)
    pieces = train(Psi, y, longer)
    right = [float((y * found.network(Psi) > 0).double().mean()) for found in (whole, pieces)]
    assert min(right) > 0.9
    assert not torch.equal(whole.network.hidden[1, 0], pieces.network.hidden[1, 0])


def test_other_activations_stay_in_their_family():
    trained = train(*sample(), SMALL.replace(activation="tanh", rounds=1, Lambda=0.5))
    for (k, s), U in trained.network.hidden.items():
        assert (torch.linalg.vector_norm(U, dim=1) <= trained.declared.bound(k, s)).all()


@pytest.mark.parametrize("options", [{"variant": "R"}, {"outputs": "all"}, {"corrective": True}], ids=str)
def test_what_a_committee_has_not_is_refused(options):
    with pytest.raises(ValueError, match="learner='committee'"):
        train(*sample(), SMALL.replace(**options))


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
    held_out = HeldOut.of(Growth(Points(Psi), "relu"), split)
    own = y[split.held_out]
    noise = torch.randn(own.shape, generator=drawn(1), dtype=torch.float64)

    def choice(r: float, right: float) -> Choice:
        """In the sample all right, on held-out points with noise: then w of the sample is too large for them."""
        return Choice(y / 10, r, (right * own + noise) / 10)

    def judged(*choices: Choice) -> list[Judged]:
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
    for found, best in zip((equal, better), found_best, strict=True):
        w, _ = scalar_path(found.z, y, f, torch.tensor(grid).double() * found.r, SIGNS, torch.full_like(y, 1 / len(y)))
        losses = [held_out.loss(w_i * found.held_out) for w_i in w]
        assert abs(math.log10(best.lam / grid[losses.index(min(losses))])) <= 0.5


@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_of_a_scalar_is_at_its_minimum(weighted):
    Psi, y = sample()
    z, f = Psi[:, 0] - Psi[:, 1], Psi[:, 2] - 0.5
    s = torch.rand(120, generator=drawn(), dtype=torch.float64) + 0.5 if weighted else None
    Phi, Gamma = surrogate("logistic"), torch.tensor([1.0, 0.05, 0.01, 1e-4]).double()
    w, F = scalar_path(z, y, f, Gamma, SIGNS, (torch.ones_like(y) if s is None else s) / len(y))
    from adanet_train.convex import mixture

    for i in range(4):
        found = mixture.minimise(z[:, None], y, f, Gamma[i : i + 1], Phi, weights=s)
        assert float(w[i]) == pytest.approx(float(found.w), abs=1e-5)
        assert float(F[i]) == pytest.approx(found.objective, rel=1e-8)
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
    small, large = (Schedule.of(SMALL.replace(steps=None), m, 2) for m in (100, 1_000_000))
    assert (small.steps, small.batch) == (200, 64)
    assert (large.batch, large.steps) == (512, 12 * math.ceil(1_000_000 / 512))
    further = Schedule.of(SMALL.replace(steps=None), 1_000_000, 2, further=True)
    assert further.steps == 4 * math.ceil(1_000_000 / 512)
    assert Schedule.of(SMALL.replace(steps=None), 1_000_000, 3) == further
    many = Schedule.of(SMALL.replace(steps=None), 2_000, 2, classes=True)
    assert many.steps == 50 * math.ceil(2_000 / 64)
    assert small.at(1) < small.at(20) > small.at(200) > 0
    assert (small.cycles, many.cycles, large.cycles) == (committee.CYCLES, committee.CYCLES, 1)
    assert Schedule.of(SMALL.replace(steps=None), 10_000, 2).cycles == 2_000_000 // (80 * 10_000)
    assert Schedule.of(SMALL.replace(steps=None, epochs=7), 100, 2).cycles == 1


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
    run.theta, run.schedule = torch.zeros(1), Schedule(10, 5, 0.1, cycles=4)
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
