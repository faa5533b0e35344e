"""What verify_bounds accepts as a predictor: modules with a sigmoid at their end, estimators, files, black boxes."""

from __future__ import annotations

import json
import re
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeRegressor
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from adanet_theory.twins.counted import clopper_pearson_upper
from adanet_train import compress
from adanet_train.compression import code
from adanet_train.estimator import AdaNetCVXClassifier
from adanet_train.reading.trace import require_equal, trace
from tests.refusals import refused, says
from verify import verify_bounds
from verify.measure.margins import margins
from verify.reading import case


def seeded(*parts: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    for part in parts:
        for parameter in part.parameters():
            nn.init.normal_(parameter)
    return nn.Sequential(*parts).eval()


def curved(outputs: int, *parts: nn.Module, n: int = 3) -> nn.Sequential:
    """No certificate is searched for a network that is not homogeneous, which takes longer than all else."""
    return seeded(nn.Linear(n, 3), nn.Tanh(), nn.Linear(3, outputs), *parts)


def uniform(m: int, *shape: int) -> Any:
    return np.random.default_rng(0).uniform(-1, 1, size=(m, *shape))


# A sigmoid or softmax at the end


class Function(nn.Module):
    """A network below a function of torch."""

    def __init__(self, outputs: int, function: Any, n: int = 3) -> None:
        super().__init__()
        self.below = curved(outputs, n=n)
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.function(self.below(x))
        return result


LINKED: list[tuple[nn.Module, str]] = [
    (curved(1, nn.Sigmoid()), "sigmoid"),
    (curved(1, nn.Sigmoid(), nn.Flatten(0)), "sigmoid"),
    (curved(3, nn.Sigmoid()), "sigmoid"),
    (curved(2, nn.Softmax(dim=1)), "softmax"),
    (curved(4, nn.LogSoftmax(dim=-1)), "log_softmax"),
    (Function(1, torch.sigmoid), "sigmoid"),
    (Function(1, lambda z: z.sigmoid().squeeze(1)), "sigmoid"),
    (Function(3, lambda z: nn.functional.softmax(z, dim=1)), "softmax"),
    (Function(3, lambda z: z.log_softmax(-1)), "log_softmax"),
]


@pytest.mark.parametrize(("module", "link"), LINKED)
def test_a_sigmoid_or_softmax_at_the_end_is_taken_off_and_decides_alike(module: nn.Module, link: str) -> None:
    X = uniform(80, 3)
    graph = trace(module, (3,))
    assert graph.link == link
    require_equal(graph, module, X)
    with torch.no_grad():
        out = module.double()(torch.from_numpy(X)).reshape(80, -1).numpy()
    y = out.argmax(axis=1) if out.shape[1] > 1 else (out[:, 0] > 0.5).astype(int)
    assert len(set(y.tolist())) > 1
    report = verify_bounds(module, X, y, draws=None)
    assert report.sample.train_error == 0
    assert any(f"the {link} at the end changes no decision" in note for note in report.notes)


def test_a_sigmoid_that_is_read_again_stays() -> None:
    def gated(z: Tensor) -> Tensor:
        p = torch.sigmoid(z)
        return p + 2 * p

    assert trace(Function(1, gated), (3,)).link == ""


def test_the_logits_are_compared_with_the_module_and_not_its_probabilities() -> None:
    """Far out a sigmoid is 1 whatever f is: a difference there would not be seen behind it."""
    module = seeded(nn.Linear(3, 1), nn.Sigmoid())
    other = seeded(nn.Linear(3, 1), nn.Sigmoid())
    with torch.no_grad():
        module[0].bias.fill_(60.0)
        other[0].bias.fill_(61.0)
    graph = trace(module, (3,))
    refused(lambda: require_equal(graph, other, uniform(20, 3)), "read as a graph it gives")


# Black boxes


def halves(m: int = 300, n: int = 4) -> tuple[Any, Any, Any, Any]:
    """A sample and held-out points with a rule that a forest learns."""
    X = np.random.default_rng(1).uniform(-1, 1, size=(2 * m, n))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    return X[:m], y[:m], X[m:], y[m:]


def fitted(estimator: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(10, random_state=0),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        make_pipeline(PolynomialFeatures(2), LogisticRegression()),
        KNeighborsClassifier(3),
        SVC(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("named", [False, True])
def test_an_estimator_that_cannot_be_read_has_the_held_out_bound_of_its_own_errors(estimator: Any, named: bool) -> None:
    X, y, X_test, y_test = halves()
    if named:
        y, y_test = (np.array(["no", "yes"])[labels] for labels in (y, y_test))
    network = fitted(estimator, X, y)
    report = verify_bounds(network, X, y, test=(X_test, y_test))
    errors = int((network.predict(X_test) != y_test).sum())
    assert report.subject == "black box"
    assert report.test.error == errors / 300
    assert report.sample.train_error == (network.predict(X) != y).mean()
    assert report.cite.id == "held-out"
    assert report.cite.value == clopper_pearson_upper(errors, 300, Fraction(1, 20))
    assert "untouched" in report.cite.assumes
    assert report.notes[0].startswith("black box: ")
    document = json.loads(report.to_json())
    assert (document["subject"], document["model"], document["rho"]) == ("black box", None, None)
    assert type(network).__name__ in report.text(verbose=True)
    assert "held-out" in report.html()


def test_without_held_out_points_a_black_box_is_told_what_would_help() -> None:
    X, y, _, _ = halves()
    report = verify_bounds(fitted(RandomForestClassifier(10, random_state=0), X, y), X, y)
    assert report.cite is None
    says(" ".join(str(report).split()), ["training points alone", "black box"])
    shown = " ".join(str(report).split())
    assert "test=(X, y)" in shown
    assert "certify(learner, X, y)" in shown
    assert any("--objective certificate" in line for line in report.advice)
    assert report.html().count("<h1>") == 1


class RecurrentNet(nn.Module):
    """Tokens looked up, an LSTM, one logit for each class."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.lstm, self.out = nn.Embedding(20, 4), nn.LSTM(4, 6, batch_first=True), nn.Linear(6, outputs)

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.lstm(self.embed(x))[0]
        logits: Tensor = self.out(hidden[:, -1])
        return logits


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_a_recurrent_network_is_a_black_box_and_the_refusal_is_a_note(outputs: int) -> None:
    module = RecurrentNet(outputs).eval()
    X = np.random.default_rng(0).integers(0, 20, size=(120, 7))
    with torch.no_grad():
        f = module(torch.from_numpy(X)).numpy()
    y = f.argmax(axis=1) if outputs > 1 else (f[:, 0] > np.median(f)).astype(int)
    if outputs == 1:
        module.out.bias.data -= float(np.median(f))
    report = verify_bounds(module, X[:60], y[:60], test=(X[60:], y[60:]))
    assert report.test.error == 0
    assert report.cite.id == "held-out"
    assert "LSTM" in report.notes[0] or "Embedding" in report.notes[0]


def test_a_transformer_is_a_black_box() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    module = nn.Sequential(nn.Unflatten(1, (3, 4)), layer, nn.Flatten(), nn.Linear(12, 3)).eval()
    X = uniform(80, 12).astype(np.float32)
    with torch.no_grad():
        y = module(torch.from_numpy(X)).argmax(dim=1).numpy()
    report = verify_bounds(module, X[:40], y[:40], test=(X[40:], y[40:]))
    assert (report.subject, report.test.error, report.classes) == ("black box", 0, 3)


class Neighbour(nn.Module):
    """The sample itself, beside one weight."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        super().__init__()
        self.X, self.y, self.one = torch.tensor(X), torch.tensor(2.0 * y - 1), nn.Parameter(torch.ones(1).double())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.y[torch.cdist(x, self.X).argmin(1)][:, None] * self.one


def test_numbers_that_a_module_keeps_beside_its_weights_are_not_free() -> None:
    """It learned coins by heart; one weight would cost 15 bits and certify .04 at risk 1/2."""
    X = np.random.default_rng(0).standard_normal((300, 4))
    y = np.random.default_rng(1).integers(0, 2, 300)
    report = verify_bounds(Neighbour(X, y).eval(), X, y, cite="occam-certificate")
    assert report.sample.train_error == 0
    assert report.cite is None
    with pytest.raises(ValueError, match="keeps numbers in 'X', which state_dict"):
        compress(Neighbour(X, y).eval(), X, y)


class Selection(nn.Module):
    def __init__(self, place: int) -> None:
        super().__init__()
        self.register_buffer("place", torch.tensor([place]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, self.place] * 1.0


def test_a_buffer_of_places_is_paid_for() -> None:
    X = np.random.default_rng(0).standard_normal((60, 5000))
    y = np.random.default_rng(1).integers(0, 2, 60)
    terms = [
        verify_bounds(Selection(place).eval(), X, y, draws=None).bounds["occam-certificate"].terms["bits"]
        for place in (0, 4000)
    ]
    assert terms[1] > terms[0] + 12


class Chosen(nn.Module):
    """x_i of the largest score, with a weight of few bits: the choice is made from all scores."""

    def __init__(self, scores: torch.Tensor) -> None:
        super().__init__()
        self.scores = nn.Parameter(scores)
        self.top = nn.Linear(1, 1, bias=False)
        self.top.weight.data.fill_(0.125)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.top(x.index_select(1, self.scores.argmax()[None]))


def test_weights_that_choose_features_are_paid_for() -> None:
    """Read as a graph, the network is one weight of 11 bits; its selection costs nothing there."""
    g = torch.Generator().manual_seed(0)
    X, y = torch.randn(200, 3000, generator=g), torch.randint(0, 2, (200,), generator=g)
    scores = (torch.sign(X) * (2 * y - 1)[:, None]).sum(0)
    report = verify_bounds(Chosen(scores).eval(), X, y, draws=None)
    assert report.sample.train_error < 0.4
    assert report.bounds["occam-certificate"].terms["bits"] > 3000


class Written(nn.Module):
    """w . x with w as numbers of Python, which no state_dict has."""

    def __init__(self, w: list[float]) -> None:
        super().__init__()
        self.w = w

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, torch.tensor([self.w]).to(x)) + 0.28125


def test_numbers_that_forward_writes_down_are_paid_for() -> None:
    X, y, *_ = halves()
    w = [1.5, 0.8125, -0.40625, 0.171875]
    for module in (Written(w), nn.Sequential(Written(w), nn.Linear(1, 1), nn.BatchNorm1d(1))):
        terms = verify_bounds(module.eval(), X, y, draws=None).bounds["occam-certificate"].terms
        numbers = [part.detach().double().numpy() for part in module.state_dict().values() if part.is_floating_point()]
        without = code.bits_of([code.lossless(part) for part in numbers])
        assert terms["bits"] > without + 25


@pytest.mark.parametrize("kind", ["norm", "parametrization"])
def test_a_module_whose_weights_are_made_of_others_is_described_by_its_own_numbers(kind: str) -> None:
    """What is read is made in float64: the float32 program is no function of that."""
    X, y, *_ = halves()
    below = nn.Linear(4, 3)
    net = nn.Sequential(below, nn.BatchNorm1d(3) if kind == "norm" else nn.Identity(), nn.ReLU(), nn.Linear(3, 1))
    net(torch.from_numpy(X).float())
    if kind == "parametrization":
        nn.utils.parametrizations.weight_norm(below)
    numbers = [w.detach().double().numpy() for w in net.state_dict().values() if w.is_floating_point()]
    report = verify_bounds(net.eval(), X, y, draws=None)
    bits = report.bounds["occam-certificate"].terms["bits"]
    assert bits == code.bits_of([code.lossless(w) for w in numbers])
    assert "depth and widths" not in next(row.words for row in report.assumptions if row.id == "architecture")


def test_a_network_with_complex_weights_has_no_description() -> None:
    class Complex(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(4, 1, dtype=torch.cfloat))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x.to(self.w) @ self.w).real

    X, y, *_ = halves()
    assert "occam-certificate" not in verify_bounds(Complex().eval(), X, y, draws=None).bounds
    with pytest.raises(ValueError, match=r"^weight 'w' must be a real tensor\.$"):
        compress(Complex().eval(), X, y)


def test_a_scaled_estimator_is_assumed_to_decide_as_the_weights_that_are_coded() -> None:
    X, y, *_ = halves()
    report = verify_bounds(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X, y, draws=None)
    words = next(row.words for row in report.assumptions if row.id == "architecture")
    assert words.endswith("the program decides everywhere as the coded weights do in real numbers")


def test_ties_and_nan_are_errors_of_a_black_box() -> None:
    X, y, X_test, y_test = halves()

    def scores(X: Any) -> Any:
        f = np.stack([np.zeros(len(X)), X[:, 0] + X[:, 1]], axis=1)
        f[X[:, 2] > 0.5] = 0.0  # a tie
        f[X[:, 2] < -0.5, 1] = np.nan
        return f

    report = verify_bounds(scores, X, y, test=(X_test, y_test))
    assert report.test.error == np.mean(np.abs(X_test[:, 2]) > 0.5)


def test_rows_that_have_no_numbers_are_compared_all_the_same() -> None:
    """A text model: a test text that was trained on is refused as a test point that was."""
    texts = [f"text {i} {'good' if i % 2 else 'bad'}" for i in range(40)]
    y = [i % 2 for i in range(40)]

    def predict(texts: list[str]) -> list[int]:
        return [int("good" in text) for text in texts]

    report = verify_bounds(predict, texts[:20], y[:20], test=(texts[20:], y[20:]))
    assert (report.subject, report.test.error) == ("black box", 0)
    with pytest.raises(ValueError, match=r"1 of the 21 .*sample"):
        verify_bounds(predict, texts[:20], y[:20], test=(texts[19:], y[19:]))


def test_a_frame_goes_to_the_estimator_as_it_is() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"kind": list("abcd") * 30, "size": np.arange(120.0)})
    y = np.where(frame["kind"].isin(["a", "b"]), "low", "high")
    encode = ColumnTransformer([("kind", OneHotEncoder(), ["kind"]), ("size", "passthrough", ["size"])])
    network = make_pipeline(encode, LogisticRegression(max_iter=2000)).fit(frame, y)
    report = verify_bounds(network, frame[:60], y[:60], test=(frame[60:], y[60:]))
    assert report.test.error == 1 - network.score(frame[60:], y[60:])
    assert "ColumnTransformer" in report.notes[0]


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda X: 1 / (1 + np.exp(-X[:, 0])), r"lies in \[0, 1\] at every point"),
        (lambda X: np.random.default_rng().standard_normal(len(X)), "different values when called again"),
        (lambda X: X[:, 0] - X[:, 0].mean(), "different values in another batch.*predicts each point by itself"),
        (lambda X: np.where((X[:, 0] > 0) == (X.sum() > 0), 1, 0), "different values in another batch"),
        (lambda X: (X[:, 0] > X[:, 0].mean()).astype(int), "different values in another batch"),
        (Function(1, lambda z: z if z.argmax() == 0 else -z, 4).eval(), "^Function gives a point different values in"),
        (lambda X: np.full(len(X), int(len(X) > 16)), "the predictor gives a point different values in another batch"),
        (lambda X: X[:, 0] * np.where(np.arange(len(X)) % 2, -1, 1), "different values in another batch"),
        (Function(1, lambda z: z.cumsum(0), 4).eval(), "^Function gives a point different values in another batch"),
        (Function(1, lambda z: z - z.mean(0), 4).eval(), "^Function gives a point different values in another batch"),
        (Function(2, lambda z: z.softmax(0), 4).eval(), "^Function gives a point different values in another batch"),
        (lambda X: np.full(len(X), "cat"), "gives 'cat' and no label of y"),
        (lambda X: np.where(X[:, 0] > 0, 1, -1), r"gives labels of -1/\+1 and y holds 0/1"),
        (lambda X: X[:3, 0], "must give a label, or a row of scores, for each of 300 points"),
        (lambda X: X[:, 99], "the predictor fails on X"),
        (Function(1, lambda z: torch.sigmoid(z).clamp(1e-6, 1 - 1e-6), 4).eval(), r"in \[0, 1\] at every point"),
        (
            Function(1, lambda z: (z, z), 4).eval(),
            "forward gives a tuple, expected a tensor of scores.*returns the scores",
        ),
        (Function(1, lambda z: {"logits": z}, 4).eval(), "forward gives a dict, expected a tensor of scores"),
        (DecisionTreeRegressor(), "this is regression; only classification is covered"),
        (make_pipeline(StandardScaler(), Ridge()), "this is regression; only classification is covered"),
        (nn.Sequential(nn.Linear(4, 2), nn.LayerNorm(2), nn.Dropout()), "in training mode"),
        (nn.Sequential(nn.Linear(4, 2), nn.LayerNorm(2)), r"in eval mode: call module\.eval\(\) first"),
        (
            nn.Sequential(nn.Linear(5, 2)),
            r"shapes.*5x2.*rows of the shape \(4,\), expected rows as the module reads them\.$",
        ),
        (
            nn.Sequential(nn.Linear(5, 2)).eval(),
            r"5x2.*rows of the shape \(4,\), expected rows as the module reads them\.$",
        ),
    ],
)
def test_what_is_no_predictor_of_classes_is_refused_in_one_line(network: Any, message: str) -> None:
    X, y, X_test, y_test = halves()
    with pytest.raises(ValueError, match=message) as caught:
        verify_bounds(network, X, y, test=(X_test, y_test))
    assert "\n" not in str(caught.value)


