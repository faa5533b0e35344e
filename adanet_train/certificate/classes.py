"""The linear network of C classes of least certificate: starts on the l1 path of the multinomial loss, then rounds.

The nodes of the search are the classes, f_c = q_c · Ψ, Σ ||q_c||_1 = 1; rounds add and drop atoms by the dozen. Of a
large sample a part is searched on, at the price of all of it; what is stated is computed on all points.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from adanet_train.certificate.search import (
    NEW_SHARE,
    Found,
    Rows,
    Sample,
    descend,
    l1_path,
    refined,
    refit,
    settled,
    steepest,
    widened,
)

SHARES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02)
"""Γ on the path, as shares of the Γ from which on w = 0."""
GAP = 1e-3
COUNTS, DEVIATION, BETA = 20_000.0, 1.5, 0.003
"""N, t and β of a start."""
ADDED, DROPPED = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16)
"""How many atoms a round tries to add or to drop."""
ROUNDS, PART_ROUNDS, REFINED = 16, 3, 2
"""Rounds of atoms, and where a part of the sample is searched on; the starts that are refined, of a part only one."""
POINTS, WHOLE_STEPS = 8_000, 30
"""As many points as a search looks at, evenly spread over the sample; steps on all of it at the end."""


def minimise(sample: Sample) -> Found:
    """The linear network; nothing is drawn at random."""
    few = part(sample)
    begun = [start(w, few) for w in l1_path(few.Psi.double(), few.y.argmax(0), SHARES, GAP)]
    fitted = sorted((refit(few, found, found.theta[None]) for found in begun), key=lambda found: found.value)
    rounds, starts = (ROUNDS, REFINED) if few is sample else (PART_ROUNDS, 1)
    best = [refined(few, one, rounds, neighbours) for one in fitted[:starts]]
    found = min(best, key=lambda one: one.value)
    if few is sample:
        return found
    return settled(sample, found, descend(sample, found, Rows.of(found, found.theta[None]), WHOLE_STEPS), 0)


def part(sample: Sample) -> Sample:
    """The points that are searched on: all, or an even share of many."""
    m = sample.y.shape[1]
    step = m // POINTS + 1
    if step == 1:
        return sample
    return replace(sample, Psi=sample.Psi[::step].contiguous(), y=sample.y[:, ::step].contiguous(), m=m)


def start(w: Tensor, sample: Sample) -> Found:
    """θ = |W|/Σ|W|."""
    node, column = w.nonzero(as_tuple=True)
    weights = w[node, column].to(sample.Psi.dtype)
    theta = weights.abs() / weights.abs().sum()
    return Found(node, column, weights.sign(), theta, len(w), COUNTS, DEVIATION, BETA)


def neighbours(sample: Sample, found: Found) -> tuple[Found, Tensor]:
    """θ as it is, with the atoms along which the empirical part falls most, or without the lightest."""
    atoms, lightest = steepest(sample, found, ADDED[-1]), found.theta.argsort().tolist()
    new, most = len(atoms[0]), len(lightest) // 4
    added = [(range(0), 0.0), *((range(min(count, new)), NEW_SHARE / count**0.5) for count in ADDED)]
    return widened(found, atoms, added, [lightest[: min(count, most)] for count in DROPPED])
