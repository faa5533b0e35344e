"""Certified certificates: on the safe side of exact rationals and of reference values, and hardly above them."""

import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from flint import arb

from adanet_theory.certificates import gauss, path, path_multiclass, tree, vote
from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.grids import BETAS, forest_cost, path_grid, path_thresholds
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.twins import counted, outward, skellam, tails
from adanet_theory.twins.exact_tree import exact_forest, exact_tree, linear_weights

TIGHT = 1e-9


def above(number: float, exact: float | Fraction, rel: float = TIGHT, room: float = 1e-280) -> None:
    """number >= exact, by at most a factor 1 + rel and the room."""
    assert Fraction(number) >= Fraction(exact)
    assert number <= float(exact) * (1 + rel) + room


@pytest.mark.parametrize("q", ["0", "0.000001", "0.01", "0.3", "0.5", "0.999", "1"])
@pytest.mark.parametrize("c", ["0", "0.0000001", "0.02", "1", "40"])
def test_the_ball_of_the_inverse_holds_the_root(q: str, c: str) -> None:
    with flint.ctx.workprec(128), mpmath.workdps(40):
        ball = tails.kl_inverse_ball(outward.exact_ball(q), outward.exact_ball(c))
        x, y = mpmath.mpf(q), mpmath.mpf(c)
        root = 1 - mpmath.exp(-y) if x == 0 else mpmath.mpf(kl_inverse(float(q), float(c)))
        if 0 < x < 1 and y > 0 and root < 1 - mpmath.mpf(10) ** -12:

            def gap(p: mpmath.mpf) -> mpmath.mpf:
                return x * mpmath.log(x / p) + (1 - x) * mpmath.log((1 - x) / (1 - p)) - y

            root = mpmath.findroot(gap, (root * (1 - mpmath.mpf(10) ** -13), root), solver="secant")
        assert mpmath.mpf(tails.down(ball)) <= root + mpmath.mpf(10) ** -30
        assert root <= tails.up(ball)
        assert tails.up(ball) - tails.down(ball) <= 4 * math.ulp(1.0) * float(root) + 5e-323


def test_reference_values() -> None:
    with flint.ctx.workprec(128):
        for q, c, expected in [("0.01", "0.02", "0.0442700243953511")]:
            assert float(tails.kl_inverse_ball(outward.exact_ball(q), outward.exact_ball(c))) == pytest.approx(
                float(expected), abs=1e-16
            )
        for m, expected_xi in [(8, 4.24501800537109), (1437, 48.1797614611188), (12_000, 137.961302558794)]:
            assert float(tails.xi_ball(m)) == pytest.approx(expected_xi, rel=1e-14)
        eps = {500: 0.000266873389943940, 209: 0.0998145501030567}
        shape = skellam.Shape((-1, 0, 0, 0, 0), (1, 1, 1, -1, -1), [arb(1) / 5] * 5)
        for k, expected_eps in eps.items():
            above(skellam.eps_upper(shape, 20480, k), expected_eps)
        rates = [arb(1024)] * 20
        above(outward._path_kl(rates, 7840, 20480, outward.decimal(0.003)), 339.4090291405920, rel=1e-8)
        for size, k, expected_cdf in [(2000, 60, 0.911953379051027), (200, 10, 0.771258148051245)]:
            above(skellam.symmetric_skellam_upper(arb(size)).above(k), (1 - expected_cdf) * (1 - 1e-13))
        exponent = outward.exact_ball(2 * math.sqrt(12_000) / 0.05).log() / 12_000
        assert float(tails.kl_inverse_ball(arb(0), exponent)) == pytest.approx(0.000698523453696331, rel=1e-14)
        theta = outward.simplex([1] * 20)
        above(outward._iid_kl(theta, 113, 1568), 492.8861037912689, rel=1e-8)
        above(outward._polya_kl(theta, 113, 1568, outward.decimal(0.003)), 121.5963564457506, rel=1e-8)
    above(tails.right_votes_upper(np.array([0.02]), 20480, 10347), 0.0869076842548716 * (1 - 1e-14))
    found = outward.vote_parts(np.full(12_000, 0.02), [1] * 20, n=1568, N=20480, k=10347, beta=0.003).at("0.05")
    looser = (found.terms["KL"] + math.log(2 * math.sqrt(12_000) / 0.05) + found.terms["grid"]) / 12_000
    above(kl_inverse(found.terms["empirical"], looser) / found.terms["b"], 0.161621851099990, rel=1e-8)
    above(found.raw, 0.161539127697334, rel=1e-8)
    above(found.terms["KL"], 197.071771459312, rel=1e-8)
    assert found.terms["b"] == pytest.approx(0.933498675491306, abs=1e-15)
    assert found.terms["b"] <= 0.9334986754913061


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_xi_in_balls_holds_the_defining_sum(m: int) -> None:
    exact = sum(math.comb(m, k) * Fraction(k, m) ** k * Fraction(m - k, m) ** (m - k) for k in range(m + 1))
    with flint.ctx.workprec(128):
        assert tails.xi_ball(m).contains(outward.exact_ball(exact))
        assert tails.xi_ball(10**6).overlaps(arb(xi(10**6)) * (1 + arb(0, 1e-12)))


