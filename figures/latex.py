"""A caption in LaTeX: the letters of the paper in formulas, the rest escaped, in a figure environment of its own."""

from __future__ import annotations

import re

from verify.show.tex import escaped

_GREEK = ("Lambda", "rho", "delta", "eta", "beta", "Gamma", "lambda", "phi", "Phi", "Psi")
# what is set as a formula: R_S(H_k), a letter of the paper with its indices, |h| <= 1, a power
_FORMULA = re.compile(
    r"R_[Sm]\(H_\{?\w\}?\)"
    rf"|\b(?:{'|'.join(_GREEK)})(?:_\([\w,+-]+\)|_\w+)?(?![\w-])"
    r"|\b[A-Za-z]_(?:\([\w,+-]+\)|\w)(?:\^\([^)]*\))?(?!\w)"
    r"|\|h\||\|\|Psi\|\|_inf|\d+\^\([^)]*\)|<=|>="
)


def figure(name: str, caption: str, *, wide: bool) -> str:
    """The LaTeX that a paper includes with \\input: the picture, its caption and a label.

    >>> print(figure("map", "R_S(H_k) at rho <= 50%.", wide=False).splitlines()[3])
    \\caption{$\\mathfrak{R}_S(H_k)$ at $\\rho$ $\\leq$ 50\\%.}
    """
    kind = "figure*" if wide else "figure"
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            r"\centering",
            rf"\includegraphics{{{name}}}",
            rf"\caption{{{text(caption)}}}",
            rf"\label{{fig:{name}}}",
            rf"\end{{{kind}}}",
            "",
        ]
    )


def text(words: str) -> str:
    """The words, with formulas between dollar signs."""
    parts, end = [], 0
    for match in _FORMULA.finditer(words):
        parts += [escaped(words[end : match.start()]), f"${_formula(match[0])}$"]
        end = match.end()
    return "".join([*parts, escaped(words[end:])])


def _formula(formula: str) -> str:
    if formula in ("<=", ">="):
        return {"<=": r"\leq", ">=": r"\geq"}[formula]
    formula = re.sub(r"([_^])\(([^)]*)\)", r"\1{\2}", formula)
    formula = formula.replace("||Psi||_inf", r"\|\Psi\|_\infty").replace(
        "R_", r"\mathfrak{R}_", formula.startswith("R_")
    )
    return re.sub(rf"(?<![\\\w])({'|'.join(_GREEK)})(?![a-z])", r"\\\1", formula)
