"""Section 6: the arithmetic of the experiments, recomputed from the printed tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from paper_notes.tables import (
    ACCURACY,
    ADANET_GRID,
    BLOCKS,
    CRITEO_ACCURACY,
    CRITEO_HELD_OUT,
    CRITEO_TRAIN,
    FOLDS,
    GP_TRIALS,
    NN_GRID,
    ROUNDS,
    STEPS,
    TEST_SIZE,
    TRAIN_SIZE,
    UNITS,
    VARIANTS,
)
from verify.claims.checks import Fact, Facts, settles

Result = tuple[float, float]


def welch(a: Result, b: Result, n: int = FOLDS) -> float:
    """Two-sided p-value of Welch's t-test from means and standard deviations over n folds each."""
    from scipy.stats import t

    va, vb = a[1] ** 2 / n, b[1] ** 2 / n
    freedom = (va + vb) ** 2 / ((va**2 + vb**2) / (n - 1))
    return float(2 * t.sf(abs(a[0] - b[0]) / math.sqrt(va + vb), freedom))


def nadeau_bengio(a: Result, b: Result, n: int = FOLDS) -> float:
    """Two-sided p-value with the corrected variance (1/n + test/train) s², s² = s_a² + s_b²: no correlation known."""
    from scipy.stats import t

    variance = (1 / n + TEST_SIZE / TRAIN_SIZE) * (a[1] ** 2 + b[1] ** 2)
    return float(2 * t.sf(abs(a[0] - b[0]) / math.sqrt(variance), n - 1))


def holm(p_values: Iterable[float]) -> float:
    """The largest of the adjusted p-values: all are rejected at level α iff it is <= α."""
    ordered = sorted(p_values)
    return max(p * (len(ordered) - i) for i, p in enumerate(ordered))


@settles("grid-size", {"adanet": {**ADANET_GRID, "B": 4}})
def grid_size(adanet: dict[str, int] = ADANET_GRID) -> Facts:
    ours, theirs = math.prod(adanet.values()), math.prod(NN_GRID.values())
    yield Fact("AdaNet's settings", ours, "=", theirs, "NN's settings", "6*3*4*5 and 4*3*5*6")
    yield Fact("architecture settings", adanet["Lambda"] * adanet["B"], "=", NN_GRID["l"] * NN_GRID["n"], "NN's")
    yield Fact("GP trials", GP_TRIALS, ">", theirs, "settings of the grid")
    steps = 2 * ROUNDS * STEPS
    yield Fact("steps behind one AdaNet setting, up to", steps, ">", STEPS, "behind one NN setting", "unequal budgets")


@settles("table-1-significant", {"spread": 3.0})
def table_1_significant(spread: float = 1.0) -> Facts:
    """`spread` multiplies every standard deviation."""

    def wide(result: Result) -> Result:
        return result[0], spread * result[1]

    pairs = [(wide(row["AdaNet"]), wide(row[name])) for row in ACCURACY.values() for name in ("LR", "NN", "NN-GP")]
    careful = [nadeau_bengio(a, b) for a, b in pairs]
    yield Fact(
        "largest Holm-adjusted p", holm(careful), "<=", 0.05, where="15 comparisons, corrected for overlapping folds"
    )
    yield Fact("comparisons AdaNet wins", sum(a[0] > b[0] for a, b in pairs), "=", 15, where="of 15")
    plain = [welch(a, b) for a, b in pairs]
    yield Fact("largest p, Welch", max(plain), "<=", 3.2e-4, where=f"Bonferroni {15 * max(plain):.2g}")
    yield Fact("largest p, Nadeau-Bengio", max(careful), "=", 0.0152, "", "", 5e-5)
    yield Fact("largest Bonferroni-adjusted p", min(1.0, 15 * max(careful)), ">", 0.05, where="would not pass")


@settles("fold-spread", {"size": 12_000})
def fold_spread(size: int = TEST_SIZE) -> Facts:
    """The printed standard deviations against binomial sampling of a test fold, two-sided chi-square, 20 results."""
    from scipy.stats import chi2

    p_values = []
    for row in ACCURACY.values():
        for accuracy, sd in row.values():
            statistic = (FOLDS - 1) * sd**2 / (accuracy * (1 - accuracy) / size)
            p_values.append(2 * min(chi2.cdf(statistic, FOLDS - 1), chi2.sf(statistic, FOLDS - 1)))
    yield Fact("least p of 20", min(p_values), ">", 0.05 / 20, "0.05/20", "deer-horse NN-GP: sd .0181 against .0114")
    yield Fact("results below 0.05", sum(p < 0.05 for p in p_values), "<=", 2, where="deer-horse NN and NN-GP")


