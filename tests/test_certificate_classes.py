"""Training C classes for their certificate: the smooth form is near the exact one, and what is stored was trained."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adanet_theory.certificates.vote_multiclass import vote_certificate_multiclass_at
from adanet_train.app import run
from adanet_train.certificate import classes, forms, search, train
from adanet_train.config import Config
from adanet_train.estimator import AdaNetClassifier
from adanet_train.model.model_file import Sample
from adanet_train.model.trained import model_of
from verify import verify_bounds
from verify.question import Question
from verify.rows import report


def sample(m: int = 900, n_0: int = 8, C: int = 4, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    y = torch.randint(0, C, (m,), generator=draw)
    Psi = 0.6 * torch.rand(m, n_0, generator=draw, dtype=torch.float64) - 0.3
    Psi[:, :C] += torch.where(torch.nn.functional.one_hot(y, C) > 0, 0.6, -0.6)
    return Psi, y


@pytest.fixture(autouse=True)
def fewer_steps(monkeypatch):
    for module, name, value in (
        (classes, "SHARES", classes.SHARES[::4]),
        (classes, "ROUNDS", 2),
        (classes, "REFINED", 1),
        (search, "SCREEN_STEPS", 10),
        (search, "SPARSE_STEPS", 40),
    ):
        monkeypatch.setattr(module, name, value)


CONFIG = Config(objective="vote", max_depth=1, rounds=1, learner="units", lam=1e-5)


def test_the_smooth_form_is_near_the_exact_certificate():
    Psi, y = sample()
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
    Psi, y = sample()
    trained = run.trainer("adanet")(Psi, y, CONFIG)
    stands = trained.history[-1]["certificate"]
    assert trained.history[-1]["objective"] == stands["raw"] < 0.3
    assert stands["id"] == "vote-certificate-multiclass"
    assert trained.network.outputs == 4
    model = model_of(trained, "adanet", features=None, sample=None)
    built = report.build(replace(model, sample=Sample.of(Psi, y.numpy(), 4)), Question(draws=None, r_sup=1.0))
    row = next(row for row in built.bounds if row.id == "vote-certificate-multiclass")
    assert row.applies
    assert row.raw == pytest.approx(stands["raw"], rel=1e-6)


def test_equal_runs_give_equal_networks_and_a_run_is_taken_up_where_it_ended():
    Psi, y = sample(m=300)
    first, second = (run.trainer("adanet")(Psi, y, CONFIG) for _ in range(2))
    assert torch.equal(first.network.hidden[1, 0], second.network.hidden[1, 0])
    again = run.trainer("adanet")(Psi, y, CONFIG, resume=first)
    assert again.network is first.network
    assert again.history == first.history


def test_a_large_sample_is_searched_on_a_part_and_paid_for_as_a_whole(monkeypatch):
    Psi, y = sample(m=1200)
    whole = train.train(Psi, y, CONFIG).history[-1]["objective"]
    monkeypatch.setattr(classes, "POINTS", 300)
    assert train.train(Psi, y, CONFIG).history[-1]["objective"] < 1.15 * whole


def test_labels_by_coin_are_not_certified():
    Psi, _ = sample(m=300)
    y = torch.randint(0, 4, (300,), generator=torch.Generator().manual_seed(7))
    assert train.train(Psi, y, CONFIG).history[-1]["objective"] > 0.75


def test_the_estimator_and_what_is_refused():
    Psi, y = sample(m=400)
    X, names = (Psi.numpy() + 1) / 2, np.array(["a", "b", "c", "d"])[y.numpy()]
    model = AdaNetClassifier(objective="vote", feature_range=(0.0, 1.0)).fit(X, names)
    assert model.score(X, names) > 0.9
    found = verify_bounds(model, X, names, draws=None)
    assert found.bounds["vote-certificate-multiclass"].applies
    assert found.bounds["vote-certificate-multiclass"].raw < 0.5
    with pytest.raises(ValueError, match="no sample_weight"):
        model.fit(X, names, sample_weight=np.arange(1, 401.0))
    with pytest.raises(ValueError, match="give feature_range"):
        AdaNetClassifier(objective="vote").fit(X, names)
    with pytest.raises(ValueError, match=r"needs \|Psi\| <= 1"):
        train.train(3 * Psi, y, CONFIG)


def test_fewer_columns_than_a_round_would_add_are_enough():
    Psi, y = sample(m=200, n_0=5)
    assert train.train(Psi[:, :3], y.clamp_max(2), CONFIG).history[-1]["objective"] < 1
