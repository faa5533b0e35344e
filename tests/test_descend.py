"""The one descent: Adam is the textbook's, the best look is kept, and a search that gets no better ends."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from adanet_train.core.descend import Adam, Gradient, descend


class Walk:
    """Looks that are given; theta counts the steps."""

    def __init__(self, looks: list[float]) -> None:
        self.theta, self.looks = torch.zeros(1), looks

    def step(self, number: int) -> None:
        assert number == float(self.theta) + 1
        self.theta += 1

    def look(self) -> float:
        return self.looks.pop(0)


@pytest.mark.parametrize(
    ("looks", "best", "last"),
    [
        ([3.0, 2.0, 1.0, 0.5], 7, 7),  # after 0, 3, 6 and the last, 7
        ([3.0, 2.0, 2.5, 2.5], 3, 7),
        ([3.0, 3.5, 3.5], 0, 6),  # two in a row are one too many
        ([3.0, 2.0, math.nan], 3, 6),
    ],
)
def test_the_best_look_is_kept_and_no_patience_is_lost(looks, best, last):
    walk, expected = Walk(looks), np.nanmin(looks)
    theta, least = descend(walk, steps=7, every=3, patience=2)
    assert float(theta) == best
    assert least == expected
    assert float(walk.theta) == last
    assert walk.looks == []


def slopes_of(theta: Tensor) -> Tensor:
    return theta.sin() + theta**3


@pytest.mark.parametrize("memory", [0.99, 0.999])
def test_adam_is_that_of_torch(memory):
    ours, theirs = (torch.tensor([1.0, -2.0, 1e-6], dtype=torch.float64) for _ in range(2))
    adam, torchs = Adam(ours, memory), torch.optim.Adam([theirs], lr=0.0, betas=(0.9, memory))
    for step in range(30):
        theirs.grad = slopes_of(theirs)
        torchs.param_groups[0]["lr"] = 0.1 / (1 + step)
        torchs.step()
        adam.step(slopes_of(ours), 0.1 / (1 + step))
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_adam_is_the_textbooks_and_leaves_other_rows_alone():
    values = np.array([[1.0, -2.0], [3.0, 4.0]])
    adam = Adam(torch.tensor(values))
    mean = square = np.zeros(2)
    for t, slope in enumerate(np.array([[1.0, -3.0], [0.5, 2.0], [-4.0, 0.1]]), 1):
        adam.step(torch.tensor(slope[None]), 0.1, torch.tensor([1]))
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        values[1] -= 0.1 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(adam.theta.numpy(), values, rtol=1e-12)


def test_plain_steps_follow_the_slopes():
    theta = torch.tensor([1.0, 2.0])
    Gradient(theta).step(torch.tensor([0.5, -1.0]), 0.1)
    torch.testing.assert_close(theta, torch.tensor([0.95, 2.1]))
