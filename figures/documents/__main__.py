"""python -m figures.documents: put the sources of the documentation site, written and generated, in one folder."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core.bar import Bar
from adanet_train.core.files import write_file

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "paper_notes"


def parser() -> Parser:
    options = Parser(prog="python -m figures.documents", description=__doc__.partition(": ")[2] if __doc__ else None)
    options.add_argument("--out", type=Path, default=Path("out/site"), metavar="DIR", help="default out/site")
    options.add_argument("--figures", type=Path, metavar="DIR", help="draw no figure, take those that are there")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    return console.run(parser(), assemble, argv)


def assemble(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(NOTES / "site", out)
    for path, text in {**pages(), **tutorials()}.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(out / path, text)
    pictures = arguments.figures or draw(out.parent / "site-figures")
    shutil.copytree(pictures, out / "gallery")
    write_file(out / "gallery.md", gallery_page(pictures))
    return 0


def pages() -> Mapping[str, str]:
    """Every generated page, by its path in the site."""
    from figures.documents import statements
    from figures.documents.examples import examples
    from figures.documents.proofs import paragraphs, sections
    from figures.explorer import page
    from verify.claims import run

    with Bar("claims", counts=True) as progress:
        outcomes = {outcome.claim.id: outcome for outcome in run.run_all(run.select([]), progress=progress)}
    derivations = paragraphs((NOTES / "derivations.md").read_text(encoding="utf-8"))
    listed = statements.pages(outcomes, sections(derivations), examples())
    made = {f"statements/{entry.id}.md": statements.markdown(entry) for entry in listed}
    return {
        **made,
        "statements/index.md": statements.index(listed),
        "ledger.md": statements.ledger(list(outcomes.values()), {entry.id for entry in listed}),
        "derivations.md": derivations,
        "notation.md": (NOTES / "notation.md").read_text(encoding="utf-8"),
        "changes.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "api/theory.md": theory_page(),
        "examples.md": examples_page(),
        "extra/explorer-page.html": page.document(),
    }


def tutorials() -> Mapping[str, str]:
    """The tutorials with links to their notebooks, and the notebooks."""
    from figures.documents.tutorials import notebook, offered, typeset

    made = {}
    for path in sorted((NOTES / "site" / "tutorials").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        made[f"tutorials/{path.name}"] = typeset(offered(page, path.stem))
        made[f"extra/tutorials/{path.stem}.ipynb"] = notebook(page)
    return made


def theory_page() -> str:
    """Every object that can be imported from adanet_theory, once, under the module that defines it."""
    import adanet_theory

    by_module: dict[str, list[str]] = {}
    for name in adanet_theory.__all__:
        offered = getattr(adanet_theory, name)
        module, own = getattr(offered, "__module__", ""), getattr(offered, "__name__", name)
        if module.startswith("adanet_theory.") and own not in by_module.setdefault(module, []):
            by_module[module].append(own)
    parts = [
        "# adanet_theory",
        "Import each with `from adanet_theory import NAME`. Statements can also be imported by their id, with _ for -.",
    ]
    for module, names in sorted(by_module.items()):
        lines = [f".. {'autoclass' if own[0].isupper() else 'autofunction'}:: {module}.{own}" for own in names]
        parts += [f"## {module.partition('.')[2]}", "```{eval-rst}\n" + "\n\n".join(lines) + "\n```"]
    return "\n\n".join(parts) + "\n"


def examples_page() -> str:
    """The scripts of paper_notes/examples, unchanged."""
    parts = ["# Examples", "These scripts have at most 40 lines each. They print a number and the bound on it."]
    for path in sorted((NOTES / "examples").glob("*.py")):
        script = path.read_text(encoding="utf-8")
        title, _, what = script.partition('"""')[2].partition('"""')[0].partition(":")
        parts += [
            f"## {title}",
            f"{what.strip().capitalize()}",
            f"`paper_notes/examples/{path.name}`",
            f"```python\n{script}```",
        ]
    return "\n\n".join(parts) + "\n"


def draw(folder: Path) -> Path:
    """Draw every figure of the theory and of the recorded results in its quick form; data are kept between builds."""
    from figures.gallery import FIGURES, data, write

    with Bar("figures", counts=True) as bar:
        for place, name in enumerate(FIGURES):
            bar(place, len(FIGURES), name)
            values = data(name, cache=folder.parent / "site-cache", quick=True)
            write(name, values, out=folder, formats=["png"])
    return folder


def gallery_page(pictures: Path) -> str:
    """Every figure that was drawn, with its caption."""
    from figures.gallery import FIGURES
    from verify.show.markdown import plain

    parts = ["# Figures", "These are quick versions. `python -m figures NAME --format pdf` draws a figure for a paper."]
    for name in FIGURES:
        if (pictures / f"{name}.png").exists():
            caption = plain((pictures / f"{name}.txt").read_text(encoding="utf-8").strip())
            image = f"```{{image}} gallery/{name}.png\n:alt: {name}\n:target: _images/{name}.png\n```"
            parts += [f"## {name}", image, caption]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
