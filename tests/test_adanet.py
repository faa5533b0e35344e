"""AdaNet: the objective falls and is what the network says, units are members, equal seeds give equal bits."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from adanet_train.core.config import Config
from adanet_train.core.training import Trained
from adanet_train.methods import adanet_cvx
from adanet_train.methods.adanet import train
from adanet_train.search import objective

SMALL = Config(learner="gradient", rounds=3, width=4, steps=60, check_every=20, batch=20, lam=1e-3)


def sample(m: int = 80, n_0: int = 5, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Points in [-1, 1] with a bias; the label is the sign of a product, so that no linear model does well."""
    generator = torch.Generator().manual_seed(seed)
    Psi = torch.rand(m, n_0, generator=generator, dtype=torch.float64) * 2 - 1
    Psi[:, -1] = 1
    y = torch.where(Psi[:, 0] * Psi[:, 1] > 0, 1.0, -1.0).double()
    return Psi, y


def same(a: Trained, b: Trained) -> bool:
    networks = (a.network, b.network)
    tensors = [[*network.hidden.values(), *network.output.values()] for network in networks]
    bits = all(torch.equal(s, t) for s, t in zip(*tensors, strict=True))
    return bits and a.network.n == b.network.n and a.history == b.history


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variant": "R"},
        {"variant": "P"},
        {"variant": "D"},
        {"variant": "SD"},
        {"outputs": "all"},
        {"corrective": True},
        {"outputs": "all", "corrective": True, "variant": "SD"},
        {"p": 1.0, "Lambda": 3.0},
        {"p": 1.5},
        {"p": float("inf"), "Lambda": 0.2},
        {"Lambda": (0.5, 2.0, 1.0, 1.5)},
        {"learner": "random", "networks": 3},
        {"surrogate": "exponential", "activation": "tanh"},
        {"objective": "bound", "complexity": "lemma-2-peeled", "p": 1.0},
        {"candidates": ((0, 2), (0, 5), (1, 3), (2, 2)), "max_depth": 4},
        {"optimiser": "adam", "learning_rate": 0.01, "dtype": "float64"},
        {"complexity": "sampled", "beta": 1e-3},
    ],
    ids=str,
)
def test_every_way_to_run_it(options):
    Psi, y = sample()
    config = SMALL.replace(**options)
    trained = train(Psi, y, config)
    F = [np.log(1 + np.e) if config.goal.surrogate == "logistic" else np.e, *[e["objective"] for e in trained.history]]
    assert all(
        after < before or entry["chosen"] == -1
        for (before, after), entry in zip(pairwise(F), trained.history, strict=True)
    )
    assert objective.recomputed(trained, Psi, y) == pytest.approx(F[-1], abs=1e-9)
    assert json.loads(json.dumps(trained.history)) == trained.history
    spec = trained.declared
    assert spec is not None
    assert trained.network.depth <= spec.depth
    assert all(n <= N for n, N in zip(trained.network.n, spec.n, strict=False))
    for (k, s), U in trained.network.hidden.items():
        assert U.dtype == torch.float64
        assert (torch.linalg.vector_norm(U, spec.p, dim=1) <= spec.bound(k, s)).all()


def test_the_history_tells_which_candidate_was_least():
    trained = train(*sample(), SMALL)
    previous = np.inf
    for entry in trained.history:
        values = [candidate["objective"] for candidate in entry["candidates"]]
        if entry["chosen"] >= 0:
            assert entry["chosen"] == int(np.argmin(values))
            assert entry["objective"] == pytest.approx(min(values), abs=1e-12)
        else:
            assert min(values) >= previous * (1 - 1e-12)
        previous = entry["objective"]


def test_the_first_round_compares_linear_with_one_hidden_layer():
    first = train(*sample(), SMALL.replace(rounds=1)).history[0]
    assert [(c["depth"], c["units"]) for c in first["candidates"]] == [(1, [4]), (2, [4, 4])]


