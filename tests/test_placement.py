"""Everything on one device: a round runs under FakeTensorMode on a device that is not the CPU, where mixing fails."""

import math

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from adanet_train.core.config import Config
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.search.complexity import penalty
from adanet_train.search.descent import GradientSearch, SubnetworkProblem
from adanet_train.search.growth import Growth, Part
from adanet_train.search.weak_learners import Task, start
from adanet_train.search.weak_learners import generator as draws

DEVICE = "lazy"  # any device but the CPU will do; "cuda" ends the process in a build without it


def fake(*shape: int) -> torch.Tensor:
    return torch.empty(*shape, dtype=torch.float64, device=DEVICE)


def test_mixing_devices_does_fail_here():
    with FakeTensorMode(), pytest.raises(Exception, match="device"):
        fake(3) + torch.empty(3)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("variant", ["base", "R", "D"])
@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
def test_the_search_stays_on_its_device_and_never_waits_for_it(optimiser, variant, p):
    """A wait (.item(), a branch on a value) raises under FakeTensorMode too: fake tensors have no values."""
    config = Config(learner="gradient", optimiser=optimiser, variant=variant, p=p, batch=10, dropout=0.5)
    with FakeTensorMode(allow_non_fake_inputs=True):
        inputs, y, f = [fake(40, 4), fake(40, 3), fake(40, 3)], fake(40), fake(40)
        task = Task(inputs, y, f, 5, config.declared(4), config, lambda k, H: fake(H.shape[1]))
        U = start(task, draws(0, 1, 0))
        problem = SubnetworkProblem(inputs, y, f, (3,), [1.0] * 3, [fake(5)], dropout=0.5 if variant == "D" else 0.0)
        search = GradientSearch(problem, U, [fake(5)], config, draws(0, 1, 1))
        for number in range(1, 10):  # more than two passes over the sample
            search.step(number)
        assert {tensor.device.type for tensor in (search.theta, search.slopes, *search.U)} == {DEVICE}


def test_growth_stays_on_its_device():
    config = Config(learner="gradient", rounds=2, width=3, lam=1e-5, complexity="sqrt-depth")
    with FakeTensorMode():
        Psi = fake(20, 4)
        growth = Growth(Points(Psi, device=DEVICE), "relu")
        Gamma = penalty(config, config.declared(4), Psi)
        for block in ({1: fake(3, 4), 2: fake(3, 3)}, {1: fake(3, 4), 2: fake(3, 6), 3: fake(3, 6)}):
            top = max(block)
            H = growth.outputs(block, [top])
            growth.extend(Part(block, {top: fake(3)}, {top: Gamma(top, H[top])}, H=H), H)
        growth.reweight(fake(6))
        H, price, w = growth.columns()
        network = growth.network
        tensors = [
            growth.f,
            *growth.existing(3),
            *network.hidden.values(),
            *network.output.values(),
            H,
            price,
            w,
            network(Psi),
        ]
        assert {tensor.device.type for tensor in tensors} == {DEVICE}
        assert Network.empty(4, device=DEVICE).hidden[1, 0].device.type == DEVICE
