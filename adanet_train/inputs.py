"""What a training run is given: the sample as the trainer sees it, and the points to test on."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.config import Config
from adanet_train.data import datasets
from adanet_train.data.datasets import Dataset
from adanet_train.data.features import FeatureMap


@dataclass(frozen=True, eq=False)
class Inputs:
    dataset: Dataset
    features: FeatureMap | None
    Psi: Tensor
    y: Tensor
    test: tuple[Tensor, Tensor] | None


def read_inputs(
    source: str, *, test: str | None, label: str | None, data_dir: str | None, bias: bool | None, center: bool = False
) -> Inputs:
    """Everything read and checked before the training begins; `bias` None is yes for X, and no for Psi."""
    dataset = datasets.load(source, label=label, data_dir=data_dir)
    dataset.require_trainable()
    check(not (dataset.is_psi and bias), "--bias needs X: Psi is taken as it is.")
    features = dataset.feature_map(bias=bias is not False, center=center)
    Psi, y = torch.from_numpy(dataset.Psi(features)), torch.from_numpy(dataset.y)
    if test is None:
        return Inputs(dataset, features, Psi, y, None)
    held_out = datasets.load(test, label=label, data_dir=data_dir, test=True, classes=dataset.classes)
    check(held_out.is_psi == dataset.is_psi, f"{test}: expected {'Psi' if dataset.is_psi else 'X'} as in training.")
    test_Psi = torch.from_numpy(held_out.Psi(features))
    fits = test_Psi.shape[1] == Psi.shape[1]
    check(fits, f"{test}: Psi must have {Psi.shape[1]} columns, got {test_Psi.shape[1]}.")
    return Inputs(dataset, features, Psi, y, (test_Psi, torch.from_numpy(held_out.y)))


def range_of(inputs: Inputs, config: Config, *, told: bool) -> float:
    """r_sup, on which the bound objective rests: the feature map knows it; of Psi as given only the user can."""
    if inputs.features is not None:
        return inputs.features.r_sup
    check(told or config.objective != "bound", "objective bound on Psi needs its range: --set r_sup=R.")
    largest = float(inputs.Psi.abs().max())
    check(not told or largest <= config.r_sup, f"r_sup must be >= max |Psi| = {largest}, got r_sup={config.r_sup}.")
    return config.r_sup
