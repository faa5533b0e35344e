"""verify_bounds in Python: what it accepts, what it refuses, and that its report is the command's."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from torch import Tensor, nn

from adanet_theory.risk.posterior import a_posteriori
from adanet_theory.spec import NetworkSpec
from adanet_train import certify, compress
from adanet_train.core.config import Config
from adanet_train.estimator import AdaNetClassifier
from adanet_train.model import model_file
from adanet_train.picking.core import Labelled
from adanet_train.reading.enclosure import values
from adanet_train.reading.path_norm import path_norm
from adanet_train.reading.trace import trace
from tests.refusals import refused, says
from tests.verify_models import model as layered_model
from verify import cli, verify_bounds
from verify.reading.formula import ReadNetwork
from verify.reading.points import GivenPoints
from verify.records.question import Question, in_python
from verify.rows.report import build


def net(*parts: nn.Module, seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    module = nn.Sequential(*parts)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3 if parameter.ndim > 1 else 0.01)
    return module.eval()


def stack() -> nn.Module:
    return net(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1), seed=1)


def plain() -> nn.Module:
    """Reported on in a tenth of a second: no certificate is searched for a graph that is not homogeneous."""
    return net(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1), seed=1)


def convolutional(outputs: int = 2) -> nn.Module:
    return net(nn.Conv1d(1, 2, 3, padding=1), nn.ReLU(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(4, outputs), seed=3)


def points(module: nn.Module, *shape: int, m: int = 400) -> tuple[Any, Any]:
    """Points on which the network is right, with its own classes 0 and 1."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(m, *shape)).astype(np.float32)
    with torch.no_grad():
        f = module(torch.from_numpy(X).to(next(module.parameters()))).numpy().reshape(m, -1)
    y = (f[:, -1] > (f[:, 0] if f.shape[1] == 2 else 0)).astype(int)
    assert 0 < y.mean() < 1
    return X, y


# Networks


def test_a_stack_of_linears_stands_in_layers_and_has_the_report_of_its_state_dict(tmp_path: Path) -> None:
    module = stack().double()
    X, y = points(module, 3)
    report = verify_bounds(module, X, y, draws=4)
    torch.save(module.state_dict(), tmp_path / "net.pt")
    for other in (module.state_dict(), tmp_path / "net.pt", str(tmp_path / "net.pt")):
        same = verify_bounds(other, X, y, draws=4, activation="relu")
        for id, row in report.bounds.items():
            other_row = same.bounds[id]
            assert (other_row.applies, other_row.why_not, other_row.j) == (row.applies, row.why_not, row.j)
            assert other_row.terms == pytest.approx(row.terms, rel=1e-12)
        assert same.complexities == report.complexities
    assert report.model.graph is None
    assert report.sample.train_error == 0


def test_a_convolutional_network_has_the_value_of_its_graph() -> None:
    module = convolutional().double()
    X, y = points(module, 1, 4)
    report = verify_bounds(module, X, y)
    graph = trace(module, (1, 4)).read((-1.0, 1.0))
    f, _ = values(graph, X)
    B = path_norm(graph)
    r_rms = max(1.0, float(np.sqrt((X.astype(np.float64) ** 2).mean(axis=0)).max()))
    expected = a_posteriori((2 * y - 1) * f[:, 0], B, d=1, n_0=5, r_rms=r_rms, delta=0.05)
    assert report.bounds["a-posteriori"].raw == pytest.approx(expected.total, rel=1e-9)
    assert report.bounds["a-posteriori"].applies
    assert report.bounds["a-posteriori"].raw >= expected.total * (1 - 1e-12)
    assert report.model.graph == 6
    family = [row for row in report.bounds.values() if row.id.startswith(("theorem", "corollary", "margin"))]
    assert family
    assert all(row.raw is None and "fixed-in-advance" in row.why_not for row in family)
    assert report.complexities == ()


