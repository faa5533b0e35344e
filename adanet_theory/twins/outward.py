"""Certificates of a network, rounded outward: never below the value of the formula at the exact numbers given."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb

from adanet_theory.certificates import grids
from adanet_theory.certificates.derandomise import Certificate
from adanet_theory.certificates.path import DRAWS, path_errors
from adanet_theory.certificates.path_multiclass import path_classes_errors
from adanet_theory.checks import Array, check, check_m
from adanet_theory.twins.balls import ball
from adanet_theory.twins.class_votes import class_loss_upper
from adanet_theory.twins.exact_tree import ExactForest, ExactTree
from adanet_theory.twins.skellam import Shape, eps_upper, lower_b, symmetric_skellam_upper
from adanet_theory.twins.tails import (
    BITS,
    binomial_cdf_ball,
    binomial_rising_lower,
    down,
    kl_inverse_ball,
    normal_upper,
    poisson_rising_lower,
    right_votes_upper,
    slack,
    up,
    xi_ball,
)
from adanet_theory.twins.values import exact


def exact_ball(x: Any) -> arb:
    """A ball around an exact number: a float's binary value, a Fraction, a decimal string; a ball is itself."""
    return x if isinstance(x, arb) else ball(exact(x))


@dataclass(frozen=True)
class Parts:
    """A certificate but for delta: upper values of the empirical part and of KL, G, a lower value of b.

    `drawn` is (errors, draws, slack) where the empirical part was drawn: then it takes a tenth of delta.
    """

    id: str
    KL: float
    G: arb
    b: float
    m: int
    setting: Mapping[str, float]
    empirical: float | None = None
    drawn: tuple[int, int, float] | None = None

    def at(self, delta: Any, *, networks: int = 1) -> Certificate:
        """kl^-1(empirical, [KL + log(xi(m) G/delta)]/m)/b, rounded up once; draws pay for the least of `networks`."""
        check(0 < float(exact(delta)) < 1, f"delta must be in (0, 1), got delta={delta}.")
        check_m(self.m)
        with flint.ctx.workprec(BITS):
            share = exact_ball(delta) if self.drawn is None else exact_ball(delta) * 9 / 10
            exponent = (arb(max(self.KL, 0.0)) + (xi_ball(self.m) * self.G / share).log()) / self.m
            empirical = self._empirical(delta, networks)
            raw = up(kl_inverse_ball(arb(empirical), exponent) / arb(self.b)) if self.b > 0 else math.inf
            terms = {**self.setting, "empirical": empirical, "KL": self.KL, "grid": up(self.G.log()), "b": self.b}
        return Certificate(self.id, terms, raw)

    def _empirical(self, delta: Any, networks: int) -> float:
        if self.drawn is None:
            assert self.empirical is not None
            return self.empirical
        errors, total, slack = self.drawn
        share = (10 * networks / exact_ball(delta)).log() / total
        return min(1.0, up(kl_inverse_ball(arb(errors) / total, share) + arb(slack)))


def vote_parts(u: Array, v: Sequence[Any], *, n: int, N: int, k: int, beta: float) -> Parts:
    """vote-certificate at a setting, for margins not below u_i and theta_j = |v_j|/sum |v_j| exactly.

    `beta` is read as the decimal of the grid; v holds exact numbers or balls, zeros left out or not.
    """
    grids.check_setting(N, beta)
    with flint.ctx.workprec(BITS):
        theta = simplex(v)
        KL = _iid_kl(theta, N, n) if beta == grids.IID else _polya_kl(theta, N, n, decimal(beta))
        b = down(binomial_cdf_ball(N, k, arb(1) / 2))
        G = arb(len(grids.VOTES) * (N + 1) * len(grids.PRIORS))
    setting = {"N": N, "k": k, "beta": beta}
    return Parts("vote-certificate", KL, G, b, len(u), setting, right_votes_upper(u, N, k))


def simplex(v: Sequence[Any]) -> list[arb]:
    """theta_j = |v_j|/sum |v_j| for the v_j that are not 0."""
    sizes = [abs(exact_ball(x)) for x in v]
    sizes = [x for x in sizes if x != 0]
    total = sum(sizes, arb(0))
    check(len(sizes) > 0, "the weights must not all be 0.")
    return [x / total for x in sizes]


def decimal(beta: float) -> arb:
    """The decimal a float was written as: 0.003, not the float next to it."""
    return exact_ball(Fraction(repr(beta)))


def _iid_kl(theta: Sequence[arb], N: int, n: int) -> float:
    check(len(theta) <= n, f"theta must have at most n entries > 0, got {len(theta)} with n={n}.")
    return up(N * sum((t * (n * t).log() for t in theta), arb(0)))


