"""Running the ledger: for each claim its check, and whether that supports the recorded verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paper_notes import Claim, claims
from verify.claims.checks import Fact, check_of

_SHOWS = {
    "symbolic": "an identity",
    "exact": "one example, computed",
    "property": "examples searched",
    "statistical": "tested on samples",
    "counterexample": "one example, computed",
}


@dataclass(frozen=True)
class Outcome:
    """A claim, the facts found, whether all of them hold, and the time it took.

    A claim that can only be read has no facts and counts as supported: `evidence` says so.
    """

    claim: Claim
    facts: tuple[Fact, ...]
    supported: bool
    seconds: float

    @property
    def evidence(self) -> str:
        """One line: the first fact that fails, found and expected; or else the first, and what it shows."""
        if self.claim.is_read_only:
            return "read: " + self.claim.correction
        failed = [fact for fact in self.facts if not fact.holds]
        if failed or not self.facts:
            return str(failed[0]) if failed else "no check"
        return str(self.facts[0]) + self._standing()

    def _standing(self) -> str:
        """What the number shows for a statement that holds. No number proves it, so its proof is named."""
        if not self.claim.verdict.startswith("holds"):
            return ""
        proof = f"; proof: derivations.md#{self.claim.proof}" if self.claim.proof else ""
        return f" [{_SHOWS[self.claim.kind]}{proof}]"


def run(claim: Claim, *, quick: bool = True) -> Outcome:
    """Run the claim's check; a claim without one, unless it can only be read, is not supported.

    A thorough run tries more cases, and sympy decides every step of the claim's derivation.

    >>> run(claims()["reflection"]).supported
    True
    """
    begin = time.perf_counter()
    if claim.is_read_only:
        return Outcome(claim, (), True, 0.0)
    check = check_of(claim.id, claim.section)
    facts = () if check is None else check.facts(**({} if quick else check.thorough))
    if facts and not quick:
        facts += derivation(claim)
    supported = bool(facts) and all(fact.holds for fact in facts)
    return Outcome(claim, facts, supported, time.perf_counter() - begin)


def derivation(claim: Claim) -> tuple[Fact, ...]:
    """How many steps of the claim's derivation sympy decides; empty if it has none."""
    steps = steps_of(claim)
    if not steps:
        return ()
    decided = sum(step.check() for step in steps)
    return (Fact("steps of its derivation that sympy decides", decided, "=", len(steps)),)


def steps_of(claim: Claim) -> Sequence[Any]:
    """The `ProofStep`s of adanet_theory.twins.derivations that prove the claim, or the statement its proof is about."""
    from adanet_theory.twins.derivations import DERIVATIONS

    return DERIVATIONS.get(claim.id) or DERIVATIONS.get(claim.proof) or []


def select(ids: Iterable[str]) -> list[Claim]:
    """The claims of those ids, or all, in the order of the ledger; an audit number stands for its claim.

    >>> [claim.id for claim in select(["C20", "lemma-2"])]
    ['lemma-1', 'lemma-2']
    """
    known = claims()
    numbers = {number: id for id, claim in known.items() for number in claim.audit}
    wanted = []
    for id in ids:
        if id not in known and id not in numbers:
            raise ValueError(f"no claim {id!r} in the ledger{_nearest(id, [*known, *numbers])}")
        wanted.append(numbers.get(id, id))
    return [claim for id, claim in known.items() if not wanted or id in wanted]


def _nearest(id: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(id, known, n=3)
    return f"; did you mean {', '.join(close)}?" if close else "; --list names them all."


def run_all(
    chosen: Iterable[Claim], *, quick: bool = True, progress: Callable[[int, int, str], None] | None = None
) -> Iterator[Outcome]:
    """The outcomes one by one; progress(done, total, id) is called before each."""
    listed = list(chosen)
    for done, claim in enumerate(listed):
        if progress is not None:
            progress(done, len(listed), claim.id)
        yield run(claim, quick=quick)


def tally(outcomes: Sequence[Outcome]) -> tuple[int, int, int]:
    """How many checks support their verdict, how many were computed, and how many claims can only be read."""
    computed = [outcome for outcome in outcomes if not outcome.claim.is_read_only]
    return sum(outcome.supported for outcome in computed), len(computed), len(outcomes) - len(computed)


def document(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """The JSON document, schema verify-claims/1; `read` counts the claims among them that can only be read."""
    listed = list(outcomes)
    return {
        "schema": "verify-claims/1",
        "claims": [
            {
                "id": outcome.claim.id,
                "audit": list(outcome.claim.audit),
                "section": outcome.claim.section,
                "where": outcome.claim.where,
                "verdict": outcome.claim.verdict,
                "kind": outcome.claim.kind,
                "machine_checked": list(outcome.claim.checked),
                "supported": outcome.supported,
                "evidence": outcome.evidence,
                "facts": [_fact(fact) for fact in outcome.facts],
                "seconds": round(outcome.seconds, 3),
            }
            for outcome in listed
        ],
        "supported": sum(outcome.supported for outcome in listed),
        "total": len(listed),
        "read": tally(listed)[2],
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "left": fact.left_name,
        "lhs": _finite(fact.left),
        "relation": fact.relation,
        "rhs": _finite(fact.right),
        "right": fact.right_name,
        "where": fact.where,
        "tolerance": fact.tolerance,
        "holds": fact.holds,
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else None
