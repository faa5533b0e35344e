"""The certificates among the rows of a report: against a calculation of their own, and where they do not apply."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf

from adanet_theory.certificates.grids import VOTES
from adanet_train.core.network import Network
from tests.verify_models import built, model, row
from verify.records.results import BoundReport
from verify.rows import report
from verify.show import render, wording


def kl_inverse(q: mpf, c: mpf) -> mpf:
    low, high = q, mpf(1)
    for _ in range(120):
        middle = (low + high) / 2
        inside = (mpmath.log(q / middle) * q if q else 0) + (1 - q) * mpmath.log((1 - q) / (1 - middle)) <= c
        low, high = (middle, high) if inside else (low, middle)
    return high


def exact_vote(file, N: int, k: int, beta: float, delta: str, r_sup: float) -> mpf:
    """vote-certificate from the file's numbers in 40 digits: sums over all counts, nothing of ours."""
    with mpmath.workdps(40):
        weights = file.network.hidden[1, 0].numpy()
        v = [
            sum(mpf(float(w)) * mpf(float(u)) for w, u in zip(file.network.output[1], column, strict=True))
            for column in weights.T
        ]
        size = sum(abs(x) for x in v)
        theta, n = [abs(x) / size for x in v if x], 2 * len(v)
        q = mpf(0)
        for Psi, y in zip(file.sample.Psi.tolist(), file.sample.y.tolist(), strict=True):
            p = (1 + int(y) * sum(a * mpf(b) for a, b in zip(v, Psi, strict=True)) / (size * mpf(r_sup))) / 2
            q += sum(mpmath.binomial(N, c) * p**c * (1 - p) ** (N - c) for c in range(k + 1))
        m, b = len(file.sample.y), sum(math.comb(N, c) for c in range(k + 1)) / mpf(2) ** N
        if beta == 0:
            KL = N * sum(t * mpmath.log(n * t) for t in theta)
        else:
            beta_ = mpf(repr(beta))
            KL = N * sum(t * mpmath.log(t) for t in theta) + mpmath.loggamma(n * beta_ + N) - mpmath.loggamma(n * beta_)
            for t in theta:
                law = [mpmath.binomial(N, c) * t**c * (1 - t) ** (N - c) for c in range(N + 1)]
                KL -= sum(x * (mpmath.loggamma(c + beta_) - mpmath.loggamma(beta_)) for c, x in enumerate(law))
        xi = sum(mpmath.binomial(m, c) * (mpf(c) / m) ** c * (1 - mpf(c) / m) ** (m - c) for c in range(m + 1))
        return kl_inverse(q / m, (KL + mpmath.log(xi * 25 * (N + 1) * 7 / mpf(delta))) / m) / b


@pytest.mark.parametrize(("n", "r_sup"), [((4, 1), 1.0), ((3, 2), 1.5)])
def test_the_vote_certificate_against_an_independent_calculation(
    n: tuple[int, ...], r_sup: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "adanet_theory.certificates.vote.VOTES", VOTES[:5]
    )  # few votes, so that all counts can be summed
    file = model(n=n, m=80, flips=0.0, r_sup=r_sup)
    bound_row = row(built(file), "vote-certificate")
    N, k, beta = (bound_row.terms[name] for name in ("N", "k", "beta"))
    expected = exact_vote(file, int(N), int(k), beta, "0.05", r_sup)
    assert expected <= mpf(bound_row.raw) <= expected * (1 + mpf(10) ** -8)
    assert bound_row.applies
    assert bound_row.group == "certificate"


def test_a_network_of_identities_is_linear() -> None:
    deep, answer = model(n=(3, 2, 1), activation="identity", m=60), None
    answer = built(deep)
    v = sum(
        (
            deep.network.output[k].numpy() @ W
            for k, W in (
                (1, deep.network.hidden[1, 0].numpy()),
                (2, (deep.network.hidden[2, 1] @ deep.network.hidden[1, 0]).numpy()),
            )
        ),
        np.zeros(3),
    )
    flat = replace(
        deep,
        network=Network((3, 1), {(1, 0): torch.from_numpy(v[None])}, {1: torch.ones(1, dtype=torch.float64)}, ()),
        declared=None,
        declared_rho=None,
    )
    assert row(answer, "vote-certificate").raw == pytest.approx(row(built(flat), "vote-certificate").raw, rel=1e-9)
    assert row(answer, "vote-certificate").applies


