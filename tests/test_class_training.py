"""AdaNet, LR and NN for C classes: the objective, the family, resuming, the command and the estimator."""

import json

import numpy as np
import pytest
import torch

from adanet_theory.complexity.rademacher import peeled_complexity, ranges
from adanet_theory.risk.multiclass import multiclass_margins, multiclass_objective_bound
from adanet_train.app import cli
from adanet_train.app.run import error_rate
from adanet_train.convex import class_step
from adanet_train.convex.labels import Classes
from adanet_train.core.config import Config
from adanet_train.core.network import Network
from adanet_train.data import datasets
from adanet_train.estimator import AdaNetClassifier, load
from adanet_train.methods import adanet, baselines
from adanet_train.model import model_file
from adanet_train.search import objective
from adanet_train.search.complexity import penalty
from tests.refusals import refused, says
from verify import verify_bounds
from verify.measure.membership import outside

CONFIG = Config(rounds=2, width=6, steps=150, learner="units", lam=1e-3, learning_rate=0.2, tol=1e-9)


def blobs(C=3, m=90, seed=0):
    draw = np.random.default_rng(seed)
    y = np.arange(m) % C
    angle = 2 * np.pi * y / C
    Psi = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(m)]) + draw.normal(scale=0.3, size=(m, 3))
    Psi[:, 2] = 1
    return torch.from_numpy(Psi), torch.from_numpy(y)


@pytest.fixture(scope="module")
def trained():
    return adanet.train(*blobs(), CONFIG)


def test_the_objective_is_the_loss_and_the_penalty(trained):
    """F of the history against its definition, written out; Γ as the history has it."""
    Psi, y = blobs()
    f = trained.network(Psi).numpy()
    z = f - f[np.arange(90), y][:, None] + (np.arange(3) != y.numpy()[:, None])
    loss = np.log(np.exp(z).sum(axis=1)).mean()
    penalty = 0.0
    first = dict.fromkeys(trained.network.output, 0)
    for entry in trained.history:
        kept = entry["candidates"][entry["chosen"]] if entry["chosen"] >= 0 else {"units": [], "Gamma": {}}
        for k, units in enumerate(kept["units"], start=1):
            w = trained.network.output[k][:, first[k] : first[k] + units]
            penalty += kept["Gamma"].get(str(k), 0.0) * float(w.abs().sum())
            first[k] += units
    assert trained.history[-1]["objective"] == pytest.approx(loss + penalty, rel=1e-9)
    assert trained.history[-1]["objective"] < np.log(1 + 2 * np.e)  # that of f = 0


def test_the_units_are_in_their_family_and_the_weights_are_centred(trained):
    assert not list(outside(trained.network, trained.declared))
    for w in trained.network.output.values():
        assert torch.equal(w.sort(dim=0).values[1], torch.zeros(w.shape[1], dtype=w.dtype))


def test_the_network_learns_and_a_run_taken_up_has_the_same_bits(trained):
    Psi, y = blobs()
    u = multiclass_margins(trained.network(Psi).numpy(), y.numpy())
    assert error_rate(trained.network, Psi, y) == np.mean(u <= 0) <= 0.05
    kept = []
    adanet.train(Psi, y, CONFIG, callback=kept.append)
    again = adanet.train(Psi, y, CONFIG, resume=kept[0])
    assert again.history == trained.history
    assert all(torch.equal(w, again.network.output[k]) for k, w in trained.network.output.items())


def test_sample_weights_of_2_are_rows_twice_in_the_convex_step():
    Psi, y = blobs(m=30)
    f, Gamma = torch.zeros(30, 3, dtype=torch.float64), torch.full((3,), 0.01, dtype=torch.float64)
    weights = 1.0 + (torch.arange(30) < 15).double()
    rows = torch.cat([torch.arange(30), torch.arange(15)])
    once = class_step.minimise_classes(Psi, y, f, Gamma * 1.5, weights=weights, tol=1e-11)
    twice = class_step.minimise_classes(Psi[rows], y[rows], f[:1].expand(45, 3), Gamma, tol=1e-11)
    assert once.converged
    torch.testing.assert_close(once.w, twice.w, rtol=1e-4, atol=1e-5)
    assert once.objective == pytest.approx(1.5 * twice.objective, rel=1e-9)


def test_a_corrective_step_lowers_the_objective():
    Psi, y = blobs(seed=1)
    plain = adanet.train(Psi, y, CONFIG)
    mended = adanet.train(Psi, y, CONFIG.replace(corrective=True))
    assert mended.history[-1]["objective"] <= plain.history[-1]["objective"] * (1 + 1e-6)


def test_the_bound_objective_is_the_bound():
    """F of a network against multiclass-objective-bound less its confidence term: all scores are alike here."""
    Psi, y = blobs()
    Psi = Psi / Psi.abs().max()
    config = CONFIG.replace(objective="bound", complexity="lemma-2-peeled", max_depth=2)
    trained = adanet.train(Psi, y, config)
    assert trained.history[-1]["objective"] <= np.log(1 + 2 * np.e) * (1 + 1e-12)  # f = 0, but for the rounding
    spec = trained.declared
    U, w = torch.ones(spec.n[1], 3).double() / 2, torch.ones(3, spec.n[1]).double()
    Gamma = penalty(config, spec, Psi, 3)(1, Psi @ U.T)
    F = objective.value(Network(spec.n[:2], {(1, 0): U}, {1: w}, (), 3), Psi, y, {1: Gamma}, Classes(3))
    R_m = [peeled_complexity(spec, k, m=90, r_rms=1.0) for k in (1, 2)]
    at = {"C": 3, "m": 90, "delta": 0.05, "M": ranges(spec, r_sup=1.0)}
    bound = multiclass_objective_bound(np.log(1 + 2 * np.e), [3.0 * spec.n[1], 0.0], R_m, **at)
    assert sum(bound.terms.values()) - bound.terms["confidence"] == pytest.approx(F, rel=1e-12)


