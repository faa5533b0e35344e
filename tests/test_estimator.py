"""The scikit-learn classifiers: conventions, files, plain arrays, torch modules."""

import pickle
import re
import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from adanet_train import estimator
from adanet_train.core.config import DEFAULTS, Config
from adanet_train.core.network import Network
from adanet_train.core.surrogates import surrogate
from adanet_train.data.disk import is_on_disk
from adanet_train.data.features import FeatureMap
from adanet_train.data.rows import Rows, hashes
from adanet_train.estimator import AdaNetClassifier, AdaNetCVXClassifier, NetworkClassifier, load
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, ModelFileError
from adanet_train.search.objective import chosen
from tests.refusals import refused


def small(**changes) -> AdaNetClassifier:
    return made(AdaNetClassifier, {"rounds": 2, "width": 4, "steps": 40, "lam": 1e-4} | changes)


def small_cvx(**changes) -> AdaNetCVXClassifier:
    return made(AdaNetCVXClassifier, {"rounds": 20, "lam": 1e-4} | changes)


def made(kind: type, given: dict) -> AdaNetClassifier | AdaNetCVXClassifier:
    """An estimator with each setting where it belongs: its own parameters, and the rest in `config`."""
    own = {name: value for name, value in given.items() if name in kind._get_param_names()}
    rest = {name: value for name, value in given.items() if name not in own}
    return kind(**own, config=Config(**rest) if rest else None)


