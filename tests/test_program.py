"""The program and the formula: errors are the program's own, whatever exact arithmetic can decide."""

import numpy as np
import torch
from torch import nn

from verify import verify_bounds
from verify.reading.program import ModuleProgram, NamedProgram, decided, errors


def test_decisions_of_one_two_and_more_outputs_with_ties_and_nan():
    assert decided(np.array([[1.0], [-0.0], [np.nan], [-np.inf]])).tolist() == [1, 0, 0, -1]
    assert decided(np.array([[np.inf, np.inf], [0.0, 1e-300], [np.nan, 1.0]])).tolist() == [0, 1, 0]
    assert decided(np.array([[1.0, 2.0, 2.0], [np.nan, 1.0, 2.0], [-3.0, -1.0, -2.0]])).tolist() == [-1, -1, 1]
    assert errors(np.array([-1, 1, 2]), np.array([0, 1, 0])) == 2


def test_a_module_runs_in_its_own_type_of_numbers():
    module = nn.Linear(1, 1, bias=False, dtype=torch.bfloat16)
    nn.init.ones_(module.weight)
    assert ModuleProgram(module).outputs(np.array([[1.001], [3.0]]))[:, 0].tolist() == [1.0, 3.0]


def test_names_become_decisions_and_unknown_ones_none():
    two = NamedProgram(lambda X: np.array(["b", "a", "c"]), ("a", "b"))
    assert two.predict(np.zeros((3, 1))).tolist() == [1, -1, 0]
    three = NamedProgram(lambda X: np.array([7, 9, 8, 1]), (7, 8, 9))
    assert three.predict(np.zeros((4, 1))).tolist() == [0, 2, 1, -1]


class _Swallowed(nn.Module):
    """In float32 the bias takes x with it, in float64 it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(1, 1), nn.Linear(1, 1)
        with torch.no_grad():
            for part, bias in ((self.up, 2.0**26), (self.down, -(2.0**26))):
                part.weight.fill_(1.0)
                part.bias.fill_(bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x))


def test_errors_of_a_float32_module_are_its_own():
    X = np.random.default_rng(0).choice([-1.0, 1.0], (60, 1)) + np.arange(60)[:, None] / 1e3
    y = np.sign(X[:, 0])
    found = verify_bounds(_Swallowed().eval(), X[:40], y[:40], test=(X[40:], y[40:]), draws=None)
    assert found.sample.train_error == 1
    assert found.test.error == 1
