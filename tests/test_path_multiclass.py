"""path-certificate-multiclass by exact laws: eps at adversarial points, linear networks, draws, prior, coins."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import skellam

from adanet_theory.certificates.grids import (
    BETAS,
    CLASS_VOTES,
    THRESHOLDS,
    forest_cost,
    path_classes_grid,
    path_thresholds,
    shape_cost,
)
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.certificates.path import all_law, path_eps, path_eps_convex, path_kl, path_kls
from adanet_theory.certificates.path_multiclass import (
    atom_count,
    atoms,
    levels,
    pairs,
    path_certificate_multiclass,
    path_certificate_multiclass_at,
    path_classes_candidates,
    path_classes_empirical_exact,
    path_classes_eps,
    path_classes_errors,
)
from adanet_theory.certificates.tree import Tree, unrolled, unrolled_classes
from adanet_theory.certificates.vote_multiclass import classes_b, classes_empirical, vote_certificate_multiclass_at
from tests.test_path import law_of_g, random_tree

Forest = list[Tree]


def random_forest(rng: np.random.Generator, C: int, depth: int) -> Forest:
    """Trees of one to four nodes with a feature of its own for every node; their masses sum to 1."""
    trees = [random_tree(rng, int(rng.integers(1, 5)), depth) for _ in range(C)]
    share = rng.dirichlet(np.ones(C))
    return [Tree(t.parent, t.sign, a * t.q, B=1.0) for t, a in zip(trees, share, strict=True)]


def wrong_point(forest: Forest, y: int, rng: np.random.Generator) -> list[np.ndarray] | None:
    """Means |m_v| <= p_v, many of them extreme, with f_y <= max f_c and as near to a tie as the roots allow."""
    steps = [-1.0, -0.5, 0.0, 0.5, 1.0] if rng.random() < 0.7 else [0.0]
    means = [tree.p * rng.choice(steps, len(tree.p)) for tree in forest]
    others = [c for c in range(len(forest)) if c != y]
    move_root(forest[y], means[y], max(value(forest[c], means[c]) for c in others))
    for c in others:
        if value(forest[y], means[y]) > max(value(forest[c], means[c]) for c in others):
            move_root(forest[c], means[c], value(forest[y], means[y]))
    most = max(value(forest[c], means[c]) for c in others)
    return means if value(forest[y], means[y]) <= most + 1e-12 else None


def value(tree: Tree, means: np.ndarray) -> float:
    return float(tree.value(means))


def move_root(tree: Tree, means: np.ndarray, target: float) -> None:
    """The root's own mean so that f is the target, or as near to it as its mass allows."""
    rest = value(tree, means) - means[0]
    means[0] = np.clip(target - rest, -tree.p[0], tree.p[0])


def ahead(masses: list[np.ndarray], y: int, k: int) -> float:
    """P(g_y > g_c + k for all c != y), summed over the values of g_y."""
    size = len(masses[y])
    right = masses[y].copy()
    for c, mass in enumerate(masses):
        if c != y:
            below = np.concatenate([np.zeros(k + 1), np.cumsum(mass)])[:size]  # P(g_c <= t-k-1)
            right *= below
    return float(right.sum())


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_where_f_errs_the_right_class_is_ahead_by_more_than_k_at_most_eps_often(depth: int) -> None:
    rng, closest, cases = np.random.default_rng(depth), 0.0, 0
    for _ in range(10):
        forest, nu = random_forest(rng, int(rng.choice([2, 2, 3, 4])), depth), float(rng.choice([3.0, 10.0, 20.0]))
        size = math.ceil(nu + 9 * math.sqrt(nu) + 10)
        bounds = {k: path_classes_eps(forest, nu, k) for k in (0, 1, 4)}
        for y in [*range(len(forest))] * 3:
            means = wrong_point(forest, y, rng)
            if means is None:
                continue
            masses = [law_of_g(tree, 0, nu, z, size) for tree, z in zip(forest, means, strict=True)]
            for k, eps in bounds.items():
                found = ahead(masses, y, k)
                assert found <= eps + 1e-12
                closest, cases = max(closest, found / eps), cases + 1
    assert cases > 100
    assert closest > 0.98  # no constant could be smaller


def joined(a: Tree, b: Tree) -> Tree:
    """The tree of f_a - f_b, by its definition."""
    shift, n = len(a.parent) - 1, len(a.p)
    parent = (*a.parent, *(max(0, v + shift) if v else 0 for v in b.parent[1:]))
    sign = (*a.sign, *(-s if v == 0 else s for v, s in zip(b.parent[1:], b.sign[1:], strict=True)))
    p = np.concatenate([[a.p[0] + b.p[0]], a.p[1:], b.p[1:]])
    assert len(p) == n + len(b.p) - 1
    return Tree(parent, sign, np.diag(p), B=1.0)