@parametrize_with_checks([small(), small_cvx(rounds=3, tol=1e-6)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def sample():
    draw = np.random.default_rng(0)
    X = draw.uniform(-3, 5, size=(60, 3))
    return X, np.where(X[:, 0] + X[:, 1] > X[:, 2] ** 2 / 4, "yes", "no")


@pytest.fixture(scope="module", params=["adanet", "cvx", "cvx-exact"])
def fitted(request, sample):
    model = {"adanet": small(), "cvx": small_cvx(), "cvx-exact": small_cvx(step="exact")}[request.param]
    return model.fit(*sample)


def test_the_parameters_are_fields_of_config():
    """Both front doors begin with Config(); what a parameter or a preset says is in the config of the run."""
    names = DEFAULTS.keys() | {"bias", "feature_range", "random_state", "n_jobs", "config"}
    names |= {"class_weight", "subnetworks", "warm_start", "verbose"}
    for kind in (AdaNetClassifier, AdaNetCVXClassifier):
        assert kind().get_params().keys() <= names
        assert len(kind().get_params()) <= 16
        assert kind().settings() == Config()
    made = AdaNetClassifier(3, n_jobs=2, random_state=5, lam=0.1, config=Config(variant="P", rounds=7))
    assert made.settings() == Config(rounds=3, jobs=2, seed=5, lam=0.1, variant="P")
    assert AdaNetClassifier(config="paper").settings() == Config.preset("paper")
    with pytest.raises(ValueError, match=r"^config .*Config.*preset.*dict"):
        AdaNetClassifier(config={"steps": 3}).settings()


@pytest.mark.parametrize("kind", [AdaNetClassifier, AdaNetCVXClassifier])
def test_a_keyword_that_moved_says_where_to(kind):
    name = kind.__name__
    with pytest.raises(TypeError, match=rf"tol belongs in config: {name}\(config=Config\(tol=\.\.\)\)"):
        kind(tol=1e-3)
    refused(lambda: kind(seed=3), "seed is called random_state here", error=TypeError)
    refused(lambda: kind(tolerance=3), "takes no argument 'tolerance'", error=TypeError)
    refused(lambda: kind().set_params(tol=1e-3), "tol belongs in config")
    refused(lambda: kind().set_params(tolerance=1e-3), "Invalid parameter 'tolerance'")


@pytest.mark.parametrize("kind", [AdaNetClassifier, AdaNetCVXClassifier])
def test_every_parameter_is_documented_by_itself(kind):
    documented = re.findall(r"^    (\w+)\n        \S", kind.__doc__, flags=re.M)
    assert sorted(documented) == sorted(kind().get_params())


def test_it_learns_and_keeps_its_history(fitted, sample):
    X, y = sample
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.score(X, y) > 0.8
    values = [entry["objective"] for entry in fitted.history_]
    assert values == sorted(values, reverse=True)
    assert all({"candidates", "chosen", "objective"} <= entry.keys() for entry in fitted.history_)


def test_a_saved_model_predicts_the_same_bits(fitted, sample, tmp_path):
    X, y = sample
    fitted.save(tmp_path / "model.pt", X, y)
    loaded = load(tmp_path / "model.pt")
    assert type(loaded) is type(fitted)
    assert loaded.get_params() == fitted.get_params()
    assert loaded.decision_function(X).tolist() == fitted.decision_function(X).tolist()
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
    assert loaded.history_ == fitted.history_
    assert loaded.declared_ == fitted.declared_ is not None
    stored = model_file.read(tmp_path / "model.pt").sample
    assert torch.equal(stored.Psi, fitted.model_.Psi(X))
    assert stored.y.tolist() == np.where(y == "yes", 1, -1).tolist()
    fitted.save(tmp_path / "private.pt")
    assert model_file.read(tmp_path / "private.pt").sample.Psi is None
    refused(lambda: fitted.save(tmp_path / "other.pt", X[:-1], y[:-1]), "must be the training sample")


def test_pickle_and_clone(fitted, sample):
    X, _ = sample
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.decision_function(X).tolist() == fitted.decision_function(X).tolist()
    assert copy.declared_ == fitted.declared_
    unfitted = clone(fitted)
    assert unfitted.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


def test_the_arrays_are_the_network(fitted, sample):
    """f computed with numpy from what the estimator shows."""
    X, _ = sample
    Psi = fitted.model_.features(X)
    h = {1: Psi @ fitted.hidden_[1, 0].T}
    for k in range(2, fitted.model_.network.depth + 1):
        h[k] = np.maximum(h[k - 1], 0) @ fitted.hidden_[k, k - 1].T
    f = sum(h[k] @ w for k, w in fitted.output_.items())
    assert np.allclose(f, fitted.decision_function(X), rtol=1e-12, atol=1e-12)


def test_the_subnetworks_add_up_to_the_network(fitted):
    parts = fitted.subnetworks_
    assert len(parts) == sum(entry["chosen"] >= 0 for entry in fitted.history_) >= 1
    for k, w in fitted.output_.items():
        pieces = [part["output"][k] for part in parts if k in part["output"]]
        assert np.concatenate(pieces).tolist() == w.tolist()
        rows = [U for part in parts if k in part["hidden"] for U in part["hidden"][k]]
        assert len(rows) == len(fitted.hidden_[k, k - 1])
        for row, whole in zip(rows, fitted.hidden_[k, k - 1], strict=True):
            assert whole[: len(row)].tolist() == row.tolist()
            assert not whole[len(row) :].any()


def test_the_torch_module(fitted, sample):
    X, _ = sample
    module = fitted.to_torch()
    wild = np.vstack([X, 100 * X])
    assert torch.allclose(module(torch.from_numpy(wild)), torch.from_numpy(fitted.decision_function(wild)), rtol=1e-12)
    module(torch.from_numpy(X)).sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    assert set(module.state_dict()) >= {"layers.0.U.0", "layers.0.w", "low", "width"}


def test_the_module_of_a_model_without_features():
    network = Network((2, 1), {(1, 0): torch.tensor([[2.0, -1.0]]).double()}, {1: torch.ones(1).double()}, ())
    model = NetworkClassifier()
    model.model_, model.classes_, model.n_features_in_ = ModelFile(network), np.array([-1, 1]), 2
    assert model.to_torch()(torch.tensor([[3.0, 5.0]])).tolist() == [1.0]
    assert model.predict([[3.0, 5.0], [1.0, 5.0]]).tolist() == [1, -1]


@pytest.mark.parametrize("name", ["logistic", "logistic2", "exponential"])
def test_probabilities_make_f_the_minimiser_of_the_risk(sample, name):
    """At eta = predict_proba the derivative of eta Phi(1-f) + (1-eta) Phi(1+f) in f is 0, and eta > 1/2 where f > 0."""
    X, y = sample
    model = small(surrogate=name).fit(X, y)
    f, Phi = torch.from_numpy(model.decision_function(X)), surrogate(name)
    not_eta, eta = model.predict_proba(X).T
    down, up = eta * Phi.derivative(1 - f).numpy(), not_eta * Phi.derivative(1 + f).numpy()
    assert np.allclose(down, up, rtol=1e-13, atol=0)
    assert np.allclose(not_eta + eta, 1, rtol=1e-15)
    assert ((eta > 0.5) == (f.numpy() > 0)).all()


def test_probabilities_at_large_margins(sample):
    X, y = sample
    model = small().fit(X, y)
    huge = {k: 1e6 * w for k, w in model.model_.network.output.items()}
    network = Network(model.model_.network.n, model.model_.network.hidden, huge, model.model_.network.activations)
    model.model_ = ModelFile(network, features=model.model_.features)
    proba = model.predict_proba(X)
    assert set(proba.ravel().tolist()) == {0.0, 1.0}
    assert (proba.argmax(axis=1) == (model.predict(X) == "yes")).all()


def test_a_grid_search_over_a_pipeline(sample):
    X, y = sample
    search = GridSearchCV(
        make_pipeline(StandardScaler(), small_cvx()), {"adanetcvxclassifier__lam": [1e-4, 10.0]}, cv=2
    ).fit(X, y)
    assert search.best_params_ == {"adanetcvxclassifier__lam": 1e-4}


def test_a_known_range_is_a_map_fixed_in_advance(sample, tmp_path):
    X, y = sample
    estimator = small(feature_range=(-3.0, 5.0), bias=False).fit(X, y)
    known = estimator.model_
    assert (known.features.fitted_on_sample, known.features.n_0, known.network.n[0]) == (False, 3, 3)
    assert small().fit(X, y).model_.features.fitted_on_sample
    assert np.allclose(known.Psi(X).numpy(), (X + 3) / 8, rtol=1e-15)
    estimator.save(tmp_path / "m.pt")
    assert load(tmp_path / "m.pt").get_params() == estimator.get_params()


def test_a_model_of_a_users_function_can_still_predict(sample, tmp_path):
    X, y = sample
    estimator = small(complexity=lambda spec, k, Psi, H: float(k)).fit(X, y)
    estimator.save(tmp_path / "m.pt")
    loaded = load(tmp_path / "m.pt")
    assert type(loaded) is NetworkClassifier
    assert loaded.predict(X).tolist() == estimator.predict(X).tolist()


def test_a_file_that_no_estimator_trained_can_predict(tmp_path):
    network = Network((3, 1), {(1, 0): torch.tensor([[1.0, -1.0, 0.0]]).double()}, {1: torch.ones(1).double()}, ())
    features = FeatureMap.known(["a", "b"], 0, 10)
    model_file.write(tmp_path / "m.pt", ModelFile(network, features=features))
    loaded = load(tmp_path / "m.pt")
    assert type(loaded) is NetworkClassifier
    assert loaded.predict([[7.0, 3.0], [3.0, 7.0]]).tolist() == [1, -1]
    refused(lambda: loaded.fit([[7.0, 3.0]], [1]), "can only predict", error=TypeError)
    with pytest.raises(ModelFileError):
        load(tmp_path / "absent.pt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"p": 0.5}, r"p must be in \[1, inf\]"),
        ({"rounds": 0}, "rounds must be"),
        ({"device": "cuda:99"}, "cuda"),
        ({"p": "2"}, "p must be a number, got p='2'"),
        ({"lam": "small"}, "lam must be a number, got lam='small'"),
        ({"Lambda": (1.0, None)}, r"Lambda must be a number, got Lambda=\(1.0, None\)"),
        ({"max_depth": 1.5}, "max_depth must be an integer >= 1, got 1.5"),
        ({"feature_range": "0-1"}, "feature_range must be two numbers, low and high, got feature_range='0-1'"),
        ({"class_weight": {"yes": 1, "no": -1}}, r"class_weight must be finite and > 0, got class_weight=\{'yes': 1"),
    ],
)
def test_bad_parameters_are_refused_at_fit(sample, changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(*sample)


def test_weights_of_points_and_classes(sample):
    X, y = sample
    plain, equal = small().fit(X, y), small().fit(X, y, np.full(len(y), 3.0))
    assert np.array_equal(plain.decision_function(X), equal.decision_function(X))
    few = np.where(y == "yes", 1.0, 0.01)
    assert (small().fit(X, y, few).predict(X) == "yes").mean() > (plain.predict(X) == "yes").mean()
    by_class = small(class_weight={"yes": 1.0, "no": 0.01}).fit(X, y)
    assert np.array_equal(by_class.decision_function(X), small().fit(X, y, few).decision_function(X))
    refused(lambda: small().fit(X, y, np.where(y == "yes", 0.0, 1.0)), "sample_weight must be finite and >= 0")


@pytest.mark.parametrize("classes", [2, 3])
def test_counts_are_copies_in_whatever_order(classes):
    draw = np.random.default_rng(classes)
    X = draw.normal(size=(30, 2)).round(1)
    y, counts = draw.integers(0, classes, 30), draw.integers(0, 4, 30)
    model = small(rounds=1)
    copies = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).decision_function(X)
    assert model.model_.sample.m == counts.sum()
    shuffled = draw.permutation(30)
    counted = model.fit(X[shuffled], y[shuffled], counts[shuffled])
    assert counted.model_.sample.m == counts.sum()
    assert counted.decision_function(X).tolist() == copies.tolist()
    assert model.fit(X, y, counts.astype(float)).decision_function(X).tolist() != copies.tolist()


def test_a_weight_of_0_is_no_row(sample):
    X, y = sample[0].copy(), sample[1]
    weights = np.random.default_rng(0).uniform(size=len(y)) + 0.5
    weights[[0, 7, 8]] = 0.0
    X[0] = 100.0  # it must not widen the ranges of the features
    kept = weights > 0
    without = small().fit(X[kept], y[kept], weights[kept]).decision_function(X)
    assert small().fit(X, y, weights).decision_function(X).tolist() == without.tolist()
    masked = small().fit(X, y, kept).decision_function(X)
    assert masked.tolist() == small().fit(X[kept], y[kept]).decision_function(X).tolist()


def test_only_repeated_rows_are_put_in_order():
    X, y = np.array([[2.0, 1.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]), np.array([0, 1, 0, 1])
    rows = Rows(X, y)
    assert rows.ordered(y) is rows  # the last two differ in y
    again = np.array([3, 0, 2, 1, 0])
    actual, shuffled = (Rows(X[i], y[i]).ordered(y[i]) for i in (again, np.sort(again)))
    assert actual.X.tolist() == shuffled.X.tolist() != X[again].tolist()
    assert actual.y.tolist() == shuffled.y.tolist()
    assert len(np.unique(hashes(np.arange(30_000.0).reshape(-1, 2), np.zeros(15_000)))) == 15_000
    assert hashes(np.array([[-0.0, 1.5]], np.float32), y[:1]) == hashes(np.array([[0.0, 1.5]]), y[:1])
    assert len({*hashes(X[:2], y[:1].repeat(2)).tolist()}) == 2  # the columns are told apart


def test_a_table_on_the_disk_stays_there(tmp_path, monkeypatch):
    draw = np.random.default_rng(0)
    X, counts = draw.integers(0, 3, (40, 2)).astype(float), draw.integers(0, 3, 40)
    np.save(tmp_path / "X.npy", X)
    y, seen = X.sum(1) > 2, []
    kept = estimator.Points.__init__
    monkeypatch.setattr(estimator.Points, "__init__", lambda self, X, *more: (seen.append(X), kept(self, X, *more))[1])
    model = small(rounds=1).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y, counts)
    assert all(is_on_disk(values) for values in seen)
    assert [values[:].tolist() for values in seen[:2]] == [X.repeat(counts, axis=0).tolist()] * 2  # as they stand
    assert model.model_.sample.m == counts.sum()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"one number per point \(60\), got \(1,\)"),
        (np.full(60, np.nan), "finite and >= 0"),
        (np.full(60, -1), "finite and >= 0"),
        (np.full(60, 1e308), "finite and >= 0, also their sum"),
        (np.zeros(60), "not zero on all points of a class"),
        (np.full(60, "a"), "sample_weight must hold numbers, got <U1"),
        (np.full(60, 10**6), r"counts, got 6e\+07 copies of 60 rows: give floats"),
    ],
)
def test_weights_that_are_none(sample, weights, message):
    with pytest.raises(ValueError, match=message):
        small().fit(*sample, weights)


