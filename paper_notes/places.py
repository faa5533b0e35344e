"""Where a claim stands in print: lines of the LaTeX source, and the pages of arXiv:1607.01097v3, made from it."""

from __future__ import annotations

import re
from collections.abc import Mapping

IN_PRINT: Mapping[str, str] = {
    "eq:H1": "Eq. (1)",
    "eq:Hk": "Eq. (2)",
    "eq:output": "Eq. (3)",
    "eq:objective": "Eq. (4)",
    "eq:objective_t": "Eq. (5)",
    "eq:subnetwork_objective": "Eq. (6)",
    "th:adanet": "Theorem 1",
    "lemma:db": "Theorem 2",
    "th:adanetcvx": "Theorem 3",
    "lemma:Rad_Hk_Hk-1": "Lemma 1",
    "lemma:Rad_Hk": "Lemma 2",
    "cor:adanet": "Corollary 1",
    "algo:adanet": "Figure 3",
    "algo:adanetcvx": "Figure 5",
    "tbl:adanet_vs_dnn": "Table 1",
    "tbl:adanet_archs": "Table 2",
    "tbl:adanet_systems": "Table 3",
    "tbl:criteo": "Table 4",
}
"""The name that a label of the source has in print."""

_FIRST = {1: 1, 2: 221, 3: 353, 4: 468, 5: 612, 6: 771, 7: 936, 8: 1082, 11: 1232, 12: 1354, 13: 1464, 14: 1563}
"""The line of the source with which a page begins; pages 9 and 10 are references."""
_MOVED = {7: range(814, 840), 8: range(1054, 1077)}
"""Tables 1 and 3, set on a later page than the lines around them."""

_LABEL = re.compile(r"\b(?:eq|th|lemma|cor|algo|tbl):[\w-]+")
_LINES = re.compile(r"\b(?:lines?|also) (\d+(?:-\d+)?(?:(?:, | and )\d+(?:-\d+)?)*)(?! \(not printed\))(?![\d,-])")


def in_print(where: str) -> str:
    """`where` of a claim with the names in print for labels, and the pages after the lines.

    >>> in_print("lemma:Rad_Hk_Hk-1, lines 479-490, 1334-1405")
    'Lemma 1, lines 479-490, 1334-1405 (pages 4, 11-12)'
    >>> in_print("ours; for line 440")
    'ours; for line 440 (page 3)'
    """
    named = _LABEL.sub(lambda label: IN_PRINT[label[0]], where)
    return _LINES.sub(lambda lines: f"{lines[0]} ({_pages(lines[1])})", named)


def _pages(lines: str) -> str:
    found = []
    for first, _, last in (part.partition("-") for part in re.split(", | and ", lines)):
        begin, end = page(int(first)), page(int(last or first))
        found.append(f"{begin}-{end}" if begin < end else f"{begin}")
    one = len(set(found)) == 1 and "-" not in found[0]
    return ("page " if one else "pages ") + ", ".join(dict.fromkeys(found))


def page(line: int) -> int:
    """The page on which a line of the source is printed.

    >>> page(422), page(820)
    (3, 7)
    """
    moved = [number for number, lines in _MOVED.items() if line in lines]
    return moved[0] if moved else max(number for number, first in _FIRST.items() if first <= line)
