"""The ledger of the paper's claims, read from claims.toml; and, in `tables`, the numbers the paper prints."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from paper_notes.places import in_print

SECTIONS: Mapping[str, str] = {
    "definitions": "Definitions (Sections 2 and 3)",
    "theorem_1": "Theorem 1 (Section 4)",
    "lemma_1": "Lemma 1 and its proof",
    "lemma_2": "Lemma 2 and its proof",
    "corollary_1": "Corollary 1",
    "objective": "The objective (Section 5)",
    "algorithm": "AdaNet (Section 5)",
    "cvx": "AdaNet.CVX (Appendix C)",
    "experiments": "Experiments (Section 6)",
    "replacements": "What takes their place",
    "classes": "Many classes (Section 2, Appendix B)",
    "certificates": "Certificates: bounds that say something",
    "any_network": "Certificates for any network",
}
CERTIFYING = ("certificates", "any_network")
"""The sections whose statements are certificates, none of them the paper's."""
VERDICTS = ("holds", "holds with an added assumption", "loose", "misprint", "false", "unsupported", "open")
KINDS = ("symbolic", "exact", "property", "statistical", "counterexample", "reading")


@dataclass(frozen=True)
class Claim:
    """One statement of the paper (or one of ours that replaces it), and what became of it.

    `audit` are the numbers of the first reading, `where` the label and the lines of the source, `correction` what is
    true instead, `code` the "module:function" that computes it, `kind` how it is checked, `proof` its heading in
    derivations.md, `checked` the theorems of proofs/ behind it that a machine checked, as "file.v:theorem", `rank` and
    `headline` its place and its words among the findings.
    """

    id: str
    section: str
    audit: tuple[str, ...]
    where: str
    statement: str
    verdict: str
    code: str
    kind: str
    correction: str = ""
    proof: str = ""
    checked: tuple[str, ...] = ()
    note: str = ""
    rank: int | None = None
    headline: str = ""

    @property
    def place(self) -> str:
        """`where` as a reader of the paper finds it: names in print, and pages beside the lines.

        >>> claims()["lemma-2"].place
        'Lemma 2, lines 494-507, 1407-1438 (pages 4, 12)'
        """
        return in_print(self.where)

    @property
    def is_read_only(self) -> bool:
        """Whether there is nothing to compute: a slip of the print, seen by reading."""
        return self.kind == "reading"

    @property
    def proof_files(self) -> list[str]:
        """The files of proofs/ that hold its machine-checked theorems.

        >>> claims()["lemma-1-exact"].proof_files
        ['lemma_1_exact.v']
        """
        return list(dict.fromkeys(theorem.partition(":")[0] for theorem in self.checked))

    @property
    def is_ours(self) -> bool:
        """Whether it is not in the paper but takes the place of something that is."""
        return self.where.startswith("ours") or self.section in CERTIFYING


@cache
def claims() -> Mapping[str, Claim]:
    """All claims by id, in the order of the paper.

    >>> claims()["lemma-1"].verdict
    'false'
    """
    ledger = tomllib.loads(files(__name__).joinpath("claims.toml").read_text(encoding="utf-8"))
    return {
        id: Claim(id, **{**entry, "audit": tuple(entry["audit"]), "checked": tuple(entry.get("checked", ()))})
        for id, entry in ledger.items()
    }