# Estimators that are read


LINEAR = [
    LogisticRegression(),
    LinearSVC(),
    SGDClassifier(random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(MinMaxScaler(), RobustScaler(), LinearSVC()),
    make_pipeline(Normalizer(), MaxAbsScaler(), LogisticRegression()),
    make_pipeline("passthrough", StandardScaler(with_mean=False), Perceptron()),
]


def bands(classes: int) -> tuple[Any, Any]:
    X = np.random.default_rng(3).uniform(1, 5, size=(90, 4)) * [1.0, 10.0, 0.1, 1.0]
    score = X[:, 0] + X[:, 1] / 10
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", LINEAR, ids=str)
def test_a_linear_classifier_is_read_as_a_network_that_decides_alike(estimator: Any, classes: int) -> None:
    X, y = bands(classes)
    network = fitted(estimator, X, y)
    read = case.read(network, X, y)
    margin = margins(read.model.graph, read.sample.Psi, read.sample.y)
    assert (np.asarray(margin.upper <= 0) == (network.predict(X) != y)).all()
    assert all(node.operation.is_linear for node in read.model.graph.nodes)


@pytest.mark.parametrize(
    ("classes", "id"), [(2, "vote-certificate"), (3, "vote-certificate-multiclass")], ids=["two", "three"]
)
def test_a_linear_classifier_has_the_certificate_of_linear_networks(classes: int, id: str) -> None:
    X, y = bands(classes)
    network = fitted(LogisticRegression(), X, y)
    report = verify_bounds(network, X, y, draws=None)
    assert report.subject == "network"
    assert report.sample.train_error == (network.predict(X) != y).mean()
    assert "linear" not in report.bounds[id].why_not


def test_a_fitted_scaler_is_counted_as_weights_and_its_price_is_named() -> None:
    X, y, _, _ = halves()
    network = make_pipeline(StandardScaler(), LogisticRegression()).fit(100 * X + 1000, y)
    report = verify_bounds(network, 100 * X + 1000, y, r_sup=1100, draws=None)
    (note,) = [note for note in report.notes if "fitted on the sample" in note]
    paid, free = (float(number) for number in re.findall(r"is ([\d.e+]+);.* be ([\d.e+]+)\.", note)[0])
    scaler, last = network[0], network[1]
    W = np.abs(last.coef_ / scaler.scale_).sum() + abs(last.intercept_ - last.coef_ @ (scaler.mean_ / scaler.scale_))[0]
    assert paid == pytest.approx(W * np.abs(100 * X + 1000).max(), rel=1e-2)
    inner = np.abs(last.coef_).sum() + np.abs(last.intercept_).sum()
    assert free == pytest.approx(inner * np.abs(scaler.transform(100 * X + 1000)).max(), rel=1e-2)
    assert paid > free
    assert {row.id: row.status for row in report.assumptions}["feature-map"] == "assumed"


def test_a_search_says_that_its_best_estimator_may_be_read() -> None:
    X, y, _, _ = halves()
    network = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert "best_estimator_" in verify_bounds(network, X, y).notes[0]
    assert verify_bounds(network.best_estimator_, X, y, tried=2, draws=None).subject == "network"


def test_a_step_that_is_not_known_makes_a_black_box_and_says_what_its_last_step_would_hide() -> None:
    X, y, X_test, y_test = halves()
    network = make_pipeline(PCA(2), LogisticRegression()).fit(X, y)
    report = verify_bounds(network, X, y, test=(X_test, y_test))
    assert report.subject == "black box"
    assert "PCA" in report.notes[0]
    assert "before the sample" in report.notes[0]


# Points and labels


def test_a_loader_and_a_dataset_are_the_arrays_that_they_hold() -> None:
    module = curved(1, n=4)
    X, y, X_test, y_test = (torch.from_numpy(part) for part in halves(60))
    train, test = TensorDataset(X, y), TensorDataset(X_test, y_test)
    expected = verify_bounds(module, X, y, test=(X_test, y_test), draws=None)
    for sample, held_out in ((train, test), (DataLoader(train, 7, shuffle=True), DataLoader(test, 16))):
        report = verify_bounds(module, sample, test=held_out, draws=None)
        assert report.sample.train_error == expected.sample.train_error
        assert (report.sample.m, report.test) == (60, expected.test)
    refused(lambda: verify_bounds(module, DataLoader(train, 7, drop_last=True)), "drop_last=True")
    refused(lambda: verify_bounds(module, train, y), "holds the labels already")
    refused(lambda: verify_bounds(module, TensorDataset(X)), "no pairs (x, y)")


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_one_hot_labels_are_the_classes_of_their_columns(outputs: int) -> None:
    module = curved(outputs, n=4)
    X = uniform(90, 4)
    with torch.no_grad():
        f = module.double()(torch.from_numpy(X)).numpy()
    places = f.argmax(axis=1) if outputs > 1 else (f[:, 0] > 0).astype(int)
    one_hot = np.eye(max(outputs, 2))[places]
    for y in (one_hot, one_hot.tolist(), torch.from_numpy(one_hot)):
        report = verify_bounds(module, X, y, draws=None)
        assert report.sample.train_error == 0
        assert any("one-hot" in note for note in report.notes)
    refused(lambda: verify_bounds(module, X, np.eye(5)[places]), "columns, expected")
    refused(lambda: verify_bounds(module, X, one_hot + one_hot[::-1]), "not one-hot")


def test_classes_names_the_order_of_the_outputs() -> None:
    X = uniform(90, 4)
    for outputs, names in ((1, ("up", "down")), (3, ("c", "a", "b"))):
        module = seeded(nn.Linear(4, 3, bias=False), nn.Tanh(), nn.Linear(3, outputs, bias=False))
        with torch.no_grad():
            f = module.double()(torch.from_numpy(X)).numpy()
        places = f.argmax(axis=1) if outputs > 1 else (f[:, 0] > 0).astype(int)
        assert len(set(places.tolist())) == len(names)
        y = np.array(names)[places]
        assert verify_bounds(module, X, y, classes=names, draws=None).sample.train_error == 0
        assert verify_bounds(module, X, y, draws=None).sample.train_error > 0.5
        with pytest.raises(ValueError, match=r"classes must be \d different names"):
            verify_bounds(module, X, y, classes=("a", "a"))
    with pytest.raises(ValueError, match="this one does"):
        verify_bounds(LogisticRegression().fit(X, X[:, 0] > 0), X, X[:, 0] > 0, classes=(False, True))


def test_a_continuous_y_is_regression() -> None:
    X = uniform(90, 4)
    for network in (seeded(nn.Linear(4, 1)), seeded(nn.Linear(4, 3)), lambda X: X[:, 0]):
        refused(lambda network=network: verify_bounds(network, X, X[:, 0]), "this is regression")


# Without the sample


@pytest.mark.parametrize("kind", ["forest", "function", "module", "logistic", "adanet", "state_dict"])
def test_held_out_points_alone_bound_the_risk_of_any_predictor(kind):
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, (160, 3))
    y = (X[:, 0] > 0).astype(int)
    module = nn.Linear(3, 1).eval()
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
        module.bias.zero_()
    given = {
        "forest": lambda: RandomForestClassifier(5, random_state=0).fit(X[:80], y[:80]),
        "function": lambda: lambda X: X[:, 0] > 0,
        "module": lambda: module,
        "logistic": lambda: LogisticRegression().fit(X[:80], y[:80]),
        "adanet": lambda: AdaNetCVXClassifier(rounds=1).fit(X[:80], y[:80]),
        "state_dict": lambda: module.state_dict(),
    }[kind]()
    answer = verify_bounds(given, test=(X[80:], y[80:]))
    assert (answer.subject, list(answer.bounds), answer.sample.m) == ("black box", ["held-out"], 0)
    assert answer.cite.id == "held-out"
    assert answer.cite.value == clopper_pearson_upper(round(answer.test.error * 80), 80, Fraction(1, 20))
    document = json.loads(answer.to_json())
    assert document["sample"]["train_error"] is None
    assert "nan" not in str(answer).lower()
    assert "nan" not in answer.text(verbose=True).lower()
    with pytest.raises(ValueError, match=r"X and y|no sample"):
        verify_bounds(given)