@pytest.mark.claim("adanet-comparison")
def test_the_shallow_candidate_wins_where_it_is_better():
    """The printed test F_t(w, h') <= F_t(w', h') holds in ties only, so it would always take the deeper one."""
    Psi, y = sample()
    y = torch.where(Psi[:, 0] + 0.5 * Psi[:, 2] > 0.1, 1.0, -1.0).double()
    entry = train(Psi, y, SMALL.replace(rounds=1, lam=0.05)).history[0]
    shallow, deep = [candidate["objective"] for candidate in entry["candidates"]]
    assert shallow < deep
    assert entry["chosen"] == 0


def test_it_stops_when_nothing_helps():
    Psi, y = sample()
    trained = train(Psi, y, SMALL.replace(beta=10.0))
    assert [entry["chosen"] for entry in trained.history] == [-1]
    assert trained.network.n == (5, 0)
    assert torch.equal(trained.network(Psi), torch.zeros(80, dtype=torch.float64))
    assert trained.history[-1]["objective"] == pytest.approx(np.log(1 + np.e))


def test_old_units_stay_and_new_ones_read_them():
    Psi, y = sample()
    stages: list[Trained] = []
    trained = train(Psi, y, SMALL.replace(lam=0.0), callback=stages.append)
    assert len(stages) == len(trained.history) == 3
    for before, after in pairwise(stages):
        for k, U in before.network.hidden.items():
            assert torch.equal(after.network.hidden[k][: U.shape[0], : U.shape[1]], U)
            assert not after.network.hidden[k][: U.shape[0], U.shape[1] :].any()
        for k, w in before.network.output.items():
            assert torch.equal(after.network.output[k][: len(w)], w)
    U = trained.network.hidden[2, 1]
    assert U[-4:, :-4].any()  # the last subnetwork reads units of the first ones


def test_variant_P_reads_the_last_subnetwork_only():
    trained = train(*sample(), SMALL.replace(variant="P", lam=0.0, candidates=((1, 4),), max_depth=4))
    assert trained.network.n == (5, 12, 12, 8, 4)
    second, third = trained.network.hidden[3, 2], trained.network.hidden[4, 3]
    # Subnetworks of depths 2, 3, 4: the third has the last four units of every layer.
    assert not trained.network.hidden[2, 1][8:, :4].any()
    assert trained.network.hidden[2, 1][8:, 4:8].any()
    assert not second[4:, :4].any()
    assert third[:, :4].any()


def test_outputs_of_all_layers():
    trained = train(*sample(), SMALL.replace(outputs="all", lam=1e-4, rounds=1))
    assert trained.history[0]["chosen"] == 1
    assert all(trained.network.output[k].any() for k in (1, 2))


def test_the_corrective_step_helps():
    plain, corrective = (train(*sample(), SMALL.replace(lam=1e-4, corrective=c)) for c in (False, True))
    assert corrective.history[0]["objective"] <= plain.history[0]["objective"] + 1e-12
    values = [entry["candidates"][entry["chosen"]]["objective"] for entry in corrective.history if entry["chosen"] >= 0]
    assert all(entry["objective"] <= value + 1e-12 for entry, value in zip(corrective.history, values, strict=False))
    assert corrective.history[1]["objective"] < values[1] - 1e-6


def test_without_enforcement_no_family_is_declared():
    trained = train(*sample(), SMALL.replace(enforce=False, learning_rate=1.0, Lambda=0.1))
    assert trained.declared is None
    assert any((torch.linalg.vector_norm(U, dim=1) > 0.1).any() for U in trained.network.hidden.values())


@pytest.mark.parametrize("options", [{}, {"corrective": True}, {"variant": "SD", "outputs": "all"}], ids=str)
def test_same_bits_again_in_parallel_and_after_an_interruption(options):
    Psi, y = sample()
    config = SMALL.replace(**options)
    stages: list[Trained] = []
    whole = train(Psi, y, config, callback=stages.append)
    assert same(whole, train(Psi, y, config))
    assert same(whole, train(Psi, y, config.replace(jobs=2)))
    assert not same(whole, train(Psi, y, config.replace(seed=1)))
    for stage in stages:
        assert same(whole, train(Psi, y, config, resume=stage))


