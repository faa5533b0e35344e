"""The keys of model.pt, one function each: the plain value from the file -> the validated object, and back.

Every function names its key in the one-line ValueError that it raises.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.activations import activation
from adanet_theory.checks import check, check_rho
from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Pair
from adanet_train.core.points import Points
from adanet_train.data.features import FeatureMap

MAX_UNITS = 10_000_000
MAX_DECLARED_UNITS = 2**53
MAX_CLASSES = 1_000_000
MAX_OUTPUT_WEIGHTS = 2**28
KEPT = 2**24
"""Numbers in Psi up to which a model file holds the sample itself: 128 MB."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Ψ and y of the training sample, or only their number and digest; y is float64 -1/+1, or int64 0..C-1."""

    m: int
    sha256: str
    Psi: Tensor | None = None
    y: Tensor | None = None

    @classmethod
    def of(cls, Psi: Any, y: Any, outputs: int | None = None) -> Sample:
        """The sample with its data, checked: Psi finite of shape (m, n_0), m >= 1, y of -1 and +1 or of classes."""
        Psi, y = dense(torch.as_tensor(Psi)), _labels(torch.as_tensor(y), outputs)
        check(Psi.ndim == 2 and len(Psi) >= 1, f"sample Psi must have shape [m, n_0], got {list(Psi.shape)}.")
        check(y.shape == Psi.shape[:1], f"sample y must have shape [{len(Psi)}], got {list(y.shape)}.")
        check(bool(torch.isfinite(Psi).all()), "sample Psi must be finite, got nan or inf.")
        if outputs is None:
            check(bool((y.abs() == 1).all()), "sample y must hold -1 and +1 only.")
        else:
            inside = bool(((y >= 0) & (y < outputs)).all())
            check(inside, f"sample y must hold class indices 0..{outputs - 1} only.")
        return replace(cls.digest(Points(Psi), y), Psi=Psi, y=y)

    @classmethod
    def digest(cls, points: Points, y: Any) -> Sample:
        """The number of points and SHA-256 of "m,n_0\\n", then Psi row by row, then y, as little-endian float64."""
        digest = hashlib.sha256(f"{len(points)},{points.n_0}\n".encode())
        for _, Psi in points.chunks():
            digest.update(Psi.cpu().numpy().astype("<f8", copy=False).data)
        digest.update(torch.as_tensor(y).cpu().numpy().astype("<f8", copy=False).data)
        return cls(len(points), digest.hexdigest())

    @classmethod
    def kept(cls, points: Points, y: Any, outputs: int | None = None) -> Sample:
        """The sample with its data if they are small enough for a model file, else its digest."""
        small = len(points) * points.n_0 <= KEPT
        return cls.of(points.whole(), y, outputs) if small else cls.digest(points, y)

    def matches(self, Psi: Any, y: Any, outputs: int | None = None) -> bool:
        """Whether Psi and y are the sample that was trained on, to the last bit."""
        return self.sha256 == Sample.digest(Points(Psi), _labels(torch.as_tensor(y), outputs)).sha256

    def without_data(self) -> Sample:
        return replace(self, Psi=None, y=None)


def _labels(y: Tensor, outputs: int | None) -> Tensor:
    if outputs is None:
        return dense(y)
    check(y.dtype == torch.int64, f"sample y must be int64 class indices, got {y.dtype}.")
    return y.detach().to("cpu").contiguous().clone()


def dense(tensor: Tensor) -> Tensor:
    """A float64 copy on the CPU that owns exactly its storage."""
    return tensor.detach().to("cpu", torch.float64).contiguous().clone()


# Reading


def hidden_weights(value: Any) -> dict[Pair, Tensor]:
    weights = {}
    for key, U in _dict(value, "hidden").items():
        k, s = _pair(key, "hidden")
        weights[k, s] = _tensor(U, f"hidden {key!r}", ndim=2)
    return weights


def class_count(loaded: Mapping[str, Any], version: int) -> int | None:
    """ "outputs" of a file of version 2: C >= 2, or None where f is one function."""
    if version < 2 or "outputs" not in loaded:
        return None
    C: Any = loaded["outputs"]
    sound = type(C) is int and 2 <= C <= MAX_CLASSES
    check(sound, f"outputs must be an integer in [2, {MAX_CLASSES}], got {short(C)}.")
    return int(C)


def output_weights(value: Any, outputs: int | None = None) -> dict[int, Tensor]:
    """w_k by layer: a vector, or a matrix with one row for each of the C classes."""
    weights = {}
    for key, w in _dict(value, "output").items():
        check(bool(re.fullmatch(r"[1-9][0-9]{0,3}", key)), f"output has the key {key!r}, expected a layer k >= 1.")
        weights[int(key)] = _tensor(w, f"output {key!r}", ndim=1 if outputs is None else 2)
        if outputs is not None:
            check(len(w) == outputs, f"output {key!r} must have {outputs} rows, one a class, got {len(w)}.")
    return weights


