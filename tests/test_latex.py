"""The LaTeX is read back by a small parser and evaluated: a misplaced parenthesis or fraction bar changes the value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified, latex
from adanet_theory.twins.notation import KEYS
from adanet_theory.twins.symbolic import STATEMENTS

Env = dict[str, Any]
Node = Callable[[Env], float]

# Names become one token, «name» or «name:index»; the index is an expression of its own.
_NAMES = [
    *((re.escape(text).replace("%s", r"([^{}]*)"), name) for name, text in latex.INDEXED.items()),
    *((re.escape(text), name) for name, text in latex.SYMBOLS.items()),
    (r"\\\|\\boldsymbol\\epsilon\\\|_q", "norm"),
    (r"\\(rho|delta|eta|tau|kappa)(?![a-zA-Z])(?:_\{([a-z])\})?", ""),
]
_TOKEN = re.compile(
    r"«[^»]*»|\\\\|\\left\\l(?:ceil|floor)|\\right\\r(?:ceil|floor)|\\left[(|]|\\right[)|]|\\[a-zA-Z]+|\d+|[a-zA-Z]|\S"
)


def tokens(text: str) -> list[str]:
    text = text.replace(r"\:", " ")
    for pattern, name in sorted(_NAMES, key=lambda pair: (not pair[1], -len(pair[0]))):
        if name:
            text = re.sub(pattern, lambda x, name=name: f"«{':'.join([name, *x.groups()])}»", text)
        else:
            text = re.sub(pattern, lambda x: "«" + "_".join(filter(None, x.groups())) + "»", text)
    text = re.sub(r"(?<![«\w\\])([A-Zg])_\{([A-Za-z])\}", letter_with_subscript, text)
    text = re.sub(r"(?<![«\w\\])([a-zA-Z])_\{([^{}]*)\}", r"«\1:\2»", text)
    text = text.replace("«E_sup»", "«E_sup:s»")
    # One Lambda is printed for two: Lambda_{k,s} has two indices, the product Lambda_k has one.
    text = re.sub(r"«Lambda(?:_k)?:([^»]*)»", lambda x: f"«Lambda{'' if ',' in x[1] else '_k'}:{x[1]}»", text)
    return _TOKEN.findall(text)


def letter_with_subscript(match: re.Match[str]) -> str:
    """W_M, A_d, C_q, g_s are names; P_k is an indexed one."""
    name = "_".join(match.groups())
    return f"«{name}»" if name in ("W_M", "A_d", "C_q", "g_s") else f"«{match[1]}:{match[2]}»"


class LatexParser:
    """sum := product (± product)*,  product := factor+,  factor := atom ['^' group]; a big sum takes a product."""

    def __init__(self, text: str) -> None:
        self.tokens, self.at = tokens(text), 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self, expected: str | None = None) -> str:
        token = self.peek()
        assert expected is None or token == expected, f"{expected} expected at {self.tokens[self.at :][:12]}"
        self.at += 1
        return token

    def whole(self) -> Node:
        node = self.sum()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return node

    def sum(self) -> Node:
        sign = -1 if self.peek() == "-" else 1
        if sign < 0:
            self.next()
        parts = [(sign, self.product())]
        while self.peek() in ("+", "-"):
            parts.append((1 if self.next() == "+" else -1, self.product()))
        return lambda env: math.fsum(sign * part(env) for sign, part in parts)

    def product(self) -> Node:
        factors = []
        while self.peek() and not re.match(r"\\right|\\end|\\geq|[<>]|\\\\$|[+\-})&,=/]", self.peek()):
            factors.append(self.factor())
        assert factors
        return lambda env: math.prod(x(env) for x in factors)

    def group(self) -> Node:
        if self.peek() != "{":
            return self.factor()
        self.next("{")
        node = self.sum()
        if self.peek() == "/":
            self.next()
            above, below = node, self.sum()
            self.next("}")
            return lambda env: above(env) / below(env)
        self.next("}")
        return node

    def factor(self) -> Node:
        atom = self.atom()
        if self.peek() != "^":
            return atom
        self.next()
        dual = self.tokens[self.at : self.at + 5] == ["{", "1", "/", "q", "}"]
        power = self.group()
        if dual:
            return lambda env: atom(env) ** (1 - 1 / env["p"])
        return lambda env: atom(env) ** power(env)

    def bracket(self, close: str) -> list[Node]:
        parts = [self.sum()]
        while self.peek() == ",":
            self.next()
            parts.append(self.sum())
        self.next(close)
        return parts

    def atom(self) -> Node:
        token = self.next()
        if token.isdigit():
            return lambda env: float(token)
        if token.startswith("«"):
            return self.name(token.strip("«»"))
        if re.fullmatch(r"\\[a-zA-Z]+|\\left.*", token):
            return self.command(token)
        if token == "{":
            self.at -= 1
            return self.group()
        if token == "C" and self.peek() == "(":
            self.next()
            arguments = self.bracket(")")
            return lambda env: env["functions"]["C"](env, [x(env) for x in arguments])
        assert re.fullmatch("[a-zA-Z]", token), token
        return self.name(token)

    def name(self, text: str) -> Node:
        name, _, index = text.partition(":")
        inner = [LatexParser(i).whole() for i in index.split(",")] if index else []
        return lambda env: look_up(env, name, tuple(int(i(env)) for i in inner))

    def command(self, token: str) -> Node:
        if token == r"\frac":
            above, below = self.group(), self.group()
            return lambda env: above(env) / below(env)
        if token == r"\sqrt":
            inside = self.group()
            return lambda env: math.sqrt(inside(env))
        if token == r"\log":
            inside = self.factor()
            return lambda env: math.log(inside(env))
        if token in (r"\sum", r"\prod"):
            return self.over(math.fsum if token == r"\sum" else math.prod)
        if token in (r"\min", r"\max"):
            choose = min if token == r"\min" else max
            self.next(r"\left(")
            parts = self.bracket(r"\right)")
            return lambda env: choose(x(env) for x in parts)
        if token == r"\Gamma":
            self.next(r"\left(")
            (inside,) = self.bracket(r"\right)")
            return lambda env: math.gamma(inside(env))
        if token == r"\operatorname":
            while self.next() != "}":
                pass
            self.next("(")
            (inside,) = self.bracket(")")
            return lambda env: math.copysign(1, inside(env))
        if token == r"\begin":
            return self.cases()
        return self.bracketed(token)

    def bracketed(self, token: str) -> Node:
        if token in (r"\pi", r"\infty"):
            return lambda env: math.pi if token == r"\pi" else math.inf
        if token == r"\mu":
            self.tokens[self.at : self.at + 4] = []
            return lambda env: certified.upper(STATEMENTS["lemma-1-corrected"].definitions[0].lhs, {"m": env["m"]})
        close, function = {
            r"\left(": (r"\right)", float),
            r"\left|": (r"\right|", abs),
            r"\left\lceil": (r"\right\rceil", math.ceil),
            r"\left\lfloor": (r"\right\rfloor", math.floor),
        }[token]
        (inside,) = self.bracket(close)
        return lambda env: function(inside(env))

    def over(self, combine: Callable[[list[float]], float]) -> Node:
        for expected in ("_", "{"):
            self.next(expected)
        letter = self.next()
        self.next("=")
        first = self.sum()
        for expected in ("}", "^"):
            self.next(expected)
        last, body = self.group(), self.product()
        return lambda env: combine([body({**env, letter: i}) for i in range(int(first(env)), int(last(env)) + 1)])

    def cases(self) -> Node:
        self.skip("cases")
        branches: list[tuple[Node, Callable[[Env], bool]]] = []
        while True:
            value = self.sum()
            self.next("&")
            condition = self.condition()
            branches.append((value, condition))
            if self.next() == r"\end":
                self.skip("cases")
                return lambda env: next(value(env) for value, holds in branches if holds(env))

    def condition(self) -> Callable[[Env], bool]:
        word = self.skip_text()
        if word == "otherwise":
            return lambda env: True
        left, relation = self.sum(), self.next()
        right = self.sum()
        compare: dict[str, Callable[[float, float], bool]] = {
            "=": lambda a, b: a == b,
            r"\geq": lambda a, b: a >= b,
            ">": lambda a, b: a > b,
            "<": lambda a, b: a < b,
        }
        return lambda env: compare[relation](left(env), right(env))

    def skip(self, word: str) -> None:
        assert "".join(self.next() for _ in range(len(word) + 2)) == f"{{{word}}}"

    def skip_text(self) -> str:
        self.next(r"\text")
        word = ""
        while (token := self.next()) != "}":
            word += token
        return word.strip("{")


def look_up(env: Env, name: str, index: tuple[int, ...]) -> float:
    if (name, bool(index)) in env["definitions"]:
        return float(env["definitions"][name, bool(index)](env, index))
    if name in env and not index:
        return float(env[name])
    value = env["values"][KEYS.get(name, name)]
    if not index:
        return float(value)
    if isinstance(value, dict):
        return float(value.get(index if len(index) > 1 else index[0], 0))
    return float(value[index[0] - (name != "n")])


def read_definitions(sentence: str) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The equations of the "where" sentence as functions of (environment, index)."""
    firsts: dict[str, Node] = {}
    definitions: dict[Any, Any] = {}
    functions: dict[str, Any] = {}
    for equation in re.findall(r"\$(.*?)\$", sentence):
        left, equals, right = equation.partition(" = ")
        if (
            not equals
            or left in ("1/q", "u_i", r"\mu_{m}", r"\overline{h^2}")
            or "leq" in equation.partition("cases")[0]
        ):
            continue
        body = LatexParser(right).whole()
        head = tokens(left)
        if head[0] == "C":
            names = [x.strip("«»") for x in head[2:-1:2]]
            functions["C"] = lambda env, args, body=body, names=names: body(
                {**env, **dict(zip(names, args, strict=True))}
            )
            continue
        name, _, letter = head[0].strip("«»").partition(":")
        if letter == "1":
            firsts[name] = body
        elif letter:
            definitions[name, True] = indexed_definition(body, letter, firsts.get(name))
        else:
            definitions[name, False] = lambda env, index, body=body: body(env)
    return definitions, functions


