"""PACKAGE:NAME of a command line: an object of the user's own code, imported because the user names it."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adanet_theory.checks import check, nearest, shown


def require_package(text: str, option: str) -> None:
    """Refuse a missing package without importing it, because an import may take seconds."""
    package, _, name = text.partition(":")
    check(bool(package and name), f"{option} must be PACKAGE:FACTORY, got {text!r}.")
    module = package.removesuffix(".py")
    check(module == package, f"{option} {text}: a package is named without .py: {module.replace(os.sep, '.')}:{name}.")
    top = package.partition(".")[0]
    sys.path.insert(0, os.getcwd())
    try:
        is_there = top in sys.modules or find_spec(top) is not None
    finally:
        sys.path.remove(os.getcwd())
    near = nearest(top, [path.stem for path in Path().glob("*.py")])
    meant = f"; did you mean {near}?" if near else ""
    check(is_there, f"{option} {text}: no module {top!r} is installed, and this folder has no {top}.py{meant}")


def named(text: str, option: str) -> Any:
    """Import the object; its package may be in the current folder, as for `python -m`."""
    require_package(text, option)
    package, _, name = text.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        attribute = getattr(import_module(package), name, None)
    except Exception as error:  # whatever the user's code does
        raise failed(text, option, error) from None
    finally:
        sys.path.remove(os.getcwd())
    check(attribute is not None, f"{option} {text}: {_absent(package, name)}")
    return attribute


def _absent(package: str, name: str) -> str:
    """What the package has in place of the name."""
    public = [one for one in vars(sys.modules[package]) if not one.startswith("_")]
    near = nearest(name, public)
    remedy = f"did you mean {near!r}?" if near else f"it has {shown(public) or 'no public name'}."
    return f"{package} has no {name!r}; {remedy}"


def called(text: str, option: str, make: Any) -> Any:
    """Call the object without arguments."""
    try:
        return make()
    except Exception as error:  # whatever the user's code does
        raise failed(text, option, error) from None


def failed(text: str, option: str, error: Exception) -> ValueError:
    """One line for an error of the user's code."""
    reason = (str(error).strip().splitlines() or [""])[0]
    return ValueError(f"{option} {text}: {type(error).__name__}: {reason}".rstrip(": ") + ".")
