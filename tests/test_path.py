"""path-certificate by exact laws: eps against adversarial points, KL against its sum, draws against the convolution."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import nbinom, poisson, skellam

from adanet_theory.certificates import path
from adanet_theory.certificates.grids import BETAS, VOTES, path_grid, path_threshold, path_thresholds, shape_cost
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.certificates.laws import Law, symmetric_skellam
from adanet_theory.certificates.path import (
    all_law,
    choices,
    convex_bound,
    count_errors,
    exceeds,
    leaf_rates,
    path_candidates,
    path_certificate,
    path_certificate_at,
    path_empirical,
    path_empirical_exact,
    path_eps,
    path_eps_chernoff,
    path_eps_convex,
    path_errors,
    path_kl,
    path_kls,
)
from adanet_theory.certificates.tree import Tree, one_layer


def random_tree(rng: np.random.Generator, nodes: int, depth: int) -> Tree:
    """A tree of the depth at most, masses with zeros among them, one feature per node."""
    parent, level = [-1], [0]
    while len(parent) < nodes:
        above = int(rng.integers(len(parent)))
        if level[above] < depth:
            parent.append(above)
            level.append(level[above] + 1)
    p = rng.dirichlet(np.full(nodes, 0.7)) * (rng.random(nodes) < 0.85)
    p[-1] += 1e-3
    return Tree(tuple(parent), tuple(rng.choice([1, -1], nodes)), np.diag(p / p.sum()), B=1.0)


def law_of_g(tree: Tree, v: int, nu: float, means: np.ndarray, size: int) -> np.ndarray:
    """Masses of G_v on -size .. size, from scipy's Skellam and plain sums: an oracle apart from `laws`."""
    grid, p = np.arange(-size, size + 1), float(tree.p[v])
    a, b = nu * (p + means[v]) / 2, nu * (p - means[v]) / 2
    if a <= 1e-12 or b <= 1e-12:
        mass = poisson.pmf(grid, max(a, 0)) if b <= 1e-12 else poisson.pmf(-grid, b)
    else:
        mass = skellam.pmf(grid, a, b)
    for c in tree.children(v):
        below = law_of_g(tree, c, nu, means, size)
        part = np.where(grid > 0, below, 0.0)
        part[size] = below[: size + 1].sum()
        mass = np.convolve(mass, part if tree.sign[c] > 0 else part[::-1])[size : 3 * size + 1]
    return mass


def wrong_means(tree: Tree, y: int, rng: np.random.Generator) -> np.ndarray | None:
    """Means |m_v| <= p_v, many of them extreme, with y z_root <= 0 and as close to 0 as the root's leaf allows."""
    means = tree.p * rng.choice([-1, -0.5, 0, 0.5, 1, rng.uniform(-1, 1)], len(tree.p))
    means[0] = 0
    rest = float(tree.value(means))
    means[0] = np.clip(-rest, -tree.p[0], tree.p[0])
    return means if y * tree.value(means) <= 1e-12 else None


def test_the_thresholds_are_eighths_of_a_standard_deviation_rounded_down() -> None:
    for N in VOTES:
        for index, k in enumerate(path_thresholds(N)):
            assert (8 * k) ** 2 <= index**2 * N < (8 * (k + 1)) ** 2
    for index in (-1, 41):
        with pytest.raises(ValueError, match=rf"^the index of k must be in \[0, 41\), got {index}\.$"):
            path_threshold(10, index)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_where_f_is_wrong_the_random_network_exceeds_k_at_most_eps_often(depth: int) -> None:
    rng, closest, cases = np.random.default_rng(depth), 0.0, 0
    for _ in range(12):
        tree, nu = random_tree(rng, int(rng.integers(2, 7)), depth), float(rng.choice([3.0, 12.0, 30.0]))
        size = math.ceil(nu + 9 * math.sqrt(nu) + 10)
        bounds = {k: path_eps(tree, nu, k) for k in (0, 2, 5)}
        assert all(eps <= path_eps_convex(tree, nu, k) + 1e-12 for k, eps in bounds.items())
        for y, _ in itertools.product((1, -1), range(6)):
            means = wrong_means(tree, y, rng)
            if means is None:
                continue
            mass = law_of_g(tree, 0, nu, means, size)[::y]
            for k, eps in bounds.items():
                exceeds = mass[size + k + 1 :].sum()
                assert exceeds <= eps + 1e-12
                closest, cases = max(closest, exceeds / eps), cases + 1
    assert cases > 100
    assert closest > 0.98  # eps is attained: at all means 0, for instance, where no unit has the sign of -y


