"""model.pt, version 1 to 3: a network, the family it was declared in, its features and its sample, as plain values.

    "format": "adanet-theory", "version": 1, or 2 or 3 where it is needed
    "activation": a name, or a list for layers 1..l-1
    "hidden": {"k,s": Tensor[n_k, n_s]}, "output": {"k": Tensor[n_k]}      a missing one is zero
    "declared": {"p", "n", "Lambda": {"k,s": float}, "rho"}                may be absent
    "features": {"names", "low", "high", "clip", "bias", "fitted_on_sample", "r_sup"}      absent: the identity
    "sample": {"Psi", "y"} or {"m", "sha256"}                              may be absent
    "meta": {...}                                                          other keys are kept
    "holdout": as sample, points never used in training                    version 2, as are the next two
    "tried": settings, maps and statements looked at on the sample         absent: 1
    "features" "floor": -1                                                 clipped to [-1, 1]
    "picked": {"start", "picks", "rounds", "first", "recipe"}              version 3: trained by picking, row numbers

Version 2 may hold "outputs": C, the number of classes: then "output": {"k": Tensor[C, n_k]}, the labels of the sample
are int64 class indices 0..C-1, and meta.classes may name the classes. Without it f is one function and y is -1/+1.

Equal models give equal bytes: every value is rebuilt in one canonical form, and the archive is made in memory.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train.core.files import replacing
from adanet_train.core.network import Network
from adanet_train.data import archive, fields
from adanet_train.data.archive import ModelFileError
from adanet_train.data.features import FeatureMap, default_names
from adanet_train.data.fields import Sample
from adanet_train.reading.graph import Graph, of_network
from adanet_train.reading.state_dict import Chain, chain_of, load_weights, read_state_dict, weights

__all__ = ["ModelFile", "ModelFileError", "Sample", "read", "read_any", "read_state_dict", "write"]

FORMAT, VERSION = "adanet-theory", 3
_KEYS = ("format", "version", "activation", "hidden", "output", "declared", "features", "sample", "meta", "holdout")
_PICKED_KEY = "picked"
_CLASSES_KEY = "outputs"


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model.pt holds; `sha256` is that of its bytes, `extra` the keys that this version does not know."""

    network: Network
    declared: NetworkSpec | None = None
    declared_rho: float | None = None
    features: FeatureMap | None = None
    sample: Sample | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    sha256: str | None = None
    chain: Chain | None = None
    """The weights of a state_dict in their own type of numbers, if the model was read from one."""
    holdout: Sample | None = None
    """Points never used in training."""
    picked: Mapping[str, Any] | None = None
    """For a network trained by picking: start and picks, as row numbers of the sample, and the recipe."""

    @cached_property
    def graph(self) -> Graph:
        """The network as a graph on Ψ."""
        return of_network(self.network)

    @property
    def layers(self) -> Network:
        return self.network

    @property
    def is_converted(self) -> bool:
        """Whether it was read from a state_dict, which holds only weights: that they form a chain is assumed."""
        return self.chain is not None

    @property
    def version(self) -> int:
        """The least version of the file that holds all of it."""
        if self.picked is not None:
            return 3
        clipped_below = self.features is not None and self.features.floor != 0
        more = self.holdout is not None or "tried" in self.extra or self.network.outputs is not None
        return 2 if more or clipped_below else 1

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The names of the classes -1 and +1, or of the outputs, if training left them in the file."""
        names: Any = self.meta.get("classes")
        if isinstance(names, list):
            names = [str(int(name)) if type(name) in (int, float) and name == name // 1 else name for name in names]
        count = self.network.outputs or 2
        sound = isinstance(names, list) and len(names) == count and all(isinstance(name, str) for name in names)
        return tuple(names) if sound and len(set(names)) == count else None

    @property
    def shown_classes(self) -> tuple[str, ...] | None:
        """What reports call the classes: their names, or those of a pair A-B."""
        pair: Any = self.meta.get("called")
        sound = isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
        return self.class_names or (tuple(pair) if sound and self.network.outputs is None else None)

    @property
    def label(self) -> str | None:
        """The column of the table trained on that held the labels."""
        label = self.meta.get("label")
        return label if isinstance(label, str) else None

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns of that table that training left out."""
        names = self.meta.get("dropped")
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()

    def Psi(self, X: Any) -> Tensor:
        """Ψ on the rows of X; X itself where the file holds no feature map."""
        Psi = torch.as_tensor(X if self.features is None else self.features(X), dtype=torch.float64)
        fits = Psi.ndim == 2 and Psi.shape[1] == self.network.n[0]
        check(fits, f"Psi must have shape [m, {self.network.n[0]}], got {list(Psi.shape)}.")
        return Psi


# Reading


def read(path: str | Path) -> ModelFile:
    """The model in the file, every value validated before any arithmetic."""
    return decode(archive.read_bytes(path), str(path))


def read_any(path: str | Path, activation: str | None = None) -> ModelFile:
    """A model.pt, or the state_dict of a torch MLP with its activation, which a state_dict does not say.

    Ψ of the latter is x, with a constant behind it for its biases.
    """
    data = archive.read_bytes(path)
    loaded = load_weights(data, str(path))
    if not isinstance(loaded, dict) or not loaded or "format" in loaded:
        return decode(data, str(path))  # a checkpoint may hold more than a model file
    try:
        return replace(of_state_dict(loaded, activation), sha256=hashlib.sha256(data).hexdigest())
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None


def of_state_dict(state: Mapping[str, Any], activation: str | None) -> ModelFile:
    """The network of a state_dict or checkpoint; Ψ is x, with a constant behind it for its biases."""
    network = read_state_dict(state, activation)
    columns = next(value.shape[1] for value in weights(state).values() if value.ndim == 2)
    features = FeatureMap.identity(default_names(columns), bias=network.n[0] > columns)
    return ModelFile(network, features=features, chain=chain_of(state))


