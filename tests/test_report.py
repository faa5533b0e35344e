"""The report's numbers against a calculation of their own, in mpmath, from the statements and not from our code."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf

from adanet_theory.spec import NetworkSpec
from adanet_train.model.model_file import ModelFile
from tests.refusals import refused
from tests.verify_models import model
from verify.measure.layers import Sampling, complexities
from verify.records.question import Question
from verify.records.results import BoundReport
from verify.rows import report

PHI = {"relu": lambda x: max(x, mpf(0)), "tanh": mpmath.tanh, "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x))}
FACTS = {"relu": (mpf("1.5"), mpf("1.5")), "tanh": (mpf(1), mpf(1))}  # c_phi and e_phi; L = 1, phi(0) = 0
ETA = mpf(1) / 20
TIE = mpf(2) ** -30
"""η of a program in float64: the slope of its ramp is 1/((1-η)ρ)."""


class Oracle:
    """theory.md, read once more: everything in 40 digits from the exact numbers of the file."""

    def __init__(self, model: ModelFile, delta: str = "0.05", r_sup: str | None = "1") -> None:
        network, family, sample = model.network, model.declared, model.sample
        self.n, self.N = network.n, family.n
        self.Lambda = {pair: mpf(bound) for pair, bound in family.Lambda.items()}
        self.name = family.activations[0].name if family.activations else "relu"
        self.p, self.l, self.delta = family.p, len(family.n) - 1, mpf(delta)
        self.hidden = {pair: [[mpf(x) for x in u] for u in U.tolist()] for pair, U in network.hidden.items()}
        self.output = {k: [mpf(x) for x in w.tolist()] for k, w in network.output.items()}
        self.Psi = [[mpf(x) for x in row] for row in sample.Psi.tolist()]
        self.y = [int(y) for y in sample.y.tolist()]
        self.m = len(self.y)
        self.r_sup = None if r_sup is None else mpf(r_sup)
        self.w = [sum((abs(x) for x in self.output.get(k, [])), mpf(0)) for k in range(1, self.l + 1)]
        self.W = sum(self.w)
        self.margins = sorted(y * self.f(x) for x, y in zip(self.Psi, self.y, strict=True))
        self.sums = [mpf(0), *itertools.accumulate(self.margins)]

    def f(self, x):
        depth = len(self.n) - 1
        h = {1: [sum(a * b for a, b in zip(u, x, strict=True)) for u in self.hidden[1, 0]]}
        phi = {}
        for k in range(2, depth + 1):
            phi[k - 1] = [PHI[self.name](value) for value in h[k - 1]]
            h[k] = [mpf(0)] * self.n[k]
            for s in range(1, k):
                if (k, s) in self.hidden:
                    for i, u in enumerate(self.hidden[k, s]):
                        h[k][i] += sum(a * b for a, b in zip(u, phi[s], strict=True))
        return sum(a * b for k in self.output for a, b in zip(self.output[k], h[k], strict=True))

    def dual_root(self, n):
        one_over_q = mpf(1) if self.p == math.inf else 1 - 1 / mpf(self.p)
        return mpf(n) ** one_over_q

    def links(self, k):
        return [
            (s, self.Lambda[k, s] * self.dual_root(self.N[s])) for s in range(1, k) if self.Lambda.get((k, s), 0) > 0
        ]

    @functools.cached_property
    def r_inf(self):
        return max(abs(x) for row in self.Psi for x in row)

    @functools.cached_property
    def r_rms(self):
        return mpmath.sqrt(max(sum(row[j] ** 2 for row in self.Psi) for j in range(self.n[0])) / len(self.Psi))

    def lemma_2(self, k, r):
        Lambda_k = mpmath.fprod(2 * self.Lambda.get((s, s - 1), mpf(0)) for s in range(1, k + 1))
        N_k = mpmath.fprod(self.dual_root(self.N[s - 1]) for s in range(1, k + 1))
        return r * Lambda_k * N_k * mpmath.sqrt(mpmath.log(2 * self.N[0]) / (2 * self.m))

    def peeled(self, k, r):
        e = FACTS[self.name][1]
        P, D = {1: self.Lambda[1, 0] * self.dual_root(self.N[0])}, {1: mpf(1)}
        for t in range(2, k + 1):
            P[t] = sum(weight * P[s] for s, weight in self.links(t))
            D[t] = sum(weight * P[s] / P[t] * e * D[s] for s, weight in self.links(t))
        return r * P[k] * mpmath.sqrt(2 * (mpmath.log(2 * self.N[0]) + mpmath.log(D[k])) / self.m)

    def ranges(self):
        M = {1: self.Lambda[1, 0] * self.dual_root(self.N[0]) * self.r_sup}
        for k in range(2, self.l + 1):
            reach = {s: min(M[s], mpf(1)) if self.name == "tanh" else M[s] for s in range(1, k)}
            M[k] = sum(weight * reach[s] for s, weight in self.links(k))
        return [M[k] for k in range(1, self.l + 1)]

    def mean(self, values):
        return sum(w / self.W * value for w, value in zip(self.w, values, strict=True))

    def margin_error(self, rho):
        return mpf(sum(u / self.W <= rho for u in self.margins)) / len(self.margins)

    def ramp(self, rho, scale=1, eta=TIE):
        """Sum over the sorted margins: 1 up to ηρ, then (1 - u/rho)/(1-η) up to rho."""
        wrong, inside = (bisect.bisect_right(self.margins, limit) for limit in (eta * rho * scale, rho * scale))
        falling = (inside - wrong) - (self.sums[inside] - self.sums[wrong]) / (rho * scale)
        return (wrong + falling / (1 - eta)) / len(self.margins)

    def C(self, rho):
        tail = mpmath.log(2 / self.delta) / (2 * self.m)
        if self.l == 1:
            return mpmath.sqrt(tail)
        log_l = mpmath.log(self.l)
        radicand = mpmath.ceil(4 / rho**2 * mpmath.log(rho**2 * self.m / log_l)) * log_l / self.m + tail
        return mpmath.sqrt(radicand) if radicand >= 0 else None

    def layers(self):
        return range(1, self.l + 1)

    def theorem_1(self, at):
        rho = (1 - TIE) * at
        R = [self.lemma_2(k, self.r_inf) for k in self.layers()]
        root = mpmath.sqrt(mpmath.log(self.l) / self.m)
        return [self.margin_error(at), 4 / rho * self.mean(R), 2 / rho * root, self.C(rho)]

    def corollary_1(self, at):
        rho = (1 - TIE) * at
        # the print's 4 Lambda is 2^k times Lemma 2's product, and sqrt(2 log) is twice sqrt(log / 2)
        R = [2**k * 2 * self.lemma_2(k, self.r_inf) for k in self.layers()]
        root = mpmath.sqrt(mpmath.log(self.l) / self.m)
        return [self.margin_error(at), 2 / rho * self.mean(R), 2 / rho * root, self.C(rho)]

    def theorem_1_range(self, at):
        rho = (1 - TIE) * at
        M = max(self.ranges())
        R = [self.lemma_2(k, self.r_sup) for k in self.layers()]
        root = mpmath.sqrt(mpmath.log(self.l) / self.m)
        return [self.margin_error(at), 4 / rho * self.mean(R), 2 * M / rho * root, self.C(rho / M)]

    def margin_bound(self, at, R=None, delta=None):
        rho = (1 - TIE) * at
        R = [self.peeled(k, self.r_sup) for k in self.layers()] if R is None else R
        depth = 2 * max(self.ranges()) / rho * mpmath.sqrt(2 * mpmath.log(self.l) / self.m)
        confidence = mpmath.sqrt(mpmath.log(1 / (delta or self.delta)) / (2 * self.m))
        return [self.ramp(at, self.W), 2 / rho * self.mean(R), depth, confidence]

    def margin_bound_empirical(self, rho, upper):
        deviation = mpmath.sqrt(mpmath.log(4 * self.l / self.delta) / (2 * self.m))
        R = [mpf(R_S) + M * deviation for R_S, M in zip(upper, self.ranges(), strict=True)]
        return self.margin_bound(rho, R, self.delta / 2)

    def unbounded(self, at, upper=None):
        """j counted down the grid, from the share of each layer."""
        rho = (1 - TIE) * at
        R = [self.peeled(k, self.r_sup) for k in self.layers()] if upper is None else [mpf(R_S) for R_S in upper]
        inside = mpmath.log(1 / (self.delta if upper is None else self.delta * 3 / 4))
        complexity = mpf(0)
        for w, r in zip(self.w, R, strict=True):
            j = 0
            while w > 0 and w / self.W <= (1 + ETA) ** -(j + 1):
                j += 1
            complexity += 2 / rho * r * (1 + ETA) ** -j if w > 0 else 0
            inside += mpmath.log(2 * (j + 1) * (j + 2)) if w > 0 else mpmath.log(2)
        factor = 1 if upper is None else 2
        return [self.ramp(at, self.W), complexity, factor * mpmath.sqrt(inside / (2 * self.m))]

    def margin_bound_uniform(self, j):
        W_M = sum(w * M for w, M in zip(self.w, self.ranges(), strict=True))
        rho = W_M / (1 + ETA) ** j
        R = [self.peeled(k, self.r_sup) for k in self.layers()]
        prior = mpmath.log((mpmath.pi**2 / 3 - 1) / self.delta) + 2 * mpmath.log(abs(j) + 1)
        return [
            self.ramp(rho),
            2 / rho * sum(w * r for w, r in zip(self.w, R, strict=True)) / (1 - TIE),
            2 * (1 + ETA) ** j * mpmath.sqrt(2 * mpmath.log(self.l) / self.m) / (1 - TIE),
            mpmath.sqrt(prior / (2 * self.m)),
        ]

    @functools.cached_property
    def path_norm(self):
        depth = len(self.n) - 1
        paths = {0: [mpf(1)] * self.n[0]}
        for k in range(1, depth):
            paths[k] = [mpf(0)] * self.n[k]
            for s in range(k):
                for i, u in enumerate(self.hidden.get((k, s), [])):
                    paths[k][i] += sum(abs(a) * b for a, b in zip(u, paths[s], strict=True))
        B = mpf(0)
        for s in range(depth):
            v = [mpf(0)] * self.n[s]
            for k in range(s + 1, depth + 1):
                for w, u in zip(self.output.get(k, []), self.hidden.get((k, s), []), strict=False):
                    v = [a + w * b for a, b in zip(v, u, strict=True)]
            B += sum(abs(a) * b for a, b in zip(v, paths[s], strict=True))
        return B

    def a_posteriori(self, j, *, bounded):
        d, c = len(self.n) - 2, mpf("1.5")
        if d == 0:
            c = mpf(1)
        A = 1 + c * (1 + c) ** (d - 1) if d else mpf(1)
        r = self.r_sup if bounded else self.r_rms
        inside = mpmath.log(1 / self.delta) + mpmath.log((d + 1) * (d + 2))
        inside += mpmath.log(mpmath.pi**2 / 3 - 1) + 2 * mpmath.log(abs(j) + 1)
        return [
            self.ramp(self.path_norm / (1 + ETA) ** j),
            2 * (1 + ETA) ** j * r * mpmath.sqrt(2 * mpmath.log(2 * self.n[0] * A) / self.m) / (1 - TIE),
            (1 if bounded else 2) * mpmath.sqrt(inside / (2 * self.m)),
        ]


def rows(report: BoundReport) -> dict:
    return {row.id: row for row in report.bounds}


def assert_certified(row, terms, tolerance=1e-10) -> None:
    """Not below the real value, neither the sum nor any term, and not above it by more than the tolerance."""
    for value, expected in zip(row.terms.values(), terms, strict=True):
        if expected is None:
            assert value is None
            assert row.raw is None
            assert row.vacuous
        else:
            assert mpf(value) >= expected
            assert mpf(value) <= expected * (1 + tolerance) + tolerance
    if row.raw is not None:
        assert mpf(row.raw) >= mpmath.fsum(terms)
        assert mpf(row.raw) <= mpmath.fsum(terms) * (1 + tolerance)
        assert row.vacuous == (row.raw >= 1)
        if row.applies:
            assert row.value == min(1.0, row.raw)


CASES = [
    {"n": (2, 1), "p": 1.0, "m": 20_000},
    {"n": (3, 2), "p": math.inf, "rho": 0.05},
    {"n": (3, 4, 2), "p": 1.0},
    {"n": (3, 4, 2), "p": 2.0, "m": 2000, "rho": 0.5, "Lambda": 0.7},
    {"n": (3, 4, 2), "p": 1.5, "activation": "tanh"},
    {"n": (2, 3, 2, 2), "p": 1.5, "more": (5,)},
    {"n": (2, 3, 2, 2), "p": 2.0, "skip": True},
    {"n": (2, 3, 2, 2), "p": math.inf, "skip": True, "activation": "tanh", "rho": 1.0},
    {"n": (2, 2, 3, 2, 2), "p": 1.0, "skip": True, "rho": 0.01},
    {"n": (2, 2, 3, 2, 2), "p": math.inf, "Lambda": 0.3, "rho": 0.002},
    {"n": (2, 2, 3, 2, 2), "p": 2.0, "activation": "tanh", "more": (2, 2)},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['n']}-p{case['p']}-{case.get('activation', 'relu')}")
def test_every_bound_against_an_independent_calculation(case: dict) -> None:
    """Certified: at least the real value; and no looser than the rounding of sums allows."""
    mpmath.mp.dps = 40
    file = model(**case)
    answer = report.build(file, Question(draws=None))
    oracle, bounds = Oracle(file), rows(answer)
    rho = mpf(file.declared_rho)
    assert {row.about for row in answer.bounds if row.group in ("paper", "corrected") and row.raw} == {"program"}
    assert_certified(bounds["theorem-1"], oracle.theorem_1(rho))
    assert_certified(bounds["corollary-1"], oracle.corollary_1(rho))
    assert_certified(bounds["theorem-1-range"], oracle.theorem_1_range(rho))
    assert_certified(bounds["margin-bound"], oracle.margin_bound(rho))
    upper = [row.upper for row in answer.complexities]
    assert_certified(bounds["margin-bound-empirical"], oracle.margin_bound_empirical(rho, upper))
    assert_certified(bounds["margin-bound-unbounded"], oracle.unbounded(rho), tolerance=1e-9)
    assert_certified(bounds["unbounded-empirical"], oracle.unbounded(rho, upper), tolerance=1e-9)
    uniform = bounds["margin-bound-uniform"]
    assert_certified(uniform, oracle.margin_bound_uniform(uniform.j))
    for j in range(uniform.j - 30, uniform.j + 31):
        assert mpmath.fsum(oracle.margin_bound_uniform(j)) >= mpf(uniform.raw) * (1 - mpf(10) ** -10)
    for id in ("a-posteriori", "a-posteriori-bounded"):
        if case.get("activation") == "tanh" and len(case["n"]) > 2:
            assert bounds[id].raw is None
            assert bounds[id].why_not == ("homogeneous",)
        else:
            terms = oracle.a_posteriori(bounds[id].j, bounded=id.endswith("bounded"))
            assert_certified(bounds[id], terms)
            for j in range(bounds[id].j - 30, bounds[id].j + 31):
                other = oracle.a_posteriori(j, bounded=id.endswith("bounded"))
                assert mpmath.fsum(other) >= mpf(bounds[id].raw) * (1 - mpf(10) ** -10)
    assert mpf(answer.sample.ramp) >= oracle.ramp(rho, oracle.W, eta=0)
    assert answer.sample.margin_error == float(
        Fraction(int(oracle.margin_error(rho) * oracle.m + mpf("0.5")), oracle.m)
    )
    assert answer.sample.train_error == sum(u <= 0 for u in oracle.margins) / oracle.m


def test_the_lemmas_against_an_independent_calculation() -> None:
    mpmath.mp.dps = 40
    file = model(n=(2, 3, 2, 2), p=1.5, more=(4,))
    answer, oracle = report.build(file, Question(draws=None)), Oracle(file)
    for row in answer.complexities:
        expected = oracle.lemma_2(row.k, oracle.r_inf)
        assert expected <= mpf(row.lemma_2) <= expected * (1 + mpf(10) ** -14)
        expected = oracle.peeled(row.k, oracle.r_rms)
        assert expected <= mpf(row.lemma_2_peeled) <= expected * (1 + mpf(10) ** -12)
    R = [mpf(row.upper) for row in answer.complexities]
    for row in answer.complexities[1:]:
        total = sum(weight * R[s - 1] for s, weight in oracle.links(row.k))
        assert 2 * total <= mpf(row.lemma_1) <= 2 * total * (1 + mpf(10) ** -14)
        assert total * 3 / 2 <= mpf(row.lemma_1_corrected) <= total * 3 / 2 * (1 + mpf(10) ** -14)


def test_a_sigmoid_network_uses_the_offset_form() -> None:
    mpmath.mp.dps = 40
    file = model(n=(2, 3, 2), activation="sigmoid", p=1.0)
    answer, oracle = report.build(file, Question(draws=None)), Oracle(file)
    Q = [mpf(1), mpf(1) / 4 + mpf(1) / 2]  # r_sup = Lambda = 1, p = 1
    R = [Q[k - 1] * mpmath.sqrt(2 * (mpmath.log(4) + (k - 1) * mpmath.log(2)) / oracle.m) for k in (1, 2)]
    oracle.ranges = lambda: [mpf(1), mpf(3) / 4]
    assert_certified(rows(answer)["margin-bound"], oracle.margin_bound(mpf(file.declared_rho), R))
    assert [row.lemma_2_peeled is None for row in answer.complexities] == [False, True]


# Choices and special cases


def test_a_rho_that_is_given_counts_as_fixed_and_one_that_is_chosen_does_not() -> None:
    file = dataclasses.replace(model(), declared_rho=None)
    chosen = report.build(file, Question(draws=None))
    given = report.build(file, Question(draws=None, rho=0.3))
    assert chosen.rho_chosen
    assert not given.rho_chosen
    assert rows(given)["margin-bound"].applies
    assert "fixed-in-advance" in rows(chosen)["margin-bound"].why_not
    assert rows(chosen)["margin-bound-uniform"].applies
    free = [rows(chosen)[id] for id in ("margin-bound-uniform", "a-posteriori", "a-posteriori-bounded")]
    best = min(free, key=lambda row: row.raw)
    assert chosen.rho == pytest.approx(best.rho / chosen.model.W, rel=1e-12)


def test_without_a_declared_family_the_measured_one_stands_in() -> None:
    file = model(declared=False)
    answer = report.build(file, Question(draws=None))
    assert answer.declared is None
    for (k, s), U in file.network.hidden.items():
        assert answer.model.measured[k, s] == pytest.approx(float(U.abs().sum(1).max()), rel=1e-12)
        assert Fraction(answer.model.measured[k, s]) >= max(sum(map(Fraction, u)) for u in U.abs().tolist())
    for id in ("theorem-1", "margin-bound", "margin-bound-uniform", "margin-bound-empirical"):
        assert not rows(answer)[id].applies
        assert rows(answer)[id].value is None
        assert rows(answer)[id].raw is not None
        assert "fixed-in-advance" in rows(answer)[id].why_not
    assert rows(answer)["a-posteriori"].applies
    assert report.status(answer) == 0


def test_the_zero_function_has_the_bound_one() -> None:
    file = model()
    zero = dataclasses.replace(file.network, output={k: 0 * w for k, w in file.network.output.items()})
    answer = report.build(dataclasses.replace(file, network=zero), Question(draws=None))
    assert answer.sample.train_error == 1
    assert answer.model.path_norm == 0
    assert all(row.raw == 1 for row in answer.bounds if not row.context)


def test_the_printed_statements_have_no_value_where_the_radicand_is_negative() -> None:
    file = model(n=(3, 4, 2), m=60, rho=0.01)
    row = rows(report.build(file, Question(draws=None)))["theorem-1"]
    assert row.raw is None
    assert row.vacuous
    assert row.terms["confidence"] is None
    assert row.terms["depth"] > 1


@pytest.mark.parametrize("case", CASES[2:8], ids=lambda case: f"{case['n']}-p{case['p']}")
def test_m_needed_is_where_the_bound_falls_below_one(case: dict) -> None:
    """All else equal: the same margins, repeated, at that m and one point less."""
    file = model(**case | {"m": 50, "flips": 0.0})
    for row in report.build(file, Question(draws=None)).bounds:
        if row.m_needed is None or row.id not in ("margin-bound", "margin-bound-uniform", "a-posteriori"):
            continue
        assert row.vacuous
        oracle, below = Oracle(file), []
        for oracle.m in (row.m_needed, row.m_needed - 1):  # the averages stay those over the 50 points
            below.append(_least(oracle, row.id, mpf(file.declared_rho)))
        assert below[0] < 1 <= below[1]


def _least(oracle: Oracle, id: str, rho):
    if id == "margin-bound":
        return mpmath.fsum(oracle.margin_bound(rho))
    if id == "margin-bound-uniform":
        return min(mpmath.fsum(oracle.margin_bound_uniform(j)) for j in range(-10, 90))
    return min(mpmath.fsum(oracle.a_posteriori(j, bounded=False)) for j in range(-10, 90))


# Complexities and checks


@pytest.mark.parametrize("size", [0.1, 0.25])
def test_the_exact_value_of_a_sigmoid_family_is_above_the_printed_lemma_1(size: float) -> None:
    """m = 8, Psi = 1, Lambda_{1,0} = a: sigmoid(a) mu_8 > 2 (a mu_8), and the corrected lemma holds."""
    file = model(n=(1, 1, 1), activation="sigmoid", m=8, fill=size)
    spec = NetworkSpec((1, 1, 1), {(1, 0): size, (2, 1): 1.0}, 2.0, "sigmoid")
    Psi = torch.tensor([[1.0]] * 8, dtype=torch.float64)
    sample = type(file.sample).of(Psi, file.sample.y)
    answer = report.build(dataclasses.replace(file, declared=spec, sample=sample), Question(draws=20))
    top = answer.complexities[1]
    mu = 35 / 128
    assert top.lower == pytest.approx(mu / (1 + math.exp(-size)), rel=1e-6)
    assert top.lemma_1 == pytest.approx(2 * size * mu, rel=1e-9)
    assert top.lemma_1_corrected == pytest.approx((size / 4 + 0.5) * mu, rel=1e-9)
    assert top.lower <= top.upper <= top.lemma_1_corrected
    (check,) = [row for row in answer.checks if row.claim == "lemma-1" and row.k == 2]
    assert (check.verdict, check.applies, check.exact) == ("violated", False, True)
    (corrected,) = [row for row in answer.checks if row.claim == "lemma-1-corrected" and row.k == 2]
    assert (corrected.verdict, corrected.applies) == ("holds", True)
    assert (answer.verdict, report.status(answer)) == ("holds", 0)


def test_lower_values_stay_below_upper_ones_and_below_the_lemmas_that_apply() -> None:
    for seed, case in enumerate(CASES[2:10]):
        answer = report.build(model(**case | {"m": 30, "seed": seed}), Question(draws=20))
        for row in answer.complexities:
            assert 0 <= row.lower <= row.upper
            assert row.upper <= min(x for x in (row.lemma_1_corrected, row.lemma_2_peeled) if x is not None)
        assert {row.verdict for row in answer.checks if row.applies} <= {"holds", "not refuted"}
        assert {row.verdict for row in answer.checks if row.k == 1} == {"holds"}


def test_values_from_drawn_signs_share_the_quarter_of_delta_that_is_theirs() -> None:
    """margin-bound-empirical gives them delta/4 in all; on a plane two layers are drawn, elsewhere one."""
    for n_0, shares in ((2, 2), (3, 1)):
        file = model(n=(n_0, 3, 1), m=30)
        setting = report.make_setting(file, Question())
        sampling = Sampling(0.05, 50, 0, "cpu")
        known = complexities(setting.spec, setting.margins.Psi, setting.sizes, sampling)
        drawn = [value for value in known.values if value is not None]
        assert len(drawn) == shares
        assert sum((1 - value.confidence) / 2 for value in drawn) <= 0.05 / 4
        assert sum((1 - value.confidence) / 2 for value in drawn) == pytest.approx(0.05 / 4)


def test_held_out_points_give_the_test_error_and_its_bound() -> None:
    file, other = model(), model(seed=1, flips=0.5, m=200)
    test = report.GivenPoints(other.sample.Psi.numpy(), other.sample.y.numpy())
    answer = report.build(file, Question(draws=None), test=test)
    errors = int(((file.network(other.sample.Psi) * other.sample.y) <= 0).sum())
    assert answer.test.error == errors / 200
    tail = sum(
        math.comb(200, i) * mpf(answer.test.upper) ** i * (1 - mpf(answer.test.upper)) ** (200 - i)
        for i in range(errors + 1)
    )
    assert mpf("0.05") * (1 - mpf(10) ** -9) <= tail <= mpf("0.05")
    checked = {row.claim for row in answer.checks if row.k is None}
    assert checked == {row.id for row in answer.bounds if row.applies and row.group != "held-out"}


def test_context_rows_claim_nothing() -> None:
    answer = report.build(model(n=(3, 4, 2), top_only=True), Question(draws=None))
    context = [row for row in answer.bounds if row.context]
    assert {row.id for row in context} == {"golowich-frobenius", "golowich-l1", "neyshabur-group"}
    assert all(row.raw > 0 and row.value is None and not row.applies for row in context)
    assert all(0 <= row.terms["margin_error"] - answer.sample.margin_error <= 2**-52 for row in context)
    assert all(row.raw is None for row in report.build(model(), Question(draws=None)).bounds if row.context)


def test_a_network_outside_its_family_is_named_and_changes_the_status() -> None:
    file = model(n=(3, 4, 2), Lambda=1.0)
    file.network.hidden[2, 1][1] *= 1.5
    answer = report.build(file, Question(draws=None))
    (row,) = [row for row in answer.assumptions if row.id == "membership"]
    assert row.holds is False
    assert "unit 1 of layer 2" in row.detail
    assert report.status(answer) == 1
    assert answer.verdict == "violated"
    assert "membership" in rows(answer)["margin-bound"].why_not
    assert rows(answer)["a-posteriori"].applies


def test_curves_are_the_bounds_as_functions_of_rho() -> None:
    answer = report.build(model(), Question(draws=None, curves=True))
    rho, raw = answer.curves["margin-bound"]
    place = int(np.argmin(np.abs(rho - answer.rho)))
    again = report.build(model(), Question(draws=None, rho=float(rho[place])))
    assert raw[place] == pytest.approx(rows(again)["margin-bound"].raw, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "values", "condition"),
    [
        ("delta", [0.0, 1.0, 1.5, -0.1, math.nan], "must be in (0, 1)"),
        ("rho", [0.0, -1.0, math.inf, math.nan], "must be > 0"),
        ("r_sup", [0.0, -1.0, math.inf], "must be > 0"),
        ("draws", [0, 1, -5, 10**11], "must be an integer in [2, 1000000]"),
        ("seed", [-1, 2**63], "must be an integer"),
    ],
)
def test_options_out_of_range_are_refused(name: str, values: list, condition: str) -> None:
    for value in values:
        refused(lambda value=value: Question(**{name: value}), name, condition)