def test_half_of_eps_is_exceeded() -> None:
    """The statement has no room for a constant: with z = 0 at every plus unit the law is D itself."""
    tree = one_layer(np.array([0.3]), np.array([0.4, 0.3]), np.ones((2, 1)))
    exceeds = law_of_g(tree, 0, 20.0, np.zeros(3), 80)[81 + 6 :].sum()
    assert exceeds == pytest.approx(path_eps(tree, 20.0, 6), rel=1e-10)


def test_the_worst_j_need_not_be_all() -> None:
    """At k = 0 a law concentrated above 0 loses by more noise: the maximum over J is needed."""
    tree = one_layer(np.array([0.01]), np.array([0.5, 0.05, -0.44]), np.ones((3, 1)))
    every = max(all_law(tree, 40.0, e).above(0) for e in (1, -1))
    assert path_eps(tree, 40.0, 0) > every * 1.01


def test_the_chernoff_form_is_above_the_exact_one() -> None:
    rng = np.random.default_rng(8)
    for _ in range(6):
        tree = random_tree(rng, 5, 1)
        for k in (3, 8):
            assert path_eps(tree, 20.0, k) <= path_eps_chernoff(tree, 20.0, k) + 1e-12
    with pytest.raises(ValueError, match=r"^the Chernoff form is for one hidden layer\.$"):
        path_eps_chernoff(Tree((-1, 0, 1), (1, 1, 1), np.eye(3) / 3, B=1.0), 20.0, 3)


def by_hand(tree: Tree, nu: float, e: int) -> Law:
    """D^e at J = all of one hidden layer: units of the sign e keep their positive parts, the others join the root."""
    own = [p for p, sign in zip(tree.p[1:], tree.sign[1:], strict=True) if sign == e]
    law = symmetric_skellam(nu * (1 - sum(own)))
    for p in own:
        law = law + symmetric_skellam(nu * p).positive_part()
    return law


@pytest.mark.parametrize("v", [[0.4, 0.2, -0.1], [-0.4, -0.2, 0.1]])
def test_both_labels_count_at_j_all(v: list[float]) -> None:
    """Units that are mostly of one sign: the label of that sign is the worse, and that of f and -f are equal."""
    tree = one_layer(np.array([0.3]), np.array(v), np.ones((3, 1)))
    laws = [by_hand(tree, 40.0, e) for e in (1, -1)]
    worse = laws[0] if v[0] > 0 else laws[1]
    for k in (3, 9):
        assert path_eps_convex(tree, 40.0, k) == pytest.approx(convex_bound(worse, k), rel=1e-10)
    x = np.ones((1, 1))
    for found in path_candidates(tree, x, np.ones(1), seed=0)[:7:3]:
        b = [1 - max(by_hand(tree, found.N, e).above(int(k)) for e in (1, -1)) for k in found.k[::5]]
        assert found.b[::5].tolist() == pytest.approx(b, rel=1e-10)
        assert path_kl(found.N * np.abs(tree.q), A=8, N=found.N, beta=found.beta) == found.KL
    assert path_eps_chernoff(tree, 40.0, 9) == pytest.approx(least_tilt(tree, 40.0, 9), rel=1e-6)


def test_two_levels_by_hand() -> None:
    """A unit that reads two of unlike signs: with the right one it keeps its positive part, else all joins the root."""
    p = [0.1, 0.2, 0.4, 0.3]
    tree = Tree((-1, 0, 1, 1), (1, 1, 1, -1), np.diag(p), B=1.0)
    relu = {i: symmetric_skellam(30 * p[i]).positive_part() for i in (2, 3)}
    upper = symmetric_skellam(30 * p[0]) + (symmetric_skellam(30 * (p[1] + p[3])) + relu[2]).positive_part()
    lower = symmetric_skellam(30 * (p[0] + p[1] + p[2])) + relu[3]
    for e, expected in ((1, upper), (-1, lower)):
        found = all_law(tree, 30.0, e)
        assert [found.above(k) for k in range(-20, 30)] == pytest.approx([expected.above(k) for k in range(-20, 30)])


