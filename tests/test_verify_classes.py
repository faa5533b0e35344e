"""verify-bounds on C classes: margins, W and B against exact fractions, the rows, and what is handed in."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from adanet_theory import catalogue
from adanet_theory.risk.multiclass import multiclass_a_posteriori, multiclass_margins
from adanet_train.model import model_file
from adanet_train.reading.enclosure import values
from adanet_train.reading.graph import of_network
from adanet_train.reading.path_norm import _exactly, path_norm
from adanet_train.reading.trace import trace
from tests.verify_models import class_model, model
from verify import cli, verify_bounds
from verify.measure import evidence, layers, margins
from verify.records.question import Question
from verify.rows import report

MANY = [bound.id for bound in catalogue.theory("many")]
VOTE = "vote-certificate-multiclass"


def fractions(x):
    return np.vectorize(Fraction, otypes=[object])(np.asarray(x))


def exact_outputs(network, Psi):
    """f(x, y) as fractions, by the definition, ReLU."""
    values = []
    for row in fractions(Psi):
        h, f = {}, [Fraction(0)] * network.outputs
        for k in range(1, network.depth + 1):
            below = {0: row} | {s: np.array([max(v, Fraction(0)) for v in h[s]], dtype=object) for s in h}
            parts = [fractions(network.hidden[k, s]) @ below[s] for s in range(k) if (k, s) in network.hidden]
            h[k] = sum(parts[1:], parts[0])
            if k in network.output:
                f = list(f + fractions(network.output[k]) @ h[k])
        values.append(f)
    return values


def exact_margins(network, Psi, y):
    return [
        f[c] - max(v for d, v in enumerate(f) if d != c) for f, c in zip(exact_outputs(network, Psi), y, strict=True)
    ]


@pytest.mark.parametrize("scale", [1.0, 1e-160, 1e120])
@pytest.mark.parametrize("seed", range(3))
def test_the_enclosures_hold_the_exact_margins(seed, scale):
    original = class_model(C=4, seed=seed, m=12, skip=True, n=(3, 4, 3, 2), declared=False)
    network = original.network
    output = {k: w * scale for k, w in network.output.items()}
    network = type(network)(network.n, network.hidden, output, network.activations, 4)
    Psi, y = original.sample.Psi.numpy(), original.sample.y.numpy()
    enclosed = margins.margins(of_network(network), Psi, y)
    exact = exact_margins(network, Psi, y)
    lower, upper = fractions(enclosed.lower), fractions(enclosed.upper)
    assert all(a <= u <= b for a, u, b in zip(lower, exact, upper, strict=True))
    assert max(b - a for a, b in zip(lower, upper, strict=True)) <= Fraction(1e-12) * max(map(abs, exact))
    np.testing.assert_allclose(
        enclosed.middle, multiclass_margins(network(torch.from_numpy(Psi)).numpy(), y), rtol=1e-9
    )


def test_ties_between_classes_are_counted():
    """Outputs that are equal in the reals, by sums that float64 rounds in different ways: the margin is 0, an error."""
    from adanet_train.core.network import Network

    U = {(1, 0): torch.tensor([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.5, 0.0, 0.0]], dtype=torch.float64)}
    w = torch.tensor([[1.0, 0.0, 0.0], [1.0, 2.0**-60, -(2.0**-60)], [0.0, 1.0, 0.0]], dtype=torch.float64)
    network = Network((3, 3), U, {1: w}, (), 3)
    Psi = np.array([[1.0, 0.1, 0.1], [0.7, 0.7, 0.7], [0.1, 0.2, 5.0]])
    for y in ([0, 0, 0], [1, 1, 1], [2, 2, 2]):
        enclosed = margins.margins(of_network(network), Psi, np.array(y))
        exact = exact_margins(network, Psi, y)
        for threshold in (Fraction(0), exact[0], exact[2]):
            assert enclosed.count(threshold) == sum(u <= threshold for u in exact)


@pytest.mark.parametrize("seed", range(4))
def test_W_and_B_are_those_of_the_centred_weights(seed):
    original = class_model(C=5, seed=seed, skip=True, n=(3, 4, 3, 2))
    network = original.network
    w = {k: fractions(v) for k, v in network.output.items()}
    least = [sum(min(sum(abs(x - a) for x in column) for a in column) for column in w[k].T) for k in sorted(w)]
    assert evidence.w_norms(network, 3) == least
    paths = {0: fractions(np.ones(3))}
    for k in (1, 2):
        parts = [np.abs(fractions(network.hidden[k, s])) @ paths[s] for s in range(k) if (k, s) in network.hidden]
        paths[k] = sum(parts[1:], parts[0])
    B = Fraction(0)
    for s in range(3):
        v = sum(w[k] @ fractions(network.hidden[k, s]) for k in range(s + 1, 4) if (k, s) in network.hidden)
        B += sum(min(sum(abs(x - a) for x in column) for a in column) * paths[s][t] for t, column in enumerate(v.T))
    assert B <= path_norm(of_network(network)) <= B * Fraction(1 + 1e-12)
    assert evidence.up(B) == evidence.up(_exactly(of_network(network)))


def test_equal_outputs_err_everywhere_and_the_bound_is_1():
    original = class_model(C=3)
    output = {k: w[:1].repeat(3, 1) for k, w in original.network.output.items()}
    network = type(original.network)(
        original.network.n, original.network.hidden, output, original.network.activations, 3
    )
    assert path_norm(of_network(network)) < 1e-12
    from dataclasses import replace

    answer = report.build(replace(original, network=network), Question(draws=None))
    assert answer.sample.train_error == 1
    assert {row.value for row in answer.bounds if row.id in MANY} == {1.0}
    assert {row.raw for row in answer.bounds if row.id == VOTE} == {1.0}


def test_the_rows_of_many_classes():
    original = class_model(C=3, m=4000, flips=0.0, n=(3, 4, 2))
    answer = report.build(original, Question(draws=None))
    assert [row.id for row in answer.bounds] == [*MANY, VOTE, "kuznetsov-mohri-syed"]
    assert answer.classes == 3
    assert [row.id for row in answer.bounds if not row.applies] == [VOTE, "kuznetsov-mohri-syed"]
    assert answer.bounds[-2].why_not == ("linear",)
    by = {row.id: row for row in answer.bounds}
    u = multiclass_margins(original.network(original.sample.Psi).numpy(), original.sample.y.numpy())
    assert answer.sample.train_error == np.mean(u <= 0)
    weights = [(original.network.output[k] @ original.network.hidden[k, k - 1]).numpy() for k in (1, 2)]
    v, top = (w - np.median(w, axis=0) for w in weights)
    paths = original.network.hidden[1, 0].abs().sum(1).numpy()
    B = float(np.abs(v).sum() + (np.abs(top) @ paths).sum())
    expected = multiclass_a_posteriori(u, B, C=3, d=1, n_0=3, r_rms=answer.sample.r_rms, delta=0.05)
    row = by["multiclass-a-posteriori"]
    assert row.j == expected.j
    assert row.raw == pytest.approx(expected.total, rel=1e-9)
    assert row.raw >= expected.total * (1 - 1e-13)
    fixed = by["multiclass-margin-bound"].terms
    M = max(layers.ranges(original.declared, 1.0).upper)
    width = 0.2 * (1 - 2.0**-30)  # of the ramp of a program in float64
    assert fixed["depth"] == pytest.approx(4 * M / width * np.sqrt(2 * np.log(3 * 2) / 4000), rel=1e-12)


def test_two_classes_see_none_of_it():
    answer = report.build(model(), Question(draws=None))
    assert not {row.id for row in answer.bounds} & set(MANY)
    assert not any("multiclass" in id for row in answer.assumptions for id in row.statements)
    assert answer.classes == 2


# What is handed in


def sequential(outputs=4, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, outputs)).double()


def points(outputs=4, m=50, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.uniform(-1, 1, (m, 3))
    return X, sequential(outputs)(torch.from_numpy(X)).argmax(1).numpy()


def test_a_module_a_state_dict_and_a_file_agree(tmp_path, capsys):
    module, (X, y) = sequential(), points()
    of_module = verify_bounds(module, X, y, draws=None)
    of_state = verify_bounds(module.state_dict(), X, y, activation="relu", draws=None)
    torch.save(module.state_dict(), tmp_path / "mlp.pt")
    np.savez(tmp_path / "train.npz", X=X, y=y)
    arguments = ["--activation", "relu", "--data", str(tmp_path / "train.npz"), "--no-estimates", "--json"]
    assert cli.main([str(tmp_path / "mlp.pt"), *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["classes"] == 4
    assert "4 logits" in " ".join(document["notes"])
    for each in (of_module, of_state):
        assert each.sample.train_error == 0
        assert each.bounds["multiclass-a-posteriori"].raw == document["bounds"][2]["raw"]
        assert each.bounds["multiclass-a-posteriori"].applies


def test_a_graph_has_the_path_norm_of_its_layers():
    module = sequential(5)
    of_layers = verify_bounds(module.state_dict(), *points(5), activation="relu", draws=None)
    read = trace(module, (3,))
    assert path_norm(read) == pytest.approx(of_layers.model.path_norm, rel=1e-12)
    f, error = values(read, points(5)[0])
    assert f.shape == error.shape == (50, 5)


def test_a_convolutional_network_of_three_classes():
    torch.manual_seed(0)
    layers = [nn.Conv1d(1, 2, 3, padding=1), nn.ReLU(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(4, 3)]
    module = nn.Sequential(*layers).double().eval()
    X = np.random.default_rng(0).uniform(-1, 1, (40, 1, 4))
    y = module(torch.from_numpy(X)).argmax(1)
    answer = verify_bounds(module, X, y, draws=None)
    assert answer.model.graph is not None
    assert answer.sample.train_error == 0
    assert [id for id, row in answer.bounds.items() if row.applies] == ["multiclass-a-posteriori", "occam-certificate"]


def test_an_mlp_classifier_of_three_classes():
    from sklearn.neural_network import MLPClassifier

    draw = np.random.default_rng(0)
    X = draw.normal(size=(90, 2))
    names = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    fitted = MLPClassifier((5,), max_iter=20, random_state=0)
    with pytest.warns(match="ConvergenceWarning|converge"):
        fitted.fit(X, names)
    answer = verify_bounds(fitted, X, names, draws=None)
    assert answer.sample.train_error == pytest.approx(np.mean(fitted.predict(X) != names))
    assert answer.classes == 3


def test_held_out_points_of_many_classes(tmp_path, capsys):
    original = class_model(C=3, seed=1)
    path = tmp_path / "model.pt"
    model_file.write(path, original)
    held = class_model(C=3, seed=2)
    names = np.array(["a", "b", "c"])[held.sample.y.numpy()]
    np.savez(tmp_path / "test.npz", Psi=held.sample.Psi.numpy(), y=names)
    assert cli.main([str(path), "--test-data", str(tmp_path / "test.npz"), "--no-estimates", "--json"]) == 0
    test = json.loads(capsys.readouterr().out)["test"]
    wrong = original.network(held.sample.Psi).argmax(1) != held.sample.y
    assert test["error"] == pytest.approx(float(wrong.double().mean()))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b", "d"] * 2, "y must hold the classes of training ('a', 'b', 'c'), got 'd'."),
        ([0, 1, 2] * 2, "y must hold the classes of training ('a', 'b', 'c'), got '0', '1', '2'."),
        ([0.5, 1, 2] * 2, "y is continuous, got 0.5: this is regression; only classification is covered"),
        ([np.nan, 1, 2] * 2, "y must hold class labels, whole numbers or names, got nan."),
    ],
)
def test_labels_that_training_did_not_have(tmp_path, capsys, y, message):
    path = tmp_path / "model.pt"
    model_file.write(path, class_model(C=3))
    np.savez(tmp_path / "test.npz", Psi=np.random.default_rng(0).normal(size=(6, 3)), y=np.array(y))
    assert cli.main([str(path), "--test-data", str(tmp_path / "test.npz"), "--no-estimates"]) == 2
    assert f"{tmp_path / 'test.npz'}: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, 7, 9], "y holds 5 classes ('0', '1', '2', '7', ..), expected the 4 classes"),
        ([0, "b", 2, 1], "y must hold labels of one type, got int and str."),
        (["a", "b", "c", "a"], "expected the 4 classes of the network, or their indices 0..3"),
        ([0, 1, 2], "y must have the shape (4,)"),
    ],
)
def test_labels_that_a_module_cannot_have(y, message):
    X, _ = points(m=5 if len(y) == 5 else 4)
    with pytest.raises(ValueError, match="y") as caught:
        verify_bounds(sequential(4), X, np.array(y, dtype=object) if len(set(map(type, y))) > 1 else y, draws=None)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_hundreds_of_classes_and_few_rows():
    original = class_model(C=300, m=40)
    answer = report.build(original, Question(draws=None))
    assert answer.classes == 300
    assert all(row.raw is not None and row.raw >= 1 for row in answer.bounds if row.id != VOTE)
    linear = report.build(class_model(C=300, m=40, n=(3, 1)), Question(draws=None))
    (vote,) = [row for row in linear.bounds if row.id == VOTE]
    assert vote.applies
    assert vote.raw >= 1


def test_the_bound_for_ensembles_stands_beside_and_costs_a_factor_C():
    """Π_1(H_k) is H_k: its complexity is 8C/rho of a mean that ours has 4/rho of."""
    by = {}
    for C in (3, 30):
        answer = report.build(class_model(C=C, m=4000, n=(3, 4, 2)), Question(draws=None))
        by[C] = {row.id: row for row in answer.bounds}
        theirs, ours = by[C]["kuznetsov-mohri-syed"], by[C]["multiclass-margin-bound"]
        assert theirs.value is None
        assert not theirs.applies
        assert theirs.group == "context"
        assert "fixed-in-advance" in theirs.why_not
        assert theirs.terms["complexity"] == pytest.approx(2 * C * ours.terms["complexity"], rel=1e-9)
    linear = report.build(class_model(C=3, n=(3, 2)), Question(draws=None))
    assert {"depth", "fixed-in-advance"} <= set(linear.bounds[-1].why_not)
    assert linear.bounds[-1].raw is None


def test_one_class_alone_in_the_sample():
    X, y = points()
    only = verify_bounds(sequential(), X[y == y[0]], y[y == y[0]], draws=None)
    assert only.sample.train_error == 0
