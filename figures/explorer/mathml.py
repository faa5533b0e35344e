"""The statements' LaTeX as MathML, which every current browser shows without a library and offline.

It reads only what `adanet_theory.twins.latex` prints, and refuses anything else.
"""

from __future__ import annotations

import re
from html import escape

_TOKEN = re.compile(r"\\text\{[^}]*\}|\\(?:begin|end)\{\w+\}|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[^\s]")
_GREEK = {
    "rho": "ρ", "delta": "δ", "eta": "η", "psi": "ψ", "varphi": "φ", "kappa": "κ", "mu": "μ", "pi": "π", "infty": "∞",
    "epsilon": "ε", "sigma": "σ", "tau": "τ", "beta": "β", "theta": "θ", "nu": "ν", "xi": "ξ",
}  # fmt: skip
_UPRIGHT = {"Lambda": "Λ", "Gamma": "Γ", "Phi": "Φ", "Psi": "Ψ"}
_OPERATORS = {
    "leq": "≤", "geq": "≥", "neq": "≠", "in": "∈", "dots": "…", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊",
    "rfloor": "⌋", "|": "‖", "cdot": "·", "mapsto": "↦",
}  # fmt: skip
_FONTS = {
    "mathfrak": {"R": "ℜ"}, "mathcal": {"H": "ℋ"}, "mathbf": {"w": "𝐰"}, "mathbb": {"E": "𝔼"},
    "boldsymbol": {r"\epsilon": "𝛆", r"\sigma": "𝛔", r"\Psi": "𝚿"},
}  # fmt: skip
_NAMED = ("log", "min", "max", "sup")
_TALL = {"sum": "∑", "prod": "∏"}
_PLAIN = {sign: sign for sign in "+=<>,:/()|*[]"} | {"-": "−", "'": "′"}


def math(latex: str, *, display: bool = False) -> str:
    r"""A <math> element.

    >>> math(r"\frac{2}{\rho} n_{0}")
    '<math><mfrac><mn>2</mn><mi>ρ</mi></mfrac><msub><mi>n</mi><mn>0</mn></msub></math>'
    """
    style = ' displaystyle="true"' if display else ""
    return f"<math{style}>{_TokenReader(_TOKEN.findall(latex)).row(())}</math>"


def sentence(text: str) -> str:
    """Words with formulas between dollar signs."""
    parts = text.split("$")
    return "".join(math(part) if i % 2 else escape(part) for i, part in enumerate(parts))