def least_tilt(tree: Tree, nu: float, k: int) -> float:
    """The Chernoff form by Markov's inequality for the law itself, at the best of 2,000 tilts."""
    found = []
    for e in (1, -1):
        own = tree.p[1:][np.array(tree.sign[1:]) == e]
        tilts = np.linspace(0, min(1.0, 2 * (k + 2) / nu), 2_000)
        exponent = -tilts * (k + 1) + nu * (1 - own.sum()) * (np.cosh(tilts) - 1)
        for p in own:
            part = symmetric_skellam(nu * float(p), spread=16.0).positive_part()
            exponent += np.log(np.exp(np.outer(tilts, part.values)) @ part.mass)
        found.append(float(np.exp(exponent.min())))
    return max(found)


def test_many_choices_fall_back_to_the_convex_form() -> None:
    v = np.array([1.0] * 3 + [-1.0] * 9)
    tree = one_layer(np.array([1.0]), v, np.ones((12, 1)))
    assert choices(tree) == 2**9 + 2**3
    assert path_eps(tree, 100.0, 12) == path_eps_convex(tree, 100.0, 12)


@pytest.mark.parametrize("beta", [0.003, 0.3, 1.5])
def test_kl_of_poisson_against_negative_binomial(beta: float) -> None:
    rates, A, N = np.array([0.01, 0.7, 3.0, 40.0]), 9, 40
    b, c = A * beta / N, np.arange(400)
    log_prior = nbinom.logpmf(c, beta, b / (1 + b))
    expected = -(A - len(rates)) * log_prior[0]
    for r in rates:
        expected += np.sum(poisson.pmf(c, r) * (poisson.logpmf(c, r) - log_prior))
    assert path_kl(rates, A=A, N=N, beta=beta) == pytest.approx(float(expected), rel=1e-11)


def test_many_rates_go_through_chunks() -> None:
    """The KL is a sum over the atoms: 30,000 rates of three kinds against one of each."""
    rates, A, beta = np.array([0.5, 20.0, 300.0]), 40_000, 0.1
    b = A * beta / 1280

    def alone(r: float) -> float:
        return path_kl([r], A=A, N=1280, beta=beta) - A * beta * math.log1p(1 / b)

    expected = 10_000 * sum(map(alone, rates)) + A * beta * math.log1p(1 / b)
    assert path_kl(np.repeat(rates, 10_000), A=A, N=1280, beta=beta) == pytest.approx(expected, rel=1e-11)
    assert path_kl([1.0] * 4, A=4, N=10, beta=beta) > path_kl([1.0, 0.0, 1.0], A=4, N=10, beta=beta)
    single = rates.astype(np.float32) / 3
    assert path_kl(single, A=4, N=10, beta=beta) == path_kl(single.astype(np.float64), A=4, N=10, beta=beta)
    for bad in ([1.0] * 5, [-1.0]):
        with pytest.raises(ValueError, match=r"^at most A=4 rates, all >= 0\.$"):
            path_kl(bad, A=4, N=10, beta=beta)


@pytest.mark.parametrize("k", [-3, 0, 1, 2])
def test_the_convex_bound_is_the_least_over_t(k: int) -> None:
    law = Law(-2, np.array([0.1, 0.2, 0.3, 0.1, 0.1, 0.2]))  # on -2 .. 3
    means = [law.mean_of(lambda x, t=t: np.maximum(x - k - 1 + t, 0)) / t for t in range(1, 40)]
    assert convex_bound(law, k) == pytest.approx(min(1.0, *means))


def test_a_skellam_and_the_rest_exceed_k_as_often_as_their_sum() -> None:
    rest = Law(2, np.array([0.25, 0.5, 0.25]))
    for k in (-60, -3, 0, 5, 60):
        assert exceeds(9.0, rest, k) == pytest.approx((symmetric_skellam(9.0) + rest).above(k), abs=1e-15)
    assert exceeds(9.0, Law(0, np.array([1 + 1e-9])), -500) == 1.0


def test_the_rates_of_a_leaf_have_its_mass_as_sum_and_its_mean_as_difference() -> None:
    tree = random_tree(np.random.default_rng(2), 5, 2)
    means = tree.p * np.array([[-1.0, -0.5, 0.0, 0.5, 1.0]])
    plus, minus = leaf_rates(tree, means, 30.0)
    assert np.allclose(plus + minus, 30 * tree.p, atol=1e-13)
    assert np.allclose(plus - minus, 30 * means, atol=1e-13)
    assert min(plus.min(), minus.min()) >= 0