def below(N: int, k: int, u: float) -> Fraction:
    p = (1 + Fraction(u)) / 2
    return sum(math.comb(N, c) * p**c * (1 - p) ** (N - c) for c in range(k + 1))


@pytest.mark.parametrize("N", [1, 10, 80])
def test_right_votes_are_rounded_up(N: int) -> None:
    u = np.array([-1.0, -0.7, -1e-3, 0.0, 1e-9, 0.02, 0.4, 0.999, 1 - 2**-53, 1.0])
    for k in {0, N // 3, N // 2, N - 1}:
        for x in u:
            above(tails.right_votes_upper(np.array([x]), N, k), below(N, k, x), room=1e-14)
        exact = sum(below(N, k, x) for x in [*u, *u, 0.4]) / 21
        above(tails.right_votes_upper(np.array([*u, *u, 0.4]), N, k), exact, room=1e-14)
        with flint.ctx.workprec(128):
            ball = tails.binomial_cdf_ball(N, k, arb(1) / 2)
            assert ball.contains(outward.exact_ball(below(N, k, 0.0)))
            assert ball.rel_accuracy_bits() > 90


@pytest.mark.parametrize("beta", BETAS)
def test_the_kl_of_votes_is_rounded_up(beta: float) -> None:
    rng = np.random.default_rng(0)
    for N in (10, 320, 5120):
        v = np.concatenate([rng.normal(size=7), [0.0, 40.0, 1e-9, 1e-300]])
        weights = np.abs(v) / np.abs(v).sum()
        for setting in (beta, 0.0):
            found = outward.vote_parts(np.zeros(3), v, n=30, N=N, k=N // 2, beta=setting).KL
            expected = vote.vote_kl(weights, N, n=30, beta=setting)
            assert found >= expected - 1e-9
            assert found == pytest.approx(expected, rel=1e-7)
    alone = outward.vote_parts(np.zeros(3), [3.0], n=30, N=10, k=5, beta=beta).KL
    above(alone, sum(math.log((30 * beta + t) / (beta + t)) for t in range(10)) * (1 - 1e-15))


@pytest.mark.parametrize("small", [1e-40, 5e-324])
def test_a_voter_beside_one_of_nearly_all_weight(small: float) -> None:
    """1 - theta_1 is below the last bit of any ball around theta_1: the KL was no number."""
    found = outward.vote_parts(np.array([0.5]), [1.0, small], n=4, N=40, k=30, beta=0.003).KL
    alone = outward.vote_parts(np.array([0.5]), [1.0], n=4, N=40, k=30, beta=0.003).KL
    above(found, alone * (1 - 1e-12))


@pytest.mark.parametrize("beta", [0.001, 0.3])
def test_the_two_expectations_are_rounded_down(beta: float) -> None:
    """Against high-precision sums over all counts."""
    with mpmath.workdps(40), flint.ctx.workprec(128):
        b = mpmath.mpf(repr(beta))

        def rising(c: int) -> mpmath.mpf:
            return mpmath.loggamma(c + b) - mpmath.loggamma(b)

        thetas = [Fraction(99, 1000), Fraction(1, 1000), Fraction(9, 10)]
        exact = mpmath.mpf(0)
        for t in thetas:
            p = mpmath.mpf(t.numerator) / t.denominator
            exact += sum(mpmath.binomial(60, c) * p**c * (1 - p) ** (60 - c) * rising(c) for c in range(1, 61))
        found = tails.binomial_rising_lower([outward.exact_ball(t) for t in thetas], 60, outward.decimal(beta))
        assert found <= exact
        assert found == pytest.approx(float(exact), rel=1e-10)
        rates = [Fraction(1, 1000), Fraction(5, 2), Fraction(40)]
        exact = mpmath.mpf(0)
        for t in rates:
            r = mpmath.mpf(t.numerator) / t.denominator
            exact += sum(mpmath.exp(-r) * r**c / mpmath.factorial(c) * rising(c) for c in range(1, 160))
        found = tails.poisson_rising_lower([outward.exact_ball(t) for t in rates], outward.decimal(beta))
        assert found <= exact
        assert found == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("size", ["0", "0.0001", "1", "30", "3000"])
def test_skellam_masses_are_rounded_up(size: str) -> None:
    with flint.ctx.workprec(128), mpmath.workdps(30):
        law = skellam.symmetric_skellam_upper(outward.exact_ball(size))
        x = mpmath.mpf(size)
        for n in {0, 1, 5, (len(law.mass) - 1) // 2}:
            if abs(n) < (len(law.mass) + 1) // 2:
                exact = mpmath.exp(-x) * mpmath.besseli(n, x)
                assert law.mass[n - law.first] >= exact
                assert law.mass[n - law.first] <= exact * (1 + mpmath.mpf(10) ** -10) + mpmath.mpf(10) ** -300
    assert math.fsum(law.mass) + law.outside >= 1
    assert math.fsum(law.mass) == pytest.approx(1, abs=1e-10)
    assert law.outside < 1e-15


def test_eps_is_rounded_up_on_trees() -> None:
    rng = np.random.default_rng(1)
    for _ in range(8):
        hidden = {(1, 0): rng.normal(size=(3, 2)), (2, 1): rng.normal(size=(2, 3)), (3, 2): rng.normal(size=(1, 2))}
        output = {1: rng.normal(size=3), 3: np.ones(1)}
        exact = exact_tree(hidden, output, depth=3)
        numeric = tree.unrolled(hidden, output, depth=3)
        rounded = exact.rounded()
        assert (rounded.parent, rounded.sign) == (numeric.parent, numeric.sign)
        assert np.allclose(rounded.q, numeric.q, rtol=1e-13)
        assert float(exact.B) == pytest.approx(numeric.B, rel=1e-14)
        shape = skellam.Shape(exact.parent, exact.sign, exact.masses)
        for nu, k in ((20, 3), (160, 14)):
            found = skellam.eps_upper(shape, nu, k)
            assert found == pytest.approx(path.path_eps(numeric, nu, k), rel=1e-8)
            assert found >= path.path_eps(numeric, nu, k) * (1 - 1e-12)


def test_the_convex_form_is_rounded_up() -> None:
    v = np.array([1.0] * 3 + [-1.0] * 9)
    numeric = tree.one_layer(np.array([1.0]), v, np.ones((12, 1)))
    shape = skellam.Shape(numeric.parent, numeric.sign, [arb(1) / 13] * 13)
    found = skellam.eps_upper(shape, 160, 25)
    above(found, path.path_eps_convex(numeric, 160, 25) * (1 - 1e-12), rel=1e-2)


def test_the_certified_path_certificate_is_that_of_the_same_draws() -> None:
    rng = np.random.default_rng(2)
    hidden = {(1, 0): rng.normal(size=(3, 4)), (2, 1): np.array([[0.0, 1.0, -0.5]])}
    output = {1: np.array([1.0, 0.0, 0.0]), 2: np.ones(1)}
    exact, numeric = exact_tree(hidden, output, depth=2), tree.unrolled(hidden, output, depth=2)
    x = rng.uniform(-1, 1, (200, 4))
    y = np.where(numeric.value(numeric.means(x)) > 0, 1, -1)
    setting = {"N": 320, "k": path_thresholds(320)[8], "beta": 0.03, "seed": 3, "draws": 20_000}
    certified = outward.path_parts(exact, x, y, **setting).at("0.1")
    plain = path.path_certificate_at(numeric, x, y, **setting, delta=0.1)
    above(certified.raw, plain.raw * (1 - 1e-12), rel=1e-7)
    assert certified.terms["b"] <= plain.terms["b"] + 1e-15
    assert certified.terms == pytest.approx(dict(plain.terms), rel=1e-7)
    assert certified.terms["grid"] == pytest.approx(path_grid(numeric.counts))


@pytest.mark.parametrize("slopes", [(1.0, 0.0), (1.0, 0.1), (1.0, -1.0)])
def test_the_exact_tree_is_the_tree(slopes: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    hidden = {(1, 0): rng.normal(size=(2, 3)), (2, 1): rng.normal(size=(2, 2))}
    output = {1: rng.normal(size=2), 2: rng.normal(size=2)}
    exact = exact_tree(hidden, output, depth=2, slopes=[slopes])
    numeric = tree.unrolled(hidden, output, depth=2, slopes=slopes)
    x = rng.uniform(-1, 1, (20, 3))
    rounded = exact.rounded()
    assert np.allclose(rounded.value(rounded.means(x)) * rounded.B, numeric.value(numeric.means(x)) * numeric.B)
    assert len(exact.atoms) == np.count_nonzero(numeric.q)
    assert sum(map(float, exact.masses)) == pytest.approx(1)
    with pytest.raises(ValueError, match="at most 2 nodes"):
        exact_tree(hidden, output, depth=2, slopes=[slopes], max_nodes=2)


def class_network(rng: np.random.Generator, C: int, n: tuple[int, ...]) -> tuple[dict, list[dict]]:
    """Dense layers, and outputs that read them all; the last class has no weight on the last layer."""
    hidden = {(k, k - 1): rng.normal(size=(n[k], n[k - 1])) for k in range(1, len(n))}
    outputs = [{k: rng.normal(size=n[k]) for k in range(1, len(n))} for _ in range(C)]
    outputs[-1][len(n) - 1] *= 0
    return hidden, outputs


@pytest.mark.parametrize("slopes", [(1.0, 0.0), (1.0, 0.25)])
def test_the_exact_trees_of_classes_are_the_trees(slopes: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    hidden, outputs = class_network(rng, 3, (3, 2, 2))
    exact = exact_forest(hidden, outputs, depth=2, slopes=[slopes])
    numeric = tree.unrolled_classes(hidden, outputs, depth=2, slopes=slopes)
    for one, other in zip(exact.rounded(), numeric, strict=True):
        assert (one.parent, one.sign) == (other.parent, other.sign)
        assert np.allclose(one.q, other.q, rtol=1e-13)
    assert float(exact.B) == pytest.approx(numeric[0].B, rel=1e-14)
    assert exact.nodes == sum(len(one.parent) for one in numeric)
    assert sum(float(p) for c in range(3) for p in exact.masses(c)) == pytest.approx(1)
    assert len(exact.atoms) == len(path_multiclass.atoms(numeric))
    price = float(outward.forest_price(exact).log())
    assert price == pytest.approx(forest_cost(path_multiclass.levels(numeric)), rel=1e-14)
    with pytest.raises(ValueError, match="at most 6 nodes"):
        exact_forest(hidden, outputs, depth=2, slopes=[slopes], max_nodes=6)


def test_what_all_classes_have_in_common_is_taken_from_each() -> None:
    rng = np.random.default_rng(7)
    hidden, outputs = class_network(rng, 3, (3, 4, 2))
    x = rng.uniform(-1, 1, (30, 3))
    plain, centred = (exact_forest(hidden, outputs, depth=2, centred=on) for on in (False, True))
    f, g = (np.stack([t.B * t.value(t.means(x)) for t in one.rounded()], axis=1) for one in (plain, centred))
    assert np.allclose(f - f[:, :1], g - g[:, :1])
    assert float(centred.B) < float(plain.B)
    same = exact_forest(hidden, [outputs[0]] * 3, depth=2, centred=True)
    assert same.B == 0


@pytest.mark.parametrize("n", [(3, 2, 2), (2, 2, 2, 1)])
def test_the_certified_path_certificate_of_classes_is_that_of_the_same_draws(n: tuple[int, ...]) -> None:
    rng = np.random.default_rng(8)
    hidden, outputs = class_network(rng, 3, n)
    depth = len(n) - 1
    exact, numeric = exact_forest(hidden, outputs, depth=depth), tree.unrolled_classes(hidden, outputs, depth=depth)
    x = rng.uniform(-1, 1, (80, n[0]))
    y = np.argmax([t.value(t.means(x)) for t in numeric], axis=0)
    setting = {"N": 320, "k": path_thresholds(320)[8], "beta": 0.03, "seed": 3, "draws": 4_000}
    certified = outward.path_classes_parts(exact, x, y, **setting).at("0.1")
    plain = path_multiclass.path_certificate_multiclass_at(numeric, x, y, **setting, delta=0.1)
    above(certified.raw, plain.raw * (1 - 1e-12), rel=1e-7)
    assert certified.terms["b"] <= plain.terms["b"] + 1e-15
    assert certified.terms == pytest.approx(dict(plain.terms), rel=1e-7)


@pytest.mark.parametrize(("errors", "m"), [(0, 1), (0, 100), (3, 40), (39, 40), (40, 40), (500, 10_000)])
def test_clopper_pearson_is_rounded_up(errors: int, m: int) -> None:
    found, numeric = counted.clopper_pearson_upper(errors, m, "0.05"), clopper_pearson(errors, m, 0.05)
    assert found == pytest.approx(numeric, rel=1e-9)
    if errors == 0:  # 1 - 1e-40 is 1 in floats
        assert counted.clopper_pearson_upper(0, m, "1e-40") == pytest.approx(1 - 1e-40 ** (1 / m), rel=1e-9)
    if errors < m <= 100:
        p = Fraction(found)
        assert sum(math.comb(m, c) * p**c * (1 - p) ** (m - c) for c in range(errors + 1)) <= Fraction(5, 100)


def test_margins_are_divided_downwards() -> None:
    with flint.ctx.workprec(128):
        found = outward.lower_margins(np.array([1.0, -1.0, 0.0]), outward.exact_ball(Fraction(3)))
    assert [Fraction(x) <= Fraction(y, 3) for x, y in zip(found.tolist(), (1, -1, 0), strict=True)] == [True] * 3
    assert found == pytest.approx([1 / 3, -1 / 3, 0.0])


def test_the_weights_of_a_linear_network() -> None:
    rng = np.random.default_rng(5)
    hidden = {(1, 0): rng.normal(size=(4, 3)), (2, 1): rng.normal(size=(2, 4)), (3, 1): rng.normal(size=(1, 4))}
    output = {1: rng.normal(size=4), 2: rng.normal(size=2), 3: rng.normal(size=1)}
    layers = output[1] + hidden[2, 1].T @ output[2] + hidden[3, 1].T @ output[3]
    assert np.allclose([float(x) for x in linear_weights(hidden, output, depth=3)], hidden[1, 0].T @ layers)


def test_weights_that_nearly_cancel_are_weights() -> None:
    """2^140 + 2^-140 - 2^140 is 2^-140, and more than the 2^-141 beside it: at 128 bits it was taken for 0."""
    columns = np.array([[2.0**70, 0.0], [2.0**-70, 0.0], [-(2.0**70), 0.0], [0.0, 2.0**-70]])
    output = {1: np.array([2.0**70, 2.0**-70, 2.0**70, 2.0**-71])}
    assert [float(x) for x in linear_weights({(1, 0): columns}, output, depth=1)] == [2.0**-140, 2.0**-141]
    (root,) = exact_tree({(1, 0): columns}, output, depth=1).weights
    assert {j: float(x) for j, x in root.items()} == {0: 2.0**-140, 1: 2.0**-141}
    hidden = {(1, 0): np.eye(2), (2, 1): columns}
    deep = exact_tree(hidden, {2: output[1]}, depth=2)
    assert deep.parent == (-1, 0, 0)
    assert [float(x) for x in deep.masses] == pytest.approx([0, 2 / 3, 1 / 3])


@pytest.mark.parametrize(("features", "weights"), [(0, -320), (-170, -170), (-320, 0), (306, 306), (300, -300), (0, 0)])
def test_cosines_of_numbers_of_every_size_are_rounded_down(features: int, weights: int) -> None:
    rng = np.random.default_rng(8)
    phi, w = (np.round(rng.normal(size=s) * 100) / 10 * 10.0**e for s, e in (((30, 4), features), (4, weights)))
    phi[0] = 0.0
    products = [sum((Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)), Fraction(0)) for row in phi]
    margins = np.array([_rounded_down(x) for x in products])
    found = outward.lower_cosines(margins, phi, w.tolist())
    assert found[0] == -math.inf
    with mpmath.workdps(60):
        size = [mpmath.sqrt(sum(mpmath.mpf(float(x)) ** 2 for x in row)) for row in (w, *phi[1:])]
        for cosine, product, norm in zip(found[1:], products[1:], size[1:], strict=True):
            exact = mpmath.mpf(product.numerator) / product.denominator / size[0] / norm
            assert cosine <= exact
            assert (features, weights) != (0, 0) or cosine == pytest.approx(float(exact), rel=1e-12)


def _rounded_down(x: Fraction) -> float:
    try:
        nearest = float(x)
    except OverflowError:
        return -math.inf if x < 0 else float(np.finfo(float).max)
    return nearest if Fraction(nearest) <= x else math.nextafter(nearest, -math.inf)


@pytest.mark.parametrize("tau", [0.0, 1.5])
def test_gauss_is_rounded_up(tau: float) -> None:
    rng = np.random.default_rng(6)
    phi, v = rng.normal(size=(50, 7)), rng.normal(size=7)
    margins, norms = np.abs(phi @ v), np.linalg.norm(phi, axis=1)
    margins[0], phi[1] = -0.3, 0.0
    norms[1] = margins[1] = 0.0
    size = float(np.linalg.norm(v))
    a = 4.0
    expected = gauss.gauss_certificate_at(margins * a / size, norms, norms, KL=a**2 / 2, s_max=1.0, tau=tau, delta=0.05)
    certified = outward.gauss_parts(margins, phi, [arb(x) for x in v], a=a, tau=tau).at("0.05")
    above(certified.raw, expected.raw * (1 - 1e-13))
    assert dict(certified.terms) == pytest.approx({**expected.terms, "a": a})


def test_many_margins_are_taken_in_groups_by_their_least() -> None:
    u = np.random.default_rng(7).normal(0.1, 0.05, 50_000)
    every, some = tails.right_votes_upper(u[:9_000], 640, 340), vote.vote_empirical(u[:9_000], 640, 340)
    above(every, some * (1 - 1e-12))
    above(tails.right_votes_upper(u, 640, 340), vote.vote_empirical(u, 640, 340) * (1 - 1e-12), rel=1e-2)


def test_units_that_read_nothing_are_no_nodes_and_cost_no_time() -> None:
    """Eight dense layers above a first layer of zeros: walked unit by unit that would be 30^8 steps."""
    hidden = {(k, k - 1): np.ones((30, 30)) for k in range(2, 9)} | {(1, 0): np.zeros((30, 3))}
    found = exact_tree(hidden, {8: np.ones(30)}, depth=8)
    assert (found.parent, found.B == 0) == ((-1,), True)
    hidden = {(1, 0): np.array([[0.0], [1.0]]), (2, 1): np.array([[1.0, 1.0], [1.0, 0.0]])}
    assert exact_tree(hidden | {(3, 2): np.ones((1, 2))}, {3: np.ones(1)}, depth=3).parent == (-1, 0, 1)
