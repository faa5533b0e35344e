"""AdaNet with subnetworks of one's own: the protocol, the rounds, files, exports, and what is refused."""

import copy
import dataclasses
import functools
import json
import sys
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

from adanet_theory.certificates.disagreement import disagreement_certificate
from adanet_theory.certificates.pick import pick_certificate
from adanet_theory.risk.margin import ETA
from adanet_train import AdaNetClassifier, Config, certify, replay
from adanet_train.app import factory
from adanet_train.app.cli import main
from adanet_train.convex.labels import labels_of
from adanet_train.data import images
from adanet_train.data.disk import Joined
from adanet_train.estimator import load
from adanet_train.picking import builders as picking_builders
from adanet_train.picking.certify import labelled
from adanet_train.picking.core import Plan
from adanet_train.picking.subnetworks import Ensembles
from adanet_train.subnetworks import file, measure
from adanet_train.subnetworks.conformance import check_builder
from adanet_train.subnetworks.data import Inputs
from adanet_train.subnetworks.embedded import Embedded
from adanet_train.subnetworks.fitted import Fitted
from adanet_train.subnetworks.fitting import Data, Fit, predict, validation_loss
from adanet_train.subnetworks.protocol import Context, build, continued, hidden, name_of
from adanet_train.subnetworks.train import EnsembleProblem, Subnetworks, train
from tests.refusals import says
from verify import compressing, verify_bounds
from verify.cli import main as verify_main
from verify.reading import case
from verify.records.question import Question
from verify.show import render

DIGITS, LABELS = (part[:700] for part in load_digits(return_X_y=True))
IMAGES = (DIGITS / 16).reshape(-1, 1, 8, 8).astype(np.float32)
PAIR = LABELS < 2
QUICK = Fit(epochs=3, batch=32, rate=5e-3)


def cnn(context: Context) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(context.shape[0], 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 16), nn.ReLU(),
        nn.Linear(16, context.outputs),
    )  # fmt: skip


def linear(context: Context) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, context.outputs))


def lazy(context: Context) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(context.outputs))


class Reads(nn.Module):
    """Reads the image and the last hidden layer of the subnetwork before it."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.before = nn.ModuleList(context.previous[-1:])
        self.out = nn.Linear(64 + 16 * len(self.before), context.outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.cat([x.flatten(1), *[hidden(module, x) for module in self.before]], 1))


class Deeper:
    """A generator: a CNN first, then what reads it."""

    def candidates(self, round, reports):
        return [cnn] if round == 1 else [Reads]


def fitted(subnetworks: object, X: object = IMAGES, y: object = LABELS, **more: object) -> AdaNetClassifier:
    more = {"rounds": 2, **more}
    return AdaNetClassifier(subnetworks=Subnetworks(subnetworks, training=QUICK), **more).fit(X, y)


@functools.cache
def one_linear() -> AdaNetClassifier:
    return fitted([linear], rounds=1)


@functools.cache
def of_two() -> AdaNetClassifier:
    return fitted([cnn, linear])


@functools.cache
def deeper() -> AdaNetClassifier:
    return fitted(Deeper())


def test_ten_classes_of_images_and_one_module():
    clf = of_two()
    assert clf.score(IMAGES, LABELS) > 0.8
    module = clf.to_torch()
    f = module(torch.from_numpy(IMAGES[:50])).numpy()
    assert np.allclose(f, clf.decision_function(IMAGES[:50]), atol=1e-5)
    assert clf.predict_proba(IMAGES[:5]).shape == (5, 10)


def test_two_classes_have_one_output_and_two_logits_are_their_difference():
    one = fitted([linear], IMAGES[PAIR], LABELS[PAIR], rounds=1)
    assert one.decision_function(IMAGES[PAIR]).ndim == 1
    logits = nn.Sequential(nn.Flatten(), nn.Linear(64, 2, bias=False))
    means = torch.from_numpy(np.stack([IMAGES[c == LABELS].mean(0).ravel() for c in (0, 1)]))
    logits[1].weight.data = means - means.mean(0)
    two = fitted([logits.eval()], IMAGES[PAIR], LABELS[PAIR], rounds=1)
    with torch.no_grad():
        z = logits(torch.from_numpy(IMAGES[PAIR]))
    w = two.ensemble_.grown.chosen[0].weight
    assert np.allclose(two.decision_function(IMAGES[PAIR]), w * (z[:, 1] - z[:, 0]).numpy(), atol=1e-5)


@pytest.mark.parametrize(("two", "validation"), [(True, 0.2), (False, 0.2), (False, 0)])
def test_the_weights_minimise_F_over_all_subnetworks(two, validation):
    """By its definition: F of the weights is not above F beside them, on the rows that no subnetwork was fitted to."""
    X, y = (IMAGES[PAIR], 2.0 * LABELS[PAIR] - 1) if two else (IMAGES, LABELS)
    y = torch.from_numpy(y)
    given = Subnetworks([linear], training=QUICK, beta=0.01, validation=validation)
    problem, grown = EnsembleProblem.of(X, y, given, 0, "cpu", None), train(X, y, given, rounds=2)
    assert len(grown.chosen) == 2
    H, w = problem.begin(grown).H, [one.weight for one in grown.chosen]
    rows = problem.split.validation if validation else problem.split.train
    Gamma = [grown.lam * one.complexity + 0.01 for one in grown.chosen]

    def F(w: list[float]) -> float:
        f = sum(weight * h[rows] for weight, h in zip(w, H, strict=True))
        values = labels_of(y, "logistic").values(y[rows], f)
        return float(values.mean()) + sum(price * abs(weight) for price, weight in zip(Gamma, w, strict=True))

    assert grown.reports[-1].objective == pytest.approx(F(w), rel=1e-9)
    beside = [(a, b) for a in (-0.1, -0.01, 0, 0.01, 0.1) for b in (-0.1, -0.01, 0, 0.01, 0.1)]
    assert all(F(w) <= F([w[0] + a, w[1] + b]) + 1e-9 for a, b in beside)


def test_equal_seeds_give_equal_bits_and_a_run_taken_up_too(tmp_path):
    whole = fitted([cnn, lazy], rounds=2)
    again = fitted([cnn, lazy], rounds=2)
    f = whole.decision_function(IMAGES)
    assert np.array_equal(f, again.decision_function(IMAGES))
    untimed = [[dataclasses.replace(one, seconds=None) for one in clf.ensemble_.reports] for clf in (whole, again)]
    assert untimed[0] == untimed[1]
    begun = fitted([cnn, lazy], rounds=1, warm_start=True)
    begun.set_params(rounds=2).fit(IMAGES, LABELS)
    assert np.array_equal(f, begun.decision_function(IMAGES))
    begun.save(tmp_path / "m.pt")
    assert np.array_equal(f, load(tmp_path / "m.pt", subnetworks=[cnn, lazy]).decision_function(IMAGES))
    assert not np.array_equal(f, fitted([cnn, lazy], rounds=2, random_state=1).decision_function(IMAGES))


def test_a_file_holds_weights_and_its_reader_brings_the_builders(tmp_path):
    clf = deeper()
    assert [one.name for one in clf.ensemble_.grown.chosen] == ["cnn", "Reads"]
    clf.save(tmp_path / "m.pt")
    back = load(tmp_path / "m.pt", subnetworks=Deeper())
    assert np.array_equal(back.decision_function(IMAGES), clf.decision_function(IMAGES))
    untimed = [{**report.plain, "seconds": None} for report in clf.ensemble_.reports]
    assert [report.plain for report in back.ensemble_.reports] == untimed
    again = fitted(Deeper(), rounds=2)
    again.save(tmp_path / "again.pt")
    assert (tmp_path / "again.pt").read_bytes() == (tmp_path / "m.pt").read_bytes()
    with pytest.raises(ValueError, match="holds subnetworks of your own"):
        load(tmp_path / "m.pt")
    with pytest.raises(ValueError, match="builders given here are: linear"):
        load(tmp_path / "m.pt", subnetworks=[linear])

    class Wider:
        name = "cnn"

        def build(self, context):
            return nn.Sequential(nn.Flatten(), nn.Linear(64, context.outputs))

    with pytest.raises(ValueError, match="builder 'cnn' makes another module than the file: Error") as refused:
        load(tmp_path / "m.pt", subnetworks=[Wider()])
    assert "\n" not in str(refused.value)


def test_the_builders_see_the_same_context_in_training_and_in_reading(tmp_path):
    seen = []

    def noted(context):
        seen.append((context.round, context.m, len(context.previous), int(context.generator.initial_seed())))
        return linear(context)

    def both(context):
        return noted(context)

    given = Subnetworks([noted, both], strategy="all", validation=0.3, training=QUICK)
    clf = AdaNetClassifier(subnetworks=given, rounds=2).fit(IMAGES, LABELS)
    kept = {one.round for one in clf.ensemble_.grown.chosen}
    trained = [place for place in seen if place[0] in kept]
    assert trained[0][1] == 490
    assert kept == {1, 2}
    clf.save(tmp_path / "m.pt")
    seen.clear()
    load(tmp_path / "m.pt", subnetworks=[noted, both])
    assert seen == trained


class _Normed(nn.Module):
    """With statistics and dropout, and with the subnetwork before it inside."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.before = nn.ModuleList(context.previous)
        self.norm, self.drop = nn.BatchNorm1d(64), nn.Dropout(0.5)
        self.out = nn.Linear(64 + context.outputs * len(self.before), context.outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        own = self.drop(self.norm(x.flatten(1)))
        return self.out(torch.cat([own, *[module(x) for module in self.before]], 1))


def test_an_earlier_subnetwork_stays_as_it_is_and_dropout_is_seeded():
    seen = []
    y = torch.from_numpy(LABELS)
    given = Subnetworks([_Normed], training=QUICK, validation=0, lam=0)
    grown = train(IMAGES, y, given, rounds=1)
    before = {key: value.clone() for key, value in grown.chosen[0].module.state_dict().items()}
    more = train(IMAGES, y, given, rounds=2, resume=grown, callback=seen.append)
    assert all(torch.equal(before[key], value) for key, value in more.chosen[0].module.state_dict().items())
    torch.rand(3)
    again = train(IMAGES, y, given, rounds=2)
    assert [one.weight for one in again.chosen] == [one.weight for one in more.chosen]

    class Careless:
        build = staticmethod(_Normed)

        def fit(self, module, data, loss):
            module.train()(data.inputs[slice(0, 99)])

    with pytest.raises(ValueError, match="its fit changes an earlier subnetwork"):
        train(IMAGES, y, Subnetworks([Careless()], training=QUICK, validation=0, lam=0), rounds=2, resume=grown)


def test_the_share_of_f_is_the_mean_of_its_size_on_the_sample():
    clf = of_two()
    with torch.no_grad():
        sizes = [
            abs(one.weight) * one.module(torch.from_numpy(IMAGES)).abs().mean() for one in clf.ensemble_.grown.chosen
        ]
    shares = [row["share"] for row in clf.summary().rows]
    assert shares == pytest.approx([float(size / sum(sizes)) for size in sizes], rel=1e-5)


@pytest.mark.filterwarnings("ignore:subnetwork 'Sequential' is an instance")
def test_what_is_given_is_not_changed():
    module, model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), LogisticRegression(max_iter=500)
    weight = module[1].weight.detach().clone()
    for half in (slice(0, 350), slice(350, 700)):
        clf = fitted([module, model], IMAGES[half], LABELS[half], rounds=3)
        fresh = LogisticRegression(max_iter=500).fit(DIGITS[half] / 16, LABELS[half])
        (own,) = (one.module.estimator for one in clf.ensemble_.grown.chosen if one.name == "LogisticRegression")
        assert (own.predict(DIGITS[half] / 16) == fresh.predict(DIGITS[half] / 16)).mean() > 0.95
    assert module.training
    assert module[1].weight.requires_grad
    assert torch.equal(module[1].weight, weight)
    assert not hasattr(model, "coef_")