def test_many_copies_are_told_of(sample):
    with pytest.warns(UserWarning, match=r"300 copies of 60 rows.*floats"):
        small(rounds=1).fit(*sample, np.full(60, 5))


@pytest.mark.parametrize("objective", ["bound", "vote", "certificate"])
def test_an_objective_that_bounds_the_risk_takes_no_weights(sample, objective):
    X, y = sample
    model = small(objective=objective, feature_range=(-3, 5))
    with pytest.raises(ValueError, match=f"objective {objective} counts every point alike"):
        model.fit(X, y, np.arange(len(y)) % 2)
    with pytest.raises(ValueError, match=f"objective {objective} counts every point alike"):
        model.set_params(class_weight="balanced").fit(X, y)


def test_warm_start_adds_rounds_and_the_first_ones_do_not_change(sample):
    X, y = sample
    grown = small(rounds=1, max_rounds=3, learner="gradient", warm_start=True).fit(X, y)
    assert len(grown.history_) == 1
    grown.set_params(rounds=3).fit(X, y)
    whole = small(rounds=3, max_rounds=3, learner="gradient").fit(X, y)
    assert len(whole.history_) >= 2
    assert grown.history_ == whole.history_
    assert grown.decision_function(X).tolist() == whole.decision_function(X).tolist()
    added = small(rounds=1, learner="gradient", warm_start=True).fit(X, y)
    assert added.declared_ is not None
    assert added.set_params(rounds=3).fit(X, y).declared_ is None  # no family was declared for the later rounds
    assert len(added.history_) == 3
    refused(lambda: grown.fit(X[:-1], y[:-1]), "the same X and y")
    for changes, weights in (
        ({}, np.arange(len(y)) % 3),
        ({}, np.linspace(1, 2, len(y))),
        ({"class_weight": "balanced"}, None),
    ):
        with pytest.raises(ValueError, match=r"the same (weights|X and y), got others"):
            clone(grown).set_params(rounds=1).fit(X, y).set_params(rounds=2, **changes).fit(X, y, weights)
    drawn = small(rounds=1, max_rounds=2, warm_start=True, random_state=np.random.RandomState(0)).fit(X, y)
    first = drawn.history_
    assert drawn.set_params(rounds=2).fit(X, y).history_[:1] == first  # the seed drawn for the first rounds stays


