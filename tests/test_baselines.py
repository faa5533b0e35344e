"""The baselines: logistic regression is sklearn's, a network is torch's, both in AdaNet's form."""

import numpy as np
import pytest
import torch
from torch import Tensor

from adanet_train.core.config import Config
from adanet_train.core.training import Trained
from adanet_train.methods import baselines
from tests.refusals import refused


def sample(m: int = 300, n_0: int = 6) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    Psi = torch.rand(m, n_0, generator=generator, dtype=torch.float64) * 2 - 1
    noise = torch.randn(m, generator=generator, dtype=torch.float64)
    return Psi, torch.where(Psi[:, 0] - 0.5 * Psi[:, 1] + 0.3 * noise > 0, 1.0, -1.0).double()


def test_lr_is_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    Psi, y = sample()
    lam = 1e-2
    trained = baselines.train_lr(Psi, y, Config(lam=lam, steps=6000, batch=300, learning_rate=1.0, dtype="float64"))
    # λ ||u||² against ||u||²/2 + C Σ: C = 1/(2 m λ).
    theirs = LogisticRegression(C=1 / (2 * len(y) * lam), fit_intercept=False, tol=1e-10).fit(Psi.numpy(), y.numpy())
    np.testing.assert_allclose(trained.network.hidden[1, 0].numpy(), theirs.coef_, atol=1e-4)
    assert trained.network.n == (6, 1)
    assert trained.network.output[1].tolist() == [1.0]
    assert trained.declared is None


def test_l1_gives_smaller_weights_where_the_feature_does_not_matter():
    Psi, y = sample()
    config = Config(lam=3e-2, steps=3000, batch=300, norm="l1", dtype="float64")
    u = baselines.train_lr(Psi, y, config).network.hidden[1, 0][0]
    assert u[2:].abs().max() < 0.1 < u[:2].abs().min()


@pytest.mark.parametrize("hidden", [(8,), (8, 7), (8, 7, 6)])
def test_nn_has_the_form_asked_for(hidden):
    Psi, y = sample()
    config = Config(hidden=hidden, lam=1e-4, steps=400, check_every=100)
    trained = baselines.train_nn(Psi, y, config)
    network = trained.network
    assert network.n == (6, *hidden, 1)
    a = Psi
    for k in range(1, network.depth):
        a = (a @ network.hidden[k, k - 1].T).clamp_min(0)
    torch.testing.assert_close(network(Psi), (a @ network.hidden[network.depth, network.depth - 1].T)[:, 0])
    F = trained.history[-1]["objective"]
    assert baselines.value(network, Psi, y, config) == pytest.approx(F, abs=1e-9)
    assert np.log(2) > F


def test_nn_learns_what_lr_cannot():
    Psi, _ = sample(m=600)
    y = torch.where(Psi[:, 0] * Psi[:, 1] > 0, 1.0, -1.0).double()
    config = Config(hidden=(20,), steps=4000, lam=1e-5)
    accuracies = [
        float((y * train(Psi, y, config).network(Psi) > 0).double().mean())
        for train in (baselines.train_lr, baselines.train_nn)
    ]
    assert accuracies[0] < 0.65
    assert accuracies[1] > 0.93


def test_same_bits_and_one_round():
    Psi, y = sample()
    stages: list[Trained] = []
    config = Config(hidden=(5,), steps=100)
    a = baselines.train_nn(Psi, y, config, callback=stages.append)
    b = baselines.train_nn(Psi, y, config)
    assert all(torch.equal(a.network.hidden[pair], b.network.hidden[pair]) for pair in a.network.hidden)
    assert len(stages) == 1
    assert baselines.train_nn(Psi, y, config, resume=stages[0]) is stages[0]


def test_nn_needs_a_hidden_layer():
    refused(lambda: baselines.train_nn(*sample(), Config(hidden=())), "hidden")