def require_storable(n: Sequence[int], outputs: int | None) -> None:
    """Absent weights are written as zeros: a small file must not unfold into a large one."""
    size = sum(n[1:]) * (outputs or 1)
    fits = outputs is None or size <= MAX_OUTPUT_WEIGHTS
    check(fits, f"{outputs} outputs on {sum(n[1:])} units, expected at most {MAX_OUTPUT_WEIGHTS} weights.")


def layer_sizes(
    hidden: Mapping[Pair, Tensor], output: Mapping[int, Tensor], n_0_claims: Iterable[tuple[str, int]]
) -> tuple[int, ...]:
    """n_0, .., n_l on which all tensors agree; a layer that no tensor mentions has no units."""
    claims = [(where, 0, n_0) for where, n_0 in n_0_claims]
    for (k, s), U in hidden.items():
        claims += [(f"hidden '{k},{s}'", k, U.shape[0]), (f"hidden '{k},{s}'", s, U.shape[1])]
    claims += [(f"output '{k}'", k, w.shape[-1]) for k, w in output.items()]
    first: dict[int, tuple[str, int]] = {}
    for where, k, n_k in claims:
        check(n_k <= MAX_UNITS, f"{where} gives n_{k}={n_k}, expected at most {MAX_UNITS}.")
        other, known = first.setdefault(k, (where, n_k))
        check(n_k == known, f"{where} gives n_{k}={n_k}, but {other} gives n_{k}={known}.")
    check(max(first, default=0) >= 1, "hidden and output are empty, expected at least layer 1.")
    check(0 in first and first[0][1] >= 1, "nothing gives n_0 >= 1, expected hidden '1,0'.")
    return tuple(first[k][1] if k in first else 0 for k in range(max(first) + 1))


def activation_names(value: Any, hidden_layers: int) -> tuple[str, ...]:
    """One name for all hidden layers, or a list of one for each."""
    if isinstance(value, str):
        return (activation(value).name,) * hidden_layers
    named = isinstance(value, list) and all(isinstance(name, str) for name in value)
    check(named, f"activation must be a name or a list of names, got {short(value)}.")
    check(len(value) == hidden_layers, f"activation must name {hidden_layers} hidden layers, got {len(value)}.")
    return tuple(activation(name).name for name in value)


def declared_sizes(value: Any) -> list[int]:
    n: Any = _dict(value, "declared").get("n")
    check(isinstance(n, list) and len(n) >= 2, f"declared n must be a list [n_0, N_1, ..], got {short(n)}.")
    for k, N_k in enumerate(n):
        sound = type(N_k) is int and (k == 0) <= N_k <= MAX_DECLARED_UNITS
        check(sound, f"declared n must hold integers >= 0 (n_0 >= 1), got {short(N_k)} at place {k}.")
    return list(n)


def declared_family(value: Any, activations: tuple[str, ...]) -> tuple[NetworkSpec, float | None]:
    """The declared NetworkSpec, and rho if it was declared."""
    declared = _dict(value, "declared")
    Lambda = _dict(declared.get("Lambda"), "declared Lambda")
    bounds = {_pair(key, "declared Lambda"): _float(x, f"declared Lambda {key!r}") for key, x in Lambda.items()}
    spec = NetworkSpec(declared_sizes(value), bounds, _float(declared.get("p"), "declared p"), activations)
    rho = _float(declared["rho"], "declared rho") if "rho" in declared else None
    if rho is not None:
        check_rho(rho)
    return spec, rho


def require_fit(n: Sequence[int], N: Sequence[int]) -> None:
    """The declared depth and widths N are upper limits. The verifier checks the norms of the units."""
    deep = len(n) <= len(N)
    check(deep, f"the network has depth {len(n) - 1}, expected at most the declared {len(N) - 1}.")
    for k, (n_k, N_k) in enumerate(zip(n, N, strict=False)):
        check(n_k <= N_k, f"layer {k} of the network has {n_k} units, expected at most the declared {N_k}.")


def feature_map(value: Any) -> FeatureMap:
    features = _dict(value, "features")
    names: Any = features.get("names")
    named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    check(named, "features names must be a list of str.")
    for flag in ("clip", "bias", "fitted_on_sample"):
        check(type(features.get(flag)) is bool, f"features {flag} must be a bool, got {short(features.get(flag))}.")
    low, high = (_tensor(features.get(key), f"features {key}", ndim=1).numpy() for key in ("low", "high"))
    r_sup = _float(features.get("r_sup"), "features r_sup")
    flags = (features["clip"], features["bias"], features["fitted_on_sample"])
    return FeatureMap(tuple(names), low, high, *flags, r_sup, _float(features.get("floor", 0.0), "features floor"))


