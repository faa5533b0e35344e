"""Is a network inside the theory of AdaNet, and what do the bounds say about it: verify_bounds(module, X, y)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.api import Report, verify_bounds

__all__ = ["Report", "verify_bounds"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use; `import verify` alone loads nothing."""
    if name in __all__:
        from verify import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
