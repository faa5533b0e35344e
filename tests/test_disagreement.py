"""disagreement: the bound of a network that was not touched, and what makes it false."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_train import certify
from adanet_train.compression.disagreement import NONE, Disagreement, decisions, disagreement
from adanet_train.picking.certify import Certified


class Fixed:
    """A certified network: sign of the first coordinate, R <= .1 at every δ."""

    def __init__(self) -> None:
        self.module = nn.Linear(2, 1, bias=False)
        with torch.no_grad():
            self.module.weight.copy_(torch.tensor([[1.0, 0.0]]))

    def at(self, delta: float) -> float:
        self.asked = delta
        return 0.1


def test_an_error_of_f_is_one_of_g_or_a_difference() -> None:
    U = torch.tensor([[1.0, 0.0], [1.0, -3.0], [-1.0, 0.0], [-2.0, 1.0]])
    f, g = nn.Linear(2, 1, bias=False), Fixed()
    with torch.no_grad():
        f.weight.copy_(torch.tensor([[1.0, 0.5]]))
    certified = disagreement(f, g, U, delta=0.1)
    assert (certified.disagreements, certified.n, g.asked) == (1, 4, 0.05)
    assert np.isclose(certified.bound, 0.1 + clopper_pearson(1, 4, 0.05), rtol=1e-8)


def test_ties_and_nan_of_either_are_differences() -> None:
    U = torch.tensor([[0.0, 0.0], [1.0, 0.0]])
    assert disagreement(Fixed().module, Fixed(), U).disagreements == 1
    many = nn.Identity()
    values = torch.tensor([[1.0, 1.0, 0.0], [float("nan"), 1.0, 0.0], [0.0, 2.0, 1.0]])
    assert decisions(many, values).tolist() == [NONE, NONE, 1]


def test_estimators_decide_by_the_place_of_their_class() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    f = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    U = torch.from_numpy(np.random.default_rng(1).normal(size=(300, 2)))
    certified = disagreement(f, Fixed(), U)
    assert certified.disagreements < 20
    assert certified.bound < 0.1 + 0.12


def test_points_of_the_sample_are_refused() -> None:
    X = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match=r"7 of the 9 .* U .*sample"):
        disagreement(Fixed().module, Fixed(), torch.cat([X[:7], torch.ones(2, 2) * 9]), X=X)


def test_a_row_that_was_stored_in_float32_is_a_row_of_the_sample_beside_others_in_float64() -> None:
    draw = torch.Generator().manual_seed(0)
    X, U = (torch.randn(50, 2, generator=draw, dtype=torch.float64) for _ in range(2))
    f, g = Fixed().module, Fixed()
    assert disagreement(f, g, U, X=X).n == 50
    short = X[:3].float().double()
    for points, sample in ((torch.cat([U, short]), X), (torch.cat([U, X[:3]]), torch.cat([X[9:], short]))):
        with pytest.raises(ValueError, match=r"3 of the 53 .* U .*sample"):
            disagreement(f, g, points, X=sample)


def certified(names: list[str], copies: int = 1) -> Certified:
    """Three classes by the first coordinate, on 300 rows."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.array(names)[np.digitize(X[:, 0], [-0.5, 0.5])]
    return certify(LogisticRegression(max_iter=500), np.repeat(X, copies, axis=0), np.repeat(y, copies), K=0)


def test_classes_are_compared_by_name() -> None:
    """f knows two of three classes: by their numbers it agreed where it is wrong, .35 for a risk of .68."""
    g = certified(["a", "b", "c"])
    U = np.random.default_rng(1).normal(size=(2000, 2))
    f = LogisticRegression().fit(g.points.X, np.where(g.points.y == 0, "b", "c"))
    risk = np.mean(f.predict(U) != np.array(["a", "b", "c"])[np.digitize(U[:, 0], [-0.5, 0.5])])
    assert disagreement(f, g, U).bound >= risk > 0.6
    g_of_others = certified(["u", "v", "w"])
    with pytest.raises(ValueError, match="must have the same classes, got 'b', 'c' and 'u', 'v', 'w'"):
        disagreement(f, g_of_others, U)


@pytest.mark.filterwarnings("ignore:.*repeat an earlier one")
def test_copies_are_no_new_draws() -> None:
    U = torch.from_numpy(np.random.default_rng(1).normal(size=(30, 2)))
    with pytest.raises(ValueError, match="60 of the 90 points of U repeat an earlier one"):
        disagreement(Fixed().module, Fixed(), U.repeat(3, 1))
    assert disagreement(Fixed().module, Fixed(), U.repeat(3, 1), discrete=True).n == 90
    g = certified(["a", "b", "c"], copies=2)
    with pytest.raises(ValueError, match="g has no certificate: 300 of 600 rows repeat an earlier one"):
        disagreement(g.predictor, g, U)


def test_points_that_g_was_certified_on_are_refused_without_naming_them() -> None:
    g = certified(["a", "b", "c"])
    with pytest.raises(ValueError, match="10 of the 10 points of U are rows of the sample"):
        disagreement(g.predictor, g, g.points.X[::-1][:10])


def test_delta_and_empty_points_are_checked() -> None:
    with pytest.raises(ValueError, match="delta"):
        disagreement(Fixed().module, Fixed(), torch.ones(3, 2), delta=0)
    with pytest.raises(ValueError, match="row for each point"):
        disagreement(Fixed().module, Fixed(), torch.ones(0, 2))


def test_the_bound_is_at_most_one() -> None:
    assert Disagreement(0.9, 5, 5, 0.05).bound == 1
