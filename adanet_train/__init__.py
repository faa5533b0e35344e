"""AdaNet (and .R .P .D .SD), AdaNet.CVX and the baselines in torch: networks inside the families of the theory.

>>> from adanet_train import AdaNetClassifier, AdaNetCVXClassifier, load
"""

from typing import Any

__all__ = ["AdaNetCVXClassifier", "AdaNetClassifier", "load"]


def __getattr__(name: str) -> Any:
    """The estimators, imported when asked for: they bring torch and scikit-learn."""
    if name in __all__:
        from adanet_train import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module 'adanet_train' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
