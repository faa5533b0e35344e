"""margin-bound-unbounded and its empirical form: the grid of shares, its prior, and the bound against a search."""

import itertools
import math

import numpy as np
import pytest

from adanet_theory.risk.generalization import margin_bound
from adanet_theory.risk.margin import zero_function
from adanet_theory.risk.unbounded import margin_bound_unbounded, price, unbounded_empirical

FIXED = {"rho": 0.5, "m": 10_000, "delta": 0.05}


def grid_point(share: float) -> tuple[float, float]:
    """(a, 1/prior) by walking down the grid."""
    if share == 0:
        return 0.0, 2.0
    j = 0
    while share <= 1.05 ** -(j + 1):
        j += 1
    return 1.05**-j, 2.0 * (j + 1) * (j + 2)


@pytest.mark.parametrize("w", [[1.0], [0.0, 3.0], [0.2, 0.3, 7.0], [1e-9, 1.0], [5.0, 0.0, 1e-3, 2.0]])
def test_each_term_by_walking_down_the_grid(w: list[float]) -> None:
    R = [0.01 * (k + 1) for k in range(len(w))]
    points = [grid_point(x / math.fsum(w)) for x in w]
    complexity = 2 / 0.5 * math.fsum(a * r for (a, _), r in zip(points, R, strict=True))
    paid = math.fsum(math.log(inverse) for _, inverse in points)
    bound = margin_bound_unbounded(0.25, w, R, **FIXED)
    assert bound.terms == pytest.approx(
        {"ramp": 0.25, "complexity": complexity, "confidence": math.sqrt((math.log(20) + paid) / 20_000)}, rel=1e-12
    )
    empirical = unbounded_empirical(0.25, w, R, **FIXED)
    last = 2 * math.sqrt((math.log(4 / 0.15) + paid) / 20_000)
    assert empirical.terms == pytest.approx({**bound.terms, "confidence": last}, rel=1e-12)
    assert price([x / math.fsum(w) for x in w], 10_000) == pytest.approx(math.sqrt(paid / 20_000), rel=1e-12)


def test_the_shares_are_rounded_up_and_never_by_more_than_the_grid() -> None:
    rng = np.random.default_rng(0)
    grid = [1.05**-j for j in range(200)]
    for share in [*rng.random(500), *grid, *(math.nextafter(a, 1) for a in grid), 1e-300]:
        at = margin_bound_unbounded(0.0, [share, 1 - share], [1.0, 0.0], rho=2.0, m=10, delta=0.5)
        exact = share / math.fsum([share, 1 - share])
        assert exact <= at.terms["complexity"] <= 1.05 * exact * (1 + 1e-12)


def test_the_prior_adds_up_to_one() -> None:
    """Each layer chooses 0 or a j: the weights of all choices are a distribution, and so are their products."""
    layer = [0.5, *(1 / grid_point(1.05 ** -(j + 0.5))[1] for j in range(200))]
    assert math.fsum(layer) == pytest.approx(1 - 1 / (2 * 201), rel=1e-12)
    assert math.fsum(a * b for a, b in itertools.product(layer, layer)) < 1


def test_it_does_not_know_the_scale_of_the_weights_or_the_range() -> None:
    for statement in (margin_bound_unbounded, unbounded_empirical):
        small, large = (statement(0.0, [s * 0.3, s * 0.7], [0.01, 0.02], **FIXED) for s in (1e-6, 1e6))
        assert small.terms == pytest.approx(large.terms, rel=1e-12)
    wide = margin_bound(0.0, [0.0, 1.0], [0.01, 0.02], M=1e6, **FIXED).total
    assert margin_bound_unbounded(0.0, [0.0, 1.0], [0.01, 0.02], **FIXED).total < 0.1 < wide


def test_the_zero_function_has_the_bound_one() -> None:
    for statement, id in (
        (margin_bound_unbounded, "margin-bound-unbounded"),
        (unbounded_empirical, "unbounded-empirical"),
    ):
        assert statement(0.0, [0.0, 0.0], [0.01, 0.02], **FIXED) == zero_function(id, "ramp")
        bound = statement(0.0, [0.0, 1.0], [0.01, 0.02], **FIXED)
        assert (bound.id, bound.rho) == (id, 0.5)
        with pytest.raises(ValueError, match=r"^l=2 .* 1\.$"):
            statement(0.0, [0.0, 1.0], [0.01], **FIXED)
        for R in ([1e308, 1e308], [1.79e308, 1.79e308]):  # times 2/rho, or already their sum
            with pytest.raises(OverflowError, match=rf"^{id} exceeds the largest float, 1\.8e308\.$"):
                statement(0.0, [1.0, 1.0], R, **FIXED)


def test_eta_must_be_positive() -> None:
    with pytest.raises(ValueError, match=r"^eta must be > 0, got eta=0\.$"):
        margin_bound_unbounded(0.0, [1.0], [0.01], eta=0, **FIXED)


def test_heavy_tails_do_not_break_it() -> None:
    """Cauchy features, labels of their own: the best of 2 n_0 features after the fact, R_S from all signs drawn."""
    rng, failed = np.random.default_rng(3), 0
    size, n_0, m, trials = 200, 12, 60, 200
    for _ in range(trials):
        X, y = rng.standard_cauchy((size, n_0)), rng.choice([-1.0, 1.0], size)
        S = rng.integers(size, size=m)
        signs = rng.choice([-1.0, 1.0], (200, m))
        R_S = float(np.abs(signs @ X[S]).max(axis=1).mean()) / m * 1.1
        scores = (y[S, None] * X[S] > 0).mean(axis=0)
        j = int(np.abs(scores - 0.5).argmax())
        f = X[:, j] * (1 if scores[j] > 0.5 else -1)
        u, risk = y[S] * f[S], float(np.mean(y * f <= 0))
        ramp = float(np.mean(np.clip(1 - u, 0, 1)))
        failed += risk > unbounded_empirical(ramp, [1.0], [R_S], rho=1.0, m=m, delta=0.2).total
    assert failed <= 0.2 * trials