def decode(data: bytes, where: str) -> ModelFile:
    """The model in the bytes of a file; `where` opens the line of a ModelFileError."""
    loaded = archive.load(data, where)
    try:
        return replace(_model(loaded), sha256=hashlib.sha256(data).hexdigest())
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{where}: {error}") from None


def _model(loaded: Any) -> ModelFile:
    check(isinstance(loaded, dict), f"holds a {type(loaded).__name__}, expected a dict with format {FORMAT!r}.")
    check(loaded.get("format") == FORMAT, f"format must be {FORMAT!r}, got {str(loaded.get('format'))[:40]!r}.")
    own = (
        "holds subnetworks of your own: name the function that returns their builders, --subnetworks PACKAGE:FACTORY, "
        "or in Python load(path, subnetworks=[...])."
    )
    check("subnetworks" not in loaded, own)
    version = loaded.get("version")
    check(type(version) is int and 1 <= version <= VERSION, f"version must be <= {VERSION}, got {version!r}.")
    outputs = fields.class_count(loaded, version)
    hidden, output = fields.hidden_weights(loaded.get("hidden")), fields.output_weights(loaded.get("output"), outputs)
    features = fields.feature_map(loaded["features"]) if "features" in loaded else None
    sample = fields.sample(loaded["sample"], outputs=outputs) if "sample" in loaded else None
    N = fields.declared_sizes(loaded["declared"]) if "declared" in loaded else None
    n_0_claims = [] if N is None else [("declared n", N[0])]
    if features is not None:
        n_0_claims.append(("features", features.n_0))
    holdout = fields.sample(loaded["holdout"], "holdout", outputs) if "holdout" in loaded else None
    for name, points in (("sample", sample), ("holdout", holdout)):
        if points is not None and points.Psi is not None:
            n_0_claims.append((f"{name} Psi", points.Psi.shape[1]))
    n = fields.layer_sizes(hidden, output, n_0_claims)
    fields.require_storable(n, outputs)

    if N is not None:
        fields.require_fit(n, N)
    activations = fields.activation_names(loaded.get("activation"), len(N or n) - 2)
    network = Network(n, hidden, output, activations[: len(n) - 2], outputs)
    declared, rho = fields.declared_family(loaded["declared"], activations) if N is not None else (None, None)
    meta = loaded.get("meta", {})
    check(isinstance(meta, dict), f"meta must be a dict, got a {type(meta).__name__}.")
    known = _KEYS if outputs is None else (*_KEYS, _CLASSES_KEY)
    picked = None
    if version >= 3 and _PICKED_KEY in loaded:
        check(sample is not None, "picked needs the sample, or its number of points.")
        picked, known = fields.picked(loaded[_PICKED_KEY], sample.m if sample else 0), (*known, _PICKED_KEY)
    extra = {key: value for key, value in loaded.items() if key not in known}
    return ModelFile(network, declared, rho, features, sample, meta, extra, holdout=holdout, picked=picked)


# Writing


def write(path: str | Path, model: ModelFile) -> ModelFile:
    """Write atomically: beside the target, read back and compared, then renamed. Returns what was read back."""
    try:
        data = encode(model)
        with replacing(path) as temporary:
            temporary.write_bytes(data)
            written = decode(temporary.read_bytes(), str(path))
            check(encode(written) == data, "what was written does not read back as the model.")
        return written
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written: {error.strerror or error}.") from None
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"{path}: {error}") from None


def encode(model: ModelFile) -> bytes:
    """The bytes of the file, a function of the model's values alone."""
    buffer = io.BytesIO()
    torch.save(fields.plain(_payload(model), "the model"), buffer)
    return buffer.getvalue()


def _payload(model: ModelFile) -> dict[str, Any]:
    network = model.network
    # Absent weights of the output and of layer 1 are written as zeros: they tell the sizes of all layers.
    hidden = {(1, 0): torch.zeros(network.n[1], network.n[0])} | dict(network.hidden)
    output = {k: network.output.get(k, network.no_weights(network.n[k])) for k in range(1, network.depth + 1)}
    activations = _activations(model)
    classes = {} if network.outputs is None else {_CLASSES_KEY: network.outputs}
    # a key that version 1 did not know must not come to mean something
    extra = {key: value for key, value in model.extra.items() if key != _CLASSES_KEY or model.version == 1}
    if model.version >= 3:
        extra.pop(_PICKED_KEY, None)
    return extra | {
        "format": FORMAT,
        "version": model.version,
        "activation": activations[0] if len(set(activations)) == 1 else activations,
        "hidden": {f"{k},{s}": fields.dense(U) for (k, s), U in sorted(hidden.items())},
        **classes,
        "output": {f"{k}": fields.dense(w) for k, w in output.items()},
        "declared": fields.declared_dict(model.declared, model.declared_rho) if model.declared else None,
        "features": fields.features_dict(model.features) if model.features else None,
        "sample": fields.sample_dict(model.sample) if model.sample else None,
        "holdout": fields.sample_dict(model.holdout) if model.holdout else None,
        "meta": model.meta,
        **({} if model.picked is None else {_PICKED_KEY: model.picked}),
    }


def _activations(model: ModelFile) -> list[str]:
    """The activations of the declared family, which is the deeper one; the network's must be the first of them."""
    own = list(model.network.activations)
    if model.declared is None:
        return own
    declared = [phi.name for phi in model.declared.activations]
    check(own == declared[: len(own)], f"activation must be the declared {declared[: len(own)]}, got {own}.")
    return declared