def _between_the_means(right: bool) -> nn.Module:
    """Linear: on which side of the middle between the means of the digits 0 and 1, or the other one."""
    X, y = IMAGES[PAIR], LABELS[PAIR]
    module = nn.Sequential(nn.Flatten(), nn.Linear(64, 1))
    towards = torch.from_numpy(X[y == 1].mean(0) - X[y == 0].mean(0)).flatten()
    middle = torch.from_numpy((X[y == 1].mean(0) + X[y == 0].mean(0)) / 2).flatten()
    module[1].weight.data = (1 if right else -1) * towards[None]
    module[1].bias.data = -(module[1].weight.data @ middle)
    return module


@pytest.mark.parametrize("proposed", [1, 2])
def test_an_instance_is_said_not_to_be_trained_once(proposed, recwarn):
    """In training mode, or where it is no better than a constant; eval() says that it is meant so."""
    X, y = IMAGES[PAIR], LABELS[PAIR]
    fitted([_between_the_means(True).eval(), linear], X, y, rounds=proposed)
    assert not recwarn.list
    warnings.simplefilter("always")
    fitted([_between_the_means(True), linear], X, y, rounds=proposed)
    (told,) = recwarn.list
    assert "taken as it is and not trained; to have it trained give what makes it" in str(told.message)
    recwarn.clear()
    clf = fitted([_between_the_means(False).eval(), linear], X, y, rounds=proposed)
    (told,) = recwarn.list
    z = _between_the_means(False)(torch.from_numpy(X)).detach()[:, 0].numpy()
    share = min((y == 0).mean(), (y == 1).mean())
    assert f"errs on {((z > 0) != y).mean():.4f} of the sample, a constant prediction on {share:.4f}" in str(
        told.message
    )
    assert clf.score(X, y) > 0.9


def test_a_warm_start_keeps_its_seed_and_refuses_other_points():
    state = np.random.RandomState(3)
    clf = fitted([linear], rounds=1, random_state=state, warm_start=True)
    seed = clf.ensemble_.run.seed
    clf.set_params(rounds=2).fit(IMAGES, LABELS)
    assert clf.ensemble_.run.seed == seed
    with pytest.raises(ValueError, match="the same sample"):
        clf.fit(IMAGES * 2, LABELS)
    with pytest.raises(ValueError, match="the same seed"):
        clf.set_params(random_state=5).fit(IMAGES, LABELS)


def test_a_later_subnetwork_reads_an_earlier_one():
    clf = deeper()
    assert [row["reads"] for row in clf.summary().rows] == [[], [1]]
    lines = str(clf.summary()).splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["1", "cnn", "1"], ["2", "Reads", "2"]]
    assert lines[2].endswith("inputs, 1")
    assert [one["name"] for step in clf.history_ for one in step["candidates"]] == ["cnn", "Reads"]
    assert [line.split()[1] for line in str(clf.candidates()).splitlines()] == ["candidate", "cnn", "Reads"]
    with pytest.raises(AttributeError, match=r"see summary\(\)"):
        _ = clf.hidden_
    assert sum(row["share"] for row in clf.summary().rows) == pytest.approx(1)
    assert "cnn" in str(clf.summary())


def test_a_round_may_go_on_from_an_earlier_subnetwork():
    """From the last one with the same weights; another shape begins anew."""
    draw = torch.Generator().manual_seed(0)
    alone = Context((1, 8, 8), 10, (), 1, 100, draw)
    old, older, other = cnn(alone), cnn(alone), linear(alone)
    later = dataclasses.replace(alone, previous=(older, old, other), round=4)
    begun, own = continued(cnn(later), later), cnn(alone)
    assert all(torch.equal(a, b) for a, b in zip(begun.parameters(), old.parameters(), strict=True))
    assert begun[0].weight is not old[0].weight
    kept = own[0].weight.clone()
    assert torch.equal(continued(own, dataclasses.replace(later, previous=(other,)))[0].weight, kept)


def test_early_stopping_judges_f_at_its_best_scale():
    """A subnetwork that is too sure of itself is as good as the same one with smaller outputs."""

    class Sure(nn.Module):
        def __init__(self, times: float) -> None:
            super().__init__()
            self.times = times

        def forward(self, x):
            return self.times * nn.functional.one_hot((10 * x[:, 0]).long() % 10, 10).float()

    y = torch.arange(200) % 10
    X = ((y + (torch.arange(200) % 4 == 0)) % 10 / 10 + 0.05)[:, None].float()  # wrong on a quarter
    problem = EnsembleProblem.of(X, y, Subnetworks([linear]), 0, "cpu", None)
    data = Data(problem.inputs, problem.y, problem.split, 10, torch.Generator())
    losses = [validation_loss(Sure(times), data, problem.loss) for times in (4.0, 8.0, 16.0)]
    assert losses[1] == losses[0] == losses[2]
    f = predict(Sure(16.0), data.inputs, data.split.validation, 10, "sure")
    assert losses[2] < float(problem.loss(f, y[data.split.validation])) - 0.5


def test_a_generator_sees_the_reports():
    seen = []

    class Plan:
        def candidates(self, round, reports):
            seen.append((round, [report.name for report in reports]))
            return [linear]

    fitted(Plan(), rounds=2)
    assert seen[0] == (1, [])
    assert seen[1:] in ([], [(2, ["linear"])])


def test_given_estimators_are_taken_as_they_are():
    X, y = DIGITS / 16, LABELS
    forest = RandomForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    clf = fitted([forest, LogisticRegression(max_iter=500)], X, y, rounds=3)
    assert {one.name for one in clf.ensemble_.grown.chosen} <= {"RandomForestClassifier", "LogisticRegression"}
    assert len({one.name for one in clf.ensemble_.grown.chosen}) == len(clf.ensemble_.grown.chosen)
    assert clf.score(X[400:], y[400:]) > 0.9
    with pytest.raises(ValueError, match="pickle the classifier instead"):
        clf.save("never.pt")
    with pytest.raises(Exception, match=r"(LogisticRegression|RandomForestClassifier) is not a torch module"):
        torch.export.export(clf.to_torch(), (torch.zeros(2, 64),))


@pytest.mark.parametrize("strategy", ["grow", "all", "solo"])
@pytest.mark.parametrize("weights", ["convex", "mean"])
def test_strategies(strategy, weights):
    given = Subnetworks([cnn, linear], strategy=strategy, weights=weights, training=QUICK)
    clf = AdaNetClassifier(subnetworks=given, rounds=1).fit(IMAGES, LABELS)
    chosen = clf.ensemble_.grown.chosen
    assert len(chosen) == (2 if strategy == "all" else 1)
    if weights == "mean":
        assert [one.weight for one in chosen] == [1 / len(chosen)] * len(chosen)