def test_errors_are_counted_in_blocks_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(each: int, rng: np.random.Generator) -> np.ndarray:
        assert each <= 9
        return rng.integers(0, 10, 7 * each)

    monkeypatch.setattr(path, "_ROWS", 7 * 9)
    stream = np.random.default_rng(3).integers(0, 10, 7 * 43)
    assert count_errors(drawn, 7, 4, 3, 295) == (int((stream <= 4).sum()), 301)  # 43 for each of the seven


def test_the_draws_agree_with_the_convolution_and_stay_above_it() -> None:
    rng = np.random.default_rng(4)
    tree = one_layer(rng.normal(size=3), np.array([1.0, -0.7, 0.4]), rng.normal(size=(3, 3)))
    x, y = rng.uniform(-1, 1, (7, 3)), np.array([1, -1, 1, 1, -1, 1, -1])
    exact = path_empirical_exact(tree, tree.means(x), y, 40.0, 3)
    size = 140
    masses = [law_of_g(tree, 0, 40.0, row, size)[::label] for label, row in zip(y, tree.means(x), strict=True)]
    assert exact == pytest.approx(np.mean([mass[: size + 4].sum() for mass in masses]), rel=1e-9)
    means, labels = np.tile(tree.means(x), (20, 1)), np.tile(y, 20)  # many at once are drawn sooner
    uppers = [path_empirical(tree, means, labels, 40.0, 3, delta=0.1, seed=s, draws=7_000)[0] for s in range(30)]
    assert np.mean(np.array(uppers) < exact) <= 0.2
    assert np.max(uppers) < exact + 0.04
    errors, total = path_errors(tree, means, labels, 40.0, 3, seed=0, draws=7_000)
    expected = (kl_inverse(errors / total, math.log(10) / total), 7_000)
    assert path_empirical(tree, means, labels, 40.0, 3, delta=0.1, seed=0, draws=7_000) == expected
    assert uppers[0] == expected[0]


def test_the_formula_at_a_setting_from_its_parts() -> None:
    rng = np.random.default_rng(6)
    tree = one_layer(np.array([1.0, 0.0]), np.array([1.0, -0.5]), rng.normal(size=(2, 2)))
    x = rng.uniform(-1, 1, (300, 2))
    x[0] = 1.0, -1.0  # the ends are in
    y = np.sign(tree.value(tree.means(x)))
    found = path_certificate_at(
        tree, x, y, N=160, k=path_thresholds(160)[9], beta=0.03, delta=0.1, seed=0, draws=30_000
    )
    terms = found.terms
    exponent = (terms["KL"] + math.log(xi(300) / 0.09) + math.log(25 * 6 * 41) + math.log(6 * 9 * 4)) / 300
    assert found.raw == pytest.approx(kl_inverse(terms["empirical"], exponent) / (1 - path_eps(tree, 160, 14)))
    assert found.id == "path-certificate"
    drawn = path_empirical(tree, tree.means(x), y, 160, 14, delta=0.01, seed=0, draws=30_000)
    assert (terms["empirical"], terms["draws"]) == drawn
    assert (terms["N"], terms["k"], terms["beta"], terms["draws"]) == (160, 14, 0.03, 30_000)
    assert terms["KL"] == path_kl(160 * np.abs(tree.q), A=12, N=160, beta=0.03)
    for change, line in [
        ({"k": 13}, r"k must be on the grid of thresholds of N=160, got k=13\."),
        ({"beta": 0.0}, r"beta must be one of 0\.001"),
        ({"N": 150}, "N must be"),
    ]:
        setting = {"N": 160, "k": 14, "beta": 0.03} | change
        with pytest.raises(ValueError, match=line):
            path_certificate_at(tree, x, y, **setting, delta=0.1, seed=0)
    with pytest.raises(ValueError, match=r"^delta must be in"):
        path_certificate_at(tree, x, y, N=160, k=14, beta=0.03, delta=1.05, seed=0)  # nine tenths of which are below 1
    with pytest.raises(ValueError, match=r"^x must be in \[-1, 1\]\^n_0\.$"):
        path_certificate_at(tree, 2 * x, y, N=160, k=14, beta=0.03, delta=0.1, seed=0)