def indexed_definition(body: Node, letter: str, first: Node | None) -> Callable[[Env, tuple[int, ...]], float]:
    def value(env: Env, index: tuple[int, ...]) -> float:
        return first(env) if first is not None and index == (1,) else body({**env, letter: index[0]})

    return value


def read_back(name: str, values: dict[str, Any]) -> float:
    """The value of the right side of the LaTeX."""
    text = STATEMENTS[name].latex()
    align, _, sentence = text.partition(r"\end{align*}")
    lines = align.removeprefix("\\begin{align*}\n").split(" \\\\\n")
    terms = [re.split(r"& (?:\\leq|\\geq|=) ", lines[0])[1], *(x.removeprefix("& \\quad + ") for x in lines[1:])]
    definitions, functions = read_definitions(sentence)
    q = math.inf if values["p"] == 1 else 1 / (1 - 1 / values["p"])
    env = {"values": values, "definitions": definitions, "functions": functions, "q": q}
    env |= {letter: values[letter] for letter in ("k", "l", "m", "d", "j", "s", "i", "p", "B", "M")}
    env |= {letter: values[letter] for letter in ("rho", "delta", "eta", "tau")}
    env |= {"c": values["c"]} if "a-posteriori" in name else {}
    return math.fsum(LatexParser(term).whole()(env) for term in terms)


