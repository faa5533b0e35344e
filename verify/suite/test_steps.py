"""The step of AdaNet.CVX: the closed form against the exact joint minimiser, when to stop, and which layer to take."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, find, given
from hypothesis import strategies as st
from torch import Tensor

from adanet_theory.duality import dual_vector, guaranteed_decrease, is_optimal, layer_score
from adanet_theory.norms import p_norm
from adanet_train.convex.cvx_exact import minimise_norm, minimise_scalar
from adanet_train.core.config import Config
from adanet_train.core.surrogates import surrogate
from adanet_train.methods import adanet_cvx
from adanet_train.search import objective
from verify.suite.profiles import chance, search, share
from verify.suite.strategies import CvxStep, columns, labels, steps
from verify.suite.tightness import below, keep

GAP = 1e-9  # what the solvers certify, with a margin


def F(step: CvxStep, v: Tensor) -> float:
    """The loss of f + v·z plus Γ ||v||_p, so Λ = 1."""
    return objective.loss(surrogate(step.Phi), step.y, step.f + step.Z @ v) + step.Gamma * p_norm(v.numpy(), step.p)


def slope(step: CvxStep) -> np.ndarray:
    """ε S_t/m."""
    pull = step.y * surrogate(step.Phi).derivative(1 - step.y * step.f)
    return (pull @ step.Z / len(step.y)).numpy()


def closed_form(step: CvxStep) -> tuple[Tensor, float]:
    """The outputs h of the closed-form unit, and min_w F along it."""
    h = step.Z @ torch.from_numpy(dual_vector(slope(step), 1.0, step.p))
    return h, minimise_scalar(h, step.y, step.f, step.Gamma, surrogate(step.Phi)).objective


def joint(step: CvxStep) -> tuple[float, float]:
    """The least F over all units and weights, from above and from below."""
    least = minimise_norm(step.Z, step.y, step.f, step.Gamma, step.p, surrogate(step.Phi))
    return least.objective, least.objective - least.gap


@pytest.mark.claim("cvx-joint-minimiser")
@share(2)
@given(steps())
def test_the_closed_form_is_never_better_than_the_joint_minimiser(step: CvxStep) -> None:
    closed, (upper, lower) = closed_form(step)[1], joint(step)
    assert lower <= upper <= closed + GAP * max(1.0, closed)
    keep("cvx-joint-minimiser: (F_closed - F_joint)/F_0", (closed - upper) / F(step, 0 * step.Z[0]), str(step))


@share(2)
@given(steps(), st.data())
def test_the_certificate_of_the_joint_minimiser_holds(step: CvxStep, data: st.DataObject) -> None:
    """No v at all is below objective - gap: not 0, not the closed form, not one that hypothesis looks for."""
    v = data.draw(columns(step.Z.shape[1], 1))[:, 0]
    lower = joint(step)[1]
    below("joint minimum <= F(v)", lower, F(step, v), str(step), rounding=GAP)


@pytest.mark.claim("cvx-joint-minimiser")
def test_that_the_closed_form_is_not_the_joint_minimiser_is_found_unaided() -> None:
    def fails(step: CvxStep) -> bool:
        return closed_form(step)[1] > joint(step)[0] + 0.05

    step = find(steps(), fails, settings=search(), random=chance())
    assert step.Z.shape[1] >= 2, "with one input there is nothing to choose"


@pytest.mark.claim("cvx-joint-minimiser")
@share(4)
@given(steps())
def test_with_one_input_the_closed_form_is_exact(step: CvxStep) -> None:
    one = CvxStep(step.Z[:, :1].contiguous(), step.y, step.f, step.Gamma, step.p, step.Phi)
    assert closed_form(one)[1] == pytest.approx(joint(one)[0], rel=GAP)


# When to stop


@pytest.mark.claim("adanet-stop-optimal")
@share(2)
@given(steps(), st.data(), st.sampled_from([0.5, 1.0, 1.5]))
def test_zero_is_optimal_just_where_the_score_is_at_most_the_penalty(
    step: CvxStep, data: st.DataObject, share_of_g: float
) -> None:
    g = layer_score(slope(step), 1.0, step.p, 1.0)
    assume(g > 1e-3)
    step = CvxStep(step.Z, step.y, step.f, share_of_g * g, step.p, step.Phi)
    start = F(step, 0 * step.Z[0])
    if is_optimal(g, step.Gamma):
        v = data.draw(columns(step.Z.shape[1], 1))[:, 0]
        assert F(step, v) >= start * (1 - 1e-14)
        assert joint(step)[1] >= start * (1 - GAP)
    else:
        assert closed_form(step)[1] < start


@pytest.mark.claim("cvx-decrease")
@share(2)
@given(steps(names=("logistic", "logistic2")), st.floats(0, 0.99))
def test_the_decrease_is_guaranteed(step: CvxStep, share_of_g: float) -> None:
    g = layer_score(slope(step), 1.0, step.p, 1.0)
    assume(g > 1e-2)
    step = CvxStep(step.Z, step.y, step.f, max(share_of_g * g, 1e-3), step.p, step.Phi)
    h, closed = closed_form(step)
    tau, mean_square = surrogate(step.Phi).curvature, float((h * h).mean())
    gain = F(step, 0 * step.Z[0]) - closed
    bound = guaranteed_decrease(g, step.Gamma, tau=tau, mean_square=mean_square)
    assume(bound > 1e-8)  # beyond that it is a difference of rounding errors
    below("cvx-decrease: guaranteed <= gain", bound, gain, str(step), rounding=1e-6)


# Which layer


@st.composite
def layers(draw: st.DrawFn) -> tuple[CvxStep, CvxStep]:
    """Two layers that a unit may read, each with its Γ: the same sample and f."""
    m = draw(st.integers(2, 5))
    y, f = draw(labels(m)), draw(columns(m, 1, reach=1.0))[:, 0].contiguous()
    Gamma = st.sampled_from([0.02, 0.1, 0.3, 1.0])
    first, second = (CvxStep(draw(columns(m, 2, reach)), y, f, draw(Gamma), 2.0, "logistic") for reach in (1.0, 20.0))
    return first, second


def chosen(pair: tuple[CvxStep, CvxStep], rule: str) -> float:
    """F after the closed-form step in the layer that the rule takes."""
    g = [layer_score(slope(step), 1.0, step.p, 1.0) for step in pair]
    F_s = [closed_form(step)[1] for step in pair]
    score = {"printed": g, "excess": [a - step.Gamma for a, step in zip(g, pair, strict=True)]}
    return min(F_s) if rule == "compare" else F_s[int(np.argmax(score[rule]))]


@pytest.mark.claim("cvx-layer")
@pytest.mark.parametrize("rule", ["printed", "excess"])
def test_that_a_score_takes_the_wrong_layer_is_found_unaided(rule: str) -> None:
    """argmax g_s, as printed, and argmax (g_s - Γ_s): both depend on the scale of the layer."""

    def fails(pair: tuple[CvxStep, CvxStep]) -> bool:
        return chosen(pair, rule) > chosen(pair, "compare") + 0.01

    find(layers(), fails, settings=search(), random=chance())


@pytest.mark.claim("cvx-layer")
@share(4)
@given(columns(6, 2), st.sampled_from([1.0, 2.0, float("inf")]), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_trainer_keeps_the_layer_that_ends_lowest_and_stops_where_none_helps(
    Psi: Tensor, p: float, Gamma: float
) -> None:
    y = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
    runs = {}
    for step in ("closed-form", "exact"):
        config = Config(rounds=4, p=p, Lambda=1.0, lam=0.0, beta=Gamma, max_depth=2, step=step)
        runs[step] = adanet_cvx.train(Psi, y, config).history
        before = objective.loss(surrogate("logistic"), y, 0 * y)
        for entry in runs[step]:
            values = [candidate["objective"] for candidate in entry["candidates"]]
            if entry["chosen"] >= 0:
                assert entry["objective"] == pytest.approx(min(values), rel=1e-12)
                assert entry["objective"] < before
            else:
                assert not values or min(values) >= before * (1 - 1e-12)
            before = entry["objective"]
    first = {step: history[0]["objective"] for step, history in runs.items()}
    assert first["exact"] <= first["closed-form"] + GAP