class _TokenReader:
    """Recursive descent over the tokens; each method returns MathML."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def next(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise ValueError(f"expected {expected or 'more'} at token {self.place} of {' '.join(self.tokens)}.")
        self.place += 1
        return token

    def row(self, ends: tuple[str, ...]) -> str:
        """All tokens up to one of `ends`, which is not consumed; without `ends`, all."""
        parts = []
        while self.peek() not in (*ends, ""):
            parts.append(self.scripted())
        if ends and not self.peek():
            raise ValueError(f"expected {' or '.join(ends)} at the end of {' '.join(self.tokens)}.")
        return "".join(parts)

    def scripted(self) -> str:
        """An atom with its subscript and superscript; at a sum they are set under and over it."""
        around = self.peek()[1:] in _TALL or self.peek() == r"\sup"
        base = self.atom()
        below = above = ""
        while self.peek() in ("_", "^"):
            if self.next() == "_":
                below = self.argument()
            else:
                above = self.argument()
        names = {(True, True): "underover", (True, False): "under", (False, True): "over"}
        if not around:
            names = {(True, True): "subsup", (True, False): "sub", (False, True): "sup"}
        if not (below or above):
            return base
        tag = "m" + names[bool(below), bool(above)]
        return f"<{tag}>{base}{below}{above}</{tag}>"

    def argument(self) -> str:
        """One group or one atom, as one element."""
        if self.peek() != "{":
            return self.atom()
        self.next()
        content = self.row(("}",))
        self.next("}")
        return content if _is_one(content) else f"<mrow>{content}</mrow>"

    def atom(self) -> str:
        token = self.peek()
        if token == "{":
            return self.argument()
        self.next()
        if token.startswith(r"\text{"):
            words = escape(token[6:-1]).replace(" ", "\N{NO-BREAK SPACE}")  # others are dropped at the ends
            return f"<mtext>{words}</mtext>"
        if token.startswith("\\"):
            return self.command(token)
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in _PLAIN:
            return _operator(_PLAIN[token])
        raise ValueError(f"no MathML is known for {token!r}.")

    def command(self, token: str) -> str:
        name = token[1:]
        if name in _GREEK:
            return f"<mi>{_GREEK[name]}</mi>"
        if name in _UPRIGHT:
            return f'<mi mathvariant="normal">{_UPRIGHT[name]}</mi>'
        if name in _TALL:
            return f"<mo>{_TALL[name]}</mo>"
        if name in _NAMED:
            # An argument in brackets stands close to the name.
            after = "0" if self.peek() in (r"\left", "|", "_", "") else "0.17em"
            return f'<mo lspace="0.17em" rspace="{after}">{name}</mo>'
        if name in _FONTS:
            return f"<mi>{_FONTS[name][self.next()]}</mi>"
        if name in _OPERATORS:
            return _operator(_OPERATORS[name])
        if name in ("{", "}"):
            return _operator(name)
        if name == ":":
            return '<mspace width="0.3em"></mspace>'
        if name == "left":
            return self.fenced()
        if name == "Big":
            return self.fence(large=True)
        if token == r"\begin{cases}":
            return self.cases()
        return self.structure(name)

    def structure(self, name: str) -> str:
        if name == "frac":
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if name == "binom":
            fraction = f'<mfrac linethickness="0">{self.argument()}{self.argument()}</mfrac>'
            return f"<mrow><mo>(</mo>{fraction}<mo>)</mo></mrow>"
        if name == "sqrt":
            # A browser without a mathematical font does not stretch the sign: the brackets, shown there only, do it.
            return f'<msqrt><mo class="bracket">(</mo>{self.argument()}<mo class="bracket">)</mo></msqrt>'
        if name == "widehat":
            return f'<mover accent="true">{self.argument()}<mo stretchy="false">^</mo></mover>'
        if name == "overline":
            return f"<mover>{self.argument()}<mo>‾</mo></mover>"
        if name in ("mathrm", "operatorname"):
            self.next("{")
            word = ""
            while (letter := self.next()) != "}":
                word += letter
            return f"<mi>{word}</mi>"
        raise ValueError(f"no MathML is known for \\{name}.")

    def fenced(self) -> str:
        left = self.fence()
        content = self.row((r"\right",))
        self.next()
        return f"<mrow>{left}{content}{self.fence()}</mrow>"

    def fence(self, *, large: bool = False) -> str:
        token = self.next()
        sign = _OPERATORS[token[1:]] if token.startswith("\\") else _PLAIN[token]
        size = ' stretchy="true" minsize="1.6em" maxsize="1.6em"' if large else ' stretchy="true"'
        return f'<mo{size} lspace="0" rspace="0">{sign}</mo>'

    def cases(self) -> str:
        rows = [[self.row(("&", "\\\\", r"\end{cases}"))]]
        while (mark := self.next()) != r"\end{cases}":
            if mark == "&":
                rows[-1].append("")
            else:
                rows.append([""])
            rows[-1][-1] = self.row(("&", "\\\\", r"\end{cases}"))
        table = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in rows)
        return f'<mrow><mo stretchy="true">{{</mo><mtable class="cases">{table}</mtable></mrow>'


def _operator(sign: str) -> str:
    """Bars are set close to their content; brackets keep their size without \\left."""
    if sign in "|‖":
        return f'<mo stretchy="false" lspace="0" rspace="0">{sign}</mo>'
    if sign == "/":
        return '<mo stretchy="false" lspace="0" rspace="0">/</mo>'
    return f'<mo stretchy="false">{escape(sign)}</mo>' if sign in "()[]" else f"<mo>{escape(sign)}</mo>"


def _is_one(content: str) -> bool:
    """Whether the markup is one element already."""
    name = re.match(r"<(\w+)", content)
    if name is None:
        return False
    depth = 0
    for tag in re.finditer(r"<(/?)\w+[^>]*>", content):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end() == len(content)
    return False
