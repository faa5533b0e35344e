"""The row path-certificate-multiclass of verify-bounds: forty digits, every output, and where it is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf

from adanet_theory.certificates.grids import CLASS_VOTES, path_thresholds
from adanet_theory.certificates.path_multiclass import path_classes_errors
from adanet_theory.certificates.tree import unrolled_classes
from adanet_train.core.network import Network
from tests.test_class_votes import built, kl_inverse, mass, row
from tests.test_path_multiclass import xor_sample
from tests.verify_models import class_model
from verify.rows.assumptions import Setting
from verify.show import render, wording

ID = "path-certificate-multiclass"


def law(size: mpf, reach: int = 70) -> list[mpf]:
    return [mass(size / 2, size / 2, t) for t in range(-reach, reach + 1)]


def exceeds(size: mpf, unit: mpf | None, k: int, reach: int = 70) -> mpf:
    """P(Sk(size) + relu(Sk(unit)) > k), summed over both."""
    first = law(size)
    if unit is None:
        return sum(P for t, P in enumerate(first, -reach) if t > k)
    second: dict[int, mpf] = {}
    for t, P in enumerate(law(unit), -reach):
        second[max(t, 0)] = second.get(max(t, 0), mpf(0)) + P
    return sum(P * Q for t, P in enumerate(first, -reach) for u, Q in second.items() if t + u > k)


def exact_value(v: np.ndarray, u: np.ndarray, m: int, drawn: tuple[int, int], N: int, k: int, beta: str) -> mpf:
    """The statement for f_c = v_c · x, c = 0, 1, 2, and relu(u · x) added to the first: nothing of ours."""
    weights = [abs(mpf(x)) for x in [*v.ravel().tolist(), *u.tolist()]]
    B, n_0, beta_ = sum(weights), v.shape[1], mpf(beta)
    p = [sum(abs(mpf(x)) for x in part.tolist()) / B for part in [*v, u]]
    A = 2 * n_0 * 4
    KL, urn = A * beta_ * mpmath.log(1 + N / (A * beta_)), mpmath.log(1 + A * beta_ / N)
    for x in weights:
        r = N * x / B
        counts = [mpmath.exp(-r) * r**c / mpmath.factorial(c) for c in range(120)]
        rising = sum(P * (mpmath.loggamma(c + beta_) - mpmath.loggamma(beta_)) for c, P in enumerate(counts))
        KL += r * mpmath.log(r) - r - rising + r * urn
    ways = [exceeds(N * (p[1] + p[2]), None, k)]
    for c in (1, 2):
        ways += [exceeds(N * (p[0] + p[c]), N * p[3], k)]  # the first is right
        ways += [exceeds(N * (p[0] + p[c] + more), None, k) for more in (0, p[3])]  # the other is
    xi = sum(mpmath.binomial(m, c) * (mpf(c) / m) ** c * (1 - mpf(c) / m) ** (m - c) for c in range(m + 1))
    G = 25 * 6 * 41 * (2 * 3) * (2 * 3) * 6  # depth 1, one unit under one of three roots with one of two signs
    q = kl_inverse(mpf(drawn[0]) / drawn[1], mpmath.log(10 / mpf("0.05")) / drawn[1])
    return kl_inverse(q, (KL + mpmath.log(xi * G / (mpf(9) / 10 * mpf("0.05")))) / m) / (1 - max(ways))


@pytest.mark.parametrize("r_sup", [1.0, 1.5])
def test_the_row_against_an_independent_calculation(r_sup: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the network's own trees; C = 3 roots and one unit."""
    monkeypatch.setattr("adanet_theory.certificates.path_multiclass.CLASS_VOTES", CLASS_VOTES[:3])
    monkeypatch.setattr("adanet_theory.certificates.path_multiclass.path_thresholds", lambda N: path_thresholds(N)[:9])
    monkeypatch.setattr(Setting, "forests", property(lambda self, of=Setting.forests.func: of(self)[:1]))
    base = class_model(C=3, n=(2, 2), m=30, r_sup=r_sup)
    v, u = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.75]]), np.array([-0.75, 1.25])
    hidden = {(1, 0): torch.from_numpy(np.vstack([v, u])), (2, 1): torch.tensor([[0.0, 0.0, 0.0, 1.0]]).double()}
    output = {1: torch.eye(3, 4).double(), 2: torch.tensor([[1.0], [0.0], [0.0]]).double()}
    network = Network((2, 4, 1), hidden, output, ("relu",), 3)
    y = network(base.sample.Psi).argmax(dim=1)
    file = replace(base, network=network, declared=None, sample=replace(base.sample, y=y))
    found = row(built(file, seed=3), ID)
    assert found.applies
    assert found.group == "certificate"
    x, y = base.sample.Psi.numpy() / r_sup, y.numpy()
    outputs = [{k: w[c].numpy() for k, w in output.items()} for c in range(3)]
    forest = unrolled_classes({pair: U.numpy() for pair, U in hidden.items()}, outputs, depth=2)
    N, k, draws = (int(found.terms[name]) for name in ("N", "k", "draws"))
    drawn = path_classes_errors(forest, x, y, N, k, seed=3, draws=draws)
    with mpmath.workdps(40):
        expected = exact_value(v, u, 30, drawn, N, k, str(found.terms["beta"]))
        assert expected * (1 - mpf(10) ** -13) <= mpf(found.raw) <= expected * (1 + mpf(10) ** -7)


