"""Networks with random weights: the law of the outputs by drawing whole weight vectors, and what is paid."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_train.certificate import randomised
from adanet_train.core.network import Network


def network(n_0: int = 4, units: int = 3, seed: int = 0) -> Network:
    draw = torch.Generator().manual_seed(seed)
    U, V = (torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in ((units, n_0), (1, units)))
    return Network((n_0, units, 1), {(1, 0): U, (2, 1): V}, {2: V.new_ones(1)}, ("relu",))


def sample(m: int, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    Psi = torch.rand(m, 4, generator=draw, dtype=torch.float64) * 2 - 1
    return Psi, torch.where(network()(Psi) > 0, 1.0, -1.0).double()


def test_the_errors_are_those_of_whole_weight_vectors_drawn_anew_for_every_example():
    net, (Psi, y), s, draws = network(), sample(40), 0.4, 4000
    ours = randomised.errors(net, Psi, y, s, draws, torch.Generator().manual_seed(2)) / (draws * len(y))
    draw = np.random.default_rng(3)
    wrong = 0
    for x, label in zip(Psi.numpy(), y.numpy(), strict=True):
        U = net.hidden[1, 0].numpy() + s * draw.standard_normal((draws, 3, 4))
        V = net.hidden[2, 1].numpy() + s * draw.standard_normal((draws, 1, 3))
        f = (V @ np.maximum(U @ x, 0)[:, :, None])[:, 0, 0]
        wrong += int((label * f <= 0).sum())
    spread = math.sqrt(0.25 / (draws * len(y)))
    assert abs(ours - wrong / (draws * len(y))) < 5 * spread
    assert wrong > 1000  # there is something to compare


def test_the_value_is_made_of_what_was_drawn_and_moved():
    net, rest, s = network(), sample(300), 0.3
    moved = replace(net, hidden={pair: U + 0.01 for pair, U in net.hidden.items()})
    certified = randomised.judged(moved, net, s, rest, 0.05, torch.Generator().manual_seed(4))
    KL = 15 * 0.01**2 / (2 * s**2)  # 12 + 3 weights
    assert math.isclose(certified.KL, KL, rel_tol=1e-9)
    q = kl_inverse(certified.error, math.log(2 / 0.005) / (randomised.DRAWS * 300))
    assert certified.raw == pytest.approx(kl_inverse(q, (certified.KL + math.log(xi(300) / 0.045)) / 300), rel=1e-9)


def test_training_never_ends_above_the_prior_and_random_labels_are_not_certified(monkeypatch):
    monkeypatch.setattr(randomised, "DRAWS", 20)
    net, own, rest = network(), sample(200), sample(400, seed=5)
    s = randomised.width(net, *own, randomised.generator(0, 1, 1))
    prior = randomised.judged(net, net, s, rest, 0.05, randomised.generator(0, 1, 3))
    certified = randomised.train(net, own, rest, 0.05, 0)
    assert certified.raw <= prior.raw < 0.3
    labels = torch.where(torch.rand(400, generator=torch.Generator().manual_seed(6)) < 0.5, 1.0, -1.0).double()
    assert randomised.train(net, own, (rest[0], labels), 0.05, 0).raw > 0.5


def test_the_width_is_the_largest_that_leaves_the_points_of_the_prior_alone():
    net, own = network(), sample(400)
    s = randomised.width(net, *own, torch.Generator().manual_seed(7))
    after = randomised.WIDTHS[randomised.WIDTHS.index(s) + 1 :]
    assert after, "every width would do: the test says nothing"
    assert all(randomised.errors(net, *own, t, 1, torch.Generator().manual_seed(8)) > 0 for t in after)