@settles("fewer-nodes", {"units": {pair: (1, 0, *row[2:]) for pair, row in UNITS.items()}})
def fewer_nodes(units: Mapping[str, tuple[int, ...]] = UNITS) -> Facts:
    counts = [(first + second, nn, gp) for first, second, nn, gp in units.values()]
    yield Fact("pairs with fewer units than NN-GP", sum(a < gp for a, _, gp in counts), "=", 1, where="of 5")
    yield Fact("pairs with fewer units than NN", sum(a < nn for a, nn, _ in counts), "=", 4, where="of 5")


def possible_blocks(average: int) -> set[int]:
    """The B for which an average over ten folds can be that number: ten times it is a multiple of B."""
    return {B for B in BLOCKS if FOLDS * average % B == 0}


@settles("cat-dog-two-layers", {"average": (1800, 250)})
def cat_dog_two_layers(average: tuple[int, int] = UNITS["cat-dog"][:2]) -> Facts:
    both = possible_blocks(average[0]) & possible_blocks(average[1])
    B = max(both, default=0)
    blocks = FOLDS * average[1] / B if B else 0.0
    yield Fact("blocks of a second layer in ten folds", blocks, "=", 1, where="averages 1800 and 25 force B = 250")
    yield Fact("values of B that fit", len(both), "=", 1)
    yield Fact("B", B, "=", 250)
    yield Fact("B of deer-horse", max(possible_blocks(UNITS["deer-horse"][0])), "=", 250)
    yield Fact(
        "values of B that fit deer-truck", len(possible_blocks(UNITS["deer-truck"][0])), "=", 2, where="100 and 150"
    )


@settles("norm-constraint", {"enforce": True})
def norm_constraint(enforce: bool = False) -> Facts:
    """A candidate trained with R = 0, as in the paper's experiments, against the Λ of its family."""
    import torch

    from adanet_train.core.config import Config
    from adanet_train.core.norms import row_norms
    from adanet_train.methods import adanet

    Psi = torch.rand(60, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y = torch.where(Psi[:, 0] > Psi[:, 1], 1.0, -1.0).double()
    config = Config(
        learner="gradient",
        rounds=1,
        width=4,
        Lambda=1.01,
        steps=400,
        batch=20,
        learning_rate=0.1,
        enforce=enforce,
        lam=1e-6,
        dtype="float64",
    )
    network = adanet.train(Psi, y, config).network
    largest = max(float(row_norms(U, 2.0).max()) for U in network.hidden.values())
    yield Fact("largest ||u||_2 of a trained unit", largest, ">", 1.01, "Λ", "400 steps, R = 0")


@settles("variants-differ", {"sharper": 0.1})
def variants_differ(sharper: float = 1.0) -> Facts:
    """`sharper` multiplies every standard deviation."""
    base = ACCURACY["deer-truck"]["AdaNet"]
    for name, (accuracy, sd) in VARIANTS.items():
        p = welch((base[0], sharper * base[1]), (accuracy, sharper * sd))
        yield Fact(f"p, {name} against AdaNet", p, ">", 0.05, where="Welch")


@settles("criteo-split", {"held_out": 6_548_660})
def criteo_split(held_out: int = CRITEO_HELD_OUT) -> Facts:
    total = CRITEO_TRAIN + 2 * held_out
    yield Fact("validation, test", held_out, "=", total // 7, "floor of a seventh: rows, not days")
    yield Fact("train + validation + test", total, "=", 45_840_617, "all labelled rows")


@settles("criteo-significant", {"n": 10_000})
def criteo_significant(n: int = CRITEO_HELD_OUT) -> Facts:
    a, b = CRITEO_ACCURACY["AdaNet"], CRITEO_ACCURACY["NN"]
    z = (a - b) / math.sqrt((a * (1 - a) + b * (1 - b)) / n)
    yield Fact("z", z, "=", 15.4, "", "unpaired, test sampling only", 0.05)
    least = (a - b - 1e-4) / math.sqrt((a * (1 - a) + b * (1 - b)) / n)
    yield Fact("z if both were rounded against it", least, ">", 14.9)


def embedding(d: int) -> float:
    """The printed embedding dimension of a feature with d values."""
    return 6 * d**0.25 if d > 25 else float(d)


@settles("embedding-size", {"threshold": 10})
def embedding_size(threshold: int = 25) -> Facts:
    below, above = embedding(threshold), embedding(threshold + 1)
    yield Fact("dimension at 26 values", above, "<", below, "dimension at 25 values")
    yield Fact("dimension at 26 values", above, "=", 13.55, "", "", 5e-3)
    back = next(d for d in range(threshold + 1, 1000) if embedding(d) >= 25)
    yield Fact("values at which it is 25 again", back, "=", 302)