def test_two_equal_units_of_opposite_signs_are_wrong_everywhere_and_cost_at_least_b() -> None:
    """f = 0 is an error for both labels, whatever the units read; at z = 0 eps is nearly attained."""
    u = np.array([[0.5, -0.5], [0.5, -0.5]])
    tree = one_layer(np.zeros(2), np.array([1.0, -1.0]), u)
    assert tree.p.tolist() == [0.0, 0.5, 0.5]
    for k in (0, 2, 5):
        eps, attained = path_eps(tree, 12.0, k), 0.0
        for z in np.linspace(-0.5, 0.5, 9):
            law = law_of_g(tree, 0, 12.0, np.array([0.0, z, z]), 40)
            attained = max(attained, law[40 + k + 1 :].sum(), law[: 40 - k].sum())
        assert attained <= eps * (1 + 1e-12)
        assert attained > 0.6 * eps


def test_the_search_says_something_of_an_easy_network() -> None:
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (2000, 3))
    tree = one_layer(np.array([0.2, 0.0, 0.0]), np.array([-1.0]), np.array([[0.0, 1.0, 0.0]]))
    score = tree.value(tree.means(x))
    x, y = x[np.abs(score) > 0.1], np.sign(score[np.abs(score) > 0.1])
    found = path_certificate(tree, x, y, delta=0.05, seed=0, draws=100_000)
    assert found.raw < 0.2
    assert found.terms["draws"] == math.ceil(100_000 / len(x)) * len(x)
    assert path_certificate(tree, x, y, delta=0.05, seed=0, draws=100_000) == found
    N, k, beta = int(found.terms["N"]), int(found.terms["k"]), found.terms["beta"]
    at = {"delta": 0.05, "seed": 0, "draws": 20_000}
    here = path_certificate_at(tree, x, y, N=N, k=k, beta=beta, **at).raw
    place = VOTES.index(N)
    elsewhere = [
        path_certificate_at(tree, x, y, N=other, k=path_thresholds(other)[index], beta=beta, **at).raw
        for other in VOTES[max(0, place - 4) : place + 5 : 2]
        for index in range(6, 41, 5)
    ]
    assert here <= 1.1 * min(elsewhere)


def test_what_the_search_compares_is_the_certificate_at_that_setting() -> None:
    """A linear network: the worst J is all, and the empirical part is known."""
    rng = np.random.default_rng(9)
    tree, x = one_layer(np.array([0.5, -0.5]), np.zeros(1), np.zeros((1, 2))), rng.uniform(-1, 1, (30, 2))
    y = rng.choice([-1.0, 1.0], 30)
    table = path_candidates(tree, x, y, seed=0)
    assert [found.N for found in table] == list(VOTES)
    for found in table[:20:6]:
        N, rates = found.N, found.N * np.abs(tree.q)
        assert tuple(found.k) == path_thresholds(N)
        assert found.KL == path_kl(rates, A=4, N=N, beta=found.beta) == path_kls(rates, A=4, N=N).min()
        assert found.grid == path_grid([])
        for i in (0, 10, 25):
            k = int(found.k[i])
            assert found.b[i] == pytest.approx(1 - path_eps(tree, N, k), rel=1e-12)
            exact = path_empirical_exact(tree, tree.means(x), y, N, k)
            assert found.empirical[i] == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 1200))  # 40 draws of each


def test_the_prior_over_shapes_sums_to_at_most_one() -> None:
    """All ordered signed trees of depth <= 2 with at most 40 children per node."""
    nodes = [(a, h - a) for h in range(41) for a in range(h + 1)]
    one = sum(math.exp(-shape_cost([[c]])) for c in nodes)
    leaf = sum(math.exp(-(shape_cost([[c]]) - math.log(6))) for c in nodes)  # Σ over the children of one node, near 1
    two = sum(math.exp(-shape_cost([[c], [(0, 0)] * sum(c)])) * (leaf * 2) ** sum(c) for c in nodes if sum(c) <= 40)
    assert 0.9 < leaf < 1
    assert math.exp(-shape_cost([])) + one + two < 1
    assert path_grid([]) == pytest.approx(math.log(len(VOTES) * len(BETAS) * 41 * 2))
    assert all(len(path_thresholds(N)) == 41 for N in VOTES)