def test_validation_points_may_be_given():
    names = np.array([*"abcdefghij"])[LABELS]
    own = Subnetworks([linear], training=QUICK, validation=(IMAGES[500:], names[500:]))
    clf = AdaNetClassifier(subnetworks=own, rounds=1).fit(IMAGES[:500], names[:500])
    assert clf.ensemble_.run.trained == 500
    f = torch.from_numpy(clf.decision_function(IMAGES[500:]))
    y = torch.from_numpy(LABELS[500:])
    loss = float(labels_of(torch.from_numpy(LABELS), "logistic").values(y, f).mean())
    assert clf.ensemble_.reports[0].validation == pytest.approx(loss, rel=1e-5)
    other = AdaNetClassifier(subnetworks=Subnetworks([linear], validation=(IMAGES[:2], np.array(["a", "z"]))))
    with pytest.raises(ValueError, match="of the classes of y"):
        other.fit(IMAGES, names)


def test_validation_points_may_be_a_dataset_or_a_loader(tmp_path):
    """The same points as arrays, as a Dataset and in files give the same bits."""
    data = torch.utils.data.TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(LABELS))
    parts = [torch.utils.data.Subset(data, range(*ends)) for ends in ((0, 500), (500, 700))]
    np.save(tmp_path / "images.npy", IMAGES[:500])
    on_disk = np.load(tmp_path / "images.npy", mmap_mode="r")
    pair = (IMAGES[500:], LABELS[500:])
    f = []
    for X, y, own in (
        (IMAGES[:500], LABELS[:500], pair),
        (parts[0], None, parts[1]),
        (parts[0], None, pair),
        (on_disk, LABELS[:500], torch.utils.data.DataLoader(parts[1], batch_size=9)),
    ):
        given = Subnetworks([linear], training=QUICK, validation=own)
        clf = AdaNetClassifier(subnetworks=given, rounds=1).fit(X, y)
        assert clf.ensemble_.run.trained == 500
        f.append(clf.decision_function(IMAGES))
    assert all(np.array_equal(f[0], one) for one in f[1:])


class _Points(torch.utils.data.Dataset):
    def __init__(self, wrong: object) -> None:
        self.wrong, self.targets = wrong, LABELS

    def __len__(self) -> int:
        return len(LABELS)

    def __getitem__(self, i: int) -> object:
        if i == 77 and isinstance(self.wrong, Exception):
            raise self.wrong
        return (self.wrong if i == 77 else IMAGES[i]), int(LABELS[i])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (OSError("the file is gone"), "point 77 of the Dataset: OSError: the file is gone"),
        (IMAGES[77] * np.nan, "finite numbers, got nan or inf in row 77"),
        (IMAGES[77, 0], r"point 77 of the Dataset has shape \(8, 8\), the first one \(1, 8, 8\)"),
        ("a picture", "point 77 of the Dataset must be a tensor or an array, got a str"),
    ],
)
def test_a_point_that_cannot_be_read_is_named_and_no_builder_blamed(wrong, told):
    with pytest.raises(ValueError, match=rf"^X[ :].*{told}"):
        fitted([linear], _Points(wrong), None, rounds=1)


def test_a_loader_whose_batches_are_its_own_is_refused():
    own = torch.utils.data.DataLoader(_Points(IMAGES[77]), collate_fn=lambda rows: rows)
    with pytest.raises(ValueError, match="a collate_fn, which is not called here"):
        fitted([linear], own, None, rounds=1)


def test_rows_in_files_are_named_in_python_too(tmp_path, monkeypatch):
    """Parts of .npy files, labels as an array or in files of their own; the report reads them by the same names."""
    monkeypatch.chdir(tmp_path)
    for i, rows in enumerate((slice(0, 300), slice(300, 700))):
        np.save(f"X-{i}.npy", IMAGES[rows])
        np.save(f"y-{i}.npy", LABELS[rows])
    f = one_linear().decision_function(IMAGES)
    for y in (LABELS, "y-*.npy"):
        clf = fitted([linear], "X-*.npy", y, rounds=1)
        assert np.array_equal(f, clf.decision_function("X-*.npy"))
    report = verify_bounds(clf, "X-*.npy", "y-*.npy", draws=None)
    assert report.sample.train_error == (clf.predict(IMAGES) != LABELS).mean()
    with pytest.raises(ValueError, match=r"X-0.npy: holds no labels beside its inputs of shape \(1, 8, 8\): --label"):
        images.load("X-*.npy")


def test_a_dataset_of_pairs_is_trained_with_a_certificate():
    data = torch.utils.data.TensorDataset(torch.from_numpy(IMAGES[PAIR]), torch.from_numpy(LABELS[PAIR]))
    asked = {"rounds": 1, "objective": "certificate", "config": Config(start=0.4, picks=2)}
    given = Subnetworks([linear], training=QUICK, validation=0)
    clf, same = (AdaNetClassifier(subnetworks=given, **asked) for _ in range(2))
    assert clf.fit(data).certificate_ == same.fit(IMAGES[PAIR], LABELS[PAIR]).certificate_ < 1


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (None, "y is required"),
        (np.eye(10)[LABELS], r"got shape \(700, 10\): y.argmax\(1\) of one-hot rows"),
        (np.where(LABELS == 3, np.nan, LABELS), "got nan in 7[0-9] of 700 rows"),
        (LABELS * 1j, "got dtype complex128"),
        ([None] * 700, r"labels of one type, got \['NoneType'\]"),
    ],
)
def test_labels_that_are_none_are_refused(y, told):
    with pytest.raises(ValueError, match=told):
        fitted([linear], IMAGES, y)


def test_a_dataset_a_loader_and_a_file_are_streamed(tmp_path):
    data = torch.utils.data.TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(LABELS))
    whole = one_linear()
    streamed = fitted([linear], data, None, rounds=1)
    loaded = fitted([linear], torch.utils.data.DataLoader(data, batch_size=7), None, rounds=1)
    f = whole.decision_function(IMAGES)
    assert np.array_equal(f, streamed.decision_function(IMAGES))
    assert np.array_equal(f, loaded.decision_function(data))
    assert streamed.score(data) == loaded.score(torch.utils.data.DataLoader(data)) == whole.score(IMAGES, LABELS)
    with pytest.raises(ValueError, match="y is required"):
        whole.score(IMAGES)
    np.save(tmp_path / "images.npy", IMAGES)
    on_disk = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert np.array_equal(f, fitted([linear], on_disk, rounds=1).decision_function(on_disk))


def test_the_complexity_is_the_path_norm_or_the_root_of_the_depth_or_given():
    layer = nn.Linear(3, 1, bias=False)
    nn.init.constant_(layer.weight, -2.0)
    assert measure.complexity(layer, layer, (3,)) == (pytest.approx(6.0), "path norm")
    assert measure.complexity(nn.LSTM(3, 4), None, (3,)) == (1.0, "sqrt(depth)")

    class Own:
        def complexity(self, module):
            return 7

    assert measure.complexity(layer, Own(), (3,)) == (7.0, "given")


@pytest.mark.parametrize("two", [False, True], ids=["ten classes", "two classes"])
def test_it_exports_with_any_number_of_rows(two, tmp_path):
    """To torch.export and to ONNX: one row, and more than it was exported with."""
    import onnxruntime

    X, y = (IMAGES[PAIR], LABELS[PAIR]) if two else (IMAGES, LABELS)
    module = (fitted(Deeper(), X, y) if two else deeper()).to_torch()
    assert len(module.parts) == 2
    example, shapes = (torch.from_numpy(X[:4]),), ({0: torch.export.Dim("batch")},)
    torch.export.save(torch.export.export(module, example, dynamic_shapes=shapes), tmp_path / "m.pt2")
    program = torch.export.load(tmp_path / "m.pt2").module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter's own parts
        torch.onnx.export(module, example, tmp_path / "m.onnx", dynamic_shapes=shapes, verbose=False)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    (name,) = (one.name for one in session.get_inputs())
    for m in (1, 9):
        x = torch.from_numpy(X[:m])
        expected = module(x)
        assert torch.allclose(program(x), expected, atol=1e-6)
        assert np.allclose(session.run(None, {name: X[:m]})[0], expected.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("builder", "symbol"),
    [
        (lambda context: 3, "must return an nn.Module, got int"),
        (lambda context: nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), r"must return shape \(2, 10\), got \(2, 3\)"),
        (lambda context: nn.Sequential(nn.Flatten(), _Nan()), "must return finite numbers|the loss is nan"),
        (4, "must be a builder, a module or an estimator, got int"),
        (lambda context: nn.Sequential(nn.Flatten(), _Nan()).double(), "builder '<lambda>' failed in round 1: mat1"),
        (lambda context: _Cast(), "'<lambda>' must return real numbers, got torch.int64"),
        (lambda context: {}["missing"], "builder '<lambda>' failed in round 1: KeyError 'missing'"),
        (lambda context: int("x"), "builder '<lambda>' failed in round 1: invalid literal"),
    ],
)
def test_what_a_builder_returns_is_checked(builder, symbol):
    with pytest.raises(ValueError, match=symbol):
        fitted([builder], rounds=1)


@pytest.mark.parametrize(
    ("proposals", "told"),
    [
        ([], "nothing was proposed in round 1"),
        (None, "'Plan' must propose builders in round 1, got NoneType"),
        ({"a": cnn}, "'Plan' must propose builders in round 1, got dict"),
        (KeyError("loss"), "'Plan' failed in round 1: KeyError 'loss'"),
    ],
)
def test_what_a_generator_proposes_is_checked(proposals, told):
    class Plan:
        def candidates(self, round, reports):
            if isinstance(proposals, Exception):
                raise proposals
            return proposals

    with pytest.raises(ValueError, match=told):
        fitted(Plan(), rounds=1)


