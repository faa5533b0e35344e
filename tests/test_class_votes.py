"""The certified vote-certificate-multiclass: laws against Bessel functions in 40 digits, the loss, and the row."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf

from adanet_theory.certificates.grids import CLASS_VOTES
from adanet_theory.twins.tails import class_loss_upper, lower_laws
from adanet_train.core.network import Network
from tests.test_certificate_rows import kl_inverse
from tests.verify_models import built, class_model, row
from verify.records.results import BoundReport
from verify.rows import votes
from verify.show import render, wording

ID = "vote-certificate-multiclass"


def mass(a: float, b: float, t: int) -> mpf:
    """P(Skellam(a, b) = t)."""
    if a * b > 0:
        return mpmath.exp(-a - b) * (mpf(a) / b) ** (mpf(t) / 2) * mpmath.besseli(abs(t), 2 * mpmath.sqrt(mpf(a) * b))
    rate, count = max(a, b), t if a > 0 else -t
    return mpmath.exp(-rate) * mpf(rate) ** count / mpmath.factorial(count) if count >= 0 else mpf(0)


@pytest.mark.parametrize(
    ("a", "b"),
    [(0.3, 40.0), (30.0, 30.0), (5.0, 0.01), (0.0, 7.0), (1e-20, 1e-20), (600.0, 560.0), (0.0, 0.0), (90.0, 0.0)],
)
def test_the_laws_are_below_the_exact_ones_and_near(a: float, b: float) -> None:
    laws = lower_laws(np.array([[a, 3.0]]), np.array([[b, 500.0]]))
    with mpmath.workdps(40):
        exact = [mass(a, b, int(laws.first[0, 0]) + j) for j in range(len(laws.mass))]
        total = mpf(0)
        for P, lower, below in zip(exact, laws.mass[:, 0, 0], laws.below[:, 0, 0], strict=True):
            total += P
            assert mpf(lower) <= P
            assert mpf(below) <= total
            assert mpf(lower) >= P * (1 - mpf(10) ** -9) - mpf(10) ** -280
    assert laws.below[-1, 0, 0] > 1 - 1e-9


def test_many_rates_at_once_are_those_one_by_one() -> None:
    rng = np.random.default_rng(0)
    a, b, y = rng.uniform(0, 80, (30, 4)), rng.uniform(0, 60, (30, 4)), rng.integers(0, 4, 30)
    alone = [class_loss_upper(a[i : i + 1], b[i : i + 1], y[i : i + 1], 3) for i in range(30)]
    assert class_loss_upper(a, b, y, 3) == pytest.approx(math.fsum(alone) / 30, rel=1e-9)


def exact_loss(p: list[mpf], scores: list[mpf], y: int, N: int, k: int, reach: int) -> mpf:
    """1 - sum_t P(g_y = t) prod P(g_c <= t-k-1), laws by Bessel functions, in the precision that is set."""
    below, own = [], []
    for c, (size, score) in enumerate(zip(p, scores, strict=True)):
        a, b = N * (size + score) / 2, N * (size - score) / 2
        law = [mass(a, b, t) for t in range(-reach, reach + 1)]
        if c == y:
            own = law
        else:
            running, total = [], mpf(0)
            for P in law:
                total += P
                running.append(total)
            below.append(running)
    right = mpf(0)
    for at, P in enumerate(own):
        at -= k + 1
        right += P * mpmath.fprod(running[at] for running in below) if at >= 0 else 0
    return 1 - right


def exact_value(v: np.ndarray, Psi: np.ndarray, y: np.ndarray, N: int, k: int, beta: str, r_sup: float) -> mpf:
    """The statement from a network's linear weights in 40 digits, nothing of ours."""
    C, n_0 = v.shape
    m, A, beta_ = len(y), 2 * C * n_0, mpf(beta)
    B = sum(mpf(abs(x)) for x in v.ravel().tolist())
    p = [sum(mpf(abs(x)) for x in row) / B for row in v.tolist()]
    q = mpf(0)
    for point, label in zip(Psi.tolist(), y.tolist(), strict=True):
        scores = [
            sum(mpf(a) * mpf(x) for a, x in zip(row, point, strict=True)) / (B * mpf(r_sup)) for row in v.tolist()
        ]
        q += exact_loss(p, scores, label, N, k, 60)
    KL, urn = A * beta_ * mpmath.log(1 + N / (A * beta_)), mpmath.log(1 + A * beta_ / N)
    for x in v.ravel().tolist():
        r = N * mpf(abs(x)) / B
        if r:
            law = [mpmath.exp(-r) * r**c / mpmath.factorial(c) for c in range(120)]
            rising = sum(P * (mpmath.loggamma(c + beta_) - mpmath.loggamma(beta_)) for c, P in enumerate(law))
            KL += r * mpmath.log(r) - r - rising + r * urn
    xi = sum(mpmath.binomial(m, c) * (mpf(c) / m) ** c * (1 - mpf(c) / m) ** (m - c) for c in range(m + 1))
    pi = sum(sorted(p)[-2:])
    b = sum(mass(N * pi / 2, N * pi / 2, t) for t in range(-90, k + 1))
    return kl_inverse(q / m, (KL + mpmath.log(xi * 25 * 6 * (N + 1) / mpf("0.05"))) / m) / b


