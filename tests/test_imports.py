"""The import direction of the design, and that the heavy packages stay out of the light modules."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "paper_notes": set(),
    "adanet_theory": set(),
    "adanet_train": {"adanet_theory"},
    "verify": {"adanet_theory", "adanet_train", "paper_notes"},
    "figures": {"adanet_theory", "adanet_train", "paper_notes", "verify"},
}
TWINS = "twins"
FLOORS = {
    "adanet_theory": ("", "complexity", "risk", "certificates", "twins"),
    "adanet_train": (
        *("core", "data/pictures", "data", "data/clicks", "convex", "reading", "search", "certificate", "compression"),
        *("methods", "subnetworks", "model", "picking", "app", ""),
    ),
    "verify": (
        *("records", "measure", "reading", "rows", "show", "claims/checks", "claims", "suite", ""),
        *("experiments/running", "experiments/protocols", "experiments"),
    ),
    "figures": ("explorer", "", "documents"),
}
"""Rooms, a folder per job, from the lowest up: a module imports from its own floor and those below, also late.

"" is the hall.
"""


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules the file imports, at any place in it; of `from a import b` both a and a.b."""
    names = set()
    for node in ast.walk(parsed(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def packages(path: Path) -> set[str]:
    """The top-level names of every module the file imports."""
    return {name.split(".")[0] for name in imported(path)}


def modules() -> list[Path]:
    paths = (path for package in ALLOWED for path in (ROOT / package).rglob("*.py"))
    return sorted(path for path in paths if path.parent.name != "examples")  # scripts, as a user would write them


def run_imports(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node but those under `if TYPE_CHECKING`, which no program runs."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        typed = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        waiting += [] if typed else ast.iter_child_nodes(node)


def names_of(paths: Iterable[Path]) -> dict[str, Path]:
    """The files by the names that an import gives them."""
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def reached(nodes: Iterable[ast.AST], known: Iterable[str]) -> set[str]:
    """The modules of ours that these nodes import, at the top or in a function."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inside & set(known) or {node.module}
    return names & set(known)


def test_no_import_goes_in_a_circle_also_in_functions() -> None:
    """A module may import late what is heavy, never what imports it."""
    by_name = names_of(modules())
    graph = {name: reached(run_imports(parsed(path.read_text())), by_name) for name, path in by_name.items()}
    assert sum(map(len, graph.values())) > len(graph)
    order = [*TopologicalSorter(graph).static_order()]  # refuses a circle and names it
    assert set(order) == by_name.keys()


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_go_one_way(package: str) -> None:
    foreign = set(ALLOWED) - {package} - ALLOWED[package]
    for path in (path for path in modules() if path.relative_to(ROOT).parts[0] == package):
        assert not packages(path) & foreign, path
        if package == "adanet_theory":
            assert not packages(path) & {"torch", "sklearn"}, path
            assert path.parent.name == TWINS or not packages(path) & {"sympy", "flint"}, path


def test_the_theory_imports_light() -> None:
    code = (
        "import sys\n"
        "import adanet_theory.risk.generalization, adanet_theory.complexity.rademacher, adanet_theory.risk.posterior\n"
        "import adanet_theory.duality, adanet_theory.risk.solve, adanet_theory.risk.related\n"
        "heavy = {'torch', 'sympy', 'sklearn', 'scipy', 'matplotlib', 'flint'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_file_is_checked_without_scikit_learn() -> None:
    """Its import takes about a second, as long as that of torch."""
    code = "import sys, verify.compressing, adanet_train.picking.files\nassert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


ONCE = {
    "adanet_train/core/bar.py": ("rich.progress",),
    "adanet_train/app/console.py": ("except KeyboardInterrupt", "BrokenPipeError"),
    "adanet_train/core/files.py": ("importlib.metadata", 'get("ADANET_DATA")', "os.fsync", "python_version"),
    "adanet_train/core/device.py": ("is_available()",),
    "adanet_theory/checks.py": ("Progress = ", "splitlines() or [type(error)"),
    "adanet_theory/norms.py": (">> np.arange(m)",),
}


@pytest.mark.parametrize(("home", "text"), [(home, text) for home, texts in ONCE.items() for text in texts])
def test_what_is_shared_is_written_once(home: str, text: str) -> None:
    values = [str(path.relative_to(ROOT)) for path in modules() if text in path.read_text()]
    trains = {f"adanet_train/app/{name}.py" for name in ("cli", "processes", "subnetworks")}
    resumable = trains if text == "except KeyboardInterrupt" else set()
    assert home in values
    assert set(values) <= {home} | resumable  # adanet-train says which round an interrupted run has left


def test_experiments_stand_above_the_rest_of_verify() -> None:
    for path in modules():
        rooms = path.relative_to(ROOT).parts[:2]
        if rooms[0] == "figures" or rooms == ("verify", "experiments"):
            assert "subprocess" not in packages(path) or path.name == "tightness.py"  # pytest in a process of its own
        else:
            assert "verify.experiments" not in path.read_text(), path


def test_there_is_a_folder_per_job() -> None:
    for package, rooms in FLOORS.items():
        folders = {path.parent.relative_to(ROOT / package).as_posix() for path in (ROOT / package).rglob("*.py")}
        assert folders - {"."} == {*rooms} - {""}, package


LISTS = {"figures", "verify/claims/checks", "verify/suite"}
"""Folders that are lists of equals, one module a figure or a check."""


def test_no_folder_is_a_hall() -> None:
    """Fourteen modules at most: more of them make rooms."""
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules() if path.name != "__init__.py")
    assert {folder: count for folder, count in counts.items() if count > 14 and folder not in LISTS} == {}


def upward(package: str, sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """The pairs (module, what it imports from a room above its own), late imports and those of types too.

    The door of a package and `python -m` stand above all floors.
    """
    floors = {".".join([package, *room.split("/")]).rstrip("."): floor for floor, room in enumerate(FLOORS[package])}

    def floor(module: str) -> int:
        return floors[module if module in floors else module.rpartition(".")[0]]

    return {
        (module, other)
        for module, source in sources.items()
        for other in reached(ast.walk(parsed(source)), sources)
        if module not in (package, f"{package}.__main__") and floor(other) > floor(module)
    }


@pytest.mark.parametrize("package", FLOORS)
def test_the_rooms_stand_one_above_the_other(package: str) -> None:
    """No room imports from one above it, in functions neither, so that no circle of rooms can be."""
    by_name = names_of(path for path in modules() if path.relative_to(ROOT).parts[0] == package)
    sources = {name: path.read_text() for name, path in by_name.items()}
    assert upward(package, sources) == set()


@pytest.mark.parametrize(
    ("module", "other"),
    [
        ("verify.records.question", "verify.api"),
        ("verify.claims.checks.cvx", "verify.claims.run"),
        ("verify.api", "verify.experiments.cli"),
    ],
)
def test_an_import_from_above_is_seen_in_a_function(module: str, other: str) -> None:
    sources = {module: f"def late():\n    import {other}\n", other: ""}
    assert upward("verify", sources) == {(module, other)}


def test_only_pytest_imports_a_test_file() -> None:
    """What tests share with a figure or a command stands in a module of its own."""
    for path in modules():
        tests = {name for name in imported(path) if any(part.startswith("test_") for part in name.split("."))}
        assert not tests, path


COMPARISONS = (
    "figures/failure_frequency.py",
    "figures/bound_and_test_error.py",
    "figures/answer.py",
)  # figures of certain statements


def test_an_id_of_a_bound_is_written_where_the_statement_is() -> None:
    """The others go over the catalogue. The experiments' table and the suite's cases choose a few by name."""
    from adanet_theory import catalogue

    ids = set(catalogue.ids(catalogue.theory()))
    homes = ("adanet_theory", "verify/claims/checks", "verify/suite", "verify/experiments")
    for path in modules():
        where = path.relative_to(ROOT).as_posix()
        if not where.startswith(homes) and where not in COMPARISONS:
            nodes = ast.walk(parsed(path.read_text()))
            assert not ids & {node.value for node in nodes if isinstance(node, ast.Constant)}, path


def test_every_package_is_in_the_wheel() -> None:
    import tomllib

    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    by_name = {".".join(path.parent.relative_to(ROOT).parts) for path in modules() if path.name == "__init__.py"}
    assert by_name - listed == {"figures.documents"}  # made in a checkout only
