"""Formulas between dollar signs as MathML, so that the site needs no script; Jupyter sets them by itself."""

from __future__ import annotations

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
