"""Training for the certificate: the smooth forms are near the exact ones, and what is stored is what was trained."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adanet_theory.certificates import kl as theory_kl
from adanet_theory.certificates.derandomise import Certificate
from adanet_theory.certificates.path import path_certificate_at, path_kl
from adanet_theory.certificates.tree import one_layer, unrolled
from adanet_theory.certificates.vote import vote_certificate, vote_certificate_at, vote_kl_polya
from adanet_train.app import run
from adanet_train.certificate import forms, hidden, linear, search, train
from adanet_train.certificate.smooth import RateCost, kl_inverse
from adanet_train.config import Config, Trained
from adanet_train.core.network import Network


def sample(m: int = 600, n_0: int = 6, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    Psi = torch.rand(m, n_0, generator=draw, dtype=torch.float64) * 2 - 1
    return Psi, torch.where(Psi[:, 0] - 0.5 * Psi[:, 1] > 0, 1.0, -1.0).double()


def xor(m: int = 1500) -> tuple[torch.Tensor, torch.Tensor]:
    Psi, _ = sample(m, 3, seed=1)
    return Psi, torch.where(Psi[:, 0] * Psi[:, 1] > 0, 1.0, -1.0).double()


@pytest.fixture(autouse=True)
def fewer_steps(monkeypatch):
    """The search of a real run takes seconds; what is tested here does not depend on its length."""
    for module, name, value in (
        (linear, "SHARES", linear.SHARES[2::3]),
        (linear, "DENSE", linear.DENSE[:1]),
        (linear, "DENSE_STEPS", 100),
        (linear, "REFINED", 1),
        (search, "SCREEN_STEPS", 10),
        (search, "SPARSE_STEPS", 40),
        (search, "ROUNDS", 3),
        (hidden, "UNIT_STEPS", 60),
        (hidden, "UNIT_ROUNDS", 2),
    ):
        monkeypatch.setattr(module, name, value)


CONFIG = Config(objective="vote", max_depth=1)


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
    for form, N, exact in (
        (forms.Vote, 5120, vote_kl_polya(theta, 5120, n=100, beta=beta)),
        (forms.Path, 5120, path_kl(5120 * theta, A=100, N=5120, beta=beta)),
    ):
        rates = RateCost((beta,), y)((theta * N).log()[None]).sum()
        smooth = float(rates + form(y, 50, (), (beta,), 0.05).base_kl(torch.tensor([float(N)]).double()))
        # binomial against Poisson counts: E lgamma differs by about θ_j/2 per voter
        assert smooth == pytest.approx(exact, abs=0.6)


def test_the_smooth_vote_is_near_the_exact_certificate():
    Psi, y = sample()
    q = torch.tensor([0.6, -0.4, 0, 0, 0, 0], dtype=torch.float64)
    N, k, beta = 1280, 680, 0.01
    exact = vote_certificate_at((y * (Psi @ q)).numpy(), [0.6, 0.4], n=12, N=N, k=k, beta=beta, delta=0.05)
    form = forms.Vote(y, 6, (), (beta,), 0.05)
    log_theta = torch.tensor([[0.6, 0.4]], dtype=torch.float64).log()
    log_N, t = torch.tensor([[math.log(N)]]), torch.tensor([[(2 * k - N) / math.sqrt(N)]])
    smooth = form((Psi @ q)[None, None], torch.ones(1, 1).double(), log_theta, log_N.double(), t.double())
    assert float(smooth) == pytest.approx(exact.raw, rel=0.03)


def test_the_smooth_path_is_near_the_exact_certificate():
    Psi, y = sample()
    q = np.array([[0.4, -0.2, 0, 0, 0, 0], [0.1, 0.1, 0, 0, 0, 0], [0.0, 0.1, 0.1, 0, 0, 0]])
    N, k, beta = 5120, 134, 0.01
    exact = path_certificate_at(
        one_layer(q[0], np.array([1.0, -1.0]), q[1:]), Psi.numpy(), y.numpy(), N=N, k=k, beta=beta, delta=0.05, seed=0
    )
    form = forms.Path(y, 6, (1, -1), (beta,), 0.05)
    theta = torch.from_numpy(np.abs(q[q != 0]))[None]
    means, mass = torch.from_numpy(q) @ Psi.T, torch.from_numpy(np.abs(q).sum(1))
    log_N, t = torch.tensor([[math.log(N)]]).double(), torch.tensor([[k / math.sqrt(N)]]).double()
    assert float(form(means[None], mass[None], theta.log(), log_N, t)) == pytest.approx(exact.raw, rel=0.03)


def test_the_file_gives_the_trained_value_back():
    Psi, y = sample()
    trained = train.train(Psi, y, CONFIG)
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


def test_hidden_units_are_added_where_they_pay_and_the_tree_of_the_file_is_the_trained_one():
    Psi, y = xor()
    trained = train.train(Psi, y, CONFIG.replace(max_depth=2, rounds=3))
    first, last = trained.history[0]["objective"], trained.history[-1]["objective"]
    assert last < first - 0.05
    assert trained.network.depth == 2
    network = trained.network
    hidden = {pair: U.numpy() for pair, U in network.hidden.items()}
    tree = unrolled(hidden, {k: w.numpy() for k, w in network.output.items()}, depth=2)
    np.testing.assert_allclose(tree.B, 1, rtol=1e-12)
    np.testing.assert_allclose(tree.value(tree.means(Psi.numpy())), network(Psi).numpy(), atol=1e-12)
    assert trained.history[-1]["certificate"]["id"] == "path-certificate"


def test_units_that_are_lost_leave_the_best_network_that_had_one(monkeypatch):
    Psi, y = sample(300)
    found = linear.start(
        search.Sample(Psi.float(), y.float(), 0.025, forms.Path), torch.tensor([0.6, -0.4, 0, 0, 0, 0])
    )
    one, lost = (replace(found, units=units, value=value) for units, value in (((1,), 0.31), ((), 0.3)))
    monkeypatch.setattr(hidden, "_start", lambda *given: one)
    monkeypatch.setattr(hidden, "refined", lambda *given: iter([replace(one, value=0.305), lost]))
    assert [(seen.units, seen.value) for seen in hidden.with_units(None, replace(found, value=0.3), None)] == [
        ((), 0.3),
        ((1,), 0.305),
    ]
    monkeypatch.setattr(hidden, "refined", lambda *given: iter([replace(one, value=0.305)]))
    assert [seen.units for seen in hidden.with_units(None, replace(found, value=0.3), None)] == [(1,)]


def test_a_start_that_lost_its_units_is_not_refined_while_another_has_one(monkeypatch):
    Psi, y = sample(300)
    whole = search.Sample(Psi.float(), y.float(), 0.025, forms.Path)
    found = linear.start(whole, torch.tensor([0.6, -0.4, 0, 0, 0, 0]))
    starts = {(1,): ((), 0.3), (-1,): ((-1,), 0.32), (1, -1): ((1,), 0.31)}
    given = []
    monkeypatch.setattr(
        hidden,
        "_start",
        lambda sample, found, signs, draw: replace(found, units=starts[signs][0], value=starts[signs][1]),
    )
    monkeypatch.setattr(hidden, "refined", lambda sample, best, rounds: iter(given.append(best.value) or ()))
    assert [one.value for one in hidden.with_units(whole, replace(found, value=0.3), None)] == [0.3, 0.31]
    assert given == [0.31]


def test_more_counts_are_allowed_only_after_the_search_at_few():
    """Margins of .02 and no error: the more counts the better, up to the most that the sample allows."""
    Psi = torch.full((4000, 2), 0.02)
    Psi[:, 1] = 1
    whole = search.Sample(Psi, torch.ones(4000), 0.05, forms.Vote)
    one = torch.zeros(1, dtype=torch.long)
    found = search.Found(one, one, torch.ones(1), torch.ones(1), (), 1e6, 1.0, 0.001)
    few = search.refit(whole, found, found.theta[None])
    assert abs(few.N / search.FEW - 1) < 1e-5
    many = search.sharpened(whole, few, 0)[-1]
    assert many.N > 1.02 * search.FEW
    assert many.value < 0.98 * few.value


def test_the_best_of_several_proposals_is_kept_if_it_is_below_what_stands():
    Psi, _ = sample(60)
    networks = [train.network(search.Found(*found, (), 10.0, 1.0, 0.01), 6) for found in two_voters(Psi)]
    bounds = [Certificate("vote-certificate", {"N": 10}, raw) for raw in (0.4, 0.3)]
    nothing = Trained(Network.empty(6), None, [], CONFIG)
    first = train.judged(nothing, *zip(networks, bounds, strict=True))
    assert (first.history[0]["chosen"], first.history[0]["objective"]) == (1, 0.3)
    assert first.network is networks[1]
    again = train.judged(first, (networks[0], bounds[0]))
    assert (again.history[1]["chosen"], again.history[1]["certificate"]["raw"]) == (-1, 0.3)
    assert again.network is networks[1]


def two_voters(Psi: torch.Tensor):
    for column in (0, 1):
        yield torch.tensor([0]), torch.tensor([column]), Psi.new_ones(1), Psi.new_ones(1)


@pytest.mark.parametrize("depth", [1, 2])
def test_random_labels_are_never_certified_below_chance(depth):
    Psi, _ = sample(300)
    draw = torch.Generator().manual_seed(3)
    y = torch.where(torch.rand(300, generator=draw) < 0.5, 1.0, -1.0).double()
    trained = train.train(Psi, y, CONFIG.replace(max_depth=depth, rounds=2))
    assert all(found["objective"] > 0.5 for told in trained.history for found in told["candidates"])


def test_a_run_taken_up_again_ends_with_the_same_bits():
    Psi, y = xor(200)
    config = CONFIG.replace(max_depth=2, rounds=2)
    seen = []
    whole = train.train(Psi, y, config, callback=seen.append)
    again = train.train(Psi, y, config, resume=seen[0])
    assert whole.history == again.history
    assert torch.equal(whole.network.hidden[1, 0], again.network.hidden[1, 0])


def test_two_statements_looked_at_are_two_tried():
    assert CONFIG.tried == 1
    assert CONFIG.replace(max_depth=2).tried == 2
    assert Config(max_depth=2).tried == 1


def test_opposite_signs_of_a_coordinate_cancel_and_empty_units_go():
    found = search.Found(
        torch.tensor([0, 0, 0, 1, 2]),
        torch.tensor([0, 0, 1, 1, 0]),
        torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0]),
        torch.tensor([0.4, 0.2, 0.1, 1e-6, 0.3]),
        (1, -1),
        N=1000.0,
        t=1.0,
        beta=0.1,
    )
    kept = search.pruned(found)
    assert kept.units == (-1,)
    assert kept.node.tolist() == [0, 0, 1]
    torch.testing.assert_close(kept.weights(2), torch.tensor([[2 / 6, 1 / 6], [-3 / 6, 0]]).double(), atol=1e-6, rtol=0)


def test_features_beyond_one_and_other_methods_are_refused():
    Psi, y = sample(50)
    with pytest.raises(ValueError, match=r"\|Psi\| <= 1"):
        train.train(2 * Psi, y, CONFIG)
    with pytest.raises(ValueError, match="method adanet"):
        run.method_config("lr", CONFIG)