def test_where_certificates_do_not_apply() -> None:
    wide = row(built(model(n=(3, 80, 1))), "vote-certificate")
    assert (wide.why_not, wide.raw) == (("linear",), None)
    unknown = built(model(n=(3, 1), r_sup=math.inf))
    assert row(unknown, "vote-certificate").why_not == ("r-sup",)
    assert row(unknown, "vote-certificate").value is None
    fitted = built(model(n=(3, 1), fitted=True))
    assert "feature-map" in row(fitted, "vote-certificate").why_not
    small = built(model(n=(3, 1), r_sup=0.5))
    assert row(small, "vote-certificate").why_not == ("r-sup",)
    assert row(small, "vote-certificate").raw is None


def test_held_out_points_come_first_and_may_be_named() -> None:
    file, other = model(flips=0.0), model(seed=1, flips=0.0, m=300)
    y = file.network(other.sample.Psi).sign()
    test = report.GivenPoints(other.sample.Psi.numpy(), y.numpy())
    answer = built(file, test=test, cite="held-out")
    assert answer.bounds[0].id == "held-out"
    assert answer.bounds[0].value == answer.test.upper
    assert answer.bounds[0].terms == {"errors": 0, "points": 300}
    assert answer.cite.id == "held-out"
    assert answer.cite.value == pytest.approx(1 - 0.05 ** (1 / 300), rel=1e-9)


def test_the_citation_pays_at_the_same_setting() -> None:
    answer = built(model(n=(4, 1), m=400, flips=0.0))
    named = built(model(n=(4, 1), m=400, flips=0.0), cite="vote-certificate")
    assert answer.cite.id == "vote-certificate"
    assert named.cite.value == row(answer, "vote-certificate").value < answer.cite.value
    assert Fraction(answer.cite.delta) < Fraction(1, 20)
    assert set(answer.cite.assumes) >= {"iid"}


def _lines(report: BoundReport) -> str:
    from io import StringIO

    from rich.console import Console

    stream = StringIO()
    render.text(report, verbose=False, console=Console(file=stream, width=100))
    return stream.getvalue()


def test_terms_in_every_output() -> None:
    answer = built(model(n=(4, 1), m=400, flips=0.0))
    terms = row(answer, "vote-certificate").terms
    assert set(terms) == {"N", "k", "beta", "empirical", "KL", "grid", "b"}
    table = render.to_tex_all(answer)
    assert re.search(
        r"vote-certificate & [^\n]* & N [\d,]+, k [\d,]+, beta .*, empirical .*, KL .*, grid .*, b ", table
    )
    assert "vote-certificate" in render.to_html(answer)
    assert "vote-certificate" in _lines(answer)
    assert "by vote-certificate" in wording.citation(answer)


def test_labels_by_coin_are_not_certified_below_chance() -> None:
    for seed in range(3):
        file = model(n=(8, 1), m=200, flips=0.5, seed=seed)
        assert row(built(file), "vote-certificate").raw > 0.5


def test_f_equal_to_0_has_the_bound_1() -> None:
    file = model(n=(3, 1))
    zero = replace(file, network=replace(file.network, output={1: torch.zeros(1, dtype=torch.float64)}))
    assert row(built(zero), "vote-certificate").raw == 1


@pytest.mark.parametrize("id", ["path-certificate", "path-certificate-multiclass"])
def test_a_file_trained_for_a_retired_certificate_says_so_in_one_line(id: str) -> None:
    file = model(n=(3, 2, 1))
    history = [{"candidates": [], "chosen": 0, "objective": 0.3, "certificate": {"id": id, "raw": 0.3, "N": 10}}]
    answer = built(replace(file, meta={"history": history}))
    (line,) = [note for note in answer.notes if "retired" in note]
    assert id in line
    assert "--objective certificate" in line
    kept = [{**history[0], "certificate": {"id": "vote-certificate"}}]
    assert not any("retired" in note for note in built(replace(file, meta={"history": kept})).notes)
