"""The sections of derivations.md by the ids in their headings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """One section: its heading, its anchor for links, and its text."""

    heading: str
    text: str

    @property
    def anchor(self) -> str:
        return anchor(self.heading)


def anchor(heading: str) -> str:
    """The anchor of a heading in Markdown.

    >>> anchor("h1-exact, h1-closed")
    'h1-exact-h1-closed'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def paragraphs(text: str) -> str:
    """Start a new paragraph at every *Proof.*, *Checked:* and similar word.

    >>> paragraphs("A.\\n*Proof.* B. *Checked:* C.")
    'A.\\n\\n*Proof.* B.\\n\\n*Checked:* C.'
    """
    text = re.sub(r"(?<=[^\n])\n(?=\*\w)", "\n\n", text)
    return re.sub(r"(?<=[.∎]) (?=\*(?:Proof|Checked|Machine-checked|In floats)\b)", "\n\n", text)


def sections(text: str) -> Mapping[str, Proof]:
    """Each ### section under its anchor and under every id that its heading names.

    >>> sections("### a, b\\n1\\n## C\\n")["b"].text
    '1'
    """
    by_id: dict[str, Proof] = {}
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        proof = Proof(heading.strip(), re.split(r"^## ", body, flags=re.MULTILINE)[0].strip())
        for id in (proof.anchor, *re.split(r", | for ", proof.heading)):
            by_id.setdefault(id, proof)
    return by_id