def test_eps_of_two_classes_is_that_of_the_tree_of_their_difference() -> None:
    rng = np.random.default_rng(4)
    for k in (0, 2, 6):
        forest = random_forest(rng, 3, 3)
        expected = max(path_eps(joined(a, b), 15.0, k) for a, b in itertools.combinations(forest, 2))
        assert path_classes_eps(forest, 15.0, k) == pytest.approx(expected, rel=1e-11)
    with pytest.raises(ValueError, match=r"^there must be at least two classes, got 1\.$"):
        path_classes_eps(forest[:1], 15.0, 0)


def test_many_choices_fall_back_to_the_convex_form_which_is_larger() -> None:
    """n units that either class may lose where the first is right: 2^2n sets J, the worst of which is all of them."""
    for n, is_exact in ((2, True), (4, False)):
        p = np.eye(n + 1) / (2 * n + 2)
        forest = [Tree((-1, *[0] * n), (1, *[sign] * n), p, B=1.0) for sign in (-1, 1)]
        still = [law_of_g(tree, 0, 30.0, np.zeros(n + 1), 100) for tree in forest]
        exact = max(float(skellam.sf(9, 15.0, 15.0)), ahead(still, 1, 9))  # J = all, or all positive parts
        found = path_classes_eps(forest, 30.0, 9)
        assert found == pytest.approx(exact, rel=1e-10) if is_exact else exact * 1.01 < found < 3 * exact


def test_the_convex_form_is_that_of_the_tree_of_the_difference() -> None:
    """Units of both signs and of unlike masses, too many for all J."""
    rng, signs = np.random.default_rng(8), [(1, 1, 1, 1, -1, -1, -1), (-1, -1, -1, -1, 1, 1, 1)]
    for first in signs:
        masses = rng.dirichlet(np.ones(16)).reshape(2, 8)
        forest = [
            Tree((-1, *[0] * 7), (1, *s), np.diag(p), B=1.0) for s, p in zip((first, signs[0]), masses, strict=True)
        ]
        for k in (2, 9):
            expected = path_eps_convex(joined(*forest), 30.0, k)
            assert path_classes_eps(forest, 30.0, k) == pytest.approx(expected, rel=1e-10)


def test_linear_networks_have_vote_certificate_multiclass_but_for_the_grid() -> None:
    rng = np.random.default_rng(0)
    W, x = rng.normal(size=(4, 3)), rng.uniform(-1, 1, (40, 3))
    forest = unrolled_classes({(1, 0): W}, [{1: row} for row in np.eye(4)], depth=1)
    p = np.array([tree.p[0] for tree in forest])
    for order in itertools.permutations(range(4)):
        ((a, b),) = pairs([forest[c] for c in order])
        assert {order[a], order[b]} == set(np.argsort(p)[-2:].tolist())
    y = (x @ W.T).argmax(axis=1)
    scores = np.stack([tree.value(tree.means(x)) for tree in forest], axis=1)
    for k in (0, 3, 17):
        assert 1 - path_classes_eps(forest, 57, k) == pytest.approx(classes_b(p, 57, k), rel=1e-13)
        exact = path_classes_empirical_exact(forest, x, y, 57, k)
        assert exact == pytest.approx(classes_empirical(scores, y, p, 57, k), rel=1e-9)
    ours = path_certificate_multiclass_at(forest, x, y, N=57, k=3, beta=0.1, delta=0.1, seed=0, draws=400)
    votes = vote_certificate_multiclass_at(scores, y, atoms(forest), p, A=24, N=57, k=3, beta=0.1, delta=0.1)
    assert ours.terms["KL"] == votes.terms["KL"]
    assert ours.terms["b"] == pytest.approx(votes.terms["b"], rel=1e-13)
    assert ours.terms["grid"] - votes.terms["grid"] == pytest.approx(math.log(2 * THRESHOLDS / 58))


