"""AdaNet (and .R .P .D .SD), AdaNet.CVX and the baselines in torch: networks inside the families of the theory.

>>> from adanet_train import AdaNetClassifier, AdaNetCVXClassifier, Config, certify, compress, load, replay
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "adanet_train.compression.search": ("compress",),
    "adanet_train.core.config": ("Config",),
    "adanet_train.estimator": ("AdaNetCVXClassifier", "AdaNetClassifier", "load"),
    "adanet_train.picking.certify": ("certify", "replay"),
}
__all__ = ["AdaNetCVXClassifier", "AdaNetClassifier", "Config", "certify", "compress", "load", "replay"]


def __getattr__(name: str) -> Any:
    """What is offered, imported when asked for: it brings torch and scikit-learn."""
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(room), name)
    raise AttributeError(f"module 'adanet_train' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