def _polya_kl(theta: Sequence[arb], N: int, n: int, beta: arb) -> float:
    check(len(theta) <= n, f"theta must have at most n entries > 0, got {len(theta)} with n={n}.")
    entropy = N * sum((t * t.log() for t in theta), arb(0))
    urn = (n * beta + N).lgamma() - (n * beta).lgamma()
    if len(theta) == 1:  # Bin(N, 1) is N
        return up(urn - (beta + N).lgamma() + beta.lgamma())
    return up(entropy + urn - arb(binomial_rising_lower(theta, N, beta)))


def gauss_parts(margins: Array, phi: Array, w: Sequence[Any], *, a: float, tau: float) -> Parts:
    """gauss-certificate at s = 1 for w rescaled to the length a, for margins y_i w . phi_i not below those given."""
    check(tau in grids.TAUS, f"tau must be on the grid {grids.TAUS[0]} .. {grids.TAUS[-1]}, got tau={tau}.")
    with flint.ctx.workprec(BITS):
        KL, b = up(arb(a) ** 2 / 2), down((-arb(tau) / arb(2).sqrt()).erfc() / 2)
        G = arb(len(grids.TAUS))
    cosine = lower_cosines(margins, phi, w)
    z = tau - a * cosine + (tau + a * np.abs(cosine)) * 2.0**-49
    return Parts("gauss-certificate", KL, G, b, len(margins), {"tau": tau, "a": a}, normal_upper(z))


def lower_cosines(margins: Array, phi: Array, w: Sequence[Any]) -> Array:
    """Floats not above y_i w . phi_i/(|w| |phi_i|), for lower values of the margins; -inf where phi_i is 0 or nearly.

    All is divided by powers of 2 first: the products of very large or very small numbers are no floats.
    """
    wide = slack(phi.shape[1] + 8)
    with flint.ctx.workprec(BITS):
        size = sum((exact_ball(x) ** 2 for x in w), arb(0)).sqrt()
        own = math.floor(float(size.log() / arb(2).log()))
        least, most = down(size / arb(2) ** own), up(size / arb(2) ** own)
    power = math.frexp(float(np.abs(phi).max()))[1]
    scaled = np.ldexp(phi, -power)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    with np.errstate(over="ignore"):  # a margin that was rounded down to -2^-1074 may become -inf
        u = np.nextafter(np.ldexp(margins, -power - own), -math.inf)
    sizes = np.where(u >= 0, norms * most * wide, norms * least / wide)
    there = norms > 1e-140  # below it squares underflow
    return np.divide(u, sizes, out=np.full_like(u, -math.inf), where=there)


def lower_margins(margins: Array, B: arb) -> Array:
    """Floats not above y_i f(x_i)/B, for lower values of the margins and a ball B > 0."""
    smallest, largest = down(B), up(B)
    return np.nextafter(np.where(margins >= 0, margins / largest, margins / smallest), -np.inf)


def path_parts(
    tree: ExactTree, x: Array, y: Array, *, N: int, k: int, beta: float, seed: int, draws: int = DRAWS
) -> Parts:
    """path-certificate at a setting, nu = N, for the exact weights; x is within a rounding of the exact features.

    Rates that are off by e in all move the law by at most e (the distance of two Poisson laws is at most that of their
    rates), which is added to the empirical part.
    """
    grids.check_setting(N, beta, priors=grids.BETAS)
    check(k in grids.path_thresholds(N), f"k must be on the grid of thresholds of N={N}, got k={k}.")
    rounded = tree.rounded()
    errors, total = path_errors(rounded, rounded.means(x), y, N, k, seed=seed, draws=draws)
    slack = N * (tree.n_0 + 8) * 2.0**-51
    A = 2 * tree.n_0 * len(tree.parent)
    with flint.ctx.workprec(BITS):
        KL = _path_kl([N * t for t in tree.atoms], A, N, decimal(beta))
        G = shape_price(rounded.counts) * len(grids.VOTES) * len(grids.BETAS) * grids.THRESHOLDS
    b = lower_b(eps_upper(Shape(tree.parent, tree.sign, tree.masses), N, k))
    setting = {"N": N, "k": k, "beta": beta, "draws": total}
    return Parts("path-certificate", KL, G, b, len(y), setting, drawn=(errors, total, slack))


def shape_price(counts: Sequence[Sequence[tuple[int, int]]]) -> arb:
    """1/prior of a signed tree: (d+1)(d+2) prod_v (h+1)^2 (h+2)."""
    d = len(counts)
    price = arb((d + 1) * (d + 2))
    for level in counts:
        for plus, minus in level:
            price *= (plus + minus + 1) ** 2 * (plus + minus + 2)
    return price


def _path_kl(rates: Sequence[arb], A: int, N: int, beta: arb) -> float:
    check(len(rates) <= A, f"there must be at most A={A} rates, got {len(rates)}.")
    b = A * beta / N
    own = sum((r * r.log() - r for r in rates), arb(0)) + sum(rates, arb(0)) * b.log1p()
    return up(own + A * beta * (1 / b).log1p() - arb(poisson_rising_lower(rates, beta)))


