"""The sentence around the number: repeated rows, held-out points that are not, and what choosing a bound costs."""

from __future__ import annotations

import dataclasses
import json
import re
from fractions import Fraction

import numpy as np
import pytest
import torch

from adanet_train.core.network import Network
from adanet_train.data.features import FeatureMap
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, Sample
from tests.refusals import says
from tests.verify_models import model, row
from verify.cli import main
from verify.measure.repeats import repeated, shared
from verify.reading.points import GivenPoints
from verify.records.question import Question
from verify.rows import report


def status(report, id: str) -> str:
    (row,) = [row for row in report.assumptions if row.id == id]
    return row.status


def linear(m: int = 20_000, seed: int = 0, has_map: bool = True) -> ModelFile:
    """f = 8 x_1, y = sgn x_1 with |x_1| = 1: every margin is B, so that the bounds after the fact are small."""
    draw = np.random.default_rng(seed)
    Psi = draw.uniform(-1, 1, size=(m, 3))
    Psi[:, 0] = np.where(Psi[:, 0] > 0, 1.0, -1.0)
    network = Network(
        (3, 1),
        {(1, 0): torch.tensor([[8.0, 0.0, 0.0]], dtype=torch.float64)},
        {1: torch.ones(1, dtype=torch.float64)},
        (),
    )
    features = FeatureMap.known(["a", "b", "c"], -1.0, 1.0, bias=False, clip=False) if has_map else None
    return ModelFile(network, None, None, features, Sample.of(Psi, Psi[:, 0].copy()))


# iid


@pytest.mark.parametrize("columns", [1, 3])
def test_repeated_rows_are_counted_as_a_set_counts_them(columns: int) -> None:
    draw = np.random.default_rng(columns)
    Psi, y = draw.integers(-2, 3, size=(500, columns)) * 1.0, draw.choice([-1.0, 1.0], 500)
    rows = [tuple(row) for row in np.c_[Psi, y]]
    assert repeated(Psi, y) == 500 - len(set(rows))
    other, other_y = draw.integers(-3, 4, size=(300, columns)) * 1.0, draw.choice([-1.0, 1.0], 300)
    assert shared(other, other_y, Psi, y) == sum(tuple(row) in set(rows) for row in np.c_[other, other_y])


def test_a_row_with_another_label_is_another_point() -> None:
    Psi = np.zeros((2, 4))
    assert repeated(Psi, np.array([1.0, -1.0])) == 0
    assert repeated(Psi, np.array([1.0, 1.0])) == 1


def test_twelve_coins_repeated_certify_nothing() -> None:
    """R(f) >= 1/2 whatever f is, and the file says m = 19,992."""
    draw = np.random.default_rng(0)
    Psi, y = draw.choice([-1.0, 1.0], size=(12, 40)), draw.choice([-1.0, 1.0], 12)
    v = np.linalg.lstsq(Psi, y, rcond=None)[0]
    network = Network((40, 1), {(1, 0): torch.from_numpy(v[None])}, {1: torch.ones(1, dtype=torch.float64)}, ())
    sample = Sample.of(np.tile(Psi, (1666, 1)), np.tile(y, 1666))
    file = ModelFile(network, None, None, None, sample)
    answer = report.build(file, Question(draws=None))
    assert status(answer, "iid") == "fails"
    says(answer.assumptions[0].detail, ["19,980 of 19,992", "repeat"])
    assert answer.cite is None
    assert not any(row.applies for row in answer.bounds)
    message = report.build(file, Question(draws=None, discrete=True))
    assert status(message, "iid") == "assumed"
    assert message.cite is not None
    assert "iid" in message.cite.assumes


def test_rows_that_do_not_repeat_leave_iid_assumed() -> None:
    answer = report.build(linear(500), Question(draws=None))
    assert status(answer, "iid") == "assumed"
    assert "iid" in answer.cite.assumes


# The feature map and its range


def test_psi_of_unknown_making_is_assumed_and_named_in_the_citation() -> None:
    answer = report.build(linear(has_map=False), Question(draws=None))
    assert status(answer, "feature-map") == "assumed"
    assert "feature-map" in answer.cite.assumes