def test_numbers_in_whatever_dress(sample, tmp_path, capsys):
    X, y = sample
    config = Config(steps=np.int16(40), candidates=((0, 4), (1, 4)))
    dressed = AdaNetClassifier(np.int64(1), np.int32(4), lam=np.float64(1e-4), config=config)
    dressed.set_params(random_state=7, max_depth=2, verbose=True)
    plain = small(rounds=1, candidates=((0, 4), (1, 4)), random_state=7, max_depth=2)
    assert dressed.fit(X, y).decision_function(X).tolist() == plain.fit(X, y).decision_function(X).tolist()
    assert capsys.readouterr().out.startswith("round 1: F = ")
    dressed.save(tmp_path / "m.pt")
    assert load(tmp_path / "m.pt").predict(X).tolist() == plain.predict(X).tolist()


def test_a_regression_target_is_refused_with_the_remedy(sample):
    X, _ = sample
    refused(lambda: small().fit(X, X[:, 0]), "continuous", "classification", "Cut the target")


@pytest.mark.parametrize(
    ("labels", "report"),
    [
        (["a", None], "got NoneType, str"),
        ([1, "a"], "got int, str"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), r"got datetime64\[D\]"),
        ([(1,), (2, 3)], "got tuple"),
    ],
)
@pytest.mark.parametrize("made", [small, small_cvx])
def test_labels_that_are_none_are_refused_before_training(sample, made, labels, report):
    y = np.empty(2, dtype=object) if isinstance(labels, list) else labels
    y[:] = labels
    with pytest.raises(ValueError, match=f"labels of one type, numbers or words, {report}"):
        made().fit(sample[0], y[np.arange(60) % 2])


