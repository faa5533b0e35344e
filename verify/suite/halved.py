"""A function with one of its constants halved, or a piece of it changed: what a check has to notice.

Only numbers that stand in the formula count: not those of comparisons, indices, ranges, defaults and messages.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

_APART = (ast.Compare, ast.Subscript, ast.JoinedStr, ast.Raise)
_CALLS = {"check", "range", "check_nonnegative", "enumerate", "round"}


def halved(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """(the changed line, the function) for every constant of its formula, one at a time.

    >>> from adanet_theory.risk.generalization import margin_bound
    >>> [line for line, _ in halved(margin_bound)][0]
    "complexity': finite(1.0 / rho * _mean(w_norms, W, R_m), 'margin-bound')"
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for index in range(len(_constants(tree))):
        mutant = copy.deepcopy(tree)
        node = _constants(mutant)[index]
        assert isinstance(node.value, int | float)
        before = ast.unparse(mutant).splitlines()
        node.value = node.value / 2
        after = ast.unparse(mutant).splitlines()
        changed = [new for old, new in zip(before, after, strict=True) if old != new]
        yield _shown(changed[0], node), _compiled(mutant, function)


def unnoticed(function: Callable[..., Any], modules: Iterable[Any], notices: Callable[[], object]) -> list[str]:
    """The lines of the function in which nobody notices a halved constant, wherever these modules use it."""
    mutants, missed, name = list(halved(function)), [], function.__name__
    assert mutants, f"{name} has no constants"
    users = [module for module in modules if vars(module).get(name) is function]
    for line, mutant in mutants:
        with pytest.MonkeyPatch.context() as patch:
            for module in users:
                patch.setattr(module, name, mutant)
            if not notices():
                missed.append(line)
    return missed


def changed(function: Callable[..., Any], old: str, new: str) -> Callable[..., Any]:
    """The function with a piece of its source replaced, which must be there once."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {function.__name__}"
    return _compiled(ast.parse(source.replace(old, new)), function)


def _constants(tree: ast.Module) -> list[ast.Constant]:
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    return [node for statement in function.body for node in _numbers(statement)]


def _numbers(node: ast.AST) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value != 0:
            yield node
        return
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    if isinstance(node, _APART) or called in _CALLS:
        return
    for child in ast.iter_child_nodes(node):
        yield from _numbers(child)


def _shown(line: str, node: ast.Constant) -> str:
    """The line; of a dict, which ast writes as one line, the entry with the constant."""
    parts = re.split(r"[{ ]'(?=\w+': )", line.strip())
    telling = [part for part in parts[1:] if repr(node.value) in part]
    return telling[0].rstrip(",}") if telling else line.strip()


def _compiled(tree: ast.Module, function: Callable[..., Any]) -> Callable[..., Any]:
    """In the namespace of its module, so that it sees the same helpers, and they do not see it."""
    function_node = tree.body[0]
    assert isinstance(function_node, ast.FunctionDef)
    function_node.decorator_list = []
    local: dict[str, Any] = {}
    code = compile(ast.fix_missing_locations(tree), f"<halved {function.__name__}>", "exec", flags=_ANNOTATIONS)
    exec(code, vars(sys.modules[function.__module__]), local)
    mutant: Callable[..., Any] = local[function_node.name]
    return mutant


_ANNOTATIONS = annotations.compiler_flag
