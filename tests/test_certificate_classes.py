"""Training C classes for their certificate: the smooth form is near the exact one, and what is stored was trained."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adanet_theory.certificates.grids import path_classes_grid
from adanet_theory.certificates.path_multiclass import path_classes_empirical_exact, path_classes_eps
from adanet_theory.certificates.tree import unrolled_classes
from adanet_theory.certificates.vote_multiclass import vote_certificate_multiclass_at
from adanet_train.app import run
from adanet_train.certificate import classes, forms, hidden, search
from adanet_train.config import Config
from adanet_train.estimator import AdaNetClassifier
from adanet_train.model.model_file import Sample
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
        form = forms.ClassVote(own, 8, (0, 0, 0), (beta,), 0.05)
        means, mass = torch.from_numpy(q) @ Psi.T, torch.from_numpy(p)[None]
        t = torch.tensor([[k / math.sqrt(N * 0.7)]]).double()
        log_N = torch.tensor([[math.log(N)]]).double()
        smooth = form(means[None], mass, torch.from_numpy(p).log()[None], log_N, t)
        assert float(smooth) == pytest.approx(exact.raw, rel=0.02)
        loss = form.losses(means[None], mass, log_N.exp(), t).mean()
        assert float(loss) == pytest.approx(exact.terms["empirical"], rel=0.02)


def test_the_smooth_form_with_hidden_units_is_near_the_exact_laws():
    """Two units under class 0, one of each sign, and one under class 2; k = t sqrt(N)."""
    Psi, y = sample(C=3)
    q = np.zeros((6, 8))
    q[[0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 4]] = 0.15, 0.2, 0.2, 0.2, -0.1, 0.15
    units = (0, 0, 1, -1, 3)
    found = search.Found(*torch.from_numpy(q).nonzero(as_tuple=True), *[None] * 2, units, 1.0, 1.0, 0.01)
    network = classes.network(replace(found, theta=torch.ones(6), sign=torch.ones(6)), 8, 3)
    network = replace(network, hidden={**network.hidden, (1, 0): torch.from_numpy(q)})
    assert classes.units(network) == [1, -1, 3]
    outputs = [{k: w[c].numpy() for k, w in network.output.items()} for c in range(3)]
    forest = unrolled_classes({pair: U.numpy() for pair, U in network.hidden.items()}, outputs, depth=2)
    scores = np.stack([tree.value(tree.means(Psi.numpy())) for tree in forest], axis=1)
    assert np.allclose(scores, network(Psi).numpy())
    own = torch.nn.functional.one_hot(y, 3).T.double()
    form = forms.ClassPath(own, 8, units, (0.01,), 0.05)
    means, mass = (torch.from_numpy(q) @ Psi.T)[None], torch.from_numpy(np.abs(q).sum(1))[None]
    N = torch.tensor([[640.0]]).double()
    for k in (5, 40):
        t = torch.tensor([[k / math.sqrt(640)]]).double()
        exact = path_classes_empirical_exact(forest, Psi.numpy()[:60], y[:60].numpy(), 640, k)
        assert float(form.losses(means, mass, N, t)[0, :60].mean()) == pytest.approx(exact, rel=0.05)
        assert float(form.b(mass, N, t)) == pytest.approx(1 - path_classes_eps(forest, 640, k), rel=0.03)
    assert float(form.grid(N[:, 0])) == pytest.approx(path_classes_grid([3, 3]))


def test_hidden_units_are_added_where_a_linear_network_fails_and_the_report_says_so(monkeypatch):
    """Six clusters at the corners of a hexagon, opposite ones of one class."""
    for module, name, value in ((classes, "DRAWS", 20_000), (classes, "UNIT_ROUNDS", 2), (hidden, "TRIES", 2)):
        monkeypatch.setattr(module, name, value)
    draw = np.random.default_rng(0)
    corner = draw.integers(0, 6, 900)
    X = np.hstack([draw.uniform(-1, 1, (900, 3)), np.ones((900, 1))])
    X[:, :2] = 0.7 * np.stack([np.cos(corner * np.pi / 3), np.sin(corner * np.pi / 3)], axis=1) + 0.3 * X[:, :2]
    Psi, y = torch.from_numpy(X), torch.from_numpy(corner % 3)
    config = CONFIG.replace(max_depth=2, rounds=2)
    assert config.tried == 2
    trained = run.trainer("adanet")(Psi, y, run.config_for(y, config))
    first, second = (told["objective"] for told in trained.history)
    assert second < first
    stands = trained.history[-1]["certificate"]
    assert stands["id"] == "path-certificate-multiclass"
    assert len(classes.units(trained.network)) >= 1
    again = classes.taken_up(trained.network, stands, Psi.float())
    assert torch.allclose(again.weights(4), trained.network.hidden[1, 0], atol=1e-6)
    model = replace(run.model_of(trained, "adanet", features=None, sample=None), sample=Sample.of(Psi, y.numpy(), 3))
    built = report.build(model, Question(draws=None, r_sup=1.0, delta="0.025"))
    row = next(row for row in built.bounds if row.id == stands["id"])
    assert row.applies
    assert row.raw == pytest.approx(stands["raw"], rel=0.05)  # other draws
    assert model.extra["tried"] == 2


def test_a_network_is_found_that_is_certified_and_the_report_says_so():
    Psi, y = sample()
    trained = run.trainer("adanet")(Psi, y, CONFIG)
    stands = trained.history[-1]["certificate"]
    assert trained.history[-1]["objective"] == stands["raw"] < 0.3
    assert stands["id"] == "vote-certificate-multiclass"
    assert trained.network.outputs == 4
    model = run.model_of(trained, "adanet", features=None, sample=None)
    built = report.build(replace(model, sample=Sample.of(Psi, y.numpy(), 4)), Question(draws=None, r_sup=1.0))
    row = next(row for row in built.bounds if row.id == "vote-certificate-multiclass")
    assert row.applies
    assert row.raw == pytest.approx(stands["raw"], rel=1e-6)


def test_equal_runs_give_equal_networks_and_a_run_is_taken_up_where_it_ended():
    Psi, y = sample(m=300)
    first, second = (run.trainer("adanet")(Psi, y, CONFIG) for _ in range(2))
    assert torch.equal(first.network.hidden[1, 0], second.network.hidden[1, 0])
    assert run.trainer("adanet")(Psi, y, CONFIG, resume=first) is first


def test_a_large_sample_is_searched_on_a_part_and_paid_for_as_a_whole(monkeypatch):
    Psi, y = sample(m=1200)
    whole = classes.train(Psi, y, CONFIG).history[-1]["objective"]
    monkeypatch.setattr(classes, "POINTS", 300)
    assert classes.train(Psi, y, CONFIG).history[-1]["objective"] < 1.15 * whole


def test_labels_by_coin_are_not_certified():
    Psi, _ = sample(m=300)
    y = torch.randint(0, 4, (300,), generator=torch.Generator().manual_seed(7))
    assert classes.train(Psi, y, CONFIG).history[-1]["objective"] > 0.75


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
        classes.train(3 * Psi, y, CONFIG)