def sample(value: Any, name: str = "sample", outputs: int | None = None) -> Sample:
    """The sample, or the points held out."""
    stored = _dict(value, name)
    if "Psi" in stored or "y" in stored:
        labels: Any = stored.get("y")
        y = _tensor(labels, f"{name} y", ndim=1) if outputs is None else _indices(labels, f"{name} y")
        return Sample.of(_tensor(stored.get("Psi"), f"{name} Psi", ndim=2), y, outputs)
    m: Any = stored.get("m")
    sha256: Any = stored.get("sha256")
    check(type(m) is int and m >= 1, f"{name} m must be an integer >= 1, got {short(m)}.")
    hexadecimal = isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)
    check(bool(hexadecimal), f"{name} sha256 must be 64 hexadecimal digits, got {short(sha256)}.")
    return Sample(m, sha256)


def picked(value: Any, m: int) -> dict[str, Any]:
    """The record of a run of picking on m rows: row numbers and a recipe, which a replay checks."""
    record = _dict(value, "picked")
    for name in ("start", "picks"):
        rows: Any = record.get(name)
        known = isinstance(rows, list) and all(type(row) is int and 0 <= row < m for row in rows)
        check(known, f"picked {name} must be a list of row numbers below m={m}, got {short(rows)}.")
    _dict(record.get("recipe"), "picked recipe")
    return record


def _dict(value: Any, name: str) -> dict[str, Any]:
    check(isinstance(value, dict), f"{name} must be a dict, got {short(value)}.")
    return dict(value)


def _pair(key: str, name: str) -> Pair:
    match = re.fullmatch(r"([1-9][0-9]{0,3}),(0|[1-9][0-9]{0,3})", key)
    k, s = (int(match[1]), int(match[2])) if match else (0, 0)
    allowed = (k, s) == (1, 0) or 1 <= s < k
    check(allowed, f"{name} has the key {key!r}, expected 'k,s' with 1 <= s < k, or '1,0'.")
    return k, s


def _float(value: Any, name: str) -> float:
    check(type(value) in (int, float), f"{name} must be a number, got {short(value)}.")
    return float(value)


def _tensor(value: Any, name: str, ndim: int) -> Tensor:
    _require_stored(value, name, ndim)
    check(value.is_floating_point(), f"{name} must be real floating, got {value.dtype}.")
    check(bool(torch.isfinite(value).all()), f"{name} must be finite, got nan or inf.")
    return dense(value)


def _indices(value: Any, name: str) -> Tensor:
    _require_stored(value, name, 1)
    check(value.dtype == torch.int64, f"{name} must be int64 class indices, got {value.dtype}.")
    return value


def _require_stored(value: Any, name: str, ndim: int) -> None:
    check(isinstance(value, Tensor), f"{name} must be a tensor, got {short(value)}.")
    check(value.ndim == ndim, f"{name} must have {ndim} dimensions, got shape {list(value.shape)}.")
    check(value.numel() * value.element_size() == value.untyped_storage().nbytes(), f"{name} must fill its storage.")


def short(value: Any) -> str:
    """A value of a file for a message."""
    text = f"a tensor of shape {list(value.shape)}" if isinstance(value, Tensor) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# Writing


def plain(value: Any, name: str) -> Any:
    """A fresh copy from plain values only, so that equal contents give equal bytes.

    Strings are interned, because pickle writes equal strings once only if they are one object. None is left out.
    """
    if isinstance(value, Mapping):
        return {sys.intern(str(k)): plain(v, f"{name} {k!r}") for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [plain(item, name) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, str):
        return sys.intern(str(value))
    check(isinstance(value, Tensor), f"{name} must hold plain values and tensors, got a {type(value).__name__}.")
    return value.detach().cpu().contiguous().clone()


def features_dict(features: FeatureMap) -> dict[str, Any]:
    limits = {"low": torch.from_numpy(features.low), "high": torch.from_numpy(features.high)}
    flags = {"clip": features.clip, "bias": features.bias, "fitted_on_sample": features.fitted_on_sample}
    floor = {"floor": float(features.floor)} if features.floor else {}
    return {"names": features.names, **limits, **flags, "r_sup": float(features.r_sup), **floor}


def declared_dict(spec: NetworkSpec, rho: float | None) -> dict[str, Any]:
    Lambda = {f"{k},{s}": bound for (k, s), bound in sorted(spec.Lambda.items())}
    return {"p": spec.p, "n": spec.n, "Lambda": Lambda, "rho": rho}


def sample_dict(sample: Sample) -> dict[str, Any]:
    return {"m": sample.m, "sha256": sample.sha256} if sample.Psi is None else {"Psi": sample.Psi, "y": sample.y}
