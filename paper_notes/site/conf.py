"""Sphinx: the site that `make docs` builds from these pages and those that figures.documents makes."""

import re
from typing import Any

project = "adanet-theory"
author = "the adanet-theory developers"
copyright = "the adanet-theory developers, Apache-2.0"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["extra", "gallery", "_ipython"]
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_timeout = 300

autodoc_typehints = "description"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
autodoc_member_order = "bysource"
add_module_names = False

html_theme = "furo"
html_title = "adanet-theory"
html_static_path = ["_static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # from a file no page can be fetched


def _words(line: str) -> str:
    """A line of words: `code` as code, and no sign of a formula taken for markup."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return re.sub(r"([\\*_|`])", r"\\\1", line)
    return "".join(f"``{part}``" if i % 2 else re.sub(r"([\\*_|])", r"\\\1", part) for i, part in enumerate(parts))


def _fields(lines: list[str]) -> list[str]:
    """What stands below the heading Parameters, `name : words`, as fields."""
    heading = next((place for place, line in enumerate(lines[1:]) if line and not line.strip("-")), None)
    if heading is None or lines[heading] != "Parameters":
        return lines
    end = next((place for place, line in enumerate(lines) if place > heading and not line), len(lines))
    fields = []
    for line in lines[heading + 2 : end]:
        name, _, words = line.partition(" : ")
        fields.append("    " + _words(line.strip()) if line.startswith(" ") else f":param {name}: {_words(words)}")
    return [*lines[:heading], *fields, *lines[end:]]


def _as_written(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: paragraphs, parameters, formulas set in by four spaces, and examples; no markup."""
    found, inside = [], ""
    for line in _fields(lines):
        if line.startswith(":param"):
            inside = "parameter"
        if inside == "parameter" and line:
            found.append(line)
            continue
        kind = "example" if line.startswith(">>>") or (inside == "example" and line) else "words"
        kind = "formula" if line.startswith("    ") and kind == "words" else kind
        if kind == "formula" and inside != "formula":
            found += ["", "::", ""]
        if inside == "formula" and kind != "formula":
            found.append("")
        found.append(_words(line) if kind == "words" else line)
        inside = kind
    lines[:] = [*found, ""]


def _unbroken(app: Any, name: str, source: list[str]) -> None:
    """In a narrow cell no line ends with ±."""
    source[0] = source[0].replace(" ± ", " ±\u00a0")


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _as_written)
    app.connect("source-read", _unbroken)