def test_a_class_of_generators_or_builders_is_none_itself():
    with pytest.raises(ValueError, match=r"generator 'Deeper' is a class: give an instance, Deeper\(\.\.\)"):
        fitted(Deeper, rounds=1)

    class Builder:
        def build(self, context):
            return linear(context)

    with pytest.raises(ValueError, match=r"builder 'Builder' is a class: give an instance, Builder\(\.\.\)"):
        fitted([Builder], rounds=1)
    with pytest.raises(ValueError, match=r"builder 'Builder' is a class: give an instance, Builder\(\.\.\)"):
        check_builder(Builder, shape=(1, 8, 8))
    with pytest.raises(ValueError, match="Linear is taken as it is, expected a builder"):
        check_builder(nn.Linear(3, 1), shape=(3,))


def test_a_generator_may_propose_one_builder():
    class Plan:
        def candidates(self, round, reports):
            return linear

    assert fitted(Plan(), rounds=1).summary().rows[0]["name"] == "linear"


def test_nothing_to_predict_with_says_what_to_change():
    idle = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    nn.init.zeros_(idle[1].weight)
    nn.init.zeros_(idle[1].bias)
    with (
        pytest.warns(UserWarning, match="a constant prediction on 0.89"),
        pytest.raises(ValueError, match=r"instance.*Give the class or a function"),
    ):
        fitted([idle], rounds=1).predict(IMAGES)
    lazy = Subnetworks([lambda context: copy.deepcopy(idle)], training=lambda module, data, loss: None)
    with pytest.raises(ValueError, match=r"train longer .*epochs=.*more points"):
        AdaNetClassifier(subnetworks=lazy, rounds=1).fit(IMAGES, LABELS)


def test_points_that_are_not_numbers_are_refused():
    class Endless(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(zip(IMAGES, LABELS, strict=True))

    with pytest.raises(ValueError, match="X must hold finite numbers"):
        fitted(linear, np.where(IMAGES > 0.5, np.nan, IMAGES))
    with pytest.raises(ValueError, match="inputs of one shape, got several: give the labels as y"):
        fitted(linear, (IMAGES, LABELS))
    with pytest.raises(ValueError, match="a row for each point, got a dict"):
        fitted(linear, {"x": IMAGES})
    with pytest.raises(ValueError, match=r"X must be a dense array.*X.toarray"):
        fitted(linear, csr_matrix(DIGITS))
    with pytest.raises(ValueError, match="without masked entries"):
        fitted(linear, np.ma.masked_array(DIGITS, DIGITS > 15))
    with pytest.raises(ValueError, match="no points of an IterableDataset can be held out"):
        AdaNetClassifier(subnetworks=linear).fit(Endless())
    with pytest.raises(ValueError, match=r"^validation .*\[0, 1\).*pair"):
        Subnetworks(linear, validation="some")


def test_images_without_a_channel_axis_are_named():
    small = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 10))
    flat = IMAGES[:, 0]
    with pytest.raises(ValueError, match=r"X .*channel.*X\[:, None\]"):
        AdaNetClassifier(subnetworks=[lambda: copy.deepcopy(small)], rounds=1).fit(flat, LABELS)
    with pytest.raises(ValueError, match=r"X .*channel.*X\[:, None\]"):
        certify(lambda: copy.deepcopy(small), flat, LABELS, discrete=True)
    last = np.moveaxis(IMAGES, 1, -1)
    with pytest.raises(ValueError, match=r"torch reads channels first: pass X.transpose\(0, 3, 1, 2\)"):
        AdaNetClassifier(subnetworks=[lambda: copy.deepcopy(small)], rounds=1).fit(last, LABELS)


class _Cast(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1)[:, :10].long()


class _Nan(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * float("nan")


def test_a_round_that_fails_leaves_the_one_before(tmp_path):
    class Plan:
        def candidates(self, round, reports):
            return [linear] if round == 1 else [lambda context: nn.Linear(1, 1)]

    clf = AdaNetClassifier(subnetworks=Subnetworks(Plan(), training=QUICK), rounds=2, warm_start=True)
    with pytest.raises(ValueError, match="builder '<lambda>' failed in round 2"):
        clf.fit(IMAGES, LABELS)
    assert [row["name"] for row in clf.summary().rows] == ["linear"]
    assert np.array_equal(clf.predict(IMAGES), one_linear().predict(IMAGES))


def test_builders_conform():
    for builder in (cnn, linear, lazy):
        check_builder(builder, shape=(1, 8, 8), outputs=10)
    reads = check_builder(Reads, shape=(1, 8, 8), outputs=10, after=cnn)
    assert len(reads.before) == 1
    with pytest.raises(ValueError, match=r"'Reads' .*round 2: mat1"):
        check_builder(Reads, shape=(1, 8, 8), outputs=10)
    with pytest.raises(ValueError, match="must not depend on its batch"):
        check_builder(lambda context: _Centred(), shape=(4,))
    draws = iter(range(9))
    with pytest.raises(ValueError, match="the same bits"):
        check_builder(lambda context: _Shifted(next(draws)), shape=(4,))


class _Odd(nn.Module):
    """A linear map, spoilt by what is given."""

    def __init__(self, spoil) -> None:
        super().__init__()
        self.layer, self.spoil = nn.Linear(64, 10), spoil

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.spoil(self.layer, x)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda layer, x: layer(x.mul_(2).flatten(1)), "forward changes its input in place"),
        (lambda layer, x: layer(x.flatten(1)) + torch.randn(len(x), 1), "must not be random, got others"),
        (lambda layer, x: layer((x - x.mean(0)).flatten(1)), "must not depend on its batch"),
        (lambda layer, x: layer(x.flatten(1)).squeeze(), r"must return shape \(1, 10\), got \(10,\)"),
    ],
)
def test_a_module_must_be_a_function_of_each_point(spoil, told):
    """In training and in the check alike; the points stay as they were."""
    before = IMAGES.copy()
    with pytest.raises(ValueError, match=f"round 1: subnetwork '<lambda>'.*{told}"):
        fitted([lambda context: _Odd(spoil)], rounds=1)
    with pytest.raises(ValueError, match=told):
        check_builder(lambda context: _Odd(spoil), shape=(1, 8, 8), outputs=10)
    assert np.array_equal(before, IMAGES)


def test_a_context_is_given_to_who_asks_for_it():
    """By its place, or by its name where other parameters stand before it; the name in reports is the function's."""
    draw = torch.Generator().manual_seed(0)
    context = Context((1, 8, 8), 10, (), 1, 100, draw)

    def wide(width=8, context=None):
        return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, context.outputs))

    def sized(width, context):
        return wide(width, context)

    def plain(width=3):
        return nn.Linear(64, width)

    assert build(wide, context)[-1].out_features == 10
    assert build(partial(sized, 5), context)[1].out_features == 5
    assert build(partial(sized, width=6), context)[1].out_features == 6
    assert build(plain, context).out_features == 3
    assert name_of(partial(sized, 5)) == "sized"


def test_a_builder_makes_a_new_module_each_time():
    one = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    with pytest.raises(ValueError, match="round 2: builder '<lambda>' must make a new module each time"):
        fitted([lambda context: one], rounds=2)
    with pytest.raises(ValueError, match="must make a new module each time, got the same one twice"):
        check_builder(lambda context: one, shape=(1, 8, 8), outputs=10)


@pytest.mark.parametrize(
    ("fit", "told"),
    [
        (lambda module: None, "'Own' failed in round 1: TypeError"),
        (lambda module, data, loss: copy.deepcopy(module), "got another one back"),
        (lambda module, data, loss: nn.init.constant_(module[1].weight, float("inf")), "finite numbers"),
        (lambda module, data, loss: data.missing, "'Own' failed in round 1: AttributeError 'Data'"),
        (
            lambda module, data, loss: [nn.init.zeros_(p) for one in data.previous for p in one.parameters()],
            "changes an earlier subnetwork",
        ),
    ],
)
def test_a_builder_is_checked_with_its_own_training(fit, told):
    class Own:
        def build(self, context):
            return linear(context)

    one = Own()
    one.fit = fit
    with pytest.raises(ValueError, match=told):
        check_builder(one, shape=(1, 8, 8), outputs=10)


@pytest.mark.parametrize(
    "builder", [lambda context: {}["missing"], lambda context: nn.Sequential(nn.Flatten(), nn.Linear(8, 1))]
)
def test_an_error_of_a_checked_builder_names_it(builder):
    with pytest.raises(ValueError, match="builder '<lambda>' failed"):
        check_builder(builder, shape=(1, 8, 8))


class _Centred(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(0)).sum(1)


