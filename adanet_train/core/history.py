"""The record of each round of a training run, in plain values that a file can hold."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

LEAST_F = "least F"
LARGEST_SCORE = "largest score, as printed"
LEAST_HELD_OUT = "least held-out loss"
SIMPLER = (
    "simpler, and its loss on the points that each member is trained without is within one standard error of the least"
)
SHARES = "no candidate lowers the held-out loss: the shares of the classes alone"
NO_UNIT = "no unit lowers F"
NOT_WORTH = "no candidate lowers the held-out loss by enough"


def too_little(share: float) -> str:
    """The reason why a run ends: F falls by no more than this share of it."""
    return (
        f"no candidate lowers F by more than {f'{share:g} of it (least_decrease)' if share else 'its rounding error'}"
    )


class CandidateRecord(TypedDict):
    """A candidate: new units in layers 1, 2, .., F with it added, and Γ by layer (one number where all units agree)."""

    depth: int
    units: list[int]
    objective: float
    Gamma: dict[str, Any]
    members: NotRequired[int]
    """Number of its members, each with an equal share of the units of every layer; missing: one."""
    held_out: NotRequired[float]
    """The mean loss of its members on the points that each was trained without."""


class Round(TypedDict):
    """A round: its candidates, the number of the one that was added (-1: none), and F after it."""

    candidates: list[CandidateRecord]
    chosen: int
    objective: float
    why: NotRequired[str]
    """Why that one was chosen, or none."""
    lam: NotRequired[float]
    """λ of the round, where it was chosen on the held-out points and not given."""
    held_out: NotRequired[float]
    """The held-out loss after the round."""
    certificate: NotRequired[dict[str, Any]]
    """The terms of the certificate after the round, if that is the objective."""
    picking: NotRequired[dict[str, Any]]
    """Picks and wrong rows that are left, N, and the certificate, of a round of picking."""
