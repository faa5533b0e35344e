"""verify-bounds on descriptions: every network as it is, --compress, a compressed file, points without labels."""

import copy
import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from torch import nn

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.occam import occam_certificate
from adanet_train import AdaNetClassifier, Config, compress
from adanet_train.app.cli import main as train
from adanet_train.compression import file
from adanet_train.compression.code import VERSION
from adanet_train.compression.disagreement import disagreement
from adanet_train.picking.certify import Certified, certify
from adanet_train.picking.modules import Module
from verify import verify_bounds
from verify.api import Report
from verify.cli import main
from verify.records.results import Assumption
from verify.show import wording

M, FEW, FEWEST = 1500, 400, 60


def points(m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X = np.round(draw.normal(size=(m, 5)) * 64) / 64
    return X, (X[:, 0] + np.abs(X[:, 1]) > 0.5).astype(np.int64)


@pytest.fixture(scope="module")
def net() -> nn.Module:
    torch.manual_seed(0)
    found = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 1))
    X, y = (torch.from_numpy(part) for part in points(M, 0))
    optimiser = torch.optim.Adam(found.parameters(), 0.02)
    for _ in range(200):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(found(X.float())[:, 0], y.float()).backward()
        optimiser.step()
    return found.eval()


@pytest.fixture(scope="module")
def folder(net: nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("files")
    for name, (m, seed) in {"train": (M, 0), "test": (400, 1), "more": (600, 2)}.items():
        X, y = points(m, seed)
        np.savez(where / f"{name}.npz", X=X, **({} if name == "more" else {"y": y}))
    torch.save(net.state_dict(), where / "net.pt")
    return where


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json", "--no-estimates"]) == 0
    return json.loads(capsys.readouterr().out)


def row(document: dict, id: str = "occam-certificate") -> dict:
    return next(bound for bound in document["bounds"] if bound["id"] == id)


def architecture(report: Report) -> Assumption:
    (found,) = [row for row in report.assumptions if row.id == "architecture"]
    return found


def test_every_network_has_a_row_for_its_weights_as_they_are(net: nn.Module) -> None:
    X, y = points(M, 0)
    single = verify_bounds(net, X, y, draws=None)  # about the program, whose errors are counted, in float32 too
    assert single.bounds["occam-certificate"].why_not == ()
    (arithmetic,) = [row for row in single.assumptions if row.id == "arithmetic"]
    assert (arithmetic.status, "occam-certificate" in arithmetic.statements) == ("open", False)
    cited = verify_bounds(net, X, y, draws=None, cite="occam-certificate")
    assumed = wording.assumed("architecture", architecture(cited).words)
    assert f"code {VERSION}" in assumed
    assert "computes everywhere what it computes here" in assumed
    double = copy.deepcopy(net).double()
    report = verify_bounds(double, X, y, draws=None)
    found = report.bounds["occam-certificate"]
    assert 20 * 43 < found.terms["bits"] < 32 * 43
    assert found.terms["errors"] == round(report.sample.train_error * M)
    assert found.raw >= occam_certificate(int(found.terms["errors"]), M, found.terms["bits"], 0.05) * (1 - 1e-12)
    share = 0.05 / report.cite.among  # one of the K of which the least is quoted
    assert (report.cite.id, report.cite.delta) == ("occam-certificate", share)
    paid = occam_certificate(int(found.terms["errors"]), M, found.terms["bits"], share)
    assert found.raw < paid <= report.cite.value <= paid * (1 + 1e-9)
    quoted = verify_bounds(double, X, y, draws=None, cite="occam-certificate").cite
    assert quoted is not None
    assert {"iid", "architecture"} <= set(quoted.assumes)
    assert quoted.value == found.value


def test_compress_writes_a_file_that_is_verified_from_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = folder / "small.pt"
    data = ("--data", folder / "train.npz")
    first = run(capsys, folder / "net.pt", "--activation", "relu", *data, "--compress", small, "--budget", 1)
    again = run(capsys, small, *data)
    assert row(first)["terms"] == row(again)["terms"]
    assert row(again)["value"] < 0.3
    assert again["cite"]["id"] == "occam-certificate"
    assert again["cite"]["delta"] == 0.05
    assert "architecture" in again["cite"]["assumes"]
    bits, errors = (int(row(first)["terms"][name]) for name in ("bits", "errors"))
    told = f"net.pt rounded to {bits:,} bits: {small} ({errors:,} errors on the sample)."
    assert any(note.endswith(told) for note in first["notes"])
    assert first["advice"] == again["advice"] == []
    tested = run(capsys, small, *data, "--test-data", folder / "test.npz")
    assert tested["cite"]["id"] == "held-out"
    assert tested["test"]["error"] <= row(again)["value"]


def test_a_model_file_is_compressed_where_its_map_was_known_beforehand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The labels stay in the column of the training; a map fitted on the sample would be a description for nothing."""
    X = np.random.default_rng(0).uniform(size=(200, 3)).round(3)
    table, small = tmp_path / "table.csv", tmp_path / "small.pt"
    lines = [f"{a},{b},{'yes' if a > b else 'no'},{c}" for a, b, c in X]
    table.write_text("\n".join(["a,b,kind,c", *lines]) + "\n")
    asked = ("--data", table, "--compress", small, "--budget", 0.1)
    for name, options in (("fitted", ()), ("known", ("--feature-range", "0,1"))):
        out = ("--label", "kind", "-o", tmp_path / f"{name}.pt", "--rounds", 1, "--set", "steps=20", *options)
        assert train([*map(str, (table, *out))]) == 0
    document = run(capsys, tmp_path / "known.pt", *asked)
    assert row(document)["applies"]
    assert row(document)["terms"]["points"] == 200
    small.unlink()
    assert main([*map(str, (tmp_path / "fitted.pt", *asked))]) == 2
    assert "--feature-range LO,HI" in capsys.readouterr().err
    assert not small.exists()


def test_the_answer_says_that_the_rounded_network_is_meant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small, given = folder / "said.pt", folder / "net.pt"
    options = ("--activation", "relu", "--data", folder / "train.npz", "--compress", small, "--budget", 1)
    assert main([*map(str, (given, *options)), "--no-estimates"]) == 0
    out, err = capsys.readouterr()
    words = "".join(out.split())
    assert "".join(f"network (the rounded one in {small}, not {given}) is at most".split()) in words
    assert f"errorson{M:,}points" in words
    assert f"thearchitectureandcode{VERSION}werefixedbeforethesample" in words
    assert "--compress" not in out
    assert len(err.splitlines()) < 10


MISUSED = [
    (["--compress", "more.npz", "--unlabelled", "more.npz"], "more.npz: is read by this command"),
    (["--compress", "g.pt", "--unlabelled", "more.npz", "--surrogate", "g.pt"], "g.pt: is read by this command"),
    (["--compress", "new.pt", "--unlabelled", "mor.npz"], "mor.npz: no such file; did you mean more.npz?"),
    (["--compress", "new.pt", "--unlabelled", "more.npz", "--surrogate", "gg.pt"], "gg.pt: no such file"),
]


@pytest.mark.parametrize(("options", "words"), MISUSED, ids=[words for _, words in MISUSED])
def test_points_without_labels_and_the_surrogate_are_looked_at_before_the_work(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "g.pt").touch()
    before = (folder / "more.npz").read_bytes()
    assert main(["net.pt", "--activation", "relu", "--data", "train.npz", "--budget", ".01", *options]) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "new.pt").exists()
    assert (folder / "more.npz").read_bytes() == before


def test_a_compressed_network_is_named_in_json_and_not_compressed_again(
    net: nn.Module, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = folder / "few_bits.pt"
    compress(net, *points(M, 0), budget=0).save(given)
    document = run(capsys, given, "--data", folder / "train.npz")
    assert document["model"]["sha256"] == hashlib.sha256(given.read_bytes()).hexdigest()
    assert main([str(given), "--data", str(folder / "train.npz"), "--compress", str(folder / "new.pt")]) == 2
    assert "few_bits.pt: is compressed already: give the network it was made from." in capsys.readouterr().err


def test_a_sample_that_the_network_gets_wrong_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = points(M, 0)
    small = compress(nn.Sequential(nn.Linear(5, 1)), X, y, budget=1)
    small.save(folder / "line.pt")
    np.savez(folder / "flipped.npz", X=X, y=1 - y)
    right, wrong = (
        row(run(capsys, folder / "line.pt", "--data", folder / f"{name}.npz")) for name in ("train", "flipped")
    )
    assert right["terms"]["errors"] + wrong["terms"]["errors"] == M
    assert wrong["value"] > 0.5
    document = run(capsys, folder / "line.pt", "--data", folder / "flipped.npz")
    assert document["advice"]
    assert not any("--compress" in line for line in document["advice"])


def test_disagreement_speaks_of_the_network_untouched(
    net: nn.Module, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = points(M, 0)
    U, _ = points(600, 2)
    small = compress(net, X, y, budget=1)
    report = verify_bounds(net, X, y, unlabelled=U, surrogate=small, draws=None)
    found = report.bounds["disagreement-certificate"]
    own, rounded = net(torch.from_numpy(U).float()), small.module(torch.from_numpy(U))
    d = int((own.sign() != rounded.sign()).sum())  # a tie, sign 0, agrees with nothing
    assert found.terms == {"surrogate": pytest.approx(small.at(0.025)), "disagreements": d, "n": 600}
    assert found.raw == pytest.approx(small.at(0.025) + clopper_pearson(d, 600, 0.025), rel=1e-9)
    assert found.about == "program"
    assert report.cite is not None
    assert report.cite.id == "disagreement-certificate"
    assert "unlabelled" in report.cite.assumes
    small.save(folder / "g.pt")
    options = ("--data", folder / "train.npz", "--unlabelled", folder / "more.npz", "--surrogate", folder / "g.pt")
    document = run(capsys, folder / "net.pt", "--activation", "relu", *options)
    assert row(document, "disagreement-certificate")["terms"]["disagreements"] == d
    assert any("held-out is better" in note for note in document["notes"])


def test_a_citation_by_a_surrogate_names_its_code_and_the_constants_of_its_graph(net: nn.Module, folder: Path) -> None:
    X, y = points(M, 0)
    U, _ = points(600, 2)
    compress(net, X, y, budget=0).save(folder / "chosen.pt")
    plain = torch.load(folder / "chosen.pt", weights_only=True)
    W = plain["coded"]["graph"]["nodes"][0]["operation"]["W"]
    W["places"] = torch.arange(W["start"], W["start"] + math.prod(W["shape"])).reshape(W.pop("shape")).roll(1)
    torch.save(plain, folder / "chosen.pt")
    report = verify_bounds(net, X, y, unlabelled=U, surrogate=folder / "chosen.pt", draws=None)
    (assumed,) = (one.words for one in report.assumptions if one.id == "surrogate")
    constants = f"the architecture, {W['places'].numel()} constants of its graph included, and code {VERSION} were"
    assert assumed == f"the certificate of the surrogate holds: {constants} fixed before the sample"


def test_points_of_the_sample_are_no_unlabelled_points(net: nn.Module) -> None:
    X, y = points(M, 0)
    small = compress(net, X, y, budget=0)
    with pytest.raises(ValueError, match="are rows of the sample"):
        verify_bounds(net, X, y, unlabelled=X[:10], surrogate=small, draws=None)
    with pytest.raises(ValueError, match="give unlabelled"):
        verify_bounds(net, X, y, surrogate=small, draws=None)


CELLS = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRU(1, 2, batch_first=True), nn.Linear(2, 2)

    def forward(self, x):
        return self.out(self.cell(x[:, :, None])[0][:, -1])
"""


def test_a_module_that_cannot_be_read_is_verified_with_its_factory(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "cells.py").write_text(CELLS)
    scope: dict = {}
    exec(CELLS, scope)
    torch.manual_seed(0)
    small = compress(scope["Net"](), *points(M, 0), budget=1)
    small.save(folder / "cells.pt")
    document = run(capsys, "--module", "cells:Net", "--weights", folder / "cells.pt", "--data", folder / "train.npz")
    assert row(document)["terms"]["errors"] == small.errors
    assert row(document)["terms"]["bits"] == small.bits
    assert document["cite"]["id"] == "occam-certificate"
    status = {assumption["id"]: assumption["status"] for assumption in document["assumptions"]}
    assert status["architecture"] == "assumed"
    assert main([str(folder / "cells.pt"), "--data", str(folder / "train.npz")]) == 2
    assert "--module" in capsys.readouterr().err
    options = ("--data", folder / "train.npz", "--budget", 0.5, "--compress", folder / "again.pt")
    document = run(capsys, "--module", "cells:Net", *options)
    assert document["cite"]["id"] == "occam-certificate"
    assert row(document)["terms"]["bits"] == file.read(folder / "again.pt").bits


TOKENS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedded, self.out = nn.Embedding(9, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.embedded(x).mean(dim=1))
"""


def test_tokens_of_a_file_are_looked_up_though_files_are_read_as_floats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokens.py").write_text(TOKENS)
    X = np.random.default_rng(0).integers(0, 9, (500, 12))
    np.savez(tmp_path / "tokens.npz", X=X, y=(X == 0).sum(axis=1) > 1)
    document = run(capsys, "--module", "tokens:Net", "--data", "tokens.npz", "--compress", "few.pt", "--budget", 0.2)
    scope: dict = {}
    exec(TOKENS, scope)
    small = compress(scope["Net"]().eval(), X, (X == 0).sum(axis=1) > 1, budget=0.2)
    assert row(document)["terms"]["bits"] == small.bits
    assert row(document)["terms"]["errors"] == small.errors


def differences(mine: np.ndarray, other: np.ndarray) -> int:
    return int(np.count_nonzero(mine != other))


def test_a_surrogate_is_picked_on_the_sample_where_none_is_given(
    net: nn.Module, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three ways to ask for one run, which is made once: each asks for the same recipe on the same rows."""
    X, y = points(FEWEST, 0)
    U, _ = points(600, 2)
    np.savez(folder / "few.npz", X=X, y=y)
    g, asked = certify("adanet", X, 2 * y - 1, discrete=True), []

    def made(learner: str, rows: np.ndarray, labels: np.ndarray, **options: object) -> Certified:
        asked.append(options | {"learner": learner})
        assert np.array_equal(rows, X)
        assert np.array_equal(np.unique(labels, return_inverse=True)[1], y)
        return g

    monkeypatch.setattr("adanet_train.picking.certify.certify", made)
    d = differences((net(torch.from_numpy(U).float()) > 0).numpy()[:, 0], g.predictor.predict(U) == 1)
    report = verify_bounds(net, X, y, unlabelled=U, draws=None)
    found = report.bounds["disagreement-certificate"]
    assert found.terms == {"surrogate": pytest.approx(g.at(0.025)), "disagreements": d, "n": 600}
    assert {"unlabelled", "surrogate"} <= set(report.cite.assumes)
    named = verify_bounds(net, X, np.where(y > 0, "yes", "no"), unlabelled=U, surrogate="pick", draws=None)
    assert named.bounds["disagreement-certificate"].terms == found.terms
    options = ("--data", folder / "few.npz", "--unlabelled", folder / "more.npz", "--surrogate", "pick")
    document = run(capsys, folder / "net.pt", "--activation", "relu", *options)
    assert row(document, "disagreement-certificate")["terms"]["disagreements"] == d
    (assumed,) = (one for one in document["assumptions"] if one["id"] == "surrogate")
    assert "recipe" in assumed["detail"]
    assert asked == [{"learner": "adanet", "seed": 0, "discrete": True, "verbose": False}] * 3


@pytest.fixture(scope="module")
def picked(folder: Path) -> Certified:
    certified = certify("lr", *points(FEW, 0), K=6)
    certified.save(folder / "picked.pt")
    return certified


def test_a_picked_file_is_a_surrogate_once_its_picks_are_confirmed(
    net: nn.Module, folder: Path, picked: Certified, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = points(FEW, 0)
    U, _ = points(600, 2)
    g = picked
    given = verify_bounds(net, X, y, unlabelled=U, surrogate=g, draws=None).bounds["disagreement-certificate"]
    read = verify_bounds(net, X, y, unlabelled=U, surrogate=folder / "picked.pt", draws=None)
    found = read.bounds["disagreement-certificate"]
    assert found.terms == {**given.terms, "surrogate": pytest.approx(given.terms["surrogate"])}
    assert found.terms["surrogate"] == pytest.approx(g.at(0.025))
    with pytest.raises(ValueError, match="another sample"):
        verify_bounds(net, X[1:], y[1:], unlabelled=U, surrogate=folder / "picked.pt", draws=None)
    AdaNetClassifier(rounds=1, width=3, learner="gradient", config=Config(steps=5)).fit(X, y).save(folder / "usual.pt")
    options = ["--data", folder / "train.npz", "--unlabelled", folder / "more.npz", "--surrogate", folder / "usual.pt"]
    assert main([*map(str, [folder / "net.pt", "--activation", "relu", *options])]) == 2
    assert "trained by picking" in capsys.readouterr().err


def test_picks_that_the_recipe_does_not_make_are_refused(net: nn.Module, folder: Path, picked: Certified) -> None:
    from dataclasses import replace

    from adanet_train.model import model_file

    X, y = points(FEW, 0)
    model = model_file.read(folder / "picked.pt")
    rows = model.picked["picks"]
    model_file.write(folder / "moved.pt", replace(model, picked={**model.picked, "picks": rows[::-1]}))
    assert len(rows) > 1
    with pytest.raises(ValueError, match="cannot be confirmed"):
        verify_bounds(net, X, y, unlabelled=points(600, 2)[0], surrogate=folder / "moved.pt", draws=None)


@pytest.mark.parametrize("names", [(0, 1), ("no", "yes")])
def test_a_picked_module_is_a_surrogate(net: nn.Module, names: tuple) -> None:
    X, y = points(M, 0)
    U, _ = points(600, 2)
    g = certify(Module(lambda: nn.Linear(5, 1), epochs=3), X, np.array(names)[y])
    found = verify_bounds(net, X, np.array(names)[y], unlabelled=U, surrogate=g, draws=None)
    mine, other = ((f(torch.from_numpy(U).float()) > 0).numpy() for f in (net, g.predictor))
    assert found.bounds["disagreement-certificate"].terms["disagreements"] == differences(mine, other)


@pytest.mark.parametrize("kind", ["picked", "compressed"])
def test_a_surrogate_knows_the_names_of_the_classes(net: nn.Module, kind: str) -> None:
    """Under `classes` the other way round the network errs nearly everywhere, and so must its bound say."""
    X, y = points(FEW, 0)
    names, (U, _) = np.array(["no", "yes"])[y], points(600, 2)
    small = compress(net, X, names, budget=0) if kind == "compressed" else None
    g = small or certify(KNeighborsClassifier(), X, names, K=0)
    for classes, wrong in ((("no", "yes"), False), (("yes", "no"), True)):
        report = verify_bounds(net, X, names, unlabelled=U, surrogate=g, classes=classes, draws=None)
        assert (report.sample.train_error > 0.9) == wrong
        assert report.bounds["disagreement-certificate"].raw >= report.sample.train_error


def test_points_near_the_sample_are_no_unlabelled_points(net: nn.Module) -> None:
    X, U = np.split(np.random.default_rng(3).normal(size=(FEW + 100, 5)), [FEW])
    y = X[:, 0] > 0
    g = certify("lr", X, y, K=0)
    with pytest.raises(ValueError, match="400 of the 400 points without labels lie within 1e-6 of points of the samp"):
        verify_bounds(net, X, y, unlabelled=X * (1 + 1e-9), surrogate=g, draws=None)
    few = np.concatenate([U, X[:3] * (1 + 1e-9)])
    report = verify_bounds(net, X, y, unlabelled=few, surrogate=g, draws=None)
    (row,) = (one for one in report.assumptions if one.id == "unlabelled")
    assert "3 of the 103 lie within 1e-6 of rows of the sample" in row.detail
    with pytest.raises(ValueError, match="5 of the 5 points of U are rows of the sample"):  # of the surrogate's
        verify_bounds(net, U, U[:, 0] > 0, unlabelled=X[:5], surrogate=g, draws=None)


@pytest.mark.filterwarnings("ignore:.*repeat an earlier one")
def test_a_surrogate_without_a_certificate_certifies_nothing(net: nn.Module) -> None:
    X, y = points(FEW, 0)
    g = certify("lr", np.repeat(X, 2, axis=0), np.repeat(y, 2), K=0)
    U, _ = points(600, 2)
    for discrete, why in ((False, ("surrogate",)), (True, ())):
        report = verify_bounds(net, X, y, unlabelled=U, surrogate=g, draws=None, discrete=discrete)
        assert report.bounds["disagreement-certificate"].why_not == why
        assert (report.cite is None) == (not discrete)


@pytest.mark.parametrize("norm", [nn.Identity(), nn.LayerNorm(4)], ids=["read", "black box"])
def test_a_compressed_module_that_was_trained_on_has_no_certificate(norm: nn.Module) -> None:
    """Its bits are those of other weights: with fewer errors the bound was .42 where .65 was certified."""
    g = torch.Generator().manual_seed(0)
    X, U = torch.randn(600, 5, generator=g), torch.randn(200, 5, generator=g)
    y = (X[:, 0] > 0).long()
    small = compress(nn.Sequential(nn.Linear(5, 4), norm, nn.Linear(4, 1)).eval(), X, y, budget=0)
    assert small.at(0.05) == small.bound
    assert verify_bounds(small, X, y, draws=None).bounds["occam-certificate"].terms["errors"] == small.errors
    with torch.no_grad():
        next(small.module.parameters()).mul_(2)
    reported = [
        lambda: small.at(0.05),
        lambda: small.save("never.pt"),
        lambda: verify_bounds(small, X, y, draws=None),
        lambda: disagreement(small.module, small, U),
        lambda: verify_bounds(small.module, X, y, unlabelled=U, surrogate=small, draws=None),
    ]
    for ask in reported:
        with pytest.raises(ValueError, match="are not those of its code any more: compress it again"):
            ask()