class _Shifted(nn.Module):
    def __init__(self, by: int) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.tensor(float(by)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(1) + self.by


@pytest.mark.parametrize("batch", [9, 33, 600])
def test_no_batch_has_one_row(batch):
    """BatchNorm refuses one; of 631 training rows one is left over in batches of 9, and goes with the eight before."""
    seen = []

    class Counted(nn.Module):
        def __init__(self, context: Context) -> None:
            super().__init__()
            self.norm, self.out = nn.BatchNorm1d(64), nn.Linear(64, context.outputs)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.training:
                seen.append(len(x))
            return self.out(self.norm(x.flatten(1)))

    given = Subnetworks([Counted], training=Fit(epochs=1, batch=batch), validation=(IMAGES[631:], LABELS[631:]))
    AdaNetClassifier(subnetworks=given, rounds=1).fit(IMAGES[:631], LABELS[:631])
    whole, left = divmod(631, batch)
    assert seen == ([*[batch] * (whole - 1), batch + 1] if left == 1 else [*[batch] * whole, left])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (lambda: Fit(epochs=0), "epochs must be an integer >= 1, got epochs=0"),
        (lambda: Fit(batch=2.5), "batch must be an integer >= 1"),
        (lambda: Fit(rate=-1), "rate must be a finite number > 0, got rate=-1"),
        (lambda: Subnetworks([linear], training="adam"), "training must be a Fit"),
        (lambda: Subnetworks([linear], lam="much"), "lam and beta must be >= 0, got lam=much"),
    ],
)
def test_settings_are_refused_by_name(settings, told):
    with pytest.raises(ValueError, match=told):
        settings()


def test_points_are_not_all_moved_at_once():
    inputs = Inputs.of(IMAGES)
    assert inputs.shape == (1, 8, 8)
    assert [len(part) for part in inputs.batches(torch.arange(700))] == [512, 188]
    larger = Inputs.of(np.zeros((100, 3, 32, 32)))  # fewer of these stay in the cache
    assert [len(part) for part in larger.batches(torch.arange(100))] == [64, 36]


# The command

