"""The page of a statement: in the site that ADANET_DOCS names, or else in the one built in this checkout.

ADANET_DOCS is an address (https://..) or the folder that `make docs` wrote. Without a site there are no links.
"""

from __future__ import annotations

import os
from pathlib import Path

from adanet_theory import catalogue

BUILT = Path(__file__).parents[2] / "out" / "docs"


def site(*, to_keep: bool = False) -> str | None:
    """The address of the site, without a slash at its end; `to_keep`: for a page that others read, only ADANET_DOCS."""
    named = os.environ.get("ADANET_DOCS", "")
    if "://" in named:
        return named.rstrip("/")
    if to_keep and not named:
        return None
    folder = Path(named).resolve() if named else BUILT
    return folder.as_uri() if (folder / "statements" / "index.html").exists() else None


def statement(id: str, *, to_keep: bool = False) -> str | None:
    """The page of that statement; None for a user's own bound, or without a site."""
    ours = catalogue.ids(catalogue.select(lambda bound: bound.group != "user"))
    base = site(to_keep=to_keep) if id in ours else None
    return f"{base}/statements/{id}.html" if base else None