def test_flags_and_words_as_objects_are_labels(sample):
    X, y = sample
    flags = small(rounds=1).fit(X, (y == "yes").astype(object))
    assert flags.classes_.tolist() == [False, True]
    assert flags.predict(X).dtype == bool
    words = small(rounds=1).fit(X, y.astype(object))
    assert words.decision_function(X).tolist() == flags.decision_function(X).tolist()


def test_where_nothing_helps_the_shares_of_the_classes_are_learnt():
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(50, 100)), draw.uniform(size=50) < 0.7
    model = AdaNetClassifier(width=4, config=Config(epochs=5)).fit(X, y)
    (kept,) = chosen(model.history_)
    assert kept["held_out"] < model.history_[0]["candidates"][0]["held_out"]
    assert np.allclose(model.predict_proba(X)[:, 1], y.mean(), rtol=1e-6)
    assert model.predict(X).all()
    y = np.repeat([0, 1, 2], [10, 25, 15])
    model.fit(X, y)
    assert len(chosen(model.history_)) == 1
    assert np.allclose(model.predict_proba(X), [0.2, 0.5, 0.3], atol=0.03)


def test_words_are_refused_with_the_remedy(sample):
    _, y = sample
    with pytest.raises(ValueError, match=r"X must hold numbers.*'u': encode words"):
        small().fit(np.array([["u", 1.0], ["v", 2.0]] * 30, dtype=object), y)