@pytest.mark.parametrize("module", [stack(), nn.Sequential(stack(), nn.Linear(1, 1))])
def test_a_bound_on_x_below_1_leaves_room_for_the_constant_feature(module: nn.Module) -> None:
    """Of a network in layers, and of a graph."""
    X, y = points(stack(), 3, m=60)
    report, wide = (verify_bounds(module, X / 10, y, r_sup=r_sup, draws=None) for r_sup in (0.2, 1))
    rows = {row.id: row.status for row in report.assumptions}
    assert rows["r-sup"] == "assumed"
    assert report.bounds["a-posteriori-bounded"].applies
    assert report.bounds["a-posteriori-bounded"].raw == wide.bounds["a-posteriori-bounded"].raw
    refuted = verify_bounds(module, X / 10, y, r_sup=0.05, draws=None)
    tested = verify_bounds(module, X / 10, y, r_sup=0.2, draws=None, test=(X[:9] / 4, y[:9]))
    assert all("r-sup" in r.bounds["a-posteriori-bounded"].why_not for r in (refuted, tested))


def test_a_graph_has_the_rows_on_path_norms_of_the_layers_that_it_could_be() -> None:
    """Biases are weights on a feature that is constantly 1, whether it stands in Psi or not."""
    X, y = points(stack(), 3, m=60)
    sample = GivenPoints(X.astype(np.float64), 2.0 * y - 1, mapped=False)
    graph = build(ReadNetwork(trace(stack(), (3,))), Question(draws=4, r_sup=1), sample=sample)
    by_name = {row.id: row for row in graph.bounds}
    layers = verify_bounds(stack().double(), X, y, draws=4, r_sup=1).bounds
    for id in ("a-posteriori", "a-posteriori-bounded", "a-posteriori-data"):
        assert by_name[id].applies
        # those of the module are about its program: the ramp starts at 2^-30 rho
        assert by_name[id].raw == pytest.approx(layers[id].raw, rel=2.0**-29)
        assert by_name[id].terms == pytest.approx(layers[id].terms, rel=2.0**-29)


def test_a_network_without_activations_is_not_said_to_be_curved() -> None:
    X, y = points(stack(), 3, m=60)
    rows = {
        name: next(row for row in verify_bounds(module, X, y, draws=None).assumptions if row.id == "linear")
        for name, module in {
            "several": nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)),
            "curved": nn.Sequential(nn.Linear(3, 2), nn.Softplus(), nn.Linear(2, 1)),
            "one": nn.Linear(3, 1),
        }.items()
    }
    assert {name: row.status for name, row in rows.items()} == {"several": "open", "curved": "fails", "one": "holds"}
    assert rows["curved"].detail == "softplus is applied between Psi and f"


