"""Text and tables in Markdown, and the place of a table in a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MARKS = "\\*_<[|`$"


def plain(text: str, marks: str = MARKS) -> str:
    r"""Text that is not taken for markup.

    >>> plain("R_S <= 1")
    'R\\_S \\<= 1'
    """
    return re.sub(f"[{re.escape(marks)}]", r"\\\g<0>", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""
    >>> print(table(["bound", "at"], [["R(f)", "|h| <= 1"]]), end="")
    | bound | at |
    |---|---|
    | R(f) | \|h\| <= 1 |
    """
    lines = [" | ".join(re.sub(r"(?<!\\)\|", r"\|", cell) for cell in cells) for cells in (head, *rows)]
    first, *others = (f"| {line} |" for line in lines)
    return "\n".join([first, "|---" * len(head) + "|", *others]) + "\n"


def spliced(page: str, part: str, name: str) -> str:
    """The page with the part between the two comments of that name.

    >>> spliced("a\\n<!-- findings -->\\nold\\n<!-- /findings -->\\nb\\n", "new\\n", "findings")
    'a\\n<!-- findings -->\\nnew\\n<!-- /findings -->\\nb\\n'
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page must hold the comments <!-- {name} --> and <!-- /{name} --> once each.")
    before, _, rest = page.partition(begin)
    return before + begin + part + end + rest.partition(end)[2]
