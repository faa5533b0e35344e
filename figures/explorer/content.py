"""The content of the explorer: the statements as JavaScript, the activations, and the initial setting."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from adanet_theory import catalogue
from adanet_theory.activations import activation
from adanet_theory.catalogue import Bound
from adanet_theory.risk.margin import ETA
from adanet_theory.twins.activations import activation_facts
from adanet_theory.twins.symbolic import STATEMENTS

DEPTHS = 10
MAX_DEPTHS = 20
LEMMAS = ("lemma-2", "lemma-2-peeled", "lemma-2-peeled-offset", "h1-closed", "lemma-1-corrected", "range")
ACTIVATIONS = ("relu", "leaky_relu:0.1", "abs", "identity", "tanh", "elu", "gelu", "silu", "softplus", "sigmoid")

BOUNDS = (*catalogue.theory(), *catalogue.theory("many"))
NEEDS = {
    id: tuple(bound.id for bound in BOUNDS if id in bound.needs)
    for id in catalogue.ASSUMPTIONS
    # f/W is what the page is about, and formulas, not programs
    if id not in ("normalised", "arithmetic") and any(id in bound.needs for bound in BOUNDS)
}
"""The bounds that need each assumption, as in verify-bounds."""

PROMISES = {
    "iid": "the points were drawn independently from one law",
    "family": "depth, widths, Λ and p were fixed before the sample was drawn",
    "rho": "ρ was fixed before the sample too",
    "feature-map": "Ψ was fixed before the sample too",
    "r-sup": "r_sup bounds |Ψ| on the whole support, not only on the sample",
    "membership": "the network is in the family: every unit has ‖u‖ₚ ≤ Λ",
}
"""Assumptions that no number can show; the reader ticks them."""

# |h| <= M_k = 1 on every layer, so that Theorem 1 applies: n^(1/2) Λ = 1.
STATE: dict[str, Any] = {
    "m": 100_000,
    "rho": 0.1,
    "delta": 0.05,
    "p": 2.0,
    "n": [16, 16, 16, 16],
    "Lambda": [[0.25], [0.25], [0.0, 0.25]],
    "w": [0.0, 0.0, 1.0],
    "phi": ["relu", "relu"],
    "r_inf": 1.0,
    "r_sup": None,
    "r_rms": None,
    "margin_error": 0.0,
    "ramp": None,
    "B": None,
    "d": None,
    "C": 2,
    "unmet": [],
}


def facts(name: str) -> dict[str, Any]:
    """The exact constants of an activation as floats; sup is None if φ is unbounded."""
    exact = activation_facts(name)
    numbers = {key: float(exact[key]) for key in ("L", "c", "e", "phi0", "sup")}
    bounded = numbers["sup"] if math.isfinite(numbers["sup"]) else None
    return {**numbers, "sup": bounded, "homogeneous": activation(name).is_homogeneous}


@cache
def formulas(depths: int) -> str:
    """FORMULAS[id][depth]: each statement as a function of its values, printed from its symbolic twin."""

    def bodies(id: str) -> Iterable[str]:
        yield "null"
        for depth in range(1, depths + 1):
            yield f"(v) => {{\n{STATEMENTS[id].javascript(depth)}\n}}"

    entries = (f"{json.dumps(id)}: [{', '.join(bodies(id))}]" for id in (*catalogue.ids(BOUNDS), *LEMMAS))
    return "const FORMULAS = {\n" + ",\n".join(entries) + "\n};\n"


def _record(bound: Bound) -> dict[str, Any]:
    """The fields of a record that the scripts read."""
    return {
        "id": bound.id,
        "printed": bound.is_printed,
        "complexity": bound.complexity,
        "at": bound.at,
        "scale": bound.scale,
        "classes": bound.classes,
        "range": bound.range,
        "terms": list(STATEMENTS[bound.id].terms),
    }


def data(state: Mapping[str, Any], *, margins: Mapping[str, Any] | None, depths: int) -> str:
    """DATA: everything that the scripts read besides the formulas."""
    content = {
        "bounds": [_record(bound) for bound in BOUNDS],
        "needs": [[id, list(statements)] for id, statements in NEEDS.items()],
        "promises": list(PROMISES.items()),
        "activations": {name: facts(name) for name in dict.fromkeys([*ACTIVATIONS, *state["phi"]])},
        "eta": ETA,
        "depths": depths,
        "state": {**state, "p": "inf" if state["p"] == math.inf else state["p"]},
        "margins": margins,
    }
    text = json.dumps(content, allow_nan=False, ensure_ascii=False)
    return f"const DATA = {text};\n".replace("<", "\\u003c")  # nothing of a file ends the script