def test_what_the_search_compares_is_the_certificate_at_that_setting() -> None:
    """Linear networks: the worst J is all, and the empirical part is known."""
    rng = np.random.default_rng(9)
    W, x, y = rng.normal(size=(3, 2)), rng.uniform(-1, 1, (30, 2)), rng.integers(0, 3, 30)
    forest = unrolled_classes({(1, 0): W}, [{1: row} for row in np.eye(3)], depth=1)
    p = np.array([tree.p[0] for tree in forest])
    scores = np.stack([tree.value(tree.means(x)) for tree in forest], axis=1)
    table = path_classes_candidates(forest, x, y, seed=0)
    assert [found.N for found in table] == list(CLASS_VOTES)
    for found in table[:20:6]:
        N, rates = found.N, found.N * atoms(forest)
        assert tuple(found.k) == path_thresholds(N)
        assert found.KL == path_kl(rates, A=12, N=N, beta=found.beta) == path_kls(rates, A=12, N=N).min()
        assert found.grid == path_classes_grid([3])
        for i in (0, 10, 25):
            k = int(found.k[i])
            assert found.b[i] == pytest.approx(classes_b(p, N, k), rel=1e-12)
            exact = classes_empirical(scores, y, p, N, k)
            assert found.empirical[i] == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 1200))  # 40 draws of each


def test_the_search_takes_the_worst_pair_of_classes_at_j_all() -> None:
    """Beside the tree of the difference of every two."""
    forest = random_forest(np.random.default_rng(6), 3, 2)
    x = np.zeros((1, max(tree.q.shape[1] for tree in forest)))
    forest = [Tree(t.parent, t.sign, np.pad(t.q, ((0, 0), (0, x.shape[1] - t.q.shape[1]))), B=1.0) for t in forest]
    for found in path_classes_candidates(forest, x, [0], seed=0)[2:9:3]:
        laws = [all_law(joined(a, b), found.N, e) for a, b in itertools.combinations(forest, 2) for e in (1, -1)]
        b = [1 - max(law.above(int(k)) for law in laws) for k in found.k[::6]]
        assert found.b[::6].tolist() == pytest.approx(b, rel=1e-10)


def test_levels_and_atoms_are_those_of_all_trees() -> None:
    deep = Tree((-1, 0, 1, 0, 3, 4), (1, 1, -1, 1, 1, -1), np.diag([0.1, 0.0, 0.2, 0.1, 0.0, 0.1]), B=1.0)
    flat = Tree((-1, 0), (1, -1), np.array([[0.3, 0.0], [-0.1, 0.1]]), B=1.0)
    assert levels([flat, deep]) == levels([deep, flat]) == [2, 3, 2, 1]
    assert sorted(atoms([deep, flat])) == [0.1] * 5 + [0.2, 0.3]
    assert atom_count([deep, flat]) == 2 * (36 + 4)


def xor_forest() -> tuple[Forest, np.ndarray]:
    """f_0 = |x_1| - |x_2|, f_1 its negative, f_2 = x_3 - a constant: no linear network tells these classes apart."""
    plus = np.array([[1.0, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 1.0, -0.4]])
    up = np.array([[1.0, 1, -1, -1, 0]])
    outputs = [{2: np.ones(1)}, {2: -np.ones(1)}, {1: np.array([0.0, 0, 0, 0, 1.0])}]
    return list(unrolled_classes({(1, 0): plus, (2, 1): up}, outputs, depth=2)), plus