BUILDERS = """
from torch import nn
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.train import Subnetworks

def cnn(context):
    assert context.shape == (1, 8, 8), context.shape
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, context.outputs))

def plain():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

def both():
    return Subnetworks([cnn, plain], training=Fit(epochs=2, rate=5e-3))

def broken():
    raise KeyError("nothing here")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own_builders.py").write_text(BUILDERS)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("own_builders", None)


def command(capsys, *arguments):
    status = main([*map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_trains_writes_every_round_and_goes_on(folder, capsys):
    given = ("digits", "--subnetworks", "own_builders:both", "--json")
    status, out, err = command(capsys, *given, "--rounds", 2, "-o", "whole.pt")
    assert status == 0, err
    result = json.loads(out)
    assert result["rounds"] == 2
    assert result["train_error"] < 0.2
    assert {row["name"] for row in result["candidates"]} == {"cnn", "plain"}
    assert all(row["seconds"] > 0 for row in result["candidates"])
    assert command(capsys, *given, "--rounds", 1, "-o", "m.pt")[0] == 0
    assert command(capsys, *given, "--rounds", 2, "-o", "m.pt", "--resume")[0] == 0
    assert (folder / "m.pt").read_bytes() == (folder / "whole.pt").read_bytes()
    builders = factory.called("both", "", factory.named("own_builders:both", "--subnetworks"))
    clf = load("m.pt", subnetworks=builders)
    X, y = load_digits(return_X_y=True)
    f = clf.predict((X / 16).reshape(-1, 1, 8, 8))
    assert clf.classes_.tolist() == [*"0123456789"]
    assert 1 - (f == y.astype(str)).mean() == pytest.approx(result["train_error"])
    # the points of a name are pixels in [0, 1] here too, not in [0, 16] as for dense networks
    asked = ("--data", "digits", "--subnetworks", "own_builders:both", "--no-estimates", "--json")
    assert verify_main(["m.pt", *asked]) == 0
    sample = json.loads(capsys.readouterr().out)["sample"]
    assert (sample["r_inf"], sample["train_error"]) == (1.0, result["train_error"])


def test_the_command_prints_a_table_for_one_builder_and_two_classes(folder, capsys):
    status, out, err = command(capsys, "digits:3-8", "--subnetworks", "own_builders:cnn", "--rounds", 1, "-o", "m.pt")
    assert status == 0, err
    assert "cnn" in out
    assert "train error" in out
    assert "class 3 is -1" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("own_builders:broken",), "--subnetworks own_builders:broken: KeyError: 'nothing here'"),
        (("own_builders:missing",), "own_builders has no 'missing'"),
        (("own_builders",), "must be PACKAGE:FACTORY"),
        (("own_builders:cnn", "--width", "3"), "--width is not for --subnetworks"),
        (("own_builders:cnn", "--objective", "vote"), "must be paper or certificate, got vote"),
        (("own_builders:cnn", "--picks", "3"), "--picks is for --objective certificate"),
        (("own_builders:cnn", "--class-weight", "balanced"), "--class-weight is not for --subnetworks"),
    ],
)
def test_the_command_refuses_in_one_line(folder, capsys, arguments, told):
    status, _, err = command(capsys, "digits", "--subnetworks", *arguments, "-o", "m.pt")
    assert status == 2
    assert told in err
    assert err.count("\n") == 1


def test_the_command_streams_images_in_parts(folder, capsys, monkeypatch):
    X, y = load_digits(return_X_y=True)
    for i, rows in enumerate((slice(0, 700), slice(700, 1797))):
        np.save(f"X-{i}.npy", (X[rows] / 16).reshape(-1, 1, 8, 8).astype(np.float32))
        np.save(f"y-{i}.npy", y[rows])
    given = ("--subnetworks", "own_builders:both", "--json", "--rounds", 1)
    status, out, err = command(capsys, "X-*.npy", "--label", "y-*.npy", *given, "-o", "parts.pt")
    assert status == 0, err
    (alone,) = json.loads(command(capsys, "digits", *given, "-o", "one.pt")[1])["subnetworks"]
    (parts,) = json.loads(out)["subnetworks"]
    assert parts == alone
    status, _, err = command(capsys, "X-0.npy", "X-1.npy", *given, "-o", "parts.pt")
    assert (status, "quote a pattern of files" in err) == (2, True)


def test_a_run_on_other_points_is_not_taken_up(folder, capsys):
    given = ("--subnetworks", "own_builders:cnn", "--rounds", 1, "-o", "m.pt")
    assert command(capsys, "digits:3-8", *given)[0] == 0
    status, _, err = command(capsys, "digits:1-7", *given, "--resume")
    assert (status, "the same" in err) == (2, True)


def test_names_give_images(tmp_path):
    """A batch as the official files have it: a label, then the red, green and blue plane."""
    row = np.arange(3072) % 251
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        rows = np.stack([np.concatenate([[c], (row + c) % 251]) for c in range(10)]).astype(np.uint8)
        (tmp_path / f"{name}.bin").write_bytes(rows.tobytes())
    found = images.load("cifar10", data_dir=tmp_path)
    assert found.X.shape == (50, 3, 32, 32)
    assert found.y.tolist() == [*range(10)] * 5
    assert np.allclose(found.X[1], ((row + 1) % 251).reshape(3, 32, 32) / 255)
    pair = images.load("cifar10:cat-dog", data_dir=tmp_path, test=True)
    assert (pair.X.shape, pair.y.tolist(), pair.classes) == ((2, 3, 32, 32), [-1, 1], ("cat", "dog"))


# Tables


def embeds(context: Context) -> nn.Module:
    first = Embedded(context.categories, size=3)
    return nn.Sequential(first, nn.Linear(first.width, 8), nn.ReLU(), nn.Linear(8, context.outputs))


def rows_of(context: Context) -> nn.Module:
    return nn.Linear(*context.shape, context.outputs)


def frame_of(m: int, seed: int = 0) -> polars.DataFrame:
    """The class depends on the word alone, of which there are more than 0/1 columns may be made of."""
    draw = np.random.default_rng(seed)
    word = draw.integers(0, 120, m)
    columns = {"size": draw.normal(size=m), "word": [f"w{i}" for i in word], "y": np.where(word % 3 == 0, "yes", "no")}
    return polars.DataFrame(columns)


def test_words_are_codes_for_builders_that_ask(tmp_path):
    frame, later = frame_of(1500), frame_of(300, seed=1)
    quick = Fit(epochs=60, batch=32, rate=0.02, patience=60)
    given = Subnetworks([embeds], training=quick, categories=True)
    clf = AdaNetClassifier(subnetworks=given, rounds=1).fit(frame.drop("y"), frame["y"].to_list())
    assert clf.ensemble_.grown.categories == (0, 121)
    assert clf.score(later.drop("y"), later["y"].to_list()) > 0.95
    clf.save(tmp_path / "m.pt")
    back = load(tmp_path / "m.pt", subnetworks=given)
    f = clf.decision_function(later.drop("y"))
    assert np.array_equal(f, back.decision_function(later.select("word", "size")))
    later.write_csv(tmp_path / "later.csv")
    labelled = AdaNetClassifier(subnetworks=given, rounds=1).fit(frame, "y")
    assert np.array_equal(f, labelled.decision_function(later.drop("y")))
    score = labelled.score(later.drop("y"), later["y"].to_list())
    assert labelled.score(later, "y") == back.score(tmp_path / "later.csv", "y") == score
    assert np.array_equal(f, back.decision_function(tmp_path / "later.csv"))
    frames = [(part.drop("y"), part["y"].to_list()) for part in (frame, later)]
    report = verify_bounds(clf, *frames[0], test=frames[1], draws=None)
    assert report.test.error == 1 - clf.score(*frames[1])
    with pytest.warns(UserWarning, match="column 'word' holds 'new', training did not"):
        back.predict(polars.DataFrame({"size": [0.0], "word": ["new"]}))
    with pytest.raises(ValueError, match="no column 'word', which the model reads"):
        back.predict(later.select("size"))
    with pytest.raises(ValueError, match=r"'size' .*number.* 'big'"):
        back.predict(polars.DataFrame({"size": ["big"], "word": ["w1"]}))
    with pytest.raises(ValueError, match="categories=True needs a table"):
        AdaNetClassifier(subnetworks=given, rounds=1).fit(DIGITS, LABELS)
    check_builder(embeds, shape=(2,), outputs=1, categories=(0, 121))


@pytest.mark.parametrize(("builder", "categories"), [(rows_of, False), (embeds, True)])
def test_words_that_training_listed_leave_no_bound_from_the_sample(builder, categories):
    """Read as a network or as a black box: the encoding is not fixed before the sample, as a description needs it."""
    frame = frame_of(600).with_columns(polars.col("word").str.slice(0, 2))
    for read, listed in ((frame, True), (frame.drop("word"), False)):
        given = Subnetworks([builder if listed else rows_of], training=QUICK, categories=categories and listed)
        X, y = read.drop("y"), read["y"].to_list()
        report = verify_bounds(AdaNetClassifier(subnetworks=given, rounds=1).fit(X, y), X, y, draws=None)
        assert report.subject == ("black box" if categories and listed else "network")
        features = next(row for row in report.assumptions if row.id == "feature-map")
        assert features.status == ("fails" if listed else "assumed")
        assert (report.bounds["occam-certificate"].value is None) == listed


def test_words_are_columns_for_builders_that_do_not_ask():
    frame = frame_of(600).with_columns(polars.col("word").str.slice(0, 2))
    clf = fitted([rows_of], frame.drop("y"), frame["y"].to_list(), rounds=1)
    assert clf.ensemble_.grown.shape == (1 + frame["word"].n_unique(),)
    two = polars.DataFrame({"size": [0.0, 0.0], "word": ["w5", "w7"]})
    h = clf.ensemble_.grown.chosen[0]
    columns = clf.ensemble_.encoder.names
    weight = h.module.weight[0, [columns.index("word=w5"), columns.index("word=w7")]]
    by_hand = h.weight * (weight + h.module.bias).numpy()
    assert np.allclose(clf.decision_function(two), by_hand, atol=1e-6)


def test_the_command_encodes_the_test_table_as_the_training_table(folder, capsys):
    (folder / "own_builders.py").write_text(
        "from adanet_train.subnetworks.train import Subnetworks\n"
        "from tests.test_subnetworks import QUICK, embeds\n"
        "def codes(): return Subnetworks([embeds], training=QUICK, categories=True)\n"
    )
    frame_of(900)[:500].write_csv("part-0.csv")
    frame_of(900)[500:].write_csv("part-1.csv")
    test = frame_of(50, seed=2).with_columns(polars.lit("nowhere").alias("word"))[:20]
    polars.concat([test, frame_of(900)[:30]]).write_csv("test.csv")
    given = ("--subnetworks", "own_builders:codes", "--rounds", 1, "-o", "m.pt", "--json")
    status, out, err = command(capsys, "part-*.csv", "--test-data", "test.csv", *given)
    assert status == 0, err
    assert "column 'word' holds 'nowhere', training did not" in err
    clf = load("m.pt", subnetworks=Subnetworks([embeds], categories=True))
    trained = json.loads(out)["train_error"]
    given = ("--subnetworks", "own_builders:codes", "--no-estimates", "--json")
    assert verify_main(["m.pt", "--data", "part-*.csv", *given]) == 0
    assert json.loads(capsys.readouterr().out)["sample"]["train_error"] == trained
    quick = Subnetworks([embeds], training=QUICK, categories=True)
    here = AdaNetClassifier(subnetworks=quick, rounds=1).fit("part-*.csv", "y")
    with pytest.raises(ValueError, match=r"file.* y .*name of the column"):
        AdaNetClassifier(subnetworks=quick, rounds=1).fit("part-*.csv", [0] * 900)
    assert np.array_equal(here.decision_function("part-0.csv"), clf.decision_function("part-0.csv"))
    table = polars.read_csv("test.csv")
    with pytest.warns(UserWarning, match="nowhere"):
        wrong = (clf.predict(table.drop("y")) != table["y"].to_numpy()).mean()
    assert json.loads(out)["test_error"] == pytest.approx(wrong)


# The figure


def test_the_summary_is_a_figure_of_the_file_alone(tmp_path, capsys):
    from figures import architecture
    from figures.__main__ import main as figures

    clf = deeper()
    clf.save(tmp_path / "m.pt")
    kept = file.outline(tmp_path / "m.pt")
    assert kept["rows"] == clf.summary().rows
    assert (kept["outputs"], kept["shape"]) == (10, [1, 8, 8])
    assert figures(["model-network", "--model", str(tmp_path / "m.pt"), "--format", "svg", "--out", str(tmp_path)]) == 0
    caption = (tmp_path / "model-network.txt").read_text()
    assert f"2 subnetworks with {sum(row['parameters'] for row in kept['rows']):,} trained weights" in caption
    assert "Reads also reads an earlier subnetwork" in caption
    assert architecture.draw(clf.summary().plain)._repr_png_().startswith(b"\x89PNG")
    assert figures(["model-terms", "--model", str(tmp_path / "m.pt"), "--out", str(tmp_path)]) == 2
    assert "holds subnetworks of your own" in capsys.readouterr().err


# verify_bounds


def test_an_ensemble_is_verified_as_one_network():
    """The sum of two subnetworks is read as one graph: its path norm is the sum of theirs, but for one bias in all."""
    names = np.array(["zero", "one"])[LABELS[PAIR]]
    clf = fitted([cnn, linear], IMAGES[PAIR], names, rounds=2)
    report = verify_bounds(clf, IMAGES[PAIR], names, draws=None)
    assert report.subject == "network"
    assert report.sample.train_error == (clf.predict(IMAGES[PAIR]) != names).mean()
    chosen = clf.ensemble_.grown.chosen
    assert len(chosen) == 2
    bounded = sum(abs(one.weight) * measure.complexity(one.module, None, (1, 8, 8))[0] for one in chosen)
    biases = [one.weight * float(one.module[-1].bias) for one in chosen]
    merged = abs(sum(biases)) - sum(map(abs, biases))
    assert report.model.path_norm == pytest.approx(bounded + merged, rel=1e-4)


def test_an_ensemble_that_cannot_be_read_is_a_black_box():
    X, y = DIGITS / 16, LABELS
    clf = fitted([LogisticRegression(max_iter=500)], X[:500], y[:500], rounds=1)
    report = verify_bounds(clf, X[:500], y[:500], test=(X[500:], y[500:]), draws=None)
    assert report.subject == "black box"
    assert report.test.error == (clf.predict(X[500:]) != y[500:]).mean()
    assert report.test.error < report.bounds["held-out"].value < 0.2
    with pytest.raises(ValueError, match="X and y are required"):
        verify_bounds(clf)


def test_a_file_is_verified_with_the_builders_that_the_user_names(folder, capsys):
    """One graph from the file as from the object; without builders nothing is imported."""
    X, names = IMAGES[PAIR], np.array(["zero", "one"])[LABELS[PAIR]]
    np.savez("points.npz", X=X, y=names)
    builders = factory.named("own_builders:cnn", "")
    AdaNetClassifier(subnetworks=builders, rounds=2).fit(X, names).save("m.pt")
    given = ("m.pt", "--data", "points.npz", "--no-estimates", "--json")
    assert verify_main([*given, "--subnetworks", "own_builders:cnn"]) == 0
    told = json.loads(capsys.readouterr().out)
    here = verify_bounds(load("m.pt", subnetworks=builders), X, names, draws=None)
    assert told["subject"] == "network"
    assert told["model"]["path_norm"] == here.model.path_norm
    assert verify_main(list(given)) == 2
    assert "--subnetworks" in capsys.readouterr().err
    assert verify_main([*given, "--subnetworks", "own_builders:cnn", "--compress", "c.pt"]) == 2


def wide(context):
    return nn.Sequential(nn.Linear(4096, 2), nn.ReLU(), nn.Linear(2, 1))


def folded(context):
    return Cumulative()


class Cumulative(nn.Module):
    """What the reader does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Linear(4096, 2)

    def forward(self, x):
        return self.own(x).cumsum(1)[:, 1:]


@pytest.mark.parametrize("readable", [True, False])
def test_points_in_files_are_verified_a_few_rows_at_a_time(tmp_path, monkeypatch, readable):
    """Numbers of float32 stay in their files; the report is that of the same points in memory, bit for bit."""
    rng, n, parts = np.random.default_rng(0), 4096, (700, 500)
    X = rng.standard_normal((sum(parts), n)).astype(np.float32)
    y = (X[:, :9].sum(axis=1) > 0).astype(int)
    X[1], y[1] = X[0], y[0]
    for i, own in enumerate(np.split(np.column_stack([X, y]).astype(np.float32), [parts[0]])):
        np.save(tmp_path / f"part-{i}.npy", own)
    np.save(tmp_path / "test.npy", np.column_stack([X[:40] + 1, y[:40]]).astype(np.float32))
    fit = fitted([wide if readable else folded], X[:64], y[:64], rounds=1)
    fit.save(tmp_path / "m.pt")
    read, most = Joined.__getitem__, []

    def counted(self: Joined, rows: Any) -> Any:
        values = read(self, rows)
        most.append(len(values))
        return values

    monkeypatch.setattr(Joined, "__getitem__", counted)
    monkeypatch.setattr(case, "_ensemble", lambda path, factory: fit)
    given = {"data": str(tmp_path / "part-*.npy"), "test": str(tmp_path / "test.npy"), "subnetworks": "own:builders"}
    question = Question(draws=None, discrete=True)
    (streamed,) = case.read_files(case.Named(models=("m.pt",), **given))
    found = compressing.complete(streamed, question)
    assert max(most) <= 1 << 10 < len(y)
    held = case.read(fit, X, y, test=(X[:40] + 1, y[:40]))
    whole = compressing.complete(held, question)
    assert (found.subject == "network") == readable
    reports = [json.loads(render.to_json(replace(one, notes=()))) for one in (found, whole)]
    assert reports[0] == reports[1]


