"""The ledger as a page of the site: that of verify-claims --html, with links to the statements and the proofs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from paper_notes import Claim
from verify.claims import pages
from verify.claims.run import Outcome


def markdown(outcomes: Sequence[Outcome], statements: Collection[str]) -> str:
    """The page; `statements` are the ids that have a page of their own."""

    def links(claim: Claim) -> str:
        places = {"statement": f"statements/{claim.id}.html"} if claim.id in statements else {}
        if claim.proof:
            places["proof"] = f"derivations.html#{claim.proof}"
        joined = " · ".join(f'<a href="{place}">{name}</a>' for name, place in places.items())
        return f"<p>{joined}</p>" if joined else ""

    body = pages.part(outcomes, links)
    return f"# The paper, claim by claim\n\n```{{raw}} html\n{body}\n```\n"
