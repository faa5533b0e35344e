"""What verify_bounds accepts as a predictor: modules with a sigmoid at their end, estimators, files, black boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from adanet_train.reading.trace import require_equal, trace
from verify import verify_bounds


def seeded(*parts: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    for part in parts:
        for parameter in part.parameters():
            nn.init.normal_(parameter)
    return nn.Sequential(*parts).eval()


def uniform(m: int, *shape: int) -> Any:
    return np.random.default_rng(0).uniform(-1, 1, size=(m, *shape))


# A sigmoid or softmax at the end


class Function(nn.Module):
    """A Linear below a function of torch."""

    def __init__(self, outputs: int, function: Any) -> None:
        super().__init__()
        self.below = seeded(nn.Linear(3, outputs))
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.function(self.below(x))
        return result


LINKED: list[tuple[nn.Module, str]] = [
    (seeded(nn.Linear(3, 1), nn.Sigmoid()), "sigmoid"),
    (seeded(nn.Linear(3, 1), nn.Sigmoid(), nn.Flatten(0)), "sigmoid"),
    (seeded(nn.Linear(3, 3), nn.Sigmoid()), "sigmoid"),
    (seeded(nn.Linear(3, 2), nn.Softmax(dim=1)), "softmax"),
    (seeded(nn.Linear(3, 4), nn.LogSoftmax(dim=-1)), "log_softmax"),
    (Function(1, torch.sigmoid), "sigmoid"),
    (Function(1, lambda z: z.sigmoid().squeeze(1)), "sigmoid"),
    (Function(3, lambda z: nn.functional.softmax(z, dim=1)), "softmax"),
    (Function(3, lambda z: z.log_softmax(-1)), "log_softmax"),
]


@pytest.mark.parametrize(("module", "link"), LINKED)
def test_a_sigmoid_or_softmax_at_the_end_is_taken_off_and_decides_alike(module: nn.Module, link: str) -> None:
    X = uniform(200, 3)
    graph = trace(module, (3,))
    assert graph.link == link
    require_equal(graph, module, X)
    with torch.no_grad():
        out = module.double()(torch.from_numpy(X)).reshape(200, -1).numpy()
    y = out.argmax(axis=1) if out.shape[1] > 1 else (out[:, 0] > 0.5).astype(int)
    assert len(set(y.tolist())) > 1
    report = verify_bounds(module, X, y, draws=None)
    assert report.sample.train_error == 0
    assert any(f"the {link} at the end changes no decision" in note for note in report.notes)


def test_a_sigmoid_that_is_read_again_stays() -> None:
    def gated(z: Tensor) -> Tensor:
        p = torch.sigmoid(z)
        return p + 2 * p

    assert trace(Function(1, gated), (3,)).link == ""


def test_the_logits_are_compared_with_the_module_and_not_its_probabilities() -> None:
    """Far out a sigmoid is 1 whatever f is: a difference there would not be seen behind it."""
    module = seeded(nn.Linear(3, 1), nn.Sigmoid())
    other = seeded(nn.Linear(3, 1), nn.Sigmoid())
    with torch.no_grad():
        module[0].bias.fill_(60.0)
        other[0].bias.fill_(61.0)
    graph = trace(module, (3,))
    with pytest.raises(ValueError, match="read as a graph it gives"):
        require_equal(graph, other, uniform(20, 3))