# Families that the user declares


def _ramp(u: np.ndarray, rho: float) -> float:
    return float(np.clip(1 - u / rho, 0, 1).mean())


@pytest.mark.parametrize("rho", [None, 0.05])
@pytest.mark.parametrize("classes", [2, 10])
def test_declared_families_give_the_sum_of_theorem_1(classes, rho):
    """Against the formula written out on the outputs of the subnetworks, as (2/rho) sum_k ||w_k||_1/W R_m(H_k)."""
    X, y = (IMAGES[PAIR], LABELS[PAIR]) if classes == 2 else (IMAGES, LABELS)
    clf = fitted([cnn, linear], X, y, rounds=2)
    declared = {"linear": (0.002, 2), "cnn": (0.003, 4), "unused": 0.001}
    report = verify_bounds(clf, X, y, declared=declared, rho=rho, draws=None)
    doubled, C, m, delta = (1, 1, len(y), 0.05) if classes == 2 else (2, 10, len(y), 0.05)
    chosen, x = clf.ensemble_.grown.chosen, torch.from_numpy(X)
    w = C * np.array([sum(abs(np.float32(one.weight)) for one in chosen if one.name == name) for name in declared])
    R, M = np.array([0.002, 0.003, 0.001]), np.array([2, 4, 1])
    f = sum(one.weight * one.module(x).detach().double().numpy() for one in chosen)
    if classes == 2:
        u = (2 * (y == 1) - 1) * f[:, 0]
    else:
        u = f[np.arange(m), y] - np.where(np.eye(10)[y] == 1, -np.inf, f).max(1)
    depth = np.sqrt(2 * np.log(C * 3) / m)
    row = report.bounds[("multiclass-" if classes > 2 else "") + ("margin-bound" if rho else "margin-bound-uniform")]
    if rho:
        terms = [_ramp(u / w.sum(), rho), doubled * 2 / rho * (w @ R) / w.sum(), doubled * 2 * 4 / rho * depth]
        terms.append(np.sqrt(np.log(1 / delta) / (2 * m)))
    else:
        at = (w @ M) / (1 + ETA) ** row.j
        terms = [_ramp(u, at), doubled * 2 / at * (w @ R), doubled * 2 * (1 + ETA) ** row.j * depth]
        terms.append(np.sqrt((np.log((np.pi**2 / 3 - 1) / delta) + 2 * np.log(abs(row.j) + 1)) / (2 * m)))
    assert list(row.terms.values()) == pytest.approx(terms, rel=1e-4)
    assert row.raw == pytest.approx(sum(terms), rel=1e-4)
    assert row.raw > sum(terms) - 1e-12  # the program's rounding is paid for
    assert (row.applies, row.about) == (True, "program")
    (assumption,) = [one for one in report.assumptions if one.id == "declared"]
    assert (assumption.status, assumption.statements) == ("assumed", (row.id,))
    assert "R_m(cnn) <= 0.003, |h| <= 4" in assumption.detail
    assert len([one for one in report.numbers.bounds if one.id == row.id]) == 1


def test_a_declared_bound_that_says_something_is_quoted_with_its_word():
    X, y = np.repeat(IMAGES[PAIR], 60, axis=0), np.repeat(LABELS[PAIR], 60)
    clf = fitted([linear], IMAGES[PAIR], LABELS[PAIR], rounds=1)
    report = verify_bounds(clf, X, y, declared={"linear": (1e-3, 8)}, draws=None, discrete=True)
    assert report.cite.id == "margin-bound-uniform"
    assert "declared" in report.cite.assumes
    says(" ".join(str(report).split()), ["declared R_m", "builders"])
    small = verify_bounds(clf, X, y, declared={"linear": (1e-3, 0.1)}, draws=None, discrete=True)
    assert small.bounds["margin-bound-uniform"].why_not == ("declared",)
    assert small.cite is None or small.cite.id != "margin-bound-uniform"


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"cnn": 0.1}, r"each of the 2 builders \(cnn, linear\), got 1 \(cnn\)"),
        ({"cnn": 0.1, "linaer": 0.1}, r"got 2 \(cnn, linaer\)"),
        ({"cnn": (0.1, 1, 1), "linear": 0.1}, r"must be R_m or a pair \(R_m, M\), got 3 numbers"),
        ({"cnn": -1, "linear": 0.1}, "R_m must be >= 0"),
        ({"cnn": 0.1, "linear": (0.1, 0)}, "M must be > 0"),
        ({"cnn": 0.1, "linear": "much"}, "must be a number"),
    ],
)
def test_what_is_declared_is_checked_in_one_line(declared, told):
    clf = fitted([cnn, linear], IMAGES[PAIR], LABELS[PAIR], rounds=1)
    with pytest.raises(ValueError, match=told) as refused:
        verify_bounds(clf, IMAGES[PAIR], LABELS[PAIR], declared=declared, draws=None)
    assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match="about builders"):
        verify_bounds(nn.Linear(3, 1), np.eye(3), [0, 1, 1], declared=declared)


def test_the_command_takes_declared_families(folder, capsys):
    X, y = IMAGES[PAIR], LABELS[PAIR]
    np.savez("points.npz", X=X, y=y)
    builders = factory.named("own_builders:cnn", "")
    AdaNetClassifier(subnetworks=builders, rounds=1).fit(X, y).save("m.pt")
    given = ["m.pt", "--data", "points.npz", "--no-estimates", "--json"]
    both = [*given, "--subnetworks", "own_builders:cnn", "--declared"]
    assert verify_main([*both, "cnn=0.002:40"]) == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["bounds"]}
    here = verify_bounds(load("m.pt", subnetworks=builders), X, y, declared={"cnn": (0.002, 40)}, draws=None)
    assert rows["margin-bound-uniform"]["raw"] == here.bounds["margin-bound-uniform"].raw
    for arguments, told in (([*both, "0.1"], "BUILDER=R"), ([*given, "--declared", "cnn=1"], "--subnetworks")):
        assert verify_main(arguments) == 2
        assert told in capsys.readouterr().err


def test_an_ensemble_is_certified_by_its_disagreement_with_a_picked_one():
    """b + the upper limit of the disagreement, both counted here again; the row is quoted."""
    X, y = IMAGES[PAIR], LABELS[PAIR]
    half = len(y) // 2
    clf = fitted([cnn, linear], X[:half], y[:half], rounds=2)
    g = certify(lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 2)), X[:half], y[:half], K=4)
    report = verify_bounds(clf, X[:half], y[:half], unlabelled=X[half:], surrogate=g, draws=None, discrete=True)
    row = report.bounds["disagreement-certificate"]
    with torch.no_grad():
        other = g.predictor(torch.from_numpy(X[half:])).argmax(1).numpy()
    d = int((clf.predict(X[half:]) != other).sum())
    assert (row.terms["disagreements"], row.terms["n"]) == (d, len(X) - half)
    assert row.terms["surrogate"] == pytest.approx(g.at(0.025))
    assert row.raw == pytest.approx(min(1.0, disagreement_certificate(g.at(0.025), d, len(X) - half, 0.025)))
    assert row.value < 1
    assert report.cite.id == "disagreement-certificate"
    given = fitted([LogisticRegression(max_iter=500)], X[:half].reshape(half, -1), y[:half], rounds=1)
    flat = X.reshape(len(X), -1)
    picked = certify(LogisticRegression(max_iter=500), flat[:half], y[:half], K=4)
    box = verify_bounds(given, flat[:half], y[:half], unlabelled=flat[half:], surrogate=picked, draws=None)
    differ = int((given.predict(flat[half:]) != picked.predict(flat[half:])).sum())
    assert box.subject == "black box"
    assert box.bounds["disagreement-certificate"].terms["disagreements"] == differ


# Picking


def test_an_ensemble_is_trained_by_picking_with_a_certificate():
    X, y = IMAGES[PAIR], LABELS[PAIR]
    shown = []

    def noted(context):
        shown.append(context.m)
        return linear(context)

    given = Subnetworks([noted], training=QUICK, validation=0)
    found = certify(AdaNetClassifier(subnetworks=given, rounds=1), X, y, start=0.2, K=3, r=1)
    assert shown[0] == len(found.start) == round(0.2 * len(X))
    wrong = found.predictor.predict(X) != y
    outside = np.setdiff1d(np.arange(len(X)), [*found.start, *found.picks])
    assert set(outside[wrong[outside]]) <= set(found.left)
    assert found.bound == pytest.approx(pick_certificate(found.k, found.N, 0.05), rel=1e-9)
    again = replay(found.record, AdaNetClassifier(subnetworks=given, rounds=1), X, y)
    assert again.status == "holds"