def xor_sample(m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.hstack([rng.uniform(-1, 1, (m, 3)), np.ones((m, 1))])
    forest, _ = xor_forest()
    scores = np.sort(np.stack([tree.value(tree.means(x)) for tree in forest], axis=1), axis=1)
    clear = scores[:, 2] - scores[:, 1] > 0.02
    x = x[clear]
    return x, np.stack([tree.value(tree.means(x)) for tree in forest], axis=1).argmax(axis=1)


def test_the_trees_of_the_classes_are_the_network() -> None:
    forest, U = xor_forest()
    x, _ = xor_sample(200)
    h = np.maximum(x @ U.T, 0)
    f = h[:, 0] + h[:, 1] - h[:, 2] - h[:, 3]
    third = x @ U[4]
    found = [tree.B * tree.value(tree.means(x)) for tree in forest]
    assert np.allclose(found, [f, -f, third])
    assert levels(forest) == [3, 8]
    assert math.fsum(p for tree in forest for p in tree.p) == pytest.approx(1)
    alone = unrolled({(1, 0): U, (2, 1): np.array([[1.0, 1, -1, -1, 0]])}, {2: np.ones(1)}, depth=2)
    assert pytest.approx(alone.B * 2 + 1.4) == forest[0].B
    with pytest.raises(ValueError, match="at most 9 nodes"):
        unrolled_classes({(1, 0): U, (2, 1): np.ones((1, 5))}, [{2: np.ones(1)}] * 2, depth=2, max_nodes=9)


def test_the_draws_agree_with_the_convolution() -> None:
    forest, _ = xor_forest()
    x, y = xor_sample(12)
    exact = path_classes_empirical_exact(forest, x, y, 40.0, 3)
    size = 160
    masses = [[law_of_g(t, 0, 40.0, row, size) for t, row in zip(forest, rows, strict=True)]
              for rows in zip(*(tree.means(x) for tree in forest), strict=True)]  # fmt: skip
    by_hand = np.mean([1 - ahead(laws, label, 3) for laws, label in zip(masses, y, strict=True)])
    assert exact == pytest.approx(by_hand, rel=1e-9)
    many, labels = np.tile(x, (20, 1)), np.tile(y, 20)  # many at once are drawn sooner
    errors, total = path_classes_errors(forest, many, labels, 40.0, 3, seed=1, draws=20_000)
    assert total >= 20_000
    assert errors / total == pytest.approx(exact, abs=4 * math.sqrt(0.25 / total))
    assert path_classes_errors(forest, many, labels, 40.0, 3, seed=1, draws=20_000) == (errors, total)


def test_the_formula_at_a_setting_from_its_parts() -> None:
    forest, _ = xor_forest()
    x, y = xor_sample(300)
    setting = {"N": 160, "k": path_thresholds(160)[9], "beta": 0.03}
    found = path_certificate_multiclass_at(forest, x, y, **setting, delta=0.1, seed=0, draws=9_000)
    terms, m = found.terms, len(x)
    errors, total = path_classes_errors(forest, x, y, 160, 14, seed=0, draws=9_000)
    G = 25 * 6 * 41 * 6 * 9 * 10 * math.comb(8 + 6 - 1, 8)
    exponent = (path_kl(160 * atoms(forest), A=2 * 4 * 11, N=160, beta=0.03) + math.log(xi(m) * G / 0.09)) / m
    q = kl_inverse(errors / total, math.log(100) / total)
    assert found.raw == pytest.approx(kl_inverse(q, exponent) / (1 - path_classes_eps(forest, 160, 14)))
    assert (terms["N"], terms["k"], terms["beta"], terms["draws"]) == (160, 14, 0.03, total)
    assert found.id == "path-certificate-multiclass"
    for change, line in [
        ({"k": 13}, r"k must be on the grid of thresholds of N=160, got k=13\."),
        ({"beta": 0.0}, r"beta must be one of 0\.001"),
        ({"N": 150}, "N must be"),
    ]:
        with pytest.raises(ValueError, match=f"^{line}"):
            path_certificate_multiclass_at(forest, x, y, **setting | change, delta=0.1, seed=0)
    with pytest.raises(ValueError, match=r"^delta must be in"):
        path_certificate_multiclass_at(forest, x, y, **setting, delta=1.1, seed=0)
    with pytest.raises(ValueError, match=r"^x must be in \[-1, 1\]\^n_0\.$"):
        path_certificate_multiclass_at(forest, 2 * x, y, **setting, delta=0.1, seed=0)
    with pytest.raises(ValueError, match=r"^the masses of all trees must sum to 1, got 0\.[0-9]+\.$"):
        path_certificate_multiclass_at(forest[:2], x, y, **setting, delta=0.1, seed=0)


def test_where_linear_networks_fail_hidden_units_are_certified_and_random_labels_are_not() -> None:
    forest, _ = xor_forest()
    x, y = xor_sample(2_000)
    found = path_certificate_multiclass(forest, x, y, delta=0.05, seed=0, draws=60_000)
    assert found.raw < 0.3
    assert found.terms["draws"] == math.ceil(60_000 / len(x)) * len(x)
    assert path_certificate_multiclass(forest, x, y, delta=0.05, seed=0, draws=60_000) == found
    shuffled = np.random.default_rng(1).permutation(y)
    assert path_certificate_multiclass(forest, x, shuffled, delta=0.05, seed=0, draws=20_000).raw > 0.55


def test_the_prior_over_the_shapes_of_c_trees_sums_to_at_most_one() -> None:
    """All signed forests of depth <= 2 with at most 40 nodes in a level: how many there are, each at its price."""
    C = 3
    ways = {n: math.comb(n + 2 * C - 1, n) for n in range(41)}
    assert ways[2] == sum(1 for _ in itertools.combinations_with_replacement(range(2 * C), 2))
    one = sum(ways[n] * math.exp(-forest_cost([C, n])) for n in ways)
    two = sum(
        ways[n] * math.comb(k + 2 * n - 1, k) * math.exp(-forest_cost([C, n, k])) for n in ways for k in range(41) if n
    )
    total = math.exp(-forest_cost([C])) + one + two
    assert 0.7 < total < 1
    assert forest_cost([1, 4]) == pytest.approx(shape_cost([[(2, 2)]]))
    assert path_classes_grid([C]) == pytest.approx(math.log(len(CLASS_VOTES) * len(BETAS) * THRESHOLDS * 2))