@pytest.mark.parametrize("r_sup", [1.0, 1.5])
def test_the_row_against_an_independent_calculation(r_sup: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adanet_theory.certificates.vote_multiclass.CLASS_VOTES", CLASS_VOTES[:3])
    monkeypatch.setattr(votes, "_class_weights", lambda setting, original=votes._class_weights: original(setting)[:1])
    file = class_model(C=3, n=(2, 2), m=12, r_sup=r_sup)
    bound_row = row(built(file), ID)
    v = (file.network.output[1] @ file.network.hidden[1, 0]).numpy()  # rounded, as the exact one is within 1e-15
    with mpmath.workdps(40):
        N, k, beta = int(bound_row.terms["N"]), int(bound_row.terms["k"]), str(bound_row.terms["beta"])
        expected = exact_value(v, file.sample.Psi.numpy(), file.sample.y.numpy(), N, k, beta, r_sup)
        assert expected * (1 - mpf(10) ** -13) <= mpf(bound_row.raw) <= expected * (1 + mpf(10) ** -7)
    assert bound_row.applies
    assert bound_row.group == "certificate"


def easy(m: int = 600, C: int = 3, seed: int = 0, flips: float = 0.0):
    """f_c = Psi_c, labels by the largest: a network of least weights."""
    file = class_model(C=C, n=(C, C), m=m, seed=seed)
    rng = np.random.default_rng(seed)
    y = rng.integers(0, C, m)
    Psi = np.where(y[:, None] == np.arange(C), 0.9, -0.9)
    y = np.where(rng.random(m) < flips, rng.integers(0, C, m), y)
    eye = torch.eye(C, dtype=torch.float64)
    network = Network((C, C), {(1, 0): eye}, {1: eye}, (), C)
    sample = replace(file.sample, Psi=torch.from_numpy(Psi), y=torch.from_numpy(y))
    return replace(file, network=network, sample=sample)


@pytest.fixture(scope="module")
def answer() -> BoundReport:
    return built(easy(), discrete=True)


def test_the_row_in_every_output(answer: BoundReport) -> None:
    assert row(answer, ID).value < 0.15
    assert set(row(answer, ID).terms) == {"N", "k", "beta", "empirical", "KL", "grid", "b"}
    for shown in (render.to_json(answer), render.to_tex(answer), render.to_html(answer)):
        assert ID in shown
    assert answer.cite.id == ID
    assert "by vote-certificate-multiclass" in wording.citation(answer)
    assert {"iid"} <= set(answer.cite.assumes)


def test_labels_by_coin_are_not_certified_below_chance() -> None:
    """And what the sample says beside the labels is 0: flips = 1 of three classes."""
    for seed in range(2):
        bound_row = row(built(easy(m=300, seed=seed, flips=1.0), discrete=True), ID)
        assert bound_row.raw > 2 / 3


def test_what_is_added_to_all_outputs_costs_nothing(answer: BoundReport) -> None:
    file = easy()
    shifted = replace(file.network, output={1: file.network.output[1] + torch.tensor([[2.0, 1.0, 0.0]]).double()})
    moved = row(built(replace(file, network=shifted), discrete=True), ID)
    assert moved.raw == pytest.approx(row(answer, ID).raw, rel=1e-12)  # but for how far the rounded program is from f


def test_where_it_does_not_apply() -> None:
    assert row(built(class_model(C=3, r_sup=math.inf, n=(3, 2))), ID).why_not == ("r-sup",)
    assert "feature-map" in row(built(class_model(C=3, fitted=True, n=(3, 2))), ID).why_not
    hidden = built(class_model(C=3, n=(3, 4, 2)))
    assert row(hidden, ID).why_not == ("linear",)
    assert row(hidden, ID).raw is None