def xor_model(m: int = 900, flips: float = 0.0):
    """|x_1| - |x_2|, its negative and x_3 less a constant: classes that no linear network tells apart."""
    x, y = xor_sample(m)
    rng = np.random.default_rng(2)
    y = np.where(rng.random(len(y)) < flips, rng.integers(0, 3, len(y)), y)
    U = torch.tensor([[1.0, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 1, -0.4]]).double()
    hidden = {(1, 0): U, (2, 1): torch.tensor([[1.0, 1, -1, -1, 0]]).double()}
    output = {1: torch.tensor([[0.0] * 5, [0.0] * 5, [0.0, 0, 0, 0, 1]]).double(),
              2: torch.tensor([[1.0], [-1], [0]]).double()}  # fmt: skip
    base = class_model(C=3, n=(4, 5, 1), m=len(y), declared=False)
    sample = replace(base.sample, Psi=torch.from_numpy(x), y=torch.from_numpy(y))
    return replace(base, network=Network((4, 5, 1), hidden, output, ("relu",), 3), sample=sample)


def test_the_row_in_every_output() -> None:
    found = built(xor_model())
    assert row(found, ID).value < 0.45
    assert set(row(found, ID).terms) == {"N", "k", "beta", "draws", "empirical", "KL", "grid", "b"}
    for shown in (render.to_json(found), render.to_tex(found), render.to_html(found)):
        assert ID in shown
    assert found.cite.id == ID
    assert "by path-certificate-multiclass" in wording.citation(found)
    assert any("a tree for each class" in assumption.detail for assumption in found.assumptions)


def test_labels_by_coin_are_not_certified_below_chance() -> None:
    assert row(built(xor_model(flips=1.0)), ID).raw > 2 / 3


def test_what_is_added_to_all_outputs_costs_little() -> None:
    """2 relu(x_1) on top of every class: the trees without it are those of the network as it was."""
    file = xor_model()
    wider = {**file.network.hidden, (2, 1): torch.cat([file.network.hidden[2, 1], torch.eye(1, 5).double()])}
    output = {**file.network.output, 2: torch.cat([file.network.output[2], 2 * torch.ones(3, 1).double()], 1)}
    shifted = Network((4, 5, 2), wider, output, ("relu",), 3)
    plain, moved = (row(built(one), ID) for one in (file, replace(file, network=shifted)))
    assert plain.raw == moved.raw


def test_where_it_does_not_apply() -> None:
    assert row(built(class_model(C=3, r_sup=math.inf, n=(3, 2, 2))), ID).why_not == ("r-sup",)
    assert "feature-map" in row(built(class_model(C=3, fitted=True, n=(3, 2, 2))), ID).why_not
    linear = row(built(class_model(C=3, n=(3, 2))), ID)
    assert (linear.why_not, linear.raw) == (("tree",), None)
    wide = built(class_model(C=3, n=(3, 22, 2)))
    assert (row(wide, ID).why_not, row(wide, ID).raw) == (("tree",), None)
    curved = built(class_model(C=3, n=(3, 2, 2), activation="tanh"))
    assert row(curved, ID).why_not == ("homogeneous", "tree")