@pytest.mark.parametrize("method", ["lr", "nn"])
def test_the_baselines(method):
    Psi, y = blobs()
    train = baselines.train_lr if method == "lr" else baselines.train_nn
    trained = train(Psi, y, CONFIG.replace(hidden=(8,), lam=1e-4))
    assert error_rate(trained.network, Psi, y) <= 0.05
    loss = torch.nn.functional.cross_entropy(trained.network(Psi), y)
    size = sum(float((U * U).sum()) for U in trained.network.hidden.values())
    assert trained.history[0]["objective"] == pytest.approx(float(loss) + 1e-4 * size, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variant": "P"}, "variant must be base or SD for more than two classes, got variant='P'."),
        ({"surrogate": "exponential"}, "C classes have the multinomial loss, got surrogate='exponential'."),
        ({"objective": "vote"}, "objective must be paper, bound or certificate here, got 'vote'."),
    ],
)
def test_what_many_classes_do_not_have_is_refused(change, message):
    with pytest.raises(ValueError, match=r"for|have|here|of") as caught:
        adanet.train(*blobs(), CONFIG.replace(**change))
    assert str(caught.value) == message


def test_one_class_or_a_missing_one_is_refused():
    Psi, y = blobs()
    refused(lambda: adanet.train(Psi, y * 0, CONFIG), "at least two classes, got 1")
    refused(lambda: adanet.train(Psi[y != 1], y[y != 1], CONFIG), "every class 0..1")


# The command


def test_the_command_on_a_table_of_three_names(tmp_path, capsys):
    Psi, y = blobs()
    lines = [
        "a,b,class",
        *(f"{p[0]:.6f},{p[1]:.6f},{['red', 'green', 'blue'][c]}" for p, c in zip(Psi, y, strict=True)),
    ]
    for name, rows in (("train", lines[:61]), ("test", [lines[0], *lines[61:]])):
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "other.csv").write_text("\n".join([*lines[:2], "0.1,0.2,violet"]) + "\n")
    out = tmp_path / "model.pt"
    options = ["--label", "class", "-o", str(out), "--rounds", "1", "--width", "5", "--set", "steps=100", "--json"]
    assert cli.main([str(tmp_path / "train.csv"), *options, "--test-data", str(tmp_path / "test.csv")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["test_error"] <= 0.2
    model = model_file.read(out)
    assert model.network.outputs == 3
    assert model.meta["classes"] == ["blue", "green", "red"]
    assert cli.main([str(tmp_path / "train.csv"), *options, "--resume"]) == 0
    capsys.readouterr()
    assert cli.main([str(tmp_path / "train.csv"), *options, "--test-data", str(tmp_path / "other.csv")]) == 2
    says(capsys.readouterr().err, ["y ", "('blue', 'green', 'red')", "'violet'"])


@pytest.mark.parametrize(("name", "C", "m"), [("iris", 3, 150), ("wine", 3, 178), ("digits", 10, 1797)])
def test_names_without_a_pair_are_all_classes(name, C, m):
    data = datasets.load(name)
    assert (data.outputs, data.m, len(data.classes)) == (C, m, C)
    assert data.y.dtype == np.int64
    assert np.array_equal(np.unique(data.y), np.arange(C))


# The estimator


def test_the_estimator_of_three_names(tmp_path):
    Psi, y = blobs()
    X, names = Psi.numpy()[:, :2], np.array(["left", "middle", "right"])[y.numpy()]
    fitted = AdaNetClassifier(rounds=1, width=6, config=Config(steps=150)).fit(X, names)
    assert fitted.score(X, names) >= 0.9
    assert fitted.decision_function(X).shape == (90, 3)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X))
    fitted.save(tmp_path / "model.pt", X, names)
    assert np.array_equal(load(tmp_path / "model.pt").predict(X), fitted.predict(X))
    answer = verify_bounds(fitted, X, names, draws=None)
    assert answer.sample.train_error == pytest.approx(1 - fitted.score(X, names))


def test_the_link_is_where_the_expected_loss_is_least():
    """f that minimises E log Σ_c exp(f_c - f_y + 1{c != y}) at given p, found by gradients, gives p back."""
    p = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    f = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    apart = 1 - torch.eye(3, dtype=torch.float64)
    optimiser = torch.optim.LBFGS([f], max_iter=200, tolerance_grad=1e-12, tolerance_change=1e-14)

    def closure():
        optimiser.zero_grad()
        loss = p @ ((f[None] + apart).logsumexp(1) - f)
        loss.backward()
        return loss

    optimiser.step(closure)
    q = f.detach().softmax(0)
    expected_loss = q * (np.e - (np.e - 1) * q)
    torch.testing.assert_close(expected_loss / expected_loss.sum(), p, rtol=1e-5, atol=1e-6)
