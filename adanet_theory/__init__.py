"""The bounds of AdaNet (ICML 2017), as printed and as corrected: one small function per statement.

from adanet_theory import NetworkSpec, lemma_2, theorem_1, statement

Every statement can be imported under its id, with _ in place of -, and under the name of its function. The catalogue
lists the names of the bounds. statement("theorem-1") is the symbolic twin. Modules are loaded when they are first used;
only `statement` loads sympy.

A number outside its range raises a ValueError that names the symbol, the condition and the value; a family or network
that a statement does not cover raises `OutsideTheoryError`, a ValueError with the id of the assumption that fails.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adanet_theory.twins.symbolic import Statement

_OFFERED = {
    "activations": "ACTIVATIONS Activation activation leaky_relu",
    "catalogue": "Bound register",
    "checks": "OutsideTheoryError",
    "duality": "dual_vector guaranteed_decrease is_optimal layer_score printed_dual_vector",
    "complexity.estimates": (
        "Interval hidden_complexity linear_complexity sampled_hidden_complexity sampled_linear_complexity"
    ),
    "certificates.binomial": "clopper_pearson",
    "risk.generalization": (
        "confidence_term corollary_1 margin_bound margin_bound_empirical margin_bound_uniform "
        "objective_bound rho_uniform_price theorem_1 theorem_1_range"
    ),
    "certificates.kl": "kl kl_inverse",
    "risk.margin": "MarginBound margin_error ramp_loss",
    "risk.multiclass": (
        "kuznetsov_mohri_syed multiclass_a_posteriori multiclass_margin_bound multiclass_margins "
        "multiclass_objective_bound"
    ),
    "risk.posterior": "a_posteriori a_posteriori_bounded path_norm",
    "complexity.rademacher": (
        "depth_lower first_layer_closed layered_complexity lemma_1 lemma_1_corrected lemma_1_exact "
        "peeled_complexity peeled_complexity_data peeled_complexity_offset ranges"
    ),
    "risk.solve": "largest_depth smallest_m",
    "spec": "NetworkSpec",
}
_BY_ID = {
    "lemma_2": "complexity.rademacher:layered_complexity",
    "lemma_2_peeled": "complexity.rademacher:peeled_complexity",
    "lemma_2_peeled_data": "complexity.rademacher:peeled_complexity_data",
    "lemma_2_peeled_offset": "complexity.rademacher:peeled_complexity_offset",
    "h1_exact": "complexity.estimates:linear_complexity",
    "h1_closed": "complexity.rademacher:first_layer_closed",
    "confidence_C": "risk.generalization:confidence_term",
    "rho_uniform": "risk.generalization:rho_uniform_price",
    "cvx_closed_form": "duality:printed_dual_vector",
    "cvx_closed_form_corrected": "duality:dual_vector",
    "cvx_score": "duality:layer_score",
    "cvx_decrease": "duality:guaranteed_decrease",
}
"""Statements whose function is named by its content."""

_PLACES = {name: f"{module}:{name}" for module, names in _OFFERED.items() for name in names.split()} | _BY_ID


def statement(id: str) -> Statement:
    """Return the exact symbolic twin of a statement, with .latex(), .terms and .definitions.

    Parameters
    ----------
    id
        Id of the statement, as in reports and in the ledger.

    Returns
    -------
    Statement
        The twin, a sympy expression with its place in the paper.

    Raises
    ------
    ValueError
        If no statement has that id. The message suggests the nearest id.

    Examples
    --------
    >>> statement("lemma-2").where
    'Lemma 2'
    """
    from adanet_theory.checks import check_choice
    from adanet_theory.twins.certificate_twins import CERTIFICATES
    from adanet_theory.twins.symbolic import STATEMENTS

    known = STATEMENTS | CERTIFICATES
    check_choice("statement", id, known)
    return known[id]


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_PLACES, *_bounds(), "statement"])
    if name in _PLACES or (not name.startswith("_") and name in _bounds()):
        return _found(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _bounds() -> dict[str, str]:
    """The bounds of the catalogue that no other table lists, by the names of their ids."""
    catalogue = import_module(f"{__name__}.catalogue")
    places = {bound.id.replace("-", "_"): bound.function for bound in catalogue.built_in()}
    return {name: place.removeprefix(f"{__name__}.") for name, place in places.items() if name not in _PLACES}


@cache
def _found(name: str) -> Any:
    """The object; a function accepts numpy scalars, 0-dimensional arrays and "inf" as numbers."""
    from adanet_theory.scalars import on_plain_numbers

    module, _, attribute = (_PLACES.get(name) or _bounds()[name]).partition(":")
    offered = getattr(import_module(f"{__name__}.{module}"), attribute)
    return on_plain_numbers(offered) if isinstance(offered, FunctionType) else offered


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