def example(depth: int, p: float, seed: int, layered: bool = False) -> dict[str, Any]:
    rng = Random(seed)
    below = [(k, s) for k in range(2, depth + 2) for s in range(1, k) if s == k - 1 or not layered]
    spec = NetworkSpec(
        [5, *(rng.choice([1, 3, 40]) for _ in range(depth + 1))],
        {pair: rng.uniform(0.5, 2) for pair in [(1, 0), *below]},
        p,
        [rng.choice(["relu", "sigmoid", "softplus", "gelu"]) for _ in range(depth)],
    )
    names = ("M", "r_inf", "r_rms", "r_sup", "B", "E_norm", "sum_sq", "S", "h_ms", "tau", "g_s", "Gamma")
    eps = [rng.uniform(-1, 1) for _ in range(5)]
    many = {name: [rng.uniform(0.1, 2) for _ in range(depth + 1)] for name in ("w", "R", "M_k", "E_sup")}
    scalars = {name: rng.uniform(0.2, 0.9) for name in (*names, "margin_error", "ramp", "loss", "rho")}
    whole = {"l": depth, "k": depth, "m": 9600, "d": depth - 1, "C": 10, "j": rng.randint(-9, 9), "s": 1, "i": 2}
    return {**certified.spec_values(spec), **many, **scalars, **whole, "delta": 0.05, "eta": 0.05, "eps": eps}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("p", [1.5, 3])
def test_latex_reads_back_to_the_certified_value(name: str, depth: int, p: float) -> None:
    values = example(depth, p, seed=depth, layered=name == "lemma-2-peeled-data")
    values["c"] = 1.5 if "a-posteriori" in name else values["c"]
    q = 1 / (1 - 1 / p)
    values["norm"] = math.fsum(abs(x) ** q for x in values["eps"]) ** (1 / q)
    assert read_back(name, values) == pytest.approx(certified.upper(name, values), rel=1e-11)


def test_the_parser_sees_a_missing_parenthesis() -> None:
    env: Env = {"values": {}, "definitions": {}, "functions": {}, "m": 2.0}
    assert LatexParser(r"\frac{1}{2} \left(m + 1\right)").whole()(env) == 1.5
    assert LatexParser(r"\frac{1}{2} m + 1").whole()(env) == 2.0
    assert LatexParser(r"2 \sum_{s=1}^{3} s + 1").whole()({**env}) == 13.0


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_latex_is_balanced_and_uses_no_internal_name(name: str) -> None:
    text = STATEMENTS[name].latex()
    assert text.count("{") == text.count("}")
    assert text.count(r"\left") == text.count(r"\right")
    assert text.count("$") % 2 == 0
    assert not re.search(r"Rstar|DualRoot|DualNorm|WalkMean|ConfidenceC|phi0|E_sup|sum_sq|r_inf\b|h_ms", text)