EXPORTS = {
    "export": lambda module, X: torch.export.export(
        module, (X,), dynamic_shapes=({0: torch.export.Dim.AUTO},)
    ).module(),
    "trace": torch.jit.trace,
    "script": lambda module, X: torch.jit.script(module),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", EXPORTS)
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_exported_modules_take_any_number_of_rows(sample, kind, activation):
    X, y = sample
    model = small(activation=activation, candidates=((1, 4),), max_depth=3)
    module = model.fit(X, y).to_torch()
    exported = EXPORTS[kind](module, torch.from_numpy(X[:7]))
    for rows in (1, 5, 600):
        points = np.random.default_rng(rows).uniform(-4, 6, size=(rows, 3))
        outputs = exported(torch.from_numpy(points)).detach().numpy()
        assert np.allclose(outputs, model.decision_function(points), rtol=1e-12, atol=1e-12)


def test_onnx_takes_any_number_of_rows(sample, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    X, y = sample
    model = small(candidates=((1, 4),), max_depth=3).fit(X, y)
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = ({0: torch.export.Dim.AUTO},)
        torch.onnx.export(model.to_torch(), (torch.from_numpy(X[:7]),), path, dynamic_shapes=shapes, verbose=False)
    session = runtime.InferenceSession(path)
    for rows in (1, 5, 600):
        points = np.random.default_rng(rows).uniform(-4, 6, size=(rows, 3))
        (outputs,) = session.run(None, {session.get_inputs()[0].name: points})
        assert np.allclose(outputs, model.decision_function(points), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [AdaNetClassifier, AdaNetCVXClassifier])
def test_a_network_that_predicts_one_class_is_told_of_at_training(kind):
    """39 of 40 labels are the same and x says nothing of them: the command told of it, fit did not."""
    X, y = np.zeros((40, 2)), np.array(["rare"] + ["often"] * 39)
    with pytest.warns(UserWarning, match=r"'often'.*constant.* 0\.0250"):
        kind(rounds=1).fit(X, y)


def test_the_column_of_words_is_named() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "city": ["Rome", "Oslo", "Rome"]})
    with pytest.raises(ValueError, match=r"'city'.*'Rome'.*encode"):
        AdaNetClassifier().fit(frame, [0, 1, 0])
