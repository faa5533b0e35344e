"""The probability that AdaNet's f stands for, and Criteo's file on the disk."""

import math

import pytest
import torch

from verify.experiments.protocols import criteo_ads
from verify.experiments.protocols.criteo_ads import log_loss
from verify.experiments.running import grids


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9])
def test_the_log_loss_is_that_of_the_probability_at_which_f_is_best(p):
    """f* = argmin p softplus(1 - f) + (1 - p) softplus(1 + f) is found by a grid, and its loss must be the entropy."""
    f = torch.linspace(-8, 8, 2_000_001, dtype=torch.float64)
    softplus = torch.nn.functional.softplus
    best = f[(p * softplus(1 - f) + (1 - p) * softplus(1 + f)).argmin()]
    expected_loss = p * log_loss(best, shifted=True) + (1 - p) * log_loss(-best, shifted=True)
    entropy = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert float(expected_loss) == pytest.approx(entropy, rel=1e-9)
    plain = f[(p * softplus(-f) + (1 - p) * softplus(f)).argmin()]
    expected_loss = p * log_loss(plain, shifted=False) + (1 - p) * log_loss(-plain, shifted=False)
    assert float(expected_loss) == pytest.approx(entropy, rel=1e-9)


def test_a_large_file_is_encoded_on_the_disk(tmp_path, monkeypatch):
    from tests.test_criteo import some_rows, write

    path = write(tmp_path / "train.txt", some_rows())
    small = criteo_ads._read.__wrapped__(str(path))
    monkeypatch.setattr(criteo_ads, "LARGE", 0)
    large = criteo_ads._read.__wrapped__(str(path))
    assert type(large.train.codes).__name__ == "memmap"
    assert large.train.codes.tolist() == small.train.codes.tolist()
    assert large.test.counts.tolist() == small.test.counts.tolist()


def test_the_grids_have_the_setting_that_reads_some_rows_at_a_time():
    from adanet_train.core.config import Config

    for name in ("full", "reduced"):
        config = Config.from_dict(grids.criteo(name)["adanet"][-1])
        assert (config.search.learner, config.goal.lam) == ("committee", None)
