"""The objective: convex, not uniquely minimised, a bound on the zero-one loss; and the printed test of candidates."""

from __future__ import annotations

import pytest
import torch
from hypothesis import find, given
from hypothesis import strategies as st
from torch import Tensor

from adanet_theory.risk.margin import ramp_loss
from adanet_train.convex.mixture import minimise
from adanet_train.core.surrogates import SURROGATES, surrogate
from adanet_train.search import objective
from paper_notes import claims
from verify.claims.run import run
from verify.suite.profiles import chance, search, share
from verify.suite.strategies import columns, labels
from verify.suite.tightness import below

Phis = st.sampled_from(sorted(SURROGATES))


def F(Phi: str, H: Tensor, y: Tensor, w: Tensor, Gamma: Tensor) -> float:
    return objective.loss(surrogate(Phi), y, H @ w) + float(Gamma @ w.abs())


@st.composite
def samples(draw: st.DrawFn, units: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """H, y and Γ > 0."""
    m = draw(st.integers(2, 6))
    Gamma = torch.tensor([draw(st.sampled_from([0.01, 0.05, 0.2])) for _ in range(units)], dtype=torch.float64)
    return draw(columns(m, units)), draw(labels(m)), Gamma


def weights(units: int = 3) -> st.SearchStrategy[Tensor]:
    return columns(units, 1).map(lambda w: w[:, 0].contiguous())


@pytest.mark.claim("objective-unique")
@given(Phis, samples(), weights(), weights(), st.floats(0, 1))
def test_the_objective_is_convex(
    Phi: str, sample: tuple[Tensor, Tensor, Tensor], v: Tensor, w: Tensor, t: float
) -> None:
    H, y, Gamma = sample
    middle = F(Phi, H, y, t * v + (1 - t) * w, Gamma)
    below("F convex", middle, t * F(Phi, H, y, v, Gamma) + (1 - t) * F(Phi, H, y, w, Gamma), f"{Phi}, t = {t:g}")


@pytest.mark.claim("objective-unique")
@share(2)
@given(Phis, samples(1), st.floats(0, 1))
def test_copies_of_a_unit_have_a_segment_of_minimisers(
    Phi: str, sample: tuple[Tensor, Tensor, Tensor], t: float
) -> None:
    """relu(2x) = 2 relu(x): with Γ in proportion the weight can be moved from one to the other."""
    h, y, Gamma = sample
    H, both = torch.cat([h, 2 * h], 1), torch.cat([Gamma, 2 * Gamma])
    mixture = minimise(H, y, 0 * y, both, surrogate(Phi))
    total = float(mixture.w[0] + 2 * mixture.w[1])
    moved = torch.tensor([t * total, (1 - t) * total / 2], dtype=torch.float64)
    assert F(Phi, H, y, moved, both) == pytest.approx(mixture.objective, rel=1e-9)


@pytest.mark.claim("objective-unique")
@share(2)
@given(Phis, samples(1), st.floats(1, 20))
def test_without_a_penalty_separable_samples_have_no_minimiser(
    Phi: str, sample: tuple[Tensor, Tensor, Tensor], w: float
) -> None:
    H, y, _ = sample
    separating = y[:, None] * (H.abs() + 0.5)  # y h > 0 at every point
    one, zero = torch.tensor([w], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    assert F(Phi, separating, y, 2 * one, zero) < F(Phi, separating, y, one, zero)


# The surrogates against the losses they stand for


@pytest.mark.claim("shifted-surrogate")
@given(Phis, st.floats(-30, 60), st.floats(0.01, 1))
def test_the_shifted_surrogate_bounds_the_losses(Phi: str, u: float, part: float) -> None:
    loss = float(surrogate(Phi).value(torch.tensor([1 - u], dtype=torch.float64)))
    assert loss >= (u <= 0)
    rho = part * surrogate(Phi).rho_max
    below("shifted-surrogate: ψ_ρ(u) <= Φ(1-u)", ramp_loss([u], rho), loss, f"{Phi}, u = {u:.4g}, ρ = {rho:.4g}")


@pytest.mark.claim("logistic-zero-one")
def test_that_the_logistic_loss_is_no_bound_on_the_zero_one_loss_is_found_unaided() -> None:
    def fails(u: float) -> bool:
        return float(surrogate("logistic").value(torch.tensor([-u], dtype=torch.float64))) < (u <= 0)

    margin = find(st.floats(-10, 10), fails, settings=search(), random=chance())
    assert -0.5414 < margin <= 0


# The printed comparison


@pytest.mark.claim("adanet-comparison")
@share(2)
@given(Phis, samples(), st.data())
def test_the_printed_comparison_always_takes_the_deeper_candidate(
    Phi: str, sample: tuple[Tensor, Tensor, Tensor], data: st.DataObject
) -> None:
    """F_t(w, h') <= F_t(w', h') holds in ties only, as w' minimises F_t(., h'), however much better h is."""
    H, y, Gamma = sample
    deeper = data.draw(columns(len(y), 3))
    w, w_deep = (minimise(units, y, 0 * y, Gamma, surrogate(Phi)) for units in (H, deeper))
    printed_left = F(Phi, deeper, y, w.w, Gamma)
    below("F_t(w', h') <= F_t(w, h')", w_deep.objective - w_deep.gap, printed_left, Phi, rounding=1e-9)


@pytest.mark.claim("adanet-comparison")
def test_that_the_printed_comparison_takes_the_worse_candidate_is_found_unaided() -> None:
    def fails(example: tuple[tuple[Tensor, Tensor, Tensor], Tensor]) -> bool:
        (H, y, Gamma), deeper = example
        deeper = deeper[: len(y)]
        w, w_deep = (minimise(units, y, 0 * y, Gamma, surrogate("logistic")) for units in (H, deeper))
        chooses_deeper = F("logistic", deeper, y, w.w, Gamma) > w_deep.objective
        return chooses_deeper and w.objective < w_deep.objective - 0.1

    find(st.tuples(samples(), columns(6, 3)), fails, settings=search(), random=chance())


# The experiments' arithmetic, which has no random examples


@pytest.mark.parametrize("id", [id for id, claim in claims().items() if claim.section == "experiments"])
def test_the_arithmetic_of_the_experiments(id: str) -> None:
    outcome = run(claims()[id])
    assert outcome.supported, outcome.evidence
