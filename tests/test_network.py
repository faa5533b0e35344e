"""Networks as plain tensors: the forward pass, growth by blocks and the way back."""

import itertools

import numpy as np
import pytest
import torch

from adanet_theory.activations import ACTIVATIONS, activation
from adanet_train.core.activations import apply_activation
from adanet_train.core.network import Network
from tests.refusals import refused


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", [*ACTIVATIONS[:-1], "leaky_relu:0.3", "leaky_relu:-0.5", "leaky_relu:2.0"])
def test_torch_and_theory_mean_the_same_activation(name):
    h = torch.cat([torch.linspace(-30, 30, 1001, dtype=torch.float64), torch.tensor([0.0, -800.0, 800.0])])
    np.testing.assert_allclose(apply_activation(name, h).numpy(), activation(name)(h.numpy()), rtol=1e-14, atol=1e-15)


def test_unknown_activation():
    refused(lambda: apply_activation("swish", torch.zeros(1)), "activation must be")


def test_forward_is_the_definition():
    U = {(1, 0): randn(4, 3), (2, 1): randn(5, 4, seed=1), (3, 1): randn(2, 4, seed=2), (3, 2): randn(2, 5, seed=3)}
    w = {1: randn(4, seed=4), 3: randn(2, seed=5)}
    Psi = randn(6, 3, seed=6)
    f = Network((3, 4, 5, 2), U, w, ("relu", "tanh"))(Psi)
    for i in range(6):
        h1 = U[1, 0] @ Psi[i]
        h2 = U[2, 1] @ h1.clamp_min(0)
        h3 = U[3, 1] @ h1.clamp_min(0) + U[3, 2] @ torch.tanh(h2)
        assert f[i].item() == pytest.approx((w[1] @ h1 + w[3] @ h3).item(), rel=1e-12)


def grown() -> list[Network]:
    """Empty; then a subnetwork of depth 2; one of depth 1; one of depth 3 reading everything below."""
    first = {1: randn(3, 4), 2: randn(2, 3, seed=1)}
    second = {1: randn(2, 4, seed=2)}
    third = {1: randn(1, 4, seed=3), 2: randn(2, 6, seed=4), 3: randn(2, 4, seed=5)}
    networks = [Network.empty(4)]
    networks.append(networks[-1].extended(first, {2: randn(2, seed=6)}, "relu"))
    networks.append(networks[-1].extended(second, {1: randn(2, seed=7)}, "relu"))
    networks.append(networks[-1].extended(third, {2: randn(2, seed=8), 3: randn(2, seed=9)}, "relu"))
    return networks


def test_growing_leaves_the_old_units_as_they_are():
    networks, Psi = grown(), randn(7, 4, seed=10)
    assert [network.n for network in networks] == [(4, 0), (4, 3, 2), (4, 5, 2), (4, 6, 4, 2)]
    for before, after in itertools.pairwise(networks):
        for h, wider in zip(before.layers(Psi), after.layers(Psi), strict=False):
            torch.testing.assert_close(wider[:, : h.shape[1]], h)
    assert torch.equal(networks[0](Psi), torch.zeros(7, dtype=torch.float64))


def test_f_grows_by_the_new_units():
    networks, Psi = grown(), randn(7, 4, seed=10)
    h = networks[3].layers(Psi)
    new = h[1][:, 2:] @ randn(2, seed=8) + h[2] @ randn(2, seed=9)
    torch.testing.assert_close(networks[3](Psi), networks[2](Psi) + new)


def test_block_undoes_extended():
    network = grown()[-1]
    block, output = network.block({1: 5, 2: 2}, {1: 1, 2: 2, 3: 2})
    assert torch.equal(block[2], randn(2, 6, seed=4))
    assert torch.equal(block[3], randn(2, 4, seed=5))
    assert output[1].tolist() == [0]
    assert torch.equal(output[3], randn(2, seed=9))
