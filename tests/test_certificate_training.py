"""Training for the vote, with one output or one for each class: smooth forms, searches, and what is stored."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adanet_theory.certificates import kl as theory_kl
from adanet_theory.certificates.vote import vote_certificate, vote_certificate_at, vote_kl_polya
from adanet_theory.certificates.vote_multiclass import counts_kl, vote_certificate_multiclass_at
from adanet_train.app import run
from adanet_train.certificate import forms, linear, search, train
from adanet_train.certificate.smooth import RateCost, kl_inverse
from adanet_train.core.config import Config
from adanet_train.core.training import Trained
from adanet_train.estimator import AdaNetClassifier
from adanet_train.model.model_file import Sample
from adanet_train.model.trained import model_of, trained_of
from tests.refusals import refused
from verify import verify_bounds
from verify.records.question import Question
from verify.rows import report


def sample(m: int = 600, n_0: int = 6, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    Psi = torch.rand(m, n_0, generator=draw, dtype=torch.float64) * 2 - 1
    return Psi, torch.where(Psi[:, 0] - 0.5 * Psi[:, 1] > 0, 1.0, -1.0).double()


def of_classes(m: int = 900, n_0: int = 8, C: int = 4, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    y = torch.randint(0, C, (m,), generator=draw)
    Psi = 0.6 * torch.rand(m, n_0, generator=draw, dtype=torch.float64) - 0.3
    Psi[:, :C] += torch.where(torch.nn.functional.one_hot(y, C) > 0, 0.6, -0.6)
    return Psi, y


@pytest.fixture(autouse=True, scope="module")
def fewer_steps():
    """The search of a real run takes seconds; what is tested here does not depend on its length."""
    plan = linear.ONE_OUTPUT
    few = replace(plan, shares=plan.shares[2::3], dense=plan.dense[:1], dense_steps=100, rounds=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "ONE_OUTPUT", few)
        patch.setattr(linear, "CLASSES", replace(linear.CLASSES, shares=linear.CLASSES.shares[::4], rounds=2))
        patch.setattr(linear, "REFINED", 1)
        patch.setattr(search, "SCREEN_STEPS", 10)
        patch.setattr(search, "SPARSE_STEPS", 40)
        yield


CONFIG = Config(objective="vote", max_depth=1, rounds=1)


@functools.cache
def trained_on(points, m: int) -> Trained:
    return run.trainer("adanet")(*points(m), CONFIG)


@pytest.mark.parametrize(("q", "c"), [(0.0, 0.01), (0.05, 0.02), (0.3, 0.2), (0.49, 1e-3)])
def test_the_smooth_inverse_is_the_inverse_and_so_is_its_gradient(q, c):
    q, c = torch.tensor([q, c], dtype=torch.float64).split(1)
    q, c = q.clamp_min(1e-6).requires_grad_(), c.requires_grad_()
    p = kl_inverse(q, c)
    assert float(p.detach()) == pytest.approx(theory_kl.kl_inverse(float(q.detach()), float(c.detach())), abs=1e-6)
    assert torch.autograd.gradcheck(kl_inverse, (q, c), eps=1e-8, atol=1e-3, rtol=1e-3)


def test_the_smooth_inverse_stays_a_number_where_every_example_is_lost():
    q, c = torch.tensor([1.0, 1.0, 0.9]), torch.tensor([0.01, 5.0, 30.0])
    p = kl_inverse(q.requires_grad_(), c.requires_grad_())
    p.sum().backward()
    assert bool(((p > 0.99) & (p < 1)).all())
    assert bool(torch.isfinite(q.grad).all() & torch.isfinite(c.grad).all())


@pytest.mark.parametrize("beta", [0.001, 0.1])
def test_the_smooth_kl_is_near_the_exact_one(beta):
    theta = torch.tensor([0.6, 0.3, 0.099, 0.001], dtype=torch.float64)
    y = torch.ones(10, dtype=torch.float64)
    N = 5120
    for form, exact in (
        (forms.Vote, vote_kl_polya(theta, N, n=100, beta=beta)),
        (forms.ClassVote, counts_kl(N * theta, A=100, N=N, beta=beta)),
    ):
        rates = RateCost((beta,), y)((theta * N).log()[None]).sum()
        smooth = float(rates + form(y, 50, 1, (beta,), 0.05).base_kl(torch.tensor([float(N)]).double()))
        # binomial against Poisson counts: E lgamma differs by about θ_j/2 per voter
        assert smooth == pytest.approx(exact, abs=0.6)


def test_the_smooth_vote_is_near_the_exact_certificate():
    Psi, y = sample()
    q = torch.tensor([0.6, -0.4, 0, 0, 0, 0], dtype=torch.float64)
    N, k, beta = 1280, 680, 0.01
    exact = vote_certificate_at((y * (Psi @ q)).numpy(), [0.6, 0.4], n=12, N=N, k=k, beta=beta, delta=0.05)
    form = forms.Vote(y, 6, 1, (beta,), 0.05)
    log_theta = torch.tensor([[0.6, 0.4]], dtype=torch.float64).log()
    log_N, t = torch.tensor([[math.log(N)]]), torch.tensor([[(2 * k - N) / math.sqrt(N)]])
    smooth = form((Psi @ q)[None, None], torch.ones(1, 1).double(), log_theta, log_N.double(), t.double())
    assert float(smooth) == pytest.approx(exact.raw, rel=0.03)


def test_the_file_gives_the_trained_value_back():
    (Psi, y), trained = sample(600), trained_on(sample, 600)
    v = trained.network.hidden[1, 0][0]
    theta = (v.abs() / v.abs().sum()).numpy()
    again = vote_certificate((y * (Psi @ v)).numpy() / float(v.abs().sum()), theta, n=12, delta=0.05)
    assert again.raw == pytest.approx(trained.history[-1]["objective"], rel=1e-9)
    assert again.raw < 0.15  # a majority of one voter would be far above
    assert trained.history[-1]["certificate"]["id"] == "vote-certificate"


def test_many_weak_voters_and_wrong_labels_do_not_end_at_the_constant():
    draw = torch.Generator().manual_seed(2)
    Psi = torch.rand(3000, 40, generator=draw, dtype=torch.float64) * 0.8 - 0.9  # off the middle: a bias is to be found
    Psi[:, 0] = 1
    y = (Psi[:, 1:7] + 0.5).sum(1).sign()
    y = torch.where(torch.rand(3000, generator=draw) < 0.1, -y, y)
    assert train.train(Psi, y, CONFIG).history[-1]["objective"] < 0.4


def test_more_counts_are_allowed_only_after_the_search_at_few():
    """Margins of .02 and no error: the more counts the better, up to the most that the sample allows."""
    Psi = torch.full((4000, 2), 0.02)
    Psi[:, 1] = 1
    whole = search.VoteProblem(Psi, torch.ones(4000), 0.05)
    one = torch.zeros(1, dtype=torch.long)
    voters = search.Voters(one, one, torch.ones(1), torch.ones(1), 1, 1e6, 1.0, 0.001)
    few = search.refit(whole, voters, voters.theta[None])
    assert abs(few.N / search.FEW - 1) < 1e-5
    many = linear.sharpened(whole, few, linear.ONE_OUTPUT)[0]
    assert many.N > 1.02 * search.FEW
    assert many.value < 0.98 * few.value


@pytest.mark.parametrize(("points", "C"), [(sample, 2), (of_classes, 4)])
def test_random_labels_are_never_certified_below_chance(points, C):
    Psi, _ = points(300)
    y = torch.randint(0, C, (300,), generator=torch.Generator().manual_seed(3))
    labels = 2.0 * y.double() - 1 if C == 2 else y
    assert train.train(Psi, labels, CONFIG).history[-1]["objective"] > 1 - 1 / C


@pytest.mark.parametrize("points", [sample, of_classes])
def test_equal_runs_give_equal_bits_and_a_run_that_ended_is_not_begun_again(points):
    (Psi, y), whole, seen = points(200), trained_on(points, 200), []
    again = train.train(Psi, y, CONFIG, callback=seen.append)
    assert whole.history == again.history
    assert torch.equal(whole.network.hidden[1, 0], again.network.hidden[1, 0])
    assert seen == [again]
    resumed = run.trainer("adanet")(Psi, y, CONFIG, resume=whole)
    assert resumed.network is whole.network
    assert resumed.history == whole.history


def test_hidden_units_are_refused_and_so_is_a_run_that_may_add_some():
    refused(lambda: CONFIG.replace(max_depth=2), "max_depth must be 1, got 2; objective='certificate'")
    _, y = sample(200)
    assert Config(objective="vote", rounds=5).resolve("adanet", y, 200) == CONFIG.resolve("adanet", y, 200)
    model = model_of(trained_on(sample, 200), "adanet", features=None, sample=None)
    assert trained_of(model).network is model.network
    refused(lambda: trained_of(replace(model, extra={"tried": 2})), "path-certificate, which is retired: train again")


def test_opposite_signs_of_a_coordinate_cancel_and_light_atoms_go():
    voters = search.Voters(
        torch.tensor([0, 0, 0, 1, 2]),
        torch.tensor([0, 0, 1, 1, 0]),
        torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0]),
        torch.tensor([0.4, 0.2, 0.1, 1e-6, 0.3]),
        3,
        N=1000.0,
        t=1.0,
        beta=0.1,
    )
    kept = search.pruned(voters)
    assert kept.node.tolist() == [0, 0, 2]
    expected = torch.tensor([[2 / 6, 1 / 6], [0, 0], [-3 / 6, 0]]).double()
    torch.testing.assert_close(kept.weights(2), expected, atol=1e-6, rtol=0)


def test_features_beyond_one_and_other_methods_are_refused():
    Psi, y = sample(50)
    refused(lambda: train.train(2 * Psi, y, CONFIG), "|Psi| <= 1")
    refused(lambda: CONFIG.resolve("lr", torch.ones(2), 2), "method adanet")


# C classes


def test_the_smooth_form_of_classes_is_near_the_exact_certificate():
    Psi, y = of_classes()
    q = np.diag([0.4, 0.3, 0.2, 0.1]) @ np.eye(4, 8)
    p, N, beta = np.abs(q).sum(1), 2560, 0.01
    for k in (20, 60):
        args = {"A": 64, "N": N, "k": k, "beta": beta, "delta": 0.05}
        exact = vote_certificate_multiclass_at(Psi.numpy() @ q.T, y.numpy(), q[q > 0], p, **args)
        own = torch.nn.functional.one_hot(y, 4).T.double()
        form = forms.ClassVote(own, 8, 4, (beta,), 0.05)
        means, mass = torch.from_numpy(q) @ Psi.T, torch.from_numpy(p)[None]
        t = torch.tensor([[k / math.sqrt(N * 0.7)]]).double()
        log_N = torch.tensor([[math.log(N)]]).double()
        smooth = form(means[None], mass, torch.from_numpy(p).log()[None], log_N, t)
        assert float(smooth) == pytest.approx(exact.raw, rel=0.02)
        loss = form.losses(means[None], mass, log_N.exp(), t).mean()
        assert float(loss) == pytest.approx(exact.terms["empirical"], rel=0.02)


def test_a_network_is_found_that_is_certified_and_the_report_says_so():
    (Psi, y), trained = of_classes(900), trained_on(of_classes, 900)
    stands = trained.history[-1]["certificate"]
    assert trained.history[-1]["objective"] == stands["raw"] < 0.3
    assert stands["id"] == "vote-certificate-multiclass"
    assert trained.network.outputs == 4
    model = model_of(trained, "adanet", features=None, sample=None)
    built = report.build(replace(model, sample=Sample.of(Psi, y.numpy(), 4)), Question(draws=None, r_sup=1.0))
    row = next(row for row in built.bounds if row.id == "vote-certificate-multiclass")
    assert row.applies
    assert row.raw == pytest.approx(stands["raw"], rel=1e-6)


def test_a_large_sample_is_searched_on_a_part_and_paid_for_as_a_whole(monkeypatch):
    (Psi, y), whole = of_classes(900), trained_on(of_classes, 900).history[-1]["objective"]
    monkeypatch.setattr(linear, "CLASSES", replace(linear.CLASSES, points=300))
    assert train.train(Psi, y, CONFIG).history[-1]["objective"] < 1.15 * whole


def test_the_estimator_and_what_is_refused():
    Psi, y = of_classes(m=400)
    X, names = (Psi.numpy() + 1) / 2, np.array(["a", "b", "c", "d"])[y.numpy()]
    model = AdaNetClassifier(objective="vote", feature_range=(0.0, 1.0)).fit(X, names)
    assert model.score(X, names) > 0.9
    row = verify_bounds(model, X, names, draws=None).bounds["vote-certificate-multiclass"]
    assert row.applies
    assert row.raw < 0.5
    refused(lambda: model.fit(X, names, sample_weight=np.arange(1, 401.0)), "no sample_weight")
    refused(lambda: AdaNetClassifier(objective="vote").fit(X, names), "give feature_range")
    refused(lambda: train.train(3 * Psi, y, CONFIG), "needs |Psi| <= 1")


def test_fewer_columns_than_a_round_would_add_are_enough():
    Psi, y = of_classes(m=200, n_0=5)
    assert train.train(Psi[:, :3], y.clamp_max(2), CONFIG).history[-1]["objective"] < 1
