"""The fuzz of reading: what is read is the module at every point, or it is refused; the program stays within its e."""

import numpy as np
import pytest
import torch

from adanet_train.reading import arithmetic, enclosure
from adanet_train.reading.graph import Graph
from adanet_train.reading.recorder import UnreadableModule
from adanet_train.reading.trace import require_equal, trace
from tests.random_modules import Random


def read(module: Random) -> Graph | None:
    """None where it is refused, for a change in place or because torch refuses it itself."""
    try:
        return trace(module, (4,))
    except UnreadableModule as refused:
        if "writes over" in str(refused) or "forward fails" in str(refused):
            return None
        raise


@pytest.mark.parametrize("depth", [3, 8, 30])
def test_in_place_changes_are_refused_or_read_as_the_module_has_them(depth: int) -> None:
    X = np.random.default_rng(depth).standard_normal((12, 4)) * 10
    count = 0
    for seed in range(60):
        module = Random(seed, depth, in_place=0.3).double()
        graph = read(module)
        if graph is None:
            continue
        count += 1
        f, _ = enclosure.values(graph, X)
        with torch.no_grad():
            own = module(torch.from_numpy(X)).numpy()
        assert (np.abs(f - own) <= 1e-9 * (1 + np.abs(own))).all(), (seed, depth)
        require_equal(graph, module, X)
    assert 1 <= count < 60  # some of both


def test_of_modules_without_in_place_changes_none_is_refused() -> None:
    for seed in range(40):
        module = Random(seed, 12, in_place=0.0)
        graph = trace(module, (4,))
        require_equal(graph, module, np.random.default_rng(seed).standard_normal((5, 4)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("depth", [3, 8, 30])
def test_a_program_stays_within_its_proved_distance_of_the_formula(dtype: torch.dtype, depth: int) -> None:
    r, draw = 2.0, np.random.default_rng(depth)
    X = np.concatenate([draw.uniform(-r, r, (40, 4)), draw.choice([-r, r], (40, 4)), np.zeros((1, 4))])
    proved = 0
    for seed in range(25):
        module = Random(seed, depth, in_place=0.1, outputs=1 + seed % 3).to(dtype)
        if read(module) is None:
            continue
        try:
            e = arithmetic.difference(trace(module, (4,), fold=False), r, dtype)
        except arithmetic.NoProof:
            continue
        proved += 1
        f, error = enclosure.values(trace(module, (4,)), X)
        with torch.no_grad():
            own = module(torch.from_numpy(X).to(dtype)).double().numpy()
        assert (np.abs(f - own) <= e + error).all(), (seed, depth)
    assert proved >= 5


def test_the_proved_distance_is_not_far_above_the_largest_seen() -> None:
    """One sum of 512 ones: a bound that grew with more than the number of roundings would be of no use."""
    module = torch.nn.Linear(512, 1, bias=False)
    with torch.no_grad():
        module.weight.fill_(1.0)
    e = arithmetic.difference(trace(module, (512,), fold=False), 1.0, torch.float32)
    assert 512 * 2.0**-24 * 512 < e < 20 * 512 * 2.0**-24 * 512
