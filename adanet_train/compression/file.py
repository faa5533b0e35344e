"""A compressed network on disk: model.pt version 3 with the key "coded", checked from the file and the sample alone.

"coded": {"code": 1, "word": the codeword as bytes, "bits": its length, "shapes": of the tensors, in order,
          "graph": the architecture as data, absent where the module cannot be read}
"meta": {"delta", "m", "errors", "bound", "stages"}        what was claimed; everything is computed again
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from adanet_theory.checks import check
from adanet_train.compression import code, plain_graph
from adanet_train.compression.code import Coded, Shape
from adanet_train.compression.exact import Count, count, count_graph
from adanet_train.compression.problem import one_or_many
from adanet_train.compression.weights import fill, prepared
from adanet_train.core.files import replacing
from adanet_train.data import archive, fields
from adanet_train.data.archive import ModelFileError
from adanet_train.reading import enclosure
from adanet_train.reading.graph import Graph

if TYPE_CHECKING:
    from adanet_train.compression.search import Compressed

FORMAT, VERSION = "adanet-theory", 3
MAX_WEIGHTS = 1 << 24
MAX_AXES = 8


@dataclass(frozen=True, eq=False)
class CodedFile:
    """What a compressed network's file holds: the weights, and the graph where it has one."""

    coded: tuple[Coded, ...]
    graph: Graph | None
    bits: int
    """Length of the codeword of these weights, computed again."""
    code: int
    meta: Mapping[str, Any]
    sha256: str
    """Of the bytes of the file."""
    constants: int = 0
    """Numbers of the graph that are in the architecture and not in the code."""

    def count(self, X: Tensor, y: Tensor, module: nn.Module | None = None) -> Count:
        """Errors on a sample; a file without a graph needs the module, whose weights are replaced."""
        if self.graph is not None:
            return count_graph(self.graph, X, y)
        return count(self.network(module), X, y)

    def network(self, module: nn.Module | None) -> nn.Module:
        """The module with the weights of the file."""
        wanted = "the file holds no graph of its architecture: --module package:factory must give the module."
        check(module is not None, wanted)
        assert module is not None
        return fill(prepared(module), self.coded)

    def outputs(self, X: Tensor, module: nn.Module | None = None) -> Tensor:
        """f in float64: (m,) of one logit, (m, C) of C classes."""
        if self.graph is not None:
            return one_or_many(torch.from_numpy(enclosure.values(self.graph, X.double().numpy())[0]), len(X))
        own = self.network(module)
        with torch.no_grad():
            return one_or_many(own(X.double() if X.is_floating_point() else X), len(X))


def encoded(small: Compressed) -> bytes:
    """The bytes of the file."""
    small.require_unchanged()
    word, bits = code.encode(small.coded)
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "coded": {
            "code": code.VERSION,
            "word": torch.from_numpy(np.frombuffer(word, dtype=np.uint8).copy()),
            "bits": bits,
            "shapes": [list(part.value.shape) for part in small.coded],
            "graph": plain_graph.to_plain(small.module, small.coded, small.shape),
        },
        "meta": {
            "delta": small.delta,
            "m": small.m,
            "errors": small.errors,
            "bound": small.bound,
            "stages": [stage.plain for stage in small.stages],
        },
    }
    buffer = io.BytesIO()
    torch.save(fields.plain(plain, "the network"), buffer)
    return buffer.getvalue()


def write(path: str | Path, small: Compressed) -> None:
    """Write the file atomically, after reading it back."""
    data = encoded(small)
    with replacing(path) as temporary:
        temporary.write_bytes(data)
        back = decode(data, str(path))
        same = all(np.array_equal(a.value, b.value) for a, b in zip(back.coded, small.coded, strict=True))
        check(same and back.bits <= small.bits, f"{path}: what was written does not read back as the network.")


def is_coded(loaded: Any) -> bool:
    """Whether the contents of a file are a compressed network."""
    return isinstance(loaded, dict) and loaded.get("format") == FORMAT and "coded" in loaded


def is_coded_file(path: str | Path) -> bool:
    """Whether the file holds a compressed network; False if it cannot be read."""
    try:
        return is_coded(archive.load(archive.read_bytes(path), str(path)))
    except ModelFileError:
        return False


def read(path: str | Path) -> CodedFile:
    """The compressed network in a file.

    Raises
    ------
    ModelFileError
        If the file is not a compressed network, or its code is of another version.
    """
    return decode(archive.read_bytes(path), str(path))


def decode(data: bytes, where: str) -> CodedFile:
    """The compressed network in the bytes of a file."""
    loaded = archive.load(data, where)
    try:
        check(is_coded(loaded), f"expected a compressed network, a dict with format {FORMAT!r} and the key 'coded'.")
        return _coded_file(loaded, hashlib.sha256(data).hexdigest())
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise ModelFileError(f"{where}: {error}") from None


def _coded_file(loaded: Mapping[str, Any], sha256: str) -> CodedFile:
    version, coded = loaded.get("version"), loaded["coded"]
    check(version == VERSION, f"version must be {VERSION}, got {version!r}.")
    check(
        isinstance(coded, dict) and coded.get("code") == code.VERSION, f"code must be {code.VERSION}, got another one."
    )
    word = coded.get("word")
    known = isinstance(word, Tensor) and word.dtype == torch.uint8 and word.ndim == 1
    check(known, "coded word must be a tensor of bytes.")
    assert isinstance(word, Tensor)
    shapes = _shapes(coded.get("shapes"))
    tensors = tuple(code.decode(bytes(word.numpy()), shapes))
    graph = coded.get("graph")
    read = None if graph is None else plain_graph.of_plain(graph, tensors)
    meta = loaded.get("meta", {})
    check(isinstance(meta, dict), "meta must be a dict.")
    constants = 0 if graph is None else plain_graph.constants(graph)
    return CodedFile(tensors, read, code.encode(tensors)[1], code.VERSION, meta, sha256, constants)


def _shapes(given: Any) -> list[Shape]:
    """Sizes of the tensors, an empty axis counted as one number: what is refused is never allocated."""
    known = isinstance(given, list) and bool(given) and all(isinstance(shape, list) for shape in given)
    known = known and all(type(n) is int and n >= 0 for shape in given for n in shape)
    check(known and max(map(len, given)) <= MAX_AXES, f"coded shapes must be lists of at most {MAX_AXES} sizes.")
    weights = sum(math.prod(max(n, 1) for n in shape) for shape in given)
    check(weights <= MAX_WEIGHTS, f"coded shapes must hold at most {MAX_WEIGHTS:,} weights, got {weights:.4g}.")
    return [tuple(shape) for shape in given]
