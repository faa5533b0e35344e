"""make wheel-test: the wheel, alone in a clean environment, run from another folder as a user would.

With a folder, as make release has it: the wheel in it, which was built from the sdist beside it.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path) -> str:
    print("$", *command, flush=True)
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if len(sys.argv) > 1:
            (wheel,) = Path(sys.argv[1]).resolve().glob("*.whl")
        else:
            pip = (sys.executable, "-m", "pip")
            run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ROOT, cwd=place)
            (wheel,) = place.glob("*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        packages = {name.split("/")[0] for name in names}
        assert not any(name.startswith("tests/") for name in names), "the wheel holds tests"
        ours = {package for package in packages if ".dist-info" not in package}
        assert ours == {"adanet_theory", "adanet_train", "verify", "figures", "paper_notes"}, ours
        assert all(f"{package}/py.typed" in names for package in ours)
        venv.create(place / "env", with_pip=True)
        bin = place / "env" / "bin"
        run(bin / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=place)
        for command in ("adanet-train", "adanet-experiment", "verify-bounds", "verify-claims"):
            assert "usage" in run(bin / command, "--help", cwd=place).lower()
            run(bin / command, "--version", cwd=place)
        run(bin / "adanet-train", "digits:3-8", "-o", "model.pt", "--rounds", "2", cwd=place)
        print(run(bin / "verify-bounds", "model.pt", cwd=place))
        run(bin / "python", "-m", "figures", "explorer", "--model", "model.pt", "--out", "explorer.html", cwd=place)
    print("the wheel works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
