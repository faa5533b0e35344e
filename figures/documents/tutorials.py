"""The tutorials: formulas between dollar signs as MathML, so that the site needs no script, and Jupyter notebooks."""

from __future__ import annotations

import json
import re

from figures.explorer.mathml import math

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def typeset(page: str) -> str:
    r"""The page with $..$ and, on lines of their own, $$..$$ as MathML; code is unchanged.

    >>> typeset("$x$\n\n```\n$y$\n```")
    '<math><mi>x</mi></math>\n\n```\n$y$\n```'
    """
    code = _FENCE.findall(page)
    words = [_words(part) for part in _FENCE.split(page)]
    return "".join(part + block for part, block in zip(words, [*code, ""], strict=True))


def _words(text: str) -> str:
    text = re.sub(r"^\$\$(.*)\$\$$", lambda match: _displayed(match[1]), text, flags=re.MULTILINE)
    return re.sub(r"\$([^$]+)\$", lambda match: math(match[1]), text)


def _displayed(formula: str) -> str:
    return f'```{{raw}} html\n<div class="displayed">{math(formula, display=True)}</div>\n```'


_CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def notebook(page: str) -> str:
    r"""Convert a page of MyST, which begins with a header between dashes, to Jupyter's format 4.

    >>> made = json.loads(notebook("---\nkernelspec: ..\n---\n# A\n\n```{code-cell}\n1 + 1\n```\n"))
    >>> [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]]
    [('markdown', '# A'), ('code', '1 + 1')]
    """
    linked = re.sub(r"(\]\([^):]+)\.md\b", r"\1.html", page)  # beside the notebook lie the pages
    parts = [part.strip() for part in _CELL.split(linked.split("---\n", 2)[2])]
    cells = [_cell("code" if place % 2 else "markdown", part, place) for place, part in enumerate(parts) if part]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _cell(kind: str, text: str, place: int) -> dict[str, object]:
    code: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": text.splitlines(keepends=True), **code}


def offered(page: str, name: str) -> str:
    """The page with a link to its notebook below the title."""
    title = re.search(r"^# .*\n", page, re.MULTILINE)
    assert title is not None
    link = f'\n<a href="{name}.ipynb" download>As a notebook for Jupyter</a>\n'
    return page[: title.end()] + link + page[title.end() :]
