"""Files written whole or not at all, the folder of the data sets, and the versions a file records."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PROJECT = "adanet-theory"


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new file beside `path` to write; it takes its place when the block ends, and is gone if the block fails."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_file(path: str | Path, content: str | bytes) -> None:
    """All of the content or nothing: whoever reads the file meanwhile sees the old one."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def check_label(label: str | None, read: Iterable[str | None]) -> None:
    """Refuse a column of labels where no file has columns."""
    if label is None or any((path or "").lower().endswith((".csv", ".parquet", ".npy")) for path in read):
        return
    raise ValueError(f"--label is for a .csv, .parquet or .npy file, got {label!r}; the labels of other files are y.")


def check_writable(path: str | Path, read: Iterable[str | Path | None] = ()) -> None:
    """Refuse an output that could not be written, or that is one of the files read, before the work."""
    target = Path(os.path.realpath(path))
    if str(target) in {os.path.realpath(other) for other in read if other is not None}:
        raise ValueError(f"{path}: is read by this command, expected another file to write.")
    if target.exists() and not target.is_file():
        raise ValueError(f"{path}: cannot be written: not a regular file.")
    probe = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror or error}.") from None


def data_folder(data_dir: str | Path | None) -> Path:
    """The folder of the data sets: the one that is named, or $ADANET_DATA, or the current one."""
    return Path(data_dir or os.environ.get("ADANET_DATA") or ".")


def versions(packages: Sequence[str] = (PROJECT, "numpy", "torch")) -> dict[str, str]:
    """The versions of the packages and of Python, as model and results files record them."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    installed = {"python": platform.python_version()}
    for name in packages:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:  # of the project: run from a source tree
            installed[name] = "unknown" if name == PROJECT else "absent"
    return installed