def classes_parts(v: Sequence[Sequence[Any]], x: Array, y: Array, *, N: int, k: int, beta: float) -> Parts:
    """vote-certificate-multiclass at a setting, for theta = |v|/sum |v| exactly; v lists the classes' weights.

    x is within a rounding of the exact features. Rates that are off by e in all move the laws by at most e.
    """
    grids.check_setting(N, beta, priors=grids.BETAS, votes=grids.CLASS_VOTES)
    check(0 <= k <= N, f"k must be in [0, N], got k={k}, N={N}.")
    with flint.ctx.workprec(BITS):
        theta = [[exact_ball(value) for value in row] for row in v]
        B = sum((abs(value) for row in theta for value in row), arb(0))
        masses = [sum((abs(value) for value in row), arb(0)) / B for row in theta]
        KL = _path_kl(
            [N * t for t in simplex([value for row in theta for value in row])],
            2 * x.shape[1] * len(v),
            N,
            decimal(beta),
        )
        q = np.array([[float(value / B) for value in row] for row in theta])
        first, second = sorted((p.upper() for p in masses), key=float)[-2:]
        b = lower_b(symmetric_skellam_upper(N * (first + second)).above(k))
        G = arb(len(grids.CLASS_VOTES) * len(grids.BETAS) * (N + 1))
    p = np.array([float(mass) for mass in masses])
    scores = np.clip(x @ q.T, -p, p)
    rounding = N * (x.shape[1] + 8) * 2.0**-51
    empirical = class_loss_upper(N * (p + scores) / 2, N * (p - scores) / 2, y, k) + rounding
    setting = {"N": N, "k": k, "beta": beta}
    return Parts("vote-certificate-multiclass", KL, G, b, len(y), setting, min(1.0, empirical))


def path_classes_parts(
    forest: ExactForest, x: Array, y: Array, *, N: int, k: int, beta: float, seed: int, draws: int = DRAWS
) -> Parts:
    """path-certificate-multiclass at a setting, nu = N, for the exact weights; roundings of x as in `path_parts`."""
    grids.check_setting(N, beta, priors=grids.BETAS, votes=grids.CLASS_VOTES)
    check(k in grids.path_thresholds(N), f"k must be on the grid of thresholds of N={N}, got k={k}.")
    errors, total = path_classes_errors(forest.rounded(), x, y, N, k, seed=seed, draws=draws)
    n_0 = x.shape[1]
    with flint.ctx.workprec(BITS):
        KL = _path_kl([N * t for t in forest.atoms], 2 * n_0 * forest.nodes, N, decimal(beta))
        G = forest_price(forest) * len(grids.CLASS_VOTES) * len(grids.BETAS) * grids.THRESHOLDS
    b = lower_b(max(eps_upper(shape, N, k) for shape in _joined_pairs(forest)))
    setting = {"N": N, "k": k, "beta": beta, "draws": total}
    drawn = (errors, total, N * (n_0 + 8) * 2.0**-51)
    return Parts("path-certificate-multiclass", KL, G, b, len(y), setting, drawn=drawn)


def _joined_pairs(forest: ExactForest) -> list[Shape]:
    """The tree of f_a - f_b for all pairs of classes: the roots are one node, the children of b have other signs.

    Of classes without hidden units the two heaviest alone: P(Skellam(s/2, s/2) > k) grows with s.
    """
    shapes = [Shape(tree.parent, tree.sign, forest.masses(c)) for c, tree in enumerate(forest.trees)]
    plain = [shape for shape in shapes if len(shape.p) == 1]
    heavy = sorted((shape.p[0].upper() for shape in plain), key=float)[-2:]
    others = [shape for shape in shapes if len(shape.p) > 1]
    pairs = [*itertools.combinations(others, 2), *itertools.product(others, plain)]
    found = [_joined(a, b) for a, b in pairs]
    return [*found, Shape((-1,), (1,), [heavy[0] + heavy[1]])] if len(heavy) == 2 else found


def _joined(a: Shape, b: Shape) -> Shape:
    shift = len(a.p) - 1
    parent = [*a.parent, *(0 if v == 0 else v + shift for v in b.parent[1:])]
    sign = [*a.sign, *(-s if v == 0 else s for v, s in zip(b.parent[1:], b.sign[1:], strict=True))]
    return Shape(parent, sign, [a.p[0] + b.p[0], *a.p[1:], *b.p[1:]])


def forest_price(forest: ExactForest) -> arb:
    """1/prior of C signed trees: (d+1)(d+2), and where n nodes hang under h others (n+1)(n+2) binomial(n+2h-1, n)."""
    level, widths = [(tree, 0) for tree in forest.trees], [len(forest.trees)]
    while level:
        level = [(tree, c) for tree, v in level for c, parent in enumerate(tree.parent) if parent == v and c > 0]
        widths.append(len(level))
    d = len(widths) - 2  # the last level is empty
    price = arb((d + 1) * (d + 2))
    for h, n in itertools.pairwise(widths[:-1]):
        price *= (n + 1) * (n + 2) * arb(math.comb(n + 2 * h - 1, n))
    return price