def test_r_sup_holds_only_where_the_map_clips_and_fails_at_a_test_point_beyond_it() -> None:
    file = linear()
    assert status(report.build(file, Question(draws=None)), "r-sup") == "assumed"
    clipped = dataclasses.replace(file, features=dataclasses.replace(file.features, clip=True))
    assert status(report.build(clipped, Question(draws=None)), "r-sup") == "holds"
    other = linear(100, seed=1).sample
    far = GivenPoints(5 * other.Psi.numpy(), other.y.numpy())
    answer = report.build(file, Question(draws=None), test=far)
    assert status(answer, "r-sup") == "fails"
    assert "r-sup" in {row.id: row.why_not for row in answer.bounds}["a-posteriori-bounded"]


def test_the_sample_given_as_test_data_is_refused(tmp_path, capsys) -> None:
    file = model()
    model_file.write(tmp_path / "model.pt", file)
    np.savez(tmp_path / "train.npz", Psi=file.sample.Psi.numpy(), y=file.sample.y.numpy())
    assert main([str(tmp_path / "model.pt"), "--no-estimates", "--test-data", str(tmp_path / "train.npz")]) == 2
    says(capsys.readouterr().err, ["60 of the 60", "sample"])


# Which bound may be quoted


def test_the_least_of_several_is_quoted_at_its_share_of_delta() -> None:
    file = linear()
    answer = report.build(file, Question(draws=None))
    cite = answer.cite
    assert cite.among > 1
    assert cite.delta == pytest.approx(0.05 / cite.among)
    assert cite.value > row(answer, cite.id).value
    at_share = report.build(file, Question(draws=None, delta=Fraction(1, 20) / cite.among))
    assert row(at_share, cite.id).value == cite.value


def test_a_statement_named_beforehand_is_quoted_at_delta() -> None:
    answer = report.build(linear(), Question(draws=None, cite="a-posteriori"))
    assert (answer.cite.id, answer.cite.among, answer.cite.delta) == ("a-posteriori", 1, 0.05)
    assert answer.cite.value == row(answer, "a-posteriori").value
    none = report.build(linear(), Question(draws=None, cite="theorem-1"))
    assert none.cite is None


def test_settings_that_were_tried_are_paid() -> None:
    plain = report.build(linear(), Question(draws=None, cite="a-posteriori"))
    tried = report.build(linear(), Question(draws=None, cite="a-posteriori", tried=20))
    paid = report.build(linear(), Question(draws=None, cite="a-posteriori", delta=Fraction(1, 400)))
    assert plain.cite.value < tried.cite.value == paid.cite.value
    assert row(tried, "a-posteriori").value == tried.cite.value
    assert tried.tried == 20
    message = dataclasses.replace(linear(), extra={"tried": 20})
    assert report.build(message, Question(draws=None, cite="a-posteriori")).cite.value == tried.cite.value


def test_what_the_sample_decides_is_counted_among_the_quotable() -> None:
    """r_inf < r_sup happens to rule Theorem 1 out on this sample: with another it would have been quoted."""
    file = model(n=(3, 4, 2), p=1.0, m=40)
    answer = report.build(file, Question(draws=None))
    assert row(answer, "theorem-1").why_not == ("r-inf",)
    from verify.rows.assumptions import assess

    setting = report.make_setting(file, Question(draws=None))
    verdict = assess(setting, Fraction(1))
    applying = sum(bound.applies for bound in answer.bounds)
    assert verdict.quotable > applying


def test_the_document_and_the_words_say_what_was_paid(tmp_path, capsys) -> None:
    model_file.write(tmp_path / "model.pt", linear())
    path = str(tmp_path / "model.pt")
    assert main([path, "--no-estimates", "--json", "--tried", "3"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["tried"] == 3
    assert document["cite"]["delta"] == pytest.approx(0.05 / 3 / document["cite"]["among"])
    assert set(document["cite"]["assumes"]) <= {
        row["id"] for row in document["assumptions"] if row["status"] == "assumed"
    }
    main([path, "--no-estimates", "--cite", "a-posteriori"])
    text = " ".join(capsys.readouterr().out.split())
    says(text, ["probability at least 0.95", "by a-posteriori."])
    assert re.search(r"assumes that [^.]*\(iid\), [^.]*\(r-sup\) and [^.]*\(feature-map\)\.", text)


def test_bad_questions_are_refused_in_one_line(tmp_path, capsys) -> None:
    assert main([str(tmp_path / "none.pt"), "--tried", "0"]) == 2
    says(capsys.readouterr().err, ["verify-bounds: tried", "integer >= 1", "tried=0"])
    assert main([str(tmp_path / "none.pt"), "--cite", "theorem-9"]) == 2
    assert "cite must be one of theorem-1, corollary-1" in capsys.readouterr().err