def test_a_stopped_run_stays_stopped():
    Psi, y = sample()
    stopped = train(Psi, y, SMALL.replace(beta=10.0))
    assert same(stopped, train(Psi, y, SMALL.replace(beta=10.0), resume=stopped))


def test_global_randomness_is_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    threads = torch.get_num_threads()
    train(*sample(), SMALL)
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads


# What shows that it works


def accuracy(f: Tensor, y: Tensor) -> float:
    return float((y * f > 0).double().mean())


def test_interactions_need_depth_and_it_finds_it():
    Psi, y = sample(m=1200, n_0=12)
    train_set, test_set = slice(0, 800), slice(800, None)
    config = Config(learner="gradient", rounds=4, width=20, steps=800, lam=1e-5, Lambda=2.0)
    trained = train(Psi[train_set], y[train_set], config)
    from sklearn.linear_model import LogisticRegression

    linear = LogisticRegression(C=10).fit(Psi[train_set].numpy(), y[train_set].numpy())
    assert linear.score(Psi[test_set].numpy(), y[test_set].numpy()) < 0.6
    assert trained.network.depth >= 2
    assert accuracy(trained.network(Psi[test_set]), y[test_set]) > 0.9


def test_a_linear_task_stays_shallow():
    Psi, _ = sample(m=400, n_0=8)
    y = torch.where(Psi @ torch.linspace(-1, 1, 8, dtype=torch.float64) > 0, 1.0, -1.0).double()
    trained = train(Psi, y, Config(learner="gradient", rounds=3, width=10, steps=500, lam=1e-4))
    assert trained.network.depth == 1
    assert accuracy(trained.network(Psi), y) > 0.97


def breast_cancer(split: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    X, labels = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, 2.0 * labels - 1, test_size=0.2, random_state=split)
    low, high = X.min(0), X.max(0)

    def Psi(X: np.ndarray) -> Tensor:
        return torch.from_numpy(np.hstack([np.clip((X - low) / (high - low), 0, 1), np.ones((len(X), 1))]))

    return Psi(X), torch.from_numpy(y), Psi(X_test), torch.from_numpy(y_test)


@pytest.fixture(scope="module")
def tuned_logistic_regression() -> tuple[float, float]:
    """Mean test accuracy over the five splits, and its standard error."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    scores = []
    for split in range(5):
        Psi, y, Psi_test, y_test = (part.numpy() for part in breast_cancer(split))
        grid = GridSearchCV(LogisticRegression(max_iter=5000), {"C": np.logspace(-1, 4, 11)}, cv=5)
        scores.append(grid.fit(Psi[:, :-1], y).score(Psi_test[:, :-1], y_test))
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(5))


@pytest.mark.parametrize(
    ("method", "config"),
    [
        (train, Config(learner="gradient", rounds=3, width=20, steps=600, lam=1e-3)),
        (adanet_cvx.train, Config(learner="gradient", rounds=150, lam=1e-3)),
    ],
    ids=["adanet", "cvx"],
)
def test_breast_cancer_as_good_as_logistic_regression(tuned_logistic_regression, method, config):
    mean, error = tuned_logistic_regression
    scores = []
    for split in range(5):
        Psi, y, Psi_test, y_test = breast_cancer(split)
        scores.append(accuracy(method(Psi, y, config).network(Psi_test), y_test))
    assert np.mean(scores) >= mean - error


@pytest.mark.parametrize(
    ("trainer", "config"),
    [(train, SMALL), (train, Config(rounds=1, epochs=1)), (adanet_cvx.train, Config(rounds=2, lam=1e-3))],
    ids=["gradient", "committee", "cvx"],
)
def test_a_small_sample_is_trained_on_one_thread(trainer, config):
    threads, seen = torch.get_num_threads(), list[int]()
    torch.set_num_threads(2)
    try:
        trainer(*sample(), config, callback=lambda _: seen.append(torch.get_num_threads()))
        assert {*seen} == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