class SideBySide(nn.Module):
    """GELU, which is steep, beside a sigmoid, which is not 0 at 0."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.out = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.cat([nn.functional.gelu(self.left(x)), torch.sigmoid(self.right(x))], dim=1))


def test_every_activation_of_a_level_counts_for_the_assumptions() -> None:
    X, y = points(stack(), 3)
    rows = {row.id: row for row in verify_bounds(SideBySide(), X, y, draws=None).assumptions}
    assert rows["lipschitz"].status == rows["phi-zero"].status == "fails"
    assert "gelu" in rows["lipschitz"].detail
    assert "sigmoid(0) = 0.5" in rows["phi-zero"].detail


def test_curved_networks_with_biases_are_read_and_no_bound_is_claimed() -> None:
    module = net(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)).double()
    X, y = points(module, 3)
    report = verify_bounds(module, X, y, test=(X + 0.25, y))
    assert report.bounds["a-posteriori"].why_not == ("homogeneous",)
    assert [id for id, row in report.bounds.items() if row.applies] == ["held-out", "occam-certificate"]
    assert report.test.n == 400
    without = net(nn.Linear(3, 5, bias=False), nn.Tanh(), nn.Linear(5, 1, bias=False))
    assert verify_bounds(without, X, y, draws=4).model.graph is None  # in layers, as the paper has them


def test_a_fitted_estimator_brings_its_classes() -> None:
    X = np.random.default_rng(0).uniform(0, 1, size=(60, 2))
    y = np.where(X[:, 0] > 0.5, "yes", "no")
    fitted = AdaNetClassifier(rounds=1, width=3, config=Config(steps=20), feature_range=(0.0, 1.0)).fit(X, y)
    report = verify_bounds(fitted, X, y, draws=4)
    assert report.sample.train_error == pytest.approx(1 - fitted.score(X, y))
    assert report.declared is not None
    with pytest.raises(ValueError, match=r"^y .*'no' and 'yes'.* 'maybe'"):
        verify_bounds(fitted, X, np.where(y == "no", "maybe", y))
    refused(lambda: verify_bounds(AdaNetClassifier(), X, y), "not fitted yet")


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_an_mlp_of_scikit_learn(activation: str) -> None:
    X = np.random.default_rng(0).uniform(0, 1, size=(60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    fitted = MLPClassifier((4,), activation=activation, max_iter=5, random_state=0)
    refused(lambda: verify_bounds(fitted, X, y), "not fitted yet")
    with pytest.warns(ConvergenceWarning, match="Maximum iterations"):
        fitted.fit(X, y)
    report = verify_bounds(fitted, X, y, draws=4)
    assert report.sample.train_error == pytest.approx(1 - fitted.score(X, y))
    assert (report.model.graph is not None) == (activation == "tanh")  # no layer carries its biases above the first


def test_several_labels_for_each_point_are_no_classes() -> None:
    X, y = points(stack(), 3, m=40)
    several = MLPClassifier((4,), max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        several.fit(X, np.column_stack([y, np.arange(40) % 3 > 0]))
    refused(lambda: verify_bounds(several, X, y), "several labels for each point")


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_features_whose_squares_exceed_the_floats(size: float) -> None:
    module = net(nn.Linear(3, 5, bias=False), nn.ReLU(), nn.Linear(5, 1, bias=False))
    X, y = points(module, 3, m=40)
    report = verify_bounds(module, X.astype(float) * size, y, draws=None)
    assert report.bounds["a-posteriori-data"].raw is None or report.bounds["a-posteriori-data"].raw > 1


def test_the_sample_of_a_model_file_is_its_own(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    model_file.write(path, layered_model())
    assert verify_bounds(path, draws=4).sample.m == 60


def test_a_declared_family_is_checked_and_used() -> None:
    module = net(nn.Linear(3, 5, bias=False), nn.ReLU(), nn.Linear(5, 1, bias=False)).double()
    X, y = points(module, 3)
    wide = NetworkSpec.layered((3, 8, 1), 100.0, p=2)
    report = verify_bounds(module, X, y, declared=wide, rho=0.1, r_sup=1, draws=4)
    assert report.bounds["margin-bound"].applies
    assert (
        verify_bounds(module, X, y, declared=NetworkSpec.layered((3, 8, 1), 1e-3, p=2), draws=4).verdict == "violated"
    )
    with pytest.raises(ValueError, match=r"layer 1.*5 units.*4"):
        verify_bounds(module, X, y, declared=NetworkSpec.layered((3, 4, 1), 1.0, p=2))
    with pytest.raises(ValueError, match="declared must have the network's activations"):
        verify_bounds(module, X, y, declared=NetworkSpec.layered((3, 8, 1), 1.0, p=2, activations="tanh"))
    with pytest.raises(ValueError, match="this network is a graph"):
        verify_bounds(convolutional(), *points(convolutional(), 1, 4), declared=wide)


def test_a_wrapper_is_what_it_runs() -> None:
    module = stack()
    X, y = points(module, 3, m=40)
    answer = verify_bounds(nn.DataParallel(module), X, y, draws=None)
    assert answer.to_json() == verify_bounds(module, X, y, draws=None).to_json()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_half_precision_are_taken_as_the_numbers_they_are(dtype: torch.dtype) -> None:
    module = stack().to(dtype)
    X, y = points(stack(), 3)
    answer = verify_bounds(module, X, y, draws=None)
    assert answer.model.path_norm == verify_bounds(module.float(), X, y, draws=None).model.path_norm
    (row,) = [row for row in answer.assumptions if row.id == "arithmetic"]
    assert row.status == "open"
    assert str(dtype)[6:] in row.detail


@pytest.mark.parametrize("scale", [1e150, 1e-310, 0.0])
@pytest.mark.parametrize("skip", [False, True])
def test_very_large_and_very_small_weights_are_reported_without_a_number_below_the_truth(
    scale: float, skip: bool
) -> None:
    module = (Skipping() if skip else stack()).double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(scale)
    X = np.random.default_rng(0).uniform(-1, 1, size=(50, 3))
    y = np.arange(50) % 2
    answer = verify_bounds(module, X, y, draws=None)
    assert answer.bounds["a-posteriori"].value == 1  # at m = 50 and labels that mean nothing
    assert str(answer)
    assert scale < 1 or answer.html()
    with torch.no_grad():
        assert float(module(torch.from_numpy(X)).abs().max()) <= answer.model.path_norm


class Skipping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.out, self.skip = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.relu(self.hidden(x))) + self.skip(x)


# Arrays


@pytest.mark.parametrize(
    "same",
    [
        lambda X: torch.from_numpy(X).requires_grad_(),
        lambda X: torch.from_numpy(X).to_sparse(),
        lambda X: np.asfortranarray(X),
        lambda X: X[::-1][::-1],
        lambda X: X.tolist(),
    ],
)
def test_points_are_understood(same: Any) -> None:
    module = plain()
    X, y = points(module, 3, m=40)
    assert verify_bounds(module, same(X), y, draws=None).to_json() == verify_bounds(module, X, y, draws=None).to_json()


def test_points_of_bfloat16_are_taken_as_the_numbers_they_are() -> None:
    module = plain()
    X = torch.from_numpy(points(module, 3, m=40)[0]).bfloat16()
    y = np.arange(40) % 2
    answer = verify_bounds(module, X, y, draws=None)
    assert answer.to_json() == verify_bounds(module, X.double(), y, draws=None).to_json()


def test_a_frame_with_nullable_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    module = plain()
    X, y = points(module, 3, m=40)
    frame = pandas.DataFrame(X.astype(float)).convert_dtypes()
    answer = verify_bounds(module, frame, pandas.Series(y, index=range(7, 47), dtype="Int64"), draws=None)
    assert answer.sample.train_error == 0
    frame.iloc[3, 1] = pandas.NA
    refused(lambda: verify_bounds(module, frame, y), "X must be finite")


# Labels


@pytest.mark.parametrize(
    "same",
    [
        lambda y: y,
        lambda y: y.astype(bool),
        lambda y: 2.0 * y - 1,
        lambda y: torch.from_numpy(y),
        lambda y: y[:, None],
        lambda y: np.where(y == 1, "b", "a"),
        lambda y: np.where(y == 1, "b", "a").astype(object),
        lambda y: y.tolist(),
    ],
)
def test_labels_are_understood(same: Any) -> None:
    module = plain()
    X, y = points(module, 3)
    assert verify_bounds(module, X, same(y), draws=None).sample.train_error == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda y: y + 1, r"y must be -1/\+1 or 0/1, or names of two classes, got 1, 2"),
        (lambda y: y * np.arange(len(y)), r"y must be -1/\+1 or 0/1"),
        (lambda y: y[:-1], r"y must have the shape \(400,\), one label for each point, got \(399,\)"),
        (lambda y: np.eye(3)[y], "y has 3 columns, expected 2, one for each class"),
        (lambda y: np.array(["a", "b", "c", "d"])[np.arange(400) % 4], "y must hold two classes"),
    ],
)
def test_labels_that_could_mean_anything_are_refused(wrong: Any, message: str) -> None:
    module = plain()
    X, y = points(module, 3)
    with pytest.raises(ValueError, match=message):
        verify_bounds(module, X, wrong(y))


def test_a_categorical_has_an_order_of_its_own() -> None:
    """What its codes are is what a network was trained on."""
    pandas = pytest.importorskip("pandas")
    module = plain()
    X, y = points(module, 3)
    named = pandas.Categorical(np.array(["yes", "no"])[y], categories=["yes", "no"])
    assert named.codes.tolist() == y.tolist()
    for labels in (named, pandas.Series(named)):
        report = verify_bounds(module, X, labels, draws=None)
        assert report.sample.train_error == 0
        assert "labels 'yes' and 'no' mapped to -1 and +1." in report.notes
    of_three = net(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 3))
    with torch.no_grad():
        places = of_three(torch.from_numpy(X)).argmax(dim=1).numpy()
    report = verify_bounds(of_three, X, pandas.Categorical.from_codes(places, ["c", "a", "b"]), draws=None)
    assert report.sample.train_error == 0
    assert "labels 'c', 'a', 'b' mapped to the outputs in this order." in report.notes


def test_held_out_points_have_the_classes_of_the_sample() -> None:
    module = plain()
    X, y = points(module, 3)
    named, other = np.array(["cat", "dog"])[y], np.array(["dog", "fox"])[y]
    assert verify_bounds(module, X, named, test=(X / 2, named), draws=None).test.error < 0.5
    with pytest.raises(ValueError, match=r"^test y .*'cat' and 'dog'.* 'fox'"):
        verify_bounds(module, X, named, test=(X / 2, other))
    refused(lambda: verify_bounds(module, X, y, test=(X / 2, other)), "y ", "0/1 or -1/+1", "test y", "dog, fox")


def test_classes_the_other_way_round_are_doubted() -> None:
    module = plain()
    X, y = points(module, 3)
    (hint,) = verify_bounds(module, X, 1 - y, draws=None).advice
    says(hint, ["The network errs on", "the other way round?"])
    assert "better training" not in hint
    tree = DecisionTreeClassifier(random_state=0).fit(X, 1 - y)
    assert any("other way round" in note for note in verify_bounds(tree, X, y, draws=None).notes)


def test_a_probability_in_place_of_a_logit_is_doubted() -> None:
    module = nn.Sequential(stack(), nn.Sigmoid(), nn.Flatten(), nn.Linear(1, 1, bias=False))
    nn.init.constant_(module[3].weight, 2.0)  # type: ignore[arg-type]
    X, y = points(stack(), 3)
    doubts = [
        note for note in verify_bounds(module.eval(), X, y, draws=None).notes if "logit" in note or "round" in note
    ]
    assert doubts == [
        "f is positive at every point of the sample: f must be a logit, whose sign decides, not a probability."
    ]


# Wrong input


class Ten(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, x, x, x], dim=1)


@pytest.mark.parametrize(
    ("network", "changes", "message"),
    [
        (Ten(), {"y": -np.ones(400)}, "y holds 1 classes .*expected the 12 classes of the network"),
        (object(), {}, "network must be a torch nn.Module, a fitted estimator"),
        (stack(), {"activation": "relu"}, "activation is for a state_dict"),
        (stack().state_dict(), {}, "a state_dict does not name its activation"),
        (stack(), {"delta": 1.5}, r"delta must be in \(0, 1\), got delta=1.5"),
        (stack(), {"rho": float("nan")}, "rho must be"),
        (stack(), {"X": np.where(np.arange(1200) == 700, np.nan, 0).reshape(400, 3)}, "got nan in row 233, column 1"),
        (stack(), {"X": np.zeros((400, 4))}, r"module '0' \(Linear\) cannot be read: does not fit"),
        (stack(), {"test": (np.zeros((2, 4)), [0, 1])}, "test X must have the shape"),
        (stack(), {"test": 3}, "test must be a pair"),
        (stack(), {"y": None}, "^y is missing: X and y are given together"),
        (stack(), {"X": None}, "^X is missing: X and y are given together"),
        (stack(), {"X": None, "y": None}, "X and y are required for an nn.Module"),
        ("nothing.pt", {}, "no such file"),
        (stack(), {"X": np.ma.masked_greater(np.linspace(0, 1, 1200).reshape(400, 3), 0.9)}, "X must have no masked"),
        (stack(), {"X": [[1.0, 2.0, 3.0], [1.0]], "y": [0, 1]}, "X must hold real numbers in rows of one length"),
        (stack(), {"X": np.full((400, 3), "1")}, "X must hold real numbers"),
        (stack(), {"X": np.zeros((0, 3)), "y": []}, r"X must have the shape \(m, ..\) with m >= 1, got \(0, 3\)"),
        (stack(), {"tried": 1.5}, "tried must be an integer >= 1, got tried=1.5"),
        (stack(), {"draws": 2.5}, r"draws must be an integer in \[2, 1000000\], got draws=2.5"),
        (stack(), {"draws": 10**9}, r"draws must be an integer in \[2, 1000000\]"),
        (stack(), {"draws": "many"}, "draws must be an integer"),
        (stack(), {"declared": 3}, "declared must be a NetworkSpec or a dict, got a int"),
        (make_pipeline(StandardScaler()), {}, "network must be .* got a Pipeline"),
        (LogisticRegression().fit(np.eye(3), [0, 1, 1]), {"y": [None, *[0] * 399]}, "must hold 0 and 1 .*, got None"),
        (stack(), {"seed": 0.5}, "seed must be an integer"),
        (stack(), {"delta": "small"}, "delta must be a number, got delta='small'"),
    ],
)
def test_wrong_input_is_a_value_error_of_one_line(network: Any, changes: dict[str, Any], message: str) -> None:
    X, y = points(stack(), 3)
    given = {"X": X, "y": y} | changes
    with pytest.raises(ValueError, match=message) as caught:
        verify_bounds(network, given.pop("X"), given.pop("y"), **given)
    assert "\n" not in str(caught.value)


def test_a_misspelt_keyword_is_answered() -> None:
    for name, meant in (("detla", "delta"), ("test_data", "test")):
        with pytest.raises(TypeError, match=f"verify_bounds takes no argument '{name}': did you mean '{meant}'"):
            verify_bounds(stack(), *points(stack(), 3), **{name: 0.1})
    with pytest.raises(TypeError, match=r"AdaNetClassifier .*'subnetwork'.*did you mean 'subnetworks'"):
        AdaNetClassifier(subnetwork=[])  # type: ignore[call-arg]


def test_torchscript_is_a_black_box() -> None:
    X, y = points(stack(), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        programs = [torch.jit.script(stack()), torch.jit.trace(stack(), torch.zeros(2, 3))]
    for program in programs:
        report = verify_bounds(program, X[:300], y[:300], test=(X[300:], y[300:]))
        assert report.subject == "black box"
        assert report.bounds["held-out"].value is not None
        assert any("TorchScript program is not read" in note for note in report.notes)


def test_what_compress_and_certify_return_is_reported() -> None:
    X, y = points(stack(), 3)
    small = compress(stack(), X, y, budget=0)
    report = verify_bounds(small, X, y, draws=None)
    assert report.bounds["occam-certificate"].terms["bits"] == small.bits
    assert report.bounds["occam-certificate"].value == pytest.approx(small.bound)
    certified = certify("lr", X, y, K=2)
    row = verify_bounds(certified, draws=None).bounds["pick-certificate"]
    assert row.value == pytest.approx(certified.bound)


def test_the_certificate_of_any_learner_is_the_one_to_cite() -> None:
    X, y = points(stack(), 3)
    y = np.array(["no", "yes"])[y]
    for learner in (lambda: nn.Linear(3, 1), DecisionTreeClassifier(max_depth=2), ConstantLearner()):
        certified = certify(learner, X, y, K=2)
        for given in ((), (X, y)):
            report = verify_bounds(certified, *given, draws=None)
            assert report.cite is not None
            assert (report.cite.id, report.cite.delta) == ("pick-certificate", 0.05)
            assert report.cite.value == pytest.approx(certified.bound)
            assert "picked" not in report.cite.assumes  # it was run again
        report = verify_bounds(certified, draws=None, replay=False)
        assert report.cite is not None
        assert "picked" in report.cite.assumes
        assert "pick-certificate" not in verify_bounds(certified, X[1:], y[1:], draws=None).bounds


@pytest.mark.parametrize("before", [[], [FunctionTransformer(lambda X: X)]], ids=["plain", "cannot be pickled"])
def test_a_predictor_that_was_fitted_anew_has_no_certificate_of_its_picks(before: list[Any]) -> None:
    X, y = points(stack(), 3)
    certified = certify(make_pipeline(*before, DecisionTreeClassifier(max_depth=2)), X, y, K=2)
    report = verify_bounds(certified, draws=None)
    assert report.cite is not None
    assert ("picked" in report.cite.assumes) == bool(before)  # bits that nothing can read are not compared
    other = clone(certified.predictor).fit(X, 1 - y)
    assert verify_bounds(replace(certified, predictor=other), draws=None).cite is None
    certified.predictor.fit(X, 1 - y)
    report = verify_bounds(certified, draws=None)
    assert report.cite is None
    assert report.bounds["pick-certificate"].why_not == ("picked",)


class ConstantLearner:
    """A learner of one's own whose predictor is a number."""

    grid = 2.0**-10

    def fit(self, P: Labelled, T: Labelled, previous: float | None) -> float:
        return float(np.mean(P.y) > 0.5)

    def margins(self, predictor: float, points: Labelled) -> np.ndarray:
        return np.where(points.y == predictor, 1.0, -1.0)