def test_the_objective_certificate_with_builders():
    X, y = IMAGES[LABELS < 3], np.array(["no", "one", "two"])[LABELS[LABELS < 3]]
    asked = {"rounds": 1, "objective": "certificate", "config": Config(start=0.4, picks=2)}
    given = Subnetworks([linear], training=Fit(epochs=8, batch=16, rate=0.02))
    clf = AdaNetClassifier(subnetworks=given, **asked).fit(X, y)
    same = certify(clf, X, y, start=0.4, K=2)
    assert clf.certificate_ == same.bound < 1
    assert np.array_equal(clf.decision_function(X), same.predictor.decision_function(X))
    assert (clf.predict(X) == y).mean() > 0.8
    assert fitted([linear], X, y, rounds=1).certificate_ is None


def test_tables_and_rows_in_files_are_trained_with_a_certificate(tmp_path, monkeypatch):
    """As the same rows in memory; a table of words has no encoding that was fixed before its rows."""
    monkeypatch.chdir(tmp_path)
    X, y = IMAGES[PAIR].reshape(PAIR.sum(), -1)[:, 20:24].astype(float), LABELS[PAIR]
    np.save("X.npy", X)
    frame = polars.DataFrame({f"x{j}": X[:, j] for j in range(4)})
    frame.with_columns(y=y).write_parquet("t.parquet")
    asked = {"rounds": 1, "objective": "certificate", "config": Config(start=0.4, picks=2, discrete=True)}
    train_long = Fit(epochs=20, batch=16, rate=0.02)
    given = Subnetworks([lambda context: nn.Linear(4, context.outputs)], training=train_long, validation=0)
    of_rows, of_file, of_frame, of_path = (
        AdaNetClassifier(subnetworks=given, **asked).fit(*points)
        for points in ((X, y), ("X.npy", y), (frame, y), ("t.parquet", "y"))
    )
    assert {clf.certificate_ for clf in (of_file, of_frame, of_path)} == {of_rows.certificate_}
    f = of_rows.decision_function(X)
    for points, clf in (("X.npy", of_file), (frame, of_frame), ("t.parquet", of_path)):
        assert np.array_equal(f, clf.decision_function(points))
    report = verify_bounds(of_path, "t.parquet", "y", draws=None, discrete=True)
    assert report.bounds["pick-certificate"].value == pytest.approx(of_rows.certificate_, rel=1e-9)
    half, g = len(y) // 2, certify(LogisticRegression(), X, y, start=0.4, K=2, discrete=True)
    fresh = X[half:] + np.arange(1, len(y) - half + 1)[:, None] / 1e4
    polars.DataFrame({f"x{j}": fresh[:, j] for j in range(4)}).write_parquet("u.parquet")
    by_name, by_rows = (
        verify_bounds(of_path, X[:half], y[:half], unlabelled=U, surrogate=g, draws=None, discrete=True)
        for U in ("u.parquet", fresh)
    )
    terms = [one.bounds["disagreement-certificate"].terms for one in (by_name, by_rows)]
    assert terms[0] == terms[1]
    words = frame.with_columns(word=polars.Series(["a", "b"] * (len(y) // 2) + ["a"] * (len(y) % 2)))
    with pytest.raises(ValueError, match="X: holds words or empty cells, and a certificate needs"):
        AdaNetClassifier(subnetworks=given, **asked).fit(words, y)


def test_picking_says_once_that_an_instance_is_not_trained(recwarn):
    warnings.simplefilter("always")
    one = nn.Sequential(nn.Flatten(), nn.Linear(64, 1))
    nn.init.zeros_(one[1].weight)
    found = certify(AdaNetClassifier(subnetworks=[one, linear], rounds=1), IMAGES[PAIR], LABELS[PAIR], K=3, start=0.2)
    assert len(found.picks) > 0
    assert [str(one.category.__name__) for one in recwarn.list] == ["InstanceWarning"]


def test_a_fit_of_another_kind_leaves_nothing_of_the_one_before():
    """Neither the certificate of another ensemble nor another network that would predict."""
    X, y = IMAGES[PAIR].reshape(PAIR.sum(), -1), LABELS[PAIR]
    given = Subnetworks([linear], training=QUICK, validation=0)
    asked = {"rounds": 1, "objective": "certificate", "config": Config(start=0.4, picks=2)}
    clf = AdaNetClassifier(subnetworks=given, **asked).fit(X, y)
    assert clf.certificate_ < 1
    clf.set_params(objective=None, config=None).fit(X, y)
    assert clf.certificate_ is None
    assert "pick-certificate" not in verify_bounds(clf, X, y, draws=None).bounds
    own = AdaNetClassifier(rounds=1).fit(X, y).decision_function(X)
    clf.set_params(subnetworks=None).fit(X, y)
    assert np.array_equal(clf.decision_function(X), own)
    with pytest.raises(AttributeError, match="units of AdaNet's own have no table of modules"):
        clf.summary()
    clf.set_params(subnetworks=given).fit(X, y)
    assert not hasattr(clf, "model_")
    assert [row["name"] for row in clf.summary().rows] == ["linear"]


@pytest.mark.parametrize("readable", [True, False])
def test_a_picked_ensemble_has_its_certificate_in_the_report(readable, folder):
    """The picks are counted and replayed, whether its parts can be read or not; from the file too."""

    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(64) / 8)

        def forward(self, x):
            return (x.flatten(1) * self.w).sum(1).sinh()

    X, y = IMAGES[PAIR], np.array(["zero", "one"])[LABELS[PAIR]]
    given = Subnetworks([linear if readable else lambda context: Odd()], training=QUICK, validation=0)
    asked = {"rounds": 2, "objective": "certificate", "config": Config(start=0.3, picks=2)}
    clf = AdaNetClassifier(subnetworks=given, **asked).fit(X, y)
    clf.save("m.pt")
    for one in (clf, load("m.pt", subnetworks=given)):
        report = verify_bounds(one, X, y, draws=None)
        row = report.bounds["pick-certificate"]
        assert report.subject == ("network" if readable else "black box")
        assert one.certificate_ == clf.certificate_ < 1
        assert row.value == pytest.approx(clf.certificate_, rel=1e-9)
        assert {row.id: row.status for row in report.assumptions}["picked"] == "holds"
        assert report.cite.id == "pick-certificate"
    unplayed = verify_bounds(clf, X, y, draws=None, replay=False)
    assert {row.id: row.status for row in unplayed.assumptions}["picked"] == "assumed"
    assert "pick-certificate" not in verify_bounds(clf, X[1:], y[1:], draws=None).bounds
    clf.picked_["picks"][0] = clf.picked_["start"][0]
    with pytest.raises(ValueError, match=r"picks .*different.*start"):
        verify_bounds(clf, X, y, draws=None)


def test_the_command_picks_and_goes_on_with_the_same_bits(folder, capsys, monkeypatch):
    given = ("digits:3-8", "--subnetworks", "own_builders:quick", "--rounds", 1, "--objective", "certificate")
    given = (*given, "--start", 0.25, "--picks", 4, "--json")
    with open("own_builders.py", "a") as module:
        module.write("def quick(): return Subnetworks([cnn], training=Fit(3, 16, 5e-3), validation=0)\n")
    status, out, err = command(capsys, *given, "-o", "whole.pt")
    assert status == 0, err
    result = json.loads(out)
    record = load("whole.pt", subnetworks=factory.called("", "", factory.named("own_builders:quick", ""))).picked_
    assert result["certificate"] == record["bound"] < 0.5
    assert len(record["rounds"]) > 1
    writes, write = [], Fitted.write

    def stop(self, path):
        write(self, path)
        writes.append(len(self.picked["picks"]))
        if len(writes) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Fitted, "write", stop)
    assert command(capsys, *given, "-o", "m.pt")[0] == 130
    monkeypatch.setattr(Fitted, "write", write)
    assert writes[-1] < len(record["picks"])
    assert command(capsys, *given, "-o", "m.pt", "--resume")[0] == 0
    assert (folder / "m.pt").read_bytes() == (folder / "whole.pt").read_bytes()
    status, _, err = command(capsys, *given, "-o", "m.pt", "--resume", "--start", "0.5")
    assert (status, "changed: start (was 0.25, got 0.5)" in err) == (2, True)
    status, _, err = command(capsys, "digits", *given[1:], "-o", "m.pt", "--resume")
    assert (status, "resume needs the rows" in err) == (2, True)


def test_a_plan_that_hangs_on_the_number_of_rows_is_taken_up():
    """The default start of 1,000 rows is .75, and of the 250 others it would be .65."""
    X = np.random.default_rng(0).normal(size=(1000, 2))
    points = labelled(X, np.sign(X[:, 0] + X[:, 1] ** 3))
    given = Subnetworks([lambda: nn.Linear(2, 2)], training=QUICK, validation=0)
    learner, states = Ensembles(given, rounds=1), []
    whole = picking_builders.train(learner, points, Plan(K=2), 0.05, callback=states.append)
    assert len(states) > 1
    again = picking_builders.train(learner, points, Plan(K=2), 0.05, resume=states[0])
    assert again.picked == whole.picked


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"width": 30}, "width is not for subnetworks"),
        ({"lam": 0.1, "config": Config(p=1)}, "p/lam is not for subnetworks"),
        ({"feature_range": (0, 1)}, "feature_range is not for subnetworks"),
        ({"objective": "vote"}, "must be paper or certificate"),
        ({"objective": "certificate", "warm_start": True}, "set warm_start=False"),
    ],
)
def test_what_subnetworks_do_not_take_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        fitted([linear], **given)
