"""What is read of a network: a graph, the layers in it that the families are about, what its file says; or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from adanet_theory.spec import NetworkSpec
    from adanet_train.core.network import Network
    from adanet_train.model.model_file import ModelFile
    from adanet_train.reading.graph import Graph


@dataclass(frozen=True, eq=False)
class ReadNetwork:
    """A network that came without a file: x is Ψ, and nothing is known of the sample."""

    graph: Graph
    layers: Network | None = None
    declared: NetworkSpec | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    declared_rho: None = None
    features: None = None
    sample: None = None
    holdout: None = None
    picked: Any = None
    sha256: str | None = None
    shown_classes: None = None
    is_converted: bool = False
    encoded: bool = False
    """Whether x stands for the words of a table, which its training rows listed."""

    @classmethod
    def of(cls, graph: Graph) -> ReadNetwork:
        """The graph and its layers; of two logits f is the second minus the first."""
        from adanet_train.reading.layers import layers

        return cls(graph.read((-1.0, 1.0)) if graph.outputs == 2 else graph, layers(graph))


Formula: TypeAlias = "ModelFile | ReadNetwork"


@dataclass(frozen=True)
class BlackBox:
    """A predictor that cannot be read; `outputs` is the number of its classes if there are more than two."""

    kind: str
    outputs: int | None = None
    is_converted: bool = False
    """Whether weights alone were given, which are taken as a chain of layers."""
    picked: Any = None
    """Where it was trained by picking: what counts its picks again and replays them."""
    encoded: bool = False
    """Whether x stands for the words of a table, which its training rows listed."""