def test_a_pickled_module_names_the_way_through_python(tmp_path: Path) -> None:
    torch.save(stack(), tmp_path / "whole.pt")
    with pytest.raises(ValueError, match=r"state_dict\(\).*if you trust the file: verify_bounds\(torch\.load\("):
        verify_bounds(tmp_path / "whole.pt", *points(stack(), 3))


# The report


def test_the_report_is_that_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "88")
    path = tmp_path / "model.pt"
    model_file.write(path, layered_model())
    report = verify_bounds(path, draws=4, delta=0.1)
    assert cli.main([str(path), "--draws", "4", "--delta", "0.1", "--json"]) == 0
    assert json.loads(report.to_json()) == json.loads(capsys.readouterr().out)
    assert cli.main([str(path), "--draws", "4", "--delta", "0.1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert " ".join(str(report).split()) == in_python(said).replace(": -v shows", ": report.text(verbose=True) shows")
    assert "test=(X, y)" in str(report)
    assert "-v shows" not in str(report)
    assert "--test-data" not in str(report)


def test_the_report_shows_itself_and_writes(tmp_path: Path) -> None:
    module = convolutional()
    report = verify_bounds(module, *points(module, 1, 4))
    assert "a graph of 6 nodes" in str(report)
    assert "\n" not in repr(report)
    assert report._repr_html_().startswith("<iframe srcdoc=")
    assert "<style" not in report._repr_html_()  # escaped: the notebook's own style stays as it is
    report.to_html(tmp_path / "a.html")
    report.to_tex(tmp_path / "a.tex", every=True)
    assert "a-posteriori" in (tmp_path / "a.html").read_text()
    assert "a-posteriori" in (tmp_path / "a.tex").read_text()
    frame = report.to_frame()
    assert frame.loc["a-posteriori", "raw"] == report.bounds["a-posteriori"].raw
    assert list(frame.index) == [row["id"] for row in report.rows()]


def test_importing_verify_loads_nothing_heavy() -> None:
    code = (
        "import sys, verify\n"
        "assert not {'torch', 'sympy', 'numpy'} & set(sys.modules)\n"
        "from verify import verify_bounds\n"
        "assert not {'torch', 'sympy', 'sklearn'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_in_a_notebook_the_text_is_still_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.pt"
    model_file.write(path, layered_model())
    report = verify_bounds(path, draws=None)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "Answer" in report.text()
